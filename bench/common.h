/* What the programs in bench/ share: words to the user, options, CSV files, versions, numbers. Each
   defines BENCH, its name, and includes this after the header that it measures, and after those
   of cuBLAS where it has them. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long long u64;

/* ---------------------------------- errors: a sentence, and status 2 -------------------------- */
static inline void must(cudaError_t error, const char *what)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, BENCH ": %s: %s\n", what, cudaGetErrorString(error));
    exit(2);
}

#ifdef CUBLAS_API_H_
static inline void must_cublas(cublasStatus_t status, const char *what)
{
    if (status == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, BENCH ": %s: %s\n", what, cublasGetStatusString(status));
    exit(2);
}

/* Settings of the user that would let cuBLAS compute otherwise than it is asked to. Without them
   TF32 is taken only where a call names it. */
static inline void strict_cublas(void)
{
#ifndef _WIN32
    unsetenv("NVIDIA_TF32_OVERRIDE");
    unsetenv("CUBLAS_EMULATE_SINGLE_PRECISION");
    unsetenv("CUBLAS_EMULATE_DOUBLE_PRECISION");
#endif
}
#endif

/* ---------------------------------- options --------------------------------------------------- */
/* What is wrong with the command line; always 0. */
static inline int refuse(const char *format, const char *argument)
{
    fprintf(stderr, BENCH ": ");
    fprintf(stderr, format, argument);
    fprintf(stderr, "\n" BENCH ": --help lists what can be asked\n");
    return 0;
}

/* A whole number in [low, high] that ends the word or is followed by `end`; what follows, or
   NULL. */
static inline const char *parse_number(const char *text, char end, long long low, long long high,
                                       long long *number)
{
    char *rest;
    if (!text || *text < '0' || *text > '9') return NULL;
    errno = 0;
    *number = strtoll(text, &rest, 10);
    if (errno || *number < low || *number > high) return NULL;
    if (*rest == end && end) return rest + 1;
    return *rest ? NULL : rest;
}

/* A number from 0 to `high` in decimal digits, with a point or not. */
static inline int parse_decimal(const char *text, double high, double *number)
{
    char *rest;
    if (!text || !*text || strspn(text, "0123456789.") != strlen(text)) return 0;
    *number = strtod(text, &rest);
    return *rest == 0 && *number <= high;
}

/* An option that a bench knows. */
typedef struct option option;
struct option {
    const char *word;
    int (*parse)(const option *o,
                 const char *value); /* NULL: it takes no value, and sets *to to 1 */
    void *to;
    const char *sentence; /* said of a value that is not right */
    long long low, high;  /* for parse_whole */
};

static inline int parse_whole(const option *o, const char *value)
{
    return parse_number(value, 0, o->low, o->high, (long long *)o->to) != NULL;
}
static inline int parse_path(const option *o, const char *value)
{
    *(const char **)o->to = value;
    return value && value[0] != '-';
}

/* A list such as 0,1; of an option that is repeated all of them. */
typedef struct number_list {
    long long at[64];
    int count;
} number_list;
static inline int parse_numbers(const option *o, const char *value)
{
    number_list *list = (number_list *)o->to;
    do {
        if (list->count == (int)(sizeof list->at / sizeof *list->at)) return 0;
        value = parse_number(value, ',', o->low, o->high, &list->at[list->count++]);
    } while (value && value[-1] == ',');
    return value != NULL;
}

#define NEEDS_FILE "--csv needs the name of a file"
#define NEEDS_SEED "--seed is a whole number, not '%s'"

/* The command line by a table of options; 0 after a sentence. --help ends the program. */
static inline int parse_words(int count, char **words, const option *known, size_t options,
                              void (*help)(void))
{
    for (int n = 1; n < count; n++) {
        const char *value = n + 1 < count ? words[n + 1] : NULL;
        size_t found = 0;
        if (strcmp(words[n], "--help") == 0) {
            help();
            exit(0);
        }
        while (found < options && strcmp(words[n], known[found].word) != 0) found++;
        if (found == options) return refuse("'%s' is not understood", words[n]);
        const option *o = &known[found];
        if (!o->parse)
            *(int *)o->to = 1;
        else if (!o->parse(o, value))
            return refuse(o->sentence, value ? value : "nothing");
        n += o->parse != NULL;
    }
    return 1;
}

/* ---------------------------------- CSV files ------------------------------------------------- */
/* NULL if none is asked for. Lines that are there stay there, whatever happens to the rest. */
static inline FILE *open_csv(const char *path)
{
    FILE *file = path ? fopen(path, "w") : NULL;
    if (path && !file) {
        fprintf(stderr, BENCH ": cannot write %s: %s\n", path, strerror(errno));
        exit(2);
    }
    if (file) setvbuf(file, NULL, _IOLBF, BUFSIZ);
    return file;
}

/* Is all that was written in the file? */
static inline int close_csv(FILE *file, const char *path)
{
    if (!file) return 1;
    int lost = ferror(file);
    if (fclose(file) == 0 && !lost) return 1;
    fprintf(stderr, BENCH ": cannot write %s\n", path);
    return 0;
}

/* ---------------------------------- versions -------------------------------------------------- */
/* Of driver and toolkit, such as 13.0. */
typedef struct cuda_versions {
    char driver[32], toolkit[32];
} cuda_versions;

static inline cuda_versions get_versions(void)
{
    cuda_versions v;
    int driver = 0, toolkit = 0;
    must(cudaDriverGetVersion(&driver), "version of the driver");
    must(cudaRuntimeGetVersion(&toolkit), "version of the runtime");
    snprintf(v.driver, sizeof v.driver, "%d.%d", driver / 1000, driver % 1000 / 10);
    snprintf(v.toolkit, sizeof v.toolkit, "%d.%d", toolkit / 1000, toolkit % 1000 / 10);
    return v;
}

/* Seconds. */
static inline double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------- numbers --------------------------------------------------- */
static inline __host__ __device__ u64 mix(u64 z) /* splitmix64 */
{
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* One that was not measured is "-". */
static inline void print_number(double x, int width, int decimals)
{
    if (x > 0)
        printf(" %*.*f", width, decimals, x);
    else
        printf(" %*s", width, "-");
}

static inline int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double median(double *x, int count) /* sorts them */
{
    qsort(x, (size_t)count, sizeof *x, ascending);
    return (x[(count - 1) / 2] + x[count / 2]) / 2;
}

/* The mean of the middle half. Where the clock falls halfway, medians of two can lie on either side. */
static inline double middle(double *x, int count) /* sorts them */
{
    const int cut = (count + 1) / 4;
    double sum = 0;
    qsort(x, (size_t)count, sizeof *x, ascending);
    for (int n = cut; n < count - cut; n++) sum += x[n];
    return sum / (count - 2 * cut);
}
#endif

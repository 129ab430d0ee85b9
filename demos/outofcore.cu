/* outofcore.cu - a product whose matrices do not fit into the device memory it may use.

   A, B and C stay in host memory. tmm_?gemm_host keeps some rows of A on the device and lets B pass
   by in columns, block after block of C. With less memory B passes more often. The demo says how
   many bytes went to and fro, and how many had to.

   Build   nvcc -O3 -arch=native demos/outofcore.cu -o outofcore
   Run     ./outofcore                             8192 x 8192, a sixth of the memory it takes
           ./outofcore 20000 --type double --memory 1G
           ./outofcore --help                                                                    */
#include "../tiledmm.cuh"
#include <errno.h>
#include <signal.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, DEFAULT_SIZE = 200 };
#else
enum { ON_CPU = 0, DEFAULT_SIZE = 8192 };
#endif

typedef struct options {
    long long N;
    tmm_type type;
    size_t memory;
    int pinned;
    const char *csv;
} options;

static void print_help(void)
{
    printf("usage: outofcore [N] [options]\n"
           "Multiplies two N x N matrices in host memory within little device memory, and checks\n"
           "the product by random projections. Default: N = %d.\n\n"
           "  --type float|double   element type (default float)\n"
           "  --memory BYTES        device memory to use; 64K, 100M and 2G are understood\n"
           "                        (default: a sixth of what A, B and C take)\n"
           "  --pinned              matrices in pinned memory: faster copies\n"
           "  --csv FILE            write the figures to FILE as well\n"
           "  -h, --help            this text\n",
           DEFAULT_SIZE);
}

static int refuse(const char *format, const char *argument)
{
    fprintf(stderr, "outofcore: ");
    fprintf(stderr, format, argument);
    fprintf(stderr, "\noutofcore: --help lists what can be asked\n");
    return 0;
}

/* A whole number in [low, high], or 0 with a sentence. */
static int parse_number(const char *name, const char *text, long long low, long long high,
                        long long *number)
{
    char *end, message[160];
    *number = text ? strtoll(text, &end, 10) : 0;
    if (text && *text && !*end && *number >= low && *number <= high) return 1;
    snprintf(message, sizeof message, "%s must be a whole number from %lld to %lld, not '%%s'",
             name, low, high);
    return refuse(message, text ? text : "nothing");
}

static int parse_memory(const char *text, size_t *bytes)
{
    char *end = NULL;
    unsigned long long number = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    int shift = 0;
    if (end && *end == 'K') shift = 10;
    if (end && *end == 'M') shift = 20;
    if (end && *end == 'G') shift = 30;
    if (end && shift) end++;
    *bytes = (size_t)number << shift;
    if (end && !*end && number > 0 && *bytes >> shift == number) return 1;
    return refuse("--memory is a number of bytes, such as 64K, 100M or 2G, not '%s'",
                  text ? text : "");
}

static int parse_options(int count, char **words, options *o)
{
    int given = 0;
    memset(o, 0, sizeof *o);
    o->N = DEFAULT_SIZE;
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        int takes_value = 1;
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            print_help();
            exit(0);
        } else if (strcmp(word, "--type") == 0) {
            if (!value || (strcmp(value, "float") != 0 && strcmp(value, "double") != 0))
                return refuse("--type is float or double, not '%s'", value ? value : "");
            o->type = value[0] == 'f' ? TMM_FLOAT : TMM_DOUBLE;
        } else if (strcmp(word, "--memory") == 0) {
            if (!parse_memory(value, &o->memory)) return 0;
        } else if (strcmp(word, "--pinned") == 0) {
            o->pinned = 1, takes_value = 0;
        } else if (strcmp(word, "--csv") == 0) {
            if (!value || !*value || *value == '-')
                return refuse("%s needs the name of a file", word);
            o->csv = value;
        } else if (word[0] == '-' && !(word[1] >= '0' && word[1] <= '9')) {
            return refuse("unknown option '%s'", word);
        } else {
            if (given++) return refuse("one size only; '%s' is too many", word);
            if (!parse_number("a size", word, 1, 1 << 20, &o->N)) return 0;
            takes_value = 0;
        }
        i += takes_value;
    }
    return 1;
}

static unsigned long long random_state = 1;

static unsigned long long random_bits(void) /* splitmix64 */
{
    unsigned long long z = (random_state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Uniform in (-1, 1). */
static void fill_random(tmm_type type, void *X, long long count)
{
    for (long long i = 0; i < count; i++) {
        double value = ((double)(random_bits() >> 11) + 0.5) / 4503599627370496.0 - 1;
        if (type == TMM_FLOAT)
            ((float *)X)[i] = (float)value;
        else
            ((double *)X)[i] = value;
    }
}

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Fails with a sentence if a CUDA call did. */
/* The CSV file appears whole or not at all: it is written beside its place, renamed at the end, and
   removed if the program is interrupted. A link is followed; what is no ordinary file, such as a
   pipe, is written to directly. */
static FILE *csv;
static const char *csv_name;                  /* as it was given */
static char csv_path[4096], csv_beside[4100]; /* the latter: empty if there is nothing to rename */

static void interrupted(int number)
{
    if (csv_beside[0]) remove(csv_beside);
    signal(number, SIG_DFL);
    raise(number);
}

static int open_csv(const char *path)
{
    csv_name = path;
    int direct = 0;
#ifdef _WIN32
    static const int ends[] = {SIGINT, SIGTERM};
    snprintf(csv_path, sizeof csv_path, "%s", path);
#else
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct stat there;
    int is_there = lstat(path, &there) == 0;
    direct = is_there && !(stat(path, &there) == 0 && S_ISREG(there.st_mode));
    if (!is_there || direct || !realpath(path, csv_path))
        snprintf(csv_path, sizeof csv_path, "%s", path);
#endif
    for (size_t n = 0; n < sizeof ends / sizeof *ends; n++) /* what is ignored stays so */
        if (signal(ends[n], interrupted) == SIG_IGN) signal(ends[n], SIG_IGN);
    if (!direct) snprintf(csv_beside, sizeof csv_beside, "%s.tmp", csv_path);
    csv = fopen(direct ? csv_path : csv_beside, "w");
    if (!csv) fprintf(stderr, "outofcore: cannot write '%s'\n", path);
    return csv != NULL;
}

static int close_csv(int keep)
{
    int good = !ferror(csv);
    good &= fclose(csv) == 0;
#ifdef _WIN32
    if (good && keep) remove(csv_path); /* Windows does not rename onto a file */
#endif
    if (csv_beside[0] && !(good && keep && rename(csv_beside, csv_path) == 0)) {
        remove(csv_beside);
        good &= !keep;
    }
    csv_beside[0] = 0;
    if (!good) fprintf(stderr, "outofcore: cannot write '%s'\n", csv_name);
    return good;
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE)
        fprintf(stderr, "outofcore: cannot write to standard output: %s\n", strerror(errno));
    _Exit(1);
}

/* Called by the library as blocks of C arrive; whatever but 0 would cancel. */
static int show_progress(void *context, double done)
{
    int *shown = (int *)context, percent = (int)(100 * done);
    for (; *shown + 5 <= percent; *shown += 5) {
        if (*shown % 25 == 0) printf("%d%%", *shown);
        printf(".");
    }
    if (done >= 1) printf("100%%\n");
    fflush(stdout);
    return 0;
}

static void *allocate(size_t bytes, int pinned)
{
    void *memory = NULL;
    if (!pinned) return malloc(bytes);
    return cudaMallocHost(&memory, bytes) == cudaSuccess ? memory : NULL;
}

static void release(void *memory, int pinned)
{
    if (pinned)
        cudaFreeHost(memory);
    else
        free(memory);
}

int main(int count, char **words)
{
    options o;
    tmm_host_options how;
    tmm_host_report report;
    struct cudaDeviceProp device;
    int shown = 0;
    check_output();
    atexit(check_output);
    if (!parse_options(count, words, &o)) return 2;
    cudaError_t none = cudaGetDeviceProperties(&device, 0);
    if (none != cudaSuccess) {
        fprintf(stderr,
                "outofcore: no usable CUDA device: %s; on the CPU: ./build.sh run outofcore\n",
                cudaGetErrorString(none));
        return 2;
    }
    if (o.csv && !open_csv(o.csv)) return 2; /* before the work, not after it */
    const char *type = o.type == TMM_FLOAT ? "float" : "double";
    size_t size = o.type == TMM_FLOAT ? sizeof(float) : sizeof(double);
    size_t bytes = (size_t)(o.N * o.N) * size;
    if (o.memory == 0) o.memory = bytes > 8192 ? bytes / 2 : 4096; /* 1536 is the least */
    memset(&how, 0, sizeof how);
    memset(&report, 0, sizeof report);
    how.memory = o.memory, how.progress = show_progress, how.context = &shown;
    how.report = &report;
    printf("C = A B, %lld x %lld, %s, in %s host memory: %.4g MB\n"
           "device: %s; memory it may use: %.4g MB, 1/%.3g of that\n",
           o.N, o.N, type, o.pinned ? "pinned" : "pageable", 3e-6 * (double)bytes, device.name,
           1e-6 * (double)o.memory, 3 * (double)bytes / (double)o.memory);

    void *A = allocate(bytes, o.pinned), *B = allocate(bytes, o.pinned);
    void *C = allocate(bytes, o.pinned);
    int good = A && B && C;
    if (!good) {
        fprintf(stderr, "outofcore: no host memory\n");
    } else {
        fill_random(o.type, A, o.N * o.N);
        fill_random(o.type, B, o.N * o.N);
        memset(C, 0xff, bytes); /* NaN: what is never written shows */
        double start = now();
        tmm_status status = o.type == TMM_FLOAT
                                ? tmm_sgemm_host(TMM_OP_N, TMM_OP_N, o.N, o.N, o.N, 1, (float *)A,
                                                 o.N, (float *)B, o.N, 0, (float *)C, o.N, &how)
                                : tmm_dgemm_host(TMM_OP_N, TMM_OP_N, o.N, o.N, o.N, 1, (double *)A,
                                                 o.N, (double *)B, o.N, 0, (double *)C, o.N, &how);
        double seconds = now() - start, excess = HUGE_VAL;
        double flops = 2.0 * (double)o.N * (double)o.N * (double)o.N;
        if (status != TMM_OK) {
            fprintf(stderr, "outofcore: %s\n", tmm_last_error());
            good = 0;
        } else {
            printf("blocks of C: %lld x %lld; device memory taken: %.4g MB\n", report.block_rows,
                   report.block_cols, 1e-6 * (double)report.memory);
            printf("copied in %.4g MB, %.3g times A and B; out %.4g MB\n", 1e-6 * report.bytes_in,
                   report.bytes_in / (2 * (double)bytes), 1e-6 * report.bytes_out);
            printf("time: %.2f ms, %.3f GFLOP/s, %.3f GB/s of copies%s\n", 1e3 * seconds,
                   1e-9 * flops / seconds, 1e-9 * (report.bytes_in + report.bytes_out) / seconds,
                   ON_CPU ? " (CPU times: no GPU here)" : "");
            status = tmm_freivalds(o.type, o.N, o.N, o.N, A, o.N, B, o.N, C, o.N, 5, 1, &excess);
            good = status == TMM_OK && excess <= 1 && report.memory <= o.memory;
            printf(
                "check by random vectors (Freivalds): %.2g of the error that rounding explains\n",
                excess);
        }
        if (o.csv && good) {
            fprintf(csv, "name,type,N,device,memory_bytes,real_time_ms,gflops,bytes_in,"
                         "bytes_out,host_memory,verdict\n");
            fprintf(csv, "outofcore,%s,%lld,\"%s\",%llu,%.6g,%.6g,%.0f,%.0f,%s,ok\n", type, o.N,
                    device.name, (unsigned long long)o.memory, 1e3 * seconds,
                    1e-9 * flops / seconds, report.bytes_in, report.bytes_out,
                    o.pinned ? "pinned" : "pageable");
        }
    }
    if (o.csv) good &= close_csv(good);
    release(A, o.pinned);
    release(B, o.pinned);
    release(C, o.pinned);
    printf("\nTest %s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 1;
}

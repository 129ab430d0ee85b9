/* overlap.cu - what streams gain: copies in, kernels and copies out at the same time.

   Several products C = A B, each with its own matrices in pinned host memory. One after the other,
   each waits for its copies. With streams, the copies of one product go on while another is
   computed. A GPU has an engine for each direction of copies beside its multiprocessors. The
   slowest of the three is the limit, and streams come near to it:

        serial      in 0  compute 0  out 0  in 1  compute 1  out 1  ...
        stream 0    in 0  compute 0  out 0        in 2 ...
        stream 1          in 1       compute 1    out 1

   Build   nvcc -O3 -arch=native demos/overlap.cu -o overlap
   Run     ./overlap                      8 products of 3072 x 3072, 3 streams
           ./overlap 2048 --type double --products 12 --streams 4
           ./overlap --help                                                                      */
#include "../tiledmm.cuh"
#include <errno.h>
#include <signal.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, DEFAULT_SIZE = 128 };
#else
enum { ON_CPU = 0, DEFAULT_SIZE = 3072 };
#endif
enum { MOST_PRODUCTS = 64, MOST_STREAMS = 8, MARKS = 4, WIDTH = 66 };

typedef struct options {
    long long N;
    tmm_type type;
    int products, streams;
    const char *csv;
} options;

static void print_help(void)
{
    printf("usage: overlap [N] [options]\n"
           "Multiplies several pairs of N x N matrices, one after the other and with streams, and\n"
           "draws when what was under way. Default: N = %d.\n\n"
           "  --type float|double  element type (default float)\n"
           "  --products P         how many products (default 8)\n"
           "  --streams S          how many streams (default 3)\n"
           "  --csv FILE           write the times to FILE as well\n"
           "  -h, --help           this text\n",
           DEFAULT_SIZE);
}

static int refuse(const char *format, const char *argument)
{
    fprintf(stderr, "overlap: ");
    fprintf(stderr, format, argument);
    fprintf(stderr, "\noverlap: --help lists what can be asked\n");
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

static int parse_options(int count, char **words, options *o)
{
    int given = 0;
    long long number;
    memset(o, 0, sizeof *o);
    o->N = DEFAULT_SIZE, o->products = 8, o->streams = 3;
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
        } else if (strcmp(word, "--products") == 0) {
            if (!parse_number(word, value, 1, MOST_PRODUCTS, &number)) return 0;
            o->products = (int)number;
        } else if (strcmp(word, "--streams") == 0) {
            if (!parse_number(word, value, 1, MOST_STREAMS, &number)) return 0;
            o->streams = (int)number;
        } else if (strcmp(word, "--csv") == 0) {
            if (!value || !*value || *value == '-')
                return refuse("%s needs the name of a file", word);
            o->csv = value;
        } else if (word[0] == '-' && !(word[1] >= '0' && word[1] <= '9')) {
            return refuse("unknown option '%s'", word);
        } else {
            if (given++) return refuse("one size only; '%s' is too many", word);
            if (!parse_number("a size", word, 1, 1 << 15, &o->N)) return 0;
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

/* Fails with a sentence if a CUDA call did. */
static int succeeded(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) fprintf(stderr, "overlap: %s: %s\n", what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

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
    if (!csv) fprintf(stderr, "overlap: cannot write '%s'\n", path);
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
    if (!good) fprintf(stderr, "overlap: cannot write '%s'\n", csv_name);
    return good;
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE)
        fprintf(stderr, "overlap: cannot write to standard output: %s\n", strerror(errno));
    _Exit(1);
}

typedef struct problem {
    options o;
    size_t bytes;               /* of a matrix */
    char *A, *B, *C;            /* host, all products one after the other */
    char *memory[MOST_STREAMS]; /* device: A, B and C of one product for each stream */
    cudaStream_t stream[MOST_STREAMS];
    cudaEvent_t begin, mark[MOST_PRODUCTS][MARKS]; /* before in, compute, out, and after */
} problem;

/* When a product was copied in, computed and copied out, in milliseconds from the beginning. */
typedef struct timeline {
    float at[MOST_PRODUCTS][MARKS];
    double in, compute, out, total; /* sums, and the wall time on the device */
} timeline;

/* Enqueues product number n on a stream, with an event between each two of its three parts. */
static int enqueue(problem *p, int n, int s)
{
    const long long N = p->o.N;
    cudaStream_t stream = p->stream[s];
    char *A = p->memory[s], *B = A + p->bytes, *C = B + p->bytes;
    size_t offset = (size_t)n * p->bytes;
    int good =
        succeeded(cudaEventRecord(p->mark[n][0], stream), "event") &&
        succeeded(cudaMemcpyAsync(A, p->A + offset, p->bytes, cudaMemcpyHostToDevice, stream),
                  "copy of A") &&
        succeeded(cudaMemcpyAsync(B, p->B + offset, p->bytes, cudaMemcpyHostToDevice, stream),
                  "copy of B") &&
        succeeded(cudaEventRecord(p->mark[n][1], stream), "event");
    if (!good) return 0;
    tmm_status status = p->o.type == TMM_FLOAT
                            ? tmm_sgemm(TMM_OP_N, TMM_OP_N, N, N, N, 1, (float *)A, N, (float *)B,
                                        N, 0, (float *)C, N, stream)
                            : tmm_dgemm(TMM_OP_N, TMM_OP_N, N, N, N, 1, (double *)A, N, (double *)B,
                                        N, 0, (double *)C, N, stream);
    if (status != TMM_OK) {
        fprintf(stderr, "overlap: %s\n", tmm_last_error());
        return 0;
    }
    return succeeded(cudaEventRecord(p->mark[n][2], stream), "event") &&
           succeeded(cudaMemcpyAsync(p->C + offset, C, p->bytes, cudaMemcpyDeviceToHost, stream),
                     "copy of C") &&
           succeeded(cudaEventRecord(p->mark[n][3], stream), "event");
}

/* All products over so many streams; one stream is the serial way. */
static int run(problem *p, int streams, timeline *t)
{
    int good = succeeded(cudaEventRecord(p->begin, p->stream[0]), "event");
    for (int s = 1; s < streams && good; s++) /* nobody before the beginning */
        good = succeeded(cudaStreamWaitEvent(p->stream[s], p->begin, 0), "stream");
    for (int n = 0; n < p->o.products && good; n++) good = enqueue(p, n, n % streams);
    for (int s = 0; s < streams; s++)
        good &= succeeded(cudaStreamSynchronize(p->stream[s]), "kernel or copy");
    memset(t, 0, sizeof *t);
    for (int n = 0; n < p->o.products && good; n++) {
        for (int m = 0; m < MARKS && good; m++)
            good = succeeded(cudaEventElapsedTime(&t->at[n][m], p->begin, p->mark[n][m]), "event");
        t->in += t->at[n][1] - t->at[n][0];
        t->compute += t->at[n][2] - t->at[n][1];
        t->out += t->at[n][3] - t->at[n][2];
        if (t->at[n][3] > t->total) t->total = t->at[n][3];
    }
    return good;
}

/* A bar for each stream: > copy in, # compute, < copy out. Overlapping streams lie one above
   another; what a stream does is from one event to the next, waiting for an engine included.
   What takes less than a column is given one; computing is drawn last, so that it stays visible.
   Marks that are left at the end are noted in `seen`. */
static const char signs[3] = {'>', '#', '<'};

static void draw(const problem *p, const timeline *t, int streams, double scale, int seen[3])
{
    static const int order[3] = {0, 2, 1};
    for (int s = 0; s < streams; s++) {
        char bar[WIDTH + 1];
        memset(bar, ' ', WIDTH);
        bar[WIDTH] = 0;
        for (int i = 0; i < 3; i++)
            for (int n = s; n < p->o.products; n += streams) {
                const float *at = &t->at[n][order[i]];
                int from = (int)(at[0] / scale * WIDTH), to = (int)(at[1] / scale * WIDTH);
                if (from > WIDTH - 1) from = WIDTH - 1;
                if (to <= from) to = from + 1;
                for (int x = from; x < to && x < WIDTH; x++) bar[x] = signs[order[i]];
            }
        for (int i = 0; i < 3; i++) seen[i] |= strchr(bar, signs[i]) != NULL;
        printf("  stream %d |%s|\n", s, bar);
    }
}

/* What the marks mean: those that are in the picture. */
static void print_key(const int seen[3], double width)
{
    static const char *const names[3] = {"copy in", "compute", "copy out"};
    for (int i = 0; i < 3; i++)
        if (seen[i]) printf("  %c %s ", signs[i], names[i]);
    printf("  (the width is %.3f ms)\n", width);
    for (int i = 0; i < 3; i++)
        if (!seen[i]) printf("  %s: too short to be seen\n", names[i]);
}

static int right(const problem *p)
{
    for (int n = 0; n < p->o.products; n++) {
        size_t at = (size_t)n * p->bytes;
        long long N = p->o.N;
        double excess = HUGE_VAL;
        if (tmm_freivalds(p->o.type, N, N, N, p->A + at, N, p->B + at, N, p->C + at, N, 5,
                          (unsigned long long)n + 1, &excess) != TMM_OK ||
            !(excess <= 1))
            return 0;
    }
    return 1;
}

static int set_up(problem *p)
{
    size_t all = p->bytes * (size_t)p->o.products;
    int good = succeeded(cudaMallocHost((void **)&p->A, all), "pinned memory for A") &&
               succeeded(cudaMallocHost((void **)&p->B, all), "pinned memory for B") &&
               succeeded(cudaMallocHost((void **)&p->C, all), "pinned memory for C") &&
               succeeded(cudaEventCreate(&p->begin), "event");
    for (int s = 0; s < p->o.streams && good; s++)
        good = succeeded(cudaMalloc((void **)&p->memory[s], 3 * p->bytes), "device memory") &&
               succeeded(cudaStreamCreateWithFlags(&p->stream[s], cudaStreamNonBlocking), "stream");
    for (int n = 0; n < p->o.products && good; n++)
        for (int m = 0; m < MARKS && good; m++)
            good = succeeded(cudaEventCreate(&p->mark[n][m]), "event");
    if (!good) return 0;
    fill_random(p->o.type, p->A, p->o.N * p->o.N * p->o.products);
    fill_random(p->o.type, p->B, p->o.N * p->o.N * p->o.products);
    return 1;
}

static void release(problem *p)
{
    for (int n = 0; n < MOST_PRODUCTS; n++)
        for (int m = 0; m < MARKS; m++)
            if (p->mark[n][m]) cudaEventDestroy(p->mark[n][m]);
    for (int s = 0; s < MOST_STREAMS; s++) {
        if (p->stream[s]) cudaStreamDestroy(p->stream[s]);
        cudaFree(p->memory[s]);
    }
    if (p->begin) cudaEventDestroy(p->begin);
    cudaFreeHost(p->A);
    cudaFreeHost(p->B);
    cudaFreeHost(p->C);
}

int main(int count, char **words)
{
    static problem p;
    static timeline serial, streamed, again;
    struct cudaDeviceProp device;
    check_output();
    atexit(check_output);
    if (!parse_options(count, words, &p.o)) return 2;
    const options *o = &p.o;
    cudaError_t none = cudaGetDeviceProperties(&device, 0);
    if (none != cudaSuccess) {
        fprintf(stderr, "overlap: no usable CUDA device: %s; on the CPU: ./build.sh run overlap\n",
                cudaGetErrorString(none));
        return 2;
    }
    if (o->csv && !open_csv(o->csv)) return 2; /* before the work, not after it */
    const char *type = o->type == TMM_FLOAT ? "float" : "double";
    p.bytes = (size_t)(o->N * o->N) * (o->type == TMM_FLOAT ? sizeof(float) : sizeof(double));
    printf("%d product%s of %lld x %lld, %s, pinned memory, on %s\n", o->products,
           o->products > 1 ? "s" : "", o->N, o->N, type, device.name);
    if (ON_CPU)
        printf("CPU times; the CPU runner does one thing at a time, so nothing overlaps.\n");
    /* Each way twice: the first run loads the kernels. */
    int good = set_up(&p) && run(&p, 1, &again) && run(&p, 1, &serial) && right(&p);
    if (good) memset(p.C, 0xff, p.bytes * (size_t)o->products);
    good = good && run(&p, o->streams, &again) && run(&p, o->streams, &streamed) && right(&p);
    if (good) {
        double transfer = serial.in > serial.out ? serial.in : serial.out;
        double least = transfer > serial.compute ? transfer : serial.compute;
        printf("\nserial: %.3f ms = copies in %.3f + compute %.3f + copies out %.3f\n",
               serial.total, serial.in, serial.compute, serial.out);
        double longest = serial.total > streamed.total ? serial.total : streamed.total;
        int seen[3] = {0, 0, 0};
        draw(&p, &serial, 1, longest, seen);
        printf("\n%d stream%s: %.3f ms, %.2f times as fast\n", o->streams,
               o->streams > 1 ? "s" : "", streamed.total, serial.total / streamed.total);
        draw(&p, &streamed, o->streams, longest, seen);
        print_key(seen, longest);
        printf("\nfloor: the slowest of the three, %s, takes %.3f ms; "
               "with streams it takes %.2f times that.\n",
               least == serial.compute  ? "computing"
               : serial.in > serial.out ? "copying in"
                                        : "copying out",
               least, streamed.total / least);
        if (o->csv) {
            fprintf(csv, "name,type,N,products,streams,device,real_time_ms,in_ms,compute_ms,"
                         "out_ms,floor_ms\n");
            fprintf(csv, "serial,%s,%lld,%d,1,\"%s\",%.6g,%.6g,%.6g,%.6g,%.6g\n", type, o->N,
                    o->products, device.name, serial.total, serial.in, serial.compute, serial.out,
                    least);
            fprintf(csv, "streams,%s,%lld,%d,%d,\"%s\",%.6g,%.6g,%.6g,%.6g,%.6g\n", type, o->N,
                    o->products, o->streams, device.name, streamed.total, streamed.in,
                    streamed.compute, streamed.out, least);
        }
    }
    if (o->csv) good &= close_csv(good);
    release(&p);
    printf("\nTest %s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 1;
}

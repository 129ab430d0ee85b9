/* pinned.cu - pinned and pageable host memory: copies to the device, back, and both at once.

   Memory from malloc is pageable: the system may move or swap its pages at any time, so the driver
   copies it to the device by way of a pinned buffer of its own. Memory from cudaMallocHost is
   pinned: the device reads and writes it by itself, at the speed of the bus, and asynchronously, so
   that copies in, kernels and copies out of different chunks overlap. Pinning is slow and takes
   memory away from the system: do it once, for buffers that are used often.

   Build   nvcc -O3 -arch=native pinned.cu -o pinned
   Run     ./pinned [--csv FILE] */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/stat.h>
#endif

#define DEMO  "pinned"
#define EXTRA "copies"
#define RATE  "GB/s"
#ifdef __CUCC__ /* compiled for the CPU runner */
enum { ON_CPU = 1, N = 1 << 14, REPS = 1, BATCH = 1 };
#else /* 128 MB in, 128 MB out */
enum { ON_CPU = 0, N = 1 << 25, REPS = 5, BATCH = 1 };
#endif
enum { THREADS = 256, CHUNKS = 16, CHUNK = N / CHUNKS, STREAMS = 4 };

/* out = 2 in + 1, a thread a float: 8 bytes a float of device memory, which is far faster than the
   bus over which the 4 bytes in and the 4 bytes out of each float come. */
__global__ void scale(const float *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = 2 * in[i] + 1;
}

/* ---- the table: loads, stores and bytes of all threads are computed from the shapes -------- */
typedef struct row {
    const char *way;
    double loads, stores, extra, bytes, work; /* the rate is work / seconds; negative: none */
    double seconds;
    int right;
} row;

#define BYTES (4.0 * N)
enum {
    IN_PINNED,
    IN_PAGEABLE,
    OUT_PINNED,
    OUT_PAGEABLE,
    CHUNKED,
    PINNED,
    PAGEABLE,
    WAYS,
    BASE = CHUNKED
};
static row rows[WAYS] = {
    /* loads, stores: of the kernel; bytes: over the bus */
    {"to the device, pinned", 0, 0, 1, BYTES, BYTES, 0, 0},
    {"to the device, pageable", 0, 0, 1, BYTES, BYTES, 0, 0},
    {"to the host, pinned", 0, 0, 1, BYTES, BYTES, 0, 0},
    {"to the host, pageable", 0, 0, 1, BYTES, BYTES, 0, 0},
    {"job, pinned, in chunks (right)", N, N, 2 * CHUNKS, 2 * BYTES, 2 * BYTES, 0, 0},
    {"job, pinned, as a whole", N, N, 2, 2 * BYTES, 2 * BYTES, 0, 0},
    {"job, pageable, as a whole", N, N, 2, 2 * BYTES, 2 * BYTES, 0, 0},
};
static double limit; /* bytes per second */

/* ---- errors, timing, table: the same in every demo of this folder -------------------------- */
#define CHECK(call)                                                                \
    do {                                                                           \
        cudaError_t error_ = (call);                                               \
        if (error_ != cudaSuccess) {                                               \
            fprintf(stderr, DEMO ": %s: %s\n", #call, cudaGetErrorString(error_)); \
            cudaDeviceReset(); /* frees all that was allocated */                  \
            exit(2);                                                               \
        }                                                                          \
    } while (0)

/* Median seconds of a run, by events; BATCH runs a measurement, of which the first is not counted.
   Negative on the CPU runner, where times mean nothing. */
static double median_seconds(void (*run)(int way), int way)
{
    float sorted[REPS], ms;
    cudaEvent_t start, stop;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    for (int n = ON_CPU ? 0 : -1, i; n < REPS; n++) {
        CHECK(cudaEventRecord(start));
        for (i = 0; i < BATCH; i++) run(way);
        CHECK(cudaEventRecord(stop));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&ms, start, stop));
        for (i = n; i > 0 && sorted[i - 1] > ms; i--) sorted[i] = sorted[i - 1];
        if (n >= 0) sorted[i] = ms;
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    return ON_CPU ? -1 : sorted[REPS / 2] * 1e-3 / BATCH;
}

static void print_rows(FILE *f, int csv)
{
    static const int width[] = {11, 11, 9, 8, 9, 8, 7, 6}, digits[] = {0, 0, 4, 2, 4, 1, 1, 2};
    fprintf(f,
            csv ? "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s\n"
                : "%-32s %11s %11s %9s %8s %9s %8s %7s %6s  %s\n",
            "way", "loads", "stores", EXTRA, "MB", "ms", RATE, "% limit", "x time", "result");
    for (const row *r = rows; r < rows + WAYS; r++) {
        double rate = r->work / r->seconds; /* times and all that comes of them may be negative */
        double cells[] = {r->loads,
                          r->stores,
                          r->extra,
                          r->bytes * 1e-6,
                          r->seconds * 1e3,
                          rate * 1e-9,
                          ON_CPU ? -1 : 100 * rate / limit,
                          ON_CPU ? -1 : r->seconds / rows[BASE].seconds};
        fprintf(f, csv ? "\"%s\"" : "%-32s", r->way);
        for (int c = 0; c < 8; c++)
            if (cells[c] < 0)
                fprintf(f, csv ? ",%.*s" : " %*s", csv ? 0 : width[c], "-");
            else if (csv)
                fprintf(f, ",%.9g", cells[c]);
            else
                fprintf(f, c == 2 ? " %*.*g" : " %*.*f", width[c], digits[c], cells[c]);
        fprintf(f, csv ? ",%s\n" : "  %s\n", r->right ? "ok" : "WRONG");
    }
}

static int write_csv(const char *name) /* beside it first: it is never there half written */
{
    char beside[FILENAME_MAX] = "";
    int direct = 0; /* what is no ordinary file, such as /dev/stdout, is written to as it is */
#ifndef _WIN32
    struct stat there;
    direct = stat(name, &there) == 0 && !S_ISREG(there.st_mode);
#endif
    int good = snprintf(beside, sizeof beside, "%s.tmp", name) < (int)sizeof beside;
    FILE *f = good ? fopen(direct ? name : beside, "w") : NULL;
    if (f) print_rows(f, 1);
    good = f && !ferror(f);
    if (f) good &= fclose(f) == 0;
#ifdef _WIN32
    if (good) remove(name); /* Windows does not rename onto a file */
#endif
    if (!direct) good = good && rename(beside, name) == 0;
    if (!good) fprintf(stderr, DEMO ": cannot write %s\n", name);
    return good;
}

/* Reads the options, opens the device; gives the name of the CSV file or NULL. */
static const char *begin(int count, char **words, cudaDeviceProp *device)
{
    int help = count == 2 && strcmp(words[1], "--help") == 0;
    if (help || (count > 1 && (count != 3 || strcmp(words[1], "--csv") != 0))) {
        if (!help) fprintf(stderr, DEMO ": cannot understand '%s'\n", words[count - 1]);
        fprintf(help ? stdout : stderr,
                "usage: " DEMO " [--csv FILE]   the table, to FILE as well\n");
        exit(help ? 0 : 2);
    }
    CHECK(cudaGetDeviceProperties(device, 0));
    printf("%s, compute capability %d.%d: ", device->name, device->major, device->minor);
    return count == 3 ? words[2] : NULL;
}

static int end(const char *csv) /* the exit status */
{
    int good = csv ? write_csv(csv) : 1;
    for (int way = 0; way < WAYS; way++) good &= rows[way].right;
    printf("\nTest %s\n", good ? "PASSED" : "FAILED");
    return good ? 0 : 1;
}

/* ---- the task ------------------------------------------------------------------------------ */
static float pageable_in[N], pageable_out[N], *pinned_in, *pinned_out, *in, *out;
static cudaStream_t streams[STREAMS];

static void run(int way)
{
    int pinned = way == IN_PINNED || way == OUT_PINNED || way == PINNED;
    float *host_in = pinned ? pinned_in : pageable_in,
          *host_out = pinned ? pinned_out : pageable_out;
    if (way == CHUNKED) {
        for (int c = 0; c < CHUNKS; c++) { /* a stream keeps its order; several of them overlap */
            int first = c * CHUNK;
            cudaStream_t stream = streams[c % STREAMS];
            CHECK(cudaMemcpyAsync(in + first, pinned_in + first, sizeof(float) * CHUNK,
                                  cudaMemcpyHostToDevice, stream));
            scale<<<CHUNK / THREADS, THREADS, 0, stream>>>(in + first, out + first);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpyAsync(pinned_out + first, out + first, sizeof(float) * CHUNK,
                                  cudaMemcpyDeviceToHost, stream));
        }
        return;
    }
    if (way != OUT_PINNED && way != OUT_PAGEABLE)
        CHECK(cudaMemcpyAsync(in, host_in, sizeof pageable_in, cudaMemcpyHostToDevice));
    if (way == PINNED || way == PAGEABLE) {
        scale<<<N / THREADS, THREADS>>>(in, out);
        CHECK(cudaGetLastError());
    }
    if (way != IN_PINNED && way != IN_PAGEABLE)
        CHECK(cudaMemcpyAsync(host_out, out, sizeof pageable_out, cudaMemcpyDeviceToHost));
}

/* Poison where the result belongs; OUT_... copies what is put into "out" here. */
static void measure(int way)
{
    int only_in = way == IN_PINNED || way == IN_PAGEABLE,
        only_out = way == OUT_PINNED || way == OUT_PAGEABLE;
    const float *result = way == OUT_PAGEABLE || way == PAGEABLE ? pageable_out : pinned_out;
    memset(pageable_out, 0xff, sizeof pageable_out); /* NaN */
    memset(pinned_out, 0xff, sizeof pageable_out);
    CHECK(cudaMemset(in, 0xff, sizeof pageable_in));
    CHECK(cudaMemset(out, 0xff, sizeof pageable_out));
    if (only_out) CHECK(cudaMemcpy(out, pageable_in, sizeof pageable_in, cudaMemcpyHostToDevice));
    rows[way].seconds = median_seconds(run, way);
    CHECK(cudaDeviceSynchronize());
    if (only_in) CHECK(cudaMemcpy(pinned_out, in, sizeof pageable_in, cudaMemcpyDeviceToHost));
    rows[way].right = 1;
    for (int i = 0; i < N; i++)
        rows[way].right &=
            result[i] == (only_in || only_out ? pageable_in[i] : 2 * pageable_in[i] + 1);
}

static void explain(void) /* only what the figures bear out */
{
    double in_gain = rows[IN_PAGEABLE].seconds / rows[IN_PINNED].seconds;
    double out_gain = rows[OUT_PAGEABLE].seconds / rows[OUT_PINNED].seconds;
    double overlap = rows[PINNED].seconds / rows[CHUNKED].seconds;
    if (ON_CPU) {
        printf("\nComputed: in chunks the same bytes need %d copies, which a GPU overlaps, instead "
               "of 2.\n",
               2 * CHUNKS);
        return;
    }
    printf("\nPinned: %.2f times as fast to the device and %.2f times to the host, %s.\n", in_gain,
           out_gain,
           in_gain > 1.2 && out_gain > 1.2 ? "as pageable memory is\ncopied twice, first by the CPU"
           : in_gain > 1.2 || out_gain > 1.2
               ? "as pageable memory is\ncopied twice, though not always to be seen"
               : "little: this system\nreaches pageable memory about as fast");
    printf(
        "Chunks: in %d of them on %d streams the job is %.2f times as fast as in one piece, %s.\n",
        CHUNKS, STREAMS, overlap,
        overlap > 1.2
            ? "as copies\nin both directions run at once"
            : "little: the bus or\nthe copy engines of this device do one direction at a time");
}

int main(int count, char **words)
{
    cudaDeviceProp device;
    const char *csv = begin(count, words, &device);
    unsigned int seed = (unsigned int)time(NULL);
    CHECK(cudaMalloc(&in, sizeof pageable_in));
    CHECK(cudaMalloc(&out, sizeof pageable_out));
    CHECK(cudaMallocHost(&pinned_in, sizeof pageable_in));
    CHECK(cudaMallocHost(&pinned_out, sizeof pageable_out));
    for (int s = 0; s < STREAMS; s++) CHECK(cudaStreamCreate(&streams[s]));
    for (int i = 0; i < N; i++)
        pinned_in[i] = pageable_in[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 10);
    for (int way = 0; way < WAYS; way++) measure(way);
    limit = BYTES / (rows[IN_PINNED].seconds < rows[OUT_PINNED].seconds ? rows[IN_PINNED]
                                                                        : rows[OUT_PINNED])
                        .seconds;
    printf("2 x + 1 for %d floats of host memory;\nlimit: one direction of the bus, pinned "
           "(more than 100%%: both directions at once)\n\n",
           N);
    print_rows(stdout, 0);
    explain();
    for (int s = 0; s < STREAMS; s++) CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaFreeHost(pinned_in));
    CHECK(cudaFreeHost(pinned_out));
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    return end(csv);
}

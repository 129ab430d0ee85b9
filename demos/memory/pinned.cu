/* pinned.cu - pinned and pageable host memory: copies to the device, back, and both at once.

   Memory from malloc is pageable: the system may move or swap its pages at any time. So the driver
   copies it to the device by way of a pinned buffer of its own. Memory from cudaMallocHost is
   pinned: the device reads and writes it by itself, at the speed of the bus, and asynchronously.
   Copies in, kernels and copies out of different chunks then overlap. Pinning is slow and takes
   memory away from the system: do it once, for buffers that are used often.
   Build and run: nvcc -O3 -arch=native pinned.cu -o pinned && ./pinned [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "pinned"
#define TASK "2 x + 1 over the bus; copies: that the host asks for"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = ON_CPU ? 1 << 14 : 1 << 25, THREADS = 256, STREAMS = 4 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N], expected[N], pageable[N], pageable_out[N]; /* 128 MB each */
static float *pinned, *pinned_out, *in, *out;                    /* in and out: of the device */
static cudaStream_t streams[STREAMS];

/* out = 2 in + 1, a thread a float. Each float is 8 bytes of device memory, which is far faster than
   the bus: over it come 4 bytes in and 4 bytes out. */
__global__ void scale(const float *in, float *out)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = 2 * in[i] + 1;
}

/* ---- the harness, the same in every demo: while (way(...)) RUN makes a row of the best of nine -- */
#define CHECK(call) check(call, #call)
static double work, allowed, base, best; /* of a way; a difference; ms: of "(right)", of this way */
static int failures, runs;
static char rows[8192], *csv = rows; /* the text of the CSV file, written at the end */
static cudaEvent_t start, stop;
static void task(void);
static void check(cudaError_t error, const char *call)
{
    if (error) fprintf(stderr, NAME ": %s: %s\n", call, cudaGetErrorString(error)), exit(2);
}
static int way(const char *name, double loads, double stores, double extra, double MB, void *result)
{
    float ms = INFINITY;
    size_t i = 0, count = sizeof expected / sizeof *expected;
    CHECK(cudaGetLastError()), CHECK(cudaEventRecord(stop)), CHECK(cudaEventSynchronize(stop));
    if (runs > 0) CHECK(cudaEventElapsedTime(&ms, start, stop));
    best = ON_CPU ? NAN : runs > 1 && best < ms ? best : ms; /* the CPU tells nothing of times */
    if (runs++ < (ON_CPU ? 1 : 9)) /* again: NaN into the result, meanwhile the host starts RUN */
        return CHECK(cudaMemset(result, 0xff, sizeof expected)), CHECK(cudaEventRecord(start)), 1;
    CHECK(cudaMemcpy(host, result, sizeof expected, cudaMemcpyDefault));
    while (i < count && fabs(1.0 * host[i] - expected[i]) <= allowed) i++;
    failures += i < count;
    if (base == 0 || strstr(name, "(right)")) base = best;
    printf("%-30s%12.0f%12.0f%9g%9.2f%9.4f%9.1f%8.2f%7s\n", name, loads, stores, extra, MB, best,
           work / best * 1e-6, best / base, i < count ? "WRONG" : "ok");
    csv += sprintf(csv, "%s,%.0f,%.0f,%g,%.2f,%.4f,%.1f,%.2f,%s\n", name, loads, stores, extra, MB,
                   best, work / best * 1e-6, best / base, i < count ? "WRONG" : "ok");
    return runs = 0;
}
int main(int argc, char **argv)
{
    int help = argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));
    if (ftell(stdout) < 0 && errno == EBADF) return perror(NAME ": standard output"), 1;
    const char *path = argc == 3 && !strcmp(argv[1], "--csv") ? argv[2] : "/dev/null";
    FILE *file = fopen(path, "wx"); /* a new one: none until it is whole; an older one stays */
    if (file ? remove(path) : !(file = fopen(path, "a")) || (argc > 1 && !help && path != argv[2]))
        return fprintf(stderr, NAME ": cannot use or write %s; see --help\n", argv[argc - 1]), 2;
    puts(help ? "usage: " NAME " [--csv FILE]\n" TASK : TASK);
    if (!help) CHECK(cudaEventCreate(&start)), CHECK(cudaEventCreate(&stop)), task();
    if (!freopen(path, "w", file) || fputs(rows, file) < 0 || fclose(file) != 0)
        failures += printf("\nThe CSV file could not be written.\n");
    if (!help) CHECK(cudaDeviceReset()), printf("\nTest %s\n", failures ? "FAILED" : "PASSED");
    if (fflush(stdout) != 0 && errno != EPIPE) perror(NAME ": standard output");
    return failures > 0 || ferror(stdout);
}

/* The job in CHUNKS parts: a stream keeps its order, several of them overlap. */
static void run(const float *from, float *to, int chunks)
{
    const size_t part = N / chunks, bytes = part * sizeof *to;
    for (size_t c = 0, at = 0; at < N; c++, at += part) {
        cudaStream_t s = streams[c % STREAMS];
        CHECK(cudaMemcpyAsync(in + at, from + at, bytes, cudaMemcpyHostToDevice, s));
        scale<<<part / THREADS, THREADS, 0, s>>>(in + at, out + at);
        CHECK(cudaMemcpyAsync(to + at, out + at, bytes, cudaMemcpyDeviceToHost, s));
    }
}

static void task(void)
{
    const double MB = 4e-6 * N;
    CHECK(cudaMalloc(&in, sizeof host)), CHECK(cudaMalloc(&out, sizeof host));
    CHECK(cudaMallocHost(&pinned, sizeof host)), CHECK(cudaMallocHost(&pinned_out, sizeof host));
    for (int s = 0; s < STREAMS; s++) CHECK(cudaStreamCreate(&streams[s]));
    for (int i = 0; i < N; i++) pinned[i] = pageable[i] = expected[i] = RANDOM(i);
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "copies", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,copies,MB,ms,GB/s,x time,result\n");
    work = 4.0 * N;
    while (way("copy from pinned (right)", 0, 0, 1, MB, in))
        CHECK(cudaMemcpyAsync(in, pinned, sizeof host, cudaMemcpyHostToDevice));
    while (way("copy from pageable", 0, 0, 1, MB, in))
        CHECK(cudaMemcpyAsync(in, pageable, sizeof host, cudaMemcpyHostToDevice));
    double slow = best / base;
    work = 8.0 * N;
    for (int i = 0; i < N; i++) expected[i] = 2 * expected[i] + 1;
    while (way("job; pinned; 16 chunks (right)", N, N, 32, 2 * MB, pinned_out))
        run(pinned, pinned_out, 16);
    while (way("job; pinned; as a whole", N, N, 2, 2 * MB, pinned_out)) run(pinned, pinned_out, 1);
    double whole = best / base;
    while (way("job; pageable; as a whole", N, N, 2, 2 * MB, out)) run(pageable, pageable_out, 1);
    failures += memcmp(pageable_out, expected, sizeof expected) != 0;
    for (int s = 0; s < STREAMS; s++) CHECK(cudaStreamDestroy(streams[s]));
    CHECK(cudaFreeHost(pinned)), CHECK(cudaFreeHost(pinned_out));

    printf("\nComputed: 16 chunks need 32 copies, which a GPU overlaps, instead of 2.\n");
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Pageable: %.2f times the time; %s.\nAs a whole: %.2f times; %s.\n", slow,
           slow > 1.2 ? "the CPU copies it first" : "this system reaches it about as fast", whole,
           whole > 1.2 ? "one direction at a time" : "chunks gain little on this bus");
}

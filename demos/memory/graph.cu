/* graph.cu - graphs: many small copies and kernels as one launch.

   A launch costs the host a few microseconds. Where kernels take less, the device waits for the
   host. A graph is recorded once, from what is put into a stream, and launched as a whole: the
   device knows all that follows. Who waits for each step pays most.
   Build and run: nvcc -O3 -arch=native graph.cu -o graph && ./graph [--csv FILE] */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "graph"
#define TASK "50 small steps between two copies; calls: of the host, for launches and copies"
#ifndef __CUCC__
#define __CUCC__ 0 /* 1: the CPU runner, which takes less */
#endif
enum { ON_CPU = __CUCC__, N = 1 << 12, THREADS = 256, BLOCKS = N / THREADS, STEPS = 50 };
#define RANDOM(i) ((unsigned)(i)*2654435761u >> 8) /* a number below 2^24 that belongs to i */
static float host[N], expected[N];                 /* 16 KB */

/* data = data + 1, a thread a float, 8 N bytes: less than a microsecond of work. */
__global__ void step(float *data)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    data[i] += 1;
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

static void put_all(float *data, const float *from, float *to, int wait, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(data, from, sizeof host, cudaMemcpyHostToDevice, stream));
    for (int s = 0; s < STEPS; s++) {
        step<<<BLOCKS, THREADS, 0, stream>>>(data);
        if (wait) CHECK(cudaStreamSynchronize(stream));
    }
    CHECK(cudaMemcpyAsync(to, data, sizeof host, cudaMemcpyDeviceToHost, stream));
}

static void task(void)
{
    float *data, *from, *to;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaMalloc(&data, sizeof host)), CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocHost(&from, sizeof host)), CHECK(cudaMallocHost(&to, sizeof host));
    for (int i = 0; i < N; i++) expected[i] = (from[i] = RANDOM(i) % 1000) + STEPS;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    put_all(data, from, to, 0, stream); /* recorded, not run */
    CHECK(cudaStreamEndCapture(stream, &graph));
#if CUDART_VERSION >= 12000
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
#else
    CHECK(cudaGraphInstantiate(&ready, graph, NULL, NULL, 0));
#endif
    work = (8.0 * STEPS + 8) * N;
    const double all = (double)STEPS * N;
    printf("\n%-30s%12s%12s%9s%9s%9s%9s%8s%7s\n", "way", "loads", "stores", "calls", "MB", "ms",
           "GB/s", "x time", "result");
    csv += sprintf(csv, "way,loads,stores,calls,MB,ms,GB/s,x time,result\n");
    while (way("graph (right)", all, all, 1, 8e-6 * N, to)) CHECK(cudaGraphLaunch(ready, stream));
    while (way("launches", all, all, STEPS + 2, 8e-6 * N, to)) put_all(data, from, to, 0, stream);
    double launches = best / base;
    while (way("launches; each awaited", all, all, STEPS + 2, 8e-6 * N, to))
        put_all(data, from, to, 1, stream);
    CHECK(cudaGraphExecDestroy(ready)), CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream)), CHECK(cudaFreeHost(from)), CHECK(cudaFreeHost(to));
    printf("\nComputed: one call in place of %d.\n", STEPS + 2);
    if (ON_CPU) return (void)puts("Times (nan) need a GPU; cucc --count counts loads and stores.");
    printf("Launches: %.2f times the time; %s.\nEach awaited: %.2f times; %s.\n", launches,
           launches > 1.1 ? "the host is slower than the steps" : "the host keeps up", best / base,
           best > 1.1 * base ? "the device is idle while the host wakes" : "waiting costs little");
}

/* bench/tune.cu - what TMM_AUTO's model of time has to know of a GPU: prints the row of tmm__gpus
   in src/tiledmm/once/tuning.h, measured on device 0 in some seconds. bench/tune.sh builds and runs
   it. */
#define BENCH "tune"
#include <cuda_runtime.h>
#include "probe.h"

enum { SUMS = 8, THREADS = 512, BLOCKS_EACH = 2, TIMES = 5 };
#ifdef __CUCC__ /* the CPU runner: only whether it works */
static const size_t MOST_BYTES = 4 << 20;
static const double LOAD = 1; /* milliseconds */
enum { LEAST_ROUNDS = 16, MOST_PROCESSORS = 1 };
#else
static const size_t MOST_BYTES = (size_t)4 << 30;
static const double LOAD = 3000;
enum { LEAST_ROUNDS = 1 << 16, MOST_PROCESSORS = 1 << 16 };
#endif

typedef struct bench {
    cudaDeviceProp is;
    int capability, processors; /* processors: that are kept busy */
    cudaStream_t stream;
    cudaEvent_t from, to;
} bench;

/* Multiply-adds without a pause; the clocks that each block took. */
static __global__ void load(float x, int rounds, long long *clocks, float *sink)
{
    float sum[SUMS], all = 0;
    long long start = clock64();
    for (int n = 0; n < SUMS; n++) sum[n] = x * (float)(threadIdx.x + (unsigned)n);
    for (int round = 0; round < rounds; round++)
        for (int n = 0; n < SUMS; n++) sum[n] = sum[n] * x + x;
    for (int n = 0; n < SUMS; n++) all += sum[n];
    if (threadIdx.x == 0) clocks[blockIdx.x] = clock64() - start;
    if (all == 1.25f) *sink = all; /* rarely, and it hurts nothing */
}

static int attribute(cudaDeviceAttr what, const char *name)
{
    int value = 0;
    must(cudaDeviceGetAttribute(&value, what, 0), name);
    return value;
}

/* The clock in GHz after some seconds of full load: clocks of the block that took longest, by the
   time of the launch, which is much longer than what surrounds it. */
static double measure_clock(const bench *w)
{
    enum { MOST_BLOCKS = 4096 };
    static long long taken[MOST_BLOCKS];
    const int blocks = w->processors * BLOCKS_EACH < (int)MOST_BLOCKS ? w->processors * BLOCKS_EACH
                                                                      : (int)MOST_BLOCKS;
    long long *clocks, longest = 0;
    float *sink;
    double ms = 0, all = 0;
    int rounds = LEAST_ROUNDS;
    must(cudaMalloc((void **)&clocks, sizeof taken), "memory");
    must(cudaMalloc((void **)&sink, sizeof *sink), "memory");
    while (all < LOAD) {
        must(cudaEventRecord(w->from, w->stream), "event");
        load<<<blocks, THREADS, 0, w->stream>>>(1.0001f, rounds, clocks, sink);
        must(cudaGetLastError(), "the program was not built for this device");
        must(cudaEventRecord(w->to, w->stream), "event");
        ms = elapsed(w->from, w->to);
        all += ms;
        if (ms < LOAD / 30) rounds *= 2;
    }
    must(cudaMemcpy(taken, clocks, sizeof taken, cudaMemcpyDeviceToHost), "clocks");
    for (int n = 0; n < blocks; n++)
        if (taken[n] > longest) longest = taken[n];
    must(cudaFree(clocks), "memory");
    must(cudaFree(sink), "memory");
    return (double)longest / (ms * 1e6);
}

/* Bytes read in a nanosecond, of the first `bytes` of an array, `calls` times; the median. */
static double measure_reading(const bench *w, char *memory, size_t bytes, int calls)
{
    double rate[TIMES];
    const unsigned blocks = (unsigned)(bytes / READ_BYTES);
    for (int time = 0; time < TIMES; time++) {
        must(cudaEventRecord(w->from, w->stream), "event");
        for (int n = 0; n < calls; n++)
            read_all<<<blocks, 256, 0, w->stream>>>((const uint4 *)memory, (unsigned *)memory);
        must(cudaGetLastError(), "a kernel that reads");
        must(cudaEventRecord(w->to, w->stream), "event");
        rate[time] = (double)calls * blocks * READ_BYTES / (elapsed(w->from, w->to) * 1e6);
    }
    return median(rate, TIMES);
}

/* What memory gives, of an array that L2 does not hold. And the bytes, in eighths of those that
   CUDA says L2 has, that are read again faster than that. */
static void measure_memory(const bench *w, double *rate, double *l2)
{
    enum { EIGHTHS = 8, CALLS = 20 };
    size_t free_bytes, total;
    char *memory;
    must(cudaMemGetInfo(&free_bytes, &total), "memory");
    size_t bytes = free_bytes / 2 < MOST_BYTES ? free_bytes / 2 : MOST_BYTES;
    must(cudaMalloc((void **)&memory, bytes), "memory");
    must(cudaMemset(memory, 1, bytes), "memory");
    *rate = measure_reading(w, memory, bytes, 1);
    for (int part = EIGHTHS; part > 0; part--) {
        *l2 = (double)w->is.l2CacheSize * part / EIGHTHS;
        if (*l2 >= READ_BYTES && *l2 <= (double)bytes &&
            measure_reading(w, memory, (size_t)*l2, CALLS) > *rate)
            break;
    }
    must(cudaFree(memory), "memory");
}

int main(int count, char **words)
{
    static bench state;
    bench *w = &state;
    double launch[2], memory, l2;
    if (count > 1) {
        fprintf(stderr, "tune: it takes no arguments, such as '%s'\n", words[1]);
        return 1;
    }
    must(cudaGetDeviceProperties(&w->is, 0), "no CUDA device");
    w->capability = 10 * w->is.major + w->is.minor;
    w->processors = w->is.multiProcessorCount < (int)MOST_PROCESSORS ? w->is.multiProcessorCount
                                                                     : (int)MOST_PROCESSORS;
    must(cudaStreamCreateWithFlags(&w->stream, cudaStreamNonBlocking), "stream");
    must(cudaEventCreate(&w->from), "event");
    must(cudaEventCreate(&w->to), "event");
    measure_launch(w->stream, w->processors, launch);
    const double clock = measure_clock(w);
    measure_memory(w, &memory, &l2);
    printf("    {\"%s\", %d, %d, %d, %.3g, %.0f, %.0f, %.2e},\n", w->is.name, w->capability,
           attribute(cudaDevAttrGlobalMemoryBusWidth, "width of the bus"),
           w->is.multiProcessorCount, clock, 1e3 * launch[1], memory, l2);
    must(cudaEventDestroy(w->from), "event");
    must(cudaEventDestroy(w->to), "event");
    must(cudaStreamDestroy(w->stream), "stream");
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    fprintf(stderr, "tune: cannot write to the standard output\n");
    return 1;
}

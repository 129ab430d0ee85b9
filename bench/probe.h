/* Kernels that tell what a device does: an empty one, one that keeps it busy, one that reads; and
   how long they take. Whoever includes it defines BENCH before. */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H
#include "common.h"

static __global__ void empty(void)
{
}

/* Keeps multiprocessors busy for so many clocks. Before what is timed, so that the host is ahead of
   the device when that begins: some 20 microseconds. */
enum { HOLD = 40000 };
static __global__ void spin(long long clocks)
{
    long long start = clock64();
    while (clock64() - start < clocks) continue;
}

/* READ_BYTES a block, eight vectors in flight a thread. */
enum { READ_BYTES = 32768 };
static __global__ void read_all(const uint4 *from, unsigned *sink)
{
    const uint4 *at = from + (size_t)blockIdx.x * 2048 + threadIdx.x;
    uint4 v[8];
    unsigned all = 0;
    for (int n = 0; n < 8; n++) v[n] = at[n * 256];
    for (int n = 0; n < 8; n++) all ^= v[n].x ^ v[n].y ^ v[n].z ^ v[n].w;
    if (all == 0x12345678u) *sink = all; /* rarely, and it hurts nothing */
}

/* Milliseconds of what is launched between two records. */
static inline double elapsed(cudaEvent_t from, cudaEvent_t to)
{
    float ms = 0;
    must(cudaEventSynchronize(to), "the kernels that were timed");
    must(cudaEventElapsedTime(&ms, from, to), "event");
    return ms;
}

/* Brings clocks up, and measures empty kernels with a block for each multiprocessor, on a stream
   and in a graph: microseconds of each, the median of five. */
static inline void measure_launch(cudaStream_t stream, int processors, double launch[2])
{
    static const double WARM_UP = 200; /* milliseconds */
#ifdef __CUCC__                        /* whose threads take turns */
    enum { CALLS = 20, TIMES = 5, BUSY = 4000 };
#else
    enum { CALLS = 200, TIMES = 5, BUSY = 1000000 };
#endif
    cudaEvent_t from, to;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    double times[2][TIMES], ms = 0;
    must(cudaEventCreate(&from), "event");
    must(cudaEventCreate(&to), "event");
    for (double all = 0; all < WARM_UP; all += ms) {
        must(cudaEventRecord(from, stream), "event");
        for (int n = 0; n < 20; n++) spin<<<processors, 256, 0, stream>>>(BUSY);
        must(cudaEventRecord(to, stream), "event");
        ms = elapsed(from, to);
    }
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "begin of capture");
    for (int n = 0; n < CALLS; n++) empty<<<processors, 256, 0, stream>>>();
    must(cudaStreamEndCapture(stream, &graph), "end of capture");
    must(cudaGraphInstantiate(&ready, graph, 0), "a graph");
    for (int time = -1; time < TIMES; time++) /* one before that counts */
        for (int in_graph = 0; in_graph < 2; in_graph++) {
            spin<<<1, 1, 0, stream>>>(HOLD);
            must(cudaEventRecord(from, stream), "event");
            if (in_graph) must(cudaGraphLaunch(ready, stream), "launch of a graph");
            for (int n = 0; n < CALLS && !in_graph; n++) empty<<<processors, 256, 0, stream>>>();
            must(cudaEventRecord(to, stream), "event");
            ms = elapsed(from, to);
            if (time >= 0) times[in_graph][time] = ms * 1e3 / CALLS;
        }
    for (int in_graph = 0; in_graph < 2; in_graph++)
        launch[in_graph] = median(times[in_graph], TIMES);
    must(cudaGraphExecDestroy(ready), "end of a graph");
    must(cudaGraphDestroy(graph), "end of a graph");
    must(cudaEventDestroy(from), "end of an event");
    must(cudaEventDestroy(to), "end of an event");
}
#endif

/* tests/shapes/clock.h - a device whose clock is made up, and a cuBLAS, for a copy of
   bench/shapes.cu on the CPU runner: a product of ours takes OURS microseconds, one of theirs
   THEIRS (two variables of the environment; the first SLOW of ours half as long again), so that what the bench makes of its measurements is
   known beforehand.

   The host takes a microsecond or two for each launch and is ahead of the device or behind it; a
   graph takes long when it is first launched; of five measurements in turn one is half as fast
   again. */
#include "bench/plans.h"
#include "tiledmm.cuh"
#define CUBLAS_API_H_
#define KNOWN_CLOCK

static double host_time, device_time, slowness = 1;
static double *captured; /* the graph that work goes into, or NULL */

static double cost(const char *name)
{
    return atof(getenv(name));
}

static void advance_host(double us)
{
    host_time += us;
    if (device_time < host_time) device_time = host_time;
}

/* Work of the device: it begins when it was launched and all before it has ended. */
static void work(double us, double launching)
{
    if (captured) {
        *captured += us;
        return;
    }
    advance_host(launching);
    device_time += us * slowness;
}

/* ---------------------------------- events ---------------------------------------------------- */
/* Two are recorded for each measurement: those are told apart by their number. */
static double recorded[2];
static int records;

static cudaError_t record_event(void)
{
    slowness = records / 2 % 5 == 4 ? 1.5 : 1;
    recorded[records++ % 2] = device_time;
    return cudaSuccess;
}
static cudaError_t wait_for_event(void)
{
    host_time = device_time + 5;
    return cudaSuccess;
}
static cudaError_t elapsed_time(float *ms)
{
    *ms = (float)((recorded[1] - recorded[0]) * 1e-3);
    return cudaSuccess;
}
#define cudaEventRecord(event, stream)     record_event()
#define cudaEventSynchronize(event)        wait_for_event()
#define cudaEventElapsedTime(ms, from, to) elapsed_time(ms)

/* ---------------------------------- graphs ---------------------------------------------------- */
/* Under names of their own, where CUDA's are declared already. */
struct CUgraphExec_st {
    double us;
    int launches;
};
typedef struct CUgraphExec_st known_graph;
#define cudaGraph_t                               known_graph *
#define cudaGraphExec_t                           known_graph *
#define cudaStreamEndCapture(stream, graph)       end_capture(graph)
#define cudaGraphInstantiate(ready, graph, flags) instantiate(ready, graph)
#define cudaGraphLaunch(graph, stream)            launch_graph(graph)
#define cudaGraphDestroy(graph)                   destroy_graph(graph)
#define cudaStreamBeginCapture(stream, mode)      begin_capture()
#define cudaGraphExecDestroy(graph)               destroy_graph(graph)

static cudaError_t begin_capture(void)
{
    captured = (double *)calloc(1, sizeof *captured);
    return captured ? cudaSuccess : cudaErrorMemoryAllocation;
}
static cudaError_t end_capture(known_graph **graph)
{
    *graph = (known_graph *)calloc(1, sizeof **graph);
    if (!*graph) return cudaErrorMemoryAllocation;
    (*graph)->us = *captured;
    free(captured);
    captured = NULL;
    return cudaSuccess;
}
static cudaError_t instantiate(known_graph **ready, const known_graph *graph)
{
    *ready = (known_graph *)calloc(1, sizeof **ready);
    if (!*ready) return cudaErrorMemoryAllocation;
    (*ready)->us = graph->us;
    return cudaSuccess;
}
static cudaError_t launch_graph(known_graph *graph)
{
    advance_host(graph->launches++ ? 8 : 2000);
    work(graph->us + 2, 0);
    return cudaSuccess;
}
static cudaError_t destroy_graph(known_graph *graph)
{
    free(graph);
    return cudaSuccess;
}

/* ---------------------------------- products -------------------------------------------------- */
/* Only the first of each is computed, since C keeps it: all where other kernels are checked. */
static tmm_status our_product(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M, long long N,
                              long long K, float alpha, const float *A, long long lda,
                              const float *B, long long ldb, float beta, float *C, long long ldc,
                              cudaStream_t stream)
{
    static int calls;
    const char *slow = getenv("SLOW");
    work(cost("OURS") * (slow && calls < atoi(slow) ? 1.5 : 1), 4);
    return calls++ && !getenv("COMPUTE") ? TMM_OK
                                         : tmm_sgemm_with(kernel, opA, opB, M, N, K, alpha, A, lda,
                                                          B, ldb, beta, C, ldc, stream);
}
#define tmm_sgemm_with our_product

typedef int cublasStatus_t;
typedef int cublasHandle_t;
typedef tmm_op cublasOperation_t;
enum { CUBLAS_STATUS_SUCCESS };
#define CUBLAS_OP_N TMM_OP_N
#define CUBLAS_OP_T TMM_OP_T

static const char *cublasGetStatusString(cublasStatus_t)
{
    return "an error";
}
static cublasStatus_t cublasSgemm(cublasHandle_t, cublasOperation_t opB, cublasOperation_t opA,
                                  int N, int M, int K, const float *alpha, const float *B, int ldb,
                                  const float *A, int lda, const float *beta, float *C, int ldc)
{
    static int calls;
    work(cost("THEIRS"), 2);
    if (calls++) return CUBLAS_STATUS_SUCCESS;
    return tmm_sgemm(opA, opB, M, N, K, *alpha, A, lda, B, ldb, *beta, C, ldc, 0) != TMM_OK;
}
#define cublasDgemm(...)               CUBLAS_STATUS_SUCCESS
#define cublasSgemmStridedBatched(...) CUBLAS_STATUS_SUCCESS
#define cublasDgemmStridedBatched(...) CUBLAS_STATUS_SUCCESS
#define cublasCreate(handle)           (*(handle) = 0)
#define cublasDestroy(handle)          CUBLAS_STATUS_SUCCESS
#define cublasSetStream(...)           CUBLAS_STATUS_SUCCESS
#define cublasSetWorkspace(...)        CUBLAS_STATUS_SUCCESS
#define cublasGetVersion(handle, at)   (*(at) = 130100, CUBLAS_STATUS_SUCCESS)

/* Graphs: captured, made node by node, changed, and what a capture refuses. Callbacks and priorities of
 * streams, attributes, pools. */
#include "check.h"
#include <thread>
#include <string.h>

enum { count = 256 };

__global__ void add(int *data, int value)
{
    data[threadIdx.x] += value;
}
__global__ void multiply(int *data, int value)
{
    data[threadIdx.x] *= value;
}
__global__ void sum_of(int *to, const int *a, const int *b)
{
    to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static bool all_are(const int *data, int value)
{
    for (int i = 0; i < count; i++)
        if (data[i] != value) return false;
    return true;
}

static void CUDART_CB note(void *data)
{
    ++*(int *)data;
}
static void CUDART_CB note_status(cudaStream_t, cudaError_t status, void *data)
{
    *(int *)data += status == cudaSuccess ? 10 : 1000;
}

static void work_elsewhere(int *data, cudaStream_t stream)
{
    int pageable = 17, copied = 0;
    CHECK(cudaMemcpyAsync(data, &pageable, 4, cudaMemcpyDefault, stream) == cudaSuccess);
    add<<<1, 1, 0, stream>>>(data, 3);
    CHECK(cudaMemcpyAsync(&copied, data, 4, cudaMemcpyDefault, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess && copied == 20);
    add<<<1, 1, 0, cudaStreamPerThread>>>(data, 3);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess && data[0] == 23);
}

static void check_capture(void)
{
    int *data = managed<int>(count), *other = managed<int>(count), notes = 0;
    cudaStream_t stream, side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCaptureStatus status;
    size_t nodes = 0;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess && cudaStreamCreate(&side) == cudaSuccess);
    CHECK(cudaEventCreate(&fork) == cudaSuccess &&
          cudaEventCreate(&join, cudaEventDisableTiming) == cudaSuccess);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
          status == cudaStreamCaptureStatusActive);
    CHECK(cudaMemsetAsync(data, 0, count * sizeof(int), stream) == cudaSuccess);
    CHECK(cudaEventRecord(fork, stream) == cudaSuccess &&
          cudaStreamWaitEvent(side, fork) == cudaSuccess);
    add<<<1, count, 0, stream>>>(data, 3);
    CHECK(cudaMemsetAsync(other, 0, count * sizeof(int), side) == cudaSuccess);
    add<<<1, count, 0, side>>>(other, 4);
    CHECK(cudaEventRecord(join, side) == cudaSuccess &&
          cudaStreamWaitEvent(stream, join, 0) == cudaSuccess);
    sum_of<<<1, count, 0, stream>>>(data, data, other);
    CHECK(cudaLaunchHostFunc(stream, note, &notes) == cudaSuccess);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(all_are(data, 0) &&
          notes == 0); /* nothing has been done: managed memory began with zeros */
    CHECK(cudaGraphGetNodes(graph, NULL, &nodes) == cudaSuccess && nodes == 6);
    CHECK(cudaGraphGetRootNodes(graph, NULL, &nodes) == cudaSuccess && nodes == 1);
    CHECK(cudaGraphInstantiate(&executable, graph, NULL, NULL, 0) == cudaSuccess);
    for (int i = 1; i <= 3; i++) {
        CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess && all_are(data, 7) && notes == i);
        data[5] = 99;
    }
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess &&
          cudaGraphDestroy(graph) == cudaSuccess);

    /* what a capture leaves alone: streams of other threads, copies of pageable memory too */
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    std::thread(work_elsewhere, data, side).join();
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);

    /* what it refuses */
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaMemcpy(data, other, 4, cudaMemcpyDefault) == cudaErrorStreamCaptureImplicit);
    CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && !graph);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    CHECK(cudaEventRecord(fork, stream) == cudaSuccess &&
          cudaStreamWaitEvent(side, fork) == cudaSuccess);
    add<<<1, count, 0, side>>>(other, 4);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
    (void)cudaGetLastError();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    add<<<1, count, 49 << 10, stream>>>(data, 3); /* more shared memory than was asked for */
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated && !graph);
    CHECK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal) ==
          cudaErrorStreamCaptureUnsupported);
    cudaGetLastError();
    CHECK(cudaStreamDestroy(stream) == cudaSuccess && cudaStreamDestroy(side) == cudaSuccess);
    CHECK(cudaEventDestroy(fork) == cudaSuccess && cudaEventDestroy(join) == cudaSuccess);
    cudaFree(data);
    cudaFree(other);
}

static void check_nodes(void)
{
    int *data = managed<int>(count), host[count], three = 3, five = 5, notes = 0;
    cudaGraph_t graph, child, clone;
    cudaGraphExec_t executable;
    cudaGraphNode_t set, plus, times, copy, last, inner;
    cudaGraphNodeType type;
    cudaMemsetParams zero = {data, 0, 2, 4, count, 1};
    cudaHostNodeParams function = {note, &notes};
    cudaKernelNodeParams kernel = {};
    void *of_add[] = {&data, &three}, *of_multiply[] = {&data, &five};
    kernel.gridDim = kernel.blockDim = dim3(1);
    kernel.blockDim.x = count;
    kernel.func = (void *)add;
    kernel.kernelParams = of_add;
    CHECK(cudaGraphCreate(&graph, 0) == cudaSuccess && cudaGraphCreate(&child, 0) == cudaSuccess);
    CHECK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &zero) == cudaSuccess);
    /* the last one is added first: dependencies decide */
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, host, data, sizeof host,
                                   cudaMemcpyDeviceToHost) == cudaSuccess);
    kernel.sharedMemBytes = 49 << 10;
    CHECK(cudaGraphAddKernelNode(&plus, graph, &set, 1, &kernel) == cudaErrorInvalidValue);
    kernel.sharedMemBytes = 0;
    CHECK(cudaGraphAddKernelNode(&plus, graph, &set, 1, &kernel) == cudaSuccess);
    kernel.func = (void *)multiply;
    kernel.kernelParams = of_multiply;
    CHECK(cudaGraphAddKernelNode(&inner, child, NULL, 0, &kernel) == cudaSuccess);
    CHECK(cudaGraphAddChildGraphNode(&times, graph, &plus, 1, child) == cudaSuccess);
    CHECK(cudaGraphAddHostNode(&last, graph, &copy, 1, &function) == cudaSuccess);
    CHECK(cudaGraphAddDependencies(graph, &times, &copy, 1) == cudaSuccess);
    CHECK(cudaGraphNodeGetType(times, &type) == cudaSuccess && type == cudaGraphNodeTypeGraph);
    CHECK(cudaGraphClone(&clone, graph) == cudaSuccess);
    CHECK(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    CHECK(cudaGraphLaunch(executable, 0) == cudaSuccess && done());
    CHECK(all_are(host, (2 + 3) * 5) && notes == 1);
    three = 30;
    kernel.func = (void *)add;
    kernel.kernelParams = of_add;
    CHECK(cudaGraphExecKernelNodeSetParams(executable, plus, &kernel) == cudaSuccess);
    CHECK(cudaGraphLaunch(executable, 0) == cudaSuccess && done());
    CHECK(all_are(host, (2 + 30) * 5) && notes == 2);
    cudaGraphExecUpdateResultInfo info;
    CHECK(cudaGraphExecUpdate(executable, clone, &info) == cudaSuccess &&
          info.result == cudaGraphExecUpdateSuccess);
    CHECK(cudaGraphLaunch(executable, 0) == cudaSuccess && done() && all_are(host, 25));
    CHECK(cudaGraphExecUpdate(executable, child, &info) == cudaErrorGraphExecUpdateFailure);
    CHECK(cudaGraphAddDependencies(graph, &copy, &set, 1) == cudaSuccess); /* a ring */
    CHECK(cudaGraphInstantiate(&executable, graph, 0) == cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaGraphExecDestroy(executable) == cudaSuccess &&
          cudaGraphDestroy(clone) == cudaSuccess);
    CHECK(cudaGraphDestroy(graph) == cudaSuccess && cudaGraphDestroy(child) == cudaSuccess);
    cudaFree(data);
}

static void check_streams(void)
{
    int notes = 0, least, greatest, priority;
    unsigned int flags;
    cudaStream_t stream;
    cudaLaunchAttributeValue window, found;
    memset(&window, 0, sizeof window);
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess && greatest < least);
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 1) ==
          cudaSuccess);
    CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess && priority == greatest);
    CHECK(cudaStreamGetFlags(stream, &flags) == cudaSuccess && flags == cudaStreamNonBlocking);
    CHECK(cudaStreamAddCallback(stream, note_status, &notes, 0) == cudaSuccess);
    CHECK(cudaLaunchHostFunc(stream, note, &notes) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess && notes == 11);
    window.accessPolicyWindow.num_bytes = 4096;
    window.accessPolicyWindow.hitRatio = 0.5f;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window) ==
          cudaSuccess);
    CHECK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &found) ==
          cudaSuccess);
    CHECK(found.accessPolicyWindow.num_bytes == 4096 && found.accessPolicyWindow.hitRatio == 0.5f);
    window.accessPolicyWindow.hitRatio = 1.5f;
    CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window) ==
          cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    cudaGetLastError();
}

static void check_pools(void)
{
    cudaMemPool_t pool, standard;
    cudaMemPoolProps props = {};
    cudaStream_t stream;
    int *data;
    unsigned long long used, threshold = 1 << 20;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cudaDeviceGetDefaultMemPool(&standard, 0) == cudaSuccess);
    CHECK(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &threshold) ==
          cudaSuccess);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &used) ==
              cudaSuccess &&
          used == threshold);
    CHECK(cudaMallocAsync(&data, 1000, stream) == cudaSuccess);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess &&
          used == 1000);
    CHECK(cudaFreeAsync(data, stream) == cudaSuccess &&
          cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess &&
          used == 0);
    CHECK(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &used) == cudaSuccess &&
          used == 1000);
    CHECK(cudaMemPoolCreate(&pool, &props) == cudaSuccess &&
          cudaDeviceSetMemPool(0, pool) == cudaSuccess);
    CHECK(cudaMallocAsync(&data, 500, stream) == cudaSuccess);
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess &&
          used == 500);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess && cudaFree(data) == cudaSuccess);
    CHECK(cudaMemPoolDestroy(pool) == cudaSuccess &&
          cudaMemPoolDestroy(pool) == cudaErrorInvalidValue);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    cudaGetLastError();
}

/* The stream per thread, which is no object that a program has created. */
static void check_stream_per_thread(void)
{
    int *data = managed<int>(count), *other = managed<int>(count);
    cudaStreamCaptureStatus status;
    cudaStream_t side;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    size_t nodes = 0;
    cudaStreamCreate(&side);
    cudaEventCreate(&fork);
    cudaEventCreate(&join);
    memset(data, 0, count * sizeof *data);
    CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaStreamIsCapturing(cudaStreamPerThread, &status) == cudaSuccess &&
          status == cudaStreamCaptureStatusActive);
    add<<<1, count, 0, cudaStreamPerThread>>>(data, 2);
    CHECK(cudaEventRecord(fork, cudaStreamPerThread) == cudaSuccess &&
          cudaStreamWaitEvent(side, fork, 0) == cudaSuccess);
    multiply<<<1, count, 0, side>>>(data, 5);
    CHECK(cudaEventRecord(join, side) == cudaSuccess &&
          cudaStreamWaitEvent(cudaStreamPerThread, join, 0) == cudaSuccess);
    CHECK(cudaStreamDestroy(side) == cudaSuccess); /* it has joined */
    CHECK(cudaMemcpyAsync(other, data, count * sizeof *data, cudaMemcpyDefault,
                          cudaStreamPerThread) == cudaSuccess);
    CHECK(cudaStreamEndCapture(cudaStreamPerThread, &graph) == cudaSuccess);
    CHECK(all_are(data, 0) && cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess &&
          nodes == 3);
    CHECK(cudaStreamIsCapturing(cudaStreamPerThread, &status) == cudaSuccess &&
          status == cudaStreamCaptureStatusNone);
    CHECK(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
    CHECK(cudaGraphLaunch(executable, cudaStreamPerThread) == cudaSuccess && done());
    CHECK(all_are(data, 10) && all_are(other, 10));
    add<<<1, count, 0, cudaStreamPerThread>>>(data, 1);
    CHECK(done() && all_are(data, 11));

    cudaStreamCreate(&side); /* not joined */
    CHECK(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeGlobal) == cudaSuccess);
    cudaEventRecord(fork, cudaStreamPerThread);
    cudaStreamWaitEvent(side, fork, 0);
    add<<<1, count, 0, side>>>(data, 1);
    cudaStreamDestroy(side);
    cudaGraph_t none;
    CHECK(cudaStreamEndCapture(cudaStreamPerThread, &none) == cudaErrorStreamCaptureUnjoined);
    cudaGetLastError();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaEventDestroy(fork);
    cudaEventDestroy(join);
    cudaFree(data);
    cudaFree(other);
}

int main()
{
    check_capture();
    check_stream_per_thread();
    check_nodes();
    check_streams();
    check_pools();
    printf("%d failures\n", failures);
    return failures > 0;
}

/* Graphs. A node holds its work, ready to be done as often as the graph is launched, and what it comes
 * after; a capture makes nodes of what streams are given. */
#include "state.h"
#include <algorithm>

/* The nodes in an order that they may be done in, and from which node each was made. */
struct CUgraphExec_st {
    struct step {
        cudaGraphNode_t node;
        cudaGraphNodeType type;
        std::function<void()> work;
    };
    std::vector<step> steps;
    int device;
};

namespace cucc
{
static bool has_node(cudaGraph_t graph, cudaGraphNode_t node)
{
    for (auto &n : graph->nodes)
        if (n.get() == node) return true;
    return false;
}

/* Nodes whose predecessors are done, in the order in which they were added; false if some wait for one
 * another. */
static bool sort_nodes(cudaGraph_t graph, std::vector<cudaGraphNode_t> &sorted)
{
    std::set<cudaGraphNode_t> done;
    while (done.size() < graph->nodes.size()) {
        size_t before = done.size();
        for (auto &n : graph->nodes) {
            cudaGraphNode_t node = n.get();
            bool ready = !done.count(node) &&
                         std::all_of(node->after.begin(), node->after.end(),
                                     [&](cudaGraphNode_t p) { return done.count(p) > 0; });
            if (!ready) continue;
            done.insert(node);
            sorted.push_back(node);
        }
        if (done.size() == before) return false;
    }
    return true;
}

/* The work of a launch with these parameters, which is checked like any launch. */
static cudaError_t kernel_work(const cudaKernelNodeParams *p, std::function<void()> &work)
{
    kernel_record record;
    if (!p || !p->func || p->extra) return failed(cudaErrorInvalidValue);
    if (!find_kernel(p->func, record)) return failed(cudaErrorInvalidDeviceFunction);
    launch_sink kept;
    sink = &kept;
    cudaError_t error = record.launch(new_request(record.name, p->func, p->gridDim, p->blockDim,
                                                  p->sharedMemBytes, nullptr),
                                      p->kernelParams);
    sink = nullptr;
    if (error) return error;
    work = [kept] { run_launch(kept.request); };
    return cudaSuccess;
}

static cudaError_t memset_work(const cudaMemsetParams *p, std::function<void()> &work)
{
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
        return failed(cudaErrorInvalidValue);
    cudaMemsetParams s = *p;
    size_t pitch = s.height > 1 ? s.pitch : s.width * s.elementSize;
    {
        state_lock lock(state().lock);
        if (!check_side("cudaGraphAddMemsetNode", "destination", s.dst,
                        (s.height - 1) * pitch + s.width * s.elementSize, device_side))
            return failed(cudaErrorInvalidValue);
    }
    work = [s, pitch] {
        copy_lock lock;
        for (size_t y = 0; y < s.height; y++)
            for (size_t x = 0; x < s.width; x++)
                memcpy((char *)s.dst + y * pitch + x * s.elementSize, &s.value, s.elementSize);
    };
    return cudaSuccess;
}

static cudaError_t host_work(const cudaHostNodeParams *p, std::function<void()> &work)
{
    if (!p || !p->fn) return failed(cudaErrorInvalidValue);
    work = [h = *p] { h.fn(h.userData); };
    return cudaSuccess;
}

static void do_steps(const CUgraphExec_st &executable)
{
    for (const auto &step : executable.steps)
        if (step.work) step.work();
}

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after,
                            size_t count, cudaGraphNodeType type, std::function<void()> work)
{
    if (!node || !graph || (count && !after)) return failed(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        if (!has_node(graph, after[i])) return failed(cudaErrorInvalidValue);
    *node = graph->add(type, work);
    (*node)->after.assign(after, after + count);
    return cudaSuccess;
}

static CUgraphExec_st::step *find_step(cudaGraphExec_t executable, cudaGraphNode_t node)
{
    for (auto &step : executable->steps)
        if (step.node == node) return &step;
    return nullptr;
}

static cudaError_t replace(cudaGraphExec_t executable, cudaGraphNode_t node, cudaGraphNodeType type,
                           std::function<void()> work)
{
    CUgraphExec_st::step *step = executable ? find_step(executable, node) : nullptr;
    if (!step || step->type != type) return failed(cudaErrorInvalidValue);
    step->work = work;
    return cudaSuccess;
}

static cudaError_t make_steps(cudaGraph_t graph, std::vector<CUgraphExec_st::step> &steps)
{
    std::vector<cudaGraphNode_t> sorted;
    if (!graph || !sort_nodes(graph, sorted)) return failed(cudaErrorInvalidValue);
    for (cudaGraphNode_t node : sorted) steps.push_back({node, node->type, node->work});
    return cudaSuccess;
}
} // namespace cucc

using namespace cucc;

/* ---- capture --------------------------------------------------------------------------------- */

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (stream == cudaStreamPerThread && !capture_stand_in)
        if (cudaError_t error = cudaStreamCreate(&capture_stand_in)) return error;
    stream = captured(stream);
    if (is_default_stream(stream)) return failed(cudaErrorStreamCaptureUnsupported);
    if (stream->capture) return failed(cudaErrorIllegalState);
    finish(stream);
    state_lock lock(state().lock);
    bool strict = mode != cudaStreamCaptureModeRelaxed;
    state().strict_captures += strict;
    stream->capture.reset(new cucc_capture{new CUgraph_st, stream, strict, false, {}});
    stream->tail.clear();
    return cudaSuccess;
}

/* The streams that joined a capture leave it; whether each had come back to its origin. */
static bool leave_capture(const std::shared_ptr<cucc_capture> &capture)
{
    std::set<cudaGraphNode_t> before_end,
        todo(capture->origin->tail.begin(), capture->origin->tail.end());
    while (!todo.empty()) {
        cudaGraphNode_t node = *todo.begin();
        todo.erase(todo.begin());
        if (before_end.insert(node).second) todo.insert(node->after.begin(), node->after.end());
    }
    bool joined = true;
    for (cudaGraphNode_t node : capture->left) joined &= before_end.count(node) > 0;
    for (cudaStream_t s : state().streams) {
        if (s->capture != capture) continue;
        for (cudaGraphNode_t node : s->tail) joined &= before_end.count(node) > 0;
        s->capture = nullptr;
        s->tail.clear();
    }
    for (cudaEvent_t e : state().events)
        if (e->capture == capture) e->capture = nullptr;
    return joined;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!graph) return failed(cudaErrorInvalidValue);
    *graph = nullptr;
    stream = captured(stream);
    if (!is_capturing(stream)) return failed(cudaErrorIllegalState);
    std::shared_ptr<cucc_capture> capture = stream->capture;
    if (capture->origin != stream) return failed(cudaErrorStreamCaptureUnmatched);
    bool joined;
    {
        state_lock lock(state().lock);
        state().strict_captures -= capture->strict;
        joined = leave_capture(capture);
    }
    if (stream == capture_stand_in) {
        cudaStreamDestroy(capture_stand_in);
        capture_stand_in = nullptr;
    }
    if (joined && !capture->invalid) {
        *graph = capture->graph;
        return cudaSuccess;
    }
    delete capture->graph;
    return failed(joined ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!status) return failed(cudaErrorInvalidValue);
    stream = captured(stream);
    *status = !is_capturing(stream)      ? cudaStreamCaptureStatusNone
              : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
    static thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode) return failed(cudaErrorInvalidValue);
    std::swap(current, *mode);
    return cudaSuccess;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
    if (!graph || flags) return failed(cudaErrorInvalidValue);
    *graph = new CUgraph_st;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    if (!graph) return failed(cudaErrorInvalidValue);
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t original)
{
    if (!clone || !original) return failed(cudaErrorInvalidValue);
    std::map<cudaGraphNode_t, cudaGraphNode_t> copies;
    *clone = new CUgraph_st;
    for (auto &n : original->nodes) {
        cudaGraphNode_t copy = (*clone)->add(n->type, n->work);
        copy->kernel = n->kernel;
        copies[n.get()] = copy;
    }
    for (auto &n : original->nodes)
        for (cudaGraphNode_t before : n->after) copies[n.get()]->after.push_back(copies[before]);
    return cudaSuccess;
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                     const cudaGraphNode_t *to, size_t count)
{
    if (!graph || (count && (!from || !to))) return failed(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        if (!has_node(graph, from[i]) || !has_node(graph, to[i]))
            return failed(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) to[i]->after.push_back(from[i]);
    return cudaSuccess;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *after, size_t count)
{
    return add_node(node, graph, after, count, cudaGraphNodeTypeEmpty, nullptr);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const cudaKernelNodeParams *parameters)
{
    std::function<void()> work;
    if (cudaError_t error = kernel_work(parameters, work)) return error;
    cudaError_t error = add_node(node, graph, after, count, cudaGraphNodeTypeKernel, work);
    if (!error) (*node)->kernel = *parameters;
    return error;
}

/* A copy checks its arguments and is then kept: as a stream would be given it in a capture. */
static cudaError_t copy_work(std::function<cudaError_t(cudaStream_t)> copy,
                             std::function<void()> &work)
{
    CUgraph_st kept;
    cudaStream_t stream;
    if (cudaError_t error = cudaStreamCreate(&stream)) return error;
    stream->capture.reset(new cucc_capture{&kept, stream, false, false, {}});
    cudaError_t error = copy(stream);
    stream->capture = nullptr;
    cudaStreamDestroy(stream);
    if (!error && !kept.nodes.empty()) work = kept.nodes[0]->work;
    return error;
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const cudaMemcpy3DParms *parameters)
{
    std::function<void()> work;
    auto copy = [=](cudaStream_t stream) { return cudaMemcpy3DAsync(parameters, stream); };
    if (cudaError_t error = copy_work(copy, work)) return error;
    return add_node(node, graph, after, count, cudaGraphNodeTypeMemcpy, work);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *after, size_t count, void *to,
                                     const void *from, size_t size, cudaMemcpyKind kind)
{
    std::function<void()> work;
    auto copy = [=](cudaStream_t stream) { return cudaMemcpyAsync(to, from, size, kind, stream); };
    if (cudaError_t error = copy_work(copy, work)) return error;
    return add_node(node, graph, after, count, cudaGraphNodeTypeMemcpy, work);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const cudaMemsetParams *parameters)
{
    std::function<void()> work;
    if (cudaError_t error = memset_work(parameters, work)) return error;
    return add_node(node, graph, after, count, cudaGraphNodeTypeMemset, work);
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *after, size_t count,
                                 const cudaHostNodeParams *parameters)
{
    std::function<void()> work;
    if (cudaError_t error = host_work(parameters, work)) return error;
    return add_node(node, graph, after, count, cudaGraphNodeTypeHost, work);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *after, size_t count,
                                       cudaGraph_t child)
{
    std::shared_ptr<CUgraphExec_st> steps(new CUgraphExec_st);
    if (cudaError_t error = make_steps(child, steps->steps)) return error;
    return add_node(node, graph, after, count, cudaGraphNodeTypeGraph,
                    [steps] { do_steps(*steps); });
}

static cudaError_t list_nodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count,
                              bool roots_only)
{
    if (!graph || !count) return failed(cudaErrorInvalidValue);
    size_t found = 0;
    for (auto &n : graph->nodes) {
        if (roots_only && !n->after.empty()) continue;
        if (nodes && found < *count) nodes[found] = n.get();
        found++;
    }
    if (!nodes || found < *count) *count = found;
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, false);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return list_nodes(graph, nodes, count, true);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type)
{
    if (!node || !type) return failed(cudaErrorInvalidValue);
    *type = node->type;
    return cudaSuccess;
}

/* The arguments of a captured kernel are not known by their addresses. */
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *parameters)
{
    if (!node || !parameters || !node->kernel.func) return failed(cudaErrorInvalidValue);
    *parameters = node->kernel;
    return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams *parameters)
{
    std::function<void()> work;
    if (!node || node->type != cudaGraphNodeTypeKernel) return failed(cudaErrorInvalidValue);
    if (cudaError_t error = kernel_work(parameters, work)) return error;
    node->work = work;
    node->kernel = *parameters;
    return cudaSuccess;
}

/* ---- executable graphs ----------------------------------------------------------------------- */

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                          unsigned long long)
{
    if (cudaError_t error = enter()) return error;
    if (!executable) return failed(cudaErrorInvalidValue);
    std::unique_ptr<CUgraphExec_st> made(new CUgraphExec_st);
    if (cudaError_t error = make_steps(graph, made->steps)) return error;
    made->device = current_device;
    *executable = made.release();
    return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *parameters)
{
    std::function<void()> work;
    if (cudaError_t error = kernel_work(parameters, work)) return error;
    return replace(executable, node, cudaGraphNodeTypeKernel, work);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void *to, const void *from, size_t size,
                                               cudaMemcpyKind kind)
{
    std::function<void()> work;
    auto copy = [=](cudaStream_t stream) { return cudaMemcpyAsync(to, from, size, kind, stream); };
    if (cudaError_t error = copy_work(copy, work)) return error;
    return replace(executable, node, cudaGraphNodeTypeMemcpy, work);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams *parameters)
{
    std::function<void()> work;
    if (cudaError_t error = memset_work(parameters, work)) return error;
    return replace(executable, node, cudaGraphNodeTypeMemset, work);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams *parameters)
{
    std::function<void()> work;
    if (cudaError_t error = host_work(parameters, work)) return error;
    return replace(executable, node, cudaGraphNodeTypeHost, work);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *info)
{
    std::vector<CUgraphExec_st::step> steps;
    if (!executable || !info) return failed(cudaErrorInvalidValue);
    *info = {cudaGraphExecUpdateError, nullptr, nullptr};
    if (cudaError_t error = make_steps(graph, steps)) return error;
    bool same_size = steps.size() == executable->steps.size();
    info->result = cudaGraphExecUpdateSuccess;
    if (!same_size) info->result = cudaGraphExecUpdateErrorTopologyChanged;
    for (size_t i = 0; same_size && i < steps.size(); i++) {
        if (steps[i].type == executable->steps[i].type) continue;
        info->result = cudaGraphExecUpdateErrorNodeTypeChanged;
        info->errorNode = steps[i].node;
    }
    if (info->result != cudaGraphExecUpdateSuccess) return failed(cudaErrorGraphExecUpdateFailure);
    for (size_t i = 0; i < steps.size(); i++) executable->steps[i].work = steps[i].work;
    return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t stream)
{
    if (!executable) return failed(cudaErrorInvalidValue);
    return check_stream(stream);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!executable) return failed(cudaErrorInvalidValue);
    if (planted("launch")) return failed(cudaErrorLaunchOutOfResources);
    CUgraphExec_st copy = *executable; /* later changes are for later launches */
    cudaError_t error = enqueue(
        stream, [copy] { do_steps(copy); }, cudaGraphNodeTypeGraph);
    return error ? error : enter();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable)
{
    if (!executable) return failed(cudaErrorInvalidValue);
    delete executable;
    return cudaSuccess;
}

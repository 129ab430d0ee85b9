/* Launches of kernels: the checks before them, and what is known of kernels. */
#include "watch.h"
#include "state.h"
#include <algorithm>
#include <string>

namespace cucc
{
thread_local launch_sink *sink;

/* The clusters that __cluster_dims__ asks for, by the kernel's name without template arguments. */
static std::map<std::string, dim3> &declared_clusters()
{
    static std::map<std::string, dim3> *clusters = new std::map<std::string, dim3>;
    return *clusters;
}

void set_cluster(const char *kernel, unsigned int x, unsigned int y, unsigned int z)
{
    declared_clusters()[kernel] = dim3(x, y, z);
}

/* Without template arguments and scopes. */
static std::string bare_name(const char *kernel)
{
    std::string name = kernel;
    name = name.substr(0, name.find('<'));
    size_t scope = name.rfind(':');
    return scope == name.npos ? name : name.substr(scope + 1);
}

static dim3 cluster_of_launch(const launch_request &r)
{
    if (r.cluster.x) return r.cluster;
    if (declared_clusters().empty()) return dim3(1, 1, 1);
    auto found = declared_clusters().find(bare_name(r.kernel));
    return found == declared_clusters().end() ? dim3(1, 1, 1) : found->second;
}

/* A device keeps what was last set for a kernel, by whatever host thread. False: nothing was set. A kernel that a call has chosen is known by its name alone, and may have the most
 * that was set for one of that name. */
static bool dynamic_shared_set(const void *kernel, const char *name, size_t &bytes)
{
    runtime_state &s = state();
    state_lock lock(s.lock);
    auto &set = s.device[inside_kernel() ? s.active_device : current_device].dynamic_shared_limits;
    bytes = 0;
    if (kernel) {
        auto found = set.find(kernel);
        if (found == set.end()) return false;
        bytes = found->second;
        return true;
    }
    bool any = false;
    for (auto &limit : set) {
        auto known = s.kernels.find(limit.first);
        if (known != s.kernels.end() && bare_name(known->second.name) != bare_name(name)) continue;
        any = true;
        bytes = std::max(bytes, limit.second);
    }
    return any;
}

static size_t dynamic_shared_limit(const void *kernel, const char *name)
{
    size_t bytes;
    return dynamic_shared_set(kernel, name, bytes) ? bytes : (size_t)static_shared_limit;
}

/* Static and dynamic shared memory together: without the attribute as much as any block may have. */
static size_t shared_bytes_allowed(const launch_request &r)
{
    size_t bytes;
    bool set = r.dynamic_shared && dynamic_shared_set(r.function, r.kernel, bytes);
    return (size_t)(set ? environment().gpu.shared_block : static_shared_limit);
}

static int resident_blocks(unsigned int threads, size_t dynamic_shared)
{
    const gpu_figures &gpu = environment().gpu;
    size_t shared = dynamic_shared + (gpu.major >= 8 ? 1024 : 0);
    if (threads > max_threads || dynamic_shared > (size_t)gpu.shared_block) return 0;
    unsigned int rounded = (threads + warp_lanes - 1) / warp_lanes * warp_lanes;
    size_t blocks = std::min((unsigned int)gpu.blocks, (unsigned int)gpu.threads / rounded);
    if (shared) blocks = std::min(blocks, (size_t)gpu.shared / shared);
    return (int)blocks;
}

static bool all_resident(const launch_request &r)
{
    int blocks = resident_blocks(r.block.x * r.block.y * r.block.z, r.dynamic_shared);
    return (uint64_t)r.grid.x * r.grid.y * r.grid.z <=
           (uint64_t)blocks * (uint64_t)environment().processors();
}

#ifdef CUCC_CHECK
/* What a GPU that was named does not take. */
static cudaError_t check_limits(const launch_request &r, dim3 cluster)
{
    const int first_with_clusters = 9, unit = 256; /* registers are given to a warp in units */
    const gpu_figures &gpu = environment().gpu;
    unsigned int warps = (r.block.x * r.block.y * r.block.z + warp_lanes - 1) / warp_lanes;
    int of_warp = (cucc_options.registers * warp_lanes + unit - 1) / unit * unit;
    const char *name = *gpu.name ? gpu.name : "the GPU";
    if (of_warp * (int)warps > gpu.registers) {
        say("kernel %s: %u warps of %d registers a thread are more than the %d registers of %s",
            r.kernel, warps, cucc_options.registers, gpu.registers, name);
        return cudaErrorLaunchOutOfResources;
    }
    if (*gpu.name && gpu.major < first_with_clusters && cluster.x * cluster.y * cluster.z > 1) {
        say("kernel %s: %s has no clusters", r.kernel, name);
        return cudaErrorInvalidClusterSize;
    }
    return cudaSuccess;
}
#endif

cudaError_t check_configuration(const launch_request &r)
{
    const unsigned int most_of_a_cluster = 16;
    if (!r.grid.x || !r.grid.y || !r.grid.z || !r.block.x || !r.block.y || !r.block.z)
        return cudaErrorInvalidConfiguration;
    if (r.grid.x > 0x7fffffffu || r.grid.y > 65535 || r.grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (r.block.x > 1024 || r.block.y > 1024 || r.block.z > 64 ||
        r.block.x * r.block.y * r.block.z > max_threads)
        return cudaErrorInvalidConfiguration;
    dim3 c = cluster_of_launch(r);
    if (c.x * c.y * c.z > most_of_a_cluster || r.grid.x % c.x || r.grid.y % c.y || r.grid.z % c.z)
        return c.x * c.y * c.z > most_of_a_cluster ? cudaErrorInvalidClusterSize
                                                   : cudaErrorInvalidConfiguration;
    if (r.cooperative && !all_resident(r)) return cudaErrorCooperativeLaunchTooLarge;
#ifdef CUCC_CHECK
    if (cudaError_t error = check_limits(r, c)) return error;
#endif
    if (r.dynamic_shared && r.dynamic_shared > dynamic_shared_limit(r.function, r.kernel))
        return cudaErrorInvalidValue;
    if (!is_default_stream(r.stream)) {
        if (check_stream(r.stream) || r.stream->device != current_device)
            return cudaErrorInvalidResourceHandle;
    }
    return cudaSuccess;
}

/* Whether kernels of the current device may use what this argument points to. */
bool is_reachable(const void *pointer)
{
    if (find_in_kernel_heap((uintptr_t)pointer).inside) return true;
    region found = find_region(pointer);
    int owner = found.device;
    if (owner == nowhere) return false;
    if (owner == pinned_host || owner == managed || owner == current_device) return true;
    auto made = state().allocations.find(found.begin);
    cudaMemPool_t pool = made == state().allocations.end() ? nullptr : made->second.pool;
    return pool ? pool->access[current_device] != cudaMemAccessFlagsProtNone
                : state().device[current_device].peer_enabled[owner];
}

bool check_arguments(const launch_request &r)
{
    state_lock lock(state().lock);
    for (int i = 0; i < r.argument_count; i++) {
        if (!r.pointers[i] || is_reachable(r.pointers[i])) continue;
        int owner = find_region(r.pointers[i]).device;
        if (owner == nowhere)
            say("kernel %s: argument %d (%p) is not in live device memory", r.kernel, i + 1,
                r.pointers[i]);
        else
            say("kernel %s: argument %d (%p) is memory of device %d, and the kernel runs on device "
                "%d",
                r.kernel, i + 1, r.pointers[i], owner, current_device);
        return false;
    }
    return true;
}

#ifdef CUCC_COUNT
std::vector<memory_range> live_memory()
{
    state_lock lock(state().lock);
    std::vector<memory_range> ranges;
    for (auto &a : state().allocations) ranges.push_back({a.first, a.first + a.second.size});
    return ranges;
}
#endif

static void describe(launch_state &launch)
{
    const dim3 &grid = launch.request.grid, &block = launch.request.block;
    launch.threads = block.x * block.y * block.z;
    launch.blocks = (uint64_t)grid.x * grid.y * grid.z;
    launch.cluster = cluster_of_launch(launch.request);
    launch.shared_bytes_allowed = shared_bytes_allowed(launch.request);
    launch.stack_bytes = state().device[state().active_device].limits[cudaLimitStackSize];
#ifdef CUCC_COUNT
    launch.global_memory = live_memory();
#endif
}

/* What a kernel has launched, and what that has launched: RUN is run_blocks or run_nested. */
static void run_all_children(launch_state &parent, void (*run)(launch_state &))
{
    while (!parent.children.empty() && !parent.failed) {
        child_launch child = parent.children.front();
        parent.children.erase(parent.children.begin());
        launch_state launch(child.request);
        describe(launch);
        run(launch);
#ifdef CUCC_COUNT
        add_counts(child.request.kernel, launch.counts);
#endif
        run_all_children(launch, run);
        if (!launch.failed) continue;
        parent.error = launch.error.load();
        parent.failed = true;
    }
}

void run_launch(const launch_request &request)
{
    if (state().device[current_device].sticky) return;
    std::lock_guard<std::mutex> launching(state().launching);
    activate(current_device);
    launch_state launch(request);
    describe(launch);
    run_blocks(launch);
#ifdef CUCC_COUNT
    add_counts(request.kernel, launch.counts);
#endif
    run_all_children(launch, run_blocks);
    if (launch.failed) fail_for_good(launch.error);
}

/* A kernel that a kernel launches runs when its parent has ended, or when the block that launched it
 * calls cudaDeviceSynchronize, as CUDA 11 has it. */
static cudaError_t launch_child(const launch_request &request)
{
    if (cudaError_t error = check_configuration(request)) return failed(error);
    launch_state &parent = *current_launch();
    child_launch child = {request, {}, current_block()};
    child.closure.reset(request.copy_closure(request.closure), request.free_closure);
    child.request.closure = child.closure.get();
    child.request.pointers = nullptr;
    std::lock_guard<std::mutex> lock(parent.children_lock);
    parent.children.push_back(child);
    return cudaSuccess;
}

void run_children()
{
    launch_state &parent = *current_launch();
    for (;;) {
        child_launch child;
        {
            std::lock_guard<std::mutex> lock(parent.children_lock);
            auto next = std::find_if(parent.children.begin(), parent.children.end(),
                                     [](const child_launch &c) {
                                         return c.parent_block == current_block();
                                     });
            if (next == parent.children.end()) return;
            child = *next;
            parent.children.erase(next);
        }
        launch_state launch(child.request);
        describe(launch);
        run_nested(launch);
        run_all_children(launch, run_nested);
        if (!launch.failed) continue;
        parent.error = launch.error.load();
        trap("a kernel that it has launched failed");
    }
}

static cudaError_t launch_from_host(const launch_request &request)
{
    if (cudaError_t error = enter()) return error;
    if (planted("launch")) return failed(cudaErrorLaunchOutOfResources);
    if (planted("kernel")) {
        fail_for_good(cudaErrorLaunchFailure);
        return cudaErrorLaunchFailure;
    }
    if (cudaError_t error = check_configuration(request)) {
        if (!check_stream(request.stream)) spoil_capture(request.stream);
        return failed(error);
    }
    if (!check_arguments(request)) {
        fail_for_good(cudaErrorIllegalAddress);
        return cudaErrorIllegalAddress;
    }
    bool capturing = is_capturing(request.stream);
    if (!sink && !capturing && (!late().on || is_default_stream(request.stream))) {
        if (waits_for_capture(request.stream)) return failed(cudaErrorStreamCaptureImplicit);
        wait_for_blocking(request.stream);
        run_launch(request);
        return state().device[current_device].sticky; /* as with CUDA_LAUNCH_BLOCKING=1 */
    }
    /* The arguments live as long as the work waits. */
    std::shared_ptr<void> closure(request.copy_closure(request.closure), request.free_closure);
    launch_request later = request;
    later.closure = closure.get();
    later.pointers = nullptr;
    if (sink) {
        *sink = {later, closure};
        return cudaSuccess;
    }
    return enqueue(request.stream, [later, closure] { run_launch(later); });
}

cudaError_t launch(const launch_request &request)
{
#ifdef CUCC_CHECK
    launch_request dated = request;
    bool later = sink || is_capturing(request.stream); /* in a graph: when, nobody knows yet */
    dated.launched = inside_kernel() ? current_launch()->request.launched
                     : later         ? UINT64_MAX
                                     : begin_in(request.stream);
    dated.launched_at = calling_code();
#else
    const launch_request &dated = request;
#endif
    if (inside_kernel()) return launch_child(dated);
    cudaError_t error = launch_from_host(dated);
    if (!request.returns_error) host_launches(request.kernel, error);
    return error;
}

launch_request configured(const cudaLaunchConfig_t *config, const void *kernel)
{
    launch_request request =
        new_request(kernel_name(kernel), kernel, config->gridDim, config->blockDim,
                    config->dynamicSmemBytes, config->stream);
    request.returns_error = true;
    for (unsigned int i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute &a = config->attrs[i];
        if (a.id == cudaLaunchAttributeClusterDimension)
            request.cluster = dim3(a.val.clusterDim.x, a.val.clusterDim.y, a.val.clusterDim.z);
        if (a.id == cudaLaunchAttributeCooperative) request.cooperative = a.val.cooperative != 0;
    }
    return request;
}

void register_kernel(const void *kernel, const kernel_record &record)
{
    state_lock lock(state().lock);
    kernel_record &known = state().kernels[kernel];
    const void *loops = record.loops ? record.loops : known.loops;
    known = record;
    known.loops = loops;
}

const void *loops_of(const void *kernel)
{
    kernel_record record;
    return find_kernel(kernel, record) ? record.loops : nullptr;
}

bool find_kernel(const void *kernel, kernel_record &record)
{
    state_lock lock(state().lock);
    auto found = state().kernels.find(kernel);
    if (found == state().kernels.end()) return false;
    record = found->second;
    return true;
}

const char *kernel_name(const void *kernel)
{
    kernel_record record;
    return find_kernel(kernel, record) ? record.name : "a kernel";
}
} // namespace cucc

using namespace cucc;

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (cudaError_t error = enter()) return error;
    if (!kernel) return failed(cudaErrorInvalidDeviceFunction);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout)
        return value >= -1 && value <= 100 ? cudaSuccess : failed(cudaErrorInvalidValue);
    if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) return cudaSuccess;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        value > environment().gpu.shared_block) {
#ifdef CUCC_CHECK
        say("%d bytes of dynamic shared memory are asked for, and a block of %s has at most %d",
            value, *environment().gpu.name ? environment().gpu.name : "the GPU",
            environment().gpu.shared_block);
#endif
        return failed(cudaErrorInvalidValue);
    }
    state_lock lock(state().lock);
    state().device[current_device].dynamic_shared_limits[kernel] = (size_t)value;
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *kernel, cudaFuncCache preference)
{
    if (!kernel || (unsigned int)preference > cudaFuncCachePreferEqual)
        return failed(cudaErrorInvalidValue);
    return enter();
}

static cudaError_t launch_by_address(const launch_request &request, void **arguments)
{
    kernel_record record;
    if (!find_kernel(request.function, record)) return failed(cudaErrorInvalidDeviceFunction);
    launch_request by_call = request;
    by_call.returns_error = true;
    return record.launch(by_call, arguments);
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t dynamic_shared, cudaStream_t stream)
{
    return launch_by_address(new_request(kernel_name(kernel), kernel, grid, block, dynamic_shared,
                                         stream),
                             arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t dynamic_shared, cudaStream_t stream)
{
    launch_request request =
        new_request(kernel_name(kernel), kernel, grid, block, dynamic_shared, stream);
    request.cooperative = true;
    return launch_by_address(request, arguments);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                void **arguments)
{
    if (!config) return failed(cudaErrorInvalidValue);
    return launch_by_address(configured(config, kernel), arguments);
}

/* Registers and static shared memory are those of no compiled kernel: pretended ones. */
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
    if (cudaError_t error = enter()) return error;
    if (!attributes || !kernel) return failed(cudaErrorInvalidValue);
    *attributes = cudaFuncAttributes{};
    attributes->maxThreadsPerBlock = max_threads;
    attributes->numRegs = 32;
    attributes->ptxVersion = attributes->binaryVersion =
        environment().gpu.major * 10 + environment().gpu.minor;
    attributes->maxDynamicSharedSizeBytes = (int)dynamic_shared_limit(kernel, "");
    attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
    return cudaSuccess;
}

/* ---- occupancy: by threads, blocks and dynamic shared memory --------------------------------- */

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block_size, size_t dynamic_shared)
{
    if (cudaError_t error = enter()) return error;
    if (!blocks || !kernel || block_size < 1) return failed(cudaErrorInvalidValue);
    *blocks = resident_blocks((unsigned int)block_size, dynamic_shared);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *kernel,
                                                                   int block_size,
                                                                   size_t dynamic_shared,
                                                                   unsigned int)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, block_size,
                                                         dynamic_shared);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_shared, const void *kernel,
                                                      int blocks, int block_size)
{
    if (cudaError_t error = enter()) return error;
    if (!dynamic_shared || !kernel || blocks < 1 || block_size < 1)
        return failed(cudaErrorInvalidValue);
    const gpu_figures &gpu = environment().gpu;
    size_t reserved = gpu.major >= 8 ? 1024 : 0, share = (size_t)(gpu.shared / blocks);
    *dynamic_shared = share > reserved ? std::min(share - reserved, (size_t)gpu.shared_block) : 0;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel,
                                           const cudaLaunchConfig_t *config)
{
    if (!clusters || !kernel || !config) return failed(cudaErrorInvalidValue);
    if (cudaError_t error = check_device(current_device)) return error;
    dim3 c = cluster_of_launch(configured(config, kernel)), b = config->blockDim;
    int blocks =
        resident_blocks(b.x * b.y * b.z, config->dynamicSmemBytes) * environment().processors();
    *clusters = blocks / (int)(c.x * c.y * c.z);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *kernel,
                                                 const cudaLaunchConfig_t *config)
{
    if (!size || !kernel || !config) return failed(cudaErrorInvalidValue);
    *size = 8; /* what is portable */
    return enter();
}

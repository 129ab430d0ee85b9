/* The host side of the CPU runner: errors, devices, memory, copies, streams, events and the checks
 * before a launch. Work is done at once, in the order of the calls; streams only carry rules, unless
 * CUCC_STREAMS=late. */
#include "runtime.h"
#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

struct cudaArray {
    float *texels;
    size_t width, height;
};

namespace
{
using namespace cucc;

/* ---- state ----------------------------------------------------------------------------------- */

enum { pinned_host = -1, nowhere = -2, managed = -3 };

struct allocation {
    size_t size;
    int device; /* or pinned_host, or managed */
};

struct device_state {
    size_t used = 0;
    cudaError_t sticky = cudaSuccess; /* after a fault in a kernel every call fails */
    bool peer_enabled[max_devices] = {};
};

/* A __device__ or __constant__ variable: its image for every device but the active one, whose
 * image is in the variable itself. */
struct symbol_images {
    char *address;
    size_t size;
    std::vector<char> initial;
    std::vector<char> image[max_devices];
};

struct texture {
    cudaArray_t array;
    bool linear;
};

struct runtime_state {
    int devices;
    size_t memory;
    device_state device[max_devices];

    std::recursive_mutex lock; /* of all below and of device[] */
    std::map<uintptr_t, allocation> allocations;
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    std::set<cudaArray_t> arrays;
    std::set<texture *> textures;
    std::map<const void *, size_t> dynamic_shared_limits;
    std::map<const void *, kernel_record> kernels; /* whose address a program has taken */

    /* Kernels run one at a time: variables hold the image of one device. */
    std::mutex launching;
    std::vector<symbol_images> symbols;
    int active_device = 0;
};

thread_local int current_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

void report_leaks();

/* Never destroyed: static destructors of the user may still call the runtime. */
runtime_state &state()
{
    static runtime_state *s = [] {
        runtime_state *r = new runtime_state;
        r->devices = environment().devices;
        r->memory = environment().memory;
        atexit(report_leaks);
        return r;
    }();
    return *s;
}

using state_lock = std::lock_guard<std::recursive_mutex>;

cudaError_t failed(cudaError_t error)
{
    last_error = error;
    return error;
}

/* What each call that needs a device begins with. */
cudaError_t enter()
{
    runtime_state &s = state();
    if (!s.devices) return failed(cudaErrorNoDevice);
    if (s.device[current_device].sticky) return failed(s.device[current_device].sticky);
    return cudaSuccess;
}

cudaError_t check_device(int device)
{
    if (!state().devices) return failed(cudaErrorNoDevice);
    if (device < 0 || device >= state().devices) return failed(cudaErrorInvalidDevice);
    return cudaSuccess;
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Memory that the runtime knows. */
struct region {
    uintptr_t begin;
    size_t size;
    int device; /* or pinned_host, managed or nowhere */
};

/* The region that holds the address; one past its end counts, as a pointer may stand there. A
 * variable of the device has one address for all devices, and belongs to the current one. */
region find_region(const void *pointer)
{
    runtime_state &s = state();
    uintptr_t address = (uintptr_t)pointer;
    auto next = s.allocations.upper_bound(address);
    if (next != s.allocations.begin()) {
        auto &found = *--next;
        if (address - found.first <= found.second.size)
            return {found.first, found.second.size, found.second.device};
    }
    for (symbol_images &symbol : s.symbols)
        if (address - (uintptr_t)symbol.address < symbol.size)
            return {(uintptr_t)symbol.address, symbol.size, current_device};
    return {address, 0, nowhere};
}

cudaError_t allocate(void **pointer, size_t size, int device)
{
    if (cudaError_t error = enter()) return error;
    if (!pointer) return failed(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (!size) return cudaSuccess;
    if (planted(device == pinned_host ? "pinned" : "malloc"))
        return failed(cudaErrorMemoryAllocation);
    runtime_state &s = state();
    state_lock lock(s.lock);
    if (device >= 0 && size > s.memory - s.device[device].used)
        return failed(cudaErrorMemoryAllocation);
    void *memory;
    if (posix_memalign(&memory, 256, size)) return failed(cudaErrorMemoryAllocation);
    memset(memory, 0xff, size); /* so that unwritten floats are NaN */
    if (device >= 0) s.device[device].used += size;
    s.allocations[(uintptr_t)memory] = {size, device};
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t release(void *pointer, bool host, const char *function)
{
    if (cudaError_t error = enter()) return error;
    if (!pointer) return cudaSuccess;
    runtime_state &s = state();
    state_lock lock(s.lock);
    auto found = s.allocations.find((uintptr_t)pointer);
    if (found == s.allocations.end() || (found->second.device == pinned_host) != host) {
        fprintf(stderr, "cucc: %s: %p is not the start of a live allocation of this kind\n",
                function, pointer);
        return failed(cudaErrorInvalidValue);
    }
    if (found->second.device >= 0) s.device[found->second.device].used -= found->second.size;
    s.allocations.erase(found);
    free(pointer);
    return cudaSuccess;
}

/* ---- copies ---------------------------------------------------------------------------------- */

enum memory_side { host_side, device_side, either_side };

memory_side destination_side(cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault) return either_side;
    bool device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    return device ? device_side : host_side;
}

memory_side source_side(cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault) return either_side;
    bool device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return device ? device_side : host_side;
}

/* Whether memory of this size lies where it should; the length of host memory that the runtime did
 * not allocate is unknown. */
bool check_side(const char *function, const char *role, const void *pointer, size_t size,
                memory_side side)
{
    region found = find_region(pointer);
    size_t offset = (uintptr_t)pointer - found.begin;
    if (!pointer) {
        fprintf(stderr, "cucc: %s: the %s is NULL\n", function, role);
    } else if (side == device_side && found.device == nowhere) {
        fprintf(stderr, "cucc: %s: the %s %p should be device memory and is not\n", function, role,
                pointer);
    } else if (side == host_side && found.device >= 0) {
        fprintf(stderr, "cucc: %s: the %s %p should be host memory and is device memory\n",
                function, role, pointer);
    } else if (found.device != nowhere && size > found.size - offset) {
        fprintf(stderr,
                "cucc: %s: the %s leaves its allocation of %zu bytes (offset %zu, %zu bytes)\n",
                function, role, found.size, offset, size);
    } else {
        return true;
    }
    return false;
}

/* Puts the device's image into the variables. The caller holds the launch lock. */
void activate(int device)
{
    runtime_state &s = state();
    if (device == s.active_device) return;
    for (symbol_images &symbol : s.symbols) {
        symbol.image[s.active_device].assign(symbol.address, symbol.address + symbol.size);
        std::vector<char> &image = symbol.image[device];
        memcpy(symbol.address, image.empty() ? symbol.initial.data() : image.data(), symbol.size);
    }
    s.active_device = device;
}

/* Copies wait for kernels that other host threads run: variables of the device may be among what
 * is copied, and must be those of the current device. */
struct copy_lock {
    std::lock_guard<std::mutex> launching{state().launching};
    state_lock lock{state().lock};
    copy_lock()
    {
        activate(current_device);
    }
};

cudaError_t check_stream(cudaStream_t stream);
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work);
void finish(cudaStream_t stream);

/* CUDA copies pageable memory before such a call returns. */
cudaError_t enqueue_copy(cudaStream_t stream, const void *to, const void *from,
                         std::function<void()> work)
{
    bool pageable;
    {
        state_lock lock(state().lock);
        pageable = find_region(to).device == nowhere || find_region(from).device == nowhere;
    }
    if (pageable) finish(stream);
    return enqueue(pageable ? nullptr : stream, work);
}

cudaError_t copy(const char *function, void *to, const void *from, size_t size, cudaMemcpyKind kind,
                 cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if ((unsigned int)kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    if (planted("copy")) return failed(cudaErrorUnknown);
    if (!size) return cudaSuccess;
    {
        copy_lock lock;
        if (!check_side(function, "destination", to, size, destination_side(kind)) ||
            !check_side(function, "source", from, size, source_side(kind)))
            return failed(cudaErrorInvalidValue);
    }
    return enqueue_copy(stream, to, from, [=] {
        copy_lock lock;
        memmove(to, from, size);
    });
}

cudaError_t copy_2d(const char *function, void *to, size_t to_pitch, const void *from,
                    size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if ((unsigned int)kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    if (planted("copy")) return failed(cudaErrorUnknown);
    if (width > to_pitch || width > from_pitch) return failed(cudaErrorInvalidPitchValue);
    if (!width || !height) return cudaSuccess;
    {
        copy_lock lock;
        if (!check_side(function, "destination", to, (height - 1) * to_pitch + width,
                        destination_side(kind)) ||
            !check_side(function, "source", from, (height - 1) * from_pitch + width,
                        source_side(kind)))
            return failed(cudaErrorInvalidValue);
    }
    return enqueue_copy(stream, to, from, [=] {
        copy_lock lock;
        for (size_t row = 0; row < height; row++)
            memmove((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width);
    });
}

/* Whether two pointers are on the devices that they are said to be on. */
bool belong(const char *function, const void *to, int to_device, const void *from, int from_device)
{
    state_lock lock(state().lock);
    int target = find_region(to).device, origin = find_region(from).device;
    if ((target < 0 || target == to_device) && (origin < 0 || origin == from_device)) return true;
    fprintf(stderr, "cucc: %s: a pointer does not belong to the device it is said to\n", function);
    return false;
}

cudaError_t copy_peer(const char *function, void *to, int to_device, const void *from,
                      int from_device, size_t size, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_device(to_device)) return error;
    if (cudaError_t error = check_device(from_device)) return error;
    if (size && !belong(function, to, to_device, from, from_device))
        return failed(cudaErrorInvalidValue);
    return copy(function, to, from, size, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t set(const char *function, void *to, int value, size_t size, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!size) return cudaSuccess;
    {
        copy_lock lock;
        if (!check_side(function, "destination", to, size, device_side))
            return failed(cudaErrorInvalidValue);
    }
    return enqueue(stream, [=] {
        copy_lock lock;
        memset(to, value, size);
    });
}

/* ---- variables of the device ----------------------------------------------------------------- */

/* The bytes of a variable of the current device; null, with an error, if they are not there. */
char *symbol_bytes(const char *function, const void *symbol, size_t size, size_t offset)
{
    for (symbol_images &known : state().symbols) {
        if (known.address != symbol) continue;
        if (offset <= known.size && size <= known.size - offset) return known.address + offset;
        fprintf(stderr, "cucc: %s: %zu bytes at offset %zu leave the variable of %zu bytes\n",
                function, size, offset, known.size);
        failed(cudaErrorInvalidValue);
        return nullptr;
    }
    failed(cudaErrorInvalidSymbol);
    return nullptr;
}

/* ---- streams and events ---------------------------------------------------------------------- */

using clock_type = std::chrono::steady_clock;
} // namespace

/* One recording of an event. */
struct recording {
    bool complete;
    clock_type::time_point time;
};

/* What waits in a stream: work, once what it waits for is complete. */
struct late_work {
    std::function<void()> work;
    std::shared_ptr<recording> after;
};

struct CUstream_st {
    int device;
    std::deque<late_work> queue;
};

struct CUevent_st {
    int device;
    bool timed;
    std::shared_ptr<recording> last; /* null: never recorded */
};

namespace
{
bool is_default_stream(cudaStream_t stream)
{
    return !stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
}

cudaError_t check_stream(cudaStream_t stream)
{
    state_lock lock(state().lock);
    if (is_default_stream(stream) || state().streams.count(stream)) return cudaSuccess;
    return failed(cudaErrorInvalidResourceHandle);
}

cudaError_t check_event(cudaEvent_t event)
{
    state_lock lock(state().lock);
    return state().events.count(event) ? cudaSuccess : failed(cudaErrorInvalidResourceHandle);
}

/* With CUCC_STREAMS=late the work in streams that were created waits until something asks for it,
 * and streams then advance in a random order, as far as events let them: a synchronisation that is
 * missing shows. Without it, the queues stay empty. */
struct late_streams {
    bool on = environment().late_streams;
    std::recursive_mutex lock;
    uint64_t random = environment().late_seed;
};

late_streams &late()
{
    static late_streams *l = new late_streams;
    return *l;
}

using late_lock = std::lock_guard<std::recursive_mutex>;

/* Runs one piece of work of a stream that can advance; false if none can. */
bool advance_one()
{
    std::vector<cudaStream_t> ready;
    {
        state_lock lock(state().lock);
        for (cudaStream_t stream : state().streams)
            if (!stream->queue.empty() &&
                (!stream->queue.front().after || stream->queue.front().after->complete))
                ready.push_back(stream);
    }
    if (ready.empty()) return false;
    late().random = late().random * 6364136223846793005u + 1442695040888963407u;
    cudaStream_t stream = ready[(late().random >> 33) % ready.size()];
    std::function<void()> work = std::move(stream->queue.front().work);
    stream->queue.pop_front();
    int device = current_device;
    current_device = stream->device;
    if (work) work();
    current_device = device;
    return true;
}

/* Runs work until the condition holds. */
template <class F> void advance_until(F condition)
{
    late_lock lock(late().lock);
    while (!condition())
        if (!advance_one()) {
            fprintf(stderr, "cucc: streams wait for one another\n");
            abort();
        }
}

void finish(cudaStream_t stream)
{
    if (late().on && !is_default_stream(stream))
        advance_until([=] { return stream->queue.empty(); });
}

void finish_all()
{
    late_lock lock(late().lock);
    while (late().on && advance_one()) {
    }
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work)
{
    if (!late().on || is_default_stream(stream)) {
        work();
        return cudaSuccess;
    }
    late_lock lock(late().lock);
    stream->queue.push_back({work, nullptr});
    return cudaSuccess;
}

/* ---- launches -------------------------------------------------------------------------------- */

size_t dynamic_shared_limit(const void *kernel)
{
    runtime_state &s = state();
    state_lock lock(s.lock);
    auto found = s.dynamic_shared_limits.find(kernel);
    return found == s.dynamic_shared_limits.end() ? (size_t)static_shared_limit : found->second;
}

cudaError_t check_configuration(const launch_request &r)
{
    if (!r.grid.x || !r.grid.y || !r.grid.z || !r.block.x || !r.block.y || !r.block.z)
        return cudaErrorInvalidConfiguration;
    if (r.grid.x > 0x7fffffffu || r.grid.y > 65535 || r.grid.z > 65535)
        return cudaErrorInvalidConfiguration;
    if (r.block.x > 1024 || r.block.y > 1024 || r.block.z > 64 ||
        r.block.x * r.block.y * r.block.z > max_threads)
        return cudaErrorInvalidConfiguration;
    if (r.dynamic_shared > dynamic_shared_limit(r.function)) return cudaErrorInvalidValue;
    if (!is_default_stream(r.stream)) {
        if (check_stream(r.stream) || r.stream->device != current_device)
            return cudaErrorInvalidResourceHandle;
    }
    return cudaSuccess;
}

/* Whether kernels of the current device may use what this argument points to. */
bool is_reachable(const void *pointer)
{
    int owner = find_region(pointer).device;
    if (owner == nowhere) return false;
    return owner == pinned_host || owner == managed || owner == current_device ||
           state().device[current_device].peer_enabled[owner];
}

bool check_arguments(const launch_request &r)
{
    state_lock lock(state().lock);
    for (int i = 0; i < r.argument_count; i++) {
        if (!r.pointers[i] || is_reachable(r.pointers[i])) continue;
        int owner = find_region(r.pointers[i]).device;
        fprintf(stderr, "cucc: kernel %s: argument %d (%p) ", r.kernel, i + 1, r.pointers[i]);
        if (owner == nowhere)
            fprintf(stderr, "is not in live device memory\n");
        else
            fprintf(stderr, "is memory of device %d, and the kernel runs on device %d\n", owner,
                    current_device);
        return false;
    }
    return true;
}

cudaError_t fail_for_good(cudaError_t error)
{
    state_lock lock(state().lock);
    state().device[current_device].sticky = error;
    return failed(error);
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
} // namespace

namespace cucc
{
void register_symbol(void *address, size_t size)
{
    char *bytes = (char *)address;
    state().symbols.push_back({bytes, size, std::vector<char>(bytes, bytes + size), {}});
}

cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset,
                           cudaMemcpyKind kind)
{
    if (cudaError_t error = enter()) return error;
    copy_lock lock;
    if (destination_side(kind) == host_side) return failed(cudaErrorInvalidMemcpyDirection);
    char *bytes = symbol_bytes("cudaMemcpyToSymbol", symbol, size, offset);
    if (!bytes) return last_error;
    if (!check_side("cudaMemcpyToSymbol", "source", from, size, source_side(kind)))
        return failed(cudaErrorInvalidValue);
    memmove(bytes, from, size);
    return cudaSuccess;
}

cudaError_t copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset,
                             cudaMemcpyKind kind)
{
    if (cudaError_t error = enter()) return error;
    copy_lock lock;
    if (source_side(kind) == host_side) return failed(cudaErrorInvalidMemcpyDirection);
    char *bytes = symbol_bytes("cudaMemcpyFromSymbol", symbol, size, offset);
    if (!bytes) return last_error;
    if (!check_side("cudaMemcpyFromSymbol", "destination", to, size, destination_side(kind)))
        return failed(cudaErrorInvalidValue);
    memmove(to, bytes, size);
    return cudaSuccess;
}

cudaError_t symbol_address(void **address, const void *symbol)
{
    if (cudaError_t error = enter()) return error;
    if (!address) return failed(cudaErrorInvalidValue);
    *address = symbol_bytes("cudaGetSymbolAddress", symbol, 0, 0);
    return *address ? cudaSuccess : last_error;
}

static void run_launch(const launch_request &request)
{
    if (state().device[current_device].sticky) return;
    const dim3 &grid = request.grid, &block = request.block;
    size_t dynamic_limit = dynamic_shared_limit(request.function);
    std::lock_guard<std::mutex> launching(state().launching);
    activate(current_device);
    launch_state launch(request);
    launch.threads = block.x * block.y * block.z;
    launch.blocks = (uint64_t)grid.x * grid.y * grid.z;
    launch.shared_bytes_allowed = std::max(dynamic_limit, (size_t)static_shared_limit);
#ifdef CUCC_COUNT
    launch.global_memory = live_memory();
#endif
    run_blocks(launch);
#ifdef CUCC_COUNT
    add_counts(request.kernel, launch.counts);
#endif
    if (launch.failed) fail_for_good(cudaErrorLaunchFailure);
}

cudaError_t launch(const launch_request &request)
{
    if (inside_kernel()) {
        fprintf(stderr, "cucc: a kernel launches %s: launches inside kernels are not supported\n",
                request.kernel);
        abort();
    }
    if (cudaError_t error = enter()) return error;
    if (planted("launch")) return failed(cudaErrorLaunchOutOfResources);
    if (planted("kernel")) {
        fail_for_good(cudaErrorLaunchFailure);
        return cudaErrorLaunchFailure;
    }
    if (cudaError_t error = check_configuration(request)) return failed(error);
    if (!check_arguments(request)) {
        fail_for_good(cudaErrorIllegalAddress);
        return cudaErrorIllegalAddress;
    }
    if (!late().on || is_default_stream(request.stream)) {
        run_launch(request);
        return state().device[current_device].sticky; /* as with CUDA_LAUNCH_BLOCKING=1 */
    }
    /* The arguments live as long as the work waits. */
    std::shared_ptr<void> closure(request.copy_closure(request.closure), request.free_closure);
    launch_request later = request;
    later.closure = closure.get();
    later.pointers = nullptr;
    enqueue(request.stream, [later, closure] { run_launch(later); });
    return cudaSuccess;
}

void register_kernel(const void *kernel, const kernel_record &record)
{
    state_lock lock(state().lock);
    state().kernels[kernel] = record;
}

const char *kernel_name(const void *kernel)
{
    state_lock lock(state().lock);
    auto found = state().kernels.find(kernel);
    return found == state().kernels.end() ? "a kernel" : found->second.name;
}
} // namespace cucc

/* The CUDA C++ Programming Guide, "Texture Fetching": a linear filter has texels in the middle of
 * their squares, and weights of 8 bits. NaN reads the first texel. */
static float texel(const cudaArray *array, float x, float y)
{
    size_t last_x = array->width - 1, last_y = array->height - 1;
    size_t i = x >= (float)last_x ? last_x : x > 0 ? (size_t)x : 0;
    size_t j = y >= (float)last_y ? last_y : y > 0 ? (size_t)y : 0;
    return array->texels[j * array->width + i];
}

float cucc::fetch(unsigned long long object, float x, float y)
{
    const texture *t = (const texture *)(uintptr_t)object;
    if (!t->linear) return texel(t->array, floorf(x), floorf(y));
    float left = floorf(x - 0.5f), top = floorf(y - 0.5f);
    float a = rintf((x - 0.5f - left) * 256) / 256, b = rintf((y - 0.5f - top) * 256) / 256;
    return (1 - a) * (1 - b) * texel(t->array, left, top) +
           a * (1 - b) * texel(t->array, left + 1, top) +
           (1 - a) * b * texel(t->array, left, top + 1) +
           a * b * texel(t->array, left + 1, top + 1);
}

long long clock64()
{
    return (long long)clock_type::now().time_since_epoch().count();
}

/* ---- the runtime API ------------------------------------------------------------------------- */

const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define CUCC_NAME(name, value, text) \
    case name: return #name;
        CUCC_ERRORS(CUCC_NAME)
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define CUCC_TEXT(name, value, text) \
    case name: return text;
        CUCC_ERRORS(CUCC_TEXT)
    }
    return "unrecognized error code";
}

cudaError_t cudaPeekAtLastError()
{
    cudaError_t sticky = state().device[current_device].sticky;
    return sticky ? sticky : last_error;
}

cudaError_t cudaGetLastError()
{
    cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count) return failed(cudaErrorInvalidValue);
    *count = state().devices;
    return *count ? cudaSuccess : failed(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int *device)
{
    if (cudaError_t error = check_device(current_device)) return error;
    if (!device) return failed(cudaErrorInvalidValue);
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (cudaError_t error = check_device(device)) return error;
    if (planted("device")) return failed(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device)
{
    if (cudaError_t error = check_device(device)) return error;
    if (!p) return failed(cudaErrorInvalidValue);
    *p = cudaDeviceProp{};
    snprintf(p->name, sizeof p->name, "CPU runner");
    p->totalGlobalMem = state().memory;
    p->sharedMemPerBlock = static_shared_limit;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = warp_lanes;
    p->maxThreadsPerBlock = max_threads;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = 7;
    p->multiProcessorCount = environment().workers;
    p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
    p->pciBusID = device;
    p->asyncEngineCount = 2;
    p->memoryBusWidth = 64;
    p->l2CacheSize = 1 << 20;
    p->maxThreadsPerMultiProcessor = 2048;
    p->sharedMemPerMultiprocessor = p->sharedMemPerBlockOptin = shared_limit;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    cudaDeviceProp p;
    if (!value) return failed(cudaErrorInvalidValue);
    if (cudaError_t error = cudaGetDeviceProperties(&p, device)) return error;
    const int pretended_kilohertz = 1000000;
    switch (attribute) {
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrClockRate:
    case cudaDevAttrMemoryClockRate: *value = pretended_kilohertz; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrConcurrentManagedAccess: *value = 1; break;
    case cudaDevAttrMemoryPoolsSupported: *value = 1; break;
    default: return failed(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    finish_all();
    return enter();
}

cudaError_t cudaDeviceReset()
{
    if (cudaError_t error = check_device(current_device)) return error;
    runtime_state &s = state();
    std::lock_guard<std::mutex> launching(s.launching);
    state_lock lock(s.lock);
    for (auto a = s.allocations.begin(); a != s.allocations.end();) {
        if (a->second.device != current_device) {
            ++a;
            continue;
        }
        free((void *)a->first);
        a = s.allocations.erase(a);
    }
    for (auto i = s.streams.begin(); i != s.streams.end();) {
        cudaStream_t stream = *i;
        i = stream->device == current_device ? (delete stream, s.streams.erase(i)) : std::next(i);
    }
    for (auto i = s.events.begin(); i != s.events.end();) {
        cudaEvent_t event = *i;
        i = event->device == current_device ? (delete event, s.events.erase(i)) : std::next(i);
    }
    s.device[current_device] = device_state();
    activate(current_device);
    for (symbol_images &symbol : s.symbols)
        memcpy(symbol.address, symbol.initial.data(), symbol.size);
    last_error = cudaSuccess;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (cudaError_t error = check_device(device)) return error;
    if (cudaError_t error = check_device(peer)) return error;
    if (!can) return failed(cudaErrorInvalidValue);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_device(peer)) return error;
    if (peer == current_device || flags) return failed(cudaErrorInvalidValue);
    bool &enabled = state().device[current_device].peer_enabled[peer];
    if (enabled) return failed(cudaErrorPeerAccessAlreadyEnabled);
    enabled = true;
    return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_device(peer)) return error;
    bool &enabled = state().device[current_device].peer_enabled[peer];
    if (!enabled) return failed(cudaErrorPeerAccessNotEnabled);
    enabled = false;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version) return failed(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    return cudaRuntimeGetVersion(version);
}

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    return allocate(pointer, size, current_device);
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream)
{
    if (cudaError_t error = check_stream(stream)) return error;
    return allocate(pointer, size, current_device);
}

struct cudaMemPool {
    int device;
};

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props)
{
    if (!pool || !props || props->location.id < 0 || props->location.id >= state().devices)
        return failed(cudaErrorInvalidValue);
    *pool = new cudaMemPool{props->location.id};
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void *value)
{
    return pool && value ? cudaSuccess : failed(cudaErrorInvalidValue);
}

/* A pool holds nothing that is not in use; what is, nobody asks. */
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void *value)
{
    if (cudaError_t error = enter()) return error;
    if (!pool || !value) return failed(cudaErrorInvalidValue);
    *(unsigned long long *)value = 0;
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t)
{
    if (cudaError_t error = enter()) return error;
    return pool ? cudaSuccess : failed(cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list, size_t count)
{
    if (cudaError_t error = enter()) return error;
    if (!pool || (!list && count > 0)) return failed(cudaErrorInvalidValue);
    for (size_t n = 0; n < count; n++)
        if (list[n].location.id < 0 || list[n].location.id >= state().devices)
            return failed(cudaErrorInvalidDevice);
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    if (!pool) return failed(cudaErrorInvalidValue);
    if (cudaError_t error = check_stream(stream)) return error;
    return allocate(pointer, size, pool->device);
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int)
{
    return allocate(pointer, size, pinned_host);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    return allocate(pointer, size, pinned_host);
}

cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    if (!pointer || flags || find_region(host).device != pinned_host)
        return failed(cudaErrorInvalidValue);
    *pointer = host;
    return cudaSuccess;
}

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned int flags)
{
    if (flags != cudaMemAttachGlobal) return failed(cudaErrorInvalidValue);
    return allocate(pointer, size, managed);
}

/* Nothing moves: there is one memory. */
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, cudaMemLocation where,
                                 unsigned int flags, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    state_lock lock(state().lock);
    region found = find_region(pointer);
    if (found.device != managed || size > found.size - ((uintptr_t)pointer - found.begin) || flags)
        return failed(cudaErrorInvalidValue);
    if (where.type == cudaMemLocationTypeHost) return cudaSuccess;
    if (where.type != cudaMemLocationTypeDevice) return failed(cudaErrorInvalidValue);
    return check_device(where.id);
}

cudaError_t cudaFree(void *pointer)
{
    if (pointer) finish_all();
    return release(pointer, false, "cudaFree");
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    if (cudaError_t error = check_stream(stream)) return error;
    return enqueue(stream, [=] { release(pointer, false, "cudaFreeAsync"); });
}

cudaError_t cudaFreeHost(void *pointer)
{
    if (pointer) finish_all();
    return release(pointer, true, "cudaFreeHost");
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    if (cudaError_t error = enter()) return error;
    if (!free || !total) return failed(cudaErrorInvalidValue);
    state_lock lock(state().lock);
    *total = state().memory;
    *free = state().memory - state().device[current_device].used;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    if (cudaError_t error = enter()) return error;
    if (!attributes) return failed(cudaErrorInvalidValue);
    state_lock lock(state().lock);
    int owner = find_region(pointer).device;
    void *p = const_cast<void *>(pointer);
    if (owner == nowhere)
        *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, p};
    else if (owner == pinned_host)
        *attributes = {cudaMemoryTypeHost, current_device, p, p};
    else if (owner == managed)
        *attributes = {cudaMemoryTypeManaged, current_device, p, p};
    else
        *attributes = {cudaMemoryTypeDevice, owner, p, nullptr};
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    return copy("cudaMemcpy", to, from, size, kind, nullptr);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy("cudaMemcpyAsync", to, from, size, kind, stream);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind)
{
    return copy_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_2d("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind,
                   stream);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
    return copy_peer("cudaMemcpyPeer", to, to_device, from, from_device, size, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t size, cudaStream_t stream)
{
    return copy_peer("cudaMemcpyPeerAsync", to, to_device, from, from_device, size, stream);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    const char *function = "cudaMemcpy3DPeerAsync";
    if (cudaError_t error = enter()) return error;
    if (!p || p->srcArray || p->dstArray || p->extent.depth != 1 || p->srcPos.x || p->srcPos.y ||
        p->srcPos.z || p->dstPos.x || p->dstPos.y || p->dstPos.z)
        return failed(cudaErrorInvalidValue);
    if (cudaError_t error = check_device(p->dstDevice)) return error;
    if (cudaError_t error = check_device(p->srcDevice)) return error;
    if (!belong(function, p->dstPtr.ptr, p->dstDevice, p->srcPtr.ptr, p->srcDevice))
        return failed(cudaErrorInvalidValue);
    return copy_2d(function, p->dstPtr.ptr, p->dstPtr.pitch, p->srcPtr.ptr, p->srcPtr.pitch,
                   p->extent.width, p->extent.height, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    return set("cudaMemset", to, value, size, nullptr);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
    return set("cudaMemsetAsync", to, value, size, stream);
}

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width,
                            size_t height, unsigned int flags)
{
    if (!array || !format || !width || !height || flags) return failed(cudaErrorInvalidValue);
    if (format->x != 32 || format->y || format->z || format->w)
        return failed(cudaErrorInvalidValue);
    void *texels;
    if (cudaError_t error = allocate(&texels, width * height * sizeof(float), current_device))
        return error;
    state_lock lock(state().lock);
    *array = new cudaArray{(float *)texels, width, height};
    state().arrays.insert(*array);
    return cudaSuccess;
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (cudaError_t error = enter()) return error;
    if (!array) return cudaSuccess;
    state_lock lock(state().lock);
    if (!state().arrays.erase(array)) return failed(cudaErrorInvalidResourceHandle);
    cudaError_t error = release(array->texels, false, "cudaFreeArray");
    delete array;
    return error;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x_bytes, size_t y, const void *from,
                                size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind)
{
    if (cudaError_t error = enter()) return error;
    {
        state_lock lock(state().lock);
        if (!state().arrays.count(to)) return failed(cudaErrorInvalidResourceHandle);
    }
    size_t pitch = to->width * sizeof(float);
    if (x_bytes > pitch || width > pitch - x_bytes || y > to->height || height > to->height - y) {
        fprintf(stderr, "cucc: cudaMemcpy2DToArray: the destination leaves the array\n");
        return failed(cudaErrorInvalidValue);
    }
    return copy_2d("cudaMemcpy2DToArray", (char *)to->texels + y * pitch + x_bytes, pitch, from,
                   from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *how, const cudaResourceViewDesc *view)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    if (!object || !resource || !how || view || resource->resType != cudaResourceTypeArray ||
        !state().arrays.count(resource->res.array.array))
        return failed(cudaErrorInvalidValue);
    if (how->normalizedCoords || how->addressMode[0] != cudaAddressModeClamp ||
        how->addressMode[1] != cudaAddressModeClamp) {
        fprintf(stderr, "cucc: cudaCreateTextureObject: only texel coordinates and clamping\n");
        return failed(cudaErrorNotSupported);
    }
    texture *t = new texture{resource->res.array.array, how->filterMode == cudaFilterModeLinear};
    state().textures.insert(t);
    *object = (cudaTextureObject_t)(uintptr_t)t;
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    texture *t = (texture *)(uintptr_t)object;
    if (!state().textures.erase(t)) return failed(cudaErrorInvalidValue);
    delete t;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    if (!stream || flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
    *stream = nullptr;
    if (planted("stream")) return failed(cudaErrorMemoryAllocation);
    state_lock lock(state().lock);
    *stream = new CUstream_st{current_device, {}};
    state().streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    {
        state_lock lock(state().lock);
        if (!state().streams.count(stream)) return failed(cudaErrorInvalidResourceHandle);
    }
    finish(stream); /* without the lock, which its work takes after others */
    late_lock advancing(late().lock);
    state_lock lock(state().lock);
    state().streams.erase(stream);
    delete stream;
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    finish(stream);
    return enter();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (is_default_stream(stream)) return cudaSuccess;
    late_lock lock(late().lock);
    if (stream->queue.empty()) return cudaSuccess;
    advance_one();
    return stream->queue.empty() ? enter() : failed(cudaErrorNotReady);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = check_event(event)) return error;
    if (!event->last || event->last->complete || is_default_stream(stream)) return cudaSuccess;
    late_lock lock(late().lock);
    stream->queue.push_back({nullptr, event->last});
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    if (!event) return failed(cudaErrorInvalidValue);
    *event = nullptr;
    if (planted("event")) return failed(cudaErrorMemoryAllocation);
    state_lock lock(state().lock);
    *event = new CUevent_st{current_device, !(flags & cudaEventDisableTiming), nullptr};
    state().events.insert(*event);
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    if (!state().events.erase(event)) return failed(cudaErrorInvalidResourceHandle);
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = check_event(event)) return error;
    int device = is_default_stream(stream) ? current_device : stream->device;
    if (event->device != device) return failed(cudaErrorInvalidResourceHandle);
    std::shared_ptr<recording> now(new recording{false, {}});
    cudaError_t error = enqueue(stream, [now] {
        now->complete = true;
        now->time = clock_type::now();
    });
    event->last = now; /* only now: without late streams it is complete when others see it */
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_event(event)) return error;
    std::shared_ptr<recording> last = event->last;
    if (last) advance_until([=] { return last->complete; });
    return enter();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_event(event)) return error;
    if (!event->last || event->last->complete) return cudaSuccess;
    late_lock lock(late().lock);
    advance_one();
    return event->last->complete ? enter() : failed(cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_event(start)) return error;
    if (cudaError_t error = check_event(stop)) return error;
    if (!milliseconds) return failed(cudaErrorInvalidValue);
    if (!start->last || !stop->last || !start->timed || !stop->timed)
        return failed(cudaErrorInvalidResourceHandle);
    if (!start->last->complete || !stop->last->complete) return failed(cudaErrorNotReady);
    *milliseconds =
        std::chrono::duration<float, std::milli>(stop->last->time - start->last->time).count();
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute attribute, int value)
{
    if (cudaError_t error = enter()) return error;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
        value > shared_limit)
        return failed(cudaErrorInvalidValue);
    state_lock lock(state().lock);
    state().dynamic_shared_limits[kernel] = (size_t)value;
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t dynamic_shared, cudaStream_t stream)
{
    kernel_record record = {};
    {
        state_lock lock(state().lock);
        auto found = state().kernels.find(kernel);
        if (found != state().kernels.end()) record = found->second;
    }
    if (!record.launch) return failed(cudaErrorInvalidDeviceFunction);
    return record.launch(record, kernel, grid, block, arguments, dynamic_shared, stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
    if (cudaError_t error = enter()) return error;
    if (!attributes || !kernel) return failed(cudaErrorInvalidValue);
    *attributes = {0, 0, 0, max_threads, 32, 70, 70, (int)dynamic_shared_limit(kernel)};
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int block_size, size_t dynamic_shared)
{
    if (cudaError_t error = enter()) return error;
    if (!blocks || !kernel || block_size < 1) return failed(cudaErrorInvalidValue);
    const int threads_of_a_multiprocessor = 2048, blocks_of_a_multiprocessor = 32;
    *blocks = block_size > max_threads ? 0 : threads_of_a_multiprocessor / block_size;
    if (*blocks > blocks_of_a_multiprocessor) *blocks = blocks_of_a_multiprocessor;
    if (dynamic_shared && (size_t)*blocks > shared_limit / dynamic_shared)
        *blocks = (int)(shared_limit / dynamic_shared);
    return cudaSuccess;
}

/* ---- the end of the program ------------------------------------------------------------------ */

#ifdef CUCC_SANITIZE
#include <sanitizer/lsan_interface.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* The leak check runs where report_leaks wants it. */
extern "C" const char *__asan_default_options()
{
    return "leak_check_at_exit=0";
}

/* LeakSanitizer stops the program with ptrace, which a container may forbid; it would then fail
 * loudly. So try it on a child first. */
static bool may_trace()
{
    pid_t child = fork();
    if (child < 0) return false;
    if (!child) {
        for (;;) pause();
    }
    bool traced = ptrace(PTRACE_ATTACH, child, nullptr, nullptr) == 0;
    kill(child, SIGKILL);
    waitpid(child, nullptr, __WALL);
    return traced;
}
#endif

namespace
{
/* Device memory that nobody freed is listed in a sanitized program, and so are leaks on the host. */
void report_leaks()
{
#ifdef CUCC_SANITIZE
    runtime_state &s = state();
    bool leaked = false;
    for (auto &a : s.allocations) {
        int device = a.second.device;
        if (device >= 0 && s.device[device].sticky) continue; /* it cannot be freed */
        if (device < 0)
            fprintf(stderr, "cucc: leak of %zu bytes of %s memory\n", a.second.size,
                    device == managed ? "managed" : "pinned host");
        else
            fprintf(stderr, "cucc: leak of %zu bytes of memory of device %d\n", a.second.size,
                    device);
        leaked = true;
    }
    size_t count = 0;
    for (cudaStream_t stream : s.streams) count += !s.device[stream->device].sticky;
    for (cudaEvent_t event : s.events) count += !s.device[event->device].sticky;
    if (count) {
        fprintf(stderr, "cucc: leak of %zu streams and events\n", count);
        leaked = true;
    }
    fflush(nullptr);
    if (may_trace())
        __lsan_do_leak_check();
    else
        fprintf(stderr, "cucc: no leak check of host memory: ptrace is not permitted\n");
    if (leaked) _exit(23);
#endif
}
} // namespace

/* What the parts of the runtime API share: its state, its checks and the queues of streams. state.cpp holds
 * the state; the other parts hold a subject each. */
#ifndef CUCC_STATE_H
#define CUCC_STATE_H

#include "runtime.h"
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

struct cudaArray {
    char *texels;
    size_t width, height, depth; /* in texels; at least 1; the depth may be layers */
    cudaExtent extent;           /* as it was asked for, with zeros */
    cudaChannelFormatDesc format;
    unsigned int flags;
    size_t texel_bytes;

    size_t pitch() const
    {
        return width * texel_bytes;
    }
};

struct cudaMemPool {
    int device;
    uint64_t threshold, used, high; /* bytes */
    int reuse[4];
    cudaMemAccessFlags access[cucc::max_devices]; /* of other devices */
};

namespace cucc
{
enum { pinned_host = -1, nowhere = -2, managed = -3 };

struct allocation {
    size_t size;
    int device;                   /* or pinned_host, or managed */
    unsigned int flags = 0;       /* of pinned memory */
    bool registered = false;      /* by cudaHostRegister: the program's own memory */
    cudaMemPool_t pool = nullptr; /* that it came from */
};

struct device_state {
    size_t used = 0;
    cudaError_t sticky = cudaSuccess; /* after a fault in a kernel every call fails */
    bool peer_enabled[max_devices] = {};
    std::map<const void *, size_t> dynamic_shared_limits; /* of kernels for which one was set */
    size_t limits[cudaLimitPersistingL2CacheSize + 1] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
};

/* A __device__ or __constant__ variable: its image for every device but the active one, whose
 * image is in the variable itself. */
struct symbol_images {
    char *address;
    size_t size;
    bool managed; /* one image for all */
    std::vector<char> initial;
    std::vector<char> image[max_devices];
};

struct texture;
struct surface;

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
    std::set<surface *> surfaces;
    std::set<cudaMemPool_t> pools;
    cudaMemPool default_pool[max_devices] = {};
    cudaMemPool_t current_pool[max_devices] = {};
    std::map<const void *, kernel_record> kernels; /* whose address a program has taken */

    /* Kernels run one at a time: variables hold the image of one device. */
    std::mutex launching;
    std::vector<symbol_images> symbols;
    int active_device = 0;

    int strict_captures = 0; /* that leave no way for the default stream */

    /* Called before memory is freed, once processes share some: processes.cpp. True: another process made
     * the memory, and it is gone. */
    bool (*end_sharing)(void *memory) = nullptr;
};

extern thread_local int current_device;
extern thread_local cudaError_t last_error;

runtime_state &state();
using state_lock = std::lock_guard<std::recursive_mutex>;

/* ---- errors and devices: state.cpp ----------------------------------------------------------- */

cudaError_t failed(cudaError_t error);
cudaError_t enter(); /* what each call that needs a device begins with */
cudaError_t check_device(int device);
cudaError_t fail_for_good(cudaError_t error);
void activate(int device);

/* ---- memory: memory.cpp ---------------------------------------------------------------------- */

/* Memory that the runtime knows. */
struct region {
    uintptr_t begin;
    size_t size;
    int device; /* or pinned_host, managed or nowhere */
};

region find_region(const void *pointer);
cudaError_t allocate(void **pointer, size_t size, int device, unsigned int flags = 0);
void release_bytes(void *memory);
cudaError_t release(void *pointer, bool host, const char *function);

/* ---- where it lies: heap.cpp ------------------------------------------------------------------ */

/* Pages, apart from the runner's own memory. BEYOND bytes on each side are there, and nobody's. */
void *take_pages(size_t size, size_t beyond);
void give_pages(void *memory);
bool in_pages(uintptr_t address); /* or where some may be */

/* What a kernel has allocated: the last piece that begins before the address. Size 0: none. */
struct heap_place {
    bool inside; /* the heap of a device */
    uintptr_t begin;
    size_t size;
};
heap_place find_in_kernel_heap(uintptr_t address);
bool kernel_heap_is_used(int device);
void end_kernel_heap(int device);

/* ---- copies: copies.cpp ---------------------------------------------------------------------- */

enum memory_side { host_side, device_side, either_side };

memory_side destination_side(cudaMemcpyKind kind);
memory_side source_side(cudaMemcpyKind kind);
bool check_side(const char *function, const char *role, const void *pointer, size_t size,
                memory_side side);
/* Rows of a copy: where they begin, and how far apart rows and slices of them are. */
struct box_side {
    char *bytes;
    size_t pitch, slice;
};
cudaError_t copy_box(const char *function, box_side to, box_side from, cudaExtent box,
                     cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t copy(const char *function, void *to, const void *from, size_t size, cudaMemcpyKind kind,
                 cudaStream_t stream);
cudaError_t copy_2d(const char *function, void *to, size_t to_pitch, const void *from,
                    size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream);

/* Copies wait for kernels that other host threads run: variables of the device may be among what
 * is copied, and must be those of the current device. */
struct copy_lock {
    std::unique_lock<std::mutex> launching;
    std::unique_lock<std::recursive_mutex> lock;
    copy_lock()
    {
        if (!inside_kernel()) launching = std::unique_lock<std::mutex>(state().launching);
        lock = std::unique_lock<std::recursive_mutex>(state().lock);
        if (!inside_kernel()) activate(current_device);
    }
};

/* ---- streams and events: streams.cpp --------------------------------------------------------- */

using clock_type = std::chrono::steady_clock;

} // namespace cucc

/* One recording of an event. */
struct recording {
    bool complete;
    cucc::clock_type::time_point time;
    cudaStream_t stream; /* these are for --check: check_streams.cpp */
    uint64_t begun;
    std::shared_ptr<const void> known;
};

/* What waits in a stream: work, once what it waits for is complete. */
struct late_work {
    std::function<void()> work;
    std::shared_ptr<recording> after;
};

/* A graph: nodes of work, and what each comes after. */
struct CUgraphNode_st {
    cudaGraphNodeType type;
    std::function<void()> work;
    std::vector<cudaGraphNode_t> after;
    cudaKernelNodeParams kernel; /* as given; the pointers are the program's */
};

struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;

    cudaGraphNode_t add(cudaGraphNodeType type, std::function<void()> work)
    {
        nodes.emplace_back(new CUgraphNode_st{type, work, {}, {}});
        return nodes.back().get();
    }
};

/* A capture: streams that write down what they are given instead of doing it. */
struct cucc_capture {
    cudaGraph_t graph;
    cudaStream_t origin;
    bool strict; /* the default stream must be left alone */
    bool invalid;
    std::vector<cudaGraphNode_t> left; /* the last nodes of streams that were destroyed meanwhile */
};

struct CUstream_st {
    int device;
    unsigned int flags;
    int priority;
    std::deque<late_work> queue;
    std::shared_ptr<cucc_capture> capture;
    std::vector<cudaGraphNode_t> tail; /* what the next captured node comes after */
    cudaLaunchAttributeValue window;   /* remembered, without a meaning */
};

struct CUevent_st {
    int device;
    bool timed;
    std::shared_ptr<recording> last; /* null: never recorded */
    std::shared_ptr<cucc_capture> capture;
    std::vector<cudaGraphNode_t> tail;
    bool of_processes = false; /* other processes may wait for it */
};

namespace cucc
{
/* With CUCC_STREAMS=late the work in streams that were created waits until something asks for it,
 * and streams then advance in a random order, as far as events let them: a synchronisation that is
 * missing shows. Without it, the queues stay empty. */
struct late_streams {
    bool on = environment().late_streams;
    std::recursive_mutex lock;
    uint64_t random = environment().late_seed;
    uint64_t steps = 0; /* counts what is put into a stream, and what is done */
};

using late_lock = std::lock_guard<std::recursive_mutex>;

late_streams &late();
bool is_default_stream(cudaStream_t stream);
cudaError_t check_stream(cudaStream_t stream);
cudaError_t check_event(cudaEvent_t event);
cudaError_t check_pool(cudaMemPool_t pool);
cudaError_t enqueue(cudaStream_t stream, std::function<void()> work,
                    cudaGraphNodeType type = cudaGraphNodeTypeKernel);
void finish(cudaStream_t stream);
void wait_for_blocking(cudaStream_t default_stream);
void finish_all();

/* Of streams that write down what they are given. */
extern thread_local cudaStream_t capture_stand_in; /* for cudaStreamPerThread */
cudaStream_t captured(cudaStream_t stream); /* what a capture of cudaStreamPerThread takes for it */
bool is_capturing(cudaStream_t stream);
bool waits_for_capture(cudaStream_t stream);
void spoil_capture(cudaStream_t stream);         /* if there is one, its end fails */
cudaError_t refuse_capture(cudaStream_t stream); /* calls that a stream cannot write down */
cudaGraphNode_t capture_node(cudaStream_t stream, std::function<void()> work,
                             cudaGraphNodeType type);

/* ---- launches: launches.cpp ------------------------------------------------------------------ */

void run_launch(const launch_request &request);
/* What launch() has checked is handed to this, instead of being run, while it is set. */
struct launch_sink {
    launch_request request;
    std::shared_ptr<void> closure;
};
extern thread_local launch_sink *sink;
bool find_kernel(const void *kernel, kernel_record &record);
} // namespace cucc

#endif

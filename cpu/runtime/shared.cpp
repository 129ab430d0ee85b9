/* Shared memory: a piece of each worker's arena holds the dynamic part and then every static variable that
 * a kernel has used, at the same place in all blocks of a launch. */
#include "watch.h"
#include "worker.h"

namespace cucc
{
enum {
#if defined(CUCC_SANITIZE) || defined(CUCC_CHECK)
    shared_gap = 256, /* poisoned, between variables */
#else
    shared_gap = 0,
#endif
    shared_alignment = 128,
};

static std::atomic<int> shared_slots{0};

int new_shared_slot()
{
    return shared_slots++;
}

/* Those outside of functions, one for each OS thread. */
struct file_variable {
    void *(*address)();
    size_t size;
    const char *name;
};

static std::vector<file_variable> &file_variables()
{
    static std::vector<file_variable> *v = new std::vector<file_variable>;
    return *v;
}

void register_shared(void *(*address)(), size_t size, const char *name)
{
    file_variables().push_back({address, size, name});
}

/* Takes the next bytes of the arena. */
static size_t place_variable(launch_state &launch, size_t size)
{
    size_t offset = launch.layout_end;
    size_t rounded = (size + shared_alignment - 1) / shared_alignment * shared_alignment;
    launch.layout_end += rounded + shared_gap;
    return offset;
}

void lay_out_shared_memory(launch_state &launch)
{
    launch.layout.assign((size_t)shared_slots, 0);
    launch.layout_end = std::max((size_t)shared_gap, (size_t)shared_alignment);
    place_variable(launch, launch.request.dynamic_shared);
}

/* A store of nothing to a page that is not there yet takes a thousand cycles. */
static void fill(void *address, size_t size)
{
    if (size) memset(address, 0xff, size);
}

static void *open_variable(worker &w, size_t offset, size_t size, const char *name)
{
    w.shared_bytes += size;
    char *address = w.arena + offset;
    if (offset + size + shared_gap > shared_arena_size)
        fault(w, cudaErrorLaunchFailure, "shared variable %s of %zu bytes is too large", name,
              size);
#ifdef CUCC_SANITIZE
    __asan_unpoison_memory_region(address, size);
#endif
    fill(address, size);
    open_shared(w, address, size);
    w.shared.push_back({address, size, name});
    return address;
}

void begin_shared_memory(worker &w)
{
    w.shared.clear();
    close_shared(w);
    w.slots.assign((size_t)shared_slots, nullptr);
    w.shared_bytes = 0;
#ifdef CUCC_SANITIZE
    __asan_poison_memory_region(w.arena, shared_arena_size);
#endif
    open_variable(w, std::max((size_t)shared_gap, (size_t)shared_alignment),
                  w.launch->request.dynamic_shared, "(dynamic)");
}

void fill_shared_memory(worker &w)
{
    for (const shared_block &s : w.shared) fill(s.address, s.size);
    for (const file_variable &v : file_variables()) fill(v.address(), v.size);
}

void *shared_memory(const int &slot, size_t size, const char *name)
{
    worker &w = worker_in_kernel("a __shared__ variable");
    void *&address = w.slots[(size_t)slot];
    if (!address) {
        size_t offset;
        {
            std::lock_guard<std::mutex> lock(w.launch->layout_lock);
            size_t &known = w.launch->layout[(size_t)slot];
            if (!known) known = place_variable(*w.launch, size);
            offset = known;
        }
        address = open_variable(w, offset, size, name);
        size_t dynamic = w.launch->request.dynamic_shared;
        if (w.shared_bytes - dynamic > static_shared_limit)
            fault(w, cudaErrorLaunchFailure,
                  "static shared memory (%zu bytes with %s) exceeds %d bytes",
                  w.shared_bytes - dynamic, name, (int)static_shared_limit);
        if (w.shared_bytes > w.launch->shared_bytes_allowed)
            fault(w, cudaErrorLaunchFailure,
                  "static and dynamic shared memory (%zu bytes) exceed %zu bytes", w.shared_bytes,
                  w.launch->shared_bytes_allowed);
    }
    return address;
}

void *dynamic_shared_memory()
{
    return worker_in_kernel("extern __shared__").shared.front().address;
}

size_t dynamic_shared_size()
{
    return worker_in_kernel("a cooperative group").launch->request.dynamic_shared;
}

static bool inside_arena(const worker &w, const void *address)
{
    return (size_t)((const char *)address - w.arena) < shared_arena_size;
}

/* In the block's own memory, or in that of a block of its cluster. */
bool inside_shared_memory(const void *address)
{
    if (!self) return false;
    if (inside_arena(*self, address)) return true;
    for (const file_variable &v : file_variables())
        if ((size_t)((const char *)address - (const char *)v.address()) < v.size) return true;
    if (!self->group) return false;
    for (const worker *member : self->group->members)
        if (inside_arena(*member, address)) return true;
    return false;
}

/* ---- clusters -------------------------------------------------------------------------------- */

static const worker &member(unsigned int rank)
{
    worker &w = worker_in_kernel("a cluster");
    if (!w.group || w.group->whole_grid) {
        if (rank != 0) trap("a rank of a cluster that has one block");
        return w;
    }
    if (rank >= w.group->members.size()) trap("there is no block of that rank in the cluster");
    return *w.group->members[rank];
}

void *map_shared_rank(const void *address, unsigned int rank)
{
    const worker &w = worker_in_kernel("map_shared_rank");
    if (!inside_arena(w, address)) trap("map_shared_rank needs an address in __shared__ memory");
    return member(rank).arena + ((const char *)address - w.arena);
}

unsigned int query_shared_rank(const void *address)
{
    const worker &w = worker_in_kernel("query_shared_rank");
    if (w.group && !w.group->whole_grid)
        for (unsigned int i = 0; i < w.group->members.size(); i++)
            if (inside_arena(*w.group->members[i], address)) return i;
    return 0;
}
} // namespace cucc

/* Where memory of devices lies: in pages of its own, far from the runner's heap, so that a kernel that leaves
 * its memory meets other memory of devices or none. And the heap from which kernels allocate. */
#include "state.h"
#include <new>
#include <sys/mman.h>
#include <unordered_map>

namespace cucc
{
/* Parts of an address space that are free. */
class free_ranges
{
    std::map<uintptr_t, size_t> by_begin;
    std::set<std::pair<size_t, uintptr_t>> by_size;

    void remove(std::map<uintptr_t, size_t>::iterator range)
    {
        by_size.erase({range->second, range->first});
        by_begin.erase(range);
    }
    void add(uintptr_t begin, size_t size)
    {
        if (!size) return;
        by_begin[begin] = size;
        by_size.insert({size, begin});
    }

  public:
    void give(uintptr_t begin, size_t size)
    {
        auto next = by_begin.lower_bound(begin);
        if (next != by_begin.end() && next->first == begin + size) {
            size += next->second;
            remove(next++);
        }
        if (next != by_begin.begin() && (--next)->first + next->second == begin) {
            begin = next->first;
            size += next->second;
            remove(next);
        }
        add(begin, size);
    }

    /* The smallest that fits, where begin + offset is a multiple of the alignment; 0: there is none. */
    uintptr_t take(size_t size, size_t alignment, size_t offset)
    {
        for (auto r = by_size.lower_bound({size, 0}); r != by_size.end(); ++r) {
            uintptr_t first = r->second, end = first + r->first;
            uintptr_t begin = (first + offset + alignment - 1) / alignment * alignment - offset;
            if (begin < first || begin > end || end - begin < size) continue;
            remove(by_begin.find(first));
            add(first, begin - first);
            add(begin + size, end - begin - size);
            return begin;
        }
        return 0;
    }
};

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* ---- pages ------------------------------------------------------------------------------------- */

#ifdef CUCC_SANITIZE /* AddressSanitizer knows the bounds of what its own heap gives */
void *take_pages(size_t size, size_t)
{
    void *memory;
    return posix_memalign(&memory, memory_page, size) ? nullptr : memory;
}
void give_pages(void *memory)
{
    free(memory);
}
bool in_pages(uintptr_t)
{
    return false;
}
#else

enum : size_t {
    /* A page that nobody may touch adds two to the mappings of a process, which may have 65530. */
    most_guards = 8192,
    most_kept = 128 << 20, /* bytes that were freed and stay mapped, for the next of their size */
    huge_page = 2 << 20,
    most_space = (size_t)1 << 40, /* addresses, not memory */
    least_space = (size_t)1 << 32,
};

/* What belongs to an allocation: its bytes, as much around them as an index may leave it, and perhaps a
 * page without access behind. */
struct page_block {
    size_t bytes, beyond;
    bool guarded, apart; /* apart: there was no place among the others */

    size_t all() const
    {
        return bytes + 2 * beyond + (guarded ? memory_page : 0);
    }
};

struct all_pages {
    std::mutex lock;
    uintptr_t begin = 0, end = 0;
    free_ranges free;
    std::unordered_map<uintptr_t, page_block> blocks;
    std::multimap<std::pair<size_t, size_t>, uintptr_t> kept; /* by bytes and beyond */
    size_t kept_bytes = 0, guards = 0;

    /* Between these addresses and others lies as much as an index of 32 bits may leave them by. */
    all_pages()
    {
        for (size_t space = most_space; space >= least_space && !begin; space /= 2) {
            void *memory =
                mmap(nullptr, space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) continue;
            begin = (uintptr_t)memory;
            end = begin + space;
            free.give(begin + space / 16, space / 16 * 14);
        }
    }

    void unmap(uintptr_t memory)
    {
        page_block block = blocks[memory];
        uintptr_t first = memory - block.beyond;
        blocks.erase(memory);
        guards -= block.guarded;
        if (block.apart) {
            munmap((void *)first, block.all());
            return;
        }
        /* A hole is a mapping, too. */
        if (!block.guarded ||
            mmap((void *)first, block.all(), PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            madvise((void *)first, block.all(), MADV_DONTNEED);
        free.give(first, block.all());
    }

    void unmap_kept()
    {
        for (auto &block : kept) unmap(block.second);
        kept.clear();
        kept_bytes = 0;
    }

    void *map(uintptr_t first, const page_block &block)
    {
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (first ? MAP_FIXED : 0);
        return mmap((void *)first, block.all(), PROT_READ | PROT_WRITE, flags, -1, 0);
    }
};

/* Never destroyed: static destructors of the user may still free memory. */
static all_pages &pages()
{
    static all_pages *all = new all_pages;
    return *all;
}

void *take_pages(size_t size, size_t beyond)
{
    all_pages &p = pages();
    std::lock_guard<std::mutex> lock(p.lock);
    if (size > most_space) return nullptr;
    page_block block = {round_up(size, memory_page), round_up(beyond, memory_page),
                        p.guards < most_guards, false};
    auto known = p.kept.find({block.bytes, block.beyond});
    if (known != p.kept.end()) {
        uintptr_t memory = known->second;
        p.kept.erase(known);
        p.kept_bytes -= block.bytes;
        return (void *)memory;
    }
    size_t alignment = size >= 2 * huge_page ? huge_page : (size_t)memory_page;
    uintptr_t first = p.free.take(block.all(), alignment, block.beyond);
    block.apart = !first;
    void *mapped = p.map(first, block);
    if (mapped == MAP_FAILED && !p.kept.empty()) {
        p.unmap_kept();
        mapped = p.map(first, block);
    }
    if (mapped == MAP_FAILED) {
        if (first) p.free.give(first, block.all());
        return nullptr;
    }
    char *memory = (char *)mapped + block.beyond;
    if (block.guarded) mprotect(memory + block.bytes + block.beyond, memory_page, PROT_NONE);
    /* Rows of large matrices lie in other pages, and the processor knows few of them. */
    if (alignment == huge_page) madvise(memory, size / huge_page * huge_page, MADV_HUGEPAGE);
    p.guards += block.guarded;
    p.blocks[(uintptr_t)memory] = block;
    return memory;
}

void give_pages(void *memory)
{
    all_pages &p = pages();
    std::lock_guard<std::mutex> lock(p.lock);
    auto found = p.blocks.find((uintptr_t)memory);
    if (found == p.blocks.end()) return;
    const page_block &block = found->second;
    p.kept.insert({{block.bytes, block.beyond}, found->first});
    p.kept_bytes += block.bytes;
    if (p.kept_bytes > most_kept) p.unmap_kept();
}

bool in_pages(uintptr_t address)
{
    return address - pages().begin < pages().end - pages().begin;
}
#endif

/* ---- the heap of kernels ----------------------------------------------------------------------- */

/* What is known of it lies elsewhere, where kernels cannot spoil it. */
struct kernel_heap {
    std::mutex lock;
    void *memory = nullptr;
    size_t limit = 0, used = 0; /* bytes; what lies between allocations is not counted */
    size_t size = 0;            /* of memory */
    free_ranges free;
    std::map<uintptr_t, size_t> taken;
};

static std::atomic<int> heaps{0}; /* that there are */

static kernel_heap &heap_of(int device)
{
    static kernel_heap *all = new kernel_heap[max_devices];
    return all[device];
}

enum { heap_unit = 16 }; /* bytes; as many between two allocations, which are nobody's */

static size_t heap_bytes(size_t size)
{
    return round_up(size ? size : 1, heap_unit);
}

/* Of the device that runs a kernel; null: there is no more. */
static void *take_from_heap(size_t size)
{
    runtime_state &s = state();
    kernel_heap &heap = heap_of(s.active_device);
    std::lock_guard<std::mutex> lock(heap.lock);
    if (!heap.memory) {
        heap.limit = s.device[s.active_device].limits[cudaLimitMallocHeapSize];
        heap.memory = take_pages(2 * heap.limit + memory_page, memory_page);
        if (!heap.memory) return nullptr;
        heap.size = 2 * heap.limit + memory_page;
        heap.free.give((uintptr_t)heap.memory, heap.size / heap_unit * heap_unit);
        heaps++;
    }
    size_t whole = heap_bytes(size);
    if (size > heap.limit || heap.used + whole > heap.limit) return nullptr;
    uintptr_t begin = heap.free.take(whole + heap_unit, heap_unit, 0);
    if (!begin) return nullptr;
    heap.taken[begin] = size;
    heap.used += whole;
    return (void *)begin;
}

static bool give_to_heap(void *memory)
{
    for (int device = 0; heaps && device < max_devices; device++) {
        kernel_heap &heap = heap_of(device);
        if ((uintptr_t)memory - (uintptr_t)heap.memory >= heap.size) continue;
        std::lock_guard<std::mutex> lock(heap.lock);
        auto found = heap.taken.find((uintptr_t)memory);
        if (found == heap.taken.end()) return true; /* freed before, or nobody's */
        heap.used -= heap_bytes(found->second);
        heap.free.give(found->first, heap_bytes(found->second) + heap_unit);
        heap.taken.erase(found);
        return true;
    }
    return false;
}

bool kernel_heap_is_used(int device)
{
    return heap_of(device).memory != nullptr;
}

void end_kernel_heap(int device)
{
    kernel_heap &heap = heap_of(device);
    std::lock_guard<std::mutex> lock(heap.lock);
    if (!heap.memory) return;
    give_pages(heap.memory);
    heaps--;
    heap.memory = nullptr;
    heap.size = heap.used = 0;
    heap.free = free_ranges();
    heap.taken.clear();
}

heap_place find_in_kernel_heap(uintptr_t address)
{
    for (int device = 0; heaps && device < max_devices; device++) {
        kernel_heap &heap = heap_of(device);
        if (address - (uintptr_t)heap.memory >= heap.size) continue;
        std::lock_guard<std::mutex> lock(heap.lock);
        auto next = heap.taken.upper_bound(address);
        if (next == heap.taken.begin()) return {true, 0, 0};
        --next;
        return {true, next->first, next->second};
    }
    return {false, 0, 0};
}

} // namespace cucc

using namespace cucc;

/* What .cu files call in place of malloc, free, new and delete (cucc), unless they define these themselves. In
 * kernels null says that there is no more. */
#define CUCC_WEAK extern "C" __attribute__((weak))
CUCC_WEAK void *cucc_malloc(size_t size)
{
    return inside_kernel() ? take_from_heap(size) : malloc(size);
}

CUCC_WEAK void cucc_free(void *memory)
{
    if (memory && !give_to_heap(memory)) free(memory);
}

CUCC_WEAK void *cucc_new(size_t size)
{
    return inside_kernel() ? take_from_heap(size) : ::operator new(size);
}

CUCC_WEAK void *cucc_new_array(size_t size)
{
    return inside_kernel() ? take_from_heap(size) : ::operator new[](size);
}

CUCC_WEAK void *cucc_new_or_null(size_t size, const std::nothrow_t &none)
{
    return inside_kernel() ? take_from_heap(size) : ::operator new(size, none);
}

CUCC_WEAK void *cucc_new_array_or_null(size_t size, const std::nothrow_t &none)
{
    return inside_kernel() ? take_from_heap(size) : ::operator new[](size, none);
}

CUCC_WEAK void cucc_delete(void *memory)
{
    if (memory && !give_to_heap(memory)) ::operator delete(memory);
}

CUCC_WEAK void cucc_delete_array(void *memory)
{
    if (memory && !give_to_heap(memory)) ::operator delete[](memory);
}

CUCC_WEAK void cucc_delete_sized(void *memory, size_t)
{
    cucc_delete(memory);
}

CUCC_WEAK void cucc_delete_array_sized(void *memory, size_t)
{
    cucc_delete_array(memory);
}

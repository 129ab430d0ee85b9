/* The pieces of memory that --check watches: where each begins, and which one an address is in or beside. */
#include "check_state.h"
#include "../runtime/state.h"
#include <sys/mman.h>

namespace cucc
{
std::recursive_mutex &watch_lock()
{
    static std::recursive_mutex *lock = new std::recursive_mutex;
    return *lock;
}

std::vector<watched *> &all_watched()
{
    static auto *all = new std::vector<watched *>;
    return *all;
}

static bool begins_before(const watched *m, uintptr_t address)
{
    return m->begin < address;
}

void *map_zeros(size_t bytes)
{
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : memory;
}

size_t words_of(const watched &m)
{
    return (m.end + 3) / 4 - m.begin / 4;
}

static watched *watch(const void *memory, size_t size, int device)
{
    std::lock_guard<std::recursive_mutex> lock(watch_lock());
    watched *m = new watched();
    m->begin = (uintptr_t)memory;
    m->end = m->begin + size;
    m->device = device;
    m->allocated_at = calling_code();
    auto &all = all_watched();
    all.insert(std::lower_bound(all.begin(), all.end(), m->begin, begins_before), m);
    return m;
}

void watch_memory(void *memory, size_t size, int device, bool own)
{
    watched *m = watch(memory, size, device);
    m->guarded = !own;
    if (device >= 0) m->written = (uint8_t *)map_zeros(words_of(*m));
}

void watch_symbol(void *address, size_t size, bool is_managed, bool constant)
{
    watched *m = watch(address, size, is_managed ? (int)managed : 0);
    m->symbol = true;
    m->constant = constant;
    /* A table of zeros is one that cudaMemcpyToSymbol has forgotten; a single zero may be meant. */
    const char *bytes = (const char *)address;
    if (constant && size > sizeof(double) && std::count(bytes, bytes + size, 0) == (long)size)
        m->written = (uint8_t *)map_zeros(words_of(*m));
}

static void unwatch(watched *m)
{
    auto &all = all_watched();
    all.erase(std::find(all.begin(), all.end(), m));
    if (m->words) munmap(m->words, m->records);
    if (m->written) munmap(m->written, words_of(*m));
    delete m;
}

void forget_memory(void *memory)
{
    std::lock_guard<std::recursive_mutex> lock(watch_lock());
    if (watched *m = find_watched(all_watched(), (uintptr_t)memory)) unwatch(m);
}

/* The piece that holds the address, or null. */
watched *find_watched(const std::vector<watched *> &memory, uintptr_t address)
{
    auto after = std::lower_bound(memory.begin(), memory.end(), address + 1, begins_before);
    if (after == memory.begin()) return nullptr;
    watched *m = *--after;
    return address < m->end ? m : nullptr;
}

/* The piece whose guard holds the address, or null; OFFSET: from its first byte. */
const watched *piece_beside(const std::vector<watched *> &memory, uintptr_t address, long &offset)
{
    auto after = std::lower_bound(memory.begin(), memory.end(), address + 1, begins_before);
    const watched *before = after == memory.begin() ? nullptr : *(after - 1);
    const watched *next = after == memory.end() ? nullptr : *after;
    if (before && before->guarded && address - before->end < check_guard) {
        offset = (long)(address - before->begin);
        return before;
    }
    if (!next || !next->guarded || next->begin - address > check_guard) return nullptr;
    offset = -(long)(next->begin - address);
    return next;
}

/* The memory stays unused until much more was freed. */
void check_release(void *memory)
{
    static std::vector<watched *> *quarantine = new std::vector<watched *>;
    static size_t held = 0;
    const size_t quarantine_bytes = 64 << 20, most_quarantined = 1000;
    std::lock_guard<std::recursive_mutex> lock(watch_lock());
    watched *m = find_watched(all_watched(), (uintptr_t)memory);
    if (!m) return;
    m->freed = true;
    quarantine->push_back(m);
    held += m->end - m->begin;
    while (held > quarantine_bytes || quarantine->size() > most_quarantined) {
        watched *oldest = quarantine->front();
        quarantine->erase(quarantine->begin());
        held -= oldest->end - oldest->begin;
        void *begin = (void *)oldest->begin;
        unwatch(oldest);
        give_pages(begin);
    }
}

/* ---- for messages ---------------------------------------------------------------------------- */

std::string name_of(const watched &m)
{
    if (m.symbol) return m.constant ? "a __constant__ variable" : "a __device__ variable";
    std::string kind = m.device >= 0         ? "device memory"
                       : m.device == managed ? "managed memory"
                                             : "pinned memory";
    return "the " + std::to_string(m.end - m.begin) + " bytes of " + kind +
           allocated(m.allocated_at);
}

/* The variable that an index most likely has left. */
const watched *symbol_before(const std::vector<watched *> &memory, uintptr_t address)
{
    const uintptr_t near = 256;
    auto after = std::lower_bound(memory.begin(), memory.end(), address, begins_before);
    if (after == memory.begin()) return nullptr;
    const watched *m = *(after - 1);
    return m->symbol && address - m->end < near ? m : nullptr;
}

/* The piece that an index has left by far, among the pages that allocations lie in. */
const watched *piece_before(const std::vector<watched *> &memory, uintptr_t address, long &offset)
{
    if (!in_pages(address)) return nullptr;
    auto after = std::lower_bound(memory.begin(), memory.end(), address, begins_before);
    if (after == memory.begin() || !(*(after - 1))->guarded) return nullptr;
    offset = (long)(address - (*(after - 1))->end);
    return *(after - 1);
}
} // namespace cucc

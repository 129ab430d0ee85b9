/* What code that is compiled with -fsanitize=thread calls at each access to memory: g++ puts the calls there,
 * and these functions stand in for ThreadSanitizer's library. */
#include "check_state.h"

namespace cucc
{
/* Local variables: nobody else's business, and the most frequent of all. */
static inline bool on_own_stack(const worker &w, const void *address)
{
    const fiber *f = w.fiber_of[w.current];
    return f && (uintptr_t)address - (uintptr_t)f->stack < f->usable_size;
}

/* By the address of the call, which the program's debug information turns into a line. */
static inline void on_access(const void *address, size_t size, int kind, uint32_t code)
{
    worker *w = self;
    if (w && on_own_stack(*w, address)) return;
    if (w && size == sizeof(void *) && !(kind & access_writes))
        kernel_reads_table(*w, (uintptr_t)address, code);
    if (w)
        kernel_access(*w, (uintptr_t)address, size, kind, code);
    else if (cucc_options.check)
        host_access((uintptr_t)address, size, kind, code);
}

/* The three innermost returns from a hook's frame on: code of programs has frame pointers, but what has called
 * main has not. */
static uint32_t outer_code(void **frame)
{
    uint32_t codes[3];
    if (!self) return (uint32_t)(uintptr_t)frame[1];
    for (uint32_t &code : codes) {
        code = (uint32_t)(uintptr_t)frame[1];
        frame = (void **)frame[0];
    }
    return code_of_callers(codes[0], codes[1], codes[2]);
}

/* Atomics of blocks that run at once are done with what is known of them, one at a time. */
struct one_at_a_time {
    static std::recursive_mutex &lock()
    {
        static auto *l = new std::recursive_mutex;
        return *l;
    }
    std::unique_lock<std::recursive_mutex> held;
    one_at_a_time()
    {
        if (self && self->group) held = std::unique_lock<std::recursive_mutex>(lock());
    }
};

/* The order that an atomic asks for counts as a fence. */
static void order(int memory_order)
{
    bool releases = memory_order == __ATOMIC_RELEASE || memory_order == __ATOMIC_ACQ_REL ||
                    memory_order == __ATOMIC_SEQ_CST;
    if (self && self->check && releases) fence_thread(*self);
}
} // namespace cucc

using namespace cucc;

#define CODE ((uint32_t)(uintptr_t)__builtin_return_address(0))
/* Atomics and copies are called from the runner's own headers, which may be functions of their own. */
#define OUTER_CODE outer_code((void **)__builtin_frame_address(0))

extern "C" {
void __tsan_init()
{
}
void __tsan_func_entry(void *)
{
}
void __tsan_func_exit()
{
}
void __tsan_vptr_update(void **p, void *table)
{
    writes_table((uintptr_t)p, (uintptr_t)table);
    on_access(p, sizeof *p, access_writes, CODE);
}
void __tsan_vptr_read(void **)
{
}

void __tsan_read_range(void *p, size_t size)
{
    on_access(p, size, access_reads, CODE);
}

void __tsan_write_range(void *p, size_t size)
{
    on_access(p, size, access_writes, CODE);
}

#define CUCC_ACCESS(size)                                        \
    void __tsan_read##size(void *p)                              \
    {                                                            \
        on_access(p, size, access_reads, CODE);                  \
    }                                                            \
    void __tsan_write##size(void *p)                             \
    {                                                            \
        on_access(p, size, access_writes, CODE);                 \
    }                                                            \
    void __tsan_unaligned_read##size(void *p)                    \
    {                                                            \
        on_access(p, size, access_reads, CODE);                  \
    }                                                            \
    void __tsan_unaligned_write##size(void *p)                   \
    {                                                            \
        on_access(p, size, access_writes, CODE);                 \
    }                                                            \
    void __tsan_volatile_read##size(void *p)                     \
    {                                                            \
        on_access(p, size, access_reads | access_strong, CODE);  \
    }                                                            \
    void __tsan_volatile_write##size(void *p)                    \
    {                                                            \
        on_access(p, size, access_writes | access_strong, CODE); \
    }                                                            \
    void __tsan_unaligned_volatile_read##size(void *p)           \
    {                                                            \
        on_access(p, size, access_reads | access_strong, CODE);  \
    }                                                            \
    void __tsan_unaligned_volatile_write##size(void *p)          \
    {                                                            \
        on_access(p, size, access_writes | access_strong, CODE); \
    }
CUCC_ACCESS(1)
CUCC_ACCESS(2)
CUCC_ACCESS(4)
CUCC_ACCESS(8)
CUCC_ACCESS(16)

#define CUCC_CHANGE(bits, T, name)                                                        \
    T __tsan_atomic##bits##_##name(T *p, T v, int memory_order)                           \
    {                                                                                     \
        one_at_a_time guard;                                                              \
        order(memory_order);                                                              \
        on_access(p, sizeof v, access_reads | access_writes | access_strong, OUTER_CODE); \
        return __atomic_##name(p, v, __ATOMIC_SEQ_CST);                                   \
    }
#define __atomic_exchange __atomic_exchange_n
#define CUCC_SWAP(bits, T, name, weak)                                                          \
    int __tsan_atomic##bits##_compare_exchange_##name(T *p, T *e, T v, int succeeds, int)       \
    {                                                                                           \
        one_at_a_time guard;                                                                    \
        bool equal = __atomic_load_n(p, __ATOMIC_SEQ_CST) == *e;                                \
        if (equal) order(succeeds);                                                             \
        on_access(p, sizeof v,                                                                  \
                  access_reads | access_strong | access_compares | (equal ? access_writes : 0), \
                  OUTER_CODE);                                                                  \
        return __atomic_compare_exchange_n(p, e, v, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
    }
#define CUCC_ATOMIC(bits, T)                                               \
    T __tsan_atomic##bits##_load(const T *p, int)                          \
    {                                                                      \
        one_at_a_time guard;                                               \
        on_access(p, sizeof *p, access_reads | access_strong, OUTER_CODE); \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                       \
    }                                                                      \
    void __tsan_atomic##bits##_store(T *p, T v, int memory_order)          \
    {                                                                      \
        one_at_a_time guard;                                               \
        order(memory_order);                                               \
        on_access(p, sizeof v, access_writes | access_strong, OUTER_CODE); \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                          \
    }                                                                      \
    CUCC_CHANGE(bits, T, exchange)                                         \
    CUCC_CHANGE(bits, T, fetch_add)                                        \
    CUCC_CHANGE(bits, T, fetch_sub)                                        \
    CUCC_CHANGE(bits, T, fetch_or)                                         \
    CUCC_CHANGE(bits, T, fetch_and)                                        \
    CUCC_CHANGE(bits, T, fetch_xor)                                        \
    CUCC_SWAP(bits, T, strong, false)                                      \
    CUCC_SWAP(bits, T, weak, true)
CUCC_ATOMIC(8, unsigned char)
CUCC_ATOMIC(16, unsigned short)
CUCC_ATOMIC(32, unsigned int)
CUCC_ATOMIC(64, unsigned long)

void __tsan_atomic_thread_fence(int memory_order)
{
    one_at_a_time guard;
    order(memory_order);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* What -fsanitize=alignment calls, and the layout of what it tells (GCC's ubsan.cc, as clang documents it). */
struct described_type {
    uint16_t kind, info;
    char name[1];
};
struct mismatch {
    const char *file;
    uint32_t line, column;
    const described_type *type;
    uint8_t log_alignment, kind;
};
enum { mismatch_load, mismatch_store }; /* others only form an address */

void __ubsan_handle_type_mismatch_v1(const mismatch *m, uintptr_t address)
{
    bool accesses = m->kind == mismatch_load || m->kind == mismatch_store;
    if (!self || !self->launch || !accesses || !cucc_options.check) return;
    if (on_own_stack(*self, (const void *)address)) return;
    misaligned_access(*self, address, m->kind == mismatch_store, OUTER_CODE, m->type->name,
                      1u << m->log_alignment);
}

/* Where the library's functions would be called (include/cuda_runtime.h). */
void *cucc_memcpy(void *to, const void *from, size_t size)
{
    if (size == 0) return to;
    on_access(from, size, access_reads, OUTER_CODE);
    on_access(to, size, access_writes, OUTER_CODE);
    return memcpy(to, from, size);
}
void *cucc_memmove(void *to, const void *from, size_t size)
{
    if (size == 0) return to;
    on_access(from, size, access_reads, OUTER_CODE);
    on_access(to, size, access_writes, OUTER_CODE);
    return memmove(to, from, size);
}
void *cucc_memset(void *to, int value, size_t size)
{
    if (size == 0) return to;
    on_access(to, size, access_writes, OUTER_CODE);
    return memset(to, value, size);
}
}

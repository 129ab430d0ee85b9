/* Fibers: the stacks that the threads of a block run on, and the switch from one to another. */
#include "worker.h"
#include <sys/mman.h>

namespace cucc
{
enum {
#ifdef CUCC_SANITIZE
    usual_stack = 256 * 1024, /* redzones make frames larger */
    times_asked = 4,
#else
    usual_stack = 128 * 1024,
    times_asked = 2, /* of a GPU's stack: addresses and saved registers are larger here */
#endif
    page = 4096,
    /* Stacks with a page below that nobody may touch. Each adds two to the mappings of a process, which
     * may have 65530 (vm.max_map_count): 64 cores and blocks of 512 threads would take more. */
    most_guarded_stacks = 16 * 1024,
    /* Stacks begin at different cache sets, or 1024 of them evict one another. */
    stack_stagger = 192,
    staggered_stacks = 16,
};

#ifdef CUCC_UCONTEXT
void prepare_context(context &c, const fiber &f, void (*entry)())
{
    getcontext(&c);
    c.uc_stack.ss_sp = f.stack;
    c.uc_stack.ss_size = f.usable_size;
    c.uc_link = nullptr;
    makecontext(&c, entry, 0);
}
#else
asm(R"(
    .text
    .globl cucc_switch_stack
    .type cucc_switch_stack, @function
cucc_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cucc_switch_stack, .-cucc_switch_stack
)");

void prepare_context(context &c, const fiber &f, void (*entry)())
{
    void **top = (void **)(f.stack + f.usable_size);
    *--top = nullptr; /* the caller's frame, so that entry starts with the alignment of a call */
    *--top = (void *)entry;
    top -= 6; /* the registers that the switch pops; their values do not matter */
    c = top;
}
#endif

static void map_stack(fiber &f, size_t size)
{
    /* One page at the bottom stays without access, so that an overflow is noticed. */
    static std::atomic<int> stacks{0};
    static std::atomic<size_t> number{0};
    void *memory = mmap(nullptr, size + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("cucc: no memory for the stack of a thread");
        abort();
    }
    if (!f.stack)
        stacks++;
    else
        munmap(f.stack - page, f.size + page);
    if (stacks <= most_guarded_stacks) mprotect(memory, page, PROT_NONE);
    f.stack = (char *)memory + page;
    f.size = size;
    f.usable_size = size - number++ % staggered_stacks * stack_stagger;
}

fiber &take_fiber(worker &w)
{
    size_t asked = times_asked * w.launch->stack_bytes + page;
    size_t size = std::max((size_t)usual_stack, asked / page * page);
    if (w.idle.empty()) {
        w.fibers.emplace_back(new fiber{});
        w.idle.push_back(w.fibers.back().get());
    }
    fiber &f = *w.idle.back();
    w.idle.pop_back();
    if (f.size < size) map_stack(f, size);
    return f;
}

void abandon_fibers(worker &w)
{
    w.idle.clear();
    for (auto &f : w.fibers) {
#ifdef CUCC_SANITIZE
        __asan_unpoison_memory_region(f->stack, f->size);
#endif
        w.idle.push_back(f.get());
    }
}
bool on_guard_page(const worker &w, const void *address)
{
    for (auto &f : w.fibers)
        if ((size_t)((const char *)address - (f->stack - page)) < page) return true;
    return false;
}
} // namespace cucc

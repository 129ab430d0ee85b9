/* Who runs, and faults of who runs: the message, and the end of the block. */
#include "watch.h"
#include "worker.h"
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

namespace cucc
{
__thread worker *self;

bool inside_kernel()
{
    return self != nullptr;
}

launch_state *current_launch()
{
    return self ? self->launch : nullptr;
}

const void *current_block()
{
    return self;
}

void print_place(const worker &w, unsigned int thread)
{
    uint3 t = w.index[thread];
    fprintf(stderr,
            "cucc: kernel %s, block (%u,%u,%u), thread (%u,%u,%u): ", w.launch->request.kernel,
            blockIdx.x, blockIdx.y, blockIdx.z, t.x, t.y, t.z);
}

void give_up(worker &w)
{
    w.failed = true;
    switch_fiber(w.stopped_at[w.current], *w.fiber_of[w.current], w.home_context, w.home);
    abort(); /* nobody resumes a block that was given up */
}

/* A fault while one is reported: memory of the runner itself is spoilt, and its locks may be taken. */
[[noreturn]] static void end_in_report(const worker &w)
{
    const int failed = 2; /* the exit status */
    char text[256];
    int length =
        snprintf(text, sizeof text,
                 "\ncucc: kernel %.99s, block (%u,%u,%u), thread %u: it has spoilt memory of "
                 "the runner, which cannot go on\n",
                 w.launch->request.kernel, blockIdx.x, blockIdx.y, blockIdx.z, w.current);
    bool told = write(STDERR_FILENO, text, std::min((size_t)length, sizeof text - 1)) >= 0;
    _exit(told ? failed : failed + 1);
}

/* Its structure names no descriptor that is open, though that of the process is. */
static bool is_stderr_spoilt()
{
    return fcntl(fileno(stderr), F_GETFD) < 0 && fcntl(STDERR_FILENO, F_GETFD) >= 0;
}

/* Reports a fault of the current thread, gives up the block and never comes back. */
void fault(worker &w, cudaError_t error, const char *format, ...)
{
    static std::mutex one_message_at_a_time;
    static thread_local bool reporting;
    if (w.in_loops) siglongjmp(w.before_loops, fault_in_loops); /* fibers find it again */
    if (reporting || is_stderr_spoilt()) end_in_report(w);
    {
        std::lock_guard<std::mutex> lock(one_message_at_a_time);
        reporting = true;
        const size_t most = 4000; /* names of templates are long, and stacks for signals short */
        char text[most];
        va_list arguments;
        fflush(stdout); /* what the kernel has printed */
        va_start(arguments, format);
        vsnprintf(text, most, format, arguments);
        va_end(arguments);
        print_place(w, w.current);
        fprintf(stderr, "%s\n", text);
        note_fault(w, text);
    }
    reporting = false;
    w.launch->error = error;
    give_up(w);
}

void leave_loops()
{
    siglongjmp(self->before_loops, lanes_apart);
}

void trap(const char *sentence)
{
    fault(worker_in_kernel("__trap"), cudaErrorLaunchFailure, "%s", sentence);
}

void called_outside(const char *function)
{
    fprintf(stderr, "cucc: %s was called outside of a kernel\n", function);
    abort();
}
} // namespace cucc

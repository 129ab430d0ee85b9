/* The end of a sanitized program: device memory that nobody freed is listed, and so are leaks on the
 * host. */
#include "../runtime/watch.h"
#include "../runtime/state.h"

#if defined(CUCC_CHECK)
#include <unistd.h>
#endif
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

namespace cucc
{
enum { failed_check = 23 }; /* the exit status */
#ifdef CUCC_CHECK
static void report_check()
{
    runtime_state &s = state();
    for (auto &a : s.allocations) {
        int device = a.second.device;
        if (a.second.registered || (device >= 0 && s.device[device].sticky)) continue;
        if (cucc_options.check)
            found_leak((void *)a.first, a.second.size,
                       device >= 0         ? "device memory"
                       : device == managed ? "managed memory"
                                           : "pinned memory");
    }
    bool written = report_at_exit();
    fflush(nullptr);
    if (cucc_options.check && anything_found()) _exit(failed_check);
    if (!written) _exit(1);
}
#endif

void report_leaks()
{
#ifdef CUCC_SANITIZE
    runtime_state &s = state();
    bool leaked = false;
    for (auto &a : s.allocations) {
        int device = a.second.device;
        if (device >= 0 && s.device[device].sticky) continue; /* it cannot be freed */
        if (a.second.registered) continue;
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
    if (leaked) _exit(failed_check);
#endif
#ifdef CUCC_CHECK
    report_check();
#endif
}
} // namespace cucc

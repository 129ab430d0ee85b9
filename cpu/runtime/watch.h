/* What the runtime tells as it happens, and asks: --check, --report, --count, and what is left at exit. The
 * folder check/ has these functions; without -DCUCC_CHECK most of them are empty. */
#ifndef CUCC_WATCH_H
#define CUCC_WATCH_H

#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>

struct recording; /* of an event: state.h */

namespace cucc
{
struct worker;
struct block_group;

/* Of the command line, compiled into each program (cucc). */
struct compiled_options {
    bool check, report;
    int registers;       /* of a thread, as stated; 0: not stated */
    const char *gpu;     /* whose limits hold; empty: none was named */
    const char *page;    /* file for the page of --report; empty: a table */
    const char *include; /* the runner's own headers, which no message names */
};

/* At exit (--sanitize, --check, --report). */
void report_leaks();

/* Loads and stores (--count). */
access_counts take_counts(); /* of this OS thread, since the last call */
void add(access_counts &sum, const access_counts &more);
void add_counts(const char *kernel, const access_counts &counts);

#ifdef CUCC_CHECK
extern "C" const compiled_options cucc_options;

enum { check_guard = 16 * 1024 }; /* bytes on each side of an allocation, which nobody may touch */

/* Clocks: the block's own, and that of each warp. */
void clock_block(worker &w);
void clock_block_ends(worker &w);
void clock_barrier(worker &w);
void clock_lanes(worker &w, unsigned int warp, unsigned int lanes);
void clock_group_arrives(worker &w);         /* at the barrier of a grid or a cluster */
void clock_group_leaves(block_group &group); /* all have come */
void clock_launch(launch_state &launch);
void clock_launch_ends(launch_state &launch);

/* Memory. */
void check_release(
    void *memory); /* keeps it apart for a while, so that it is known when it is used */
void watch_memory(void *memory, size_t size, int device, bool own); /* own: of the program */
void forget_memory(void *memory);
void watch_symbol(void *address, size_t size, bool managed, bool constant);
void mark_written(const void *to, size_t size);
void copy_written(void *to, const void *from, size_t size, uint32_t code);
void open_shared(worker &w, char *address, size_t size);
void close_shared(worker &w); /* a launch begins */

/* The host. */
void host_copies(const void *to, size_t to_size, const void *from, size_t from_size,
                 const char *function, cudaStream_t stream);
void copy_in_order(const void *to, const void *from, size_t size, uint64_t begun,
                   const char *function, uint32_t code);
void host_looks_at_errors();
void host_launches(const char *kernel, cudaError_t error);
void found_leak(void *memory, size_t size, const char *kind);
void say(const char *format, ...) __attribute__((format(printf, 1, 2))); /* stderr, and the page */
void note_fault(const worker &w, const char *text); /* it was told, and has ended the launch */
void print_findings();
bool anything_found();
void page_at_signal(int signal); /* that ends the program */
bool report_at_exit();           /* false: a page could not be written */
uint64_t host_now();
uint32_t calling_code(); /* who called the runtime */

/* Streams. */
uint64_t begin_in(cudaStream_t stream); /* a kernel or a copy */
void stream_records(cudaStream_t stream, recording &event);
void stream_waits(cudaStream_t stream, const recording &event);
void host_waits(cudaStream_t stream);
void host_waits_for_event(const recording &event);
void host_waits_for_all();
void host_asks_for_time(const recording &event);

/* A callback comes after what was put into its stream before it, and before the rest: what it does itself
 * counts as done at the time of the call that BEGAN it. */
uint64_t host_calls_back();
struct called_back {
    called_back(cudaStream_t stream, uint64_t begun);
    ~called_back();
    uint64_t outer;
};
#else
inline uint64_t host_calls_back()
{
    return 0;
}
struct called_back {
    called_back(cudaStream_t, uint64_t)
    {
    }
};
inline void clock_block(worker &)
{
}
inline void clock_block_ends(worker &)
{
}
inline void clock_barrier(worker &)
{
}
inline void clock_lanes(worker &, unsigned int, unsigned int)
{
}
inline void clock_group_arrives(worker &)
{
}
inline void clock_group_leaves(block_group &)
{
}
inline void open_shared(worker &, char *, size_t)
{
}
inline void close_shared(worker &)
{
}
inline void host_waits(cudaStream_t)
{
}
inline void host_waits_for_event(const recording &)
{
}
inline void host_waits_for_all()
{
}
inline void host_asks_for_time(const recording &)
{
}
inline void stream_records(cudaStream_t, recording &)
{
}
inline void stream_waits(cudaStream_t, const recording &)
{
}
inline void host_copies(const void *, size_t, const void *, size_t, const char *, cudaStream_t)
{
}
inline void mark_written(const void *, size_t)
{
}
inline void copy_written(void *, const void *, size_t, uint32_t)
{
}
inline void host_looks_at_errors()
{
}
inline void host_launches(const char *, cudaError_t)
{
}
inline void __attribute__((format(printf, 1, 2))) say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("cucc: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
}
inline void note_fault(const worker &, const char *)
{
}
inline void clock_launch(launch_state &)
{
}
inline void clock_launch_ends(launch_state &)
{
}
#endif
} // namespace cucc

#endif

/* src/raytrace/trace/instances.h. KERNEL TRACE for each kind of memory.
   Uses: config.h, kinds.cuh. Used by: kernel.cuh. */
#if RAYT__KERNELS && defined(RAYT_WITH_TRACE) && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_TRACE_INSTANCES)
#define RAYT__PART_TRACE_INSTANCES
/* KERNEL TRACE once a kind: the file includes itself, as for KERNEL TILE. RAYT__GOES_ON(running): does
   this thread go on? With shared memory a block goes on together while any thread has a path. */
#define RAYT__EMIT
#define RAYT__TRACE            rayt_trace_global
#define RAYT__FIND             rayt__find_global
#define RAYT__GOES_ON(running) running
#include RAYT_HEADER
#define RAYT__TRACE            rayt_trace_readonly
#define RAYT__FIND             rayt__find_readonly
#define RAYT__GOES_ON(running) running
#include RAYT_HEADER
#define RAYT__TRACE            rayt_trace_constant
#define RAYT__FIND             rayt__find_constant
#define RAYT__GOES_ON(running) running
#include RAYT_HEADER
#define RAYT__TRACE            rayt_trace_shared
#define RAYT__FIND             rayt__find_shared
#define RAYT__GOES_ON(running) __syncthreads_or(running)
#include RAYT_HEADER
#define RAYT__TRACE rayt_trace_list
#define RAYT__LISTS
#define RAYT__GOES_ON(running) __any_sync(0xffffffffu, running)
#include RAYT_HEADER
#define RAYT__TRACE rayt_trace_bundles
#define RAYT__BUNDLES
#define RAYT__GOES_ON(running) __any_sync(0xffffffffu, running)
#include RAYT_HEADER
#define RAYT__TRACE rayt_trace_tree
#define RAYT__WALKS
#define RAYT__GOES_ON(running) __any_sync(0xffffffffu, running)
#include RAYT_HEADER
#undef RAYT__EMIT
#endif

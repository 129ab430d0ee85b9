/* cuda_pipeline.h - the asynchronous copies of CUDA on the CPU runner: each is done at once. What is not waited for is
 * reported by --check. */
#ifndef CUCC_CUDA_PIPELINE_H
#define CUCC_CUDA_PIPELINE_H

#include <stddef.h>

/* A whole vector at a time, so that it counts as one load and one store. The last ZEROS bytes are not read. */
static inline void __pipeline_memcpy_async(void *to, const void *from, size_t size,
                                           size_t zeros = 0)
{
    if (zeros != 0)
        memset(to, 0, size), memcpy(to, from, size - zeros);
    else if (size == 16)
        *(float4 *)to = *(const float4 *)from;
    else if (size == 8)
        *(float2 *)to = *(const float2 *)from;
    else
        *(float *)to = *(const float *)from;
    cucc::copy_begins(to, size, nullptr, 0);
}

static inline void __pipeline_commit(void)
{
    cucc::copies_commit();
}

static inline void __pipeline_wait_prior(size_t groups)
{
    cucc::copies_wait_prior(groups);
}

#endif

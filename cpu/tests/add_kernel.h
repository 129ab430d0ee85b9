/* Includes itself to make one kernel and its launcher for each type. */
#ifndef ADD_TYPE
#define ADD_TYPE int
#define ADD_NAME add_int
#include "add_kernel.h"
#define ADD_TYPE double
#define ADD_NAME add_double
#include "add_kernel.h"
#else
#define ADD_PASTE_(a, b) a##b
#define ADD_PASTE(a, b)  ADD_PASTE_(a, b)
#define ADD_KERNEL       ADD_PASTE(ADD_NAME, _kernel)

static __global__ void __launch_bounds__(64)
    ADD_KERNEL(int n, const ADD_TYPE *__restrict__ a, ADD_TYPE *__restrict__ sum)
{
    __shared__ ADD_TYPE part[64];
    int t = threadIdx.x;
    part[t] = t < n ? a[t] : 0;
    __syncthreads();
    if (t == 0) {
        ADD_TYPE total = 0;
#pragma unroll
        for (int i = 0; i < 64; i++) total += part[i];
        *sum = total;
    }
}

static inline cudaError_t ADD_NAME(int n, const ADD_TYPE *a, ADD_TYPE *sum)
{
    ADD_KERNEL<<<1, 64>>>(n, a, sum);
    return cudaGetLastError();
}
#undef ADD_TYPE
#undef ADD_NAME
#undef ADD_PASTE_
#undef ADD_PASTE
#undef ADD_KERNEL
#endif

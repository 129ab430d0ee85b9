/* Sums within a warp as they were written before __syncwarp: volatile memory, and lanes in step. */
#include <cuda_runtime.h>
#include <stdio.h>

enum { threads = 128 };

/* one after another, by a function */
template <class T> __device__ void last_warp(volatile T *s, unsigned int t)
{
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
}

template <class T> __global__ void by_function(T *out, int)
{
    __shared__ T s[threads];
    unsigned int t = threadIdx.x;
    s[t] = (T)(t + 1);
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) last_warp(s, t);
    if (t == 0) out[blockIdx.x] = s[0];
}

/* a sum in a register, a pointer to volatile, no lane left out */
__global__ void by_pointer(int *out, int)
{
    extern __shared__ int s[];
    int t = threadIdx.x, sum = t + 1;
    s[t] = sum;
    __syncthreads();
    if (t < 64) s[t] = sum = sum + s[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile int *first = s, *v = (volatile int *)first;
        v[t] = sum = sum + v[t + 32];
        v[t] = sum = sum + v[t + 16];
        v[t] = sum = sum + v[t + 8];
        v[t] = sum = sum + v[t + 4];
        v[t] = sum = sum + v[t + 2];
        v[t] = sum = sum + v[t + 1];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

/* a loop in which ever fewer lanes take part, one sum a warp, in a part of an array each */
__global__ void by_loop(int *out, int)
{
    __shared__ volatile int s[threads / 32][32], all[4];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    s[warp][lane] = threadIdx.x + 1;
    for (int n = 16; n > 0; n >>= 1)
        if (lane < n)
            s[warp][lane] += s[warp][lane + n];
        else if (lane < 0)
            s[warp][lane] -= 1;
    if (lane == 0) all[warp] = s[warp][0];
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = all[0] + all[1] + all[2] + all[3];
}

/* a running sum: lanes write what others have yet to read */
__global__ void running(int *out, int rounds)
{
    volatile __shared__ int s[2 * threads];
    int t = threadIdx.x, at = t / 32 * 64 + t % 32;
    for (int round = 0; round < rounds; round++) {
        s[at] = 0;
        s[at + 32] = t + 1;
        for (int n = 1; n < 32; n *= 2) s[at + 32] += s[at + 32 - n];
    }
    int sum = 0;
    if (t % 32 == 31) sum = s[at + 32];
    sum = __syncthreads_count(0) + sum;
    if (t % 32 == 31) atomicAdd(out + blockIdx.x, sum);
}

template <class T> static bool right(const char *name, void (*kernel)(T *, int))
{
    T *out;
    bool all = true;
    if (cudaMallocManaged(&out, 3 * sizeof *out)) return false;
    for (int i = 0; i < 3; i++) out[i] = 0;
    kernel<<<3, threads, threads * sizeof(int)>>>(out, 2);
    if (cudaDeviceSynchronize()) return false;
    for (int i = 0; i < 3; i++) all = all && out[i] == threads * (threads + 1) / 2;
    if (!all) printf("%s: %g for %d\n", name, (double)out[0], threads * (threads + 1) / 2);
    cudaFree(out);
    return all;
}

/* Launched by its name, a kernel may become loops over its threads; this one must not. */
static bool right_by_name()
{
    int *out;
    bool all = true;
    if (cudaMallocManaged(&out, 3 * sizeof *out)) return false;
    by_function<int><<<3, threads>>>(out, 2);
    if (cudaDeviceSynchronize()) return false;
    for (int i = 0; i < 3; i++) all = all && out[i] == threads * (threads + 1) / 2;
    cudaFree(out);
    return all;
}

int main()
{
    volatile int host[3] = {1, 2, 3};
    host[1] += host[2];
    host[0] = host[1];
    for (host[2] = 0; host[2] < 2; host[2] += 1) host[1] <<= 1;
    bool all = host[0] == 5 && host[1] == 20;
    all &= right("by_function, float", by_function<float>);
    all &= right("by_function, int", by_function<int>);
    all &= right("by_pointer", by_pointer);
    all &= right("by_loop", by_loop);
    all &= right("running", running);
    all &= right_by_name();
    printf("%s\n", all ? "right" : "wrong");
    return !all;
}

/* Initialisers of all forms, and what runs without a call: kernels that once were done as loops over threads as if all
 * of these had the same value. Each must store its number in each thread, and nothing else. */
#include "check.h"
#include <stdio.h>
#include <string.h>

enum { threads = 32, blocks = 4, n = 100, side = 40 };
static int *p;
__device__ int counter;

struct by_constructor {
    int x;
    __device__ by_constructor()
    {
        x = blockIdx.x * blockDim.x + threadIdx.x;
    }
};
struct by_argument {
    int x;
    __device__ by_argument(int w)
    {
        x = blockIdx.x * w + threadIdx.x;
    }
};
struct by_member {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
};
struct by_conversion {
    __device__ operator int() const
    {
        return blockIdx.x * blockDim.x + threadIdx.x;
    }
};
struct lane {
};
__device__ int operator+(int a, lane)
{
    return a + threadIdx.x;
}
struct into {
    __device__ into(int &o)
    {
        o = blockIdx.x * blockDim.x + threadIdx.x;
    }
};
struct turned { /* a barrier in a constructor */
    int x;
    __device__ turned(int *s, int v)
    {
        s[threadIdx.x] = v;
        __syncthreads();
        x = s[blockDim.x - 1 - threadIdx.x];
    }
};
__device__ int tid()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}
template <int STEP> __device__ int take()
{
    return atomicAdd(&counter, STEP);
}
__device__ int half_of(int x, int *s)
{
    s[threadIdx.x] = x;
    __syncthreads();
    return s[threadIdx.x] / 2;
}
__device__ int *address_of(int &x)
{
    return &x;
}

template <int N> __device__ int sum_with(int *s, int v)
{
    s[threadIdx.x] = v;
    __syncthreads();
    return s[threadIdx.x] + N;
}
template <> __device__ int sum_with<2>(int *, int v)
{
    return v - 2;
}
template <int N, int M = N + 1> __device__ int sum_with_next(int *s, int v)
{
    s[threadIdx.x] = v;
    __syncthreads();
    return s[threadIdx.x] + M;
}

#define KERNEL(name, ...)                     \
    __global__ void name(int *out, int count) \
    {                                         \
        __VA_ARGS__                           \
        if (i < count) out[i] = i;            \
    }
KERNEL(braces, const int i{(int)(blockIdx.x * blockDim.x + threadIdx.x)};)
KERNEL(parentheses, int i(blockIdx.x *blockDim.x + threadIdx.x);)
KERNEL(east, int const i(blockIdx.x *blockDim.x + threadIdx.x);)
KERNEL(deduced, const auto i{(int)(blockIdx.x * blockDim.x + threadIdx.x)};)
KERNEL(array, int a[2]{(int)threadIdx.x, (int)blockIdx.x}; int i = a[1] * (int)blockDim.x + a[0];)
KERNEL(vector, int4 v{(int)threadIdx.x, 0, 0, 1}; int i = blockIdx.x * blockDim.x + v.x;)
KERNEL(thread, uint3 t{threadIdx}; int i = blockIdx.x * blockDim.x + t.x;)
KERNEL(made, dim3 t(threadIdx); int i = blockIdx.x * blockDim.x + t.x;)
KERNEL(constructor, by_constructor q; int i = q.x;)
KERNEL(argument, by_argument q(32); int i = q.x;)
KERNEL(member, by_member q = {}; int i = q.x;)
KERNEL(conversion, by_conversion q; int i = q;)
KERNEL(operation, lane l; int i = blockIdx.x * 32 + l;)
KERNEL(reference, int i = 0; into q(i);)
KERNEL(pointed, int (*f)() = tid; int i = (*f)();)
KERNEL(listed, int (*f[])() = {tid, tid}; int i = f[1]();)
KERNEL(drawn, int i = take<1>();)
KERNEL(
    lambda, auto f = [] __device__() { return (int)(blockIdx.x * blockDim.x + threadIdx.x); };
    int i = f();)
KERNEL(
    captured, auto f = [=] __device__() { return (int)(blockIdx.x * blockDim.x + threadIdx.x); };
    int i = f();)
KERNEL(
    opened, int k = threadIdx.x; auto f = [k = k + 1]() { return k; };
    int i = blockIdx.x * blockDim.x + f() - 1;)
KERNEL(
    hidden, int k = threadIdx.x; auto f = [=](int j) { return j + k; }; int i = 0; {
        int k{7};
        i = f(k) + blockIdx.x * blockDim.x - 7;
    })
KERNEL(barrier, __shared__ int s[threads]; turned q(s, blockIdx.x *blockDim.x + threadIdx.x);
       int i = q.x;)
KERNEL(converted, __shared__ int s[threads]; float x = threadIdx.x + 0.5f; int h = half_of(x, s);
       int i = blockIdx.x * blockDim.x + 2 * h + threadIdx.x % 2;)
KERNEL(
    shared_by_all, int k = 0, i = 0; {
        k += threadIdx.x;
        i = k;
    } i += blockIdx.x * blockDim.x;)
KERNEL(
    block_in_loop, int i = 0; { i += 1; } i += tid() - 1;)
KERNEL(kept_address, int x = 0; int *at = address_of(x); __syncthreads(); *at = tid();
       __syncthreads(); int i = x;)
KERNEL(parted, int x = 1, y = 2; x = 0, y = threadIdx.x; int i = x + y + blockIdx.x * blockDim.x;)
KERNEL(
    one_name, __shared__ int s; if (threadIdx.x == 0) s = 5; __syncthreads(); int i = 0; {
        int s{1};
        i = s;
    } __syncthreads();
    if (threadIdx.x == 1) s = 7; __syncthreads(); i += s - 8 + tid();)
KERNEL(specialised, __shared__ int s[threads]; int i = sum_with<2>(s, tid()) + 2;)
KERNEL(by_default, __shared__ int s[threads]; const int N = 50;
       int i = sum_with_next<1>(s, tid()) - 2 + N - 50;)
KERNEL(mixed, int v = -1; int m = min(threadIdx.x, v); int i = blockIdx.x * blockDim.x + m;)
KERNEL(chosen, int i = 0; threadIdx.x > 3 ? i = 1 : (i = 2);
       i += tid() - (threadIdx.x > 3 ? 1 : 2);)

/* Numbers that begin anew after 256 threads: the first and the last thread do not speak for all. */
__global__ void narrow(int *out)
{
    if ((unsigned char)(threadIdx.x) < 100) out[threadIdx.x % 128] = 1;
}

template <typename T> __global__ void product(size_t size, const T *A, const T *B, T *C)
{
    size_t const row{blockIdx.y * blockDim.y + threadIdx.y};
    size_t const col{blockIdx.x * blockDim.x + threadIdx.x};
    if (row < size && col < size) {
        T sum{0};
        for (size_t k{0}; k < size; ++k) sum += A[row * size + k] * B[k * size + col];
        C[row * size + col] = sum;
    }
}

static void try_one(const char *name, void (*kernel)(int *, int))
{
    int wrong = 0, zero = 0;
    memset(p, 0xff, sizeof(int) * threads * blocks);
    CHECK(cudaMemcpyToSymbol(counter, &zero, sizeof zero) == cudaSuccess);
    kernel<<<blocks, threads>>>(p, n);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < threads * blocks; i++) wrong += p[i] != (i < n ? i : -1);
    if (wrong) printf("%s: %d of %d wrong\n", name, wrong, threads * blocks);
    CHECK(!wrong);
}

int main()
{
    static float *a;
    CHECK(cudaMallocManaged(&p, sizeof(int) * threads * blocks) == cudaSuccess);
    CHECK(cudaMallocManaged(&a, sizeof(float) * 3 * side * side) == cudaSuccess);
#define TRY(kernel) try_one(#kernel, kernel)
    TRY(braces), TRY(parentheses), TRY(east), TRY(deduced), TRY(array), TRY(vector), TRY(thread);
    TRY(made), TRY(constructor), TRY(argument), TRY(member), TRY(conversion), TRY(operation);
    TRY(reference), TRY(pointed), TRY(listed), TRY(drawn), TRY(lambda), TRY(captured), TRY(opened);
    TRY(hidden), TRY(barrier), TRY(converted), TRY(shared_by_all), TRY(block_in_loop);
    TRY(kept_address), TRY(parted), TRY(chosen), TRY(mixed), TRY(one_name);
    TRY(specialised), TRY(by_default);
    memset(p, 0, sizeof(int) * threads * blocks);
    narrow<<<1, 300>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < threads * blocks; i++) CHECK(p[i] == (i < 100));
    for (int i = 0; i < 3 * side * side; i++) a[i] = i < 2 * side * side ? 1.0f : 9.0f;
    product<float><<<dim3(2, 2), dim3(32, 32)>>>(side, a, a + side * side, a + 2 * side * side);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 2 * side * side; i < 3 * side * side; i++) CHECK(a[i] == side);
    CHECK(cudaFree(p) == cudaSuccess && cudaFree(a) == cudaSuccess);
    printf("%d failures\n", failures);
    return failures != 0;
}

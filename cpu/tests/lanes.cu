/* Kernels whose warp functions, groups, functions with barriers and lambdas the runner does as loops over
 * the threads of a block, each beside the same on the host. */
#include "check.h"
#include <algorithm>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <stdio.h>
#include <string.h>
namespace cg = cooperative_groups;

enum { n = 1000, side = 40 };
static int *a, *b;

__device__ int warp_sum(int v)
{
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

template <int width> __device__ __forceinline__ int sum_of(int v)
{
    if (width >= 16) v += __shfl_xor_sync(0xffffffff, v, 8, width);
    if (width >= 8) v += __shfl_xor_sync(0xffffffff, v, 4, width);
    v += __shfl_xor_sync(0xffffffff, v, 2, width);
    v += __shfl_xor_sync(0xffffffff, v, 1, width);
    return v;
}

template <typename T> __device__ T block_sum(T v)
{
    static __shared__ T part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    v = warp_sum(v);
    if (lane == 0) part[warp] = v;
    __syncthreads();
    v = threadIdx.x < (blockDim.x + 31) / 32 ? part[lane] : 0;
    if (warp == 0) v = warp_sum(v);
    return v;
}

/* A function that calls another, shared memory in it, a warp that alone goes on. */
__global__ void of_blocks(const int *x, int *y, int count)
{
    int v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        v += x[i];
    int sum = block_sum(v);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

/* The last warp has eight lanes: what a lane that is not there would answer is 0. */
__global__ void of_part(const int *x, int *y)
{
    int t = threadIdx.x, first;
    first = __shfl_sync(0xffffffff, x[t], 20);
    y[t] = __shfl_down_sync(0xffffffff, x[t], 3) * 100 + first;
}

/* Lanes that have exited answer 0. */
__global__ void of_few(const int *x, int *y, int count)
{
    int t = threadIdx.x;
    if (t >= count) return;
    int v = __shfl_up_sync(0xffffffff, x[t], 1);
    y[t] = v + __shfl_sync(0xffffffff, x[t], 31);
}

/* Lanes that do not take the branch are not in the mask. */
__global__ void of_branch(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];
    if (t % 32 < 8) {
        for (int step = 4; step > 0; step /= 2) v += __shfl_down_sync(0xff, v, step);
    }
    y[t] = v;
}

/* Its mask names lanes that exit instead. */
__global__ void of_sloppy(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];
    atomicAdd(y + 100, 1);
    if (t < 16) {
        v += __shfl_xor_sync(0xffffffff, v, 1);
        y[t] = v;
    }
}

/* Lanes of two branches meet in one shuffle: fibers do it again, before anything is counted. */
__global__ void of_two_branches(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];
    if (t < 48) {
        v += __shfl_xor_sync(0xffffffff, v, 16);
        atomicAdd(y + 100, 1);
    }
    if (t >= 48) {
        v -= __shfl_xor_sync(0xffffffff, v, 16);
        atomicAdd(y + 100, 1);
    }
    y[t] = v;
}

/* What was counted before does not count twice. */
__global__ void counts_before(const int *x, int *y)
{
    int t = threadIdx.x, v = x[t];
    atomicAdd(y + 100, 1);
    if (t < 48) v += __shfl_xor_sync(0xffffffff, v, 16);
    if (t >= 48) v -= __shfl_xor_sync(0xffffffff, v, 16);
    y[t] = v;
}

/* A fault that does not come again. */
__global__ void faults_once(int *x, long long far)
{
    if (atomicAdd(x, 1) == 0) x[far] = 1;
}

/* Functions that ask which thread runs. */
__device__ int own_number()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}
__global__ void by_number(int *y)
{
    int i = own_number();
    y[i] = 3 * i + own_number();
}

__global__ void of_halves(const int *x, int *y)
{
    y[threadIdx.x] = sum_of<16>(x[threadIdx.x]) - sum_of<4>(x[threadIdx.x]);
}

__global__ void votes(const int *x, int *y)
{
    int t = threadIdx.x;
    unsigned int odd = __ballot_sync(0xffffffff, x[t] & 1);
    y[t] = __popc(odd) + 100 * __any_sync(0xffffffff, x[t] == 31) +
           1000 * __all_sync(0xffffffff, x[t] >= 32) + 10000 * __reduce_max_sync(0xffffffff, x[t]);
}

template <typename G> __device__ int tile_sum(G &tile, int v)
{
    for (int step = tile.size() / 2; step > 0; step >>= 1) v += tile.shfl_down(v, step);
    return v;
}

__global__ void of_groups(const int *x, int *y, int count)
{
    __shared__ int part[32];
    auto grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    auto tile = cg::tiled_partition<16>(block);
    int v = 0;
    for (int i = grid.thread_rank(); i < count; i += grid.size()) v += x[i];
    v = cg::reduce(warp, v, cg::plus<int>());
    if (warp.thread_rank() == 0) part[warp.meta_group_rank()] = v;
    block.sync();
    int all = 0;
    for (int k = 0; k < (int)warp.meta_group_size(); k++) all += part[k];
    cg::sync(block);
    int own = tile_sum(tile, x[block.thread_rank()]);
    own += tile.any(x[block.thread_rank()] == 5) ? 1000000 : 0;
    y[grid.thread_rank()] = tile.thread_rank() == 0 ? own : all;
}

__global__ void stencil(const int *x, int *y, int size)
{
    auto at = [&size](int row, int column) { return row * size + column; };
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < 1 || column < 1 || row >= size - 1 || column >= size - 1) return;
    y[at(row, column)] = x[at(row - 1, column)] + 2 * x[at(row, column + 1)];
}

namespace own
{
__host__ __device__ inline int half(int x)
{
    return x / 2;
}
} // namespace own

__global__ void of_names(const int *x, int *y)
{
    int t = threadIdx.x;
    y[t] = own::half(x[t]) + std::max(x[t], 50);
}

/* Beyond its array, where a GPU has memory, too. */
__global__ void beyond(int *x)
{
    x[threadIdx.x + 256] = 7;
}

/* A function of the host has its name. */
__global__ void twice(int *x, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) x[i] *= 2;
}
static void twice(int *x)
{
    twice<<<4, 256>>>(x, n);
}

/* The first thread reads what it has added itself. A loop that runs at least once. */
__global__ void of_first(const int *x, int *y)
{
    __shared__ int part[64];
    int t = threadIdx.x, turns = 0;
    part[t] = x[t];
    for (int step = 32; step > 0; step /= 2) {
        __syncthreads();
        if (t < step) part[t] += part[t + step];
    }
    if (t == 0) y[0] = part[0];
    do {
        turns += 2;
    } while (turns < t);
    if (t > 0) y[t] = turns;
}

/* Shows in which order threads come. */
__global__ void visits(int *order, int *next)
{
    for (int k = threadIdx.x; k < 96; k += 32) order[atomicAdd(next, 1)] = k;
}

__global__ void wrong_mask(int *x)
{
    x[threadIdx.x] = __shfl_sync(0xffff, x[threadIdx.x], 0);
}
__global__ void missing_lane(int *x)
{
    if (threadIdx.x < 16) x[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], 0);
    __syncthreads();
    x[threadIdx.x]++;
}

static int sum_on_host(const int *x, int first, int stride, int count)
{
    int sum = 0;
    for (int i = first; i < count; i++)
        if (i / 256 % stride == first / 256) sum += x[i];
    return sum;
}

static void check_blocks()
{
    of_blocks<<<3, 256>>>(a, b, n);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int k = 0; k < 3; k++) CHECK(b[k] == sum_on_host(a, k * 256, 3, n));
    of_groups<<<2, 256>>>(a, b, n);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int t = 0; t < 512; t++) {
        int own = 0, five = 0;
        for (int k = t; k < t + 16 && t % 16 == 0; k++) own += a[k % 256], five |= a[k % 256] == 5;
        int all = sum_on_host(a, t / 256 * 256, 2, n);
        CHECK(b[t] == (t % 16 ? all : own + five * 1000000));
    }
    stencil<<<dim3(3, 3), dim3(16, 16)>>>(a, b, 30);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int r = 1; r < 29; r++)
        for (int c = 1; c < 29; c++)
            CHECK(b[r * 30 + c] == a[(r - 1) * 30 + c] + 2 * a[r * 30 + c + 1]);
}

static void check_lanes()
{
    of_part<<<1, 40>>>(a, b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int t = 0; t < 40; t++) {
        int from = t % 32 + 3 < 32 ? t + 3 : t, first = t < 32 ? a[20] : 0;
        CHECK(b[t] == (from < 40 ? a[from] : 0) * 100 + first);
    }
    of_few<<<1, 64>>>(a, b, 50);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int t = 0; t < 50; t++) CHECK(b[t] == a[t % 32 ? t - 1 : t] + (t < 32 ? a[31] : 0));
    of_branch<<<1, 64>>>(a, b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int w = 0; w < 64; w += 32) {
        int sum = 0;
        for (int k = 0; k < 8; k++) sum += a[w + k];
        CHECK(b[w] == sum && b[w + 8] == a[w + 8]);
        CHECK(b[w + 3] == a[w + 3] + a[w + 4] + a[w + 5] + a[w + 6] + a[w + 7]);
    }
    b[100] = 0;
    of_sloppy<<<1, 32>>>(a, b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && b[100] == 32);
    for (int t = 0; t < 16; t++) CHECK(b[t] == a[t] + a[t ^ 1]);
    for (auto kernel : {of_two_branches, counts_before}) {
        b[100] = 0;
        kernel<<<1, 64>>>(a, b);
        CHECK(cudaDeviceSynchronize() == cudaSuccess && b[100] == 64);
        for (int t = 0; t < 64; t++) CHECK(b[t] == a[t] + (t < 48 ? a[t ^ 16] : -a[t ^ 16]));
    }
    by_number<<<2, 32>>>(b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int t = 0; t < 64; t++) CHECK(b[t] == 4 * t);
    of_halves<<<1, 64>>>(a, b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int t = 0; t < 64; t++) {
        int sum = 0;
        for (int k = 0; k < 16; k++) sum += a[t / 16 * 16 + k];
        for (int k = 0; k < 4; k++) sum -= a[t / 4 * 4 + k];
        CHECK(b[t] == sum);
    }
    votes<<<1, 64>>>(a, b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int t = 0; t < 64; t++) {
        int odd = 0, some = 0, all = 1, most = 0;
        for (int k = t / 32 * 32; k < t / 32 * 32 + 32; k++) {
            odd += a[k] & 1, some |= a[k] == 31, all &= a[k] >= 32;
            most = a[k] > most ? a[k] : most;
        }
        CHECK(b[t] == odd + 100 * some + 1000 * all + 10000 * most);
    }
    of_names<<<1, 64>>>(a, b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int t = 0; t < 64; t++) CHECK(b[t] == a[t] / 2 + (a[t] > 50 ? a[t] : 50));
    int *small[8];
    for (int k = 0; k < 8; k++) CHECK(cudaMalloc(&small[k], 64) == cudaSuccess);
    for (int k = 0; k < 8; k++) beyond<<<1, 256>>>(small[k]);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int k = 0; k < 8; k++) CHECK(cudaFree(small[k]) == cudaSuccess);
    of_first<<<1, 64>>>(a, b);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && b[0] == sum_on_host(a, 0, 4, 64));
    for (int t = 1; t < 64; t++) CHECK(b[t] == (t + 1) / 2 * 2);
    twice(a);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && a[1] == 2 * (37 % 101));
}

int main(int argc, char **argv)
{
    cudaMallocManaged(&a, n * sizeof *a);
    cudaMallocManaged(&b, n * sizeof *b);
    for (int i = 0; i < n; i++) a[i] = i * 37 % 101, b[i] = -1;
    if (argc > 1 && !strcmp(argv[1], "visits")) { /* by an untyped pointer */
        int right = 1, *next = b + n - 1;
        void *arguments[] = {&a, &next};
        const void *kernel = (const void *)visits;
        *next = 0;
        CHECK(cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments, 0, 0) == cudaSuccess);
        CHECK(cudaDeviceSynchronize() == cudaSuccess && *next == 96);
        for (int i = 0; i < 96; i++) right &= a[i] == i;
        printf("%s\n", right ? "neighbours together" : "thread by thread");
        return failures;
    }
    if (argc > 1) {
        *a = 0;
        if (!strcmp(argv[1], "wrong_mask"))
            wrong_mask<<<1, 32>>>(a);
        else if (!strcmp(argv[1], "faults_once"))
            faults_once<<<1, 32>>>(a, 1LL << 44);
        else
            missing_lane<<<1, 32>>>(a);
        return cudaDeviceSynchronize() == cudaErrorLaunchFailure ? 0 : 1;
    }
    check_blocks();
    check_lanes();
    printf("%d failures\n", failures);
    return failures != 0;
}

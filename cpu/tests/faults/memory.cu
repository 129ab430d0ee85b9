/* Bounds, what nobody has written, memory of the host, and CUB's storage; right twins begin with right_. */
#include "faults.h"
#include <cub/block/block_reduce.cuh>
#include <cub/device/device_reduce.cuh>
#include <stdlib.h>

enum { N = 256 };
struct list {
    int *elements;
    int count;
};
__device__ int table[N];
__constant__ int fixed[4] = {1, 2, 3, 4};

__global__ void past_the_end(int *out, int n)
{
    if ((int)threadIdx.x <= n) out[threadIdx.x] = 1; /* past */
}
__global__ void right_end(int *out, int n)
{
    if ((int)threadIdx.x < n) out[threadIdx.x] = 1;
}
__global__ void before_the_begin(int *out, int)
{
    out[threadIdx.x] = out[(int)threadIdx.x - 1]; /* before */
}
__global__ void a_row_below(int *out, int n)
{
    int y = blockIdx.x;           /* a grid of one row too many */
    out[y * n + threadIdx.x] = y; /* row */
}
__global__ void far_past(int *out, int n)
{
    out[n * 1000 + (int)threadIdx.x] = 1; /* far_past */
}
__global__ void heap_past(int *out, int n)
{
    int *own = (int *)malloc((size_t)n * sizeof *own);
    if (!own) return;
    for (int i = 0; i <= n; i++) own[i] = i; /* heap_past */
    out[threadIdx.x] = own[n - 1];
    free(own);
}
__global__ void right_heap(int *out, int n)
{
    int *own = (int *)malloc((size_t)n * sizeof *own);
    if (!own) return;
    for (int i = 0; i < n; i++) own[i] = i;
    out[threadIdx.x] = own[n - 1];
    free(own);
}
__global__ void right_nothing(int *out, const int *fresh, size_t bytes)
{
    memcpy(out + N - 1 - threadIdx.x, fresh + threadIdx.x, bytes); /* none */
}
__global__ void shared_past(int *out, int)
{
    __shared__ int s[N];
    s[threadIdx.x + 1] = 1; /* shared_past */
    __syncthreads();
    out[threadIdx.x] = 0;
}
__global__ void shared_row(int *out, int)
{
    __shared__ float s[16][16];
    s[threadIdx.x / 15][threadIdx.x % 15] = 1; /* shared_row */
    __syncthreads();
    out[threadIdx.x] = 0;
}
__global__ void dynamic_past(int *out, int)
{
    extern __shared__ int d[];
    d[threadIdx.x] = 1; /* dynamic_past */
    __syncthreads();
    out[threadIdx.x] = d[threadIdx.x];
}
__global__ void increment(int *out, int)
{
    out[threadIdx.x] += 1; /* increment */
}
__global__ void sum_list(list l, int *out)
{
    int sum = 0;
    for (int i = 0; i < l.count; i++) sum += l.elements[i]; /* list */
    *out = sum;
}
__global__ void sum_two_levels(int **rows, int *out)
{
    *out = rows[threadIdx.x][0]; /* levels */
}
__global__ void shared_unwritten(int *out, int)
{
    __shared__ int s[N];
    if (threadIdx.x < N - 1) s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x]; /* shared_unwritten */
}
__global__ void bins_unwritten(int *out, int)
{
    __shared__ int bins[8];
    atomicAdd(&bins[threadIdx.x % 8], 1); /* bins_unwritten */
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void dynamic_unwritten(int *out, int)
{
    extern __shared__ int d[];
    out[threadIdx.x] = d[threadIdx.x]; /* dynamic_unwritten */
}
__global__ void second_block_unwritten(int *out, int)
{
    __shared__ int n;
    if (blockIdx.x == 0 && threadIdx.x == 0) n = 3;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = n; /* second_block */
}
__global__ void count_up(int *, int *counter)
{
    atomicAdd(counter, 1); /* count_up */
}
__global__ void copy_all(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x]; /* copy_all */
}
__constant__ float weights[9], half_of_them[9];
__global__ void variable_past(int *out, int n)
{
    for (int i = 0; i <= n; i++) table[i] = i; /* variable_past */
    out[0] = table[0];
}
__global__ void never_set(int *out, int)
{
    out[threadIdx.x] = (int)weights[threadIdx.x]; /* never_set */
}
__global__ void right_half(int *out, int)
{
    out[threadIdx.x] = (int)half_of_them[threadIdx.x];
}
__global__ void off_by_two(int *out, int)
{
    int4 v = *(int4 *)(out + 4 * threadIdx.x + 2); /* off_by_two */
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
__global__ void off_by_one(int *out, int)
{
    *(long long *)(out + 2 * threadIdx.x + 1) = 1; /* off_by_one */
}
__global__ void off_in_shared(int *out, int)
{
    __shared__ int s[N + 4];
    s[threadIdx.x] = 1;
    __syncthreads();
    int2 v = *(int2 *)(s + threadIdx.x); /* off_in_shared */
    out[threadIdx.x] = v.x + v.y;
}
__global__ void half_beyond(int *out, int n)
{
    int4 v = ((int4 *)out)[n / 4]; /* half_beyond */
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
__global__ void right_vector(int *out, int n)
{
    int4 v = ((int4 *)out)[n / 4 - 1];
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
__global__ void right_variables(int *out, int)
{
    __shared__ int s[4];
    int own[8];
    for (int i = 0; i < 8; i++) own[(i + threadIdx.x) % 8] = i;
    if (threadIdx.x < 4) s[threadIdx.x] = fixed[threadIdx.x];
    __syncthreads();
    int *heap = (int *)malloc(4 * sizeof(int));
    heap[threadIdx.x % 4] = table[threadIdx.x];
    out[threadIdx.x] = heap[threadIdx.x % 4] + own[threadIdx.x % 8] + s[threadIdx.x % 4];
    free(heap);
}

/* Storage that CUB's function still reads when the next one writes. */
__global__ void storage_again(int *out, int)
{
    typedef cub::BlockReduce<int, N> reduce;
    __shared__ reduce::TempStorage temp;
    int sum = reduce(temp).Sum(out[threadIdx.x]);            /* storage_r */
    int most = reduce(temp).Reduce(threadIdx.x, cub::Max()); /* storage_w */
    if (threadIdx.x == 0) out[0] = sum + most;
}
__global__ void right_storage(int *out, int)
{
    typedef cub::BlockReduce<int, N> reduce;
    __shared__ reduce::TempStorage temp;
    int sum = reduce(temp).Sum(out[threadIdx.x]);
    __syncthreads();
    int most = reduce(temp).Reduce(threadIdx.x, cub::Max());
    if (threadIdx.x == 0) out[0] = sum + most;
}

int main(int count, char **words)
{
    const char *chosen = count > 1 ? words[1] : "";
    int *out, *fresh, *rows[1], **device_rows, on_stack[4] = {1, 2, 3, 4}, zeros[N] = {};
    list l = {(int *)calloc(4, sizeof(int)), 4};
    cudaError_t ended;
    rows[0] = l.elements;
    CHECK(cudaMalloc(&out, sizeof zeros));
    CHECK(cudaMalloc(&fresh, sizeof zeros)); /* fresh */
    CHECK(cudaMalloc(&device_rows, sizeof rows));
    CHECK(cudaMemcpy(out, zeros, sizeof zeros, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(device_rows, rows, sizeof rows, cudaMemcpyHostToDevice));
#define KERNEL(kernel, grid, block, bytes, ...) \
    if (IS(kernel)) kernel<<<grid, block, bytes>>>(__VA_ARGS__);
    if (IS(past_the_end)) past_the_end<<<1, N + 32>>>(out, N);
    if (IS(right_end)) right_end<<<1, N + 32>>>(out, N);
    KERNEL(before_the_begin, 1, 1, 0, out, 0)
    KERNEL(far_past, 1, N, 0, out, N)
    KERNEL(heap_past, 1, N, 0, out, N + 1)
    KERNEL(right_heap, 1, N, 0, out, N + 1)
    KERNEL(right_nothing, 1, N, 0, out, fresh, 0)
    KERNEL(a_row_below, 17, 16, 0, out, 16)
    KERNEL(shared_past, 1, N, 0, out, 0)
    KERNEL(shared_row, 1, N, 0, out, 0)
    KERNEL(dynamic_past, 1, N, N * 4 - 4, out, 0)
    if (IS(dynamic_none)) dynamic_past<<<1, N>>>(out, 0);
    if (IS(right_dynamic)) dynamic_past<<<1, N, N * 4>>>(out, 0);
    if (IS(never_written)) increment<<<1, N>>>(fresh, 0);
    if (IS(right_written)) increment<<<1, N>>>(out, 0);
    if (IS(partly_written)) {
        CHECK(cudaMemset(fresh, 0, sizeof zeros / 2));
        increment<<<1, N>>>(fresh, 0);
    }
    if (IS(copied_unwritten)) {
        CHECK(cudaMemcpy(out, fresh, sizeof zeros, cudaMemcpyDeviceToDevice)); /* brought */
        increment<<<1, N>>>(out, 0);
    }
    if (IS(right_set)) {
        CHECK(cudaMemset(fresh, 0, sizeof zeros));
        increment<<<1, N>>>(fresh, 0);
    }
    if (IS(list_on_heap)) sum_list<<<1, 1>>>(l, out);
    if (IS(list_on_stack)) sum_list<<<1, 1>>>(list{on_stack, 4}, out);
    if (IS(list_of_nothing)) sum_list<<<1, 1>>>(list{NULL, 4}, out);
    if (IS(right_list)) sum_list<<<1, 1>>>(list{out + 4, 4}, out);
    if (IS(rows_of_the_host)) sum_two_levels<<<1, 1>>>(device_rows, out);
    size_t bytes = 1;
    if (IS(cub_unwritten))
        CHECK(cub::DeviceReduce::Sum(out + 1, bytes, fresh, out, N)); /* cub_unwritten */
    if (IS(right_cub)) CHECK(cub::DeviceReduce::Sum(out + 1, bytes, out, out, N));
    KERNEL(storage_again, 1, N, 0, out, 0)
    KERNEL(right_storage, 1, N, 0, out, 0)
    KERNEL(shared_unwritten, 1, N, 0, out, 0)
    KERNEL(bins_unwritten, 1, N, 0, out, 0)
    KERNEL(dynamic_unwritten, 1, N, N * 4, out, 0)
    KERNEL(second_block_unwritten, 2, N / 2, 0, out, 0)
    KERNEL(count_up, 1, N, 0, out, fresh)
    KERNEL(copy_all, 1, N, 0, out, fresh)
    KERNEL(right_variables, 1, N, 0, out, 0)
    KERNEL(variable_past, 1, 1, 0, out, N)
    KERNEL(never_set, 1, 9, 0, out, 0)
    CHECK(cudaMemcpyToSymbol(half_of_them, zeros, 16));
    KERNEL(right_half, 1, 9, 0, out, 0)
    KERNEL(off_by_two, 1, 32, 0, out, 0)
    KERNEL(off_by_one, 1, 32, 0, out, 0)
    KERNEL(off_in_shared, 1, 32, 0, out, 0)
    KERNEL(right_vector, 1, 4, 0, out, N)
    if (IS(half_beyond)) {
        int *odd;
        CHECK(cudaMalloc(&odd, sizeof zeros + 4));
        CHECK(cudaMemset(odd, 0, sizeof zeros + 4));
        half_beyond<<<1, 4>>>(odd, N);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(odd));
    }
    if (IS(host_pointer)) increment<<<1, 4>>>(on_stack, 0);
    if (IS(freed_pointer)) {
        list gone = {fresh, 4};
        CHECK(cudaFree(fresh));
        sum_list<<<1, 1>>>(gone, out);
    }
    ended = cudaGetLastError();
    if (!ended) ended = cudaDeviceSynchronize();
    if (!ended && !IS(freed_pointer)) CHECK(cudaFree(fresh));
    if (!ended) CHECK(cudaFree(out));
    if (!ended) CHECK(cudaFree(device_rows));
    free(l.elements);
    return ended != cudaSuccess;
}

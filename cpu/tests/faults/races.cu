/* Races and barriers, and their right twins (names that begin with right_). */
#include "faults.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <new>
namespace cg = cooperative_groups;

enum { N = 256 };
__device__ int counter;

/* ---- shared memory ---------------------------------------------------------------------------- */

__global__ void no_barrier(int *out)
{
    __shared__ int s[N];
    s[threadIdx.x] = threadIdx.x;                                    /* no_barrier_w */
    out[threadIdx.x] = s[N - 1 - threadIdx.x] + s[threadIdx.x ^ 64]; /* no_barrier_r */
}
__global__ void right_barrier(int *out)
{
    __shared__ int s[N];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}
__global__ void no_second_barrier(int *out)
{
    __shared__ int s[N];
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        s[threadIdx.x] = out[round * N + threadIdx.x]; /* second_w */
        __syncthreads();
        sum += s[(threadIdx.x + 100) % N]; /* second_r */
    }
    out[threadIdx.x] = sum;
}
__global__ void product_no_second(int *out)
{
    __shared__ int a[8][8], b[8][8];
    int x = threadIdx.x % 8, y = threadIdx.x / 8, sum = 0;
    for (int round = 0; round < 4; round++) {
        a[y][x] = out[round * 64 + threadIdx.x]; /* product_a */
        b[y][x] = out[round * 64 + 8 * x + y];   /* product_b */
        __syncthreads();
        for (int k = 0; k < 8; k++) sum += a[y][k] * b[k][x]; /* product_r */
    }
    out[N + threadIdx.x] = sum;
}
__global__ void right_second_barrier(int *out)
{
    __shared__ int s[N];
    int sum = 0;
    for (int round = 0; round < 4; round++) {
        s[threadIdx.x] = out[round * N + threadIdx.x];
        __syncthreads();
        sum += s[(threadIdx.x + 100) % N];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
__global__ void tree_no_barrier(int *out)
{
    __shared__ int s[N];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    for (int half = N / 2; half > 0; half /= 2)
        if ((int)threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half]; /* tree */
    if (threadIdx.x == 0) out[0] = s[0];
}
__global__ void right_tree(int *out)
{
    __shared__ int s[N];
    s[threadIdx.x] = out[threadIdx.x];
    for (int half = N / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
    }
    if (threadIdx.x == 0) out[0] = s[0];
}
__global__ void tree_result(int *out)
{
    __shared__ int s[2];
    if (threadIdx.x < 2) s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) s[0] += s[1]; /* result_w */
    out[threadIdx.x] = s[0];            /* result_r */
}
__global__ void no_syncwarp(int *out)
{
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;           /* warp_w */
    out[threadIdx.x] = s[31 - threadIdx.x]; /* warp_r */
}
__global__ void right_syncwarp(int *out)
{
    __shared__ int s[N];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    int v = s[warp * 32 + 31 - lane];
    __syncwarp();
    s[threadIdx.x] = v;
    out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, s[threadIdx.x], 1);
}
__global__ void syncwarp_of_block(int *out)
{
    __shared__ int s[N];
    s[threadIdx.x] = threadIdx.x; /* narrow_w */
    __syncwarp();
    out[threadIdx.x] = s[(threadIdx.x + 1) % N]; /* narrow_r */
}
__global__ void half_mask(int *out)
{
    __shared__ int s[32];
    unsigned int mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    s[threadIdx.x] = threadIdx.x; /* mask_w */
    __syncwarp(mask);
    out[threadIdx.x] = s[31 - threadIdx.x]; /* mask_r */
}
__global__ void right_half_mask(int *out)
{
    __shared__ int s[32];
    unsigned int mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    s[threadIdx.x] = threadIdx.x;
    __syncwarp(mask);
    out[threadIdx.x] = s[threadIdx.x ^ 15];
}
__global__ void all_write(int *out)
{
    __shared__ int s;
    s = threadIdx.x; /* all_write */
    __syncthreads();
    out[threadIdx.x] = s;
}
__global__ void right_all_write_same(int *out)
{
    __shared__ int s, zeros[4];
    s = 7;
    zeros[threadIdx.x % 4] = 0;
    if (out[threadIdx.x] >= 0) counter = 1;
    __syncthreads();
    out[threadIdx.x] = s + zeros[threadIdx.x % 4];
}
__global__ void scan_in_place(int *out)
{
    __shared__ int s[N];
    s[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    for (unsigned int d = 1; d < N; d *= 2) {
        if (threadIdx.x >= d) s[threadIdx.x] += s[threadIdx.x - d]; /* scan */
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];
}
__global__ void right_scan(int *out)
{
    __shared__ int s[2][N];
    int from = 0;
    s[0][threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    for (unsigned int d = 1; d < N; d *= 2, from ^= 1) {
        s[!from][threadIdx.x] =
            s[from][threadIdx.x] + (threadIdx.x >= d ? s[from][threadIdx.x - d] : 0);
        __syncthreads();
    }
    out[threadIdx.x] = s[from][threadIdx.x];
}
__global__ void tile_no_barrier(int *out)
{
    __shared__ int tile[16][17];
    tile[threadIdx.y][threadIdx.x] = out[threadIdx.y * 16 + threadIdx.x]; /* tile_w */
    out[threadIdx.y * 16 + threadIdx.x] = tile[threadIdx.x][threadIdx.y]; /* tile_r */
}
__global__ void histogram_no_atomic(int *out)
{
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[threadIdx.x % 4]++; /* bins */
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}
__global__ void right_histogram(int *out)
{
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 4], 1);
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
__global__ void atomic_and_plain(int *out)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0; /* plain_w */
    atomicAdd(&sum, 1);            /* plain_a */
    __syncthreads();
    out[threadIdx.x] = sum;
}
__global__ void atomic_then_read(int *out)
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1);                 /* then_a */
    if (threadIdx.x == 0) out[0] = sum; /* then_r */
}
__global__ void dynamic_no_barrier(int *out)
{
    extern __shared__ int d[];
    d[threadIdx.x] = threadIdx.x;              /* dynamic_w */
    out[threadIdx.x] = d[N - 1 - threadIdx.x]; /* dynamic_r */
}
__global__ void dynamic_overlap(int *out)
{
    extern __shared__ int d[];
    int *a = d, *b = d + N / 2;
    a[threadIdx.x] = 1; /* overlap_a */
    b[threadIdx.x] = 2; /* overlap_b */
    __syncthreads();
    out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
__global__ void two_stages(int *out)
{
    __shared__ int s[2][N];
    int sum = 0;
    s[0][threadIdx.x] = out[threadIdx.x];
    for (int k = 0; k < 4; k++) {
        __syncthreads();
        sum += s[k & 1][N - 1 - threadIdx.x]; /* stage_r */
        s[k & 1][threadIdx.x] = k;            /* stage_w */
        s[!(k & 1)][threadIdx.x] = out[threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
__global__ void right_two_stages(int *out)
{
    __shared__ int s[2][N];
    int sum = 0;
    s[0][threadIdx.x] = out[threadIdx.x];
    for (int k = 0; k < 4; k++) {
        __syncthreads();
        s[!(k & 1)][threadIdx.x] = out[threadIdx.x];
        sum += s[k & 1][N - 1 - threadIdx.x];
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}
__global__ void broadcast(int *out)
{
    __shared__ int n;
    if (threadIdx.x == 0) n = out[0]; /* broadcast_w */
    out[threadIdx.x] = n;             /* broadcast_r */
}
__global__ void halo(int *out)
{
    __shared__ int s[N + 2];
    s[threadIdx.x + 1] = out[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) s[0] = s[N + 1] = 0;              /* halo_w */
    out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2]; /* halo_r */
}
__global__ void bytes(int *out)
{
    __shared__ char c[N];
    c[threadIdx.x] = (char)threadIdx.x;          /* bytes_w */
    out[threadIdx.x] = c[(threadIdx.x + 3) % N]; /* bytes_r */
}
__global__ void right_bytes(int *out)
{
    __shared__ char c[N];
    c[threadIdx.x] = (char)threadIdx.x;
    c[threadIdx.x] = (char)(c[threadIdx.x] + 1);
    out[threadIdx.x] = c[threadIdx.x];
}
__global__ void vectors(float4 *out)
{
    __shared__ float4 v[32];
    v[threadIdx.x] = make_float4(1, 2, 3, 4); /* vector_w */
    float *f = (float *)v;
    f[(threadIdx.x * 4 + 6) % 128] = 0; /* vector_f */
    __syncthreads();
    out[threadIdx.x] = v[threadIdx.x];
}
__global__ void barrier_no_wait(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ int s[N];
    if (threadIdx.x == 0) init(&ready, N);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x; /* arrive_w */
    (void)ready.arrive();
    out[threadIdx.x] = s[N - 1 - threadIdx.x]; /* arrive_r */
}
/* A constructor writes where the virtual functions are. */
struct shape {
    int size;
    __device__ shape(int s) : size(s)
    {
    }
    __device__ virtual int area(int side)
    {
        return size * side;
    }
};
__global__ void right_placement_new(int *out)
{
    __shared__ __align__(8) char place[sizeof(shape)];
    __shared__ shape *s;
    if (threadIdx.x == 0) s = new (place) shape(3);
    __syncthreads();
    out[threadIdx.x] = s->area(threadIdx.x);
}

/* ---- asynchronous copies ------------------------------------------------------------------------ */

/* Two tiles in turn; KEPT groups may still be on their way. */
static __device__ void copy_tiles(int *out, int kept, int commit, int *s)
{
    int sum = 0, t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], &out[t], 4); /* async_first */
    if (commit) __pipeline_commit();
    __pipeline_memcpy_async(&s[N + t], &out[N + t], 4); /* async_second */
    __pipeline_commit();
    if (kept >= 0) __pipeline_wait_prior(kept);
    __syncthreads();
    sum += s[(t + 1) % N]; /* async_r */
    if (kept == 1) __pipeline_wait_prior(0);
    __syncthreads();
    sum += s[N + (t + 1) % N]; /* async_r2 */
    out[t] = sum;
}
__global__ void async_no_wait(int *out)
{
    __shared__ int s[2 * N];
    copy_tiles(out, -1, 1, s);
}
__global__ void async_one_left(int *out)
{
    __shared__ int s[2 * N];
    copy_tiles(out, 2, 1, s);
}
__global__ void async_no_commit(int *out)
{
    __shared__ int s[2 * N];
    copy_tiles(out, 1, 0, s);
}
__global__ void right_async(int *out)
{
    __shared__ int s[2 * N];
    copy_tiles(out, 1, 1, s);
}
__global__ void async_wait_after(int *out)
{
    __shared__ int s[N];
    __pipeline_memcpy_async(&s[threadIdx.x], &out[threadIdx.x], 4); /* after_w */
    __pipeline_commit();
    __syncthreads();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = s[N - 1 - threadIdx.x]; /* after_r */
}
static __device__ void copy_by_pipeline(int *out, bool wait, int *s)
{
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    pipe.producer_acquire();
    cuda::memcpy_async(&s[threadIdx.x], &out[threadIdx.x], 4, pipe); /* pipe_w */
    pipe.producer_commit();
    if (wait) pipe.consumer_wait();
    out[threadIdx.x] = s[threadIdx.x] + 1; /* pipe_r */
    if (wait) pipe.consumer_release();
}
__global__ void pipeline_no_wait(int *out)
{
    __shared__ int s[N];
    copy_by_pipeline(out, false, s);
}
__global__ void right_pipeline(int *out)
{
    __shared__ int s[N];
    copy_by_pipeline(out, true, s);
}
/* All threads of a block copy through one pipeline of two stages. */
static __device__ void copy_by_stages(int *out, bool wait, int *s)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, s + i * N, out + i * N, sizeof(int) * N, pipe); /* stages_w */
        pipe.producer_commit();
    }
    for (int i = 0; i < 2; i++) {
        if (wait) pipe.consumer_wait();
        if (!wait) __syncthreads();
        sum += s[i * N + (threadIdx.x + 1) % N]; /* stages_r */
        pipe.consumer_release();
    }
    if (threadIdx.x == 0) out[3 * N] = sum;
}
__global__ void stages_no_wait(int *out)
{
    __shared__ int s[2 * N];
    copy_by_stages(out, false, s);
}
__global__ void right_stages(int *out)
{
    __shared__ int s[2 * N];
    copy_by_stages(out, true, s);
}
static __device__ void copy_by_group(int *out, bool wait, int *s)
{
    cg::thread_block block = cg::this_thread_block();
    for (int i = 0; i < 2; i++) {
        cg::memcpy_async(block, s, out + i * N, sizeof(int) * N); /* cg_w */
        if (wait)
            cg::wait(block);
        else
            block.sync();
        out[2 * N + threadIdx.x] = s[(threadIdx.x + 1) % N]; /* cg_r */
        block.sync();
    }
}
__global__ void group_copy_no_wait(int *out)
{
    __shared__ int s[N];
    copy_by_group(out, false, s);
}
__global__ void right_group_copy(int *out)
{
    __shared__ int s[N];
    copy_by_group(out, true, s);
}
static __device__ void copy_by_barrier(int *out, bool wait, int *s)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    if (threadIdx.x == 0) init(&ready, N);
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        cuda::memcpy_async(&s[threadIdx.x], &out[i * N + threadIdx.x], 4, ready); /* ready_w */
        auto token = ready.arrive();
        if (wait)
            ready.wait(static_cast<decltype(token) &&>(token));
        else
            __syncthreads();
        out[2 * N + threadIdx.x] = s[(threadIdx.x + 1) % N]; /* ready_r */
        __syncthreads();
    }
}
__global__ void barrier_copy_no_wait(int *out)
{
    __shared__ int s[N];
    copy_by_barrier(out, false, s);
}
__global__ void right_barrier_copy(int *out)
{
    __shared__ int s[N];
    copy_by_barrier(out, true, s);
}
__global__ void right_barrier_wait(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> ready;
    __shared__ int s[N];
    if (threadIdx.x == 0) init(&ready, N);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    ready.arrive_and_wait();
    out[threadIdx.x] = s[N - 1 - threadIdx.x];
}
__global__ void group_too_small(int *out)
{
    __shared__ int s[N];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x; /* group_w */
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 8]; /* group_r */
}
__global__ void right_group(int *out)
{
    __shared__ int s[N];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x;
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 7];
}

/* ---- global memory ----------------------------------------------------------------------------- */

__global__ void global_neighbour(int *out)
{
    out[threadIdx.x] = threadIdx.x;                     /* neighbour_w */
    out[N + threadIdx.x] = out[(threadIdx.x + 40) % N]; /* neighbour_r */
}
__global__ void right_global_barrier(int *out)
{
    int *own = out + blockIdx.x * N;
    own[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int v = own[(threadIdx.x + 1) % N];
    __syncthreads();
    own[threadIdx.x] = v;
}
__global__ void stencil_in_place(int *out)
{
    int i = blockIdx.x * N + threadIdx.x;
    if (i > 0) out[i] = out[i] + out[i - 1]; /* stencil */
}
__global__ void blocks_in_order(int *out)
{
    if (threadIdx.x) return;
    int before = blockIdx.x ? out[blockIdx.x - 1] : 0; /* chain_r */
    out[blockIdx.x] = before + 1;                      /* chain_w */
}
__global__ void counter_no_atomic(int *out)
{
    out[0] += 1; /* counter */
}
/* A guess that a compare-and-swap checks may be wrong; one that an exchange takes for true may not. */
__global__ void guess_then_exchange(int *out)
{
    int guess = out[0];         /* guess_r */
    atomicExch(out, guess + 1); /* guess_w */
}
__global__ void right_guess_and_swap(int *out)
{
    int guess = out[0], found = guess + 1;
    while ((found = atomicCAS(out, guess, guess + 1)) != guess) guess = found;
    unsigned long long *bits = (unsigned long long *)out + 1, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed,
                        __double_as_longlong(1.5 + __longlong_as_double((long long)assumed)));
    } while (assumed != old);
}
/* Most threads read a word long before one of them changes it. */
__global__ void table_changes(int *out)
{
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += out[i];                   /* table_r */
    if (blockIdx.x == 3 && threadIdx.x == 200) out[5] = sum + 1; /* table_w */
}
__global__ void shared_table_changes(int *out)
{
    __shared__ int s[8];
    int sum = 0;
    if (threadIdx.x < 8) s[threadIdx.x] = 1;
    __syncthreads();
    for (int i = 0; i < 8; i++) sum += s[i]; /* stable_r */
    if (threadIdx.x == 200) s[5] = sum + 1;  /* stable_w */
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = s[5];
}
__device__ int blocks_done;
__global__ void right_table_changes(int *out)
{
    int sum = 0;
    for (int i = 0; i < 8; i++) sum += out[i];
    __syncthreads();
    if (threadIdx.x) return;
    __threadfence();
    if (atomicAdd(&blocks_done, 1) != (int)gridDim.x - 1) return;
    __threadfence();
    out[5] = sum;
    blocks_done = 0;
}
__global__ void right_counter(int *out)
{
    atomicAdd(out, 1);
    atomicMax(out + 1, (int)threadIdx.x);
}
__global__ void maximum(int *out)
{
    int v = (int)(blockIdx.x * N + threadIdx.x);
    if (v > out[0]) out[0] = v; /* maximum */
}
__global__ void shift(int *out)
{
    int i = blockIdx.x * N + threadIdx.x;
    out[i] = out[i + 1]; /* shift */
}
__global__ void device_variable(int *out)
{
    out[blockIdx.x * N + threadIdx.x] = counter++; /* variable */
}
__global__ void everyone_last(int *out)
{
    out[0] = blockIdx.x; /* last */
}
__global__ void sum_read_early(int *out)
{
    atomicAdd(&out[0], 1);                                    /* early_a */
    if (blockIdx.x == 1 && threadIdx.x == 0) out[1] = out[0]; /* early_r */
}

/* The last block adds up what all have left. */
__device__ static void last_block(int *out, bool fence, bool too_late)
{
    __shared__ bool last;
    out[8 + blockIdx.x] = blockIdx.x; /* left_w */
    if (fence && !too_late) __threadfence();
    if (threadIdx.x == 0) last = atomicAdd(out, 1) == (int)gridDim.x - 1;
    if (fence && too_late) __threadfence();
    __syncthreads();
    if (!last || threadIdx.x) return;
    int sum = 0;
    for (unsigned int i = 0; i < gridDim.x; i++) sum += out[8 + i]; /* left_r */
    out[1] = sum;
}
__global__ void last_no_fence(int *out)
{
    last_block(out, false, false);
}
__global__ void last_late_fence(int *out)
{
    last_block(out, true, true);
}
__global__ void right_last(int *out)
{
    last_block(out, true, false);
}
__global__ void right_last_barrier_first(
    int *out) /* one thread's fence after a barrier is for all */
{
    __shared__ bool last;
    out[8 + blockIdx.x * N + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc((unsigned int *)out, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    int sum = 0;
    for (unsigned int i = 0; last && i < gridDim.x; i++)
        sum += out[8 + i * N + (threadIdx.x + 1) % N];
    if (last) out[2048 + threadIdx.x] = sum;
}
__global__ void right_look_back(int *out) /* a flag each, volatile; the sum before comes from one */
{
    volatile int *flag = out, *sum = out + 64;
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x) {
            while (!flag[blockIdx.x - 1]) {
            }
            __threadfence();
            before = sum[blockIdx.x - 1];
            before += out[512 + blockIdx.x - 1];
        }
        out[512 + blockIdx.x] = 1;
        sum[blockIdx.x] = before;
        __threadfence();
        flag[blockIdx.x] = 1;
    }
}
__device__ static void locked(int *out, bool fence)
{
    if (threadIdx.x) return;
    while (atomicCAS(out, 0, 1)) {
    }
    if (fence) __threadfence();
    out[1] += 1; /* locked */
    if (fence) __threadfence();
    atomicExch(out, 0);
}
__global__ void lock_no_fence(int *out)
{
    locked(out, false);
}
__global__ void right_lock(int *out)
{
    locked(out, true);
}

/* ---- grids and clusters ------------------------------------------------------------------------ */

__global__ void grid_no_sync(int *out)
{
    int i = blockIdx.x * 32 + threadIdx.x, all = gridDim.x * 32;
    out[i] = i;                       /* grid_w */
    out[1024 + i] = out[all - 1 - i]; /* grid_r */
}
__global__ void right_grid_sync(int *out)
{
    int i = blockIdx.x * 32 + threadIdx.x, all = gridDim.x * 32;
    for (int round = 0; round < 3; round++) {
        out[i] = i;
        cg::this_grid().sync();
        out[1024 + i] = out[all - 1 - i];
        cg::this_grid().sync();
    }
}
__global__ void __cluster_dims__(2, 1, 1) cluster_no_sync(int *out)
{
    __shared__ int s;
    cg::cluster_group cluster = cg::this_cluster();
    s = 1;
    cluster.sync();
    s = cluster.block_rank(); /* cluster_w */
    out[cluster.block_rank()] =
        *cluster.map_shared_rank(&s, cluster.block_rank() ^ 1); /* cluster_r */
    cluster.sync();
}
__global__ void __cluster_dims__(2, 1, 1) right_cluster(int *out)
{
    __shared__ int s;
    cg::cluster_group cluster = cg::this_cluster();
    s = cluster.block_rank();
    cluster.sync();
    out[blockIdx.x] = *cluster.map_shared_rank(&s, cluster.block_rank() ^ 1);
    cluster.sync();
}

/* ---- barriers and warp functions ----------------------------------------------------------------- */

__global__ void branch_barrier(int *out)
{
    if (threadIdx.x < 32)
        __syncthreads(); /* branch_a */
    else
        __syncthreads(); /* branch_b */
    out[threadIdx.x] = 1;
}
__global__ void early_exit(int *out)
{
    if (threadIdx.x >= 100) return;
    __syncthreads(); /* exit */
    out[threadIdx.x] = 1;
}
__global__ void uneven_loop(int *out)
{
    for (unsigned int i = 0; i < 1 + threadIdx.x / 128; i++) __syncthreads(); /* uneven */
    out[threadIdx.x] = 1;
}
__global__ void exit_in_half_warp(int *out)
{
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_down_sync(0x0000ffffu, (int)threadIdx.x, 1);
    if (threadIdx.x == 20) out[20] = __shfl_sync(0x0000ffffu, 1, 0); /* outside */
}
__global__ void masks_apart(int *out)
{
    unsigned int mask = threadIdx.x == 31 ? 0x80000001u : 0xffffffffu;
    out[threadIdx.x] = __shfl_sync(mask, 1, 0);
}
__global__ void full_mask_in_branch(int *out)
{
    if (threadIdx.x < 16) out[threadIdx.x] = __shfl_xor_sync(0xffffffffu, 1, 1);
    __syncthreads();
}

/* The name of one of the runtime's functions, and no error to look at. */
static void cudaOfTheProgram()
{
}

int main(int count, char **words)
{
    cudaOfTheProgram();
    const char *chosen = count > 1 ? words[1] : "";
    int *out, zeros[4096] = {};
    struct freed {
        int *memory;
        ~freed()
        {
            if (cudaFree(memory)) printf("cudaFree\n");
        }
    };
    CHECK(cudaMalloc(&out, sizeof zeros));
    CHECK(cudaMemcpy(out, zeros, sizeof zeros, cudaMemcpyHostToDevice));
    freed f = {out};
#define ONE(kernel)    RUN(kernel, 1, N, 0, out)
#define BLOCKS(kernel) RUN(kernel, 4, N, 0, out)
    /* clang-format off */
    ONE(no_barrier) ONE(right_barrier) ONE(no_second_barrier) ONE(right_second_barrier)
    RUN(product_no_second, 1, 64, 0, out)
    ONE(tree_no_barrier) ONE(right_tree) ONE(tree_result) RUN(no_syncwarp, 1, 32, 0, out)
    ONE(right_syncwarp) ONE(syncwarp_of_block) RUN(half_mask, 1, 32, 0, out)
    RUN(right_half_mask, 1, 32, 0, out) ONE(all_write) ONE(right_all_write_same)
    ONE(scan_in_place) ONE(right_scan) RUN(tile_no_barrier, 1, dim3(16, 16), 0, out)
    ONE(histogram_no_atomic) BLOCKS(right_histogram) ONE(atomic_and_plain) ONE(atomic_then_read)
    RUN(dynamic_no_barrier, 1, N, N * 4, out) RUN(dynamic_overlap, 1, N, N * 8, out)
    ONE(two_stages) ONE(right_two_stages) ONE(broadcast) ONE(halo) ONE(bytes) ONE(right_bytes)
    RUN(vectors, 1, 32, 0, (float4 *)out) ONE(barrier_no_wait) ONE(right_barrier_wait)
    ONE(async_no_wait) ONE(async_one_left) ONE(async_no_commit) ONE(right_async)
    ONE(async_wait_after) ONE(pipeline_no_wait) ONE(right_pipeline) ONE(stages_no_wait)
    ONE(right_stages) ONE(group_copy_no_wait) ONE(right_group_copy) ONE(barrier_copy_no_wait)
    ONE(right_barrier_copy) ONE(right_placement_new)
    ONE(group_too_small) ONE(right_group) ONE(global_neighbour) BLOCKS(right_global_barrier)
    BLOCKS(stencil_in_place) BLOCKS(blocks_in_order) BLOCKS(counter_no_atomic)
    BLOCKS(guess_then_exchange) BLOCKS(right_guess_and_swap) BLOCKS(table_changes)
    ONE(shared_table_changes) BLOCKS(right_table_changes) BLOCKS(right_counter) BLOCKS(maximum) BLOCKS(shift) BLOCKS(device_variable)
    BLOCKS(everyone_last) BLOCKS(sum_read_early) RUN(last_no_fence, 4, 1, 0, out)
    RUN(last_late_fence, 4, 1, 0, out) RUN(right_last, 4, 1, 0, out)
    BLOCKS(right_last_barrier_first) BLOCKS(right_look_back) BLOCKS(lock_no_fence)
    BLOCKS(right_lock) RUN(cluster_no_sync, 4, 1, 0, out) RUN(right_cluster, 4, 1, 0, out)
    ONE(branch_barrier) ONE(early_exit) ONE(uneven_loop) RUN(exit_in_half_warp, 1, 32, 0, out)
    RUN(masks_apart, 1, 32, 0, out) RUN(full_mask_in_branch, 1, 32, 0, out)
        /* clang-format on */
        void *arguments[] = {&out};
    if (IS(grid_no_sync))
        return CHECKED(cudaLaunchCooperativeKernel((void *)grid_no_sync, 4, 32, arguments, 0, 0),
                       cudaDeviceSynchronize());
    if (IS(right_grid_sync))
        return CHECKED(cudaLaunchCooperativeKernel((void *)right_grid_sync, 4, 32, arguments, 0, 0),
                       cudaDeviceSynchronize());
    printf("no such case: %s\n", chosen);
    return 2;
}

/* Cooperative groups, cooperative launches, clusters, cuda::barrier and cuda::pipeline, and products of
 * small matrices by a warp. With an argument: faults that must be named. */
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda/atomic>
#include <cuda/pipeline>
#include <cuda_pipeline.h>
#include <mma.h>
#include <string.h>

namespace cg = cooperative_groups;

/* ---- groups of lanes ------------------------------------------------------------------------- */

template <int size> __global__ void tiles(int *out, int *ranks)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<size> tile = cg::tiled_partition<size>(block);
    int mine = (int)block.thread_rank() * 3 + 1;
    int sum = cg::reduce(tile, mine, cg::plus<int>()),
        most = cg::reduce(tile, mine, cg::greater<int>());
    int until = cg::inclusive_scan(tile, mine), before = cg::exclusive_scan(tile, mine);
    int by_hand = mine;
    for (int step = size / 2; step > 0; step /= 2)
        by_hand += tile.shfl_xor(by_hand, (unsigned int)step);
    int first = tile.shfl(mine, 0);
    unsigned int odd = tile.ballot(mine & 1);
    bool right = by_hand == sum && most == first + 3 * (size - 1) && until - before == mine;
    for (int i = 0; i < size; i++) right &= (int)(odd >> i & 1) == ((first + 3 * i) & 1);
    out[block.thread_rank()] = right ? sum : -1;
    ranks[block.thread_rank()] = (int)(tile.meta_group_rank() * 1000 + tile.thread_rank());
}

template <int size> static void check_tiles(int threads)
{
    int *out = managed<int>(1024), *ranks = managed<int>(1024);
    tiles<size><<<1, threads>>>(out, ranks);
    CHECK(done());
    for (int i = 0; i < threads; i++) {
        int sum = 0;
        for (int j = i / size * size; j < i / size * size + size; j++) sum += j * 3 + 1;
        CHECK(out[i] == sum && ranks[i] == i / size * 1000 + i % size);
    }
    cudaFree(out);
    cudaFree(ranks);
}

/* Sums over 8 lanes as if there were 32: a lane that does not take part counts as 0. */
__global__ void sums_of_few(int *out)
{
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(cg::this_thread_block());
    int mine = (int)threadIdx.x + 1, sum = mine;
    if (blockDim.x == 8) {
        for (unsigned int step = 16; step > 0; step /= 2) sum += tile.shfl_down(sum, step);
    } else if (threadIdx.x < 8) {
        for (unsigned int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xff, sum, step);
    }
    if (threadIdx.x == 0) *out = sum;
}

static void check_sums_of_few(void)
{
    int *out = managed<int>(2);
    sums_of_few<<<1, 8>>>(out);
    sums_of_few<<<1, 32>>>(out + 1);
    CHECK(done() && out[0] == 36 && out[1] == 36);
    cudaFree(out);
}

/* Tiles of several warps, whose tasks differ: what a tile waits for, others need not come to. */
template <int size> __global__ void large_tiles(int *out)
{
    __shared__ cg::block_tile_memory<512> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<size>(block);
    int mine = (int)block.thread_rank() * 3 + 1, base = (int)tile.meta_group_rank() * size * 3 + 1;
    int sum = 0, right = 1;
    for (unsigned int turn = 0; turn <= tile.meta_group_rank(); turn++)
        sum = cg::reduce(tile, mine);
    int until = cg::inclusive_scan(tile, mine), before = cg::exclusive_scan(tile, mine);
    int rank = (int)tile.thread_rank();
    right &= before == rank * base + 3 * rank * (rank - 1) / 2 && until == before + mine;
    right &= tile.shfl(mine, size - 1) == base + 3 * (size - 1);
    right &= cg::reduce(tile, (double)mine, cg::greater<double>()) == base + 3 * (size - 1);
    right &= tile.any(rank == 40) && !tile.any(rank == size) && tile.all(rank < size) &&
             !tile.all(rank < 40);
    tile.sync();
    out[block.thread_rank()] = right && tile.num_threads() == size ? sum : -1;
}

template <int size> static void check_large_tiles(int threads)
{
    int *out = managed<int>(1024);
    large_tiles<size><<<2, threads>>>(out);
    CHECK(done());
    for (int i = 0; i < threads; i++) {
        int first = i / size * size * 3 + 1;
        CHECK(out[i] == size * first + 3 * size * (size - 1) / 2);
    }
    cudaFree(out);
}

__device__ int adds;
__global__ void lanes_of_branches(int *out)
{
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x % 3 == 0) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(&adds, (int)active.size());
        out[threadIdx.x] = active.shfl((int)threadIdx.x, active.size() - 1);
        int sum = cg::reduce(active, 1);
        if (sum != (int)active.size()) out[threadIdx.x] = -1;
    } else {
        out[threadIdx.x] = __popc(__activemask());
    }
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    cg::coalesced_group half = cg::binary_partition(warp, threadIdx.x % 32 < 10);
    cg::coalesced_group same = cg::labeled_partition(warp, threadIdx.x % 5);
    out[64 + threadIdx.x] = (int)(half.size() * 100 + same.size());
    cg::thread_group four = cg::tiled_partition(cg::this_thread_block(), 4);
    out[128 + threadIdx.x] = (int)(four.size() * 100 + four.thread_rank());
}

static void check_lanes(void)
{
    int *out = managed<int>(192), sum;
    lanes_of_branches<<<1, 64>>>(out);
    CHECK(done());
    cudaMemcpyFromSymbol(&sum, adds, sizeof sum);
    CHECK(sum == 22);
    for (int i = 0; i < 64; i++) {
        int alike = 0;
        for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) alike += j % 5 == i % 5;
        CHECK(out[i] == (i % 3 ? 21 : i < 32 ? 30 : 63));
        CHECK(out[64 + i] == (i % 32 < 10 ? 10 : 22) * 100 + alike);
        CHECK(out[128 + i] == 400 + i % 4);
    }
    cudaFree(out);
}

/* ---- grids and clusters ---------------------------------------------------------------------- */

__global__ void shift(int *data, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int step = 0; step < steps; step++) {
        int next = data[(grid.thread_rank() + 1) % grid.size()];
        grid.sync();
        data[grid.thread_rank()] = next + 1;
        cg::sync(grid);
    }
}

static void check_grid(void)
{
    int *data = managed<int>(256), steps = 5, blocks;
    void *arguments[] = {&data, &steps};
    for (int i = 0; i < 256; i++) data[i] = i;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, shift, 64, 0) == cudaSuccess &&
          blocks == 32);
    CHECK(cudaLaunchCooperativeKernel((void *)shift, 4, 64, arguments, 0, 0) == cudaSuccess &&
          done());
    for (int i = 0; i < 256; i++) CHECK(data[i] == (i + 5) % 256 + 5);
    CHECK(cudaLaunchCooperativeKernel(shift, 1 << 20, 64, arguments) ==
          cudaErrorCooperativeLaunchTooLarge);
    cudaGetLastError();
    cudaFree(data);
}

/* Launched by untyped pointers alone. */
template <int factor> __global__ void reversed(int *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x,
        other = data[n - 1 - i];
    cg::this_grid().sync();
    data[i] = factor * other;
}

static void check_untyped(void)
{
    int *data = managed<int>(256), factor = 1;
    void *arguments[] = {&data}, *kernels[] = {(void *)reversed<2>, (void *)&reversed<3>};
    for (int i = 0; i < 256; i++) data[i] = i;
    for (int k = 0; k < 2; k++) {
        const void *chosen = kernels[k];
        factor *= k + 2;
        CHECK(cudaLaunchCooperativeKernel(chosen, dim3(4), dim3(64), arguments, 0, 0) ==
                  cudaSuccess &&
              done());
        for (int i = 0; i < 256; i++) CHECK(data[i] == factor * (k ? i : 255 - i));
    }
    CHECK(cudaLaunchCooperativeKernel((void *)&factor, dim3(4), dim3(64), arguments, 0, 0) ==
          cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
    cudaFree(data);
}

__global__ void __cluster_dims__(2, 2, 1) neighbours(int *out)
{
    __shared__ int first_used_by_odd_blocks, mine[4];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned int rank = cluster.block_rank();
    if (rank & 1) first_used_by_odd_blocks = 7;
    mine[threadIdx.x] = (int)(blockIdx.y * 100 + blockIdx.x * 10 + threadIdx.x);
    cluster.sync();
    int *theirs = cluster.map_shared_rank(mine, (int)(rank + 1) % 4);
    unsigned int block = blockIdx.y * gridDim.x + blockIdx.x;
    bool right = cluster.query_shared_rank(theirs) == (rank + 1) % 4 && cluster.num_blocks() == 4 &&
                 cluster.block_index().x == blockIdx.x % 2 &&
                 cluster.block_index().y == blockIdx.y % 2;
    out[block * 4 + threadIdx.x] = right ? theirs[threadIdx.x] : -1;
    cluster.sync();
}

__global__ void by_attribute(int *out)
{
    __shared__ int mine;
    cg::cluster_group cluster = cg::this_cluster();
    mine = (int)blockIdx.x;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&mine, 0), 100);
    cluster.sync();
    out[blockIdx.x] = mine;
}

static void check_clusters(void)
{
    int *out = managed<int>(4 * 6 * 4);
    neighbours<<<dim3(4, 6), 4>>>(out);
    CHECK(done());
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 4; x++)
            for (int t = 0; t < 4; t++) {
                int rank = (y % 2 * 2 + x % 2 + 1) % 4;
                int from = (y / 2 * 2 + rank / 2) * 100 + (x / 2 * 2 + rank % 2) * 10 + t;
                CHECK(out[(y * 4 + x) * 4 + t] == from);
            }
    neighbours<<<dim3(3, 2), 4>>>(out);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    cudaLaunchAttribute attribute;
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 3;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = 9;
    config.blockDim = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, by_attribute, out) == cudaSuccess && done());
    for (int i = 0; i < 9; i++) CHECK(out[i] == i + (i % 3 ? 0 : 300));
    cudaFree(out);
}

/* ---- barriers and pipelines ------------------------------------------------------------------ */

__global__ void stages(const int *in, int *out, int tiles_of_64)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int tile[2][64], whole[64];
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    block.sync();
    cuda::memcpy_async(block, whole, in, sizeof whole, barrier);
    auto token = barrier.arrive();
    barrier.wait(std::move(token));
    int sum = whole[63 - threadIdx.x];
    auto pipe = cuda::make_pipeline(block, &state);
    for (int i = 0; i < tiles_of_64; i++) {
        pipe.producer_acquire();
        cuda::memcpy_async(block, tile[i % 2], in + 64 * i,
                           cuda::aligned_size_t<16>(sizeof tile[0]), pipe);
        pipe.producer_commit();
        pipe.consumer_wait();
        block.sync();
        sum += tile[i % 2][63 - threadIdx.x];
        block.sync();
        pipe.consumer_release();
    }
    cg::memcpy_async(block, whole, in, sizeof whole);
    cg::wait(block);
    out[threadIdx.x] = sum + whole[threadIdx.x];
}

/* The first half fills, the second half empties. */
__global__ void roles(const int *in, int *out, int steps)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    __shared__ int stage[3][32];
    cg::thread_block block = cg::this_thread_block();
    bool produces = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state,
                                    produces ? cuda::pipeline_role::producer
                                             : cuda::pipeline_role::consumer);
    int sum = 0;
    for (int i = 0; i < steps; i++) {
        if (produces) {
            pipe.producer_acquire();
            stage[i % 3][threadIdx.x] = in[i * 32 + threadIdx.x];
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += stage[i % 3][63 - threadIdx.x];
            pipe.consumer_release();
        }
    }
    if (!produces) out[threadIdx.x - 32] = sum;
}

__global__ void counts(cuda::atomic<int, cuda::thread_scope_device> *a, int *plain)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> b(*plain);
    a->fetch_add(1, cuda::memory_order_relaxed);
    b.fetch_max((int)threadIdx.x);
}

static void check_stages(void)
{
    int *in = managed<int>(64 * 8), *out = managed<int>(64);
    auto *a = managed<cuda::atomic<int, cuda::thread_scope_device>>(1);
    for (int i = 0; i < 64 * 8; i++) in[i] = i * i % 97;
    stages<<<1, 64>>>(in, out, 8);
    CHECK(done());
    for (int t = 0; t < 64; t++) {
        int sum = in[63 - t] + in[t];
        for (int i = 0; i < 8; i++) sum += in[64 * i + 63 - t];
        CHECK(out[t] == sum);
    }
    roles<<<1, 64>>>(in, out, 16);
    CHECK(done());
    for (int t = 0; t < 32; t++) {
        int sum = 0;
        for (int i = 0; i < 16; i++) sum += in[i * 32 + 31 - t];
        CHECK(out[t] == sum);
    }
    *out = 0;
    counts<<<3, 50>>>(a, out);
    CHECK(done() && a->load() == 150 && *out == 49);
    cudaFree(in);
    cudaFree(out);
    cudaFree(a);
}

/* ---- products by a warp ---------------------------------------------------------------------- */

template <class T, class A, int m, int n, int k>
__global__ void product(const A *a, const A *b, T *c)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, m, n, k, A, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, m, n, k, A, wmma::col_major> right;
    wmma::fragment<wmma::accumulator, m, n, k, T> sum;
    wmma::fill_fragment(sum, (T)1);
    wmma::load_matrix_sync(left, a, k);
    wmma::load_matrix_sync(right, b, k);
    wmma::mma_sync(sum, left, right, sum);
    wmma::mma_sync(sum, left, right, sum);
    for (int i = 0; i < sum.num_elements; i++) sum.x[i] = sum.x[i] * (T)2;
    wmma::store_matrix_sync(c, sum, n, wmma::mem_row_major);
}

template <class T, class A, int m, int n, int k> static void check_product(void)
{
    A *a = managed<A>(m * k), *b = managed<A>(n * k);
    T *c = managed<T>(m * n);
    for (int i = 0; i < m * k; i++) a[i] = (A)(float)(i * i % 7 - 3);
    for (int i = 0; i < n * k; i++) b[i] = (A)(float)(i * i % 5 - 2);
    product<T, A, m, n, k><<<1, 32>>>(a, b, c);
    CHECK(done());
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += (double)(float)a[i * k + l] * (double)(float)b[j * k + l];
            CHECK((double)(float)c[i * n + j] == 2 * (1 + 2 * sum));
        }
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}

/* The same by PTX: 16 x 8 x K, of which the first 7 rows of A come by an asynchronous copy, and zeros. */
template <int k> __global__ void by_registers(const half *a, const half *b, float *c)
{
    __shared__ __align__(16) half left[16][k], right[k][8];
    int lane = threadIdx.x;
    unsigned int x[4], y[2];
    float sum[4] = {1, 2, 3, 4};
    for (int e = lane; e < 8 * k; e += 32) right[e / 8][e % 8] = b[e];
    for (int e = lane; e < 2 * k; e += 32)
        __pipeline_memcpy_async((half *)left + 8 * e, a + (e < 7 * k / 8 ? 8 * e : 0), 16,
                                e < 7 * k / 8 ? 0 : 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncwarp();
    if (k == 16) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "l"(__cvta_generic_to_shared(&left[lane % 16][lane / 16 * 8])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2 + 16];"
                     : "=r"(y[0]), "=r"(y[1])
                     : "l"(__cvta_generic_to_shared(&right[lane % 16][0]) - 16));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0, %1}, [%2];"
                     : "=r"(x[0]), "=r"(x[1])
                     : "l"(__cvta_generic_to_shared(&left[lane % 16][0])));
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                     : "=r"(y[0])
                     : "l"(__cvta_generic_to_shared(&right[lane % 8][0])));
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
            "{%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(x[0]), "r"(x[1]), "r"(y[0]));
    }
    for (int e = 0; e < 4; e++) c[(e / 2 * 8 + lane / 4) * 8 + lane % 4 * 2 + e % 2] = sum[e];
}

template <int k> static void check_registers(void)
{
    half *a = managed<half>(7 * k), *b = managed<half>(8 * k); /* of A there is no more */
    float *c = managed<float>(128);
    bool right = true;
    for (int e = 0; e < 7 * k; e++) a[e] = (half)(e % 13 - 6.0f);
    for (int e = 0; e < 8 * k; e++) b[e] = (half)(e % 7 - 3.0f);
    by_registers<k><<<1, 32>>>(a, b, c);
    CHECK(done());
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            float sum = 1.0f + (float)(i / 8 * 2 + j % 2);
            for (int l = 0; l < k && i < 7; l++) sum += (float)a[i * k + l] * (float)b[l * 8 + j];
            right &= c[i * 8 + j] == sum;
        }
    CHECK(right);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
}

/* ---- faults ---------------------------------------------------------------------------------- */

__global__ void waits_alone(void)
{
    if (blockIdx.x != 1) cg::this_grid().sync();
}
__global__ void nobody_else_arrives(void)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) init(&barrier, 2);
    __syncthreads();
    if (threadIdx.x == 0) barrier.arrive_and_wait();
}

static int fault(const char *which)
{
    if (!strcmp(which, "grid")) waits_alone<<<2, 32>>>();
    if (!strcmp(which, "grid-exit")) cudaLaunchCooperativeKernel(waits_alone, 2, 32, NULL);
    if (!strcmp(which, "barrier")) nobody_else_arrives<<<1, 32>>>();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 1;
}

int main(int argc, char **argv)
{
    if (argc > 1) return fault(argv[1]);
    check_tiles<32>(96);
    check_tiles<16>(64);
    check_tiles<4>(32);
    check_tiles<1>(32);
    check_sums_of_few();
    check_large_tiles<64>(256);
    check_large_tiles<128>(512);
    check_large_tiles<256>(256);
    check_lanes();
    check_grid();
    check_untyped();
    check_clusters();
    check_stages();
    check_product<float, half, 16, 16, 16>();
    check_product<half, half, 32, 8, 16>();
    check_product<float, __nv_bfloat16, 8, 32, 16>();
    check_product<int, signed char, 16, 16, 16>();
    check_product<double, double, 8, 8, 4>();
    check_registers<16>();
    check_registers<8>();
    printf("%d failures\n", failures);
    return failures > 0;
}

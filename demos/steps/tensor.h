/* tensor.h - what steps 13 to 21 share: instructions of PTX as functions of C, and the plain kernel for
   devices that have none of them. Sections are those of the PTX ISA. */
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#ifdef __CUCC__
typedef int CUtensorMap; /* the CPU runner has none: there steps 16 to 21 run elsewhere() */
#define MAP [[maybe_unused]] const CUtensorMap
#else
#include <cudaTypedefs.h>
#define MAP const __grid_constant__ CUtensorMap /* a parameter of a kernel that has an address */
#endif

typedef half in_t;
typedef float out_t;
typedef unsigned long long barrier; /* in shared memory */

#define PTX(code, ...)  asm volatile(code ::__VA_ARGS__ : "memory")
#define SHARED(pointer) (unsigned)__cvta_generic_to_shared(pointer)

/* C is not read if beta = 0: it may hold NaN. */
__device__ __forceinline__ void store(float *C, int M, int N, int i, int j, float value, float beta)
{
    float *to = C + (size_t)i * N + j;
    if (i < M && j < N) *to = beta == 0 ? value : value + beta * *to;
}

/* Of rows of n halves: how many there are from one to the next, so that each begins at a multiple of 16
   bytes. Kernels take for granted that rows of A and B do, and that zeros lie between. */
#define PITCH(n) (((n) + 7) / 8 * 8)

/* C = alpha A B + beta C by any grid: its threads take elements by turns, as in step 2. */
__device__ inline void elsewhere(int M, int N, int K, float alpha, const half *A, const half *B,
                                 float beta, float *C)
{
    long long block = blockIdx.y * gridDim.x + blockIdx.x,
              step = gridDim.x * gridDim.y * blockDim.x;
    for (long long e = block * blockDim.x + threadIdx.x; e < (long long)M * N; e += step) {
        const half *a = A + e / N * PITCH(K), *b = B + e % N;
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += __half2float(a[k]) * __half2float(b[(size_t)k * PITCH(N)]);
        store(C, M, N, (int)(e / N), (int)(e % N), alpha * sum, beta);
    }
}

/* ---- 8.0: a warp ("ldmatrix", "mma.m16n8k16") --------------------------------------------------- */

/* Loads four matrices of 8 x 8. Lane l has the address of row l % 8 of matrix l / 8. In x[m] it gets the
   elements 2 (l % 4) and the next of row l / 4 of matrix m; of column l / 4, if `transposed`. */
__device__ __forceinline__ void ldmatrix(unsigned *x, const half *row, bool transposed)
{
    if (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "l"(__cvta_generic_to_shared(row))
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "l"(__cvta_generic_to_shared(row))
                     : "memory");
}

/* c += a b, 16 x 8 x 16. Lane l has of c the elements 2 (l % 4) and the next of the rows l / 4 and 8 below;
   of a and b what ldmatrix gives. */
__device__ __forceinline__ void mma(float *c, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#ifdef __CUDA_ARCH_FEAT_SM90_ALL /* nvcc -arch=sm_90a; elsewhere kernels call elsewhere() */
/* ---- 9.0a: four warps ("wgmma.mma_async", "Matrix Descriptor Format") --------------------------- */

/* Of a tile of rows of 128 bytes, whose 16 bytes at p lie at p ^ row % 8: where it is, the distance of its
   groups of 64 columns if a product reads several, and that of 8 rows, in bytes. Above 18 bits
   an address has the block's number in its cluster. */
__device__ __forceinline__ unsigned long long descriptor(const half *tile, int columns)
{
    return (SHARED(tile) & 0x3ffff) / 16 | columns / 16ull << 16 | 1024 / 16ull << 32 | 1ull << 62;
}

/* c = a b + (add ? c : 0) while the threads go on: 64 x 128 x 16 or 64 x 256 x 16, of A rows, of B columns
   lie side by side. Warp w of the four, lane l: c[4 j + 2 h + i] is element (16 w + 8 h + l / 4, 8 j +
   2 (l % 4) + i). */
#define TEN(t) \
    "%" #t "0,%" #t "1,%" #t "2,%" #t "3,%" #t "4,%" #t "5,%" #t "6,%" #t "7,%" #t "8,%" #t "9,"
#define SUMS(i)    "+f"(c[i]), "+f"(c[(i) + 1]), "+f"(c[(i) + 2]), "+f"(c[(i) + 3])
#define SUMS_16(i) SUMS(i), SUMS((i) + 4), SUMS((i) + 8), SUMS((i) + 12)
#define WGMMA(n, names, a, b, add)                                                   \
    "{.reg .pred p;\nsetp.ne.b32 p, %" add ", 0;\n"                                  \
    "wgmma.mma_async.sync.aligned.m64n" n "k16.f32.f16.f16 {" names "}, %" a ", %" b \
    ", p, 1, 1, 0, 1;}"
__device__ __forceinline__ void wgmma_128(float *c, unsigned long long a, unsigned long long b,
                                          int add)
{
    asm volatile(WGMMA("128", TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60,%61,%62,%63", "64",
                       "65", "66")
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48)
                 : "l"(a), "l"(b), "r"(add)
                 : "memory");
}

__device__ __forceinline__ void wgmma_256(float *c, unsigned long long a, unsigned long long b,
                                          int add)
{
    asm volatile(WGMMA("256",
                       TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10)
                           TEN(11) "%120,%121,%122,%123,%124,%125,%126,%127",
                       "128", "129", "130")
                 : SUMS_16(0), SUMS_16(16), SUMS_16(32), SUMS_16(48), SUMS_16(64), SUMS_16(80),
                   SUMS_16(96), SUMS_16(112)
                 : "l"(a), "l"(b), "r"(add)
                 : "memory");
}

/* BEGIN: products after it see what c holds. END: those since then form a group. WAIT: until at most
   `pending` groups are not done. SUMS_ARE_DONE: from here on the compiler may read the sums, which are zero
   if there was no product. */
#define WGMMA_BEGIN()       PTX("wgmma.fence.sync.aligned;")
#define WGMMA_END()         PTX("wgmma.commit_group.sync.aligned;")
#define WGMMA_WAIT(pending) PTX("wgmma.wait_group.sync.aligned " #pending ";")
#define SUMS_ARE_DONE(c, count, K)                                                                 \
    _Pragma("unroll") for (int e = 0; e < (count); e++) asm volatile("" : "+f"((c)[e])::"memory"); \
    _Pragma("unroll") for (int e = 0; (K) == 0 && e < (count); e++)(c)[e] = 0

/* ---- 9.0: barriers that count arrivals and bytes ("mbarrier") ------------------------------------ */

__device__ __forceinline__ void barrier_init(barrier *at, int arrivals)
{
    PTX("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;",
        "r"(SHARED(at)), "r"(arrivals));
}

/* What the thread has stored in shared memory is seen by TMA and tensor cores ("Async proxy"). */
#define FENCE() PTX("fence.proxy.async.shared::cta;")

/* The phase has this many more bytes to come. An arrival. */
__device__ __forceinline__ void barrier_expect(barrier *at, int bytes)
{
    PTX("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;", "r"(SHARED(at)), "r"(bytes));
}

__device__ __forceinline__ void barrier_arrive(barrier *at)
{
    PTX("mbarrier.arrive.shared::cta.b64 _, [%0];", "r"(SHARED(at)));
}

/* At the barrier that is at this place in block `rank` of the cluster. */
__device__ __forceinline__ void barrier_arrive_in(barrier *at, int rank)
{
    PTX("{.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [there];}",
        "r"(SHARED(at)), "r"(rank));
}

/* Waits for the end of the phase that has this parity. The first phase has 0, the one before it 1. */
__device__ __forceinline__ void barrier_wait(barrier *at, int parity)
{
    PTX("{.reg .pred p;\nwait: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], "
        "%1;\n"
        "@!p bra wait;}",
        "r"(SHARED(at)), "r"(parity));
}

/* CLUSTER_SYNC: all threads of a cluster meet. FOUR_WARPS_SYNC: the w-th four warps meet. The second four
   wait by WAIT_FOR_THE_OTHER until the first four have come to LET_THE_OTHER_BEGIN, where these go on at
   once. */
#define CLUSTER_SYNC() \
    PTX("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;")
#define FOUR_WARPS_SYNC(w)    PTX("bar.sync %0, 128;", "r"(1 + (w)))
#define WAIT_FOR_THE_OTHER()  PTX("bar.sync 3, 256;")
#define LET_THE_OTHER_BEGIN() PTX("bar.arrive 3, 256;")

/* Of a kernel: that so many neighbours of its blocks form a cluster. */
#define CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)

/* ---- 9.0: TMA ("cp.async.bulk.tensor") ----------------------------------------------------------- */

/* Asks for the tile of a map from (row, column) on, zeros beyond the edges. The barrier counts its bytes. */
__device__ __forceinline__ void tma_load(half *to, const CUtensorMap *map, int row, int column,
                                         barrier *at)
{
    PTX("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3}], [%4];",
        "r"(SHARED(to)), "l"(map), "r"(column), "r"(row), "r"(SHARED(at)));
}

/* The same, to this place in all blocks of the cluster of which `blocks` has bits; barriers there count. */
__device__ __forceinline__ void tma_multicast(half *to, const CUtensorMap *map, int row, int column,
                                              barrier *at, int blocks)
{
    PTX("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;",
        "r"(SHARED(to)), "l"(map), "r"(column), "r"(row), "r"(SHARED(at)), "h"((short)blocks));
}

/* Stores a tile, but for what lies beyond the edges, as a group of its own. What it writes is the first to
   leave L2, so that A and B stay there longer. */
__device__ __forceinline__ void tma_store(const float *from, const CUtensorMap *map, int row,
                                          int column)
{
    unsigned long long policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    PTX("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint "
        "[%0, {%1, %2}], [%3], %4;\ncp.async.bulk.commit_group;",
        "l"(map), "r"(column), "r"(row), "r"(SHARED(from)), "l"(policy));
}

/* Waits until all but `pending` of the thread's stores have read their tile. */
#define TMA_STORE_WAIT(pending) PTX("cp.async.bulk.wait_group.read " #pending ";")

#else
#define CLUSTER(blocks)
#endif

/* A map of X, on the device, of rows of `columns` elements of `size` bytes (2: half, 4: float) that begin at
   multiples of 16 bytes. Its tiles are `high` rows of 128 bytes, which lie as in descriptor(). */
static inline CUtensorMap map_of(const void *X, int size, int rows, int columns, int high)
{
    CUtensorMap map = {};
#ifndef __CUCC__
    static PFN_cuTensorMapEncodeTiled_v12000 encode; /* the driver's function: no -lcuda */
    const cuuint64_t sizes[] = {(cuuint64_t)columns, (cuuint64_t)rows};
    const cuuint64_t pitches[] = {((cuuint64_t)size * columns + 15) / 16 * 16};
    const cuuint32_t box[] = {128u / size, (cuuint32_t)high}, step[] = {1, 1};
    if (!encode)
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, 0);
    if (encode)
        encode(&map, size == 2 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
               2, (void *)X, sizes, pitches, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
#else
    (void)X, (void)size, (void)rows, (void)columns, (void)high;
#endif
    return map;
}

/* X, if its rows are PITCH apart, or a copy whose rows are. Gives a copy back. */
static inline const half *aligned(const half *X, int rows, int columns)
{
    const size_t bytes = sizeof(half) * columns, pitch = sizeof(half) * PITCH(columns);
    void *copy;
    if (pitch == bytes || cudaMallocAsync(&copy, rows * pitch, 0)) return X;
    cudaMemsetAsync(copy, 0, rows * pitch, 0);
    cudaMemcpy2DAsync(copy, pitch, X, bytes, bytes, rows, cudaMemcpyDeviceToDevice, 0);
    return (const half *)copy;
}
static inline void release(const half *copy, const half *X)
{
    if (copy != X) cudaFreeAsync((void *)copy, 0);
}

static inline int multiprocessors(void)
{
    int count = 1;
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);
    return count;
}

/* Lets a kernel have so many bytes of shared memory. Or 0 on a device, one for elsewhere(), with fewer. */
static inline int shared_memory(const void *kernel, int bytes)
{
    if (!cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes))
        return bytes;
    return cudaGetLastError(), 0;
}

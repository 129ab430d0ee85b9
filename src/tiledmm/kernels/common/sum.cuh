/* src/tiledmm/kernels/common/sum.cuh. What KERNEL SMALL and SKINNY share.
   Uses: store.cuh, once/.
   Used by: kernels/outer/kernel.cuh, kernels/skinny/kernel.cuh, kernels/small/kernel.cuh,
   launch/sum.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__FAST
/* ============================== SMALL AND SKINNY ============================================== */
/* What the kernels of the next two sections share. */

/* What one wide copy moves; so many elements of C; so many sums; and two sums. */
typedef struct alignas(sizeof(TMM_TYPE) * TMM__WIDE) tmm__xvector {
    TMM_TYPE v[TMM__WIDE];
} tmm__xvector;
typedef struct alignas(sizeof(TMM_OUT) * TMM__WIDE < 16 ? sizeof(TMM_OUT) * TMM__WIDE
                                                        : 16) tmm__xvector_outs {
    TMM_OUT v[TMM__WIDE];
} tmm__xvector_outs;
typedef struct alignas(sizeof(TMM_SUM) * TMM__WIDE < 16 ? sizeof(TMM_SUM) * TMM__WIDE
                                                        : 16) tmm__xvector_sums {
    TMM_SUM v[TMM__WIDE];
} tmm__xvector_sums;
typedef struct alignas(2 * sizeof(TMM_SUM)) tmm__xsums2 {
    TMM_SUM v[2];
} tmm__xsums2;

/* One element to shared memory, zero if not inside. */
TMM__DEVICE void tmm__xcopy_one(TMM_TYPE *to, const TMM_TYPE *from, bool inside)
{
    if (sizeof(TMM_TYPE) % 4 == 0)
        tmm__copy_async(to, from, sizeof(TMM_TYPE), inside);
    else
        *to = inside ? *from : (TMM_TYPE)0;
}

/* tmm__mma_double for kernels of any TMM_SUM, of which those for double alone call it: C += A B by
   a warp, A is 16 x 8, B 8 x 8, C 16 x 8. With g = lane / 4 and t = lane % 4, a lane has
      a0, a1: A(g, t), A(g + 8, t)          a2, a3: A(g, t + 4), A(g + 8, t + 4)
      b0, b1: B(t, g), B(t + 4, g)
      c[0], c[1]: C(g, 2 t), C(g, 2 t + 1)  c[2], c[3]: the same of row g + 8 */
TMM__DEVICE void tmm__xdmma(TMM_SUM *c, TMM_SUM a0, TMM_SUM a1, TMM_SUM a2, TMM_SUM a3, TMM_SUM b0,
                            TMM_SUM b1)
{
    double sums[4] = {(double)c[0], (double)c[1], (double)c[2], (double)c[3]};
    double a[4] = {(double)a0, (double)a1, (double)a2, (double)a3};
    double b[2] = {(double)b0, (double)b1};
    tmm__mma_double(sums, a, b);
#pragma unroll
    for (int i = 0; i < 4; i++) c[i] = (TMM_SUM)sums[i];
}

/* KERNEL SUM. For a product that was split along k over blocks: adds their partial sums, M x N
   matrices, always in this order, and computes C = alpha sum + beta C. A block
   of 256 threads has 32 neighbouring elements of C; each of its 8 warps adds an eighth of them:

      parts    0 .. p-1     p .. 2p-1     ...     7p .. 8p-1        p = parts / 8, rounded up
               warp 0       warp 1                warp 7            lane: element
                  \            |                    |
                   +-----------+---- shared memory -+-->  warp 0: in this order, then to C
   Loads M N parts elements once, coalesced, eight in flight to a thread. What bounds it: latency,
   two to five microseconds with its launch. Where C is large and parts are few, and for KERNEL NARROW,
   blocks are 256 x 1: a thread adds all parts of its element, in the same order. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xgemm_sum(long long M, long long N, int parts, TMM__ALPHA alpha,
                   const TMM_SUM *__restrict__ partials, TMM_SCALAR beta, TMM_OUT *__restrict__ C,
                   long long ldc, long long batchC TMM__TRIANGLE_OF_ARGUMENTS)
{
    __shared__ TMM_SUM sums[32 * TMM__SUM_GROUPS];
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const int group = threadIdx.y, groups = blockDim.y, lanes = blockDim.x;
    long long element = (long long)blockIdx.x * lanes + threadIdx.x;
    long long row = element / N, col = element - row * N;
    bool inside = element < M * N;
#ifdef TMM_WITH_SYRK
    inside = inside && tmm__in_triangle(triangle, row, col);
#endif
    int share = groups == 1 ? parts : (parts + TMM__SUM_GROUPS - 1) / TMM__SUM_GROUPS;
    int first = group * share;
    int last = first + share < parts ? first + share : parts;
    partials += ((long long)blockIdx.z * parts + first) * (M * N) + element;
    TMM_SUM sum = 0;
    if (inside) {
#pragma unroll 8
        for (int part = first; part < last; part++) {
            sum += *partials;
            partials += M * N;
        }
    }
    if (groups > 1) {
        sums[group * 32 + threadIdx.x] = sum;
        __syncthreads();
        if (group > 0) return;
#pragma unroll
        for (int g = 1; g < TMM__SUM_GROUPS; g++) sum += sums[g * 32 + threadIdx.x];
    }
    if (!inside) return;
    C += blockIdx.z * batchC + row * ldc + col;
    tmm__xstore_masked(C, row, col, 1, 1, alpha, beta, &sum);
}
#endif

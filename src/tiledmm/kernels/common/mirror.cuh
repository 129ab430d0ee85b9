/* src/tiledmm/kernels/common/mirror.cuh. KERNEL MIRROR: a triangle of C is copied, for syrk.
   Uses: once/. Used by: type/syrk.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && defined(TMM_WITH_SYRK)
/* Copies the triangle of N x N elements `from` to the same places of `to` (bit 0 of `places`), to those
   that are its mirror image (bit 1), or to both. `to` may be `from`. A block of 256 threads has a square
   of 64 x 64, which it turns in shared memory, so that it reads and writes along rows; a thread has 16
   elements in flight. What bounds it: memory, or its launch up to N = 1024 or so. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xsyrk_mirror(long long N, const TMM_OUT *from, long long ldfrom, long long batch_from,
                      TMM_OUT *to, long long ldto, long long batch_to, int triangle, int places)
{
    __shared__ TMM_OUT square[64][65];
    const int squares = (int)((N - 1) / 64 + 1), half = (squares + 1) / 2;
    const int r0 = threadIdx.x / 64, c = threadIdx.x % 64;
    int down = blockIdx.x / half, across = blockIdx.x % half;
    tmm__triangle_tile(triangle, squares, 0, &down, &across);
    from += blockIdx.z * batch_from, to += blockIdx.z * batch_to;
    TMM_OUT elements[16];
    long long row = down * 64ll + r0, col = across * 64ll + c;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const long long at = row + 4 * i;
        elements[i] = (TMM_OUT)0;
        if (at < N && col < N && tmm__in_triangle(triangle, at, col))
            elements[i] = from[at * ldfrom + col];
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const long long at = row + 4 * i;
        if ((places & 1) && at < N && col < N && tmm__in_triangle(triangle, at, col))
            to[at * ldto + col] = elements[i];
        square[r0 + 4 * i][c] = elements[i];
    }
    if (!(places & 2)) return;
    __syncthreads();
    row = across * 64ll + r0, col = down * 64ll + c;
#pragma unroll 4
    for (int i = 0; i < 16; i++) {
        const long long at = row + 4 * i;
        if (at < N && col < N && at != col && tmm__in_triangle(triangle, col, at))
            to[at * ldto + col] = square[c][r0 + 4 * i];
    }
}
#endif

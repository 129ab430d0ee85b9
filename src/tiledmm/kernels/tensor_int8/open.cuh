/* src/tiledmm/kernels/tensor_int8/open.cuh. KERNEL OPEN: elements of C that residues do not prove.
   Uses: kernels/common/, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
/* One element of C by a warp. It loads 128 k of A and of B while it adds up those before. All
   lanes do the same chain of multiply-adds in ascending k. `memory`: 256 doubles of the warp. */
TMM__DEVICE void tmm__xgemm_int8_element(const tmm__int8_job *job, int row, int col, double *memory)
{
    const int lane = threadIdx.x % 32;
    const long long step_a = 32 * job->from_a.k_stride, step_b = 32 * job->from_b.k_stride;
    const double *a = job->from_a.X + row * job->from_a.line_stride + lane * job->from_a.k_stride;
    const double *b = job->from_b.X + col * job->from_b.line_stride + lane * job->from_b.k_stride;
    double sum = 0, x[4], y[4];
#pragma unroll 1
    for (long long k0 = -128; k0 < job->K; k0 += 128) { /* the first time only to load */
        const int depth = k0 < 0 ? 0 : job->K - k0 < 128 ? (int)(job->K - k0) : 128;
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 4 && k0 >= 0; i++)
            memory[lane + 32 * i] = x[i], memory[128 + lane + 32 * i] = y[i];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < 4; i++) {
            bool exists = k0 + 128 + lane + 32 * i < job->K;
            x[i] = y[i] = 0;
            tmm__load_if(&x[i], a, 8, exists);
            tmm__load_if(&y[i], b, 8, exists);
            a += step_a, b += step_b;
        }
#pragma unroll 8
        for (int k = 0; k < depth; k++) sum += memory[k] * memory[128 + k];
    }
    tmm__xstore_masked(job->C + row * job->ldc + col, row, col, 1, lane == 0,
                       TMM__OF_JOB(job->alpha, *job, 0), job->beta, &sum);
}

/* 256 threads copy 64 lines x 16 k to shared memory, as [k][line], with zeros where there is
   nothing. */
TMM__DEVICE void tmm__xgemm_int8_open_copy(double (*to)[66], const tmm__int8_lines *from, int line0,
                                           long long k0, long long K)
{
    const bool along_k = from->k_stride == 1;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int n = threadIdx.x + 256 * i, line = along_k ? n / 16 : n % 64,
            k = along_k ? n % 16 : n / 64;
        double x = 0;
        tmm__load_if(&x, from->X + (line0 + line) * from->line_stride + (k0 + k) * from->k_stride,
                     8, line0 + line < from->lines && k0 + k < K);
        to[k][line] = x;
    }
}

/* The bit of element (row, col) of a tile of 64 x 64 in its two pieces' words. */
TMM__DEVICE bool tmm__xgemm_int8_is_open(const tmm__int8_job *job, int tile_row, int tile_col,
                                         int row, int col)
{
    size_t piece = (size_t)tile_row * job->pieces_across + 2 * tile_col + col / 32;
    int thread = row / 16 * 32 + row % 8 * 4 + col % 8 / 2;
    int bit = col % 32 / 8 * 4 + row % 16 / 8 * 2 + col % 2;
    return job->open[piece * 128 + thread] >> bit & 1;
}

/* A tile of 64 x 64, of which a thread has 4 x 4: rows 4 (t / 16) .., columns t % 16, t % 16 + 16,
   ... Stores those elements that are open, or all. */
TMM__DEVICE void tmm__xgemm_int8_open_tile(const tmm__int8_job *job, int tile_row, int tile_col,
                                           bool all, double (*a)[66], double (*b)[66])
{
    const int row = threadIdx.x / 16 * 4, col = threadIdx.x % 16;
    double sum[4][4];
#pragma unroll
    for (int i = 0; i < 16; i++) sum[i / 4][i % 4] = 0;
#pragma unroll 1
    for (long long k0 = 0; k0 < job->K; k0 += 16) {
        tmm__xgemm_int8_open_copy(a, &job->from_a, tile_row * 64, k0, job->K);
        tmm__xgemm_int8_open_copy(b, &job->from_b, tile_col * 64, k0, job->K);
        int depth = job->K - k0 < 16 ? (int)(job->K - k0) : 16;
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < depth; k++) {
            double x[4], y[4];
#pragma unroll
            for (int i = 0; i < 4; i++) x[i] = a[k][row + i], y[i] = b[k][col + 16 * i];
#pragma unroll
            for (int i = 0; i < 16; i++) sum[i / 4][i % 4] += x[i / 4] * y[i % 4];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        int r = row + i / 4, c = col + i % 4 * 16;
        bool wanted = tile_row * 64 + r < job->M && tile_col * 64 + c < job->N;
        if (wanted && !all) wanted = tmm__xgemm_int8_is_open(job, tile_row, tile_col, r, c);
        double *to = job->C + (tile_row * 64ll + r) * job->ldc + tile_col * 64 + c;
        tmm__xstore_masked(to, tile_row * 64 + r, tile_col * 64 + c, 1, wanted,
                           TMM__OF_JOB(job->alpha, *job, 0), job->beta, &sum[i / 4][i % 4]);
    }
}

/* KERNEL OPEN. Blocks of 256 threads go over tiles of 64 x 64 and count their open elements. A
   tile with few of them appends them to a list. Once the list is long, and at the end, each warp
   computes one element of it. A tile with many is computed as a whole. Either way an element is
   one chain of multiply-adds in ascending k, as of KERNEL GLOBAL. If FP64 was chosen and nothing
   else computes it, all elements are open. Bound by FP64 and shared memory in tiles, by latency
   in lists, by the launch if none is open. */
TMM_KERNEL void __launch_bounds__(256) tmm__xgemm_int8_open(const tmm__int8_job job)
{
    enum { FLUSH = 64, LIST = FLUSH + TMM__INT8_SPARSE };
    __shared__ double a[16][66], b[16][66];
    __shared__ int list[LIST][2], listed, counted;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    const bool all = job.state->moduli == 0;
    if (all ? job.fp64_elsewhere : !job.state->open) return;
    const int thread = threadIdx.x, across = (job.pieces_across + 1) / 2;
    const int tiles = job.pieces_down * across;
    if (thread == 0) listed = counted = 0;
    __syncthreads();
#pragma unroll 1
    for (int tile = blockIdx.x;; tile += gridDim.x) {
        int tile_row = tile / across, tile_col = tile - tile_row * across, piece_col, here = 0;
        unsigned bits = 0;
        piece_col = 2 * tile_col + thread / 128;
        if (tile < tiles && !all && piece_col < job.pieces_across)
            bits =
                job.open[((size_t)tile_row * job.pieces_across + piece_col) * 128 + thread % 128];
        if (bits != 0) atomicAdd(&counted, __popc(bits));
        __syncthreads();
        here = counted;
        __syncthreads();
        if (thread == 0) counted = 0;
        if (tile < tiles && (all || here > TMM__INT8_SPARSE)) {
            tmm__xgemm_int8_open_tile(&job, tile_row, tile_col, all, a, b);
        } else if (bits != 0) {
            int place = atomicAdd(&listed, __popc(bits)), t = thread % 128, lane = t % 32;
            for (int i = 0; i < 16; i++)
                if (bits >> i & 1) {
                    list[place][0] = tile_row * 64 + t / 32 * 16 + lane / 4 + i / 2 % 2 * 8;
                    list[place][1] = piece_col * 32 + i / 4 * 8 + lane % 4 * 2 + i % 2;
                    place++;
                }
        }
        __syncthreads();
        const int entries = listed;
        const bool last = tile >= tiles;
        if (entries >= FLUSH || last) {
            const int warp = thread / 32;
            double *own = &(warp < 4 ? a : b)[warp % 4 * 4][0]; /* 264 of them */
            for (int i = warp; i < entries; i += 8)
                tmm__xgemm_int8_element(&job, list[i][0], list[i][1], own);
            __syncthreads();
            if (thread == 0) listed = 0;
            __syncthreads();
        }
        if (last) break;
    }
}
#endif

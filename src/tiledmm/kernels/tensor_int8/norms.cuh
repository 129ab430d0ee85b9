/* src/tiledmm/kernels/tensor_int8/norms.cuh. KERNEL NORMS, SCALES: how far each line is scaled. KERNEL
   CHOICE: how many moduli.
   Uses: kernels/common/tensor_ptx.cuh, numbers.cuh, types.cuh, once/. Used by: launch.h. */
#if defined(TMM__PASS) && TMM__EMIT_TYPE && TMM__DOUBLE_TENSOR
/* KERNEL NORMS. 1-norm, largest magnitude and sum of squares of 64 lines in a chunk of 256 k. The
   first groups_A blocks along x have the lines of A; blockIdx.y is the chunk. 256 threads.
       k contiguous        warp w has lines 8 w to 8 w + 7, its lanes neighbours along k
       lines contiguous    thread t has line t % 64, and k = t / 64, t / 64 + 4, ...
   The order of additions depends on K and the op alone, and so do the scales. Reads 8 bytes an
   element, for 3 operations: bound by memory. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xgemm_int8_norms(long long K, int groups_A, const tmm__int8_lines a,
                          const tmm__int8_lines b, tmm__int8_norm *norms)
{
    __shared__ tmm__int8_norm of_threads[4][64];
    tmm__let_next_begin();
    tmm__wait_for_previous();
    bool is_A = (int)blockIdx.x < groups_A;
    const tmm__int8_lines from = is_A ? a : b;
    const int thread = threadIdx.x, lane = thread % 32;
    long long line0 = 64ll * ((int)blockIdx.x - (is_A ? 0 : groups_A));
    long long k0 = (long long)blockIdx.y * TMM__INT8_NORM_K;
    int left = K - k0 < TMM__INT8_NORM_K ? (int)(K - k0) : (int)TMM__INT8_NORM_K;
    tmm__int8_norm *to = norms + ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * 64;
    if (from.k_stride == 1) {
#pragma unroll 1
        for (int i = 0; i < 8; i++) {
            int line = thread / 32 * 8 + i;
            double one = 0, most = 0, two = 0, x[TMM__INT8_NORM_K / 32];
            int here = line0 + line < from.lines ? left : 0;
            const double *at = from.X + (line0 + line) * from.line_stride + k0 + lane;
#pragma unroll
            for (int j = 0; j < TMM__INT8_NORM_K / 32; j++) {
                x[j] = 0;
                tmm__load_if(&x[j], at + 32 * j, 8, lane + 32 * j < here);
            }
#pragma unroll
            for (int j = 0; j < TMM__INT8_NORM_K / 32; j++) {
                one += fabs(x[j]), two += x[j] * x[j];
                most = fmax(most, fabs(x[j]));
            }
#pragma unroll
            for (int d = 16; d > 0; d /= 2) {
                one += __shfl_xor_sync(0xffffffffu, one, d);
                two += __shfl_xor_sync(0xffffffffu, two, d);
                most = fmax(most, __shfl_xor_sync(0xffffffffu, most, d));
            }
            if (lane == 0) to[line].one = one, to[line].most = most, to[line].two = two;
        }
        return;
    }
    int line = thread % 64, part = thread / 64;
    double one = 0, most = 0, two = 0;
    if (line0 + line >= from.lines) left = 0;
    const double *at = from.X + (line0 + line) * from.line_stride + (k0 + part) * from.k_stride;
#pragma unroll 1
    for (int k = part; k < left; k += 32) {
        double x[8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            x[j] = 0;
            tmm__load_if(&x[j], at + 4 * j * from.k_stride, 8, k + 4 * j < left);
        }
        at += 32 * from.k_stride;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            one += fabs(x[j]), two += x[j] * x[j];
            most = fmax(most, fabs(x[j]));
        }
    }
    of_threads[part][line].one = one, of_threads[part][line].two = two;
    of_threads[part][line].most = most;
    __syncthreads();
    if (part > 0) return;
#pragma unroll
    for (int i = 1; i < 4; i++) {
        one += of_threads[i][line].one, two += of_threads[i][line].two;
        most = fmax(most, of_threads[i][line].most);
    }
    to[line].one = one, to[line].most = most, to[line].two = two;
}

/* KERNEL SCALES. Puts the chunks together: a thread has a line. A norm is the smaller of
   sqrt(most * one), which cannot overflow, and sqrt(two), where squares neither overflow nor
   underflow; a little more, for what rounding did. A NaN or infinity is in `one`. */
TMM_KERNEL void __launch_bounds__(256)
    tmm__xgemm_int8_scales(long long K, int chunks, int lines_A, int lines_B,
                           const tmm__int8_norm *norms, tmm__int8_line *a, tmm__int8_line *b)
{
    int line = blockIdx.x * 256 + threadIdx.x;
    tmm__let_next_begin();
    tmm__wait_for_previous();
    if (line >= lines_A + lines_B) return;
    double one = 0, most = 0, two = 0;
#pragma unroll 4
    for (int i = 0; i < chunks; i++) {
        tmm__int8_norm n = norms[(size_t)i * (lines_A + lines_B) + line];
        one += n.one, two += n.two, most = fmax(most, n.most);
    }
    tmm__int8_line to = {0, 0, 0, 0};
    if (one != 0) {
        double norm = sqrt(most) * sqrt(one);
        if (most > 1e-130 && most < 1e130) norm = fmin(norm, sqrt(two));
        unsigned long long bits;
        norm *= 1 + 1e-9;
        memcpy(&bits, &norm, 8);
        int exponent = (int)(bits >> 52) - 1023;
        bool usable = one < tmm__power_of_two(1023) &&
                      most < tmm__power_of_two(TMM__INT8_EXPONENT) &&
                      most > tmm__power_of_two(-TMM__INT8_EXPONENT);
        to.one = tmm__bits_float(0x7fc00000u);
        if (usable) {
            float fraction = (float)(norm * tmm__power_of_two(-exponent));
            to.size = exponent * 256 + (int)ceilf(256 * log2f(fraction) + 0.01f);
            double unit = tmm__power_of_two(-(to.size >> 8));
            to.one = (float)(one * unit) * 1.000001f;
            to.unit = (float)(one * unit / (double)K) / 32;
            to.per_unit = (1 - 1e-6f) / to.unit;
        }
    }
    if (line < lines_A)
        a[line] = to;
    else
        b[line - lines_A] = to;
}

/* KERNEL CHOICE. Counts for each element how many moduli, `least` or more, prove it. It looks at
   all of C or, if that is large, at one piece of `every` on diagonals: the choice decides what
   is fastest, not what is right. The block that counts last decides. A byte an element: bound by
   latency. */
TMM_KERNEL void __launch_bounds__(128)
    tmm__xgemm_int8_choice(const tmm__int8_job job, const tmm__int8_sums tables, int every,
                           int least, float fp64, float each, float first)
{
    __shared__ unsigned of_warps[TMM__INT8_CHOICES + 1][4];
    const int lane = threadIdx.x % 32, t = threadIdx.x;
    unsigned count[TMM__INT8_CHOICES] = {0, 0, 0, 0}, looked = 0;
    const int across = (job.pieces_across + every - 1) / every, pieces = job.pieces_down * across;
    tmm__let_next_begin();
    tmm__wait_for_previous();
#pragma unroll 1
    for (int n = blockIdx.x; n < pieces; n += gridDim.x) {
        int piece_row = n / across,
            piece_col = (n - piece_row * across) * every + piece_row % every;
        if (piece_col >= job.pieces_across) continue;
        int row = piece_row * 64 + t / 32 * 16 + lane / 4, col = piece_col * 32 + lane % 4 * 2;
        uint4 codes = *(const uint4 *)(job.planes +
                                       tmm__int8_piece_at(piece_row, piece_col, job.pieces_across) +
                                       TMM__INT8_UNITS * TMM__INT8_PIECE + t * 16);
        tmm__int8_part parts[2][TMM__INT8_CHOICES];
        float unit[2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
            tmm__int8_line line = job.a.lines[row + 8 * h];
            unit[h] = line.unit * 0.9999f;
#pragma unroll
            for (int i = 0; i < TMM__INT8_CHOICES; i++)
                parts[h][i] = tmm__int8_half(&line, tmm__int8_rest(tables.limit[i], &line),
                                             tables.kappa, tables.half_K);
        }
#pragma unroll
        for (int j = 0; j < 8; j++) { /* columns */
            unsigned word = j < 2 ? codes.x : j < 4 ? codes.y : j < 6 ? codes.z : codes.w;
            int c = col + j / 2 * 8 + j % 2;
            tmm__int8_line line = job.b.lines[c];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                bool exists = row + 8 * h < job.M && c < job.N;
                float size = tmm__int8_from_log(word >> (16 * h + j % 2 * 8) & 255);
                size *= unit[h] * line.unit;
                if (exists) looked++;
#pragma unroll
                for (int i = 0; i < TMM__INT8_CHOICES; i++) {
                    float threshold =
                        tmm__int8_threshold(parts[h][i], tmm__int8_rest(tables.limit[i], &line),
                                            line.one);
                    if (exists && !(size >= threshold)) count[i]++;
                }
            }
        }
    }
    tmm__int8_state *state = job.state;
#pragma unroll
    for (int i = 0; i <= TMM__INT8_CHOICES; i++) {
        unsigned sum = i < TMM__INT8_CHOICES ? count[i] : looked;
#pragma unroll
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (lane == 0) of_warps[i][t / 32] = sum;
    }
    __syncthreads();
    if (t <= TMM__INT8_CHOICES) {
        unsigned long long sum = 0;
        for (int i = 0; i < 4; i++) sum += of_warps[t][i];
        atomicAdd(t < TMM__INT8_CHOICES ? &state->failed[t] : &state->looked, sum);
    }
    __threadfence();
    __syncthreads();
    if (t == 0 && atomicAdd(&state->arrived, 1u) == gridDim.x - 1) {
        __threadfence();
        state->moduli = tmm__int8_decide(state, least, fp64, each, first);
    }
}
#endif

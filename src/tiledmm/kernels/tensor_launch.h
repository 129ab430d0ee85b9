/* src/tiledmm/kernels/tensor_launch.h. LAUNCHER of KERNEL TENSOR.
   Uses: once/plan.h, type/fits.h. Used by: type/dispatch.h. */
#if defined(TMM_NAME) && !defined(TMM__PASS) && TMM__HOST && TMM__FAST
#if TMM__IS_DOUBLE
/* What TMM_PIPELINED is of double: KERNEL TENSOR has such a pipeline, too, and the same chains of
   multiply-adds. Where it does not pay, units of double bound every kernel. */
static inline tmm_kernel TMM_FN(gemm__pipelined_double)(long long M, long long N, long long K,
                                                        long long lda, long long ldb)
{
    return TMM_FN(gemm__tensor_pays)() && TMM_FN(gemm__fits)(TMM_TENSOR, M, N, K, lda, ldb)
               ? TMM_TENSOR
               : TMM_REGISTER;
}
#endif

#if TMM__IS_DOUBLE
/* How KERNEL TENSOR is to compute tiles_down x tiles_across tiles, `batch` times, of `form` with
   `steps` steps each: fills in the schedule and returns the blocks to launch for each product;
   *time is what it should take, in clocks: bench/NOTES.md says where the numbers are from. `split`:
   whether tiles may be cut along K. */
static inline int TMM_FN(gemm__tensor_plan)(tmm__schedule *s, const tmm__tensor_form *form,
                                            int tiles_down, int tiles_across, int steps,
                                            unsigned batch, int split, double *time)
{
    int processors = tmm__current_device()->processors;
    int slots = (form->blocks < 2 ? form->blocks : 2) * processors;
    int tiles = tiles_down * tiles_across, blocks = tiles;
    double area = (double)form->tile_m * form->tile_n;
    double crowd = form->warps == 4 ? TMM__TENSOR_CROWD : 0; /* small tiles */
    memset(s, 0, sizeof *s);
    s->tiles_down = tiles_down;
    s->tiles_across = tiles_across;
    s->steps = steps;
    /* Whole tiles, each by a block. Blocks that share a multiprocessor hide each other's first
       copies and last stores. */
    double rounds = ceil((double)tiles * batch / processors);
    *time = rounds > 1 ? form->whole : fmax(form->step, crowd * tiles * batch);
    *time *= steps * rounds;
    *time += (form->blocks < 2 ? 1.0 : 0.8) * area * rounds;
    if (!split || steps == 0) return blocks;
    /* So many pieces of each that KERNEL REDUCE is worth its launch; from 32 on more blocks add them
       up. */
    int most = (int)tmm__min(slots / tiles, steps / 4);
    for (int n = 4; n <= most && form->warps == 4; n++) {
        double load = ceil((double)tiles * n / processors);
        double guess = load > 1 ? form->whole : fmax(form->step, crowd * tiles * n);
        guess = guess * ((steps + n - 1) / n * load) + 15000 + (n < 32 ? 300.0 : 100.0) * n;
        if (guess >= *time) continue;
        *time = guess;
        blocks = s->sharers = tiles * n;
        s->split_tiles = tiles;
        s->reduce = 1;
    }
    /* Whole tiles but for those of a last, short round: of these so many pieces each that all run
       at once; the block with the first one adds up the others. */
    int rest = tiles % processors;
    int pieces = rest > 0 ? (int)tmm__min(processors / rest, TMM__MOST_PIECES) : 1;
    if (form->blocks == 1 && tiles > processors && pieces > 1 && steps >= 8 * pieces &&
        (long long)rest * steps <= INT_MAX) {
        double guess = steps * (tiles / processors + 1.0 / pieces) * form->whole;
        guess += area * (tiles / processors + 1) + 5000 + 7000.0 * (pieces - 1);
        if (guess < *time) {
            *time = guess;
            blocks = tiles - rest + rest * pieces;
            s->split_tiles = rest;
            s->sharers = rest * pieces;
            s->reduce = 0;
        }
    }
    /* Even shares of the tiles of the last rounds. */
    int split_tiles = tiles < slots ? tiles : slots + tiles % slots;
    long long split_steps = (long long)split_tiles * steps;
    double guess = 1.14 * form->whole * tiles * steps / processors + 16000;
    guess += 0.4 * area * (tiles < slots ? (double)slots / tiles : (double)tiles / slots);
    if (split_steps <= INT_MAX && split_steps / slots >= 8 && guess < *time) {
        *time = guess;
        blocks = s->sharers = slots;
        s->split_tiles = split_tiles;
        s->reduce = 0;
    }
    return blocks;
}

/* A test prefers one form. */
#ifndef TMM__TENSOR_GUESS
#define TMM__TENSOR_GUESS(form, time) (time)
#endif

/* `batch` products by KERNEL TENSOR; arguments as for gemm__pipelined. */
static inline tmm_status TMM_FN(gemm__tensor)(long long M, long long N, long long K, double alpha,
                                              const double *A, long long rsA, long long csA,
                                              long long strideA, const double *B, long long rsB,
                                              long long csB, long long strideB, double beta,
                                              double *C, long long ldc, long long strideC,
                                              unsigned batch, int may, tmm_stream stream)
{
    enum { SIZE = 8 };
    enum { LARGE, SMALL, ANY };
    static thread_local unsigned long long asked[TMM__TENSOR_FORMS];
    const void *const kernels[TMM__TENSOR_FORMS] = {(const void *)TMM_FN(gemm_tensor_128x128),
                                                    (const void *)TMM_FN(gemm_tensor_64x64),
                                                    (const void *)TMM_FN(gemm_tensor_any)};
    const tmm__device *device = tmm__current_device();
    /* Which way an operand is contiguous, and whether it can be copied by 16 bytes. */
    size_t along_A = (size_t)A | rsA * SIZE | strideA * SIZE | K * SIZE;
    size_t along_B = (size_t)B | csB * SIZE | strideB * SIZE | K * SIZE;
    size_t lines_A = (size_t)A | csA * SIZE | strideA * SIZE | M * SIZE;
    size_t lines_B = (size_t)B | rsB * SIZE | strideB * SIZE | N * SIZE;
    int modeA = csA == 1 && (rsA != 1 || along_A % 16 == 0) ? TMM__ALONG_K : TMM__ALONG_LINES;
    int modeB = rsB == 1 && (csB != 1 || along_B % 16 == 0) ? TMM__ALONG_K : TMM__ALONG_LINES;
    int wideA = (modeA == TMM__ALONG_K ? along_A : lines_A) % 16 == 0;
    int wideB = (modeB == TMM__ALONG_K ? along_B : lines_B) % 16 == 0;

    /* Copies of single elements cost time in proportion to M N K, packing in proportion to M K and
       N K. */
    int pack = 0;
    double packing = 2.0 * K * SIZE / device->bandwidth * ((wideA ? 0.0 : M) + (wideB ? 0.0 : N));
    double saving = 0.15 * 2 * M * N * K / device->arithmetic;
    if (!(wideA && wideB) && batch == 1 && (may & TMM__MAY_PACK) && K > 0 &&
        TMM__WORTH_PACKING(packing, saving) &&
        TMM_FN(gemm__fits)(TMM_PIPELINED, M, N, K, M + 128, N + 128))
        pack = 1;

    tmm__schedule s;
    memset(&s, 0, sizeof s);
    char *memory = NULL;
    long long pitchA = 0, pitchB = 0;
    int form = 0, blocks = 0;
    for (int split = batch == 1 && (may & TMM__MAY_SPLIT); blocks == 0; split = pack = 0) {
        int wide = pack || (wideA && wideB);
        double best = 0;
        pitchA = pack && !wideA ? (M + 127) / 128 * 128 : 0;
        pitchB = pack && !wideB ? (N + 127) / 128 * 128 : 0;
        for (int f = LARGE; f <= ANY; f++) {
            const tmm__tensor_form *one = &tmm__tensor_forms[f];
            tmm__schedule plan;
            double time;
            if ((f == ANY) == wide || (f == LARGE && (M < 128 || N < 128))) continue;
            if (TMM__TENSOR_BYTES(one->tile_m, one->tile_n) > device->shared) continue;
            int more =
                TMM_FN(gemm__tensor_plan)(&plan, one, (int)((M - 1) / one->tile_m + 1),
                                          (int)((N - 1) / one->tile_n + 1),
                                          (int)((K + TMM__TENSOR_DEPTH - 1) / TMM__TENSOR_DEPTH),
                                          batch, split, &time);
            time = TMM__TENSOR_GUESS(f, time);
            if (blocks > 0 && time >= best) continue;
            best = time;
            form = f, s = plan, blocks = more;
        }
        int tile_m = tmm__tensor_forms[form].tile_m, tile_n = tmm__tensor_forms[form].tile_n;
        size_t bytesA = (size_t)(K * pitchA) * SIZE, bytesB = (size_t)(K * pitchB) * SIZE;
        size_t partials = 0, flags = 0;
        if (s.split_tiles > 0) {
            partials = (size_t)s.sharers * tile_m * tile_n * SIZE;
            flags = s.sharers * sizeof *s.flags;
        }
        if (bytesA + bytesB + partials == 0) break;
        memory = (char *)tmm__workspace(bytesA + bytesB + partials + flags, stream);
        if (memory == NULL) { /* then without */
            blocks = 0;
            continue;
        }
        s.partials = memory + bytesA + bytesB;
        s.flags = (unsigned long long *)(memory + bytesA + bytesB + partials);
        s.ticket = tmm__ticket();
#ifdef TMM_CLEAR_FLAGS
        if (flags > 0) (void)cudaMemsetAsync(s.flags, 0, flags, stream);
#endif
    }

    if (pitchA + pitchB > 0) {
        double *packed_A = (double *)memory, *packed_B = packed_A + K * pitchA;
        dim3 squares((unsigned)((pitchA > pitchB ? pitchA : pitchB) / 64),
                     (unsigned)tmm__min((K + 63) / 64, 65535), 2);
        TMM_FN(pack)<<<squares, 256, 0, stream>>>(K, M, A, rsA, csA, packed_A, pitchA, N, B, rsB,
                                                  csB, packed_B, pitchB);
        if (pitchA > 0)
            A = packed_A, rsA = 1, csA = pitchA, s.packed_A = 1, modeA = TMM__ALONG_LINES;
        if (pitchB > 0)
            B = packed_B, csB = 1, rsB = pitchB, s.packed_B = 1, modeB = TMM__ALONG_LINES;
    }
    dim3 grid(blocks, 1, batch);
    int threads = 32 * tmm__tensor_forms[form].warps;
    int bytes = TMM__TENSOR_BYTES(tmm__tensor_forms[form].tile_m, tmm__tensor_forms[form].tile_n);
    tmm_status status = tmm__allow_shared(kernels[form], bytes, &asked[form]);
    if (status == TMM_OK) {
#define TMM__LAUNCH(name)                                                                        \
    TMM_FN(name)<<<grid, threads, bytes, stream>>>(M, N, K, alpha, A, rsA, csA, strideA, B, rsB, \
                                                   csB, strideB, beta, C, ldc, strideC, modeA,   \
                                                   modeB, s)
        switch (form) {
        case LARGE: TMM__LAUNCH(gemm_tensor_128x128); break;
        case SMALL: TMM__LAUNCH(gemm_tensor_64x64); break;
        default: TMM__LAUNCH(gemm_tensor_any); break;
        }
#undef TMM__LAUNCH
    }
    if (status == TMM_OK && s.reduce) {
        int tiles = s.tiles_down * s.tiles_across;
        int pieces = blocks / tiles, parts = pieces >= 32 ? 8 : 1;
        TMM_FN(gemm_reduce)<<<dim3(4 * parts, tiles), 256, 0, stream>>>(M, N, alpha, beta, C, ldc,
                                                                        4, 2, pieces, parts, 1, s);
    }
    if (status == TMM_OK) status = tmm__cuda(cudaGetLastError(), "kernel launch");
    if (memory != NULL) (void)cudaFreeAsync(memory, stream);
    return status;
}
#endif
#endif

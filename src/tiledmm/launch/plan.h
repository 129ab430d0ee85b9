/* src/tiledmm/launch/plan.h. PLAN: how a product is launched, and how tiles and steps are
   divided; the words of it.
   Uses: hooks.h, once/. Used by: product.h, type/, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* What KERNEL SMALL takes if there is no memory for slices. */
typedef struct tmm__unsplit {
    const void *kernel;
    int tile_m, tile_n, bytes, team_log2;
} tmm__unsplit;

/* What a kernel's plan decides, and all that its launcher has to know besides the product. It
   has no pointer to operands or workspaces, so it serves every product of its sizes, strides and
   alignment. What a kernel does not need is 0. */
typedef struct tmm__plan {
    tmm_kernel value;
    int instance;       /* its number, as hooks have it */
    const void *kernel; /* the instance that is launched */
    double time;        /* nanoseconds that it should take */
    int cut, slices; /* how the k of a tile are divided, TMM__PLAN_WHOLE and so on, in how many */
    int tile_m,
        tile_n; /* of C, or C^T, for each block; of a warp in SMALL; of an element in DIRECT */
    long long blocks;   /* of a product and slice; OUTER: along N; THIN HALF: clusters for k */
    int threads, bytes; /* of a block: its shared memory, at most, where stages are fewer */
    int modeA, modeB;   /* PIPELINED, TENSOR: how operands are copied, TMM__ALONG_K and so on */
    int off_sectors;    /* TENSOR: what the instance is told of that, see tmm__xtensor_within */
    int team_log2;      /* SMALL: warps that divide the k of a tile; DIRECT: threads of a group */
    int cluster_log2, layout; /* DIRECT: blocks that have the k of the same groups; see there */
    int rest;                 /* TENSOR of 16 bits: tiles of a triangle that are left */
    int depth;                /* OUTER: k in shared memory, 0: none; THIN HALF: stages */
    int down;                 /* OUTER: blocks along M; NARROW: the tile, see tmm__narrow; THIN
                                 HALF: does a block have one tile after the other? */
    int turned;               /* NARROW, SKINNY, THIN HALF: C is narrow along N; along M */
    tmm__unsplit unsplit;     /* SMALL */
    long long pitchA, pitchB; /* PIPELINED, TENSOR: of operands that are packed; 0: it is not */
    tmm__schedule s;          /* PIPELINED, TENSOR, TENSOR FLOAT */
} tmm__plan;

#if TMM__FAST
/* What is to be divided, and among what. */
typedef struct tmm__division {
    int tiles_down, tiles_across, steps; /* the tiles of C, and the steps along K of each */
    int triangle, squares, ratio_log2;   /* see once/triangle.cuh */
    int processors, blocks;              /* multiprocessors, and blocks that fit on one */
    int large;                           /* tiles of 128 x 128, not half of that */
    int data_parallel;                   /* integers: whole tiles first, see KERNEL PIPELINED */
    int cut_k;                           /* whether a tile may be cut along K */
    const tmm__block_costs *costs;       /* of KERNEL PIPELINED */
    const int *clusters;                 /* how many of n blocks fit at once; NULL: none may be */
    tmm__load load;                      /* with whole tiles */
} tmm__division;

/* Tiles of C, or of a triangle of it. */
static inline void tmm__divide(tmm__division *d, int triangle, long long M, long long N, int tile_m,
                               int tile_n)
{
    const tmm__tiling t = tmm__tile(triangle, M, N, tile_m, tile_n);
    d->tiles_down = (int)t.down, d->tiles_across = (int)t.across;
    d->triangle = triangle, d->squares = t.squares, d->ratio_log2 = t.ratio_log2;
}

/* Each block has whole tiles. Returns how many blocks that is, at most `most_blocks`. */
static inline int tmm__plan_whole(tmm__schedule *s, const tmm__division *d, int most_blocks)
{
    int tiles = d->tiles_down * d->tiles_across;
    memset(s, 0, sizeof *s);
    s->tiles_down = d->tiles_down;
    s->tiles_across = d->tiles_across;
    s->steps = d->steps;
#ifdef TMM_WITH_SYRK
    s->triangle = d->triangle, s->squares = d->squares, s->ratio_log2 = d->ratio_log2;
#endif
    return tiles < most_blocks ? tiles : most_blocks;
}

static inline double tmm__slices_time(const tmm__division *d, const tmm__block_costs *costs,
                                      int depth, int slices)
{
    tmm__load load = d->load;
    load.blocks *= slices;
    load.k = (double)depth * ((d->steps + slices - 1) / slices);
    return tmm__launch_time(costs, &load);
}

/* Is a division of instance plan->instance faster, in `time`, than the plan so far? Then it is
   the plan's. */
static inline int tmm__is_faster(tmm__plan *plan, int cut, int slices, double time)
{
    time = TMM__PLAN_GUESS(plan->instance, cut, slices, time);
    if (time >= plan->time) return 0;
    plan->time = time, plan->cut = cut, plan->slices = slices;
    return 1;
}
#endif

/* A text is written as far as there is room; `length` counts all of it. */
typedef struct tmm__text {
    char *text;
    size_t bytes, length;
} tmm__text;

static inline void tmm__write(tmm__text *t, const char *format, ...)
{
    const size_t room = t->length < t->bytes ? t->bytes - t->length : 0;
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(room > 0 ? t->text + t->length : NULL, room, format, arguments);
    va_end(arguments);
    if (written > 0) t->length += (size_t)written;
}

/* Which of the times that no kernel can do without is the longest: of the launch; of memory or
   L2 for all operands; of L2 for what tiles copy; of arithmetic. */
static inline const char *tmm__bound(const tmm__load *load)
{
    const tmm__device *device = tmm__current_device();
    const double processors = device->processors, steps = load->blocks * load->k;
    const double rate = tmm__rate(device->capability, load->family, load->type);
    const int cached = load->bytes + load->c_bytes < device->gpu.l2_bytes;
    const double operands = tmm__memory_time(load);
    const double copies =
        tmm__in_nanoseconds(load->copied * steps / (tmm__tuned()->l2 * processors));
    const double units = tmm__in_nanoseconds(load->area * steps / (rate * processors));
    const double most = fmax(fmax(device->gpu.launch, operands), fmax(copies, units));
    if (most == units) return "arithmetic";
    if (most == copies || (most == operands && cached)) return "L2";
    return most == operands ? "memory" : "launch";
}

/* How k is divided, by plan->cut. */
static inline void tmm__write_cut(tmm__text *t, const tmm__plan *plan)
{
    static const char *const cuts[] = {"threads",
                                       "slices, which a block adds",
                                       "slices, which a second launch adds",
                                       "slices of a cluster",
                                       "slices of the last tiles",
                                       "even shares for all blocks"};
    if (plan->cut == TMM__PLAN_EVEN)
        tmm__write(t, ", k in %s", cuts[plan->cut]);
    else if (plan->cut == TMM__PLAN_LAST_ROUND && plan->slices == 1)
        tmm__write(t, ", k of the last tiles in %s", cuts[TMM__PLAN_EVEN]);
    else if (plan->slices > 1)
        tmm__write(t, ", k in %d %s", plan->slices, cuts[plan->cut]);
    if (plan->pitchA + plan->pitchB > 0)
        tmm__write(t, ", %s packed", plan->pitchB == 0 ? "A" : plan->pitchA == 0 ? "B" : "A and B");
}

/* The current device, or the one of tmm__gpus whose name has the word `gpu` in it. 0 if there is
   none. */
static inline int tmm__pretend(const char *gpu, tmm__device *device, tmm__kernel_facts *kernels)
{
    const int count = (int)(sizeof tmm__gpus / sizeof *tmm__gpus);
    *device = *tmm__current_device();
    if (gpu == NULL) return 1;
    memset(kernels, 0, TMM__KNOWN_KERNELS * sizeof *kernels);
    device->kernels = kernels;
    for (int n = 0; n < count; n++) {
        if (strstr(tmm__gpus[n].device, gpu) == NULL) continue;
        device->gpu = tmm__gpus[n];
        device->processors = tmm__gpus[n].processors, device->capability = tmm__gpus[n].capability;
        /* Shared memory of a block, by the CUDA C++ Programming Guide. */
        device->shared = (device->capability >= 90 && device->capability < 120 ? 227
                          : device->capability == 80                           ? 163
                                                                               : 99) *
                         1024;
        device->pools = 1;
        return 1;
    }
    return 0;
}
#endif

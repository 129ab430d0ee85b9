/* src/tiledmm/launch/plan.h. PLAN: how a product is launched, and how tiles and steps are divided.
   Uses: launch/hooks.h, once/. Used by: launch/product.h, type/, kernels/. */
#if TMM__HOST && !defined(TMM__PART_PLAN)
#define TMM__PART_PLAN
/* What KERNEL SMALL takes if there is no memory for slices. */
typedef struct tmm__unsplit {
    const void *kernel;
    int tile_m, tile_n, bytes, team_log2;
} tmm__unsplit;

/* What a kernel's plan decides, and all that its launcher has to know besides the product. It holds no
   pointer to operands or workspaces, so that it serves every product of its sizes, strides and
   alignment. What a kernel does not need is 0. */
typedef struct tmm__plan {
    tmm_kernel value;
    int instance;       /* its number, as hooks have it */
    const void *kernel; /* the instance that is launched */
    double time;        /* nanoseconds that it should take */
    int cut, slices; /* how the k of a tile are divided, TMM__PLAN_WHOLE and so on, in how many */
    int tile_m, tile_n; /* of C, for each block; of a warp in SMALL; of an element in DIRECT */
    long long blocks;   /* of a product and slice; OUTER: along N */
    int threads, bytes; /* of a block: its shared memory, at most, where stages are fewer */
    int modeA, modeB;   /* PIPELINED, TENSOR: how operands are copied, TMM__ALONG_K and so on */
    int off_sectors;    /* TENSOR: what the instance is told of that, see gemm__tensor_within */
    int team_log2;      /* SMALL: warps that divide the k of a tile; DIRECT: threads of a group */
    int cluster_log2, layout; /* DIRECT: blocks that have the k of the same groups; see there */
    int depth;                /* OUTER: k in shared memory, 0: none */
    int down;                 /* OUTER: blocks along M; NARROW: the tile, see tmm__narrow */
    int turned;               /* NARROW, SKINNY: C is narrow along N; along M */
    tmm__unsplit unsplit;     /* SMALL */
    long long pitchA, pitchB; /* PIPELINED, TENSOR: of operands that are packed; 0: it is not */
    tmm__schedule s;          /* PIPELINED, TENSOR, TENSOR FLOAT */
} tmm__plan;

#if TMM__FAST
/* What is to be divided, and among what. */
typedef struct tmm__division {
    int tiles_down, tiles_across, steps; /* the tiles of C, and the steps along K of each */
    int processors, blocks;              /* multiprocessors, and blocks that fit on one */
    int large;                           /* tiles of 128 x 128, not half of that */
    int data_parallel;                   /* integers: whole tiles first, see KERNEL PIPELINED */
    int cut_k;                           /* whether a tile may be cut along K */
    const tmm__block_costs *costs;       /* of KERNEL PIPELINED */
    const int *clusters;                 /* how many of n blocks fit on the device at once */
    tmm__load load;                      /* with whole tiles */
} tmm__division;

/* Begins a schedule in which each block has whole tiles. Returns how many blocks that is, at most
   `most_blocks`. */
static inline int tmm__plan_whole(tmm__schedule *s, const tmm__division *d, int most_blocks)
{
    int tiles = d->tiles_down * d->tiles_across;
    memset(s, 0, sizeof *s);
    s->tiles_down = d->tiles_down;
    s->tiles_across = d->tiles_across;
    s->steps = d->steps;
    return tiles < most_blocks ? tiles : most_blocks;
}

/* The time with each tile in so many slices, each by a block. */
static inline double tmm__slices_time(const tmm__division *d, const tmm__block_costs *costs,
                                      int depth, int slices)
{
    tmm__load load = d->load;
    load.blocks *= slices;
    load.k = (double)depth * ((d->steps + slices - 1) / slices);
    return tmm__launch_time(costs, &load);
}

/* Is a division of instance plan->instance, which should take `time`, faster than the plan so far?
   Then it is the plan's. */
static inline int tmm__is_faster(tmm__plan *plan, int cut, int slices, double time)
{
    time = TMM__PLAN_GUESS(plan->instance, cut, slices, time);
    if (time >= plan->time) return 0;
    plan->time = time, plan->cut = cut, plan->slices = slices;
    return 1;
}
#endif
#endif

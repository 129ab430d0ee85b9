/* src/tiledmm/kernels/pipelined/plan.h. PLAN of KERNEL PIPELINED: how tiles and steps are divided.
   Uses: once/schedule.h, once/costs.h. Used by: kernels/pipelined/launch.h. */
#if TMM__HOST && TMM__FAST && !defined(TMM__PART_PIPELINED_PLAN)
#define TMM__PART_PIPELINED_PLAN
/* What is to be divided, and among what. */
typedef struct tmm__division {
    int tiles_down, tiles_across, steps; /* the tiles of C, and the steps along K of each */
    int processors, blocks;              /* multiprocessors, and blocks that fit on one */
    int large;                           /* tiles of 128 x 128, not half of that */
    int data_parallel;                   /* integers: whole tiles first, see KERNEL PIPELINED */
    int cut_k;                           /* whether a tile may be cut along K */
    int instance;                        /* its number, for hooks */
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

/* The same with even shares of the tiles of the last rounds (stream-K), which takes memory for
   partial tiles. s->streamk_tiles is 0 if it would gain nothing. */
static inline int tmm__plan_even(tmm__schedule *s, const tmm__division *d, int most_blocks)
{
    int tiles = d->tiles_down * d->tiles_across, rest = tiles % most_blocks;
    int blocks = tmm__plan_whole(s, d, most_blocks);
    /* Little to gain where the last round is nearly full; and no steps cannot be shared out. */
    if (d->steps == 0 || rest == 0 || rest > 0.98 * most_blocks) return blocks;
    s->streamk_tiles = tiles < most_blocks ? tiles : most_blocks + rest;
    long long streamk_steps = (long long)s->streamk_tiles * d->steps;
    if (tiles < most_blocks) most_blocks = (int)tmm__min(most_blocks, streamk_steps / 8);
    if (streamk_steps <= INT_MAX && most_blocks > blocks - (tiles >= most_blocks))
        return most_blocks;
    s->streamk_tiles = 0;
    return blocks;
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

/* Takes the division that should be fastest: whole tiles, each tile in so many whole slices, by
   clusters or without, or even shares. Returns the blocks to launch. *time: nanoseconds that it
   should take. */
static inline int tmm__plan_pipelined(tmm__schedule *s, const tmm__division *d, double *time)
{
    const int depth = 8;
    const tmm__costs *t = tmm__tuned();
    const int per = d->blocks, large = d->large, steps = d->steps, processors = d->processors;
    const tmm__block_costs *costs = d->costs;
    const double tiles = (double)d->tiles_down * d->tiles_across, most = (double)per * processors;
    const double clock = tmm__in_nanoseconds(1);
    int best = 1, blocks = tmm__plan_whole(s, d, (int)most);
    *time = TMM__PLAN_GUESS(d->instance, TMM__PLAN_WHOLE, 1, tmm__slices_time(d, costs, depth, 1));
    for (int turns = 1; d->cut_k && turns <= per; turns++) {
        const int slices = (int)tmm__min((long long)(turns * processors / tiles), steps / 4);
        const int reduce = slices >= t->pipelined.reduce_from;
        if (slices < 2) continue;
        double guess = tmm__slices_time(d, costs, depth, slices) +
                       clock * (reduce ? t->pipelined.reduce[large]
                                       : t->pipelined.cut + slices * t->pipelined.cut_slice[large]);
        guess = TMM__PLAN_GUESS(d->instance, reduce ? TMM__PLAN_REDUCE : TMM__PLAN_SLICES, slices,
                                guess);
        if (guess < *time) *time = guess, best = slices;
    }
    /* Clusters of 3, 5, 6 or 7 blocks are not spread evenly over the multiprocessors, and of more
       than two large tiles were slow. */
    int most_slices = large ? 2 : TMM__MOST_CLUSTER;
    for (int slices = 2; d->cut_k && slices <= most_slices && steps >= 4 * slices; slices *= 2) {
        const double rounds = ceil(tiles * slices / processors);
        double guess = tmm__slices_time(d, costs, depth, slices) + clock * t->pipelined.cluster;
        guess += clock * rounds * t->pipelined.cluster_round[large] * (slices - 1) / slices;
        if (tiles > d->clusters[slices]) continue;
        guess = TMM__PLAN_GUESS(d->instance, TMM__PLAN_CLUSTERS, slices, guess);
        if (guess >= *time) continue;
        *time = guess, best = slices;
        s->cluster = slices;
    }
    if (best > 1) {
        s->streamk_tiles = (int)tiles;
        s->reduce = s->cluster > 0 || best >= t->pipelined.reduce_from;
        blocks = (int)tiles * best;
    }
    if (d->cut_k && tiles * steps >= 8 * most) {
        tmm__load load = d->load;
        load.blocks = fmax(tiles, most), load.k = tiles * steps * depth / load.blocks;
        load.even = 1;
        double guess = tmm__launch_time(costs, &load);
        guess +=
            clock * (t->pipelined.even[large] + t->pipelined.even_partial[large] * most / tiles);
        guess = TMM__PLAN_GUESS(d->instance, TMM__PLAN_EVEN, 1, guess);
        tmm__schedule shares;
        int more = guess < *time ? tmm__plan_even(&shares, d, (int)most) : 0;
        if (more > 0 && shares.streamk_tiles > 0) *s = shares, blocks = more, *time = guess;
    }
    /* Many tiles with few steps: one a block, so that some begin while others end. */
    if (s->streamk_tiles == 0 && !large && steps <= 32) blocks = (int)tiles;
    s->streamk_blocks = blocks;
    if (d->data_parallel && tiles >= 2 * most) {
        int rest = (int)tiles % (int)most, shared = rest > 0 && rest <= 0.9 * most;
        s->streamk_tiles = s->streamk_blocks = 0;
        blocks = (int)tiles;
        if (d->cut_k && steps > 0 && shared && (most + rest) * steps <= INT_MAX) {
            s->streamk_blocks = (int)most;
            s->streamk_tiles = s->streamk_blocks + rest;
            blocks -= rest;
        }
    }
    return blocks;
}
#endif

/* src/tiledmm/kernels/pipelined_plan.h. PLAN of KERNEL PIPELINED: how tiles and steps are divided.
   Uses: once/schedule.h, once/tuning.h. Used by: kernels/pipelined_launch.h. */
#if TMM__HOST && TMM__FAST && !defined(TMM__PART_PIPELINED_PLAN)
#define TMM__PART_PIPELINED_PLAN
/* What is to be divided, and among what. */
typedef struct tmm__division {
    int tiles_down, tiles_across, steps; /* the tiles of C, and the steps along K of each */
    int processors, blocks;              /* multiprocessors, and blocks that fit on one */
    int large;                           /* tiles of 128 x 128, not half of that */
    int data_parallel;                   /* integers: whole tiles first, see KERNEL PIPELINED */
    int cut_k;                           /* whether a tile may be cut along K */
    const int *clusters;                 /* how many of n blocks fit on the device at once */
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

/* Takes the division that should be fastest: whole tiles, each tile in so many equal slices, by
   clusters or without, or even shares. Returns the blocks to launch. *clocks: how long it should
   take. */
static inline int tmm__plan_pipelined(tmm__schedule *s, const tmm__division *d, double *clocks)
{
    const tmm__tuning *t = tmm__tuned();
    const int per = d->blocks, large = d->large, steps = d->steps, processors = d->processors;
    double tiles = (double)d->tiles_down * d->tiles_across, most = (double)per * processors;
    double step = large ? 1024 : 512; /* multiply-adds of a scheduler */
    int best = 0, blocks = tmm__plan_whole(s, d, (int)most);
    for (int turns = 0; turns <= per; turns++) { /* 0: not cut */
        int slices =
            turns == 0 ? 1 : (int)tmm__min((long long)(turns * processors / tiles), steps / 4);
        if (turns > 0 && (!d->cut_k || slices < 2)) continue;
        double rounds = ceil(tiles * slices / processors);
        double time = rounds * ceil((double)steps / slices) * step;
        time /= t->pipelined.issue[large][rounds < per ? (int)rounds : per];
        if (slices == 1)
            time += t->pipelined.whole_launch;
        else if (slices < t->pipelined.reduce_from)
            time += t->pipelined.cut_launch + slices * t->pipelined.cut_slice[large];
        else
            time += t->pipelined.reduce_launch[large];
        if (best == 0 || time < *clocks) *clocks = time, best = slices;
    }
    /* Clusters of 3, 5, 6 or 7 blocks are not spread evenly over the multiprocessors, and of more
       than two large tiles were slow. */
    int most_slices = large ? 2 : TMM__MOST_CLUSTER;
    for (int slices = 2; d->cut_k && slices <= most_slices && steps >= 4 * slices; slices *= 2) {
        double rounds = ceil(tiles * slices / processors);
        double time = rounds * ceil((double)steps / slices) * step;
        time /= t->pipelined.issue[large][rounds < per ? (int)rounds : per];
        time += t->pipelined.cluster_launch +
                rounds * t->pipelined.cluster_round[large] * (slices - 1) / slices;
        if (tiles > d->clusters[slices] || time >= *clocks) continue;
        *clocks = time, best = slices;
        s->cluster = slices;
    }
    if (best > 1) {
        s->streamk_tiles = (int)tiles;
        s->reduce = s->cluster > 0 || best >= t->pipelined.reduce_from;
        blocks = (int)tiles * best;
    }
    double even = tiles * steps / processors * step / t->pipelined.issue[large][per];
    even += t->pipelined.even_launch[large] + t->pipelined.even_partial[large] * most / tiles;
    if (d->cut_k && even < *clocks && tiles * steps >= 8 * most) {
        tmm__schedule shares;
        int more = tmm__plan_even(&shares, d, (int)most);
        if (shares.streamk_tiles > 0) *s = shares, blocks = more, *clocks = even;
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

/* src/tiledmm/once/plan.h. How tiles and steps are divided among blocks.
   Uses: once/schedule.h, once/device.h. Used by: launchers of KERNEL PIPELINED and TENSOR. */
#if TMM__HOST && !defined(TMM__PART_PLAN)
#define TMM__PART_PLAN
/* The instances of KERNEL TENSOR. */
enum { TMM__TENSOR_FORMS = 3 };
typedef struct tmm__tensor_form {
    int tile_m, tile_n, warps, blocks; /* to a multiprocessor */
    int step;                          /* clocks for a step of a tile, if it is alone, */
    int whole;                         /* and if there are more of them; measured on an H200 */
} tmm__tensor_form;
static const tmm__tensor_form tmm__tensor_forms[TMM__TENSOR_FORMS] = {{128, 128, 8, 1, 2130, 2130},
                                                                      {64, 64, 4, 3, 600, 630},
                                                                      {64, 64, 4, 3, 660, 690}};
/* Small tiles that are alone all copy from the second-level cache: a step takes this many clocks at
   least, times how many such tiles there are. Measured on an H200, too. */
#define TMM__TENSOR_CROWD 6.25

/* Divides tiles_down x tiles_across tiles of C with `steps` steps each among at most `most_blocks`
   blocks, as KERNEL PIPELINED explains. Returns how many blocks there are to be. `split`: whether
   tiles may be cut along K, into even shares, which needs memory for partial tiles. */
static inline int tmm__plan(tmm__schedule *s, int tiles_down, int tiles_across, int steps,
                            int most_blocks, int split)
{
    int tiles = tiles_down * tiles_across, rest = tiles % most_blocks;
    memset(s, 0, sizeof *s);
    s->tiles_down = tiles_down;
    s->tiles_across = tiles_across;
    s->steps = steps;
    int blocks = tiles < most_blocks ? tiles : most_blocks;
    /* Little to gain where the last round is nearly full; and no steps cannot be shared out. */
    if (!split || steps == 0 || rest == 0 || rest > 0.98 * most_blocks) return blocks;
    s->split_tiles = tiles < most_blocks ? tiles : most_blocks + rest;
    long long split_steps = (long long)s->split_tiles * steps;
    if (tiles < most_blocks) most_blocks = (int)tmm__min(most_blocks, split_steps / 8);
    if (split_steps <= INT_MAX && most_blocks > blocks - (tiles >= most_blocks)) return most_blocks;
    s->split_tiles = 0;
    return blocks;
}

/* The same for KERNEL PIPELINED, of which `per` blocks fit on a multiprocessor, with tiles of
   128 x 128 (`large`) or half of that: takes the division that should be fastest, of each tile
   into so many whole pieces, by clusters or without, or of all into even shares. *clocks: how long
   that should take. The numbers come from measurements on an H200: the part of the time in which
   multiply-adds are issued, with 1, 2 and 3 blocks at work, and what launches, partial tiles and
   their sum take. `drift`: integers, see KERNEL PIPELINED. */
static inline int tmm__plan_pipelined(tmm__schedule *s, int tiles_down, int tiles_across, int steps,
                                      int processors, int per, int large, int drift, int split,
                                      const tmm__clusters *clusters, double *clocks)
{
    static const double part[2][4] = {{1, 0.50, 0.62, 0.70}, {1, 0.68, 0.79, 0.79}};
    enum { REDUCE_FROM = 5 };
    double tiles = (double)tiles_down * tiles_across, most = (double)per * processors;
    double step = large ? 1024 : 512; /* multiply-adds of a scheduler */
    int best = 0, blocks = tmm__plan(s, tiles_down, tiles_across, steps, (int)most, 0);
    for (int turns = 0; turns <= per; turns++) { /* 0: not cut */
        int pieces =
            turns == 0 ? 1 : (int)tmm__min((long long)(turns * processors / tiles), steps / 4);
        if (turns > 0 && (!split || pieces < 2)) continue;
        double rounds = ceil(tiles * pieces / processors);
        double time = rounds * ceil((double)steps / pieces) * step;
        time /= part[large][rounds < per ? (int)rounds : per];
        if (pieces == 1)
            time += 8000;
        else if (pieces < REDUCE_FROM)
            time += 12000 + pieces * (large ? 4400 : 2100);
        else
            time += large ? 27000 : 22000;
        if (best == 0 || time < *clocks) *clocks = time, best = pieces;
    }
    /* Clusters of 3, 5, 6 or 7 blocks are not spread evenly over the multiprocessors, and of more
       than two large tiles were slow. */
    int most_pieces = large ? 2 : TMM__MOST_CLUSTER;
    for (int pieces = 2; split && pieces <= most_pieces && steps >= 4 * pieces; pieces *= 2) {
        double rounds = ceil(tiles * pieces / processors);
        double time = rounds * ceil((double)steps / pieces) * step;
        time /= part[large][rounds < per ? (int)rounds : per];
        time += 13000 + rounds * (large ? 5000 : 1200) * (pieces - 1) / pieces;
        if (tiles > clusters->most[pieces] || time >= *clocks) continue;
        *clocks = time, best = pieces;
        s->cluster = pieces;
    }
    if (s->cluster > 0) {
        s->split_tiles = (int)tiles;
        s->reduce = 1;
        blocks = (int)tiles * best;
    } else if (best > 1) {
        s->split_tiles = (int)tiles;
        s->reduce = best >= REDUCE_FROM;
        blocks = (int)tiles * best;
    }
    double even = tiles * steps / processors * step / part[large][per];
    even += large ? 20000 + 4200 * most / tiles : 16000 + 2100 * most / tiles;
    if (split && even < *clocks && tiles * steps >= 8 * most) {
        tmm__schedule shares;
        int now = tmm__plan(&shares, tiles_down, tiles_across, steps, (int)most, 1);
        if (shares.split_tiles > 0) *s = shares, blocks = now, *clocks = even;
    }
    /* Many tiles with few steps: one a block, so that some begin while others end. */
    if (s->split_tiles == 0 && !large && steps <= 32) blocks = (int)tiles;
    s->sharers = blocks;
    if (drift && tiles >= 2 * most) {
        int rest = (int)tiles % (int)most, shared = rest > 0 && rest <= 0.9 * most;
        s->split_tiles = s->sharers = 0;
        blocks = (int)tiles;
        if (split && steps > 0 && shared && (most + rest) * steps <= INT_MAX) {
            s->sharers = (int)most;
            s->split_tiles = s->sharers + rest;
            blocks -= rest;
        }
    }
    return blocks;
}
#endif

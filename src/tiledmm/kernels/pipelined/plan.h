/* src/tiledmm/kernels/pipelined/plan.h. PLAN of KERNEL PIPELINED: how tiles and steps are divided.
   Uses: launch/, once/. Used by: launch.h. */
#if TMM__HOST && TMM__FAST && !defined(TMM__ONCE)
/* As tmm__plan_whole, but with even shares of the tiles of the last rounds (stream-K), which takes memory for
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

/* Takes the division that should be fastest: whole tiles, each tile in so many whole slices, by
   clusters or without, or even shares. Sets the schedule of plan->instance, the blocks to launch and
   the time. */
static inline void tmm__plan_pipelined(tmm__plan *plan, const tmm__division *d)
{
    const int depth = 8;
    const tmm__costs *t = tmm__tuned();
    const int per = d->blocks, large = d->large, steps = d->steps, processors = d->processors;
    const tmm__block_costs *costs = d->costs;
    const double tiles = (double)d->tiles_down * d->tiles_across, most = (double)per * processors;
    const double clock = tmm__in_nanoseconds(1);
    tmm__schedule *s = &plan->s;
    int blocks = tmm__plan_whole(s, d, (int)most);
    plan->time = HUGE_VAL, plan->cut = TMM__PLAN_WHOLE, plan->slices = 1;
    (void)tmm__is_faster(plan, TMM__PLAN_WHOLE, 1, tmm__slices_time(d, costs, depth, 1));
    for (int turns = 1; d->cut_k && turns <= per; turns++) {
        const int slices = (int)tmm__min((long long)(turns * processors / tiles), steps / 4);
        const int reduce = slices >= t->pipelined.reduce_from;
        if (slices < 2) continue;
        const double guess =
            tmm__slices_time(d, costs, depth, slices) +
            clock * (reduce ? t->pipelined.reduce[large]
                            : t->pipelined.cut + slices * t->pipelined.cut_slice[large]);
        (void)tmm__is_faster(plan, reduce ? TMM__PLAN_REDUCE : TMM__PLAN_SLICES, slices, guess);
    }
    /* Clusters of 3, 5, 6 or 7 blocks are not spread evenly over the multiprocessors, and of more
       than two large tiles were slow. */
    int most_slices = d->clusters == NULL ? 1 : large ? 2 : TMM__MOST_CLUSTER;
    for (int slices = 2; d->cut_k && slices <= most_slices && steps >= 4 * slices; slices *= 2) {
        const double rounds = ceil(tiles * slices / processors);
        double guess = tmm__slices_time(d, costs, depth, slices) + clock * t->pipelined.cluster;
        guess += clock * rounds * t->pipelined.cluster_round[large] * (slices - 1) / slices;
        if (tiles > d->clusters[slices]) continue;
        if (tmm__is_faster(plan, TMM__PLAN_CLUSTERS, slices, guess)) s->cluster = slices;
    }
    if (plan->slices > 1) {
        s->streamk_tiles = (int)tiles;
        s->reduce = s->cluster > 0 || plan->slices >= t->pipelined.reduce_from;
        blocks = (int)tiles * plan->slices;
    }
    if (d->cut_k && tiles * steps >= 8 * most) {
        tmm__load load = d->load;
        load.blocks = fmax(tiles, most), load.k = tiles * steps * depth / load.blocks;
        load.even = 1;
        double guess = tmm__launch_time(costs, &load);
        guess +=
            clock * (t->pipelined.even[large] + t->pipelined.even_partial[large] * most / tiles);
        guess = TMM__PLAN_GUESS(plan->instance, TMM__PLAN_EVEN, 1, guess);
        tmm__schedule shares;
        int more = guess < plan->time ? tmm__plan_even(&shares, d, (int)most) : 0;
        if (more > 0 && shares.streamk_tiles > 0) {
            *s = shares, blocks = more;
            plan->time = guess, plan->cut = TMM__PLAN_EVEN, plan->slices = 1;
        }
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
    plan->blocks = blocks;
}
#endif

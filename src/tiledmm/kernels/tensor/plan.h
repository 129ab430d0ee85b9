/* src/tiledmm/kernels/tensor/plan.h. PLAN of KERNEL TENSOR: how tiles and steps are divided.
   Uses: sizes.h, launch/plan.h, once/. Used by: launch.h. */
#if TMM__HOST && TMM__FAST && !defined(TMM__ONCE)
/* An instance of KERNEL TENSOR. */
typedef struct tmm__tensor_instance {
    int tile_m, tile_n, warps;
    int width;  /* elements to a copy */
    int blocks; /* to a multiprocessor */
    int turns;  /* its tile can be tile_n x tile_m, too */
    int ahead;  /* see TMM__TENSOR_AHEAD */
    const void *kernel;
} tmm__tensor_instance;

/* Its costs. Of an instance that was not measured: of the first one, by the area. One or two blocks
   of a multiprocessor have fewer copies on their way than memory asks for, if L2 does not hold all. */
static inline tmm__block_costs tmm__tensor_costs(const tmm__tensor_instance *i, const tmm__load *w)
{
    const tmm__costs *t = tmm__tuned();
    tmm__block_costs costs =
        tmm__scaled(&t->tensor.instances[0].block,
                    (double)i->tile_m * i->tile_n /
                        (t->tensor.instances[0].tile_m * t->tensor.instances[0].tile_n));
    for (int n = 0; n < TMM__TUNED_TENSOR; n++)
        if (t->tensor.instances[n].tile_m == i->tile_m &&
            t->tensor.instances[n].tile_n == i->tile_n && t->tensor.instances[n].width == i->width)
            costs = t->tensor.instances[n].block;
    if (w->bytes + w->c_bytes < tmm__current_device()->gpu.l2_bytes) return costs;
    const int ahead = (TMM__TENSOR_STAGES(i->tile_m, i->tile_n) - 1) * TMM__TENSOR_DEPTH; /* k */
    for (int n = 0; n < 2; n++)
        costs.k[n] = fmax(costs.k[n], t->tensor.latency / (ahead * (n + 1)));
    return costs;
}

/* Bytes of A and B that memory gives again, since L2 has lost them. Tiles with the same rows or
   columns that begin at the same k read these at the same time: memory gives them once. Even shares
   begin anywhere. The n tiles of a row read a part of A at n times. These are spread over the launch
   like events of a Poisson process: the bytes that go by between two of them are more than L2 keeps
   with a chance of exp(-n kept / all). */
static inline double tmm__again(const tmm__division *d)
{
    const double A = d->load.a_bytes, B = d->load.bytes - A;
    const double kept = tmm__tuned()->tensor.even_held * tmm__current_device()->gpu.l2_bytes;
    const double each = kept / (A + B);
    return A * (d->tiles_across - 1) * exp(-d->tiles_across * each) +
           B * (d->tiles_down - 1) * exp(-d->tiles_down * each);
}

/* Nanoseconds that `work` multiply-adds take longer at the clock that power leaves, see tuning.h.
   L2 gives `copied` bytes for each tile and k, which has `area` multiply-adds. */
static inline double tmm__power_time(double work, double area, double copied)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__device *device = tmm__current_device();
    const double rate = tmm__rate(device->capability, TMM__COST_TENSOR, TMM__TUNED_AS_DOUBLE);
    const double busy = fmin(1, copied * rate / (area * t->l2)); /* part of L2 */
    const double time = work / (rate * device->processors * device->gpu.clock);
    return t->tensor.power * fmax(0, 2 * busy - 1) * fmax(0, time - t->tensor.power_from);
}

/* Slices of each tile by clusters, if they should take less than the plan so far: as many as one or
   two blocks a multiprocessor allow. Clusters do not fill all of these, for the blocks of one are
   neighbours. */
static inline void tmm__plan_tensor_clusters(tmm__plan *plan, const tmm__division *d,
                                             const tmm__block_costs *costs)
{
    const tmm__costs *t = tmm__tuned();
    const int tiles = d->tiles_down * d->tiles_across, steps = d->steps;
    for (int per = 1; per <= 2 && (long long)tiles * steps <= INT_MAX; per++) {
        int n = (int)tmm__min(TMM__MOST_CLUSTER, steps / 4);
        while (n >= 2 && tiles > per * d->clusters[n]) n--;
        if (n < 2) continue;
        const int each = (steps + n - 1) / n;
        while (n > 2 && (steps + n - 2) / (n - 1) == each && tiles <= per * d->clusters[n - 1]) n--;
        tmm__division spread = *d;
        spread.load.processors = fmin(d->load.processors, (double)n * d->clusters[n]);
        const double sums = per * t->tensor.cluster_round * d->load.area * (n - 1) / n;
        const double guess = tmm__slices_time(&spread, costs, TMM__TENSOR_DEPTH, n) +
                             tmm__in_nanoseconds(t->tensor.cluster + sums);
        if (!tmm__is_faster(plan, TMM__PLAN_CLUSTERS, n, guess)) continue;
        plan->blocks = plan->s.streamk_blocks = tiles * n;
        plan->s.streamk_tiles = tiles;
        plan->s.cluster = n;
        plan->s.reduce = 0;
    }
}

/* Whole tiles but for those of a last, short round, if that should take less than the plan so far: of
   these so many slices each that all run at once; or, where large ones are too many for two slices, even
   shares for all blocks. The block with the first part of a tile adds up the others. Small tiles gain
   where a round of all blocks that fit is full, and few tiles are left; after four such rounds their
   blocks no longer end together. */
static inline void tmm__plan_tensor_last(tmm__plan *plan, const tmm__tensor_instance *i,
                                         const tmm__division *d, const tmm__block_costs *costs)
{
    const tmm__costs *t = tmm__tuned();
    const int tiles = d->tiles_down * d->tiles_across, steps = d->steps, large = i->blocks == 1;
    const int resident = i->blocks * d->processors, rest = tiles % d->processors;
    if (tiles <= resident || rest == 0 || (long long)rest * steps > INT_MAX) return;
    const int slices = (int)tmm__min(resident / rest, TMM__MOST_SLICES), even = slices < 2;
    const int blocks = even ? d->processors : rest * slices;
    if (!large && (slices < 5 || tiles > 4 * resident)) return;
    if ((double)rest * steps < 8.0 * blocks) return;
    tmm__load load = d->load;
    load.blocks = tiles - rest;
    const double of_large = (double)i->tile_m * i->tile_n / (128 * 128);
    const double share = (double)rest / (large ? blocks : d->processors);
    const double k = steps * share * (even ? t->tensor.even_step : 1) * (int)TMM__TENSOR_DEPTH;
    const double sums = even ? (double)blocks / rest + 1 : slices - 1; /* to add to the first */
    const double clocks = costs->k[TMM__MOST_RESIDENT] * k + i->blocks * costs->more +
                          t->tensor.last + t->tensor.last_slice * of_large * sums;
    if (!tmm__is_faster(plan, TMM__PLAN_LAST_ROUND, slices,
                        tmm__launch_time(costs, &load) + tmm__in_nanoseconds(clocks)))
        return;
    plan->blocks = tiles - rest + blocks;
    plan->s.streamk_tiles = rest;
    plan->s.streamk_blocks = blocks;
    plan->s.reduce = plan->s.cluster = 0;
}

/* How KERNEL TENSOR is to compute the tiles of `d`, each product in load.blocks / tiles: sets the
   schedule of plan->instance, the blocks to launch for each product and the time. */
static inline void tmm__plan_tensor(tmm__plan *plan, const tmm__tensor_instance *i,
                                    const tmm__division *d)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__block_costs costs = tmm__tensor_costs(i, &d->load);
    const int processors = d->processors, steps = d->steps, depth = TMM__TENSOR_DEPTH;
    const double clock = tmm__in_nanoseconds(1), l2_bytes = tmm__current_device()->gpu.l2_bytes;
    tmm__schedule *s = &plan->s;
    int slots = (i->blocks < 2 ? i->blocks : 2) * processors;
    int tiles = d->tiles_down * d->tiles_across;
    double area = (double)i->tile_m * i->tile_n;
    /* With a short K a block has tile after tile: see KERNEL TENSOR. */
    const int resident = i->blocks * processors;
    const double each = ceil((double)tiles / resident);
    const int ahead = i->ahead && steps <= TMM__AHEAD_STEPS && each >= (int)TMM__AHEAD_TILES &&
                      100.0 * tiles >= (int)TMM__AHEAD_FULL * each * resident;
    plan->blocks = tmm__plan_whole(s, d, ahead ? resident : INT_MAX);
    plan->time = HUGE_VAL, plan->cut = TMM__PLAN_WHOLE, plan->slices = 1;
    /* Of a triangle, the tiles after those that begin together may be alone; costs of other products
       were fitted with that in them. */
    const int alone = (tiles - 1) / processors + 1 - i->blocks;
    double whole = tmm__slices_time(d, &costs, depth, 1);
    if (d->triangle && alone > 0 && alone < i->blocks)
        whole +=
            clock * alone * fmax(0, costs.k[alone - 1] - costs.k[TMM__MOST_RESIDENT]) * d->load.k;
    (void)tmm__is_faster(plan, TMM__PLAN_WHOLE, 1, whole);
    if (!d->cut_k || steps == 0) return;
    /* So many slices of each that one, two or more blocks a multiprocessor run at once, as few as have
       no more steps. The block with the first one adds up the others; or KERNEL REDUCE does, of small
       tiles. */
    const int small = i->tile_m <= 64 && i->tile_n <= 64;
    for (int per = 1; per <= i->blocks && (long long)tiles * steps <= INT_MAX; per++) {
        int n = (int)tmm__min(per * processors / tiles, steps / 4);
        if (n < 2) continue;
        const int each = (steps + n - 1) / n;
        n = (steps + each - 1) / each;
        const double split =
            tmm__slices_time(d, &costs, depth, n) * (small ? 1 : t->tensor.even_step);
        /* The more blocks share a multiprocessor, the further those of a slice drift apart, until L2 has
           lost what they share. */
        const int adds = small && n >= 4 && (per <= 2 || d->load.bytes < 2 * l2_bytes);
        for (int reduce = n > TMM__MOST_SLICES; reduce <= adds; reduce++) {
            double more = t->tensor.slices + t->tensor.slice * area * (n - 1);
            if (reduce)
                more = t->tensor.reduce + n * (n >= t->tensor.reduce_wide_from
                                                   ? t->tensor.reduce_slice_wide
                                                   : t->tensor.reduce_slice);
            if (!tmm__is_faster(plan, reduce ? TMM__PLAN_REDUCE : TMM__PLAN_SLICES, n,
                                split + clock * more))
                continue;
            plan->blocks = s->streamk_blocks = tiles * n;
            s->streamk_tiles = tiles;
            s->reduce = reduce;
        }
    }
    if (small) tmm__plan_tensor_clusters(plan, d, &costs);
    tmm__plan_tensor_last(plan, i, d, &costs);
    /* Even shares of the tiles of the last rounds. */
    int streamk_tiles = tiles < slots ? tiles : slots + tiles % slots;
    long long streamk_steps = (long long)streamk_tiles * steps;
    if (streamk_steps <= INT_MAX && streamk_steps / slots >= 8) {
        const int divides = streamk_tiles % slots != 0; /* else each share is whole tiles */
        tmm__load load = d->load;
        load.blocks = tiles < slots ? slots : tiles, load.even = 1;
        load.k = (divides ? t->tensor.even_step : 1) * tiles * steps * depth / load.blocks;
        if (divides && slots % tiles != 0) load.bytes += tmm__again(d) * streamk_tiles / tiles;
        double guess = tmm__launch_time(&costs, &load) + clock * t->tensor.even;
        if (divides)
            guess += clock * t->tensor.even_partial * area *
                     (tiles < slots ? (double)slots / tiles : (double)tiles / slots);
        if (tmm__is_faster(plan, TMM__PLAN_EVEN, 1, guess)) {
            plan->blocks = s->streamk_blocks = slots;
            s->streamk_tiles = streamk_tiles;
            s->reduce = s->cluster = 0;
        }
    }
}
#endif

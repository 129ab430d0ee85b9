/* src/tiledmm/kernels/tensor_plan.h. PLAN of KERNEL TENSOR: how tiles and steps are divided.
   Uses: kernels/pipelined_plan.h. Used by: kernels/tensor_launch.h. */
#if TMM__HOST && TMM__FAST && !defined(TMM__PART_TENSOR_PLAN)
#define TMM__PART_TENSOR_PLAN
/* An instance of KERNEL TENSOR. */
typedef struct tmm__tensor_instance {
    int tile_m, tile_n, warps;
    int width;  /* elements to a copy */
    int blocks; /* to a multiprocessor */
    const void *kernel;
} tmm__tensor_instance;

/* Is it a small tile, which KERNEL REDUCE can add up? */
static inline int tmm__tensor_small(const tmm__tensor_instance *i)
{
    return i->tile_m == 64 && i->tile_n == 64;
}

/* Clocks of a step of one of `tiles` tiles, `rounds` to a multiprocessor. Of an instance that was not
   measured: as the first one, by the area. */
static inline double tmm__tensor_step(const tmm__tensor_instance *i, double tiles, double rounds)
{
    const tmm__tuning *t = tmm__tuned();
    double area =
        (double)i->tile_m * i->tile_n / (t->tensor.steps[0].tile_m * t->tensor.steps[0].tile_n);
    double alone = t->tensor.steps[0].alone * area, busy = t->tensor.steps[0].busy * area;
    for (int n = 0; n < TMM__TUNED_TENSOR; n++)
        if (t->tensor.steps[n].tile_m == i->tile_m && t->tensor.steps[n].tile_n == i->tile_n &&
            t->tensor.steps[n].width == i->width)
            alone = t->tensor.steps[n].alone, busy = t->tensor.steps[n].busy;
    if (rounds > 1) return busy;
    return fmax(alone, tmm__tensor_small(i) ? t->tensor.l2_step * tiles : 0);
}

/* How KERNEL TENSOR is to compute the tiles of `d`, `batch` times: fills in the schedule and returns
   the blocks to launch for each product. *clocks is what it should take. */
static inline int tmm__plan_tensor(tmm__schedule *s, const tmm__tensor_instance *i,
                                   const tmm__division *d, unsigned batch, double *clocks)
{
    const tmm__tuning *t = tmm__tuned();
    const int processors = d->processors, steps = d->steps;
    const double busy = tmm__tensor_step(i, 1, 2);
    int slots = (i->blocks < 2 ? i->blocks : 2) * processors;
    int tiles = d->tiles_down * d->tiles_across, blocks = tmm__plan_whole(s, d, INT_MAX);
    double area = (double)i->tile_m * i->tile_n;
    /* Whole tiles, each by a block. Blocks that share a multiprocessor hide each other's first
       copies and last stores. */
    double rounds = ceil((double)tiles * batch / processors);
    *clocks = tmm__tensor_step(i, (double)tiles * batch, rounds) * (steps * rounds);
    *clocks += (i->blocks >= 2 ? t->tensor.store_shared : t->tensor.store_alone) * area * rounds;
    if (!d->cut_k || steps == 0) return blocks;
    /* So many slices of each that KERNEL REDUCE is worth its launch. */
    int most = (int)tmm__min(slots / tiles, steps / 4);
    for (int n = 4; n <= most && tmm__tensor_small(i); n++) {
        double load = ceil((double)tiles * n / processors);
        double guess = tmm__tensor_step(i, (double)tiles * n, load);
        guess = guess * ((steps + n - 1) / n * load) + t->tensor.reduce_launch;
        guess += n * (n >= t->tensor.reduce_wide_from ? t->tensor.reduce_slice_wide
                                                      : t->tensor.reduce_slice);
        if (guess >= *clocks) continue;
        *clocks = guess;
        blocks = s->streamk_blocks = tiles * n;
        s->streamk_tiles = tiles;
        s->reduce = 1;
    }
    /* Whole tiles but for those of a last, short round: of these so many slices each that all run
       at once; the block with the first one adds up the others. */
    int rest = tiles % processors;
    int slices = rest > 0 ? (int)tmm__min(processors / rest, TMM__MOST_SLICES) : 1;
    if (i->blocks == 1 && tiles > processors && slices > 1 && steps >= 8 * slices &&
        (long long)rest * steps <= INT_MAX) {
        double guess = steps * (tiles / processors + 1.0 / slices) * busy;
        guess += area * (tiles / processors + 1) + t->tensor.last_launch;
        guess += t->tensor.last_slice * (slices - 1);
        if (guess < *clocks) {
            *clocks = guess;
            blocks = tiles - rest + rest * slices;
            s->streamk_tiles = rest;
            s->streamk_blocks = rest * slices;
            s->reduce = 0;
        }
    }
    /* Even shares of the tiles of the last rounds. */
    int streamk_tiles = tiles < slots ? tiles : slots + tiles % slots;
    long long streamk_steps = (long long)streamk_tiles * steps;
    double guess = t->tensor.even_step * busy * tiles * steps / processors + t->tensor.even_launch;
    guess += t->tensor.even_partial * area *
             (tiles < slots ? (double)slots / tiles : (double)tiles / slots);
    if (streamk_steps <= INT_MAX && streamk_steps / slots >= 8 && guess < *clocks) {
        *clocks = guess;
        blocks = s->streamk_blocks = slots;
        s->streamk_tiles = streamk_tiles;
        s->reduce = 0;
    }
    return blocks;
}
#endif

/* src/tiledmm/once/costs.h. COSTS: how long a launch should take.
   Uses: once/. Used by: launch/, type/explain.h, kernels/. */
#if TMM__HOST && !defined(TMM__ONCE)
/* A kernel's plan predicts its time, and TMM_AUTO takes the plan of the least: type/choose.h. Of most kernels
   (tmm__launch_time), for B blocks on P multiprocessors, which are at work in r = ceil(B / P) rounds:

       clocks  = first + (r - 1) more + k (clocks of a k, of the blocks that share a multiprocessor) + r odd
                 but no fewer than L2 takes for what all blocks copy
       memory  = (bytes of A and B + `write` x bytes of C) / rate of memory, or of L2 if it holds them
       time    = launch + the longer of clocks / frequency and memory + `exposed` x the shorter

   The numbers of a kernel are in tmm__measured, those of a device in tmm__gpus (tuning.h). */

/* What a launch has to do. */
typedef struct tmm__load {
    tmm__family family;
    int type;               /* TMM__TUNED_AS_FLOAT and so on */
    double processors;      /* multiprocessors that share them: */
    double blocks, k;       /* blocks of the launch, or tiles, and the k that each has */
    double area, copied;    /* of a block and each k: multiply-adds, and bytes that it copies */
    double bytes, a_bytes;  /* of A and B, and of A */
    double c_bytes;         /* of C */
    double along_k, single; /* parts of A and B that are contiguous along k, and not aligned */
    int even;               /* the last round may be short: stream-K */
    int odd;                /* rows of C cannot be stored by 16 bytes; 2: and more is done */
} tmm__load;

/* Multiply-adds of a multiprocessor in a clock, by the CUDA C++ Programming Guide's table of
   arithmetic throughput; of double by tensor cores, where the family has them. */
static inline double tmm__rate(int capability, tmm__family family, int type)
{
    const int many = capability == 80 || capability == 90 || capability == 100;
    const int tensor = family != TMM__COST_SIMPLE && family != TMM__COST_OUTER;
    if (type == TMM__TUNED_AS_FLOAT) return capability < 86 && capability != 61 ? 64 : 128;
    if (type == TMM__TUNED_AS_OTHER) return 64;
    if (type == TMM__TUNED_AS_HALF) /* by mma.sync, of sm_90 some 0.62 of wgmma's */
        return capability == 80 ? 1024 : capability == 90 || capability == 100 ? 1280 : 512;
    if (capability == 60 || capability == 70) return 32;
    if (!many) return 2;
    return (capability == 90 ? 64 : 32) * (tensor ? 2 : 1);
}

/* Nanoseconds that memory needs at least, or L2 if it holds all of them. */
static inline double tmm__memory_time(const tmm__load *w)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    if (w->bytes + w->c_bytes < gpu->l2_bytes)
        return (w->bytes + w->c_bytes) / (t->cached * gpu->memory);
    return (w->bytes + t->write * w->c_bytes) / gpu->memory;
}

/* What a plan that takes two launches, or memory, is worth: it gains little where the device
   takes less time than the host. */
static inline double tmm__host_time(double time)
{
    const double host = tmm__tuned()->host;
    return time < host ? host - 0.1 * (host - time) : time;
}

/* Nanoseconds of multiplying and of memory, of which the longer hides most of the shorter. */
static inline double tmm__overlapped(double a, double b)
{
    return fmax(a, b) + tmm__tuned()->exposed * fmin(a, b);
}

/* Clocks for each k of a block that is alone on a multiprocessor; no fewer than its units need. */
static inline double tmm__k_clocks(const tmm__block_costs *c, const tmm__load *w)
{
    return fmax(c->k[0],
                w->area / tmm__rate(tmm__current_device()->capability, w->family, w->type));
}

/* Nanoseconds of a launch whose blocks share the multiprocessors, unless L2 or memory holds them
   up. No block multiplies faster than this device can, which need not be the one that `c` was
   measured on. */
static inline double tmm__launch_time(const tmm__block_costs *c, const tmm__load *w)
{
    const tmm__device *device = tmm__current_device();
    const tmm__gpu *gpu = &device->gpu;
    const double share = w->blocks / w->processors, rounds = w->even ? fmax(share, 1) : ceil(share);
    const int most = TMM__MOST_RESIDENT, resident = rounds < most ? (int)rounds : most;
    const double least = w->area / tmm__rate(device->capability, w->family, w->type);
    const double slower = 1 + c->along_k * w->along_k + c->single * w->single;
    double k = resident * c->k[resident > 0 ? resident - 1 : 0] + (rounds - resident) * c->k[most];
    k = fmax(k * slower, rounds * least);
    double clocks = c->first + (rounds - 1) * c->more * slower + k * w->k;
    clocks += rounds * c->odd * w->odd;
    clocks = fmax(clocks, w->copied * w->blocks * w->k / (tmm__tuned()->l2 * w->processors));
    double memory = tmm__memory_time(w);
    /* A last round that few multiprocessors have leaves part of memory's speed idle. */
    if (w->family == TMM__COST_TENSOR && w->area >= 64 * 64 && share > 2 &&
        w->bytes + w->c_bytes >= gpu->l2_bytes)
        memory *= 1 + tmm__tuned()->tensor.last_round * (rounds / share - 1);
    return gpu->launch + tmm__overlapped(clocks / gpu->clock, memory);
}

/* Clocks of KERNEL SMALL for each k of a tile that is alone and has eight warps: see
   tmm__k_clocks. */
static inline double tmm__small_k_clocks(const tmm__small_costs *c, const tmm__load *w)
{
    const double steps = 8, warps = 8;
    return fmax(hypot(c->step / warps, c->work) / steps,
                w->area / tmm__rate(tmm__current_device()->capability, w->family, w->type));
}

/* Nanoseconds of a launch of KERNEL SMALL with `team` warps to each tile. Tiles that are at work
   together take as long as one; or as all of their multiprocessor in turn, if they wait for its
   units. */
static inline double tmm__small_time(const tmm__small_costs *c, const tmm__load *w, double team)
{
    const tmm__device *device = tmm__current_device();
    const double rate = tmm__rate(device->capability, w->family, w->type);
    const double tiles = ceil(w->blocks / w->processors), steps = ceil(w->k / 8);
    const double rounds = ceil(w->blocks / (w->processors * fmax(floor(c->warps / team), 1)));
    const double slower = 1 + c->along_k * w->along_k + c->single * w->single;
    const double alone = rounds * ceil(steps / team) * c->step * slower;
    const double all = tiles * fmax(steps * c->work * slower, w->k * w->area / rate);
    double clocks = rounds * (c->first + c->few / team) + hypot(alone, all);
    clocks += tiles * (c->tile + c->warp * team + c->odd * w->odd);
    clocks = fmax(clocks, w->copied * w->blocks * w->k / (tmm__tuned()->l2 * w->processors));
    return device->gpu.launch + tmm__overlapped(clocks / device->gpu.clock, tmm__memory_time(w));
}

/* Costs of a block with another area, if they go by that. */
static inline tmm__block_costs tmm__scaled(const tmm__block_costs *c, double area)
{
    tmm__block_costs scaled = {c->first * area, c->more * area, {0},
                               c->along_k,      c->single,      c->odd * area};
    for (int n = 0; n <= TMM__MOST_RESIDENT; n++) scaled.k[n] = c->k[n] * area;
    return scaled;
}

static inline double tmm__in_nanoseconds(double clocks)
{
    return clocks / tmm__current_device()->gpu.clock;
}

/* KERNEL PACK: what it leaves it has read, too. */
static inline double tmm__pack_time(double bytes)
{
    const tmm__costs *t = tmm__tuned();
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    return gpu->launch + t->pack / gpu->clock + 2 * bytes / (t->pack_rate * gpu->memory);
}
#endif

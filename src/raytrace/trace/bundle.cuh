/* src/raytrace/trace/bundle.cuh. Rays of a warp that lie side by side walk through the tree together.
   Uses: config.h, intersection.cuh, kernels/culling.cuh, trace/.
   Used by: kernel.cuh, kernels.cuh, trace/host/query.h. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_BUNDLE)
#define RAYT__PART_BUNDLE
/* ============================== BUNDLES ======================================================= */
/* The rays of a camera through neighbouring pixels meet nearly the same nodes. So a warp walks once
   for its 32 rays: they are a bundle, an interval of origins and one of inverse directions on each
   axis. Each lane tests another box against the bundle, and each ray only those spheres that the
   bundle meets.

        stack            4 nodes of 8 children       spheres of leaves      spheres met
        of nodes    -->  a lane a box: the bundle -> a lane a sphere:    -> all lanes test the same,
           ^                 |                       the bundle             each its own ray
           +-- children -----+

   On an axis where inverse directions are within [i, j], both of one sign, and origins within [o, p],
   no ray enters through plane a before the lesser of (a - p) i and (a - p) j, or leaves through plane
   b after the greater of (b - o) i and (b - o) j; for negative ones o and p change places. Rounding
   is monotonic: what HIT says of boxes holds for intervals as well, and the planes of nodes have
   their part of a step to spare as in single precision (NODES).

   A node in the stack that begins behind the hits of all rays is dropped. */
enum {
    RAYT__BUNDLE_STACK = 64,   /* nodes; more are rare, and then the rays walk alone */
    RAYT__QUERY_THREADS = 128, /* of a block of rayt_query */
    RAYT__ROUNDS = 8           /* of such a block at most: a ray for each thread */
};

/* What a warp has in shared memory. */
typedef struct RAYT_ALIGN rayt__together {
    float4 balls[32];
    int slots[32];
    uint2 stack[RAYT__BUNDLE_STACK]; /* a node, and where the bundle enters it */
    int places[RAYT__WIDTH * 4 * RAYT__LEAF_MOST];
} rayt__together;

/* An axis of a bundle. */
typedef struct rayt__beam {
    float entry, exit; /* the origin that matters for the near planes, and for the far ones */
    float least, most; /* inverse directions, by their size */
} rayt__beam;

typedef struct rayt__bundle {
    rayt__beam x, y, z;
    unsigned octant;
} rayt__bundle;

static __device__ __forceinline__ unsigned rayt__warp_most(unsigned own)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, own);
#else
    for (int step = 16; step > 0; step /= 2) {
        unsigned other = __shfl_xor_sync(0xffffffffu, own, step);
        own = other > own ? other : own;
    }
    return own;
#endif
}

/* An axis of the rays that take part: origins, if these differ, and inverses, all of one sign. */
static __device__ __forceinline__ void rayt__gather(float origin, float inverse, bool part,
                                                    bool differ, bool negative, rayt__beam *beam)
{
    unsigned sign = negative ? 0x80000000u : 0, size = rayt__bits_of(inverse) & 0x7fffffffu;
    beam->least = rayt__float_of(~rayt__warp_most(part ? ~size : 0) | sign);
    beam->most = rayt__float_of(rayt__warp_most(part ? size : 0) | sign);
    if (!differ) return;
    unsigned key = rayt__sort_key(origin);
    float high = rayt__from_sort_key(rayt__warp_most(part ? key : 0));
    float low = rayt__from_sort_key(~rayt__warp_most(part ? ~key : 0));
    beam->entry = negative ? low : high;
    beam->exit = negative ? high : low;
}

/* How far apart the origins of a bundle may lie: 1/64 of the box of all. */
static __device__ __forceinline__ float rayt__close(rayt__tree_view tree)
{
    unsigned word = rayt__load(tree.nodes).w;
    float x = rayt__step_of(word, 0), y = rayt__step_of(word, 1), z = rayt__step_of(word, 2);
    return fmaxf(x, fmaxf(y, z)) * (4 * RAYT__UNIT);
}

/* Makes a bundle of the rays of a warp that can hit. False if they are not side by side: other signs,
   or directions that differ by more than 1/16. */
static __device__ __forceinline__ bool rayt__bundle_of(rayt_unit_ray ray, float close,
                                                       rayt__bundle *bundle)
{
    bool part = ray.t_max >= 0;
    unsigned all = __ballot_sync(0xffffffffu, part);
    unsigned x = __ballot_sync(0xffffffffu, part && ray.ix < 0);
    unsigned y = __ballot_sync(0xffffffffu, part && ray.iy < 0);
    unsigned z = __ballot_sync(0xffffffffu, part && ray.iz < 0);
    if ((x != 0 && x != all) || (y != 0 && y != all) || (z != 0 && z != all) || all == 0)
        return false;
    bundle->octant = (x ? 1u : 0) | (y ? 2u : 0) | (z ? 4u : 0);
    int first = rayt__lowest(all);
    float dx = ray.dx - __shfl_sync(0xffffffffu, ray.dx, first);
    float dy = ray.dy - __shfl_sync(0xffffffffu, ray.dy, first);
    float dz = ray.dz - __shfl_sync(0xffffffffu, ray.dz, first);
    bundle->x.entry = bundle->x.exit = __shfl_sync(0xffffffffu, ray.x, first);
    bundle->y.entry = bundle->y.exit = __shfl_sync(0xffffffffu, ray.y, first);
    bundle->z.entry = bundle->z.exit = __shfl_sync(0xffffffffu, ray.z, first);
    float ox = ray.x - bundle->x.entry, oy = ray.y - bundle->y.entry, oz = ray.z - bundle->z.entry;
    float turned = fmaxf(fabsf(dx), fmaxf(fabsf(dy), fabsf(dz)));
    float moved = fmaxf(fabsf(ox), fmaxf(fabsf(oy), fabsf(oz)));
    if (__any_sync(0xffffffffu, part && !(turned <= 0.0625f && moved <= close))) return false;
    bool differ = __any_sync(0xffffffffu, part && moved != 0);
    rayt__gather(ray.x, ray.ix, part, differ, x != 0, &bundle->x);
    rayt__gather(ray.y, ray.iy, part, differ, y != 0, &bundle->y);
    rayt__gather(ray.z, ray.iz, part, differ, z != 0, &bundle->z);
    return true;
}

/* Narrows [*enter, *leave] to what of a beam lies between two planes; distances from its origins. */
static __device__ __forceinline__ void rayt__narrow(const rayt__beam *beam, float entry, float exit,
                                                    float *enter, float *leave)
{
    *enter = fmaxf(*enter, fminf(rayt_mul(entry, beam->least), rayt_mul(entry, beam->most)));
    *leave = fminf(*leave, fmaxf(rayt_mul(exit, beam->least), rayt_mul(exit, beam->most)));
}

/* A plane of a child: byte `at` of a node. */
static __device__ __forceinline__ float rayt__plane_byte(const uint4 *node, int at)
{
    const unsigned char *byte = (const unsigned char *)node + at;
#ifdef __CUDA_ARCH__
    return __uint_as_float(0x4b000000u | __ldg(byte)) - 8388608.0f; /* 2^23: no conversion */
#else
    return *byte;
#endif
}

/* Does the bundle meet a child of a node, before `most`? In *enter: where. The child is that of
   `byte` in its 8 bytes of planes. Low planes begin at byte 32 of a node, high ones 24 later. */
static __device__ __forceinline__ bool rayt__meets_child(const uint4 *node, uint4 head, int byte,
                                                         const rayt__bundle *bundle, float most,
                                                         float *enter)
{
    int x = bundle->octant & 1 ? 24 : 0, y = bundle->octant & 2 ? 24 : 0;
    int z = bundle->octant & 4 ? 24 : 0;
    float ox = rayt__float_of(head.x), oy = rayt__float_of(head.y), oz = rayt__float_of(head.z);
    float sx = rayt__step_of(head.w, 0) * RAYT__UNIT, sy = rayt__step_of(head.w, 1) * RAYT__UNIT;
    float sz = rayt__step_of(head.w, 2) * RAYT__UNIT, leave = 8 * RAYT_FAR;
    *enter = 0;
    rayt__narrow(&bundle->x, rayt__plane_byte(node, 32 + byte + x) * sx + (ox - bundle->x.entry),
                 rayt__plane_byte(node, 56 + byte - x) * sx + (ox - bundle->x.exit), enter, &leave);
    rayt__narrow(&bundle->y, rayt__plane_byte(node, 40 + byte + y) * sy + (oy - bundle->y.entry),
                 rayt__plane_byte(node, 64 + byte - y) * sy + (oy - bundle->y.exit), enter, &leave);
    rayt__narrow(&bundle->z, rayt__plane_byte(node, 48 + byte + z) * sz + (oz - bundle->z.entry),
                 rayt__plane_byte(node, 72 + byte - z) * sz + (oz - bundle->z.exit), enter, &leave);
    leave *= 1 + RAYT__LONGER;
    return *enter <= fminf(leave, most);
}

/* Does the bundle meet the own box of a sphere, before `most`? */
static __device__ __forceinline__ bool rayt__meets_ball(const rayt__bundle *bundle, float4 ball,
                                                        float most)
{
    bool x = bundle->octant & 1, y = bundle->octant & 2, z = bundle->octant & 4;
    float enter = 0, leave = 8 * RAYT_FAR;
    float low = rayt_low(ball.x, ball.w), high = rayt_high(ball.x, ball.w);
    rayt__narrow(&bundle->x, rayt_sub(x ? high : low, bundle->x.entry),
                 rayt_sub(x ? low : high, bundle->x.exit), &enter, &leave);
    low = rayt_low(ball.y, ball.w), high = rayt_high(ball.y, ball.w);
    rayt__narrow(&bundle->y, rayt_sub(y ? high : low, bundle->y.entry),
                 rayt_sub(y ? low : high, bundle->y.exit), &enter, &leave);
    low = rayt_low(ball.z, ball.w), high = rayt_high(ball.z, ball.w);
    rayt__narrow(&bundle->z, rayt_sub(z ? high : low, bundle->z.entry),
                 rayt_sub(z ? low : high, bundle->z.exit), &enter, &leave);
    return enter <= fminf(leave * (1 + RAYT__LONGER), most);
}

/* Up to 32 spheres, those at places[lane] for `many` lanes: the rays of the warp against all of them
   that the bundle meets. A ray with `any` needs one hit, and has t_max = -1 then. */
static __device__ __forceinline__ void rayt__try_together(rayt__tree_view tree,
                                                          rayt__together *shared,
                                                          const rayt__bundle *bundle, bool meets,
                                                          int place, float most, bool any,
                                                          rayt_unit_ray *ray, int *found)
{
    unsigned lower = (1u << threadIdx.x % 32) - 1, bits = 0;
    float4 ball = make_float4(0, 0, 0, 0);
    float b, discriminant, t;
    if (meets) {
        ball = rayt__load_ball(tree.balls + place);
        meets = rayt__meets_ball(bundle, ball, most);
    }
    unsigned all = __ballot_sync(0xffffffffu, meets);
    if (meets) {
        shared->balls[__popc(all & lower)] = ball;
        shared->slots[__popc(all & lower)] = place;
    }
    __syncwarp();
    int many = __popc(all);
    for (int k = 0; k < many; k++)
        if (rayt_passes(*ray, shared->balls[k], &b, &discriminant)) bits |= 1u << k;
    if (ray->t_max < 0) bits = 0;
    for (; bits != 0; bits &= bits - 1) {
        int slot = rayt__lowest(bits);
        ball = shared->balls[slot];
        if (!rayt_passes(*ray, ball, &b, &discriminant)) continue;
        if (!rayt_root(*ray, ball, b, discriminant, &t)) continue;
        int index = tree.indices[shared->slots[slot]];
        if (!rayt_before(t, index, ray->t_max, *found)) continue;
        ray->t_max = any ? -1 : t;
        *found = index;
        if (any) break;
    }
    __syncwarp();
}

/* The nearest hits of the rays of a bundle, for a warp together. False if the stack was too short:
   then nothing is known. */
static __device__ __forceinline__ bool rayt__walk_together(rayt__tree_view tree,
                                                           rayt__together *shared,
                                                           const rayt__bundle *bundle, bool any,
                                                           rayt_unit_ray *ray, int *found)
{
    int lane = (int)threadIdx.x % 32, waiting = 1, child = (int)(lane % 8 ^ bundle->octant);
    int byte = child % 4 * 2 + child / 4;
    unsigned lower = (1u << lane) - 1, below = (1u << child) - 1;
    __syncwarp(); /* a walk before may have ended early */
    if (lane == 0) shared->stack[0] = make_uint2(0, 0);
    *found = -1;
    while (waiting > 0) {
        /* distances are not negative: they compare as their bits do */
        unsigned reach = rayt__warp_most(ray->t_max < 0 ? 0 : rayt__bits_of(ray->t_max));
        float most = rayt__float_of(reach) * (1 + RAYT__LONGER), enter = 0;
        if (__ballot_sync(0xffffffffu, ray->t_max >= 0) == 0) break;
        int own = waiting - 1 - lane / 8, spheres = 0;
        uint2 entry = make_uint2(0, 0x7fffffffu); /* NaN: none */
        __syncwarp();
        if (own >= 0) entry = shared->stack[own];
        waiting = waiting > 4 ? waiting - 4 : 0;
        const uint4 *node = tree.nodes + (size_t)entry.x * 5;
        uint4 links = make_uint4(0, 0, 0, 0);
        bool inner = false;
        if (rayt__float_of(entry.y) <= most) {
            uint4 head = rayt__load(node);
            links = rayt__load(node + 1);
            if (rayt__meets_child(node, head, byte, bundle, most, &enter)) {
                inner = links.w >> (4 * child + 3) & 1;
                spheres = rayt__ones(links.z >> 4 * child & 15);
            }
            entry.x = links.x + (unsigned)rayt__ones(head.w >> 24 & below);
        }
        unsigned inners = __ballot_sync(0xffffffffu, inner);
        __syncwarp(); /* all have read the stack */
        int place = (int)links.y + rayt__ones(links.z & ((1u << 4 * child) - 1));
        if (waiting + __popc(inners) > RAYT__BUNDLE_STACK) return false;
        waiting += __popc(inners);
        if (inner)
            shared->stack[waiting - 1 - __popc(inners & lower)] =
                make_uint2(entry.x, rayt__bits_of(enter));
        unsigned ones = __ballot_sync(0xffffffffu, spheres & 1);
        unsigned twos = __ballot_sync(0xffffffffu, spheres & 2);
        unsigned fours = __ballot_sync(0xffffffffu, spheres & 4);
        int before = __popc(ones & lower) + 2 * __popc(twos & lower) + 4 * __popc(fours & lower);
        int all = __popc(ones) + 2 * __popc(twos) + 4 * __popc(fours);
        for (int k = 0; k < spheres; k++) shared->places[before + k] = place + k;
        __syncwarp();
        for (int first = 0; first < all; first += 32) {
            bool one = first + lane < all;
            rayt__try_together(tree, shared, bundle, one, one ? shared->places[first + lane] : 0,
                               most, any, ray, found);
        }
    }
    __syncwarp();
    return true;
}

/* The nearest spheres that the rays of a warp hit, as KINDS OF MEMORY has it: together, if they
   are a bundle, else alone. */
static __device__ __forceinline__ int rayt__find_bundles(rayt__tree_view tree,
                                                         rayt__together *shared, bool wanted,
                                                         bool any, rayt_unit_ray *ray)
{
    rayt__bundle bundle;
    rayt_unit_ray own = *ray;
    int found = -1;
    if (!wanted) own.t_max = -1;
    bool bundled = rayt__bundle_of(own, rayt__close(tree), &bundle);
    if (bundled) bundled = rayt__walk_together(tree, shared, &bundle, any, &own, &found);
    if (!bundled) {
        rayt__group waiting[RAYT__DEPTH];
        rayt__walk walk = {};
        rayt__begin_walk(&walk, *ray, wanted);
        rayt__walk_on(tree, &walk, waiting, any, 32);
        own.t_max = walk.ray.t_max;
        found = walk.found;
    }
    if (found >= 0) ray->t_max = own.t_max;
    return found;
}
#endif

/* src/raytrace/trace/walk.cuh. Walks through the tree: nearest hit, any hit, all within a radius.
   Uses: config.h, hit.cuh, nodes.cuh. Used by: trace/, trace/host/. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_WALK)
#define RAYT__PART_WALK
/* ============================== WALKS ========================================================= */
/* A walk keeps, for each level that it has entered, the children that are still to be seen: one
   8-byte entry a level. BUILD makes no tree deeper than RAYT__DEPTH.

        first child that is a node, 32 bits
        where the ray enters the nearest of those to be seen, 16 bits of a float | which children are
        nodes, 8 bits | which are to be seen, 8 bits

   The last are in the order in which this ray sees them: bit j is child j ^ octant. An entry whose
   nearest child begins beyond the best hit is dropped whole. That saves a tenth to a sixth of all
   nodes; to know as much of each child would save little more. */
#define RAYT__DEPTH 64

typedef struct rayt__group {
    unsigned first, masks;
} rayt__group;

/* Bits 4 k + 3 of a mask as 8 bits in the order of a ray: bit k ^ octant for child k. The selector
   moves bytes, which are pairs of children; PRMT has it as an index for each. */
static __host__ __device__ __forceinline__ unsigned rayt__in_order(unsigned mask, unsigned octant)
{
#ifdef __CUDA_ARCH__
    mask = __byte_perm(mask, 0, 0x3210u ^ (octant >> 1) * 0x1111u);
#else
    if (octant & 2) mask = (mask & 0x00ff00ffu) << 8 | (mask >> 8 & 0x00ff00ffu);
    if (octant & 4) mask = mask << 16 | mask >> 16;
#endif
    unsigned shift = (octant & 1) * 4;
    mask = (mask & 0x08080808u) << shift | (mask & 0x80808080u) >> shift;
    mask = (mask >> 3 | mask >> 6) & 0x03030303u;
    return mask * 0x01041040u >> 24; /* four pairs of bits, side by side */
}

/* Takes the next child from a group that has one; returns its node. */
static __host__ __device__ __forceinline__ unsigned rayt__next(rayt__group *group, unsigned octant)
{
    unsigned masks = group->masks, child = (unsigned)rayt__lowest(masks & 255) ^ octant;
    group->masks = masks & (masks - 1);
    return group->first + (unsigned)rayt__ones(masks >> 8 & ((1u << child) - 1));
}

/* Are there children of this entry to be seen, which begin before `most`? */
static __host__ __device__ __forceinline__ bool rayt__worthwhile(rayt__group group, float most)
{
    return (group.masks & 255) != 0 && rayt__float_of(group.masks & 0xffff0000u) <= most;
}

/* What a walk does next. */
enum { RAYT__ENDED = 0, RAYT__SEES_NODE, RAYT__SEES_BALL, RAYT__HITS_BALL, RAYT__TURNS };

/* A ray on its way through a tree. */
typedef struct rayt__walk {
    rayt_unit_ray ray; /* t_min and inverses in units of walks; t_max: of the best hit so far */
    int stage, found;  /* found: the sphere, or -1 */
    rayt__group group; /* the children of the last node that are still to be seen */
    int levels;        /* of waiting groups */
    unsigned octant, node;
    unsigned spheres, leaves, sphere; /* of the last node, as rayt__met has them */
    unsigned place;                   /* of the ball that the ray's line passes through */
    float b, discriminant;
} rayt__walk;

/* Begins a walk, or none, if the ray cannot hit or none is wanted. */
static __host__ __device__ __forceinline__ void rayt__begin_walk(rayt__walk *walk,
                                                                 rayt_unit_ray ray, bool wanted)
{
    walk->stage = wanted && ray.t_max >= 0 ? RAYT__SEES_NODE : RAYT__ENDED;
    walk->octant = (ray.ix < 0 ? 1u : 0) | (ray.iy < 0 ? 2u : 0) | (ray.iz < 0 ? 4u : 0);
    ray.ix *= RAYT__UNIT;
    ray.iy *= RAYT__UNIT;
    ray.iz *= RAYT__UNIT;
    ray.t_min *= RAYT__UNIT;
    walk->ray = ray;
    walk->found = -1;
    walk->group.masks = 0;
    walk->levels = 0;
    walk->node = 0;
}

/* How far a walk goes, in units of walks: 2^-19 of the distance beyond the best hit. */
static __host__ __device__ __forceinline__ float rayt__most(const rayt__walk *walk)
{
    return walk->ray.t_max * ((1 + RAYT__LONGER) * RAYT__UNIT);
}

/* A node: which of its spheres and children the ray meets. */
static __host__ __device__ __forceinline__ void rayt__see_node(rayt__tree_view tree,
                                                               rayt__walk *walk,
                                                               rayt__group *waiting)
{
    rayt__met met = rayt__meet(tree.nodes + (size_t)walk->node * 5, &walk->ray, rayt__most(walk));
    walk->spheres = met.spheres;
    walk->leaves = met.leaves;
    walk->sphere = met.sphere;
    walk->stage = met.spheres != 0 ? RAYT__SEES_BALL : RAYT__TURNS;
    walk->node = 0; /* the root is nobody's child: turn back */
    if (met.children == 0) return;
    if ((walk->group.masks & 255) != 0) waiting[walk->levels++] = walk->group;
    unsigned order = rayt__in_order(met.children, walk->octant), rest = order & (order - 1);
    unsigned child = (unsigned)rayt__lowest(order) ^ walk->octant;
    walk->group.first = met.node;
    walk->group.masks = met.all << 8 | rest;
    if (rest != 0) walk->group.masks |= rayt__least(&met, met.children & ~(8u << 4 * child));
    walk->node = met.node + (unsigned)rayt__ones(met.all & ((1u << child) - 1));
}

/* The next sphere: does the ray's line pass through it? */
static __host__ __device__ __forceinline__ void rayt__see_ball(rayt__tree_view tree,
                                                               rayt__walk *walk)
{
    walk->place = rayt__next_sphere(&walk->spheres, walk->leaves, walk->sphere);
    float4 ball = rayt__load_ball(tree.balls + walk->place);
    if (rayt_passes(walk->ray, ball, &walk->b, &walk->discriminant)) {
        walk->stage = RAYT__HITS_BALL;
    } else if (walk->spheres == 0) {
        walk->stage = RAYT__TURNS;
    }
}

/* The sphere that has been passed through: is that a hit, and the best one? */
static __host__ __device__ __forceinline__ void rayt__hit_ball(rayt__tree_view tree,
                                                               rayt__walk *walk, bool any)
{
    rayt_unit_ray ray = walk->ray;
    float t;
    ray.ix *= 1 / RAYT__UNIT;
    ray.iy *= 1 / RAYT__UNIT;
    ray.iz *= 1 / RAYT__UNIT;
    ray.t_min *= 1 / RAYT__UNIT;
    float4 ball = rayt__load_ball(tree.balls + walk->place);
    walk->stage = walk->spheres != 0 ? RAYT__SEES_BALL : RAYT__TURNS;
    if (!rayt_root(ray, ball, walk->b, walk->discriminant, &t)) return;
    int index = tree.indices[walk->place];
    if (!rayt_before(t, index, ray.t_max, walk->found)) return;
    walk->ray.t_max = t;
    walk->found = index;
    if (any) walk->stage = RAYT__ENDED;
}

/* On to the first child of the last node, or back to what is waiting. */
static __host__ __device__ __forceinline__ void rayt__turn_to(rayt__walk *walk,
                                                              const rayt__group *waiting)
{
    walk->stage = RAYT__SEES_NODE;
    if (walk->node != 0) return;
    rayt__group group = walk->group;
    float most = rayt__most(walk);
    while (!rayt__worthwhile(group, most) && walk->levels > 0) group = waiting[--walk->levels];
    if (rayt__worthwhile(group, most)) {
        walk->node = rayt__next(&group, walk->octant);
    } else {
        walk->stage = RAYT__ENDED;
    }
    walk->group = group;
}

/* The nearest sphere that the ray hits, or with `any` whichever is found first: its index, and in *t
   the distance. -1 for none. */
static __host__ __device__ __forceinline__ int rayt__tree_nearest(rayt__tree_view tree,
                                                                  rayt_unit_ray ray, bool any,
                                                                  float *t)
{
    rayt__group waiting[RAYT__DEPTH];
    rayt__walk walk;
    rayt__begin_walk(&walk, ray, true);
    while (walk.stage != RAYT__ENDED) {
        rayt__see_node(tree, &walk, waiting);
        while (walk.stage == RAYT__SEES_BALL) {
            rayt__see_ball(tree, &walk);
            if (walk.stage == RAYT__HITS_BALL) rayt__hit_ball(tree, &walk, any);
        }
        if (walk.stage == RAYT__TURNS) rayt__turn_to(&walk, waiting);
    }
    *t = walk.ray.t_max;
    return walk.found;
}

/* Walks on, a warp together, until `enough` of its walks have ended, or all. Rays of a warp go their
   own ways, and where they disagree lanes wait. So each round takes one node for all that are ready
   for one, and then spheres only as long as a quarter of these lanes have some: a sphere takes a sixth
   of the time of a node. For the rare hits it is the same. The others keep theirs for later rounds. */
static __device__ __forceinline__ void rayt__walk_on(rayt__tree_view tree, rayt__walk *walk,
                                                     rayt__group *waiting, bool any, int enough)
{
    for (;;) {
        if (walk->stage == RAYT__TURNS) rayt__turn_to(walk, waiting);
        __syncwarp();
        if (walk->stage == RAYT__SEES_NODE) rayt__see_node(tree, walk, waiting);
        __syncwarp();
        int turns = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__TURNS));
        int balls = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__SEES_BALL));
        while (balls > 0 && 3 * balls >= turns) {
            if (walk->stage == RAYT__SEES_BALL) rayt__see_ball(tree, walk);
            __syncwarp();
            balls = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__SEES_BALL));
        }
        int hits = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__HITS_BALL));
        turns = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__TURNS));
        if (hits > 0 && 3 * hits >= turns && walk->stage == RAYT__HITS_BALL)
            rayt__hit_ball(tree, walk, any);
        __syncwarp();
        int ended = __popc(__ballot_sync(0xffffffffu, walk->stage == RAYT__ENDED));
        if (ended >= enough || ended == 32) return;
    }
}

/* Puts an index into an ascending list that has `count`; the largest falls out if it is full. */
static __host__ __device__ __forceinline__ void rayt__insert(int *list, int count, int capacity,
                                                             int index)
{
    int place = count;
    if (count >= capacity) {
        if (capacity == 0 || list[capacity - 1] < index) return;
        place = capacity - 1;
    }
    for (; place > 0 && list[place - 1] > index; place--) list[place] = list[place - 1];
    list[place] = index;
}

/* How many spheres come within point.w of a point; the list gets the lowest `capacity` indices. */
static __host__ __device__ __forceinline__ int rayt__tree_within(rayt__tree_view tree, float4 point,
                                                                 int *list, int capacity)
{
    rayt__group waiting[RAYT__DEPTH], group = {0, 0};
    unsigned node = 0;
    int levels = 0, count = 0;
    if (!rayt_place(point)) return 0;
    point.x = rayt_not_tiny(point.x);
    point.y = rayt_not_tiny(point.y);
    point.z = rayt_not_tiny(point.z);
    float reach = rayt_reach(point.w);
    reach += reach * RAYT__LONGER;
    for (;;) {
        const uint4 *here = tree.nodes + (size_t)node * 5;
        rayt__met met = rayt__near(here, point, reach);
        while (met.spheres != 0) {
            unsigned place = rayt__next_sphere(&met.spheres, met.leaves, met.sphere);
            if (!rayt_within(point, rayt__load_ball(tree.balls + place))) continue;
            rayt__insert(list, count, capacity, tree.indices[place]);
            count++;
        }
        if (met.children != 0) {
            if ((group.masks & 255) != 0) waiting[levels++] = group;
            group.first = met.node;
            group.masks = met.all << 8 | rayt__in_order(met.children, 0);
        } else if ((group.masks & 255) == 0) {
            if (levels == 0) break;
            group = waiting[--levels];
        }
        node = rayt__next(&group, 0);
    }
    return count;
}
#endif

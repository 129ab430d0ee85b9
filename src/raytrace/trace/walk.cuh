/* src/raytrace/trace/walk.cuh. Walks through the tree: nearest hit, any hit, all within a radius.
   Uses: config.h, hit.cuh, nodes.cuh. Used by: kernels.cuh, kinds.cuh, trace/host/query.h. */
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

/* A mask of children in the order of a ray: bit j ^ octant of it becomes bit j. */
static __host__ __device__ __forceinline__ unsigned rayt__in_order(unsigned mask, unsigned octant)
{
    if (octant & 1) mask = (mask & 0x55u) << 1 | (mask >> 1 & 0x55u);
    if (octant & 2) mask = (mask & 0x33u) << 2 | (mask >> 2 & 0x33u);
    if (octant & 4) mask = (mask & 0x0fu) << 4 | (mask >> 4 & 0x0fu);
    return mask;
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

/* The least distance at which the ray enters one of these children, rounded down to the upper 16 bits
   of a float. */
static __host__ __device__ __forceinline__ unsigned rayt__least(const float *at, unsigned children)
{
    float least = 3e38f;
    RAYT__UNROLL
    for (int k = 0; k < RAYT__WIDTH; k++)
        if (children >> k & 1) least = fminf(least, at[k]);
    return rayt__bits_of(least) & 0xffff0000u;
}

/* The nearest sphere that the ray hits, or with `any` whichever is found first: its index, and in *t
   the distance. -1 for none. The same for a tree of the device on the device, and of the host on the
   host. */
static __host__ __device__ __forceinline__ int rayt__tree_nearest(rayt__tree_view tree,
                                                                  rayt_unit_ray ray, bool any,
                                                                  float *t)
{
    rayt__group waiting[RAYT__DEPTH], group = {0, 0};
    unsigned octant = (ray.ix < 0 ? 1u : 0) | (ray.iy < 0 ? 2u : 0) | (ray.iz < 0 ? 4u : 0);
    unsigned node = 0;
    int levels = 0, found = -1;
    float most = ray.t_max + ray.t_max * RAYT__LONGER;
    if (ray.t_max < 0) return -1;
    for (;;) {
        const uint4 *here = tree.nodes + (size_t)node * 5;
        float at[RAYT__WIDTH];
        rayt__met met = rayt__meet(here, &ray, most, at);
        while (met.spheres != 0) {
            unsigned place = rayt__next_sphere(&met);
            float4 ball = rayt__load_ball(tree.balls + place);
            float b, discriminant, hit;
            if (!rayt_passes(ray, ball, &b, &discriminant)) continue;
            if (!rayt_root(ray, ball, b, discriminant, &hit)) continue;
            int index = tree.indices[place];
            if (!rayt_before(hit, index, ray.t_max, found)) continue;
            ray.t_max = hit;
            most = hit + hit * RAYT__LONGER;
            found = index;
            if (any) break;
        }
        if (any && found >= 0) break;
        if (met.children != 0) {
            if ((group.masks & 255) != 0) waiting[levels++] = group;
            unsigned order = rayt__in_order(met.children, octant);
            unsigned child = (unsigned)rayt__lowest(order) ^ octant;
            group.first = met.node;
            group.masks = met.all << 8 | (order & (order - 1));
            if ((order & (order - 1)) != 0)
                group.masks |= rayt__least(at, met.children & ~(1u << child));
            node = met.node + (unsigned)rayt__ones(met.all & ((1u << child) - 1));
            continue;
        }
        while (!rayt__worthwhile(group, most) && levels > 0) group = waiting[--levels];
        if (!rayt__worthwhile(group, most)) break;
        node = rayt__next(&group, octant);
    }
    *t = ray.t_max;
    return found;
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
            unsigned place = rayt__next_sphere(&met);
            if (!rayt_within(point, rayt__load_ball(tree.balls + place))) continue;
            rayt__insert(list, count, capacity, tree.indices[place]);
            count++;
        }
        if (met.children != 0) {
            if ((group.masks & 255) != 0) waiting[levels++] = group;
            group.first = met.node;
            group.masks = met.all << 8 | met.children;
        } else if ((group.masks & 255) == 0) {
            if (levels == 0) break;
            group = waiting[--levels];
        }
        node = rayt__next(&group, 0);
    }
    return count;
}
#endif

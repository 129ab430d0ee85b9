/* src/raytrace/trace/clusters.cuh. Few spheres: a list of clusters in place of a walk.
   Uses: config.h, intersection.cuh, kernels/culling.cuh, trace/.
   Used by: kernel.cuh, trace/host/build.h. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && \
    !defined(RAYT__PART_CLUSTERS)
#define RAYT__PART_CLUSTERS
/* ============================== CLUSTERS ====================================================== */
/* Up to 512 spheres fit into shared memory, and a tree over them has three levels. Then it costs less
   to test the boxes of all groups of 8 spheres than to walk: each ray tests all of them, no lane goes
   its own way, and there is no stack. KERNEL TRACE does so for RAYT_TREE.

        apart       the 4 largest spheres, which every ray tests: a ground, some large ones
        clusters    up to 64 of 8 spheres. The others are sorted along the widest axis of their box
                    and cut in the middle, and so are the halves, until 8 are left

   Boxes are on a grid for all, 8 bits a plane, as in a node of the tree, but for their form: low +
   high, and high - low, two halves each. With c = (low + high) step / 2 + base and h = (high - low)
   |step| / 2 the near plane is at c - h and the far one at c + h, whatever the signs of the ray.

   All that NODES proves is true here, with two more roundings of 1/8 of a step: that of c, and that of
   2^-19 of `begin`, which entries have less here. So boxes have 9/8 of a step to spare. */
enum {
    RAYT__LIST_MOST = 512, /* spheres, and threads that make the list */
    RAYT__APART = 4,
    RAYT__CLUSTER = 8,
    RAYT__CLUSTERS = 64,
    RAYT__SLOTS = RAYT__CLUSTER * RAYT__CLUSTERS
};

/* Cluster k has spheres 8 k .. 8 k + 7. Boxes of clusters k and k + 16 are a pair of halves, k in the
   lower one. planes[n] has two pairs, so four clusters; a word is a pair:

        planes[n][0]   low + high of x, x, of y, y
                 [1]   low + high of z, z, high - low of x, x
                 [2]   high - low of y, y, of z, z
*/
typedef struct RAYT_ALIGN rayt__clusters {
    float4 balls[RAYT__SLOTS + RAYT__APART]; /* those apart at the end; NaN where there is none */
    uint4 planes[RAYT__CLUSTERS / 4][3];
    float x, y, z;      /* the origin of the grid */
    unsigned exponents; /* as a node has them */
    int words;          /* of a mask of clusters: 0, 1 or 2 */
    int unused[3];      /* 0: a block copies these, too */
} rayt__clusters;

/* Which sphere is at each place, those apart at the end. */
static __host__ __device__ __forceinline__ const int *rayt__list_indices(rayt__tree_view tree)
{
    return (const int *)((const rayt__clusters *)tree.list + 1);
}

/* Where a plane of a cluster is among the halves of `planes`: 0 .. 2 for low + high of x, y, z, 3 .. 5
   for high - low. */
static __host__ __device__ __forceinline__ int rayt__plane_at(int cluster, int plane)
{
    int word = cluster / 32, pair = cluster % 16, upper = cluster / 16 % 2;
    return ((((word * 8 + pair / 2) * 3) * 4 + 2 * plane + pair % 2) * 2) + upper;
}

#if RAYT__HALVES
/* Which clusters a ray meets between t_min and `most`, as rayt__meet; the last word of the mask is in
   *last, one before it in *other. */
static __device__ __forceinline__ void rayt__meet_clusters(const rayt__clusters *list,
                                                           const rayt_unit_ray *ray, float most,
                                                           unsigned *last, unsigned *other)
{
    rayt__frame frame = rayt__into_frame(list->x, list->y, list->z, list->exponents, ray, most);
    const unsigned half = 0x38003800u, sign = 0x80008000u;
    float later = frame.begin * __int_as_float(frame.all) * RAYT__LONGER;
    unsigned less = rayt__pair_of(-later, -later), end = rayt__twice_low(frame.exit_z);
    unsigned x = rayt__twice_high(frame.exit_xy), y = rayt__twice_low(frame.exit_xy);
    unsigned z = rayt__twice_high(frame.exit_z);
    unsigned sx = rayt__pair_fma(rayt__twice_high(frame.enter_x), half, 0), ax = sx & ~sign;
    unsigned sy = rayt__pair_fma(rayt__twice_high(frame.enter_y), half, 0), ay = sy & ~sign;
    unsigned sz = rayt__pair_fma(rayt__twice_high(frame.enter_z), half, 0), az = sz & ~sign;
    *last = *other = 0;
    for (int word = 0; word < list->words; word++) {
        unsigned mask = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) { /* pairs 2 k and 2 k + 1 */
            uint4 a = list->planes[word * 8 + k][0], b = list->planes[word * 8 + k][1];
            uint4 c = list->planes[word * 8 + k][2];
#pragma unroll
            for (int odd = 0; odd < 2; odd++) {
                unsigned hx = odd ? b.w : b.z, hy = odd ? c.y : c.x, hz = odd ? c.w : c.z;
                unsigned cx = rayt__pair_fma(odd ? a.y : a.x, sx, x);
                unsigned cy = rayt__pair_fma(odd ? a.w : a.z, sy, y);
                unsigned cz = rayt__pair_fma(odd ? b.y : b.x, sz, z);
                unsigned enter = rayt__pair_max(rayt__pair_fma(hx, ax | sign, cx),
                                                rayt__pair_max(rayt__pair_fma(hy, ay | sign, cy),
                                                               rayt__pair_fma(hz, az | sign, cz)));
                unsigned exit = rayt__pair_min(rayt__pair_min(rayt__pair_fma(hx, ax, cx), end),
                                               rayt__pair_min(rayt__pair_fma(hy, ay, cy),
                                                              rayt__pair_fma(hz, az, cz)));
                enter = rayt__pair_fma_0(enter, 0x3c003c00u, less);
                mask |= rayt__pair_le(enter, exit) & (0x00010001u << (2 * k + odd));
            }
        }
        *other = *last;
        *last = mask;
    }
}
#else
/* The same in single precision. */
static __device__ __forceinline__ void rayt__meet_clusters(const rayt__clusters *list,
                                                           const rayt_unit_ray *ray, float most,
                                                           unsigned *last, unsigned *other)
{
    const unsigned short *planes = (const unsigned short *)list->planes;
    float step[3], base[3], later[3];
    for (int k = 0; k < 3; k++) {
        float inverse = (&ray->ix)[k];
        step[k] = rayt__step_of(list->exponents, k) * RAYT__UNIT * inverse * 0.5f;
        base[k] = ((&list->x)[k] - (&ray->x)[k]) * inverse;
        later[k] = fabsf(base[k]) * RAYT__LONGER;
    }
    *last = *other = 0;
    for (int cluster = 0; cluster < 32 * list->words; cluster++) {
        float enter = ray->t_min, exit = most;
        for (int k = 0; k < 3; k++) {
            float middle = planes[rayt__plane_at(cluster, k)] * step[k] + base[k];
            short size = (short)planes[rayt__plane_at(cluster, 3 + k)];
            float half = (float)size * fabsf(step[k]);
            enter = fmaxf(enter, middle - half);
            exit = fminf(exit, middle + half + later[k]);
        }
        if (enter <= exit) *(cluster / 32 == list->words - 1 ? last : other) |= 1u << cluster % 32;
    }
}
#endif

/* Which of the 8 balls of a cluster the line of a ray passes through. Lanes read them in other orders:
   then 8 in a row are in other banks, whatever their clusters. Bit 7 - k is ball k ^ lane % 8. */
static __device__ __forceinline__ unsigned rayt__pass_cluster(const rayt__clusters *list,
                                                              int cluster, const rayt_unit_ray *ray)
{
    int place = (cluster * RAYT__CLUSTER + (int)threadIdx.x % RAYT__CLUSTER) * 16; /* in bytes */
    unsigned bits = 0;
#pragma unroll
    for (int k = 0; k < RAYT__CLUSTER; k++) { /* then this is one operation a ball */
        float4 ball = *(const float4 *)((const char *)list + (place ^ k * 16));
        float b, discriminant;
        (void)rayt_passes(*ray, ball, &b, &discriminant);
        unsigned sign = rayt__bits_of(RAYT_CANCEL - discriminant); /* 1: it passes; of NaN 0 */
#ifdef __CUDA_ARCH__
        bits = __funnelshift_l(sign, bits, 1); /* fewer instructions than a comparison takes */
#else
        bits = bits << 1 | (discriminant > RAYT_CANCEL);
        (void)sign;
#endif
    }
    return bits;
}

/* Is this ball behind a ray that is outside of it? A ray that has left the ground would go through all
   of rayt_root for it, to no end. True only if rayt_root is sure to find nothing: the line passes
   through the ball, by more than rounding can be (2^-18 of radius^2), and the origin is outside by more
   than that (2^-20), and not so far away that directions were not unit any more. Then the part of the
   line in the ball ends before the origin. So do the part in its own box, on which signs are exact. */
static __device__ __forceinline__ bool rayt__behind(const rayt_unit_ray *ray, float4 ball, float b,
                                                    float discriminant)
{
    float x = ray->x - ball.x, y = ray->y - ball.y, z = ray->z - ball.z, square = ball.w * ball.w;
    float outside = x * x + (y * y + (z * z - square));
    return b < 0 && outside > square * 9.5367431640625e-7f && outside < square * 1024 &&
           discriminant > square * 3.814697265625e-6f;
}

/* The nearest spheres that the rays of a warp hit, as KINDS OF MEMORY has it; all lanes come here.
   Where some have nothing to do the others wait, so there are three parts, each for all: boxes, balls of
   the clusters that are met, and hits. Between them a lane keeps up to 4 clusters, 16 bits each: which
   balls, and the number of the cluster. The spheres apart are cluster RAYT__CLUSTERS. */
static __device__ __forceinline__ int rayt__find_clusters(const rayt__clusters *list,
                                                          const int *indices, bool wanted, bool any,
                                                          rayt_unit_ray *ray)
{
    int found = -1, lane = (int)threadIdx.x % RAYT__CLUSTER ^ 7;
    unsigned first, second, kept = 0, older = 0; /* clusters: the last two, and those before them */
    float b, discriminant, t;
#pragma unroll
    for (int k = 0; k < RAYT__APART; k++)
        if (rayt_passes(*ray, list->balls[RAYT__SLOTS + k], &b, &discriminant) &&
            !(k == 0 && rayt__behind(ray, list->balls[RAYT__SLOTS + k], b, discriminant)))
            kept |= 256u << (k ^ lane);
    if (kept != 0) kept |= RAYT__CLUSTERS;
    rayt_unit_ray walk = *ray;
    walk.ix *= RAYT__UNIT;
    walk.iy *= RAYT__UNIT;
    walk.iz *= RAYT__UNIT;
    walk.t_min *= RAYT__UNIT;
    rayt__meet_clusters(list, &walk, ray->t_max * ((1 + RAYT__LONGER) * RAYT__UNIT), &first,
                        &second);
    if (!wanted) first = second = kept = 0;
    int begin = 32 * (list->words - 1);
    do {
        for (;;) {
            bool one = (first | second) != 0 && older >> 16 == 0;
            if (!__any_sync(0xffffffffu, one)) break;
            if (one) {
                unsigned mask = first != 0 ? first : second;
                int cluster = rayt__lowest(mask) + (first != 0 ? begin : 0);
                mask &= mask - 1;
                second = first != 0 ? second : mask;
                first = first != 0 ? mask : 0;
                unsigned bits = rayt__pass_cluster(list, cluster, ray);
                if (bits != 0) {
                    older = older << 16 | kept >> 16;
                    kept = kept << 16 | bits << 8 | (unsigned)cluster;
                }
            }
            __syncwarp();
        }
        while (__any_sync(0xffffffffu, kept != 0)) {
            if (kept != 0) {
                int bit = rayt__lowest(kept & 0xff00u);
                int slot = (int)(kept & 255) * RAYT__CLUSTER + ((bit - 8) ^ lane);
                float4 ball = list->balls[slot];
                kept ^= 1u << bit;
                if ((kept & 0xff00u) == 0) {
                    kept = kept >> 16 | older << 16;
                    older >>= 16;
                }
                bool passes = rayt_passes(*ray, ball, &b, &discriminant);
                if (passes && rayt_root(*ray, ball, b, discriminant, &t)) {
                    int index = indices[slot];
                    if (rayt_before(t, index, ray->t_max, found)) {
                        ray->t_max = t;
                        found = index;
                        if (any) kept = older = first = second = 0;
                    }
                }
            }
            __syncwarp();
        }
    } while (__any_sync(0xffffffffu, (first | second) != 0));
    return found;
}

/* ---- how the list is made ---- */

/* The box of what all 8 threads of a cluster have. */
static __device__ __forceinline__ rayt__box rayt__of_cluster(rayt__box box)
{
    for (int step = 1; step < RAYT__CLUSTER; step *= 2) {
        rayt__box other;
        float *from = &box.low_x, *to = &other.low_x;
        for (int k = 0; k < 6; k++) to[k] = __shfl_xor_sync(0xffffffffu, from[k], step);
        box = rayt__around(box, other);
    }
    return box;
}

/* The box of clusters first .. last - 1. */
static __device__ __forceinline__ rayt__box rayt__of_clusters(const rayt__box *boxes, int first,
                                                              int last)
{
    rayt__box all = boxes[first];
#pragma unroll 4
    for (int k = first + 1; k < last; k++) all = rayt__around(all, boxes[k]);
    return all;
}

/* One axis of the box of a cluster. */
static __device__ __forceinline__ void rayt__set_planes(rayt__clusters *list, int cluster, int axis,
                                                        float low, float high, float origin,
                                                        unsigned e)
{
    unsigned short *planes = (unsigned short *)list->planes;
    float steps = rayt__float_of((254 - e) << 23);
    int below = (int)floorf((low - origin) * steps * 0.9999997615814209f - 1.125f);
    int above = (int)ceilf((high - origin) * steps * 1.0000002384185791f + 1.125f);
    planes[rayt__plane_at(cluster, axis)] = (unsigned short)(below + above);
    planes[rayt__plane_at(cluster, 3 + axis)] = (unsigned short)(above - below);
}

/* The place of this thread among those of the block that say so, and in *all how many do. */
static __device__ __forceinline__ int rayt__place_of(bool own, unsigned *words, int *all)
{
    int thread = (int)threadIdx.x, place = 0, sum = 0;
    unsigned votes = __ballot_sync(0xffffffffu, own);
    if (thread % 32 == 0) words[thread / 32] = votes;
    __syncthreads();
    for (int k = 0; k < RAYT__LIST_MOST / 32; k++) {
        if (k == thread / 32) place = sum + __popc(votes & ((1u << thread % 32) - 1));
        sum += __popc(words[k]);
    }
    *all = sum;
    return place;
}

/* How many of the keys of clusters first .. last - 1 are below this one, or, inverted, above it. */
static __device__ __forceinline__ int rayt__count_below(const unsigned *keys, int first, int last,
                                                        unsigned own, unsigned inverted)
{
    const uint4 *all = (const uint4 *)keys;
    int below = 0;
#pragma unroll 4
    for (int k = 2 * first; k < 2 * last; k++) {
        uint4 four = all[k];
        below += (four.x ^ inverted) < (own ^ inverted);
        below += (four.y ^ inverted) < (own ^ inverted);
        below += (four.z ^ inverted) < (own ^ inverted);
        below += (four.w ^ inverted) < (own ^ inverted);
    }
    return below;
}

/* One block. A thread has one sphere, and then one place in the list. */
RAYT_KERNEL void __launch_bounds__(RAYT__LIST_MOST)
    rayt_tree_list(const rayt_sphere *spheres, int count, rayt__clusters *list)
{
    __shared__ float4 balls[RAYT__SLOTS];
    __shared__ int owners[RAYT__SLOTS];
    __shared__ RAYT_ALIGN unsigned keys[RAYT__SLOTS];
    __shared__ unsigned words[RAYT__LIST_MOST / 32];
    __shared__ rayt__box boxes[RAYT__CLUSTERS];
    int thread = (int)threadIdx.x, larger, many, *indices = (int *)(list + 1);
    const float none = rayt__float_of(0x7fffffffu);
    float4 nothing = make_float4(none, none, none, none), ball = nothing;
    if (thread < count) ball = rayt__ball_of(spheres, thread);
    bool solid = rayt_solid(ball);
    keys[thread] = (solid ? rayt__bits_of(ball.w) & ~(RAYT__LIST_MOST - 1u) : 0) |
                   (RAYT__LIST_MOST - 1u - (unsigned)thread);
    list->balls[thread] = nothing;
    if (thread < RAYT__APART) list->balls[RAYT__SLOTS + thread] = nothing;
    __syncthreads();
    larger = rayt__count_below(keys, 0, RAYT__CLUSTERS, keys[thread], 0xffffffffu);
    bool apart = solid && larger < RAYT__APART;
    __syncthreads(); /* all have read the keys */
    if (apart) {
        list->balls[RAYT__SLOTS + larger] = ball;
        indices[RAYT__SLOTS + larger] = thread;
    }
    int place = rayt__place_of(solid && !apart, words, &many);
    if (solid && !apart) {
        balls[place] = ball;
        owners[place] = thread;
    }
    __syncthreads();

    rayt__box outside = {RAYT_FAR * 8,  RAYT_FAR * 8,  RAYT_FAR * 8,
                         -RAYT_FAR * 8, -RAYT_FAR * 8, -RAYT_FAR * 8};
    int first = 0, last = (many + RAYT__CLUSTER - 1) / RAYT__CLUSTER, owner = 0;
    for (int size = RAYT__CLUSTERS; size > 1; size /= 2) { /* clusters of the largest part */
        rayt__box box = outside;
        if (thread < many) {
            ball = balls[thread];
            owner = owners[thread];
            rayt__box point = {ball.x, ball.y, ball.z, ball.x, ball.y, ball.z};
            box = point;
        }
        box = rayt__of_cluster(box);
        if (thread % RAYT__CLUSTER == 0) boxes[thread / RAYT__CLUSTER] = box;
        __syncthreads();
        int lower = first * RAYT__CLUSTER;
        if (thread < many) {
            rayt__box all = rayt__of_clusters(boxes, first, last);
            float x = all.high_x - all.low_x, y = all.high_y - all.low_y,
                  z = all.high_z - all.low_z;
            float centre = x >= y && x >= z ? ball.x : y >= z ? ball.y : ball.z;
            keys[thread] = (rayt__sort_key(centre) & ~(RAYT__LIST_MOST - 1u)) | (unsigned)thread;
        } else {
            keys[thread] = 0xffffffffu;
        }
        __syncthreads();
        if (thread < many) {
            lower += rayt__count_below(keys, first, last, keys[thread], 0);
            balls[lower] = ball;
            owners[lower] = owner;
        }
        int middle = first + (last - first) / 2;
        if (last - first > 1) {
            if (thread / RAYT__CLUSTER < middle) {
                last = middle;
            } else {
                first = middle;
            }
        }
        __syncthreads();
    }

    rayt__box box = outside;
    if (thread < many) {
        ball = balls[thread];
        list->balls[thread] = ball;
        indices[thread] = owners[thread];
        box = rayt__own_box(ball);
    }
    box = rayt__of_cluster(box);
    int cluster = thread / RAYT__CLUSTER;
    if (thread % RAYT__CLUSTER == 0) boxes[cluster] = box;
    __syncthreads();
    if (thread % RAYT__CLUSTER != 0) return;
    if (cluster * RAYT__CLUSTER >= many) { /* no ray meets it: its near planes are the far ones */
        for (int axis = 0; axis < 3; axis++) {
            ((unsigned short *)list->planes)[rayt__plane_at(cluster, axis)] = 0;
            ((unsigned short *)list->planes)[rayt__plane_at(cluster, 3 + axis)] = 0x83ff;
        }
    }
    rayt__raster grid = {0, 0, 0, 1, 1, 1};
    if (many > 0) {
        rayt__box all = rayt__of_clusters(boxes, 0, (many + RAYT__CLUSTER - 1) / RAYT__CLUSTER);
        rayt__raster node = rayt__raster_of(all); /* boxes here have half a step more to spare */
        grid.ex = node.ex, grid.ey = node.ey, grid.ez = node.ez;
        grid.x = node.x - rayt__float_of(node.ex << 23);
        grid.y = node.y - rayt__float_of(node.ey << 23);
        grid.z = node.z - rayt__float_of(node.ez << 23);
        if (cluster * RAYT__CLUSTER < many) {
            rayt__set_planes(list, cluster, 0, box.low_x, box.high_x, grid.x, grid.ex);
            rayt__set_planes(list, cluster, 1, box.low_y, box.high_y, grid.y, grid.ey);
            rayt__set_planes(list, cluster, 2, box.low_z, box.high_z, grid.z, grid.ez);
        }
    }
    if (thread == 0) {
        list->x = grid.x;
        list->y = grid.y;
        list->z = grid.z;
        list->exponents = rayt__exponents(grid);
        list->words = (many + 32 * RAYT__CLUSTER - 1) / (32 * RAYT__CLUSTER);
        for (int k = 0; k < 3; k++) list->unused[k] = 0;
    }
}
#endif

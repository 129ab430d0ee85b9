/* src/raytrace/kernels/tile.cuh. The kernel of RAYT_CULLED, for tiles of one size.
   Uses: intersection.cuh, culling.cuh, instances.h. Used by: callers. */
#if defined(RAYT__EMIT) && defined(RAYT_TILE)
/* ============================== KERNEL TILE =================================================== */
/* A block renders a tile of RAYT_TILE x RAYT_TILE pixels. Its 256 threads list the spheres that can
   touch the tile and sort them front to back. If there are none, they make the tile black. Else
   each of the 8 warps renders two regions of the tile, each lane RAYT_LANE_W x RAYT_LANE_H
   neighbouring pixels.

         tile of 64 x 64:                  region (RAYT_ACROSS 4, lanes of 4 x 2 pixels):
         +---+---+---+---+                 +----+----+----+----+
         | 0 | 1 | 2 | 3 |  warps          |  0 |  1 |  2 |  3 |  lanes,
         +---+---+---+---+                 |  4 |  5 |  6 |  7 |  16 x 16 pixels
         | 4 | 5 | 6 | 7 |                 |  8 |  9 | ...     |
         +---+---+---+---+                 | ...               |
         | 0 | 1 | 2 | 3 |                 |                   |
         +---+---+---+---+                 | 28 | 29 | 30 | 31 |
         | 4 | 5 | 6 | 7 |                 +----+----+----+----+
         +---+---+---+---+
   Per region a warp takes 32 spheres of the list at a time, one a lane. A ballot selects those that
   can touch the region nearer than its farthest pixel so far. The first of them is tested against
   all pixels of the region, then the ballot is repeated for the others. The region is done when all
   its pixels are nearer than the largest z of the spheres that remain in the list.

   This walk compares depths with approximate square roots, and marks pixels where two depths are
   within the tolerance. The warp renders those again with exact roots (rayt__render_exactly), which
   is slow but rare. For all others the sphere is certain, and one exact root a pixel remains.

   A tile loads 16 bytes of each candidate and 32 of each sphere in its list, from the caches; 4
   bytes a pixel are written. What bounds it: the issue of instructions and the latency of the steps
   of a block; with few spheres, the writing of the image.

   With `starts`, the candidates of tile t are lists[starts[t]] .. + counts[t] - 1, unless starts[t]
   is negative; see BINNING. Lists too long for shared memory are taken in parts, for each region
   anew.

   The kernel is long, because the walk through the list stays in it. As a function, or with the
   arrays of a lane in a struct, nvcc 13.0 orders the same number of instructions differently. */

/* One lane: tests a sphere against its pixels, the first of which has the ray (px, py). `found`
   gets `name` where the sphere is nearer. `uncertain` becomes true if two depths are within the
   tolerance. Returns the depth of the farthest pixel. */
static __device__ __forceinline__ float RAYT__OF_TILE(rayt__test_sphere_)(
    float4 ball, int name, float px, float py, float tolerance, float (*nearest)[RAYT_LANE_W],
    float (*square)[RAYT_LANE_W], int (*found)[RAYT_LANE_W], bool *uncertain)
{
    float rr = rayt_mul(ball.w, ball.w), rest[RAYT_LANE_W];
#pragma unroll
    for (int x = 0; x < RAYT_LANE_W; x++) {
        float dx = rayt_sub(px + (float)x, ball.x);
        rest[x] = rayt_sub(rr, rayt_mul(dx, dx));
    }
    float farthest = RAYT__DEPTH_LIMIT;
#pragma unroll
    for (int y = 0; y < RAYT_LANE_H; y++) {
        float dy = rayt_sub(py + (float)y, ball.y), yy = rayt_mul(dy, dy);
#pragma unroll
        for (int x = 0; x < RAYT_LANE_W; x++) {
            /* NaN, for which all comparisons are false, beside the sphere */
            float dz2 = rayt_sub(rest[x], yy);
            float depth = ball.z + rayt__approx_sqrt(dz2);
            *uncertain |= fabsf(depth - nearest[y][x]) <= tolerance;
            if (depth > nearest[y][x]) {
                nearest[y][x] = depth;
                square[y][x] = dz2;
                found[y][x] = name;
            }
            farthest = fminf(farthest, nearest[y][x]);
        }
    }
    return farthest;
}

/* One lane: the colours of its pixels, from the squares of dz and what `found` says. */
static __device__ __forceinline__ void RAYT__OF_TILE(rayt__shade_lane_)(
    const rayt__list *list, const rayt_sphere *spheres, bool all_listed,
    const float (*square)[RAYT_LANE_W], const int (*found)[RAYT_LANE_W],
    unsigned (*pixel)[RAYT_LANE_W], bool *uncertain)
{
    if (all_listed) {
#pragma unroll
        for (int y = 0; y < RAYT_LANE_H; y++)
#pragma unroll
            for (int x = 0; x < RAYT_LANE_W; x++)
                pixel[y][x] = rayt__shade(rayt__sqrt(square[y][x]), list->ball[found[y][x]].w,
                                          list->tint[found[y][x]], uncertain);
    } else {
#pragma unroll
        for (int y = 0; y < RAYT_LANE_H; y++)
#pragma unroll
            for (int x = 0; x < RAYT_LANE_W; x++) {
                pixel[y][x] = RAYT__BLACK;
                if (found[y][x] >= 0) continue;
                const float4 *record = (const float4 *)&spheres[~found[y][x]];
                float radius = __ldg(record).w;
                pixel[y][x] = rayt__shade(rayt__sqrt(square[y][x]), radius,
                                          rayt__tint(__ldg(record + 1), radius), uncertain);
            }
    }
}

/* One lane: writes those of its pixels that are in the band. */
static __device__ __forceinline__ void RAYT__OF_TILE(rayt__write_lane_)(
    const unsigned (*pixel)[RAYT_LANE_W], uchar4 *image, int width, int rows, int column, int row,
    bool aligned)
{
#pragma unroll
    for (int y = 0; y < RAYT_LANE_H; y++) {
        if (row + y >= rows) continue;
        unsigned *to = (unsigned *)(image + (size_t)(row + y) * width + column);
        if (aligned && column + RAYT_LANE_W <= width) {
#if RAYT_LANE_W == 4
            *(uint4 *)to = make_uint4(pixel[y][0], pixel[y][1], pixel[y][2], pixel[y][3]);
#else
            *(uint2 *)to = make_uint2(pixel[y][0], pixel[y][1]);
#endif
        } else {
#pragma unroll
            for (int x = 0; x < RAYT_LANE_W; x++)
                if (column + x < width) to[x] = pixel[y][x];
        }
    }
}

RAYT_KERNEL void __launch_bounds__(RAYT__THREADS, 4)
    RAYT__OF_TILE(rayt_render_tile_)(const rayt_sphere *__restrict__ spheres, int count,
                                     const int *__restrict__ starts, const int *__restrict__ counts,
                                     const int *__restrict__ lists, uchar4 *__restrict__ image,
                                     int width, int height, int first_row, int rows)
{
    enum {
        LANE_W = RAYT_LANE_W,
        LANE_H = RAYT_LANE_H,
        REGION_W = RAYT_ACROSS * LANE_W,
        REGION_H = 32 / RAYT_ACROSS * LANE_H,
        REGIONS_ACROSS = RAYT_TILE / REGION_W,
        REGIONS = REGIONS_ACROSS * (RAYT_TILE / REGION_H),
        WARPS = RAYT__THREADS / 32
    };
    static_assert(REGIONS % WARPS == 0,
                  "all warps must render as many regions: they share barriers");
    __shared__ rayt__list list;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int tiles_across = (width - 1) / RAYT_TILE + 1;
    int tile_column = (int)(blockIdx.x % tiles_across) * RAYT_TILE;
    int tile_row = (int)(blockIdx.x / tiles_across) * RAYT_TILE;
    float tile_x = rayt_coordinate(tile_column, width);
    float tile_y = rayt_coordinate(first_row + tile_row, height);
    bool aligned = width % 4 == 0 && (size_t)image % 16 == 0;

    const int *ids = nullptr;
    int entries = count;
    if (starts && starts[blockIdx.x] >= 0) {
        ids = lists + starts[blockIdx.x];
        entries = counts[blockIdx.x];
    }

    rayt__gather(&list, spheres, ids, 0, entries, tile_x, tile_y, RAYT_TILE);
    if (list.count == 0) {
        rayt__fill_black(image, width, rows, tile_column, tile_row, RAYT_TILE, aligned);
        return;
    }
    /* If not, parts of the entries are listed in turn. */
    bool all_listed = list.count <= RAYT__LIST_SIZE;
    int part = all_listed ? entries : RAYT__LIST_SIZE;
    if (all_listed) rayt__sort(&list, spheres);

    for (int region = warp; region < REGIONS; region += WARPS) {
        int region_column = region % REGIONS_ACROSS * REGION_W;
        int region_row = region / REGIONS_ACROSS * REGION_H;
        int column = tile_column + region_column + lane % RAYT_ACROSS * LANE_W;
        int row = tile_row + region_row + lane / RAYT_ACROSS * LANE_H;
        float region_x = tile_x + (float)region_column, region_y = tile_y + (float)region_row;
        float px = rayt_coordinate(column, width), py = rayt_coordinate(first_row + row, height);

        /* Pixels outside the image have something in front of everything. */
        float nearest[LANE_H][LANE_W], square[LANE_H][LANE_W], farthest = RAYT_NOTHING;
        /* Place in the list; if that has parts, ~index of a sphere instead. */
        int found[LANE_H][LANE_W];
#pragma unroll
        for (int y = 0; y < LANE_H; y++)
#pragma unroll
            for (int x = 0; x < LANE_W; x++) {
                nearest[y][x] =
                    row + y < rows && column + x < width ? RAYT_NOTHING : RAYT__DEPTH_LIMIT;
                square[y][x] = 1;
                found[y][x] = RAYT__LIST_SIZE;
            }
        bool uncertain = false;

        for (int first = 0; first < entries; first += part) {
            if (!all_listed) {
                rayt__gather(&list, spheres, ids, first, min(first + part, entries), tile_x, tile_y,
                             RAYT_TILE);
                rayt__sort(&list, spheres);
            }
            int listed = list.count;
            float tolerance = __int_as_float((int)list.tolerance);

            for (int base = 0; base < listed; base += 32) {
                /* Nothing from here on comes nearer than this. */
                float hidden = rayt__warp_min(farthest);
                if (hidden > list.top[base] + tolerance) break;
                float bound = -RAYT__DEPTH_LIMIT;
                if (base + lane < listed) {
                    float4 ball = list.ball[base + lane];
                    bound =
                        rayt__bound(ball,
                                    rayt__distance2(ball, region_x, region_y, REGION_W, REGION_H),
                                    tolerance);
                }
                unsigned touching = __ballot_sync(0xffffffffu, bound >= hidden);
                while (touching) {
                    int next = __ffs((int)touching) - 1;
                    float4 ball = list.ball[base + next];
                    int name = all_listed ? base + next : ~list.id[base + next];
                    farthest =
                        RAYT__OF_TILE(rayt__test_sphere_)(ball, name, px, py, tolerance, nearest,
                                                          square, found, &uncertain);
                    /* On to the next that is not hidden. */
                    touching &= 0xfffffffeu << next;
                    if (touching)
                        touching &= __ballot_sync(0xffffffffu, bound >= rayt__warp_min(farthest));
                }
            }
        }

        unsigned pixel[LANE_H][LANE_W];
        RAYT__OF_TILE(rayt__shade_lane_)
        (&list, spheres, all_listed, square, found, pixel, &uncertain);
        RAYT__OF_TILE(rayt__write_lane_)(pixel, image, width, rows, column, row, aligned);

        unsigned undecided = __ballot_sync(0xffffffffu, uncertain);
        while (undecided) {
            int owner = __ffs((int)undecided) - 1;
            undecided &= undecided - 1;
            rayt__render_exactly(spheres, all_listed ? list.id : ids,
                                 all_listed ? list.count : entries,
                                 __shfl_sync(0xffffffffu, px, owner),
                                 __shfl_sync(0xffffffffu, py, owner), LANE_W, LANE_H, owner, image,
                                 width, rows, __shfl_sync(0xffffffffu, column, owner),
                                 __shfl_sync(0xffffffffu, row, owner));
        }
    }
}
#undef RAYT_TILE
#undef RAYT_ACROSS
#undef RAYT_LANE_W
#undef RAYT_LANE_H
#endif

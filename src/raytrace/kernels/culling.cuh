/* src/raytrace/kernels/culling.cuh. Lists of the spheres that can touch a tile of the image.
   Uses: config.h, intersection.cuh. Used by: host/launch.h, binning.cuh, tile.cuh, trace/. */
#if RAYT__KERNELS && !defined(RAYT__PART_CULLING)
#define RAYT__PART_CULLING
/* ============================== CULLING ======================================================= */
/* What RAYT_CULLED is made of. Tests of whole rectangles of pixels (can a sphere touch one? how
   near can it come there?) have a margin: an error costs work, and never a pixel. The image itself
   comes from the arithmetic of INTERSECTION.

   Terms:  ball       x, y, z and, in w, the radius: what decides a hit
           tile       square of the image that a block renders
           list       spheres that can touch a tile, in shared memory
           tolerance  depths that differ by less are too close to compare, because of rounding */

/* Threads of a block, and spheres of a list. */
#define RAYT__THREADS   256
#define RAYT__LIST_SIZE 512

typedef struct rayt__list {
    /* Front to back. A black sphere at RAYT__LIST_SIZE serves pixels that see nothing. */
    float4 ball[RAYT__LIST_SIZE + 1]; /* x, y, z, radius */
    float4 tint[RAYT__LIST_SIZE + 1]; /* rayt__tint of the sphere */
    int id[RAYT__LIST_SIZE];          /* index of the sphere */
    float top[RAYT__LIST_SIZE];       /* no later sphere of the list has a larger z anywhere */
    /* As they were found; a key is rayt__sort_key(largest z), its lowest 9 bits a tie-break. */
    int found_id[RAYT__LIST_SIZE];
    unsigned found_key[RAYT__LIST_SIZE];
    int count;
    unsigned tolerance; /* bits of the largest rayt__tolerance met so far */
} rayt__list;

/* A pixel that sees nothing. */
#define RAYT__BLACK 0xff000000u

/* Beyond every depth. Pixels outside the image have something there; its negative is no depth. */
#define RAYT__DEPTH_LIMIT 3e38f

/* The rim of a sphere: dz is less than this part of the radius. There rounding may make a ray miss
   although dz^2 is not negative. */
#define RAYT__RIM 9.765625e-4f /* 2^-10 */

/* A square root that is good to about 2^-22, in one instruction; NaN below zero. */
static __device__ __forceinline__ float rayt__approx_sqrt(float x)
{
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return sqrtf(x);
#endif
}

/* rayt_sqrt from 2^-100 on: the same instructions without the test for smaller values. dz^2 is
   never smaller (RAYT_MIN_RADIUS), unless it is 0: then the result is NaN. */
static __device__ __forceinline__ float rayt__sqrt(float x)
{
#ifdef __CUDA_ARCH__
    float reciprocal;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
    float root = __fmul_rn(x, reciprocal), half = __fmul_rn(reciprocal, 0.5f);
    return __fmaf_rn(__fmaf_rn(-root, root, x), half, root);
#else
    return rayt_sqrt(x);
#endif
}

/* A reciprocal, accurate enough for rayt__div. */
static __device__ __forceinline__ float rayt__reciprocal(float x)
{
#ifdef __CUDA_ARCH__
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
    return __fmaf_rn(reciprocal, __fmaf_rn(-x, reciprocal, 1), reciprocal);
#else
    return 1 / x;
#endif
}

/* rayt_div for 0 <= a <= b within RAYT_MIN_RADIUS .. RAYT_FAR, without its tests of the range. */
static __device__ __forceinline__ float rayt__div(float a, float b, float reciprocal)
{
#ifdef __CUDA_ARCH__
    float quotient = __fmul_rn(a, reciprocal);
    return __fmaf_rn(reciprocal, __fmaf_rn(-b, quotient, a), quotient);
#else
    (void)reciprocal;
    return rayt_div(a, b);
#endif
}

/* What is the same for all pixels of a sphere: its colour within 0 .. 1, and 1 / radius. */
static __device__ __forceinline__ float4 rayt__tint(float4 colour, float radius)
{
#ifdef __CUDA_ARCH__
    return make_float4(__saturatef(colour.x), __saturatef(colour.y), __saturatef(colour.z),
                       rayt__reciprocal(radius));
#else
    return make_float4(colour.x, colour.y, colour.z, 1 / radius);
#endif
}

/* rayt_shade, as a word with red in the lowest byte; `rim` becomes true at the rim. Adding 2^23
   with truncation leaves the integer part in the lowest byte, and costs less than a conversion. */
static __device__ __forceinline__ unsigned rayt__shade(float dz, float radius, float4 tint,
                                                       bool *rim)
{
    float scale = rayt__div(dz, radius, tint.w);
    *rim |= !(scale > RAYT__RIM); /* also if dz is NaN */
#ifdef __CUDA_ARCH__
    float r = __fmul_rn(__fmul_rn(tint.x, scale), 255);
    float g = __fmul_rn(__fmul_rn(tint.y, scale), 255);
    float b = __fmul_rn(__fmul_rn(tint.z, scale), 255);
    unsigned red = __float_as_uint(__fadd_rz(r, 8388608.0f));
    unsigned green = __float_as_uint(__fadd_rz(g, 8388608.0f));
    unsigned blue = __float_as_uint(__fadd_rz(b, 8388608.0f));
    return __byte_perm(__byte_perm(red, green, 0x0040), __byte_perm(blue, 255, 0x0040), 0x5410);
#else
    uchar4 pixel = rayt_shade(dz, radius, tint.x, tint.y, tint.z);
    return pixel.x | (unsigned)pixel.y << 8 | (unsigned)pixel.z << 16 | 255u << 24;
#endif
}

/* Floats as unsigned integers of the same order, for atomicMax and for sorting; and back. */
static __device__ __forceinline__ unsigned rayt__sort_key(float x)
{
    unsigned bits = (unsigned)__float_as_int(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
static __device__ __forceinline__ float rayt__from_sort_key(unsigned order)
{
    return __int_as_float((int)(order & 0x80000000u ? order & 0x7fffffffu : ~order));
}

/* Depths with approximate roots that differ by more than this are in the right order. The error of
   each is at most 2^-23 (|z| + radius), for two additions, and 2^-20.8 radius, for the root. */
static __device__ __forceinline__ float rayt__tolerance(float4 ball)
{
    return 2.5e-7f * fabsf(ball.z) + 1.9e-6f * ball.w;
}

/* The squared distance from a sphere's axis to the nearest of the rays in a rectangle of pixels
   that begins at (x0, y0). NaN coordinates give 0: near. */
static __device__ __forceinline__ float rayt__distance2(float4 ball, float x0, float y0, int w,
                                                        int h)
{
    float dx = fmaxf(fmaxf(x0 - ball.x, ball.x - (x0 + (float)(w - 1))), 0);
    float dy = fmaxf(fmaxf(y0 - ball.y, ball.y - (y0 + (float)(h - 1))), 0);
    return dx * dx + dy * dy;
}

/* The squared radius, with a margin that exceeds all rounding errors here. */
static __device__ __forceinline__ float rayt__padded_radius2(float4 ball)
{
    return ball.w * ball.w * 1.0001f;
}

/* The largest depth of a sphere in a rectangle at that squared distance, rounded up by `tolerance`;
   -RAYT__DEPTH_LIMIT if it cannot touch the rectangle. */
static __device__ __forceinline__ float rayt__bound(float4 ball, float distance2, float tolerance)
{
    float rest = rayt__padded_radius2(ball) - distance2;
    return rest >= 0 ? ball.z + rayt__approx_sqrt(rest) + tolerance : -RAYT__DEPTH_LIMIT;
}

/* All threads of the block: finds the spheres that can touch the square at (x0, y0). Candidates are
   the spheres first .. last - 1 or, with `ids`, ids[first .. last - 1]. list->count counts all that
   were found; those beyond RAYT__LIST_SIZE are not in the list. */
static __device__ __forceinline__ void rayt__gather(rayt__list *list, const rayt_sphere *spheres,
                                                    const int *ids, int first, int last, float x0,
                                                    float y0, int edge)
{
    enum { IN_FLIGHT = 4 }; /* loads that a thread has under way, to hide their latency */
    int thread = threadIdx.x, lane = threadIdx.x % 32;
    __syncthreads(); /* nobody reads the previous list any more */
    for (int n = thread; n < RAYT__LIST_SIZE; n += RAYT__THREADS) list->found_key[n] = 0;
    if (thread == 0) {
        list->count = 0;
        if (first == 0) list->tolerance = 0;
    }
    __syncthreads();
    for (int base = first; base < last; base += IN_FLIGHT * RAYT__THREADS) {
        float4 ball[IN_FLIGHT];
        int id[IN_FLIGHT];
#pragma unroll
        for (int n = 0; n < IN_FLIGHT; n++) {
            int entry = base + n * RAYT__THREADS + thread;
            id[n] = entry >= last ? -1 : ids ? __ldg(ids + entry) : entry;
        }
#pragma unroll
        for (int n = 0; n < IN_FLIGHT; n++)
            ball[n] = id[n] >= 0 ? __ldg((const float4 *)&spheres[id[n]]) : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int n = 0; n < IN_FLIGHT; n++) {
            if (base + n * RAYT__THREADS >= last) break;
            bool keep =
                rayt__distance2(ball[n], x0, y0, edge, edge) <= rayt__padded_radius2(ball[n]) &&
                rayt_valid(ball[n]);
            /* Compaction: the lanes that keep a sphere take consecutive places. */
            unsigned keepers = __ballot_sync(0xffffffffu, keep);
            if (keepers == 0) continue;
            int place = 0;
            if (lane == 0) place = atomicAdd(&list->count, __popc(keepers));
            place = __shfl_sync(0xffffffffu, place, 0) + __popc(keepers & ((1u << lane) - 1));
            if (!keep || place >= RAYT__LIST_SIZE) continue;
            list->found_id[place] = id[n];
            list->found_key[place] =
                (rayt__sort_key(ball[n].z + ball[n].w) & ~(RAYT__LIST_SIZE - 1u)) | (unsigned)place;
        }
    }
    __syncthreads();
}

/* All threads of the block: sorts the spheres found front to back. A sphere's place is the number
   of larger keys. All keys differ; those beyond the last are 0. */
static __device__ __forceinline__ void rayt__sort(rayt__list *list, const rayt_sphere *spheres)
{
    int count = list->count;
    if (count == 0) return;
    if (threadIdx.x == 0) {
        list->ball[RAYT__LIST_SIZE] = make_float4(0, 0, 0, 1);
        list->tint[RAYT__LIST_SIZE] = make_float4(0, 0, 0, 1);
    }
    for (int entry = threadIdx.x; entry < count; entry += RAYT__THREADS) {
        unsigned key = list->found_key[entry];
        int id = list->found_id[entry], place = 0;
        float4 ball = __ldg((const float4 *)&spheres[id]);
        float4 colour = __ldg((const float4 *)&spheres[id] + 1);
        for (int i = 0; i < count; i += 4) {
            uint4 keys = *(const uint4 *)&list->found_key[i];
            place += (keys.x > key) + (keys.y > key) + (keys.z > key) + (keys.w > key);
        }
        atomicMax(&list->tolerance, (unsigned)__float_as_int(rayt__tolerance(ball)));
        list->ball[place] = ball;
        list->tint[place] = rayt__tint(colour, ball.w);
        list->id[place] = id;
        list->top[place] = rayt__from_sort_key(key | (RAYT__LIST_SIZE - 1u));
    }
    __syncthreads();
}

/* One warp: the smallest of its floats. */
static __device__ __forceinline__ float rayt__warp_min(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return rayt__from_sort_key(__reduce_min_sync(0xffffffffu, rayt__sort_key(x)));
#else
    for (int step = 16; step > 0; step /= 2) x = fminf(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
#endif
}

/* All threads of the block: makes a square of the band black. */
static __device__ __forceinline__ void rayt__fill_black(uchar4 *image, int width, int rows,
                                                        int first_column, int first_row, int edge,
                                                        bool aligned)
{
    for (int n = threadIdx.x; n < edge * edge / 4; n += RAYT__THREADS) {
        int column = first_column + n % (edge / 4) * 4, row = first_row + n / (edge / 4);
        if (row >= rows || column >= width) continue;
        unsigned *to = (unsigned *)(image + (size_t)row * width + column);
        if (aligned)
            *(uint4 *)to = make_uint4(RAYT__BLACK, RAYT__BLACK, RAYT__BLACK, RAYT__BLACK);
        else
            for (int x = 0; x < 4 && column + x < width; x++) to[x] = RAYT__BLACK;
    }
}

/* One warp: renders the w x h pixels of the lane `owner` with the arithmetic of INTERSECTION. They
   begin at (column, row) of the band, where the ray is (px, py); the owner writes them. The lanes
   are distributed over the pixels, and the lanes of a pixel share the candidates. Those are
   ids[0 .. count - 1] or, without `ids`, all spheres. */
static __device__ __noinline__ void rayt__render_exactly(const rayt_sphere *spheres, const int *ids,
                                                         int count, float px, float py, int w,
                                                         int h, int owner, uchar4 *image, int width,
                                                         int rows, int column, int row)
{
    int lane = threadIdx.x % 32, pixels = w * h, shares = 32 / pixels;
    float x = px + (float)(lane % w), y = py + (float)(lane % pixels / w);
    float nearest = RAYT_NOTHING, nearest_dz = 0;
    int found = -1;
    for (int i = lane / pixels; i < count; i += shares) {
        int id = ids ? ids[i] : i;
        float4 ball = __ldg((const float4 *)&spheres[id]);
        float dx = rayt_sub(x, ball.x), dy = rayt_sub(y, ball.y), rr = rayt_mul(ball.w, ball.w);
        if (rayt_misses(dx, dy, rr)) continue;
        float hit = rayt_dz(dx, dy, rr), depth = rayt_add(ball.z, hit);
        if (rayt_valid(ball) && (depth > nearest || (depth == nearest && id < found))) {
            nearest = depth;
            nearest_dz = hit;
            found = id;
        }
    }
    for (int step = 16; step >= pixels; step /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, nearest, step);
        float other_dz = __shfl_xor_sync(0xffffffffu, nearest_dz, step);
        int id = __shfl_xor_sync(0xffffffffu, found, step);
        if (id >= 0 && (other > nearest || (other == nearest && id < found))) {
            nearest = other;
            nearest_dz = other_dz;
            found = id;
        }
    }
    unsigned pixel = RAYT__BLACK;
    if (found >= 0) {
        rayt_sphere s = spheres[found];
        uchar4 p = rayt_shade(nearest_dz, s.radius, s.r, s.g, s.b);
        pixel = p.x | (unsigned)p.y << 8 | (unsigned)p.z << 16 | RAYT__BLACK;
    }
    for (int n = 0; n < pixels; n++) {
        unsigned word = __shfl_sync(0xffffffffu, pixel, n);
        if (lane == owner && column + n % w < width && row + n / w < rows)
            ((unsigned *)image)[(size_t)(row + n / w) * width + column + n % w] = word;
    }
}
#endif

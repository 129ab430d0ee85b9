/* src/raytrace/kernels/culling.cuh. Lists of the spheres that can touch a tile of the image.
   Uses: intersection.cuh. Used by: kernels/tile.cuh, kernels/binning.cuh. */
#if RAYT__KERNELS && !defined(RAYT__PART_CULLING)
#define RAYT__PART_CULLING
/* ============================== CULLING ======================================================= */
/* What RAYT_CULLED is made of. Decisions about whole rectangles of pixels (can the sphere touch
   it? how near can it come there?) are made with a margin, so that they may err on the side of
   work but not of the image; the image itself is made with the arithmetic of INTERSECTION. */

/* How many threads a block has, and how many spheres it lists in shared memory at a time. */
#define RAYT__THREADS 256
#define RAYT__LISTED  512

typedef struct rayt__list {
    /* Front to back; behind them, at RAYT__LISTED, a black one for pixels that see nothing. */
    float4 ball[RAYT__LISTED + 1]; /* x, y, z, radius */
    float4 tint[RAYT__LISTED + 1]; /* rayt__tint of the sphere */
    int id[RAYT__LISTED];          /* index of the sphere */
    float top[RAYT__LISTED];       /* no later sphere of the list has a larger z anywhere */
    /* As they were found. */
    int found_id[RAYT__LISTED];
    unsigned found_key[RAYT__LISTED]; /* rayt__order(largest z), the lowest 9 bits a tie-break */
    int count;
    unsigned doubt; /* bits of the largest rayt__doubt met so far */
} rayt__list;

/* A pixel that sees nothing. */
#define RAYT__BLACK 0xff000000u

/* Beyond every depth: what lies in front of pixels outside the image; negative, no depth at all. */
#define RAYT__MOST 3e38f

/* Where dz is less than this part of the radius, at its rim, a sphere may be missed by rounding
   although dz^2 is not negative. */
#define RAYT__RIM 9.765625e-4f /* 2^-10 */

/* A square root that is good to about 2^-22, in one instruction; NaN below zero. */
static __device__ __forceinline__ float rayt__near_sqrt(float x)
{
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return sqrtf(x);
#endif
}

/* rayt_sqrt from 2^-100 on: the same instructions without the test for smaller values, which dz^2
   is not (RAYT_MIN_RADIUS), unless it is 0: then the result is NaN. */
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

/* A reciprocal as good as rayt__div needs it. */
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

/* rayt_div for 0 <= a <= b within RAYT_MIN_RADIUS .. RAYT_FAR: likewise without its tests. */
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

/* rayt_shade, as a word: red in the lowest byte; `rim` becomes true at the rim. Adding 2^23 with
   truncation leaves the integer part in the lowest byte, cheaper than a conversion. */
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
static __device__ __forceinline__ unsigned rayt__order(float x)
{
    unsigned bits = (unsigned)__float_as_int(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
static __device__ __forceinline__ float rayt__unorder(unsigned order)
{
    return __int_as_float((int)(order & 0x80000000u ? order & 0x7fffffffu : ~order));
}

/* Two depths that are farther apart than this are in the right order, although rayt__near_sqrt went
   into them: each is off by at most 2^-23 (|z| + radius), for two additions, and 2^-20.8 radius. */
static __device__ __forceinline__ float rayt__doubt(float4 ball)
{
    return 2.5e-7f * fabsf(ball.z) + 1.9e-6f * ball.w;
}

/* The squared distance from a sphere's axis to the nearest of the rays in a rectangle of pixels
   that begins at (x0, y0). NaN coordinates give 0: near. */
static __device__ __forceinline__ float rayt__apart(float4 ball, float x0, float y0, int w, int h)
{
    float dx = fmaxf(fmaxf(x0 - ball.x, ball.x - (x0 + (float)(w - 1))), 0);
    float dy = fmaxf(fmaxf(y0 - ball.y, ball.y - (y0 + (float)(h - 1))), 0);
    return dx * dx + dy * dy;
}

/* The squared radius, with a margin that exceeds all rounding errors here. */
static __device__ __forceinline__ float rayt__margin(float4 ball)
{
    return ball.w * ball.w * 1.0001f;
}

/* The largest depth that a sphere can have in a rectangle at that squared distance, `doubt` more to
   be sure; -RAYT__MOST if it cannot touch it. */
static __device__ __forceinline__ float rayt__bound(float4 ball, float apart, float doubt)
{
    float rest = rayt__margin(ball) - apart;
    return rest >= 0 ? ball.z + rayt__near_sqrt(rest) + doubt : -RAYT__MOST;
}

/* All threads of the block: finds those of the spheres first .. last - 1 (or, with `ids`, of those
   that they name) that can touch the square at (x0, y0). list->count counts all of them, also
   those beyond RAYT__LISTED, which are left out. */
static __device__ __forceinline__ void rayt__gather(rayt__list *list, const rayt_sphere *spheres,
                                                    const int *ids, int first, int last, float x0,
                                                    float y0, int edge)
{
    enum { IN_FLIGHT = 4 }; /* loads that a thread has under way, to hide their latency */
    int thread = threadIdx.x, lane = threadIdx.x % 32;
    __syncthreads(); /* nobody reads the previous list any more */
    for (int n = thread; n < RAYT__LISTED; n += RAYT__THREADS) list->found_key[n] = 0;
    if (thread == 0) {
        list->count = 0;
        if (first == 0) list->doubt = 0;
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
            bool keep = rayt__apart(ball[n], x0, y0, edge, edge) <= rayt__margin(ball[n]) &&
                        rayt_valid(ball[n]);
            /* Compaction: the lanes that keep a sphere take consecutive places. */
            unsigned keepers = __ballot_sync(0xffffffffu, keep);
            if (keepers == 0) continue;
            int place = 0;
            if (lane == 0) place = atomicAdd(&list->count, __popc(keepers));
            place = __shfl_sync(0xffffffffu, place, 0) + __popc(keepers & ((1u << lane) - 1));
            if (!keep || place >= RAYT__LISTED) continue;
            list->found_id[place] = id[n];
            list->found_key[place] =
                (rayt__order(ball[n].z + ball[n].w) & ~(RAYT__LISTED - 1u)) | (unsigned)place;
        }
    }
    __syncthreads();
}

/* All threads of the block: sorts what was found front to back into the list, by counting the
   larger keys. All keys differ; those beyond the last are 0. */
static __device__ __forceinline__ void rayt__sort(rayt__list *list, const rayt_sphere *spheres)
{
    int count = list->count;
    if (count == 0) return;
    if (threadIdx.x == 0) {
        list->ball[RAYT__LISTED] = make_float4(0, 0, 0, 1);
        list->tint[RAYT__LISTED] = make_float4(0, 0, 0, 1);
    }
    for (int mine = threadIdx.x; mine < count; mine += RAYT__THREADS) {
        unsigned key = list->found_key[mine];
        int id = list->found_id[mine], place = 0;
        float4 ball = __ldg((const float4 *)&spheres[id]);
        float4 colour = __ldg((const float4 *)&spheres[id] + 1);
        for (int i = 0; i < count; i += 4) {
            uint4 four = *(const uint4 *)&list->found_key[i];
            place += (four.x > key) + (four.y > key) + (four.z > key) + (four.w > key);
        }
        atomicMax(&list->doubt, (unsigned)__float_as_int(rayt__doubt(ball)));
        list->ball[place] = ball;
        list->tint[place] = rayt__tint(colour, ball.w);
        list->id[place] = id;
        list->top[place] = rayt__unorder(key | (RAYT__LISTED - 1u));
    }
    __syncthreads();
}

/* One warp: the smallest of its floats. */
static __device__ __forceinline__ float rayt__smallest(float x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return rayt__unorder(__reduce_min_sync(0xffffffffu, rayt__order(x)));
#else
    for (int step = 16; step > 0; step /= 2) x = fminf(x, __shfl_xor_sync(0xffffffffu, x, step));
    return x;
#endif
}

/* All threads of the block: makes a square of the band black. */
static __device__ __forceinline__ void rayt__black(uchar4 *image, int width, int rows,
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

/* One warp: decides the pixels of one lane exactly, w of them in each of h rows from (column, row)
   of the band on, and lets that lane, `whose`, write those that are in it. (px, py) is the first
   one's ray. Each pixel has as many lanes as there are for it, and each of those its share of the
   candidates, which are ids[0 .. count - 1], or all spheres. */
static __device__ __noinline__ void rayt__mend(const rayt_sphere *spheres, const int *ids,
                                               int count, float px, float py, int w, int h,
                                               int whose, uchar4 *image, int width, int rows,
                                               int column, int row)
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
        if (lane == whose && column + n % w < width && row + n / w < rows)
            ((unsigned *)image)[(size_t)(row + n / w) * width + column + n % w] = word;
    }
}
#endif

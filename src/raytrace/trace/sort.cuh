/* src/raytrace/trace/sort.cuh. A stable radix sort of keys with values.
   Uses: config.h. Used by: kernels.cuh, trace/host/build.h. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_SORT)
#define RAYT__PART_SORT
/* ============================== SORT ========================================================== */
/* One pass sorts by 8 bits, and keeps the order of equal ones; passes from the lowest bits on sort by
   all. A block has a tile of 4096 keys, its warps 512 each, in the order in which they lie:

     count      counts[digit][tile]: how many keys of a tile have the digit
     offsets    counts[digit][tile]: how many come before in tiles to the left; totals[digit]
     scatter    a key's place: keys of smaller digits + the same digit in tiles to the left
                                + in warps before + in this warp before
   A single tile needs scatter alone.

   In a warp, lanes that have the same digit find one another by 8 votes. Bytes a pass and key: 8
   read to count, 12 read and 12 written to scatter. What bounds it: the writes, which go to 256
   places at once. */
#define RAYT__SORT_THREADS 256
#define RAYT__SORT_EACH    16 /* keys a thread */
#define RAYT__SORT_TILE    (RAYT__SORT_THREADS * RAYT__SORT_EACH)
#define RAYT__DIGITS       256 /* as many as threads */

typedef struct rayt__sort_job {
    const unsigned long long *keys;
    const int *values;
    unsigned long long *sorted_keys;
    int *sorted_values;
    int *counts; /* a row of `tiles` for each digit */
    int *totals;
    int count, tiles;
} rayt__sort_job;

static __device__ __forceinline__ int rayt__digit(unsigned long long key, int shift)
{
    return (int)(key >> shift & (RAYT__DIGITS - 1));
}

RAYT_KERNEL void __launch_bounds__(RAYT__SORT_THREADS)
    rayt_sort_count(rayt__sort_job sort, int shift)
{
    __shared__ int counts[RAYT__DIGITS];
    int thread = (int)threadIdx.x, tile = (int)blockIdx.x;
    counts[thread] = 0;
    __syncthreads();
    for (int k = 0; k < RAYT__SORT_EACH; k++) {
        int i = tile * RAYT__SORT_TILE + k * RAYT__SORT_THREADS + thread;
        if (i < sort.count) atomicAdd(&counts[rayt__digit(sort.keys[i], shift)], 1);
    }
    __syncthreads();
    sort.counts[(size_t)thread * sort.tiles + tile] = counts[thread];
}

/* The sum of what this lane and those before it in the warp have; all lanes take part. */
static __device__ __forceinline__ int rayt__warp_sum(int own)
{
    int lane = (int)threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffffu, own, step);
        if (lane >= step) own += other;
    }
    return own;
}

/* One warp a digit. */
RAYT_KERNEL void __launch_bounds__(RAYT__SORT_THREADS) rayt_sort_offsets(rayt__sort_job sort)
{
    int digit = (int)(blockIdx.x * RAYT__SORT_THREADS + threadIdx.x) / 32, before = 0;
    int *row = sort.counts + (size_t)digit * sort.tiles, lane = (int)threadIdx.x % 32;
    for (int first = 0; first < sort.tiles; first += 32) {
        int own = first + lane < sort.tiles ? row[first + lane] : 0, upto = rayt__warp_sum(own);
        if (first + lane < sort.tiles) row[first + lane] = before + upto - own;
        before += __shfl_sync(0xffffffffu, upto, 31);
    }
    if (lane == 0) sort.totals[digit] = before;
}

RAYT_KERNEL void __launch_bounds__(RAYT__SORT_THREADS)
    rayt_sort_scatter(rayt__sort_job sort, int shift)
{
    enum { WARPS = RAYT__SORT_THREADS / 32, ROUNDS = RAYT__SORT_EACH };
    __shared__ int places[WARPS][RAYT__DIGITS], sums[WARPS];
    int thread = (int)threadIdx.x, warp = thread / 32, lane = thread % 32;
    int begin = (int)blockIdx.x * RAYT__SORT_TILE + warp * (32 * ROUNDS) + lane;
    unsigned long long keys[ROUNDS];
    for (int w = 0; w < WARPS; w++) places[w][thread] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int i = begin + 32 * k;
        keys[k] = i < sort.count ? sort.keys[i] : 0;
        if (i < sort.count) atomicAdd(&places[warp][rayt__digit(keys[k], shift)], 1);
    }
    __syncthreads();
    int total = 0, tiles_before = 0; /* a digit for each thread */
    for (int w = 0; w < WARPS; w++) total += places[w][thread];
    if (sort.tiles > 1) {
        total = sort.totals[thread];
        tiles_before = sort.counts[(size_t)thread * sort.tiles + blockIdx.x];
    }
    int place = rayt__warp_sum(total);
    if (lane == 31) sums[warp] = place;
    __syncthreads();
    for (int w = 0; w < warp; w++) place += sums[w];
    place += tiles_before - total;
    for (int w = 0; w < WARPS; w++) {
        int many = places[w][thread];
        places[w][thread] = place;
        place += many;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int i = begin + 32 * k, digit = rayt__digit(keys[k], shift);
        unsigned same = __ballot_sync(0xffffffffu, i < sort.count);
        for (int bit = 1; bit < RAYT__DIGITS; bit *= 2) {
            unsigned votes = __ballot_sync(0xffffffffu, digit & bit);
            same &= digit & bit ? votes : ~votes;
        }
        int before = __popc(same & ((1u << lane) - 1)), to = places[warp][digit] + before;
        __syncwarp();
        if (i < sort.count) {
            sort.sorted_keys[to] = keys[k];
            sort.sorted_values[to] = sort.values[i];
            if (before == 0) places[warp][digit] += __popc(same);
        }
        __syncwarp();
    }
}
#endif

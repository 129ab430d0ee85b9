/* src/raytrace/trace/sort.cuh. A stable radix sort of keys with values.
   Uses: config.h. Used by: kernels.cuh, trace/host/build.h. */
#if defined(RAYT_WITH_TRACE) && RAYT__KERNELS && !defined(RAYT__EMIT) && !defined(RAYT__PART_SORT)
#define RAYT__PART_SORT
/* ============================== SORT ========================================================== */
/* One pass sorts by 8 bits, and keeps the order of equal ones; passes from the lowest bits on sort by
   all. A pass is one kernel, after A. Adinets and D. Merrill ("Onesweep: A Faster Least Significant
   Digit Radix Sort for GPUs", 2022). How many keys have each digit is known before, for all passes.
   A block takes a tile of keys, its warps parts of that, in the order in which they lie:

     rank       in a warp, lanes that have the same digit find one another by 8 votes
     look back  states[tile][digit]: first how many keys of the tile have the digit, then how many of
                this tile and all before it. A tile adds up those before it until it finds a sum.
     scatter    a key's place: keys of smaller digits + the same digit in tiles to the left
                                + in warps before + in this warp before
                Keys go by way of shared memory, so that neighbours are written together.

   A block waits for the states of tiles before its own. It takes its tile when it begins to run, so
   that the blocks which it waits for run already. */
enum {
    RAYT__SORT_THREADS = 512,
    RAYT__SORT_EACH = 8, /* keys a thread */
    RAYT__SORT_TILE = RAYT__SORT_THREADS * RAYT__SORT_EACH,
    RAYT__SORT_BLOCKS = 2, /* on a multiprocessor, by registers */
    RAYT__LOOK_BACK = 8,   /* states that are asked for at once */
    RAYT__DIGITS = 256,    /* at most as many as threads */
};

typedef struct rayt__sort_job {
    const unsigned long long *keys;
    const int *values; /* NULL: 0, 1, 2, .. */
    unsigned long long *sorted_keys;
    int *sorted_values;
    const unsigned *totals; /* of each digit */
    unsigned *states;       /* 256 for each tile, and after those the tiles taken; begin as 0 */
    int count, tiles, shift;
} rayt__sort_job;

static __host__ __device__ __forceinline__ int rayt__digit(unsigned long long key, int shift)
{
    return (int)(key >> shift & (RAYT__DIGITS - 1));
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

/* The sum of what threads before this one have; `sums` is shared memory, a number a warp. */
static __device__ __forceinline__ int rayt__block_sum(int own, int *sums)
{
    int warp = (int)threadIdx.x / 32, upto = rayt__warp_sum(own);
    __syncthreads();
    if (threadIdx.x % 32 == 31) sums[warp] = upto;
    __syncthreads();
    for (int w = 0; w < warp; w++) upto += sums[w];
    return upto - own;
}

/* How many keys of the tiles before this one have this thread's digit. A state is 0 until it is
   written, then a number + 1; bit 31 says that it is a sum of all tiles up to there. */
static __device__ __forceinline__ unsigned rayt__look_back(const unsigned *states, int tile)
{
    const volatile unsigned *digit = states + threadIdx.x; /* others write while this reads */
    unsigned before = 0;
    while (tile > 0) {
        unsigned seen[RAYT__LOOK_BACK];
#pragma unroll
        for (int k = 0; k < RAYT__LOOK_BACK; k++)
            seen[k] = digit[(tile > k ? tile - 1 - k : 0) * RAYT__DIGITS];
#pragma unroll
        for (int k = 0; k < RAYT__LOOK_BACK; k++) {
            if (seen[k] == 0) break;
            before += (seen[k] & 0x7fffffffu) - 1;
            if (seen[k] >> 31) return before;
            tile--;
        }
    }
    return before;
}

RAYT_KERNEL void __launch_bounds__(RAYT__SORT_THREADS, RAYT__SORT_BLOCKS)
    rayt_sort_pass(rayt__sort_job sort)
{
    enum { WARPS = RAYT__SORT_THREADS / 32, ROUNDS = RAYT__SORT_EACH };
    __shared__ unsigned long long staged[RAYT__SORT_TILE]; /* keys, then values */
    __shared__ unsigned short places[WARPS][RAYT__DIGITS];
    __shared__ int to[RAYT__DIGITS], sums[WARPS], taken;
    int thread = (int)threadIdx.x, warp = thread / 32, lane = thread % 32;
    int *values = (int *)staged;
    bool has_digit = thread < RAYT__DIGITS;
    if (thread == 0) taken = (int)atomicAdd(&sort.states[(size_t)sort.tiles * RAYT__DIGITS], 1u);
    for (int w = 0; w < WARPS && has_digit; w++) places[w][thread] = 0;
    __syncthreads();
    int tile = taken, first = tile * RAYT__SORT_TILE, own = warp * 32 * ROUNDS + lane;
    int many = sort.count - first < RAYT__SORT_TILE ? sort.count - first : RAYT__SORT_TILE;
    unsigned long long keys[ROUNDS];
    int ranks[ROUNDS]; /* in the warp, then in the tile, then among all */
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) /* what is beyond the last key comes after all of the tile */
        keys[k] = own + 32 * k < many ? sort.keys[first + own + 32 * k] : ~0ull;
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int digit = rayt__digit(keys[k], sort.shift);
        unsigned same = 0xffffffffu;
        for (int bit = 1; bit < RAYT__DIGITS; bit *= 2) {
            unsigned votes = __ballot_sync(0xffffffffu, digit & bit);
            same &= digit & bit ? votes : ~votes;
        }
        int before = __popc(same & ((1u << lane) - 1)), begin = places[warp][digit];
        __syncwarp();
        if (before == 0) places[warp][digit] = (unsigned short)(begin + __popc(same));
        __syncwarp();
        ranks[k] = begin + before;
    }
    __syncthreads();
    int total = 0;
    unsigned *state = &sort.states[(size_t)tile * RAYT__DIGITS + thread], before = 0;
    if (has_digit) {
        for (int w = 0; w < WARPS; w++) total += places[w][thread];
        if (tile > 0) atomicExch(state, (unsigned)total + 1);
    }
    int place = rayt__block_sum(total, sums);
    int smaller = rayt__block_sum(has_digit ? (int)sort.totals[thread] : 0, sums);
    if (has_digit) {
        for (int w = 0, next = place; w < WARPS; w++) {
            int here = places[w][thread];
            places[w][thread] = (unsigned short)next;
            next += here;
        }
        before = rayt__look_back(sort.states, tile);
        atomicExch(state, (before + (unsigned)total + 1) | 0x80000000u);
        to[thread] = smaller + (int)before - place;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        ranks[k] += places[warp][rayt__digit(keys[k], sort.shift)];
        staged[ranks[k]] = keys[k];
    }
    __syncthreads();
    int goals[ROUNDS];
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int i = k * RAYT__SORT_THREADS + thread;
        unsigned long long key = staged[i];
        goals[k] = to[rayt__digit(key, sort.shift)] + i;
        if (i < many) sort.sorted_keys[goals[k]] = key;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int i = own + 32 * k;
        if (i < many) values[ranks[k]] = sort.values == NULL ? first + i : sort.values[first + i];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ROUNDS; k++) {
        int i = k * RAYT__SORT_THREADS + thread;
        if (i < many) sort.sorted_values[goals[k]] = values[i];
    }
}
#endif

/* The parts of CUB that the runner has, beside plain loops. */
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>
#include <algorithm>
#include <vector>
#include "check.h"

static uint64_t seed = 7;
static int random_number(int below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((seed >> 33) % (uint64_t)below);
}

template <class T> static T *random_items(int n, int below)
{
    T *items = managed<T>(n + 1);
    for (int i = 0; i < n; i++) items[i] = (T)(random_number(2 * below) - below);
    return items;
}
template <class T> static T *poisoned(int n)
{
    T *items = managed<T>(n + 1);
    memset((void *)items, 0xFF, (n + 1) * sizeof(T));
    return items;
}

/* Concatenation of numbers modulo a prime with their lengths: associative, and not commutative. */
struct word {
    long long value, factor;
    double4 ballast;
    bool operator==(const word &b) const
    {
        return value == b.value && factor == b.factor;
    }
};
struct concatenate {
    __host__ __device__ word operator()(const word &a, const word &b) const
    {
        const long long prime = 1000003;
        return {(a.value * b.factor + b.value) % prime, a.factor * b.factor % prime, a.ballast};
    }
};
__host__ __device__ static word word_of(int i)
{
    return {(long long)i * 37 % 1000 + 1, 1000, {}};
}
static word all_words(int begin, int end)
{
    word sum = word_of(begin);
    for (int i = begin + 1; i < end; i++) sum = concatenate()(sum, word_of(i));
    return sum;
}

/* ---- warps ------------------------------------------------------------------------------------- */

template <int WIDTH>
__global__ void of_warps(word *reduced, word *scanned, word *before, word *last)
{
    typedef cub::WarpReduce<word, WIDTH> reduce;
    typedef cub::WarpScan<word, WIDTH> scan;
    __shared__ union {
        typename reduce::TempStorage for_reduce;
        typename scan::TempStorage for_scan;
    } temp[64];
    int t = threadIdx.x, warp = t / WIDTH, valid = WIDTH > 3 ? WIDTH - 1 : WIDTH;
    word r = reduce(temp[warp].for_reduce).Reduce(word_of(t), concatenate(), valid);
    if (t % WIDTH == 0) reduced[warp] = r;
    __syncwarp();
    scan(temp[warp].for_scan).InclusiveScan(word_of(t), scanned[t], concatenate(), last[t]);
    __syncwarp();
    scan(temp[warp].for_scan).ExclusiveScan(word_of(t), before[t], word_of(99), concatenate());
}

__global__ void sums_of_warps(const float *in, float *sums, int *heads, int *tails, float *scans)
{
    __shared__ cub::WarpReduce<float>::TempStorage temp;
    __shared__ cub::WarpReduce<int, 16>::TempStorage segments[4];
    __shared__ cub::WarpScan<float>::TempStorage scan;
    int t = threadIdx.x;
    float s = cub::WarpReduce<float>(temp).Sum(in[t]);
    if (t % 32 == 0) sums[t / 32] = s;
    heads[t] = cub::WarpReduce<int, 16>(segments[t / 16]).HeadSegmentedSum(1, t % 5 == 0);
    tails[t] = cub::WarpReduce<int, 16>(segments[t / 16]).TailSegmentedSum(1, t % 5 == 4);
    cub::WarpScan<float>(scan).ExclusiveSum(in[t], scans[t]);
}

template <int WIDTH> static void check_warps(void)
{
    const int n = 64;
    word *reduced = poisoned<word>(n), *scanned = poisoned<word>(n), *before = poisoned<word>(n),
         *last = poisoned<word>(n);
    of_warps<WIDTH><<<1, n>>>(reduced, scanned, before, last);
    CHECK(done());
    int wrong = 0;
    for (int t = 0; t < n; t++) {
        int first = t / WIDTH * WIDTH, valid = WIDTH > 3 ? WIDTH - 1 : WIDTH;
        wrong += !(reduced[t / WIDTH] == all_words(first, first + valid));
        wrong += !(scanned[t] == all_words(first, t + 1));
        wrong += !(last[t] == all_words(first, first + WIDTH));
        word prefix = word_of(99);
        if (t > first) prefix = concatenate()(prefix, all_words(first, t));
        wrong += !(before[t] == prefix);
    }
    CHECK(wrong == 0);
    cudaFree(reduced), cudaFree(scanned), cudaFree(before), cudaFree(last);
}

static void check_sums_of_warps(void)
{
    const int n = 64;
    float *in = random_items<float>(n, 100), *sums = poisoned<float>(2),
          *scans = poisoned<float>(n);
    int *heads = poisoned<int>(n), *tails = poisoned<int>(n), wrong = 0;
    sums_of_warps<<<1, n>>>(in, sums, heads, tails, scans);
    CHECK(done());
    for (int w = 0; w < 2; w++) {
        float sum = 0;
        for (int i = 0; i < 32; sum += in[w * 32 + i], i++) wrong += scans[w * 32 + i] != sum;
        wrong += sums[w] != sum;
    }
    for (int t = 0; t < n; t++) {
        int end = t + 1, last = t;
        while (end % 16 && end % 5) end++;
        while (last % 16 != 15 && last % 5 != 4) last++;
        wrong += heads[t] != end - t || tails[t] != last + 1 - t;
    }
    CHECK(wrong == 0);
    cudaFree(in), cudaFree(sums), cudaFree(scans), cudaFree(heads), cudaFree(tails);
}

/* ---- blocks ------------------------------------------------------------------------------------ */

template <int X, int Y, int Z, cub::BlockReduceAlgorithm ALGORITHM>
__global__ void of_block(word *results, int valid)
{
    typedef cub::BlockReduce<word, X, ALGORITHM, Y, Z> reduce;
    __shared__ typename reduce::TempStorage temp;
    int t = (threadIdx.z * Y + threadIdx.y) * X + threadIdx.x;
    word items[3] = {word_of(3 * t), word_of(3 * t + 1), word_of(3 * t + 2)};
    word part = reduce(temp).Reduce(word_of(t), concatenate(), valid);
    word all = reduce().Reduce(items, concatenate());
    if (t == 0) results[0] = part, results[1] = all;
}

template <int X, int Y, int Z, cub::BlockReduceAlgorithm ALGORITHM> static void check_reduce(void)
{
    word *results = managed<word>(2);
    const int n = X * Y * Z;
    for (int valid : {1, n / 2 + 1, n}) {
        memset((void *)results, 0xFF, 2 * sizeof(word));
        of_block<X, Y, Z, ALGORITHM><<<1, dim3(X, Y, Z)>>>(results, valid);
        CHECK(done());
        CHECK(results[0] == all_words(0, valid) && results[1] == all_words(0, 3 * n));
    }
    cudaFree(results);
}

struct goes_on {
    word total;
    __device__ word operator()(const word &aggregate)
    {
        word before = total;
        total = concatenate()(total, aggregate);
        return before;
    }
};

template <int X, int Y> __global__ void scans_of_block(word *out, word *one, word *aggregates)
{
    typedef cub::BlockScan<word, X, cub::BLOCK_SCAN_WARP_SCANS, Y> scan;
    __shared__ typename scan::TempStorage temp;
    const int n = X * Y * 2;
    int t = threadIdx.y * X + threadIdx.x;
    word items[2] = {word_of(2 * t), word_of(2 * t + 1)}, results[2], aggregate;
    goes_on rest = {word_of(500)};
    for (int turn = 0; turn < 2; turn++) { /* inclusive and exclusive, each after the other */
        if (turn)
            scan(temp).ExclusiveScan(items, results, concatenate(), rest);
        else
            scan(temp).InclusiveScan(items, results, concatenate(), rest);
        for (int i = 0; i < 2; i++) out[turn * n + 2 * t + i] = results[i];
        __syncthreads();
    }
    scan(temp).ExclusiveScan(items, items, word_of(1), concatenate(), aggregate);
    for (int i = 0; i < 2; i++) out[2 * n + 2 * t + i] = items[i];
    aggregates[t] = aggregate;
    __syncthreads();
    scan(temp).InclusiveScan(word_of(t), one[t], concatenate());
}

__global__ void sums_of_block(const int *in, int *sums, int *inclusive, int *totals)
{
    typedef cub::BlockScan<int, 100> scan;
    __shared__ scan::TempStorage temp;
    int t = threadIdx.x, total;
    scan(temp).ExclusiveSum(in[t], sums[t]);
    scan().InclusiveSum(in[t], inclusive[t], total);
    totals[t] = total;
}

template <int X, int Y> static void check_scan(void)
{
    const int threads = X * Y, n = 2 * threads;
    word *out = poisoned<word>(3 * n), *one = poisoned<word>(threads),
         *aggregates = poisoned<word>(threads);
    scans_of_block<X, Y><<<1, dim3(X, Y)>>>(out, one, aggregates);
    CHECK(done());
    concatenate op;
    word total = word_of(500), third = word_of(1), sum = word_of(0);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += !(out[i] == (total = op(total, word_of(i))));
    for (int i = 0; i < n; i++) {
        wrong += !(out[n + i] == total) || !(out[2 * n + i] == third);
        total = op(total, word_of(i));
        third = op(third, word_of(i));
    }
    for (int t = 0; t < threads; t++) {
        if (t) sum = op(sum, word_of(t));
        wrong += !(one[t] == sum) || !(aggregates[t] == all_words(0, n));
    }
    CHECK(wrong == 0);
    cudaFree(out), cudaFree(one), cudaFree(aggregates);
}

static void check_sums_of_block(void)
{
    const int n = 100;
    int *in = random_items<int>(n, 1000), *out = poisoned<int>(3 * n), sum = 0, wrong = 0;
    sums_of_block<<<1, n>>>(in, out, out + n, out + 2 * n);
    CHECK(done());
    for (int i = 0; i < n; i++) {
        wrong += out[i] != sum;
        sum += in[i];
        wrong += out[n + i] != sum;
    }
    for (int i = 0; i < n; i++) wrong += out[2 * n + i] != sum;
    CHECK(wrong == 0);
    cudaFree(in), cudaFree(out);
}

/* Loads and stores leave items where they were, or transpose them if only one of them is striped. */
template <cub::BlockLoadAlgorithm LOAD, cub::BlockStoreAlgorithm STORE>
__global__ void moves(const short *in, short *out, int n)
{
    typedef cub::BlockLoad<short, 64, 3, LOAD> load;
    typedef cub::BlockStore<short, 64, 3, STORE> store;
    __shared__ union {
        typename load::TempStorage for_load;
        typename store::TempStorage for_store;
    } temp;
    short items[3];
    int tile = blockIdx.x * 64 * 3;
    if (n - tile >= 64 * 3)
        load(temp.for_load).Load(in + tile, items);
    else
        load(temp.for_load).Load(in + tile, items, n - tile, 7);
    __syncthreads();
    store(temp.for_store).Store(out + tile, items, n - tile + 1);
}

template <cub::BlockLoadAlgorithm LOAD, cub::BlockStoreAlgorithm STORE>
static void check_moves(void)
{
    for (int n : {0, 1, 31, 192, 1000}) {
        short *in = random_items<short>(n, 1000), *out = poisoned<short>(n + 1);
        moves<LOAD, STORE><<<n / 192 + 1, 64>>>(in, out, n);
        CHECK(done());
        CHECK(!memcmp(in, out, n * sizeof *in) && out[n] == 7 && out[n + 1] == -1);
        cudaFree(in), cudaFree(out);
    }
}

__global__ void exchanges(int *out)
{
    typedef cub::BlockExchange<int, 48, 3> exchange; /* a warp and a half */
    __shared__ exchange::TempStorage temp;
    int t = threadIdx.x, items[3], ranks[3];
    for (int i = 0; i < 3; i++) items[i] = 3 * t + i;
    for (int form = 0; form < 6; form++) {
        if (form == 0) exchange(temp).BlockedToStriped(items);
        if (form == 1) exchange(temp).StripedToBlocked(items);
        if (form == 2) exchange(temp).BlockedToWarpStriped(items);
        if (form == 3) exchange(temp).WarpStripedToBlocked(items);
        for (int i = 0; i < 3; i++) ranks[i] = 143 - items[i];
        if (form == 4) exchange(temp).ScatterToBlocked(items, ranks);
        if (form == 5) exchange().StripedToBlocked(items, ranks);
        for (int i = 0; i < 3; i++) out[form * 144 + i * 48 + t] = form == 5 ? ranks[i] : items[i];
        __syncthreads();
    }
}

static void check_exchange(void)
{
    int *out = poisoned<int>(6 * 144), wrong = 0;
    exchanges<<<1, 48>>>(out);
    CHECK(done());
    for (int i = 0; i < 3; i++)
        for (int t = 0; t < 48; t++) {
            const int *at = out + i * 48 + t;
            int blocked = 3 * t + i, of_warp = t < 32 ? i * 32 + t : 96 + i * 16 + t - 32;
            wrong += at[0] != i * 48 + t || at[144] != blocked || at[288] != of_warp;
            wrong += at[432] != blocked || at[576] != 143 - blocked;
            wrong += at[720] != 143 - (blocked % 48 * 3 + blocked / 48);
        }
    CHECK(wrong == 0);
    cudaFree(out);
}

template <class K> __global__ void sorts_of_block(const K *in, K *up, K *down, int *places, K *part)
{
    typedef cub::BlockRadixSort<K, 70, 3> keys;
    typedef cub::BlockRadixSort<K, 70, 3, int> pairs;
    __shared__ union {
        typename keys::TempStorage for_keys;
        typename pairs::TempStorage for_pairs;
    } temp;
    K items[3], other[3], third[3];
    int numbers[3], t = threadIdx.x;
    for (int i = 0; i < 3; i++) {
        items[i] = other[i] = third[i] = in[3 * t + i];
        numbers[i] = 3 * t + i;
    }
    keys(temp.for_keys).Sort(items);
    __syncthreads();
    pairs(temp.for_pairs).SortDescendingBlockedToStriped(other, numbers);
    __syncthreads();
    keys(temp.for_keys).Sort(third, 2, 5);
    for (int i = 0; i < 3; i++) {
        up[3 * t + i] = items[i];
        down[i * 70 + t] = other[i];
        places[i * 70 + t] = numbers[i];
        part[3 * t + i] = third[i];
    }
}

template <class K> static void check_block_sort(void)
{
    const int n = 210;
    K *in = random_items<K>(n, 100), *up = poisoned<K>(n), *down = poisoned<K>(n),
      *part = poisoned<K>(n);
    int *places = poisoned<int>(n), wrong = 0;
    sorts_of_block<<<1, 70>>>(in, up, down, places, part);
    CHECK(done());
    std::vector<K> sorted(in, in + n), bits(in, in + n);
    std::vector<int> order(n);
    for (int i = 0; i < n; i++) order[i] = i;
    std::sort(sorted.begin(), sorted.end());
    std::stable_sort(order.begin(), order.end(), [=](int a, int b) { return in[a] > in[b]; });
    for (int i = 0; i < n; i++)
        wrong += up[i] != sorted[i] || places[i] != order[i] || down[i] != in[order[i]];
    if constexpr (std::is_integral_v<K>) {
        std::stable_sort(bits.begin(), bits.end(),
                         [](K a, K b) { return (a >> 2 & 7) < (b >> 2 & 7); });
        for (int i = 0; i < n; i++) wrong += part[i] != bits[i];
    }
    CHECK(wrong == 0);
    cudaFree(in), cudaFree(up), cudaFree(down), cudaFree(part), cudaFree(places);
}

__global__ void flags_and_bins(const int *in, int *heads, int *tails, unsigned int *bins)
{
    typedef cub::BlockDiscontinuity<int, 50> discontinuity;
    typedef cub::BlockHistogram<unsigned char, 50, 2, 8> histogram;
    __shared__ discontinuity::TempStorage temp;
    __shared__ histogram::TempStorage none;
    __shared__ unsigned int counts[8];
    int t = threadIdx.x, items[2] = {in[2 * t], in[2 * t + 1]}, head[2], tail[2];
    unsigned char bytes[2] = {(unsigned char)items[0], (unsigned char)items[1]};
    discontinuity(temp).FlagHeadsAndTails(head, tail, items, cub::Inequality());
    histogram(none).Histogram(bytes, counts);
    for (int i = 0; i < 2; i++) heads[2 * t + i] = head[i], tails[2 * t + i] = tail[i];
    __syncthreads();
    if (t < 8) bins[t] = counts[t];
}

static void check_flags_and_bins(void)
{
    const int n = 100;
    int *in = managed<int>(n), *heads = poisoned<int>(n), *tails = poisoned<int>(n), wrong = 0;
    unsigned int *bins = poisoned<unsigned int>(8), counts[8] = {};
    for (int i = 0; i < n; i++) counts[in[i] = random_number(8) * (random_number(3) > 0)]++;
    flags_and_bins<<<1, 50>>>(in, heads, tails, bins);
    CHECK(done());
    for (int i = 0; i < n; i++) {
        wrong += heads[i] != (i == 0 || in[i] != in[i - 1]);
        wrong += tails[i] != (i == n - 1 || in[i] != in[i + 1]);
    }
    for (int i = 0; i < 8; i++) wrong += bins[i] != counts[i];
    CHECK(wrong == 0);
    cudaFree(in), cudaFree(heads), cudaFree(tails), cudaFree(bins);
}

/* IN has 3 items for each of 40 threads, of which the first 100 are valid for the partial tiles. */
static __global__ void neighbours(const int *in, int *out)
{
    using shuffle = cub::BlockShuffle<int, 40>;
    using difference = cub::BlockAdjacentDifference<int, 40>;
    __shared__ shuffle::TempStorage for_shuffle[4];
    __shared__ difference::TempStorage for_difference[4];
    int x[3], t = threadIdx.x, moved[5][3], one[2] = {-1, -1}, suffix, prefix;
    auto minus = [](int a, int b) { return a - b; };
    for (int i = 0; i < 3; i++) x[i] = in[3 * t + i], moved[0][i] = moved[1][i] = -1;
    shuffle(for_shuffle[0]).Up(x, moved[0], suffix);
    shuffle(for_shuffle[1]).Down(x, moved[1], prefix);
    shuffle(for_shuffle[2]).Offset(t, one[0], -2);
    shuffle(for_shuffle[3]).Rotate(t, one[1], 39);
    difference(for_difference[0]).SubtractLeft(x, moved[2], minus, 5);
    difference(for_difference[1]).SubtractRightPartialTile(x, moved[3], minus, 100);
    difference(for_difference[2]).SubtractLeftPartialTile(x, moved[4], minus, 100);
    difference(for_difference[3]).SubtractRight(x, x, minus);
    int place = 0;
    for (auto &m : moved)
        for (int i = 0; i < 3; i++) out[place++ * 40 + t] = m[i];
    for (int i : {one[0], one[1], suffix, prefix, x[0], x[2]}) out[place++ * 40 + t] = i;
}

static void check_neighbours(void)
{
    const int n = 120;
    int *in = managed<int>(n), *out = poisoned<int>(21 * 40), wrong = 0;
    for (int i = 0; i < n; i++) in[i] = random_number(1000);
    neighbours<<<1, 40>>>(in, out);
    CHECK(done());
    for (int i = 0; i < n; i++) {
        int t = i / 3, *at = out + i % 3 * 40 + t, *of_thread = out + 15 * 40 + t;
        wrong += at[0] != (i ? in[i - 1] : -1) || at[120] != (i < n - 1 ? in[i + 1] : -1);
        wrong += at[240] != in[i] - (i ? in[i - 1] : 5);
        wrong += at[360] != in[i] - (i < 99 ? in[i + 1] : 0);
        wrong += at[480] != in[i] - (i && i < 100 ? in[i - 1] : 0);
        wrong += of_thread[0] != (t < 2 ? -1 : t - 2) || of_thread[40] != (t + 39) % 40;
        wrong += of_thread[80] != in[n - 1] || of_thread[120] != in[0];
        if (i % 3 == 0) wrong += of_thread[160] != in[i] - in[i + 1];
        if (i % 3 == 2) wrong += of_thread[200] != in[i] - (i < n - 1 ? in[i + 1] : 0);
    }
    CHECK(wrong == 0);
    cudaFree(in), cudaFree(out);
}

/* Warps of 16 lanes reverse the order of 37 items, read striped and written blocked. */
static __global__ void of_warps(const int *in, int *out)
{
    using load = cub::WarpLoad<int, 3, cub::WARP_LOAD_STRIPED, 16>;
    using store = cub::WarpStore<int, 3, cub::WARP_STORE_TRANSPOSE, 16>;
    __shared__ load::TempStorage for_load[2];
    __shared__ store::TempStorage for_store[2];
    int x[3], w = threadIdx.x / 16;
    load(for_load[w]).Load(in + 37 * w, x, 37, -7);
    store(for_store[w]).Store(out + 48 * w, x, 47);
}

static void check_warp_moves(void)
{
    int *in = managed<int>(74), *out = poisoned<int>(96), untouched = out[47], wrong = 0;
    for (int i = 0; i < 74; i++) in[i] = i;
    of_warps<<<1, 32>>>(in, out);
    CHECK(done());
    for (int i = 0; i < 96; i++) {
        int from = i % 48 / 3 + i % 3 * 16, value = from < 37 ? i / 48 * 37 + from : -7;
        wrong += out[i] != (i % 48 == 47 ? untouched : value);
    }
    CHECK(wrong == 0);
    for (int i = 0; i < 74; i++) in[i] = i;
    CHECK(cub::DeviceFor::ForEachN(in, 10, [] __device__(int &x) { x *= 2; }) == cudaSuccess);
    CHECK(cub::DeviceFor::Bulk(10, [=] __device__(int i) { in[i] += 1; }) == cudaSuccess);
    CHECK(cub::DeviceFor::ForEachCopy(in, in + 9, [=] __device__(int x) { in[9] += x; }) ==
          cudaSuccess);
    CHECK(done() && in[3] == 7 && in[10] == 10 && in[9] == 19 + 81);
    cudaFree(in), cudaFree(out);
}

/* ---- devices ----------------------------------------------------------------------------------- */

static cub::CachingDeviceAllocator allocator;

/* Both calls of a function of cub's. */
#define TWICE(call, ...)                                                        \
    do {                                                                        \
        void *temp = NULL;                                                      \
        size_t bytes = 0;                                                       \
        CHECK(cub::call(temp, bytes, __VA_ARGS__) == cudaSuccess && bytes > 0); \
        CHECK(allocator.DeviceAllocate(&temp, bytes) == cudaSuccess);           \
        CHECK(cub::call(temp, bytes, __VA_ARGS__) == cudaSuccess);              \
        CHECK(done());                                                          \
        CHECK(allocator.DeviceFree(temp) == cudaSuccess);                       \
    } while (0)

struct is_even {
    template <class T> __host__ __device__ bool operator()(const T &x) const
    {
        return (long long)x % 2 == 0;
    }
};
struct twice {
    __host__ __device__ long long operator()(int x) const
    {
        return 2ll * x;
    }
};

template <class T> static void check_device_reduce(int n)
{
    T *in = random_items<T>(n, 50), *out = poisoned<T>(3), smallest = std::numeric_limits<T>::max(),
      largest = std::numeric_limits<T>::lowest();
    double *sums = poisoned<double>(2), sum = 0;
    cub::KeyValuePair<int, T> *args = managed<cub::KeyValuePair<int, T>>(2);
    int first = 1, last = 1;
    for (int i = 0; i < n; i++) {
        sum += in[i];
        if (in[i] < smallest) smallest = in[first = i];
        if (in[i] > largest) largest = in[last = i];
    }
    TWICE(DeviceReduce::Sum, in, sums, n);
    TWICE(DeviceReduce::Reduce, in, sums + 1, n, cub::Sum(), 5.0);
    TWICE(DeviceReduce::Min, in, out, n);
    TWICE(DeviceReduce::Max, in, out + 1, n);
    TWICE(DeviceReduce::ArgMin, in, args, n);
    TWICE(DeviceReduce::ArgMax, in, args + 1, n);
    CHECK(sums[0] == sum && sums[1] == sum + 5 && out[0] == smallest && out[1] == largest);
    CHECK(args[0].key == first && args[0].value == smallest);
    CHECK(args[1].key == last && args[1].value == largest);
    cudaFree(in), cudaFree(out), cudaFree(sums), cudaFree(args);
}

template <class T> static void check_device_scan(int n)
{
    T *in = random_items<T>(n, 50), *out = poisoned<T>(4 * n), sum = 0, most = 3, wrong = 0;
    TWICE(DeviceScan::ExclusiveSum, in, out, n);
    TWICE(DeviceScan::InclusiveSum, in, out + n, n);
    TWICE(DeviceScan::ExclusiveScan, in, out + 2 * n, cub::Max(), (T)3, n);
    TWICE(DeviceScan::InclusiveScan, in, out + 3 * n, cub::Min(), n);
    for (int i = 0; i < n; i++) {
        wrong += out[i] != sum || out[2 * n + i] != most;
        sum += in[i];
        most = std::max(most, in[i]);
        wrong +=
            out[n + i] != sum || out[3 * n + i] != *std::min_element(in, in + std::min(i + 1, 900));
        if (i == 899) break;
    }
    CHECK(wrong == 0);
    TWICE(DeviceScan::ExclusiveSum, in, in, n);
    CHECK(!memcmp(in, out, n * sizeof(T)));
    cudaFree(in), cudaFree(out);
}

template <class K> static void check_device_sort(int n, K scale, int begin, int end)
{
    K *in = random_items<K>(n, 100), *out = poisoned<K>(n), *down = poisoned<K>(n);
    int *values = managed<int>(n + 1), *moved = poisoned<int>(n), wrong = 0;
    for (int i = 0; i < n; i++) {
        in[i] = (K)(in[i] * (random_number(2) ? scale : -scale)); /* -0, too */
        values[i] = i;
    }
    std::vector<int> order(n);
    for (int i = 0; i < n; i++) order[i] = i;
    auto digits = [=](K key) {
        if constexpr (std::is_integral_v<K>) {
            const int width = 8 * (int)sizeof(K);
            typedef std::make_unsigned_t<K> U;
            U bits = (U)(std::is_signed_v<K> ? key ^ (K)((U)1 << (width - 1)) : key);
            return (U)((U)(bits << (width - end)) >> (width - end + begin));
        } else
            return key;
    };
    TWICE(DeviceRadixSort::SortPairs, in, out, values, moved, n, begin, end);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return digits(in[a]) < digits(in[b]); });
    for (int i = 0; i < n; i++) wrong += moved[i] != order[i] || out[i] != in[order[i]];
    CHECK(wrong == 0);
    TWICE(DeviceRadixSort::SortKeysDescending, in, down, n, begin, end);
    for (int i = 0; i < n; i++) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return digits(in[a]) > digits(in[b]); });
    for (int i = 0; i < n; i++) wrong += down[i] != in[order[i]];
    CHECK(wrong == 0);
    TWICE(DeviceRadixSort::SortKeys, in, down, n, begin, end);
    CHECK(!memcmp(down, out, n * sizeof(K)));

    cub::DoubleBuffer<K> keys(in, down);
    cub::DoubleBuffer<int> numbers(values, moved);
    std::vector<K> before(in, in + n);
    void *temp = NULL;
    size_t bytes = 0;
    CHECK(!cub::DeviceRadixSort::SortPairsDescending(temp, bytes, keys, numbers, n, begin, end));
    CHECK(keys.Current() == in && allocator.DeviceAllocate(&temp, bytes) == cudaSuccess);
    CHECK(!cub::DeviceRadixSort::SortPairsDescending(temp, bytes, keys, numbers, n, begin, end));
    CHECK(done());
    for (int i = 0; i < n; i++)
        wrong += keys.Current()[i] != before[order[i]] || numbers.Current()[i] != order[i];
    CHECK(wrong == 0);
    allocator.DeviceFree(temp);
    cudaFree(in), cudaFree(out), cudaFree(down), cudaFree(values), cudaFree(moved);
}

static void check_select(int n)
{
    int *in = random_items<int>(n, 3), *out = poisoned<int>(n), *count = poisoned<int>(1);
    char *flags = managed<char>(n + 1);
    std::vector<int> even, odd, flagged, unique, lengths;
    for (int i = 0; i < n; i++) {
        (in[i] % 2 ? odd : even).push_back(in[i]);
        if ((flags[i] = (char)random_number(2))) flagged.push_back(in[i]);
        if (i == 0 || in[i] != in[i - 1]) unique.push_back(in[i]), lengths.push_back(0);
        lengths.back()++;
    }
    auto same = [=](const std::vector<int> &wanted) {
        return *count == (int)wanted.size() && std::equal(wanted.begin(), wanted.end(), out);
    };
    TWICE(DeviceSelect::If, in, out, count, n, is_even());
    CHECK(same(even) && out[even.size()] == -1);
    TWICE(DeviceSelect::Flagged, in, flags, out, count, n);
    CHECK(same(flagged));
    TWICE(DeviceSelect::Unique, in, out, count, n);
    CHECK(same(unique));
    TWICE(DevicePartition::If, in, out, count, n, is_even());
    CHECK(same(even) && std::equal(odd.rbegin(), odd.rend(), out + even.size()));
    TWICE(DevicePartition::Flagged, in, flags, out, count, n);
    CHECK(same(flagged));

    int *runs = poisoned<int>(n);
    TWICE(DeviceRunLengthEncode::Encode, in, out, runs, count, n);
    CHECK(same(unique) && std::equal(lengths.begin(), lengths.end(), runs));
    TWICE(DeviceReduce::ReduceByKey, in, out, cub::ConstantInputIterator<int>(1), runs, count,
          cub::Sum(), n);
    CHECK(same(unique) && std::equal(lengths.begin(), lengths.end(), runs));
    TWICE(DeviceSelect::If, in, count, n, is_even());
    CHECK(*count == (int)even.size() && std::equal(even.begin(), even.end(), in));
    cudaFree(in), cudaFree(out), cudaFree(count), cudaFree(flags), cudaFree(runs);
}

static void check_histogram(int n)
{
    float *in = random_items<float>(n, 60), *levels = managed<float>(4);
    unsigned char *small = managed<unsigned char>(n + 1);
    int *even = poisoned<int>(10), *range = poisoned<int>(3), *of_bytes = poisoned<int>(256);
    int wanted_even[10] = {}, wanted_range[3] = {}, wanted_bytes[256] = {};
    levels[0] = -30, levels[1] = 0, levels[2] = 7, levels[3] = 40;
    for (int i = 0; i < n; i++) {
        if (in[i] >= -50 && in[i] < 50) wanted_even[(int)(in[i] + 50) / 10]++;
        for (int b = 0; b < 3; b++) wanted_range[b] += in[i] >= levels[b] && in[i] < levels[b + 1];
        wanted_bytes[small[i] = (unsigned char)random_number(256)]++;
    }
    TWICE(DeviceHistogram::HistogramEven, in, even, 11, -50.0f, 50.0f, n);
    TWICE(DeviceHistogram::HistogramRange, in, range, 4, levels, n);
    TWICE(DeviceHistogram::HistogramEven, small, of_bytes, 257, 0, 256, n);
    CHECK(std::equal(even, even + 10, wanted_even) && even[10] == -1);
    CHECK(std::equal(range, range + 3, wanted_range) && range[3] == -1);
    CHECK(std::equal(of_bytes, of_bytes + 256, wanted_bytes));
    cudaFree(in), cudaFree(levels), cudaFree(small);
    cudaFree(even), cudaFree(range), cudaFree(of_bytes);
}

static void check_segments(int n)
{
    const int segments = 7;
    int *in = random_items<int>(n, 1000), *offsets = managed<int>(segments + 1), wrong = 0;
    long long *sums = poisoned<long long>(segments);
    int *smallest = poisoned<int>(segments), *largest = poisoned<int>(segments);
    for (int i = 1; i < segments; i++) offsets[i] = random_number(n + 1);
    offsets[segments] = n;
    std::sort(offsets, offsets + segments);
    cub::TransformInputIterator<long long, twice, int *> doubled(in, twice());
    TWICE(DeviceSegmentedReduce::Sum, doubled, sums, segments, offsets, offsets + 1);
    TWICE(DeviceSegmentedReduce::Min, in, smallest, segments, offsets, offsets + 1);
    TWICE(DeviceSegmentedReduce::Max, in, largest, segments, offsets, offsets + 1);
    for (int s = 0; s < segments; s++) {
        long long sum = 0;
        int low = INT_MAX, high = INT_MIN;
        for (int i = offsets[s]; i < offsets[s + 1]; i++) {
            sum += 2ll * in[i];
            low = std::min(low, in[i]), high = std::max(high, in[i]);
        }
        wrong += sums[s] != sum || smallest[s] != low || largest[s] != high;
    }
    CHECK(wrong == 0);
    cudaFree(in), cudaFree(offsets), cudaFree(sums), cudaFree(smallest), cudaFree(largest);
}

/* Work of a stream comes before, and a pointer of the host's is a fault of the kernel. */
__global__ void ones(int *items, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) items[i] = 1;
}

static void check_streams(void)
{
    const int n = 1000;
    cudaStream_t stream;
    int *items, *sum, result = 0;
    void *temp = NULL;
    size_t bytes = 0;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cudaMalloc(&items, n * sizeof *items) == cudaSuccess);
    CHECK(cudaMalloc(&sum, sizeof *sum) == cudaSuccess);
    cub::DeviceReduce::Sum(temp, bytes, items, sum, n, stream);
    CHECK(cudaMalloc(&temp, bytes) == cudaSuccess);
    ones<<<1, 128, 0, stream>>>(items, n);
    CHECK(cub::DeviceReduce::Sum(temp, bytes, items, sum, n, stream) == cudaSuccess);
    CHECK(!cudaMemcpyAsync(&result, sum, sizeof result, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess && result == n);
    cub::CountingInputIterator<int> numbers(1);
    CHECK(cub::DeviceReduce::Sum(temp, bytes, numbers, sum, n, stream) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CubDebugExit(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
    CHECK(result == n * (n + 1) / 2);
    cudaFree(items), cudaFree(sum), cudaFree(temp);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}

/* Storage in dynamic shared memory. */
__global__ void dynamic_storage(int *sum)
{
    typedef cub::BlockReduce<int, 64> reduce;
    extern __shared__ __align__(16) char bytes[];
    auto &temp = reinterpret_cast<reduce::TempStorage &>(bytes);
    int first = reduce(temp).Sum(threadIdx.x);
    __syncthreads();
    int second = reduce((reduce::TempStorage &)bytes).Sum(1);
    if (threadIdx.x == 0) *sum = 1000 * second + first;
}

static void check_dynamic_storage(void)
{
    int *sum = managed<int>(1);
    dynamic_storage<<<1, 64, sizeof(cub::BlockReduce<int, 64>::TempStorage)>>>(sum);
    CHECK(done() && *sum == 64000 + 63 * 32);
    cudaFree(sum);
}

static void check_wrong_pointer(void)
{
    int host[1] = {}, *sum = managed<int>(1), *temp = managed<int>(1);
    size_t bytes = sizeof *temp;
    cub::DeviceReduce::Sum(temp, bytes, (const int *)host, sum, 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaDeviceReset() == cudaSuccess);
    cudaFree(sum), cudaFree(temp);
}

int main(void)
{
    check_warps<32>();
    check_warps<16>();
    check_warps<2>();
    check_sums_of_warps();
    check_reduce<128, 1, 1, cub::BLOCK_REDUCE_WARP_REDUCTIONS>();
    check_reduce<33, 1, 1, cub::BLOCK_REDUCE_RAKING>();
    check_reduce<8, 5, 2, cub::BLOCK_REDUCE_RAKING>();
    check_scan<128, 1>();
    check_scan<7, 5>();
    check_sums_of_block();
    check_moves<cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_TRANSPOSE>();
    check_moves<cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>();
    check_moves<cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>();
    check_moves<cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_VECTORIZE>();
    check_exchange();
    check_block_sort<unsigned char>();
    check_block_sort<int>();
    check_block_sort<float>();
    check_flags_and_bins();
    check_neighbours();
    check_warp_moves();
    for (int n : {0, 1, 31, 1000, 100003}) {
        check_device_reduce<int>(n);
        check_device_reduce<float>(n);
        check_device_scan<long long>(n);
        check_device_sort<int>(n, 1000003, 0, 32);
        check_device_sort<unsigned short>(n, 300, 3, 13);
        check_device_sort<double>(n, -1e200, 0, 64);
        check_select(n);
        check_histogram(n);
        check_segments(n);
    }
    check_dynamic_storage();
    check_streams();
    check_wrong_pointer();
    printf("%d failures\n", failures);
    return failures > 0;
}

/* More parts of CUB, beside plain code: sorts by comparisons, what goes by keys and by segments, and reductions of
 * blocks in kernels that the runner does as loops. */
#include <cub/cub.cuh>
#include <cuda/functional>
#include <algorithm>
#include <numeric>
#include <vector>
#include "check.h"

static uint64_t seed = 11;
static int random_number(int below)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((seed >> 33) % (uint64_t)below);
}

template <class T> static std::vector<T> random_numbers(size_t n, int below)
{
    std::vector<T> all(n);
    for (T &x : all) x = (T)(random_number(2 * below) - below);
    return all;
}
template <class T> static T *on_device(const std::vector<T> &all)
{
    T *items = managed<T>(all.size() + 1);
    std::copy(all.begin(), all.end(), items);
    return items;
}
template <class T> static bool same(const T *items, const std::vector<T> &wanted)
{
    return std::equal(wanted.begin(), wanted.end(), items);
}

/* A key that no radix sort takes, by one of its parts. */
struct item {
    int key, place;
    double ballast;
    bool operator==(const item &b) const
    {
        return key == b.key && place == b.place;
    }
};
struct by_key {
    __host__ __device__ bool operator()(const item &a, const item &b) const
    {
        return a.key < b.key;
    }
};
struct downwards {
    __host__ __device__ bool operator()(int a, int b) const
    {
        return a > b;
    }
};
static std::vector<item> random_items(int n, int below)
{
    std::vector<item> all((size_t)n);
    for (int i = 0; i < n; i++) all[(size_t)i] = {random_number(below), i, 0};
    return all;
}
/* The numbers of items in their order. */
template <class T, class Less>
static std::vector<int> order_of(const std::vector<T> &all, Less less)
{
    std::vector<int> order(all.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return less(all[(size_t)a], all[(size_t)b]); });
    return order;
}

/* ---- blocks and warps -------------------------------------------------------------------------- */

/* Three items for each of 64 threads, of which VALID are sorted; and two for each lane of warps of 16. */
__global__ void sorts_of_block(const item *in, item *sorted, item *some, int *moved, int valid)
{
    using keys = cub::BlockMergeSort<item, 64, 3>;
    using pairs = cub::BlockMergeSort<item, 16, 3, short, 4>;
    __shared__ union {
        keys::TempStorage for_keys;
        pairs::TempStorage for_pairs;
    } temp;
    item all[3], cut[3];
    short numbers[3];
    const int t = threadIdx.y * 16 + threadIdx.x;
    for (int i = 0; i < 3; i++) {
        all[i] = cut[i] = in[3 * t + i];
        numbers[i] = (short)(3 * t + i);
    }
    pairs(temp.for_pairs).StableSort(all, numbers, by_key());
    __syncthreads();
    pairs(temp.for_pairs).Sort(cut, by_key(), valid, item{1 << 20, -1, 0});
    for (int i = 0; i < 3; i++) {
        sorted[3 * t + i] = all[i];
        moved[3 * t + i] = numbers[i];
        some[3 * t + i] = cut[i];
    }
}

__global__ void sorts_of_warps(const int *in, int *sorted, int *moved, int *striped, int *scattered)
{
    using sort = cub::WarpMergeSort<int, 2, 16, int>;
    using exchange = cub::WarpExchange<int, 2, 16>;
    __shared__ sort::TempStorage for_sort[4];
    __shared__ exchange::TempStorage for_exchange[4];
    const int t = threadIdx.x, w = t / 16;
    int keys[2] = {in[2 * t], in[2 * t + 1]}, values[2] = {2 * t, 2 * t + 1}, other[2], ranks[2];
    sort(for_sort[w]).Sort(keys, values, downwards(), 29, -5000);
    for (int i = 0; i < 2; i++) sorted[2 * t + i] = keys[i], moved[2 * t + i] = values[i];
    exchange(for_exchange[w]).BlockedToStriped(keys, other);
    for (int i = 0; i < 2; i++) {
        striped[32 * w + 16 * i + t % 16] = other[i];
        ranks[i] = 31 - (2 * (t % 16) + i);
    }
    __syncwarp();
    exchange(for_exchange[w]).StripedToBlocked(other, other);
    __syncwarp();
    exchange(for_exchange[w]).ScatterToStriped(other, ranks);
    for (int i = 0; i < 2; i++) scattered[32 * w + 16 * i + t % 16] = other[i];
}

static void check_groups(void)
{
    const std::vector<item> all = random_items(192, 40);
    item *in = on_device(all), *sorted = on_device(all), *some = on_device(all);
    int *moved = managed<int>(192);
    for (int valid : {0, 1, 100, 192}) {
        sorts_of_block<<<1, dim3(16, 4)>>>(in, sorted, some, moved, valid);
        CHECK(done());
        std::vector<item> wanted(all), part(all);
        std::stable_sort(wanted.begin(), wanted.end(), by_key());
        std::fill(part.begin() + valid, part.end(), item{1 << 20, -1, 0});
        std::stable_sort(part.begin(), part.end(), by_key());
        CHECK(same(sorted, wanted) && same(some, part));
        CHECK(same(moved, order_of(all, by_key())));
    }
    const std::vector<int> numbers = random_numbers<int>(128, 20);
    int *from = on_device(numbers), *out = managed<int>(512), wrong = 0;
    sorts_of_warps<<<1, 64>>>(from, out, out + 128, out + 256, out + 384);
    CHECK(done());
    for (int w = 0; w < 4; w++) {
        std::vector<int> of_warp(numbers.begin() + 32 * w, numbers.begin() + 32 * w + 32);
        std::fill(of_warp.begin() + 29, of_warp.end(), -5000);
        const std::vector<int> order = order_of(of_warp, downwards());
        for (int i = 0; i < 32; i++) {
            const int *at = out + 32 * w, value = of_warp[(size_t)order[(size_t)i]];
            wrong += at[i] != value || at[128 + i] != 32 * w + order[(size_t)i];
            wrong += at[256 + i] != value || at[384 + 31 - i] != value;
        }
    }
    CHECK(wrong == 0);
    cudaFree(in), cudaFree(sorted), cudaFree(some), cudaFree(moved), cudaFree(from), cudaFree(out);
}

/* ---- devices ----------------------------------------------------------------------------------- */

/* Both calls of a function of cub's. */
#define TWICE(call, ...)                                                        \
    do {                                                                        \
        void *temp = NULL;                                                      \
        size_t bytes = 0;                                                       \
        CHECK(cub::call(temp, bytes, __VA_ARGS__) == cudaSuccess && bytes > 0); \
        CHECK(cudaMalloc(&temp, bytes) == cudaSuccess);                         \
        CHECK(cub::call(temp, bytes, __VA_ARGS__) == cudaSuccess && done());    \
        cudaFree(temp);                                                         \
    } while (0)

static void check_device_sorts(int n)
{
    const std::vector<item> all = random_items(n, n / 3 + 1);
    const std::vector<int> order = order_of(all, by_key());
    std::vector<item> wanted(all);
    std::stable_sort(wanted.begin(), wanted.end(), by_key());
    std::vector<int> numbers((size_t)n);
    std::iota(numbers.begin(), numbers.end(), 0);
    item *keys = on_device(all), *copy = on_device(all);
    int *values = on_device(numbers), *moved = on_device(numbers);
    TWICE(DeviceMergeSort::SortPairsCopy, keys, values, copy, moved, n, by_key());
    CHECK(same(keys, all) && same(copy, wanted) && same(moved, order));
    TWICE(DeviceMergeSort::StableSortPairs, keys, values, n, by_key());
    CHECK(same(keys, wanted) && same(values, order));
    std::copy(all.begin(), all.end(), keys);
    TWICE(DeviceMergeSort::SortKeysCopy, keys, copy, n, by_key());
    CHECK(same(keys, all) && same(copy, wanted));
    TWICE(DeviceMergeSort::StableSortKeys, keys, n, by_key());
    CHECK(same(keys, wanted));
    cudaFree(keys), cudaFree(copy), cudaFree(values), cudaFree(moved);
}

static void check_by_key(int n)
{
    const std::vector<int> key = random_numbers<int>((size_t)n, 2),
                           number = random_numbers<int>((size_t)n, 100);
    std::vector<int> before, with, least, most;
    int sum = 0, low = 0, high = -7;
    for (size_t i = 0; i < key.size(); i++) {
        const bool begins = i == 0 || key[i] != key[i - 1];
        if (begins) sum = 0, low = number[i], high = -7;
        before.push_back(sum), most.push_back(high);
        with.push_back(sum += number[i]), least.push_back(low = std::min(low, number[i]));
        high = std::max(high, number[i]);
    }
    int *keys = on_device(key), *in = on_device(number), *out = managed<int>((size_t)n + 1);
    TWICE(DeviceScan::ExclusiveSumByKey, keys, in, out, n);
    CHECK(same(out, before));
    TWICE(DeviceScan::InclusiveSumByKey, keys, in, out, n, cub::Equality());
    CHECK(same(out, with));
    TWICE(DeviceScan::ExclusiveScanByKey, keys, in, out, cub::Max(), -7, n);
    CHECK(same(out, most));
    TWICE(DeviceScan::InclusiveScanByKey, keys, in, in, cub::Min(), n);
    CHECK(same(in, least));
    cudaFree(keys), cudaFree(in), cudaFree(out);
}

struct squares {
    __host__ __device__ long long operator()(int x) const
    {
        return (long long)x * x;
    }
    __host__ __device__ long long operator()(int x, int y) const
    {
        return (long long)x * 1000 - y;
    }
};
struct is_positive {
    __host__ __device__ bool operator()(int x) const
    {
        return x > 0;
    }
};

static void check_transforms(int n)
{
    const std::vector<int> a = random_numbers<int>((size_t)n, 500),
                           b = random_numbers<int>((size_t)n, 500);
    std::vector<long long> one, two;
    std::vector<int> most, chosen;
    long long sum = 7;
    int high = 3;
    for (size_t i = 0; i < a.size(); i++) {
        one.push_back(squares()(a[i])), two.push_back(squares()(a[i], b[i]));
        sum += one[i];
        most.push_back(high = std::max(high, a[i]));
        if (b[i] > 0) chosen.push_back(a[i]);
    }
    int *first = on_device(a), *second = on_device(b), *out = managed<int>((size_t)n + 1),
        *count = managed<int>(1);
    long long *wide = managed<long long>((size_t)n + 1);
    CHECK(!cub::DeviceTransform::Transform(first, wide, n, squares()) && done() && same(wide, one));
    TWICE(DeviceTransform::Transform, std::make_tuple(first, second), wide, n, squares());
    CHECK(same(wide, two));
    TWICE(DeviceReduce::TransformReduce, first, wide, n, cub::Sum(), squares(), 7ll);
    CHECK(*wide == sum);
    TWICE(DeviceScan::InclusiveScanInit, first, out, cub::Max(), 3, n);
    CHECK(same(out, most));
    TWICE(DeviceSelect::FlaggedIf, first, second, out, count, n, is_positive());
    CHECK(*count == (int)chosen.size() && same(out, chosen));
    cudaFree(first), cudaFree(second), cudaFree(out), cudaFree(count), cudaFree(wide);
}

template <class K> static void check_segments(int n, int first, int last)
{
    const int segments = 6;
    std::vector<int> offset(segments + 1), numbers((size_t)n);
    for (int &o : offset) o = random_number(n + 1);
    std::sort(offset.begin(), offset.end());
    std::iota(numbers.begin(), numbers.end(), 0);
    const std::vector<K> all = random_numbers<K>((size_t)n, 100);
    std::vector<K> up(all), down(all), bits(all);
    std::vector<int> upwards(numbers), falling(numbers);
    auto digits = [=](K key) {
        return (unsigned long long)key >> first & ((2ull << (last - first - 1)) - 1);
    };
    for (size_t s = 0; s < segments; s++) {
        auto begin = offset[s], end = offset[s + 1];
        auto rising = [&](int a, int b) { return all[(size_t)a] < all[(size_t)b]; };
        auto sinking = [&](int a, int b) { return all[(size_t)a] > all[(size_t)b]; };
        std::stable_sort(upwards.begin() + begin, upwards.begin() + end, rising);
        std::stable_sort(falling.begin() + begin, falling.begin() + end, sinking);
        std::stable_sort(bits.begin() + begin, bits.begin() + end,
                         [=](K a, K b) { return digits(a) < digits(b); });
    }
    for (size_t i = 0; i < all.size(); i++)
        up[i] = all[(size_t)upwards[i]], down[i] = all[(size_t)falling[i]];
    K *keys = on_device(all), *sorted = on_device(all);
    int *values = on_device(numbers), *moved = on_device(numbers), *offsets = on_device(offset);
    TWICE(DeviceSegmentedSort::StableSortPairs, keys, sorted, values, moved, n, segments, offsets,
          offsets + 1);
    CHECK(same(sorted, up) && same(moved, upwards) && same(keys, all));
    TWICE(DeviceSegmentedSort::SortKeysDescending, keys, sorted, n, segments, offsets, offsets + 1);
    CHECK(same(sorted, down));
    if (std::is_integral<K>::value) {
        TWICE(DeviceSegmentedRadixSort::SortKeys, keys, sorted, n, segments, offsets, offsets + 1,
              first, last);
        CHECK(same(sorted, bits));
    }
    std::copy(all.begin(), all.end(), sorted);
    cub::DoubleBuffer<K> both(keys, sorted);
    cub::DoubleBuffer<int> places(values, moved);
    std::copy(numbers.begin(), numbers.end(), moved);
    TWICE(DeviceSegmentedRadixSort::SortPairsDescending, both, places, n, segments, offsets,
          offsets + 1);
    CHECK(both.Current() == sorted && same(both.Current(), down) &&
          same(places.Current(), falling));

    auto *best = managed<cub::KeyValuePair<int, K>>(2 * segments);
    TWICE(DeviceSegmentedReduce::ArgMin, keys, best, segments, offsets, offsets + 1);
    TWICE(DeviceSegmentedReduce::ArgMax, keys, best + segments, segments, offsets, offsets + 1);
    for (size_t s = 0; s < segments; s++) {
        const int begin = offset[s], empty = begin == offset[s + 1];
        CHECK(best[s].key == (empty ? 1 : upwards[(size_t)begin] - begin));
        CHECK(best[segments + s].key == (empty ? 1 : falling[(size_t)begin] - begin));
    }
    cudaFree(keys), cudaFree(sorted), cudaFree(values), cudaFree(moved), cudaFree(offsets);
    cudaFree(best);
}

static void check_neighbours_and_merges(int n)
{
    std::vector<int> a = random_numbers<int>((size_t)n, 500), left(a), right(a),
                     b = random_numbers<int>((size_t)n / 2 + 3, 500), merged, from;
    for (size_t i = 1; i < a.size(); i++) left[i] = a[i] - a[i - 1], right[i - 1] = a[i - 1] - a[i];
    int *in = on_device(a), *out = managed<int>(4 * (size_t)n + 10);
    TWICE(DeviceAdjacentDifference::SubtractLeftCopy, in, out, n);
    CHECK(same(out, left) && same(in, a));
    TWICE(DeviceAdjacentDifference::SubtractRightCopy, in, out, n, cub::Difference());
    CHECK(same(out, right));
    TWICE(DeviceAdjacentDifference::SubtractLeft, in, n);
    CHECK(same(in, left));
    cudaFree(in);

    std::sort(a.begin(), a.end()), std::sort(b.begin(), b.end());
    const int count = (int)b.size(), all = n + count;
    for (int i = 0, j = 0; i < n || j < count;) {
        const bool second = i == n || (j < count && b[(size_t)j] < a[(size_t)i]);
        merged.push_back(second ? b[(size_t)j] : a[(size_t)i]);
        from.push_back(second ? -1 - j++ : i++);
    }
    std::vector<int> of_a((size_t)n), of_b((size_t)count);
    for (int i = 0; i < n; i++) of_a[(size_t)i] = i;
    for (int i = 0; i < count; i++) of_b[(size_t)i] = -1 - i;
    int *first = on_device(a), *second = on_device(b), *with = on_device(of_a),
        *by = on_device(of_b);
    TWICE(DeviceMerge::MergePairs, first, with, n, second, by, count, out, out + all);
    CHECK(same(out, merged) && same(out + all, from));
    TWICE(DeviceMerge::MergeKeys, second, count, first, n, out);
    CHECK(same(out, merged));

    const int **sources = managed<const int *>(2), *sizes = on_device(std::vector<int>{n, count});
    int **targets = managed<int *>(2);
    sources[0] = first, sources[1] = second, targets[0] = out + count, targets[1] = out;
    TWICE(DeviceCopy::Batched, sources, targets, sizes, 2);
    CHECK(same(out, b) && same(out + count, a));
    cudaFree(first), cudaFree(second), cudaFree(with), cudaFree(by), cudaFree(out);
    cudaFree(sources), cudaFree(targets), cudaFree((void *)sizes);
}

/* ---- reductions of blocks as loops ------------------------------------------------------------- */

typedef cub::BlockReduce<float, 8, cub::BLOCK_REDUCE_RAKING, 5, 3> sum_of_file;
__global__ void reduces_by_file(const float *in, float *out, int valid)
{
    __shared__ sum_of_file::TempStorage storage;
    const int t = (threadIdx.z * 5 + threadIdx.y) * 8 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 3; k++) {
        float x = in[120 * k + t] + sum;
        float part = sum_of_file(storage).Sum(x, valid);
        __syncthreads();
        sum += part / 3;
    }
    out[t] = sum;
}

template <class T, int count> __global__ void reduces_by_template(const T *in, T *out, int n)
{
    using reduction = cub::BlockReduce<T, count>;
    __shared__ typename reduction::TempStorage storage;
    T mine = 0;
    for (int i = threadIdx.x; i < n; i += count) mine += in[i];
    T most = reduction(storage).Reduce(mine, cuda::maximum<>());
    __syncthreads();
    mine = reduction(storage).Reduce(mine, cub::Min(), count);
    if (threadIdx.x == 0) out[0] = most, out[1] = mine;
}

/* Fibers do what wants another block than it has, and what not all threads come to. */
__global__ void reduces_in_branch(const int *in, int *out)
{
    __shared__ cub::BlockReduce<int, 64>::TempStorage storage;
    int x = in[threadIdx.x];
    if (blockIdx.x < 2 && threadIdx.x < 64) {
        int sum = cub::BlockReduce<int, 64>(storage).Sum(x);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}

/* Several items of each thread, and a name that hides another one. */
__global__ void reduces_items(const int *in, int *out)
{
    typedef cub::BlockReduce<int, 64> sum_of_file;
    __shared__ typename sum_of_file::TempStorage storage;
    int items[4];
    for (int i = 0; i < 4; i++) items[i] = in[4 * threadIdx.x + i];
    int sum = sum_of_file(storage).Sum(items);
    if (threadIdx.x == 0) *out = sum;
}

/* The steps of each warp, then the sums of warps, in the first of COUNT threads. */
static std::vector<float> tree(std::vector<float> x, int valid)
{
    const int count = (int)x.size();
    for (int first = 0; first < count; first += 32) {
        const int lanes = std::min(32, count - first), end = std::min(valid - first, lanes);
        for (int step = 1; step < lanes; step *= 2)
            for (int lane = 0; lane + step < end; lane++)
                x[(size_t)(first + lane)] += x[(size_t)(first + lane + step)];
    }
    for (int i = 32; i < count && i < valid; i += 32) x[0] += x[(size_t)i];
    return x;
}

static void check_reductions(void)
{
    std::vector<float> all = random_numbers<float>(360, 1000);
    for (float &x : all) x /= 7;
    float *in = on_device(all), *out = managed<float>(120);
    for (int valid : {1, 32, 77, 120}) {
        reduces_by_file<<<1, dim3(8, 5, 3)>>>(in, out, valid);
        CHECK(done());
        std::vector<float> sum(120);
        for (size_t k = 0; k < 3; k++) {
            std::vector<float> x(120);
            for (size_t t = 0; t < 120; t++) x[t] = all[120 * k + t] + sum[t];
            x = tree(x, valid);
            for (size_t t = 0; t < 120; t++) sum[t] += x[t] / 3;
        }
        CHECK(same(out, sum));
    }
    const std::vector<short> numbers = random_numbers<short>(1000, 500);
    std::vector<short> sums(70);
    for (size_t i = 0; i < numbers.size(); i++) sums[i % 70] = (short)(sums[i % 70] + numbers[i]);
    short *from = on_device(numbers), *ends = managed<short>(2);
    reduces_by_template<short, 70><<<1, 70>>>(from, ends, 1000);
    CHECK(done() && ends[0] == *std::max_element(sums.begin(), sums.end()));
    CHECK(ends[1] == *std::min_element(sums.begin(), sums.end()));
    int *whole = on_device(std::vector<int>(64, 3)), *of_blocks = on_device(std::vector<int>(3, 0));
    reduces_in_branch<<<3, 64>>>(whole, of_blocks);
    CHECK(done() && of_blocks[0] == 192 && of_blocks[1] == 192 && of_blocks[2] == 0);
    std::vector<int> many = random_numbers<int>(256, 1000);
    int *quads = on_device(many);
    reduces_items<<<1, 64>>>(quads, of_blocks);
    CHECK(done() && of_blocks[0] == std::accumulate(many.begin(), many.end(), 0));
    cudaFree(quads);
    cudaFree(in), cudaFree(out), cudaFree(from), cudaFree(ends), cudaFree(whole),
        cudaFree(of_blocks);
}

int main(void)
{
    check_groups();
    for (int n : {0, 1, 33, 1000, 20011}) {
        check_device_sorts(n);
        check_by_key(n);
        check_transforms(n);
        check_segments<int>(n, 1, 5);
        check_segments<unsigned char>(n, 0, 3);
        check_segments<double>(n, 0, 64);
    }
    for (int n : {1, 2, 33, 1000}) check_neighbours_and_merges(n);
    check_reductions();
    printf("%d failures\n", failures);
    return failures > 0;
}

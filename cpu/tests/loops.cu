/* Kernels that the runner does as loops over the threads of a block, each beside the same on the host. */
#include "check.h"
#include <stdio.h>
#include <string.h>

enum { n = 1000, side = 50, large = n * n };
static float *a, *b, *c;
static int *p;
__device__ int total;
__constant__ float weights[4] = {1, 2, 3, 4};

/* A loop that not all threads go through equally often, and one whose variable all halve together. */
__global__ void dot(const float *x, const float *y, float *sums, int count)
{
    __shared__ float cache[256];
    int i = threadIdx.x + blockIdx.x * blockDim.x, slot = threadIdx.x;
    float sum = 0;
    while (i < count) {
        sum += x[i] * y[i];
        i += blockDim.x * gridDim.x;
    }
    cache[slot] = sum;
    __syncthreads();
    int half = blockDim.x / 2;
    while (half != 0) {
        if (slot < half) cache[slot] += cache[slot + half];
        __syncthreads();
        half /= 2;
    }
    if (slot == 0) sums[blockIdx.x] = cache[0];
}

__global__ void leaves_early(const float *x, float *y, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += weights[k] * x[(i + k) % count];
    y[i] = sum;
}

/* Bounds, for which the first and the last thread of a block answer; and numbers that begin anew in it. */
__global__ void bounded(int *x, int rows, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned int column = threadIdx.x + blockIdx.x * blockDim.x;
    if (row < rows && column < (unsigned int)columns) x[row * columns + column] += row + 2 * column;
}

__global__ void wraps(int *x, unsigned int from, unsigned int bound)
{
    unsigned int i = from + threadIdx.x;
    if (i < bound) x[threadIdx.x] = 1;
}

__global__ void scattered(int *x, unsigned int bound)
{
    unsigned int i = threadIdx.x * 2654435761u;
    if (i < bound) x[threadIdx.x] = 1;
}

/* Barriers within a bound: the block that it divides is done by fibers, and those behind it as loops again. */
__global__ void inside(const int *x, int *y, int count, int rows)
{
    __shared__ int part[64], first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if ((i < count) && (row < rows)) {
        int sum = 0;
        if (threadIdx.x == 0) first = row;
        __syncthreads();
        for (int k = 0; k < 3; k++) {
            part[threadIdx.x] = x[i] + k;
            __syncthreads();
            if (i - (int)threadIdx.x + 64 <= count) sum += part[63 - threadIdx.x];
            __syncthreads();
        }
        atomicAdd(y + row * 150 + i, sum + first);
    }
}

/* The same behind a variable that it changes, with numbers of a type of the program's: blocks are divided by
 * rows and columns, and go on behind the branch. */
typedef long long whole;
__global__ void inside_two(const int *x, int *y, whole rows, whole columns)
{
    __shared__ int part[8][16];
    const whole column = blockIdx.x * blockDim.x + threadIdx.x,
                row = blockIdx.y * blockDim.y + threadIdx.y;
    int sum = 1;
    if (row < rows && columns > column) {
        for (int k = 0; k < 3; k++) {
            part[threadIdx.y][threadIdx.x] = x[row * columns + column] + k;
            __syncthreads();
            sum += part[0][threadIdx.x] * part[threadIdx.y][0];
            __syncthreads();
        }
    }
    y[row * 48 + column] = sum;
}

/* What comes before such a branch is not done twice. */
__global__ void adds_first(int *y, int count)
{
    __shared__ int part[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(y, 1);
    if (i < count) {
        part[threadIdx.x] = i;
        __syncthreads();
        y[1 + i] = part[0];
    }
}

/* Pointers to parts of matrices, declared side by side; read and written through without a subscript. */
__global__ void of_parts(float *x, float *y, float *z, size_t size)
{
    __shared__ float s[16][16], t[16][16];
    const int column = threadIdx.x, row = threadIdx.y;
    float sum = 0, *to = &z[blockIdx.y * 16 * size + 16 * blockIdx.x];
    for (size_t k = 0; k < size / 16; k++) {
        float *p = &x[blockIdx.y * 16 * size + 16 * k], *q = &y[k * 16 * size + 16 * blockIdx.x];
        float *own = q + row * size + column;
        s[row][column] = p[row * size + column];
        t[row][column] = *own;
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += s[row][j] * t[j][column];
        __syncthreads();
    }
    to += row * size + column;
    *to = sum;
}

/* The same by structs, as in the programming guide. */
struct matrix {
    int stride;
    float *elements;
};
__device__ matrix part_of(matrix m, int row, int column)
{
    matrix part;
    part.stride = m.stride;
    part.elements = &m.elements[m.stride * 16 * row + 16 * column];
    return part;
}
__device__ float get(const matrix m, int row, int column)
{
    return m.elements[row * m.stride + column];
}
__device__ void set(matrix m, int row, int column, float value)
{
    m.elements[row * m.stride + column] = value;
}
__global__ void of_structs(matrix x, matrix y, matrix z)
{
    float sum = 0;
    int row = threadIdx.y, column = threadIdx.x;
    for (int k = 0; k < x.stride / 16; k++) {
        matrix p = part_of(x, blockIdx.y, k), q = part_of(y, k, blockIdx.x);
        __shared__ float s[16][16], t[16][16];
        s[row][column] = get(p, row, column);
        t[row][column] = get(q, row, column);
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += s[row][j] * t[j][column];
        __syncthreads();
    }
    set(z, blockIdx.y * 16 + row, blockIdx.x * 16 + column, sum);
}

/* What is read behind a cast is memory, and a function changes what one that it calls changes. */
__device__ void assigns(int &to, int value)
{
    to = value;
}
__device__ void assigns_by_another(int &to, int value)
{
    assigns(to, value);
}
__global__ void keeps(int *x, int *y)
{
    int *p = x + threadIdx.x, mine = 5;
    int old = (int)*p;
    assigns_by_another(mine, old + (int)threadIdx.x);
    __syncthreads();
    x[63 - threadIdx.x] = 7;
    __syncthreads();
    y[threadIdx.x] = old + 100 * mine;
}

/* Loops of which several turns are done at a time, and the last ones one by one: sums in the same order. */
__global__ void turns(const float *x, float *y, int count, unsigned int all)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0, product = 1, weighted = 0;
    for (int k = 0; k < count; ++k) sum += x[k * 64 + t] / 3;
    for (int k = 2; k < count - 1; k += 3) {
        float part = x[k + t];
        product *= part - (float)k / 7;
    }
    for (unsigned int k = 0; k < all; k++) weighted = weighted / 3 + x[t] * (float)k;
    y[3 * t] = sum, y[3 * t + 1] = product, y[3 * t + 2] = weighted;
}

/* Arguments whose names are those of types that the runner writes. */
__global__ void hides(float *y, int dim3, int uint3)
{
    __shared__ float first;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) first = (float)dim3;
    __syncthreads();
    if (i < n) y[i] = first + (float)uint3;
}

/* A branch that all threads of most blocks take, and a loop in it that all go through together. */
__global__ void multiply(const float *x, const float *y, float *z, int size)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < size && column < size) {
        float sum = 0;
        for (int k = 0; k < size; k++) sum += x[row * size + k] * y[k * size + column];
        z[row * size + column] = sum;
    }
}

/* What each thread counts in a loop of its own is not counted by all together. */
__global__ void doubles(int *q)
{
    int k = 1;
    for (int i = 0; i < 5; i++) {
        k = k * 2;
        q[threadIdx.x] += k;
    }
    q[threadIdx.x] += k;
}

__device__ int mine(int i)
{
    return i * (int)threadIdx.x;
}

/* Arrays of each thread, a function that asks which thread runs, and sums of atomics. */
__global__ void adds(int *q)
{
    int v[4];
    for (int i = 0; i < 4; i++) v[i] = mine(i);
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 4; i++) sum += v[i];
    atomicAdd(&total, sum);
    __syncthreads();
    q[threadIdx.x] = total;
}

template <int tile> __global__ void transpose(const float *x, float *y, int size)
{
    __shared__ float t[tile][tile + 1];
    int i = blockIdx.x * tile + threadIdx.x, j = blockIdx.y * tile + threadIdx.y;
    if (i < size && j < size) t[threadIdx.y][threadIdx.x] = x[j * size + i];
    __syncthreads();
    i = blockIdx.y * tile + threadIdx.x;
    j = blockIdx.x * tile + threadIdx.y;
    if (i < size && j < size) y[j * size + i] = t[threadIdx.x][threadIdx.y];
}

__global__ void scan(int *q, int size)
{
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = q[t];
    __syncthreads();
    for (int away = 1; away < size; away *= 2) {
        int v = 0;
        if (t >= away) v = s[t - away];
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    q[t] = s[t];
}

/* Parameters that all threads move along. */
__global__ void strides(const float *x, float *y, int size)
{
    __shared__ float s[64];
    x += blockIdx.x * size;
    y += blockIdx.x * size;
    for (int first = 0; first < size; first += 64) {
        s[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        float sum = 0;
        for (int i = 0; i <= (int)threadIdx.x; i++) sum += s[i];
        __syncthreads();
        y[threadIdx.x] = sum;
        x += 64;
        y += 64;
    }
}

/* Threads that have left are not waited for. */
__global__ void exits(int *q, int size)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= size) return;
    s[t] = t;
    __syncthreads();
    q[t] = s[size - 1 - t];
}

/* Shared memory outside of functions changes between barriers, so its value is not computed again. */
__shared__ int mark;
__global__ void marks(int *q)
{
    if (threadIdx.x == 0) mark = 3;
    __syncthreads();
    int first = mark;
    __syncthreads();
    if (threadIdx.x == 0) mark = 5;
    __syncthreads();
    q[threadIdx.x] = first * 10 + mark;
}

/* Through pointers of its own into what parameters point to. */
__global__ void along_rows(const int *zeros, int *order, int *next)
{
    const int *row = zeros + threadIdx.x;
    int *own = order + threadIdx.x;
    int seen = 0;
    for (int k = 0; k < 2; k++) seen += row[k] + atomicAdd(next, 1);
    own[0] = seen;
}

/* Loops in which each thread begins elsewhere: all take a step before any takes the next one. The order of
 * visits shows it. */
__global__ void visits(int *order, int *next, int count)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x) order[i] = atomicAdd(next, 1);
    int k = threadIdx.x + 10;
    while (k < count) {
        order[count + k] = atomicAdd(next, 1);
        k += blockDim.x;
    }
}

/* One name for the variables of two loops, elements of shared memory that belong to a thread, a sum within
 * a warp, and a condition of two. */
__global__ void sums(const float *x, float *y, unsigned count)
{
    extern __shared__ float own[];
    int id = threadIdx.x;
    own[id] = 0;
    for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x)
        own[id] += x[k];
    __syncthreads();
    for (int k = blockDim.x / 2; k >= 16; k /= 2) {
        if (id < k) own[id] += own[id + k];
        __syncthreads();
    }
    if (id < 8 && id + 8 < (int)blockDim.x) own[id] += own[id + 8];
    __syncwarp();
    if (id < 4) own[id] += own[id + 4];
    __syncwarp();
    if (id == 0) y[blockIdx.x] = own[0] + own[1] + own[2] + own[3];
}

/* Which threads take part, with bounds of either sign. */
__global__ void some(int *q, int bound, unsigned last)
{
    int t = threadIdx.x;
    if (t < bound) q[t]++;
    __syncthreads();
    if (threadIdx.x < last) q[threadIdx.x] += 10;
    __syncthreads();
    if (threadIdx.x < (unsigned)bound) q[t] += 100;
    __syncthreads();
    if (t == bound) q[t] += 1000;
    __syncthreads();
    if (threadIdx.x == last - 1) q[t] += 10000;
}

/* A product that is summed in memory, by threads of which some have nothing to do. */
template <class T> using pointer = T *__restrict__;
__global__ void in_memory(pointer<const float> x, pointer<const float> y, pointer<float> z,
                          int size)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= size || row >= size) return;
    z[row * size + column] = 0;
    for (int k = 0; k < size; k++)
        z[row * size + column] += x[row * size + k] * y[k * size + column];
}

/* Without its barrier: it is no loop, since that would hide the mistake. */
__global__ void mistaken(int *q)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < 4; i++) q[threadIdx.x] += s[(threadIdx.x + i) % 64];
}

static void fill()
{
    for (int i = 0; i < large; i++) {
        a[i] = (float)(i % 7);
        b[i] = (float)(i % 5);
        c[i] = 0;
    }
    for (int i = 0; i < n; i++) p[i] = i * i % 11;
}

static void check_turns()
{
    for (int count : {-3, 0, 1, 3, 4, 5, 12, 13, 14, 15}) {
        turns<<<1, 64>>>(a, b, count, count < 0 ? 7 : (unsigned int)count);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        for (int t = 0; t < 64; t++) {
            float sum = 0, product = 1, weighted = 0;
            for (int k = 0; k < count; ++k) sum += a[k * 64 + t] / 3;
            for (int k = 2; k < count - 1; k += 3) product *= a[k + t] - (float)k / 7;
            for (int k = 0; k < (count < 0 ? 7 : count); k++)
                weighted = weighted / 3 + a[t] * (float)k;
            CHECK(b[3 * t] == sum && b[3 * t + 1] == product && b[3 * t + 2] == weighted);
        }
    }
}

static void check_floats()
{
    float sum = 0;
    double expected = 0;
    dot<<<7, 256>>>(a, b, c, n);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 7; i++) sum += c[i];
    for (int i = 0; i < n; i++) expected += (double)a[i] * b[i];
    CHECK(sum == expected);

    leaves_early<<<4, 256>>>(a, c, n - 3);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < n - 3; i++) {
        float s = 0;
        for (int k = 0; k < 4; k++) s += (float)(k + 1) * a[(i + k) % (n - 3)];
        CHECK(c[i] == s);
    }
    CHECK(c[n - 3] == 0);

    hides<<<4, 256>>>(c, 3, 4);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && c[0] == 7 && c[n - 1] == 7);

    multiply<<<dim3(4, 4), dim3(16, 16)>>>(a, b, c, side);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < side * side; i++) {
        float s = 0;
        for (int k = 0; k < side; k++) s += a[i / side * side + k] * b[k * side + i % side];
        CHECK(c[i] == s);
    }

    in_memory<<<dim3(4, 4), dim3(16, 16)>>>(a, b, c, side);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < side * side; i++) {
        float s = 0;
        for (int k = 0; k < side; k++) s += a[i / side * side + k] * b[k * side + i % side];
        CHECK(c[i] == s);
    }

    sums<<<3, 64, 64 * sizeof(float)>>>(a, c, n);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    sum = 0, expected = 0;
    for (int i = 0; i < 3; i++) sum += c[i];
    for (int i = 0; i < n; i++) expected += a[i];
    CHECK(sum == expected);

    transpose<16><<<dim3(4, 4), dim3(16, 16)>>>(a, c, side);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < side * side; i++) CHECK(c[i] == a[i % side * side + i / side]);

    strides<<<3, 64>>>(a, c, 640);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 3 * 640; i++) {
        float s = 0;
        for (int k = i / 64 * 64; k <= i; k++) s += a[k];
        CHECK(c[i] == s);
    }
}

/* Quotients of parameters, and what a thread counts around a ring. */
__global__ void divides(const int *x, int *y, int count, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = (x[i] / by) ^ (x[i] % by);
}
__global__ void divides_unsigned(const int *x, int *y, int count, unsigned int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = (x[i] / by) ^ (x[i] % by);
}
__global__ void divides_others(const int *x, float *y, int count, int by, float most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) y[i] = (float)x[i] / by + x[i] / most + (float)((long long)x[i] * 3 / by % by);
}
__global__ void rings(int *y, int count, int size)
{
    int i = threadIdx.x, place = i;
    for (int k = 0; k < count; k++) place = (place + 7 - i) % size;
    y[i] = place;
}

static void check_quotients(void)
{
    static const int divisors[] = {1,          2,          3,     7,     768,     1023,
                                   50257,      65536,      65537, 46341, 1000003, 0x3fffffff,
                                   0x40000000, 0x7fffffff, -1,    -7};
    int *x, *y;
    cudaMallocManaged(&x, 4096 * sizeof *x);
    cudaMallocManaged(&y, 4096 * sizeof *y);
    for (int by : divisors) {
        for (int i = 0; i < 4096; i++) {
            int around = (int)((0x7fffffffu / (unsigned int)abs(by) - (unsigned int)i % 5) *
                               (unsigned int)abs(by)) -
                         2 + i % 3;
            x[i] = i % 4 == 0   ? around
                   : i % 4 == 1 ? -around
                   : i % 4 == 2 ? 0x7fffffff - i
                                : i - 2048;
        }
        divides<<<32, 128>>>(x, y, 4096, by);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        int wrong = 0;
        for (int i = 0; i < 4096; i++) wrong += y[i] != ((x[i] / by) ^ (x[i] % by));
        CHECK(wrong == 0);
        divides_unsigned<<<32, 128>>>(x, y, 4096, (unsigned int)by);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        const unsigned int b = (unsigned int)by;
        for (int i = 0; i < 4096; i++) wrong += y[i] != (int)((x[i] / b) ^ (x[i] % b));
        CHECK(wrong == 0);
        divides_others<<<32, 128>>>(x, (float *)y, 4096, by, 3.5f);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        for (int i = 0; i < 4096; i++) {
            float right = (float)x[i] / by + x[i] / 3.5f + (float)((long long)x[i] * 3 / by % by);
            wrong += ((float *)y)[i] != right;
        }
        CHECK(wrong == 0);
        rings<<<1, 64>>>(y, 100, by);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        for (int i = 0; i < 64; i++) {
            int place = i;
            for (int k = 0; k < 100; k++) place = (place + 7 - i) % by;
            wrong += y[i] != place;
        }
        CHECK(wrong == 0);
    }
    cudaFree(x);
    cudaFree(y);
}

static void check_integers()
{
    int before[n], sum = 0;
    memcpy(before, p, sizeof before);
    doubles<<<1, 64>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 64; i++) CHECK(p[i] == before[i] + 2 + 4 + 8 + 16 + 32 + 32);

    adds<<<1, 64>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 64; i++) CHECK(p[i] == 6 * 64 * 63 / 2);

    marks<<<1, 64>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 64; i++) CHECK(p[i] == 35);

    for (int rows : {-1, 0, 1, 16, 17}) {
        const int columns = 40;
        memset(p, 0, n * sizeof *p);
        bounded<<<dim3(4, 3), dim3(16, 8)>>>(p, rows, columns);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        for (int i = 0; i < n; i++)
            CHECK(p[i] == (i < rows * columns ? i / columns + 2 * (i % columns) : 0));
    }
    memset(p, 0, n * sizeof *p);
    int *x;
    cudaMallocManaged(&x, 150 * sizeof *x);
    for (int i = 0; i < 150; i++) x[i] = i * i;
    inside<<<dim3(3, 5), 64>>>(x, p, 150, 4);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 750; i++) {
        int k = i % 150, other = k / 64 * 64 + 63 - k % 64;
        CHECK(p[i] == (i / 150 < 4 ? i / 150 + (k < 128 ? 3 * other * other + 3 : 0) : 0));
    }
    memset(p, 0, n * sizeof *p);
    inside_two<<<dim3(3, 2), dim3(16, 8)>>>(x, p, 3, 40);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 768; i++) {
        int row = i / 48, column = i % 48, sum = 1;
        for (int k = 0; k < 3 && row < 3 && column < 40; k++)
            sum += (x[column] + k) * (x[row * 40 + column / 16 * 16] + k);
        CHECK(p[i] == sum);
    }
    memset(p, 0, n * sizeof *p);
    adds_first<<<3, 64>>>(p, 150);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && p[0] == 192);
    for (int i = 0; i < 192; i++) CHECK(p[1 + i] == (i < 150 ? i / 64 * 64 : 0));
    memcpy(p, x, 64 * sizeof *p);
    keeps<<<1, 64>>>(p, p + 64);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 64; i++) CHECK(p[64 + i] == x[i] + 100 * (x[i] + i));
    cudaFree(x);
    for (unsigned int bound : {0u, 5u, 16u, 0xfffffff8u, 0xffffffffu}) {
        memset(p, 0, 128 * sizeof *p);
        wraps<<<1, 64>>>(p, 0xfffffff0u, bound);
        scattered<<<1, 64>>>(p + 64, bound);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        for (unsigned int i = 0; i < 64; i++)
            CHECK(p[i] == (0xfffffff0u + i < bound) && p[64 + i] == (i * 2654435761u < bound));
    }

    for (int bound : {-1, 0, 5, 200}) {
        memset(p, 0, 64 * sizeof *p);
        some<<<1, 64>>>(p, bound, 3);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        for (int i = 0; i < 64; i++)
            CHECK(p[i] == (i < bound) + 10 * (i < 3) + 100 * ((unsigned)i < (unsigned)bound) +
                              1000 * (i == bound) + 10000 * (i == 2));
    }

    memcpy(p, before, sizeof before);
    scan<<<1, 64, 64 * sizeof(int)>>>(p, 64);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 64; i++) CHECK(p[i] == (sum += before[i]));
}

static void check_parts()
{
    const int size = 48;
    float right[size * size];
    for (int i = 0; i < size * size; i++) {
        float sum = 0;
        for (int k = 0; k < size; k++) sum += a[i / size * size + k] * b[k * size + i % size];
        right[i] = sum;
    }
    for (int structs : {0, 1}) {
        memset(c, 0, sizeof right);
        if (structs)
            of_structs<<<dim3(3, 3), dim3(16, 16)>>>({size, a}, {size, b}, {size, c});
        else
            of_parts<<<dim3(3, 3), dim3(16, 16)>>>(a, b, c, size);
        CHECK(cudaDeviceSynchronize() == cudaSuccess && !memcmp(c, right, sizeof right));
    }
}

int main(int argc, char **argv)
{
    cudaMallocManaged(&a, large * sizeof *a);
    cudaMallocManaged(&b, large * sizeof *b);
    cudaMallocManaged(&c, large * sizeof *c);
    cudaMallocManaged(&p, n * sizeof *p);
    fill();
    if (argc > 1 && !strcmp(argv[1], "visits")) {
        int right = 1, *q;
        cudaMallocManaged(&q, 201 * sizeof *q);
        q[200] = 0;
        visits<<<1, 32>>>(q, q + 200, 100);
        CHECK(cudaDeviceSynchronize() == cudaSuccess && q[200] == 190);
        for (int i = 0; i < 100; i++) right &= q[i] == i && (i < 10 || q[100 + i] == 90 + i);
        memset(q + 50, 0, 151 * sizeof *q);
        along_rows<<<1, 32>>>(q + 50, q, q + 200);
        CHECK(cudaDeviceSynchronize() == cudaSuccess && q[200] == 64);
        for (int i = 0; i < 32; i++) right &= q[i] == 32 + 2 * i;
        printf("%s\n", right ? "neighbours together" : "thread by thread");
        cudaFree(q);
        return failures;
    }
    if (argc > 1) { /* the mistake shows */
        int right = 1;
        mistaken<<<1, 64>>>(p);
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        for (int i = 0; i < 64; i++)
            for (int k = p[i] -= i * i % 11; k != 0; k = 0)
                right &= k == i + (i + 1) % 64 + (i + 2) % 64 + (i + 3) % 64;
        printf("%s\n", right ? "right" : "wrong");
        return 0;
    }
    check_floats();
    check_turns();
    check_integers();
    check_quotients();
    check_parts();
    exits<<<1, 64>>>(p, 50);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 50; i++) CHECK(p[i] == 49 - i);
    printf("%d failures\n", failures);
    return failures != 0;
}

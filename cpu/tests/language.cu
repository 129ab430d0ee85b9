/* The language and the runtime API as far as the runner knows them; each check is a line on
 * failure, and the number of failures the exit status. */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "add_kernel.h"

static int failures;

#define CHECK(condition)                                   \
    do {                                                   \
        if (!(condition)) {                                \
            printf("line %d: %s\n", __LINE__, #condition); \
            failures++;                                    \
        }                                                  \
    } while (0)

/* ---- kernels of every spelling --------------------------------------------------------------- */

extern "C" int from_c(int *device);

__constant__ float table[4] = {1, 2, 3, 4}, other_table[2];
__device__ unsigned int counter;
static __device__ const int primes[3] = {2, 3, 5};
static __constant__ int shift = 7;

__host__ __device__ __forceinline__ int twice(int x)
{
    return 2 * x;
}
static __device__ __noinline__ int thrice(int x)
{
    return 3 * x;
}
struct functor {
    int k;
    __host__ __device__ explicit functor(int k) : k(k)
    {
    }
    __host__ __device__ int operator()(int x) const
    {
        return x + k;
    }
};

static __global__ void never_launched(int *)
{
}

__global__ static void variables(int *out)
{
    out[0] = (int)table[3] + primes[2] + shift + twice(1) + thrice(1) + functor(1)(1);
    out[1] = (int)other_table[1];
    atomicAdd(&counter, 1u);
}

extern "C" {
__global__ void in_block(int *out, float4 v, dim3 d, double *nothing)
{
    out[0] = (int)v.w + (int)d.y + (nothing == NULL);
}
}

extern "C" __global__ void c_linkage(int *out)
{
    out[threadIdx.x] = (int)threadIdx.x;
}

namespace outer
{
namespace inner
{
template <class T, int N> __global__ void instance(T *out, T value)
{
    __shared__ T copy[N];
    copy[threadIdx.x % N] = value;
    __syncthreads();
    out[threadIdx.x] = copy[threadIdx.x % N] + N;
}
} // namespace inner
} // namespace outer

struct pair {
    short a;
    double b;
};

#define SHARED_ARRAY(type, name, n) __shared__ type name[n][n]

static __global__ void shared_memory(float *out)
{
    SHARED_ARRAY(float, tile, 8);
    __shared__ struct pair pairs[64];
    __shared__ __align__(16) unsigned char bytes[3], single;
    volatile __shared__ int flag;
    extern __shared__ __align__(16) double buffer[];
    static_assert(sizeof tile == 256, "an array keeps its type");
    int t = threadIdx.x;
    if (t == 0) {
        out[64] = tile[7][7];
        out[65] = (float)buffer[63];
        out[66] = (float)bytes[2] + (float)single;
        flag = (size_t)bytes % 16 == 0;
    }
    __syncthreads();
    tile[t / 8][t % 8] = (float)t;
    pairs[t].b = t;
    buffer[t] = t;
    __syncthreads();
    out[t] = tile[t % 8][t / 8] + (float)pairs[63 - t].b + (float)buffer[t] + (float)flag;
}

#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)

static void check_launches(int *device)
{
    int host[32];
    void (*pointer)(int *) = c_linkage;
    const char *text = "not<<<a, launch>>>(x)";
    CHECK(strlen(text) == 21);
    float nine[2] = {8, 9};
    CHECK(cudaMemcpyToSymbol(other_table, nine, sizeof nine) == cudaSuccess);
    CHECK(cudaMemcpyToSymbol(other_table, nine, 1, sizeof nine) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(failures, nine, 1) == cudaErrorInvalidSymbol);
    cudaGetLastError();
    variables<<<1, 1>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    CHECK(host[0] == 4 + 5 + 7 + 2 + 3 + 2 && host[1] == 9);
    in_block<<<dim3(1, 1, 1), dim3{1, 1, 1}, 0, 0>>>(device, make_float4(0, 0, 0, 5), dim3(1, 6),
                                                     NULL);
    cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost);
    CHECK(host[0] == 12);
    LAUNCH(c_linkage, 1, 32, device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    CHECK(host[31] == 31);
    cudaMemset(device, 0, sizeof host);
    if (failures >= 0)
        pointer<<<1, 8>>>(device);
    else
        (*pointer)<<<1, 4>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    CHECK(host[7] == 7 && host[8] == 0);
    outer::inner::instance<int, (3 > 2) ? 4 : 5><<<1, 32>>>(device, 3);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    CHECK(host[31] == 7);
    CHECK(from_c(device) == 6);
    CHECK(cudaGetLastError() == cudaSuccess);
}

static void check_self_inclusion(void)
{
    double host = 1.5, *device;
    cudaMalloc(&device, sizeof host);
    cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
    CHECK(add_double(1, device, device) == cudaSuccess);
    CHECK(add_int(0, NULL, (int *)device) == cudaSuccess);
    cudaFree(device);
}

static void check_shared_memory(float *device)
{
    float host[67];
    shared_memory<<<5, 64, 64 * sizeof(double)>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    bool right = true;
    for (int t = 0; t < 64; t++)
        right &= host[t] == (float)(t % 8 * 8 + t / 8) + (float)(63 - t) + (float)t + 1;
    CHECK(right);
    CHECK(isnan(host[64]) && isnan(host[65]) && host[66] == 510);
    CHECK(cudaFuncSetAttribute(shared_memory, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536) ==
          cudaSuccess);
    shared_memory<<<1, 64, 60000>>>(device);
    CHECK(cudaGetLastError() == cudaSuccess);
    shared_memory<<<1, 64, 65537>>>(device);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
}

/* ---- warps, barriers, atomics ---------------------------------------------------------------- */

static __global__ void warps(int *out, int n)
{
    int t = threadIdx.x, lane = t % warpSize;
    if (t >= n) return;
    unsigned int live = t < 32 ? 0xffffffffu : (1u << (n - 32)) - 1;
    int sum = t;
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(live, sum, step);
    if (t == 0) out[0] = sum;
    if (t == 5) out[1] = __activemask() >> 5 & 1;
    out[2 + t] = __shfl_xor_sync(live, t, 1) + 100 * __shfl_up_sync(live, lane, 1, 8);
    double wide = __shfl_sync(live, (double)t, 3);
    unsigned int odd = __ballot_sync(live, t & 1);
    if (t == 40) out[100] = (int)wide;
    if (t == 7) out[101] = (int)(odd == 0xaaaaaaaau) + 2 * __any_sync(1u << 7, 0);
    if (lane < 4) {
        __syncwarp(0xf);
        int all = __all_sync(0xf, lane < 4);
        if (t == 3) out[102] = all;
    }
}

static __global__ void barriers(int *out)
{
    int t = threadIdx.x;
    int odd = __syncthreads_count(t & 1), any = __syncthreads_or(t == 77);
    int all = __syncthreads_and(t < 77);
    __threadfence_block();
    if (t == 99) *out = odd * 100 + any * 10 + all;
}

struct totals {
    int i;
    unsigned int u;
    unsigned long long l;
    float f;
    double d;
    int largest;
    unsigned int smallest, bits, taken;
};

static __global__ void atomics(struct totals *t)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&t->i, -1);
    atomicAdd(&t->u, 1u);
    atomicAdd(&t->l, 1ull);
    atomicAdd(&t->f, 0.5f);
    atomicAdd(&t->d, 0.5);
    atomicMax(&t->largest, (int)i);
    atomicMin(&t->smallest, i + 3);
    atomicOr(&t->bits, 1u << i % 32);
    if (atomicCAS(&t->taken, 0, i + 1) == 0) atomicAnd(&t->bits, ~0u);
}

static void check_cooperation(int *device)
{
    int host[128];
    warps<<<1, 64>>>(device, 60);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    CHECK(host[0] == 31 * 16 && host[1] == 1);
    CHECK(host[2 + 6] == 7 + 500 && host[2 + 8] == 9 + 800 && host[2 + 59] == 58 + 2600);
    CHECK(host[100] == 35 && host[101] == 1 && host[102] == 1);
    barriers<<<3, 100>>>(device);
    cudaMemcpy(host, device, 4, cudaMemcpyDeviceToHost);
    CHECK(host[0] == 5010);

    struct totals t = {0, 0, 0, 0, 0, 0, 1000, 0, 0}, *totals;
    cudaMalloc(&totals, sizeof t);
    cudaMemcpy(totals, &t, sizeof t, cudaMemcpyHostToDevice);
    atomics<<<100, 100>>>(totals);
    cudaMemcpy(&t, totals, sizeof t, cudaMemcpyDeviceToHost);
    CHECK(t.i == -10000 && t.u == 10000 && t.l == 10000 && t.f == 5000 && t.d == 5000);
    CHECK(t.largest == 9999 && t.smallest == 3 && t.bits == ~0u && t.taken > 0);
    cudaFree(totals);
    CHECK(cudaGetLastError() == cudaSuccess);
}

/* ---- intrinsics ------------------------------------------------------------------------------ */

static __global__ void intrinsics(float *out, const float *in)
{
    float tiny = 1e-10f;
    out[0] = __fadd_rz(1.0f, -tiny); /* just below 1 */
    out[1] = __fadd_rn(1.0f, -tiny); /* 1 */
    out[2] = __fadd_rz(-1.0f, tiny);
    out[3] = __fadd_rz(3e38f, 3e38f);
    out[4] = __fsub_rn(__fmul_rn(1.1f, 1.1f), 1.21f);
    out[5] = __fmaf_rn(1.1f, 1.1f, -1.21f); /* one rounding: differs from the line above */
    out[6] = __fdiv_rn(1, 3) + __fsqrt_rn(2) + rsqrtf(4) + __ldg(in);
    out[7] = (float)(__float2int_rn(2.5f) + 10 * __float2int_rz(-2.5f) +
                     100 * __float2int_ru(2.1f) + 1000 * __float2int_rd(-2.1f));
    out[8] = __int_as_float(__float_as_int(7.0f));
    out[9] = (float)(__ffs(8) + 10 * __clz(1) + 1000 * __popc(255) + max(1, 2) + min(3u, 4u));
    out[10] = (float)(__byte_perm(0x33221100u, 0x77665544u, 0x0624) == 0x00662244u);
    out[11] = (float)(__float2int_rz(3e9f) == 2147483647);
    out[12] = (float)(clock64() != 0);
}

static void check_intrinsics(float *device)
{
    float out[13], one = 1;
    cudaMemcpy(device + 100, &one, sizeof one, cudaMemcpyHostToDevice);
    intrinsics<<<1, 1>>>(device, device + 100);
    cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost);
    CHECK(out[0] == nextafterf(1, 0) && out[1] == 1 && out[2] == -nextafterf(1, 0));
    CHECK(out[3] == 3.402823466e38f && out[4] != out[5]);
    CHECK(fabsf(out[6] - (1 / 3.0f + sqrtf(2) + 0.5f + 1)) < 1e-6f);
    CHECK(out[7] == 2 - 20 + 300 - 3000 && out[8] == 7);
    CHECK(out[9] == 4 + 310 + 8000 + 2 + 3 && out[10] == 1 && out[11] == 1 && out[12] == 1);
}

/* ---- the runtime API ------------------------------------------------------------------------- */

static void check_runtime(void)
{
    int value, device = -1;
    float milliseconds = -1, *pinned, *memory, row[6] = {0, 1, 2, 3, 4, 5}, back[6];
    cudaDeviceProp properties;
    cudaPointerAttributes where;
    cudaFuncAttributes function;
    cudaStream_t stream;
    cudaEvent_t start, stop;

    CHECK(cudaGetDevice(&device) == cudaSuccess && device == 0);
    CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.major == 7);
    CHECK(!strcmp(properties.name, "CPU runner"));
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, 0) == cudaSuccess && value > 0);
    CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxGridDimY, 0) == cudaSuccess &&
          value == 65535);
    CHECK(cudaGetDeviceProperties(&properties, 5) == cudaErrorInvalidDevice);
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
    CHECK(cudaGetLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaSuccess);
    CHECK(!strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory"));

    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
    CHECK(cudaEventCreate(&start) == cudaSuccess);
    CHECK(cudaEventCreateWithFlags(&stop, cudaEventDisableTiming) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventDestroy(stop) == cudaSuccess && cudaEventCreate(&stop) == cudaSuccess);
    CHECK(cudaEventRecord(start, stream) == cudaSuccess);
    CHECK(cudaMallocHost(&pinned, sizeof row) == cudaSuccess);
    CHECK(cudaMallocAsync(&memory, sizeof row, stream) == cudaSuccess);
    CHECK(cudaMemcpyAsync(back, memory, sizeof row, cudaMemcpyDefault, stream) == cudaSuccess);
    CHECK(isnan(back[0]) && isnan(back[5]));
    CHECK(cudaMemcpy2DAsync(memory, 8, row, 12, 8, 2, cudaMemcpyHostToDevice, stream) ==
          cudaSuccess);
    CHECK(cudaMemcpy2D(back, 8, memory, 8, 8, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back[0] == 0 && back[1] == 1 && back[2] == 3 && back[3] == 4);
    CHECK(cudaMemcpy2D(back, 4, memory, 8, 8, 2, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidPitchValue);
    CHECK(cudaMemsetAsync(memory, 0, sizeof row, stream) == cudaSuccess);
    CHECK(cudaMemcpy(pinned, memory, sizeof row, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(pinned[5] == 0);
    c_linkage<<<1, 6, 0, stream>>>((int *)pinned);
    CHECK(cudaPointerGetAttributes(&where, memory + 1) == cudaSuccess &&
          where.type == cudaMemoryTypeDevice && where.device == 0);
    CHECK(cudaPointerGetAttributes(&where, row) == cudaSuccess &&
          where.type == cudaMemoryTypeUnregistered);
    CHECK(cudaEventRecord(stop, stream) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(0, stop, 0) == cudaSuccess);
    CHECK(cudaEventSynchronize(stop) == cudaSuccess && cudaEventQuery(stop) == cudaSuccess);
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess && milliseconds >= 0);
    CHECK(cudaFreeAsync(memory, stream) == cudaSuccess && cudaFreeHost(pinned) == cudaSuccess);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess && cudaStreamQuery(stream) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaErrorInvalidResourceHandle);
    CHECK(cudaEventDestroy(start) == cudaSuccess && cudaEventDestroy(stop) == cudaSuccess);
    CHECK(cudaFuncGetAttributes(&function, c_linkage) == cudaSuccess &&
          function.maxThreadsPerBlock == 1024);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, c_linkage, 256, 0) == cudaSuccess &&
          value == 8);
    CHECK(cudaRuntimeGetVersion(&value) == cudaSuccess && value > 0);
    cudaGetLastError();
    CHECK(cudaDeviceReset() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess);
}

/* ---- memory that host and device share, textures ---------------------------------------------- */

static __global__ void double_all(int *out)
{
    out[threadIdx.x] *= 2;
}

static __global__ void sample(cudaTextureObject_t texture, const float2 *at, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, at[threadIdx.x].x, at[threadIdx.x].y);
}

static void check_shared_with_host(void)
{
    int *mapped = NULL, *view = NULL, *managed = NULL, *device = NULL;
    cudaPointerAttributes attributes;
    cudaMemLocation where = {cudaMemLocationTypeDevice, 0};
    CHECK(cudaHostAlloc(&mapped, 8, cudaHostAllocMapped) == cudaSuccess);
    CHECK(cudaHostGetDevicePointer(&view, mapped, 0) == cudaSuccess);
    CHECK(cudaMallocManaged(&managed, 8) == cudaSuccess);
    CHECK(cudaMalloc(&device, 8) == cudaSuccess);
    CHECK(cudaHostGetDevicePointer(&view, device, 0) == cudaErrorInvalidValue);
    mapped[0] = managed[0] = 3, mapped[1] = managed[1] = 4;
    CHECK(cudaMemPrefetchAsync(managed, 8, where, 0) == cudaSuccess);
    CHECK(cudaMemPrefetchAsync(managed, 9, where, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(device, 8, where, 0) == cudaErrorInvalidValue);
    double_all<<<1, 2>>>(view);
    double_all<<<1, 2>>>(managed);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(mapped[0] == 6 && mapped[1] == 8 && managed[0] == 6 && managed[1] == 8);
    CHECK(cudaPointerGetAttributes(&attributes, managed) == cudaSuccess);
    CHECK(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == managed);
    CHECK(cudaMemcpy(device, managed, 8, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemcpy(managed, device, 8, cudaMemcpyDeviceToDevice) == cudaSuccess);
    CHECK(cudaFreeHost(managed) == cudaErrorInvalidValue);
    CHECK(cudaFree(managed) == cudaSuccess && cudaFree(device) == cudaSuccess);
    CHECK(cudaFreeHost(mapped) == cudaSuccess);
    cudaGetLastError();
}

static void check_textures(void)
{
    /* 3 x 2 texels; a point has the texel of its square, a filtered one lies between middles. */
    static const float texels[2][4] = {{0, 256, 512, -1}, {1024, 1280, 1536, -1}};
    static const float2 at[6] = {{0.9f, 0.9f}, {1, 1},     {-5, 9},
                                 {1.5f, 0.5f}, {1.25f, 1}, {7, 0.75f}};
    static const float expected[2][6] = {{0, 1280, 1024, 256, 1280, 512},
                                         {0, 640, 1024, 256, 704, 768}};
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array = NULL;
    cudaTextureObject_t texture = 0;
    float2 *points = NULL;
    float *device = NULL, host[6];
    CHECK(cudaMallocArray(&array, &format, 3, 2) == cudaSuccess);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels, 16, 12, 2, cudaMemcpyHostToDevice) ==
          cudaSuccess);
    CHECK(cudaMemcpy2DToArray(array, 4, 0, texels, 16, 12, 2, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(cudaMalloc(&points, sizeof at) == cudaSuccess);
    CHECK(cudaMalloc(&device, sizeof host) == cudaSuccess);
    cudaMemcpy(points, at, sizeof at, cudaMemcpyHostToDevice);
    cudaResourceDesc resource;
    cudaTextureDesc how;
    memset(&resource, 0, sizeof resource);
    memset(&how, 0, sizeof how);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.sRGB = 1;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL) == cudaErrorNotSupported);
    how.sRGB = 0;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    for (int linear = 0; linear < 2; linear++) {
        how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL) == cudaSuccess);
        sample<<<1, 6>>>(texture, points, device);
        cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
        for (int i = linear; i < 6; i++) CHECK(host[i] == expected[linear][i]);
        CHECK(cudaDestroyTextureObject(texture) == cudaSuccess);
    }
    CHECK(fabsf(host[0] - 512) < 4); /* 0.4 of the way in both directions, in steps of 1/256 */
    CHECK(cudaFreeArray(array) == cudaSuccess);
    CHECK(cudaFreeArray(array) == cudaErrorInvalidResourceHandle);
    CHECK(cudaFree(points) == cudaSuccess && cudaFree(device) == cudaSuccess);
    cudaGetLastError();
}

/* ---- launches by an untyped pointer ----------------------------------------------------------- */

static __global__ void add_to_all(int count, float x, float *y)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) y[i] += x;
}

static __global__ void double_some(float *y)
{
    y[threadIdx.x] *= 2;
}

static const void *const by_number[] = {(const void *)add_to_all, (void *)&double_some};

static void check_untyped_launches(float *device)
{
    int count = 10;
    float x = 3, y[10];
    void *add[] = {&count, &x, &device}, *times[] = {&device};
    CHECK(cudaMemset(device, 0, sizeof y) == cudaSuccess);
    CHECK(cudaLaunchKernel(by_number[0], dim3(2), dim3(8), add, 0, 0) == cudaSuccess);
    CHECK(cudaLaunchKernel(by_number[1], dim3(1), dim3(4), times, 0, 0) == cudaSuccess);
    CHECK(cudaLaunchKernel(double_some, dim3(1), dim3(2), times) == cudaSuccess);
    CHECK(cudaMemcpy(y, device, sizeof y, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < count; i++) CHECK(y[i] == (i < 2 ? 12 : i < 4 ? 6 : 3));
    /* An error of before is neither returned nor forgotten. */
    void *none;
    CHECK(cudaMalloc(&none, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    CHECK(cudaLaunchKernel(by_number[0], dim3(2), dim3(8), add, 0, 0) != cudaErrorMemoryAllocation);
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cudaLaunchKernel(by_number[1], dim3(1), dim3(2000), times, 0, 0) ==
          cudaErrorInvalidConfiguration);
    CHECK(cudaLaunchKernel((const void *)&x, dim3(1), dim3(1), times, 0, 0) ==
          cudaErrorInvalidDeviceFunction);
    cudaGetLastError();
}

/* ---- what the rewriter has to tell apart ------------------------------------------------------- */

/* Variables of the device that a name with :: defines, and pointers in parentheses. */
namespace settings
{
extern __device__ int x;
extern __constant__ int numbers[2];
namespace inner
{
extern __device__ int (*function)(int);
}
} // namespace settings
__device__ int settings::x = 5;
__constant__ int settings::numbers[2] = {6, 7};
__device__ int (*settings::inner::function)(int) = thrice;
__device__ int (*by_pointer)(int), (*row)[2], after_pointers;
template <class T> __device__ T of_type = 4;

static __global__ void of_settings(int *out)
{
    out[0] = settings::x + settings::numbers[1] + settings::inner::function(7);
    out[1] = by_pointer(3);
    out[2] = of_type<int>;
    after_pointers = 8;
}

/* Variables and enumerators with the names of kernels. */
static __global__ void sum(int *out, int n)
{
    int i = (int)threadIdx.x, sum;
    sum = n + 1;
    out[i] = sum;
}

static __global__ void scale(int *out, int n)
{
    int i = (int)threadIdx.x, *to = out, scale(n), other{3}, sum{other};
    for (int k = 0, scale = 0; k < 3; k++) scale += k, to[i] = twice(scale);
    out[i] += twice(scale) + sum;
}

static __global__ void kinds(int *out)
{
    enum { sum, scale = 7, kinds };
    struct {
        int sum, scale;
    } s = {sum, scale};
    auto [first, norm] = s;
    auto &[again, variables] = s;
    out[threadIdx.x] = s.scale + kinds + first + norm + again + variables;
}

/* Objects with constructors, as arguments of kernels that only a call chooses. */
struct view {
    int *data;
    static int living, copies;
    __host__ __device__ explicit view(int *data) : data(data)
    {
#ifndef __CUDA_ARCH__
        living++;
#endif
    }
    __host__ __device__ view(const view &v) : data(v.data)
    {
#ifndef __CUDA_ARCH__
        living++, copies++;
#endif
    }
    __host__ __device__ ~view()
    {
#ifndef __CUDA_ARCH__
        living--;
#endif
    }
};
int view::living, view::copies;

template <class V> __global__ void fill(V v, int x);
template <class T, int N = 2, class V = view>
__global__ void parts(const V v, T x, unsigned int y = 3)
{
    __shared__ T copy[32];
    copy[threadIdx.x] = x;
    __syncthreads();
    v.data[threadIdx.x] = (int)copy[31 - threadIdx.x] * N + (int)y;
}
static __global__ void over(view v, long long x)
{
    v.data[0] = (int)x;
}
static __global__ void over(view v, float x, const int (*y)[2] = nullptr)
{
    v.data[0] = (int)(x * 2) + (y != nullptr);
}
template <class... T> __global__ void pack(view v, T... x)
{
    v.data[threadIdx.x] = (0 + ... + (int)x);
}
template <class V> __global__ void fill(V v, int x)
{
    v.data[threadIdx.x] = x;
}
template <> __global__ void fill<int *>(int *v, int x)
{
    v[threadIdx.x] = x + 100;
}

/* Lambdas of all kinds that ask which thread they are. */
template <class F> __device__ int apply(F f)
{
    return f(1);
}
static __device__ int number(int x)
{
    auto f = [](int y) { return y + (int)threadIdx.x; };
    return f(x);
}
static __global__ void lambdas(int *out, int n)
{
    int unused[1] = {0};
    auto put = [out](int m) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < m) out[i] = i;
    };
    auto without = [] { return (int)threadIdx.x; };
    auto reference = [&n]() { return n + (int)blockIdx.x; };
    auto nested = [=]() -> int {
        auto inner = [=](int k) { return k + (int)(blockDim.x * gridDim.x); };
        return inner(n) + (int)threadIdx.x + unused[0];
    };
    auto generic = [t = threadIdx.x](auto x) mutable {
        t += x;
        return (int)t;
    };
    auto no_throw = [](int k) noexcept -> int { return k + (int)gridDim.x; };
    auto device = [] __device__(int k) { return k + (int)threadIdx.x; };
    put(n);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int taken = apply([](int z) { return z + (int)threadIdx.y; });
    if (i < n)
        out[i] += 1000 * (without() + reference() + nested() + generic(2) + no_throw(3) +
                          device(1) + taken + number(3));
}

static int first_of(const int *device)
{
    int value = -1;
    CHECK(cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
    return value;
}

static void check_names(int *device)
{
    int (*function)(int) = NULL, host[128], value = 0;
    CHECK(cudaMemcpyFromSymbol(&function, settings::inner::function, sizeof function) ==
          cudaSuccess);
    CHECK(cudaMemcpyToSymbol(by_pointer, &function, sizeof function) == cudaSuccess);
    of_settings<<<1, 1>>>(device);
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(host[0] == 5 + 7 + 21 && host[1] == 9 && host[2] == 4);
    CHECK(cudaMemcpyFromSymbol(&value, after_pointers, sizeof value) == cudaSuccess && value == 8);
    sum<<<1, 32>>>(device, 5);
    CHECK(first_of(device) == 6);
    scale<<<1, 32>>>(device, 5);
    CHECK(first_of(device) == 6 + 10 + 3);
    kinds<<<1, 32>>>(device);
    CHECK(first_of(device) == 7 + 8 + 0 + 7 + 0 + 7);
    CHECK(view::living == 0);
    {
        view v(device);
        fill<<<1, 32>>>(v, 5);
        CHECK(first_of(device) == 5);
        fill<<<1, 32>>>(view(device), 'a');
        CHECK(first_of(device) == 'a');
        fill<<<1, 32>>>(device, 6); /* the specialisation */
        CHECK(first_of(device) == 106);
        parts<<<1, 32>>>(v, 5.5, 4u);
        CHECK(first_of(device) == 14);
        parts<unsigned int><<<1, 32>>>(v, 5u, 4u);
        CHECK(first_of(device) == 14);
        parts<float, 7><<<1, 32>>>(v, 5.5f, 4u);
        CHECK(first_of(device) == 39);
        over<<<1, 1>>>(v, 5LL);
        CHECK(first_of(device) == 5);
        over<<<1, 1>>>(v, 5.5f, nullptr);
        CHECK(first_of(device) == 11);
        pack<<<1, 32>>>(v, 1, 2.5, 3u);
        CHECK(first_of(device) == 6);
        CHECK(view::living == 1 && view::copies < 20); /* none for each thread */
    }
    lambdas<<<4, 32>>>(device, 100);
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < 100; i++) {
        int t = i % 32, all = t + (100 + i / 32) + (100 + 128 + t) + (t + 2) + 7 + (1 + t) + 1;
        CHECK(host[i] == i + 1000 * (all + 3 + t));
    }
}

int main()
{
#if !defined(__CUDACC__) || !defined(__CUCC__) || defined(__CUDA_ARCH__)
#error "__CUDACC__ and __CUCC__ must be defined, and __CUDA_ARCH__ not"
#endif
    int *device;
    CHECK(cudaMalloc(&device, 4096) == cudaSuccess);
    check_launches(device);
    check_self_inclusion();
    check_shared_memory((float *)device);
    check_cooperation(device);
    check_intrinsics((float *)device);
    check_untyped_launches((float *)device);
    check_names(device);
    CHECK(cudaFree(device) == cudaSuccess);
    check_shared_with_host();
    check_textures();
    check_runtime();
    return failures;
}

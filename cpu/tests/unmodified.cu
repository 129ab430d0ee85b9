/* What other people's programs are written with: every way of naming a kernel, variables of every kind,
 * kernels that launch kernels, functions of older toolkits, intrinsics, memory calls. */
#include "check.h"
#include <cuComplex.h>
#include <cuda.h>
#include <helper_cuda.h>
#include <helper_functions.h>
#include <helper_math.h>
#include <math_constants.h>
#include <nvtx3/nvToolsExt.h>
#include <fenv.h>

/* ---- kernels --------------------------------------------------------------------------------- */

__shared__ int at_file_scope[64], *pointer_at_file_scope;
extern __shared__ float dynamic_at_file_scope[];
__managed__ int managed_variable = 5;
__device__ __managed__ float managed_array[3];
__device__ volatile int volatile_variable;

template <class T> __global__ void deduced(T *to, T value)
{
    to[threadIdx.x] += value;
}
template <int n, class T> __global__ void partly_deduced(T *to)
{
    to[threadIdx.x] += n;
}
__global__ void overloaded(int *to)
{
    to[threadIdx.x] = 1;
}
__global__ void overloaded(int *to, int value)
{
    to[threadIdx.x] = value;
}
static int overloaded(int from_the_host)
{
    return from_the_host + 1;
}
__global__ void with_default(int *to, int value = 40, const float *nothing = NULL)
{
    to[threadIdx.x] = value + (nothing != NULL);
}
template <class T, int n> struct holder {
    template <class U> static __device__ U twice(U x)
    {
        return 2 * x;
    }
};
__global__ void file_scope(int *to)
{
    at_file_scope[threadIdx.x] = (int)threadIdx.x;
    dynamic_at_file_scope[threadIdx.x] = 0.5f;
    if (threadIdx.x == 0) pointer_at_file_scope = to;
    __syncthreads();
    float *shared = dynamic_at_file_scope;
    int other = at_file_scope[63 - threadIdx.x];
    to[threadIdx.x] = other + (pointer_at_file_scope == to) + (int)(2 * shared[threadIdx.x]) +
                      holder<int, 3>::twice(1) + managed_variable + volatile_variable;
}
__global__ void rows_of_shared(int *to)
{
    extern __shared__ short tile[][4];
    tile[threadIdx.x][1] = (short)threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = tile[63 - threadIdx.x][1];
}

static void check_kernels(void)
{
    int *data = managed<int>(64);
    void (*chosen)(int *, int) = deduced<int>;
    int value = 7;
    void *arguments[] = {&data, &value};
    deduced<<<1, 64>>>(data, 2);
    partly_deduced<3><<<1, 64>>>(data);
    CHECK(done() && data[9] == 5);
    chosen<<<1, 64>>>(data, 4);
    CHECK(cudaLaunchKernel((const void *)deduced<int>, dim3(1), dim3(64), arguments, 0, 0) ==
          cudaSuccess);
    CHECK(done() && data[9] == 16);
    overloaded<<<1, 64>>>(data);
    CHECK(done() && data[63] == 1);
    overloaded<<<1, 64>>>(data, 8);
    CHECK(done() && data[63] == 8 && overloaded(1) == 2);
    with_default<<<1, 64>>>(data);
    CHECK(done() && data[5] == 40);
    with_default<<<1, 64>>>(data, 3, NULL);
    CHECK(done() && data[5] == 3);
    volatile_variable = 0;
    managed_variable += 1;
    file_scope<<<3, 64, 64 * sizeof(float)>>>(data);
    CHECK(done() && data[0] == 63 + 1 + 1 + 2 + 6 && managed_array[2] == 0);
    rows_of_shared<<<1, 64, 64 * 4 * sizeof(short)>>>(data);
    CHECK(done() && data[0] == 63);
    cudaFree(data);
}

/* ---- kernels that launch kernels ------------------------------------------------------------- */

__global__ void double_all(int *data)
{
    data[threadIdx.x] *= 2;
}
__global__ void halves(int *data, int n, int depth)
{
    if (n == 1 || depth == 0) {
        data[0] += depth;
        return;
    }
    halves<<<1, 1>>>(data, n / 2, depth - 1);
    halves<<<1, 1>>>(data + n / 2, n / 2, depth - 1);
}
__global__ void launches(int *data)
{
    if (threadIdx.x == 0) {
        double_all<<<1, 32>>>(data);
        cudaStream_t stream;
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        double_all<<<1, 32, 0, stream>>>(data + 32);
        cudaStreamDestroy(stream);
    }
}
__global__ void waits_for_child(int *data)
{
    double_all<<<1, 1>>>(data + threadIdx.x);
    cudaDeviceSynchronize();
    data[threadIdx.x] += 1;
}

static void check_children(void)
{
    int *data = managed<int>(64);
    for (int i = 0; i < 64; i++) data[i] = i;
    launches<<<1, 32>>>(data);
    CHECK(done() && data[40] == 80 && data[5] == 10);
    waits_for_child<<<1, 8>>>(data);
    CHECK(done() && data[5] == 21 && data[0] == 1);
    for (int i = 0; i < 64; i++) data[i] = 0;
    halves<<<1, 1>>>(data, 64, 10);
    CHECK(done());
    for (int i = 0; i < 64; i++) CHECK(data[i] == 4);
    cudaFree(data);
}

/* ---- warps and atomics ----------------------------------------------------------------------- */

__global__ void warps(unsigned int *out)
{
    unsigned int t = threadIdx.x, lane, lower, field, *to = out + t * 16;
    to[0] = __shfl_down(t, 1);
    to[1] = __shfl_xor(t, 3);
    to[2] = __ballot(t % 2);
    to[3] = (unsigned int)(__any(t == 7) + 2 * __all(t < 32));
    to[4] = __match_any_sync(~0u, t / 8);
    int all;
    to[5] = __match_all_sync(~0u, t / 8, &all) + (unsigned int)all;
    to[6] = __reduce_add_sync(~0u, t) + __reduce_max_sync(~0u, t) + __reduce_min_sync(~0u, t + 1);
    to[7] = (unsigned int)__reduce_min_sync(~0u, (int)t - 10);
    to[8] = __reduce_or_sync(~0u, 1u << t) ^ __reduce_xor_sync(~0u, t);
    if (t < 5)
        to[9] = __activemask();
    else
        to[9] = ~__activemask();
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
    asm volatile("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(0xabcd0u), "r"(8u), "r"(8u));
    asm volatile("membar.gl;" ::: "memory");
    to[10] = lane * 1000 + (unsigned int)__popc(lower);
    to[11] = field;
}

__global__ void atomics(unsigned int *u, int *i, unsigned long long *l, double *d, float *f)
{
    atomicInc(&u[0], 9);
    atomicDec(&u[1], 9);
    atomicXor(&u[2], threadIdx.x);
    atomicSub(&i[0], 2);
    atomicAdd_block(&i[1], 1);
    atomicAdd_system(&i[2], 1);
    atomicMax(&l[0], (unsigned long long)threadIdx.x << 40);
    atomicAdd(&l[1], 1ull << 33);
    atomicAdd(d, 0.5);
    atomicExch(f, 2.0f);
    while (atomicCAS(&u[3], 0, 1)) { /* a lock */
    }
    i[3] += 1;
    __threadfence();
    atomicExch(&u[3], 0u);
}

static void check_warps(void)
{
    unsigned int *out = managed<unsigned int>(32 * 16), *u = managed<unsigned int>(4);
    int *i = managed<int>(4);
    unsigned long long *l = managed<unsigned long long>(2);
    double *d = managed<double>(1);
    float *f = managed<float>(1);
    warps<<<1, 32>>>(out);
    CHECK(done());
    for (unsigned int t = 0; t < 32; t++) {
        const unsigned int *got = out + t * 16;
        CHECK(got[0] == (t < 31 ? t + 1 : t) && got[1] == (t ^ 3) && got[2] == 0xaaaaaaaau &&
              got[3] == 3);
        CHECK(got[4] == 0xffu << t / 8 * 8 && got[5] == 0 && got[6] == 496 + 31 + 1 &&
              got[7] == (unsigned int)-10);
        CHECK(got[8] == 0xffffffffu && got[9] == 0x1f && got[10] == t * 1001 && got[11] == 0xbc);
    }
    u[1] = 3;
    atomics<<<4, 25>>>(u, i, l, d, f);
    CHECK(done());
    CHECK(u[0] == 0 && u[1] == 3 && u[2] == 0 && u[3] == 0);
    CHECK(i[0] == -200 && i[1] == 100 && i[2] == 100 && i[3] == 100);
    CHECK(l[0] == 24ull << 40 && l[1] == 100ull << 33 && *d == 50 && *f == 2);
    void *all[] = {out, u, i, l, d, f};
    for (void *memory : all) cudaFree(memory);
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The processor rounds as it is told; the runner must have found the same. */
#define DIRECTED(mode, how, T, add, mul, div, fused, root)                                       \
    do {                                                                                         \
        volatile T x = a, y = b, z = c, sum, product, quotient, square;                          \
        fesetround(mode);                                                                        \
        sum = x + y, product = x * y, quotient = x / y, square = (T)sqrt(fabs((double)x));       \
        T third = (T)(sizeof(T) == 4 ? fmaf((float)x, (float)y, (float)z)                        \
                                     : fma((double)x, (double)y, (double)z));                    \
        if (sizeof(T) == 4) square = sqrtf(fabsf((float)x));                                     \
        fesetround(FE_TONEAREST);                                                                \
        CHECK(add##how(x, y) == sum && mul##how(x, y) == product && div##how(x, y) == quotient); \
        CHECK(fused##how(x, y, z) == third && root##how((T)fabs((double)x)) == square);          \
    } while (0)
#define DIRECTED_ALL(T, add, mul, div, fused, root)              \
    DIRECTED(FE_TOWARDZERO, _rz, T, add, mul, div, fused, root); \
    DIRECTED(FE_DOWNWARD, _rd, T, add, mul, div, fused, root);   \
    DIRECTED(FE_UPWARD, _ru, T, add, mul, div, fused, root);     \
    DIRECTED(FE_TONEAREST, _rn, T, add, mul, div, fused, root)

static void check_rounding(void)
{
    unsigned int seed = 1;
    for (int n = 0; n < 3000; n++) {
        double numbers[3];
        for (double &number : numbers) {
            seed = seed * 1664525u + 1013904223u;
            int scale = (int)(seed >> 26) - 32;
            seed = seed * 1664525u + 1013904223u;
            number = ldexp((double)(int)seed * (1 + (double)seed * 1e-13), scale - 31);
        }
        {
            float a = (float)numbers[0], b = (float)numbers[1], c = (float)numbers[2];
            DIRECTED_ALL(float, __fadd, __fmul, __fdiv, __fmaf, __fsqrt);
        }
        {
            double a = numbers[0], b = numbers[1], c = numbers[2];
            DIRECTED_ALL(double, __dadd, __dmul, __ddiv, __fma, __dsqrt);
        }
    }
    CHECK(__fmul_rz(3e38f, 10.0f) == 3.402823466e38f && isinf(__fmul_ru(3e38f, 10.0f)));
    CHECK(__float2uint_rz(-1.5f) == 0 && __float2int_rn(2.5f) == 2 && __double2int_ru(1.25) == 2);
    CHECK(__float2ll_rd(-1.5f) == -2 && __double2uint_rn(5e9) == 0xffffffffu &&
          __int2float_rz(16777217) == 16777216.0f);
    CHECK(__ull2double_ru(9007199254740993ull) == 9007199254740994.0 &&
          __double2float_rd(0.1) < __double2float_ru(0.1));
}

/* Another warp waits for the first: by atomics that name their order. */
__global__ void ordered_atomics(int *word, int *data)
{
    cudaGridDependencySynchronize();
    __builtin_assume(blockDim.x == 64);
    if (threadIdx.x == 0) {
        *data = 5;
        __nv_atomic_store_n(&word[0], 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    } else if (threadIdx.x == 32) {
        while (!__nv_atomic_load_n(&word[0], __NV_ATOMIC_ACQUIRE)) continue;
        int expected = 6;
        word[1] = *data;
        word[2] = __nv_atomic_compare_exchange_n(&word[3], &expected, 7, false, __NV_ATOMIC_ACQ_REL,
                                                 __NV_ATOMIC_RELAXED);
        word[4] = expected;
    }
    __nv_atomic_fetch_add(&word[5], 2, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_max(&word[6], (int)threadIdx.x, __NV_ATOMIC_RELAXED);
    cudaTriggerProgrammaticLaunchCompletion();
}

static void check_newer(void)
{
    const double is[][2] = {{2, 0.25539567631050575},
                            {10, 0.05614099274382259},
                            {11.5, 0.048876546895982274},
                            {12.5, 0.04499209900102792},
                            {30, 0.01879588886141675}};
    for (auto &x : is) CHECK(fabs(erfcx(x[0]) / x[1] - 1) < 1e-15);
    CHECK(erfcx(0.0) == 1 && isinf(erfcx(-30.0)) &&
          fabs(cyl_bessel_i0(-1.0) - 1.2660658777520084) < 1e-15 &&
          fabs(cyl_bessel_i1(-1.0) + 0.5651591039924851) < 1e-15);
    const double side[] = {1, 2, 4, 10};
    const float sides[] = {3, 4};
    CHECK(norm(4, side) == 11 && rnorm(4, side) == 1 / 11.0 && normf(2, sides) == 5 &&
          rnormf(2, sides) == 0.2f && rnorm4d(1, 2, 4, 10) == 1 / 11.0);
    CHECK(__vsadu4(0x01ff0080, 0x02000090) == 272 && __vsads4(0x01ff0080, 0x02000090) == 18 &&
          __vsads2(0x8000ffff, 0x7fff0001) == 65537);
    CHECK(__vcmpne4(0x01020304, 0x01000300) == 0x00ff00ff &&
          __vcmpges2(0xffff0001, 0x00000001) == 0xffff &&
          __vcmpleu2(0xffff0001, 0x00000001) == 0xffff);
    CHECK(__vaddus4(0xff018010, 0x01027f10) == 0xff03ff20 &&
          __vsubus2(0x00010005, 0x00020003) == 2 &&
          __vaddss4(0x7f800110, 0x01ff0210) == 0x7f800320 &&
          __vsubss2(0x80000005, 0x00010003) == 0x80000002 &&
          __vhaddu4(0xff000301, 0xff010402) == 0xff000301);
    CHECK(__vimax3_s32(-1, -2, -3) == -1 && __vimin3_u32(7, ~0u, 8) == 7 &&
          __viaddmax_s32(2, 3, 4) == 5 && __viaddmin_u32(~0u, 3, 4) == 2);
    CHECK(__dp2a_lo(0x0002ffff, 0x010203ff, 10) == 10 + 1 + 6 &&
          __dp2a_hi(0x0002ffffu, 0x01020304u, 10u) == 10 + 131070 + 2 &&
          __dp2a_hi(make_short2(3, -1), make_char4(1, 2, 4, -5), 1) == 18);
    CHECK(__fns(0x90, 0, 1) == 4 && __fns(0x90, 5, 1) == 7 && __fns(0x90, 0, 3) == ~0u &&
          __fns(0x90, 31, -2) == 4 && __fns(0x90, 4, 0) == 4 && __fns(0x90, 5, 0) == ~0u);
    int *word = managed<int>(8);
    memset(word, 0, 8 * sizeof *word);
    ordered_atomics<<<1, 64>>>(word, word + 7);
    CHECK(done() && word[1] == 5 && word[2] == 0 && word[4] == 0 && word[5] == 128 &&
          word[6] == 63);
    cudaFree(word);
}

static void check_numbers(void)
{
    CHECK(__mul24(-3, 5) == -15 && __umul24(0x1000003u, 2) == 6 && __mulhi(1 << 30, 8) == 2);
    CHECK(__umulhi(1u << 31, 4) == 2 && __mul64hi(1ll << 62, 8) == 2 && __umul64hi(~0ull, 2) == 1);
    CHECK(__brev(1) == 1u << 31 && __brevll(2) == 1ull << 62 && __clzll(1) == 63 &&
          __ffsll(8) == 4);
    CHECK(__popcll(~0ull) == 64 && __funnelshift_l(1u << 31, 5, 1) == 11 &&
          __funnelshift_r(4, 1, 2) == 0x40000001u);
    CHECK(__sad(-3, 4, 1) == 8 && __usad(3, 4, 1) == 2 && __dp4a(0x01ff0203, 0x01010101, 10) == 15);
    CHECK(__dp4a(make_char4(3, 2, -1, 1), make_char4(1, 1, 1, -100), 10) == -86);
    CHECK(__dp4a(make_uchar4(3, 2, 255, 1), make_uchar4(1, 1, 255, 2), 10u) == 65042u);
    CHECK(__vadd4(0x01ff0280, 0x01010180) == 0x02000300 &&
          __vcmpgtu2(0x00020001, 0x00010001) == 0xffff0000u);
    CHECK(__hiloint2double(__double2hiint(1.25), __double2loint(1.25)) == 1.25);
    CHECK(max(3u, -1) == 0xffffffffu && min(2, 3u) == 2u && min(1.5f, 2.0) == 1.5 &&
          max(4ll, 5ull) == 5ull);
    CHECK(fabs(erfinv(erf(0.3)) - 0.3) < 1e-14 && fabs(erfcinv(erfc(2.5)) - 2.5) < 1e-13);
    CHECK(fabs(normcdfinv(normcdf(-1.7)) + 1.7) < 1e-13 && sinpi(1.0) == 0 && cospi(0.5) == 0 &&
          cospi(1.0) == -1);
    CHECK(fabsf(rnorm3df(2, 3, 6) - 1.0f / 7) < 1e-7f && CUDART_PI_F == (float)CUDART_PI &&
          isinf(CUDART_INF));
    cuDoubleComplex z = cuCdiv(cuCmul(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -4)),
                               make_cuDoubleComplex(3, -4));
    CHECK(fabs(cuCreal(z) - 1) < 1e-15 && fabs(cuCimag(z) - 2) < 1e-15 &&
          cuCabsf(make_cuComplex(3, 4)) == 5);
    float3 a = make_float3(1, 2, 3), b = cross(a, make_float3(0, 0, 1)) * 2.0f + a;
    CHECK(b.x == 5 && b.y == 0 && b.z == 3 && dot(a, a) == 14 &&
          fabsf(length(normalize(a)) - 1) < 1e-6f);
}

/* ---- PTX: loads, stores and the order of operands ------------------------------------------------- */

__global__ void moves(unsigned int *p, float *f, double *d)
{
    unsigned int a, b, c, e;
    int low;
    short half_word;
    float x;
    double y;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4 + 16];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(e)
                 : "l"(p));
    asm volatile("st.global.cs.v2.b32 [%0], {%2, %1};" ::"l"(p), "r"(a), "r"(b) : "memory");
    asm("ld.s8 %0, [%1+8];" : "=r"(low) : "l"(p));
    asm("ld.global.s16\t%0, [%1+8];\n\t" : "=h"(half_word) : "l"(__cvta_generic_to_global(p)));
    asm("ld.global.cg.f32 %0, [%1];" : "=f"(x) : "l"(f));
    asm("ld.global.ca.f64 %0, [%1 + -8];" : "=d"(y) : "l"(d + 1));
    asm volatile("st.volatile.global.u32 [%0+12], %1;" : : "l"(p), "r"(c - e) : "memory");
    asm volatile("st.global.wt.f32 [%0], %1;" ::"l"(f), "f"(x + (float)low + (float)half_word));
    asm volatile("st.f64 [%0], %1;" ::"l"(d), "d"(y * 2));
    asm("add.u32 %0, %0, 1;" : "+r"(a));
    asm("bfe.u32 %0, %3, %2, %1;" : "=r"(b) : "r"(4u), "r"(8u), "r"(0xabcdu));
    asm volatile("st.global.u8 [%0+24], %1;" ::"l"(p), "r"(0x1234u));
    p[4] = a;
    p[5] = b;
}

/* A thread that waits for a word of another warp. */
__global__ void waits(unsigned int *flag, int *data)
{
    unsigned int seen = 0;
    if (threadIdx.x == 0) {
        while (seen == 0)
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        *data *= 2;
    }
    if (threadIdx.x == 32) {
        *data = 21;
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    }
}

static void check_ptx(void)
{
    const unsigned int before[8] = {0, 0, 0xfffffffe, 0, 10, 20, 30, 40};
    const unsigned int after[8] = {20, 10, 0xfffffffe, (unsigned int)-10, 11, 11, 52, 40};
    unsigned int *p = managed<unsigned int>(8), *flag = managed<unsigned int>(1);
    float *f = managed<float>(1);
    double *d = managed<double>(1);
    int *data = managed<int>(1);
    memcpy(p, before, sizeof before);
    *f = 0.5f;
    *d = 3;
    *flag = 0;
    moves<<<1, 1>>>(p, f, d);
    waits<<<1, 64>>>(flag, data);
    CHECK(done() && !memcmp(p, after, sizeof after) && *f == -3.5f && *d == 6 && *data == 42);
    cudaFree(p);
    cudaFree(flag);
    cudaFree(f);
    cudaFree(d);
    cudaFree(data);
}

/* ---- the host -------------------------------------------------------------------------------- */

static void check_host(void)
{
    float *pitched, *flat, host[6] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    size_t pitch, free, total, limit;
    int device, blocks, least = 0, size = 0, driver = 0;
    cudaPitchedPtr box;
    cudaDeviceProp properties;
    cudaEvent_t event;
    cudaPointerAttributes attributes;
    CUdevice first;
    CHECK(cudaMallocPitch(&pitched, &pitch, 12, 2) == cudaSuccess && pitch % 512 == 0);
    CHECK(cudaMemcpy2D(pitched, pitch, host, 12, 12, 2, cudaMemcpyHostToDevice) == cudaSuccess);
    CHECK(cudaMemset2D(pitched, pitch, 0, 4, 2) == cudaSuccess);
    CHECK(cudaMemcpy2D(back, 12, pitched, pitch, 12, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back[0] == 0 && back[1] == 2 && back[3] == 0 && back[5] == 6);
    CHECK(cudaMalloc3D(&box, make_cudaExtent(8, 3, 2)) == cudaSuccess &&
          cudaMemset3D(box, 1, make_cudaExtent(8, 3, 2)) == cudaSuccess);
    CHECK(cudaFree(box.ptr) == cudaSuccess && cudaFree(pitched) == cudaSuccess);
    CHECK(cudaHostRegister(host, sizeof host, cudaHostRegisterMapped) == cudaSuccess);
    CHECK(cudaHostRegister(host, 4, 0) == cudaErrorHostMemoryAlreadyRegistered);
    CHECK(cudaHostGetDevicePointer(&flat, host, 0) == cudaSuccess && flat == host);
    CHECK(cudaPointerGetAttributes(&attributes, host) == cudaSuccess &&
          attributes.type == cudaMemoryTypeHost);
    CHECK(cudaHostUnregister(host) == cudaSuccess &&
          cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered);
    CHECK(cudaMallocManaged(&flat, 64) == cudaSuccess);
    CHECK(cudaMemAdvise(flat, 64, cudaMemAdviseSetReadMostly, 0) == cudaSuccess);
    CHECK(cudaMemAdvise(flat, 64, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId) ==
          cudaSuccess);
    CHECK(cudaMemPrefetchAsync(flat, 64, 0) == cudaSuccess &&
          cudaMemPrefetchAsync(flat, 65, 0, 0) == cudaErrorInvalidValue);
    CHECK(cudaMemPrefetchAsync(flat, 64, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0) ==
          cudaSuccess);
    CHECK(cudaFree(flat) == cudaSuccess && cudaMemGetInfo(&free, &total) == cudaSuccess);
    CHECK(cudaEventCreate(&event, cudaEventBlockingSync | cudaEventDisableTiming) == cudaSuccess &&
          cudaEventDestroy(event) == cudaSuccess);
    CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess && properties.clockRate > 0 &&
          properties.deviceOverlap);
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 123456) == cudaSuccess);
    CHECK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize) == cudaSuccess && limit == 123456);
    CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1) == cudaSuccess &&
          cudaFuncSetCacheConfig(double_all, cudaFuncCachePreferShared) == cudaSuccess);
    CHECK(cudaFuncSetAttribute(double_all, cudaFuncAttributePreferredSharedMemoryCarveout, 50) ==
          cudaSuccess);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&least, &size, double_all, 0, 0) == cudaSuccess &&
          size == 1024 && least == 2 * properties.multiProcessorCount);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, double_all, 256, 48 << 10) ==
              cudaSuccess &&
          blocks == 4);
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, double_all, 96, 0) ==
              cudaSuccess &&
          blocks == 21);
    CHECK(cudaThreadSynchronize() == cudaSuccess && cudaGetDevice(&device) == cudaSuccess);
    CHECK(cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&first, 0) == CUDA_SUCCESS &&
          cuDriverGetVersion(&driver) == CUDA_SUCCESS && driver == CUDART_VERSION);
    CUcontext context = NULL, same;
    CUdeviceptr base = 0;
    size_t bytes = 0;
    CHECK(cuCtxGetCurrent(&context) == CUDA_SUCCESS && cuCtxPushCurrent(context) == CUDA_SUCCESS &&
          cuCtxPopCurrent(&same) == CUDA_SUCCESS && same == context &&
          cuCtxPopCurrent(&same) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cuCtxCreate(&same, 0, first) == CUDA_SUCCESS && same == context &&
          cuCtxCreate(&same, NULL, 0, first) == CUDA_SUCCESS && same == context); /* of CUDA 13 */
    CHECK(cudaMalloc(&flat, 48) == cudaSuccess);
    CHECK(cuMemGetAddressRange(&base, &bytes, (CUdeviceptr)(uintptr_t)(flat + 1)) == CUDA_SUCCESS &&
          base == (CUdeviceptr)(uintptr_t)flat && bytes == 48);
    CHECK(cudaFree(flat) == cudaSuccess &&
          cuMemGetAddressRange(&base, &bytes, base) == CUDA_ERROR_NOT_FOUND);
    CHECK(INT_MAX > 0 && cudaErrorApiFailureBase == 10000);
    checkCudaErrors(CUDA_SUCCESS); /* any status */

    const char *arguments[] = {"program", "-n=12", "--quick", "-file=a.ppm"};
    char *text = NULL;
    StopWatchInterface *watch = NULL;
    CHECK(getCmdLineArgumentInt(4, arguments, "n") == 12 &&
          checkCmdLineFlag(4, arguments, "quick") && !checkCmdLineFlag(4, arguments, "qui"));
    CHECK(getCmdLineArgumentString(4, arguments, "file", &text) && !strcmp(text, "a.ppm"));
    CHECK(sdkCreateTimer(&watch) && sdkStartTimer(&watch) && sdkStopTimer(&watch) &&
          sdkGetTimerValue(&watch) >= 0 && sdkDeleteTimer(&watch));
    checkCudaErrors(cudaDeviceSynchronize());
    nvtxRangePushA("a mark");
    nvtxRangePop();
}

/* ---- kernels for a compute capability, faults ------------------------------------------------ */

__global__ void by_capability(int *out)
{
#if __CUDA_ARCH__ >= 600
    *out = 6;
#else
    *out = 1;
#endif
#ifdef __CUDA_ARCH__
    *out += 100; /* that is for compilers of GPUs */
#endif
}
__global__ void fails(int kind, int *data)
{
    if (kind == 0) assert(threadIdx.x != 3);
    if (kind == 1 && threadIdx.x == 2) __trap();
    if (kind == 2) data[1 << 28] = 1;
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        fails<<<1, 32>>>(atoi(argv[1]), NULL);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 1;
    }
    int *out = managed<int>(1);
    by_capability<<<1, 1>>>(out);
    CHECK(done() && *out == 6);
    cudaFree(out);
    check_kernels();
    check_children();
    check_warps();
    check_rounding();
    check_numbers();
    check_ptx();
    check_newer();
    check_host();
    printf("%d failures\n", failures);
    return failures > 0;
}

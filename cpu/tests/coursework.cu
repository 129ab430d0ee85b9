/* What other people's files have: headers of a toolkit by their names, fast functions, arguments of
 * kernels with constructors and destructors. */
#include <device_launch_parameters.h>
#include <cuda_runtime.h>
#include <vector_types.h>
#include <crt/device_double_functions.h>
#include <crt/device_functions.h> /* development environments write these */
#include <crt/math_functions.h>
#include <sm_60_atomic_functions.hpp>
#include <vector_functions.h>
#include <vector_functions.hpp>
#include <stdio.h>

static int failures, made, gone;

#define CHECK(condition)                                   \
    do {                                                   \
        if (!(condition)) {                                \
            printf("line %d: %s\n", __LINE__, #condition); \
            failures++;                                    \
        }                                                  \
    } while (0)

extern "C" int from_c_with_header(float4 *device, dim3 size);

struct counted {
    int *sum;
    explicit counted(int *sum) : sum(sum)
    {
        made++;
    }
    counted(const counted &other) : sum(other.sum)
    {
        made++;
    }
    ~counted()
    {
        gone++;
    }
};

template <class T> struct moved { /* copied by its bytes, but not so moved */
    T value;
    explicit moved(T value) : value(value)
    {
    }
    moved(const moved &) = default;
    moved(moved &&other) : value(other.value)
    {
        made++;
    }
};

/* Each thread changes its own bytes. */
static __global__ void add(counted c, int n, moved<int> m, float4 v)
{
    m.value += n + (int)v.w;
    atomicAdd(c.sum, m.value);
    c.sum = NULL;
}

static void check_arguments(void)
{
    int *sum;
    cudaStream_t stream;
    CHECK(cudaMallocManaged(&sum, sizeof *sum) == cudaSuccess);
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    *sum = 0;
    {
        counted c(sum);
        add<<<3, 64, 0, stream>>>(c, 2, moved<int>(1), make_float4(0, 0, 0, 4));
        CHECK(made - gone == 1); /* what the launch keeps needs no destructor */
        add<<<1, 1, 0, stream>>>(c, 0, moved<int>(0), make_float4(0, 0, 0, 1));
        CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    }
    CHECK(made == gone && made <= 5);
    CHECK(*sum == 3 * 64 * 7 + 1);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess && cudaFree(sum) == cudaSuccess);
}

static __global__ void fast(float *out, float x)
{
    float sine, cosine;
    __sincosf(x, &sine, &cosine);
    out[0] = __expf(x) - expf(x);
    out[1] = __exp10f(x) - powf(10, x);
    out[2] = __logf(x) - logf(x);
    out[3] = __log2f(x) - log2f(x);
    out[4] = __log10f(x) - log10f(x);
    out[5] = __powf(x, 3) - x * x * x;
    out[6] = __sinf(x) - sine;
    out[7] = __cosf(x) - cosine;
    out[8] = __tanf(x) - sine / cosine;
    out[9] = __tanhf(x) - tanhf(x);
    out[10] = __fdividef(x, 4) - x / 4;
    out[11] = __frcp_rn(x) - 1 / x;
    out[12] = __frsqrt_rn(x) - 1 / sqrtf(x);
    out[13] = __saturatef(x) - 1 + __saturatef(-x) + __saturatef(NAN);
}

static void check_fast_functions(void)
{
    float *out;
    CHECK(cudaMallocManaged(&out, 14 * sizeof *out) == cudaSuccess);
    fast<<<1, 1>>>(out, 1.25f);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 14; i++) CHECK(fabsf(out[i]) < 1e-5f);
    CHECK(cudaFree(out) == cudaSuccess);
}

int main()
{
    float4 *device;
    check_arguments();
    check_fast_functions();
    CHECK(cudaMalloc(&device, sizeof *device) == cudaSuccess);
    CHECK(from_c_with_header(device, dim3(1, 2)) == 3);
    CHECK(cudaFree(device) == cudaSuccess);
    printf("%d failures\n", failures);
    return failures > 0;
}

/* Thrust's own headers, with kernels on its memory. */
#include <thrust/device_free.h>
#include <thrust/device_malloc.h>
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/execution_policy.h>
#include <thrust/transform.h>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include "check.h"
#if !__CUDACC__
#error a value is wanted
#endif

struct square {
    __host__ __device__ int operator()(int x) const
    {
        return x * x;
    }
};

/* values[i] = n - i */
static __global__ void count_down(int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = n - i;
}

static void check_vectors(int n)
{
    thrust::host_vector<int> host(n);
    for (int i = 0; i < n; i++) host[i] = (i * 7919) % n;
    thrust::device_vector<int> device = host;
    thrust::sort(device.begin(), device.end(), thrust::greater<int>());
    CHECK(device[0] == n - 1 && device[n - 1] == 0);
    thrust::transform(device.begin(), device.end(), device.begin(), square());
    CHECK(device[0] == (n - 1) * (n - 1));
    CHECK(thrust::reduce(device.begin(), device.end(), 5) == 5 + (n - 1) * n * (2 * n - 1) / 6);
    count_down<<<(n + 127) / 128, 128>>>(thrust::raw_pointer_cast(device.data()), n);
    CHECK(device[0] == n); /* waits, as a copy */
    count_down<<<(n + 127) / 128, 128>>>(thrust::raw_pointer_cast(device.data()), n);
    device[1] = 5;
    host = device;
    CHECK(host[0] == n && host[1] == 5 && host[n - 1] == 1);
}

/* Memory of the runtime in Thrust's functions, and of Thrust in kernels, in a stream. */
static void check_pointers(int n)
{
    cudaStream_t stream;
    int *raw, last;
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(cudaMalloc(&raw, n * sizeof *raw) == cudaSuccess);
    thrust::device_ptr<int> own = thrust::device_malloc<int>(n),
                            wrapped = thrust::device_pointer_cast(raw);
    count_down<<<(n + 127) / 128, 128, 0, stream>>>(own.get(), n);
    thrust::inclusive_scan(thrust::cuda::par.on(stream), own, own + n, wrapped);
    CHECK(cudaMemcpy(&last, raw + n - 1, sizeof last, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(last == n * (n + 1) / 2);
    thrust::sequence(thrust::device, wrapped, wrapped + n, 10);
    CHECK((int)wrapped[n - 1] == n + 9);
    thrust::device_free(own);
    CHECK(cudaFree(raw) == cudaSuccess && cudaStreamDestroy(stream) == cudaSuccess);
}

static void check_errors(void)
{
    int thrown = 0;
    CHECK(setenv("CUCC_FAIL", "malloc:1", 1) == 0);
    try {
        thrust::device_vector<char> refused(100);
    } catch (const thrust::system_error &) {
        thrown = 1;
    } catch (const std::bad_alloc &) {
        thrown = 2;
    }
    CHECK(thrown == 2 && cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK(cuda::std::plus<int>()(cuda::std::numeric_limits<short>::max(), 1) == 32768);
}

int main()
{
    check_vectors(1000);
    check_pointers(300);
    check_errors();
    printf("%d failures\n", failures);
    return failures > 0;
}

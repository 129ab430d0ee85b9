/* The device that a bench measures, the current one, and its cuBLAS. Included after tiledmm.cuh
   and, where it is there, cublas_v2.h. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H
#include "check.h"
#include "probe.h"

static const size_t WORKSPACE = (size_t)32 << 20; /* cuBLAS's own default on sm_90 */

typedef struct device {
    char name[256], cublas_version[32]; /* the latter empty where there is none */
    cuda_versions v;
    int major, minor, processors, compiled_for; /* compiled_for: 90, 80 and so on */
    size_t l2;
    cudaStream_t stream;
    cudaEvent_t from, to;
    findings *found; /* on the device, two of them */
    void *pool;      /* all matrices */
    size_t pool_bytes;
#ifdef CUBLAS_API_H_
    cublasHandle_t cublas;
    void *workspace;
#endif
} device;

static inline void open_device(device *d)
{
    cudaDeviceProp properties;
    cudaFuncAttributes attributes;
    int current = 0;
    memset(d, 0, sizeof *d);
#ifdef CUBLAS_API_H_
    strict_cublas();
#endif
    must(cudaGetDevice(&current), "no CUDA device");
    must(cudaGetDeviceProperties(&properties, current), "no CUDA device");
    must(cudaFuncGetAttributes(&attributes, (const void *)empty),
         "the program was not built for this device");
    snprintf(d->name, sizeof d->name, "%s", properties.name);
    d->v = get_versions();
    d->major = properties.major, d->minor = properties.minor;
    d->processors = properties.multiProcessorCount, d->compiled_for = attributes.ptxVersion;
    d->l2 = (size_t)properties.l2CacheSize;
    must(cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking), "stream");
    must(cudaEventCreate(&d->from), "event");
    must(cudaEventCreate(&d->to), "event");
    must(cudaMalloc((void **)&d->found, 2 * sizeof *d->found), "memory");
#ifdef CUBLAS_API_H_
    int version = 0;
    must(cudaMalloc(&d->workspace, WORKSPACE), "memory");
    must_cublas(cublasCreate(&d->cublas), "cublasCreate");
    must_cublas(cublasSetStream(d->cublas, d->stream), "cublasSetStream"); /* drops a workspace */
    must_cublas(cublasSetWorkspace(d->cublas, d->workspace, WORKSPACE), "cublasSetWorkspace");
    must_cublas(cublasGetVersion(d->cublas, &version), "cublasGetVersion");
    snprintf(d->cublas_version, sizeof d->cublas_version, "%d.%d.%d", version / 10000,
             version % 10000 / 100, version % 100);
#endif
}

/* Bytes that matrices may take up. */
static inline size_t most_memory(void)
{
    size_t free_bytes, total;
    must(cudaMemGetInfo(&free_bytes, &total), "memory");
    return free_bytes / 10 * 9;
}
static inline void get_pool(device *d, size_t bytes)
{
    d->pool_bytes = bytes;
    if (bytes) must(cudaMalloc(&d->pool, bytes), "memory for the matrices");
}

static inline void drop_pool(device *d)
{
    must(cudaFree(d->pool), "memory");
    d->pool = NULL;
}

static inline void close_device(device *d)
{
#ifdef CUBLAS_API_H_
    must_cublas(cublasDestroy(d->cublas), "cublasDestroy");
    must(cudaFree(d->workspace), "memory");
#endif
    must(cudaEventDestroy(d->from), "event");
    must(cudaEventDestroy(d->to), "event");
    must(cudaStreamDestroy(d->stream), "stream");
    must(cudaFree(d->found), "memory");
    drop_pool(d);
}
#endif

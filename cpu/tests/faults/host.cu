/* The host's mistakes; right twins begin with right_. */
#include "faults.h"
#include <assert.h>
#include <semaphore.h>
#include <cooperative_groups.h>
#include <mma.h>
#include <new>
#include <stdlib.h>
#include <unistd.h>

enum { N = 256 };
__device__ int variable = 3;

__global__ void increment(int *data)
{
    data[threadIdx.x] += 1;
}
__global__ void set(int *data, int n, int pitch)
{
    int i = blockIdx.x * pitch + threadIdx.x;
    if (i < n) data[i] = i;
}
__global__ void every_second(int *data)
{
    data[2 * threadIdx.x] += 1;
}
__global__ void count_and_tell(int *data)
{
    atomicAdd_system(data, 1);
    __threadfence_system();
    if (threadIdx.x == 0) atomicExch_system(data + 1, 1);
}
__global__ void count(int *data)
{
    atomicAdd(data, 1);
}
__global__ void nothing_new(int *data)
{
    data[threadIdx.x] = threadIdx.x;
}
__global__ void nothing(int *)
{
}
__global__ void much_shared(int *data)
{
    extern __shared__ int d[];
    d[threadIdx.x] = 1;
    data[threadIdx.x] = d[threadIdx.x];
}
__global__ void __cluster_dims__(2, 1, 1) in_clusters(int *data)
{
    data[blockIdx.x] = (int)cooperative_groups::this_cluster().block_rank();
}

/* What a GPU cannot follow. */
typedef int (*function)(int);
__device__ int twice(int x)
{
    return 2 * x;
}
__device__ function twice_on_device = twice;
__global__ void apply(function f, int *data)
{
    data[threadIdx.x] = f(threadIdx.x);
}
__global__ void give_function(function *f)
{
    *f = twice;
}
struct shape {
    int edge;
    __host__ __device__ shape(int e) : edge(e)
    {
    }
    __host__ __device__ virtual int area() const
    {
        return edge;
    }
};
struct square : shape {
    __host__ __device__ square(int e) : shape(e)
    {
    }
    __host__ __device__ int area() const override
    {
        return edge * edge;
    }
};
__global__ void area_of(shape *s, int *data)
{
    *data = s->area(); /* area */
}
__global__ void edge_of(shape *s, int *data)
{
    *data = s->edge;
}
__global__ void make(shape *s)
{
    new (s) square(5);
}
__global__ void product_of_warp(half *a, float *c)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, half, row_major> f;
    fragment<matrix_b, 16, 16, 16, half, row_major> g;
    fragment<accumulator, 16, 16, 16, float> sum;
    fill_fragment(sum, 0.0f);
    load_matrix_sync(f, a, 16);
    load_matrix_sync(g, a, 16);
    mma_sync(sum, f, g, sum);
    store_matrix_sync(c, sum, 16, mem_row_major);
}

/* What a callback touches, and how it wakes the host. */
struct called {
    int *memory;
    sem_t done;
};
static void call_back(void *data)
{
    called *c = (called *)data;
    c->memory[1]++;
    sem_post(&c->done);
}

int main(int words_count, char **words)
{
    const char *chosen = words_count > 1 ? words[1] : "";
    int *device, *managed, *pinned, *more, sum = 0, zeros[N] = {}, copy[N - 202];
    cudaStream_t stream, second, blocking;
    cudaEvent_t event;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaStreamCreate(&blocking));
    CHECK(cudaEventCreate(&event));
    CHECK(cudaMalloc(&device, sizeof zeros));
    CHECK(cudaMallocManaged(&managed, sizeof zeros));
    CHECK(cudaMallocHost(&pinned, sizeof zeros));
    CHECK(cudaMemcpy(device, zeros, sizeof zeros, cudaMemcpyHostToDevice));
    for (int i = 0; i < N; i++) managed[i] = pinned[i] = i;

    if (IS(reads_early)) {
        increment<<<1, N>>>(managed); /* reads_k */
        CHECK(cudaGetLastError());
        sum += managed[3]; /* reads_h */
    }
    if (IS(right_reads)) {
        increment<<<1, N>>>(managed);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        sum += managed[3];
    }
    if (IS(writes_early)) {
        increment<<<1, N, 0, stream>>>(managed); /* writes_k */
        CHECK(cudaGetLastError());
        managed[3] = 5; /* writes_h */
    }
    if (IS(copy_not_awaited)) {
        CHECK(cudaMemcpyAsync(pinned, device, 64, cudaMemcpyDefault, stream)); /* copy_c */
        sum += pinned[0];                                                      /* copy_h */
    }
    if (IS(right_copy)) {
        CHECK(cudaMemcpyAsync(pinned, device, sizeof zeros, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        sum += pinned[0];
    }
    if (IS(source_changed)) {
        CHECK(cudaMemcpyAsync(device, pinned, 64, cudaMemcpyDefault, stream)); /* source_c */
        pinned[0] = 1;                                                         /* source_h */
    }
    if (IS(right_halves)) { /* of a buffer: one is filled while the other one is copied */
        for (int i = 0; i < 4; i++) {
            int *half = pinned + i % 2 * N / 2;
            for (int k = 0; k < N / 2; k++) half[k] = k;
            if (i) CHECK(cudaStreamSynchronize(stream));
            CHECK(cudaMemcpyAsync(device, half, sizeof zeros / 2, cudaMemcpyDefault, stream));
        }
    }
    if (IS(right_together)) { /* both count, and the host waits for a flag of the kernel */
        pinned[1] = 0;
        count_and_tell<<<1, N, 0, stream>>>(pinned);
        CHECK(cudaGetLastError());
        __sync_fetch_and_add(pinned, 1);
        for (int guess = pinned[2]; !__sync_bool_compare_and_swap(pinned + 2, guess, guess + 1);)
            guess = pinned[2];
        while (*(volatile int *)(pinned + 1) != 1) usleep(1000);
        CHECK(cudaStreamSynchronize(stream));
        if (pinned[0] != N + 1) return 1;
    }
    if (IS(right_callback)) { /* which alone tells the host how far the stream is */
        called c = {pinned, {}};
        sem_init(&c.done, 0, 0);
        CHECK(cudaMemcpyAsync(pinned, device, sizeof zeros, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaLaunchHostFunc(stream, call_back, &c));
        increment<<<1, N, 0, stream>>>(pinned);
        CHECK(cudaGetLastError());
        CHECK(cudaLaunchHostFunc(stream, call_back, &c));
        sem_wait(&c.done);
        sem_wait(&c.done);
        if (pinned[1] != 3) return 1;
    }
    if (IS(grid_too_small)) {
        CHECK(cudaMalloc(&more, sizeof zeros));
        set<<<N / 100, 100>>>(more, N, 100);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(zeros, more, sizeof zeros, cudaMemcpyDeviceToHost)); /* small_c */
        for (int i = 0; i < N; i++) sum += zeros[i];                          /* small_h */
        CHECK(cudaFree(more));
    }
    if (IS(grid_asserted)) { /* the program's own check ends it first */
        CHECK(cudaMalloc(&more, sizeof zeros));
        set<<<N / 100, 100>>>(more, N, 100);
        CHECK(cudaMemcpy(zeros, more, sizeof zeros, cudaMemcpyDeviceToHost)); /* asserted_c */
        assert(zeros[N - 1] == N - 1);                                        /* asserted_h */
    }
    if (IS(column_forgotten)) {
        CHECK(cudaMalloc(&more, sizeof zeros));
        set<<<16, 15>>>(more, N, 16);
        CHECK(cudaMemcpy2D(zeros, 64, more, 64, 64, 16, cudaMemcpyDefault)); /* column_c */
        sum += zeros[N - 1];                                                 /* column_h */
        CHECK(cudaFree(more));
    }
    if (IS(right_part)) { /* what nobody has written is not read, or overwritten first */
        CHECK(cudaMalloc(&more, sizeof zeros));
        set<<<N / 100, 100>>>(more, N, 100);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(zeros, more, sizeof zeros, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 200; i++) sum += zeros[i];
        zeros[200] = -1;
        memset(zeros + 201, 0xff, 20);
        sum += zeros[200] + zeros[205];
        memcpy(copy, zeros + 202, sizeof copy);
        CHECK(cudaMemcpy(zeros + 206, device, 16, cudaMemcpyDeviceToHost));
        sum += zeros[206] + zeros[209];
        CHECK(cudaFree(more));
    }
    if (IS(host_past))
        for (int i = 0; i <= N; i++) managed[i] = 0;     /* host_past */
    if (IS(host_before)) sum += pinned[words_count - 3]; /* host_before */
    if (IS(time_not_awaited) || IS(right_time)) {
        cudaEvent_t begin, end;
        float ms;
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        CHECK(cudaEventRecord(begin));
        increment<<<1, N>>>(device);
        CHECK(cudaEventRecord(end));
        CHECK(cudaGetLastError());
        if (IS(right_time)) CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end)); /* time */
        CHECK(cudaEventDestroy(begin));
        CHECK(cudaEventDestroy(end));
    }
    if (IS(streams_apart)) {                    /* a kernel in one stream, a copy in another */
        increment<<<1, N, 0, stream>>>(device); /* apart_k */
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(zeros, device, sizeof zeros, cudaMemcpyDeviceToHost)); /* apart_c */
    }
    if (IS(kernels_apart)) {
        increment<<<1, N, 0, stream>>>(device); /* first_k */
        increment<<<1, N, 0, second>>>(device); /* second_k */
        CHECK(cudaGetLastError());
    }
    if (IS(event_too_early)) { /* recorded before what it should tell */
        CHECK(cudaEventRecord(event, stream));
        increment<<<1, N, 0, stream>>>(device); /* early_first */
        CHECK(cudaStreamWaitEvent(second, event, 0));
        increment<<<1, N, 0, second>>>(device); /* early_second */
        CHECK(cudaGetLastError());
    }
    if (IS(staged)) {
        CHECK(cudaMemcpyAsync(device, zeros, 64, cudaMemcpyDefault, stream)); /* staged_c */
        increment<<<1, N, 0, second>>>(device);                               /* staged_k */
        CHECK(cudaGetLastError());
    }
    if (IS(right_events)) {
        CHECK(cudaMemcpyAsync(device, zeros, sizeof zeros, cudaMemcpyDefault, stream));
        CHECK(cudaEventRecord(event, stream));
        CHECK(cudaStreamWaitEvent(second, event, 0));
        increment<<<1, N, 0, second>>>(device);
        CHECK(cudaEventRecord(event, second));
        CHECK(cudaEventSynchronize(event));
        increment<<<1, N, 0, stream>>>(device);
        CHECK(cudaStreamSynchronize(stream));
        increment<<<1, N>>>(device); /* waits for blocking streams, and these for it */
        increment<<<1, N, 0, blocking>>>(device);
        increment<<<1, N>>>(device);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(zeros, device, sizeof zeros, cudaMemcpyDeviceToHost));
        if (zeros[N - 1] != 5) return 1;
    }
    if (IS(right_together_apart)) { /* other elements, the same values, atomics */
        every_second<<<1, N / 2, 0, stream>>>(device);
        every_second<<<1, N / 2 - 1, 0, second>>>(device + 1);
        nothing_new<<<1, N, 0, stream>>>(managed);
        nothing_new<<<1, N, 0, second>>>(managed);
        count<<<1, N, 0, stream>>>(pinned);
        count<<<1, N, 0, second>>>(pinned);
        CHECK(cudaGetLastError());
    }
    if (IS(right_streams)) {
        increment<<<1, N, 0, stream>>>(device);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(zeros, device, sizeof zeros, cudaMemcpyDeviceToHost));
        increment<<<1, N>>>(device);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(zeros, device, sizeof zeros, cudaMemcpyDeviceToHost));
    }
    if (IS(host_function)) apply<<<1, N>>>(twice, device); /* host_function */
    if (IS(right_device_function)) {
        function f;
        CHECK(cudaMemcpyFromSymbol(&f, twice_on_device, sizeof f));
        apply<<<1, N>>>(f, device);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    if (IS(right_managed_function)) {
        give_function<<<1, 1>>>((function *)managed);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        apply<<<1, N>>>(*(function *)managed, device);
        CHECK(cudaGetLastError());
    }
    if (IS(virtual_of_host) || IS(right_copied_object) || IS(right_made_object)) {
        shape *of_device = (shape *)device;
        square of_host(7);
        CHECK(cudaMemcpy(device, (void *)&of_host, sizeof of_host, cudaMemcpyHostToDevice));
        if (IS(right_made_object)) make<<<1, 1>>>(of_device);
        CHECK(cudaGetLastError());
        if (IS(right_copied_object))
            edge_of<<<1, 1>>>(of_device, device + N / 2);
        else
            area_of<<<1, 1>>>(of_device, device + N / 2);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    if (IS(right_object_back)) { /* made by the device, where the host had one, and copied there and back */
        shape *of_device = (shape *)device;
        square there(7);
        make<<<1, 1>>>(of_device);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy((void *)&there, device, sizeof there, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(device, (void *)&there, sizeof there, cudaMemcpyHostToDevice));
        area_of<<<1, 1>>>(of_device, device + N / 2);
        CHECK(cudaGetLastError());
    }
    if (IS(virtual_in_managed)) {
        area_of<<<1, 1>>>(new (managed) square(7), device);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    if (IS(part_of_warp) || IS(right_warp)) {
        half *a;
        float *c;
        CHECK(cudaMalloc(&a, 256 * sizeof *a));
        CHECK(cudaMalloc(&c, 256 * sizeof *c));
        CHECK(cudaMemset(a, 0, 256 * sizeof *a));
        product_of_warp<<<1, IS(right_warp) ? 32 : 4>>>(a, c);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaFree(a));
        CHECK(cudaFree(c));
    }
    if (IS(host_reads_device)) sum += device[1];                    /* host_reads */
    if (IS(host_writes_device)) device[1] = 4;                      /* host_writes */
    if (IS(host_reads_variable)) sum += *(volatile int *)&variable; /* host_variable */
    if (IS(unchecked_malloc)) {
        cudaMalloc(&more, (size_t)1 << 50); /* unchecked_malloc */
        sum += more != NULL;
    }
    if (IS(unchecked_copy))
        cudaMemcpy(device, zeros, sizeof zeros + 4, cudaMemcpyHostToDevice); /* unchecked_copy */
    if (IS(wrong_direction))
        cudaMemcpy(zeros, device, sizeof zeros, cudaMemcpyHostToDevice); /* direction */
    if (IS(unchecked_launch)) nothing<<<1, 2048>>>(device);              /* unchecked_launch */
    if (IS(unchecked_shared)) much_shared<<<1, N, 100 << 10>>>(device);  /* unchecked_shared */
    if (IS(right_checked)) {
        nothing<<<1, 2048>>>(device);
        if (cudaGetLastError() == cudaSuccess) return 1;
        if (cudaMalloc(&more, (size_t)1 << 50) == cudaSuccess) return 1;
        (void)cudaGetLastError();
    }
    if (IS(freed_twice)) {
        CHECK(cudaMalloc(&more, 4));
        CHECK(cudaFree(more));
        cudaFree(more); /* twice */
    }
    if (IS(launch_unseen)) nothing<<<1, 1>>>(device);        /* launch_unseen */
    if (IS(call_unseen)) cudaMemset(device, 0, 4);           /* call_unseen */
    if (IS(leak)) CHECK(cudaMalloc(&more, 1000));            /* leak */
    if (IS(pinned_leak)) CHECK(cudaMallocHost(&more, 1001)); /* pinned_leak */
    if (IS(too_much_shared)) {                               /* for most GPUs */
        CHECK(cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   200 << 10)); /* too_much */
        much_shared<<<1, N, 200 << 10>>>(device);
    }
    if (IS(clusters)) in_clusters<<<2, 1>>>(device); /* clusters */
    if (IS(registers)) nothing<<<1, 1024>>>(device); /* registers */
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(device));
    CHECK(cudaFree(managed));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaStreamDestroy(blocking));
    CHECK(cudaEventDestroy(event));
    return sum == 12345678;
}

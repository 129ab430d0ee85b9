/* The forms of the runtime API that are C++ alone: pointers of any type, kernels by their names,
 * variables of the device, and both the forms of CUDA 12 and of CUDA 13 where they differ. Included
 * by cuda_runtime.h. */
#ifndef CUCC_TYPED_H
#define CUCC_TYPED_H

/* ---- memory ---------------------------------------------------------------------------------- */

template <class T> cudaError_t cudaMalloc(T **pointer, size_t size)
{
    return cudaMalloc((void **)pointer, size);
}
template <class T>
cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <class T> cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaStream_t stream)
{
    return cudaMallocAsync((void **)pointer, size, stream);
}
inline cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaMemPool_t pool,
                                   cudaStream_t stream)
{
    return cudaMallocFromPoolAsync(pointer, size, pool, stream);
}
template <class T>
cudaError_t cudaMallocAsync(T **pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)pointer, size, pool, stream);
}
template <class T>
cudaError_t cudaMallocFromPoolAsync(T **pointer, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void **)pointer, size, pool, stream);
}
inline cudaError_t cudaMallocHost(void **pointer, size_t size, unsigned int flags)
{
    return cudaHostAlloc(pointer, size, flags);
}
template <class T>
cudaError_t cudaMallocHost(T **pointer, size_t size, unsigned int flags = cudaHostAllocDefault)
{
    return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T> cudaError_t cudaHostAlloc(T **pointer, size_t size, unsigned int flags)
{
    return cudaHostAlloc((void **)pointer, size, flags);
}
template <class T> cudaError_t cudaHostGetDevicePointer(T **pointer, void *host, unsigned int flags)
{
    return cudaHostGetDevicePointer((void **)pointer, host, flags);
}
template <class T>
cudaError_t cudaMallocManaged(T **pointer, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void **)pointer, size, flags);
}
template <class T>
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *pointer, size_t size = 0,
                                     unsigned int flags = cudaMemAttachSingle)
{
    return cudaStreamAttachMemAsync(stream, (void *)pointer, size, flags);
}

/* CUDA 13 says where by a location, CUDA 12 by the number of a device or cudaCpuDeviceId. */
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, cudaMemLocation where,
                                 unsigned int flags, cudaStream_t stream = 0);
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device,
                                 cudaStream_t stream = 0);
cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice,
                          cudaMemLocation where);
cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice, int device);

/* ---- events and channels --------------------------------------------------------------------- */

inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags)
{
    return cudaEventCreateWithFlags(event, flags);
}

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                   cudaChannelFormatKind kind)
{
    return {x, y, z, w, kind};
}
namespace cucc
{
template <class T> struct channels; /* of which texels are made: count, bits and kind of each */
#define CUCC_CHANNELS(T, number, of)                                  \
    template <> struct channels<T> {                                  \
        using base = of;                                              \
        static constexpr int count = number, bits = 8 * sizeof(base); \
    };
#define CUCC_CHANNEL_TYPES(base, name) \
    CUCC_CHANNELS(base, 1, base)       \
    CUCC_CHANNELS(name##1, 1, base)    \
    CUCC_CHANNELS(name##2, 2, base)    \
    CUCC_CHANNELS(name##4, 4, base)
CUCC_CHANNELS(char, 1, signed char)
CUCC_CHANNEL_TYPES(signed char, char)
CUCC_CHANNEL_TYPES(unsigned char, uchar)
CUCC_CHANNEL_TYPES(short, short)
CUCC_CHANNEL_TYPES(unsigned short, ushort)
CUCC_CHANNEL_TYPES(int, int)
CUCC_CHANNEL_TYPES(unsigned int, uint)
CUCC_CHANNEL_TYPES(float, float)
#undef CUCC_CHANNELS
#undef CUCC_CHANNEL_TYPES

template <class B>
constexpr cudaChannelFormatKind kind_of = (B)0.5 != (B)0 ? cudaChannelFormatKindFloat
                                          : (B)-1 < (B)0 ? cudaChannelFormatKindSigned
                                                         : cudaChannelFormatKindUnsigned;
} // namespace cucc
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc()
{
    using c = cucc::channels<T>;
    return {c::bits, c::count > 1 ? c::bits : 0, c::count > 2 ? c::bits : 0,
            c::count > 3 ? c::bits : 0, cucc::kind_of<typename c::base>};
}

/* ---- variables of the device ----------------------------------------------------------------- */

template <class T>
cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t size, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cucc::copy_to_symbol(&symbol, from, size, offset, kind, nullptr);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t size, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return cucc::copy_to_symbol(&symbol, from, size, offset, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t size, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cucc::copy_from_symbol(to, &symbol, size, offset, kind, nullptr);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t size, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return cucc::copy_from_symbol(to, &symbol, size, offset, kind, stream);
}
template <class P, class T> cudaError_t cudaGetSymbolAddress(P **address, const T &symbol)
{
    return cucc::symbol_address((void **)address, &symbol);
}
template <class T> cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol)
{
    return cucc::symbol_size(size, &symbol);
}

/* ---- kernels --------------------------------------------------------------------------------- */

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...),
                               A &&...arguments)
{
    cucc::prepared_launch<P...> prepared = {cucc::configured(config, (const void *)kernel), kernel};
    return prepared.with(std::forward<A>(arguments)...);
}
template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                             size_t dynamic_shared = 0, cudaStream_t stream = nullptr)
{
    cucc::kernel_pointer(cucc::kernel_name((const void *)kernel), kernel);
    return cudaLaunchKernel((const void *)kernel, grid, block, arguments, dynamic_shared, stream);
}
/* Of kernels that were cast to pointers the last two arguments may be left out, too. */
extern "C" cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                        size_t dynamic_shared = 0, cudaStream_t stream = nullptr);
extern "C" cudaError_t cudaLaunchCooperativeKernel(const void *kernel, dim3 grid, dim3 block,
                                                   void **arguments, size_t dynamic_shared = 0,
                                                   cudaStream_t stream = nullptr);
template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block,
                                        void **arguments, size_t dynamic_shared = 0,
                                        cudaStream_t stream = nullptr)
{
    cucc::kernel_pointer(cucc::kernel_name((const void *)kernel), kernel);
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments, dynamic_shared,
                                       stream);
}

template <class... P>
cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class... P>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, void (*kernel)(P...))
{
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class... P>
cudaError_t cudaFuncSetCacheConfig(void (*kernel)(P...), cudaFuncCache preference)
{
    return cudaFuncSetCacheConfig((const void *)kernel, preference);
}
template <class... P>
cudaError_t cudaFuncSetSharedMemConfig(void (*kernel)(P...), cudaSharedMemConfig config)
{
    return cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...),
                                                          int block_size, size_t dynamic_shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, block_size,
                                                         dynamic_shared);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, void (*kernel)(P...), int block_size, size_t dynamic_shared, unsigned int flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel,
                                                                  block_size, dynamic_shared,
                                                                  flags);
}
template <class... P>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_shared, void (*kernel)(P...),
                                                      int blocks, int block_size)
{
    return cudaOccupancyAvailableDynamicSMemPerBlock(dynamic_shared, (const void *)kernel, blocks,
                                                     block_size);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, void (*kernel)(P...),
                                           const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxActiveClusters(clusters, (const void *)kernel, config);
}
template <class... P>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, void (*kernel)(P...),
                                                 const cudaLaunchConfig_t *config)
{
    return cudaOccupancyMaxPotentialClusterSize(size, (const void *)kernel, config);
}

/* The block that fills a multiprocessor best, with dynamic shared memory that depends on its size. */
template <class K, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *least_grid, int *block_size,
                                                           K kernel, F shared_of_block,
                                                           int limit = 0)
{
    int device, best = 0, processors;
    cudaFuncAttributes of_kernel;
    if (!least_grid || !block_size) return cudaErrorInvalidValue;
    if (cudaError_t error = cudaGetDevice(&device)) return error;
    if (cudaError_t error =
            cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device))
        return error;
    if (cudaError_t error = cudaFuncGetAttributes(&of_kernel, kernel)) return error;
    if (limit <= 0 || limit > of_kernel.maxThreadsPerBlock) limit = of_kernel.maxThreadsPerBlock;
    for (int size = (limit + 31) / 32 * 32; size > 0; size -= 32) {
        int blocks, threads = size < limit ? size : limit;
        if (cudaError_t error =
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads,
                                                              (size_t)shared_of_block(threads)))
            return error;
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        *block_size = threads;
        *least_grid = blocks * processors;
    }
    return best ? cudaSuccess : cudaErrorInvalidValue;
}
template <class K, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *least_grid,
                                                                    int *block_size, K kernel,
                                                                    F shared_of_block, int limit,
                                                                    unsigned int)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(least_grid, block_size, kernel,
                                                          shared_of_block, limit);
}
template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int *least_grid, int *block_size, K kernel,
                                               size_t dynamic_shared = 0, int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        least_grid, block_size, kernel, [=](int) { return dynamic_shared; }, limit);
}
template <class K>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *least_grid, int *block_size, K kernel,
                                                        size_t dynamic_shared = 0, int limit = 0,
                                                        unsigned int = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(least_grid, block_size, kernel, dynamic_shared,
                                              limit);
}

#endif

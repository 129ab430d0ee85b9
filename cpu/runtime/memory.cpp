/* Memory of devices and of the host: allocations, pools, what a pointer points to. */
#include "watch.h"
#include "state.h"

namespace cucc
{
/* The region that holds the address; one past its end counts, as a pointer may stand there. A
 * variable of the device has one address for all devices, and belongs to the current one. */
region find_region(const void *pointer)
{
    runtime_state &s = state();
    uintptr_t address = (uintptr_t)pointer;
    auto next = s.allocations.upper_bound(address);
    if (next != s.allocations.begin()) {
        auto &found = *--next;
        if (address - found.first <= found.second.size)
            return {found.first, found.second.size, found.second.device};
    }
    for (symbol_images &symbol : s.symbols)
        if (address - (uintptr_t)symbol.address < symbol.size)
            return {(uintptr_t)symbol.address, symbol.size,
                    symbol.managed ? (int)managed : current_device};
    return {address, 0, nowhere};
}

cudaError_t allocate(void **pointer, size_t size, int device, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    if (!pointer) return failed(cudaErrorInvalidValue);
    *pointer = nullptr;
    if (!size) return cudaSuccess;
    if (planted(device == pinned_host ? "pinned" : "malloc"))
        return failed(cudaErrorMemoryAllocation);
    runtime_state &s = state();
    state_lock lock(s.lock);
    if (device >= 0 && size > s.memory - s.device[device].used)
        return failed(cudaErrorMemoryAllocation);
        /* What a kernel writes a little beyond an allocation stays in a GPU's memory, too. */
#ifdef CUCC_CHECK
    const size_t beyond = check_guard;
#else
    const size_t beyond = memory_page;
#endif
    void *memory = take_pages(size, beyond);
    if (!memory) return failed(cudaErrorMemoryAllocation);
    /* Unwritten floats are NaN; managed memory begins with zeros, as the pages of an operating system. */
    memset(memory, device == managed ? 0 : 0xff, size);
    if (device >= 0) s.device[device].used += size;
    allocation &made = s.allocations[(uintptr_t)memory];
    made.size = size;
    made.device = device;
    made.flags = flags;
    *pointer = memory;
#ifdef CUCC_CHECK
    watch_memory(memory, size, device, false);
#endif
    return cudaSuccess;
}

/* Gives back what allocate has made. */
void release_bytes(void *memory)
{
#ifdef CUCC_CHECK
    host_waits_for_all();
    check_release(memory);
#else
    if (!state().end_sharing || !state().end_sharing(memory)) give_pages(memory);
#endif
}

cudaError_t release(void *pointer, bool host, const char *function)
{
    if (cudaError_t error = enter()) return error;
    if (!pointer) return cudaSuccess;
    runtime_state &s = state();
    state_lock lock(s.lock);
    auto found = s.allocations.find((uintptr_t)pointer);
    if (found == s.allocations.end() || found->second.registered ||
        (found->second.device == pinned_host) != host) {
        fprintf(stderr, "cucc: %s: %p is not the start of a live allocation of this kind\n",
                function, pointer);
        return failed(cudaErrorInvalidValue);
    }
    if (found->second.device >= 0) s.device[found->second.device].used -= found->second.size;
    if (found->second.pool) found->second.pool->used -= found->second.size;
    s.allocations.erase(found);
    release_bytes(pointer);
    return cudaSuccess;
}

void given_to_library(const void *pointer)
{
    state_lock lock(state().lock);
    region found = find_region(pointer);
    if (found.device >= 0) mark_written((const void *)found.begin, found.size);
}

bool inside_global_memory(const void *address)
{
    state_lock lock(state().lock);
    return find_region(address).device != nowhere;
}
} // namespace cucc

using namespace cucc;

cudaError_t cudaMalloc(void **pointer, size_t size)
{
    return allocate(pointer, size, current_device);
}

/* Rows begin where a GPU would let them begin. */
static size_t pitch_of(size_t width)
{
    const size_t alignment = 512;
    return (width + alignment - 1) / alignment * alignment;
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (!pointer || !pitch) return failed(cudaErrorInvalidValue);
    *pitch = pitch_of(width);
    return allocate(pointer, *pitch * height, current_device);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr *pointer, cudaExtent extent)
{
    if (!pointer) return failed(cudaErrorInvalidValue);
    pointer->pitch = pitch_of(extent.width);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return allocate(&pointer->ptr, pointer->pitch * extent.height * extent.depth, current_device);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static cudaMemPool_t default_pool(int device)
{
    cudaMemPool_t pool = &state().default_pool[device];
    pool->device = device;
    return pool;
}

static cudaMemPool_t pool_of(int device)
{
    cudaMemPool_t pool = state().current_pool[device];
    return pool ? pool : default_pool(device);
}

cudaError_t cucc::check_pool(cudaMemPool_t pool)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    for (int d = 0; d < state().devices; d++)
        if (pool == &state().default_pool[d]) return cudaSuccess;
    return state().pools.count(pool) ? cudaSuccess : failed(cudaErrorInvalidValue);
}

static cudaError_t refuse_memory_node(cudaStream_t stream)
{
    if (!is_capturing(stream)) return cudaSuccess;
    fprintf(stderr, "cucc: memory is allocated or freed in a captured stream: graphs with nodes of "
                    "memory are not supported\n");
    return failed(cudaErrorNotSupported);
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    return cudaMallocFromPoolAsync(pointer, size, pool_of(current_device), stream);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    if (cudaError_t error = check_device(device)) return error;
    if (!pool) return failed(cudaErrorInvalidValue);
    *pool = default_pool(device);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    if (cudaError_t error = check_device(device)) return error;
    if (!pool) return failed(cudaErrorInvalidValue);
    *pool = pool_of(device);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    if (cudaError_t error = check_device(device)) return error;
    if (cudaError_t error = check_pool(pool)) return error;
    state().current_pool[device] = pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *props)
{
    if (!pool || !props || props->location.id < 0 || props->location.id >= state().devices)
        return failed(cudaErrorInvalidValue);
    state_lock lock(state().lock);
    *pool = new cudaMemPool{props->location.id, 0, 0, 0, {0, 1, 1, 1}, {}};
    state().pools.insert(*pool);
    return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    if (!state().pools.erase(pool)) return failed(cudaErrorInvalidValue);
    for (auto &a : state().allocations)
        if (a.second.pool == pool) a.second.pool = nullptr;
    for (cudaMemPool_t &current : state().current_pool)
        if (current == pool) current = nullptr;
    delete pool;
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    if (cudaError_t error = check_pool(pool)) return error;
    if (!value) return failed(cudaErrorInvalidValue);
    if (attribute >= cudaMemPoolReuseFollowEventDependencies &&
        attribute <= cudaMemPoolReuseAllowInternalDependencies)
        pool->reuse[attribute] = *(int *)value;
    else if (attribute == cudaMemPoolAttrReleaseThreshold)
        pool->threshold = *(uint64_t *)value;
    else if (attribute == cudaMemPoolAttrUsedMemHigh || attribute == cudaMemPoolAttrReservedMemHigh)
        pool->high = pool->used;
    else
        return failed(cudaErrorInvalidValue);
    return cudaSuccess;
}

/* A pool holds nothing that is not in use. */
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value)
{
    if (cudaError_t error = check_pool(pool)) return error;
    if (!value) return failed(cudaErrorInvalidValue);
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold: *(uint64_t *)value = pool->threshold; break;
    case cudaMemPoolAttrUsedMemCurrent:
    case cudaMemPoolAttrReservedMemCurrent: *(uint64_t *)value = pool->used; break;
    case cudaMemPoolAttrUsedMemHigh:
    case cudaMemPoolAttrReservedMemHigh: *(uint64_t *)value = pool->high; break;
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: *(int *)value = pool->reuse[attribute]; break;
    default: return failed(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t)
{
    return check_pool(pool);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *list, size_t count)
{
    if (cudaError_t error = check_pool(pool)) return error;
    if (!list && count > 0) return failed(cudaErrorInvalidValue);
    for (size_t n = 0; n < count; n++) {
        int device = list[n].location.id;
        if (list[n].location.type != cudaMemLocationTypeDevice)
            return failed(cudaErrorInvalidValue);
        if (device < 0 || device >= state().devices) return failed(cudaErrorInvalidDevice);
        bool own = device == pool->device;
        if (own && list[n].flags == cudaMemAccessFlagsProtNone)
            return failed(cudaErrorInvalidDevice);
    }
    state_lock lock(state().lock);
    for (size_t n = 0; n < count; n++) pool->access[list[n].location.id] = list[n].flags;
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 cudaMemLocation *location)
{
    if (cudaError_t error = check_pool(pool)) return error;
    if (!flags || !location) return failed(cudaErrorInvalidValue);
    if (location->id < 0 || location->id >= state().devices) return failed(cudaErrorInvalidDevice);
    *flags =
        location->id == pool->device ? cudaMemAccessFlagsProtReadWrite : pool->access[location->id];
    return cudaSuccess;
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream)
{
    if (cudaError_t error = check_pool(pool)) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = refuse_memory_node(stream)) return error;
    if (cudaError_t error = allocate(pointer, size, pool->device)) return error;
    if (!*pointer) return cudaSuccess;
    state_lock lock(state().lock);
    state().allocations[(uintptr_t)*pointer].pool = pool;
    pool->used += size;
    if (pool->used > pool->high) pool->high = pool->used;
    return cudaSuccess;
}

/* ---- memory of the host ---------------------------------------------------------------------- */

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags)
{
    return allocate(pointer, size, pinned_host, flags);
}

cudaError_t cudaMallocHost(void **pointer, size_t size)
{
    return allocate(pointer, size, pinned_host);
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    if (!pointer || !size) return failed(cudaErrorInvalidValue);
    if (planted("pinned")) return failed(cudaErrorMemoryAllocation);
    state_lock lock(state().lock);
    if (find_region(pointer).device != nowhere) return failed(cudaErrorHostMemoryAlreadyRegistered);
    allocation &made = state().allocations[(uintptr_t)pointer];
    made.size = size;
    made.device = pinned_host;
    made.flags = flags;
    made.registered = true;
#ifdef CUCC_CHECK
    watch_memory(pointer, size, pinned_host, true);
#endif
    return cudaSuccess;
}

cudaError_t cudaHostUnregister(void *pointer)
{
    if (cudaError_t error = enter()) return error;
    finish_all();
    state_lock lock(state().lock);
    auto found = state().allocations.find((uintptr_t)pointer);
    if (found == state().allocations.end() || !found->second.registered)
        return failed(cudaErrorHostMemoryNotRegistered);
#ifdef CUCC_CHECK
    forget_memory(pointer);
#endif
    state().allocations.erase(found);
    return cudaSuccess;
}

cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned int flags)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    if (!pointer || flags || find_region(host).device != pinned_host)
        return failed(cudaErrorInvalidValue);
    *pointer = host;
    return cudaSuccess;
}

cudaError_t cudaHostGetFlags(unsigned int *flags, void *host)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    region found = find_region(host);
    if (!flags || found.device != pinned_host) return failed(cudaErrorInvalidValue);
    *flags = state().allocations[found.begin].flags | cudaHostAllocMapped;
    return cudaSuccess;
}

/* ---- managed memory -------------------------------------------------------------------------- */

cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned int flags)
{
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return failed(cudaErrorInvalidValue);
    return allocate(pointer, size, managed);
}

static cudaError_t check_managed(const void *pointer, size_t size, cudaMemLocation where)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    region found = find_region(pointer);
    if (found.device != managed || size > found.size - ((uintptr_t)pointer - found.begin))
        return failed(cudaErrorInvalidValue);
    if (where.type != cudaMemLocationTypeDevice)
        return where.type == cudaMemLocationTypeInvalid ? failed(cudaErrorInvalidValue)
                                                        : cudaSuccess;
    return check_device(where.id);
}

/* The form of CUDA 12 says the host by the number of no device. */
static cudaMemLocation location_of(int device)
{
    return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
            device == cudaCpuDeviceId ? 0 : device};
}

/* Nothing moves: there is one memory. */
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, cudaMemLocation where,
                                 unsigned int flags, cudaStream_t stream)
{
    if (cudaError_t error = check_stream(stream)) return error;
    if (flags) return failed(cudaErrorInvalidValue);
    return check_managed(pointer, size, where);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device, cudaStream_t stream)
{
    return cudaMemPrefetchAsync(pointer, size, location_of(device), 0, stream);
}

cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice,
                          cudaMemLocation where)
{
    bool of_place = advice >= cudaMemAdviseSetPreferredLocation;
    if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy)
        return failed(cudaErrorInvalidValue);
    return check_managed(pointer, size, of_place ? where : location_of(cudaCpuDeviceId));
}

cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise(pointer, size, advice, location_of(device));
}

/* Advice is not kept: nothing is read-mostly, and no place is preferred. */
cudaError_t cudaMemRangeGetAttribute(void *value, size_t value_size,
                                     cudaMemRangeAttribute attribute, const void *pointer,
                                     size_t size)
{
    if (cudaError_t error = check_managed(pointer, size, location_of(cudaCpuDeviceId)))
        return error;
    if (!value || value_size < sizeof(int)) return failed(cudaErrorInvalidValue);
    *(int *)value = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;
    return cudaSuccess;
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t size, unsigned int)
{
    if (cudaError_t error = check_stream(stream)) return error;
    return check_managed(pointer, size, location_of(cudaCpuDeviceId));
}

/* ---- freeing and asking ---------------------------------------------------------------------- */

cudaError_t cudaFree(void *pointer)
{
    if (pointer) finish_all();
    return release(pointer, false, "cudaFree");
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    if (cudaError_t error = check_stream(stream)) return error;
    if (cudaError_t error = refuse_memory_node(stream)) return error;
    return enqueue(stream, [=] { release(pointer, false, "cudaFreeAsync"); });
}

cudaError_t cudaFreeHost(void *pointer)
{
    if (pointer) finish_all();
    return release(pointer, true, "cudaFreeHost");
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    if (cudaError_t error = enter()) return error;
    if (!free || !total) return failed(cudaErrorInvalidValue);
    state_lock lock(state().lock);
    *total = state().memory;
    *free = state().memory - state().device[current_device].used;
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *pointer)
{
    if (cudaError_t error = enter()) return error;
    if (!attributes) return failed(cudaErrorInvalidValue);
    state_lock lock(state().lock);
    int owner = find_region(pointer).device;
    void *p = const_cast<void *>(pointer);
    if (owner == nowhere)
        *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, p};
    else if (owner == pinned_host)
        *attributes = {cudaMemoryTypeHost, current_device, p, p};
    else if (owner == managed)
        *attributes = {cudaMemoryTypeManaged, current_device, p, p};
    else
        *attributes = {cudaMemoryTypeDevice, owner, p, nullptr};
    return cudaSuccess;
}

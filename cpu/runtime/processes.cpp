/* Memory and events that several processes share. Memory of a device becomes a file of shared memory when its
 * handle is asked for, at the address that it has; the handle holds the file's name. */
#include "state.h"
#include <errno.h>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace cucc
{
/* What a handle holds, of 64 bytes. */
struct memory_handle {
    char name[40];
    uint64_t size, offset; /* bytes; of the pointer in the allocation */
    int process;
};
static_assert(sizeof(memory_handle) <= sizeof(cudaIpcMemHandle_t), "a handle has 64 bytes");
static const char event_mark[16] = "cucc's event";

static bool end_sharing(void *memory);

/* Files of this process, by the address of their memory; a file's name goes when its memory is freed, or
 * with the process. */
struct shared_files {
    std::mutex lock;
    std::map<const void *, memory_handle> own;
    std::map<void *, size_t> opened; /* bytes of what other processes made */
    int made = 0;

    shared_files()
    {
        state().end_sharing = end_sharing;
    }
    ~shared_files()
    {
        for (auto &file : own)
            if (file.second.process == getpid()) shm_unlink(file.second.name);
    }
};

static shared_files &files()
{
    static shared_files all;
    return all;
}

static size_t whole_pages(uint64_t size)
{
    return (size + memory_page - 1) / memory_page * memory_page;
}

/* Moves an allocation into a file that stands where it stood. */
static bool share(void *memory, memory_handle &handle)
{
    size_t size = whole_pages(handle.size);
    int file = shm_open(handle.name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0) return false;
    bool copied = true;
    for (size_t done = 0; copied && done < size;) {
        ssize_t written = write(file, (const char *)memory + done, size - done);
        copied = written > 0 || (written < 0 && errno == EINTR);
        if (written > 0) done += (size_t)written;
    }
    void *mapped = MAP_FAILED;
    if (copied)
        mapped = mmap(memory, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) shm_unlink(handle.name);
    return mapped != MAP_FAILED;
}

static bool end_sharing(void *memory)
{
    std::lock_guard<std::mutex> lock(files().lock);
    auto other = files().opened.find(memory);
    if (other != files().opened.end()) {
        munmap(memory, other->second);
        files().opened.erase(other);
        return true;
    }
    auto found = files().own.find(memory);
    if (found == files().own.end()) return false;
    shm_unlink(found->second.name);
    mmap(memory, whole_pages(found->second.size), PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    files().own.erase(found);
    return false;
}

static cudaError_t not_shared(const char *function, const char *why)
{
    fprintf(stderr, "cucc: %s: %s\n", function, why);
    return failed(cudaErrorNotSupported);
}
} // namespace cucc

using namespace cucc;

/* The handle of the allocation that a pointer is in. */
static cudaError_t handle_of(const char *function, void *pointer, memory_handle &handle)
{
#if defined(CUCC_SANITIZE) || defined(CUCC_CHECK)
    (void)pointer, (void)handle;
    return not_shared(function, "processes share no memory with --sanitize, --check and --report");
#else
    state_lock state_is(state().lock);
    region found = find_region(pointer);
    auto made = state().allocations.find(found.begin);
    if (found.device < 0 || made == state().allocations.end()) return failed(cudaErrorInvalidValue);
    std::lock_guard<std::mutex> lock(files().lock);
    if (files().opened.count((void *)found.begin)) return failed(cudaErrorInvalidValue);
    auto known = files().own.find((void *)found.begin);
    if (known == files().own.end()) {
        memory_handle fresh = {};
        fresh.size = found.size;
        fresh.process = getpid();
        snprintf(fresh.name, sizeof fresh.name, "/cucc-%d-%d", getpid(), ++files().made);
        if (!share((void *)found.begin, fresh))
            return not_shared(function, "there is no shared memory left (/dev/shm)");
        known = files().own.insert({(void *)found.begin, fresh}).first;
    }
    handle = known->second;
    handle.offset = (uintptr_t)pointer - found.begin;
    return cudaSuccess;
#endif
}

/* Maps the memory behind a handle; POOL: what cudaFreeAsync gives it back to, if anything. */
static cudaError_t open_memory(void **pointer, memory_handle handle, cudaMemPool_t pool)
{
    handle.name[sizeof handle.name - 1] = 0;
    if (strncmp(handle.name, "/cucc-", 6) || handle.offset > handle.size)
        return failed(cudaErrorInvalidValue);
    if (handle.process == getpid()) return failed(cudaErrorDeviceUninitialized);
    int file = shm_open(handle.name, O_RDWR, 0600);
    if (file < 0) return failed(cudaErrorMapBufferObjectFailed);
    size_t size = whole_pages(handle.size);
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return failed(cudaErrorMapBufferObjectFailed);
    state_lock state_is(state().lock);
    std::lock_guard<std::mutex> lock(files().lock);
    allocation &made = state().allocations[(uintptr_t)memory];
    made.size = handle.size;
    made.device = pool ? pool->device : current_device;
    made.registered = !pool; /* cudaFree is not for it */
    made.pool = pool;
    if (pool) pool->used += made.size;
    state().device[made.device].used += made.size;
    files().opened[memory] = size;
    *pointer = (char *)memory + handle.offset;
    return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer)
{
    memory_handle all;
    if (cudaError_t error = enter()) return error;
    if (!handle || !pointer) return failed(cudaErrorInvalidValue);
    if (cudaError_t error = handle_of("cudaIpcGetMemHandle", pointer, all)) return error;
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &all, sizeof all);
    return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned int flags)
{
    memory_handle all;
    if (cudaError_t error = enter()) return error;
    memcpy(&all, &handle, sizeof all);
    if (!pointer || flags != cudaIpcMemLazyEnablePeerAccess) return failed(cudaErrorInvalidValue);
    return open_memory(pointer, all, nullptr);
}

cudaError_t cudaIpcCloseMemHandle(void *pointer)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    region found = find_region(pointer);
    bool other = found.device >= 0 && state().allocations.count(found.begin) &&
                 state().allocations[found.begin].registered;
    if (!other) return failed(cudaErrorInvalidValue);
    state().device[found.device].used -= found.size;
    end_sharing((void *)found.begin);
    state().allocations.erase(found.begin);
    return cudaSuccess;
}

/* What a process records is done by then (cudaEventRecord), so that another one need not wait for it. */
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_event(event)) return error;
    if (!handle || event->timed || !event->of_processes) return failed(cudaErrorInvalidValue);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, event_mark, sizeof event_mark);
    return cudaSuccess;
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
    if (!event || memcmp(&handle, event_mark, sizeof event_mark))
        return failed(cudaErrorInvalidValue);
    return cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventInterprocess);
}

/* ---- pools: a file that says whose memory they are --------------------------------------------- */

cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
                                               cudaMemAllocationHandleType type, unsigned int flags)
{
    if (cudaError_t error = check_pool(pool)) return error;
    if (!handle || type != cudaMemHandleTypePosixFileDescriptor || flags)
        return failed(cudaErrorInvalidValue);
    int file = memfd_create("cucc-pool", MFD_CLOEXEC);
    if (file < 0 || write(file, &pool->device, sizeof pool->device) != sizeof pool->device)
        return not_shared("cudaMemPoolExportToShareableHandle", "there are no more files");
    *(int *)handle = file;
    return cudaSuccess;
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
                                                 cudaMemAllocationHandleType type,
                                                 unsigned int flags)
{
    cudaMemPoolProps properties = {};
    int file = (int)(uintptr_t)handle, device = -1;
    if (cudaError_t error = enter()) return error;
    if (!pool || type != cudaMemHandleTypePosixFileDescriptor || flags ||
        pread(file, &device, sizeof device, 0) != sizeof device)
        return failed(cudaErrorInvalidValue);
    properties.location.id = device;
    return cudaMemPoolCreate(pool, &properties);
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData *data, void *pointer)
{
    memory_handle all;
    if (cudaError_t error = enter()) return error;
    if (!data || !pointer) return failed(cudaErrorInvalidValue);
    if (cudaError_t error = handle_of("cudaMemPoolExportPointer", pointer, all)) return error;
    memset(data, 0, sizeof *data);
    memcpy(data, &all, sizeof all);
    return cudaSuccess;
}

cudaError_t cudaMemPoolImportPointer(void **pointer, cudaMemPool_t pool,
                                     cudaMemPoolPtrExportData *data)
{
    memory_handle all;
    if (cudaError_t error = check_pool(pool)) return error;
    if (!pointer || !data) return failed(cudaErrorInvalidValue);
    memcpy(&all, data, sizeof all);
    return open_memory(pointer, all, pool);
}

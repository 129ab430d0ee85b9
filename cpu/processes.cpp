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

/* Files of this process, by the address of their memory; a file's name goes when its memory is freed, or
 * with the process. */
struct shared_files {
    std::mutex lock;
    std::map<const void *, memory_handle> own;
    std::map<void *, size_t> opened; /* bytes of what other processes made */
    int made = 0;

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

bool end_sharing(void *memory)
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

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer)
{
    if (cudaError_t error = enter()) return error;
    if (!handle || !pointer) return failed(cudaErrorInvalidValue);
#if defined(CUCC_SANITIZE) || defined(CUCC_CHECK)
    return not_shared("cudaIpcGetMemHandle",
                      "processes share no memory with --sanitize, --check and --report");
#endif
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
            return not_shared("cudaIpcGetMemHandle", "there is no shared memory left (/dev/shm)");
        known = files().own.insert({(void *)found.begin, fresh}).first;
    }
    memory_handle all = known->second;
    all.offset = (uintptr_t)pointer - found.begin;
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
    all.name[sizeof all.name - 1] = 0;
    if (strncmp(all.name, "/cucc-", 6) || all.offset > all.size)
        return failed(cudaErrorInvalidValue);
    if (all.process == getpid()) return failed(cudaErrorDeviceUninitialized);
    int file = shm_open(all.name, O_RDWR, 0600);
    if (file < 0) return failed(cudaErrorMapBufferObjectFailed);
    size_t size = whole_pages(all.size);
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return failed(cudaErrorMapBufferObjectFailed);
    state_lock state_is(state().lock);
    std::lock_guard<std::mutex> lock(files().lock);
    allocation &made = state().allocations[(uintptr_t)memory];
    made.size = all.size;
    made.device = current_device;
    made.registered = true; /* cudaFree is not for it */
    files().opened[memory] = size;
    *pointer = (char *)memory + all.offset;
    return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void *pointer)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    region found = find_region(pointer);
    bool other = found.device >= 0 && state().allocations.count(found.begin) &&
                 state().allocations[found.begin].registered;
    if (!other) return failed(cudaErrorInvalidValue);
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

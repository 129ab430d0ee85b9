/* Copies, and the variables of the device. */
#include "watch.h"
#include "state.h"

namespace cucc
{
memory_side destination_side(cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault) return either_side;
    bool device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    return device ? device_side : host_side;
}

memory_side source_side(cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDefault) return either_side;
    bool device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    return device ? device_side : host_side;
}

/* Whether memory of this size lies where it should; the length of host memory that the runtime did
 * not allocate is unknown. */
bool check_side(const char *function, const char *role, const void *pointer, size_t size,
                memory_side side)
{
    region found = find_region(pointer);
    size_t offset = (uintptr_t)pointer - found.begin;
    if (!pointer) {
        fprintf(stderr, "cucc: %s: the %s is NULL\n", function, role);
    } else if (side == device_side && found.device == nowhere) {
        fprintf(stderr, "cucc: %s: the %s %p should be device memory and is not\n", function, role,
                pointer);
    } else if (side == host_side && found.device >= 0) {
        fprintf(stderr, "cucc: %s: the %s %p should be host memory and is device memory\n",
                function, role, pointer);
    } else if (found.device != nowhere && size > found.size - offset) {
        fprintf(stderr,
                "cucc: %s: the %s leaves its allocation of %zu bytes (offset %zu, %zu bytes)\n",
                function, role, found.size, offset, size);
    } else {
        return true;
    }
    return false;
}

/* CUDA copies pageable memory before such a call returns. */
cudaError_t enqueue_copy(cudaStream_t stream, const void *to, const void *from,
                         std::function<void()> work)
{
    bool pageable;
    {
        state_lock lock(state().lock);
        pageable = find_region(to).device == nowhere || find_region(from).device == nowhere;
    }
    if (is_capturing(stream)) return enqueue(stream, work, cudaGraphNodeTypeMemcpy);
    if (pageable) finish(stream);
    bool at_once = pageable && !is_default_stream(stream);
    return enqueue(at_once ? cudaStreamPerThread : stream, work, cudaGraphNodeTypeMemcpy);
}

/* Pageable memory that goes to a device is staged: the call may return when it has been read, and before the
 * device has it. A copy of it while streams are late, else null. */
static std::shared_ptr<char> stage(cudaStream_t stream, const void *to, const void *from,
                                   size_t size)
{
    if (!late().on || is_default_stream(stream) || is_capturing(stream)) return nullptr;
    state_lock lock(state().lock);
    if (find_region(from).device != nowhere || find_region(to).device < 0) return nullptr;
    std::shared_ptr<char> staged(new char[size], std::default_delete<char[]>());
    memcpy(staged.get(), from, size);
    return staged;
}

/* Where and when a copy was begun, for --check. */
struct dated_copy {
#ifdef CUCC_CHECK
    const char *function;
    uint64_t begun; /* 0: in a capture */
    uint32_t code;
    dated_copy(const char *function, cudaStream_t stream)
        : function(function), begun(is_capturing(stream) ? 0 : begin_in(stream)),
          code(calling_code())
    {
    }
    void is_done(const void *to, const void *from, size_t size) const
    {
        if (begun) copy_in_order(to, from, size, begun, function, code);
    }
#else
    enum { code };
    dated_copy(const char *, cudaStream_t)
    {
    }
    void is_done(const void *, const void *, size_t) const
    {
    }
#endif
};

cudaError_t copy(const char *function, void *to, const void *from, size_t size, cudaMemcpyKind kind,
                 cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if ((unsigned int)kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    if (planted("copy")) return failed(cudaErrorUnknown);
    if (!size) return cudaSuccess;
    {
        copy_lock lock;
        if (!check_side(function, "destination", to, size, destination_side(kind)) ||
            !check_side(function, "source", from, size, source_side(kind)))
            return failed(cudaErrorInvalidValue);
    }
    dated_copy dated(function, stream);
    host_copies(to, size, from, size, function, stream);
    std::shared_ptr<char> staged = stage(stream, to, from, size);
    auto work = [=] {
        copy_lock lock;
        dated.is_done(to, from, size);
        memmove(to, staged ? staged.get() : from, size);
        copy_written(to, from, size, dated.code);
    };
    return staged ? enqueue(stream, work) : enqueue_copy(stream, to, from, work);
}

/* The bytes from the first to one past the last of a box of rows. */
static size_t box_bytes(const box_side &side, cudaExtent box)
{
    return (box.depth - 1) * side.slice + (box.height - 1) * side.pitch + box.width;
}

cudaError_t copy_box(const char *function, box_side to, box_side from, cudaExtent box,
                     cudaMemcpyKind kind, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if ((unsigned int)kind > cudaMemcpyDefault) return failed(cudaErrorInvalidMemcpyDirection);
    if (planted("copy")) return failed(cudaErrorUnknown);
    if (box.width > to.pitch || box.width > from.pitch) return failed(cudaErrorInvalidPitchValue);
    if (!box.width || !box.height || !box.depth) return cudaSuccess;
    {
        copy_lock lock;
        if (!check_side(function, "destination", to.bytes, box_bytes(to, box),
                        destination_side(kind)) ||
            !check_side(function, "source", from.bytes, box_bytes(from, box), source_side(kind)))
            return failed(cudaErrorInvalidValue);
    }
    dated_copy dated(function, stream);
    host_copies(to.bytes, box_bytes(to, box), from.bytes, box_bytes(from, box), function, stream);
    return enqueue_copy(stream, to.bytes, from.bytes, [=] {
        copy_lock lock;
        for (size_t z = 0; z < box.depth; z++)
            for (size_t y = 0; y < box.height; y++) {
                char *row = to.bytes + z * to.slice + y * to.pitch;
                const char *source = from.bytes + z * from.slice + y * from.pitch;
                memmove(row, source, box.width);
                copy_written(row, source, box.width, dated.code);
            }
    });
}

cudaError_t copy_2d(const char *function, void *to, size_t to_pitch, const void *from,
                    size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind,
                    cudaStream_t stream)
{
    return copy_box(function, {(char *)to, to_pitch, 0}, {(char *)from, from_pitch, 0},
                    {width, height, 1}, kind, stream);
}

/* Whether two pointers are on the devices that they are said to be on. */
bool belong(const char *function, const void *to, int to_device, const void *from, int from_device)
{
    state_lock lock(state().lock);
    int target = find_region(to).device, origin = find_region(from).device;
    if ((target < 0 || target == to_device) && (origin < 0 || origin == from_device)) return true;
    fprintf(stderr, "cucc: %s: a pointer does not belong to the device it is said to\n", function);
    return false;
}

cudaError_t copy_peer(const char *function, void *to, int to_device, const void *from,
                      int from_device, size_t size, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_device(to_device)) return error;
    if (cudaError_t error = check_device(from_device)) return error;
    if (size && !belong(function, to, to_device, from, from_device))
        return failed(cudaErrorInvalidValue);
    return copy(function, to, from, size, cudaMemcpyDeviceToDevice, stream);
}

static cudaError_t set_box(const char *function, box_side to, int value, cudaExtent box,
                           cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (cudaError_t error = check_stream(stream)) return error;
    if (!box.width || !box.height || !box.depth) return cudaSuccess;
    if (box.width > to.pitch) return failed(cudaErrorInvalidPitchValue);
    {
        copy_lock lock;
        if (!check_side(function, "destination", to.bytes, box_bytes(to, box), device_side))
            return failed(cudaErrorInvalidValue);
    }
    return enqueue(
        stream,
        [=] {
            copy_lock lock;
            for (size_t z = 0; z < box.depth; z++)
                for (size_t y = 0; y < box.height; y++) {
                    memset(to.bytes + z * to.slice + y * to.pitch, value, box.width);
                    mark_written(to.bytes + z * to.slice + y * to.pitch, box.width);
                }
        },
        cudaGraphNodeTypeMemset);
}

static cudaError_t set(const char *function, void *to, int value, size_t size, cudaStream_t stream)
{
    return set_box(function, {(char *)to, size, 0}, value, {size, 1, 1}, stream);
}

/* The bytes of a variable of the current device; null, with an error, if they are not there. */
char *symbol_bytes(const char *function, const void *symbol, size_t size, size_t offset)
{
    for (symbol_images &known : state().symbols) {
        if (known.address != symbol) continue;
        if (offset <= known.size && size <= known.size - offset) return known.address + offset;
        fprintf(stderr, "cucc: %s: %zu bytes at offset %zu leave the variable of %zu bytes\n",
                function, size, offset, known.size);
        failed(cudaErrorInvalidValue);
        return nullptr;
    }
    failed(cudaErrorInvalidSymbol);
    return nullptr;
}

void register_symbol(void *address, size_t size, bool is_managed, bool constant)
{
    (void)constant;
#ifdef CUCC_CHECK
    watch_symbol(address, size, is_managed, constant);
#endif
    char *bytes = (char *)address;
    state().symbols.push_back(
        {bytes, size, is_managed, std::vector<char>(bytes, bytes + size), {}});
}

cudaError_t copy_to_symbol(const void *symbol, const void *from, size_t size, size_t offset,
                           cudaMemcpyKind kind, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (destination_side(kind) == host_side) return failed(cudaErrorInvalidMemcpyDirection);
    char *bytes;
    {
        copy_lock lock;
        bytes = symbol_bytes("cudaMemcpyToSymbol", symbol, size, offset);
        if (!bytes) return last_error;
    }
    return copy("cudaMemcpyToSymbol", bytes, from, size, kind, stream);
}

cudaError_t copy_from_symbol(void *to, const void *symbol, size_t size, size_t offset,
                             cudaMemcpyKind kind, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (source_side(kind) == host_side) return failed(cudaErrorInvalidMemcpyDirection);
    char *bytes;
    {
        copy_lock lock;
        bytes = symbol_bytes("cudaMemcpyFromSymbol", symbol, size, offset);
        if (!bytes) return last_error;
    }
    return copy("cudaMemcpyFromSymbol", to, bytes, size, kind, stream);
}

cudaError_t symbol_size(size_t *size, const void *symbol)
{
    if (cudaError_t error = enter()) return error;
    if (!size) return failed(cudaErrorInvalidValue);
    for (symbol_images &known : state().symbols) {
        if (known.address != symbol) continue;
        *size = known.size;
        return cudaSuccess;
    }
    return failed(cudaErrorInvalidSymbol);
}

cudaError_t symbol_address(void **address, const void *symbol)
{
    if (cudaError_t error = enter()) return error;
    if (!address) return failed(cudaErrorInvalidValue);
    *address = symbol_bytes("cudaGetSymbolAddress", symbol, 0, 0);
    return *address ? cudaSuccess : last_error;
}

} // namespace cucc

using namespace cucc;

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    return copy("cudaMemcpy", to, from, size, kind, nullptr);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return copy("cudaMemcpyAsync", to, from, size, kind, stream);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind)
{
    return copy_2d("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_2d("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind,
                   stream);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t size)
{
    return copy_peer("cudaMemcpyPeer", to, to_device, from, from_device, size, nullptr);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t size, cudaStream_t stream)
{
    return copy_peer("cudaMemcpyPeerAsync", to, to_device, from, from_device, size, stream);
}

/* One side of a copy of boxes: an array, whose positions are counted in texels, or memory. */
static bool find_side(const char *function, const char *role, cudaArray_t array, cudaPos at,
                      cudaPitchedPtr memory, cudaExtent box, box_side &side)
{
    if (!array) {
        side.pitch = memory.pitch;
        side.slice = memory.pitch * memory.ysize;
        side.bytes = (char *)memory.ptr + at.z * side.slice + at.y * side.pitch + at.x;
        return memory.ptr != nullptr;
    }
    state_lock lock(state().lock);
    if (!state().arrays.count(array)) return false;
    at.x *= array->texel_bytes;
    side.pitch = array->pitch();
    side.slice = side.pitch * array->height;
    side.bytes = array->texels + at.z * side.slice + at.y * side.pitch + at.x;
    bool inside = at.x + box.width <= side.pitch && at.y + box.height <= array->height &&
                  at.z + box.depth <= array->depth;
    if (!inside) fprintf(stderr, "cucc: %s: the %s leaves the array\n", function, role);
    return inside;
}

/* Widths are in bytes, but in texels where an array takes part. */
static cudaExtent bytes_of(cudaExtent box, cudaArray_t from, cudaArray_t to)
{
    if (from || to) box.width *= (from ? from : to)->texel_bytes;
    return box;
}

static cudaError_t copy_3d(const char *function, const cudaMemcpy3DParms *p, cudaStream_t stream)
{
    if (cudaError_t error = enter()) return error;
    if (!p) return failed(cudaErrorInvalidValue);
    cudaExtent box = bytes_of(p->extent, p->srcArray, p->dstArray);
    box_side from, to;
    if (!find_side(function, "source", p->srcArray, p->srcPos, p->srcPtr, box, from) ||
        !find_side(function, "destination", p->dstArray, p->dstPos, p->dstPtr, box, to))
        return failed(cudaErrorInvalidValue);
    return copy_box(function, to, from, box, p->kind, stream);
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *parameters)
{
    return copy_3d("cudaMemcpy3D", parameters, nullptr);
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms *parameters, cudaStream_t stream)
{
    return copy_3d("cudaMemcpy3DAsync", parameters, stream);
}

cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    const char *function = "cudaMemcpy3DPeerAsync";
    if (cudaError_t error = enter()) return error;
    if (!p) return failed(cudaErrorInvalidValue);
    if (cudaError_t error = check_device(p->dstDevice)) return error;
    if (cudaError_t error = check_device(p->srcDevice)) return error;
    cudaExtent box = bytes_of(p->extent, p->srcArray, p->dstArray);
    box_side from, to;
    if (!find_side(function, "source", p->srcArray, p->srcPos, p->srcPtr, box, from) ||
        !find_side(function, "destination", p->dstArray, p->dstPos, p->dstPtr, box, to) ||
        !belong(function, to.bytes, p->dstDevice, from.bytes, p->srcDevice))
        return failed(cudaErrorInvalidValue);
    return copy_box(function, to, from, box, cudaMemcpyDeviceToDevice, stream);
}

cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms *parameters)
{
    return cudaMemcpy3DPeerAsync(parameters, nullptr);
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
    return set("cudaMemset", to, value, size, nullptr);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream)
{
    return set("cudaMemsetAsync", to, value, size, stream);
}

cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    return set_box("cudaMemset2D", {(char *)to, pitch, 0}, value, {width, height, 1}, nullptr);
}

cudaError_t cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream)
{
    return set_box("cudaMemset2DAsync", {(char *)to, pitch, 0}, value, {width, height, 1}, stream);
}

cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent box, cudaStream_t stream)
{
    box_side side = {(char *)to.ptr, to.pitch, to.pitch * to.ysize};
    return set_box("cudaMemset3D", side, value, box, stream);
}

cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent box)
{
    return cudaMemset3DAsync(to, value, box, nullptr);
}

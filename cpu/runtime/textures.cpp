/* Arrays, textures and surfaces. The CUDA C++ Programming Guide, "Texture Fetching", says what a
 * texture has between its texels: a linear filter has them in the middle of their squares, and weights
 * of 8 bits. */
#include "state.h"
#include <algorithm>

/* What a texture reads: an array, or memory as one line or as rows. */
struct cucc::texture {
    cudaResourceDesc resource;
    cudaTextureDesc how;
    cudaChannelFormatDesc format;
    const char *texels;
    size_t width, height, depth; /* or layers */
    size_t pitch, slice, texel_bytes;
    unsigned int flags; /* of the array */
    bool plain_floats;  /* of 32 bits */
};

struct cucc::surface {
    cudaArray_t array;
};

using namespace cucc;

/* ---- texels ---------------------------------------------------------------------------------- */

static size_t texel_bytes(const cudaChannelFormatDesc &format)
{
    return (size_t)(format.x + format.y + format.z + format.w) / 8;
}

/* Channels of 8, 16 or 32 bits, as many as there are, all alike; floats have 16 or 32. */
static bool check_format(const cudaChannelFormatDesc &format)
{
    const int bits[] = {format.x, format.y, format.z, format.w};
    int count = format.w ? 4 : format.z ? 3 : format.y ? 2 : 1;
    if (count == 3 || (format.x != 8 && format.x != 16 && format.x != 32)) return false;
    for (int i = 1; i < 4; i++)
        if (bits[i] != (i < count ? format.x : 0)) return false;
    if (format.f == cudaChannelFormatKindFloat) return format.x >= 16;
    return format.f == cudaChannelFormatKindSigned || format.f == cudaChannelFormatKindUnsigned;
}

static float float_of_half(uint16_t half)
{
    float magnitude = 0;
    uint32_t bits = (uint32_t)(half & 0x7fff) << 13;
    memcpy(&magnitude, &bits, sizeof bits);
    magnitude *= 0x1p112f; /* from the bias of 15 to that of 127 */
    if ((half & 0x7c00) == 0x7c00) magnitude = half & 0x3ff ? NAN : INFINITY;
    return half & 0x8000 ? -magnitude : magnitude;
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Channel I of the texel at ADDRESS, as the texture is to be read. */
static uint32_t read_channel(const texture &t, const char *address, int i)
{
    bool normalized = t.how.readMode == cudaReadModeNormalizedFloat;
    bool is_signed = t.format.f == cudaChannelFormatKindSigned;
    int bits = t.format.x;
    uint32_t raw = 0;
    memcpy(&raw, address + i * bits / 8, (size_t)bits / 8);
    if (t.format.f == cudaChannelFormatKindFloat)
        return bits == 32 ? raw : bits_of_float(float_of_half((uint16_t)raw));
    int32_t whole = (int32_t)(raw << (32 - bits)) >> (32 - bits);
    if (!normalized || bits == 32) return is_signed ? (uint32_t)whole : raw;
    if (!is_signed) return bits_of_float((float)raw / (float)((1u << bits) - 1));
    return bits_of_float(std::max((float)whole / (float)((1 << (bits - 1)) - 1), -1.0f));
}

static bool has_floats(const texture &t)
{
    return t.format.f == cudaChannelFormatKindFloat ||
           (t.how.readMode == cudaReadModeNormalizedFloat && t.format.x < 32);
}

static int channel_count(const texture &t)
{
    return (int)t.texel_bytes * 8 / t.format.x;
}

static texel read_texel(const texture &t, size_t x, size_t y, size_t z)
{
    const char *address = t.texels + z * t.slice + y * t.pitch + x * t.texel_bytes;
    texel result = {{0, 0, 0, 0}, has_floats(t)};
    for (int i = 0; i < channel_count(t); i++) result.bits[i] = read_channel(t, address, i);
    return result;
}

/* The index that stands for INDEX in a line of COUNT texels; -1: the border's colour. */
static long addressed(const texture &t, int dimension, double index, size_t count)
{
    cudaTextureAddressMode mode = t.how.addressMode[dimension];
    double n = (double)count;
    if (isnan(index)) index = 0;
    if (mode == cudaAddressModeBorder) return index < 0 || index >= n ? -1 : (long)index;
    if (!t.how.normalizedCoords || mode == cudaAddressModeClamp)
        return (long)(index < 0 ? 0 : index >= n ? n - 1 : index);
    if (mode == cudaAddressModeWrap) return (long)(index - n * floor(index / n));
    double phase = index - 2 * n * floor(index / (2 * n)); /* of a mirrored pair */
    return (long)(phase < n ? phase : 2 * n - 1 - phase);
}

static texel texel_at(const texture &t, int dimensions, const double *index, long layer)
{
    long at[3] = {0, 0, layer};
    const size_t counts[] = {t.width, t.height, t.depth};
    for (int d = 0; d < dimensions; d++) {
        at[d] = addressed(t, d, index[d], counts[d]);
        if (at[d] >= 0) continue;
        texel border = {{0, 0, 0, 0}, has_floats(t)};
        for (int i = 0; i < 4 && border.floats; i++)
            border.bits[i] = bits_of_float(t.how.borderColor[i]);
        return border;
    }
    return read_texel(t, (size_t)at[0], (size_t)at[1], (size_t)at[2]);
}

/* ---- what kernels call ----------------------------------------------------------------------- */

static const texture &texture_in_kernel(unsigned long long object)
{
    if (!object) trap("a texture object is 0");
    return *(const texture *)(uintptr_t)object;
}

static texel sample_texture(const texture &t, int dimensions, const double *x, long layer)
{
    double low[3], weight[3];
    if (t.how.filterMode == cudaFilterModePoint || !has_floats(t)) {
        for (int d = 0; d < dimensions; d++) low[d] = floor(x[d]);
        return texel_at(t, dimensions, low, layer);
    }
    for (int d = 0; d < dimensions; d++) {
        float lower = floorf((float)x[d] - 0.5f);
        low[d] = lower;
        weight[d] = rintf(((float)x[d] - 0.5f - lower) * 256) / 256;
    }
    float sum[4] = {0, 0, 0, 0};
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        double index[3] = {0, 0, 0};
        float share = 1;
        for (int d = 0; d < dimensions; d++) {
            int upper = corner >> d & 1;
            index[d] = low[d] + upper;
            share *= upper ? (float)weight[d] : 1 - (float)weight[d];
        }
        texel seen = texel_at(t, dimensions, index, layer);
        for (int i = 0; i < 4; i++) sum[i] += share * float_of_bits(seen.bits[i]);
    }
    texel result = {{0, 0, 0, 0}, true};
    for (int i = 0; i < 4; i++) result.bits[i] = bits_of_float(sum[i]);
    return result;
}

static long layer_of(const texture &t, int layer)
{
    return std::max(0l, std::min((long)layer, (long)t.depth - 1));
}

static inline uint32_t mixed(const float *shares, const float *const *rows, size_t at, size_t right)
{
    float sum = 0;
    sum += shares[0] * rows[0][at];
    sum += shares[1] * rows[0][at + right];
    sum += shares[2] * rows[1][at];
    sum += shares[3] * rows[1][at + right];
    return bits_of_float(sum);
}

/* The same for floats of 32 bits in two dimensions, where all texels that count are inside. */
static bool sample_inside(const texture &t, const double *place, long layer, texel &result)
{
    const bool linear = t.how.filterMode == cudaFilterModeLinear;
    const float x = (float)place[0] - 0.5f, y = (float)place[1] - 0.5f;
    const double first[2] = {linear ? x : place[0], linear ? y : place[1]};
    if (!(first[0] >= 0 && first[0] < (double)t.width - linear && first[1] >= 0 &&
          first[1] < (double)t.height - linear))
        return false; /* also for what is no number */
    const size_t left = (size_t)(long)first[0], low = (size_t)(long)first[1];
    const char *address = t.texels + (size_t)layer * t.slice + low * t.pitch;
    const float *rows[2] = {(const float *)address, (const float *)(address + t.pitch)};
    const size_t channels = t.texel_bytes / 4, at = left * channels;
    result = {{0, 0, 0, 0}, true};
    if (!linear) {
        memcpy(result.bits, rows[0] + at, t.texel_bytes);
        return true;
    }
    /* Added to a number below 2^22 and taken away again, it leaves a whole number: rintf, without a call. */
    const float rounder = 0x1.8p23f;
    float along = ((x - (float)(long)left) * 256 + rounder - rounder) / 256;
    float up = ((y - (float)(long)low) * 256 + rounder - rounder) / 256;
    const float shares[4] = {(1 - along) * (1 - up), along * (1 - up), (1 - along) * up,
                             along * up};
    result.bits[0] = mixed(shares, rows, at, channels);
    for (size_t i = 1; i < channels; i++) result.bits[i] = mixed(shares, rows, at + i, channels);
    return true;
}

texel cucc::sample(unsigned long long object, int dimensions, bool layered, const place &where)
{
    const texture &t = texture_in_kernel(object);
    const size_t counts[] = {t.width, t.height, t.depth};
    const float coordinates[] = {where.x, where.y, where.z};
    double x[3];
    for (int d = 0; d < dimensions; d++)
        x[d] = t.how.normalizedCoords ? (double)coordinates[d] * (double)counts[d] : coordinates[d];
    long layer = layered ? layer_of(t, where.layer) : 0;
    texel quick;
    if (dimensions == 2 && t.plain_floats && sample_inside(t, x, layer, quick)) return quick;
    return sample_texture(t, dimensions, x, layer);
}

/* The guide, "Cubemap Textures": the face is that of the largest coordinate. */
texel cucc::sample_cube(unsigned long long object, const place &direction)
{
    const texture &t = texture_in_kernel(object);
    float x = direction.x, y = direction.y, z = direction.z, s, u, m;
    int face;
    if (fabsf(x) >= fabsf(y) && fabsf(x) >= fabsf(z)) {
        face = x >= 0 ? 0 : 1, m = fabsf(x), s = x >= 0 ? -z : z, u = -y;
    } else if (fabsf(y) >= fabsf(z)) {
        face = y >= 0 ? 2 : 3, m = fabsf(y), s = x, u = y >= 0 ? z : -z;
    } else {
        face = z >= 0 ? 4 : 5, m = fabsf(z), s = z >= 0 ? x : -x, u = -y;
    }
    double at[2] = {(double)(s / m + 1) / 2 * (double)t.width,
                    (double)(u / m + 1) / 2 * (double)t.height};
    return sample_texture(t, 2, at, layer_of(t, direction.layer * 6 + face));
}

texel cucc::sample_linear(unsigned long long object, int index)
{
    const texture &t = texture_in_kernel(object);
    if (t.resource.resType != cudaResourceTypeLinear)
        trap("tex1Dfetch reads a texture of linear memory, which this is not");
    if (index < 0 || (size_t)index >= t.width) return {{0, 0, 0, 0}, has_floats(t)};
    return read_texel(t, (size_t)index, 0, 0);
}

/* The four texels that a linear filter would use, counter-clockwise from the lower left. */
texel cucc::gather(unsigned long long object, float x, float y, int channel)
{
    const texture &t = texture_in_kernel(object);
    double at[2] = {t.how.normalizedCoords ? (double)x * (double)t.width : (double)x,
                    t.how.normalizedCoords ? (double)y * (double)t.height : (double)y};
    const int step[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    texel result = {{0, 0, 0, 0}, has_floats(t)};
    for (int i = 0; i < 4; i++) {
        double index[2] = {floor(at[0] - 0.5) + step[i][0], floor(at[1] - 0.5) + step[i][1]};
        result.bits[i] = texel_at(t, 2, index, 0).bits[channel & 3];
    }
    return result;
}

void cucc::wrong_texel(bool texture_has_floats)
{
    trap(texture_has_floats ? "a texture that gives floats is read as whole numbers"
                            : "a texture that gives whole numbers is read as floats");
}

void *cucc::surface_address(unsigned long long object, int dimensions, bool layered, int x_bytes,
                            int y, int z, size_t size, cudaSurfaceBoundaryMode mode)
{
    if (!object) trap("a surface object is 0");
    const cudaArray &a = *((const surface *)(uintptr_t)object)->array;
    long at[] = {x_bytes, y, z};
    const long most[] = {(long)a.pitch() - (long)size, (long)a.height - 1, (long)a.depth - 1};
    if (size != a.texel_bytes)
        trap("a surface is read or written by another size than its texels'");
    if (x_bytes % (int)size) trap("the x of a surface, in bytes, is not that of a texel");
    for (int d = 0; d < 3; d++) {
        if (d == 2 ? !layered && dimensions < 3 : d >= dimensions) continue;
        if (at[d] >= 0 && at[d] <= most[d]) continue;
        if (mode == cudaBoundaryModeTrap) trap("a surface is read or written out of its bounds");
        if (mode == cudaBoundaryModeZero) return nullptr;
        at[d] = at[d] < 0 ? 0 : most[d];
    }
    return a.texels + ((size_t)at[2] * a.height + (size_t)at[1]) * a.pitch() + at[0];
}

/* ---- arrays ---------------------------------------------------------------------------------- */

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const cudaChannelFormatDesc *format,
                              cudaExtent extent, unsigned int flags)
{
    const unsigned int known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    if (!array || !format || !extent.width || flags & ~known || !check_format(*format))
        return failed(cudaErrorInvalidValue);
    bool cube = flags & cudaArrayCubemap;
    if (cube && (extent.width != extent.height || extent.depth % 6 || !extent.depth))
        return failed(cudaErrorInvalidValue);
    size_t height = std::max(extent.height, (size_t)1), depth = std::max(extent.depth, (size_t)1);
    size_t bytes = texel_bytes(*format);
    void *texels;
    if (cudaError_t error =
            allocate(&texels, extent.width * height * depth * bytes, current_device))
        return error;
    state_lock lock(state().lock);
    *array =
        new cudaArray{(char *)texels, extent.width, height, depth, extent, *format, flags, bytes};
    state().arrays.insert(*array);
    return cudaSuccess;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const cudaChannelFormatDesc *format, size_t width,
                            size_t height, unsigned int flags)
{
    if (flags & (cudaArrayLayered | cudaArrayCubemap)) return failed(cudaErrorInvalidValue);
    return cudaMalloc3DArray(array, format, {width, height, 0}, flags);
}

static cudaError_t check_array(cudaArray_const_t array)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    bool known = state().arrays.count(const_cast<cudaArray_t>(array));
    return known ? cudaSuccess : failed(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
    if (cudaError_t error = enter()) return error;
    if (!array) return cudaSuccess;
    finish_all();
    state_lock lock(state().lock);
    if (!state().arrays.erase(array)) return failed(cudaErrorInvalidResourceHandle);
    cudaError_t error = release(array->texels, false, "cudaFreeArray");
    delete array;
    return error;
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc *format, cudaExtent *extent, unsigned int *flags,
                             cudaArray_t array)
{
    if (cudaError_t error = check_array(array)) return error;
    if (format) *format = array->format;
    if (extent) *extent = array->extent;
    if (flags) *flags = array->flags;
    return cudaSuccess;
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc *format, cudaArray_const_t array)
{
    if (!format) return failed(cudaErrorInvalidValue);
    return cudaArrayGetInfo(format, nullptr, nullptr, const_cast<cudaArray_t>(array));
}

/* The rows of an array from a byte and a row on; no bytes, with an error, if they leave it. */
static box_side rows_of(const char *function, const char *role, cudaArray_const_t array,
                        size_t x_bytes, size_t y, size_t width, size_t height)
{
    if (check_array(array)) return {nullptr, 0, 0};
    size_t pitch = array->pitch();
    if (x_bytes > pitch || width > pitch - x_bytes || y > array->height ||
        height > array->height - y) {
        fprintf(stderr, "cucc: %s: the %s leaves the array\n", function, role);
        failed(cudaErrorInvalidValue);
        return {nullptr, 0, 0};
    }
    return {array->texels + y * pitch + x_bytes, pitch, 0};
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x_bytes, size_t y, const void *from,
                                     size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream)
{
    const char *function = "cudaMemcpy2DToArray";
    box_side rows = rows_of(function, "destination", to, x_bytes, y, width, height);
    if (!rows.bytes) return last_error;
    return copy_2d(function, rows.bytes, rows.pitch, from, from_pitch, width, height, kind, stream);
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x_bytes, size_t y, const void *from,
                                size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind)
{
    return cudaMemcpy2DToArrayAsync(to, x_bytes, y, from, from_pitch, width, height, kind, nullptr);
}

cudaError_t cudaMemcpy2DFromArray(void *to, size_t to_pitch, cudaArray_const_t from, size_t x_bytes,
                                  size_t y, size_t width, size_t height, cudaMemcpyKind kind)
{
    const char *function = "cudaMemcpy2DFromArray";
    box_side rows = rows_of(function, "source", from, x_bytes, y, width, height);
    if (!rows.bytes) return last_error;
    return copy_2d(function, to, to_pitch, rows.bytes, rows.pitch, width, height, kind, nullptr);
}

/* One run of bytes, row after row. */
static bool run_inside(const char *function, cudaArray_const_t array, size_t begin, size_t size)
{
    size_t all = array->pitch() * array->height;
    if (begin <= all && size <= all - begin) return true;
    fprintf(stderr, "cucc: %s: the copy leaves the array\n", function);
    failed(cudaErrorInvalidValue);
    return false;
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x_bytes, size_t y, const void *from,
                              size_t size, cudaMemcpyKind kind)
{
    if (cudaError_t error = check_array(to)) return error;
    size_t begin = y * to->pitch() + x_bytes;
    if (!run_inside("cudaMemcpyToArray", to, begin, size)) return last_error;
    return copy("cudaMemcpyToArray", to->texels + begin, from, size, kind, nullptr);
}

cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x_bytes, size_t y,
                                size_t size, cudaMemcpyKind kind)
{
    if (cudaError_t error = check_array(from)) return error;
    size_t begin = y * from->pitch() + x_bytes;
    if (!run_inside("cudaMemcpyFromArray", from, begin, size)) return last_error;
    return copy("cudaMemcpyFromArray", to, from->texels + begin, size, kind, nullptr);
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool fill_resource(texture &t, const cudaResourceDesc &r)
{
    if (r.resType == cudaResourceTypeArray) {
        cudaArray_t a = r.res.array.array;
        if (!state().arrays.count(a)) return false;
        t.format = a->format;
        t.texels = a->texels;
        t.width = a->width, t.height = a->height, t.depth = a->depth;
        t.pitch = a->pitch(), t.slice = t.pitch * a->height;
        t.flags = a->flags;
    } else if (r.resType == cudaResourceTypeLinear) {
        t.format = r.res.linear.desc;
        t.texels = (const char *)r.res.linear.devPtr;
        if (!check_format(t.format)) return false;
        t.width = r.res.linear.sizeInBytes / ::texel_bytes(t.format);
        t.height = t.depth = 1;
        t.pitch = t.slice = r.res.linear.sizeInBytes;
    } else if (r.resType == cudaResourceTypePitch2D) {
        t.format = r.res.pitch2D.desc;
        t.texels = (const char *)r.res.pitch2D.devPtr;
        t.width = r.res.pitch2D.width, t.height = r.res.pitch2D.height, t.depth = 1;
        t.pitch = r.res.pitch2D.pitchInBytes, t.slice = t.pitch * t.height;
    } else {
        return false;
    }
    return check_format(t.format);
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const cudaResourceDesc *resource,
                                    const cudaTextureDesc *how, const cudaResourceViewDesc *view)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    if (!object || !resource || !how) return failed(cudaErrorInvalidValue);
    if (view || how->sRGB || resource->resType == cudaResourceTypeMipmappedArray) {
        fprintf(stderr,
                "cucc: cudaCreateTextureObject: views, sRGB and mipmaps are not supported\n");
        return failed(cudaErrorNotSupported);
    }
    texture t = {};
    t.resource = *resource;
    t.how = *how;
    if (!fill_resource(t, *resource)) return failed(cudaErrorInvalidValue);
    t.texel_bytes = texel_bytes(t.format);
    t.plain_floats = t.format.f == cudaChannelFormatKindFloat && t.format.x == 32;
    size_t size = (t.depth - 1) * t.slice + (t.height - 1) * t.pitch + t.width * t.texel_bytes;
    if (!check_side("cudaCreateTextureObject", "memory", t.texels, size, device_side))
        return failed(cudaErrorInvalidValue);
    if (how->filterMode == cudaFilterModeLinear && !has_floats(t)) {
        fprintf(stderr,
                "cucc: cudaCreateTextureObject: a linear filter needs texels that are read as "
                "floats\n");
        return failed(cudaErrorInvalidValue);
    }
    *object = (cudaTextureObject_t)(uintptr_t)(*state().textures.insert(new texture(t)).first);
    return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
    if (cudaError_t error = enter()) return error;
    finish_all();
    state_lock lock(state().lock);
    texture *t = (texture *)(uintptr_t)object;
    if (!state().textures.erase(t)) return failed(cudaErrorInvalidValue);
    delete t;
    return cudaSuccess;
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc *resource, cudaTextureObject_t object)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    texture *t = (texture *)(uintptr_t)object;
    if (!resource || !state().textures.count(t)) return failed(cudaErrorInvalidValue);
    *resource = t->resource;
    return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const cudaResourceDesc *resource)
{
    if (cudaError_t error = enter()) return error;
    state_lock lock(state().lock);
    if (!object || !resource || resource->resType != cudaResourceTypeArray ||
        !state().arrays.count(resource->res.array.array))
        return failed(cudaErrorInvalidValue);
    if (!(resource->res.array.array->flags & cudaArraySurfaceLoadStore)) {
        fprintf(stderr, "cucc: cudaCreateSurfaceObject: the array was not made with "
                        "cudaArraySurfaceLoadStore\n");
        return failed(cudaErrorInvalidValue);
    }
    surface *made = new surface{resource->res.array.array};
    state().surfaces.insert(made);
    *object = (cudaSurfaceObject_t)(uintptr_t)made;
    return cudaSuccess;
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
    if (cudaError_t error = enter()) return error;
    finish_all();
    state_lock lock(state().lock);
    surface *s = (surface *)(uintptr_t)object;
    if (!state().surfaces.erase(s)) return failed(cudaErrorInvalidValue);
    delete s;
    return cudaSuccess;
}

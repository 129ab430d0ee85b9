/* Textures and surfaces, as kernels read and write them (textures.cpp does it). Included by
 * cuda_runtime.h. */
#ifndef CUCC_TEXTURES_H
#define CUCC_TEXTURES_H

namespace cucc
{
/* The channels of a texel: numbers of 32 bits, floats or whole, as FLOATS says. */
struct texel {
    unsigned int bits[4];
    bool floats;
};
struct place {
    float x, y, z;
    int layer;
};
/* What the texture has there; DIMENSIONS is that of the function which was called. */
texel sample(unsigned long long texture, int dimensions, bool layered, const place &where);
texel sample_cube(unsigned long long texture, const place &direction);
texel sample_linear(unsigned long long texture, int index);
texel gather(unsigned long long texture, float x, float y, int channel);
[[noreturn]] void wrong_texel(bool texture_has_floats);

template <class T> T from_texel(const texel &t)
{
    using base = typename channels<T>::base;
    constexpr bool wants_floats = kind_of<base> == cudaChannelFormatKindFloat;
    base values[4];
    if (t.floats != wants_floats) wrong_texel(t.floats);
    for (int i = 0; i < 4; i++) {
        if constexpr (wants_floats)
            memcpy(&values[i], &t.bits[i], sizeof(float));
        else
            values[i] = (base)t.bits[i];
    }
    T result;
    memcpy((void *)&result, values, sizeof result);
    return result;
}

/* Where an element of a surface is; null if a write is to be left out or a read gives zeros. */
void *surface_address(unsigned long long surface, int dimensions, bool layered, int x_bytes, int y,
                      int z, size_t size, cudaSurfaceBoundaryMode mode);
template <class T> T read_surface(const void *address)
{
    T value;
    if (address)
        memcpy((void *)&value, address, sizeof value);
    else
        memset((void *)&value, 0, sizeof value);
    return value;
}
template <class T> void write_surface(void *address, const T &value)
{
    if (address) memcpy(address, (const void *)&value, sizeof value);
}
} // namespace cucc

/* clang-format off */

/* name, the coordinates as parameters, how many of them, whether layered, and the place */
#define CUCC_TEXTURE(name, parameters, given, ...)                                           \
    template <class T> T name(cudaTextureObject_t texture, CUCC_LIST parameters)             \
    {                                                                                        \
        return cucc::from_texel<T>(__VA_ARGS__);                                             \
    }                                                                                        \
    template <class T> void name(T *result, cudaTextureObject_t texture, CUCC_LIST parameters) \
    {                                                                                        \
        *result = name<T>(texture, CUCC_LIST given);                                         \
    }
#define CUCC_LIST(...) __VA_ARGS__
CUCC_TEXTURE(tex1Dfetch, (int x), (x), cucc::sample_linear(texture, x))
CUCC_TEXTURE(tex1D, (float x), (x), cucc::sample(texture, 1, false, {x, 0, 0, 0}))
CUCC_TEXTURE(tex2D, (float x, float y), (x, y), cucc::sample(texture, 2, false, {x, y, 0, 0}))
CUCC_TEXTURE(tex3D, (float x, float y, float z), (x, y, z), cucc::sample(texture, 3, false, {x, y, z, 0}))
CUCC_TEXTURE(tex1DLayered, (float x, int layer), (x, layer), cucc::sample(texture, 1, true, {x, 0, 0, layer}))
CUCC_TEXTURE(tex2DLayered, (float x, float y, int layer), (x, y, layer), cucc::sample(texture, 2, true, {x, y, 0, layer}))
CUCC_TEXTURE(texCubemap, (float x, float y, float z), (x, y, z), cucc::sample_cube(texture, {x, y, z, 0}))
CUCC_TEXTURE(texCubemapLayered, (float x, float y, float z, int layer), (x, y, z, layer), cucc::sample_cube(texture, {x, y, z, layer}))
/* Without mipmaps there is one level. */
CUCC_TEXTURE(tex1DLod, (float x, float level), (x, level), ((void)level, cucc::sample(texture, 1, false, {x, 0, 0, 0})))
CUCC_TEXTURE(tex2DLod, (float x, float y, float level), (x, y, level), ((void)level, cucc::sample(texture, 2, false, {x, y, 0, 0})))
CUCC_TEXTURE(tex3DLod, (float x, float y, float z, float level), (x, y, z, level), ((void)level, cucc::sample(texture, 3, false, {x, y, z, 0})))
template <class T> T tex2Dgather(cudaTextureObject_t texture, float x, float y, int channel = 0)
{
    return cucc::from_texel<T>(cucc::gather(texture, x, y, channel));
}
#undef CUCC_TEXTURE

#define CUCC_SURFACE(stem, parameters, given, dimensions, layered, x, y, z)                         \
    template <class T> T stem##read(cudaSurfaceObject_t surface, CUCC_LIST parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
    {                                                                                               \
        return cucc::read_surface<T>(cucc::surface_address(surface, dimensions, layered, x, y, z, sizeof(T), mode)); \
    }                                                                                               \
    template <class T> void stem##read(T *result, cudaSurfaceObject_t surface, CUCC_LIST parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
    {                                                                                               \
        *result = stem##read<T>(surface, CUCC_LIST given, mode);                                    \
    }                                                                                               \
    template <class T> void stem##write(T value, cudaSurfaceObject_t surface, CUCC_LIST parameters, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) \
    {                                                                                               \
        void *address = cucc::surface_address(surface, dimensions, layered, x, y, z, sizeof(T),     \
                                              mode);                                                \
        cucc::write_surface(address, value);                                                        \
    }
CUCC_SURFACE(surf1D, (int x), (x), 1, false, x, 0, 0)
CUCC_SURFACE(surf2D, (int x, int y), (x, y), 2, false, x, y, 0)
CUCC_SURFACE(surf3D, (int x, int y, int z), (x, y, z), 3, false, x, y, z)
CUCC_SURFACE(surf1DLayered, (int x, int layer), (x, layer), 1, true, x, 0, layer)
CUCC_SURFACE(surf2DLayered, (int x, int y, int layer), (x, y, layer), 2, true, x, y, layer)
#undef CUCC_SURFACE
#undef CUCC_LIST
/* clang-format on */

#endif

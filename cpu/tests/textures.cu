/* Textures of every kind, address mode and filter against what the programming guide says, computed here
 * in double; arrays, pitched memory, surfaces. */
#include "check.h"
#include <string.h>

enum { width = 13, height = 7, depth = 5 };
enum { most_points = 64 };

static float3 points[most_points];

/* The texel that stands for index I of N. */
static int stands_for(int i, int n, cudaTextureAddressMode mode)
{
    if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
    if (mode == cudaAddressModeWrap) return ((i % n) + n) % n;
    if (mode == cudaAddressModeMirror) {
        int phase = ((i % (2 * n)) + 2 * n) % (2 * n);
        return phase < n ? phase : 2 * n - 1 - phase;
    }
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}

static double expected(const float *data, const int *n, int dimensions, float3 at,
                       cudaTextureAddressMode mode, bool linear, bool normalized)
{
    const float x[3] = {at.x, at.y, at.z};
    int low[3];
    double part[3], sum = 0;
    for (int d = 0; d < dimensions; d++) {
        double place = normalized ? (double)x[d] * n[d] : x[d];
        if (linear) place = (double)(float)((float)place - 0.5f);
        low[d] = (int)floor(place);
        part[d] = linear ? rint((place - low[d]) * 256) / 256 : 0;
    }
    for (int corner = 0; corner < (linear ? 1 << dimensions : 1); corner++) {
        double share = 1;
        long index = 0, step = 1;
        bool border = false;
        for (int d = 0; d < dimensions; d++) {
            int upper = corner >> d & 1, i = stands_for(low[d] + upper, n[d], mode);
            share *= upper ? part[d] : 1 - part[d];
            border |= i < 0;
            index += i * step;
            step *= n[d];
        }
        sum += border ? 0 : share * data[index];
    }
    return sum;
}

__global__ void sample(cudaTextureObject_t t, int dimensions, const float3 *at, float *out)
{
    float3 p = at[threadIdx.x];
    out[threadIdx.x] = dimensions == 1   ? tex1D<float>(t, p.x)
                       : dimensions == 2 ? tex2D<float>(t, p.x, p.y)
                                         : tex3D<float>(t, p.x, p.y, p.z);
}

static cudaTextureDesc description(cudaTextureAddressMode mode, bool linear, bool normalized)
{
    cudaTextureDesc how;
    memset(&how, 0, sizeof how);
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.normalizedCoords = normalized;
    return how;
}

static void check_floats(int dimensions, const float *data, const float3 *device_points, float *out)
{
    const int n[3] = {width, dimensions > 1 ? height : 1, dimensions > 2 ? depth : 1};
    cudaExtent extent =
        make_cudaExtent(width, dimensions > 1 ? height : 0, dimensions > 2 ? depth : 0);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMemcpy3DParms copy;
    cudaResourceDesc resource;
    cudaTextureObject_t texture;
    memset(&copy, 0, sizeof copy);
    memset(&resource, 0, sizeof resource);
    CHECK(cudaMalloc3DArray(&array, &format, extent) == cudaSuccess);
    copy.srcPtr = make_cudaPitchedPtr((void *)data, width * sizeof(float), width, (size_t)n[1]);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, (size_t)n[1], (size_t)n[2]);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (int mode = cudaAddressModeWrap; mode <= cudaAddressModeBorder; mode++)
        for (int linear = 0; linear < 2; linear++)
            for (int normalized = 0; normalized < 2; normalized++) {
                bool periodic = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
                cudaTextureAddressMode meant =
                    periodic && !normalized ? cudaAddressModeClamp : (cudaTextureAddressMode)mode;
                cudaTextureDesc how = description((cudaTextureAddressMode)mode, linear, normalized);
                CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL) == cudaSuccess);
                sample<<<1, most_points>>>(texture, dimensions, device_points, out);
                CHECK(done());
                for (int i = 0; i < most_points; i++) {
                    double want =
                        expected(data, n, dimensions, points[i], meant, linear, normalized);
                    CHECK(fabs(out[i] - want) <= 2e-3);
                }
                CHECK(cudaDestroyTextureObject(texture) == cudaSuccess);
            }
    CHECK(cudaFreeArray(array) == cudaSuccess);
}

/* ---- other texels ---------------------------------------------------------------------------- */

__global__ void other_texels(cudaTextureObject_t bytes, cudaTextureObject_t shares,
                             cudaTextureObject_t line, cudaTextureObject_t rows, int4 *whole,
                             float4 *parts, int *numbers, float *floats)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y;
    uchar4 texel = tex2D<uchar4>(bytes, (float)x + 0.5f, (float)y + 0.5f);
    whole[y * 4 + x] = make_int4(texel.x, texel.y, texel.z, texel.w);
    parts[y * 4 + x] = tex2D<float4>(shares, (float)x + 0.5f, (float)y + 0.5f);
    numbers[y * 4 + x] = tex1Dfetch<short>(line, y * 4 + x - 1);
    floats[y * 4 + x] = tex2D<float>(rows, (float)x + 0.5f, (float)y + 0.5f);
}

static void check_other_texels(void)
{
    unsigned char *bytes = managed<unsigned char>(4 * 4 * 4);
    short *shorts = managed<short>(16);
    int4 *whole = managed<int4>(16);
    float4 *parts = managed<float4>(16);
    int *numbers = managed<int>(16);
    float *floats = managed<float>(16), *pitched, row[4];
    size_t pitch;
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
    cudaResourceDesc resource;
    cudaTextureObject_t texture[4];
    cudaTextureDesc how = description(cudaAddressModeClamp, false, false), normalized = how;
    normalized.readMode = cudaReadModeNormalizedFloat;
    memset(&resource, 0, sizeof resource);
    for (int i = 0; i < 64; i++) bytes[i] = (unsigned char)(i * 37);
    for (int i = 0; i < 16; i++) shorts[i] = (short)(i * 1000 - 8000);
    CHECK(cudaMallocArray(&array, &format, 4, 4) == cudaSuccess);
    CHECK(cudaMemcpyToArray(array, 0, 0, bytes, 64, cudaMemcpyDefault) == cudaSuccess);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateTextureObject(&texture[0], &resource, &how, NULL) == cudaSuccess);
    CHECK(cudaCreateTextureObject(&texture[1], &resource, &normalized, NULL) == cudaSuccess);
    cudaTextureDesc filtered = description(cudaAddressModeClamp, true, false);
    CHECK(cudaCreateTextureObject(&texture[2], &resource, &filtered, NULL) ==
          cudaErrorInvalidValue);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = shorts;
    resource.res.linear.desc = cudaCreateChannelDesc<short>();
    resource.res.linear.sizeInBytes = 16 * sizeof(short);
    CHECK(cudaCreateTextureObject(&texture[2], &resource, &how, NULL) == cudaSuccess);
    CHECK(cudaMallocPitch(&pitched, &pitch, 4 * sizeof(float), 4) == cudaSuccess && pitch >= 16);
    for (int y = 0; y < 4; y++) {
        for (int x = 0; x < 4; x++) row[x] = (float)(y * 10 + x);
        CHECK(cudaMemcpy((char *)pitched + (size_t)y * pitch, row, sizeof row,
                         cudaMemcpyHostToDevice) == cudaSuccess);
    }
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = pitched;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    resource.res.pitch2D.width = resource.res.pitch2D.height = 4;
    resource.res.pitch2D.pitchInBytes = pitch;
    CHECK(cudaCreateTextureObject(&texture[3], &resource, &how, NULL) == cudaSuccess);
    other_texels<<<1, dim3(4, 4)>>>(texture[0], texture[1], texture[2], texture[3], whole, parts,
                                    numbers, floats);
    CHECK(done());
    for (int i = 0; i < 16; i++) {
        const unsigned char *b = bytes + 4 * i;
        CHECK(whole[i].x == b[0] && whole[i].y == b[1] && whole[i].z == b[2] && whole[i].w == b[3]);
        CHECK(fabsf(parts[i].x - (float)b[0] / 255) < 1e-6f &&
              fabsf(parts[i].w - (float)b[3] / 255) < 1e-6f);
        CHECK(numbers[i] == (i ? shorts[i - 1] : 0));
        CHECK(floats[i] == (float)(i / 4 * 10 + i % 4));
    }
    for (int i = 0; i < 4; i++) CHECK(cudaDestroyTextureObject(texture[i]) == cudaSuccess);
    CHECK(cudaFreeArray(array) == cudaSuccess);
    void *all[] = {bytes, shorts, whole, parts, numbers, floats, pitched};
    for (void *memory : all) CHECK(cudaFree(memory) == cudaSuccess);
}

/* ---- layers and surfaces --------------------------------------------------------------------- */

__global__ void read_layers(cudaTextureObject_t layers, float *out)
{
    int layer = (int)threadIdx.z - 1;
    out[(threadIdx.z * 3 + threadIdx.y) * 4 + threadIdx.x] =
        tex2DLayered<float>(layers, (float)threadIdx.x + 0.5f, (float)threadIdx.y + 0.5f, layer);
}
__global__ void write_surface(cudaSurfaceObject_t surface)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y, size = (int)sizeof(float2);
    surf2Dwrite(make_float2((float)x, (float)y), surface, x * size, y);
    surf2Dwrite(make_float2(99, 99), surface, (x + 4) * size, y, cudaBoundaryModeZero);
}
__global__ void read_surface(cudaSurfaceObject_t surface, float2 *out, cudaSurfaceBoundaryMode mode)
{
    int x = (int)threadIdx.x, y = (int)threadIdx.y, size = (int)sizeof(float2);
    out[y * 5 + x] = surf2Dread<float2>(surface, x * size, y, mode);
}

static void check_layers_and_surfaces(void)
{
    float *data = managed<float>(4 * 3 * 5), *out = managed<float>(4 * 3 * 7);
    float2 *pairs = managed<float2>(25), back[12];
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(),
                          of_two = cudaCreateChannelDesc<float2>();
    cudaArray_t array;
    cudaMemcpy3DParms copy;
    cudaResourceDesc resource;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaTextureDesc how = description(cudaAddressModeClamp, false, false);
    memset(&copy, 0, sizeof copy);
    memset(&resource, 0, sizeof resource);
    for (int i = 0; i < 60; i++) data[i] = (float)i;
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(4, 3, 5), cudaArrayLayered) ==
          cudaSuccess);
    copy.srcPtr = make_cudaPitchedPtr(data, 16, 4, 3);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(4, 3, 5);
    copy.kind = cudaMemcpyDefault;
    CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
    copy.extent = make_cudaExtent(5, 3, 5);
    CHECK(cudaMemcpy3D(&copy) != cudaSuccess);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL) == cudaSuccess);
    read_layers<<<1, dim3(4, 3, 7)>>>(texture, out);
    CHECK(done());
    for (int z = 0; z < 7; z++) /* layers are clamped */
        for (int i = 0; i < 12; i++)
            CHECK(out[z * 12 + i] == data[(z < 1 ? 0 : z > 5 ? 4 : z - 1) * 12 + i]);
    CHECK(cudaCreateSurfaceObject(&surface, &resource) == cudaErrorInvalidValue);
    CHECK(cudaDestroyTextureObject(texture) == cudaSuccess && cudaFreeArray(array) == cudaSuccess);

    CHECK(cudaMallocArray(&array, &of_two, 4, 3, cudaArraySurfaceLoadStore) == cudaSuccess);
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
    write_surface<<<1, dim3(4, 3)>>>(surface);
    CHECK(done());
    CHECK(cudaMemcpy2DFromArray(back, 32, array, 0, 0, 32, 3, cudaMemcpyDeviceToHost) ==
          cudaSuccess);
    for (int i = 0; i < 12; i++) CHECK(back[i].x == (float)(i % 4) && back[i].y == (float)(i / 4));
    read_surface<<<1, dim3(5, 5)>>>(surface, pairs, cudaBoundaryModeClamp);
    CHECK(done() && pairs[24].x == 3 && pairs[24].y == 2 && pairs[6].x == 1);
    read_surface<<<1, dim3(5, 5)>>>(surface, pairs, cudaBoundaryModeZero);
    CHECK(done() && pairs[24].x == 0 && pairs[24].y == 0 && pairs[13].y == 2);
    CHECK(cudaDestroySurfaceObject(surface) == cudaSuccess && cudaFreeArray(array) == cudaSuccess);
    cudaFree(data);
    cudaFree(out);
    cudaFree(pairs);
}

/* ---- faults ---------------------------------------------------------------------------------- */

__global__ void read_pairs(cudaTextureObject_t t, float2 *out)
{
    out[threadIdx.x] = tex2D<float2>(t, 1.25f + (float)threadIdx.x / 2, 2.75f);
}

/* Texels (x, 10 y), between which a linear filter has the same. */
static void check_pairs(void)
{
    float2 texels[4][8], *out = managed<float2>(8);
    cudaArray_t array;
    cudaTextureObject_t t;
    cudaResourceDesc resource = {};
    cudaTextureDesc how = description(cudaAddressModeClamp, true, false);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
    for (int i = 0; i < 32; i++)
        texels[i / 8][i % 8] = make_float2((float)(i % 8), (float)(i / 8 * 10));
    CHECK(cudaMallocArray(&array, &format, 8, 4) == cudaSuccess);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels[0], sizeof texels[0], 4,
                              cudaMemcpyHostToDevice) == cudaSuccess);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateTextureObject(&t, &resource, &how, NULL) == cudaSuccess);
    read_pairs<<<1, 8>>>(t, out);
    CHECK(done());
    for (int i = 0; i < 8; i++) CHECK(out[i].x == 0.75f + (float)i / 2 && out[i].y == 22.5f);
    CHECK(cudaDestroyTextureObject(t) == cudaSuccess && cudaFreeArray(array) == cudaSuccess);
    cudaFree(out);
}

__global__ void floats_of_whole_numbers(cudaTextureObject_t t, float *out)
{
    *out = tex1Dfetch<float>(t, 0);
}

static int fault(const char *which)
{
    cudaResourceDesc resource;
    cudaTextureDesc how = description(cudaAddressModeClamp, false, false);
    int *numbers = managed<int>(4);
    memset(&resource, 0, sizeof resource);
    if (!strcmp(which, "bounds")) {
        cudaArray_t array;
        cudaSurfaceObject_t surface;
        cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
        cudaMallocArray(&array, &format, 3, 3, cudaArraySurfaceLoadStore);
        resource.resType = cudaResourceTypeArray;
        resource.res.array.array = array;
        cudaCreateSurfaceObject(&surface, &resource);
        write_surface<<<1, dim3(4, 3)>>>(surface);
    } else {
        cudaTextureObject_t texture;
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = numbers;
        resource.res.linear.desc = cudaCreateChannelDesc<int>();
        resource.res.linear.sizeInBytes = 16;
        cudaCreateTextureObject(&texture, &resource, &how, NULL);
        floats_of_whole_numbers<<<1, 1>>>(texture, (float *)numbers);
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 1;
}

int main(int argc, char **argv)
{
    if (argc > 1) return fault(argv[1]);
    float *data = managed<float>(width * height * depth), *out = managed<float>(most_points);
    float3 *device_points = managed<float3>(most_points);
    for (int i = 0; i < width * height * depth; i++) data[i] = (float)(i * 29 % 101);
    for (int i = 0; i < most_points; i++)
        device_points[i] = points[i] =
            make_float3((float)(i * 7 % 31) * 0.77f - 4.1f, (float)(i * 5 % 23) * 0.61f - 2.3f,
                        (float)(i % 11) * 0.9f - 1.7f);
    for (int dimensions = 1; dimensions <= 3; dimensions++)
        check_floats(dimensions, data, device_points, out);
    check_other_texels();
    check_layers_and_surfaces();
    check_pairs();
    cudaFree(data);
    cudaFree(out);
    cudaFree(device_points);
    printf("%d failures\n", failures);
    return failures > 0;
}

/* Ways to reach memory whose sectors and bank conflicts --report and Nsight Compute both count. Each kernel
 * runs once; compare.py sets the two side by side. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 14, THREADS = 256, BLOCKS = N / THREADS, SIDE = 128, TILE = 32 };

__global__ void copy_neighbours(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
__global__ void copy_one_off(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N - 1) out[i] = in[i + 1];
}
__global__ void copy_every_second(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N / 2) out[i] = in[2 * i];
}
__global__ void copy_far(const float *in, float *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, i = t % (N / 32) * 32 + t / (N / 32);
    out[i] = in[i];
}
__global__ void copy_four(const float4 *in, float4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N / 4) out[i] = in[i];
}
__global__ void copy_bytes(const unsigned char *in, unsigned char *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}
__global__ void copy_threes(const float3 *in, float3 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N / 4) out[i] = in[i];
}
__global__ void gather(const int *index, const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]];
}
__global__ void half_of_lanes(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 2) out[i] = in[i];
}
__global__ void transpose_plain(const float *in, float *out)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int r = 0; r < TILE; r += 8) out[x * SIDE + y + r] = in[(y + r) * SIDE + x];
}
template <int pitch> __device__ void transpose(const float *in, float *out)
{
    __shared__ float tile[TILE][pitch];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    for (int r = 0; r < TILE; r += 8) tile[ty + r][tx] = in[(y + r) * SIDE + x];
    __syncthreads();
    x = blockIdx.y * TILE + tx, y = blockIdx.x * TILE + ty;
    for (int r = 0; r < TILE; r += 8) out[(y + r) * SIDE + x] = tile[tx][ty + r];
}
__global__ void transpose_32(const float *in, float *out)
{
    transpose<32>(in, out);
}
__global__ void transpose_33(const float *in, float *out)
{
    transpose<33>(in, out);
}
/* Words of a table of 1024, STRIDE apart. */
__global__ void table_stride(const float *in, float *out, int stride)
{
    __shared__ float table[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += THREADS) table[i] = in[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += table[(t * stride + k) % 1024];
    out[blockIdx.x * THREADS + t] = sum;
}
__global__ void table_gather(const int *index, const float *in, float *out)
{
    __shared__ float table[1024];
    int t = threadIdx.x;
    for (int i = t; i < 1024; i += THREADS) table[i] = in[i];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += table[index[k * THREADS + t] % 1024];
    out[blockIdx.x * THREADS + t] = sum;
}
__global__ void table_doubles(const double *in, double *out)
{
    __shared__ double table[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += THREADS) table[i] = in[i];
    __syncthreads();
    out[blockIdx.x * THREADS + t] = table[511 - t] + table[t * 2 % 512];
}
__global__ void table_fours(const float4 *in, float4 *out)
{
    __shared__ float4 table[256];
    int t = threadIdx.x;
    table[t] = in[t];
    __syncthreads();
    float4 a = table[255 - t], b = table[t * 5 % 256];
    out[t] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
/* A tree whose active threads are 2, 4, 8, ... words apart. */
__global__ void tree_apart(const float *in, float *out)
{
    __shared__ float s[THREADS];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * THREADS + t];
    for (int d = 1; d < THREADS; d *= 2) {
        __syncthreads();
        int i = 2 * d * t;
        if (i + d < THREADS) s[i] += s[i + d];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

int main()
{
    void *in, *out;
    int *index, *host = (int *)calloc(N, sizeof *host);
    unsigned int random = 1;
    if (cudaMalloc(&in, N * sizeof(float)) || cudaMalloc(&out, N * sizeof(float)) ||
        cudaMalloc((void **)&index, N * sizeof(int)) || cudaMemset(in, 0, N * sizeof(float)))
        return 2;
    for (int i = 0; i < N; i++)
        host[i] = (int)((random = random * 1664525u + 1013904223u) >> 8) % N;
    if (cudaMemcpy(index, host, N * sizeof(int), cudaMemcpyHostToDevice)) return 2;
    const float *f = (const float *)in;
    float *o = (float *)out;
    dim3 grid(SIDE / TILE, SIDE / TILE), block(TILE, 8);
    copy_neighbours<<<BLOCKS, THREADS>>>(f, o);
    copy_one_off<<<BLOCKS, THREADS>>>(f, o);
    copy_every_second<<<BLOCKS, THREADS>>>(f, o);
    copy_far<<<BLOCKS, THREADS>>>(f, o);
    copy_four<<<BLOCKS, THREADS>>>((const float4 *)in, (float4 *)out);
    copy_bytes<<<BLOCKS, THREADS>>>((const unsigned char *)in, (unsigned char *)out);
    copy_threes<<<BLOCKS, THREADS>>>((const float3 *)in, (float3 *)out);
    gather<<<BLOCKS, THREADS>>>(index, f, o);
    half_of_lanes<<<BLOCKS, THREADS>>>(f, o);
    transpose_plain<<<grid, block>>>(f, o);
    transpose_32<<<grid, block>>>(f, o);
    transpose_33<<<grid, block>>>(f, o);
    table_stride<<<4, THREADS>>>(f, o, 1);
    table_stride<<<4, THREADS>>>(f, o, 2);
    table_stride<<<4, THREADS>>>(f, o, 8);
    table_stride<<<4, THREADS>>>(f, o, 33);
    table_gather<<<4, THREADS>>>(index, f, o);
    table_doubles<<<4, THREADS>>>((const double *)in, (double *)out);
    table_fours<<<1, THREADS>>>((const float4 *)in, (float4 *)out);
    tree_apart<<<BLOCKS, THREADS>>>(f, o);
    cudaError_t error = cudaDeviceSynchronize();
    if (error) printf("%s\n", cudaGetErrorString(error));
    free(host);
    return cudaFree(in) || cudaFree(out) || cudaFree(index) || error;
}

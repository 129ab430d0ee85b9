/* What is right and slow: lines that --report must name, each with what a request takes too much of in its
 * tag, and twins that waste nothing (names that begin with right_). */
#include "faults.h"

enum { WARP = 32, WARPS = 4, THREADS = WARP * WARPS, N = THREADS * WARP };
struct body {
    float x, y, z, mass;
};
__constant__ float weights[WARP * WARP];
static const int shuffled[8] = {3, 6, 1, 4, 7, 2, 5, 0};

/* ---- global memory: sectors of 32 bytes ------------------------------------------------------- */

__global__ void by_rows(const float *in, float *out) /* each thread has a row of its own */
{
    float sum = 0;
    for (int k = 0; k < WARP; k++) sum += in[threadIdx.x * WARP + k]; /* by_rows */
    out[threadIdx.x] = sum;
}
__global__ void right_by_columns(const float *in, float *out)
{
    float sum = 0;
    for (int k = 0; k < WARP; k++) sum += in[k * THREADS + threadIdx.x];
    out[threadIdx.x] = sum;
}
__global__ void every_second(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x * 2]; /* every_second */
}
__global__ void one_off(const float *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x + 1]; /* one_off */
}
__global__ void one_field(const body *in, float *out)
{
    out[threadIdx.x] = in[threadIdx.x].mass; /* one_field */
}
__global__ void right_all_fields(const float4 *in, float *out)
{
    float4 b = in[threadIdx.x];
    out[threadIdx.x] = b.x + b.y + b.z + b.w;
}
__global__ void scattered(const float *in, const int *index, float *out)
{
    out[index[threadIdx.x]] = in[threadIdx.x]; /* scattered */
}
__global__ void transposed(const float *in, float *out)
{
    out[threadIdx.x % WARP * WARP + threadIdx.x / WARP] = in[threadIdx.x]; /* transposed */
}

/* ---- shared memory: 32 banks of 4 bytes ------------------------------------------------------- */

__global__ void column(const float *in, float *out)
{
    __shared__ float s[WARP][WARP];
    for (int y = threadIdx.x / WARP; y < WARP; y += WARPS)
        s[y][threadIdx.x % WARP] = in[y * WARP + threadIdx.x % WARP];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x % WARP][threadIdx.x / WARP]; /* column */
}
__global__ void right_column(const float *in, float *out)
{
    __shared__ float s[WARP][WARP + 1];
    for (int y = threadIdx.x / WARP; y < WARP; y += WARPS)
        s[y][threadIdx.x % WARP] = in[y * WARP + threadIdx.x % WARP];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x % WARP][threadIdx.x / WARP];
}
__global__ void pairs(const float *in, float *out)
{
    __shared__ float s[2 * THREADS];
    s[2 * threadIdx.x] = in[threadIdx.x]; /* pairs */
    __syncthreads();
    out[threadIdx.x] = s[2 * threadIdx.x];
}
__global__ void pitch_of_8(const float *in, float *out)
{
    __shared__ float s[8 * THREADS];
    s[8 * threadIdx.x] = in[threadIdx.x]; /* pitch_of_8 */
    __syncthreads();
    out[threadIdx.x] = s[8 * threadIdx.x];
}
__global__ void same_bank(const float *in, float *out)
{
    __shared__ float s[WARPS][WARP * WARP];
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    s[warp][lane * WARP] = in[threadIdx.x]; /* same_bank */
    out[threadIdx.x] = s[warp][lane * WARP];
}
__global__ void right_same_word(const float *in, float *out)
{
    __shared__ float s[WARPS];
    s[threadIdx.x / WARP] = in[threadIdx.x / WARP];
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x / WARP];
}

/* ---- constant memory, branches ----------------------------------------------------------------- */

__global__ void weight_each(float *out)
{
    out[threadIdx.x] = weights[threadIdx.x]; /* weight_each */
}
__global__ void right_weight(float *out)
{
    float sum = 0;
    for (int k = 0; k < WARP; k++) sum += weights[k];
    out[threadIdx.x] = sum;
}
__global__ void odd_and_even(float *out)
{
    float v = 1;
    if (threadIdx.x % 2) v = sqrtf(v + 3); /* odd_and_even */
    out[threadIdx.x] = v;
}
__global__ void right_by_warp(float *out)
{
    float v = 1;
    if (threadIdx.x / WARP % 2) v = sqrtf(v + 3);
    out[threadIdx.x] = v;
}
__global__ void uneven_loop(float *out)
{
    float v = 1;
    for (unsigned int k = 0; k < threadIdx.x % WARP; k++) v = v * 0.5f + 1; /* uneven_loop */
    out[threadIdx.x] = v;
}
/* Lanes that add to the same word wait for one another. */
__global__ void four_bins(int *out)
{
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 4], 1); /* four_bins */
    atomicAdd(out, 1);                    /* one_word */
    __syncthreads();
    if (threadIdx.x < 4) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
__global__ void right_own_word(int *out)
{
    atomicAdd(&out[threadIdx.x], 1);
}

int main(void)
{
    float *in, *out, zeros[N] = {};
    int *index, order[THREADS];
    for (int i = 0; i < THREADS; i++) order[i] = i % WARP * 8 + shuffled[i / WARP];
    CHECK(cudaMalloc(&in, sizeof zeros));
    CHECK(cudaMalloc(&out, sizeof zeros));
    CHECK(cudaMalloc(&index, sizeof order));
    CHECK(cudaMemcpy(in, zeros, sizeof zeros, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(index, order, sizeof order, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyToSymbol(weights, zeros, sizeof weights));
    by_rows<<<1, THREADS>>>(in, out);
    right_by_columns<<<1, THREADS>>>(in, out);
    every_second<<<1, THREADS>>>(in, out);
    one_off<<<1, THREADS>>>(in, out);
    one_field<<<1, THREADS>>>((const body *)in, out);
    right_all_fields<<<1, THREADS>>>((const float4 *)in, out);
    scattered<<<1, THREADS>>>(in, index, out);
    transposed<<<1, THREADS>>>(in, out);
    column<<<1, THREADS>>>(in, out);
    right_column<<<1, THREADS>>>(in, out);
    pairs<<<1, THREADS>>>(in, out);
    pitch_of_8<<<1, THREADS>>>(in, out);
    same_bank<<<1, THREADS>>>(in, out);
    right_same_word<<<1, THREADS>>>(in, out);
    weight_each<<<1, THREADS>>>(out);
    right_weight<<<1, THREADS>>>(out);
    odd_and_even<<<1, THREADS>>>(out);
    right_by_warp<<<1, THREADS>>>(out);
    four_bins<<<1, THREADS>>>(index);
    right_own_word<<<1, THREADS>>>(index);
    uneven_loop<<<1, THREADS>>>(out);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(in));
    CHECK(cudaFree(out));
    CHECK(cudaFree(index));
    return 0;
}

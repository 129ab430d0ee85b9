/* What the files of the inclusion test share. Each of them reaches the library in its own way and
   multiplies the same matrices. They hold small whole numbers, so that every type must be exact.
   main.c calls them all. */
#ifndef WAYS_H
#define WAYS_H

enum { ROWS = 37, COLS = 13, INNER = 41 }; /* few columns: all kernels can */

static inline int a_value(int n)
{
    return n * 5 % 7 - 3;
}

static inline int b_value(int n)
{
    return n * 3 % 11 - 5;
}

static inline int c_value(int n)
{
    int sum = 0;
    for (int k = 0; k < INNER; k++)
        sum += a_value(n / COLS * INNER + k) * b_value(k * COLS + n % COLS);
    return sum;
}

/* T_fill makes the operands; T_right tells whether C is factor * A B + plus. */
#define DEFINE_MATRICES(T)                                                                      \
    static inline void T##_fill(T *A, T *B)                                                     \
    {                                                                                           \
        for (int n = 0; n < ROWS * INNER; n++) A[n] = (T)a_value(n);                            \
        for (int n = 0; n < INNER * COLS; n++) B[n] = (T)b_value(n);                            \
    }                                                                                           \
    static inline int T##_right(const T *C, int factor, int plus)                               \
    {                                                                                           \
        int wrong = 0;                                                                          \
        for (int n = 0; n < ROWS * COLS; n++) wrong += C[n] != (T)(factor * c_value(n) + plus); \
        return wrong == 0;                                                                      \
    }
DEFINE_MATRICES(float)
DEFINE_MATRICES(double)
DEFINE_MATRICES(int)
DEFINE_MATRICES(unsigned)

#ifdef __CUDACC__
typedef tmm_status (*float_product)(const float *dA, const float *dB, float *dC, cudaStream_t);

/* Runs a product on device pointers and a stream of its own. */
static inline int float_right_on_device(float_product multiply, int factor, int plus)
{
    static float A[ROWS * INNER], B[INNER * COLS], C[ROWS * COLS];
    float *dA, *dB, *dC;
    cudaStream_t stream;
    float_fill(A, B);
    memset(C, 0, sizeof C);
    if (cudaStreamCreate(&stream) != cudaSuccess || cudaMalloc((void **)&dA, sizeof A) ||
        cudaMalloc((void **)&dB, sizeof B) || cudaMalloc((void **)&dC, sizeof C))
        return 0;
    cudaMemcpy(dA, A, sizeof A, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, B, sizeof B, cudaMemcpyHostToDevice);
    tmm_status status = multiply(dA, dB, dC, stream);
    cudaStreamSynchronize(stream);
    cudaMemcpy(C, dC, sizeof C, cudaMemcpyDeviceToHost);
    cudaFree(dA);
    cudaFree(dB);
    cudaFree(dC);
    cudaStreamDestroy(stream);
    return status == TMM_OK && float_right(C, factor, plus);
}
#endif

/* Of each file: does it multiply rightly; make a call fail with M = -its number; the text of the
   last failure, as this file sees it. */
#ifdef __cplusplus
extern "C" {
#endif
int caller_multiplies(void), caller_fails(void);
int plain_a_multiplies(void), plain_a_fails(void), plain_a_epilogue_is_its_own(void);
int plain_b_multiplies(void), plain_b_fails(void), plain_b_epilogue_is_its_own(void);
int extern_multiplies(void), extern_fails(void);
int impl_multiplies(void), impl_fails(void);
const char *caller_last_error(void), *plain_a_last_error(void), *plain_b_last_error(void);
const char *extern_last_error(void), *impl_last_error(void);
void caller_fails_in_another_thread(void);
#ifdef __cplusplus
}
#endif
#endif

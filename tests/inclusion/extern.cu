/* A .cu that calls the functions which impl.cu emits: declarations only. */
#define TMM_EXTERN
#include "../../tiledmm.cuh"
#include "ways.h"

static tmm_status product(const float *dA, const float *dB, float *dC, cudaStream_t stream)
{
    return tmm_sgemm(TMM_OP_N, TMM_OP_N, ROWS, COLS, INNER, 1, dA, INNER, dB, COLS, 0, dC, COLS,
                     stream);
}

int extern_multiplies(void)
{
    return float_right_on_device(product, 1, 0);
}

int extern_fails(void)
{
    return tmm_imatmul(-5, 1, 1, NULL, NULL, NULL) == TMM_ERROR_ARGUMENT;
}

const char *extern_last_error(void)
{
    return tmm_last_error();
}

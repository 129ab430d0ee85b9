/* The one file that emits the functions with C linkage, for float, double and int, and for
   unsigned, which main.c and caller.cpp declare. */
#define TMM_WITH_SYRK
#define TMM_IMPLEMENTATION
#include "../../tiledmm.cuh"
#define TMM_TYPE unsigned
#define TMM_NAME u
#include "../../tiledmm.cuh"
#include "ways.h"

static tmm_status product(const float *dA, const float *dB, float *dC, cudaStream_t stream)
{
    return tmm_sgemm(TMM_OP_N, TMM_OP_N, ROWS, COLS, INNER, 1, dA, INNER, dB, COLS, 0, dC, COLS,
                     stream);
}

int impl_multiplies(void)
{
    return float_right_on_device(product, 1, 0);
}

int impl_fails(void)
{
    return tmm_umatmul(-6, 1, 1, NULL, NULL, NULL) == TMM_ERROR_ARGUMENT;
}

const char *impl_last_error(void)
{
    return tmm_last_error();
}

/* The plain way: everything static. The other plain file has the same names, tmm_xgemm with
   another epilogue among them; this one adds one. */
#include "../../tiledmm.cuh"
#define TMM_NAME                      x
#define TMM_EPILOGUE(value, row, col) ((value) + 1)
#include "../../tiledmm.cuh"
#include "ways.h"

static tmm_kernel kernel;

static tmm_status product(const float *dA, const float *dB, float *dC, cudaStream_t stream)
{
    return tmm_sgemm_with(kernel, TMM_OP_N, TMM_OP_N, ROWS, COLS, INNER, 1, dA, INNER, dB, COLS, 0,
                          dC, COLS, stream);
}

static tmm_status product_x(const float *dA, const float *dB, float *dC, cudaStream_t stream)
{
    return tmm_xgemm(TMM_OP_N, TMM_OP_N, ROWS, COLS, INNER, 1, dA, INNER, dB, COLS, 0, dC, COLS,
                     stream);
}

int plain_a_multiplies(void)
{
    int good = 1;
    for (int k = TMM_AUTO; k < TMM_KERNEL_COUNT; k++) {
        kernel = (tmm_kernel)k;
        if (tmm_sgemm_with(kernel, TMM_OP_N, TMM_OP_N, 0, 0, 0, 1, NULL, 1, NULL, 1, 0, NULL, 1,
                           0) == TMM_ERROR_UNSUPPORTED)
            continue; /* for double alone */
        good &= float_right_on_device(product, 1, 0);
    }
    return good;
}

int plain_a_epilogue_is_its_own(void)
{
    return float_right_on_device(product_x, 1, 1);
}

int plain_a_fails(void)
{
    return tmm_xmatmul(-3, 1, 1, NULL, NULL, NULL) == TMM_ERROR_ARGUMENT;
}

const char *plain_a_last_error(void)
{
    return tmm_last_error();
}

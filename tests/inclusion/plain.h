/* The plain way to include the header: everything static. Two files are made of this, with the same
   names in both, tmm_xgemm with an epilogue of each one's own among them: FACTOR * value + PLUS.
   PLAIN(what) names what is shared with main.c, NUMBER is what a failure tells. */
#include "../../tiledmm.cuh"
#define TMM_NAME                      x
#define TMM_EPILOGUE(value, row, col) (FACTOR * (value) + PLUS)
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

int PLAIN(multiplies)(void)
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

int PLAIN(epilogue_is_its_own)(void)
{
    return float_right_on_device(product_x, FACTOR, PLUS);
}

int PLAIN(fails)(void)
{
    return tmm_xmatmul(-NUMBER, 1, 1, NULL, NULL, NULL) == TMM_ERROR_ARGUMENT;
}

const char *PLAIN(last_error)(void)
{
    return tmm_last_error();
}

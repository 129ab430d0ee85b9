/* C++ without nvcc: the same declarations. */
#define TMM_TYPE unsigned /* before or after the ready-made types: either order works */
#define TMM_NAME u
#include "../../tiledmm.cuh"
#include "ways.h"
#include <cstddef>
#include <thread>

int caller_multiplies(void)
{
    static double A[ROWS * INNER], B[INNER * COLS], C[ROWS * COLS];
    static unsigned uA[ROWS * INNER], uB[INNER * COLS], uC[ROWS * COLS];
    double_fill(A, B);
    unsigned_fill(uA, uB);
    return tmm_dmatmul(ROWS, COLS, INNER, A, B, C) == TMM_OK && double_right(C, 1, 0) &&
           tmm_umatmul(ROWS, COLS, INNER, uA, uB, uC) == TMM_OK && unsigned_right(uC, 1, 0);
}

int caller_fails(void)
{
    return tmm_dmatmul(-2, 1, 1, NULL, NULL, NULL) == TMM_ERROR_ARGUMENT;
}

const char *caller_last_error(void)
{
    return tmm_last_error();
}

void caller_fails_in_another_thread(void)
{
    std::thread([] { (void)tmm_dmatmul(-99, 1, 1, NULL, NULL, NULL); }).join();
}

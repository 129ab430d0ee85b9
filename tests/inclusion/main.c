/* C99, compiled without any CUDA header: the library by its declarations alone, and three lines
   for a type of its own. */
#define TMM_WITH_SYRK
#include "../../tiledmm.cuh"
#define TMM_TYPE unsigned
#define TMM_NAME u
#include "../../tiledmm.cuh"
#include "../tap.h"
#include "ways.h"

static void test_host_functions(void)
{
    static double A[ROWS * INNER], B[INNER * COLS], C[ROWS * COLS];
    double error = 1, excess = 2;
    tmm_status status;
    double_fill(A, B);
    status = tmm_dgemm_cpu(TMM_OP_N, TMM_OP_N, ROWS, COLS, INNER, 1, A, INNER, B, COLS, 0, C, COLS);
    tap_ok(status == TMM_OK && double_right(C, 1, 0), "C99: tmm_dgemm_cpu");
    status = tmm_max_abs_error(TMM_DOUBLE, ROWS, COLS, C, COLS, C, COLS, &error);
    tap_ok(status == TMM_OK && error == 0, "C99: tmm_max_abs_error");
    status =
        tmm_freivalds(TMM_DOUBLE, ROWS, COLS, INNER, A, INNER, B, COLS, C, COLS, 5, 1, &excess);
    tap_ok(status == TMM_OK && excess <= 1, "C99: tmm_freivalds");
    {
        const float X[2][2] = {{1, 2}, {3, 4}};
        float S[2][2] = {{0, 0}, {0, 0}};
        const unsigned U[2] = {3, 5};
        unsigned V[2][2] = {{7, 7}, {7, 7}};
        status = tmm_ssyrk_cpu(TMM_BOTH, TMM_OP_N, 2, 2, 1, &X[0][0], 2, 0, &S[0][0], 2);
        tap_ok(status == TMM_OK && S[0][0] == 5 && S[0][1] == 11 && S[1][0] == 11 && S[1][1] == 25,
               "C99: tmm_ssyrk_cpu");
        status = tmm_usyrk_cpu(TMM_UPPER, TMM_OP_T, 2, 1, 1, U, 2, 1, &V[0][0], 2);
        tap_ok(status == TMM_OK && V[0][0] == 16 && V[0][1] == 22 && V[1][0] == 7 && V[1][1] == 32,
               "C99: tmm_usyrk_cpu, the upper half alone");
        status = tmm_ssyrk(TMM_LOWER, TMM_OP_N, -1, 1, 1, NULL, 1, 0, NULL, 1, NULL);
        tap_ok(status == TMM_ERROR_ARGUMENT, "C99: tmm_ssyrk");
    }
    tap_ok(strcmp(tmm_status_string(TMM_ERROR_MEMORY), "TMM_ERROR_MEMORY") == 0 &&
               strcmp(tmm_kernel_string(TMM_SHARED_16), "shared_16") == 0,
           "C99: tmm_status_string, tmm_kernel_string");
}

static int main_multiplies(void)
{
    static float sA[ROWS * INNER], sB[INNER * COLS], sC[ROWS * COLS];
    static int iA[ROWS * INNER], iB[INNER * COLS], iC[ROWS * COLS];
    static unsigned uA[ROWS * INNER], uB[INNER * COLS], uC[ROWS * COLS];
    float_fill(sA, sB);
    int_fill(iA, iB);
    unsigned_fill(uA, uB);
    return tmm_smatmul(ROWS, COLS, INNER, sA, sB, sC) == TMM_OK && float_right(sC, 1, 0) &&
           tmm_imatmul(ROWS, COLS, INNER, iA, iB, iC) == TMM_OK && int_right(iC, 1, 0) &&
           tmm_umatmul(ROWS, COLS, INNER, uA, uB, uC) == TMM_OK && unsigned_right(uC, 1, 0);
}

static int main_fails(void)
{
    return tmm_smatmul(-1, 1, 1, NULL, NULL, NULL) == TMM_ERROR_ARGUMENT;
}

static const struct {
    const char *name;
    int (*fails)(void);
    const char *(*last_error)(void);
} files[] = {
    {"main.c", main_fails, tmm_last_error},
    {"caller.cpp", caller_fails, caller_last_error},
    {"plain_a.cu", plain_a_fails, plain_a_last_error},
    {"plain_b.cu", plain_b_fails, plain_b_last_error},
    {"extern.cu", extern_fails, extern_last_error},
    {"impl.cu", impl_fails, impl_last_error},
};
enum { FILES = sizeof files / sizeof *files };

/* The text of a failure belongs to the thread, not to the file that it happened in. */
static void test_last_error(void)
{
    for (int f = 0; f < FILES; f++) {
        char expected[40];
        int good = files[f].fails(), differing = -1;
        snprintf(expected, sizeof expected, "M is negative: %d", -(f + 1));
        for (int g = 0; g < FILES && good; g++)
            if (strcmp(files[g].last_error(), expected) != 0) good = 0, differing = g;
        tap_ok(good, "tmm_last_error: what failed in %s is seen by every file", files[f].name);
        if (differing >= 0)
            tap_note("%s sees '%s' and not '%s'", files[differing].name,
                     files[differing].last_error(), expected);
    }
    caller_fails_in_another_thread();
    tap_ok(strcmp(tmm_last_error(), "M is negative: -6") == 0,
           "tmm_last_error: a failure in another thread is not seen");
}

static void test_device_functions(void)
{
    tap_ok(main_multiplies(), "C99: tmm_smatmul, tmm_imatmul and a type of its own, tmm_umatmul");
    tap_ok(caller_multiplies(), "C++: tmm_dmatmul, tmm_umatmul");
    tap_ok(plain_a_multiplies(), "a plain .cu: tmm_sgemm_with, each kernel");
    tap_ok(plain_b_multiplies(), "a second plain .cu: tmm_sgemm_with, each kernel");
    tap_ok(plain_a_epilogue_is_its_own() && plain_b_epilogue_is_its_own(),
           "two plain .cu: a tmm_xgemm each, with different epilogues, do not mix");
    tap_ok(extern_multiplies(), "a .cu with TMM_EXTERN: tmm_sgemm");
    tap_ok(impl_multiplies(), "the .cu with TMM_IMPLEMENTATION: tmm_sgemm");
}

/* With the argument no-device: what works without one. */
int main(int count, char **words)
{
    test_host_functions();
    test_last_error();
    if (count < 2 || strcmp(words[1], "no-device") != 0) test_device_functions();
    return tap_done();
}

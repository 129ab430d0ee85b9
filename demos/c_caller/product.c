/* product.c - a product of two matrices from C99, without any CUDA header.

   Build   nvcc -O3 -c demos/c_caller/library.cu -o library.o
           gcc -std=c99 -O2 -c demos/c_caller/product.c -o product.o
           nvcc product.o library.o -o product
   or, without a GPU:
           cpu/cucc demos/c_caller/library.cu demos/c_caller/product.c -o product
   Run     ./product          256 x 256
           ./product 5000

   The matrices lie in host memory; one call does the whole job. Whether the result is right is
   asked in two ways: against the sequential product of the library, which sums in the same order
   but in double, and by Freivalds' check, which needs no second product. */
#include "../../tiledmm.cuh"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, tmm_status status)
{
    fprintf(stderr, "product: %s: %s: %s\n", what, tmm_status_string(status), tmm_last_error());
    return 0;
}

/* A and B of numbers from -1 to 1, in float and, of the same values, in double. */
static void fill(float *X, double *exact, size_t count, unsigned state)
{
    size_t n;
    for (n = 0; n < count; n++) {
        state = state * 1664525u + 1013904223u;
        X[n] = (float)(state >> 8) / 8388608 - 1;
        exact[n] = X[n];
    }
}

/* single: A, B, C; exact: the same in double. */
static int multiply_and_check(long long n, float *const single[3], double *const exact[3])
{
    double error = 0, excess = 0;
    double bound =
        (double)n * (double)(n + 2) * 5.9604644775390625e-8; /* sums of n terms below 1 */
    tmm_status status;

    fill(single[0], exact[0], (size_t)(n * n), 1);
    fill(single[1], exact[1], (size_t)(n * n), 2);
    memset(single[2], 0xff, (size_t)(n * n) * sizeof(float)); /* NaN, if it stays as it is */

    status = tmm_smatmul(n, n, n, single[0], single[1], single[2]);
    if (status != TMM_OK) return fail("tmm_smatmul", status);

    status =
        tmm_dgemm_cpu(TMM_OP_N, TMM_OP_N, n, n, n, 1, exact[0], n, exact[1], n, 0, exact[2], n);
    if (status != TMM_OK) return fail("tmm_dgemm_cpu", status);
    status = tmm_max_abs_error(TMM_FLOAT, n, n, single[2], n, exact[2], n, &error);
    if (status != TMM_OK) return fail("tmm_max_abs_error", status);
    status =
        tmm_freivalds(TMM_FLOAT, n, n, n, single[0], n, single[1], n, single[2], n, 5, 1, &excess);
    if (status != TMM_OK) return fail("tmm_freivalds", status);

    printf("C = A B, %lld x %lld, float\n", n, n);
    printf("%-40s %10.2e\n", "largest error against double", error);
    printf("%-40s %10.2e\n", "what rounding may do at most", bound);
    printf("%-40s %10.2f\n", "Freivalds' check (wrong above 1)", excess);
    return error <= bound && excess <= 1;
}

/* Ends the program with a sentence if what it has printed cannot be written. A pipe that was closed
   needs none. */
static void check_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout) && (ftell(stdout) >= 0 || errno != EBADF)) return;
    if (errno != EPIPE)
        fprintf(stderr, "product: cannot write to standard output: %s\n", strerror(errno));
    _Exit(1);
}

int main(int count, char **words)
{
    char *end = NULL;
    long long n = count > 1 ? strtoll(words[1], &end, 10) : 256;
    float *single[3] = {NULL, NULL, NULL};
    double *exact[3] = {NULL, NULL, NULL};
    int i, enough = 1, good = 0;
    check_output();
    atexit(check_output);
    if (count > 2 || (end && (*end || end == words[1])) || n < 1 || n > 30000) {
        fprintf(stderr, "usage: product [N]    N from 1 to 30000\n");
        return 2;
    }
    for (i = 0; i < 3; i++) {
        single[i] = (float *)malloc((size_t)(n * n) * sizeof(float));
        exact[i] = (double *)malloc((size_t)(n * n) * sizeof(double));
        enough = enough && single[i] && exact[i];
    }
    if (enough)
        good = multiply_and_check(n, single, exact);
    else
        fprintf(stderr, "product: no memory for matrices of %lld x %lld\n", n, n);
    for (i = 0; i < 3; i++) {
        free(single[i]);
        free(exact[i]);
    }
    printf("Test %s\n", good ? "PASSED" : "FAILED");
    return !good;
}

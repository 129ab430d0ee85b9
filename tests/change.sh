#!/usr/bin/env bash
# The worked examples of CONTRIBUTING, carried out on a copy: another tile for KERNEL TENSOR, and one
# more instance of KERNEL SMALL, each by the one line that CONTRIBUTING shows. What is built then must
# have the new instance, use it, and multiply rightly.
. "$(dirname "$0")/tap.bash"
copy=$work/copy
mkdir "$copy" && cp -r src "$copy/"

cat >"$work/program.cu" <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define TMM_NO_INT
#define TMM__TENSOR_GUESS(M, instance, time) ((instance) == 0 ? 0 : (time)) /* the first, where it fits */
#include "tiledmm.cuh"
#define CHECK(T, letter, kernel, unit)                                                            \
    static double letter##_worst(int M, int N, int K)                                             \
    {                                                                                             \
        T *A = (T *)malloc(sizeof(T) * (M * K + K * N + M * N)), *B = A + M * K, *C = B + K * N;  \
        T *d = NULL;                                                                              \
        double worst = 0;                                                                         \
        for (int i = 0; i < M * K + K * N; i++) A[i] = (T)(rand() / (RAND_MAX / 2.0) - 1);        \
        for (int i = 0; i < M * N; i++) C[i] = (T)NAN;                                            \
        size_t bytes = sizeof(T) * (M * K + K * N + M * N);                                       \
        if (cudaMalloc((void **)&d, bytes) || cudaMemcpy(d, A, bytes, cudaMemcpyHostToDevice) ||  \
            tmm_##letter##gemm_with(kernel, TMM_OP_N, TMM_OP_N, M, N, K, 1, d, K, d + M * K, N, 0, \
                                    d + M * K + K * N, N, 0) ||                                   \
            cudaMemcpy(A, d, bytes, cudaMemcpyDeviceToHost))                                      \
            return INFINITY;                                                                      \
        for (int i = 0; i < M; i++)                                                               \
            for (int j = 0; j < N; j++) {                                                         \
                long double sum = 0, size = 0;                                                    \
                for (int k = 0; k < K; k++) {                                                     \
                    long double product = (long double)A[i * K + k] * B[k * N + j];               \
                    sum += product, size += fabsl(product);                                       \
                }                                                                                 \
                double part = (double)(fabsl(C[i * N + j] - sum) / ((K + 2) * (unit) * size));    \
                if (!(part <= worst)) worst = part;                                               \
            }                                                                                     \
        cudaFree(d);                                                                              \
        free(A);                                                                                  \
        return worst;                                                                             \
    }
CHECK(double, d, TMM_TENSOR, ldexp(1, -53))
CHECK(float, s, TMM_SMALL, ldexp(1, -24))
int main(void)
{
    static const int shapes[][3] = {{128, 64, 32}, {200, 150, 70}, {256, 128, 200}, {300, 260, 33}, {65, 33, 300}, {17, 100, 90}};
    double worst = 0;
    for (int n = 0; n < (int)(sizeof shapes / sizeof *shapes); n++) {
        const int *s = shapes[n];
        worst = fmax(worst, fmax(d_worst(s[0], s[1], s[2]), s_worst(s[0], s[1], s[2])));
    }
    printf("largest error, as a part of the bound: %g\n", worst);
    return !(worst <= 1);
}
END

# example NAME KERNEL: the line of CONTRIBUTING that begins with `sed` after the words "NAME:" is run,
# and then KERNEL must be launched by the program, which is counted.
example() {
    local name=$1 kernel=$2 command
    command=$(sed -n "/^    # $name\$/{n;s/^    //;p}" CONTRIBUTING.md)
    if [ -z "$command" ]; then
        not_ok "$name: CONTRIBUTING has no such example"
        return
    fi
    if ! (cd "$copy" && eval "$command" && bash src/join.sh) >"$work/join.txt" 2>&1; then
        not_ok "$name: joins" "$work/join.txt"
        return
    fi
    if cpu/cucc --count -I "$copy" "$work/program.cu" -o "$work/program" 2>"$work/build.txt" &&
        CUCC_COUNTS=$work/counts.txt "$work/program" >"$work/said.txt" 2>&1; then
        ok "$name: builds and multiplies rightly"
    else
        not_ok "$name: builds and multiplies rightly" "$work/build.txt" "$work/said.txt"
    fi
    if grep -q "$kernel" "$work/counts.txt" "$work/said.txt" 2>/dev/null; then
        ok "$name: $kernel has run"
    else
        not_ok "$name: $kernel has run" "$work/counts.txt" "$work/said.txt"
    fi
}
example "change a tile" tmm_dgemm_tensor_128x64
example "add an instance" tmm_sgemm_small_64x32
tap_done

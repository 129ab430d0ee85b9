#!/usr/bin/env bash
# The worked examples of CONTRIBUTING, carried out on a copy by the commands that it shows: another
# tile for KERNEL TENSOR, one more instance of KERNEL SMALL, a new kernel. What is built then must
# have the new instance or kernel, use it, and multiply rightly. Edits that a kernel does not take must
# not compile.
. "$(dirname "$0")/tap.bash"
copy=$work/copy
mkdir -p "$copy/tests" && cp -r src "$copy/" && cp -r tests/change "$copy/tests/"

cat >"$work/program.cu" <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define TMM_NO_INT
#define TMM__TENSOR_GUESS(M, instance, time) ((instance) == 0 ? 0 : (time)) /* the first, where it fits */
#include "tiledmm.cuh"
#define CHECK(T, letter, unit)                                                                    \
    static double letter##_worst(tmm_kernel kernel, int M, int N, int K)                          \
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
CHECK(double, d, ldexp(1, -53))
CHECK(float, s, ldexp(1, -24))
/* Multiplies by the kernels named, of float and double where there is such a kernel. */
int main(int count, char **names)
{
    static const int shapes[][3] = {{128, 64, 32}, {200, 150, 70}, {256, 128, 200}, {300, 260, 33}, {65, 33, 300}, {17, 100, 90}, {640, 32, 100}};
    double worst = count < 2 ? INFINITY : 0;
    for (int name = 1; name < count; name++) {
        int k = 0;
        while (k < TMM_KERNEL_COUNT && strcmp(names[name], tmm_kernel_string((tmm_kernel)k))) k++;
        for (int n = 0; n < (int)(sizeof shapes / sizeof *shapes); n++) {
            const int *s = shapes[n];
            worst = fmax(worst, d_worst((tmm_kernel)k, s[0], s[1], s[2]));
            if (k != TMM_TENSOR) worst = fmax(worst, s_worst((tmm_kernel)k, s[0], s[1], s[2]));
        }
    }
    printf("largest error, as a part of the bound: %g\n", worst);
    return !(worst <= 1);
}
END

# example NAME KERNEL INSTANCE: the commands of CONTRIBUTING between the words "NAME" and the next
# example are run. Then a program multiplies by KERNEL, and INSTANCE must be launched by it, which is
# counted.
example() {
    local name=$1 kernel=$2 instance=$3 commands
    commands=$(awk -v name="    # $name" '/^    # / || /^$/ { shows = 0 } shows { print } $0 == name { shows = 1 }' CONTRIBUTING.md)
    if [ -z "$commands" ]; then
        not_ok "$name: CONTRIBUTING has no such example"
        return
    fi
    if ! (cd "$copy" && set -e && eval "$commands" && bash src/join.sh) >"$work/join.txt" 2>&1; then
        not_ok "$name: joins" "$work/join.txt"
        return
    fi
    rm -f "$work/counts.txt"
    if cpu/cucc --count -I "$copy" "$work/program.cu" -o "$work/program" 2>"$work/build.txt" &&
        CUCC_COUNTS=$work/counts.txt "$work/program" "$kernel" >"$work/said.txt" 2>&1; then
        ok "$name: builds and multiplies rightly"
    else
        not_ok "$name: builds and multiplies rightly" "$work/build.txt" "$work/said.txt"
    fi
    if grep -q "$instance" "$work/counts.txt" "$work/said.txt" 2>/dev/null; then
        ok "$name: $instance has run"
    else
        not_ok "$name: $instance has run" "$work/counts.txt" "$work/said.txt"
    fi
}
example "change a tile" tensor tmm_dgemm_tensor_128x64
example "add an instance" small tmm_sgemm_small_64x32
example "add a kernel" strided tmm_sgemm_strided

# ---- edits that a kernel cannot follow -------------------------------------------------------------
# must_not_compile EDIT FILE SENTENCE: after this edit by sed of src/tiledmm/FILE there is one sentence
# for the compiler's error, which names the number to change.
printf '#define TMM_NO_DOUBLE\n#define TMM_NO_INT\n#include "tiledmm.cuh"\n' >"$work/float.cu"
must_not_compile() {
    local edit=$1 file=$2 sentence=$3
    rm -rf "$copy/src" && cp -r src "$copy/" && sed -i "$edit" "$copy/src/tiledmm/$file"
    if cmp -s "src/tiledmm/$file" "$copy/src/tiledmm/$file" || ! bash "$copy/src/join.sh" >"$work/join.txt" 2>&1; then
        not_ok "$edit: is an edit and joins" "$work/join.txt"
    elif cpu/cucc -O0 -I "$copy" -c "$work/float.cu" -o "$work/float.o" >"$work/build.txt" 2>&1; then
        not_ok "$edit: does not compile"
    elif grep -qF "$sentence" "$work/build.txt"; then
        ok "$edit: does not compile, with a sentence"
    else
        not_ok "$edit: does not compile, with a sentence" "$work/build.txt"
    fi
}
list='s/_(4, 3, 3) _(5, 4, 4)/&' # of the instances of NARROW
must_not_compile "$list _(3, 5, 5)/" kernels/narrow/sizes.h "TMM__NARROW_LIST: at most 4 groups"
must_not_compile "$list _(3, 2, 2)/" kernels/narrow/sizes.h "TMM__NARROW_LIST: instance 2 must have 3 or 4 groups"
number() { must_not_compile "s/TMM__NARROW_$1 = [0-9]*/TMM__NARROW_$1 = $2/" kernels/narrow/sizes.h "$3"; }
number DEPTH 16 "TMM__NARROW_DEPTH must be 8"
number DEPTH 4 "TMM__NARROW_DEPTH must be 8"
number THREADS 256 "must be 128, 64 and 512"
number LINES 256 "must be 128, 64 and 512"
number PLACES 128 "must be 128, 64 and 512"
number STAGES 1 "TMM__NARROW_STAGES must be 2 at least"
number STAGES 6 "fit into the 99 KB"
must_not_compile 's/\(TMM__NARROW_PITCH = .*\) + 4/\1 + 2/' kernels/narrow/sizes.h "TMM__NARROW_PITCH must have room"
tap_done

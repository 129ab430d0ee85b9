#!/usr/bin/env bash
# The first three kernels of tiledmm.cuh are made for pasting. Each is cut out of the header, gets
# the defines that its comment names above it and a short main below it, and must compile without
# warnings and multiply rightly: on the CPU, and with nvcc where there is one.
# shellcheck disable=SC2317,SC2329 # some functions are only called through check
. "$(dirname "$0")/tap.bash"

cpu=(cpu/cucc -Xcompiler "-Wall,-Wextra,-Werror")
gpu=(nvcc -arch=sm_80 -Werror all-warnings -Xcompiler "-Wall,-Wextra")
have_gpu && gpu[1]=-arch=native

# A piece: from the comment of its section to the end of the kernel.
for kernel in GLOBAL SHARED REGISTER; do
    sed -n "/=== KERNEL $kernel ===/,/^\/\* END OF KERNEL/p" tiledmm.cuh >"$work/$kernel.piece"
    if [ "$(grep -c '^TMM_KERNEL void' "$work/$kernel.piece")" = 1 ] && ! grep -q '#include' "$work/$kernel.piece"; then
        ok "KERNEL $kernel can be cut out: one kernel, no inclusion"
    else
        not_ok "KERNEL $kernel can be cut out: one kernel, no inclusion" "$work/$kernel.piece"
    fi
done

# What its comment asks to define, and no more.
names_to_define() {
    awk '/To paste:/ { on = 1 } on { print } on && /\*\// { exit }' "$work/$1.piece" |
        grep -o '#define TMM_[A-Z]*' | sed 's/#define //'
}

# A 100 x 90 matrix times a 90 x 70 one; the bound for each element is (K + 2) u |A||B| with u the
# unit roundoff.
main_with() {
    cat <<END
#include <stdio.h>
#include <stdlib.h>
#include <math.h>
enum { M = 100, N = 70, K = 90 };
static TMM_TYPE X[M * K + K * N + M * N], *A = X, *B = X + M * K, *C = X + M * K + K * N, *d;
int main(void)
{
    for (int n = 0; n < M * K + K * N; n++) X[n] = (TMM_TYPE)(rand() / (RAND_MAX / 2.0) - 1);
    if (cudaMalloc((void **)&d, sizeof X) || cudaMemcpy(d, X, sizeof X, cudaMemcpyHostToDevice)) return 2;
    $1(M, N, K, 1, d, K, 1, 0, d + M * K, N, 1, 0, 0, d + M * K + K * N, N, 0);
    if (cudaGetLastError() || cudaMemcpy(X, d, sizeof X, cudaMemcpyDeviceToHost)) return 2;
    cudaFree(d);
    double worst = 0, u = sizeof *X == 4 ? 5.9604644775390625e-8 : 1.1102230246251565e-16;
    for (int n = 0; n < M * N; n++) {
        long double sum = 0, size = 0, product;
        for (int k = 0; k < K; k++, sum += product, size += fabsl(product))
            product = (long double)A[n / N * K + k] * B[k * N + n % N];
        double error = (double)(fabsl(C[n] - sum) / ((K + 2) * u * size));
        if (!(error <= worst)) worst = error;
    }
    printf("largest error, as a part of the bound: %g\n", worst);
    return !(worst <= 1);
}
END
}

# write_program FILE "KERNEL..." "NAME=VALUE..." LAUNCH
write_program() {
    local file=$1 kernels=$2 values=$3 launch=$4 kernel name
    {
        for kernel in $kernels; do names_to_define "$kernel"; done | sort -u | while read -r name; do
            case " $values " in
            *" $name="*) echo "$values" | tr ' ' '\n' | sed -n "s/^$name=/#define $name /p" ;;
            *) echo "#define $name this_test_does_not_know_it" ;;
            esac
        done
        for kernel in $kernels; do cat "$work/$kernel.piece"; done
        main_with "$launch"
    } >"$file"
}

compiles_and_runs() { # PROGRAM COMMAND...
    local program=$1
    shift
    "$@" -o "$program" && "$program"
}

# paste KERNELS VALUES LAUNCH
paste() {
    local name="$1 alone, $2" program
    case $1 in *" "*) name="$1 in one file, $2" ;; esac
    program=$work/$(echo "$1 $2" | tr ' ' -)
    write_program "$program.cu" "$@"
    check "$name: CPU runner" compiles_and_runs "$program.cpu" "${cpu[@]}" "$program.cu"
    if ! have nvcc; then
        skip "$name: nvcc" "nvcc is not installed"
    elif have_gpu; then
        check "$name: nvcc and GPU" compiles_and_runs "$program.gpu" "${gpu[@]}" "$program.cu"
    else
        check "$name: nvcc (compiled and linked; no GPU here to run it)" \
            "${gpu[@]}" "$program.cu" -o "$program.gpu"
    fi
}

# The number of tiles that cover C, in one row
tiles() { echo "((M + $1 - 1) / ($1)) * ((N + $1 - 1) / ($1))"; }
for type in float double; do
    paste GLOBAL "TMM_TYPE=$type" "tmm_gemm_global<<<((M + 7) / 8) * ((N + 31) / 32), dim3(32, 8)>>>"
    for tile in 16 24; do
        paste SHARED "TMM_TYPE=$type TMM_TILE=$tile" \
            "tmm_gemm_shared<<<$(tiles TMM_TILE), dim3(TMM_TILE, TMM_TILE)>>>"
    done
    for block in 4 8; do
        paste REGISTER "TMM_TYPE=$type TMM_BLOCK=$block" "tmm_gemm_register<<<$(tiles "16 * TMM_BLOCK"), 256>>>"
    done
done
paste "GLOBAL SHARED REGISTER" "TMM_TYPE=float TMM_TILE=16 TMM_BLOCK=8" \
    "tmm_gemm_shared<<<$(tiles TMM_TILE), dim3(TMM_TILE, TMM_TILE)>>>"

tap_done

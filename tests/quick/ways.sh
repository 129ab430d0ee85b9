#!/usr/bin/env bash
# The ways to get at the headers, once each, for ./build.sh test --quick: by g++ alone; what a tool is
# missing for is skipped. cmake.sh, inclusion.sh, paste.sh, python.sh and nvrtc.sh look closer.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/../tap.bash"
compile() { cpu/cucc -O0 -DTMM_SIMPLE -I. -Xcompiler -Wall,-Wextra,-Werror "$@"; }
link() { cpu/cucc "$work/$1.o" "$work/$2.o" -o "$work/$1"; } # OBJECT LIBRARY
says() {                                                       # LINE COMMAND...: the last one that it prints
    "${@:2}" >"$work/said.txt" && cat "$work/said.txt" && [ "$(tail -n 1 "$work/said.txt")" = "$1" ]
}
builds_and_says() { compile "$work/$1.cu" -o "$work/$1" && says "$2" "$work/$1"; } # PROGRAM LINE

check "the headers are joined from the parts in src/" ./build.sh join --check

# ---- C and C++: declarations alone, the rest from one .cu file -------------------------------------
strict=(-pedantic -Wall -Wextra -Werror)
printf '#define RAYT_IMPLEMENTATION\n#include "raytrace.cuh"\n' >"$work/rayt.cu"
check 'extern "C": tiledmm.cuh compiles' compile -c demos/c_caller/library.cu -o "$work/library.o"
check 'extern "C": raytrace.cuh compiles' compile -c "$work/rayt.cu" -o "$work/rayt.o"
check "C99: demos/c_caller/product.c compiles" gcc -std=c99 "${strict[@]}" -c demos/c_caller/product.c -o "$work/product.o"
check "C++: demos/c_caller/walks.cpp compiles" g++ "${strict[@]}" -c demos/c_caller/walks.cpp -o "$work/walks.o"
check "C99: demos/raytrace_c.c compiles" gcc -std=c99 "${strict[@]}" -c demos/raytrace_c.c -o "$work/raytrace_c.o"
for program in product walks; do
    check "$program links" link $program library
    check "$program passes" says "Test PASSED" "$work/$program"
done
check "raytrace_c links" link raytrace_c rayt
check "raytrace_c passes" says "Test PASSED" "$work/raytrace_c" "$work/picture.png"

# ---- CUDA: a type, a tile and an epilogue of one's own ---------------------------------------------
cat >"$work/own.cu" <<'END'
#define TMM_NO_READY_MADE
#define TMM_TYPE unsigned
#define TMM_NAME u
#define TMM_TILE 24
#define TMM_EPILOGUE(value, row, col) ((value) + 100 * (row) + (col))
#include "tiledmm.cuh"
int main(void)
{
    unsigned a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, c[4];
    if (tmm_umatmul(2, 2, 3, a, b, c) != TMM_OK) printf("%s\n", tmm_last_error());
    printf("%u %u %u %u\n", c[0], c[1], c[2], c[3]);
    return 0;
}
END
check "a type, a tile and an epilogue of one's own" builds_and_says own "4 6 110 112"

# ---- a kernel pasted into a program -----------------------------------------------------------
{
    printf '#define TMM_TYPE float\n#define TMM_TILE 16\n'
    sed -n '/=== KERNEL SHARED ===/,/^\/\* END OF KERNEL/p' tiledmm.cuh
    cat <<'END'
#include <stdio.h>
int main(void)
{
    enum { M = 20, N = 30, K = 40 };
    float *A, *B, *C;
    int wrong = 0;
    if (cudaMallocManaged(&A, M * K * 4) || cudaMallocManaged(&B, K * N * 4) || cudaMallocManaged(&C, M * N * 4)) return 1;
    for (int n = 0; n < M * K; n++) A[n] = (float)(n % 7);
    for (int n = 0; n < K * N; n++) B[n] = (float)(n % 5);
    tmm_gemm_shared<<<4, dim3(TMM_TILE, TMM_TILE)>>>(M, N, K, 1, A, K, 1, 0, B, N, 1, 0, 0, C, N, 0);
    if (cudaDeviceSynchronize()) return 1;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++) sum += A[i * K + k] * B[k * N + j];
            wrong += C[i * N + j] != sum;
        }
    printf("%d wrong\n", wrong);
    return cudaFree(A) || cudaFree(B) || cudaFree(C);
}
END
} >"$work/paste.cu"
check "a kernel pasted into a program" builds_and_says paste "0 wrong"

# ---- an installation -------------------------------------------------------------------------------
installed() (
    ./build.sh install "$PWD/$work/usr" && export CUCC_CACHE=$PWD/build/cucc && cd "$work" &&
        usr/bin/cucc -O0 -DTMM_SIMPLE -Iusr/include ../../../tests/cmake/main.c ../../../tests/cmake/library.cu -o installed &&
        ./installed device
)
check "./build.sh install: the installed headers and cucc make a program" installed
if have cmake; then
    printf 'cmake_minimum_required(VERSION 3.18)\nproject(ask LANGUAGES NONE)\nfind_package(tiledmm 0.1 REQUIRED)\n' >"$work/CMakeLists.txt"
    check "CMake: find_package finds it" cmake -S "$work" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$PWD/$work/usr"
else
    skip "CMake" "cmake is not installed"
fi

# ---- Python and NVRTC ------------------------------------------------------------------------------
helps() { python3 "$1" --help | grep '^usage: '; }
if have python3; then
    export PYTHONDONTWRITEBYTECODE=1
    for demo in demos/python/matmul_*.py demos/torch_extension.py; do check "$demo --help" helps "$demo"; done
else
    skip "Python" "python3 is not installed"
fi
if have nvcc; then
    check "NVRTC, the simple kernels" bash tests/nvrtc.sh quick
else
    skip "NVRTC" "nvcc is not installed"
fi
tap_done

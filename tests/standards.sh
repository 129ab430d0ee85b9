#!/usr/bin/env bash
# Both headers, with all options, are taken without a warning by each standard of their languages:
# declarations as C99 to C17 and C++11 to C++20; all of it by nvcc as C++11 to C++20.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"
strict=(-pedantic -Wall -Wextra -Werror)
options=(-DTMM_FLOAT_TENSOR -DTMM_DOUBLE_TENSOR -DTMM_WITH_HALF -DTMM_WITH_BFLOAT16 -DTMM_WITH_EPILOGUE
    -DTMM_WITH_SYRK -DRAYT_WITH_TRACE)
strict+=("${options[@]}")
both='#include "tiledmm.cuh"
#include "raytrace.cuh"'
printf '%s\nint main(void) { return (int)TMM_OK; }\n' "$both" | tee "$work/main.c" >"$work/main.cpp"
printf '%s\nint main(void)\n{\n    float x[1] = {0};\n    return tmm_smatmul(1, 1, 1, x, x, x);\n}\n' "$both" >"$work/all.cu"
for standard in c99 c11 c17; do
    check "gcc -std=$standard: declarations" gcc -std=$standard "${strict[@]}" -I. -c "$work/main.c" -o "$work/c.o"
done
for standard in c++11 c++14 c++17 c++20; do
    check "g++ -std=$standard: declarations" g++ -std=$standard "${strict[@]}" -I. -c "$work/main.cpp" -o "$work/cpp.o"
done
# Elsewhere the runner is C++17.
check "CPU runner, -std=c++20: all of it" cpu/cucc -std=c++20 -O0 "${options[@]}" -Xcompiler "-Wall,-Wextra,-Werror" -I. \
    -c "$work/all.cu" -o "$work/cpu.o"
if have nvcc; then
    faster=()
    nvcc --help | grep -q -e -Ofc && faster=(-Ofc=max) # warnings come from what is before the optimizer
    all=" $(turns c++11 c++20) "
    for standard in c++11 c++14 c++17 c++20; do
        part=(-DTMM_SIMPLE) name="but for the fast kernels and options"
        # what passes as C++11 and C++20; C++17 is what nvcc takes everywhere else
        [[ $all = *" $standard "* ]] && part=("${options[@]}") name="all of it"
        check "nvcc -std=$standard: $name" nvcc -std=$standard "${faster[@]}" "${part[@]}" -arch=sm_80 -Werror all-warnings \
            -Xcompiler "-Wall,-Wextra" -I. -c "$work/all.cu" -o "$work/gpu.o"
    done
    # nvcc -G ignores setmaxnreg, and says of kernels with wgmma that they have too few registers.
    has_wgmma() {
        nvcc "$@" -E -D__CUDA_ARCH__=900 -D__CUDA_ARCH_FEAT_SM90_ALL -I. "${options[@]}" "$work/all.cu" \
            >"$work/all.ii" 2>"$work/ignored.txt" &&
            grep -q wgmma.mma_async "$work/all.ii"
    }
    only_without_G() { has_wgmma && ! has_wgmma -G && [ -s "$work/all.ii" ]; }
    check "nvcc -G: kernels by wgmma are left out" only_without_G
else
    skip "nvcc: all of it, C++11 to C++20; -G" "nvcc is not installed"
fi
tap_done

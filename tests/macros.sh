#!/usr/bin/env bash
# A program may have defined N, TILE or small before it includes a header: the header must be what it
# is without that, in every way to include it, and the program's macros must be as they were after it.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

# ---- the text of the headers ----------------------------------------------------------------------
# Every word in capitals that a header has, every letter, and what windows.h defines. Without comments
# and strings, so that what remains is a name, or a macro of a system's header.
mkdir -p "$work/empty/sys"
for header in cuda_runtime cuda_fp16 cuda_bf16 limits math stdarg stddef stdio stdlib string errno pthread sched unistd sys/stat; do
    : >"$work/empty/$header.h"
done
usual=(N M K A B C X T D L P R V W i n TILE WIDTH HEIGHT SIZE BLOCK ROWS COLS DEPTH STAGES THREADS WARPS KERNEL MAX MIN PI)
for header in tiledmm raytrace; do
    g++ -fpreprocessed -dD -E -P -x c++ $header.cuh 2>"$work/ignored.txt" | sed 's/"\([^"\\]\|\\.\)*"//g' |
        grep -oE '\b([A-Z]\w*|[a-z])\b' | grep -vE '^((TMM|RAYT)_\w*|CUstream_st|NULL|FILE|EOF|S_ISREG|HUGE_VAL|(INT|LLONG)_MAX|PTHREAD_\w*)$' |
        cat - <(printf '%s\n' "${usual[@]}" near far small half min max alpha beta gamma bias lda ldb ldc row col batch count steps) | sort -u >"$work/$header.words"
done
text() { # HEADER OPTIONS...: what a compiler sees
    local header=$1
    shift
    g++ -E -P -x c++ -nostdinc -I"$work/empty" -I. "$@" - <<<"#include \"$header.cuh\"" | grep -v '^#pragma p[a-z]*_macro('
}
same_text() { # HEADER OPTIONS...
    local header=$1 hostile
    shift
    mapfile -t hostile < <(sed 's/.*/-D&=DEFINED_BY_THE_PROGRAM/' "$work/$header.words")
    text "$header" "$@" >"$work/without.i" && text "$header" "$@" "${hostile[@]}" >"$work/with.i" || return 1
    [ "$(wc -l <"$work/with.i")" -gt 90 ] && [ ${#hostile[@]} -gt 40 ] && diff "$work/without.i" "$work/with.i"
}
device=(-D__CUDACC__ -D__NVCC__ -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0)
options=(-DTMM_FLOAT_TENSOR -DTMM_DOUBLE_TENSOR -DTMM_WITH_HALF -DTMM_WITH_BFLOAT16 -DTMM_WITH_EPILOGUE
    -DTMM_WITH_SYRK -DRAYT_WITH_TRACE)
for header in tiledmm raytrace; do
    check "$header.cuh: the same declarations whatever is defined" same_text $header "${options[@]}"
    check "$header.cuh: the same host code" same_text $header "${device[@]}" "${options[@]}"
    check "$header.cuh: the same for Windows" same_text $header "${device[@]}" -D_WIN32
    check "$header.cuh: the same for the CPU runner" same_text $header -D__CUDACC__ -D__CUCC__ "${options[@]}"
    for arch in 700 800 900; do
        check "$header.cuh: the same kernels, architecture $arch" same_text $header "${device[@]}" "${options[@]}" \
            -D__CUDA_ARCH__=$arch -D__CUDA_ARCH_FEAT_SM90_ALL
    done
    # NVRTC has no push_macro.
    refused() {
        text "$header" -D__CUDACC__ -D__CUDACC_RTC__ -D__CUDA_ARCH__=800 -D"$1" 2>&1 >"$work/rtc.i" |
            grep "with NVRTC define macros such as $2 after the #include"
    }
    if [ $header = tiledmm ]; then words="N or TILE"; else words="width or n"; fi
    for name in ${words/ or/}; do check "$header.cuh: NVRTC refuses $name with a sentence" refused "$name" "$words"; done
done

# ---- compilers ------------------------------------------------------------------------------------
# All of these macros at once, from a program's first lines; T is a type, and a tile is asked for.
values=$({
    sed -n 's/^#undef \([A-Za-z]\w*\)$/\1/p' tiledmm.cuh raytrace.cuh | grep -viE '^(tmm|rayt)_'
    printf '%s\n' "${usual[@]}"
} | sort -u | grep -vE '^(near|far|small|min|max|T|i)$')
{
    for name in $values; do echo "#define $name 1024"; done
    echo '#define T float
#define small char
#define near
#define far
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))'
} >"$work/hostile.h"
{
    for name in $values; do
        printf '#if %s != 1024\n#error "%s is not as it was"\n#endif\n' "$name" "$name"
    done
    echo 'static small near far as_before[max(1, 2) - min(0, 1) == 2 && sizeof(T) == 4 ? 1 : -1];'
} >"$work/as_before.h"
{
    echo '#include "hostile.h"
#include "tiledmm.cuh"
#include "raytrace.cuh"
#include "as_before.h"
#define TMM_TYPE T
#define TMM_NAME own
#include "tiledmm.cuh"
#include "once_more.h"
small *caller(void);
small *caller(void)
{
    return as_before + sizeof once_more;
}'
} >"$work/caller.c"
sed 's/as_before\[/once_more[/' "$work/as_before.h" >"$work/once_more.h"
cp "$work/caller.c" "$work/caller.cpp"
# An epilogue may use the program's macros, and means them, also where a kernel has such a name.
cat >"$work/program.cu" <<'END'
#include "hostile.h"
#include "tiledmm.cuh"
#include "raytrace.cuh"
#include "as_before.h"
#define TMM_TYPE T
#define TMM_NAME own
#define TMM_EPILOGUE(value, row, col) min((value) + K, N + 3)
#include "tiledmm.cuh"
#include "once_more.h"
int main(void)
{
    static T one[6] = {1, 2, 3, 4, 5, 6}, two[6] = {1, 0, 0, 1, 1, 1}, sums[4], clamped[4];
    static rayt_sphere ball;
    static unsigned char image[4 * 4 * 4];
    if (sizeof as_before + sizeof once_more != 2) return 5;
    if (tmm_smatmul(2, 2, 3, one, two, sums) != TMM_OK || sums[0] != 4 || sums[3] != 11) return 2;
    if (tmm_ownmatmul(2, 2, 3, one, two, clamped) != TMM_OK || clamped[0] != 1027 || clamped[3] != 1027) return 3;
    one[0] = -3;
    if (tmm_ownmatmul(2, 2, 3, one, two, clamped) != TMM_OK || clamped[0] != 1024) return 4;
    return rayt_render_host(RAYT_CULLED, &ball, 1, image, 4, 4, NULL, NULL) != RAYT_OK;
}
END
printf '#define %s\n' TMM_WITH_HALF TMM_WITH_BFLOAT16 TMM_IMPLEMENTATION RAYT_IMPLEMENTATION RAYT_WITH_TRACE | cat - "$work/caller.c" >"$work/emits.cu"
printf '#define TMM_EXTERN\n#define RAYT_EXTERN\n' | cat - "$work/caller.c" >"$work/declares.cu"

warnings=(-Wall -Wextra -Werror -I"$work" -I.)
for compiler in gcc clang; do
    if have $compiler; then
        check "$compiler -std=c99 takes both headers" $compiler -std=c99 -pedantic "${warnings[@]}" -c "$work/caller.c" -o "$work/c.o"
    else
        skip "$compiler -std=c99 takes both headers" "$compiler is not installed"
    fi
done
for compiler in g++ clang++; do
    if have $compiler; then
        check "$compiler -std=c++11 takes both headers" $compiler -std=c++11 "${warnings[@]}" -c "$work/caller.cpp" -o "$work/cpp.o"
    else
        skip "$compiler -std=c++11 takes both headers" "$compiler is not installed"
    fi
done
cpu=(cpu/cucc -O0 -DTMM_SIMPLE -DTMM_NO_DOUBLE -DTMM_NO_INT -Xcompiler "-Wall,-Wextra,-Werror" -I"$work" -I.)
check "CPU runner: a program compiles" "${cpu[@]}" "$work/program.cu" -o "$work/program"
check "CPU runner: and computes what it should" "$work/program"
check "CPU runner: _IMPLEMENTATION compiles" "${cpu[@]}" -c "$work/emits.cu" -o "$work/emits.o"
check "CPU runner: _EXTERN compiles" "${cpu[@]}" -c "$work/declares.cu" -o "$work/declares.o"
if have nvcc; then
    gpu=(nvcc -arch=sm_80 -DTMM_NO_DOUBLE -DTMM_NO_INT -Werror all-warnings -Xcompiler "-Wall,-Wextra" -I"$work" -I.)
    have_gpu && gpu[1]=-arch=native
    nvcc --help | grep -q -e -Ofc && ! have_gpu && gpu+=(-Ofc=max)
    check "nvcc: a program compiles" "${gpu[@]}" "$work/program.cu" -o "$work/program.gpu"
    if have_gpu; then
        check "nvcc: and computes what it should" "$work/program.gpu"
    else
        skip "nvcc: and computes what it should" "no GPU here"
    fi
    check "nvcc: _IMPLEMENTATION compiles" "${gpu[@]}" -DTMM_SIMPLE -c "$work/emits.cu" -o "$work/emits.o"
    check "nvcc: _EXTERN compiles" "${gpu[@]}" -c "$work/declares.cu" -o "$work/declares.o"
else
    skip "nvcc: a program, _IMPLEMENTATION and _EXTERN compile" "nvcc is not installed"
fi
tap_done

#!/usr/bin/env bash
# The three ways to include tiledmm.cuh, in one program: a C99 and a C++ file with declarations
# only, two plain .cu files, one with TMM_EXTERN, one with TMM_IMPLEMENTATION (tests/inclusion/).
# Built for the CPU and run; with nvcc built as well, and run where there is a GPU. And what can go
# wrong in a build: a second inclusion, symbols that nobody asked for, extern "C" around everything,
# macros that do not fit.
# shellcheck disable=SC2317,SC2329 # many functions are only called through check
. "$(dirname "$0")/tap.bash"

# relay NAME COMMAND...: the results of a TAP program, numbered anew
relay() {
    local name=$1 line results=0 status before=$failures
    shift
    timeout "$patience" "$@" >"$work/tap.txt" 2>&1
    status=$?
    while IFS= read -r line; do
        case $line in
        "ok "*) results=$((results + 1)) && ok "$name: ${line#ok * - }" ;;
        "not ok "*) results=$((results + 1)) && not_ok "$name: ${line#not ok * - }" ;;
        1..*) [ "$line" = "1..$results" ] && [ $((status != 0)) = $((failures > before)) ] && return ;;
        *) echo "# $line" ;;
        esac
    done <"$work/tap.txt"
    not_ok "$name: ended early, exit status $status, after $results results"
}

cpu=(cpu/cucc -O0 -I. -Xcompiler "-Wall,-Wextra,-Werror")
gpu=(nvcc -I. -arch=sm_80 -Werror all-warnings -Xcompiler "-Wall,-Wextra")
have_gpu && gpu[2]=-arch=native
# what does not run here need not be optimised
faster=()
! have nvcc || { nvcc --help | grep -q -e -Ofc && faster=(-Ofc=max); }
have_gpu || gpu+=("${faster[@]}")
plain_files="plain_a plain_b extern impl"
no_nvcc="nvcc is not installed"
# One file with all kernels is enough, and of nvcc one way to link: in four days each file has both.
today=" $(turns "plain_a rdc=false" "impl rdc=true" "impl rdc=false" "plain_a rdc=true") "
simple() { [[ $today = *" $1 "* ]] || echo -DTMM_SIMPLE; } # FILE

# nvcc_objects FOLDER FLAGS: in the background, since nothing here takes longer
nvcc_objects() {
    local folder=$work/$1 file
    shift
    mkdir -p "$folder"
    for file in $plain_files; do
        # shellcheck disable=SC2046 # one word or none
        "${gpu[@]}" "$@" $(simple "$file") -c "tests/inclusion/$file.cu" -o "$folder/$file.o" >"$folder/$file.txt" 2>&1
    done
}
if have nvcc; then
    [[ $today != *rdc=false* ]] || nvcc_objects nvcc -rdc=false &
    whole=$!
    [[ $today != *rdc=true* ]] || nvcc_objects nvcc-rdc -rdc=true -DTMM_SIMPLE &
    separate=$!
fi

# ---- one program, on the CPU runner ---------------------------------------------------------------
# A system may have CUDA's headers where every compiler looks: in front of them are some that fail.
mkdir "$work/trap"
for header in cuda_runtime cuda_runtime_api cuda vector_types driver_types; do
    echo '#error "this includes a header of CUDA"' >"$work/trap/$header.h"
done
echo '#include <cuda_runtime.h>' >"$work/trap.c"
check "a file that includes a header of CUDA would be noticed" \
    sh -c "! gcc -I'$work/trap' -c '$work/trap.c' -o '$work/trap.o'"
check "main.c compiles as C99 without CUDA's headers" \
    gcc -I"$work/trap" -std=c99 -pedantic -Wall -Wextra -Werror -c tests/inclusion/main.c -o "$work/main.o"
check "caller.cpp compiles as C++ without CUDA's headers" \
    g++ -I"$work/trap" -Wall -Wextra -Werror -c tests/inclusion/caller.cpp -o "$work/caller.o"
for file in $plain_files; do
    # shellcheck disable=SC2046 # one word or none
    check "CPU runner: $file.cu compiles" "${cpu[@]}" $(simple "$file") -c "tests/inclusion/$file.cu" -o "$work/$file.o"
done
link() { # PROGRAM FOLDER COMMAND...: the six files, of which the C and C++ objects serve all
    local program=$1 folder=$2
    shift 2
    "$@" "$work/main.o" "$work/caller.o" "$folder"/{plain_a,plain_b,extern,impl}.o -o "$program"
}
check "CPU runner: the six files link" link "$work/program.cpu" "$work" cpu/cucc
relay "CPU runner" "$work/program.cpu"

# ---- what an object file has in it ----------------------------------------------------------------
# Only the buffer of tmm_last_error and the memory pools of devices are shared among plain files.
exports_nothing() {
    nm -g --defined-only "$1" >"$work/symbols.txt" && grep -q plain_a_multiplies "$work/symbols.txt" || return 1
    # cucc: the CPU runner's own templates, with a type of the library in their names
    ! grep tmm_ "$work/symbols.txt" | grep -v -e tmm__message -e tmm__pool -e tmm__make_pool -e cucc
}
check "CPU runner: a plain .cu exports no function of the library" exports_nothing "$work/plain_a.o"

cat >"$work/own_only.cu" <<'END'
#define TMM_IMPLEMENTATION
#define TMM_NO_READY_MADE
#define TMM_TYPE unsigned
#define TMM_NAME u
#include "tiledmm.cuh"
END
makes_own_only() { # OBJECT COMMAND...
    local object=$1
    shift
    "$@" -c "$work/own_only.cu" -o "$object" && nm "$object" >"$work/symbols.txt" || return 1
    grep -q 'T tmm_ugemm$' "$work/symbols.txt" && ! grep -E 'tmm_[sdi](gemm|matmul)' "$work/symbols.txt"
}
makes_all_types() {
    local letter
    nm "$1" >"$work/symbols.txt" || return 1
    for letter in s d i u; do
        grep -q "T tmm_${letter}gemm\$" "$work/symbols.txt" || return 1
    done
}
check "CPU runner: TMM_IMPLEMENTATION emits float, double, int and the type of one's own" \
    makes_all_types "$work/impl.o"
check "CPU runner: TMM_NO_READY_MADE leaves only the type of one's own" \
    makes_own_only "$work/own_only.o" "${cpu[@]}"

# ---- a second inclusion ---------------------------------------------------------------------------
cat >"$work/twice.cu" <<'END'
#include "tiledmm.cuh"
#include "tiledmm.cuh"
#define TMM_TYPE unsigned
#define TMM_NAME u
#include "tiledmm.cuh"
#include "tiledmm.cuh"
int main(void)
{
    unsigned a = 6, b = 7, c = 0;
    if (tmm_ugemm_cpu(TMM_OP_N, TMM_OP_N, 1, 1, 1, 1, &a, 1, &b, 1, 0, &c, 1) != TMM_OK) return 2;
    return c != 42;
}
END
cat >"$work/twice.c" <<'END'
#include "tiledmm.cuh"
#include "tiledmm.cuh"
int main(void)
{
    return tmm_smatmul(0, 0, 0, 0, 0, 0);
}
END
compiles_and_runs() { # PROGRAM COMMAND...
    local program=$1
    shift
    "$@" -o "$program" && "$program"
}
check "included twice: CPU runner" compiles_and_runs "$work/twice.cpu" "${cpu[@]}" -DTMM_SIMPLE "$work/twice.cu"
check "included twice: C99" gcc -I"$work/trap" -std=c99 -pedantic -Wall -Wextra -Werror -I. -c "$work/twice.c" -o "$work/twice.o"

# ---- sections left out ----------------------------------------------------------------------------
cat >"$work/less.cu" <<'END'
#define TMM_SIMPLE
#define TMM_NO_HOST
#include "tiledmm.cuh"
#include "tiledmm.cuh"
int main(void)
{
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 0, 1, 1, 1}, c[4];
    if (tmm_smatmul(2, 2, 3, a, b, c) != TMM_OK || c[0] != 4 || c[3] != 11) return 2;
    for (int kernel = TMM_PIPELINED; kernel <= TMM_TENSOR; kernel++)
        if (tmm_sgemm_with((tmm_kernel)kernel, TMM_OP_N, TMM_OP_N, 2, 2, 3, 1, a, 3, b, 2, 0, c, 2,
                           0) != TMM_ERROR_UNSUPPORTED ||
            strstr(tmm_last_error(), "TMM_SIMPLE") == NULL)
            return 3;
    return 0;
}
END
leaves_out() { # OBJECT COMMAND...
    local object=$1
    shift
    "$@" -c "$work/less.cu" -o "$object" && nm -C "$object" >"$work/symbols.txt" || return 1
    grep -q gemm_register_128 "$work/symbols.txt" && ! grep -E 'pipelined|skinny|tmm__worker|gemm_host' "$work/symbols.txt"
}
check "CPU runner: TMM_SIMPLE and TMM_NO_HOST leave out what they say" leaves_out "$work/less.o" "${cpu[@]}"
check "CPU runner: and say so" compiles_and_runs "$work/less.cpu" "${cpu[@]}" "$work/less.cu"
cat >"$work/less.c" <<'END'
#define TMM_NO_HOST
#include "tiledmm.cuh"
void tmm_sgemm_host(void);
END
check "C99: TMM_NO_HOST declares no tmm_sgemm_host" \
    gcc -I"$work/trap" -std=c99 -pedantic -Wall -Wextra -Werror -I. -c "$work/less.c" -o "$work/less.c.o"

# --- an epilogue from C ---
cat >"$work/epilogue.c" <<'END'
#define TMM_WITH_EPILOGUE
#define TMM_NO_INT
#include "tiledmm.cuh"
int main(void)
{
    tmm_epilogue e = {0};
    double C[4] = {1, -2, 3, -4}, bias[2] = {0.5, 0};
    e.col_bias = bias, e.activation = TMM_RELU;
    if (tmm_dgemm_cpu_epilogue(TMM_OP_N, TMM_OP_N, 2, 2, 0, 1, C, 1, C, 2, 1, C, 2, &e)) return 1;
    return !(C[0] == 1.5 && C[1] == 0 && C[2] == 3.5 && C[3] == 0);
}
END
printf '#define TMM_WITH_EPILOGUE\n#define TMM_SIMPLE\n#define TMM_NO_INT\n#define TMM_IMPLEMENTATION\n#include "tiledmm.cuh"\n' >"$work/epilogue.cu"
epilogue_from_c() {
    gcc -I"$work/trap" -std=c99 -pedantic -Wall -Wextra -Werror -I. -c "$work/epilogue.c" -o "$work/epilogue.o" &&
        compiles_and_runs "$work/epilogue.cpu" "${cpu[@]}" "$work/epilogue.cu" "$work/epilogue.o"
}
check "C99: an epilogue, from C" epilogue_from_c

# ---- macros that do not fit -----------------------------------------------------------------------
# refused SENTENCE COMMAND...: the compiler ends with an error that contains the sentence
refused() {
    local sentence=$1
    shift
    "$@" && return 1
    grep -qF "$sentence" "$work/check.txt"
}
printf '#define TMM_NAME x\n#define TMM_TILE 33\n#include "tiledmm.cuh"\n' >"$work/tile.cu"
printf '#define TILE 16\n#define TMM_NAME x\n#define TMM_TILE TILE\n#include "tiledmm.cuh"\n' >"$work/tile_name.cu"
printf '#define TMM_NAME x\n#define TMM_TYPE __int128\n#include "tiledmm.cuh"\n' >"$work/type.cu"
# TMM_BLOCK is set by whoever pastes the kernel alone
sed -n '/KERNEL REGISTER =/,/^.. END OF KERNEL/p' tiledmm.cuh |
    sed '1i #define TMM_TYPE float\n#define TMM_BLOCK 5' >"$work/block.cu"
# own NAME TYPE LINES: a file with a type that is no number
own() { printf '%s\n#define TMM_NO_READY_MADE\n#define TMM_TYPE %s\n#define TMM_NAME x\n#include "tiledmm.cuh"\n' "$3" "$2" >"$work/$1.cu"; }
printf '#include "tiledmm.cuh"\n' >"$work/ready.cu"
own complex 'std::complex<float>' '#include <complex>'
own struct pair 'struct pair { float a, b; };'
own half __half '#include <cuda_fp16.h>'
own summed 'std::complex<float>' '#include <complex>
#define TMM_SUM float'
own out float '#define TMM_OUT int'
own scalar float '#define TMM_SCALAR int'
printf '#define TMM_TYPE float\n#include "tiledmm.cuh"\n' >"$work/name.cu"
cp "$work/name.cu" "$work/name.c"
# first_error SENTENCE COMMAND...: likewise, and it is the first of them
first_error() {
    local sentence=$1
    shift
    "$@" && return 1
    grep -m 1 -E 'error|fault' "$work/check.txt" | grep -F "$sentence"
}
wrong_macros() { # COMPILER COMMAND...
    local compiler=$1 type simple
    shift
    for type in complex struct half; do # with all kernels, too, it is the first error
        [ $type = struct ] && simple=() || simple=(-DTMM_SIMPLE)
        check "$compiler: a TMM_TYPE that is no number ($type) is refused, first with a sentence" \
            first_error "for __half define it as float" "$@" "${simple[@]}" -c "$work/$type.cu" -o "$work/refused.o"
    done
    for type in out scalar; do
        check "$compiler: another TMM_${type^^} of the same size is refused for float, first with a sentence" \
            first_error "are for elements of 1 or 2 bytes" "$@" -DTMM_SIMPLE -c "$work/$type.cu" -o "$work/refused.o"
    done
    for type in HALF BFLOAT16; do # as PyTorch compiles its extensions
        check "$compiler: TMM_WITH_$type without the type's conversions is refused, first with a sentence" \
            first_error "compile with -U__CUDA_NO_${type}_CONVERSIONS__" "$@" -DTMM_SIMPLE -DTMM_WITH_$type \
            -D__CUDA_NO_${type}_CONVERSIONS__ -c "$work/ready.cu" -o "$work/refused.o"
    done
    check "$compiler: complex numbers with a TMM_SUM float are refused, first with a sentence" \
        first_error "converts to TMM_SUM and back" "$@" -DTMM_SIMPLE -c "$work/summed.cu" -o "$work/refused.o"
    check "$compiler: TMM_TILE 33 is refused with a sentence" \
        refused "TMM_TILE must be 1 to 32" "$@" -DTMM_SIMPLE -c "$work/tile.cu" -o "$work/refused.o"
    check "$compiler: TMM_TILE that is the name of a macro is refused with a sentence" \
        refused "a number and not the name of a macro" "$@" -DTMM_SIMPLE -c "$work/tile_name.cu" -o "$work/refused.o"
    check "$compiler: TMM_BLOCK 5 is refused with a sentence" \
        refused "TMM_BLOCK must be 4 or 8" "$@" -DTMM_SIMPLE -c "$work/block.cu" -o "$work/refused.o"
    check "$compiler: an element of 16 bytes is refused with a sentence" \
        refused "TMM_TYPE must have 8 bytes at most" "$@" -DTMM_SIMPLE -c "$work/type.cu" -o "$work/refused.o"
    check "$compiler: TMM_TYPE without TMM_NAME is refused with a sentence" \
        refused "TMM_TYPE is defined without TMM_NAME" "$@" -DTMM_SIMPLE -c "$work/name.cu" -o "$work/refused.o"
}
wrong_macros "CPU runner" "${cpu[@]}"
again() { # FIRST OPTION SENTENCE: included with FIRST, then once more with OPTION
    printf '%s\n#include "tiledmm.cuh"\n#include "raytrace.cuh"\n#define %s\n#include "tiledmm.cuh"\n#include "raytrace.cuh"\n' \
        "$1" "$2" >"$work/again.c"
    refused "$3" gcc -std=c99 -I. -fsyntax-only "$work/again.c"
}
for option in TMM_IMPLEMENTATION TMM_EXTERN TMM_SIMPLE TMM_NO_HOST TMM_FLOAT_TENSOR TMM_DOUBLE_TENSOR TMM_WITH_HALF TMM_WITH_BFLOAT16 TMM_WITH_EPILOGUE TMM_WITH_SYRK TMM_NO_READY_MADE \
    TMM_NO_DOUBLE TMM_NO_INT TMM_NO_FLOAT_C RAYT_IMPLEMENTATION RAYT_EXTERN; do
    check "$option before a second inclusion is refused with a sentence" \
        again '' $option "$option must be defined before the first #include"
    stays() { ! again "#define $option" LATER 'no such sentence' && ! grep -q error "$work/check.txt"; }
    check "$option before the first one may stay defined" stays
done
for option in 'TMM_TILE 8' 'TMM_SUM double' 'TMM_SCALAR float' 'TMM_OUT float' 'TMM_EPILOGUE(value, row, col) (value)'; do
    check "$option without TMM_NAME in a second inclusion is refused with a sentence" \
        again "" "$option" "need a TMM_NAME after the first #include"
done
check "C99: TMM_TYPE without TMM_NAME is refused with a sentence" \
    refused "TMM_TYPE is defined without TMM_NAME" gcc -std=c99 -I. -c "$work/name.c" -o "$work/refused.o"

# ---- another name for the header ------------------------------------------------------------------
# It includes itself, so it has to know its name.
mkdir "$work/renamed"
cp tiledmm.cuh "$work/renamed/product.cuh"
printf '#define TMM_HEADER "product.cuh"\n#define TMM_SIMPLE\n#include "product.cuh"\n' >"$work/renamed.cu"
sed -n '/^int main/,$p' "$work/less.cu" >>"$work/renamed.cu"
printf '#include "product.cuh"\n' >"$work/nameless.c"
renamed() { # NAME COMMAND...: the compiler sees no header but the renamed one
    local name=$1
    shift
    check "$name: a renamed header, with TMM_HEADER" "$@" -I"$work/renamed" "$work/renamed.cu" -o "$work/renamed.program"
}
renamed "CPU runner" cpu/cucc -O0
check "CPU runner: the renamed header multiplies" "$work/renamed.program"
check "C99: a renamed header, with TMM_HEADER" gcc -std=c99 -pedantic -Wall -Wextra -Werror -I"$work/renamed" \
    -DTMM_HEADER='"product.cuh"' -c "$work/nameless.c" -o "$work/refused.o"
check "C99: a renamed header without TMM_HEADER is refused with a sentence" \
    refused "define TMM_HEADER" gcc -std=c99 -I"$work/renamed" -c "$work/nameless.c" -o "$work/refused.o"

# ---- nvcc -----------------------------------------------------------------------------------------
with_nvcc() { # NAME FOLDER FLAG PID
    local name=$1 folder=$work/$2 file
    if [[ $today != *${3#-}* ]]; then
        skip "$name: the six files" "$other_turn"
        return
    fi
    wait "$4"
    for file in $plain_files; do
        if [ -e "$folder/$file.o" ] && [ ! -s "$folder/$file.txt" ]; then
            ok "$name: $file.cu compiles"
        else
            not_ok "$name: $file.cu compiles" "$folder/$file.txt"
        fi
    done
    check "$name: the six files link" link "$folder/program" "$folder" "${gpu[@]}" "$3"
    check "$name: a plain .cu exports no function of the library" exports_nothing "$folder/plain_a.o"
    if have_gpu; then
        relay "$name" "$folder/program"
    else
        relay "$name" "$folder/program" no-device
        skip "$name: the products of the six files" "no GPU here"
    fi
}

if have nvcc; then
    with_nvcc "nvcc" nvcc -rdc=false "$whole"
    with_nvcc "nvcc -rdc=true -DTMM_SIMPLE" nvcc-rdc -rdc=true "$separate"
    check "nvcc: TMM_NO_READY_MADE leaves only the type of one's own" \
        makes_own_only "$work/own_only.nvcc.o" "${gpu[@]}" -DTMM_SIMPLE
    check "included twice: nvcc" compiles_and_runs "$work/twice.gpu" "${gpu[@]}" -DTMM_SIMPLE "$work/twice.cu"
    check "nvcc: TMM_SIMPLE and TMM_NO_HOST leave out what they say" leaves_out "$work/less.gpu.o" "${gpu[@]}"
    wrong_macros nvcc "${gpu[@]}"
    renamed nvcc nvcc "${gpu[@]:2}"

    # PyCUDA puts the source into extern "C" { } and compiles it to a cubin, whose kernels it finds
    # by their plain names. Only kernels have a bank of arguments, .nv.constant0.
    printf 'extern "C" {\n#define TMM_KERNEL __global__\n#include "tiledmm.cuh"\n}\n' >"$work/pycuda.cu"
    check "PyCUDA's way: compiles inside extern \"C\"" \
        nvcc -cubin -arch=sm_80 "${faster[@]}" -Werror all-warnings -I. "$work/pycuda.cu" -o "$work/pycuda.cubin"
    for kernel in tmm_sgemm_shared_16 tmm_dgemm_global tmm_igemm_register_128; do
        if readelf -WS "$work/pycuda.cubin" 2>&1 | grep -q "\.nv\.constant0\.$kernel "; then
            ok "PyCUDA's way: the cubin has a kernel $kernel"
        else
            not_ok "PyCUDA's way: the cubin has a kernel $kernel"
        fi
    done
else
    skip "nvcc: the six files compile and link, with and without -rdc=true" "$no_nvcc"
    skip "nvcc: TMM_NO_READY_MADE, a second inclusion, macros that do not fit, a renamed header" "$no_nvcc"
    skip "PyCUDA's way: compiles inside extern \"C\"" "$no_nvcc"
fi

tap_done

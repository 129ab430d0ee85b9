#!/usr/bin/env bash
# The kernels of tiledmm.cuh keep no registers in local memory ("spills"), on any architecture, and no
# arrays (their stack; before sm_80, KERNEL TENSOR does, which is not meant for it): those of float,
# double and half, as ptxas reports them. Let off are some bytes outside of loops: see `allowed` below.
# None stores a half by its bytes: of these, ptxas 13.0 makes the lower one of the number as an integer.
. "$(dirname "$0")/tap.bash"
have nvcc || skip_all "no kernel spills" "nvcc is not installed"
cat >"$work/kernels.cu" <<'END'
#define TMM_FLOAT_TENSOR 0
#define TMM_TYPE double
#define TMM_NAME d
#define TMM_NO_READY_MADE
#include "tiledmm.cuh"
#define TMM_NAME s
#include "tiledmm.cuh"
#include <cuda_fp16.h>
#define TMM_TYPE __half
#define TMM_SUM  float
#define TMM_NAME h
#include "tiledmm.cuh"
END
known=" $(nvcc --list-gpu-code | tr '\n' ' ') "
# compiles VIRTUAL REAL...: one pass of nvcc for real architectures that get the same PTX; no code of
# the header asks which of them it is for. TMM_KERNEL without static: every kernel, used or not
compiles() {
    local virtual=$1 code='' real
    shift
    for real in "$@"; do code=$code,sm_$real; done
    nvcc -I. -DTMM_KERNEL=__global__ -Werror all-warnings -Xptxas -v --keep --keep-dir "$work" -c \
        -gencode "arch=compute_$virtual,code=[${code#,}]" "$work/kernels.cu" -o "$work/kernels.o" \
        2>"$work/$virtual.txt"
}
# Of the others than sm_90a, ./build.sh test takes one each day.
today=" 90a $(turns 75 80 86 89 100 120) "
for group in "75 75" "80 80 86 89" "90a 90a" "100 100 120"; do
    read -r virtual reals <<<"$group"
    wanted=()
    for architecture in $reals; do
        if [[ $today != *" $architecture "* ]]; then
            skip "sm_$architecture" "$other_turn"
            continue
        fi
        case $known in
        *" sm_${architecture%a} "*) wanted+=("$architecture") ;;
        *) skip "sm_$architecture" "this nvcc does not know it" ;;
        esac
    done
    [ ${#wanted[@]} = 0 ] && continue
    if ! compiles "$virtual" "${wanted[@]}"; then
        not_ok "sm_${wanted[*]}: compiles" "$work/$virtual.txt"
        continue
    fi
    # The text of PTX names each kernel before its code.
    if awk '/\.entry/ { name = $0 } /\.entry.*hgemm/ { kernels++ }
            /st\.global\.[a-z.]*[us]8/ && name ~ /hgemm/ { bytes[name]++ }
            END { for (name in bytes) print bytes[name] " stores: " name; exit kernels < 10 }' \
        "$work/kernels.ptx" >"$work/bytes.txt" && ! [ -s "$work/bytes.txt" ]; then
        ok "compute_$virtual: no kernel stores a half by its bytes"
    else
        not_ok "compute_$virtual: no kernel stores a half by its bytes" "$work/bytes.txt"
    fi
    # With nvcc -rdc=true a division of 64 bits is a call, and there is no setmaxnreg: ptxas serializes wgmma in
    # kernels that call, or have too few registers.
    if [ "$virtual" = 90a ]; then
        sed '/ double$/d; / d$/d' "$work/kernels.cu" >"$work/parts.cu"
        if nvcc -I. -DTMM_KERNEL=__global__ -rdc=true -arch=sm_90a -c "$work/parts.cu" -o "$work/parts.o" \
            >"$work/parts.txt" 2>&1 && ! grep -q 'wgmma.* serialized' "$work/parts.txt"; then
            ok "sm_90a with -rdc=true: wgmma is serialized nowhere"
        else
            not_ok "sm_90a with -rdc=true: wgmma is serialized nowhere" "$work/parts.txt"
        fi
    fi
    for architecture in "${wanted[@]}"; do
        # ptxas names a function and what it compiles it for, then its stack, then its registers
        awk -v architecture="sm_$architecture" \
            '/Compiling entry function/ { split($0, part, "\x27"); name = part[2]; here = part[4] == architecture }
             here && /bytes spill stores/ {
                 kernels++
                 allowed = name ~ /dgemm_register_64/ ? 8 : name ~ /gemm_convert/ ? 16 : 0
                 if (architecture ~ /sm_1[02]0/ && name ~ /float_mma_128x128/) allowed = 8 # 4 are stored
                 if (architecture == "sm_75" && name ~ /sgemm_convert/) allowed = 48
                 stack = architecture == "sm_75" && name ~ /dgemm_tensor/ ? 0 : $1
                 if ($5 > allowed || stack > allowed) print name ": " $0
             }
             END { print kernels + 0 " kernels" }' "$work/$virtual.txt" >"$work/$architecture.spills"
        kernels=$(tail -n 1 "$work/$architecture.spills")
        if [ "${kernels% kernels}" -ge 20 ] && [ "$(wc -l <"$work/$architecture.spills")" = 1 ]; then
            ok "sm_$architecture: none of $kernels spills"
        else
            not_ok "sm_$architecture: none of $kernels spills" "$work/$architecture.spills"
        fi
    done
done
tap_done

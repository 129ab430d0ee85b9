#!/usr/bin/env bash
# The kernels of tiledmm.cuh keep no registers in local memory ("spills"), on any architecture: those
# of float and double, as ptxas reports them. Let off are what TMM_AUTO never takes, KERNEL PIPELINED
# for double, and some bytes outside of loops: see `allowed` below.
. "$(dirname "$0")/tap.bash"
have nvcc || skip_all "no kernel spills" "nvcc is not installed"
cat >"$work/kernels.cu" <<'END'
#define TMM_TYPE double
#define TMM_NAME d
#define TMM_NO_READY_MADE
#include "tiledmm.cuh"
#define TMM_NAME s
#define TMM_FLOAT_TENSOR 0
#include "tiledmm.cuh"
END
known=$(nvcc --list-gpu-code | tr '\n' ' ')
for architecture in 75 80 86 89 90a 100 120; do
    case " $known" in
    *" sm_${architecture%a} "*) ;;
    *)
        skip "sm_$architecture" "this nvcc does not know it"
        continue
        ;;
    esac
    # TMM_KERNEL without static: every kernel is compiled, used or not
    if ! nvcc -I. -DTMM_KERNEL=__global__ -Werror all-warnings -Xptxas -v -cubin \
        -gencode "arch=compute_$architecture,code=sm_$architecture" "$work/kernels.cu" \
        -o "$work/$architecture.cubin" 2>"$work/$architecture.txt"; then
        not_ok "sm_$architecture: compiles" "$work/$architecture.txt"
        continue
    fi
    # ptxas names a function, then its stack, then its registers
    awk '/Compiling entry function/ { split($0, part, "\x27"); name = part[2] }
         /bytes spill stores/ {
             kernels++
             allowed = name ~ /dgemm_pipelined/ ? 80 : name ~ /dgemm_register_64/ ? 4 \
                 : name ~ /ssplit/ ? 16 : 0
             if ($5 > allowed) print name ": " $0
         }
         END { print kernels + 0 " kernels" }' "$work/$architecture.txt" >"$work/$architecture.spills"
    kernels=$(tail -n 1 "$work/$architecture.spills")
    if [ "${kernels% kernels}" -ge 20 ] && [ "$(wc -l <"$work/$architecture.spills")" = 1 ]; then
        ok "sm_$architecture: none of $kernels spills"
    else
        not_ok "sm_$architecture: none of $kernels spills" "$work/$architecture.spills"
    fi
done
tap_done

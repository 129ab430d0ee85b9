#!/usr/bin/env bash
# The kernels of tiledmm.cuh keep no registers in local memory ("spills"), on any architecture: those
# of float and double, as ptxas reports them. Let off are what TMM_AUTO never takes, KERNEL PIPELINED
# for double, and outside the loop 4 bytes of the smaller KERNEL REGISTER for double and 12 of
# the largest KERNEL TENSOR (counters of tiles).
set -u
cd "$(dirname "$0")/.." || exit 1
work=build/test/registers
rm -rf "$work"
mkdir -p "$work" || exit 1

command -v nvcc >/dev/null || {
    echo "ok 1 - no kernel spills # SKIP nvcc is not installed"
    echo "1..1"
    exit 0
}
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
count=0
failed=0
result() { # RESULT TEXT
    count=$((count + 1))
    echo "$1 $count - $2"
    [ "$1" = ok ] || failed=1
}
for architecture in 75 80 86 89 90a 100 120; do
    case " $known" in
    *" sm_${architecture%a} "*) ;;
    *)
        result ok "sm_$architecture # SKIP this nvcc does not know it"
        continue
        ;;
    esac
    # TMM_KERNEL without static: every kernel is compiled, used or not
    if ! nvcc -I. -DTMM_KERNEL=__global__ -Werror all-warnings -Xptxas -v -cubin \
        -gencode "arch=compute_$architecture,code=sm_$architecture" "$work/kernels.cu" \
        -o "$work/$architecture.cubin" 2>"$work/$architecture.txt"; then
        result "not ok" "sm_$architecture: compiles"
        head -n 20 "$work/$architecture.txt" | sed 's/^/# /'
        continue
    fi
    # ptxas names a function, then its stack, then its registers
    awk '/Compiling entry function/ { split($0, part, "\x27"); name = part[2] }
         /bytes spill stores/ {
             kernels++
             allowed = name ~ /dgemm_pipelined/ ? 80 : name ~ /dgemm_register_64/ ? 4 \
                 : name ~ /dgemm_tensor_128x128/ ? 12 \
                 : name ~ /sgemm_float_256x128/ ? 8 : name ~ /ssplit/ ? 16 : 0
             if ($5 > allowed) print "# " name ": " $0
         }
         END { print kernels + 0 " kernels" }' "$work/$architecture.txt" >"$work/$architecture.spills"
    kernels=$(tail -n 1 "$work/$architecture.spills")
    if [ "${kernels% kernels}" -ge 20 ] && ! grep -q '^#' "$work/$architecture.spills"; then
        result ok "sm_$architecture: none of $kernels spills"
    else
        result "not ok" "sm_$architecture: none of $kernels spills"
        grep '^#' "$work/$architecture.spills"
    fi
done
echo "1..$count"
exit $failed

#!/usr/bin/env bash
# What a program pays for the kernels of float and of double: PTX instructions, which the seconds of
# nvcc go with (0.17 ms each, cicc and ptxas; bench/notes/compile_time.md). Unlike seconds, a busy
# machine does not change their number. Some 6 seconds.
. "$(dirname "$0")/tap.bash"
have nvcc || skip_all "compile time" "nvcc is not installed"
printf '#define TMM_NO_INT\n#include "tiledmm.cuh"\n' >"$work/both.cu"
# So float takes 4.1 s above an empty file where 4 are wanted, and double adds 3.4 where 2 are.
most=(24000 14340) # of float, of double
if ! nvcc -I. -gencode arch=compute_90a,code=compute_90a -ptx "$work/both.cu" -o "$work/both.ptx" 2>"$work/nvcc.txt"; then
    not_ok "float and double compile" "$work/nvcc.txt"
    tap_done
fi
types=(s d)
for i in 0 1; do
    type=${types[i]}
    count=$(awk -v type="tmm_$type" '/\.entry/ { here = index($0, type) } here && /^\t.*;/ { n++ } END { print n + 0 }' "$work/both.ptx")
    if [ "$count" -ge 5000 ] && [ "$count" -le "${most[i]}" ]; then
        ok "tmm_$type: $count PTX instructions, at most ${most[i]}"
    else
        not_ok "tmm_$type: $count PTX instructions, not 5000 to ${most[i]}"
    fi
done
tap_done

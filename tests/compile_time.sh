#!/usr/bin/env bash
# What a program pays for the kernels of float and of double: PTX instructions, which the seconds of
# nvcc go with (0.17 ms each, cicc and ptxas; bench/notes/compile_time.md). Unlike seconds, a busy
# machine does not change their number. Some 14 seconds.
. "$(dirname "$0")/tap.bash"
have nvcc || skip_all "compile time" "nvcc is not installed"
printf '#define TMM_NO_INT\n#include "tiledmm.cuh"\n' >"$work/both.cu"
# So float takes 4.1 s above an empty file where 4 are wanted, and double adds 3.7 where 2 are.
most=(24000 15760) # of float, of double
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

# sm_75, for which nvcc 13 compiles by default, has no instruction for bfloat16: what stands for it must not
# be compiled anew at each of its hundreds of places. That took minutes.
printf '#define %s\n' TMM_NO_READY_MADE TMM_WITH_BFLOAT16 'TMM_TYPE __nv_bfloat16' 'TMM_SUM float' 'TMM_NAME b' >"$work/bfloat.cu"
echo '#include "tiledmm.cuh"' >>"$work/bfloat.cu"
count=no
if (ulimit -t 40 && nvcc -I. -gencode arch=compute_75,code=compute_75 -ptx "$work/bfloat.cu" -o "$work/bfloat.ptx") 2>"$work/nvcc.txt" &&
    count=$(grep -c $'^\t.*;' "$work/bfloat.ptx") && [ "$count" -ge 5000 ] && [ "$count" -le 60000 ]; then
    ok "bfloat16 for sm_75: $count PTX instructions, at most 60000"
else
    not_ok "bfloat16 for sm_75: $count PTX instructions in 40 s, at most 60000" "$work/nvcc.txt"
fi
tap_done

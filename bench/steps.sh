#!/usr/bin/env bash
# The steps of demos/steps on a GPU: bench/steps.sh FOLDER [FILE.cu...]
# Writes FOLDER/steps.csv: each step at 1024, 2048, 4096 and 8192 (SIZES="..." for others), timed for
# 300 ms each, beside cuBLAS where it is installed. FOLDER/counters.csv, if Nsight Compute is there:
# what the first kernel of each step takes at 2048. Four minutes at most; LIMIT=SECONDS for another.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
[ $# -ge 1 ] || { echo "usage: bench/steps.sh FOLDER [FILE.cu...]" >&2; exit 2; }
mkdir -p "$1" || exit 2
out=$(readlink -f "$1") work=build/steps
shift
mkdir -p $work || exit 2
[ $# -gt 0 ] || set -- demos/steps/[0-9]*.cu
sizes=${SIZES:-1024 2048 4096 8192}
limit=${LIMIT:-230}
failed=0 libraries=()

for tool in nvcc nvidia-smi; do
    command -v $tool >/dev/null || { echo "bench/steps.sh: $tool is missing: it needs a GPU" >&2; exit 2; }
done
case $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1) in
9.0) flags=(-gencode 'arch=compute_90a,code=sm_90a') ;; # wgmma and TMA are of this GPU alone
*) flags=(-arch=native) ;;
esac
if [ -e "$(dirname "$(readlink -f "$(command -v nvcc)")")/../include/cublas_v2.h" ]; then
    flags+=(-DWITH_CUBLAS) libraries=(-lcublas)
else
    echo "bench/steps.sh: cuBLAS is not installed: the steps are timed alone"
fi

for file in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do wait -n; done
    nvcc -O3 "${flags[@]}" -I demos/steps "$file" "${libraries[@]}" -o "$work/$(basename "$file" .cu)" \
        2>"$work/$(basename "$file" .cu).err" &
done
wait
echo "bench/steps.sh: built after $SECONDS s"

rm -f "$out/steps.csv" "$out/counters.csv"
for file in "$@"; do
    step=$(basename "$file" .cu)
    if [ ! -x "$work/$step" ]; then
        echo "$step does not build:" && head -n 5 "$work/$step.err"
        failed=1
        continue
    fi
    for size in $sizes; do
        [ $SECONDS -lt "$limit" ] || { echo "$step at $size: no time is left" && failed=1 && continue; }
        "$work/$step" "$size" "$size" "$size" --csv "$work/one.csv" >"$work/$step.txt" 2>&1 || {
            echo "$step at $size fails:" && tail -n 3 "$work/$step.txt"
            failed=1
        }
        [ -e "$out/steps.csv" ] || head -n 1 "$work/one.csv" >"$out/steps.csv"
        sed -n "2s/^[^,]*/$step/p" "$work/one.csv" >>"$out/steps.csv"
        sed -n "3s/^/$(printf '%-22s' "$step")/p" "$work/$step.txt"
        rm -f "$work/one.csv"
    done
done
echo "bench/steps.sh: timed after $SECONDS s"

# name in the file, then the metric
metrics="ms gpu__time_duration.sum
issue_slots_percent smsp__issue_active.avg.pct_of_peak_sustained_active
instructions smsp__inst_executed.sum
multiply_adds smsp__sass_thread_inst_executed_op_ffma_pred_on.sum
load_sectors l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
sectors_per_load l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
sectors_per_store l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio
shared_loads smsp__inst_executed_op_shared_ld.sum
shared_load_passes l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
load_conflicts l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
store_conflicts l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
l2_read_sectors lts__t_sectors_op_read.sum
memory_read_bytes dram__bytes_read.sum
tensor_percent sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active
registers launch__registers_per_thread"
if command -v ncu >/dev/null; then
    echo "step,counter,value" >"$out/counters.csv"
    for file in "$@"; do
        step=$(basename "$file" .cu)
        [ -x "$work/$step" ] || continue
        [ $SECONDS -lt "$limit" ] || { echo "$step: no time is left to count" && failed=1 && continue; }
        timeout 60 ncu --csv --page raw --print-units base --clock-control none --launch-count 1 \
            --metrics "$(echo "$metrics" | cut -d ' ' -f 2 | paste -s -d ,)" \
            "$work/$step" 2048 2048 2048 >"$work/ncu.txt" 2>&1
        python3 - "$step" "$metrics" "$work/ncu.txt" >>"$out/counters.csv" <<'PYTHON' || { echo "$step: ncu counts nothing" && tail -n 3 "$work/ncu.txt" && failed=1; }
import csv, sys

step, metrics, path = sys.argv[1:]
with open(path) as file:
    lines = [line for line in file if line.startswith('"')]
rows = list(csv.DictReader(lines))  # the first has the units
if len(rows) < 2:
    sys.exit(1)
for line in metrics.split("\n"):
    name, metric = line.split()
    value = rows[1].get(metric, "").replace(",", "")
    if value:
        number = float(value) * (1e-6 if name == "ms" else 1)
        print(f"{step},{name},{number:.10g}")
PYTHON
    done
    echo "bench/steps.sh: counted after $SECONDS s"
else
    echo "bench/steps.sh: no Nsight Compute (ncu): nothing is counted"
fi
exit $failed

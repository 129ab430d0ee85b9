#!/usr/bin/env bash
# bench/tune.sh [SECONDS]: the row of this GPU (device 0) for tmm__gpus in
# src/tiledmm/once/tuning.h: its clock at work, nanoseconds of an empty launch, bytes of memory in a
# nanosecond and of L2, measured in some ten seconds by bench/tune.cu. Then, for SECONDS (default
# 120, 0: not at all), how well TMM_AUTO chooses with that row: bench/shapes --plans, built with it.
# Some five minutes, compilers included. What it cannot do it says in a sentence; then the exit
# status is 1.
set -u
export LC_ALL=C # numbers with a point
cd "$(dirname "$0")/.." || exit 1
fail() {
    printf 'tune.sh: %s\n' "$1" >&2
    exit 1
}
[ $# -le 1 ] || fail "it takes one number at most: seconds for bench/shapes --plans"
seconds=${1-120}
[[ $seconds =~ ^[0-9]{1,3}$ ]] || fail "'$seconds' is no number of seconds from 0 to 999"
for tool in nvcc nvidia-smi; do
    command -v $tool >/dev/null || fail "$tool is not installed"
done
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1)
[[ $capability =~ ^[0-9]+\.[0-9]$ ]] || fail "there is no GPU"
architecture=(-arch=native)
[ "$capability" != 9.0 ] || architecture=(-gencode "arch=compute_90a,code=sm_90a")
work=build/tune
{ rm -rf $work && mkdir -p $work/bench; } 2>/dev/null || fail "cannot write to $PWD/$work"

nvcc -O3 "${architecture[@]}" bench/tune.cu -o $work/tune >$work/nvcc.txt 2>&1 ||
    fail "bench/tune.cu does not build: see $work/nvcc.txt"
timeout 60 $work/tune >$work/row.txt 2>$work/error.txt ||
    fail "nothing was measured: $(head -n 1 $work/error.txt)"
cat $work/row.txt || fail "cannot write to the standard output"
[ "$seconds" != 0 ] || exit 0

# A copy of the header whose table begins with the row: of two rows that fit, the first is taken.
cp bench/*.h bench/shapes.cu $work/bench/ || fail "cannot write to $PWD/$work"
sed "/^static const tmm__gpu tmm__gpus\[\] = {/r $work/row.txt" tiledmm.cuh >$work/tiledmm.cuh
[ "$(diff tiledmm.cuh $work/tiledmm.cuh | grep -c '^>')" = 1 ] ||
    fail "tiledmm.cuh has no place for the row"
nvcc -O3 "${architecture[@]}" $work/bench/shapes.cu -lcublas -o $work/shapes >$work/nvcc.txt 2>&1 ||
    fail "bench/shapes.cu does not build: see $work/nvcc.txt"
timeout $((seconds + 180)) $work/shapes --plans $work/plans.csv --ms 20 --seconds "$seconds" \
    >$work/plans.txt 2>&1 || fail "bench/shapes --plans failed: see $work/plans.txt"
awk '/, slower than the best plan by$/ { type = $1 }
    type && $1 == "all" {
        printf "%s %s shapes, slower than the best plan by %s in the mean, by %s at the 95th percentile\n",
            type, $2, $3, $4
        type = "" }' $work/plans.txt

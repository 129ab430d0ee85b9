#!/usr/bin/env bash
# cucc --report on demos/memory: what each of them says of its sectors, passes and turns. Prints TAP.
set -u
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../../../tests/ends.bash" # ^C ends the compilations, too

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
cucc=$root/cpu/cucc
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
unset CUCC_DEVICES CUCC_ORDER CUCC_THREADS CUCC_MEMORY CUCC_COUNTS CUCC_STREAMS CUCC_FAIL CUCC_GPU CUCC_REPORT

number=0
failures=0
check() { # NAME COMMAND...
    local name=$1
    shift
    number=$((number + 1))
    if "$@" >"$work/said" 2>&1; then
        echo "ok $number - $name"
        return
    fi
    echo "not ok $number - $name"
    failures=$((failures + 1))
    sed 's/^/#   /' "$work/said" | head -n 20
}

# A file with --report is built once, and run for the figures.
build() { # NAME SOURCE FLAGS...
    "$cucc" --report -Xcompiler -Wall,-Wextra -Werror all-warnings "${@:3}" "$2" -o "$work/$1" 2>"$work/$1.log" &&
        CUCC_REPORT=$work/$1.csv "$work/$1" >/dev/null 2>>"$work/$1.log"
}
demos=(shared global constant layout)
for demo in "${demos[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    build "$demo" "$root/demos/memory/$demo.cu" --gpu h200 &
done
build patterns "$here/patterns.cu" --gpu h200 --registers 40 &
wait
for demo in "${demos[@]}" patterns; do
    check "$demo builds and runs" test -e "$work/$demo.csv" -a ! -s "$work/$demo.log"
done

# row DEMO LAUNCH WHAT FIGURE: all rows of the kernel that is launched so say the figure for each request
row() {
    local line
    line=$(grep -nF -e "$2" "$root/demos/memory/$1.cu" | cut -d: -f1)
    grep -F -e "$1.cu:$line\"" "$work/$1.csv" | grep -F -e ",$3," | tee "$work/rows"
    [ -n "$line" ] && [ -s "$work/rows" ] && awk -F, -v wanted="$4" '$(NF - 1) != wanted * $(NF - 2) { exit 1 }' "$work/rows"
}
while IFS='|' read -r demo launch what figure; do
    check "$demo: $launch: $figure for each $what" row "$demo" "$launch" "$what" "$figure"
done <<'END'
shared|transpose_tiled<<<grid, block>>>(in, out, TILE + 1)|shared load|1
shared|transpose_tiled<<<grid, block>>>(in, out, TILE);|shared load|32
shared|transpose_tiled<<<grid, block>>>(in, out, TILE);|shared store|1
shared|transpose_tiled<<<grid, block>>>(in, out, TILE);|global store|4
shared|transpose_plain<<<grid, block>>>|global load|4
shared|transpose_plain<<<grid, block>>>|global store|32
global|scale<<<BLOCKS, THREADS>>>(in, out, 0)|global load|4
global|scale<<<BLOCKS, THREADS>>>(in, out, 1)|global load|5
global|scale_four<<<BLOCKS / 4, THREADS>>>|global load|16
global|scale_strided<<<BLOCKS, THREADS>>>|global load|32
global|scale_strided<<<BLOCKS, THREADS>>>|global store|32
constant|convolve_constant<<<|constant load|1
constant|convolve_constant_apart<<<|constant load|32
layout|sum_arrays<<<BLOCKS, THREADS>>>(arrays, out, 1)|global load|4
layout|one_of_structs<<<|global load|32
layout|sum_arrays<<<BLOCKS, THREADS>>>(arrays, out, FIELDS)|global load|4
layout|sum_vectors<<<|global load|32
layout|sum_structs<<<|global load|32
END
fails() { ! "$@"; }
check "another figure is noticed" fails row shared 'transpose_tiled<<<grid, block>>>(in, out, TILE);' "shared load" 1

# what Nsight Compute counted of the same kernels on an H200
counters=$root/bench/results/h200/report.csv
check "sectors and conflicts are those of an H200" python3 "$here/compare.py" "$work/patterns.csv" "$counters"
awk -F, -v OFS=, 'NR == 9 { $4 *= 2 } 1' "$counters" >"$work/other.csv"
check "another counter is noticed" fails python3 "$here/compare.py" "$work/patterns.csv" "$work/other.csv"

table() { # PATTERN: in what the program says for people
    "$work/patterns" 2>&1 >/dev/null | tee "$work/table" | grep -E -e "$1"
}
check "the worst line comes first" table '^1 .*patterns\.cu:[0-9]+ +(global|shared) (load|store) .* 32 (sectors|passes) '
check "occupancy by registers" table '^occupancy on h200: 6 blocks, 75% of the warps; limit: registers; registers: 40$'
check "the tree's branch goes two ways" table "patterns\.cu:$(grep -n 'i + d < THREADS) s\[i\]' "$here/patterns.cu" | cut -d: -f1) +branch +[0-9]+ +1\.[0-9]+ ways +1 "

# a program of which no line is slow, with lines of one and of two digits
cat >"$work/quiet.cu" <<'END'
#include <stdio.h>
__global__ void own_word(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();

    atomicAdd(&s[t], 1);
    atomicMax(&out[t], s[t]);
}
int main(int argc, char **)
{
    int *out;
    if (cudaMalloc(&out, 128) || cudaMemset(out, 0, 128)) return 2;
    for (int i = 1; i < argc; i++) own_word<<<1, 32>>>(out);
    return cudaFree(out);
}
END
quiet() { # PATTERN ARGUMENT...: all on one line
    "$work/quiet" "${@:2}" 2>&1 | tee "$work/said" | tr '\n' ' ' | grep -E -e "$1"
}
check "quiet builds" "$cucc" --report -Xcompiler -Wall,-Wextra -Werror all-warnings "$work/quiet.cu" -o "$work/quiet"
check "no worst lines: a sentence" quiet '^ *No line takes more than it needs\. *kernel own_word' once
check "no kernel: a sentence" quiet '^ *No kernel was launched\. *$'
check "atomics have their line, and lines the order of their numbers" \
    quiet 'cu:6 +shared store .*cu:9 +shared atomic +1 +1 turns .*cu:10 +shared load .*cu:10 +global atomic +1 +1 turns ' once
check "and no line is unknown" fails quiet 'unknown' once

echo "1..$number"
[ $failures -eq 0 ]

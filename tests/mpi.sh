#!/usr/bin/env bash
# demos/matmul_mpi.cu with 1, 2, 3, 4 and 6 ranks on the CPU runner, and on a GPU where there is one:
# what it prints, its CSV file, what it refuses, and that it finds a panel that was left out.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"
for tool in mpirun mpicxx; do
    have $tool || skip_all matmul_mpi "there is no $tool (Debian: openmpi-bin, libopenmpi-dev)"
done
mkdir -p "$work/fault/demos" || exit 1
export CUCC_THREADS=1 # a core to each rank

flags=()
if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    flags=(--oversubscribe)
    [ "$(id -u)" = 0 ] && flags+=(--allow-run-as-root)
fi

# ranks N PROGRAM ARGUMENTS...: by mpirun, into out.txt and err.txt, where MPI may say things of its
# own, too; 124 if it hangs
ranks() {
    local count=$1 status
    shift
    timeout "$patience" mpirun "${flags[@]}" -n "$count" "$@" >"$work/out.txt" 2>"$work/err.txt"
    status=$?
    cat "$work/out.txt" "$work/err.txt"
    return "$status"
}
# passes PATTERN RANKS PROGRAM ARGUMENTS...: exit status 0, `Test PASSED`, and a line that matches
passes() {
    local pattern=$1
    shift
    ranks "$@" || return 1
    [ "$(tail -n 1 "$work/out.txt")" = "Test PASSED" ] && grep -qE -- "$pattern" "$work/out.txt"
}
# refuses STATUS PATTERN RANKS PROGRAM ARGUMENTS...: with one line that matches
refuses() {
    local wanted=$1 pattern=$2 status
    shift 2
    ranks "$@"
    status=$?
    [ "$status" = "$wanted" ] && [ "$(cat "$work/out.txt" "$work/err.txt" | grep -cE -- "$pattern")" = 1 ]
}
build() { CXX=mpicxx cpu/cucc -DTMM_SIMPLE -Xcompiler -Wall,-Wextra,-Werror "$1" -o "$2" "${@:3}"; }

# csv FILE ROWS: so many rows below a head. Speed-up and efficiency are what the times say: flop/s
# over those of one rank, for equal N the ratio of the times; the model's begin with its own rate.
csv() {
    cat "$1"
    [ ! -e "$1.tmp" ] && awk -F, -v rows="$2" '
        function near(a, b) { return a - b < 1e-6 * b && b - a < 1e-6 * b }
        NF != 18 { bad = 1 }
        $1 == "measured" && !($16 > 0 && $16 <= $9 && $9 <= $18 && $16 <= $17 * 1.000001 && $17 <= $18 * 1.000001) { bad = 1 }
        NR == 1 { next }
        { rate = 2e-6 * $4 ^ 3 / $9; key = $1 $2 }
        !near($10, rate) || !near($12, $11 / $6) || $9 <= 0 || $13 < 0 || $13 > 1 || $14 <= 0 { bad = 1 }
        $1 == "measured" && $6 == 1 { one[key] = rate; time[key] = $9; N[key] = $4 }
        $1 == "measured" && (!near($11, rate / one[key]) || $15 != "ok" || $7 * $8 != $6) { bad = 1 }
        $1 == "measured" && $2 == "strong" && ($4 != N[key] || !near($11, time[key] / $9)) { bad = 1 }
        $1 == "model" && !one["model"] { one["model"] = rate / $11 }
        $1 == "model" && (!near($11, rate / one["model"]) || $14 != $9 || $11 > $6) { bad = 1 }
        END { exit bad || NR != rows + 1 }' "$1"
}

program=$work/matmul_mpi
check "builds on the CPU runner" build demos/matmul_mpi.cu "$program"
check "one rank" passes '^measured strong +[a-z]+ +67 +[0-9]+ +1 +1 +1 .* ok$' 1 "$program" 67 --reps 1
check "one rank says what the model lacks" grep -q 'it needs two ranks' "$work/out.txt"
check "one rank, a network given" passes '^Strong scaling of N = 67 ' 1 "$program" 67 --reps 1 --network 2,25
check "2 ranks" passes '^measured strong +[a-z]+ +131 +[0-9]+ +2 +1 +2 .* ok$' 2 "$program" 131 --reps 2 --csv "$work/2.csv"
check "2 ranks: CSV" csv "$work/2.csv" 10
check "3 ranks, double" passes '^measured strong +[a-z]+ +97 +[0-9]+ +3 +1 +3 .* ok$' 3 "$program" 97 --type double --panel 10 --reps 1
check "4 ranks, panels of one" passes '^measured strong +[a-z]+ +33 +[0-9]+ +4 +2 +2 .* ok$' 4 "$program" 33 --panel 1 --reps 1
check "6 ranks" passes '^measured strong +[a-z]+ +113 +[0-9]+ +6 +2 +3 .* ok$' 6 "$program" 113 --panel 17 --csv "$work/6.csv"
check "6 ranks: CSV" csv "$work/6.csv" 14
check "6 ranks on 2 cores, or so: says that they share" grep -qE '^The 6 ranks of a node share cores: ' "$work/out.txt"
check "6 ranks: where it stops" grep -qE '^Strong scaling of N = 113( stops at [0-9]+ nodes|: no end)' "$work/out.txt"
check "6 ranks, 3 x 2, double" passes '^measured strong +[a-z]+ +70 +[0-9]+ +6 +3 +2 .* ok$' 6 "$program" 70 --type double --grid 3x2 --reps 1
check "6 ranks, some without rows" passes '^measured strong +[a-z]+ +4 +[0-9]+ +6 +6 +1 .* ok$' 6 "$program" 4 --grid 6x1 --reps 1
check "two devices to a node" passes '^measured strong +[a-z]+ +40 +[0-9]+ +4 +2 +2 .* ok$' 4 env CUCC_DEVICES=2 "$program" 40 --reps 1
check "streams that advance late" passes '^measured strong +[a-z]+ +90 +[0-9]+ +4 +2 +2 .* ok$' 4 env CUCC_STREAMS=late:3 "$program" 90 --panel 7 --reps 1

check "--help" refuses 0 '^usage: mpirun ' 2 "$program" --help
check "an unknown option: said once, no rank hangs" refuses 2 "'--nothing' is an unknown option" 3 "$program" --nothing
check "a size that is none" refuses 2 "whole number" 2 "$program" 12x
check "two sizes" refuses 2 "too many" 2 "$program" 10 20
check "a type that is none" refuses 2 "float or double" 1 "$program" --type int
check "a grid for other ranks" refuses 2 "as many ranks" 4 "$program" --grid 3x1
check "a network that is none" refuses 2 "microseconds and GB/s" 1 "$program" --network fast
check "a file that cannot be written" refuses 2 "cannot write" 2 "$program" 20 --csv /none/x.csv
check "--cpu: the product of the CPU itself" passes '^measured strong +[a-z]+ +90 +[0-9]+ +4 +2 +2 .* ok$' 4 "$program" 90 --panel 7 --reps 2 --cpu --csv "$work/c.csv"
check "--cpu: CSV" csv "$work/c.csv" 12
check "--cpu, double, streams that advance late" passes '^measured strong +[a-z]+ +50 +[0-9]+ +3 +1 +3 .* ok$' 3 env CUCC_STREAMS=late:5 "$program" 50 --panel 9 --type double --cpu --reps 1
check "no device" refuses 2 "no usable CUDA device" 2 env CUCC_DEVICES=0 "$program" 20
check "no memory for panels ends all ranks" refuses 1 "memory for a block: out of memory" 2 env CUCC_MEMORY=20000 "$program" 100

# A CUDA error, of rank 0 itself or of another, which then ends rank 0: no file, and nothing beside it;
# a file from before stays as it is.
nothing_of() { [ -z "$(compgen -G "$work/$1*")" ]; }
check "a kernel that fails on rank 0" refuses 1 'rank 0: ' 1 env CUCC_FAIL=kernel:1 "$program" 40 --reps 1 --csv "$work/k.csv" : -n 1 "$program" 40 --reps 1 --csv "$work/k.csv"
check "it leaves no file" nothing_of k.csv
echo before >"$work/r.csv"
check "a copy that fails on the last rank" refuses 1 'rank 1: ' 1 "$program" 40 --reps 1 --csv "$work/r.csv" : -n 1 env CUCC_FAIL=copy:9 "$program" 40 --reps 1 --csv "$work/r.csv"
check "it leaves the file from before" grep -qx before "$work/r.csv"
rm -f "$work/r.csv"
check "and nothing beside it" nothing_of r.csv

# As with an MPI that takes device pointers: device memory of the CPU runner is memory like any other.
sed 's/ifdef MPIX_CUDA_AWARE_SUPPORT/if 1/; s/MPIX_Query_cuda_support() == 1/1/' \
    demos/matmul_mpi.cu >"$work/fault/demos/direct.cu"
cp tiledmm.cuh "$work/fault/"
check "panels from device to device: builds" build "$work/fault/demos/direct.cu" "$work/direct" -O0
check "panels from device to device" passes '^Panels go from device to device' 6 "$work/direct" 61 --reps 1
check "--staged" passes '^Panels go through pinned' 2 "$work/direct" 40 --reps 1 --staged

# A panel that is not added must be found.
sed 's/if (g->m == 0 || g->n == 0) return;/if (g->m == 0 || g->n == 0 || s == 2) return;/' \
    demos/matmul_mpi.cu >"$work/fault/demos/matmul_mpi.cu"
check "a source with a fault" eval "! cmp -s demos/matmul_mpi.cu $work/fault/demos/matmul_mpi.cu"
check "it builds" build "$work/fault/demos/matmul_mpi.cu" "$work/faulty" -O0
check "it is found" refuses 1 '^Test FAILED' 4 "$work/faulty" 90 --reps 1
check "in the table, too" grep -qE '^measured strong +float +90 +[0-9]+ +2 +1 +2 .* WRONG$' "$work/out.txt"

if have nvcc && have_gpu; then
    check "nvcc builds it" nvcc -ccbin mpicxx -O3 -arch=native demos/matmul_mpi.cu -o "$work/gpu"
    check "GPU: 1 rank" passes '^measured strong +[a-z]+ +1001 +[0-9]+ +1 +1 +1 .* ok$' 1 "$work/gpu" 1001
    check "GPU: 4 ranks" passes '^measured strong +[a-z]+ +1001 +[0-9]+ +4 +2 +2 .* ok$' 4 "$work/gpu" 1001 --panel 100
    check "GPU: 3 ranks, double" passes '^measured strong +[a-z]+ +500 +[0-9]+ +3 +1 +3 .* ok$' 3 "$work/gpu" 500 --type double --reps 1
else
    skip "on a GPU" "no GPU here"
fi
tap_done

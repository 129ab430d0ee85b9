#!/usr/bin/env bash
# bench/gpu.sh OUTDIR: everything that a GPU must prove, in one go: tests, compute-sanitizer on
# small sizes, benchmarks. Leaves in OUTDIR
#   machine.txt    device, driver, toolkit
#   tests.txt      ./build.sh test --gpu
#   sanitizer.txt  memcheck, racecheck, initcheck
#   gemm.txt       the tables of demos/matmul.cu, with cuBLAS beside our kernels
#   gemm.csv       the same, a row per measurement
#   rays.txt, rays.csv   bench/rays
# and ends with a line of what failed. Takes about four minutes on an H200.
set -u
out=${1:?usage: bench/gpu.sh OUTDIR}
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.." || exit 1
failed=

step() { printf '== %s (%d s)\n' "$1" "$SECONDS"; }
fault() { failed="$failed $1"; }

step "machine"
{
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit,ecc.mode.current --format=csv
    nvcc --version | tail -n 2
    g++ --version | head -n 1
    printf 'CPU threads: %s\n' "$(nproc)"
} | tee "$out/machine.txt"

step "tests"
./build.sh test --gpu 2>&1 | tee "$out/tests.txt"
[ "${PIPESTATUS[0]}" = 0 ] || fault tests

step "build"
mkdir -p build/bench
nvcc -O3 -arch=native -Xcompiler -fopenmp -DWITH_CUBLAS demos/matmul.cu -o build/bench/matmul -lcublas || fault build
nvcc -O3 -arch=native -lineinfo demos/matmul.cu -o build/bench/matmul_check || fault build

step "compute-sanitizer"
: >"$out/sanitizer.txt"
for tool in memcheck racecheck initcheck; do
    for arguments in "130 129 67" "64 64 64 --type double" "33 200 41 --type int"; do
        # shellcheck disable=SC2086
        if ! compute-sanitizer --tool $tool --error-exitcode 9 build/bench/matmul_check $arguments --no-cpu --reps 1 \
            >build/bench/sanitizer.log 2>&1; then
            fault "$tool"
            cat build/bench/sanitizer.log >>"$out/sanitizer.txt"
        fi
        printf '%s, matmul %s: %s\n' "$tool" "$arguments" "$(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' build/bench/sanitizer.log)" |
            tee -a "$out/sanitizer.txt"
    done
done
if ! compute-sanitizer --tool memcheck --leak-check full --report-api-errors no --error-exitcode 9 build/test/rules.gpu >build/bench/sanitizer.log 2>&1; then
    fault "memcheck of rules"
    tail -n 60 build/bench/sanitizer.log >>"$out/sanitizer.txt"
fi
printf 'memcheck with leak check, tests/rules: %s\n' "$(grep 'ERROR SUMMARY' build/bench/sanitizer.log)" | tee -a "$out/sanitizer.txt"

step "matrix multiply, the sizes of the course reports"
: >"$out/gemm.txt"
: >"$out/gemm.csv"
for type in float double; do
    for size in ${GEMM_SIZES:-32 64 128 320 1024 3072 4096 5000 5120}; do
        build/bench/matmul "$size" --type $type --csv build/bench/one.csv >build/bench/one.txt 2>&1 || fault "matmul-$size-$type"
        cat build/bench/one.txt >>"$out/gemm.txt"
        if [ -s "$out/gemm.csv" ]; then tail -n +2 build/bench/one.csv; else cat build/bench/one.csv; fi >>"$out/gemm.csv"
        rm -f build/bench/one.csv
        grep -E '^(shared_32|register_128|auto|cuBLAS|Test)' build/bench/one.txt | sed "s/^/$type $size  /"
    done
done

if [ -e bench/rays.cu ]; then
    step "rays"
    if nvcc -O3 -arch=native bench/rays.cu -o build/bench/rays; then
        build/bench/rays --csv "$out/rays.csv" 2>&1 | tee "$out/rays.txt"
        [ "${PIPESTATUS[0]}" = 0 ] || fault rays
    else
        fault "rays-build"
    fi
fi

step "done"
if [ -n "$failed" ]; then
    printf 'FAILED:%s\n' "$failed"
    exit 1
fi
printf 'all good\n'

#!/usr/bin/env bash
# bench/gpu.sh OUTDIR [PART...]: everything that a GPU must prove, in one go: tests,
# compute-sanitizer on small sizes, all demos, benchmarks; or the parts named: tests, sanitizer (which
# takes programs that tests has built), stress, matmul, gemm, shapes, work, accuracy, host, rays,
# memory, half; guard, plans and fp64 run only where they are named. Leaves in OUTDIR
#   machine.txt    device, driver, toolkit
#   tests.txt      ./build.sh test --gpu
#   sanitizer.txt  memcheck, racecheck, initcheck, synccheck
#   stress.txt     bench/stress.cu: products of 16 threads at once, on all devices, to the bit
#   gemm.csv       demos/matmul.cu, with cuBLAS beside our kernels: a row per measurement
#   gemm_cublas.csv       bench/gemm.cu: those of bench/gemm.csv beside cuBLAS and the limits
#   gemm_cublas_sm80.csv  a few of them as GPUs from sm_80 on get them: built as compute_80 PTX
#   shapes.csv     bench/shapes.cu: 200 shapes drawn by the date, beside cuBLAS and the limits
#   work.csv       the same at the shapes of bench/work.csv that nobody tunes to
#   plans.csv      150 by every kernel and plan, as bench/fit/fit reads it: how good TMM_AUTO's choice is
#   guard.csv      bench/guard.txt: today's header beside older ones, in turn; below 0.98 of their speed
#                  anywhere, twice in a row, is a failure, but for the losses that bench/guard.txt
#                  accepts by name. One measurement varies by 2%. A copy without history needs
#                  GUARD_HEADER, a folder with COMMIT.cuh for each of them. GUARD_TYPES, such as
#                  "float double", leaves out the other types
#   accuracy.csv   bench/accuracy.cu: errors on many kinds of data, beside cuBLAS; accuracy_double.csv
#   fp64.csv       double on INT8 tensor cores beside FP64 and cuBLAS, square products by kind of data,
#                  and by mma.sync, as on GPUs that have no wgmma; fp64.txt: the same as a table, and
#                  what is predicted for GeForce
#   half*.csv, syrk.csv   bench/half.cu: 16 bits beside cublasGemmEx; tmm_?syrk beside our gemm and
#                  cublasSsyrk, cublasDsyrk
#   host.csv       bench/host.cu: from host memory, and over all GPUs, beside cublasXt
#   rays.csv       bench/rays.cu; fast_math.txt: the tests of rays built with -use_fast_math
#   raytrace.csv, weekend.csv    the demos of these names
#   memory.csv     demos/memory, all rows; memory.txt: a line for each, as ./build.sh run memory says
#   memory_counters.csv   what the demos have computed, counted by Nsight Compute where it is installed
# and ends with a line of what failed; what demos and benchmarks print is in build/bench/printed.txt.
# Takes about an hour on an H200, guard and fp64 some ten minutes each, plans 15.
set -u
# shellcheck source=/dev/null
. "$(dirname "$0")/../tests/ends.bash"
out=${1:?usage: bench/gpu.sh OUTDIR [PART...]}
for tool in nvcc nvidia-smi; do
    command -v $tool >/dev/null || { echo "gpu.sh: $tool is not installed" >&2; exit 2; }
done
shift
parts=" ${*:-tests sanitizer stress matmul gemm shapes work accuracy host rays memory half} "
wants() { case $parts in *" $1 "*) true ;; *) false ;; esac; }
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.." || exit 1
work=build/bench
mkdir -p $work
failed=

capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)
step() { printf '== %s (%d s)\n' "$1" "$SECONDS"; }
fault() { failed="$failed $1"; }

step "machine"
{
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit,ecc.mode.current --format=csv
    nvcc --version | tail -n 2
    g++ --version | head -n 1
    printf 'CPU threads: %s\n' "$(nproc)"
} | tee "$out/machine.txt"

if wants tests; then
    step "tests"
    ./build.sh test --gpu 2>&1 | tee "$out/tests.txt"
    [ "${PIPESTATUS[0]}" = 0 ] || fault tests
fi

step "build"
# all at once; build NAME SOURCE FLAGS
architecture=(-arch=native)
# what only the name with an "a" allows: the multiply of float on tensor cores
[ "$capability" != 9.0 ] || architecture=(-gencode "arch=compute_90a,code=sm_90a")
sm80=(-gencode "arch=compute_80,code=compute_80")
build() {
    local name=$1
    shift
    rm -f "$work/$name"
    nvcc -O3 "$@" -o "$work/$name" || printf 'gpu.sh: %s does not build\n' "$name"
}
if wants sanitizer; then
    # flags cleared: initcheck cannot know that an old one is harmless
    build matmul_check demos/matmul.cu -arch=native -lineinfo -DTMM__CLEAR_FLAGS=1 &
    build raytrace_check demos/raytrace.cu -arch=native -lineinfo &
    # as tests builds it, and without the "a", so by mma.sync on all devices
    build tensor_check tests/tensor_float.cu "${architecture[@]}" -lineinfo -DTMM__CLEAR_FLAGS=1 &
    build tensor_mma_check tests/tensor_float.cu -arch=native -lineinfo &
    build double_check tests/tensor_double.cu "${architecture[@]}" -lineinfo &
    build double_mma_check tests/tensor_double.cu -arch=native -lineinfo &
    build gemm_check tests/gemm.cu "${architecture[@]}" -lineinfo -DFEWER &
    for type in FLOAT DOUBLE INT HALF BFLOAT16; do
        build "epilogue_${type}_check" tests/epilogue.cu "${architecture[@]}" -lineinfo -DONLY_$type -DFEWER &
    done
    # initcheck does not follow what bulk copies store, which sm_80 has not: bench/notes/tensor_int8.md
    for name in demos/matmul tests/tensor_double; do
        build "$(basename $name)_sm80_check" $name.cu "${sm80[@]}" -lineinfo &
    done
fi
! wants matmul || build matmul demos/matmul.cu -arch=native -Xcompiler -fopenmp -DWITH_CUBLAS -lcublas &
if wants rays; then
    build raytrace demos/raytrace.cu -arch=native &
    build rays bench/rays.cu -arch=native &
    build raytrace_fast tests/raytrace.cu -arch=native -use_fast_math &
    build tree_fast tests/tree.cu -arch=native -use_fast_math &
    build trace_fast tests/trace.cu -arch=native -use_fast_math &
    build weekend demos/weekend.cu -arch=native &
fi
if wants gemm || wants fp64; then
    build gemm_cublas bench/gemm.cu "${architecture[@]}" -lcublas -lcublasLt &
    build gemm_sm80 bench/gemm.cu "${sm80[@]}" -lcublas -lcublasLt &
fi
if wants shapes || wants work || wants plans; then
    build shapes bench/shapes.cu "${architecture[@]}" -lcublas &
fi
! wants stress || build stress bench/stress.cu "${architecture[@]}" &
! wants half || build half bench/half.cu "${architecture[@]}" -lcublas &
if wants accuracy; then
    build accuracy bench/accuracy.cu "${architecture[@]}" -DWITH_CUBLAS -lcublas &
    build accuracy_double bench/accuracy.cu "${architecture[@]}" -DDOUBLE -DWITH_CUBLAS -lcublas &
fi
if wants host; then
    build host bench/host.cu "${architecture[@]}" -lcublas &
    for name in overlap outofcore multigpu; do build $name demos/$name.cu -arch=native & done
fi
# The header of a commit: from the history, or where GUARD_HEADER says.
header_of() { # header_of COMMIT: into a folder of its own, since a header includes itself by its name
    mkdir -p "$work/$1"
    if git cat-file -e "$1:tiledmm.cuh" 2>/dev/null; then
        git show "$1:tiledmm.cuh" >"$work/$1/tiledmm.cuh"
    elif [ -n "${GUARD_HEADER:-}" ]; then
        cp "$GUARD_HEADER/$1.cuh" "$work/$1/tiledmm.cuh"
    else
        printf 'gpu.sh: commit %s is not in the history here: GUARD_HEADER=FOLDER with %s.cuh says where its header is\n' \
            "$1" "$1" >&2
        false
    fi
}
if wants guard; then
    guarded() { grep -vE '^(#|accept )' bench/guard.txt; }
    # Rows below 0.98 of COMMIT's speed that bench/guard.txt does not accept, and those it does.
    losses() { # losses COMMIT ROWS.csv
        awk -v commit="$1" '
            NR == FNR { if ($1 == "accept" && $2 == commit) floor[$3] = $4; next }
            FNR == 1 { for (n = split($0, name, ","); n > 0; n--) column[name[n]] = n; next }
            {
                split($0, cell, ",")
                shape = cell[1]
                for (n = 2; n <= 10; n++) shape = shape "," cell[n]
                ratio = cell[column["ratio"]] + 0
                verdict = (shape in floor) && ratio >= floor[shape] ? "accepted" : "slower"
                if (ratio > 0 && ratio < 0.98) print verdict ": " shape, ratio
            }' bench/guard.txt "$2"
    }
    for commit in $(guarded | awk '{ print $1 }' | sort -u); do
        if header_of "$commit"; then
            build "guard_$commit" bench/shapes.cu bench/peer.cu --threads 2 "${architecture[@]}" "-DPEER=\"$commit\"" \
                "-DPEER_HEADER=\"$PWD/$work/$commit/tiledmm.cuh\"" &
        else
            rm -f "$work/guard_$commit"
        fi
    done
fi
wait

sanitize() { # sanitize TOOL[,OPTIONS] PROGRAM ARGUMENTS
    local tool=$1 begin=$SECONDS
    shift
    # shellcheck disable=SC2086
    if ! compute-sanitizer --tool ${tool//,/ } --error-exitcode 9 "$@" >$work/sanitizer.log 2>&1; then
        fault "$tool"
        tail -n 60 $work/sanitizer.log >>"$out/sanitizer.txt"
    fi
    printf '%s, %s: %s, %d s\n' "${tool//,/ }" "${*#"$work/"}" \
        "$(sed -n 's/^=* \(.*SUMMARY.*\)/\1/p' $work/sanitizer.log)" $((SECONDS - begin)) | tee -a "$out/sanitizer.txt"
}
if wants sanitizer; then
    step "compute-sanitizer"
    : >"$out/sanitizer.txt"
    for tool in memcheck racecheck initcheck synccheck; do
        sanitize $tool $work/matmul_check 130 129 67 --no-cpu --reps 1
        of_double=matmul_check
        [ $tool = initcheck ] && of_double=matmul_sm80_check
        sanitize $tool $work/$of_double 64 64 64 --type double --no-cpu --reps 1
        sanitize $tool $work/matmul_check 33 200 41 --type int --no-cpu --reps 1
        # shapes that are cut along K, packed, split among clusters, or moved back inside at the edges
        sanitize $tool $work/matmul_check 300 260 600 --kernel pipelined --no-cpu --reps 1
        sanitize $tool $work/matmul_check 130 129 2000 --kernel pipelined --no-cpu --reps 1
        sanitize $tool $work/matmul_check 300 260 600 --kernel tensor --type double --no-cpu --reps 1
        sanitize $tool $work/matmul_check 130 70 2000 --kernel tensor --type double --no-cpu --reps 1
        sanitize $tool $work/matmul_check 130 7 3000 --kernel skinny --no-cpu --reps 1
        sanitize $tool $work/matmul_check 40 70 3000 --kernel small --no-cpu --reps 1
        sanitize $tool $work/matmul_check 300 70 600 --kernel narrow --no-cpu --reps 1
        sanitize $tool $work/matmul_check 30 520 600 --kernel narrow --no-cpu --reps 1
        sanitize $tool $work/matmul_check 130 67 6 --kernel outer --no-cpu --reps 1
        sanitize $tool $work/matmul_check 13 7 5000 --kernel direct --no-cpu --reps 1
        # racecheck of all its shapes takes minutes; of these few it may not see all, since copies
        # and products of wgmma touch shared memory without instructions of a thread
        if [ $tool = racecheck ]; then
            sanitize $tool $work/tensor_check few
            sanitize $tool $work/tensor_mma_check few
        else
            sanitize $tool $work/tensor_check
        fi
        if [ $tool = initcheck ]; then
            sanitize $tool $work/tensor_double_sm80_check few
        else
            sanitize $tool $work/double_check few
            sanitize $tool $work/double_mma_check few
        fi
        sanitize $tool $work/raytrace_check --width 200 --height 150 --spheres 700 --no-cpu --out $work/s
    done
    sanitize memcheck $work/raytrace_check --width 200 --height 150 --spheres 9000 --no-cpu --out $work/s
    # its test of running out of memory is meant to make cudaMalloc fail
    sanitize memcheck,--leak-check,full,--report-api-errors,no build/test/rules.gpu
    sanitize memcheck,--report-api-errors,no build/test/raytrace_rules.gpu --keep-device
    # racecheck of all its scenes takes minutes
    # a call that a capture refuses is part of the test
    for tool in memcheck,--report-api-errors,no synccheck; do sanitize $tool build/test/tree.gpu; done
    for tool in racecheck initcheck; do sanitize $tool build/test/tree.gpu few; done
    # 16 bits, and what is on request; racecheck and synccheck of all products take minutes. Each type by
    # itself, which ends within a minute
    for name in half syrk trace; do sanitize memcheck build/test/$name.gpu; done
    for type in h hs half b bs; do
        for tool in racecheck synccheck; do sanitize $tool build/test/half.gpu few $type; done
    done
    for type in s d dp i h; do sanitize memcheck $work/gemm_check $type; done
    for type in FLOAT DOUBLE INT HALF BFLOAT16; do
        sanitize memcheck $work/epilogue_${type}_check
        for part in kernels others; do sanitize racecheck $work/epilogue_${type}_check $part; done
    done
    for file in demos/steps/*.cu; do
        name=$(basename "$file" .cu)
        nvcc -O3 "${architecture[@]}" -lineinfo -I demos/steps "$file" -o "$work/$name" || fault "$name"
        for tool in memcheck racecheck synccheck; do sanitize $tool "$work/$name" 260 131 196; done
    done
    # from host memory: matrices of 300 at most; it plants no failures on a GPU, but asks for what fails
    sanitize memcheck,--leak-check,full,--report-api-errors,no build/test/host.gpu --keep-device
fi

seconds=90
show() { # show NAME COMMAND: appends what it prints to printed.txt
    local name=$1
    shift
    printf '\n===== %s\n' "$name" >>$work/printed.txt
    timeout "$seconds" "$@" >$work/one.txt 2>&1 || fault "$name"
    cat $work/one.txt >>$work/printed.txt
}
beside() { # beside NAME COMMAND: as show, but longer, and limits and verdict on the screen, too
    seconds=1200 show "$@"
    grep -E '^gemm:|^limits|^memory' $work/one.txt
    tail -n 1 $work/one.txt
}
: >$work/printed.txt

if wants stress; then
    step "products of many threads at once"
    $work/stress --seconds 60 2>&1 | tee "$out/stress.txt"
    [ "${PIPESTATUS[0]}" = 0 ] || fault stress
fi

if wants matmul; then
    step "matrix multiply, the sizes of the course reports"
    : >"$out/gemm.csv"
    for type in float double int; do
        sizes="32 64 128 320 1024 3072 4096 5000 5120"
        [ $type = int ] && sizes="1024 4096"
        for size in $sizes; do
            show "matmul $size --type $type" $work/matmul "$size" --type $type --csv $work/one.csv
            [ -s "$out/gemm.csv" ] || head -n 1 $work/one.csv >"$out/gemm.csv"
            tail -n +2 $work/one.csv >>"$out/gemm.csv"
            rm -f $work/one.csv
            grep -E '^(shared_32|register_128|auto|cuBLAS|Test)' $work/one.txt | sed "s/^/$type $size  /"
        done
    done
fi

if wants gemm; then
    step "gemm beside cuBLAS"
    beside "gemm beside cuBLAS" $work/gemm_cublas --shapes bench/gemm.csv --csv "$out/gemm_cublas.csv"
    beside "gemm beside cuBLAS, as for sm_80" $work/gemm_sm80 --shape 64 --shape 256 --shape 1024 --shape 3072 \
        --shape 4096 --shape 4099,4097,4095 --shape 16384,16,16384 --shape 1,8192,8192 --csv "$out/gemm_cublas_sm80.csv"
fi

# Rows of bench/gemm as a table: TFLOP/s, and KERNEL TENSOR INT8 as a multiple of cuBLAS, in turn with
# it, and of our own FP64 by way of cuBLAS.
int8_table() { # int8_table FP64.CSV
    awk -F, '
        $6 != $5 || $7 != $5 || $8 != 1 || $28 != "ok" { next }
        { key = $33 "," $35 "," $5 }
        $1 == "auto" { native[key] = $21; rate[key] = $19 }
        $1 == "tensor_int8" { rows[++count] = key; int8[key] = $19; times[key] = $21; cublas[key] = $19 / $21 }
        END {
            printf "%-8s %-8s %6s %8s %8s %8s %13s %11s\n", "TFLOP/s", "data", "N", "cuBLAS", "FP64", "INT8", "times cuBLAS", "times FP64"
            for (n = 1; n <= count; n++) {
                split(rows[n], part, ",")
                key = rows[n]
                printf "sm_%-5s %-8s %6d %8.1f", part[1], (part[2] > 0 ? "phi " part[2] : "uniform"), part[3], cublas[key]
                if (native[key]) printf " %8.1f %8.1f %13.2f %11.2f\n", rate[key], int8[key], times[key], times[key] / native[key]
                else printf " %8s %8.1f %13.2f %11s\n", "-", int8[key], times[key], "-"
            }
        }' "$1"
}
# What it should give on GeForce, and, where this is one of them, what it gives. An SM does 1024
# multiply-adds of bytes a clock and 2 of double. By mma.sync an H200 attains 0.71 of its 2048 at 8192
# (bench/results/h200/tensor_int8.csv). 102 bytes an element of N x N at 0.85 of the memory's rate, and
# 19 instructions of double. Columns: SMs, boost GHz, GB/s by the data sheets.
predict() { # predict FP64.CSV DEVICE
    awk -F, -v device="$2" '
        NR == FNR { if ($1 == "tensor_int8" && $5 == $6 && $5 == $7 && $35 == 0) measured[$5] = sprintf("%.2f", $19); next }
        FNR == 1 { printf "%-10s %6s %21s %21s\n%-10s %6s %10s %10s %10s %10s\n", "TFLOP/s", "FP64", "N = 4096", "N = 8192",
            "", "peak", "predicted", "measured", "predicted", "measured" }
        {
            printf "%-10s %6.2f", $1, $2 * $3 * 4 / 1000
            here = device == "NVIDIA GeForce " $1
            found += here
            for (n = 4096; n <= 8192; n *= 2) {
                seconds = 14.125 * n ^ 3 / ($2 * $3 * 1e9 * 1024 * 0.71) + 102 * n ^ 2 / (0.85e9 * $4) + 19 * n ^ 2 / ($2 * $3 * 2e9)
                printf " %10.1f %10s", 2 * n ^ 3 / seconds / 1e12, here && n in measured ? measured[n] : "-"
            }
            print ""
        }
        END { if (!found) printf "%s, by mma.sync if it can: measured %s at 4096, %s at 8192\n", device, measured[4096], measured[8192] }
        ' "$1" - <<'END'
RTX 3060,28,1.78,360
RTX 3090,82,1.70,936
RTX 4060,24,2.46,272
RTX 4070,46,2.48,504
RTX 4090,128,2.52,1008
RTX 5080,84,2.62,960
RTX 5090,170,2.41,1792
END
}
if wants fp64; then
    step "double on INT8 tensor cores, beside FP64 and cuBLAS"
    shapes() { printf -- '--shape %s ' "$@"; }
    # where FP64 has 1/64 of the rate of FP32, cuBLAS takes seconds for one product of 8192
    case $capability in
    6.0 | 7.0 | 8.0 | 9.0 | 10.0) uniform=$(shapes 1024 2048 4096 8192 16384 32768) spread=$(shapes 2048 4096 8192 16384) ;;
    *) uniform=$(shapes 256 512 1024 2048 4096 8192) spread=$(shapes 2048 4096) ;;
    esac
    runs=("gemm_cublas --kernel auto $uniform" "gemm_cublas --kernel auto --phi 0.5 --phi 1 --phi 2 --phi 4 $spread")
    # by mma.sync, as GPUs without wgmma
    [ "$capability" != 9.0 ] || runs+=("gemm_sm80 $(shapes 1024 2048 4096 8192)")
    rm -f "$out/fp64.csv"
    for run in "${runs[@]}"; do
        read -r -a words <<<"$run"
        seconds=300 show "fp64: $run" "$work/${words[0]}" "${words[@]:1}" --kernel tensor_int8 --type double --no-lt --csv $work/one.csv
        grep -E '^limits|WRONG' $work/one.txt
        [ -s "$out/fp64.csv" ] || head -n 1 $work/one.csv >"$out/fp64.csv"
        tail -n +2 $work/one.csv >>"$out/fp64.csv"
    done
    {
        int8_table "$out/fp64.csv"
        predict "$out/fp64.csv" "$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
    } | tee "$out/fp64.txt"
fi

drawn() { # drawn NAME OPTION...: bench/shapes; what it says of all shapes goes on the screen, too
    local name=$1
    shift
    seconds=1800 show "$name" $work/shapes "$@"
    grep -E '^shapes:|^limits' $work/one.txt
    sed -n '/, times cuBLAS$\|, slower than the best plan by$/,$p' $work/one.txt
}
if wants shapes; then
    step "shapes drawn at random, beside cuBLAS"
    drawn shapes --csv "$out/shapes.csv"
fi
if wants work; then
    step "shapes of people's work, beside cuBLAS"
    drawn work --shapes bench/work.csv --use figure --csv "$out/work.csv"
fi
if wants plans; then
    step "the choice beside every kernel and plan"
    drawn plans --plans "$out/plans.csv" --count 150 --seconds 900
fi
if wants half; then
    step "16 bits beside cublasGemmEx, and half of the work"
    seconds=300 show "half" "$work/half" "$out/half.csv"
    seconds=120 show "half drawn" "$work/half" drawn "$out/half_drawn.csv"
    seconds=120 show "half work" "$work/half" list bench/work.csv "$out/half_work.csv"
    seconds=300 show "syrk" "$work/half" syrk "$out/syrk.csv"
fi
if wants guard; then
    step "today's header beside those of bench/guard.txt"
    rm -f "$out/guard.csv"
    while read -r commit list use types; do
        [ -x "$work/guard_$commit" ] || { fault "guard:$commit"; continue; }
        words=(--shapes "bench/$list" --least 0.98)
        [ "$use" = all ] || words+=(--use "$use")
        asked=0
        for type in $types; do
            case " ${GUARD_TYPES:-$types} " in *" $type "*) words+=(--type "$type") asked=1 ;; esac
        done
        [ $asked = 1 ] || continue
        rm -f $work/one.csv
        before=$failed
        seconds=3000 show "guard $commit $list $use" "$work/guard_$commit" "${words[@]}" --csv $work/one.csv
        if [ "$failed" != "$before" ] && grep -q '^all results are right$' $work/one.txt; then
            if losses "$commit" $work/one.csv >$work/losses.txt && [ -s $work/losses.txt ] &&
                ! grep -q '^slower' $work/losses.txt; then failed=$before; fi
            cat $work/losses.txt
        fi
        printf '%s, %s of %s:\n' "$commit" "$use" "$list"
        sed -n '/^below .* when measured again$/,$p; / rows below /p' $work/one.txt | awk '!seen[$0]++ && NF'
        [ -s "$out/guard.csv" ] || head -n 1 $work/one.csv | sed 's/^/commit,/' >"$out/guard.csv"
        tail -n +2 $work/one.csv | sed "s/^/$commit,/" >>"$out/guard.csv"
    done < <(guarded)
fi

if wants accuracy; then
    step "accuracy"
    for name in accuracy accuracy_double; do
        seconds=180 show $name $work/$name --csv "$out/$name.csv"
        grep -E 'FAILED' $work/one.txt
    done
fi

if wants host; then
    step "from host memory, beside cublasXt"
    beside "host" $work/host --csv "$out/host.csv"
    grep -E 'GB/s|met$|MISSED|missed|results|WRONG' $work/one.txt
    for name in overlap outofcore multigpu; do
        show $name $work/$name
        printf '%s: %s\n' $name "$(tail -n 1 $work/one.txt)"
    done
fi

if wants rays; then
    step "rays"
    for name in raytrace trace tree; do
        $work/${name}_fast >$work/one.txt 2>&1 || fault ${name}_fast
        printf 'tests/%s.cu with -use_fast_math: %s passed, %s failed\n' $name \
            "$(grep -c '^ok' $work/one.txt)" "$(grep -c '^not ok' $work/one.txt)"
    done >"$out/fast_math.txt"
    cat "$out/fast_math.txt"
    show rays $work/rays --csv "$out/rays.csv"
    grep -E 'spheres|lab global|  global|constant|culled|agree' $work/one.txt
    show raytrace $work/raytrace --out $work/raytrace --csv "$out/raytrace.csv"
    tail -n 3 $work/one.txt
    show weekend $work/weekend --out $work/weekend.png --csv "$out/weekend.csv"
    cat $work/one.txt
fi

if wants memory; then
    step "memory"
    ./build.sh run memory >"$out/memory.txt" || fault "run memory"
    echo 'demo,way,loads,stores,extra,MB,ms,rate,times,result' >"$out/memory.csv"
    for source in demos/memory/*.cu; do
        name=$(basename "$source" .cu)
        { printf '\n===== memory/%s\n' "$name" && cat "build/run/memory/$name.txt"; } >>$work/printed.txt
        tail -n +2 "build/run/memory/$name.csv" | sed "s/^/$name,/" >>"$out/memory.csv"
    done
    cat "$out/memory.txt"
    if command -v ncu >/dev/null && command -v python3 >/dev/null; then
        python3 bench/memory_counters.py "$out/memory_counters.csv" --programs build/run/memory || fault memory_counters
    fi
fi

step "done"
if [ -n "$failed" ]; then
    printf 'FAILED:%s\n' "$failed"
    exit 1
fi
printf 'all good\n'

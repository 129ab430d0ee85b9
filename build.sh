#!/usr/bin/env bash
# The one entry: ./build.sh run | test | bench | report | join | install | clean. --help says more.
# shellcheck disable=SC2015 # where mv fails, the program is not built either
set -u
# shellcheck source=/dev/null
case ${1-} in
run | test | bench | report) . "$(dirname "$(readlink -f "$0")")/tests/ends.bash" ;; # ^C ends all
esac
HERE=$PWD # where demos are to write what they are asked to
cd "$(dirname "$(readlink -f "$0")")" || exit 1
ROOT=$PWD
WARNINGS=(-Werror all-warnings -Xcompiler "-Wall,-Wextra")
JOBS=$(nproc 2>/dev/null || echo 2)

usage() {
    cat <<'TEXT'
./build.sh run [DEMO [ARGUMENTS]]  builds demos/DEMO.cu (default: matmul) and runs it: with nvcc on
                                   a GPU if both are there, else on the CPU with g++ alone;
                                   matmul_mpi by mpirun with 4 ranks (RANKS=N: with N);
                                   run --help lists the demos, run DEMO --help its options;
                                   run memory: all of demos/memory, a line for each;
                                   run steps: all of demos/steps, from 1 % of cuBLAS up
./build.sh exercise NN FILE        is task NN of demos/steps/exercises.md done by FILE, a program?
./build.sh test                    all tests that this machine can run; says what it left out; minutes.
                                   Of what is alike one part, another each day: TURN=all takes all
./build.sh test --quick            every kernel, demo and way in once, by g++ alone: two minutes
./build.sh test --gpu              only the tests that run on a GPU
./build.sh bench [FOLDER]          on a GPU: tests, compute-sanitizer, benchmarks, the multiply
                                   beside cuBLAS; CSV files to FOLDER (default: build/bench)
./build.sh report [OPTIONS]        runs demos and benchmarks and makes the report of them: page.html,
                                   plots, tables, CSV in build/report; --help lists the options;
                                   --system first: with the Python that is there, no installation
./build.sh join [--check | --where FILE:LINE]
                                   joins src/ into the two headers; says which part differs; which
                                   part a line is from
./build.sh install PREFIX          puts the headers, the CMake package, the .pc file and cucc under PREFIX
./build.sh clean                   removes what was built
TEXT
}

say() { printf '%s\n' "$*"; }
die() { printf 'build.sh: %s\n' "$*" >&2; exit 1; }
folder() { mkdir -p "$1" 2>/dev/null || refuse "cannot make the folder $PWD/$1: it needs a checkout that it may write to"; }
refuse() { printf 'build.sh: %s\n' "$*" >&2; exit 2; } # what was asked cannot be done

have() { command -v "$1" >/dev/null 2>&1; }
have_gpu() { [ -n "${CUDA_VISIBLE_DEVICES-unset}" ] && have nvidia-smi && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

# get WHAT PACKAGE: installs the Debian package where that is possible.
get() {
    if [ "$(id -u)" = 0 ] && have apt-get; then
        say "build.sh: $1 is missing, installing it (apt-get install $2)"
        { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$2"; } \
            >/dev/null 2>&1
    fi
}

# need COMMAND PACKAGE: and stops if it is still missing.
need() {
    have "$1" && return 0
    get "$1" "$2"
    have "$1" || die "$1 is missing; install the package $2 (on Debian or Ubuntu: sudo apt-get install $2)"
}

# newer TARGET SOURCES...: is any source newer than the target?
newer() {
    local target=$1 file
    shift
    [ -e "$target" ] || return 0
    for file in "$@"; do [ "$file" -nt "$target" ] && return 0; done
    return 1
}

# ------------------------------------------ run -------------------------------------------------
list_demos() {
    say "The demos are:"
    find demos -name '*.cu' ! -path '*/c_caller/*' | sort | sed 's/^demos\//  /; s/\.cu$//'
    say "Those in C, C++ and Python (raytrace_c.c, c_caller, python, torch_extension.py) say in their" \
        "first lines how to run them."
}

# All demos of demos/memory: a line for each, of its worst way beside the right one.
run_memory() {
    [ $# = 0 ] || refuse "run memory takes no options, not '$*'; run memory/shared --help has some"
    local source demo failed=0 work=build/run/memory
    folder $work
    say "build.sh: compiling what is new in demos/memory, $JOBS at a time"
    for source in demos/memory/*.cu; do
        while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n; done
        demo=memory/$(basename "$source" .cu)
        ./build.sh run "$demo" --help >"build/run/$demo.txt" 2>&1 &
    done
    wait
    local times=0 # where they mean nothing, no way is called wrong by them
    if have nvcc && have_gpu; then
        times=1
        nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1
        printf '%-16s%-32s%-32s%8s\n' demo right wrong "x time"
    else
        printf '%-16s%s\n' demo right
    fi
    for source in demos/memory/*.cu; do
        demo=$(basename "$source" .cu)
        rm -f "$work/$demo.csv"
        if ! ./build.sh run "memory/$demo" --csv "$PWD/$work/$demo.csv" >"$work/$demo.txt" 2>&1; then
            failed=1
            say "$demo: FAILED"
            tail -n 3 "$work/$demo.txt"
            continue
        fi
        [[ $demo =~ ^(latency|bandwidth)$ ]] || awk -F, -v demo="$demo" -v times=$times '
            NR == 1 || $1 ~ /also right/ || $1 ~ /^cudaMemcpy/ { next }
            $1 ~ /\(right\)/ { all = all (all == "" ? "" : ", ") $1 }
            $1 ~ /\(right\)/ || right == "" { right = $1; if (first == "") first = $1; next }
            times && $(NF - 1) != "nan" && $(NF - 1) + 0 > most { good = right; wrong = $1; shown = $(NF - 1); most = shown + 0 }
            END { if (!times) printf "%-16s%s\n", demo, all == "" ? first : all
                else if (wrong == "") printf "%-16s%-32s%-32s%8s\n", demo, right, "-", "-"
                else printf "%-16s%-32s%-32s%8s\n", demo, good, wrong, shown }
            ' "$work/$demo.csv"
    done
    if [ $times = 1 ]; then # the map: latency in clocks, size and bandwidth
        awk -F, 'BEGIN { printf "\n%-24s%12s%12s%12s\n", "memory", "MB", "clocks", "GB/s" }
            FILENAME ~ /txt$/ { # Sizes in MB: registers 34.6, shared ...
                if (sub(/^Sizes in MB: /, "")) for (f = 1; f <= NF; f++) { split($f, w, " "); size[w[1]] = w[2] + 0 }
                next
            }
            FNR == 1 { next }
            !($1 in row) { row[$1] = ++rows; name[rows] = $1; clocks[rows] = rate[rows] = "-" }
            FILENAME ~ /latency/ { clocks[row[$1]] = $4 }
            FILENAME ~ /bandwidth/ { rate[row[$1]] = $7 }
            END { for (r = 1; r <= rows; r++)
                printf "%-24s%12s%12s%12s\n", name[r], name[r] in size ? size[name[r]] : "-", clocks[r], rate[r] }
            ' "$work/bandwidth.txt" "$work/latency.csv" "$work/bandwidth.csv"
    else
        say "On the CPU results and counts are right, and times mean nothing: which way is the worst, a GPU shows."
    fi
    return $failed
}

# All steps of demos/steps, a line for each: on a GPU how fast, else what the CPU runner counts.
run_steps() {
    [ $# = 0 ] || refuse "run steps takes no options, not '$*'; run steps/12_split_k --help has some"
    local source step size failed=0 work=build/run/steps on_gpu=0 flags=() libraries=()
    folder $work
    have nvcc && have_gpu && on_gpu=1
    say "build.sh: compiling what is new in demos/steps, $JOBS at a time"
    if [ $on_gpu = 1 ]; then
        # shellcheck disable=SC2207
        flags=(-O3 $(gpu_architecture))
        [ -e "$(dirname "$(readlink -f "$(command -v nvcc)")")/../include/cublas_v2.h" ] &&
            flags+=(-DWITH_CUBLAS) libraries=(-lcublas)
    else
        need g++ g++
    fi
    for source in demos/steps/*.cu; do
        while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n; done
        step=$work/$(basename "$source" .cu)
        if [ $on_gpu = 1 ]; then
            newer "$step" "$source" demos/steps/*.h &&
                nvcc "${flags[@]}" "$source" "${libraries[@]}" -o "$step.new" && mv "$step.new" "$step" &
        else
            newer "$step.cpu" "$source" demos/steps/*.h cpu/cucc cpu/*/* &&
                cpu/cucc --report "$source" -o "$step.new" 2>"$step.txt" && mv "$step.new" "$step.cpu" &
        fi
    done
    wait
    if [ $on_gpu = 1 ]; then
        nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1
        printf '%-24s%12s%12s%14s%10s\n' TFLOP/s 1024 4096 "of cuBLAS" result
    else
        say "No GPU is here: what the CPU runner counts for 128 x 128 x 64, for 32 multiply-adds each:"
        printf '%-24s%12s%12s%12s%14s%10s\n' step sectors loads passes conflicts result
    fi
    for source in demos/steps/*.cu; do
        step=$(basename "$source" .cu)
        rm -f "$work/$step.csv" "$work/$step.counts"
        if [ $on_gpu = 1 ]; then
            for size in "131 260 75" "1024 1024 1024" "4096 4096 4096"; do # all its sizes would take ten seconds
                # shellcheck disable=SC2086
                "$work/$step" $size --csv "$work/$step.one" >"$work/$step.txt" 2>&1 || break
                cat "$work/$step.one" >>"$work/$step.csv"
            done
            [ "$(tail -n 1 "$work/$step.txt")" = "Test PASSED" ]
        else
            CUCC_REPORT=$work/$step.counts "$work/$step.cpu" 128 128 64 --csv "$work/$step.csv" >"$work/$step.txt" 2>&1
        fi || {
            failed=1
            printf '%-24s%60s\n' "$step" FAILED
            tail -n 3 "$work/$step.txt"
            continue
        }
        if [ $on_gpu = 1 ]; then
            awk -F, -v step="$step" '{ rate[$2] = $6; part = $8 }
                END { printf "%-24s%12.2f%12.2f%14s%10s\n", step, rate[1024], rate[4096],
                    part == "nan" ? "-" : sprintf("%.3f", part), "ok" }' "$work/$step.csv"
        else # three products were counted
            # shellcheck disable=SC2046,SC2183 # four words
            printf '%-24s%12s%12s%12s%14s%10s\n' "$step" $(awk -F '"' -f demos/steps/counts.awk "$work/$step.counts") ok
        fi
    done
    [ $on_gpu = 1 ] || say "Sectors of 32 bytes loaded from memory, loads by warps from shared memory, passes over its banks" \
        "and those beyond need."
    return $failed
}

run_demo() {
    local demo=${1:-matmul} source program
    shift
    case $demo in
    -h | --help) list_demos; exit 0 ;;
    esac
    demo=${demo#demos/}
    demo=${demo%.cu}
    if [ "${demo%/}" = memory ]; then
        run_memory "$@"
        return
    fi
    if [ "${demo%/}" = steps ]; then
        run_steps "$@"
        return
    fi
    source=demos/$demo.cu
    if [ ! -e "$source" ]; then
        {
            say "build.sh: there is no $source"
            list_demos
        } >&2
        exit 2
    fi
    grep -qw main "$source" || refuse "$source is a library, not a program; its first lines say how to use it"
    local mpi=() launch=() host=${CXX:-g++}
    if grep -q '<mpi\.h>' "$source"; then # such a demo runs as several ranks
        case ${RANKS-4} in
        '' | 0* | *[!0-9]* | ?????*) refuse "RANKS must be a whole number from 1 to 9999, not '$RANKS'" ;;
        esac
        need mpicxx libopenmpi-dev
        need mpirun openmpi-bin
        host=mpicxx
        mpi=(-ccbin mpicxx)
        launch=(mpirun -n "${RANKS:-4}")
        if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
            launch+=(--oversubscribe)
            [ "$(id -u)" = 0 ] && launch+=(--allow-run-as-root)
        fi
        say "build.sh: ${RANKS:-4} ranks (RANKS=N ./build.sh run $demo for another number)"
    fi
    folder "build/run/$(dirname "$demo")"
    if have nvcc && have_gpu; then
        program=build/run/$demo
        say "build.sh: nvcc and a GPU are here: $demo runs on the GPU"
        if newer "$program" "$source" ./*.cuh "$(dirname "$source")"/*.h; then
            local flags=(-O3 -arch=native -Xcompiler -fopenmp)
            # shellcheck disable=SC2207 # wgmma and TMA need the architecture by its full name
            [[ $demo != steps/* ]] || flags=(-O3 $(gpu_architecture))
            if grep -q WITH_CUBLAS "$source" "$(dirname "$source")"/*.h 2>/dev/null && [ -e "$(dirname "$(command -v nvcc)")/../include/cublas_v2.h" ]; then
                flags+=(-DWITH_CUBLAS -lcublas -lcublasLt)
            fi
            say "build.sh: compiling $source (once; up to a minute)"
            nvcc "${mpi[@]}" "${flags[@]}" "$source" -o "$program.new" && mv "$program.new" "$program" ||
                die "nvcc could not build $source"
        fi
    else
        program=build/run/$demo.cpu
        local lacking="there is no GPU"
        have nvcc || lacking="there is no nvcc"
        say "build.sh: $lacking: $demo runs on the CPU, with its real kernels"
        need g++ g++
        if newer "$program" "$source" ./*.cuh cpu/cucc cpu/*/* "$(dirname "$source")"/*.h; then
            say "build.sh: compiling $source"
            CXX=$host cpu/cucc -Xcompiler -fopenmp "$source" -o "$program.new" && mv "$program.new" "$program" ||
                die "cpu/cucc could not build $source"
        fi
    fi
    program=$PWD/$program
    cd "$HERE" || exit 1
    "${launch[@]}" "$program" "$@"
    local status=$?
    if [ -t 1 ] && [ $# = 0 ]; then
        case $demo in
        matmul) printf '%s\n' "" "next: ./build.sh run matmul --type double        (--help: all options)" \
            "      ./build.sh run raytrace                    (a picture, by each kind of memory)" \
            "      ./build.sh report                          (a page with tables and plots of this machine)" ;;
        *) printf '\nnext: ./build.sh run %s --help\n' "$demo" ;;
        esac
    fi
    return $status
}

# ------------------------------------------ report ----------------------------------------------
# Python with what bench/report needs, in an environment of its own that is made once.
make_report() {
    local python=build/report-python/bin/python wanted=bench/report/requirements.txt
    if [ "${1-}" = --system ]; then
        shift
        have python3 || die "python3 is missing; install the package python3"
        exec python3 bench/report "$@"
    fi
    case " $* " in
    *" --help "* | *" -h "*) have python3 && exec python3 bench/report --help ;; # nothing to install for that
    esac
    need g++ g++
    need python3 python3-venv
    # what it would refuse is refused before anything is installed
    python3 -B -c 'import runpy, sys; runpy.run_path("bench/report")["parse_options"]()' "$@" || exit
    if newer build/report-python/ready "$wanted"; then
        python3 -c 'import ensurepip' 2>/dev/null || get "Python's venv" python3-venv
        folder build
        say "build.sh: installing matplotlib into build/report-python"
        {
            rm -rf build/report-python
            python3 -m venv build/report-python &&
                "$python" -m pip install -q --disable-pip-version-check -r "$wanted"
        } >build/report-python.log 2>&1 || {
            tail -n 5 build/report-python.log >&2
            die "no matplotlib: above are the last words of pip (build/report-python.log has all). It needs a network and" \
                "python3-venv; where matplotlib is installed already: ./build.sh report --system"
        }
        touch build/report-python/ready
    fi
    exec "$python" bench/report "$@"
}

# ------------------------------------------ test ------------------------------------------------
# Every job writes TAP to build/test/NAME.log; jobs run side by side and are added up at the end.

PATIENCE=1200 # seconds for a program or a compilation: on a busy machine some take minutes

# tap NAME COMMAND...: runs a TAP producer; one that dies, hangs or prints another number of
# results than it planned is a failure of its own.
tap() {
    local name=$1 output status planned results
    shift
    output=build/test/tap.$BASHPID
    timeout $PATIENCE "$@" >"$output" 2>"$output.err"
    status=$?
    # awk, unlike sed, ends the last line even where the program died before doing so
    awk -v name="$name" '{ sub(/^(not )?ok [0-9]* - /, "&" name ": "); print }' "$output"
    awk 'NR <= 40 { print "# " $0 }' "$output.err"
    planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$output" | tail -n 1)
    results=$(grep -c -E '^(not )?ok ' "$output")
    if [ $status = 124 ]; then
        say "not ok 0 - $name: took more than $PATIENCE s and was ended, with $results results of ${planned:-none planned}"
    elif [ "${planned:-none}" != "$results" ]; then
        say "not ok 0 - $name: ended early, exit status $status, $results results of ${planned:-none planned}"
    elif [ $status -ne 0 ] && ! grep -q '^not ok' "$output"; then
        say "not ok 0 - $name: exit status $status"
    fi
    rm -f "$output" "$output.err"
}

# check NAME COMMAND...: one result, by exit status.
check() {
    local name=$1 output=build/test/check.$BASHPID
    shift
    if timeout $PATIENCE "$@" >"$output" 2>&1; then
        say "ok 1 - $name"
    else
        say "not ok 1 - $name"
        awk 'NR <= 60 { print "# " $0 }' "$output"
    fi
    rm -f "$output"
}

skip() { say "ok 1 - $1 # SKIP $2"; }

# turns WORD...: of what is alike, the word whose turn it is, or all; see tests/tap.bash.
turns() {
    [ "$TURN" = all ] && echo "$*" && return
    shift $((TURN % $#))
    echo "$1"
}

cpu_test() { # a test program on the CPU runner: thread orders, then sanitized
    local name=$1 order number program=build/test/$1
    local flags=(-Xcompiler "-Wall,-Wextra,-Werror,-fopenmp") sanitized=(--sanitize -Xcompiler "-Wall,-Wextra,-Werror")
    local devices=1 more_devices="" sanitized_devices="" orders
    orders="forward $(turns backward "shuffle:$RANDOM")"
    case $name in # programs that run for a moment: the compiler's time is what counts
    promises | rules) sanitized+=(-O0) flags+=(-O0) ;;
    half | tensor_float) sanitized+=(-O1) ;;
    epilogue | small | tensor_double | no_device) sanitized+=(-O0) ;;
    esac
    if [ "$name" = no_device ]; then # none of the fast kernels runs
        devices=0
        flags+=(-DTMM_SIMPLE)
        sanitized+=(-DTMM_SIMPLE)
    fi
    [ "$name" != tree ] || devices=2 # a tree of another one
    if [ "$name" = host ]; then
        more_devices="$(turns 2 3 5)"
        sanitized_devices=3 # alone
        # tests/gemm.cu looks for undefined behaviour inside of kernels, which takes half of the time
        sanitized+=('-DTMM_KERNEL=static __global__ __attribute__((no_sanitize("undefined")))')
    fi
    case $name in # those that take long; sanitized they are forward
    epilogue | gemm | half | host | promises | rules | syrk | tensor_float | tensor_double) orders="shuffle:$RANDOM" ;;
    esac
    case $name in epilogue | gemm | tensor_double | tensor_float) sanitized+=(-DFEWER) ;; esac
    if [ "$name" = gemm ] && [ "$TURN" != all ]; then # sanitized every fourth day: doubles or integers
        flags+=("-DWITHOUT_$(turns U S24)")
        sanitized+=("-DTMM_NO_$(TURN=$((TURN / 4)) turns INT DOUBLE)")
    fi
    if [ "$name" = syrk ] && [ "$TURN" != all ]; then # float always, and another type each day
        flags+=("-DONLY_$(turns D H I B)" -O1)
        sanitized+=("-DONLY_$(turns H I B D)" -O0)
    fi
    if [ "$name" = half ] && [ "$TURN" != all ]; then
        flags+=("-DWITHOUT_$(turns HALF BFLOAT16)" -O1)
        sanitized+=("-DWITHOUT_$(turns BFLOAT16 HALF)")
    fi
    if [ "$name" = epilogue ] && [ "$TURN" != all ]; then # one of the five types
        flags+=("-DONLY_$(turns FLOAT DOUBLE INT HALF BFLOAT16)" -O1)
        sanitized+=("-DONLY_$(TURN=$((TURN / 6)) turns FLOAT DOUBLE INT HALF BFLOAT16)")
    fi
    if cpu/cucc "${flags[@]}" "tests/$name.cu" -o "$program.cpu" 2>"$program.err"; then
        for order in $orders; do
            tap "$name, $order" env CUCC_DEVICES=$devices CUCC_ORDER="$order" "$program.cpu"
        done
        for number in $more_devices; do
            tap "$name, $number devices, late streams" env CUCC_DEVICES="$number" CUCC_STREAMS="late:$RANDOM" "$program.cpu"
        done
    else
        say "not ok 1 - $name: does not build on the CPU runner"
        sed 's/^/# /' "$program.err"
    fi
    case $name in # sanitized, each of these takes about a minute: one of them each day
    epilogue | gemm | half | host | syrk | tensor_float | tensor_double)
        if [[ " $SANITIZED " != *" $name "* ]]; then
            skip "$name, sanitized" "today it is $SANITIZED; SANITIZED=$name ./build.sh test takes this one"
            return
        fi
        ;;
    esac
    case "$name $(turns 0 1)" in # and of these some on one day, some on the next
    "rules 0" | "raytrace_rules 0" | "small 1" | "raytrace 1")
        skip "$name, sanitized" "another day; TURN=all takes all"
        return
        ;;
    esac
    # without OpenMP: its worker threads and AddressSanitizer's stack switches do not mix
    if cpu/cucc "${sanitized[@]}" "tests/$name.cu" -o "$program.san" 2>"$program.err"; then
        for number in ${sanitized_devices:-$devices}; do
            tap "$name, $number devices, sanitized" env CUCC_DEVICES="$number" "$program.san"
        done
    else
        say "not ok 1 - $name: does not build sanitized"
        sed 's/^/# /' "$program.err"
    fi
}

# What nvcc is to compile for: the GPU that is here; of compute capability 9.0 with what it alone has.
gpu_architecture() {
    case $(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1) in
    9.0) echo -gencode arch=compute_90a,code=sm_90a ;;
    *) echo -arch=native ;;
    esac
}

gpu_test() {
    local name=$1 program=build/test/$1.gpu
    local visible=${CUDA_VISIBLE_DEVICES-0}
    # shellcheck disable=SC2046
    if nvcc -O3 $(gpu_architecture) "${WARNINGS[@]}" -Xcompiler -fopenmp "tests/$name.cu" -o "$program" 2>"$program.err"; then
        [ "$name" = no_device ] && visible=
        tap "$name, GPU" env CUDA_VISIBLE_DEVICES="$visible" "$program"
    else
        say "not ok 1 - $name: does not build with nvcc"
        sed 's/^/# /' "$program.err"
    fi
}

compile_only() { # compile_only FILE ARCHITECTURES: all at once, warnings are errors
    local file=$1 flags=() architecture
    if grep -q cublas_v2.h "$file" && ! grep -q WITH_CUBLAS "$file" &&
        [ ! -e "$(dirname "$(readlink -f "$(command -v nvcc)")")/../include/cublas_v2.h" ]; then
        skip "nvcc compiles $file" "the headers of cuBLAS are not installed"
        return
    fi
    if grep -q '<mpi\.h>' "$file"; then
        if ! have mpicxx; then
            skip "nvcc compiles $file" "the headers of MPI are not installed (Debian: libopenmpi-dev)"
            return
        fi
        flags+=(-ccbin mpicxx)
    fi
    # These have all kernels and take long; tests/registers.sh has nvcc compile the kernels each day.
    case "$file $(turns 0 1)" in
    tests/gemm.cu\ 1 | tests/tensor_double.cu\ 1 | tests/rules.cu\ 0 | tests/tensor_float.cu\ 0)
        skip "nvcc compiles $file" "another day; TURN=all takes all"
        return
        ;;
    esac
    case $file in # the fast kernels take seconds, and are the same in all files but for these
    tests/gemm.cu | tests/rules.cu | tests/small.cu | tests/tensor_float.cu | tests/tensor_double.cu | bench/gemm.cu) ;;
    *) flags+=(-DTMM_SIMPLE) ;;
    esac
    for architecture in $2; do
        flags+=(-gencode "arch=compute_$architecture,code=sm_$architecture")
    done
    # warnings come from what is before the optimizer; tests/registers.sh compiles with it
    nvcc --help | grep -q -e -Ofc && flags+=(-Ofc=max)
    check "nvcc compiles $file for sm_${2// /, }" \
        nvcc "${flags[@]}" "${WARNINGS[@]}" -c "$file" -o "build/test/$(basename "$file").$BASHPID.o"
    rm -f "build/test/$(basename "$file").$BASHPID.o"
}

formatting() {
    if ! have clang-format; then
        skip formatting "clang-format is not installed"
        return
    fi
    # shellcheck disable=SC2046
    check "formatting by .clang-format" clang-format --dry-run -Werror \
        $(git ls-files '*.cu' '*.cuh' '*.c' '*.h' '*.cpp' ':!tiledmm.cuh' ':!raytrace.cuh' 2>/dev/null) # these are the parts
}

quick_demo() { # FILE ARGUMENTS...: it builds without a warning and passes; kernels are what quick/kernels.cu checks
    local source=$1 program compiler=${CXX:-g++} run=()
    shift
    program=build/test/$(basename "$source" .cu).quick
    if grep -q '<mpi\.h>' "$source"; then
        compiler=mpicxx run=(mpirun -n 2)
        if ! have mpicxx || ! have mpirun; then
            skip "$source" "MPI is not installed (Debian: libopenmpi-dev, openmpi-bin)"
            return
        fi
        mpirun --version 2>/dev/null | grep -q 'Open MPI' && run+=(--oversubscribe)
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    check "$source builds" env CXX="$compiler" \
        cpu/cucc -O0 -DTMM_SIMPLE -Xcompiler -Wall,-Wextra,-Werror "$source" -o "$program"
    if timeout $PATIENCE "${run[@]}" "$program" "$@" >"$program.txt" 2>&1 &&
        tail -n 1 "$program.txt" | grep -qxE 'Test PASSED|ok C\(0, 0\) = 12'; then
        say "ok 2 - $source passes"
    else
        say "not ok 2 - $source passes"
        tail -n 20 "$program.txt" | sed 's/^/# /'
    fi
}

# What somebody who has just cloned wants to know: is all of it in order here? By g++ alone.
quick_tests() {
    local source arguments
    unset CUCC_DEVICES CUCC_MEMORY CUCC_ORDER CUCC_STREAMS CUCC_FAIL CUCC_COUNTS
    need g++ g++
    job "kernels" quick_kernels
    job "ways in" tap "ways in" bash tests/quick/ways.sh
    # shellcheck disable=SC2013 # no name has a space
    for source in $(grep -lw main demos/*.cu demos/memory/*.cu); do
        case $(basename "$source" .cu) in # as little as shows something
        matmul | multigpu | outofcore | overlap | matmul_mpi) arguments=96 ;;
        ladder | layer | prepared) arguments="48 40 32" ;;
        raytrace) arguments="--width 64 --height 48 --spheres 20 --out build/test/scene" ;;
        million) arguments="--spheres 500 --width 48 --height 27 --out build/test/million" ;;
        weekend) arguments="--width 64 --height 36 --samples 2 --out build/test/weekend.png" ;;
        *) arguments= ;;
        esac
        # shellcheck disable=SC2086
        job "$source" quick_demo "$source" $arguments
    done
}

quick_kernels() {
    if cpu/cucc -O0 -Xcompiler "-Wall,-Wextra,-Werror" tests/quick/kernels.cu -o build/test/kernels 2>build/test/kernels.err; then
        tap kernels build/test/kernels
    else
        say "not ok 1 - tests/quick/kernels.cu does not build"
        sed 's/^/# /' build/test/kernels.err
    fi
}

job_count=0
job() { # job NAME FUNCTION ARGUMENTS...: in the background, JOBS at a time
    local name=$1
    shift
    while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n; done
    job_count=$((job_count + 1))
    local log
    log=build/test/$(printf '%03d' $job_count).log
    say "$name" >"$log.name"
    {
        "$@" >"$log" 2>&1
        summary "$log"
    } &
}

count() { grep -c -E "$2" "$1" || true; }

summary() { # one line per job, and what failed or was skipped in it
    local log=$1 failed skipped passed took cpu
    times >"$log.times" # second line: minutes and seconds of what this job started, of the user and the system
    cpu=$(awk -F '[ms ]+' 'NR == 2 { printf "%.1f", $1 * 60 + $2 + $3 * 60 + $4 }' "$log.times")
    took=$(($(date +%s) - $(date -r "$log.name" +%s)))
    printf '"%s",%s,%s\n' "$(cat "$log.name")" "$took" "$cpu" >"$log.csv"
    failed=$(count "$log" '^not ok ')
    skipped=$(count "$log" '^ok .*# SKIP')
    passed=$(($(count "$log" '^ok ') - skipped))
    printf '%s %s %s\n' "$passed" "$failed" "$skipped" >"$log.sum"
    {
        printf '%-46s %5d passed, %4d s' "$(cat "$log.name")" "$passed" "$took"
        [ "$failed" -gt 0 ] && printf ', %d FAILED' "$failed"
        [ "$skipped" -gt 0 ] && printf ', %d skipped' "$skipped"
        printf '\n'
        sed -n 's/^ok [0-9]* - \(.*\) # SKIP \(.*\)/    skipped: \1: \2/p' "$log"
        if [ "$failed" -gt 0 ]; then
            grep -B 8 -A 30 '^not ok ' "$log" | grep -v '^ok ' | head -n 60 | sed 's/^/    /'
        elif [ "$passed" -eq 0 ] && [ "$skipped" -eq 0 ]; then
            sed 's/^/    /' "$log" | head -n 20
        fi
    } >"$log.out"
    cat "$log.out"
}

run_tests() {
    local only_gpu=0 quick=0 name file
    case $* in
    '') ;;
    --gpu) only_gpu=1 ;;
    --quick) quick=1 ;;
    *) refuse "test takes --quick, --gpu or nothing, not '$*'" ;;
    esac
    export TURN=${TURN:-$(($(date +%s) / 86400))}
    [[ $TURN =~ ^(all|0|[1-9][0-9]{0,8})$ ]] || refuse "TURN must be a whole number or all, not '$TURN'"
    folder build/test
    rm -rf build/test
    folder build/test
    local started=$SECONDS long=(gemm tensor_float host tensor_double half epilogue syrk)
    SANITIZED=${SANITIZED:-$(turns "${long[@]}")}
    say "build.sh: a line for each part as it ends, $JOBS at a time; the long ones take minutes"
    if [ $quick = 1 ]; then
        quick_tests
    elif [ $only_gpu = 0 ]; then
        need g++ g++
        job "formatting" formatting
        [ -e cpu/tests/run.sh ] && job "CPU runner's own tests" tap "cpu" bash cpu/tests/run.sh
        # the longest first, so that no core idles at the end
        local programs=("${long[@]}")
        for file in tests/*.cu; do
            name=$(basename "$file" .cu)
            [[ " ${long[*]} " = *" $name "* ]] || programs+=("$name")
        done
        for name in "${programs[@]}"; do job "CPU runner: $name" cpu_test "$name"; done
        for file in tests/*.sh; do
            job "$file" tap "$(basename "$file" .sh)" bash "$file"
        done
        for file in cpu/tests/*/run.sh; do
            [ -e "$file" ] && job "$file" tap "cpu $(basename "$(dirname "$file")")" bash "$file"
        done
        if have nvcc; then
            for file in tests/*.cu demos/*.cu demos/*/*.cu bench/*.cu; do
                # tiledmm.cuh takes long; tests/registers.sh has it compiled for all of them
                # and the others have code for old devices and for new ones
                local architectures="75 90a"
                [[ $file = demos/memory/* ]] && ! grep -qE '__CUDA_ARCH__|asm' "$file" && architectures=$(turns 75 90a)
                [[ $file = demos/steps/* ]] && architectures=$(turns 75 90a)
                grep -q 'tiledmm\.cuh' "$file" && architectures=90
                [ -e "$file" ] && job "nvcc: $file" compile_only "$file" "$architectures"
            done
        else
            job "nvcc" skip "compilation by nvcc" "nvcc is not installed"
        fi
    fi
    if [ $quick = 1 ]; then
        :
    elif have nvcc && have_gpu; then
        wait
        JOBS=$((JOBS < 8 ? JOBS : 8)) # they share one GPU
        job "GPU: host" gpu_test host # alone: it looks at how much memory is free
        wait
        for file in tests/*.cu; do
            name=$(basename "$file" .cu)
            [ "$name" = host ] || job "GPU: $name" gpu_test "$name"
        done
        if [ $only_gpu = 1 ]; then # the scripts that have a part for a GPU
            # shellcheck disable=SC2013
            for file in $(grep -l have_gpu tests/*.sh); do
                job "$file" tap "$(basename "$file" .sh)" bash "$file"
            done
        fi
    elif [ $only_gpu = 1 ]; then
        die "test --gpu needs nvcc and a GPU"
    else
        job "GPU" skip "the tests on a GPU" "no GPU here"
    fi
    wait
    local passed=0 failed=0 skipped=0 p f s sum
    for sum in build/test/*.sum; do
        read -r p f s <"$sum"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done
    [ "$(find build/test -name '*.sum' | wc -l)" = $job_count ] || failed=$((failed + 1))
    { echo "part,seconds,CPU seconds" && sort -t , -k 3nr build/test/*.log.csv; } >build/test/times.csv
    say "logs: build/test/*.log, $((SECONDS - started)) s; of each part: build/test/times.csv," \
        "$(awk -F , '{ all += $NF } END { printf "%d", all }' build/test/times.csv) s of CPU"
    [ $quick = 0 ] || say "Left out, which ./build.sh test has: other shapes, ops, batches, types of one's own and rounding;" \
        "thread orders and sanitizers; several devices; errors and refusals; instances, tuning and the report;" \
        "the CPU runner's own tests; nvcc and a GPU."
    [ $quick$only_gpu != 00 ] || say "What takes turns: TURN=$TURN, SANITIZED='$SANITIZED'."
    say "$passed passed, $failed failed, $skipped skipped"
    [ $failed = 0 ] && [ $passed -gt 0 ]
}

make_bench() {
    case ${1-} in
    -*) refuse "bench takes a folder, not '$1'; bench/gpu.sh FOLDER PART... runs only some parts" ;;
    esac
    [ $# -le 1 ] || refuse "bench takes one folder, not '$*'; bench/gpu.sh FOLDER PART... runs only some parts"
    have nvcc || refuse "bench needs nvcc and a GPU, and there is no nvcc; ./build.sh report measures the CPU runner"
    have_gpu || refuse "bench needs nvcc and a GPU, and there is no GPU; ./build.sh report measures the CPU runner"
    exec bash bench/gpu.sh "${1:-build/bench}"
}

clean() {
    [ $# = 0 ] || refuse "clean takes nothing, not '$*'"
    rm -rf build cucc.egg-info 2>/dev/null || die "cannot remove all of $PWD/build"
}

case ${1-}:${2-} in # run and report have a --help of their own
test:-h | test:--help | bench:-h | bench:--help | join:-h | join:--help | install:-h | install:--help | clean:-h | clean:--help)
    usage
    exit
    ;;
esac
case ${1-} in
run) shift; run_demo "$@" ;;
test) shift; run_tests "$@" ;;
bench) shift; make_bench "$@" ;;
report) shift; make_report "$@" ;;
join) shift; exec bash src/join.sh "$@" ;;
install) # from where the caller is, whose folder PREFIX may begin
    shift
    cd "$HERE" || exit 1
    bash "$ROOT/cmake/install.sh" "$@" && exec bash "$ROOT/cpu/install" "$@"
    ;;
exercise)
    shift
    cd "$HERE" || exit 1
    exec bash "$ROOT/demos/steps/exercise.sh" "$@"
    ;;
clean) shift; clean "$@" ;;
-h | --help | help) usage ;;
'')
    usage >&2
    exit 2
    ;;
*) refuse "there is no command '$1'; --help lists them" ;;
esac

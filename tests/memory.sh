#!/usr/bin/env bash
# The demos of demos/memory on the CPU runner: each builds, passes, plain and sanitized, reads its
# options and writes its CSV file; its kernels load and store as often as its table says; and it has
# the form of all of them: kernels first, then a harness that is the same in all.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

demos=
for source in demos/memory/*.cu; do demos="$demos $(basename "$source" .cu)"; done

# ---- the checks must be able to fail ---------------------------------------------------------------
selftest=$(check "false" false)
case $selftest in "not ok"*) check "checks can fail" true ;; *) check "checks can fail" false ;; esac

# ---- builds, two at a time -------------------------------------------------------------------------
build() { # MODE DEMO FLAGS...
    local program=$work/$2.$1 source=demos/memory/$2.cu
    shift 2
    cpu/cucc -Xcompiler -Wall,-Wextra,-Werror "$@" "$source" -o "$program" >"$program.txt" 2>&1
}
for demo in $demos; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    { build plain "$demo" && build count "$demo" --count && build sanitize "$demo" --sanitize; } &
done
wait

# ---- every demo ------------------------------------------------------------------------------------
passes() { # PROGRAM ARGUMENTS...: ends with "Test PASSED"; no row is wrong or tells times of the CPU
    timeout "$patience" "$@" >"$work/output.txt" 2>&1
    local status=$?
    cat "$work/output.txt"
    [ "$status" = 0 ] && [ "$(tail -n 1 "$work/output.txt")" = "Test PASSED" ] &&
        ! grep -q -E 'WRONG|inf' "$work/output.txt" &&
        awk '/  ok$/ {rows++; for (i = 1; i <= 3; i++) if ($(NF - i) != "nan") exit 1} END {exit !rows}' "$work/output.txt"
}
passes_sanitized() { # leaks of the device are a status of their own
    passes "$1" && ! grep -q 'cucc: leak' "$work/output.txt"
}
aligned() { # the rows of the table are as wide as its header
    passes "$1" && awk '/^way /{width = length($0)} /  ok$/ && length($0) != width {exit 1} END {exit !width}' "$work/output.txt"
}
helps() {
    "$1" --help >"$work/output.txt" 2>&1 && grep -q '^usage: ' "$work/output.txt"
}
refuses() { # PROGRAM ARGUMENTS...: a word on stderr, status 2, nothing on stdout
    local status
    "$@" >"$work/output.txt" 2>"$work/error.txt"
    status=$?
    [ "$status" = 2 ] && [ -s "$work/error.txt" ] && [ ! -s "$work/output.txt" ]
}
fails_with() { # PATTERN COMMAND...: a sentence, no success
    local pattern=$1
    shift
    ! "$@" >"$work/output.txt" 2>&1 && grep -q "$pattern" "$work/output.txt" && ! grep -q PASSED "$work/output.txt"
}
writes_csv() { # one header, a row for each row of the table, nine columns
    rm -f "$work/demo.csv"
    passes "$1" --csv "$work/demo.csv" || return 1
    local rows
    rows=$(grep -c '  ok$' "$work/output.txt")
    cat "$work/demo.csv"
    [ "$(wc -l <"$work/demo.csv")" = $((rows + 1)) ] &&
        head -n 1 "$work/demo.csv" | grep -q '^way,loads,stores,' &&
        awk -F, 'NF != 9 {exit 1}' "$work/demo.csv"
}
cannot_open() { # said before the work, with the name
    refuses "$1" --csv "$work/missing/demo.csv" && grep -q "write $work/missing/demo.csv" "$work/error.txt"
}
cannot_write() {
    ! "$1" --csv /dev/full >"$work/output.txt" 2>&1 &&
        grep -q 'could not be written' "$work/output.txt" && [ "$(tail -n 1 "$work/output.txt")" = "Test FAILED" ]
}
harness() { # FILE: what is below the line that announces it, to the end of main
    awk '/^\/\* ---- the harness, the same in every demo/ {on = 1; next} on {print} /^int main/ {last = on} last && /^}$/ {exit}' "$1"
}
kernels() { # FILE: from the first function for the device to that line
    awk '/^\/\* ---- the harness/ {exit} /__global__|__device__/ {on = 1} on {print}' "$1"
}
formed() { # FILE: the harness is that of shared.cu, plain and short; the kernels come before it and are short
    local code
    harness "$1" >"$work/harness.txt"
    harness demos/memory/shared.cu | diff - "$work/harness.txt" || return 1
    code=$(grep -c . "$work/harness.txt")
    echo "$1: $(wc -l <"$1") lines, harness $code, kernels $(kernels "$1" | grep -c .)"
    [ "$code" -ge 20 ] && [ "$code" -le 45 ] && ! grep -n -e '\\$' -e '.\{101\}' "$work/harness.txt" &&
        [ "$(kernels "$1" | grep -c .)" -ge 1 ] && [ "$(kernels "$1" | grep -c .)" -le 60 ] &&
        ! sed '1,/^\/\* ---- the harness/d' "$1" | grep -n __global__ && [ "$(wc -l <"$1")" -le 130 ]
}

# a harness with a line more, kernels of 61 lines, a file of 131: each is found
refuses_form() { ! formed "$1"; }
sed 's/^int main/\n&/; s/^static int failures, runs;/int one;\n&/' demos/memory/shared.cu >"$work/changed.cu"
check "a harness that differs is found" refuses_form "$work/changed.cu"
sed '/^__global__ void transpose_plain/s/^/__device__ int more[61] = {\n'"$(printf '0,\\n%.0s' {1..60})"'0};\n/' demos/memory/shared.cu >"$work/changed.cu"
check "kernels of more than 60 lines are found" refuses_form "$work/changed.cu"
{ cat demos/memory/shared.cu && printf '/* */\n%.0s' {1..10}; } >"$work/changed.cu"
check "a file of more than 130 lines is found" refuses_form "$work/changed.cu"

for demo in $demos; do
    program=$work/$demo
    check "$demo builds without a warning" test -e "$program.plain" -a -e "$program.count" -a -e "$program.sanitize"
    check "$demo passes" passes "$program.plain"
    check "$demo passes, backward" env CUCC_ORDER=backward "$program.plain"
    check "$demo passes, sanitized" passes_sanitized "$program.sanitize"
    check "$demo: the table lines up" aligned "$program.plain"
    check "$demo --help" helps "$program.plain"
    check "$demo refuses an unknown option" refuses "$program.plain" --fast
    check "$demo refuses --csv without a file" refuses "$program.plain" --csv
    check "$demo --csv" writes_csv "$program.plain"
    check "$demo names the file that it cannot open" cannot_open "$program.plain"
    [ ! -e /dev/full ] || check "$demo says when it cannot write" cannot_write "$program.plain"
    check "$demo: kernels first, the harness of all, at most 130 lines" formed "demos/memory/$demo.cu"
    check "$demo without a device" fails_with 'no CUDA-capable device' env CUCC_DEVICES=0 "$program.plain"
    check "$demo without memory" fails_with 'out of memory' env CUCC_MEMORY=1000 "$program.plain"
done

# ---- all at once -----------------------------------------------------------------------------------
all_at_once() { # a line for each demo; without a GPU only right ways, and a word about that
    ./build.sh run memory >"$work/all.txt" 2>&1 || return 1
    cat "$work/all.txt"
    local demo right
    for demo in $demos; do
        [[ $demo =~ ^(latency|bandwidth)$ ]] && continue
        right='\(right\)'
        [ "$demo" != tensor_map ] || right='by hand' # the runner has no tensor maps
        if have nvcc && have_gpu; then
            grep -q -E "^$demo +.*$right +.* (-|[0-9.]+)$" "$work/all.txt" || return 1
        else
            grep -q -E "^$demo +.*$right$" "$work/all.txt" || return 1
        fi
    done
    { have nvcc && have_gpu; } || { grep -q 'times mean nothing' "$work/all.txt" && ! grep -qw wrong "$work/all.txt"; }
}
check "./build.sh run memory: a line for each" all_at_once
check "./build.sh run memory refuses options" refuses ./build.sh run memory --fast

# ---- counted: as often as the textbook, and the table, say ----------------------------------------
# counted DEMO KERNEL LAUNCHES GLOBAL_LOADS GLOBAL_STORES SHARED_LOADS SHARED_STORES
counted() {
    local counts=$work/$1.counts
    # the runner's device has a multiprocessor for each thread: two, wherever this runs
    [ -e "$counts" ] || CUCC_THREADS=2 CUCC_COUNTS=$counts "$work/$1.count" >/dev/null 2>&1
    grep "^kernel $2 " "$counts"
    grep -q "^kernel $2 launches $3 global_loads $4 global_stores $5 shared_loads $6 shared_stores $7 " "$counts"
}
count() { # NAME DEMO KERNEL NUMBERS...
    local name=$1
    shift
    check "counted: $name" counted "$@"
}
N3=$((128 * 128 * 128)) N2=$((128 * 128))
count "a tile of 16 divides global loads by 16" registers multiply_shared 1 $((2 * N3 / 16)) $N2 $((2 * N3)) $((2 * N3 / 16))
count "4 x 4 in registers divides all loads by 4" registers multiply_registers 1 $((2 * N3 / 64)) $N2 $((2 * N3 / 4)) $((2 * N3 / 64))
SIZE=$((96 * 96))
count "a transposition without a tile" shared transpose_plain 1 $SIZE $SIZE 0 0
count "with tiles, the same global accesses, twice" shared transpose_tiled 2 $((2 * SIZE)) $((2 * SIZE)) $((2 * SIZE)) $((2 * SIZE))
N=16384
count "a load and a store for each float, twice" global scale 2 $((2 * N)) $((2 * N)) 0 0
count "float4: a quarter of them" global scale_four 1 $((N / 4)) $((N / 4)) 0 0
count "stride: as many" global scale_strided 1 $N $N 0 0
N=8192
count "constant coefficients: one load a product" constant convolve_constant 1 $((64 * N)) $N 0 0
count "coefficients in global memory: two" constant convolve_global 1 $((128 * N)) $N 0 0
count "own index, constant: one" constant convolve_constant_apart 1 $((64 * N)) $N 0 0
count "own index, global: two" constant convolve_global_apart 1 $((128 * N)) $N 0 0
N=1024 TERMS=$((1024 * 16))
count "a sum in a variable is stored once" readonly multiply_sum 1 $((2 * TERMS)) $N 0 0
count "__ldg loads as often" readonly multiply_ldg 1 $((2 * TERMS)) $N 0 0
count "a counter in shared memory: a load and a store a number" local count_in_shared 1 16384 16384 $((16384 + 16384)) $((16384 + 16384))
count "counters in registers: neither" local count_in_registers 1 16384 16384 0 0
count "a filtered texture makes no global load" texture turn_filtered 1 0 $SIZE 0 0
count "by hand, four loads a pixel" texture turn_loaded 1 $((4 * SIZE)) $SIZE 0 0
count "a sum loads a quarter as often as it has numbers" mapped sum_up 4 $((18 * 4096)) $((4 * 4)) 8176 8176
N=16384
count "sums: four numbers a load twice, one three times" shuffle sum_up 5 $((2 * N / 4 + 3 * N)) 2 '[0-9]*' '[0-9]*'
count "histogram: a load a number, in global memory twice" atomics count_global 2 $((2 * N)) 0 0 0
count "in shared memory four times; counters of a block, or of its 8 warps" atomics count_shared 4 $((4 * N)) 0 $((2 * 256 * 2 * (1 + 8))) $((2 * 256 * 2 * (1 + 8)))
count "a pointer: as many loads and stores as a variable of the device" device_variable scale_pointer 1 $N $N 0 0
count "a parameter needs no load" parameters by_parameter 8 $((8 * 8192 * 64)) $((8 * 8192)) 0 0
count "a table in global memory: a load more a product" parameters by_global 8 $((2 * 8 * 8192 * 64)) $((8 * 8192)) 0 0
count "arrays: one field, then eight" layout sum_arrays 2 $((4096 * 9)) $((2 * 4096)) 0 0
count "structs by two float4" layout sum_vectors 1 $((4096 * 2)) 4096 0 0
count "structs by eight floats" layout sum_structs 1 $((4096 * 8)) 4096 0 0
count "the stream, and the table for each 16th, four times" l2 look_up 4 $((4 * (N + N / 16))) $((4 * N)) 0 0
N=65536
count "tiles of 96, 96, 48 and 24 KB: N + 4096 a block" shared_size add_neighbours 4 $((4 * N + 4096 * (4 + 4 + 8 + 32))) $((4 * N)) $((4 * N * 9)) $((4 * N + 4096 * (4 + 4 + 8 + 32)))
count "three single passes and three of four" peer sum_up 5 $((2 * 4096 + 3 * 4 * 4096)) $((5 * 4)) 20 20
count "50 steps, four ways" pool put_aside 200 $((200 * 4096)) $((200 * 4096)) 0 0
count "50 steps, in a graph and twice by launches" graph step 150 $((150 * 4096)) $((150 * 4096)) 0 0
count "a hundred steps in one launch" cooperative all_steps 1 $((100 * 3 * 2048)) $((100 * 2048)) 0 0
count "a hundred launches: as much" cooperative one_step 100 $((100 * 3 * 2048)) $((100 * 2048)) 0 0
N=$((2 * 8 * 1024))
count "a ring in shared memory: a load a number, all steps there; then four ways in global memory" cluster smooth_all 6 $((N + 2 * 4 * 3 * N)) $((N + 2 * 4 * N)) $((4 * 3 * N + N)) $((4 * N + N))
count "prefix sums: four numbers a store, twice" scan scan 2 '[0-9]*' $((2 * 16384 / 4)) '[0-9]*' '[0-9]*'
count "a texture beyond its edges: no load" texture_edges fetch_all 2 0 $((2 * 4096)) 0 0
count "by hand, four" texture_edges load_all 2 $((2 * 4 * 4096)) $((2 * 4096)) 0 0
count "three elements of linear memory, by a texture" texture_linear sum_fetched 1 0 4096 0 0
count "by hand, none beyond the ends" texture_linear sum_loaded 1 $((3 * 4096 - 2 * 1000)) 4096 0 0
count "a volume: no load, or 8" texture_volume move_loaded 1 $((8 * 4096)) 4096 0 0
count "a texture of three dimensions: none" texture_volume move_filtered 1 0 4096 0 0
count "a surface: a load and a store a pixel, as memory" surface turn 2 $((2 * SIZE)) $((2 * SIZE)) 0 0
count "bytes by a texture: no load" surface mean_of_texture 1 0 $SIZE 0 0
count "latency: a load a step, and tiles of 256" latency walk 16 $((8 * 1024 + 3 * 4 * 256)) 32 $((4 * 1024)) $((3 * 4 * 256))
count "bandwidth: a load for 16 bytes" bandwidth read_all 5 $(((1024 * 4 + 1024 * 4) + 16 * 128 + 16384 + 2048)) 0 '[0-9]*' '[0-9]*'
count "tiles of 1026 times 16 bytes, by whatever copies, of 4 blocks, three times" tma sum_neighbours 3 $((3 * 4 * 1026)) $((3 * 16384)) $((9 * 16384)) $((3 * 4 * 1026))
count "a tile by hand: none beyond the edges" tensor_map sum_boxes 1 2800 $SIZE $((9 * SIZE)) '[0-9]*'
count "tiles by 16 bytes: 2 N^3 / 64 / 4 loads, twice" async_copy multiply 2 $((4 * N3 / 256)) $((2 * N2)) $N3 $((4 * N3 / 256))

# atomics DEMO KERNEL GLOBAL SHARED: as its table says, in all its launches
atomics() {
    local counts=$work/$1.counts
    grep "^kernel $2 " "$counts"
    grep -q "^kernel $2 .* global_atomics $3 shared_atomics $4\( \|$\)" "$counts"
}
N=16384
check "counted: a sum: 9 atomics, 4, a block twice, a number" atomics shuffle sum_up $((9 + 4 + 2 * N / 256 + N)) 0
check "counted: a histogram in global memory: a number, twice" atomics atomics count_global $((2 * N)) 0
check "counted: in shared memory: 256 a block in global memory, four times" atomics atomics count_shared $((4 * 2 * 256)) $((4 * N))

tap_done

#!/usr/bin/env bash
# The textbook's claim about tiles, counted: TMM_SHARED makes the global loads of TMM_GLOBAL divided
# by the width of the tile. The CPU runner counts each load and store that the real kernels make in
# a float product, once whatever its width (cpu/cucc --count).
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

if cpu/cucc --count -Xcompiler -Wall,-Wextra,-Werror tests/counts/counts.cu -o "$work/counts" >"$work/cucc.txt" 2>&1; then
    ok "the CPU runner builds a program that counts"
else
    not_ok "the CPU runner builds a program that counts" "$work/cucc.txt"
fi

# product KERNEL M N K BETA: counts one product; the results below look at its counts
product() {
    what="$1, $2 x $3 x $4, beta $5"
    rm -f "$work/counts.txt"
    CUCC_COUNTS=$work/counts.txt "$work/counts" "$@" >"$work/said.txt" 2>&1 ||
        not_ok "$what: the product is made" "$work/said.txt"
    # of this kernel, launched once, and of no other
    line=
    if [ -e "$work/counts.txt" ] && [ "$(wc -l <"$work/counts.txt")" = 1 ]; then
        line=$(grep "^kernel tmm_sgemm_$1 launches 1 " "$work/counts.txt")
    fi
}
# makes COUNTER EXPECTED [CLAIM]
makes() {
    local found claim="${3:+$3: }$what makes exactly $2 ${1//_/ }"
    found=$(sed -n "s/.* $1 \([0-9]*\).*/\1/p" <<<"$line")
    if [ "$found" = "$2" ]; then
        ok "$claim"
    else
        not_ok "$claim"
        echo "# ${found:-not} counted; $(cat "$work/counts.txt" 2>/dev/null)"
    fi
}

# ---- M = N = K = 64 -------------------------------------------------------------------------------
# 4,096 elements of C, each the sum of 64 products of two elements: 2 * 64^3 = 524,288 loads.
loads=$((2 * 64 ** 3)) elements=$((64 * 64))
product global 64 64 64 0
makes global_loads $loads "without tiles each thread loads its row and its column"
makes global_stores $elements

# A block of T x T threads loads two tiles of T x T at each of 64 / T steps, so that each thread
# loads 2 * 64 / T elements instead of 2 * 64, stores as many to shared memory, and takes the
# 2 * 64 that it needs from there.
for tile in 8 16 32; do
    product shared_$tile 64 64 64 0
    makes global_loads $((loads / tile)) "tiling divides the global loads by the width of the tile"
    makes global_stores $elements
    makes shared_stores $((loads / tile)) "what is loaded is stored to shared memory once"
    makes shared_loads $loads "the loads that tiling saves go to shared memory"
done

# TMM_REGISTER, by quads: vector loads and stores of four floats, aligned here. 256 threads.
#   register_64: one block, one tile of 64 x 64, 4 steps of 16 along k. At each, each thread loads a
#   quad of A and a quad of B:                    256 * 4 * 2      = 2,048 loads (of 4 elements:
#   8,192 = 2 * 64^3 / 64, the width of the tile again). It stores a quad of B as it is, and one
#   of A, which runs along k, as four elements:   256 * 4 * (1 + 4) = 5,120 shared stores.
#   For each k it takes one quad of A and one of B: 256 * 64 * 2   = 32,768 shared loads.
#   It owns 4 x 4 elements of C, four quads:      256 * 4          = 1,024 stores.
product register_64 64 64 64 0
makes global_loads $((256 * 4 * 2)) "quads of a tile of 64"
makes global_load_bytes $((4 * loads / 64)) "tiling divides the bytes loaded by the width of the tile"
makes global_stores $((256 * 4))
makes shared_stores $((256 * 4 * 5))
makes shared_loads $((256 * 64 * 2)) "4 x 4 elements a thread, by quads, take a 16th of the shared loads"

#   register_128: one block, a quarter of whose tile of 128 x 128 is C, 8 steps of 8 along k. The
#   threads whose rows of A lie within the matrix are half of all, and so are those whose columns
#   of B do:                                      128 * 8 * 2      = 2,048 loads
#   Zeros are stored for the rest:                256 * 8 * (1 + 4) = 10,240 shared stores
#   Two quads of A and two of B for each k:       256 * 64 * 4     = 65,536 shared loads
#   C is the same 4,096 elements in quads:                           1,024 stores
product register_128 64 64 64 0
makes global_loads $((128 * 8 * 2)) "quads of a tile of 128, half of it outside"
makes global_stores $((elements / 4))
makes shared_stores $((256 * 8 * 5))
makes shared_loads $((256 * 64 * 4))

# beta = 0 does not read C, or the counts above would be higher; any other beta reads each element
# once, one by one.
for kernel in global shared_8 shared_16 shared_32 register_64 register_128; do
    case $kernel in
    global) without=$loads ;;
    shared_*) without=$((loads / ${kernel#shared_})) ;;
    *) without=2048 ;;
    esac
    product $kernel 64 64 64 1
    makes global_loads $((without + elements)) "beta = 1 reads C, $elements loads more than beta = 0"
done

# K = 0 reads neither A nor B.
product shared_16 64 64 0 0
makes global_loads 0 "K = 0 reads nothing"
makes global_stores $elements

# ---- sizes off the tile ---------------------------------------------------------------------------
# Each element of A is loaded once for each tile across C, each of B once for each tile down:
# nothing outside the matrices, nothing twice. M = 33 and N = 50 take 3 x 4 tiles of 16.
product shared_16 33 50 70 0
makes global_loads $((33 * 70 * 4 + 70 * 50 * 3)) "edges: once for each tile"
makes global_stores $((33 * 50))
# Rows of 70 and 50 floats are not aligned for quads: one by one, one tile of 64.
product register_64 33 50 70 0
makes global_loads $((33 * 70 + 70 * 50)) "edges, unaligned: once for each tile"
makes global_stores $((33 * 50))
# 2 x 2 tiles of 128, all full.
product register_128 256 256 256 0
makes global_loads $((2 * 256 ** 3 / 128 / 4)) "tiling divides the global loads by the width of the tile, quads by 4"
makes global_stores $((256 * 256 / 4))

# ---- passes over the banks ------------------------------------------------------------------------
# The table in shared.cuh of the stores of a warp, with its padding and, in brackets, without.
mkdir -p "$work/bare/tests/counts"
sed 's/\(__shared__ TMM_TYPE [AB]s\[TMM_TILE\]\[TMM_TILE\) + 16 \/ sizeof(TMM_TYPE)\]/\1]/' tiledmm.cuh >"$work/bare/tiledmm.cuh"
cp tests/counts/counts.cu "$work/bare/tests/counts/"
cpu/cucc --report -O1 -DTMM_SIMPLE "$work/bare/tests/counts/counts.cu" -o "$work/bare/counts" 2>"$work/bare/cucc.txt" &
cpu/cucc --report -O1 -DTMM_SIMPLE tests/counts/counts.cu -o "$work/passes" 2>"$work/passes.txt"
wait
passes() { # PROGRAM TILE [T]: of a store to either tile, for each request
    local tile=$2
    rm -f "$work/passes.csv"
    CUCC_REPORT=$work/passes.csv "$1" "shared_$tile" 64 64 64 0 "${@:3}" &&
        awk -F, '/,shared store,/ { print $(NF - 1) / $(NF - 2) }' "$work/passes.csv" | sort -u | paste -sd ' '
}
table_of_passes() { # row T...
    local said counted='' tile
    said=$(sed -n "s/^ *$1  *\([0-9][0-9 ()]*[0-9)]\) .*/\1/p" src/tiledmm/kernels/simple/shared.cuh | tr -s ' ')
    for tile in 8 16 32; do
        counted="$counted $(passes "$work/passes" "$tile" "${@:2}") ($(passes "$work/bare/counts" "$tile" "${@:2}"))"
    done
    echo "said: $said, counted:$counted"
    [ " $said" = "$counted" ]
}
check "shared.cuh: passes of a store along a row" table_of_passes "along a row"
check "shared.cuh: passes of a store down a column" table_of_passes "down a column" T

# ---- demos/ladder.cu ------------------------------------------------------------------------------
# What it prints of its kernels, words for a multiply-add, is what they load. One launch reads C, too.
ladder() {
    cpu/cucc --count -O1 -DTMM_SIMPLE -Xcompiler -Wall,-Wextra,-Werror demos/ladder.cu -o "$work/ladder" &&
        CUCC_COUNTS=$work/ladder.txt "$work/ladder" 64 64 64 >"$work/ladder.said" || return 1
    cat "$work/ladder.said" "$work/ladder.txt"
    awk '
        function words(text) { return split(text, part, "/") > 1 ? part[1] / part[2] : part[1] }
        $1 == "kernel" && $2 ~ /^matmul_/ {
            for (f = 3; f < NF; f += 2) count[$f] = $(f + 1)
            products = count["launches"] * 64 ^ 3
            global[$2] = (count["global_loads"] - 64 ^ 2) / products
            shared[$2] = count["shared_loads"] / products
        }
        /^Words/ { told = 1 }
        told && /^matmul_[a-z]+ / { rows++; wrong = wrong || words($2) != global[$1] || words($3) != shared[$1] }
        END { exit wrong || rows != 3 }' "$work/ladder.txt" "$work/ladder.said"
}
check "demos/ladder.cu says how many words its kernels load" ladder
why_slower() { grep -q 'TMM_SHARED_16,$' "$work/ladder.said" && grep -q 'thread by thread' "$work/ladder.said"; }
check "demos/ladder.cu says why its times on the CPU rank nothing" why_slower

tap_done

#!/usr/bin/env bash
# bench/shapes.cu, gemm.cu, host.cu and accuracy.cu without a GPU: what they draw and refuse, files of
# shapes, and that their checks find what is wrong, on the CPU runner.
# shellcheck disable=SC2016,SC2317,SC2329 # $ is for awk; functions are called through check
. "$(dirname "$0")/tap.bash"
program=$work/shapes
flags=(-O0 -Xcompiler "-Wall,-Wextra,-Werror")

# refuses STATUS PATTERN COMMAND...
refuses() {
    local wanted=$1 pattern=$2 status
    shift 2
    timeout "$patience" "$@" >"$work/out.txt" 2>&1
    status=$?
    cat "$work/out.txt"
    [ "$status" = "$wanted" ] && grep -qE -- "$pattern" "$work/out.txt"
}
# holds AWK FILE...: an awk program on CSV files that sets bad to what is wrong
holds() { awk -F, "$1"' END { if (bad) print bad; exit bad != "" }' "${@:2}"; }

check "it builds" cpu/cucc "${flags[@]}" bench/shapes.cu -o "$program"
for seed in 1 2 20261124; do
    CUCC_DEVICES=0 "$program" --list --seed $seed >"$work/$seed.csv" || echo failed >"$work/$seed.csv"
done

# What is drawn.
again() { "$program" --list --seed 1 | cmp - "$work/1.csv"; }
check "a seed draws the same shapes again" again
differ() { holds 'FNR > 1 && seen[$0]++ { twice++ } END { if (twice > 10) bad = twice " twice" }' "$work"/[12]*.csv; }
check "other seeds draw others" differ
# a program that drew fewer shapes must not move the ones before
fewer() { "$program" --list --seed 1 --count 30 | cmp - <(head -n 31 "$work/1.csv"); }
check "fewer shapes are the first of more" fewer
for seed in 1 2 20261124; do
    check "seed $seed: sizes from 1 to 16384, in a tenth of 200 shapes one up to 200000" holds '
        FNR > 1 { count++; over = 0
            for (n = 3; n <= 5; n++) { over += $n > 16384; if ($n < 1 || $n > 200000) bad = $0 }
            if (over > 1) bad = $0
            longer += over }
        END { if (count != 200 || longer != 20) bad = count " shapes, of these longer: " longer }' "$work/$seed.csv"
    check "seed $seed: at most 4 GB in double and 2^42 multiply-adds" holds '
        FNR > 1 { cells = ($1 == "T" ? $5 : $3) * $6 + ($2 == "T" ? $4 : $5) * $7 + $3 * $8
            if (8 * cells > 4e9 || $3 * $4 * $5 > 2^42) bad = $0 }' "$work/$seed.csv"
    check "seed $seed: leading dimensions hold the columns, and are equal, padded and odd" holds '
        FNR > 1 { a = $1 == "T" ? $3 : $5; b = $2 == "T" ? $5 : $4; c = $4
            if ($6 < a || $7 < b || $8 < c || $6 > a + 64 || $7 > b + 64 || $8 > c + 64) bad = $0
            if ($6 == a && $7 == b && $8 == c) dense++
            else if ($6 % 8 == 0 && $7 % 8 == 0 && $8 % 8 == 0) padded++
            else odd++ }
        END { if (dense < 60 || padded < 30 || odd < 15) bad = dense " " padded " " odd }' "$work/$seed.csv"
    check "seed $seed: all ops, and odd sizes as well as multiples of 16" holds '
        FNR > 1 { ops[$1 $2]++; odd += $3 % 2 && $4 % 2 && $5 % 2; even += !($3 % 16 + $4 % 16 + $5 % 16) }
        END { for (n = 0; n < 4; n++) if (ops[substr("NNNTTNTT", 2 * n + 1, 2)] < 25) bad = "ops"
            if (odd < 30 || even < 10) bad = odd " odd, " even " multiples of 16" }' "$work/$seed.csv"
    # by the words of the manual, not by the code
    check "seed $seed: kinds are what the manual says, and each has ten shapes" holds '
        FNR > 1 { m = $3 < $4 ? $3 : $4; w = $3 > $4 ? $3 : $4; k = $5
            if (m <= 16) kind = "1-16"
            else if (w <= 512 && k < 4096) kind = "small"
            else if (w <= 512 || (m > 256 && m * w <= 1048576 && k >= 8192)) kind = "long_k"
            else if (m <= 64) kind = "17-64"
            else if (m <= 256) kind = "65-256"
            else if (k <= 256) kind = "short_k"
            else kind = m * w * k <= 2048 ^ 3 ? "mid" : "large"
            count[kind]++
            if (kind != $11) bad = $0 " is " kind }
        END { for (n = split("1-16 17-64 65-256 small mid large long_k short_k", name, " "); n > 0; n--)
            if (count[name[n]] < 10) bad = name[n] ": " 0 + count[name[n]] }' "$work/$seed.csv"
done
only() { "$program" --list --seed 5 --count 40 --kind "$1" | holds "FNR > 1 { count++; if (\$11 != \"$1\") bad = \$0 }
    END { if (count != 40) bad = count }"; }
for kind in 1-16 17-64 65-256 small mid large long_k short_k; do check "--kind $kind" only $kind; done

# What it refuses.
check "--help" refuses 0 "^usage: shapes " "$program" --help
check "an unknown option" refuses 2 "'--nothing' is not understood" "$program" --nothing
check "a seed that is none" refuses 2 "whole number, not 'x'" "$program" --seed x
check "no seed" refuses 2 "whole number, not 'nothing'" "$program" --seed
check "no shapes at all" refuses 2 "from 1 to 4096, not '0'" "$program" --count 0
check "a type that is none" refuses 2 "float, double, tensor, int8, int or all, not 'half'" "$program" --type half
check "a kind that is none" refuses 2 "no kind is called 'huge'" "$program" --kind huge
check "seconds that are none" refuses 2 "whole number .*, not '-1'" "$program" --seconds -1
check "a ratio that is none" refuses 2 "number from 0 to 100, not '0.9.8'" "$program" --least 0.9.8
check "milliseconds that are none" refuses 2 "--ms is a whole number .*, not '0'" "$program" --ms 0
check "times of plans that cannot be written" refuses 2 "cannot write /none/x.csv" "$program" --plans /none/x.csv
check "a use without a file" refuses 2 "--use needs --shapes" "$program" --use tune
check "a CSV file without a name" refuses 2 "name of a file" "$program" --csv --list
check "a CSV file that cannot be written" refuses 2 "cannot write /none/x.csv" "$program" --csv /none/x.csv
check "a list of shapes that is not there" refuses 2 "cannot read /none.csv" "$program" --list --shapes /none.csv
check "without a device" env CUCC_DEVICES=0 bash -c "! $program --count 1"
closed() { ! "$program" --list >/dev/full; }
check "a list that cannot be written" closed

# Files of shapes.
head=opA,opB,M,N,K,lda,ldb,ldc
list() { # PATTERN LINE...
    printf '%s\n' "${@:2}" >"$work/list.csv" && refuses 2 "$1" "$program" --list --shapes "$work/list.csv"
}
check "a file without a column" list "no column ldc" "${head%,ldc}" N,N,1,1,1,1,1
check "a file without shapes" list "has no shapes" $head
check "a file with an op that is none" list "line 3: no shape" $head N,N,2,3,4,4,3,3 N,C,2,3,4,4,3,3
check "a file with a leading dimension that is too small" list "line 2: no shape" $head T,N,2,3,4,1,3,3
check "a file with a batch that is none" list "line 2: no shape" $head,batch N,N,2,3,4,4,3,3,0
check "a file without a column that is asked for" refuses 2 "no column use" "$program" --list --shapes "$work/list.csv" --use x
check "a file with a product that is too large" list "line 2: no shape" $head N,N,200000,200000,1,1,200000,200000
check "a file with a line that is cut off" list "line 2: no shape" $head N,N,2,3
printf '%s\n' "kind,ldc,$head" x,304,N,T,17,300,256,256,256,304 x,1,T,T,1,1,1,1,1,1 x,1,T,T,1,1,1,1,1,1 |
    sed '1s/,ldc$/,other/' >"$work/other.csv"
printf '%s\n' $head,batch,offset,kind N,T,17,300,256,256,256,304,1,0,small T,T,1,1,1,1,1,1,1,0,1-16 >"$work/wanted.csv"
columns() { "$program" --list --shapes "$work/other.csv" | diff - "$work/wanted.csv"; }
check "columns in another order, each shape once" columns
small() { "$program" --list --shapes "$work/other.csv" --kind small | diff - <(sed 3d "$work/wanted.csv"); }
check "of these, one kind" small
check "of these, a kind that is not there" refuses 2 "no shapes of kind large" \
    "$program" --list --shapes "$work/other.csv" --kind large

# The lists that are here. Of work.csv every third shape is for the figure, which nobody tunes to.
lists() {
    local count
    for use in tune figure; do
        "$program" --list --shapes bench/work.csv --use "$use" >"$work/$use.csv" || return 1
    done
    count=$(($(wc -l <"$work/tune.csv") - 1 + $(wc -l <"$work/figure.csv") - 1))
    [ "$count" -ge 60 ] && [ "$("$program" --list --shapes bench/work.csv | wc -l)" = $((count + 1)) ] || return 1
    holds 'NR > 1 && $11 != (NR % 3 == 1 ? "figure" : "tune") { bad = $0 } NR > 1 && $12 == "" { bad = $0 " has no origin" }
        NR > 1 && ($6 != ($1 == "T" ? $3 : $5) || $7 != ($2 == "T" ? $5 : $4) || $8 != $4) { bad = $0 " is not dense" }' bench/work.csv
}
check "bench/work.csv: shapes of the present, a third of them for the figure" lists
squares() { "$program" --list --shapes bench/gemm.csv --use square | holds '
    NR > 1 && ($3 != $4 || $3 != $5) { bad = $0 } NR > 1 && $6 == $3 { seen[$3] = 1 }
    END { if (!seen[64] || !seen[16384] || length(seen) < 20) bad = length(seen) }'; }
check "bench/gemm.csv: squares from 64 to 16384" squares

# On the CPU runner: results are right, rows are whole, and its own CSV file is such a list.
cat >"$work/few.csv" <<END
$head
N,N,33,70,40,40,70,70
T,T,100,50,30,101,31,53
N,T,1,200,77,77,77,200
T,N,17,300,256,32,304,304
END
run() { # OPTION...: all types of the shapes
    refuses 0 "^all results are right" "$program" --shapes "$work/few.csv" --csv "$work/rows.csv" "$@" &&
        awk -F, 'NR == 1 { columns = NF } NF != columns || (NR > 1 && !/,ok,/) { bad = 1 }
            END { exit bad || NR != 12 }' "$work/rows.csv"
}
check "results are right, a row for each shape and type" run
own() { "$program" --list --shapes "$work/rows.csv" | diff - <("$program" --list --shapes "$work/few.csv"); }
check "its own rows are a list of shapes" own
# --plans: the file of times of every kernel and plan (bench/times.h), as on a GPU for which TMM_AUTO has all kernels.
printf '%s\n' $head N,N,17,40,70,70,40,40 T,T,50,20,40,51,41,23 >"$work/two.csv" # small: each plan is checked
all_plans() {
    CUCC_GPU=h100 refuses 0 "^all results are right" "$program" --shapes "$work/two.csv" --csv "$work/rows.csv" \
        --plans "$work/plans.csv" --ms 5 --seed 3
}
check "--plans: results are right" all_plans
form() { # short lines, each of which says what it is; SMALL's plans have names
    cat "$work/plans.csv"
    head -n 1 "$work/plans.csv" | grep -qE '^# CPU runner as h100, driver [0-9.]+, CUDA [0-9.]+, seed 3, 5 ms a plan$' &&
        [ "$(sed -n 2p "$work/plans.csv")" = "# clusters of 2 to 8 blocks: 0 0 0 0 0 0 0" ] &&
        [ "$(sed -n 3p "$work/plans.csv")" = shape,kernel,instance,cut,slices,ns,predicted ] &&
        [ "$(grep -c '^,' "$work/plans.csv")" -ge 18 ] && ! grep -qE '^,.{45}' "$work/plans.csv" && holds 'NR > 3 { short = $5 == "" || $5 ~ /^[0-9]+$/
            if (NF != 7 || !short || ($3 == "") != ($4 == "") || ($3 == "") != ($5 == "")) bad = $0
            for (n = 6; n <= 7; n++) if ($n !~ /^([1-9][0-9]?[0-9]?[0-9]?0*|[0-9][0-9]?[0-9]?[.][0-9]+)$/ && !($n == "" && $3 == "")) bad = $0
            if ($2 == "small" && $0 !~ /,[0-3],(whole,[1248]|reduce,[0-9]+),/) bad = $0 }' "$work/plans.csv"
}
check "--plans: short lines of four digits" form
groups() { # a shape and type each, as many as rows, whose choice is the first line and by prediction the fastest
    awk -F, '$1 != "" && NR > 3 { split($1, part, " "); print part[1] "," substr(part[2], 1, 1) "," substr(part[2], 2) \
            "," part[3] "," part[4] "," part[5] "," part[6] "," part[7] "," part[8] "," part[9] "," part[10] "," $2 }' "$work/plans.csv" >"$work/groups.txt"
    awk -F, 'NR == 1 { for (n = 1; n <= NF; n++) at[$n] = n }
        NR > 1 { print $1 "," $2 "," $3 "," $4 "," $5 "," $6 "," $7 "," $8 "," $9 "," $at["cache"] "," $at["method"] "," $at["kernel"] }' "$work/rows.csv" |
        diff - "$work/groups.txt" && [ "$(wc -l <"$work/groups.txt")" = 6 ] && holds '
        NR > 3 && $1 != "" { chosen = $7; lines = 0; shape = $1 }
        NR > 3 && $7 != "" && $7 < chosen { bad = shape ": not the choice: " $0 }
        NR > 3 { key = shape "," $2 "," $3 "," $4 "," $5; if (seen[key]++) bad = key " twice"; kernels[shape] += $3 == "" }
        END { for (key in kernels) if (kernels[key] > 4) bad = key ": kernels without plans" }' "$work/plans.csv"
}
check "--plans: the choice comes first, every plan once" groups
check "--cold: results are right" run --cold
check "--type takes one" refuses 0 "^double NN 33,70,40" "$program" --shapes "$work/few.csv" --type double
printf '%s\n' $head N,T,256,255,256,256,256,255 N,T,256,257,300,300,304,257 >"$work/whole.csv"
int8() { # of these two, the one whose sizes are all from 256 on
    refuses 0 "^all results are right" "$program" --shapes "$work/whole.csv" --type int8 --csv "$work/rows.csv" &&
        [ "$(grep -c '^int8,N,T,256,257,300,.*,ok,' "$work/rows.csv")" = 1 ] && [ "$(wc -l <"$work/rows.csv")" = 2 ]
}
check "--type int8: double by TMM_AUTO_TENSOR, where M, N and K are 256 at least" int8

printf '%s\n' $head,batch,offset N,T,20,30,40,41,47,30,6,0 T,N,33,20,70,33,20,21,1,3 >"$work/batch.csv"
batch() { # of all, float to int, and with its own rows as a list
    refuses 0 "^all results are right" "$program" --shapes "$work/batch.csv" --type all --type int --csv "$work/rows.csv" &&
        grep -q '^int,N,T,20,30,40,41,47,30,6,0,.*,ok,' "$work/rows.csv" && [ "$(grep -c ',ok,' "$work/rows.csv")" = 8 ] &&
        "$program" --list --shapes "$work/rows.csv" | diff - <("$program" --list --shapes "$work/batch.csv")
}
check "batches, offsets and int: results are right" batch

# Beside another header, in the same process: that is the one that is called, and it is checked, too.
mkdir "$work/old" "$work/wrong"
cp tiledmm.cuh "$work/old"
cat >"$work/wrong/tiledmm.cuh" <<'END'
#define TMM_EPILOGUE(value, row, col) ((row) == 16 && (col) == 19 ? (value) + 1 : (value))
#include "../old/tiledmm.cuh"
END
simple() { cpu/cucc "${flags[@]}" -DTMM_SIMPLE -I. "$@"; }
check "it builds for another header" simple '-DPEER="old"' -c bench/shapes.cu -o "$work/beside.o"
beside() { # HEADER STATUS PATTERN
    simple "-DPEER_HEADER=\"$PWD/$work/$1/tiledmm.cuh\"" "$work/beside.o" bench/peer.cu -o "$work/beside" &&
        refuses "$2" "$3" "$work/beside" --shapes "$work/batch.csv" --csv "$work/rows.csv"
}
check "beside another header" beside old 0 "^float, times old$"
both() { awk -F, 'NR == 1 { for (n = 1; n <= NF; n++) at[$n] = n }
    NR > 1 { rows[$1]++; if (!($at["peer_us"] > 0) || !($at["ratio"] > 0) || $at["result"] != "ok") { print; bad = 1 } }
    END { exit bad || NR != 9 || rows["int"] != 2 || rows["tensor"] != 2 }' "$work/rows.csv"; }
check "all types have times of both" both
check "without plans, which are not asked for there" refuses 2 "not for a build with a peer" "$work/beside" --plans "$work/plans.csv"
check "a header that is wrong is found" beside wrong 1 "^shapes: old: WRONG"

# One element in C that is wrong, not finite, missing or beside C, or that is right only at first.
cat >"$work/planted.cu" <<'END'
#include <stdlib.h>
static __managed__ int planted, calls;
static const int set_planted = (planted = atoi(getenv("PLANT")));
#define SPOIL(value)                                            \
    (planted == 1   ? (value) + 0.02f                           \
     : planted == 2 ? __int_as_float(0x7f800000)                \
     : planted == 3 ? (value) + 5e-4f /* |A||B| is about 64 */   \
     : planted == 4 ? __int_as_float(-1)                        \
     : planted == 5 ? (value)                                   \
                    : (value) + (calls++ ? 1e-5f : 0))
#define TMM_EPILOGUE(value, row, col) ((row) == 16 && (col) == 299 ? SPOIL(value) : (value))
#define TMM_SIMPLE
#define TMM_FLOAT_TENSOR  0
#define TMM_DOUBLE_TENSOR 0
#include "bench/plans.h"
#include "tiledmm.cuh"
static __global__ void store_beside(float *C) { *C = 0; }
static tmm_status spoiled(tmm_kernel kernel, tmm_op opA, tmm_op opB, long long M, long long N, long long K,
                          float alpha, const float *A, long long lda, const float *B, long long ldb, float beta,
                          float *C, long long ldc, tmm_stream stream)
{
    const tmm_status status = tmm_sgemm_with(kernel, opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, stream);
    if (planted == 5 && M > 16 && N > 299) store_beside<<<1, 1, 0, stream>>>(C + 16 * ldc + 301);
    return status;
}
#define tmm_sgemm_with spoiled
#include "bench/shapes.cu"
END
check "it builds with what is wrong" cpu/cucc "${flags[@]}" -I. "$work/planted.cu" -o "$work/planted"
plant() { # WHICH RESULT
    PLANT=$1 refuses 1 "$2" "$work/planted" --shapes "$work/few.csv" --type float --csv "$work/rows.csv" &&
        grep -q "some results were WRONG" "$work/out.txt" && [ "$(grep -c ",$2," "$work/rows.csv")" = 1 ]
}
check "a wrong element is found" plant 1 WRONG
check "an element that is not finite is found" plant 2 "NOT FINITE"
check "an element that is too coarse is found" plant 3 IMPRECISE
check "an element that was not written is found" plant 4 UNWRITTEN
check "an element beside C is found" plant 5 "OUTSIDE C"
check "bits that vary from call to call are found" plant 6 VARIES

# Statistics of 21 rows that are known: ratios of 1 to 21, and choices 0 to 20 % slower than the best.
cat >"$work/known.cu" <<'END'
#define TMM_NO_READY_MADE
#include "tiledmm.cuh"
#define BENCH "known"
#include "bench/plans.h"
#include "bench/summary.h"
int main(void)
{
    static row rows[21];
    for (int n = 0; n < 21; n++) {
        shape s = {'N', 'N', 600, 600, 600, 600, 600, 600, 1, 0};
        int k = (n * 8 + 3) % 21; /* all of them, in another order */
        rows[n].s = s, rows[n].kernel = TMM_SMALL, rows[n].best = "pipelined";
        rows[n].result = "ok", rows[n].type = TYPE_DOUBLE;
        rows[n].limit = 50, rows[n].ours = 100 + k, rows[n].cublas = (100 + k) * (k + 1);
        rows[n].best_us = 100, rows[n].error = 0.01 * k;
    }
    print_below(rows, 21, 3);
    print_summary(rows, 21, 0); /* nothing of float and tensor */
    print_summary(rows, 21, 1);
    for (int n = 0; n < 21; n++)
        rows[n].type = TYPE_TENSOR, rows[n].cublas = 0, rows[n].strict = 2 * rows[n].ours;
    print_summary(rows, 21, 0);
    for (int n = 0; n < 21; n++) rows[n].type = TYPE_INT8;
    print_summary(rows, 21, 0);
    return 0;
}
END
statistics() {
    cpu/cucc -O0 -I. -Xcompiler -Wall,-Wextra "$work/known.cu" -o "$work/known" && "$work/known" >"$work/known.txt"
    cat "$work/known.txt"
    # 26180 / 2310 of the times; (21!)^(1/21) = 8.679; that of 50 / (100 + k) is 0.455, and of 50 / (100 + k) / (k + 1) 0.0524
    for line in '^mid +21 +8\.679 +2\.000 +1\.000 +0\.46 +0\.05 +0\.200$' '^all +21 +8\.679 +2\.000 +1\.000 ' \
        '^weighted by time +21 +11\.333$' '^weighted by time +21 +10\.0%$' '^2 of 21 rows below 3 times cuBLAS$' \
        '^mid +21 +10\.0% +19\.0% +20\.0%$' '^256 and more +21 +10\.0% +19\.0% +20\.0%$' '^tensor, times strict float$' '^int8, times TMM_AUTO, double$' '^all +21 +2\.000 +2\.000 +2\.000$'; do
        grep -qE -- "$line" "$work/known.txt" || { echo "no $line"; return 1; }
    done
    # kinds come first, all together last
    awk '/^all / { all = NR } /^(mid|256 and more) / { kind = NR } /^weighted/ { weighted = NR }
        /^worst ten/ { if (kind > weighted || weighted > all) exit 1 }' "$work/known.txt" || return 1
    [ "$(grep -c '^float' "$work/known.txt")" = 0 ] && [ "$(grep -c '^double NN' "$work/known.txt")" = 22 ] &&
        [ "$(grep -c ', times cuBLAS' "$work/known.txt")" = 1 ]
}
check "means, percentiles and worst ten" statistics
# Times, by a clock that is known (tests/shapes/clock.h): microseconds of each contender as they are, in
# a graph below 50 of them, whatever the host and slow measurements add.
mkdir -p "$work/copy/bench"
cp bench/*.h "$work/copy/bench"
sed -i 's/spin<<<.*(HOLD);/work(21, 2);/; s/properties.l2CacheSize/atoi(getenv("L2"))/' "$work/copy/bench/"{race,device}.h
sed -i 's/spin<<<.*(HOLD);/work(21, 2);/; s/spin<<<.*(BUSY);/work(500, 2);/; s/CALLS = 20, /CALLS = 200, /; s/empty<<<.*();/work(1, 3);/' \
    "$work/copy/bench/probe.h"
cp bench/shapes.cu "$work/copy/bench"
export L2=1000000
printf '%s\n' '#define TMM_SIMPLE' '#define TMM_FLOAT_TENSOR  0' '#define TMM_DOUBLE_TENSOR 0' '#include "tests/shapes/clock.h"' \
    '#include "bench/shapes.cu"' >"$work/copy/timed.cu"
ln -sf "$PWD/tiledmm.cuh" "$work/copy/tiledmm.cuh"
check "it builds with a clock that is known" cpu/cucc -O0 "-I$work/copy" -I. "$work/copy/timed.cu" -o "$work/timed"
printf '%s\n' $head N,N,33,70,40,40,70,70 >"$work/one.csv"
times() { # OURS THEIRS METHOD MS: right within half a percent, and 2 microseconds to a graph; timed for so long
    OURS=$1 THEIRS=$2 refuses 0 "^all results are right" timeout 60 "$work/timed" --shapes "$work/one.csv" \
        --type float --csv "$work/rows.csv" || return 1
    awk -F, -v ours="$1" -v theirs="$2" -v method="$3" -v ms="$4" 'function off(x, y) { return x < 0.995 * y || x > 1.005 * y }
        NR == 1 { for (n = 1; n <= NF; n++) at[$n] = n }
        NR == 2 { bad = off($at["ours_us"], ours) || off($at["cublas_us"], theirs) || $at["method"] != method ||
            $at["ms"] < 0.75 * ms || $at["ms"] > 1.2 * ms || $at["cache"] != "warm" ||
            off($at["ratio"], $at["cublas_us"] / $at["ours_us"]); print }
        END { exit bad || NR != 2 }' "$work/rows.csv" || return 1
    grep -q "an empty kernel 2.90 us on a stream, 1.01 us in a graph" "$work/out.txt"
}
check "times of 2 and 3 us" times 2 3 graph 48
check "times of 12 and 2 us" times 12 2 graph 48
check "times of 49 and 400 us" times 49 400 graph 48
check "times of 60 and 45 us" times 60 45 graph 48
check "times of 60 and 52 us" times 60 52 stream 48
check "times of 190 and 290 us" times 190 290 stream 48
check "from 200 us on slices are sustained" times 210 290 stream 320
check "times of 5000 and 4000 us" times 5000 4000 stream 320
check "times of 30000 and 170000 us" times 30000 170000 stream 240

# --plans: every plan is timed as long as the choice. Of this clock they all take 50 ms, but 75 in one of five measurements.
plans() { # MS OPTION...
    COMPUTE=1 OURS=50000 THEIRS=1 refuses 0 "^all results are right" timeout 60 "$work/timed" --shapes "$work/one.csv" --type float \
        --csv "$work/rows.csv" --plans "$work/plans.csv" "${@:2}" && cat "$work/plans.csv" &&
        [ "$(grep -cE ',(5|6|7)[0-9]{7},[0-9]+$' "$work/plans.csv")" = 3 ] && [ "$(wc -l <"$work/plans.csv")" = 6 ] &&
        awk -F, -v ms="$1" 'NR == 1 { for (n = 1; n <= NF; n++) at[$n] = n }
            NR == 2 { print; exit !($at["ms"] >= 0.9 * ms && $at["ms"] < 1.6 * ms) }' "$work/rows.csv"
}
check "--plans: plans are sustained, too" plans 400
check "--ms: plans are timed no longer" plans 300 --ms 300
check "--ms: plans are timed once at least" plans 50 --ms 1

# What does not fit L2 twice is cold, what fits it may stay there: A, B and C have 50 kB with their guards.
cold() { # L2 CACHE [OPTION]
    L2=$1 OURS=60 THEIRS=60 refuses 0 "^all results are right" "$work/timed" --shapes "$work/one.csv" --type float \
        --csv "$work/rows.csv" "${@:3}" && grep -q ",stream,$2," "$work/rows.csv"
}
check "half of L2 is warm" cold 110000 warm
check "more than half is cold" cold 90000 cold
check "--cold: all of it is" cold 110000 cold --cold

# --least: below it once, a shape is measured once more; SLOW products of ours take half as long again.
least() { # STATUS PATTERN OURS THEIRS SLOW
    OURS=$3 THEIRS=$4 SLOW=$5 refuses "$1" "$2" timeout 60 "$work/timed" --shapes "$work/one.csv" --type float \
        --least 0.98
}
check "--least: fast enough" least 0 "^0 of 1 rows below 0.98 times cuBLAS" 60 59 0
check "--least: too slow" least 1 "^1 of 1 rows below 0.98 times cuBLAS" 60 58 0
check "--least: too slow for a moment" least 0 "^0 of 1 rows below 0.98 times cuBLAS" 60 60 480
check "--least: too slow when measured again, too" least 1 "^1 of 1 rows below 0.98 times cuBLAS" 60 60 1200

# bench/gemm.cu, beside the runner's cuBLAS: rows of all types in the columns that scripts read by number.
gemm() { # STATUS PATTERN OPTION...
    refuses "$1" "$2" "$work/gemm" --csv "$work/gemm.csv" "${@:3}"
}
check "bench/gemm.cu builds" simple bench/gemm.cu -o "$work/gemm"
check "gemm: results are right" gemm 0 "^all results are right" --shapes "$work/batch.csv" --kernel auto --kernel shared_32
columns=name,choice,type,op,M,N,K,batch,lda,ldb,ldc,offset,real_time_us,cublas_us,cublaslt_us,cublas_gemv_us,graph_us,
columns+=cublas_graph_us,tflops,gbytes_per_s,ratio,ratio_cublaslt,percent_of_limit,limit,error,cublas_error,bound,result,
columns+=device,driver,toolkit,cublas,compiled_for,seed,phi
gemm_rows() {
    head -n 1 "$work/gemm.csv" | grep -qx "$columns" && awk -F, 'NF != 35 { bad = 1 }
        /^limit_/ { limits[$1] = $19 + $20 }
        $1 == "auto" || $1 == "shared_32" { rows++
            if ($28 != "ok" || !($13 > 0) || $2 == "" != ($1 == "shared_32") || ($3 != "int") != ($14 > 0)) { print; bad = 1 }
            if ($3 != "int" && ($21 - $14 / $13) ^ 2 > 1e-8) { print; bad = 1 }
            if ($4 == "nt" && ($5 != 20 || $8 != 6 || $9 != 41 || $12 != 0) || $4 == "tn" && $12 != 3) { print; bad = 1 } }
        END { exit bad || rows != 12 || !(limits["limit_read"] > 0) || !(limits["limit_ffma"] > 0) }' "$work/gemm.csv"
}
check "gemm: its columns, limits and rows" gemm_rows
check "gemm: other data, a vector" gemm 0 "cublasDgemv takes" --type double --shape 1,60,77 --phi 1
check "gemm: a kernel that is none" gemm 2 "no kernel is called 'fast'" --kernel fast
check "gemm: a size that is none" gemm 2 "M,N,K or N, each from 1 to 2.30, not '4,5'" --shape 4,5
gemm_wrong() {
    printf '%s\n' '#define TMM_FLOAT_TENSOR  0' '#define TMM_DOUBLE_TENSOR 0' '#include "wrong/tiledmm.cuh"' '#include "bench/gemm.cu"' >"$work/gemm_wrong.cu"
    simple "-I$work" "$work/gemm_wrong.cu" -o "$work/gemm" &&
        gemm 1 "some results were WRONG" --shapes "$work/batch.csv" && [ "$(grep -c ',WRONG,' "$work/gemm.csv")" = 8 ]
}
check "gemm: wrong elements are found" gemm_wrong

# bench/host.cu and bench/accuracy.cu, beside the runner's cuBLAS, with one element of C that PLANT moves:
# 0: not at all, 1: by 1, 2: by a hair.
cat >"$work/host.cu" <<'END'
#include "tiledmm.cuh"
static tmm_status spoiled(tmm_op opA, tmm_op opB, long long M, long long N, long long K, float alpha, const float *A, long long lda,
                          const float *B, long long ldb, float beta, float *C, long long ldc, const tmm_host_options *how)
{
    const tmm_status status = tmm_sgemm_host(opA, opB, M, N, K, alpha, A, lda, B, ldb, beta, C, ldc, how);
    const int plant = atoi(getenv("PLANT"));
    C[16 * ldc + 19] = plant == 1 ? C[16 * ldc + 19] + 1 : plant == 2 ? C[16 * ldc + 19] * 1.000001f : C[16 * ldc + 19];
    return status;
}
#define tmm_sgemm_host spoiled
#include "bench/host.cu"
END
cat >"$work/accuracy.cu" <<'END'
#include <stdlib.h>
static __managed__ int planted;
static const int set_planted = (planted = atoi(getenv("PLANT")));
#define TMM_EPILOGUE(value, row, col) ((row) == 16 && (col) == 19 ? (value) + planted : (value))
#include "bench/accuracy.cu"
END
for name in host accuracy; do
    check "bench/$name.cu builds" simple -DWITH_CUBLAS "$work/$name.cu" -o "$work/$name"
done
host() { # PLANT STATUS PATTERN OPTION...
    PLANT=$1 CUCC_DEVICES=2 refuses "$2" "$3" "$work/host" --csv "$work/host.csv" "${@:4}"
}
columns=what,type,N,devices,memory,ms,gflops,floor_ms,compute_ms,compute_kernel,times_limit,cublasxt_ms,cublasxt_block,
columns+=cublasxt_over_ours,efficiency,gbytes,result,goal,met
host_rows() { # all ways on one device and on two, with the same bits
    host 0 0 "all results are right$" --shape 45 --pageable && head -n 1 "$work/host.csv" | grep -qx "$columns" &&
        awk -F, 'NF != 19 || !($6 > 0) { print; bad = 1 } $3 == 45 { rows[$17]++; if ($15 > 0 != ($4 == 2)) { print; bad = 1 } }
            $2 == "" { rates++ } END { exit bad || rates != 7 || rows["ok"] != 2 || rows["same bits"] != 10 }' "$work/host.csv"
}
check "host: its columns, rates and rows" host_rows
course() { host 0 0 "all results are right$" --type double && [ "$(grep -c ',double,60,1,fresh,.*,ok,' "$work/host.csv")" = 4 ]; }
check "host: the course's case four ways" course
check "host: a wrong element is found" host 1 1 "some results were WRONG" --shape 45 --type float
other_bits() { host 2 1 "some results were WRONG" --shape 45 --type float && grep -q ',ok,' "$work/host.csv" && grep -q ',OTHER BITS,' "$work/host.csv"; }
check "host: other bits are found" other_bits
check "host: devices that are none" host 0 2 "--devices is a list such as 0,1, not '0,'" --devices 0,

accuracy() { # PLANT STATUS PATTERN OPTION...
    PLANT=$1 refuses "$2" "$3" "$work/accuracy" --csv "$work/accuracy.csv" --size 24 --k 40 "${@:4}"
}
accuracy_rows() { # each kind of data by TMM_AUTO and cuBLAS, the machine in the first row
    accuracy 0 0 "^26 rows, 0 FAILED" --seed 7 &&
        head -n 1 "$work/accuracy.csv" | grep -qx kind,M,K,kernel,choice,max_u,mean_u,result,us,device,driver,toolkit,cublas,seed &&
        awk -F, 'NF != 14 || ($10 == "") != (NR > 2) { print; bad = 1 } NR > 1 { rows[$4]++; if ($8 == "FAILED" || $6 < $7) { print; bad = 1 } }
            $1 == "integers" && $6 > 0 || $1 == "uniform" && !($7 > 0.1 && $6 < 4) { print; bad = 1 }
            END { exit bad || rows["strict"] != 26 || rows["cublas_sgemm"] != 26 || rows["cublas_tf32"] != 26 }' "$work/accuracy.csv"
}
check "accuracy: its columns and rows" accuracy_rows
accuracy_wrong() { accuracy 1 1 "^2 rows, 2 FAILED" --kind uniform --kind integers && [ "$(grep -c 'strict,.*,FAILED,' "$work/accuracy.csv")" = 2 ]; }
check "accuracy: a wrong element is found" accuracy_wrong
tap_done

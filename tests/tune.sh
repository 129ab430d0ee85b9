#!/usr/bin/env bash
# bench/tune.sh without a GPU: what it refuses; and with the CPU runner in nvcc's place that its row
# fits the table, and is the one that a header with it takes. bench/fit/fit on a few made-up times.
# Some 30 seconds.
# shellcheck disable=SC2016,SC2086,SC2317,SC2329 # $ is for the scripts that are written here
. "$(dirname "$0")/tap.bash"

# A copy of what it needs, so that it writes there; tools by name in place of a PATH.
copy=$PWD/$work/copy tools=$PWD/$work/tools
mkdir -p "$copy" "$tools"
cp -r bench tiledmm.cuh "$copy"
for tool in awk bash cat cp diff dirname grep head mkdir rm sed timeout; do
    ln -sf "$(command -v $tool)" "$tools/$tool"
done
tool() { # NAME SCRIPT
    printf '#!/bin/bash\n%s\n' "$2" >"$tools/$1"
    chmod +x "$tools/$1"
}
tune() { PATH=$tools "$copy/bench/tune.sh" "$@"; }
refuses() { # SENTENCE ARGUMENT...: that alone, on stderr, status 1, nothing on stdout
    local sentence=$1 status
    shift
    tune "$@" >"$work/out.txt" 2>"$work/err.txt"
    status=$?
    cat "$work/out.txt" "$work/err.txt"
    [ $status = 1 ] && [ ! -s "$work/out.txt" ] && [ "$(grep -c . "$work/err.txt")" = 1 ] &&
        grep -qE -- "^tune.sh: $sentence" "$work/err.txt"
}
check "two arguments" refuses "it takes one number at most" 1 2
check "a word" refuses "'soon' is no number of seconds from 0 to 999" soon
check "an option" refuses "'--help' is no number" --help
check "a negative number" refuses "'-1' is no number" -1
check "no nvcc" refuses "nvcc is not installed"
tool nvcc 'exit 1'
check "no nvidia-smi" refuses "nvidia-smi is not installed"
tool nvidia-smi 'echo "No devices were found"; exit 6'
check "no GPU" refuses "there is no GPU"
tool nvidia-smi 'echo 8.9'
touch "$copy/build"
check "a folder that cannot be written" refuses "cannot write to .*/build/tune"
rm "$copy/build"
check "a program that does not build" refuses "bench/tune.cu does not build: see build/tune/nvcc.txt"

# nvcc SOURCE, in the options that a compiler for the CPU takes, too
here=$PWD
tool nvcc 'for word; do case $word in *.cu) source=$word ;; */tune | */shapes) program=$word ;; esac; done
PATH='"$PATH"' exec '"$here"'/cpu/cucc -O1 "$source" -o "$program"'
export CUCC_GPU=rtx4090
check "no device for the program" env CUCC_DEVICES=0 bash -c "$(declare -f tune refuses)
    work=$work tools=$tools copy=$copy; refuses 'nothing was measured: tune: no CUDA device' 0"
full() { ! tune 0 >/dev/full 2>"$work/err.txt" && grep -q 'cannot write to the standard output' "$work/err.txt"; }
check "a row that cannot be written" full
check "it prints a row" eval 'tune 0 >"$work/row.txt"'
form='^    \{"CPU runner as rtx4090", 89, [0-9]+, 128, [0-9.e+-]+, [0-9]+, [0-9]+, [0-9.e+]+\},$'
one() { cat "$work/row.txt" && [ "$(wc -l <"$work/row.txt")" = 1 ] && grep -qE "$form" "$work/row.txt"; }
check "of the table's form" one
# with seconds, it builds bench/shapes with the row: as little of that as can be
cat >"$copy/bench/shapes.cu" <<'END'
#define TMM_SIMPLE
#define TMM_NO_INT
#include "../tiledmm.cuh"
#include <stdio.h>
int main(void)
{
    const tmm__gpu *gpu = &tmm__current_device()->gpu;
    printf("float, slower than the best plan by\n%s 7 1.5%% 2.5%% 3.5%%\n", "all");
    return gpu->capability != 89 || strcmp(gpu->device, "CPU runner as rtx4090") != 0;
}
END
taken() {
    tune 1 >"$work/out.txt" && cat "$work/out.txt" && grep -qE "$form" "$work/out.txt" &&
        grep -q '^float, 7 shapes, .* by 1.5% in the mean, by 2.5% at the 95th' "$work/out.txt"
}
check "a header with the row takes it; the regret is said of each type" taken

# bench/fit/fit. Times are those that the header predicts of DIRECT on an H100, written by a program that
# is fit but for its main. The header that fit is built with has another number in one place.
mkdir -p "$work/fit"
{
    printf '# NVIDIA H100 80GB HBM3, driver 13.0, CUDA 13.0, seed 1\n# clusters of 2 to 8 blocks: 66 44 32 24 21 16 16\n'
    echo shape,kernel,instance,cut,slices,ns,predicted
    for shape in '40 50 60 60 50 50' '100 120 30 30 120 120' '8 200 300 300 200 200' '300 20 77 77 20 20' '64 64 64 64 64 64' '33 5 250 250 5 5'; do
        echo "float NN $shape warm graph,direct,0,whole,1,1000,1000"
        printf ',direct,%s,1000,1000\n' 0,whole,2 0,whole,4 0,whole,8 1,whole,2 1,whole,4
    done
} >"$work/fit/plans.csv"
cat >"$work/fit/write.cu" <<'END'
#define main main_of_fit
#include "bench/fit/fit.cu"
#undef main
int main(int count, char **words)
{
    memcpy(&tried, &tmm__measured, sizeof tried);
    costs_tried = &tried;
    if (!parse_fit(count, words, &state)) return 2;
    predict_first(&state);
    for (int n = 0; n < state.line_count; n++) {
        const timed *l = &state.lines[n];
        if (n == state.groups[l->group].first) write_times_shape(stderr, &state.groups[l->group].r);
        write_times(stderr, l->kernel, &l->how, l->predicted, l->predicted);
    }
    return 0;
}
END
made_up() {
    cpu/cucc -O0 -I. "$work/fit/write.cu" -o "$work/fit/write" && "$work/fit/write" "$work/fit/plans.csv" 2>"$work/fit/times.txt" &&
        cat <(head -n 3 "$work/fit/plans.csv") "$work/fit/times.txt" >"$work/fit/times.csv" &&
        cut -d, -f1-5 "$work/fit/times.csv" | diff - <(cut -d, -f1-5 "$work/fit/plans.csv")
}
check "fit: times of plans are written as they are read" made_up
planted() { # FILE: the first number of DIRECT for float, half as large again
    awk '/^ *\/\* direct \*\/$/ { direct = 1 }
        direct && /\/\* first \*\/$/ { sub(/[0-9.]+/, 1.5 * $1); direct = 0; count++ }
        { print } END { exit count != 1 }' "$1"
}
mkdir -p "$work/fit/copy/bench/fit"
cp bench/*.h "$work/fit/copy/bench"
cp bench/fit/fit.cu "$work/fit/copy/bench/fit"
check "fit: a number is changed" eval 'planted tiledmm.cuh >"$work/fit/copy/tiledmm.cuh" && planted src/tiledmm/once/tuning.h >"$work/fit/row.h"'
fit=$work/fit/fit
check "fit: it builds" cpu/cucc -O0 -Xcompiler "-Wall,-Wextra,-Werror" "$work/fit/copy/bench/fit/fit.cu" -o "$fit"
says() { # STATUS PATTERN COMMAND...
    "${@:3}" >"$work/out.txt" 2>&1
    local status=$?
    cat "$work/out.txt"
    [ $status = "$1" ] && grep -qE -- "$2" "$work/out.txt"
}
check "fit: --check says what is predicted, and changes nothing" says 0 "^direct +float +36 +1\.[0-9]+ +1\.[0-9]+ +1\.[0-9]+$" "$fit" --check "$work/fit/times.csv"
check "fit: --check ends with a sentence" grep -q "^nothing was changed$" "$work/out.txt"
check "fit: --check: the regret by kinds of shapes" grep -qE "^small +4 +[0-9.]+% " "$work/out.txt"
check "fit: --check: a kernel without which nothing is left" grep -qE "^direct +float +0 +0 +[0-9]+$" "$work/out.txt"
worth() { # of SMALL in float, as awk finds it in the same file
    "$fit" --check bench/fit/work_h100.csv | tee "$work/out.txt" >/dev/null
    awk -F, 'function shape() { if (all) { n++; sum += log(others / all); before += all; after += others
                if (others > 1.02 * all) slower++; if (others / all > worst) worst = others / all } all = others = 0 }
        /^(float|double) / { shape(); float = /^float/ }
        /^#/ || /^shape/ || !float || $7 <= 0 { next }
        { if (!all || $6 < all) all = $6; if ($2 != "small" && (!others || $6 < others)) others = $6 }
        END { shape(); printf "small float %d %d %.3f %.3f %.2f 0\n", n, slower, exp(sum / n), after / before, worst }' \
        bench/fit/work_h100.csv | tee "$work/wanted.txt"
    grep -E "^small +float .* 0$" "$work/out.txt" | tr -s " " | diff - "$work/wanted.txt"
}
check "fit: --check: what a kernel is worth" worth
recovered() { # the number is what it was, within 3%, and so is the row, which has no other change
    "$fit" --only "direct float first" --row "$work/fit/row.h" "$work/fit/times.csv" >"$work/out.txt" 2>"$work/err.txt" || return 1
    grep -v '^  ' "$work/out.txt"
    tail -n 1 "$work/out.txt" | grep -q "^1 of [0-9]* numbers changed .*: the row above goes into " || return 1
    sed -n '/tmm__measured = {$/,/^};$/p' "$work/out.txt" >"$work/fit/found.txt"
    sed -n '/tmm__measured = {$/,/^};$/p' src/tiledmm/once/tuning.h >"$work/fit/wanted.txt"
    diff "$work/fit/found.txt" "$work/fit/wanted.txt" | tee "$work/fit/diff.txt"
    awk '/^[<>]/ { lines++; number[$1] = $2 + 0 }
        END { off = number["<"] / number[">"]; exit lines > 2 || (lines == 2 && (off < 0.97 || off > 1.03)) }' "$work/fit/diff.txt" &&
        [ "$(wc -l <"$work/fit/found.txt")" -gt 250 ]
}
check "fit: a number that was changed is found again, and the row is printed" recovered
limited() { # of two words the second is of that number, which may not fall by more than a fifth
    "$fit" --only "no such word,direct float first" --regret 1 --most 1.2 --row "$work/fit/row.h" "$work/fit/times.csv" \
        >"$work/out.txt" 2>"$work/err.txt" || return 1
    grep ', was ' "$work/out.txt"
    awk '/, was / { lines++; to = $(NF - 2) + 0; from = $NF } END { exit lines != 1 || to >= from || to < from / 1.2 }' "$work/out.txt"
}
check "fit: --only of several words, --most" limited
check "fit: --most: no number" says 2 "--most is a number from 0 to 100" "$fit" --most x "$work/fit/times.csv"
check "fit: a row that it was not built with" says 2 "tuning.h, line [0-9]+: not what this program was built with" "$fit" "$work/fit/times.csv"
check "fit: no file" says 2 "needs a file of times" "$fit"
check "fit: a file that is not there" says 2 "cannot read /none.csv" "$fit" /none.csv
check "fit: another file" says 2 "does not begin as bench/shapes --plans writes it" "$fit" tests/tune.sh
sed 's/NVIDIA H100 80GB HBM3/Unknown/' "$work/fit/times.csv" >"$work/fit/bad.csv"
check "fit: a GPU without a row" says 2 "no row of tmm__gpus in tuning.h is called 'Unknown'" "$fit" "$work/fit/bad.csv"
sed '7s/whole/half/' "$work/fit/times.csv" >"$work/fit/bad.csv"
check "fit: a line that is none" says 2 "line 7: no kernel, plan and time" "$fit" "$work/fit/bad.csv"
tap_done

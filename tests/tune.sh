#!/usr/bin/env bash
# bench/tune.sh without a GPU: what it refuses; and with the CPU runner in nvcc's place that its row
# fits the table, and is the one that a header with it takes. Some 10 seconds.
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
tap_done

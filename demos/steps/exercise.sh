#!/usr/bin/env bash
# Is a task of exercises.md done? ./build.sh exercise NN FILE.cu builds FILE for the CPU runner, checks
# it at ten shapes and by --check, counts what it loads, and on a GPU times it. Ends with what is missing.
set -u
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
root=$(cd "$here/../.." && pwd)
refuse() { printf 'exercise: %s\n' "$*" >&2; exit 2; }
[ "${1-}" != --help ] || { echo "usage: ./build.sh exercise NN FILE.cu        (NN: a task of demos/steps/exercises.md)"; exit; }
[ $# = 2 ] || refuse "takes the number of a task and a file, as in: ./build.sh exercise 03 mine.cu"
task=$1 file=$2
[ -f "$file" ] || refuse "there is no file '$file'"

# At most, for 32 multiply-adds: sectors, loads from shared memory, passes, conflicts; lines of the file
# with a word, and what that means; the error at K = 1000.
flags=() sectors=99 loads=99 passes=99 conflicts=99 word='' means='' times=99 error=1
case $task in
01) sectors=6 ;;
02) sectors=0.5 passes=2.5 ;;
03) sectors=0.5 loads=1.2 ;;
04) sectors=0.5 loads=0.3 ;;
05) sectors=0.5 loads=0.07 ;;
06) sectors=0.5 loads=0.07 conflicts=0 word='__shared__.*(\+|PITCH)' times=0 means='padding in shared memory' ;;
07) sectors=0.5 loads=0.07 conflicts=0 word='__syncthreads\(\)' times=1 means='barriers' ;;
08) sectors=0.5 loads=0.07 conflicts=0 word='float4 [a-z]+ = load4' times=0 means='loads to registers' ;;
09) sectors=0.5 passes=2.5 conflicts=0 flags=(-DB_BY_COLUMNS) ;;
10) sectors=0.5 passes=2.5 error=0.0002 ;;
*) refuse "there is no task '$task': they are 01 to 10" ;;
esac

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
missing=()
build() { # MODE: program or first error
    local mode=()
    [ "$1" = plain ] || mode=("--$1")
    "$root/cpu/cucc" -O1 "${mode[@]}" "${flags[@]}" -I "$here" "$file" -o "$work/$1" >"$work/$1.txt" 2>&1 && return
    echo "$file does not compile:"
    grep -m 1 -E 'error|cannot find' "$work/$1.txt" || head -n 3 "$work/$1.txt"
    exit 1
}
verdict() { # TEXT, what is missing or nothing
    printf '%-58s%s\n' "$1" "$([ -z "$2" ] && echo ok || echo missing)"
    [ -z "$2" ] || missing+=("$2")
}

build plain
worst=0 wrong=
for shape in "1 1 1" "3 5 7" "32 32 32" "37 53 29" "128 256 64" "131 260 75" "260 131 196" "100 36 1000" "1 300 50" "300 1 50"; do
    # shellcheck disable=SC2086
    timeout 120 "$work/plain" $shape --csv "$work/shape.csv" >"$work/shape.txt" 2>&1
    if [ "$(tail -n 1 "$work/shape.txt")" = "Test PASSED" ]; then
        worst=$(awk -F, -v worst="$worst" 'NR == 2 { print ($4 >= 1000 && $7 > worst) ? $7 : worst }' "$work/shape.csv")
    else
        wrong="${wrong:+$wrong, }$shape"
    fi
done
verdict "right at ten shapes" "${wrong:+right results at M N K = $wrong}"
[ -z "$wrong" ] || sed -n '3p' "$work/shape.txt"

build check
for shape in "37 53 29" "130 136 36"; do
    # shellcheck disable=SC2086
    timeout 120 "$work/check" $shape >"$work/shape.txt" 2>&1
    grep -m 1 -E 'cucc: ' "$work/shape.txt" >>"$work/reports.txt"
done
verdict "cucc --check reports nothing" "$(head -n 1 "$work/reports.txt")"

build report
CUCC_REPORT=$work/counts.csv "$work/report" 128 128 64 >"$work/shape.txt" 2>&1
read -r s l p c < <(awk -F '"' -f "$here/counts.awk" "$work/counts.csv")
at_most() { # WHAT VALUE LIMIT
    [ "$3" != 99 ] || return 0
    local over=
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > b) }' && over="$1: $2 for 32 multiply-adds, at most $3 are wanted"
    verdict "$1: $2, at most $3" "$over"
}
at_most "sectors loaded from memory" "$s" $sectors
at_most "loads from shared memory" "$l" $loads
at_most "passes over its banks" "$p" $passes
at_most "bank conflicts" "$c" $conflicts
[ $error = 1 ] || verdict "error at K = 1000: $worst of its bound, at most $error" \
    "$(awk -v a="$worst" -v b=$error 'BEGIN { if (a > b) print "smaller errors: " a " of the bound, at most " b " is wanted" }')"
if [ -n "$word" ]; then
    found=$(sed 's://.*::' "$file" | grep -cE "$word")
    verdict "$means: $found lines, at most $times" \
        "$([ "$found" -le $times ] || echo "a way with fewer lines that have $means: $found are there, at most $times are wanted")"
fi

if command -v nvcc >/dev/null && command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; then
    if nvcc -O3 -arch=native "${flags[@]}" -I "$here" "$file" -o "$work/gpu" 2>"$work/gpu.txt"; then
        "$work/gpu" 1024 1024 1024 | sed -n '2,3p'
        "$work/gpu" 131 260 75 >"$work/shape.txt" 2>&1 || verdict "right on the GPU" "right results on the GPU"
    else
        verdict "nvcc builds it" "$(grep -m 1 error "$work/gpu.txt")"
    fi
fi
if [ ${#missing[@]} -gt 0 ]; then
    printf 'missing: %s\n' "${missing[@]}"
    exit 1
fi
echo "done: task $task"

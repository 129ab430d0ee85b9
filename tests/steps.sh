#!/usr/bin/env bash
# The steps of demos/steps on the CPU runner: each is right at sizes within a tile and beyond, and finds
# its own mistakes; the first two have no report by --check, others by turns. Steps are small: lines
# changed from one to the next, and the length of each, are measured. The harness reads its options.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

steps=()
for source in demos/steps/[0-9]*.cu; do steps+=("$(basename "$source" .cu)"); done

# ---- builds, two at a time -----------------------------------------------------------------------------
checked=" "
for at in "${!steps[@]}"; do
    [[ " $(turns 0 1 2 3 4 5 6 7) " = *" $((at % 8)) "* ]] && checked+="${steps[at]} "
done
build() { # SOURCE PROGRAM FLAGS...
    local source=$1 program=$2
    shift 2
    cpu/cucc -O1 -Xcompiler -Wall,-Wextra,-Werror -I demos/steps "$@" "$source" -o "$program" >"$program.txt" 2>&1
}
for step in "${steps[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    {
        build "demos/steps/$step.cu" "$work/$step"
        [[ $checked != *" $step "* ]] || build "demos/steps/$step.cu" "$work/$step.check" --check
    } &
done
wait

# ---- results -------------------------------------------------------------------------------------------
passes() { # PROGRAM SIZES: three numbers each, or none for the default
    local sizes
    for sizes in "${@:2}"; do
        # shellcheck disable=SC2086
        timeout "$patience" "$1" $sizes >"$work/output.txt" 2>&1 || { cat "$work/output.txt" "$1.txt"; return 1; }
        cat "$work/output.txt"
        [ "$(tail -n 1 "$work/output.txt")" = "Test PASSED" ] && grep -q '  ok$' "$work/output.txt" || return 1
    done
    ! grep -E 'WRONG|cucc: ' "$work/output.txt"
}
for step in "${steps[@]}"; do
    check "$step is right" passes "$work/$step" "1 1 1" "37 53 29" "131 260 75"
    [[ $checked != *" $step "* ]] ||
        check "$step, --check: no report" passes "$work/$step.check" "37 53 29" "130 136 36"
done
check "the sizes of the harness, ${steps[6]}" passes "$work/${steps[6]}" ""

# ---- the harness finds mistakes ------------------------------------------------------------------------
finds() { # STEP SED [SIZES]: as edited, it fails, and says of which size
    local program=$work/mistaken
    sed "$2" "demos/steps/$1.cu" >"$program.cu"
    ! cmp -s "$program.cu" "demos/steps/$1.cu" || { echo "nothing was edited"; return 1; }
    build "$program.cu" "$program" || { cat "$program.txt"; return 1; }
    # shellcheck disable=SC2086
    ! "$program" $3 >"$work/output.txt" 2>&1 && cat "$work/output.txt" &&
        grep -q WRONG "$work/output.txt" && [ "$(tail -n 1 "$work/output.txt")" = "Test FAILED" ]
}
check "C that is read where beta is 0" finds 02_coalesced 's/beta == 0 ? alpha \* sum : //' "5 6 7"
check "beta that is not used" finds 02_coalesced 's/ + beta \* \*c;/;/' "5 6 7"
check "a row too few" finds 02_coalesced 's/if (i >= M/if (i >= M - 1/' "5 6 7"
check "a column too many" finds 02_coalesced 's/ || j >= N) return/ || j > N) return/' "5 6 7"
check "zeros that are missing beyond K" finds 03_shared 's/i < rows \&\& j < columns ?/i < rows ?/' "5 6 7"
check "sums that are rounded to half a float" finds 02_coalesced \
    's/sum += A\(.*\) \* B/sum += (float)(int)(A\1 * 4096) \/ 4096 * B/' "5 6 7"

# ---- steps are small -----------------------------------------------------------------------------------
body() { sed '1,/\*\//d' "demos/steps/$1.cu"; } # without its first comment
changed() {                                     # lines of step $2 that step $1 does not have; indented ones it has
    diff -w <(body "$1") <(body "$2") | grep -c '^> *[^ ]'
}
small_steps() {
    local previous='' step lines bad=0
    for step in "${steps[@]}"; do
        case $step in # with these a new climb begins
        13_* | 22_*) previous= ;;
        esac
        lines=$([ -z "$previous" ] || changed "$previous" "$step")
        echo "$step: ${lines:-first}"
        [ "${lines:-0}" -le 30 ] || bad=1
        previous=$step
    done
    return "$bad"
}
short_files() { # 150 lines; tensor cores 250, the harness with them
    local step lines most bad=0
    for step in "${steps[@]}"; do
        case $step in 1[3-9]_* | 2[01]_*) most=250 ;; *) most=150 ;; esac
        lines=$(wc -l <"demos/steps/$step.cu")
        [ "$lines" -le "$most" ] || { echo "$step has $lines lines, more than $most"; bad=1; }
    done
    return "$bad"
}
one_harness() { # the last line of each; nothing else makes results, times or a main
    local step bad=0
    for step in "${steps[@]}"; do
        tail -n 1 "demos/steps/$step.cu" | grep -q '^#include "harness.h"' &&
            ! grep -nE 'int main|printf|cudaEvent' "demos/steps/$step.cu" && continue
        echo "$step" && bad=1
    done
    return "$bad"
}
first_comment() { # five lines: the name, then what the others say
    local step bad=0
    for step in "${steps[@]}"; do
        sed -n '1,/\*\//p' "demos/steps/$step.cu" | awk -v name="$step.cu" '
            NR == 1 { found += $2 == name }
            /^   (Bottleneck|Changes|Expected|[Cc]ame): / { found++ }
            END { exit found != 5 || NR > 9 }' || { echo "$step"; bad=1; }
    done
    return "$bad"
}
check "a step changes at most 30 lines" small_steps
check "a file has at most 150 lines, of tensor cores 250" short_files
check "the page has at most 200 lines" test "$(wc -l <demos/steps/README.md)" -le 200
check "all end with the harness" one_harness
check "the first comment says bottleneck, change, expectation, result" first_comment

# ---- what comments and the page say is what was measured -----------------------------------------------
results=bench/results/h100/steps.csv counters=bench/results/h100/steps_counters.csv
measured() { # figures of the comments and of README's table
    python3 - "$results" "$counters" demos/steps/[0-9]*.cu <<'PYTHON'
import csv, os, re, sys

with open(sys.argv[1]) as file:
    times = {(row["step"], row["M"]): row for row in csv.DictReader(file)}
count = {}
with open(sys.argv[2]) as file:
    for row in csv.DictReader(file):
        count.setdefault(row["step"], {})[row["counter"]] = float(row["value"])
wrong = found = 0


def compare(where, said, value):
    global wrong, found
    digits = len(said.partition(".")[2])
    found += 1
    if f"{float(value):.{digits}f}" != said:
        wrong += 1
        print(f"{where}: {said}, measured {value}")


shares = {
    r"([\d.]+) sectors a load": lambda c: c["sectors_per_load"],
    r"([\d.]+) % of (?:issue )?slots": lambda c: c["issue_slots_percent"],
    r"([\d.]+) passes a shared load": lambda c: c["shared_load_passes"] / c["shared_loads"],
    r"([\d.]+) instructions a multiply-add": lambda c: c["instructions"] * 32 / c["multiply_adds"],
    r"([\d.]+) % of tensor cores": lambda c: c["tensor_percent"],
}
before = None
for path in sys.argv[3:]:
    step = os.path.basename(path)[:-3]
    with open(path) as file:
        head = file.read().partition("*/")[0]
    bottleneck = head.partition("Bottleneck:")[2].partition("Changes:")[0]
    came = re.split("[Cc]ame:", head)[-1]
    for said, size in re.findall(r"([\d.]+) TFLOP/s at (\d+)", came):
        compare(step, said, times[step, size]["tflops"])
    for said in re.findall(r"TFLOP/s at 4096, ([\d.]+) of cuBLAS", came):
        compare(step, said, times[step, "4096"]["of_cublas"])
    for words, value in shares.items():
        for part, owner in ((bottleneck, before), (came, step)):
            for said in re.findall(words, part) if owner in count else ():
                compare(f"{step}: {words}", said, value(count[owner]))
    before = step
with open("demos/steps/README.md") as file:
    rows = [line.split("|")[1:-1] for line in file if re.match(r"\| \[\d\d", line)]
for row in rows:
    step = re.search(r"\((\w+)\.cu\)", row[0]).group(1)
    for size, said in zip(("1024", "4096", "8192"), row[3:6]):
        if said.strip() != "-":
            compare(f"README.md: {step} {size}", said.strip(), times[step, size]["tflops"])
    compare(f"README.md: {step}", row[6].strip(), times[step, "4096"]["of_cublas"])
if len(rows) != len(sys.argv) - 3 or found < 5 * len(rows):
    sys.exit(f"README.md has {len(rows)} rows, {found} figures are compared: too few")
sys.exit(wrong > 0)
PYTHON
}
if [ -e $results ]; then check "figures of comments and page are those of $results" measured; fi

# ---- options -------------------------------------------------------------------------------------------
program=$work/02_coalesced
refuses() { # ARGUMENTS...: a sentence that names the last, status 2, nothing on stdout
    local status
    "$program" "$@" >"$work/output.txt" 2>"$work/error.txt"
    status=$?
    cat "$work/error.txt"
    [ "$status" = 2 ] && [ ! -s "$work/output.txt" ] && grep -q -e "${*: -1}" "$work/error.txt"
}
too_few() {
    ! "$program" 5 6 >"$work/output.txt" 2>"$work/error.txt" && grep -q "give all of M N K" "$work/error.txt"
}
csv() {
    "$program" 5 6 7 --csv "$work/step.csv" && [ "$(wc -l <"$work/step.csv")" = 2 ] &&
        awk -F, 'NF != 9 { exit 1 } NR == 2 && ($1 != "02_coalesced" || $2 $3 $4 != "567" || $9 != "ok") { exit 1 }' "$work/step.csv"
}
fails() { # STATUS PATTERN, then the redirection is by the caller
    local status=$?
    [ "$status" = "$1" ] && grep -q "$2" "$work/error.txt"
}
no_device() {
    CUCC_DEVICES=0 "$program" >"$work/output.txt" 2>"$work/error.txt"
    fails 2 'no CUDA-capable device'
}
closed_output() {
    "$program" 5 6 7 >&- 2>"$work/error.txt"
    fails 1 'standard output'
}
full_output() {
    "$program" 5 6 7 >/dev/full 2>"$work/error.txt"
    fails 1 'No space left'
}
full_csv() {
    "$program" 5 6 7 --csv /dev/full >"$work/output.txt" 2>"$work/error.txt"
    fails 1 '/dev/full' && [ "$(tail -n 1 "$work/output.txt")" = "Test FAILED" ]
}
helps() { "$program" --help | grep -q '^usage: '; }
check "--help" helps
check "--csv" csv
check "an unknown option" refuses --sizes
check "a number too few" too_few
check "a size of 0" refuses 5 6 0
check "a CSV file that cannot be opened" refuses --csv "$work/none/step.csv"
check "no device" no_device
check "standard output closed" closed_output
check "standard output full" full_output
check "a CSV file that cannot be written" full_csv

# ---- exercises: solutions are done, what they begin with is not ----------------------------------------
solutions=(01:02_coalesced 02:03_shared 03:04_registers_1x8 04:05_registers_8x8 05:06_vectors
    06:solutions/06_no_padding 07:08_double_buffer 08:09_ring 09:solutions/09_columns 10:solutions/10_double_sums)
begun=(01:01_global 02:02_coalesced 03:03_shared 04:04_registers_1x8 05:05_registers_8x8
    06:06_vectors 07:07_banks 08:08_double_buffer 09:03_shared 10:03_shared)
exercise() { # NUMBER:STEP
    ./build.sh exercise "${1%%:*}" "demos/steps/${1#*:}.cu"
}
not_yet() {
    ! exercise "$1" >"$work/output.txt" 2>&1 && cat "$work/output.txt" && grep -q '^missing: ' "$work/output.txt"
}
for at in $(turns 0 1 2 3 4 5 6 7 8 9); do
    check "exercise ${solutions[at]}: done" exercise "${solutions[at]}"
    check "exercise ${begun[at]}: not yet" not_yet "${begun[at]}"
done
does_not_compile() {
    sed 's/float sum = 0;/float sum = nothing;/' demos/steps/02_coalesced.cu >"$work/mine.cu"
    ! ./build.sh exercise 01 "$work/mine.cu" >"$work/output.txt" 2>&1 && cat "$work/output.txt" &&
        grep -q 'mine.cu:[0-9]*:.*error.*nothing' "$work/output.txt"
}
exercise_refuses() { # PATTERN ARGUMENTS...: status 2 and a sentence
    local pattern=$1
    shift
    ./build.sh exercise "$@" >"$work/output.txt" 2>"$work/error.txt"
    fails 2 "$pattern"
}
check "exercise: a file that does not compile" does_not_compile
check "exercise: no such task" exercise_refuses "no task .11." 11 "$work/mine.cu"
check "exercise: no such file" exercise_refuses none.cu 01 "$work/none.cu"
check "each task of exercises.md is one of the checker's" \
    test "$(grep -c '^| [01][0-9] |' demos/steps/exercises.md) $(grep -cE '^[01][0-9]\) ' demos/steps/exercise.sh)" = "10 10"

# ---- bench/steps.sh says what it lacks -----------------------------------------------------------------
bench_without_gpu() {
    PATH=/usr/bin:/bin bash bench/steps.sh "$work/bench" >"$work/output.txt" 2>"$work/error.txt"
    fails 2 'is missing'
}
if have_gpu; then skip "bench/steps.sh without a GPU" "a GPU is here"; else check "bench/steps.sh without a GPU" bench_without_gpu; fi
tap_done

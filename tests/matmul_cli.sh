#!/usr/bin/env bash
# demos/matmul.cu as one meets it on the command line, on the CPU runner: what it prints, what it
# refuses and how, what it leaves behind; and that it calls a wrong kernel wrong.
# shellcheck disable=SC2317,SC2329 # many functions are only called through check
. "$(dirname "$0")/tap.bash"

# as in tap.bash, but what the last run of the demo said explains a failure, too
check() { # NAME COMMAND...
    local name=$1
    shift
    if "$@" >"$work/check.txt" 2>&1; then ok "$name"; else not_ok "$name" "$work/check.txt" "$work/out.txt" "$work/err.txt"; fi
}

build() { # SOURCE PROGRAM FLAGS...
    cpu/cucc -Xcompiler -Wall,-Wextra,-Werror,-fopenmp "$1" -o "$2" "${@:3}"
}
demo=$work/matmul
run() { # ARGUMENTS: leaves $status, out.txt, err.txt
    timeout "$patience" "$demo" "$@" >"$work/out.txt" 2>"$work/err.txt"
    status=$?
}
table() { awk '/^method / { on = 1; next } /^$/ { on = 0 } on' "$work/out.txt"; }
methods() { table | cut -c 1-22 | sed 's/ *$//'; }
last_line() { tail -n 1 "$work/out.txt"; }
passed() { [ "$status" = 0 ] && [ "$(last_line)" = "Test PASSED" ] && [ ! -s "$work/err.txt" ]; }
failed() { [ "$status" != 0 ] && [ "$(last_line)" = "Test FAILED" ]; }

# Numbers end where their heading ends, words begin where it begins.
lines_up() {
    awk '
    /^method / {
        count = split("time ms|end to end|GFLOP/s|% peak|speed-up|effic.|max abs|max rel", right, "|")
        for (i = 1; i <= count; i++) {
            if (!index($0, right[i])) bad = "no column " right[i]
            end[i] = index($0, right[i]) + length(right[i]) - 1
        }
        words = split("memory|verdict", left, "|")
        for (i = 1; i <= words; i++) {
            if (!index($0, left[i])) bad = "no column " left[i]
            begin[i] = index($0, left[i])
        }
        on = 1
        next
    }
    /^$/ { on = 0 }
    on {
        rows++
        for (i = 1; i <= count; i++)
            if (substr($0, end[i], 1) == " " || substr($0, end[i] + 1, 1) != " ") bad = right[i] ": " $0
        for (i = 1; i <= words; i++)
            if (substr($0, begin[i], 1) == " " || substr($0, begin[i] - 1, 1) != " ") bad = left[i] ": " $0
    }
    END {
        if (!rows) bad = "no rows"
        if (bad) print bad
        exit bad != ""
    }' "$work/out.txt"
}

if build demos/matmul.cu "$demo" >"$work/cucc.txt" 2>&1; then
    ok "the CPU runner builds demos/matmul.cu"
else
    not_ok "the CPU runner builds demos/matmul.cu" "$work/cucc.txt"
fi

# ---- the default ----------------------------------------------------------------------------------
run
check "no arguments: ends with Test PASSED and status 0, nothing on stderr" passed
check "no arguments: the columns line up" lines_up
has_all_rows() {
    local row
    for row in sequential "OpenMP 1 thread" global shared_8 shared_16 shared_32 register_64 register_128 pipelined small "auto = .*"; do
        methods | grep -qx "$row" || { echo "no row $row"; return 1; }
    done
    [ "$(table | awk '$NF == "ok"' | wc -l)" = "$(table | wc -l)" ] || { echo "not every row is ok" && return 1; }
}
check "no arguments: a row for the CPU, for OpenMP and for each kernel, every verdict ok" has_all_rows
says() { grep -qF -- "$1" "$work/out.txt"; }
check "no arguments: says that the times are those of a CPU" says "all times are CPU times"
check "no arguments: says how many elements were checked" says "checked: 2000 elements"

# ---- help -----------------------------------------------------------------------------------------
run --help
documents_all() { # that the source compares a word with
    local options option
    options=$(grep -o 'strcmp(word, "-[a-z-]*")' demos/matmul.cu | grep -o -- ' "-[a-z-]*' | tr -d ' "')
    [ "$(wc -l <<<"$options")" -ge 7 ] || { echo "options found in the source: $options" && return 1; }
    for option in $options; do
        grep -q -- "^  $option\b\|^  .*, $option\b" "$work/out.txt" || { echo "$option is missing" && return 1; }
    done
    [ "$status" = 0 ] && [ ! -s "$work/err.txt" ] && ! grep -q Test "$work/out.txt"
}
check "--help: each option, status 0, no product" documents_all
kernels=$(sed '1,/^  --kernel NAME/d; /^ *(skinny/,$d' "$work/out.txt")
lists_kernels() { [ "$(wc -w <<<"$kernels")" -ge 15 ] && for k in shared_16 tensor tensor_int8 auto; do grep -qw "$k" <<<"$kernels" || return; done; }
check "--help: the kernels, as --kernel takes them" lists_kernels

# ---- why ------------------------------------------------------------------------------------------
explains() { # WORDS: they are in the first line, the second has the kernel; no product
    [ "$status" = 0 ] && [ ! -s "$work/err.txt" ] && ! grep -q 'Test\|GFLOP' "$work/out.txt" &&
        head -n 1 "$work/out.txt" | grep -q "^300 x 200 x 100.*$1" && sed -n 2p "$work/out.txt" | grep -q '^\* '
}
run 300 200 100 --why
check "--why: how TMM_AUTO chooses, and no product" explains multiprocessors
run 300 200 100 --gpu H200 --type double
check "--gpu: for a GPU that is not here" explains "NVIDIA H200.*: \(small\|tensor\)"
# bench/report makes tables of what it prints: all lines, each with its words.
report_reads() { # TYPE
    [ "$status" = 0 ] && PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=bench/report python3 -c '
import sys, measure
text = open(sys.argv[1], encoding="utf-8").read()
rows = measure.from_why(sys.argv[2])(text)
lines = [line for line in text.split("\n")[1:] if line and not line.startswith("Without clusters")]
assert len(rows) == len(lines) >= 15, (len(rows), len(lines))
for row, line in zip(rows, lines):
    words = [row["name"], row["plan"], row.get("bound", ""), "*" if row["takes"] == "chosen" else " "]
    words += ["%.2f us" % (1e3 * row["predicted_ms"])] if row.get("predicted_ms") else []
    assert all(word in line for word in words), (row, line)
' "$work/out.txt" "$1"
}
for type in float double int; do
    if have python3; then
        run 1000 900 800 --gpu H200 --type $type
        check "--gpu, $type: bench/report reads every line" report_reads $type
    else
        skip "--gpu, $type: bench/report reads every line" "python3 is not installed"
    fi
done

# ---- sizes, types, rows ---------------------------------------------------------------------------
is_shape() { passed && lines_up && says "C ($1 x $2) = A ($1 x $3) times B ($3 x $2"; }
run 70
check "one size: 70" is_shape 70 70 70
run 30 50 70
check "three sizes: M N K" is_shape 30 50 70
run 1 1 1
check "three sizes: 1 1 1" is_shape 1 1 1

is_type() { passed && lines_up && says "), $1, row-major"; }
for type in float double int; do
    run 65 --type $type
    check "--type $type" is_type $type
done
bytes_too() { passed && lines_up && methods | grep -qx tensor && methods | grep -qx tensor_int8; }
run 65 --type double
check "--type double: a row for each way of tensor cores" bytes_too
run 65 --type int
int_is_exact() { passed && table | awk '{ sum += $(NF - 1) + $(NF - 2); rows++ } END { exit sum != 0 || !rows }'; }
check "--type int: no error in any row" int_is_exact
# A row is a kernel of its own: no two rows whose names stand for one, as --why says.
own_kernels() { # TYPE
    local rows
    run 12 65 65 --no-cpu --type "$1"
    passed || return
    rows=$(methods | grep -v '^auto')
    run 12 65 65 --why --type "$1"
    [ "$(wc -l <<<"$rows")" -ge 6 ] || { echo "rows: $rows" && return 1; }
    awk 'FNR == NR { if (/no: it stands for/) other[$1] = $6; next }
        { kernel = $1 in other ? other[$1] : $1; if (kernel in has) print has[kernel] " and " $1 " are " kernel; has[kernel] = $1 }' \
        "$work/out.txt" - <<<"$rows" >"$work/twice.txt"
    cat "$work/twice.txt"
    [ ! -s "$work/twice.txt" ]
}
for type in float double int; do check "--type $type: no kernel in two rows" own_kernels $type; done

rows_are() { # ROWS, one a line
    passed && lines_up || return 1
    [ "$(methods)" = "$1" ] && return
    echo "rows: $(methods | tr '\n' ';')"
    return 1
}
for kernel in $kernels; do # whatever --help lists
    case $kernel in
    auto) continue ;; # below
    skinny) run 40 9 40 --no-cpu --kernel skinny ;;
    tensor | tensor_int8) run 40 --no-cpu --kernel "$kernel" --type double ;;
    *) run 40 --no-cpu --kernel "$kernel" ;;
    esac
    check "--kernel $kernel: this row only" rows_are "$kernel"
done
# not_taken SENTENCE ARGUMENTS...: a kernel that such products are not for is no failed test
not_taken() {
    run "${@:2}"
    [ "$status" = 2 ] && ! grep -q -e "^method" -e Test "$work/out.txt" && [ "$(wc -l <"$work/err.txt")" = 2 ] &&
        head -n 1 "$work/err.txt" | grep -qF -- "$1" && tail -n 1 "$work/err.txt" | grep -q -e --help
}
check "--kernel skinny, 40 x 40: refused" not_taken "M x N is 40 x 40" 40 --kernel skinny
check "--kernel tensor, int: refused" not_taken "kernel tensor is for double, float and elements of 16 bits alone" 40 --kernel tensor --type int
check "--kernel tensor, float: refused" not_taken "not in this program for float" 40 --kernel tensor
check "--kernel tensor_int8, float: refused" not_taken "kernel tensor_int8 is for double alone" 40 --kernel tensor_int8
run 12 40 40 --no-cpu
skinny_too() { passed && lines_up && methods | grep -qx skinny; }
check "12 rows: a row for skinny too" skinny_too
run 40 --no-cpu --kernel auto
auto_alone() { passed && lines_up && [ "$(methods | wc -l)" = 1 ] && methods | grep -qx "auto = [a-z_0-9]*"; }
check "--kernel auto: one row, which names what was chosen" auto_alone
run 40 --kernel global
no_row_but() { passed && ! methods | grep -vE "^(sequential|OpenMP [0-9]+ threads?|$1)$"; }
check "--kernel global: beside the rows of the CPU" no_row_but global
run 40 --no-cpu
no_row_of_the_cpu() {
    passed && lines_up && methods | grep -qx global && ! methods | grep -E "sequential|OpenMP" &&
        table | awk '{ n += $(NF - 4) != "-" } END { exit n }'
}
check "--no-cpu: no row of the CPU, no speed-up" no_row_of_the_cpu
checked() { passed && says "checked: $1 elements, $2"; }
run 40
check "a small product: all elements" checked 1600 "error at most (K + 2) u |A||B|"
run 60 --type int
check "a larger one: 2000 elements, of int exactly" checked 2000 exactly

# ---- CSV ------------------------------------------------------------------------------------------
csv=$work/table.csv
echo "an older table" >"$csv"
run 40 --csv "$csv"
is_csv() {
    local rows
    rows=$(table | wc -l)
    passed || return 1
    [ "$(wc -l <"$csv")" = $((rows + 1)) ] || { echo "$rows rows, but lines in the file: $(wc -l <"$csv")" && return 1; }
    head -n 1 "$csv" | grep -q '^name,memory,type,M,N,K,device,real_time_ms,min_ms,mean_ms,max_ms,' || return 1
    awk -F, 'NR == 1 { fields = NF } NF != fields { print "fields: " $0; bad = 1 }
        NR > 1 && !($9 > 0 && $9 <= $8 && $8 <= $11 && $9 <= $10 && $10 <= $11) { print "times: " $0; bad = 1 }
        END { exit bad || fields < 12 }' "$csv"
}
check "--csv: a header and a line for each row, all with as many fields, in place of an older file" is_csv
same_methods() { passed && [ "$(sed 1d "$csv" | cut -d, -f1)" = "$(methods)" ]; }
check "--csv: the rows of the printed table, in order" same_methods
# cannot_write FOLDER FILE: a sentence that names the file, a status, and nothing new in the folder
cannot_write() {
    [ "$status" != 0 ] && [ "$(last_line)" != "Test PASSED" ] || return 1
    grep -qF "'$1/$2'" "$work/err.txt" && [ "$(wc -l <"$work/err.txt")" = 1 ] || return 1
    ! find "$1" -mindepth 1 -maxdepth 1 -name "$2*" 2>/dev/null | grep .
}
run 16 --no-cpu --csv "$work/nowhere/table.csv"
check "--csv into a folder that does not exist" cannot_write "$work/nowhere" table.csv
locked=$work/locked
mkdir "$locked" && chmod 555 "$locked"
[ -w "$locked" ] && locked=/proc # root may write everywhere but there
run 16 --no-cpu --csv "$locked/table.csv"
check "--csv into a folder that may not be written" cannot_write "$locked" table.csv
run 16 --no-cpu --csv "$csv/table.csv"
check "--csv into a file as if it were a folder" cannot_write "$csv" table.csv
# A full disk: no file may grow, and what the program says goes through a pipe.
mkdir "$work/full" && echo "an older table" >"$work/full/table.csv"
(
    trap '' XFSZ
    ulimit -f 0
    timeout "$patience" "$demo" 16 --no-cpu --csv "$work/full/table.csv" 2>&1
) | cat >"$work/out.txt"
status=${PIPESTATUS[0]}
: >"$work/err.txt"
survives_full_disk() {
    failed && says "cannot write '$work/full/table.csv'" || return 1
    [ "$(ls -A "$work/full")" = table.csv ] && [ "$(cat "$work/full/table.csv")" = "an older table" ]
}
check "--csv onto a full disk: says so, the older file stays, no half of a new one" survives_full_disk

# ---- what it refuses ------------------------------------------------------------------------------
# refuses NAME SENTENCE ARGUMENTS...: before any product, with the sentence, and where help is
refuses() {
    local name=$1 sentence=$2
    shift 2
    run "$@"
    check "refused: $name" refused "$sentence"
}
refused() {
    [ "$status" != 0 ] && [ "$status" -lt 124 ] && [ ! -s "$work/out.txt" ] || return 1
    head -n 1 "$work/err.txt" | grep -qF -- "$1" || { echo "the sentence lacks: $1" && return 1; }
    [ "$(wc -l <"$work/err.txt")" = 2 ] && tail -n 1 "$work/err.txt" | grep -q -- --help
}
refuses "an unknown option" "unknown option '--fast'" --fast
refuses "an unknown option after good ones" "unknown option '--fast'" 64 --no-cpu --fast
refuses "an unknown type" "not 'half'" --type half
refuses "an unknown kernel" "'tensor_9'" --kernel tensor_9
refuses "no repetitions" "--reps must be a whole number from 1 to 1000, not '0'" --reps 0
refuses "a GPU that nobody has measured" "'Voodoo'" --gpu Voodoo
refuses "two sizes" "one size, or three" 64 64
refuses "four sizes" "too many with '4'" 1 2 3 4
refuses "a negative size" "not '-5'" -5
refuses "a size of 0" "not '0'" 0
refuses "a size with letters" "not '5x'" 5x
refuses "an empty size" "not ''" ""
refuses "a size beyond 64 bits" "not '99999999999999999999'" 99999999999999999999
for option in type kernel reps csv gpu; do
    refuses "--$option without a value" "--$option" 64 --$option
done
refuses "no name as the file of --csv" "--csv needs the name of a file" 64 --csv ""
refuses "an option as the file of --csv" "--csv needs the name of a file" 64 --csv --no-cpu

# ---- what is no ordinary file ---------------------------------------------------------------------
mkdir -p "$work/folder.csv"
run 16 --csv "$work/folder.csv"
keeps_folder() { [ "$status" != 0 ] && grep -q "cannot write" "$work/err.txt" && [ -d "$work/folder.csv" ]; }
check "--csv onto a folder: says so, the folder stays" keeps_folder
mkfifo "$work/pipe"
timeout "$patience" cat "$work/pipe" >"$work/piped.csv" &
run 16 --csv "$work/pipe"
wait
through_pipe() { [ "$status" = 0 ] && [ -p "$work/pipe" ] && grep -q '^sequential,' "$work/piped.csv"; }
check "--csv into a pipe: goes through it, the pipe stays" through_pipe

# ---- a machine that cannot ------------------------------------------------------------------------
export CUCC_DEVICES=0
run
unset CUCC_DEVICES
no_device() {
    [ "$status" != 0 ] && ! grep -q Test "$work/out.txt" && grep -q "no usable CUDA device" "$work/err.txt" &&
        grep -qF "./build.sh run matmul" "$work/err.txt"
}
check "no device: a sentence with the command for the CPU, a status" no_device
export CUCC_MEMORY=100000
run 192
no_memory() {
    failed && ! says "method" && [ "$(wc -l <"$work/err.txt")" = 1 ] && grep -q "more than is free on the device" "$work/err.txt"
}
check "little memory: a sentence, a status, no table" no_memory
unset CUCC_MEMORY
run 1000000000
check "matrices larger than any memory: a sentence, a status, no table" no_memory

# ---- a wrong kernel -------------------------------------------------------------------------------
# wrong_header NAME SED-COMMAND FLAGS...: builds the demo against a header with a fault
wrong_header() {
    local folder=$work/$1
    mkdir -p "$folder/demos"
    cp demos/matmul.cu "$folder/demos/"
    sed "$2" tiledmm.cuh >"$folder/tiledmm.cuh"
    demo=$folder/matmul
    if ! cmp -s tiledmm.cuh "$folder/tiledmm.cuh" && build "$folder/demos/matmul.cu" "$demo" -O0 "${@:3}" >"$work/cucc.txt" 2>&1; then
        ok "$1: planted"
    else
        not_ok "$1: planted" "$work/cucc.txt"
    fi
}
# The rows of the kernel with the fault, and no other; at least so many
only_shared_is_wrong() { # [ROWS]
    failed && lines_up || return 1
    table | awk -v least="${1:-3}" '{ shared = $1 ~ /shared/ || $3 ~ /shared/; bad += ($NF == "WRONG") != shared; n += shared }
                 END { exit bad || n < least }'
}
wrong_header "a shared kernel without its second barrier" '/everyone has read them/s/__syncthreads();//' -DTMM_SIMPLE
run 64
check "a shared kernel without its second barrier: WRONG, Test FAILED" only_shared_is_wrong
wrong_header "a shared kernel that leaves out a k" 's/for (int k = 0; k < TMM_TILE; k++) sum/for (int k = 1; k < TMM_TILE; k++) sum/' -DTMM_SIMPLE
run 64
check "a shared kernel that leaves out a k: WRONG, Test FAILED" only_shared_is_wrong
for type in double int; do
    run 64 --type $type
    check "a shared kernel that leaves out a k, $type: WRONG, Test FAILED" only_shared_is_wrong 1
done
run 40 --csv "$csv"
check "a shared kernel that leaves out a k, all elements checked: WRONG, Test FAILED" only_shared_is_wrong
csv_says_wrong() { [ "$(grep -c ',wrong$' "$csv")" = "$(table | grep -c WRONG)" ] && grep -q '^shared_16.*,wrong$' "$csv"; }
check "a shared kernel that leaves out a k: the CSV says wrong" csv_says_wrong
# One element that is wrong, which none of the 2000 is: the projection finds it.
# In the same program, a kernel that takes no product of K = 7.
wrong_header "a kernel that leaves out the last element" 's/^    \*C = value;/    if (row != 99 || col != 99) *C = value;/
    /check_k(const/,/^}/s/if (p->K <=/if ((row->value != TMM_OUTER || p->K != 7) \&\& p->K <=/'
run 100
global_is_wrong() { failed && table | grep -q '^global.*WRONG'; }
check "a kernel that leaves out the last element: WRONG, Test FAILED" global_is_wrong
run 40 40 8 --no-cpu
outer_too() { passed && methods | grep -qx outer; }
check "K = 8: a row for outer too" outer_too
run 40 40 7 --no-cpu
no_outer() { passed && lines_up && methods | grep -qx global && ! methods | grep -qx outer; }
check "K = 7, which outer does not take here: no row for it, Test PASSED" no_outer

tap_done

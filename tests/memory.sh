#!/usr/bin/env bash
# The demos of demos/memory on the CPU runner: each builds, passes, plain and sanitized, reads its
# options and writes its CSV file; what its table says is what is counted; and it has the form of all
# of them: kernels first, then a harness that is the same in all. README.md's lab says what is true.
# shellcheck disable=SC2317,SC2329,SC2016 # functions are called through check; ` is text
. "$(dirname "$0")/tap.bash"

demos=
for source in demos/memory/*.cu; do demos="$demos $(basename "$source" .cu)"; done
reported="async_copy constant device_variable global layout registers shared" # sectors, passes, turns

# ---- the checks must be able to fail ---------------------------------------------------------------
selftest=$(check "false" false)
case $selftest in "not ok"*) check "checks can fail" true ;; *) check "checks can fail" false ;; esac

# ---- builds, two at a time -------------------------------------------------------------------------
build() { # MODE DEMO FLAGS...; what counts is a copy that runs only the way of number $WAY, or all
    local program=$work/$2.$1 source=demos/memory/$2.cu copy=$work/$2.cu
    if [ "$1" = count ] || [ "$1" = report ]; then
        sed 's/^static int way(/static int taken(void)\n{\n    static int at;\n    const char *only = getenv("WAY");\n    return !only || at++ == atoi(only);\n}\n&/
            s/^    float ms = INFINITY;$/    if (runs == 0 \&\& !taken()) return 0;\n&/' "$source" >"$copy"
        source=$copy
    fi
    shift 2
    cpu/cucc -Xcompiler -Wall,-Wextra,-Werror "$@" "$source" -o "$program" >"$program.txt" 2>&1
}
read -ra names <<<"$demos"
thirds=$(turns 0 1 2) halves=$(turns 0 1)
sanitized=" " counted=" shared " # whose rows are made wrong below
for at in "${!names[@]}"; do
    [[ $thirds = *$((at % 3))* ]] && sanitized+="${names[at]} "
    [[ $halves = *$((at % 2))* ]] && counted+="${names[at]} "
done
for demo in $demos; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    {
        build plain "$demo"
        [[ $counted != *" $demo "* ]] || build count "$demo" --count
        [[ $sanitized != *" $demo "* ]] || build sanitize "$demo" --sanitize -O0 # it runs for a moment
        case "$counted/ $reported " in *" $demo "*/*" $demo "*) build report "$demo" --report ;; esac
    } &
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
says_what_counts() { # where its times are nan; tensor_map.cu has no line left for it
    [ "$1" = tensor_map ] || grep -qx 'Times (nan) need a GPU; cucc --\(count\|report\) counts [a-z ]*\.' "$work/passed.txt"
}
passes_sanitized() { # leaks of the device are a status of their own
    passes "$1" && ! grep -q 'cucc: leak' "$work/output.txt"
}
aligned() { # the rows of the table are as wide as its header
    awk '/^way /{width = length($0)} /  ok$/ && length($0) != width {exit 1} END {exit !width}' "$work/passed.txt"
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
    check "$demo builds without a warning" test -e "$program.plain"
    check "$demo passes" passes "$program.plain"
    cp "$work/output.txt" "$work/passed.txt"
    check "$demo says what counts its figures" says_what_counts "$demo"
    check "$demo passes, backward" env CUCC_ORDER=backward "$program.plain"
    if [[ $sanitized = *" $demo "* ]]; then
        check "$demo passes, sanitized" passes_sanitized "$program.sanitize"
    else
        skip "$demo passes, sanitized" "$other_turn"
    fi
    check "$demo: the table lines up" aligned
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
    # shared is built as anybody's; of the others, what is built here serves it, newer than their sources
    mkdir -p build/run/memory && rm -f build/run/memory/shared.cpu || return 1
    for demo in $demos; do
        [ "$demo" = shared ] || cp "$work/$demo.plain" "build/run/memory/$demo.cpu" || return 1
    done
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

# ---- counted: the columns of each row ----------------------------------------------------------------
# What a table says is computed. Here each way runs alone and is counted: by --count, in threads, less
# what runs before any way; sectors, passes and turns by --report, in warps.
find_rows() { # DEMO: to $work/DEMO.found, for each row: what was counted, and the row
    local demo=$1 way=0 row
    local counts=$work/$demo.counts report=$work/$demo.csv found=$work/$demo.found
    export CUCC_THREADS=2 # the runner's device has a multiprocessor for each: two, wherever this runs
    rm -f "$counts" "$found"
    "$work/$demo.count" --csv "$work/$demo.table" >/dev/null 2>&1
    WAY=-1 CUCC_COUNTS=$counts.before "$work/$demo.count" >/dev/null 2>&1
    while read -r row; do
        rm -f "$counts" "$report"
        WAY=$way CUCC_COUNTS=$counts "$work/$demo.count" >/dev/null 2>&1
        [ ! -e "$work/$demo.report" ] || WAY=$way CUCC_REPORT=$report "$work/$demo.report" >/dev/null 2>&1
        {
            [ ! -e "$counts" ] || sed 's/^kernel/+/' "$counts"
            [ ! -e "$counts.before" ] || sed 's/^kernel/-/' "$counts.before"
            [ ! -e "$report" ] || awk -F, '{print "report," $(NF - 3) "," $(NF - 2) "," $(NF - 1) "," $NF}' "$report"
            echo "row,$row"
        } >>"$found"
        way=$((way + 1))
    done < <(tail -n +2 "$work/$demo.table")
    unset CUCC_THREADS
    [ "$way" -gt 0 ]
}
# RULE, awk, sets what was counted for a row: loads, stores, extra (the column after them), MB; or "",
# which is not compared; and text: does what the comments say hold? It knows the way's name, launches,
# global and shared loads, stores, atomics (gl gs ga sl ss sa), bytes (glb gsb); of warps' requests, by
# "global load" and such, their number (asked), their sectors, passes or turns (took), extra_passes.
compare_rows() { # DEMO RULE
    awk -F, '
        function same(column, counted, said, off) {
            if (counted == "" || (counted - said <= off && said - counted <= off)) return
            print name ": " column " " said ", counted " counted
            wrong = 1
        }
        /^[-+]/ {
            fields = split($0, word, " ")
            for (f = 3; f < fields; f += 2) count[word[f]] += (word[1] == "+" ? 1 : -1) * word[f + 1]
        }
        /^report/ {
            asked[$2] += $3
            took[$2] += $4
            if ($2 ~ /shared/) extra_passes += $4 - $5
        }
        /^row/ {
            name = $2; launches = count["launches"]
            gl = count["global_loads"]; gs = count["global_stores"]; ga = count["global_atomics"]
            sl = count["shared_loads"]; ss = count["shared_stores"]; sa = count["shared_atomics"]
            glb = count["global_load_bytes"]; gsb = count["global_store_bytes"]
            loads = gl; stores = gs; extra = MB = ""; text = 1
            '"$2"'
            if (launches == 0) MB = "" # a copy
            same("loads", loads, $3, 0)
            same("stores", stores, $4, 0)
            same("the next column", extra, $5, 1e-5 * $5)
            same("MB", MB == "" ? "" : MB * 1e-6, $6, 0.00501)
            if (!text) { print name ": its text does not hold"; wrong = 1 }
            split("", count); split("", asked); split("", took); extra_passes = 0
            rows++
        }
        END { exit wrong || !rows }' "$work/$1.found"
}
counted() { [ -e "$work/$1.count" ] && find_rows "$1" && compare_rows "$1" "${rule[$1]-}"; }
declare -A rule
N3=$((128 * 128 * 128))
rule[async_copy]='MB = glb; text = sl == '$((N3 / 2))' && ss == gl && !extra_passes'
rule[atomics]='extra = ga / 1000; MB = glb; if (name !~ /global/) text = sa == gl && ga == 256 * 2'
rule[bandwidth]='if (name == "shared") loads = sl - ga # of a block: its sum'
rule[cluster]='extra = launches; MB = 2 * gsb; if (name ~ /shared/) text = sl == 13 * gl && ss == 5 * gl'
rule[constant]='if (name ~ /^constant/) extra = took["constant load"] / asked["constant load"]; MB = glb + gsb'
rule[cooperative]='extra = launches; MB = glb + gsb'
# One thread counts the launches. --count leaves out variables of the device.
rule[device_variable]='one = name !~ /cudaMalloc/; loads = 32 * (asked["global load"] - one)
    stores = 32 * (asked["global store"] - one); if (name !~ /^copied/) MB = 4 * (loads + stores)'
rule[global]='MB = name ~ /every/ ? 32 * (took["global load"] + took["global store"]) : glb + gsb
    if (launches) extra = took["global load"] / asked["global load"] / (name ~ /float4/ ? 4 : 1)'
rule[graph]='text = launches == 50'
rule[l2]='MB = 2 * gsb'
rule[latency]='loads = name == "constant" ? "" : gl - ss + sl # first each tile is filled'
rule[layout]='extra = took["global load"] / asked["global load"]
    MB = name ~ /^one/ ? 32 * (took["global load"] + took["global store"]) : glb + gsb'
rule[local]='MB = glb + gsb; if (name ~ /^shared/) text = sl == gl + gs && ss == sl'
rule[mapped]='extra = gl / 4096; MB = name ~ /mapped/ ? glb : glb / extra'
rule[parameters]='MB = glb'
rule[peer]='extra = gl / 4096'
rule[pool]='MB = glb + gsb'
# g++ keeps the store of 0 before the sum, which nvcc leaves out.
rule[readonly]='if (name ~ /restrict/) stores = gs - 1024; extra = gl / 2048; MB = glb / 2 + 4 * stores'
rule[registers]='extra = '$N3' / sl; MB = glb; text = ss == gl && !extra_passes'
rule[scan]='loads = "" # of states, as often as it must wait
    extra = ga / 16 - 1; MB = 2 * gsb'
rule[shared]='if (ss) extra = took["shared load"] / asked["shared load"]; else extra = 0; MB = glb + gsb'
rule[shared_size]='MB = glb + gsb; text = ss == gl && sl == 9 * gs'
rule[shuffle]='extra = ga / 1000; MB = glb'
rule[surface]='stores = name ~ /^surface/ ? gs / 2 : gs; extra = (gs - stores) / gl; if (!extra) MB = glb + gsb'
rule[tensor_map]='MB = 2 * gsb; text = sl == 9 * gs'
rule[texture]='MB = 2 * gsb'
rule[texture_edges]='MB = 2 * gsb'
rule[texture_linear]='MB = 2 * gsb'
rule[texture_volume]='MB = 2 * gsb'
rule[tma]='MB = 2 * gsb; text = sl == 3 * gs'
for demo in $demos; do
    if [[ $counted = *" $demo "* ]]; then
        check "counted: $demo: each row of its table" counted "$demo"
    else
        skip "counted: $demo: each row of its table" "$other_turn"
    fi
done

# A row that is wrong in one figure is found, whichever it is.
finds_wrong() { # OLD NEW, in the table of shared.cu
    sed "s/$1/$2/" "$work/shared.found" >"$work/wrong.found"
    ! cmp "$work/shared.found" "$work/wrong.found" && compare_rows wrong "${rule[shared]}" | grep ', counted '
}
check "counted: wrong loads are found" finds_wrong 'of 32,9216' 'of 32,9217'
check "counted: wrong stores are found" finds_wrong 'columns,9216,9216' 'columns,9216,4608'
check "counted: wrong passes are found" finds_wrong 'of 32,9216,9216,32' 'of 32,9216,9216,31'
check "counted: wrong megabytes are found" finds_wrong '32,0.07' '32,0.14'

# ---- the lab of demos/memory/README.md: each change of its table says what the table says ------------
lab() { # COPY OLD NEW MODE SAYS
    local text
    text=$(cat "demos/memory/$1")
    grep -qF -- "$2" <<<"$text" && echo "${text//"$2"/"$3"}" >"$work/lab.cu" &&
        (cd "$work" && "$OLDPWD/cpu/cucc" "$4" lab.cu -o lab && ./lab 2>&1 | tr -s ' ' | tee lab.txt) &&
        grep -q -- "$5" "$work/lab.txt"
}
plain() { sed 's/^ *`\{0,1\}//; s/`\{0,1\} *$//; s/` `/.*/g; s/^(nothing)$//' <<<"$1"; }
changes=0
while IFS='|' read -r _ copy old new mode says _; do
    copy=${copy##*(} copy=${copy%%)*}
    check "lab: $copy, $(plain "$new")$(plain "$mode"): $(plain "$says")" \
        lab "$copy" "$(plain "$old")" "$(plain "$new")" "$(plain "$mode")" "$(plain "$says")"
    changes=$((changes + 1))
done < <(grep '^| \[.*| `--' demos/memory/README.md)
check "the lab has changes to try" test "$changes" -ge 9
check "the lab shows a row of the report as it is" lab shared.cu TILE TILE --report \
    "$(grep '^ *lab.cu:' demos/memory/README.md | tr -s ' ')"

tap_done

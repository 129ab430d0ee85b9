#!/usr/bin/env bash
# The page of a run, cucc --check --html: what it says of each fault, that it is whole however a program ends, and
# how it looks in a headless Chromium, if there is one. Prints TAP.
set -u
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../../../tests/ends.bash" # ^C ends the compilations, too

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cucc=$here/../../cucc
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LC_ALL=C
unset CUCC_DEVICES CUCC_ORDER CUCC_THREADS CUCC_MEMORY CUCC_COUNTS CUCC_STREAMS CUCC_FAIL CUCC_GPU CUCC_REPORT

number=0
failures=0
check() { # NAME COMMAND...
    local name=$1
    shift
    number=$((number + 1))
    if "$@" >"$work/said" 2>&1; then
        echo "ok $number - $name"
        return
    fi
    echo "not ok $number - $name"
    failures=$((failures + 1))
    sed 's/^/#   /' "$work/said" | head -n 20
}
skip() { # NAME WHY
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}
# turns WORD...: build.sh test takes one each day, whose number is $TURN; this script alone takes all.
turns() {
    [ "${TURN-all}" = all ] && echo "$*" && return
    shift $((TURN % $#))
    echo "$1"
}

# runs STATUS PAGE COMMAND...: the page must be whole, and nothing else may be left beside it
runs() {
    local status
    mkdir -p "$(dirname "$2")" && rm -f "$2"
    (cd "$(dirname "$2")" && CUCC_REPORT=$2 "${@:3}") >"$work/output" 2>&1
    status=$?
    cat "$work/output"
    [ $status = "$1" ] && python3 -B "$here/../report/page.py" "$2" && [ "$(ls -A "$(dirname "$2")")" = "${2##*/}" ]
}
has() { # PAGE TEXT...
    local text
    for text in "${@:2}"; do grep -qF -e "$text" "$1" || { echo "no: $text" && return 1; }; done
}
fails() { ! "$@"; }

builds() {
    (cd "$work" && cp "$here/faults.cu" . &&
        "$cucc" --check -c -Xcompiler -Wall,-Wextra -Werror all-warnings faults.cu -o faults.o &&
        "$cucc" --check --html compiled.html faults.o -o faults && "$cucc" --check --report faults.o -o both) >"$work/log" 2>&1
    sed '/^cucc: building the runner/d' "$work/log"
    [ -x "$work/faults" ] && [ -x "$work/both" ]
}
check "builds" builds
[ $failures = 0 ] || { echo "1..$number" && exit 1; }

# ---- what it says ------------------------------------------------------------------------------

page=$work/page/faults.html
check "a page of faults" runs 23 "$page" "$work/faults"
check "with what each is, how often it came, its lines side by side" python3 -B "$here/faults.py" "$page" "$work/faults.cu" "$here/faults.txt"
check "another line would be noticed" fails python3 -B "$here/faults.py" <(sed '0,/&#9654; [0-9]*</s//\&#9654; 1</' "$page") "$work/faults.cu" "$here/faults.txt"
check "another number would be noticed" fails python3 -B "$here/faults.py" <(sed 's/came 126 times/came 125 times/' "$page") "$work/faults.cu" "$here/faults.txt"
check "messages are printed, too" grep -q 'race on byte 0 of __shared__ row' "$work/output"
# three blocks of fill, the last one found a fault
kernel() { # NAME: its section
    sed -n "/<h3>$1, launched/,/<\/section>/p" "$page"
}
blocks() { # NAME CLASS...: of its blocks, in their order
    [ "$(kernel "$1" | grep -o '<rect class="[a-z]*"' | cut -d '"' -f 2 | tr '\n' ' ')" = "${*:2} " ]
}
check "blocks in their order, and who found a fault" blocks fill ran ran found
check "with numbers" test "$(kernel fill | grep -o '>[0-9]*</text>' | tr -d '</a-z>' | tr '\n' ' ')" = '1 2 3 '
check "and the fault that it was" grep -qE '<a href="#fault2">Fault 2</a> came in block \(2,0,0\)\.' <(kernel fill)
check "--html FILE, and no CUCC_REPORT" eval "cd '$work' && ! ./faults nothing 2>&1 | grep -v '^cucc: the page of --check is compiled.html$' && [ -s compiled.html ]"
goes_away() {
    mkdir -p "$work/away/inside" && (cd "$work/away/inside" && "$work/faults" away)
    [ $? = 23 ] && [ -s "$work/away/inside/compiled.html" ] && [ ! -e "$work/away/compiled.html" ]
}
check "a program that changes its folder" goes_away
check "a run without faults" runs 0 "$work/none/a.html" "$work/faults" nothing
check "says so" has "$work/none/a.html" 'faults: no faults</h1>' 'No fault was found.'
check "together with --report" runs 23 "$work/both.pages/a.html" "$work/both"
check "both are there" has "$work/both.pages/a.html" 'id="fault6"' 'id="worst"' 'class="bar least"' 'Its blocks'

# ---- however it ends ---------------------------------------------------------------------------

check "a barrier that not all threads come to" runs 23 "$work/barrier/a.html" "$work/faults" barrier
check "with both places, and blocks that did not run" has "$work/barrier/a.html" '2. Barrier that not all threads come to' \
    '<h4>block (0,0,0), thread (40,0,0) waits</h4>' '<h4>thread (0,0,0)</h4>' 'Right:</b> all threads of a block come to the same' '5 blocks did not run'
check "an argument that is refused" runs 23 "$work/refused/a.html" "$work/faults" host
check "is told with its line" grep -qE "<li>kernel squares: argument 1 \(0x[0-9a-f]+\) is not in live device memory, at faults.cu:$(grep -n '/\* host \*/' "$work/faults.cu" | cut -d : -f 1)</li>" "$work/refused/a.html"
check "a program that aborts" runs 134 "$work/abort/a.html" "$work/faults" abort
check "leaves its page" has "$work/abort/a.html" 'The program was ended: Aborted.' 'id="fault1"'
check "and so does one that crashes" runs 139 "$work/crash/a.html" "$work/both" crash
check "with the figures" has "$work/crash/a.html" 'The program was ended: Segmentation fault.' 'id="fault1"' 'id="worst"'
check "and one that is sent the signal" runs 139 "$work/sent/a.html" "$work/faults" sent
check "and one that is killed" runs 137 "$work/kill/a.html" "$work/faults" kill
check "with what was found until then" has "$work/kill/a.html" 'had not ended when this page was written' 'id="fault1"'

undefined() { # another day than the next one
    cat >"$work/undefined.cu" <<'XX'
__global__ void shifts(int *x, int by) { x[threadIdx.x] = 1 << (by + threadIdx.x); }
int main() { int *x; return cudaMalloc(&x, 128) || (shifts<<<1, 32>>>(x, 5), cudaDeviceSynchronize()) || cudaFree(x); }
XX
    (cd "$work" && "$cucc" --check --sanitize undefined.cu -o undefined) && runs 1 "$work/ub/a.html" "$work/undefined" &&
        has "$work/ub/a.html" '1. Undefined behaviour, undefined.cu:1<' 'thread (27,0,0): shift exponent 32 is too large'
}
# more faults, on longer lines, than a page has room for
crowd() {
    {
        echo '__global__ void many(int *x) { int t = threadIdx.x;'
        for ((i = 1; i < 80; i++)); do echo "x[t / 2 + $i * 100] = t; /* $(printf '<%.0s' {1..280}) */"; done
        echo '} int main() { int *x; return cudaMalloc(&x, 40000) || (many<<<dim3(100, 7, 9), 64>>>(x), cudaDeviceSynchronize()) || cudaFree(x); }'
    } >"$work/many.cu"
    (cd "$work" && "$cucc" --check --report many.cu -o many) && runs 23 "$work/crowd/a.html" "$work/many" &&
        has "$work/crowd/a.html" 'The last ones are told without their lines of code' '30 more findings are not told' 'id="fault49"'
}
for which in $(turns undefined crowd); do check "a page of $which" "$which"; done

cannot() { # STATUS FILE WHY COMMAND...
    local status output
    output=$(CUCC_REPORT=$2 "${@:4}" 2>&1)
    status=$?
    echo "${output##*cucc: }"
    [ $status = "$1" ] && [[ $output = *"cucc: the page of --check cannot be written to $2: $3"* ]]
}
check "a page that cannot be written: a sentence, a status" cannot 1 "$work/no/folder/a.html" 'No such file' "$work/faults" nothing
check "with faults their status" cannot 23 "$work/no/folder/a.html" 'No such file' "$work/faults"
mkdir "$work/a.html" && ln -s /dev/full "$work/full.html" && echo old >"$work/old.html" && ln -s old.html "$work/link.html"
check "a folder" cannot 1 "$work/a.html" 'Is a directory' "$work/faults" nothing
check "a full disk" cannot 1 "$work/full.html" 'No space left' "$work/faults" nothing
too_large() { (ulimit -f 1 && trap '' XFSZ && cannot "$@"); }
check "a page that finds no room leaves the old one" too_large 23 "$work/old.html" 'File too large' "$work/faults"
check "which is whole" test "$(cat "$work/old.html")" = old -a "$(find "$work" -name '.cucc-*' | wc -l)" = 0
check "a link is followed" eval "CUCC_REPORT='$work/link.html' '$work/faults' nothing && [ -L '$work/link.html' ] && grep -q '</html>' '$work/old.html'"
check "a mode that has no page" eval "'$cucc' --html a.html '$work/faults.cu' 2>&1 | grep 'a.html is a page of --check or --report'"

# ---- how it looks ------------------------------------------------------------------------------

look() { python3 -B "$here/look.py" "$@"; }
# spoilt SED-SCRIPT WHAT-IS-SAID: a page that is spoilt so is found
spoilt() {
    sed -e "$1" "$page" >"$work/spoilt.html"
    ! cmp -s "$page" "$work/spoilt.html" && look "$work/spoilt.html" 390 "${3-light}" --expect "$2"
}
look "$page" 390 light >"$work/browser" 2>&1
if [ $? = 77 ]; then
    skip "how pages look" "$(cat "$work/browser")"
else
    for which in $(turns faults both barrier none); do
        case $which in faults) file=$page ;; both) file=$work/both.pages/a.html ;; *) file=$work/$which/a.html ;; esac
        check "on a phone and a desk, light and dark: $which" look "$file"
    done
    while IFS='|' read -r name script words scheme; do
        [[ " $(turns wide cut faint unreached unmarked network console small nowhere dark) " = *" $name "* ]] || continue
        check "looking finds: $name" spoilt "$script" "$words" ${scheme:+"$scheme"}
    done <<'END'
wide|s/<h1>/<h1 style="min-width:500px">/|wide on a screen of 390
cut|0,/class="text"/s//class="text" style="white-space:pre;overflow:hidden"/|cut off
faint|s/--soft:#5b6570/--soft:#8b95a0/|too faint
unreached|s/<summary>/<summary tabindex="-1">/|Tab
unmarked|s/outline:3px solid/outline:0 solid/|nothing marks
network|s/<h1>/<img src="http:\/\/127.0.0.1:9\/a.png"><h1>/|it asks for http://127.0.0.1:9/a.png
console|s/<h1>/<script>console.error("x")<\/script><h1>/|its script says
small|s/svg .n{font-size:9px/svg .n{font-size:3px/|too small
nowhere|s/ id="kernels"//|#kernels leads to nothing
dark|s/(prefers-color-scheme:dark)/print/|its back is light|dark
END
fi

# pictures.py makes them again
for picture in "$here"/../../../demos/memory/*_run.png; do
    name=${picture##*/}
    check "$name is small, and a demo's page links to it" eval "[ \$(stat -c %s '$picture') -le 60000 ] && grep -q '($name)' '${picture%/*}/README.md'"
done

echo "1..$number"
[ $failures -eq 0 ]

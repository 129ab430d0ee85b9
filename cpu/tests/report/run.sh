#!/usr/bin/env bash
# cucc --report on demos/memory: what each of them says of its sectors, passes and turns. Prints TAP.
set -u
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../../../tests/ends.bash" # ^C ends the compilations, too

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
cucc=$root/cpu/cucc
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

# A file with --report is built once, and run for the figures.
build() { # NAME SOURCE FLAGS...
    "$cucc" --report -Xcompiler -Wall,-Wextra -Werror all-warnings "${@:3}" "$2" -o "$work/$1" 2>"$work/$1.log" &&
        CUCC_REPORT=$work/$1.csv "$work/$1" >/dev/null 2>>"$work/$1.log"
    sed -i '/^cucc: building the runner/d' "$work/$1.log" # if it is the first program
}
demos=(shared global constant layout)
for demo in "${demos[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    build "$demo" "$root/demos/memory/$demo.cu" --gpu h200 &
done
build patterns "$here/patterns.cu" --gpu h200 --registers 40 &
wait
for demo in "${demos[@]}" patterns; do
    check "$demo builds and runs" test -e "$work/$demo.csv" -a ! -s "$work/$demo.log"
done

# row DEMO LAUNCH WHAT FIGURE: all rows of the kernel that is launched so say the figure for each request
row() {
    local line
    line=$(grep -nF -e "$2" "$root/demos/memory/$1.cu" | cut -d: -f1)
    grep -F -e "$1.cu:$line\"" "$work/$1.csv" | grep -F -e ",$3," | tee "$work/rows"
    [ -n "$line" ] && [ -s "$work/rows" ] && awk -F, -v wanted="$4" '$(NF - 1) != wanted * $(NF - 2) { exit 1 }' "$work/rows"
}
while IFS='|' read -r demo launch what figure; do
    check "$demo: $launch: $figure for each $what" row "$demo" "$launch" "$what" "$figure"
done <<'END'
shared|transpose_tiled<<<grid, block>>>(in, out, TILE + 1)|shared load|1
shared|transpose_tiled<<<grid, block>>>(in, out, TILE);|shared load|32
shared|transpose_tiled<<<grid, block>>>(in, out, TILE);|shared store|1
shared|transpose_tiled<<<grid, block>>>(in, out, TILE);|global store|4
shared|transpose_plain<<<grid, block>>>|global load|4
shared|transpose_plain<<<grid, block>>>|global store|32
global|scale<<<BLOCKS, THREADS>>>(in, out, 0)|global load|4
global|scale<<<BLOCKS, THREADS>>>(in, out, 1)|global load|5
global|scale_four<<<BLOCKS / 4, THREADS>>>|global load|16
global|scale_strided<<<BLOCKS, THREADS>>>|global load|32
global|scale_strided<<<BLOCKS, THREADS>>>|global store|32
constant|convolve_constant<<<|constant load|1
constant|convolve_constant_apart<<<|constant load|32
layout|sum_arrays<<<BLOCKS, THREADS>>>(arrays, out, 1)|global load|4
layout|one_of_structs<<<|global load|32
layout|sum_arrays<<<BLOCKS, THREADS>>>(arrays, out, FIELDS)|global load|4
layout|sum_vectors<<<|global load|32
layout|sum_structs<<<|global load|32
END
fails() { ! "$@"; }
check "another figure is noticed" fails row shared 'transpose_tiled<<<grid, block>>>(in, out, TILE);' "shared load" 1

# what Nsight Compute counted of the same kernels on an H200
counters=$root/bench/results/h200/report.csv
check "sectors and conflicts are those of an H200" python3 "$here/compare.py" "$work/patterns.csv" "$counters"
awk -F, -v OFS=, 'NR == 9 { $4 *= 2 } 1' "$counters" >"$work/other.csv"
check "another counter is noticed" fails python3 "$here/compare.py" "$work/patterns.csv" "$work/other.csv"

table() { # PATTERN: in what the program says for people
    "$work/patterns" 2>&1 >/dev/null | tee "$work/table" | grep -E -e "$1"
}
check "the worst line comes first" table '^1 .*patterns\.cu:[0-9]+ +(global|shared) (load|store) .* 32 (sectors|passes) '
check "occupancy by registers" table '^occupancy on h200: 6 blocks, 75% of the warps; limit: registers; registers: 40$'
check "the tree's branch goes two ways" table "patterns\.cu:$(grep -n 'i + d < THREADS) s\[i\]' "$here/patterns.cu" | cut -d: -f1) +branch +[0-9]+ +1\.[0-9]+ ways +1 "

# a program of which no line is slow, with lines of one and of two digits
cat >"$work/quiet.cu" <<'END'
#include <stdio.h>
__global__ void own_word(int *out)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();

    atomicAdd(&s[t], 1);
    atomicMax(&out[t], s[t]);
}
int main(int argc, char **)
{
    int *out;
    if (cudaMalloc(&out, 128) || cudaMemset(out, 0, 128)) return 2;
    for (int i = 1; i < argc; i++) own_word<<<1, 32>>>(out);
    return cudaFree(out);
}
END
quiet() { # PATTERN ARGUMENT...: all on one line
    "$work/quiet" "${@:2}" 2>&1 | tee "$work/said" | tr '\n' ' ' | grep -E -e "$1"
}
check "quiet builds" "$cucc" --report -Xcompiler -Wall,-Wextra -Werror all-warnings "$work/quiet.cu" -o "$work/quiet"
check "no worst lines: a sentence" quiet '^ *No line takes more than it needs\. *kernel own_word' once
check "no kernel: a sentence" quiet '^ *No kernel was launched\. *$'
check "atomics have their line, and lines the order of their numbers" \
    quiet 'cu:6 +shared store .*cu:9 +shared atomic +1 +1 turns .*cu:10 +shared load .*cu:10 +global atomic +1 +1 turns ' once
check "and no line is unknown" fails quiet 'unknown' once

# ---- the page ----------------------------------------------------------------------------------

# Ways to be slow, the worst of which the page has to name, in this order.
cat >"$work/slow & \"bad\".cu" <<'XX'
#include <stdio.h>
template <int pitch> __global__ void turned(float *out)
{
    __shared__ float tile[32][pitch];
    for (int r = 0; r < 32; r++) tile[r][threadIdx.x] = r;
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < 32; r++) sum += tile[threadIdx.x][r]; /* worst 1: 32 passes, needs 1; */
    out[threadIdx.x] = sum;
}
__global__ void strided(const float *in, float *out, int apart)
{
    float sum = 0;
    for (int r = 0; r < 8; r++)
        sum += in[threadIdx.x * apart]; /* worst 2: 32 sectors, needs 4; */
    out[threadIdx.x] = sum;
    if (threadIdx.x & 1 && apart < 1000) /* <b> & "text" of the source is no tag */
        atomicAdd(&out[32], 1.0f);
    atomicAdd(&out[33], 1.0f); /* worst 3: 32 turns, needs 1; */
}
int main()
{
    float *in, *out;
    if (cudaMalloc(&in, 4 * 32 * 32) || cudaMalloc(&out, 4 * 64) || cudaMemset(out, 0, 4 * 64)) return 2;
    turned<32><<<1, 32>>>(out);
    strided<<<1, 32>>>(in, out, 32);
    if (cudaFree(in)) return 2;
    return cudaFree(out);
}
XX
sed -e 's/<32><<</<33><<</' -e 's/out, 32)/out, 0)/' -e '/worst 3/d' -e 's/apart < 1000/apart > 1000/' -e 's/threadIdx.x & 1/threadIdx.x/' \
    -e 's/worst 1: [^;]*/worst 0: nothing/' -e 's/worst 2: [^;]*//' -e 's/threadIdx.x && apart/apart/' "$work/slow & \"bad\".cu" >"$work/well.cu"
page() { # SOURCE PAGE
    python3 -B "$here/page.py" "$2" "$1"
}
slow="$work/slow & \"bad\".cu"
builds_page() { # SOURCE PROGRAM PAGE
    (cd "$work" && "$cucc" --report --html "$3" -Xcompiler -Wall,-Wextra -Werror all-warnings --registers 40 --gpu h200 "$1" -o "$2" && "./$2")
}
check "a page is written" builds_page "$slow" slow 'slow & "bad".html'
check "it names the worst lines, is well-formed, and stands alone" page "$slow" "$work/slow & \"bad\".html"
check "a program without slow lines has a page" builds_page "$work/well.cu" well well.html
check "which says so" page "$work/well.cu" "$work/well.html"
check "occupancy has bars" grep -qF '<div class="bar least"><span>blocks</span>' "$work/slow & \"bad\".html"
check "what is good takes what is needed" test "$(grep -c '<b>4 sectors</b> laid out well\|<b>1 pass</b> laid out well\|<b>1 turn</b> laid out well' "$work/slow & \"bad\".html")" = 3

# the checks themselves
spoilt() { # SED-SCRIPT WHAT-IS-SAID
    sed "$1" "$work/slow & \"bad\".html" >"$work/spoilt.html"
    ! page "$slow" "$work/spoilt.html" >"$work/found" && grep -qe "$2" "$work/found"
}
check "page.py finds a tag that is not closed" spoilt '0,/<\/details>/s///' 'closes another'
check "page.py finds a reference" spoilt 's/<body>/<body><img src="a.png"\/>/' 'outside'
check "page.py finds a link that leads nowhere" spoilt 's/ id="source"//' '#source leads nowhere'
check "page.py finds another line" spoilt 's/\.cu:8</.cu:9</' 'worst 1 is not'
check "page.py finds a drawing that is missing" spoilt '0,/<figure class="bad">/s//<figure>/' 'times <figure'

# a page that would be too long
{
    echo '__global__ void many(float *out)'
    echo '{'
    for ((i = 0; i < 700; i++)); do printf '    out[threadIdx.x] = out[threadIdx.x + 32] + %d; /* %s */\n' $i '<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<<'; done
    echo '}'
    echo 'int main() { float *out; if (cudaMalloc(&out, 256)) return 2; many<<<1, 32>>>(out); return cudaFree(out); } /* worst 0: nothing; */'
} >"$work/long.cu"
check "a long program has a page" builds_page "$work/long.cu" long long.html
check "of at most 1 MB" page "$work/long.cu" "$work/long.html"
check "which says what is left out" grep -q 'More lines would make the page too long' "$work/long.html"

# what is said of other ways to be slow
cat >"$work/ways.cu" <<'XX'
#include <stdlib.h>
struct body { float x, y, z, mass; };
__global__ void way(const float *in, float *out, int which, const int *mix)
{
    __shared__ double2 wide[32 * 4];
    int t = threadIdx.x;
    float sum = 0;
    for (int r = 0; r < 8; r++) {
        if (which == 0) sum += ((const body *)in)[t].mass;
        if (which == 1) sum += in[t + 3];
        if (which == 2 && t % 2) sum += in[t];
        if (which == 3) sum += in[t / 4 * 36 + t % 4];
        if (which == 4) sum += in[mix[t]];
        if (which == 5) wide[t * 4] = {1, 2};
    }
    out[t] = sum;
}
int main(int argc, char **argv)
{
    float *in, *out;
    int *mix, host[32];
    for (int i = 0; i < 32; i++) host[i] = i * i * 37 % 1024;
    if (argc < 2 || cudaMalloc(&in, 4096) || cudaMalloc(&out, 4096) || cudaMalloc(&mix, sizeof host)) return 2;
    if (cudaMemset(in, 0, 4096) || cudaMemcpy(mix, host, sizeof host, cudaMemcpyHostToDevice)) return 2;
    way<<<1, 32>>>(in, out, atoi(argv[1]), mix);
    return cudaFree(in) || cudaFree(out) || cudaFree(mix);
}
XX
check "other ways build" "$cucc" --report -Xcompiler -Wall,-Wextra -Werror all-warnings "$work/ways.cu" -o "$work/ways"
told_of() { # WAY TEXT: of the worst line
    local line
    line=$(grep -n "which == $1" "$work/ways.cu" | cut -d: -f1)
    CUCC_REPORT=$work/way.html "$work/ways" "$1" && python3 -B "$here/page.py" "$work/way.html" &&
        sed -n '/<h3>1\./,/<b>Right/p' "$work/way.html" | tee "$work/way" && grep -qF "ways.cu:$line<" "$work/way" && grep -qF "$2" "$work/way"
}
check "an array of structures" told_of 0 'lanes are 16 bytes apart, and take 4 each: 25% of'
check "a warp that begins within a sector" told_of 1 'begins within a sector'
check "lanes that take nothing" told_of 2 'Lanes between others take nothing'
check "several pieces" told_of 3 'several pieces'
check "no order" told_of 4 'places without order'
check "shared words of 16 bytes" told_of 5 'lanes are 64 bytes apart, so that all of them go to 8 of the 32 banks'

# the source is elsewhere, or newer
elsewhere() { # FOLDER PROGRAM WHAT-THE-PAGE-SAYS
    (cd "$1" && CUCC_REPORT=$work/elsewhere.html "$2") && python3 -B "$here/page.py" "$work/elsewhere.html" && grep -qF "$3" "$work/elsewhere.html"
}
mkdir "$work/apart" && cp "$work/slow" "$work/apart/"
check "without the source there are figures alone" elsewhere "$work/apart" ./slow 'The file was not found'
check "the source beside the program is found" elsewhere / "$work/slow" 'sum += tile[threadIdx.x][r];'
touch -d '+1 hour' "$slow"
check "a source that was changed is told" elsewhere "$work" ./slow 'The file was changed after the program was built'

says() { # STATUS PATTERN COMMAND...
    local status
    "${@:3}" >"$work/told" 2>&1
    status=$?
    cat "$work/told"
    [ $status = "$1" ] && grep -qe "$2" "$work/told"
}
check "CUCC_REPORT=FILE.html: a page" says 0 'the page of --report is .*/other.html' env CUCC_REPORT="$work/other.html" "$work/patterns"
check "of 20 kernels" python3 -B "$here/page.py" "$work/other.html"
check "a page that cannot be written: a sentence, a status" says 1 "^cucc: the page of --report cannot be written to $work/none/a.html: No such file" \
    env CUCC_REPORT="$work/none/a.html" "$work/slow"
check "a full disk: a sentence, a status" says 1 '^cucc: the page of --report cannot be written to .*: No space left' \
    env CUCC_REPORT="$work/full.html" bash -c "ln -s /dev/full '$work/full.html' && '$work/slow'"
check "--html without --report" says 1 '^cucc: --html a.html is a page of --check or --report' "$cucc" --html a.html "$work/quiet.cu"
check "--html without a file" says 1 '^cucc: --html needs a file' "$cucc" --report --html '' "$work/quiet.cu"

echo "1..$number"
[ $failures -eq 0 ]

#!/usr/bin/env bash
# cucc-try for graders: programs that do not mean well, arguments, and the workflow that comments on pull
# requests (cpu/coursework/pull_request.yml), whose steps run here with a copy and a stand-in for git and gh.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

have python3 || skip_all "grading" "there is no python3"
work=$PWD/$work tree=$PWD
try=$tree/cpu/coursework/try
export CUCC_CACHE=${CUCC_CACHE:-$tree/build/cucc}
cd "$work" || exit 1

cat >print.py <<'PYTHON'
import json, sys
for line in map(json.loads, sys.stdin):
    print(line["program"], line["built"], line["ended"], line["status"], line["says"], len(line["faults"]))
PYTHON

# ---- limits and arguments ------------------------------------------------------------------------
mkdir -p hostile/below temporary
printf '#include <stdlib.h>\nint main() { abort(); }\n' >hostile/abort.cu
tee hostile/args.cu hostile/others.cu >hostile/below/args.cu <<'CUDA'
int main(int n, char **a) { for (int i = 1; i < n; i++) printf("<%s>", a[i]); return n != 3; }
CUDA
printf '%s\n' '1 \*' "args.cu: 'a b' 2" >hostile/arguments
cat >hostile/bomb.cu <<'CUDA'
#include <unistd.h>
int main() { for (int i = 0; i < 3000; i++) if (!fork()) { if (i % 2) setsid(); for (;;) pause(); } for (;;) pause(); }
CUDA
echo 'int main() { for (;;) puts("x"); }' >hostile/endless.cu
cat >hostile/file.cu <<'CUDA'
#include <fcntl.h>
#include <unistd.h>
int main() { int f = open("f", O_CREAT | O_WRONLY, 0600); unlink("f"); return ftruncate(f, 3ul << 30); }
CUDA
cat >hostile/lines.cu <<'CUDA'
int main() { for (int i = 0; i < 100000; i++) printf("%100d\n", i); puts("the end"); }
CUDA
printf '#include "/dev/stdin"\nint main() {}\n' >hostile/list.cu # not the list of programs
cat >hostile/stays.cu <<'CUDA'
#include <signal.h>
#include <unistd.h>
int main() { if (fork()) return 0; for (signal(SIGTERM, SIG_IGN);;) pause(); }
CUDA
printf '#include "/dev/zero"\nint main() {}\n' >hostile/zero.cu
expected='abort.cu True status 134 134 SIGABRT 0
args.cu True well 0 <a b><2> 0
below/args.cu True well 0 <x><y z> 0
bomb.cu True too many processes 137 SIGKILL 0
endless.cu True too long 124 x 0
file.cu True status 153 153 SIGXFSZ 0
lines.cu True well 0 the end 0
list.cu True well 0  0
others.cu True well 0 <1><*> 0
stays.cu True well 0  0
zero.cu False None None cc1plus: out of memory allocating N bytes after a total of N bytes 0'
hostile() {
    local status
    TMPDIR=$work/temporary "$try" --json --seconds 5 --arguments "x 'y z'" hostile >hostile.json 2>hostile.err
    status=$?
    python3 print.py <hostile.json | sed 's/ing [0-9]* bytes after a total of [0-9]*/ing N bytes after a total of N/' >hostile.txt
    cat hostile.err hostile.txt
    [ "$status" = 1 ] && [ ! -s hostile.err ] && [ "$(cat hostile.txt)" = "$expected" ]
}
check "what bombs, goes on, fills the disk, and wants arguments" hostile
nothing() { ! { ls -A temporary && readlink /proc/[0-9]*/exe; } | grep -e '^tmp\.' -e "^$work/"; }
check "nothing of it is left" nothing
mkdir waits && mkfifo waits/pipe && printf '#include "pipe"\nint main() {}\n' >waits/waits.cu
waits() { [ "$(timeout 100 "$try" --json --build-seconds 2 waits | python3 print.py)" = "waits.cu False None None cucc: the build took more than 2 seconds 0" ]; }
check "a build that waits for ever" waits
mkdir term
cat >term/waits.cu <<'CUDA'
#include <signal.h>
#include <unistd.h>
int main() { signal(SIGTERM, SIG_IGN); fclose(fopen("began", "w")); for (;;) pause(); }
CUDA
running() { # TEXT: which grep's own command line does not show
    echo "$1" >pattern
    grep -lsaFf pattern /proc/[0-9]*/cmdline
}
term() { # FOLDER, COMMAND: by which it is seen that it has begun
    local pid status begin
    TMPDIR=$work/temporary "$try" "$work/$1" >term.txt 2>&1 &
    pid=$!
    for _ in {1..600}; do ! "${@:2}" >/dev/null || break; sleep 0.1; done
    begin=$SECONDS
    kill "$pid"
    wait "$pid"
    status=$?
    sleep 0.5
    cat term.txt && [ "$status" = 143 ] && [ $((SECONDS - begin)) -lt 60 ] && ! running "$work/$1" && nothing
}
check "when it is ended, so is the program, and nothing is left" term term test -e term/began
check "so is a build" term waits running "$work/waits/waits.cu"
mkdir none
none() { [ "$("$try" none 2>&1)" = "$(printf '%s\n' "$("$try" none 2>/dev/null | head -n 1)" 'try: no program in none' '0 programs: 0 build, 0 of them end well')" ] && ! "$try" none 2>/dev/null; }
check "a folder without programs" none
quote() { "$try" --arguments "'a" none 2>&1; [ $? = 2 ]; }
check "a quote that is missing" quote

# ---- the comment -----------------------------------------------------------------------------------
cat >lines.json <<'JSON'
{"program": "a|`@x`.cu", "built": true, "ended": "status 23", "status": 23, "seconds": 0.1, "says": "<b>\\| :x: [l](u)", "faults": ["cucc: ``` one", "cucc: @two"]}
this is no line of try
{"program": "b.cu", "built": false, "ended": null, "status": null, "seconds": null, "says": "b.cu:1: error", "faults": []}
{"program": "c.cu", "built": true, "ended": "well", "status": 0, "seconds": 2.5, "says": "", "faults": []}
JSON
cat >expected.md <<'MARKDOWN'
<!-- cucc -->
**3 programs: 2 build, 1 of them end well**

1 lines were not read.

| | program | ended | seconds | says |
|---|---|---|---|---|
| :x: | <code>a&#124;&#96;&#64;x&#96;&#46;cu</code> | <code>status 23</code> | 0.1 | <code>&#60;b&#62;&#92;&#124; &#58;x&#58; &#91;l&#93;&#40;u&#41;</code> |
| :x: | <code>b&#46;cu</code> | <code>does not build</code> |  | <code>b&#46;cu&#58;1&#58; error</code> |
| :white_check_mark: | <code>c&#46;cu</code> | <code>well</code> | 2.5 |  |

<code>a&#124;&#96;&#64;x&#96;&#46;cu</code>

````
cucc: ``` one
cucc: @two
````
MARKDOWN
markdown() { python3 "$tree/cpu/coursework/comment.py" <lines.json | diff expected.md -; }
check "a comment, in which nothing of the programs is markup" markdown
long() {
    for _ in {1..3000}; do sed -n 1p lines.json; done | python3 "$tree/cpu/coursework/comment.py" >long.md
    [ "$(wc -m <long.md)" -lt 65536 ] && grep -q 'more programs are left out' long.md && grep -q 'More faults are left out' long.md
}
check "is no longer than GitHub takes" long

# ---- the workflow ----------------------------------------------------------------------------------
workflow=$tree/cpu/coursework/pull_request.yml
step() { # NAME: its commands
    awk -v name="$1" '
        $0 ~ "^ *- name: " name "$" { inside = 1; next }
        inside && /^ *- / { exit }
        inside && sub(/^ *run: */, "") { if ($0 != "|") { print; exit } indent = 10; next }
        indent { print substr($0, indent + 1) }' "$workflow"
}
python3 -c 'import yaml' 2>/dev/null && cat >same.py <<'PYTHON'
import sys, yaml
flow = yaml.safe_load(open(sys.argv[1]))
assert flow["permissions"] == {} and flow["jobs"]["run"]["permissions"] == {"contents": "read"}
assert flow["jobs"]["comment"]["permissions"] == {"pull-requests": "write"}
assert not any("checkout" in step.get("uses", "") for step in flow["jobs"]["comment"]["steps"])
print([step["run"] for job in flow["jobs"].values() for step in job["steps"] if step.get("name") == sys.argv[2]][0].strip())
PYTHON
if [ -e same.py ]; then
    same() { for one in Runner Programs Comment; do python3 same.py "$workflow" "$one" | diff - <(step "$one") || return; done; }
    check "the workflow is YAML, and the job that runs programs may only read" same
else
    skip "the workflow is YAML" "Python has no yaml"
fi
mkdir ours runner_temp
printf '__global__ void shift(int *x) { x[threadIdx.x] = x[threadIdx.x + 1]; }\n%s\n' \
    'int main() { int *x; return cudaMalloc(&x, 256) || cudaMemset(x, 0, 256) || (shift<<<1, 32>>>(x), cudaFree(x)); }' >ours/race.cu
git() { mkdir "${!#}" && cp -r "$tree/cpu" "${!#}/"; }
gh() { # what it is asked, and what it finds
    echo "$*" >>"$work/asked"
    [ -z "${GH_FAILS-}" ] || return 1
    case $* in *--paginate*) echo "${FOUND-}" | grep . ;; esac
    return 0
}
export -f git gh
export tree work RUNNER_TEMP=$work/runner_temp GITHUB_REPOSITORY=course/programs GITHUB_STEP_SUMMARY=$work/summary NUMBER=7 RUNNER_URL=u
steps() { (cd ours && bash -e -c "$(step Runner)") && (cd ours && bash -e -c "$(step Programs)"); [ $? = 1 ]; }
check "a program with a race fails the workflow" steps
posts() { # FOUND EXPECTED
    : >asked
    FOUND=$1 bash -e -c "$(step Comment)" && cat asked && [ "$(sed -n 2p asked)" = "$2 --field body=@$RUNNER_TEMP/comment.md" ]
}
check "a first comment" posts '' 'api --silent repos/course/programs/issues/7/comments'
check "later it is changed" posts 42 'api --silent --method PATCH repos/course/programs/issues/comments/42'
says() { grep -q '^| :x: | <code>race&#46;cu</code> | <code>status 23</code>' "$1" && grep -q '^cucc: kernel shift, .* race on byte 4' "$1"; }
check "it says what the programs did" says runner_temp/comment.md
check "and so does the summary" says summary
denied() { GH_FAILS=yes bash -e -c "$(step Comment)" | grep '^::warning::'; }
check "without the right to comment there is a warning" denied
tap_done

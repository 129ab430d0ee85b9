#!/usr/bin/env bash
# build.sh and cpu/cucc: what they refuse and how they say it, help that does nothing else, calls through
# links and from other folders, interrupts, a checkout that cannot be written to.
# shellcheck disable=SC2016,SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

# A copy, so that nothing happens to this one. In a folder that any user can enter.
copy=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$copy"; rm -rf "$copy"' EXIT
chmod 755 "$copy"
cp -r .ci build.sh cmake cpu demos bench tests ./*.cuh "$copy/" || exit 1
mkdir -p "$copy/build/kept" "$work/tools" "$work/elsewhere"
before=$(cd "$copy" && find . | sort)

# says STATUS PATTERN COMMAND...: so it ends, with at most one line on stderr, and a line matches
says() {
    local wanted=$1 pattern=$2 status
    shift 2
    timeout "$patience" "$@" >"$work/out.txt" 2>"$work/err.txt" </dev/null
    status=$?
    echo "exit status $status, wanted $wanted and: $pattern"
    cat "$work/out.txt" "$work/err.txt"
    [ "$status" = "$wanted" ] && [ "$(wc -l <"$work/err.txt")" -le 1 ] &&
        cat "$work/out.txt" "$work/err.txt" | grep -qE -- "$pattern"
}
refuses() { says 2 "^build.sh: $1" "${@:2}"; } # PATTERN COMMAND...
untouched() { diff <(echo "$before") <(cd "$copy" && find . | sort); }

for command in test bench join install clean; do
    check "$command --help" says 0 "^./build.sh $command" "$copy/build.sh" $command --help
    check "$command -h" says 0 "^./build.sh $command" "$copy/build.sh" $command -h
done
check "none of them did anything" untouched
check "-h" says 0 '^./build.sh run ' "$copy/build.sh" -h
check "run -h" says 0 '^  matmul$' "$copy/build.sh" run -h
check "report -h" says 0 '^usage: report' "$copy/build.sh" report -h
check "cucc -h" says 0 '^usage: cucc' "$copy/cpu/cucc" -h
check "clean with a word" refuses "clean takes nothing, not 'all'" "$copy/build.sh" clean all
check "test with two words" refuses "test takes --quick, --gpu or nothing, not '--gpu host'" "$copy/build.sh" test --gpu host
check "bench with two folders" refuses "bench takes one folder" "$copy/build.sh" bench a b
check "a command that there is not" refuses "there is no command 'bild'" "$copy/build.sh" bild
check "run of a library" refuses "demos/c_caller/library.cu is a library" "$copy/build.sh" run c_caller/library
for ranks in 0 -1 abc 2.5 '' 12345; do
    check "RANKS='$ranks'" refuses "RANKS must be a whole number from 1 to 9999, not '$ranks'" \
        env RANKS="$ranks" "$copy/build.sh" run matmul_mpi
done

for turn in some -1 07 1234567890; do
    check "TURN=$turn" refuses "TURN must be a whole number or all, not '$turn'" env TURN=$turn "$copy/build.sh" test
done
check "none of them did anything" untouched
# The one of TURN and the next ones, after the last the first; all of them for a script alone.
turns_are() { # EXPECTED TURN
    local turns
    turns=$(TURN=$2 && turns a b c && unset TURN && turns a b c)
    echo "$turns"
    [ "$(tr '\n' ' ' <<<"$turns")" = "$1 a b c " ]
}
for turn in "a 3" "b 4" "c 5" "a 6" "a b c all"; do check "turns: $turn" turns_are "${turn% *}" "${turn##* }"; done
check "build.sh has the same turns" [ "$(TURN=4 && eval "$(sed -n '/^turns() {/,/^}/p' build.sh)" && turns a b c)" = b ]

# python3 that installs nothing, and tells
cat >"$work/tools/python3" <<END
#!/bin/sh
[ "\$1 \$2" != "-m venv" ] || { touch "$PWD/$work/installed"; exit 1; }
exec "$(command -v python3)" "\$@"
END
chmod +x "$work/tools/python3"
if have python3; then
    refuses_report() { says 2 "^report: $1" env PATH="$PWD/$work/tools:$PATH" "$copy/build.sh" report "${@:2}"; }
    check "report --bogus" refuses_report "unrecognized arguments: --bogus" --bogus
    check "report --sizes many" refuses_report ".*many" --sizes many
    check "before anything is installed" [ ! -e "$work/installed" ]
    PATH=$PWD/$work/tools:$PATH "$copy/build.sh" report --quick >/dev/null 2>&1
    check "where there is nothing to refuse it would be" [ -e "$work/installed" ]
    rm -rf "$copy"/build/report* "$copy/bench/report/__pycache__"
else
    skip "report refuses before it installs" "python3 is not installed"
fi
check "nothing else has come or gone" untouched

# ---- through links, from other folders ------------------------------------------------------------
cat >"$work/elsewhere/one.cu" <<'END'
#include <stdio.h>
__global__ void one(int *a)
{
    *a = 1;
}
int main(void)
{
    int *a;
    if (cudaMallocManaged(&a, sizeof *a)) return 1;
    *a = 0;
    one<<<1, 1>>>(a);
    if (cudaDeviceSynchronize()) return 1;
    printf("one: %d\n", *a);
    cudaFree(a);
    return 0;
}
END
ln -s "$copy/build.sh" "$work/elsewhere/builds"
ln -s "$copy/cpu/cucc" "$work/elsewhere/compiles"
ln -s compiles "$work/elsewhere/link to a link"
export CUCC_CACHE=$PWD/build/cucc
through_link() (
    cd "$work/elsewhere" && "./$1" one.cu -o one && [ "$(./one)" = "one: 1" ] && rm one
)
check "build.sh through a link" says 0 '^  matmul$' "$work/elsewhere/builds" run --help
check "cucc through a link" through_link compiles
check "cucc through a link to a link" through_link "link to a link"
# The runner is built once: that is said, and on a terminal seconds count. A part is taken out of a copy of the cache.
builds_runner() { # COMMAND...
    rm -rf "$work/cache" && cp -r build/cucc "$work/cache" && rm -f "$work"/cache/kernels* || return
    CUCC_CACHE=$PWD/$work/cache "$@" cpu/cucc "$work/elsewhere/one.cu" -o "$work/one" >"$work/out.txt" 2>"$work/err.txt"
}
says_it_builds() {
    builds_runner env || return
    cat "$work/err.txt"
    [ "$(grep -c '^cucc: building the runner; only this once' "$work/err.txt")" = 1 ] && [ "$(wc -l <"$work/err.txt")" = 1 ] &&
        [ -z "$(CUCC_CACHE=$PWD/$work/cache cpu/cucc "$work/elsewhere/one.cu" -o "$work/one" 2>&1)" ]
}
on_terminal() { script -qec "$*" /dev/null </dev/null; }
counts_seconds() {
    builds_runner on_terminal || return
    tr '\r' '\n' <"$work/out.txt"
    [ "$(tr '\r' '\n' <"$work/out.txt" | grep -c '^cucc: building the runner; only this once.*: [0-9]* s')" -ge 2 ]
}
check "cucc says once that it builds the runner" says_it_builds
if have script; then check "on a terminal it counts seconds meanwhile" counts_seconds; fi
installs_here() (
    cd "$work/elsewhere" && "$copy/build.sh" install here && [ -e here/include/tiledmm.cuh ] && [ ! -e "$copy/here" ]
)
check "install into a folder beside the caller" installs_here

# ---- interrupts -----------------------------------------------------------------------------------
# In a session of its own, interrupted in the middle of its work. That a signal is ignored here is not passed on.
session() { # SESSION: its processes, as lines NUMBER NAME; and what names the copy, wherever it is
    cat /proc/[0-9]*/stat 2>/dev/null | sed -nE 's/^([0-9]+) \((.*)\) ([A-Z]) [0-9]+ [0-9]+ ([0-9]+) .*/\3 \4 \1 \2/p' |
        awk -v session="$1" '$1 != "Z" && $2 == session { print $3, $4 }'
    grep -lsaF -f <(echo "$copy") /proc/[0-9]*/cmdline | sed 's/[^0-9]//g'
}
# interrupted SIGNAL STATUS ALL AT COMMAND...: with that status, a sentence, and nothing that stays, at once.
# ALL: the signal goes to all of the process group, as ^C does; else to the command alone. AT: the process
# that must be running.
interrupted() {
    local signal=$1 status=$2 all=$3 at=$4 pid began took got left
    shift 4
    env --default-signal=INT,QUIT setsid "$@" >"$work/out.txt" 2>"$work/err.txt" <&0 &
    pid=$!
    for ((turn = 0; turn < 3000; turn++)); do
        session "$pid" >"$work/before.txt" # once: it may run for a moment only
        grep -q " $at" "$work/before.txt" && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    began=${EPOCHREALTIME/./}
    kill -s "$signal" -- "${all:+-}$pid"
    wait "$pid"
    got=$?
    took=$(((${EPOCHREALTIME/./} - began) / 1000))
    left=$(session "$pid")
    echo "exit status $got after $took ms, wanted $status; there were: $(tr '\n' ' ' <"$work/before.txt"); there are: $left"
    cat "$work/out.txt" "$work/err.txt"
    # shellcheck disable=SC2046
    [ -z "$left" ] || kill -KILL $(cut -d ' ' -f 1 <<<"$left")
    # 2 seconds, and what a busy machine takes besides
    grep -q " $at" "$work/before.txt" && [ "$got" = "$status" ] && [ -z "$left" ] && [ "$took" -lt 10000 ] &&
        grep -q "^[a-z.]*: interrupted (SIG$signal)" "$work/err.txt"
}
cat >"$copy/demos/sleeps.cu" <<'END'
#include <unistd.h>
int main(void)
{
    for (;;) sleep(1);
}
END
# for a second or two, so that it is seen
printf '#include <regex>\nint main(void) { return std::regex_match("a", std::regex("b")); }\n' >"$copy/demos/compiles.cu"
for tool in python3 apt-get nvcc; do printf '#!/bin/sh\nsleep 500\n' >"$work/tools/$tool"; done
printf '#!/bin/sh\necho "GPU 0: pretended"\n' >"$work/tools/nvidia-smi"
chmod +x "$work"/tools/*
pretended=(env CUDA_VISIBLE_DEVICES=0 PATH="$PWD/$work/tools:$PATH")
if env --default-signal=INT true 2>/dev/null && have setsid && [ -e /proc/self/stat ]; then
    check "test, ^C" interrupted INT 130 all cc1plus "$copy/build.sh" test
    check "test, SIGTERM to it alone" interrupted TERM 143 '' cc1plus "$copy/build.sh" test
    check "run memory, SIGINT to it alone" interrupted INT 130 '' cc1plus "$copy/build.sh" run memory
    check "run, SIGTERM while it compiles" interrupted TERM 143 '' cc1plus "$copy/build.sh" run compiles
    check "run, ^C while the demo runs" interrupted INT 130 all sleeps.cpu "$copy/build.sh" run sleeps
    check "the same without standard input" interrupted INT 130 all sleeps.cpu bash -c 'exec "$0" run sleeps <&-' "$copy/build.sh"
    check "report, SIGTERM while it installs" interrupted TERM 143 '' sleep "${pretended[@]}" "$copy/build.sh" report
    check "bench, ^C" interrupted INT 130 all sleep "${pretended[@]}" "$copy/build.sh" bench
    check ".ci/run, SIGTERM" interrupted TERM 143 '' sleep "${pretended[@]}" "$copy/.ci/run"
    check "a script of tests, SIGHUP" interrupted HUP 129 '' cc1plus bash "$copy/tests/memory.sh"
else
    skip "interrupts" "no /proc, no setsid or no env --default-signal"
fi

# ---- a checkout that cannot be written to ---------------------------------------------------------
user=()
[ "$(id -u)" != 0 ] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
rm -rf "$copy/build"
chmod -R go+rX,a-w "$copy"
if [ ${#user[@]} = 0 ] || have setpriv; then
    lacking="cannot make the folder $copy/build"
    export CUDA_VISIBLE_DEVICES= # the CPU runner, wherever this runs
    check "read-only: run" refuses "$lacking" "${user[@]}" "$copy/build.sh" run matmul
    check "read-only: test" refuses "$lacking" "${user[@]}" "$copy/build.sh" test
    check "read-only: clean has nothing to do" "${user[@]}" "$copy/build.sh" clean
    unset CUCC_CACHE
    # What is built then goes to the user's cache, and if that is read-only, too, a sentence names it.
    XDG_CACHE_HOME=$copy/demos check "read-only: cucc" says 1 "^cucc: cannot write to the folder .*demos/cucc \(CUCC_CACHE" \
        "${user[@]}" "$copy/cpu/cucc" "$copy/demos/multigpu.cu" -o /dev/null
else
    skip "a read-only checkout" "root can write anywhere, and there is no setpriv"
fi
tap_done

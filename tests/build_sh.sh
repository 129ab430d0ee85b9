#!/usr/bin/env bash
# build.sh and cpu/cucc: what they refuse and how they say it, help that does nothing else, calls through
# links and from other folders, a checkout that cannot be written to.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

# A copy, so that nothing happens to this one. In a folder that any user can enter.
copy=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$copy"; rm -rf "$copy"' EXIT
chmod 755 "$copy"
cp -r build.sh cmake cpu demos bench tests ./*.cuh "$copy/" || exit 1
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
check "test with two words" refuses "test takes --gpu or nothing, not '--gpu host'" "$copy/build.sh" test --gpu host
check "bench with two folders" refuses "bench takes one folder" "$copy/build.sh" bench a b
check "a command that there is not" refuses "there is no command 'bild'" "$copy/build.sh" bild
check "run of a library" refuses "demos/c_caller/library.cu is a library" "$copy/build.sh" run c_caller/library
for ranks in 0 -1 abc 2.5 '' 12345; do
    check "RANKS='$ranks'" refuses "RANKS must be a whole number from 1 to 9999, not '$ranks'" \
        env RANKS="$ranks" "$copy/build.sh" run matmul_mpi
done

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
installs_here() (
    cd "$work/elsewhere" && "$copy/build.sh" install here && [ -e here/include/tiledmm.cuh ] && [ ! -e "$copy/here" ]
)
check "install into a folder beside the caller" installs_here

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
    check "read-only: cucc" says 1 "^cucc: cannot write to the folder .*build/cucc \(CUCC_CACHE" \
        "${user[@]}" "$copy/cpu/cucc" "$copy/demos/multigpu.cu" -o /dev/null
else
    skip "a read-only checkout" "root can write anywhere, and there is no setpriv"
fi
tap_done

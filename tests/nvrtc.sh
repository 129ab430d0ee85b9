#!/usr/bin/env bash
# tiledmm.cuh under NVRTC (tests/nvrtc.c): its kernels compile at run time and keep plain names.
set -u
cd "$(dirname "$0")/.." || exit 1
work=build/test/nvrtc
rm -rf "$work"
mkdir -p "$work" || exit 1

name="tiledmm.cuh compiles with NVRTC, its kernels keep their names"
all() { # RESULT [FILE]: the one result when the program itself cannot run
    echo "$1"
    [ ! -s "${2-}" ] || awk 'NR <= 30 { print "# " $0 }' "$2"
    echo "1..1"
    case $1 in not*) exit 1 ;; *) exit 0 ;; esac
}

command -v nvcc >/dev/null || all "ok 1 - $name # SKIP nvcc is not installed"
# nvcc itself says where its toolkit lies: the one in PATH may be a script, or a link to elsewhere.
echo >"$work/empty.cu"
nvcc --dryrun -c "$work/empty.cu" >"$work/dryrun.txt" 2>&1
folders() { grep "^#\$ $1=" "$work/dryrun.txt" | grep -o -- "$2[^\" ]*" | sed "s/^$2//"; }
include='' library=''
while read -r folder; do
    [ -z "$include" ] && [ -e "$folder/nvrtc.h" ] && include=$folder
done < <(folders INCLUDES -I && echo /usr/include)
while read -r folder; do
    [ -z "$library" ] && [ -e "$folder/libnvrtc.so" ] && library=$(cd "$folder" && pwd)
done < <(folders LIBRARIES -L && echo "/usr/lib/$(uname -m)-linux-gnu")
[ "$include" ] || all "ok 1 - $name # SKIP this toolkit has no nvrtc.h"
[ "$library" ] || all "ok 1 - $name # SKIP this toolkit has no libnvrtc.so"

gcc -std=c99 -Wall -Wextra -Werror -isystem "$include" tests/nvrtc.c -o "$work/nvrtc" \
    -L"$library" -Wl,-rpath,"$library" -lnvrtc -lm >"$work/gcc.txt" 2>&1 ||
    all "not ok 1 - tests/nvrtc.c compiles and links" "$work/gcc.txt"
# from a folder without the header, since NVRTC looks in the current one, too
root=$PWD
cd "$work" || exit 1
exec timeout 120 ./nvrtc "$root"

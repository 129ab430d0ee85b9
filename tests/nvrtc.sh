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
# The toolkit is where nvcc really lies: a link in /usr/bin may lead to it, so may a script of a
# distribution, whose toolkit lies in the system's own folders.
bin=$(dirname "$(readlink -f "$(command -v nvcc)")")
include='' library=''
for folder in "$bin/../include" "$bin"/../targets/*/include /usr/include; do
    [ -z "$include" ] && [ -e "$folder/nvrtc.h" ] && include=$folder
done
for folder in "$bin/../lib64" "$bin/../lib" "$bin"/../targets/*/lib "/usr/lib/$(uname -m)-linux-gnu"; do
    [ -z "$library" ] && [ -e "$folder/libnvrtc.so" ] && library=$(cd "$folder" && pwd)
done
[ "$include" ] || all "ok 1 - $name # SKIP this toolkit has no nvrtc.h"
[ "$library" ] || all "ok 1 - $name # SKIP this toolkit has no libnvrtc.so"

gcc -std=c99 -Wall -Wextra -Werror -isystem "$include" tests/nvrtc.c -o "$work/nvrtc" \
    -L"$library" -Wl,-rpath,"$library" -lnvrtc -lm >"$work/gcc.txt" 2>&1 ||
    all "not ok 1 - tests/nvrtc.c compiles and links" "$work/gcc.txt"
# from a folder without the header, since NVRTC looks in the current one, too
root=$PWD
cd "$work" || exit 1
exec timeout 120 ./nvrtc "$root"

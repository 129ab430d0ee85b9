#!/usr/bin/env bash
# tiledmm.cuh under NVRTC (tests/nvrtc.c): its kernels compile at run time and keep plain names. With
# the word quick, only the simple ones.
. "$(dirname "$0")/tap.bash"
name="tiledmm.cuh compiles with NVRTC, its kernels keep their names"
have nvcc || skip_all "$name" "nvcc is not installed"
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
[ "$include" ] || skip_all "$name" "this toolkit has no nvrtc.h"
[ "$library" ] || skip_all "$name" "this toolkit has no libnvrtc.so"

grep -o 'nvrtcCreateProgram(&program[^`]*)' README.md | sed 's/$/;/' >"$work/readme.h"
gcc -std=c99 -Wall -Wextra -Werror -isystem "$include" -I"$work" tests/nvrtc.c -o "$work/nvrtc" \
    -L"$library" -Wl,-rpath,"$library" -lnvrtc -lm >"$work/gcc.txt" 2>&1 || {
    not_ok "tests/nvrtc.c compiles and links" "$work/gcc.txt"
    tap_done
}
# from a folder without the header, since NVRTC looks in the current one, too
root=$PWD
cd "$work" || exit 1
exec timeout "$patience" ./nvrtc "$root" "$include" "$@"

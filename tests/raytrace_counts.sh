#!/usr/bin/env bash
# What the kernels of raytrace.cuh say of themselves, counted: the CPU runner counts each load and
# store that the real kernels make (cpu/cucc --count), once whatever its width. The constant kernel
# loads no sphere from global memory.
. "$(dirname "$0")/tap.bash"

# 64 x 48 pixels, 3,072; 100 spheres at the place where no ray goes: no pixel is shaded.
cat >"$work/counts.cu" <<'END'
#include "raytrace.cuh"
int main()
{
    static rayt_sphere spheres[100];
    static unsigned char image[64 * 48 * 4];
    for (int n = 0; n < 100; n++) spheres[n].x = 1000, spheres[n].radius = 5;
    for (int w = 0; w < RAYT_WHERE_COUNT; w++)
        if (rayt_render_host((rayt_where)w, spheres, 100, image, 64, 48, NULL, NULL) != RAYT_OK)
            return 1;
}
END
if cpu/cucc --count -I. -Xcompiler -Wall,-Wextra,-Werror "$work/counts.cu" -o "$work/counts" >"$work/said.txt" 2>&1 &&
    CUCC_COUNTS=$work/counts.txt "$work/counts" >"$work/said.txt" 2>&1; then
    ok "the CPU runner builds a program that counts, and it runs"
else
    not_ok "the CPU runner builds a program that counts, and it runs" "$work/said.txt"
fi

# makes KERNEL COUNTER EXPECTED CLAIM
makes() {
    local found
    found=$(sed -n "s/^kernel rayt_render_$1 launches 1 .*\<$2 \([0-9]*\).*/\1/p" "$work/counts.txt" 2>/dev/null)
    if [ "$found" = "$3" ]; then
        ok "$1 makes $3 ${2//_/ }: $4"
    else
        not_ok "$1 makes $3 ${2//_/ }: $4"
        echo "# ${found:-not} counted"
    fi
}
makes constant global_loads 0 "its spheres are in constant memory"
makes global global_loads 307200 "one a pixel and sphere"
makes global global_load_bytes 4915200 "16 bytes each"
makes readonly global_loads 307200 "one a pixel and sphere"
makes shared global_loads 1200 "one a block and sphere"
makes shared shared_loads 307200 "one a pixel and sphere"
makes tile_32 global_loads 400 "one a tile and sphere"
for kernel in global readonly constant shared tile_32; do
    makes $kernel global_store_bytes 12288 "4 bytes a pixel"
done

tap_done

#!/usr/bin/env bash
# bench/compile_time.sh [ARCHITECTURE]: user seconds that nvcc takes for one architecture (default
# sm_90) to compile a file that includes a header, with nothing used, with one call, with float alone,
# with float and double, with the fast kernels left out (TMM_SIMPLE), with float on tensor cores
# (TMM_FLOAT_TENSOR; sm_90a has most of it), with float and half (TMM_WITH_HALF; for sm_90a, where most
# of it is), and demos/first.cu and demos/matmul.cu, beside a file with an empty main and one line of
# thrust::sort. User time, since other programs change it least. CSV:
# header, use, architecture, median, fastest and slowest of 3 rounds, each of all files, so that a busy
# moment falls on all of them, and the median's ratio to that of thrust::sort.
set -u
export LC_ALL=C # numbers with a point
cd "$(dirname "$0")/.." || exit 1
architecture=${1:-sm_90}
command -v nvcc >/dev/null || { echo "compile_time.sh: nvcc is not installed" >&2; exit 1; }
work=build/compile_time
rm -rf "$work"
mkdir -p "$work" || exit 1

main='int main(void) { return 0; }'
echo "$main" >"$work/none.nothing.cu"
printf '#include "tiledmm.cuh"\n%s\n' "$main" >"$work/tiledmm.nothing.cu"
printf '#define TMM_SIMPLE\n#include "tiledmm.cuh"\n%s\n' "$main" >"$work/tiledmm.simple.cu"
printf '#define TMM_NO_DOUBLE\n#define TMM_NO_INT\n#include "tiledmm.cuh"\n%s\n' "$main" >"$work/tiledmm.float.cu"
printf '#define TMM_NO_INT\n#include "tiledmm.cuh"\n%s\n' "$main" >"$work/tiledmm.float_double.cu"
printf '#define TMM_FLOAT_TENSOR 0\n#include "tiledmm.cuh"\n%s\n' "$main" >"$work/tiledmm.float_tensor.cu"
printf '#define TMM_WITH_HALF\n#define TMM_NO_DOUBLE\n#define TMM_NO_INT\n#include "tiledmm.cuh"\n%s\n' "$main" >"$work/tiledmm.half.cu"
printf '#include "raytrace.cuh"\n%s\n' "$main" >"$work/raytrace.nothing.cu"
cp demos/first.cu "$work/demos.first.cu"
cp demos/matmul.cu "$work/demos.matmul.cu"
printf '#include <thrust/device_vector.h>\n#include <thrust/sort.h>\nint main(void) { thrust::device_vector<int> v(9); thrust::sort(v.begin(), v.end()); return 0; }\n' >"$work/thrust.sort.cu"
cat >"$work/tiledmm.one_call.cu" <<'CODE'
#include "tiledmm.cuh"
int main(void) { float a = 6, b = 7, c; return tmm_smatmul(1, 1, 1, &a, &b, &c); }
CODE
cat >"$work/raytrace.one_call.cu" <<'CODE'
#include "raytrace.cuh"
int main(void)
{
    rayt_sphere sphere = {0, 0, 0, 1, 1, 1, 1};
    unsigned char image[4];
    return rayt_render_host(RAYT_CULLED, &sphere, 1, image, 1, 1, NULL, NULL);
}
CODE
TIMEFORMAT=%U
architecture_of() { case $1 in *tiledmm.half.cu) echo sm_90a ;; *) echo "$architecture" ;; esac; }
for _ in 1 2 3; do
    for file in "$work"/*.cu; do
        a=$(architecture_of "$file")
        { time nvcc -gencode "arch=compute_${a#sm_},code=$a" -I. -Idemos -c "$file" -o "$work/out.o" 2>"$work/nvcc.txt"; } 2>>"$file.times"
        [ ! -s "$work/nvcc.txt" ] || { cat "$work/nvcc.txt" >&2; exit 1; }
    done
done
sort_s=$(sort -n "$work/thrust.sort.cu.times" | sed -n 2p)
echo "header,use,architecture,median_s,fastest_s,slowest_s,times_sort"
for file in "$work"/*.cu; do
    use=$(basename "$file" .cu)
    sort -n "$file.times" | awk -v use="${use/./,}" -v a="$(architecture_of "$file")" -v sort_s="$sort_s" \
        '{ t[NR] = $1 } END { printf "%s,%s,%s,%s,%s,%.2f\n", use, a, t[2], t[1], t[3], t[2] / sort_s }'
done

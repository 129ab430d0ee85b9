#!/usr/bin/env bash
# The worked examples of CONTRIBUTING, and an edit for every kernel that has instances, carried out on
# one copy: other tiles and orders, more instances, a new kernel. What is built then must have them, use
# them, and multiply rightly. Edits that a kernel cannot follow must not compile: a sentence names the
# number or the list to change.
# All edits are made each day; of those that work and those that must not, ./build.sh test compiles the
# ones on one day and the others on the next.
. "$(dirname "$0")/tap.bash"
today=" $(turns refused works) "
copy=$work/copy
mkdir -p "$copy/tests" && cp -r src "$copy/" && cp -r tests/change "$copy/tests/"

cat >"$work/program.cu" <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int wanted = -1; /* the number of the instance that plans take where it fits */
#define TMM__PLAN_GUESS(instance, cut, slices, time) \
    ((void)(cut), (void)(slices), wanted < 0 || (instance) == wanted ? (time) : 1e30)
#define TMM__TENSOR_GUESS(M, instance, time) (wanted < 0 || (instance) == wanted ? (time) : 1e30)
#define TMM__INT8_INSTANCE(instance)         (wanted < 0 ? (instance) : wanted)
#ifndef BY_WGMMA
#define TMM__FLOAT_INSTRUCTION(instruction)  TMM__BY_MMA_SYNC
#endif
#define TMM_FLOAT_TENSOR                     0
#define TMM_DOUBLE_TENSOR                    0
#define TMM_NO_INT
#include "tiledmm.cuh"
#ifndef BY_WGMMA
#include <cuda_fp16.h>
#define TMM_TYPE   __half
#define TMM_SUM    float
#define TMM_SCALAR float
#define TMM_NAME   h
#include "tiledmm.cuh"
#endif
#define CHECK(T, letter, unit, wide)                                                              \
    static double letter##_worst(tmm_kernel kernel, int ops, int M, int N, int K)                 \
    {                                                                                             \
        const int ta = ops & 1, tb = ops >> 1, count = M * K + K * N + M * N;                     \
        T *A = (T *)malloc(sizeof(T) * count), *B = A + M * K, *C = B + K * N, *d = NULL;         \
        double worst = 0;                                                                         \
        for (int i = 0; i < M * K + K * N; i++) A[i] = (T)(rand() / (RAND_MAX / 2.0) - 1);        \
        for (int i = 0; i < M * N; i++) C[i] = (T)NAN;                                            \
        if (cudaMalloc((void **)&d, sizeof(T) * count) ||                                         \
            cudaMemcpy(d, A, sizeof(T) * count, cudaMemcpyHostToDevice) ||                        \
            tmm_##letter##gemm_with(kernel, ta ? TMM_OP_T : TMM_OP_N, tb ? TMM_OP_T : TMM_OP_N,   \
                                    M, N, K, 1, d, ta ? M : K, d + M * K, tb ? K : N, 0,          \
                                    d + M * K + K * N, N, 0) ||                                   \
            cudaMemcpy(A, d, sizeof(T) * count, cudaMemcpyDeviceToHost))                          \
            return INFINITY;                                                                      \
        for (int i = 0; i < M; i++)                                                               \
            for (int j = 0; j < N; j++) {                                                         \
                long double sum = 0, size = 0;                                                    \
                for (int k = 0; k < K; k++) {                                                     \
                    long double product = (long double)(wide)A[ta ? k * M + i : i * K + k] *      \
                                          (wide)B[tb ? j * K + k : k * N + j];                    \
                    sum += product, size += fabsl(product);                                       \
                }                                                                                 \
                double part = (double)(fabsl((wide)C[i * N + j] - sum) / ((K + 2) * (unit) * size)); \
                if (!(part <= worst)) worst = part;                                               \
            }                                                                                     \
        cudaFree(d);                                                                              \
        free(A);                                                                                  \
        return worst;                                                                             \
    }
#ifndef TMM_NO_DOUBLE
CHECK(double, d, ldexp(1, -53), double)
#else
#define d_worst(...) 0
#endif
CHECK(float, s, ldexp(1, -24), float)
#ifndef BY_WGMMA
CHECK(__half, h, ldexp(1, -24) + ldexp(1, -11) / (K + 2), float)
#else
#define h_worst(...) 0
#endif
/* program KERNEL [INSTANCE]: multiplies by it, of float and double where there is such a kernel; "half":
   by TMM_TENSOR of half. */
int main(int count, char **names)
{
    static const int shapes[][4] = {{200, 90, 33, 1}, {128, 64, 40, 0}, {256, 128, 72, 1}, {33, 65, 130, 3},
                                    {30, 600, 40, 2}, {300, 7, 129, 0}, {300, 7, 130, 3}, {300, 3, 129, 1},
                                    {300, 14, 130, 1}, {300, 13, 130, 3}}; /* and ops */
    double worst = count < 2 ? INFINITY : 0;
    int k = 0;
    while (k < TMM_KERNEL_COUNT && count > 1 && strcmp(names[1], tmm_kernel_string((tmm_kernel)k))) k++;
    if (count > 2) wanted = atoi(names[2]);
    for (int n = 0; n < (int)(sizeof shapes / sizeof *shapes); n++) {
        const int *s = shapes[n];
        if (k == TMM_SKINNY ? s[1] > 16 : n > 5) continue; /* the last four are for it */
        if (strcmp(names[1], "half") == 0) {
            worst = fmax(worst, h_worst(TMM_TENSOR, s[3], s[0], s[1], s[2]));
            continue;
        }
        worst = fmax(worst, d_worst((tmm_kernel)k, s[3], s[0], s[1], s[2]));
        if (k != TMM_TENSOR_INT8) worst = fmax(worst, s_worst((tmm_kernel)k, s[3], s[0], s[1], s[2]));
    }
    printf("largest error, as a part of the bound: %g\n", worst);
    return !(worst <= 1);
}
END

# edit SED FILE: of src/tiledmm/FILE in the copy, which must change.
edit() {
    cp "$copy/src/tiledmm/$2" "$work/before"
    sed -i "$1" "$copy/src/tiledmm/$2"
    ! cmp -s "$work/before" "$copy/src/tiledmm/$2" || not_ok "$1: is an edit of $2"
}
# example NAME: the commands of CONTRIBUTING between the words "NAME" and the next example.
example() {
    local commands
    commands=$(awk -v name="    # $1" '/^    # / || /^$/ { shows = 0 } shows { print } $0 == name { shows = 1 }' CONTRIBUTING.md)
    if [ -z "$commands" ] || ! (cd "$copy" && set -e && eval "$commands") >"$work/example.txt" 2>&1; then
        not_ok "$1: CONTRIBUTING has this example" "$work/example.txt"
    fi
}
example "change a tile"
example "add an instance"
example "add a kernel"
edit 's/(_(2, 8) _(3, 16)) _(1, 32)/(_(1, 8) _(2, 16)) _(3, 32)/' kernels/simple/shared.cuh
edit 's/_(2, 64, 4)) _(1, 128, 8)/_(3, 64, 4)) _(2, 128, 8)/' kernels/simple/register.cuh
edit 's/(sizeof(TMM_TYPE)), 8)/& TMM__IF_FLOAT(_(5, _one, 1, 16))/' kernels/pipelined/sizes.h
edit 's/TMM__IF_FLOAT(_(1, k_4/TMM__IF_FLOAT(_(5, k_8, 1, 8) _(1, k_4/' kernels/skinny/sizes.h
edit 's/define TMM__OUTER_LIST(_)/& _(5, tall, 16, 16)/' kernels/outer/sizes.h
edit 's/TMM__IF_FLOAT(_(3, 3, 3)/TMM__IF_FLOAT(_(5, 2, 2) _(3, 3, 3)/' kernels/narrow/sizes.h
edit 's/TMM__DIRECT_BLOCK = [0-9]*/TMM__DIRECT_BLOCK = 6/' kernels/direct/sizes.h
edit 's/_(3, 128x128, 4, 3, 1)/_(6, 128x128, 4, 2, 1)/; s/_(4, 64x64, 2, 4, 2)/_(5, 64x64, 2, 3, 3)/' kernels/tensor_float/mma_sync.cuh
edit 's/128x64, 1, 64, 8, 1/128x64, 1, 64, 4, 1/; s/128x192, 1, 192, 5, 1/128x192, 1, 192, 4, 1/' kernels/tensor_float/wgmma.cuh
edit 's/_(1, 128x32, 32, 6)/_(2, 128x32, 32, 3)/; s/_(2, 128x64, 64, 6)/_(1, 128x64, 64, 7)/' kernels/tensor_float/thin.cuh
edit 's/_(2, 128x128, 128, 128, 3, 2)/_(3, 128x128, 128, 128, 4, 2) _(4, 64x128, 64, 128, 5, 2)/; s/_(3, 64x64, 64, 64, 3, 4)/_(2, 64x64, 64, 64, 6, 4)/' kernels/tensor_half/mma_sync.cuh
edit 's/_(1, 128x256, 64)/_(2, 128x256, 64)/; s/_(2, 128x128, 32)/_(1, 128x128, 32)/' kernels/tensor_int8/mma_sync.cuh

# works NAME KERNEL NUMBER INSTANCE...: these must be launched, which is counted.
works() {
    local name=$1 kernel=$2 numbers=$3 instance missing=
    [[ $today = *" works "* ]] || { skip "$name: multiplies rightly" "$other_turn" && return; }
    shift 3
    rm -f "$work/counts.txt"
    for instance in $numbers; do
        # shellcheck disable=SC2046 # "-": none, as TMM_AUTO plans
        CUCC_COUNTS=$work/counts.txt "$work/program" "$kernel" $([ "$instance" = - ] || echo "$instance") || break
    done >"$work/said.txt" 2>&1 || missing=" a right product"
    for instance; do grep -qw "$instance" "$work/counts.txt" "$work/said.txt" 2>/dev/null || missing+=" $instance"; done
    if [ -z "$missing" ]; then ok "$name: multiplies rightly, by $*"; else not_ok "$name: lacks$missing" "$work/said.txt" "$work/counts.txt"; fi
}
if bash "$copy/src/join.sh" >"$work/join.txt" 2>&1 &&
    { [[ $today != *" works "* ]] || cpu/cucc --count -O1 -I "$copy" "$work/program.cu" -o "$work/program" >"$work/build.txt" 2>&1; }; then
    ok "what was edited joins, and builds where it is to"
else
    not_ok "what was edited joins, and builds where it is to" "$work/join.txt" "$work/build.txt"
fi
works "change a tile" tensor "0 5" tmm_dgemm_tensor_128x64 tmm_sgemm_float_mma_128x128 tmm_sgemm_float_mma_64x64
works "add an instance" small 4 tmm_sgemm_small_64x32
works "add a kernel" strided - tmm_sgemm_strided tmm_dgemm_strided
works "SHARED, in another order" shared_32 - tmm_sgemm_shared_32 tmm_dgemm_shared_32
works "REGISTER, in another order" register_64 - tmm_sgemm_register_64 tmm_dgemm_register_128
works "PIPELINED, an instance with one block to a multiprocessor" pipelined 1 tmm_sgemm_pipelined_one
works "SKINNY, a width of 8" skinny - tmm_sgemm_skinny_k_8
works "OUTER, another tile" outer 0 tmm_sgemm_outer_tall tmm_dgemm_outer_tall
works "NARROW, 2 groups" narrow 0 tmm_sgemm_narrow_2
works "DIRECT, smaller blocks" direct - tmm_sgemm_direct tmm_dgemm_direct
works "TENSOR HALF, another tile" half "1 2 3" tmm_hgemm_half_64x64 tmm_hgemm_half_128x128 tmm_hgemm_half_64x128
works "TENSOR INT8, in another order" tensor_int8 "0 1" tmm_dgemm_int8_mma_128x256 tmm_dgemm_int8_mma_128x128
# The kernels by wgmma run on Hopper alone.
# shellcheck disable=SC2317,SC2329 # called through check
by_wgmma() {
    nvcc -gencode arch=compute_90a,code=sm_90a -DBY_WGMMA -DTMM_NO_DOUBLE -I "$copy" "$work/program.cu" -o "$work/wgmma" &&
        for instance in 0 1 2 3 7 8; do "$work/wgmma" tensor "$instance" || return; done
}
if have nvcc && have_gpu && [ "$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1)" = 9.0 ]; then
    check "TENSOR FLOAT by wgmma, other stages: multiplies rightly" by_wgmma
else
    skip "TENSOR FLOAT by wgmma, other stages: multiplies rightly" "needs nvcc and a GPU of compute capability 9.0"
fi

# ---- edits that a kernel cannot follow -------------------------------------------------------------
# Many are made in one copy, since the compiler names all. Each has a sentence of its own there.
printf '#define TMM_FLOAT_TENSOR 0\n#define TMM_DOUBLE_TENSOR 0\n#define TMM_NO_INT\n#include "tiledmm.cuh"\n' >"$work/all.cu"
printf '#include <cuda_fp16.h>\n#define TMM_TYPE __half\n#define TMM_SUM float\n#define TMM_NAME h\n#include "tiledmm.cuh"\n' >>"$work/all.cu"
begin_refused() {
    rm -rf "$copy/src" && cp -r src "$copy/"
    edits=() sentences=()
}
# refused EDIT FILE SENTENCE: this is what the compiler has to say about it.
refused() {
    edit "$1" "$2"
    edits+=("$1")
    sentences+=("$3")
}
end_refused() {
    local n
    bash "$copy/src/join.sh" >"$work/join.txt" 2>&1 || not_ok "edits join" "$work/join.txt"
    if [[ $today != *" refused "* ]]; then
        for n in "${edits[@]}"; do skip "$n: does not compile, with a sentence" "$other_turn"; done
        return
    fi
    cpu/cucc -O0 -Xcompiler -fsyntax-only -I "$copy" -c "$work/all.cu" -o "$work/all.o" >"$work/build.txt" 2>&1
    for n in "${!edits[@]}"; do
        if grep -F "error: static assertion failed" "$work/build.txt" | grep -qF "${sentences[n]}"; then
            ok "${edits[n]}: does not compile, with a sentence"
        else
            grep error: "$work/build.txt" >"$work/errors.txt"
            not_ok "${edits[n]}: does not compile, with a sentence" "$work/errors.txt"
        fi
    done
}
# number KERNEL NAME VALUE SENTENCE: of the constants of a kernel.
number() {
    refused "s/\(TMM__${1^^}_$2 = \)[0-9]*/\1$3/" "kernels/$1/sizes.h" "$4"
}
# instance KERNEL LINE SENTENCE: one more.
instance() {
    refused "s/define TMM__${1^^}_LIST(_)/& $2/" "kernels/$1/sizes.h" "$3"
}
begin_refused
instance narrow "TMM__IF_FLOAT(_(5, 5, 5))" "TMM__NARROW_LIST: at most 4 groups"
instance small "_(5, 48x32, 48, 32)" "TMM__SMALL_LIST: rows and columns of a tile must be 16, 32 or 64"
instance skinny "TMM__IF_FLOAT(_(5, k_12, 1, 12))" "TMM__SKINNY_LIST: a width must be"
instance outer "_(5, six, 6, 32)" "TMM__OUTER_LIST: lanes must be a power of two"
instance tensor "_(5, 64x32, 1, 2, 2, 4)" "TMM__TENSOR_LIST: a tile of 64 x 64 or less"
refused 's/_tn, 2, 16/_tn, 2, 12/' kernels/pipelined/sizes.h "TMM__PIPELINED_LIST: a thread has 8 rows"
refused 's/_(1, 32)/_(1, 24)/' kernels/simple/shared.cuh "TMM__SHARED_LIST must have 8, 16 and 32"
refused 's/_(2, 64, 4)/_(2, 64, 8)/' kernels/simple/register.cuh "TMM__REGISTER_LIST must have 64, of TMM_BLOCK 4"
refused 's/128x128, 4, 3, 1/128x128, 3, 3, 1/' kernels/tensor_float/mma_sync.cuh "TMM__MMA_LIST: a warp has 2 or 4 matrices"
refused 's/128x64, 1, 64, 8, 1/128x64, 1, 64, 6, 1/' kernels/tensor_float/wgmma.cuh "TMM__WGMMA_LIST: stages must be"
refused 's/128x128, 32/128x128, 48/' kernels/tensor_int8/mma_sync.cuh "TMM__INT8_MMA_LIST: a warp's part"
refused 's/128x96, 96, 6/128x96, 48, 6/' kernels/tensor_float/thin.cuh "TMM__THIN_LIST: a tile has 32, 64, 96 or 128 lines"
refused 's/64x64, 64, 64, 3, 4/64x64, 64, 96, 3, 4/' kernels/tensor_half/mma_sync.cuh "TMM__HALF_LIST: tiles have 64 or 128 rows"
refused 's/128x128, 128, 128, 6/128x128, 128, 160, 6/' kernels/tensor_half/wgmma.cuh "TMM__HALF_WGMMA_LIST: a tile has 128 x 128"
number skinny WARPS 4 "TMM__SKINNY_WARPS, _COPIES and _L must be 8, 4"
number direct BLOCK 11 "TMM__DIRECT_BLOCK must be"
end_refused
begin_refused
number narrow DEPTH 16 "TMM__NARROW_DEPTH must be 8"
number small WARPS_LOG2 4 "TMM__SMALL_WARPS_LOG2 must be 1 to 3"
refused 's/\(_([0-9], lines_16, 0, \)16/\18/' kernels/skinny/sizes.h "TMM__SKINNY_LIST must have a width of TMM__SKINNY_MOST"
number outer COLS 3 "TMM__OUTER_COLS must be 2, 4 or 8"
number pipelined DEPTH 16 "TMM__PIPELINED_THREADS, _UNIT and _DEPTH"
refused 's/any, 2, 2, 1, 3/any, 2, 2, 2, 3/' kernels/tensor/sizes.h "TMM__TENSOR_LIST must have tiles of 64 x 64 or less"
refused 's/_(1, 32)/_(4, 32)/' kernels/simple/shared.cuh "TMM__SHARED_LIST: each instance needs a pass of its own"
refused 's/64x64, 2, 4, 2/64x64, 2, 1, 2/' kernels/tensor_float/mma_sync.cuh "TMM__MMA_LIST: stages must be"
refused 's/, 128x64, 64x64)/, 128x64, 128x64)/' kernels/tensor_float/wgmma.cuh "TMM__WGMMA_KERNEL_LIST: each instance"
refused 's/_(2, 128x128, 32)/_(1, 128x128, 32)/' kernels/tensor_int8/mma_sync.cuh "TMM__INT8_MMA_LIST: each instance needs a pass"
refused 's/128x32, 32, 6/128x32, 32, 1/' kernels/tensor_float/thin.cuh "TMM__THIN_LIST: stages must be 2 at least"
refused 's/64x64, 64, 64, 3, 4/64x64, 64, 64, 1, 4/' kernels/tensor_half/mma_sync.cuh "TMM__HALF_LIST: one stage is copied"
refused 's/128x256, 128, 256, 4/128x256, 128, 256, 5/' kernels/tensor_half/wgmma.cuh "TMM__HALF_WGMMA_LIST: stages must be"
number skinny COPIES 2 "TMM__SKINNY_WARPS, _COPIES and _L must be 8, 4"
number direct MOST 2048 "TMM__DIRECT_MOST must be a power of two"
end_refused
begin_refused
refused 's/128x128, 128, 128, 3, 2/128x128, 128, 128, 8, 2/' kernels/tensor_half/mma_sync.cuh "TMM__HALF_LIST: the stages of all blocks"
number narrow THREADS 256 "must be 128, 64 and 512"
number narrow STAGES 1 "TMM__NARROW_STAGES must be 2 at least"
instance small "_(5, 64x64, 64, 64)" "TMM__SMALL_LIST: the first instance must have the smallest tile"
number outer WARPS 16 "TMM__OUTER_WARPS must be 4 or 8"
number pipelined STAGES 6 "TMM__PIPELINED_STAGES must be 2 at least"
number tensor DEPTH 32 "TMM__TENSOR_DEPTH must be 16"
refused 's/128x192, 1, 192, 5, 1/128x192, 1, 192, 7, 1/' kernels/tensor_float/wgmma.cuh "TMM__WGMMA_LIST: stages must fit"
refused 's/128x128, 128, 5/128x128, 128, 6/' kernels/tensor_float/thin.cuh "TMM__THIN_LIST: stages must fit"
refused 's/_tn, 2, 16/_tn, 0, 16/' kernels/pipelined/sizes.h "TMM__PIPELINED_LIST: a multiprocessor has 1 block"
refused 's/128x128, 4, 4, 2, 1/128x128, 4, 4, 2, 0/' kernels/tensor/sizes.h "TMM__TENSOR_LIST: a multiprocessor has 1 block"
refused 's/32x64, 2, 1, 2, 4/32x64, 2, 0, 2, 4/' kernels/tensor/sizes.h "and a warp 1 matrix"
refused 's/= 1 << TMM__SMALL_WARPS_LOG2/= 0 << TMM__SMALL_WARPS_LOG2/' kernels/small/sizes.h "and TMM__SMALL_WARPS 2 to it"
number skinny L 128 "TMM__SKINNY_WARPS, _COPIES and _L must be 8, 4"
number direct CLUSTER 4 "TMM__DIRECT_CLUSTER must be 1 to 3"
end_refused
begin_refused
number narrow LINES 256 "must be 128, 64 and 512"
refused 's/\(TMM__NARROW_PITCH = .*\) + 4/\1 + 2/' kernels/narrow/sizes.h "TMM__NARROW_PITCH must have room"
number outer STEP 24 "TMM__OUTER_STEP must be a multiple of 16"
number pipelined STAGED_ROWS 3 "TMM__PIPELINED_STAGED_ROWS must be 1, 2 or 4"
number tensor PITCH 33 "TMM__TENSOR_PITCH must be even"
refused 's/256x128, 2, 128, 4, 1/256x128, 2, 256, 4, 1/' kernels/tensor_float/wgmma.cuh "TMM__WGMMA_LIST: a tile has 64, 128 or 192 columns"
number direct GROUPS 1024 "TMM__DIRECT_GROUPS"
end_refused
begin_refused
number narrow PLACES 128 "must be 128, 64 and 512"
number narrow STAGES 6 "fit into the 99 KB"
refused 's/_(1, _any/_(5, _one, 1, 16) &/' kernels/pipelined/sizes.h "TMM__PIPELINED_LIST: the first instance must be"
refused 's/? 4 : 3/? 4 : 4/' kernels/tensor/sizes.h "TMM__TENSOR_STAGES must be 2 at least"
instance outer "_(5, tall, 16, 1)" "TMM__OUTER_LIST: lanes must be"
end_refused
tap_done

#!/usr/bin/env bash
# The ways to include raytrace.cuh: from C and C++, from several .cu files of one program, beside
# tiledmm.cuh, cut into pieces, by NVRTC and as PyCUDA does it. What needs a tool that this machine
# lacks is skipped with the reason.
# shellcheck disable=SC2317,SC2329 # many functions are only called through check
. "$(dirname "$0")/tap.bash"

no_nvcc="nvcc is not installed"

cpu=(cpu/cucc -O0 -I. -Xcompiler "-Wall,-Wextra,-Werror")
gpu=(nvcc -I. -arch=sm_80 -Werror all-warnings -Xcompiler "-Wall,-Wextra")
have_gpu && gpu[2]=-arch=native
# what does not run here need not be optimised
have_gpu || ! have nvcc || { nvcc --help | grep -q -e -Ofc && gpu+=(-Ofc=max); }

# ---- one program of C, C++ and four .cu files -----------------------------------------------------
# Each file renders the same scene its way; main compares all with the CPU.
cat >"$work/main.c" <<'END'
#include "raytrace.cuh"
#include <string.h>
#define WAYS(X) X(a) X(b) X(c) X(d)
#ifdef __cplusplus
extern "C" int part_d(const rayt_sphere *s, unsigned char *image, int w, int h);
int part_d(const rayt_sphere *s, unsigned char *image, int w, int h)
{
    return rayt_render_host(RAYT_CONSTANT, s, 40, image, w, h, NULL, NULL);
}
#else
#define X(way) int part_##way(const rayt_sphere *s, unsigned char *image, int w, int h);
WAYS(X)
#undef X
int main(void)
{
    static rayt_sphere s[40];
    static unsigned char expected[90 * 70 * 4], image[90 * 70 * 4];
    int failures = rayt_random_scene(s, 40, 3, 90, 70, 5, 25) != RAYT_OK;
    failures += rayt_render_cpu(s, 40, expected, 90, 70) != RAYT_OK;
#define X(way)                                                              \
    memset(image, 7, sizeof image);                                         \
    if (part_##way(s, image, 90, 70) || memcmp(image, expected, sizeof image)) \
        failures += 1 + printf("part " #way ": %s\n", rayt_last_error());
    WAYS(X)
    return failures != 0;
}
#endif
END
cp "$work/main.c" "$work/caller.cpp"
part() { # WAY KERNEL LINES: a .cu file that defines these lines before the inclusion
    printf '%b#include "raytrace.cuh"\n' "$3"
    cat <<END
extern "C" int part_$1(const rayt_sphere *s, unsigned char *image, int w, int h);
int part_$1(const rayt_sphere *s, unsigned char *image, int w, int h)
{
    return rayt_render_host($2, s, 40, image, w, h, NULL, NULL);
}
END
}
part a RAYT_CULLED '' >"$work/a.cu"
part b RAYT_CONSTANT '' >"$work/b.cu"
part c RAYT_SHARED '#define RAYT_EXTERN\n' >"$work/c.cu"
printf '#define RAYT_IMPLEMENTATION\n#include "raytrace.cuh"\n#include "raytrace.cuh"\n' >"$work/impl.cu"

# A system may have CUDA's headers where every compiler looks: in front of them are some that fail.
mkdir "$work/trap"
for header in cuda_runtime cuda_runtime_api cuda vector_types driver_types; do
    echo '#error "this includes a header of CUDA"' >"$work/trap/$header.h"
done
echo '#include <cuda_runtime.h>' >"$work/trap.c"
check "a file that includes a header of CUDA would be noticed" \
    sh -c "! gcc -I'$work/trap' -c '$work/trap.c' -o '$work/trap.o'"
# declarations STANDARDS FILE OBJECT COMPILER...: the header's declarations, without a warning.
declarations() {
    local standards=$1 file=$2 object=$3 compiler standard
    shift 3
    for compiler in "$@"; do
        for standard in $standards; do
            if have "$compiler"; then
                check "$compiler -std=$standard takes the header, without CUDA's" "$compiler" -I"$work/trap" \
                    -std="$standard" -pedantic -Wall -Wextra -Werror -I. -c "$file" -o "$object"
            else
                skip "$compiler -std=$standard takes the header" "$compiler is not installed"
            fi
        done
    done
}
# A caller in C of what RAYT_WITH_TRACE adds.
cat >"$work/tracer.c" <<'END'
#define RAYT_WITH_TRACE
#include "raytrace.cuh"
#include <string.h>
int main(void)
{
    static rayt_sphere spheres[40];
    static rayt_material materials[40];
    static unsigned char expected[40 * 30 * 4], image[40 * 30 * 4];
    static rayt_scene scene;
    static const rayt_camera camera = {{13, 2, 3}, {0, 0, 0}, {0, 1, 0}, 40, 0.5f, 12};
    static const rayt_quality quality = {3, 60, 1, 2};
    unsigned long long hash = 14695981039346656037ull;
    if (rayt_random_scene(spheres, 40, 7, 8, 6, 0.6f, 1.4f) != RAYT_OK) return 3;
    for (int i = 0; i < 40; i++) {
        materials[i].kind = i % 5 ? RAYT_MIRROR : i % 2 ? RAYT_GLASS : RAYT_DIFFUSE;
        materials[i].fuzz = i % 9 ? 0 : 0.5f;
        materials[i].index = 1.5f;
    }
    scene.spheres = spheres, scene.materials = materials, scene.count = 40;
    scene.sky_top[2] = scene.sky_bottom[0] = scene.sun.x = scene.sun.y = scene.sun.r = scene.sun.g = 1;
    if (rayt_trace_cpu(&scene, &camera, &quality, expected, 40, 30) != RAYT_OK) return 1;
    if (rayt_trace_host(RAYT_TREE, &scene, &camera, &quality, image, 40, 30, NULL, NULL) != RAYT_OK) return 2;
    for (size_t n = 0; n < sizeof image; n++) hash = (hash ^ image[n]) * 1099511628211ull;
    printf("%016llx\n", hash); /* the same bytes from every compiler and device */
    return memcmp(expected, image, sizeof image) != 0 || hash != 0x701b3a6405d9853cull;
}
END
cp "$work/tracer.c" "$work/tracer.cpp"
declarations "c17 c11 c99" "$work/tracer.c" "$work/tracer.o" clang gcc
declarations "c++20 c++11" "$work/tracer.cpp" "$work/tracer_cpp.o" clang++ g++
declarations "c17 c11 c99" "$work/main.c" "$work/main.o" clang gcc # the last object is linked below
declarations "c++20 c++17 c++14 c++11" "$work/caller.cpp" "$work/caller.o" clang++ g++
check "C99 takes demos/raytrace_c.c, without CUDA's" \
    gcc -I"$work/trap" -std=c99 -pedantic -Wall -Wextra -Werror -c demos/raytrace_c.c -o "$work/demo.o"

# Only the buffer of rayt_last_error is shared among plain files; RAYT_IMPLEMENTATION emits the API.
exports() { # OBJECT: the functions of the header that it exports
    nm -g --defined-only "$1" | grep -oE '\brayt_[a-z_]*$' | sort | tr '\n' ' '
}
traced="rayt_build rayt_build_host rayt_last_error rayt_print_ansi rayt_query rayt_query_within rayt_random_scene "
traced+="rayt_render rayt_render_cpu rayt_render_host rayt_render_rows rayt_status_string rayt_trace rayt_trace_cpu "
traced+="rayt_trace_host rayt_tree_free rayt_where_string rayt_write_png rayt_write_ppm "
api="rayt_last_error rayt_print_ansi rayt_random_scene rayt_render rayt_render_cpu rayt_render_host "
api+="rayt_render_rows rayt_status_string rayt_where_string rayt_write_png rayt_write_ppm "
exports_are() { # OBJECT EXPECTED
    local found
    found=$(exports "$1")
    echo "exports: $found"
    [ "$found" = "$2" ]
}

program() { # NAME FOLDER RUNS COMMAND...
    local name=$1 folder=$work/$2 runs=$3 file
    shift 3
    mkdir -p "$folder"
    for file in a b c impl; do
        check "$name: $file.cu compiles" "$@" -c "$work/$file.cu" -o "$folder/$file.o"
    done
    check "$name: a plain .cu exports nothing" exports_are "$folder/a.o" ""
    check "$name: RAYT_IMPLEMENTATION exports the functions and no more" exports_are "$folder/impl.o" "$api"
    check "$name: RAYT_IMPLEMENTATION with RAYT_WITH_TRACE compiles" "$@" -DRAYT_WITH_TRACE -c "$work/impl.cu" -o "$folder/traced.o"
    check "$name: it exports those of tracing, too" exports_are "$folder/traced.o" "$traced"
    check "$name: a C program that traces links" "$@" -DRAYT_WITH_TRACE "$work/tracer.o" "$folder/traced.o" -o "$folder/tracer"
    check "$name: all link" "$@" "$work/main.o" "$work/caller.o" "$folder"/{a,b,c,impl}.o -o "$folder/program"
    check "$name: demos/raytrace_c.c links" "$@" "$work/demo.o" "$folder/impl.o" -o "$folder/demo"
    if [ "$runs" = yes ]; then
        check "$name: all render the same" "$folder/program"
        check "$name: demos/raytrace_c.c passes" "$folder/demo" "$folder/demo.png"
        check "$name: the C program traces" "$folder/tracer"
    else
        skip "$name: all render the same" "no GPU here"
    fi
}
runs=no
have_gpu && runs=yes
program "CPU runner" cpu yes "${cpu[@]}"
if have nvcc; then
    for rdc in $(turns false true); do program "nvcc -rdc=$rdc" "rdc-$rdc" $runs "${gpu[@]}" "-rdc=$rdc"; done
else
    skip "nvcc: several files of one program" "$no_nvcc"
fi

# ---- the manual's example --------------------------------------------------------------------------
{
    printf '#define RAYT_WITH_TRACE\n#include "raytrace.cuh"\nint main(void)\n{\n'
    printf '%s\n' 'enum { count = 1, w = 60, h = 40 };' 'static unsigned char image[4 * w * h];' \
        'const rayt_sphere spheres[1] = {{0, 0, 0, 1, 1, 0, 0}};' 'const rayt_material materials[1] = {{RAYT_MATT}};'
    sed -n '/^   RAYS AT ANY ANGLE/,/rayt_trace_host(RAYT/s/^ \{10\}\([a-z][^;]*;\).*/\1/p' src/raytrace/manual.h
    printf '%s\n' 'const unsigned char *middle = image + 4 * (h / 2 * w + w / 2);' \
        'return !(middle[0] > 90 && middle[2] == 0 && image[0] == 0 && image[2] == 255);' '}'
} >"$work/manual.cu"
check "the manual's example of a camera compiles" cpu/cucc -O0 -I. "$work/manual.cu" -o "$work/manual"
check "and draws a lit sphere in front of a sky" "$work/manual"

# ---- pieces ---------------------------------------------------------------------------------------
# INTERSECTION, one kernel and a main, which must give the image of the header.
piece() { sed -n "/=== $1 ===/,/^\/\* END OF ${1%% *}/p" raytrace.cuh; }
pasted() { # KERNEL CALL
    echo '#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>'
    if [ "$1" = HEADER ]; then
        echo '#include "raytrace.cuh"'
    else
        piece INTERSECTION
        piece "KERNEL $1"
    fi
    cat <<END
int main()
{
    static rayt_sphere s[60];
    static uchar4 image[90 * 70];
    rayt_sphere *scene;
    uchar4 *picture;
    for (int n = 0; n < 60; n++) {
        rayt_sphere one = {(float)(n * 37 % 90 - 45), (float)(n * 23 % 70 - 35), (float)n, 8, 1, 0.5f, 0.01f * n};
        s[n] = one;
    }
    cudaMalloc((void **)&scene, sizeof s);
    cudaMalloc((void **)&picture, sizeof image);
    cudaMemcpy(scene, s, sizeof s, cudaMemcpyHostToDevice);
    dim3 grid(6, 5), block(16, 16);
    if (grid.x * block.x < 90) return 2;
    $2;
    cudaMemcpy(image, picture, sizeof image, cudaMemcpyDeviceToHost);
    fwrite(image, 1, sizeof image, stdout);
    cudaFree(scene);
    cudaFree(picture);
    return cudaGetLastError() != cudaSuccess;
}
END
}
plain() { echo "rayt_render_$1<<<grid, block>>>(scene, 60, picture, 90, 70, 0, 70)"; }
pasted HEADER 'rayt_render(RAYT_CULLED, scene, 60, (unsigned char *)picture, 90, 70, 0)' >"$work/HEADER.cu"
pasted GLOBAL "$(plain global)" >"$work/GLOBAL.cu"
pasted READONLY "$(plain readonly)" >"$work/READONLY.cu"
pasted SHARED "$(plain shared)" >"$work/SHARED.cu"
pasted CONSTANT 'float4 *table;
    cudaMalloc((void **)&table, sizeof(float4) * 120);
    rayt_split<<<1, 60>>>(scene, 60, table);
    cudaMemcpyToSymbol(rayt_table, table, sizeof(float4) * 120, 0, cudaMemcpyDeviceToDevice);
    rayt_render_constant<<<grid, block>>>(60, 0, NULL, picture, 90, 70, 0, 70);
    cudaFree(table)' >"$work/CONSTANT.cu"
renders() { "$1" >"$1.rgba" && cmp "$1.rgba" "$2" && [ "$(wc -c <"$2")" = 25200 ]; }
pieces() { # NAME RUNS COMMAND...
    local name=$1 runs=$2 kernel
    shift 2
    for kernel in HEADER GLOBAL READONLY CONSTANT SHARED; do
        if [ "$runs" = no ]; then
            check "$name: $kernel alone compiles" "$@" -c "$work/$kernel.cu" -o "$work/$kernel.o"
            skip "$name: $kernel alone renders" "no GPU here"
            continue
        fi
        check "$name: $kernel alone compiles" "$@" "$work/$kernel.cu" -o "$work/$kernel.program"
        if [ $kernel = HEADER ]; then
            "$work/HEADER.program" >"$work/expected.rgba"
        else
            check "$name: $kernel alone renders" renders "$work/$kernel.program" "$work/expected.rgba"
        fi
    done
}
pieces "CPU runner" yes "${cpu[@]}"
if have nvcc; then pieces nvcc $runs "${gpu[@]}"; else skip "nvcc: the pieces compile" "$no_nvcc"; fi

# ---- other ways -----------------------------------------------------------------------------------
printf '#include "tiledmm.cuh"\n#include "raytrace.cuh"\nint main() { return 0; }\n' >"$work/both.cu"
printf '#define RAYT_MAX_CONST 70000\n#include "raytrace.cuh"\nint main() { return 0; }\n' >"$work/large.cu"
printf 'extern "C" {\n#define RAYT_KERNEL __global__\n#define RAYT_TABLE __constant__\n#include "raytrace.cuh"\n}\n' >"$work/pycuda.cu"
refused() { # SENTENCE COMMAND...: the compiler ends with an error that contains the sentence
    local sentence=$1
    shift
    "$@" && return 1
    grep -qF "$sentence" "$work/check.txt"
}
from_below() { (mkdir -p "$work/below" && cd "$work/below" && cp ../b.cu . && cp ../../../../raytrace.cuh .. &&
    sed -i 's|"raytrace.cuh"|"../raytrace.cuh"|' b.cu && "$@" -c b.cu -o b.o); }
loads_pairs() {
    nvcc -cubin -arch=sm_90 -I. "$work/b.cu" -o "$work/b.cubin" &&
        cuobjdump -sass "$work/b.cubin" | awk '/Function/ {here = /rayt_render_constant/} here' >"$work/b.sass" &&
        grep -q 'LDC\.64 R[0-9]*, c\[0x3\]\[R' "$work/b.sass" && ! grep 'ULDC.*c\[0x3\]' "$work/b.sass"
}
check "CPU runner: by a relative path, from another folder" from_below "$PWD/cpu/cucc"
mkdir "$work/renamed"
cp raytrace.cuh "$work/renamed/rays.cuh"
sed 's/raytrace\.cuh/rays.cuh/' "$work/a.cu" >"$work/renamed.cu"
renamed() { # COMMAND...: the compiler sees no header but the renamed one
    "$@" -I"$work/renamed" -DRAYT_HEADER='"rays.cuh"' -c "$work/renamed.cu" -o "$work/renamed.o"
}
check "CPU runner: a renamed header, with RAYT_HEADER" renamed cpu/cucc
check "CPU runner: a renamed header without RAYT_HEADER is refused with a sentence" \
    refused "define RAYT_HEADER" cpu/cucc -I"$work/renamed" -c "$work/renamed.cu" -o "$work/renamed.o"
# with all kernels: see tests/portable.sh
check "CPU runner: beside tiledmm.cuh" "${cpu[@]}" -DTMM_SIMPLE "$work/both.cu" -o "$work/both"
check "CPU runner: too large a RAYT_MAX_CONST is refused with a sentence" \
    refused "RAYT_MAX_CONST must be 64 to 65536" "${cpu[@]}" -c "$work/large.cu" -o "$work/large.o"
for size in $(turns 16384 64); do # as it is, and two spheres a pass
    check "CPU runner: the constant kernel, RAYT_MAX_CONST $size, optimised with contraction" \
        "${cpu[@]}" -Xcompiler -O3,-march=native,-ffp-contract=fast "-DRAYT_MAX_CONST=$size" "$work/b.cu" "$work/a.cu" "$work/c.cu" \
        "$work/impl.cu" "$work/main.o" "$work/caller.o" -o "$work/passes"
    check "CPU runner: and it renders the same" "$work/passes"
done
fast=(-Xcompiler -O3,-march=native,-ffp-contract=fast,-ffast-math)
check "CPU runner: tracing, optimised with -ffast-math" "${cpu[@]}" "${fast[@]}" -DRAYT_WITH_TRACE "$work/impl.cu" "$work/tracer.o" -o "$work/fast"
check "CPU runner: and it traces the same" "$work/fast"
for compiler in g++ clang++; do
    for standard in c++17 c++20; do
        if have $compiler; then
            CXX=$compiler check "CPU runner: $compiler -std=$standard takes all of it" \
                "${cpu[@]}" -std=$standard -c "$work/a.cu" -o "$work/standard.o"
        else
            skip "CPU runner: $compiler -std=$standard takes all of it" "$compiler is not installed"
        fi
    done
done
if have nvcc; then
    check "nvcc: a renamed header, with RAYT_HEADER" renamed nvcc "${gpu[@]:2}"
    check "nvcc: beside tiledmm.cuh" "${gpu[@]}" -DTMM_SIMPLE "$work/both.cu" -o "$work/both"
    # Uniform loads from the constant table were many times slower on a GPU (bench/NOTES.md), and
    # which kind the compiler takes depends on how the loop is written.
    if have cuobjdump; then
        check "nvcc, sm_90: the constant kernel has 8-byte loads, none of them uniform" loads_pairs
    else
        skip "nvcc, sm_90: the constant kernel has 8-byte loads" "no cuobjdump"
    fi
    for flags in $(turns -use_fast_math -fmad=false -G) -std=c++11 $(turns -std=c++14 -std=c++17 -std=c++20); do
        check "nvcc $flags compiles it" "${gpu[@]}" "$flags" -c "$work/a.cu" -o "$work/flags.o"
    done
    check "PyCUDA's way: compiles inside extern \"C\"" \
        nvcc -cubin -arch=sm_80 -Werror all-warnings -I. "$work/pycuda.cu" -o "$work/pycuda.cubin"
    for symbol in rayt_render_shared rayt_render_constant rayt_render_tile_64 rayt_table; do
        check "PyCUDA's way: the cubin has $symbol" grep -qaF "$symbol" "$work/pycuda.cubin"
        check "PyCUDA's way: by its plain name" sh -c "! grep -aqE '_Z[0-9]+$symbol' '$work/pycuda.cubin'"
    done
else
    skip "nvcc: beside tiledmm.cuh, other options, PyCUDA's way" "$no_nvcc"
fi

cat >"$work/nvrtc.c" <<'END'
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **words)
{
    const char *options[2] = {"--gpu-architecture=compute_80", words[1]};
    nvrtcProgram program;
    size_t size = 0;
    nvrtcCreateProgram(&program, "#define RAYT_WITH_TRACE\n#include \"raytrace.cuh\"\n" + (count > 2 ? 0 : 24), "user.cu", 0, NULL, NULL);
    nvrtcResult result = nvrtcCompileProgram(program, 2, options);
    nvrtcGetProgramLogSize(program, &size);
    char *text = (char *)calloc(size + 1, 1);
    nvrtcGetProgramLog(program, text);
    fprintf(stderr, "%s", text);
    if (result != NVRTC_SUCCESS || size > 1) return 1; /* a warning is an error */
    nvrtcGetPTXSize(program, &size);
    text = (char *)realloc(text, size + 1);
    nvrtcGetPTX(program, text);
    printf("%s", text);
    return 0;
}
END
if have nvcc && nvcc "$work/nvrtc.c" -o "$work/nvrtc" -lnvrtc >"$work/check.txt" 2>&1; then
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH-}:$(dirname "$(command -v nvcc)")/../lib64
    export LD_LIBRARY_PATH
    check "NVRTC compiles it without a word" sh -c "'$work/nvrtc' -I. >'$work/nvrtc.ptx'"
    check "NVRTC compiles it with RAYT_WITH_TRACE" sh -c "'$work/nvrtc' -I. traced >'$work/traced.ptx'"
    for name in global readonly constant shared list bundles tree; do
        check "NVRTC: plain name rayt_trace_$name" grep -q "entry rayt_trace_$name(" "$work/traced.ptx"
    done
    check "NVRTC: without it no kernel of tracing" sh -c "! grep -E 'rayt_(trace|tree|sort|query)' '$work/nvrtc.ptx'"
    for name in global readonly constant shared tile_64 tile_32; do
        check "NVRTC: plain name rayt_render_$name" grep -q "entry rayt_render_$name(" "$work/nvrtc.ptx"
    done
    check "NVRTC: plain name rayt_table" grep -qE 'const .* rayt_table\[' "$work/nvrtc.ptx"
else
    skip "NVRTC compiles it" "NVRTC's header or library is not installed"
fi

tap_done

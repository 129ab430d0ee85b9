#!/usr/bin/env bash
# Tests the CPU runner: plants each fault that it should find, and looks for the report. Prints TAP.
set -u
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../../tests/ends.bash" # ^C ends the compilations, too

tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cucc=$tests/../cucc
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C # compilers and sanitizers speak English
unset CUCC_DEVICES CUCC_ORDER CUCC_THREADS CUCC_MEMORY CUCC_COUNTS CUCC_STREAMS CUCC_FAIL

number=0
failures=0

result() { # PASSED NAME
    number=$((number + 1))
    if [ "$1" = yes ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        failures=$((failures + 1))
    fi
}

# check NAME STATUS PATTERN COMMAND...: the command must end with the status, and all it prints must
# match the extended regular expression; a pattern that begins with ! must not match.
check() {
    local name=$1 status=$2 pattern=$3 got passed=yes
    shift 3
    timeout 600 "$@" >output 2>&1 </dev/null # seconds, after which it hangs
    got=$?
    tr '\n' ' ' <output >line
    [ $got -eq "$status" ] || passed=no
    case $pattern in
    !*) grep -qE -- "${pattern#!}" line && passed=no ;;
    *) grep -qE -- "$pattern" line || passed=no ;;
    esac
    result $passed "$name"
    [ $passed = yes ] && return
    echo "# status $got, expected $status; pattern: $pattern"
    sed 's/^/#   /' output | head -n 40
}

# check_text NAME PATTERN COMMAND...: for commands that must succeed.
check_text() {
    local name=$1 pattern=$2
    shift 2
    check "$name" 0 "$pattern" "$@"
}

# ---- the checks themselves must be able to fail ------------------------------------------------

selftest=$(
    check "wrong status" 1 '^text $' echo text
    check "wrong text" 0 '^other $' echo text
    check "forbidden text" 0 '!te' echo text
    check "too long" 0 '' timeout 0.1 sleep 5
)
result "$([ "$(grep -c '^not ok' <<<"$selftest")" = 4 ] && echo yes || echo no)" "checks can fail"

# ---- the programs, built two at a time ---------------------------------------------------------

programs=()
echo '#error "the folder of the source comes first"' >check.h

# build PROGRAM FLAGS...: in the background; what the compiler says goes to PROGRAM.log.
build() {
    local program=$1
    shift
    programs+=("$program")
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    "$cucc" -Xcompiler -Wall,-Wextra -Werror all-warnings "$@" -o "$program" >"$program.log" 2>&1 &
}

# its_turn PART: of those that need a runner of their own, build.sh test takes one each day, whose number
# is $TURN; this script alone takes all. The cheapest is ucontext.
parts=(ucontext clang ucontext clang-sanitized)
command -v clang++ >/dev/null || parts=(ucontext no-clang)
its_turn() {
    [[ " ${parts[*]} " = *" $1 "* ]] && { [ "${TURN-all}" = all ] || [ "${parts[TURN % ${#parts[@]}]}" = "$1" ]; }
}

coursework=("$tests/coursework.cu" "$tests/with_header.c")
language=("$tests/language.cu" "$tests/other.cu" "$tests/caller.c")

build language "${language[@]}" -O3 -arch=sm_70 -lineinfo -std=c++14 -rdc=true
# What another build has optimised already, and a mode or a path changes, is compiled without.
! its_turn ucontext || build language-ucontext "${language[@]}" -DCUCC_UCONTEXT -O0
build language-sanitized "${language[@]}" --sanitize
build faults "$tests/faults.cu"
! its_turn ucontext || build faults-ucontext "$tests/faults.cu" -DCUCC_UCONTEXT
build faults-sanitized "$tests/faults.cu" --sanitize
build bounds "$tests/bounds.cu" --sanitize
build coursework "${coursework[@]}"
build coursework-sanitized "${coursework[@]}" --sanitize
# a toolkit in the system's include path, and where a Makefile says it is
mkdir toolkit
for header in cuda_runtime vector_types vector_functions device_launch_parameters; do
    echo 'struct char1 {}; struct dim3 {}; int toolkit[' >toolkit/$header.h
done
echo '#define EXTRA 1' >toolkit/extra.h
export CPLUS_INCLUDE_PATH=$PWD/toolkit C_INCLUDE_PATH=$PWD/toolkit
build coursework-toolkit "${coursework[@]}" -O0
build coursework-makefile "${coursework[@]}" -I toolkit -O0
wait
unset CPLUS_INCLUDE_PATH C_INCLUDE_PATH
printf '#include <extra.h>\nint main(void) { return !EXTRA; }\n' >extra.cu
build extra extra.cu -Itoolkit
export CPATH=$PWD/toolkit
build coursework-cpath "${coursework[@]}" -O0
build extra-cpath extra.cu
wait
unset CPATH
build float16 "$tests/float16.cu"
build float16-sanitized "$tests/float16.cu" --sanitize -O0
build steps "$tests/steps.cu"
! its_turn ucontext || build steps-ucontext "$tests/steps.cu" -DCUCC_UCONTEXT
build steps-sanitized "$tests/steps.cu" --sanitize
features=(groups textures graphs unmodified libraries)
for feature in "${features[@]}"; do
    build "$feature" "$tests/$feature.cu"
    build "$feature-sanitized" "$tests/$feature.cu" --sanitize -O0
done
# without optimisation: many templates, each instantiated once or twice
features+=(cub cub_sorts)
build cub "$tests/cub.cu" -O0
build cub_sorts "$tests/cub_sorts.cu" -O0
[ "${THRUST-}" != all ] || build cub-sanitized "$tests/cub.cu" -O0 --sanitize
# Thrust, if a toolkit or Debian's package has it
echo '#include <thrust/pair.h>' >thrust.cu
if "$cucc" -c thrust.cu -o thrust.o >thrust.log 2>&1; then
    features+=(thrust)
    build thrust "$tests/thrust.cu" -O0
    cat >along.cu <<'END'
#include <thrust/functional.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#include <stdio.h>
__global__ void sum(const int *x, int *all)
{
    using reduce = cub::BlockReduce<int, 64>;
    __shared__ reduce::TempStorage storage;
    int whole = reduce(storage).Sum(x[threadIdx.x]);
    if (threadIdx.x == 0) *all = whole;
}
int main()
{
    int *x, is;
    if (cudaMallocManaged(&x, 65 * sizeof *x)) return 1;
    auto first = thrust::make_counting_iterator(0);
    auto twos = thrust::make_constant_iterator(2);
    thrust::sequence(thrust::device, x, x + 64);
    if (*thrust::max_element(thrust::device, x, x + 64) != 63) return 1;
    thrust::for_each(thrust::device, first, first + 64, [=] __host__ __device__(int i) { x[i] *= twos[i]; });
    sum<<<1, 64>>>(x, x + 64);
    if (cudaDeviceSynchronize()) return 1;
    is = x[64];
    printf("%d\n", is);
    return cudaFree(x);
}
END
    build along along.cu -O0
    # each takes 23 seconds to compile (and one of CUB above 6): THRUST=all cpu/tests/run.sh
    if [ "${THRUST-}" = all ]; then
        build thrust-sanitized "$tests/thrust.cu" --sanitize
        build thrust-checked "$tests/thrust.cu" --check
    fi
fi
build loops "$tests/loops.cu"
build lanes "$tests/lanes.cu"
build unlisted "$tests/unlisted.cu"
build unlisted-checked "$tests/unlisted.cu" --check
# Kernels at random (generate.py), of another seed each quarter of an hour: CUCC_SEED=N repeats a run.
seed=${CUCC_SEED-$(($(date +%s) / 1000))} drawn=()
if command -v python3 >/dev/null; then
    for drawn_as in "150 0" "100 1" "50 2"; do
        read -r count level <<<"$drawn_as"
        python3 "$tests/generate.py" "$seed" "$count" "$level" >"drawn$level.cu" && drawn+=("drawn$level")
        programs+=("drawn$level")
        while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
        "$cucc" -O1 -I "$tests" "drawn$level.cu" -o "drawn$level" >"drawn$level.log" 2>&1 &
    done
fi
build mathematics "$tests/mathematics.cu"
build order "$tests/order.cu"
build devices "$tests/devices.cu"
build processes "$tests/processes.cu"
build processes-checked "$tests/processes.cu" --check
build late "$tests/late.cu"
build threads "$tests/threads.cu"
build count "$tests/count.cu" --count
build order-count "$tests/order.cu" --count
build other.o -c "$tests/other.cu"
build caller.o -c "$tests/caller.c"
wait
build linked "$tests/language.cu" other.o caller.o
export CXX=clang++
if its_turn clang; then
    build language-clang "${language[@]}"
    build faults-clang "$tests/faults.cu"
    build float16-clang "$tests/float16.cu"
    build loops-clang "$tests/loops.cu"
fi
if its_turn clang-sanitized; then
    build coursework-clang "${coursework[@]}" --sanitize
    build bounds-clang "$tests/bounds.cu" --sanitize
fi
unset CXX
wait
for program in "${programs[@]}"; do
    sed -i '/^cucc: building the runner/d' "$program.log"
    [ -e "$program" ] && [ ! -s "$program.log" ] && built=yes || built=no
    result "$built" "$program builds without a warning"
    sed 's/^/#   /' "$program.log"
done

# ---- what must work ----------------------------------------------------------------------------

for part in "${parts[@]:1}"; do
    { [ "$part" = no-clang ] || its_turn "$part"; } && continue
    number=$((number + 1))
    echo "ok $number - $part # SKIP another day; TURN=all takes all"
done
[ "${parts[1]}" = clang ] || {
    number=$((number + 1))
    echo "ok $number - clang # SKIP no clang++"
}
for program in language linked language-ucontext language-sanitized language-clang; do
    [ -e $program ] || continue
    for order in forward backward shuffle:1; do
        check "$program runs, $order" 0 '!line [0-9]+:|cucc: (kernel|leak)' \
            env CUCC_ORDER=$order CUCC_THREADS=3 ./$program
    done
done

for program in coursework coursework-sanitized coursework-toolkit coursework-makefile coursework-cpath coursework-clang; do
    [ -e $program ] || continue
    check_text "$program" '^0 failures $' ./$program
    check_text "$program, late streams" '^0 failures $' env CUCC_STREAMS=late:3 ./$program
done
for program in float16 float16-sanitized float16-clang; do
    [ -e $program ] && check_text "half and bfloat16, $program" '^0 failures $' ./$program
done
# Each on a line of its own, the last is right.
printf '#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n' >ambiguous.cu
line=3
while read -r expression; do
    echo "__global__ void line_$((line++))(__half a, __nv_bfloat16 b, float f, bool q) { $expression; (void)a, (void)b, (void)f, (void)q; }"
done >>ambiguous.cu <<'END'
q = a == 0.0f
q = b < f
a = a + 1.0f
f += b
a = {}
f = q ? b : f
b = __hadd(b, f)
b = a
a = a + a
END
"$cucc" -c ambiguous.cu -o ambiguous.o >ambiguous.log 2>&1
for line in {3..11}; do
    refused=no
    grep -qE "^ambiguous.cu:$line:.* error: .*(ambiguous|no match|different types)" ambiguous.log && refused=yes
    expression=$(sed -n "${line}s/.*{ \(.*\); (void)a.*/\1/p" ambiguous.cu)
    [ "$expression" = 'a = a + a' ] && refused=$([ $refused = no ] && echo yes || echo no) && expression="which it takes: $expression"
    result "$refused" "nvcc does not take it either: $expression"
done

for program in steps steps-ucontext steps-sanitized; do
    [ -e $program ] || continue
    for order in forward backward shuffle:1 shuffle:2; do
        check_text "$program of lanes in volatile memory, $order" '^right $' env CUCC_ORDER=$order ./$program
    done
done

for program in loops loops-clang; do
    [ -e $program ] || continue
    for order in forward backward shuffle:1; do
        check_text "kernels as $program, $order" '^0 failures $' env CUCC_ORDER=$order ./$program
        check_text "a mistake in $program, $order" '^wrong $' env CUCC_ORDER=$order ./$program mistaken
    done
done
check_text "loops that begin elsewhere in each thread go along together" '^neighbours together $' ./loops visits
check_text "but not in another order" '^thread by thread $' env CUCC_ORDER=backward ./loops visits
[ ! -e loops-clang ] || check "clang++ takes kernels as loops" 0 'cucc_block_dot' nm -C loops-clang
for kernel in divides divides_others rings dot leaves_early hides multiply turns bounded inside inside_two of_parts of_structs keeps doubles adds transpose scan strides exits marks sums in_memory some; do
    check "$kernel is done as loops" 0 "cucc_block_$kernel" nm -C loops
done

for order in forward backward shuffle:1; do
    check_text "warp functions, groups and functions as loops, $order" '^0 failures $' env CUCC_ORDER=$order ./lanes
done
for order in forward backward shuffle:1; do
    check_text "what is not on the list of loops, $order" '^0 failures $' env CUCC_ORDER=$order ./unlisted
done
check_text "and under --check" '^0 failures ' ./unlisted-checked
for kernel in braces parentheses east deduced array drawn lambda; do
    check "$kernel is done as loops" 0 "cucc_block_$kernel" nm -C unlisted
done
for program in ${drawn[@]+"${drawn[@]}"}; do
    for order in forward backward "shuffle:$seed"; do
        check_text "kernels at random, $program, CUCC_SEED=$seed, $order" '^0 of [0-9]+ kernels wrong $' env CUCC_ORDER="$order" ./"$program"
    done
done
if [ ${#drawn[@]} -gt 0 ]; then
    as_loops=$(for program in "${drawn[@]}"; do nm -C "$program" | grep -oE 'cucc_block_k[0-9]+' | sort -u; done | wc -l)
    result "$([ "$as_loops" -ge 120 ] && echo yes || echo no)" "$as_loops of 300 kernels at random are done as loops, at least 120 (CUCC_SEED=$seed)"
else
    number=$((number + 1))
    echo "ok $number - kernels at random # SKIP no python3"
fi
check_text "functions of eight numbers at once are right" '^0 failures $' ./mathematics
check_text "and of one" '^0 failures $' env CUCC_ORDER=backward ./mathematics
if grep -qs '^flags.* fma .* avx2 ' /proc/cpuinfo && ! "${CXX:-g++}" --version | grep -q clang; then
    check "which are there" 0 '_ZGVdN8v_cosf .*_ZGVdN8v_tanhf ' nm mathematics
fi
check_text "so are kernels launched by a pointer" '^neighbours together $' ./lanes visits
check "a lane that its mask leaves out is reported" 0 'kernel wrong_mask, .*not in its mask 0x0000ffff' ./lanes wrong_mask
check "a lane that does not come is reported" 0 'kernel missing_lane, .*deadlock in a warp function' ./lanes missing_lane
check "a block is not done twice in silence" 0 'kernel faults_once, .*came only once' ./lanes faults_once
for kernel in of_blocks of_part of_few of_branch of_two_branches by_number of_sloppy of_halves votes of_groups of_first of_names stencil twice; do
    check "$kernel is done as loops" 0 "cucc_block_$kernel" nm -C lanes
done

for kernel in by_file by_template items; do
    check "cub::BlockReduce of $kernel is done as loops" 0 "cucc_block_reduces_$kernel" nm -C cub_sorts
done

# ---- features, each with its checks inside -------------------------------------------------------

for feature in "${features[@]}"; do
    for order in forward backward shuffle:2; do
        check "$feature, $order" 0 '^0 failures $' bash -c "CUCC_ORDER=$order ./$feature 2>/dev/null"
    done
    check "$feature, late streams" 0 '^0 failures $' bash -c "CUCC_STREAMS=late:2 ./$feature 2>/dev/null"
    case $feature-${THRUST-} in cub-all | thrust-all) ;; cub*-* | thrust-*) continue ;; esac
    check "$feature, sanitized" 0 '(^| )0 failures ' bash -c "./$feature-sanitized"
done
while read -r program fault pattern; do
    check "$program: $fault" 1 "$pattern" "./$program" "$fault"
done <<'END'
groups grid kernel waits_alone, block \(0,0,0\), thread \(0,0,0\): the sync of a grid needs a cooperative launch .*LaunchFailure
groups grid-exit kernel waits_alone, .*: the barrier of the grid is never complete: a block has ended without coming to it .*LaunchFailure
groups barrier kernel nobody_else_arrives, block \(0,0,0\), thread \(0,0,0\): it waits for a cuda::barrier, which never comes .*LaunchTimeout
textures bounds kernel write_surface, block \(0,0,0\), thread \(3,0,0\): a surface is read or written out of its bounds .*LaunchFailure
unmodified 0 kernel fails, block \(0,0,0\), thread \(3,0,0\): assertion .threadIdx.x != 3' failed at .*unmodified.cu:[0-9]+, .*cudaErrorAssert
unmodified 2 kernel fails, block \(0,0,0\), thread \(0,0,0\): it reads or writes 0x40000000, where there is no memory .*cudaErrorIllegalAddress
unmodified 1 kernel fails, block \(0,0,0\), thread \(2,0,0\): __trap .*LaunchFailure
textures whole kernel floats_of_whole_numbers, .*: a texture that gives whole numbers is read as floats .*LaunchFailure
END

check "a GPU that is not known" 2 '^cucc: CUCC_GPU must be one of v100 t4 .*, not k80 $' env CUCC_GPU=k80 ./order 1
while read -r pattern; do
    read -r code
    tr % '\n' <<<"$code" >wrong.cu
    check "refused: $pattern" 1 "$pattern" "$cucc" wrong.cu -o wrong
done <<'END'
wrong.cu:1: error: needs PTX \(mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32\), which only a GPU runs
__global__ void k(int *p) { asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {}, {};" : "=r"(*p) : "r"(1)); }
wrong.cu:1: error: cudaGraphicsGLRegisterBuffer needs OpenGL
int main() { return cudaGraphicsGLRegisterBuffer(0, 1, 2); }
cucc: this program needs modules or virtual memory of the driver API
#include <cuda.h>%int main() { CUmodule m; return cuModuleLoad(&m, "x"); }
wrong.cu:2: error: kernel k is called like a function.*wrong.cu:3: error: kernel t is called.*wrong.cu:3: error: kernel k is called
__global__ void k(int *p) { *p = 1; } template <class T> __global__ void t(T *p);%void f(int *p) { k(p); }%int main() { int *d; if (cudaMalloc(&d, 4)) t<int>(d); ::k(d); k<<<1, 1>>>(d); void (*same)(int *) = k; same(d); (void)k; }
error: .AND_THE_REST. was not declared
__global__ void k(int *p) {%const int a = AND_THE_REST const int b = 0%if (a) { p[0] = 1; }%__syncthreads();%if (a) p[1] = b;%return;%} int main() {}
cucc: write all arguments of this launch, since one is an object with constructors
struct s { __host__ __device__ ~s() {} }; template <class T> __global__ void k(T, int = 3) {} int main() { s x; k<<<1, 1>>>(x); }
END
for host in '' -DHOST; do
    wrong=$(grep -n -e '/\* wrong \*/' ${host:+-e '/\* WRONG \*/'} "$tests/spaces.cu" | cut -d: -f1 | tr '\n' ' ')
    check_text "who may call whom: what is wrong has its line, and nothing else $host" "^$wrong\$" \
        bash -c "'$cucc' $host -c '$tests/spaces.cu' -o spaces.o 2>&1 | sed -n 's/^[^:]*spaces.cu:\([0-9]*\):[0-9]*: error: [^ ]* is a .*/\1/p' | sort -nu"
done
check "a file with such a fault is not compiled" 1 'square is a function of the host, which code of the device cannot call' \
    "$cucc" -c "$tests/spaces.cu" -o spaces.o
cat >warns.cu <<'END'
template <class T> __global__ void t(T *p, unsigned n) { int i = threadIdx.x; if (i < n) p[i] = 1; }
__global__ void k(int *p, unsigned n)
{
    int i = threadIdx.x, unused;
    if (i < n) p[i] = i;
    __syncthreads();
    auto f = [&](int m) { if (i = m) p[threadIdx.x] = 1; };
    f(3);
}
int main() { int *d, q; t<<<1, 32>>>((int *)0, 3u); t<int><<<1, 32>>>(d, 3u); k<<<1, 32>>>(d, 3); }
END
for program in warns "warns --check"; do
    # shellcheck disable=SC2086 # a file and a flag
    check_text "a warning comes once, at its line: $program" \
        "^ *1 [^:]*:10: 'd' is used [^:]* 1 [^:]*:10: unused [^:]* 1 [^:]*:1: comparison [^:]*:[^:]* 1 [^:]*:4: unused [^:]* 1 [^:]*:5: comparison [^:]*:[^:]* 1 [^:]*:7: suggest [^:]*\$" \
        bash -c "'$cucc' ${program/warns/} -Xcompiler -Wall,-Wextra,-Wshadow -c warns.cu 2>&1 | sed -n 's/^\([^:]*:[0-9]*\):[0-9]*: warning\(:.*\) \[.*/\1\2/p' | sort | uniq -c"
done
cat >pi.cu <<'END'
#include <curand_kernel.h>
#include <stdio.h>
__global__ void hits(unsigned int *inside)
{
    curandState state;
    curand_init(7, threadIdx.x, 0, &state);
    for (int i = 0; i < 1000; i++) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        if (x * x + y * y <= 1) atomicAdd(inside, 1u);
    }
}
int main()
{
    unsigned int *inside, n;
    if (cudaMalloc(&inside, 4) || cudaMemset(inside, 0, 4)) return 1;
    hits<<<1, 128>>>(inside);
    if (cudaMemcpy(&n, inside, 4, cudaMemcpyDeviceToHost)) return 1;
    printf("%.1f\n", 4.0 * n / 128000);
    return cudaFree(inside);
}
END
check_text "states of cuRAND in a kernel alone" '^3.1 $' bash -c "'$cucc' pi.cu -o pi && ./pi"
cat >blas.cu <<'END'
#include <cublas_v2.h>
int main() { cublasHandle_t h; return cublasCreate(&h) || cublasDestroy(h); }
END
: | "${CXX:-g++}" -x c -c - -o none.o && ar rc libnone.a none.o
for libraries in '-lcublas -lm' '-L. -lnone -lcublas'; do
    check "cuBLAS beside other libraries: $libraries" 0 '!.' bash -c "'$cucc' blas.cu $libraries -o blas && ./blas"
done
cat >letters.cu <<'END'
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cub/cub.cuh>
#include <cublas_v2.h>
#include <cuda/barrier>
#include <cuda/functional>
#include <cuda/pipeline>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <helper_cuda.h>
#include <helper_image.h>
#include <helper_math.h>
#include <mma.h>
__global__ void add(int *p) { atomicAdd(p, A + B + Z + WIDTH); }
int main()
{
    int *p, is;
    if (cudaMalloc(&p, 4) || cudaMemset(p, 0, 4)) return 1;
    add<<<1, 32>>>(p);
    if (cudaMemcpy(&is, p, 4, cudaMemcpyDeviceToHost)) return 1;
    printf("%d\n", is);
    return cudaFree(p);
}
END
read -ra letters < <(printf -- '-D%s=16 ' {A..Z} THREADS VALUE WIDTH)
check_text "letters that the command line defines are not the headers'" '^2048 $' \
    bash -c "'$cucc' ${letters[*]} letters.cu -o letters && ./letters"
cat >std20.cu <<'END'
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/cassert>
#include <cuda/std/concepts>
#include <cuda/std/numbers>
#include <cuda/std/span>
#include <stdio.h>
template <cuda::std::integral T> __global__ void sum(T *all, cuda::std::span<const T> x)
{
    assert(cuda::std::numbers::pi > 3);
    for (T i : x) *all += cuda::std::popcount((unsigned int)i);
}
int main()
{
    int *x, is;
    if (cudaMallocManaged(&x, 4 * sizeof *x)) return 1;
    x[0] = 0, x[1] = 7, x[2] = 3, x[3] = 1;
    sum<<<1, 1>>>(x, cuda::std::span<const int>(x + 1, 3));
    if (cudaDeviceSynchronize()) return 1;
    is = *x;
    printf("%d\n", is);
    return cudaFree(x);
}
END
check_text "headers of cuda::std of C++20" '^6 $' bash -c "'$cucc' -std=c++20 std20.cu -o std20 && ./std20"
check "which before C++20 say so" 1 'needs -std=c\+\+20' "$cucc" -c std20.cu -o std20.o
printf '__global__ void k() {\n#if __CUDA_ARCH__ >= 900\n    __trap();\n#endif\n}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n' >arch.cu
check "code for another GPU is left out" 0 'arch.cu:2: note: code for compute capability 9.0 is left out' "$cucc" arch.cu -o arch
check "code for another GPU that is asked for" 0 '!note' "$cucc" -D__CUCC_ARCH__=900 arch.cu -o arch
check "and then runs" 207 'kernel k, .*: __trap' ./arch

right='^cudaSuccess right $'
for order in forward backward shuffle:1 shuffle:2; do
    check_text "tiled product, $order" "$right" env CUCC_ORDER=$order ./order 1
    check_text "tiled product without its first barrier, $order" "!$right" \
        env CUCC_ORDER=$order ./order 0
done

check_text "streams run at once" '^cudaSuccess, right $' ./late missing
check_text "late streams: events hold" '^cudaSuccess, right $' env CUCC_STREAMS=late:5 ./late
check_text "late streams: missing events show" '^cudaSuccess, wrong $' env CUCC_STREAMS=late:5 ./late missing
check_text "streams of several host threads" '^right $' ./threads
check_text "late streams of several host threads" '^right $' env CUCC_STREAMS=late:1 ./threads
check_text "a planted failure" '^cudaErrorMemoryAllocation $' env CUCC_FAIL=malloc:20 ./late
check_text "a planted failure that is never reached" '^cudaSuccess, right $' env CUCC_FAIL=malloc:21 ./late
check_text "two devices" \
    'device 0: 2 3, 1 launches device 1: 20 30, 2 launches by address: 2 30 copied: 20 30 stream of another device: cudaErrorInvalidResourceHandle can 1 enable: cudaSuccess enable again: cudaErrorPeerAccessAlreadyEnabled peer: cudaSuccess let in: cudaSuccess access 3, cudaSuccess: 3 disable: cudaSuccess .*no peer: cudaErrorIllegalAddress other device: cudaSuccess device 2: cudaErrorInvalidDevice' \
    env CUCC_DEVICES=2 ./devices two
check_text "memory of another device" \
    'kernel scale: argument 1 \(0x[0-9a-f]+\) is memory of device 1, and the kernel runs on device 0' \
    env CUCC_DEVICES=2 ./devices two
check_text "shared memory beyond what was set last for a kernel on a device" \
    '^not asked: cudaErrorInvalidValue asked: cudaSuccess beside static memory: cudaSuccess one more: cudaErrorInvalidValue in clusters: cudaSuccess one more: cudaErrorInvalidValue device 1: cudaErrorInvalidValue without static memory: cudaSuccess less by another thread: cudaErrorInvalidValue which it has: cudaSuccess with attributes: cudaErrorInvalidValue deduced: cudaErrorInvalidValue asked: cudaSuccess one more: cudaErrorInvalidValue reset: cudaErrorInvalidValue less after it: cudaSuccess no kernel: cudaErrorInvalidDeviceFunction $' \
    env CUCC_DEVICES=2 ./devices shared
check_text "limits of stacks and of the heap of kernels" \
    '^stack: cudaSuccess deep: cudaSuccess, 600 too much: cudaErrorInvalidValue malloc: cudaSuccess, 2 of 4 new: cudaSuccess, 8 of 9, then 8 of 9 while it is used: cudaErrorInvalidValue reset: stack 1024, heap 8388608 heap: cudaSuccess malloc: cudaSuccess, 4 of 4 other device: cudaSuccess, 2 of 4 $' \
    env CUCC_DEVICES=2 ./devices limits
check_text "memory and events of two processes" '^cucc: cudaMemcpy: the source 0x[0-9a-f]+ should be device memory and is not cucc: cudaFree: 0x[0-9a-f]+ is not the start of a live allocation of this kind 0 failures $' ./processes
check "which --check says it does not follow" 23 'cudaIpcGetMemHandle: processes share no memory with --sanitize, --check' ./processes-checked
check_text "no device" \
    '^count: cudaErrorNoDevice 0 devices set: cudaErrorNoDevice get: cudaErrorNoDevice malloc: cudaErrorNoDevice stream: cudaErrorNoDevice symbol: cudaErrorNoDevice launch: cudaErrorNoDevice after: cudaSuccess $' \
    env CUCC_DEVICES=0 ./devices none
check_text "out of memory" \
    '^half: cudaSuccess more: cudaErrorMemoryAllocation free 500000 of 1000000 again: cudaSuccess clean: cudaSuccess $' \
    env CUCC_MEMORY=1000000 ./devices memory
while read -r setting sentence; do
    check "refused: $setting" 2 "^cucc: $sentence, not ${setting#*=} \$" env "$setting" ./order 1
done <<'END'
CUCC_DEVICES=two CUCC_DEVICES must be a number from 0 to 16
CUCC_DEVICES=17 CUCC_DEVICES must be a number from 0 to 16
CUCC_MEMORY=-1 CUCC_MEMORY must be a number from 0
CUCC_THREADS=-1 CUCC_THREADS must be a number from 1 to 256
CUCC_THREADS=0 CUCC_THREADS must be a number from 1 to 256
CUCC_THREADS=257 CUCC_THREADS must be a number from 1 to 256
CUCC_THREADS=99999999999999999999 CUCC_THREADS must be a number from 1 to 256
CUCC_ORDER=sideways CUCC_ORDER must be forward, backward or shuffle:SEED
CUCC_ORDER=shuffle:x CUCC_ORDER must be forward, backward or shuffle:SEED
CUCC_STREAMS=foo CUCC_STREAMS must be now, late or late:SEED
CUCC_STREAMS=later CUCC_STREAMS must be now, late or late:SEED
CUCC_STREAMS=late: CUCC_STREAMS must be now, late or late:SEED
CUCC_FAIL=mallok:1 CUCC_FAIL must be KIND:N, N from 1, KIND one of malloc pinned copy .*
CUCC_FAIL=malloc CUCC_FAIL must be KIND:N, .*
CUCC_FAIL=malloc:0 CUCC_FAIL must be KIND:N, .*
CUCC_FAIL=malloc:two CUCC_FAIL must be KIND:N, .*
CUCC_FAIL=mallo:1 CUCC_FAIL must be KIND:N, .*
END
check "refused: CUCC_FAIL that a program sets" 2 '^cucc: CUCC_FAIL must be .*, not malloc:x $' ./faults planted

# ---- faults in every mode ----------------------------------------------------------------------

launch_failure='last cudaErrorLaunchFailure, synchronize cudaErrorLaunchFailure'
for program in faults faults-ucontext faults-sanitized faults-clang; do
    [ -e $program ] || continue
    while read -r fault pattern; do
        check "$program: $fault" 1 "$pattern" "./$program" "$fault"
        [ "$fault" = divergent ] || continue
        check "$program: $fault fails the launch" 1 "$launch_failure" ./$program "$fault"
    done <<'END'
divergent kernel divergent_barrier, block \([01],0,0\), thread \(16,0,0\): divergent barrier: it waits at .*faults.cu:11 \(site [0-9]+\), thread \(0,0,0\) at .*faults.cu:9 \(site
barrier-shuffle kernel barrier_against_shuffle, block \(0,0,0\), thread \(31,0,0\): deadlock in a warp function with mask 0xffffffff: others wait at a barrier at .*faults.cu:25 .*LaunchFailure
masks kernel masks_disagree, block \(0,0,0\), thread \([0-9]+,0,0\): deadlock in a warp function with mask 0x[0-9a-f]+: the masks do not agree .*LaunchFailure
outside kernel outside_its_mask, block \(0,0,0\), thread \(0,2,0\): warp function called by lane 16, which is not in its mask 0x0000ffff .*LaunchFailure
static-size kernel too_much_static, block \(0,0,0\), thread \(0,0,0\): static shared memory \(52000 bytes with big\) exceeds 49152 bytes .*LaunchFailure
host-pointer kernel store: argument 2 \(0x[0-9a-f]+\) is not in live device memory last cudaErrorIllegalAddress, synchronize cudaErrorIllegalAddress
freed-pointer kernel store: argument 1 \(0x[0-9a-f]+\) is not in live device memory last cudaErrorIllegalAddress
threads ^last cudaErrorInvalidConfiguration, synchronize cudaSuccess
no-threads ^last cudaErrorInvalidConfiguration, synchronize cudaSuccess
grid ^last cudaErrorInvalidConfiguration, synchronize cudaSuccess
dynamic-size ^last cudaErrorInvalidValue, synchronize cudaSuccess
direction cudaMemcpy: the destination 0x[0-9a-f]+ should be device memory and is not last cudaErrorInvalidValue, synchronize cudaSuccess
range cudaMemcpy: the source leaves its allocation of 128 bytes \(offset 0, 129 bytes\) last cudaErrorInvalidValue
memset cudaMemset: the destination leaves its allocation of 128 bytes \(offset 4, 128 bytes\) last cudaErrorInvalidValue
twice cudaFree: 0x[0-9a-f]+ is not the start of a live allocation of this kind last cudaErrorInvalidValue
END
done
# device memory lies apart from the runner's own, and nobody waits for a lock that it holds itself
for program in faults faults-ucontext faults-clang; do
    [ -e $program ] || continue
    check "$program: far beyond an allocation" 1 \
        'kernel store_beyond, block \([0-9]+,0,0\), thread \([0-9]+,0,0\): it reads or writes 0x[0-9a-f]+, where there is no memory .*last cudaErrorIllegalAddress, synchronize cudaErrorIllegalAddress' \
        timeout 20 ./$program beyond
    # it hung in two of six runs
    check "$program: a fault while a kernel prints" 1 '(kernel print_nothing, .*last cudaErrorIllegalAddress.*){5}' bash -c \
        "for run in 1 2 3 4 5; do CUCC_THREADS=3 timeout 20 ./$program text; [ \$? = 1 ] || exit 2; done; exit 1"
    check "$program: a fault while one is reported" 2 \
        'kernel spoil, block \(0,0,0\), thread 0: it has spoilt memory of the runner, which cannot go on $' timeout 20 ./$program spoilt
done
check "faults-sanitized: far beyond an allocation" 1 'kernel store_beyond, .*heap-buffer-overflow.*faults.cu:[0-9]+' ./faults-sanitized beyond
check_text "a reset ends the failure" \
    'kernel divergent_barrier, .* last cudaSuccess, synchronize cudaSuccess $' ./faults recover
check_text "a barrier does not wait for threads that have exited" '^last cudaSuccess, synchronize cudaSuccess $' ./faults exit
check "unless they are sanitized" 1 \
    'kernel early_exit, block \([01],0,0\), thread \(0,0,0\): barrier at .*faults.cu:19 \(site [0-9]+\) is never complete: 20 threads wait there, 12 have exited .*LaunchFailure' \
    ./faults-sanitized exit
check_text "faults: none" '^last cudaSuccess, synchronize cudaSuccess $' ./faults none

# ---- faults that --sanitize finds --------------------------------------------------------------

for program in bounds bounds-clang; do
    [ -e $program ] || continue
    check_text "$program: none" '^end cudaSuccess $' ./$program none
    while read -r fault pattern; do
        check "$program: $fault" 1 "$pattern" "./$program" "$fault"
    done <<'END'
static kernel static_shared, block \([01],0,0\), thread \(3,5,0\): .*256 bytes after the start of shared memory first, which has 256 bytes .*AddressSanitizer.*bounds.cu:13
inner kernel static_shared, block \([01],0,0\), thread \(3,5,0\): .*bounds.cu:14.*index 8 out of bounds
dynamic kernel dynamic_shared, block \(0,0,0\), thread \(7,0,0\): .*128 bytes after the start of shared memory \(dynamic\), which has 128 bytes .*AddressSanitizer.*bounds.cu:24
global kernel global_memory, block \(3,0,0\), thread \(4,0,0\): .*heap-buffer-overflow.*bounds.cu:32
END
    check "$program: device leak" 23 'cucc: leak of 1234 bytes of memory of device 0' \
        ./$program device-leak
    if ./$program none 2>&1 | grep -q 'no leak check of host memory'; then
        number=$((number + 1))
        echo "ok $number - $program: host leak # SKIP ptrace is not permitted"
    else
        check "$program: host leak" 1 'LeakSanitizer: detected memory leaks.* 321 byte' \
            ./$program host-leak
    fi
done

# ---- counts ------------------------------------------------------------------------------------

check_text "exact counts" \
    '^kernel copy launches 3 global_loads 600 global_stores 600 shared_loads 0 shared_stores 0 global_load_bytes 2400 global_store_bytes 2400 kernel copy_by_four launches 1 global_loads 256 global_stores 256 shared_loads 256 shared_stores 256 global_load_bytes 4096 global_store_bytes 4096 kernel histogram launches 1 global_loads 128 global_stores 0 shared_loads 8 shared_stores 8 global_load_bytes 512 global_store_bytes 0 global_atomics 8 shared_atomics 128 $' \
    ./count
env CUCC_COUNTS=counts.txt ./order-count 1 >/dev/null
env CUCC_COUNTS=counts.txt ./order-count 1 >/dev/null
product='kernel multiply launches 1 global_loads 32768 global_stores 4096 shared_loads 524288 shared_stores 32768 global_load_bytes 131072 global_store_bytes 16384 '
check_text "counts of a tiled product, appended to a file" "^$product$product\$" cat counts.txt

# ---- the command line --------------------------------------------------------------------------

check "unknown option" 1 'cucc: unknown option --fast' "$cucc" --fast x.cu
# Every option of nvcc 13, in its four spellings (options.bash has the list, nvcc's help says whether it is all).
# shellcheck disable=SC2317,SC2034,SC2154,SC2030,SC2031 # names of cucc and of options.bash
spellings() {
    local short long value becomes with bad=0
    # shellcheck source=/dev/null
    . "$tests/../compile/options.bash"
    die() { echo "$*" && exit 1; }
    include_folder() { :; }
    set_standard() { :; }
    pass_to_compiler() { :; }
    arch=700
    ends() { # STATUS SPELLING VALUE...
        local wanted=$1 status
        shift
        (take_option "$@" && [ ${#unknown[@]} = 0 ] && [ "$used" = $# ]) >said 2>&1
        status=$?
        [ $status = "$wanted" ] && { [ $status = 0 ] || grep -qF -- "$1:${becomes#no:}" said; } && return
        echo "$*: $status $(cat said)" && bad=1
    }
    while read -r short long value becomes; do
        case $short in
        O) with=3 ;;
        x) with=cu ;;
        m) with=64 ;;
        Werror) with=reorder,all-warnings ;;
        hls) with=use-lcs ;;
        optf) with=words.txt ;;
        *) with=1 ;;
        esac
        wanted=0
        [ "${becomes%%:*}" != no ] || wanted=1
        for spelling in "-$short" "--$long"; do
            if [ "$value" = - ]; then
                ends $wanted "$spelling"
            else
                ends $wanted "$spelling=$with"
                ends $wanted "$spelling" "$with"
            fi
        done
    done <<<"$nvcc_options"
    # the help's names that are not in the list
    { ! command -v nvcc >/dev/null || nvcc --help; } | sed -n 's/^--\([A-Za-z_0-9-]*\).*(-\([A-Za-z_0-9-]*\)).*/\2 \1/p' |
        grep -vxe 'h help' -e 'V version' | while read -r name; do grep -q "^$name " <<<"$nvcc_options" || echo "$name is missing"; done | grep . && bad=1
    return $bad
}
echo '-DX="a b"' >words.txt
result "$( (set +u && spellings) >spellings.log 2>&1 && echo yes || echo no)" "all options of nvcc, in all spellings, are done, refused or without a meaning"
sed 's/^/#   /' spellings.log
cat >option.cu <<'END'
#include <stdio.h>
#if __CUDA_ARCH__ > 900
#endif
__global__ void k(int *p) { *p = 7; }
int main(int count, char **argument)
{
    int *d, h = 0;
    if (cudaMalloc(&d, 4)) return 2;
    k<<<1, 1>>>(d);
    if (cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost) || cudaFree(d)) return 2;
    printf("ran %d %s\n", h, count > 1 ? argument[1] : "");
    return 0;
}
END
cp option.cu option.cpp
echo 'extern "C" int seven() { return 7; }' >seven.cpp
while IFS='|' read -r name pattern command; do
    check_text "option: $name" "$pattern" bash -c "cucc() { '$cucc' -O0 \"\$@\"; }; ($command) 2>&1 | sed '/^cucc: building the runner/d;/: note: code for compute/d'; exit \${PIPESTATUS[0]}"
done <<'END'
-run|^ran 7 x $|cucc option.cu -o optioned -run --run-args x
-run of a program|^ran 7 y $|cucc -run -run-args y optioned
-link|^ran 7 *$|cucc -link option.cu -o linked && ./linked
-x cu|^ran 7 *$|cucc -x cu option.cpp -run -Xlinker=-s
-MD|^option.o: option.cu .*cuda_runtime.h .*/stdio.h|cucc -MD --compile option.cu && cat option.d
-MMD, -MF, -MT, -MP|^there: option.cu $|cucc -MMD -MP -MF a.d -MT there --device-c option.cu -o a.o && cat a.d
-MM|^x/option.o: option.cu $|cucc -MM -odir x option.cu
-E|int main\(int count, char \*\*argument\)|cucc -E option.cu
-lib|^seven.o option.o ran 7 *$|cucc --lib seven.cpp option.cu -o libo.a && ar t libo.a && cucc -Xarchive=-s libo.a --output-file=archived && ./archived
-shared|^ran 7 *$|cucc --shared option.cu -Xcompiler -fPIC -o liboption.so && nm -D liboption.so | grep -q main && cucc seven.cpp -L. --library=option -Xlinker -rpath=. -o with_library && ./with_library
-r|^ran 7 *$|cucc -r option.cu seven.cpp -o all.o && cucc all.o -run
-optf|^.*x.cpp:1:.*a b|echo 'const char *x = X; int y = "a b"[' >x.cpp; ! cucc -optf words.txt -E x.cpp -o x.ii || sed -n 's/.*"a b".*/x.cpp:1: &/p' x.ii
-forward-unknown-to-host-compiler|unused variable .unused.|echo 'int main() { int unused; }' >u.cpp; cucc --forward-unknown-to-host-compiler -Wunused u.cpp
-arch-ls|^compute_70 sm_70 $|cucc --list-gpu-arch; cucc -code-ls
-dryrun|#. LIBRARIES=|cucc -dryrun option.cu -o never 2>&1; [ ! -e never ]
END
if command -v cmake >/dev/null; then
    check_text "a CMake project" '0 failures 0 failures 0 failures 0 failures $' env LIBRARY_PATH= CUDACXX="$cucc" bash -c \
        "cp -r '$tests/project' cmake && cmake -S cmake -B built && cmake --build built && built/with_kernels && built/with_shared &&
        built/beside && built/above"
    check_text "and what is built stays" '!Building' cmake --build built
    touch cmake/product.h
    check_text "unless a header has changed" 'Building CUDA object .*shared.dir' cmake --build built
    check_text "and the same under --check" '^.*100.* Built target with_kernels 0 failures ' env NVCC_APPEND_FLAGS=--check bash -c \
        "cmake --build built --target with_kernels --clean-first 2>&1 && built/with_kernels && nm built/with_kernels | grep -q cucc_options"
else
    number=$((number + 1))
    echo "ok $number - a CMake project # SKIP no cmake"
fi
check "cuFFT" 1 "cucc: -lcufft: NVIDIA's library needs a GPU" "$cucc" x.cu -lcufft
[ ! -e along ] || check_text "what comes along with Thrust's headers" '^4032 $' ./along
[ ! -e thrust-checked ] || check "Thrust under --check" 0 '^0 failures $' ./thrust-checked
echo '#include <cuda/std/expected>' >expected.cu
check "a header of a toolkit's own is named, there or not" 1 'cucc: this program needs cuda/std/expected of CCCL' "$cucc" -c expected.cu -o expected.o
check "and nothing else is blamed" 1 '!incompatible' "$cucc" -c expected.cu -o expected.o
for header in thrust/none.h GL/none.h cufft_none.h cub/none.h; do
    echo "#include <$header>" >wrong.cu
    check "a program that includes $header" 1 "error: .*cucc: this program needs (OpenGL|$header)(, .*libthrust-dev|.*GPU|, which)" "$cucc" wrong.cu -o wrong
done
mkdir -p system/include && echo '#define cufft_is_here' >system/include/cufft.h
echo '#include <cufft.h>
int main() { return cufftPlan(); }' >wrong.cu
for file in wrong.cu wrong.cpp; do
    cp wrong.cu wrong.cpp
    check "a library that is installed, and not for the CPU: $file" 1 'error: .*cucc: this program needs cufft.h, a library' \
        "$cucc" -isystem system/include $file -o wrong
done
check "modes exclude each other" 1 'excludes' "$cucc" --sanitize --count x.cu
check "no such file" 1 'missing.cu: No such file' "$cucc" missing.cu -o missing
check_text "installs alone" 'alone/bin/cucc $' "$tests/../install" "$work/alone"
check_text "is installed with the headers" 'install: version .*prefix/bin/cucc $' "$tests/../../build.sh" install prefix
check_text "and is the same" '!.' diff -r alone/share/cucc prefix/share/cucc
# What was built of the same files serves it, too, but for one part, which it has to build.
mkdir .cache && cp -r "${CUCC_CACHE:-$tests/../../build/cucc}" .cache/cucc 2>/dev/null
rm -f .cache/cucc/kernels-*
check_text "runs where it is installed" '^cucc: building the runner.* 0 failures $' env HOME="$work" CUCC_CACHE= bash -c \
    "prefix/bin/cucc -O0 '$tests/float16.cu' -o installed && ls .cache/cucc/kernels-plain* >/dev/null && ./installed"
check_text "a table of a folder" \
    'program .*built .*late.cu +yes +well .*no.cu +no .*no.cu:1:.*2 programs: 1 build, 1 of them end well' bash -c \
    "mkdir -p folder/below && cp '$tests/late.cu' folder/below/ && echo 'int main(' >folder/no.cu && '$tests/../coursework/try' folder; [ \$? = 1 ]"
# The same for graders, a line of JSON each: an error, a fault, quotes, too much memory, too long.
mkdir graded
echo 'int main(' >graded/no.cu
echo 'int main() { for (volatile int i = 0;; i = i + 1); }' >'graded/"long".cu'
cat >graded/takes.cu <<'END'
int main() { void *d; int host = malloc(900ul << 20) != 0, device = !cudaMalloc(&d, 900ul << 20); return printf("%d%d \\ \n", host, device), 0; }
END
cat >graded/unwritten.cu <<'END'
__global__ void read(int *x) { __shared__ int s[8]; x[threadIdx.x] = s[threadIdx.x]; }
int main() { int *x; if (cudaMalloc(&x, 32)) return 1; read<<<1, 8>>>(x); return cudaDeviceSynchronize() || cudaFree(x); }
END
cat >graded.py <<'END'
import json, sys
for line in map(json.loads, sys.stdin):
    print(line["program"], line["built"], line["ended"], line["status"], line["says"][:9], len(line["faults"]))
END
if command -v python3 >/dev/null; then
    check_text "lines of JSON, with limits of time and memory" \
        '^"long".cu True too long 124  0 no.cu False None None .* 0 takes.cu True well 0 00 \\  0 unwritten.cu True status 23 23 cucc: ker 1 $' bash -c \
        "'$tests/../coursework/try' --json --seconds 3 --memory 600 graded -- --check | python3 graded.py; [ \${PIPESTATUS[0]} = 1 ]"
fi
cp -r "$tests/project" project
check_text "a toolkit for Makefiles" '^tools/bin/nvcc $' "$cucc" --toolkit tools
if command -v make >/dev/null; then
    for compiler in '' CC=cc; do # MPI's, if it is there
        check_text "a Makefile that calls nvcc and links itself $compiler" ' -lcudart -lstdc\+\+ 0 failures $' \
            env PATH="$PWD/tools/bin:$PATH" bash -c "cd project && rm -f product kernels.o && make $compiler && ./product"
    done
fi
check_text "an empty device link" '0 failures $' bash -c "tools/bin/nvcc -rdc=true -dc project/kernels.cu -o kernels.o &&
    tools/bin/nvcc -dlink kernels.o -o linked.o && tools/bin/nvcc -Xcompiler -fopenmp -w project/main.c kernels.o linked.o -o product && ./product"
check "a toolkit is not overwritten" 1 'cucc: real/include is there, and not of the runner' bash -c "mkdir -p real/include && '$cucc' --toolkit real"
check "a toolkit in a mode" 1 'cucc: --toolkit takes a folder alone' "$cucc" --count --toolkit tools
check_text "a main in C, and one in C++" 'main.c +yes +well .*0 failures .*main.cpp +yes +well .*2 programs: 2 build, 2 of them end well' "$tests/../coursework/try" project
check_text "version" '^cucc: .*release 13.0' "$cucc" --version
# The workflow of README, with a copy in place of the clone: what begins with "- run:" of it.
mkdir ours temp
cp "$tests/late.cu" ours/
cat >ours/race.cu <<'END'
__global__ void shift(int *x) { x[threadIdx.x] = x[threadIdx.x + 1]; }
int main() { int *x; return cudaMalloc(&x, 256) || cudaMemset(x, 0, 256) || (shift<<<1, 32>>>(x), cudaFree(x)); }
END
git() { mkdir "${!#}" && cp -r "$tests/.." "${!#}/cpu"; }
workflow() {
    local step status=0
    export RUNNER_TEMP=$PWD/temp CUCC_CACHE=${CUCC_CACHE:-$tests/../../build/cucc}
    cd ours || return 2
    while IFS= read -r step; do
        eval "$step" || status=$?
    done < <(sed -n 's/^ *- run: //p' "$tests/../README.md")
    return $status
}
workflow >workflow.log 2>&1
result "$([ $? = 1 ] && echo yes || echo no)" "the workflow of README runs, and fails for a program with a race"
check_text "and says what became of each" \
    'late.cu +yes +well .*race.cu +yes +status 23 .*cucc: kernel shift, .*race on byte 4 .*2 programs: 2 build, 1 of them end well' cat ../workflow.log
cd "$work" || exit 1
check_text "help" 'usage: cucc .*--sanitize.*CUCC_ORDER' "$cucc" --help

echo "1..$number"
[ $failures -eq 0 ]

#!/usr/bin/env bash
# tests/same_code.py tells changes of machine code from changes of names and comments.
# shellcheck disable=SC2016 # $ belongs to sed
. "$(dirname "$0")/tap.bash"
name="same_code.py"
have nvcc || skip_all "$name" "nvcc is not installed"
have python3 || skip_all "$name" "python3 is not installed"

cat >"$work/old.cuh" <<'END'
TMM_KERNEL void __launch_bounds__(64) first(float *a, int n)
{
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x]; /* a comment */
    __syncthreads();
    a[threadIdx.x] = s[(threadIdx.x + n) % 64] * 2.0f;
}
TMM_KERNEL void second(float *a)
{
    a[threadIdx.x] += 1.0f;
}
END
change() { sed "$2" "$work/old.cuh" >"$work/$1.cuh"; } # NAME SED
expect() {                                               # NAME STATUS WORDS ARGUMENTS...
    local name=$1 wanted=$2 words=$3 status
    shift 3
    timeout "$patience" python3 tests/same_code.py "$@" >"$work/said.txt" 2>&1
    status=$?
    echo "exit status $status, wanted $wanted and: $words" >>"$work/said.txt"
    if [ $status = "$wanted" ] && head -n -1 "$work/said.txt" | grep -qF -- "$words"; then
        ok "$name"
    else
        not_ok "$name" "$work/said.txt"
    fi
}
against() { # NAME STATUS WORDS SED: what has been changed in the second header
    change new "$4"
    expect "$1" "$2" "$3" --arch sm_80 "$work/old.cuh" "$work/new.cuh"
}
against "a comment changes nothing" 0 "sm_80: 2 kernels, 2 the same" 's/a comment/another/'
against "names of variables change nothing" 0 "sm_80: 2 kernels, 2 the same" 's/\bs\b/staged/; s/\bn\b/shift/'
against "a kernel of another name is renamed" 0 "renamed  second -> third" 's/second/third/'
against "a number changes a kernel" 1 "sm_80: 2 kernels, 1 the same, 1 differ" 's/2\.0f/3.0f/'
against "what differs is named" 1 "differs  first: " 's/2\.0f/3.0f/'
against "launch bounds are compared" 1 "differs  first: parameters or launch bounds" 's/bounds__(64)/bounds__(96)/'
against "shared memory is compared" 1 "shared memory 256 -> 512" 's/s\[64\]/s[128]/'
against "a kernel that is new" 1 "new      third: " '$a TMM_KERNEL void third(int *a) { *a = 7; }'
against "a kernel that is gone" 1 "gone     second: " '/second/,$d'

# with what has been compiled already left in the cache
expect "several architectures, a line for each" 0 "sm_120: 2 kernels, 2 the same" \
    --arch sm_80,sm_120 "$work/old.cuh" "$work/old.cuh"
git show HEAD:raytrace.cuh >"$work/raytrace.cuh" 2>/dev/null &&
    expect "a revision and a file, raytrace.cuh" 0 "the same" --arch sm_80 --header raytrace.cuh HEAD "$work/raytrace.cuh"
expect "-D reaches both" 0 "sm_80: 2 kernels, 2 the same" --arch sm_80 -D s=t "$work/old.cuh" "$work/old.cuh"

change new 's/;//'
expect "a header that does not compile is named" 2 "new.cuh, for sm_80, does not compile" --arch sm_80 \
    "$work/old.cuh" "$work/new.cuh"
expect "neither file nor revision" 2 "nowhere is no file, and git has no nowhere:tiledmm.cuh" nowhere HEAD
expect "a folder" 2 "tests is a folder" HEAD tests
expect "an unknown architecture" 2 "'volta' is no architecture" --arch volta HEAD HEAD
expect "one word too few" 2 "NEW" HEAD
expect "an option that is not known" 2 "--bogus" --bogus HEAD HEAD
: >"$work/new.cuh"
expect "no kernel at all" 2 "there is no kernel" --arch sm_80 "$work/new.cuh" "$work/new.cuh"
tap_done

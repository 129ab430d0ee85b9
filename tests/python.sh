#!/usr/bin/env bash
# The programs in demos/python/ and demos/torch_extension.py.
#
#   bash tests/python.sh                 uses python3, or the environment fetched before
#   bash tests/python.sh --fetch         makes that environment, with NumPy and cuda-bindings, in
#                                        ~/.cache/tiledmm-python, and no test
#   bash tests/python.sh --fetch-pycuda  adds PyCUDA to it, against the toolkit's stub of the driver
#
# Without a GPU: what they say when something is missing, that CuPy's one computes, checks and
# prints rightly with a stand-in for CuPy, that PyCUDA's source compiles as PyCUDA would compile
# it, and by PyCUDA where that is installed, that NVRTC compiles the file. On a GPU each is run.
# shellcheck disable=SC2015,SC2086,SC2317,SC2329 # names of demos have no spaces; functions called through check
. "$(dirname "$0")/tap.bash"
fetched=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tiledmm-python

die() {
    echo "python.sh: $*" >&2
    exit 1
}
case ${1-} in
'') ;;
--fetch)
    python3 -m venv "$fetched" && "$fetched/bin/pip" -q install numpy cuda-bindings ||
        die "the environment in $fetched could not be made"
    exit 0
    ;;
--fetch-pycuda) # it is built here, which takes minutes
    [ -x "$fetched/bin/pip" ] || die "run bash tests/python.sh --fetch first"
    "$fetched/bin/pip" -q install pycuda || die "PyCUDA does not build here"
    exit 0
    ;;
*) die "takes --fetch, --fetch-pycuda or nothing, not '$1'" ;;
esac
work=$PWD/$work
mkdir "$work/absent" "$work/standin" || exit 1
export PYTHONDONTWRITEBYTECODE=1

python=python3
have python3 || { skip "the Python demos" "python3 is not installed"; tap_done; }
python3 -c 'import numpy' 2>/dev/null || [ ! -x "$fetched/bin/python" ] || python=$fetched/bin/python
has() { $python -c "import $1" 2>/dev/null; }

# says STATUS PATTERN COMMAND...: ends with that status and one line that has the pattern in it
says() {
    local wanted=$1 pattern=$2 status
    shift 2
    "$@" >"$work/said.txt" 2>&1
    status=$?
    cat "$work/said.txt"
    [ "$status" = "$wanted" ] || { echo "exit status $status instead of $wanted"; return 1; }
    grep -qE -e "$pattern" "$work/said.txt" || { echo "this is not in it: $pattern"; return 1; }
    [ "$(wc -l <"$work/said.txt")" = 1 ] || [ "$wanted" != 1 ] || { echo "that is not one line"; return 1; }
}
# With standard output full or closed: one line on stderr that speaks of it.
complains() { # STATUS
    cat "$work/err.txt"
    [ "$1" = 1 ] && [ "$(wc -l <"$work/err.txt")" = 1 ] && grep -q ': standard output' "$work/err.txt"
}
full() {
    "$@" >/dev/full 2>"$work/err.txt"
    complains $?
}
closed() {
    "$@" >&- 2>"$work/err.txt"
    complains $?
}
broken() {
    { sleep 0.1 && "$@" 2>"$work/err.txt"; echo $? >"$work/status.txt"; } | true
    cat "$work/err.txt" "$work/status.txt"
    [ "$(cat "$work/status.txt")" = 1 ] && [ ! -s "$work/err.txt" ]
}
demos="python/matmul_cupy python/matmul_pycuda python/matmul_nvrtc torch_extension"

# ---- the command line, and what is missing --------------------------------------------------------
for module in numpy cupy pycuda torch; do echo 'raise ImportError("hidden by the test")' >"$work/absent/$module.py"; done
mkdir "$work/absent/cuda" && touch "$work/absent/cuda/__init__.py"
without() { env PYTHONPATH="$work/absent" timeout "$patience" "$python" "$@"; }
for demo in $demos; do
    check "$demo: --help" says 0 'usage:.*' without demos/$demo.py --help
    check "$demo: an unknown option is an error" says 2 'unrecognized arguments: --sizes' without demos/$demo.py --sizes
    if [ -e /dev/full ]; then check "$demo --help, standard output full: a sentence, status 1" full without demos/$demo.py --help; fi
    check "$demo --help, standard output closed: a sentence, status 1" closed without demos/$demo.py --help
    check "$demo --help, a pipe that nobody reads: quiet, status 1" broken without demos/$demo.py --help
    [ $demo = torch_extension ] ||
        check "$demo: so is a size of 0" says 2 '0 is not positive' without demos/$demo.py 0
done
check "python/matmul_cupy: without NumPy, one sentence" says 1 'NumPy is missing' without demos/python/matmul_cupy.py
check "torch_extension: without PyTorch, one sentence" says 1 'PyTorch is missing' without demos/torch_extension.py

# ---- PyCUDA's source ------------------------------------------------------------------------------
wrapped() { # as pycuda.compiler.compile does it
    $python - <<'CODE'
import sys
sys.path.insert(0, "demos/python")
import matmul_pycuda
print('extern "C" {\n%s\n}' % matmul_pycuda.SOURCE)
CODE
}
# The parameters of each kernel in PTX, beside what common.py passes. For pointers the stand-ins are
# 64-bit numbers; a float is f32.
same_parameters() {
    $python - "$work/pycuda.ptx" <<'CODE'
import re, sys
sys.path.insert(0, "demos/python")
import common
text = open(sys.argv[1]).read()
kinds = {"int64": "64", "float32": "f32", "int": "64"}
ours = [kinds[type(p).__name__] for p in common.parameters(1, 1, 1, 0, 0, 0)]
for name, (tile, x, y) in common.KERNELS.items():
    entry = re.search(r"\.entry tmm_sgemm_%s\((.*?)\)(.*?)\{" % name, text, re.S)
    if not entry:
        sys.exit(f"there is no kernel tmm_sgemm_{name}")
    theirs = [k.replace("u64", "64").replace("b64", "64") for k in re.findall(r"\.param \.(\w+)", entry[1])]
    if theirs != ours:
        sys.exit(f"tmm_sgemm_{name} takes {theirs}, common.py gives {ours}")
    bound = re.search(r"\.maxntid (\d+)", entry[2])
    if bound and int(bound[1]) != x * y:
        sys.exit(f"tmm_sgemm_{name} is for {bound[1]} threads, common.py launches {x * y}")
# the faster kernels need a schedule from the host part of the header
if len(common.KERNELS) != len(re.findall(r"\.entry tmm_sgemm_(?:global|shared|register)", text)):
    sys.exit("common.py does not list all simple kernels")
CODE
}
cat >"$work/by_pycuda.py" <<'CODE'
import sys
sys.path.insert(0, "demos/python")
import common, matmul_pycuda, pycuda.compiler
cubin = pycuda.compiler.compile(matmul_pycuda.SOURCE, arch="sm_80", include_dirs=[common.FOLDER], cache_dir=False)
missing = [name for name in common.KERNELS if f".text.tmm_sgemm_{name}\0".encode() not in cubin]
sys.exit(f"no kernel {missing}" if missing else 0)
CODE
if have nvcc; then
    wrapped >"$work/pycuda.cu"
    faster=() # names and parameters are there before the optimizer
    nvcc --help | grep -q -e -Ofc && faster=(-Ofc=max)
    check "python/matmul_pycuda: its source compiles to a cubin inside extern \"C\"" \
        nvcc --cubin -arch=sm_80 "${faster[@]}" -I"$PWD" -Werror all-warnings -keep -keep-dir "$work" "$work/pycuda.cu" -o "$work/pycuda.cubin"
    if has numpy; then
        check "python/common: kernels, parameters and threads are those of tiledmm.cuh" same_parameters
    fi
    # PyCUDA compiles without a GPU if it finds a library of the driver's name: the toolkit has a stub.
    stub=$(dirname "$(command -v nvcc)")/../lib64/stubs/libcuda.so
    mkdir "$work/driver" && ln -s "$stub" "$work/driver/libcuda.so.1"
    with_stub() { env LD_LIBRARY_PATH="$work/driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"; }
    builder=
    for candidate in "$fetched/bin/python" "$python"; do
        with_stub "$candidate" -c 'import pycuda.compiler' 2>/dev/null && builder=$candidate
    done
    if [ -n "$builder" ]; then
        check "python/matmul_pycuda: PyCUDA compiles its source to a cubin with all kernels" \
            with_stub "$builder" "$work/by_pycuda.py"
    else
        skip "python/matmul_pycuda: PyCUDA compiles its source" "PyCUDA is missing: bash tests/python.sh --fetch-pycuda"
    fi
else
    skip "python/matmul_pycuda: its source compiles inside extern \"C\"" "nvcc is not installed"
fi

# ---- what NumPy alone can show --------------------------------------------------------------------
# The stand-in multiplies by NumPy, reading what a kernel would be given, through the strides.
cat >"$work/standin/cupy.py" <<'CODE'
import os, re, sys, numpy
class cuda:
    class Device: id = 0
    class runtime:
        CUDARuntimeError = RuntimeError
        def getDeviceProperties(device): return {"name": b"a stand-in"}
    class Event:
        def record(self): pass
        def synchronize(self): pass
    def get_elapsed_time(start, stop): return 2.0
asarray, asnumpy = numpy.array, numpy.asarray
asked = numpy.dtype(numpy.float16 if "half" in sys.argv else numpy.float32)
class RawModule:
    def __init__(self, code, options):
        assert "KERNEL REGISTER" in code and os.path.exists(options[0][2:] + "/tiledmm.cuh")
        assert "-DTMM_SIMPLE" in options  # or CuPy compiles for 20 s what no demo launches
        assert ("-DTMM_WITH_HALF" in options) == (asked.itemsize == 2)
    def get_function(self, name):
        assert name[:10] == {"float32": "tmm_sgemm_", "float16": "tmm_hgemm_"}[asked.name]
        def kernel(grid, block, parameters):
            M, N, K, alpha, A, rsA, csA, _, B, rsB, csB, _, beta, C, ldc, _ = parameters
            tile = int(re.sub(r"\D", "", name) or 32)
            assert grid == (-(-M // tile) * -(-N // tile), 1, 1) and beta == 0
            at = lambda X, rows, cols, rs, cs: numpy.lib.stride_tricks.as_strided(X, (rows, cols), (rs * X.itemsize, cs * X.itemsize))
            of = lambda *what: at(*what).astype(numpy.float32)
            at(C, M, N, ldc, 1)[:] = alpha * (of(A, M, K, rsA, csA) @ of(B, K, N, rsB, csB))
            exec(os.environ.get("SPOIL", ""))
        return kernel
CODE
stand_in() { env PYTHONPATH="$work/standin" SPOIL="${spoil-}" "$python" demos/python/matmul_cupy.py "$@"; }
# Its table: every row as wide as the head, columns end where those of the head do.
lines_up() {
    stand_in 300 >"$work/table.txt" || return 1
    cat "$work/table.txt"
    awk '/^method/ { width = length($0) } /, [CG]PU/ { rows++; if (length($0) != width) exit 1 }
        END { exit !(width && rows == 2) }' "$work/table.txt"
}
fails_when() { spoil=$1 says_failed "${@:2}"; }
says_failed() {
    stand_in 130 "$@" >"$work/said.txt" 2>&1
    local status=$?
    cat "$work/said.txt"
    [ "$status" = 1 ] && [ "$(tail -n 1 "$work/said.txt")" = "Test FAILED" ]
}
passes() { stand_in "$@" | tee "$work/said.txt" && [ "$(tail -n 1 "$work/said.txt")" = "Test PASSED" ]; }
if has numpy; then
    rm "$work/absent/numpy.py"
    for module in cupy pycuda nvrtc; do
        case $module in nvrtc) package=cuda-python ;; cupy) package=CuPy ;; *) package=PyCUDA ;; esac
        check "python/matmul_$module: without $package, one sentence" \
            says 1 "$package is missing" without demos/python/matmul_$module.py
    done
    set -o pipefail
    check "python/matmul_cupy on a stand-in: Test PASSED" passes 257 --kernel shared_16 --reps 3
    check "python/matmul_cupy on a stand-in, halves: Test PASSED" passes 130 --type half --reps 1
    check "python/matmul_cupy, halves by a kernel of float alone" \
        says 2 'half has global, shared_32, register_128, not shared_16' stand_in 130 --type half --kernel shared_16
    check "python/matmul_cupy on a stand-in: the table lines up" lines_up
    if [ -e /dev/full ]; then check "python/matmul_cupy on a stand-in, standard output full" full stand_in 130; fi
    check "a wrong element: Test FAILED" fails_when 'C[7, 9] += 40'
    check "an element never written: Test FAILED" fails_when 'C[129, 0] = numpy.nan'
    check "rounding errors beyond the bound: Test FAILED" fails_when 'C *= 1.0001'
    check "the same, of halves: Test FAILED" fails_when 'C *= numpy.float16(1.002)' --type half
else
    skip "what the programs compute and check" "NumPy is missing: bash tests/python.sh --fetch"
fi

# ---- NVRTC ----------------------------------------------------------------------------------------
compiles() {
    $python - <<'CODE'
import sys
sys.path.insert(0, "demos/python")
import matmul_nvrtc
cubin = matmul_nvrtc.compile_header("sm_90")
sys.exit(b"tmm_sgemm_register_128" not in cubin)
CODE
}
if has cuda.bindings.nvrtc; then
    # without NVRTC itself the package can be there, too
    if $python -c 'from cuda.bindings import nvrtc; nvrtc.nvrtcVersion()' 2>/dev/null; then
        check "python/matmul_nvrtc: compiles tiledmm.cuh for sm_90" compiles
    else
        skip "python/matmul_nvrtc: compiles tiledmm.cuh" "there is no libnvrtc"
    fi
    if has numpy; then
        check "python/matmul_nvrtc: without a GPU, one sentence" says 1 'no usable GPU: ' \
            env CUDA_VISIBLE_DEVICES= "$python" demos/python/matmul_nvrtc.py
    fi
else
    skip "python/matmul_nvrtc: compiles tiledmm.cuh" "cuda-bindings is missing: bash tests/python.sh --fetch"
fi

# ---- on a GPU -------------------------------------------------------------------------------------
run() { # DEMO ARGUMENTS...
    timeout "$patience" "$python" "demos/$1.py" "${@:2}" | tee "$work/said.txt" &&
        [ "$(tail -n 1 "$work/said.txt")" = "Test PASSED" ]
}
for pair in "python/matmul_cupy cupy" "python/matmul_pycuda pycuda" "python/matmul_nvrtc cuda.bindings.driver" "torch_extension torch"; do
    read -r demo package <<<"$pair"
    if ! have_gpu; then
        skip "$demo: runs" "no GPU here"
    elif ! has "$package"; then
        skip "$demo: runs" "the package $package is not installed"
    elif [ "$demo" = torch_extension ]; then
        check "$demo: Test PASSED" run $demo
        check "$demo: without a GPU, one sentence" says 1 'no usable GPU' \
            env CUDA_VISIBLE_DEVICES= "$python" demos/$demo.py
    else
        set -o pipefail
        for kernel in global shared_8 shared_16 shared_32 register_64 register_128; do
            check "$demo: $kernel, Test PASSED" run "$demo" 517 --kernel $kernel --reps 2
        done
        check "$demo: without a GPU, one sentence" says 1 'no usable GPU' \
            env CUDA_VISIBLE_DEVICES= "$python" "demos/$demo.py"
    fi
done
tap_done

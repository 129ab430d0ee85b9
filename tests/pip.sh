#!/usr/bin/env bash
# The wheel of pyproject.toml, installed into a fresh virtual environment outside the repository: a program
# that includes both headers without -I, --check, --report, cucc-try, %%cucc in a notebook, and what is said
# without a compiler. Skips where Python has no venv, or setuptools 77 is neither there nor to be had.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

[[ $(turns pip cmake) = *pip* ]] || skip_all "pip install" "$other_turn" # tests/cmake.sh has the other days
python3 -m pip --version >/dev/null 2>&1 || skip_all "pip install" "there is no python3 with pip"
outside=$(mktemp -d) || exit 1
trap 'rm -rf "$outside"' EXIT
python3 -m venv "$outside/venv" >"$work/venv.txt" 2>&1 || skip_all "pip install" "python3 cannot make a virtual environment (Debian: python3-venv)"

# A copy, since setuptools writes beside what it reads.
mkdir "$outside/source"
cp -r pyproject.toml LICENSE tiledmm.cuh raytrace.cuh cpu "$outside/source/"
isolation=
python3 -c 'import setuptools; raise SystemExit(int(setuptools.__version__.split(".")[0]) < 77)' 2>/dev/null && isolation=--no-build-isolation
if ! PIP_RETRIES=0 PIP_DEFAULT_TIMEOUT=10 timeout 120 python3 -m pip wheel $isolation --no-deps -w "$outside" "$outside/source" >"$work/wheel.txt" 2>&1; then
    [ -z "$isolation" ] && grep -qE 'No matching distribution|[Cc]onnection|timed out|resolution' "$work/wheel.txt" &&
        skip_all "pip install" "setuptools 77 is neither here nor to be had"
    not_ok "the wheel is built" "$work/wheel.txt"
    tap_done
fi
wheels=("$outside"/*.whl)
version=$(awk '/^#define TMM_VERSION/ { printf "%d.%d.%d", $3 / 10000, $3 / 100 % 100, $3 % 100 }' tiledmm.cuh)
check "one wheel of sources, with the headers' version" [ "${wheels[*]##*/}" = "cucc-$version-py3-none-any.whl" ]
check "it installs without a network" "$outside/venv/bin/pip" install --no-index "${wheels[0]}"
package=$(cd /tmp && "$outside/venv/bin/python" -c 'import cucc; print(cucc.__path__[0])')

# cpu/install copies by patterns of its own: what it has, the wheel has, and headers besides.
same() {
    cpu/install "$outside/prefix" && rm "$outside/prefix/share/cucc/README.md" && cp cpu/*.py "$outside/prefix/share/cucc/" &&
        mkdir "$outside/prefix/share/cucc/headers" && cp ./*.cuh "$outside/prefix/share/cucc/headers/" &&
        diff -r -x __pycache__ "$outside/prefix/share/cucc" "$package"
}
check "the wheel has what cpu/install has" same

# Sources for every machine: what kernels see, for aarch64.
if have aarch64-linux-gnu-g++; then
    check "headers for kernels compile for aarch64" aarch64-linux-gnu-g++ -std=gnu++17 -fsyntax-only -D__CUDACC__ -D__CUCC__ \
        -isystem "$package/include" -include cuda_runtime.h -x c++ /dev/null
else
    skip "headers for kernels compile for aarch64" "there is no aarch64-linux-gnu-g++"
fi

mkdir "$outside/user" "$outside/xdg"
cat >"$outside/user/both.cu" <<'CUDA'
#define TMM_NO_DOUBLE
#define TMM_NO_INT
#include "raytrace.cuh"
#include <tiledmm.cuh>
int main(void)
{
    float A[6] = {1, 2, 3, 4, 5, 6}, B[3] = {1, 1, 1}, C[2] = {0, 0};
    tmm_status status = tmm_smatmul(2, 1, 3, A, B, C);
    printf("%d %g %g %d\n", (int)status, C[0], C[1], (int)sizeof(rayt_sphere));
    return 0;
}
CUDA
cat >"$outside/user/fault.cu" <<'CUDA'
__global__ void swap(int *x)
{
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = s[63 - threadIdx.x];
}
int main()
{
    int *x;
    if (cudaMalloc(&x, 64 * sizeof *x) || cudaMemset(x, 0, 64 * sizeof *x)) return 1;
    swap<<<1, 64>>>(x);
    return cudaGetLastError() || cudaDeviceSynchronize() || cudaFree(x);
}
CUDA
# The runner's parts that the repository has built save time; one is missing, and is built in the user's
# cache. The installed folder stays as it is: it may be root's.
[ ! -d build/cucc ] || cp -r build/cucc "$outside/xdg/"
for part in "$outside"/xdg/cucc/kernels-plain.o-*; do rm -f "$(readlink -f "$part")" "$part"; done
cp -r "$package" "$outside/before"
chmod -R a-w "$package"
unset CUCC_CACHE CXX CPATH
export XDG_CACHE_HOME=$outside/xdg PATH=$outside/venv/bin:$PATH
installed() { (cd "$outside/user" && "$@"); }
run_both() { installed cucc both.cu -o both && [ "$(installed ./both)" = "0 6 15 32" ]; }
check "both headers are found without -I, and a program runs" run_both
check "what is built goes to the user's cache" test -n "$(find "$outside/xdg/cucc" -name 'kernels-plain*')"
race() {
    installed cucc --check fault.cu -o fault || return
    installed ./fault >"$work/race.txt" 2>&1
    [ $? = 23 ] && grep -q 'race on byte .* at fault.cu:4 .* at fault.cu:5' "$work/race.txt"
}
check "--check names a race" race
check "--report prints its lines" eval \
    'installed cucc --report fault.cu -o fault && installed ./fault 2>&1 | grep -q "fault.cu:5 .*global store"'

# %%cucc: what each cell of a notebook shows goes to a file.
mkdir "$outside/cells" "$outside/temp"
cat >"$outside/notebook.py" <<'PYTHON'
import sys

import nbclient
import nbformat

fault = open("fault.cu").read()
endless = """int main() { printf("begins\\n"); if (!fork()) for (;;) pause(); %s for (;;); }"""
endless = "#include <stdio.h>\n#include <signal.h>\n#include <unistd.h>\n" + endless
cells = {
    "load": "%load_ext cucc",
    "program": "%%cucc -O0 -- 'a b' 7\n#include \"mine.h\"\n"
    'int main(int n, char **a) { return printf("%d %s %s %d\\n", n, a[1], a[2], MINE) < 0; }',
    "error": "%%cucc\n__global__ void wrong(int *x)\n{\n    x[0] = y;\n}\nint main() {}",
    "check": "%%cucc --check\n" + fault,
    "report": "%%cucc --report\n" + fault,
    "hangs": "%%cucc -O0 --seconds 1\n" + endless % "",
    # as the notebook's button does it: the program's parent is the kernel
    "interrupt": "%%cucc -O0\n" + endless % "signal(SIGTERM, SIG_IGN); kill(getppid(), SIGINT);",
    "crash": "%%cucc -O0\nint main() { *(volatile int *)0 = 1; }",
    "left": "import glob, subprocess, tempfile\nhere = tempfile.gettempdir() + '/cucc-'\n"
    "links = subprocess.run('readlink /proc/[0-9]*/exe', shell=True, capture_output=True, text=True).stdout\n"
    "print('left:', glob.glob(here + '*'), [link for link in links.split('\\n') if link.startswith(here)])",
}
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells.values()])
nbclient.NotebookClient(notebook, timeout=300, allow_errors=True, kernel_name="python3").execute()
for name, cell in zip(cells, notebook.cells):
    with open(f"{sys.argv[1]}/{name}", "w") as file:
        for output in cell.outputs:
            print(output.get("text", ""), *output.get("traceback", ""), *output.get("data", {}).values(), file=file)
PYTHON
echo '#define MINE 5' >"$outside/user/mine.h"
shows() { grep -q -- "$2" "$outside/cells/$1" || { cat "$outside/cells/$1"; false; }; } # CELL PATTERN
if python3 -c 'import nbclient, ipykernel' 2>/dev/null; then
    sed -i 's/^\(include-system-site-packages = \)false/\1true/' "$outside/venv/pyvenv.cfg"
else
    PIP_RETRIES=0 PIP_DEFAULT_TIMEOUT=10 timeout 120 "$outside/venv/bin/pip" install -q nbclient ipykernel >"$work/nbclient.txt" 2>&1
fi
if ! (cd /tmp && "$outside/venv/bin/python" -c 'import nbclient, ipykernel') 2>/dev/null; then
    skip "%%cucc in a notebook" "nbclient and ipykernel are neither here nor to be had"
elif ! TMPDIR=$outside/temp installed "$outside/venv/bin/python" "$outside/notebook.py" "$outside/cells" >"$work/notebook.txt" 2>&1; then
    not_ok "%%cucc in a notebook" "$work/notebook.txt"
else
    check "%%cucc runs a cell, with arguments and headers of the notebook's folder" shows program '^3 a b 7 5$'
    check "an error has its line in the cell" shows error '^cell.cu:4:[0-9]*: error: .*y'
    check "and is an error of the cell" shows error '^ cucc: the cell does not compile'
    check "--check in a cell names its lines" shows check 'race on byte .* at cell.cu:5 .* at cell.cu:6'
    check "and its faults are an error" shows check 'cucc: the program ended with status 23: faults were found'
    check "--report in a cell shows its page" eval "shows report '<iframe .*srcdoc=' && shows report '&gt;cell.cu:6&lt;'"
    names_none() { ! grep -r -e "$outside" -e 'cucc-[^ ]*/' "$outside/cells"; }
    check "no temporary file is named" names_none
    check "--check in a cell shows its page" eval "shows check '<iframe .*srcdoc=' && shows check '&gt;cell.cu:6&lt;'"
    check "a program that hangs is ended" shows hangs 'it was ended after 1 seconds'
    check "what it had printed is shown" shows hangs '^begins$'
    check "^C ends the program" shows interrupt 'cucc: the program did not end: it was interrupted'
    check "and what it had printed is shown, too" shows interrupt '^begins$'
    check "a crash is named" shows crash 'cucc: the program ended by SIGSEGV'
    check "no process and no file is left" shows left '^left: \[\] \[\]$'
fi
rm "$outside/user/both.cu"
check "cucc-try makes its table" eval 'installed cucc-try . | grep "1 programs: 1 build, 1 of them end well"'
check "the installed folder is as it was" diff -r -x __pycache__ "$outside/before" "$package"

mkdir "$outside/bin"
for tool in bash dirname readlink; do ln -s "$(command -v $tool)" "$outside/bin/"; done
no_compiler() { PATH=$outside/bin installed "$outside/venv/bin/cucc" fault.cu 2>&1 | grep 'there is no g++.* apt install g++'; }
check "without g++ it says what to install" no_compiler
chmod -R u+w "$package"
tap_done

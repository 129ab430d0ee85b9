#!/usr/bin/env bash
# demos/notebook.ipynb, executed as a hosted notebook would: every cell ends without an error, the
# programs pass, a plot, a picture and a page of cucc are shown. In a folder without the tree it is cloned first.
# Skips where nbclient, ipykernel or matplotlib cannot be had.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

python3 -c 'import nbclient, ipykernel, matplotlib' 2>/dev/null ||
    skip_all "the notebook" "Python has no nbclient, ipykernel or matplotlib"

cat >"$work/execute.py" <<'PYTHON'
import sys

import nbclient
import nbformat

notebook = nbformat.read("demos/notebook.ipynb", 4)
if len(sys.argv) > 2:  # only its first cells, and these do something else
    notebook.cells = notebook.cells[: int(sys.argv[2])]
nbformat.validate(notebook)
try:
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": sys.argv[1]}}).execute()
except nbclient.exceptions.CellExecutionError as error:
    print(error)
    sys.exit(1)
for cell in notebook.cells:
    for output in cell.get("outputs", []):
        print(output.get("text", ""), *(f"shows {kind}" for kind in output.get("data", {})))
PYTHON
work=$PWD/$work
execute() { TILEDMM_WORK=$work/built python3 "$work/execute.py" "$@" >"$work/said.txt" 2>&1; }

check "all cells of the notebook end without an error" execute demos
check "both headers are found" grep -q '^raytrace.cuh [0-9][0-9]* bytes' "$work/said.txt"
three_steps() { # each shows a changed line, and passes
    local step
    for step in 02_coalesced 05_registers_8x8 09_ring; do
        grep -q "^+/\* $step.cu - " "$work/said.txt" && grep -q "^$step on " "$work/said.txt" || return 1
    done
    [ "$(grep -c 'Test PASSED' "$work/said.txt")" -ge 4 ]
}
check "three steps of the climb are shown and run" three_steps
check "the ladder is checked" grep -q 'Test PASSED' "$work/said.txt"
if [ "$(grep -c 'shows image/png' "$work/said.txt")" = 2 ]; then
    ok "a plot and a picture are shown"
else
    not_ok "a plot and a picture are shown" "$work/said.txt"
fi
if [ -s "$work/built/spheres.png" ]; then ok "the picture is that of raytrace"; else not_ok "the picture is that of raytrace"; fi

own() { grep -q 'the sum of each row: 128, of the last 128' "$work/said.txt" && grep -q 'shows text/html' "$work/said.txt"; }
check "a kernel of one's own, with the page of its report" own

# elsewhere: the files beside it, or the address is cloned
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
says_where() {
    ! TILEDMM_ADDRESS='' execute "$away" 2 && [ -z "$(ls -A "$away")" ] &&
        grep -q "FileNotFoundError.*: the project's files are not here: write its address into ADDRESS in this cell" "$work/said.txt"
}
check "without a tree and an address the first cell says what to do" says_where
beside() {
    mkdir "$away/project" && cp -r ./*.cuh demos cpu "$away/project" &&
        TILEDMM_ADDRESS='' execute "$away/project" 2 && grep -q '^tiledmm.cuh [0-9]* bytes' "$work/said.txt"
}
check "files beside the notebook are used, as they are" beside
if git rev-parse --git-dir >/dev/null 2>&1; then
    clones() { TILEDMM_ADDRESS=file://$PWD execute "$away" 2 && [ -e "$away/tiledmm/raytrace.cuh" ]; }
    check "without a tree the notebook clones one" clones
    fails() { rm -rf "${away:?}/tiledmm"; ! TILEDMM_ADDRESS=file:///nowhere execute "$away" 2; }
    check "an address that leads nowhere is an error of its cell" fails
else
    skip "without a tree the notebook clones one" "this is no git checkout"
fi
tap_done

#!/usr/bin/env bash
# Folders of cpu/, and files of its runtime/, use one another one way, as their first lines say. Prints TAP.
# shellcheck disable=SC2013,SC2317,SC2329 # names have no spaces; functions are called through check
. "$(dirname "$0")/../../../tests/tap.bash"

have python3 || skip_all "which folder uses which" "there is no python3"
check "which folder uses which, and which file" python3 -B cpu/tests/folders/uses.py

# planted NAME SENTENCE FILE LINE: with the line at the end of the file the sentence is said.
planted() {
    rm -rf "$work/cpu" && mkdir "$work/cpu" && cp -r cpu/{compile,runtime,check,libraries,include} "$work/cpu/" && echo "$4" >>"$work/cpu/$3"
    found() { ! python3 -B cpu/tests/folders/uses.py "$work/cpu" >"$work/said.txt" && grep -F "$1" "$work/said.txt"; }
    check "it finds $1" found "$2"
}
planted "an include of a folder above" 'check/ and runtime/ use each other' runtime/heap.cpp '#include "../check/check_state.h"'
planted "a call of a folder above" 'runtime/runtime.h declares print_report, which is in check/' runtime/runtime.h 'void print_report();'
planted "a function that a file declares for itself" 'heap.cpp declares run_children, which is in' runtime/heap.cpp 'void run_children();'
planted "a call of a file above" 'heap.cpp uses finish_all of runtime/streams.cpp' runtime/heap.cpp 'void h() { finish_all(); }'
planted "a header that calls such a file" 'memory.cpp uses run_children of' runtime/state.h 'inline void h() { run_children(); }'
planted "the same in check/" 'check_watched.cpp uses happened_before of' check/check_watched.cpp 'void h(access_event &e) { happened_before(e, {}); }'
planted "a header whose function lies in another" 'ptx.h declares rewrite_tokens, and does not' compile/ptx.h 'static void rewrite_tokens();'

# The map of README, from "    cucc" to "      exit": files, and functions before what they do.
map=$(sed -n '/^    cucc  /,/^      exit  /p' cpu/README.md)
named() {
    local name status=1
    for name in $(grep -oE '\b[a-z_]+\.(cpp|h|bash)\b' <<<"$map"); do
        status=0
        [ -n "$(find cpu -name "$name")" ] || { echo "there is no $name" && return 1; }
    done
    for name in $(sed -nE 's/^ +((prepare|launch|run_|__tsan_|build_|kernel_|report_|happened_)[a-z_]*)\b.*/\1/p' <<<"$map"); do
        grep -qrE "\b$name" cpu/cucc cpu/*/*.{h,cpp} || { echo "there is no $name" && return 1; }
    done
    return "$status"
}
check "the map of README names what is there" named
wrong_map() { local map=$'    run_nowhere()   ' && ! named && map='  nowhere.cpp' && ! named && map= && ! named; }
check "and a wrong name is found" wrong_map
tap_done

#!/usr/bin/env bash
# What every demo does when it cannot say what it has to say, on the CPU runner: standard output full
# or closed, a reader that goes away, files that cannot be written, links, and interrupts.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

memory=shared # tests/memory.sh sees that its harness is that of all
all=()     # programs, each with the arguments that make it quick
options=() # the same: those that take options

# ---- builds, two at a time: the kernels do not matter here ---------------------------------------------
build() { # NAME FILES...
    local name=$1
    shift
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    cpu/cucc -O0 -DTMM_SIMPLE -Xcompiler -Wall,-Wextra,-Werror "$@" -o "$work/$name" >"$work/$name.txt" 2>&1 &
}
printf '#define RAYT_IMPLEMENTATION\n#include "../../../raytrace.cuh"\n' >"$work/rayt.cu"
for source in demos/*.cu; do
    demo=$(basename "$source" .cu)
    case $demo in
    matmul_mpi)
        have mpicxx || continue
        CXX=mpicxx build "$demo" "$source"
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        options+=("$demo 24 --reps 1")
        ;;
    raytrace)
        build "$demo" "$source"
        options+=("$demo --width 16 --height 16 --spheres 3 --out $work/scene")
        ;;
    first)
        build "$demo" "$source"
        ;;
    weekend)
        build "$demo" "$source"
        options+=("$demo --width 8 --height 8 --samples 1 --out $work/weekend.png")
        ;;
    million)
        build "$demo" "$source"
        options+=("$demo --width 8 --height 8 --spheres 50 --frames 1 --out $work/million")
        ;;
    ladder)
        build "$demo" "$source"
        options+=("$demo 24 20 16")
        ;;
    prepared)
        build "$demo" "$source"
        options+=("$demo 24 20 16 --type double")
        ;;
    layer)
        build "$demo" "$source"
        options+=("$demo 24 20 16 --type float")
        ;;
    *)
        build "$demo" "$source"
        options+=("$demo 64")
        ;;
    esac
done
for demo in $memory; do
    build "$demo" "demos/memory/$demo.cu"
    options+=("$demo")
done
build step demos/steps/02_coalesced.cu # the harness of all steps
build product demos/c_caller/library.cu demos/c_caller/product.c
build walks demos/c_caller/library.cu demos/c_caller/walks.cpp
build raytrace_c "$work/rayt.cu" demos/raytrace_c.c
wait
all=("${options[@]}" "product 24" walks "raytrace_c $work/c.png")

# ---- standard output -----------------------------------------------------------------------------------
# complains: exit status 1, one line on stderr that speaks of standard output
complains() { # STATUS
    cat "$work/err.txt"
    [ "$1" = 1 ] && [ "$(wc -l <"$work/err.txt")" = 1 ] && grep -q ': \(cannot write to \)\?standard output: ' "$work/err.txt"
}
full() { # COMMAND...
    timeout "$patience" "$@" >/dev/full 2>"$work/err.txt"
    complains $?
}
closed() { # the program must not print into a file that it opens itself, either
    timeout "$patience" "$@" >&- 2>"$work/err.txt"
    complains $?
}
# A reader that is gone: ended by the signal, or, where a parent ignores it, by the failed write.
broken() {
    { sleep 0.1 && timeout "$patience" "$@" 2>"$work/err.txt"; echo $? >"$work/status.txt"; } | true
    cat "$work/err.txt"
    [ "$(cat "$work/status.txt")" = 141 ] && [ ! -s "$work/err.txt" ]
}
broken_ignored() {
    (
        trap '' PIPE
        { sleep 0.1 && timeout "$patience" "$@" 2>"$work/err.txt"; echo $? >"$work/status.txt"; } | true
    )
    cat "$work/err.txt"
    [ "$(cat "$work/status.txt")" = 1 ] && [ ! -s "$work/err.txt" ]
}
for call in "${all[@]}"; do
    read -ra words <<<"$work/$call"
    demo=${call%% *}
    check "$demo builds" test -x "$work/$demo"
    if [ -e /dev/full ]; then check "$demo, standard output full: a sentence, status 1" full "${words[@]}"; fi
    check "$demo, standard output closed: a sentence, status 1" closed "${words[@]}"
    check "$demo, a pipe that nobody reads: quiet" broken "${words[@]}"
    check "$demo, the same with SIGPIPE ignored: quiet, status 1" broken_ignored "${words[@]}"
done
# README's first program says no word of pipes: a signal ends it.
check "first builds" test -x "$work/first"
if [ -e /dev/full ]; then check "first, standard output full: a sentence, status 1" full "$work/first"; fi
check "first, standard output closed: a sentence, status 1" closed "$work/first"
check "first, a pipe that nobody reads: quiet" broken "$work/first"
same_help() { [ "$("$1" -h)" = "$("$1" --help)" ] && "$1" -h | grep -q '^usage: '; }
names_help() {
    local status
    "$1" --fast >"$work/out.txt" 2>"$work/err.txt"
    status=$?
    cat "$work/err.txt"
    [ "$status" = 2 ] && [ ! -s "$work/out.txt" ] && grep -q -e --help "$work/err.txt"
}
for call in "${options[@]}"; do
    demo=${call%% *}
    if [ -e /dev/full ]; then check "$demo --help, standard output full" full "$work/$demo" --help; fi
    check "$demo -h is --help" same_help "$work/$demo"
    check "$demo names --help where it refuses an option" names_help "$work/$demo"
done

# ---- the CSV file --------------------------------------------------------------------------------------
through_link() { # the link stays, and what it leads to is written, whether it is there or not
    local folder=$work/links
    rm -rf "$folder" && mkdir -p "$folder/far" && ln -s far/table.csv "$folder/link.csv"
    for _ in new old; do
        "$@" --csv "$folder/link.csv" || return 1
        ls -lR "$folder"
        [ -L "$folder/link.csv" ] && [ "$(wc -l <"$folder/far/table.csv")" -gt 1 ] || return 1
        echo before >"$folder/far/table.csv"
    done
    [ -z "$(find "$folder" -name '*.tmp')" ]
}
for call in "${options[@]}"; do
    read -ra words <<<"$work/$call"
    check "${call%% *}: --csv LINK writes through the link" through_link "${words[@]}"
done

# A run that ends in an error leaves the older file as it was, and no new one.
ends_early() {
    local folder=$work/early file status
    rm -rf "$folder" && mkdir "$folder" && echo before >"$folder/old.csv"
    for file in old new; do
        CUCC_MEMORY=100 timeout "$patience" "$@" --csv "$folder/$file.csv" >"$work/out.txt" 2>"$work/err.txt"
        status=$?
        cat "$work/err.txt"
        [ "$status" != 0 ] && grep -qE 'memory|free on the device' "$work/err.txt" || return 1
    done
    ls "$folder"
    [ "$(ls "$folder")" = old.csv ] && [ "$(cat "$folder/old.csv")" = before ]
}
for call in "${options[@]}" "step 5 6 7"; do
    read -ra words <<<"$work/$call"
    check "${call%% *} without memory: the older file stays, no new one" ends_early "${words[@]}"
done

# interrupted SIGNAL PROGRAM...: in the middle of a run of some seconds
interrupted() {
    local signal=$1 folder=$work/interrupted status program
    shift
    rm -rf "$folder" && mkdir "$folder" && echo before >"$folder/table.csv"
    set -m # else bash has it ignore SIGINT
    "$@" --csv "$folder/table.csv" >"$folder/out" 2>&1 &
    program=$!
    set +m
    sleep 0.5
    kill -s "$signal" "$program"
    wait "$program"
    status=$?
    ls "$folder"
    echo "status $status"
    [ "$status" -gt 128 ] && [ ! -e "$folder/table.csv.tmp" ] && [ "$(cat "$folder/table.csv")" = before ]
}
for signal in INT TERM HUP; do
    check "matmul, SIG$signal: no .tmp stays, the older file does" interrupted $signal "$work/matmul" 900
done
check "ladder, SIGINT" interrupted INT "$work/ladder" 900 900 900
check "layer, SIGINT" interrupted INT "$work/layer" 900 900 900 --type float
check "prepared, SIGINT" interrupted INT "$work/prepared" 900 900 900
check "step, SIGINT" interrupted INT "$work/step" 3000 3000 1000
check "multigpu, SIGTERM" interrupted TERM "$work/multigpu" 900
check "outofcore, SIGTERM" interrupted TERM "$work/outofcore" 1500
check "overlap, SIGTERM" interrupted TERM "$work/overlap" 900
check "raytrace, SIGTERM" interrupted TERM "$work/raytrace" --width 1000 --height 1000 --out "$work/interrupted/scene"
check "weekend, SIGTERM" interrupted TERM "$work/weekend" --width 1000 --height 1000 --out "$work/interrupted/scene.png"
check "million, SIGTERM" interrupted TERM "$work/million" --frames 1000 --out "$work/interrupted/frame"
no_picture() { [ -z "$(compgen -G "$work/interrupted/scene*")" ]; }
check "it leaves no picture, and no half of one" no_picture

# ---- pictures ------------------------------------------------------------------------------------------
refuses_picture() { # PATTERN NAME: before any work, which would be minutes here
    local status
    timeout 20 "$work/raytrace" --width 4000 --height 4000 --out "$2" >"$work/out.txt" 2>"$work/err.txt"
    status=$?
    cat "$work/out.txt" "$work/err.txt"
    [ "$status" = 2 ] && [ ! -s "$work/out.txt" ] && grep -qF -- "$1" "$work/err.txt"
}
check "raytrace --out into a folder that is not there: before the work" refuses_picture "cannot write '/nonexistent/a.png'" /nonexistent/a
mkdir -p "$work/folder/taken.ppm"
check "raytrace --out, one of whose files is a folder: before the work" refuses_picture "cannot write '$work/folder/taken.ppm'" "$work/folder/taken"
for name in "$work/folder/" "$work/folder/.png" .ppm / --no-cpu; do
    check "raytrace --out $name: a folder or an option" refuses_picture "needs the name of a picture" "$name"
done
nothing_hidden() { [ "$(find "$work/folder" -mindepth 1)" = "$work/folder/taken.ppm" ] && [ ! -e .png ] && [ ! -e .ppm ]; }
check "nothing of that is left in the folder" nothing_hidden

tap_done

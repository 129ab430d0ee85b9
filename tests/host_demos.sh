#!/usr/bin/env bash
# demos/outofcore.cu, multigpu.cu, overlap.cu, raytrace.cu, weekend.cu and million.cu on the CPU runner:
# what they print, their files, what they refuse.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"

# passes PATTERN COMMAND...: exit status 0, `Test PASSED` last, and a line that matches
passes() {
    local pattern=$1
    shift
    timeout "$patience" "$@" >"$work/out.txt" 2>&1 || { cat "$work/out.txt"; return 1; }
    cat "$work/out.txt"
    [ "$(tail -n 1 "$work/out.txt")" = "Test PASSED" ] && grep -qE -- "$pattern" "$work/out.txt"
}
# refuses STATUS PATTERN COMMAND...
refuses() {
    local wanted=$1 pattern=$2 status
    shift 2
    timeout "$patience" "$@" >"$work/out.txt" 2>&1
    status=$?
    cat "$work/out.txt"
    [ "$status" = "$wanted" ] && grep -qE -- "$pattern" "$work/out.txt"
}
csv() { # FILE ROWS COLUMNS: so many rows below a head, all of so many columns
    cat "$1"
    [ ! -e "$1.tmp" ] && awk -F, -v rows="$2" -v columns="$3" \
        'NF != columns { bad = 1 } END { exit bad || NR != rows + 1 }' "$1"
}
lines() { [ "$(grep -cE -- "$1" "$work/out.txt")" = "$2" ]; }

# A full disk: no file may grow, and what the program says goes through a pipe. The older file stays,
# and no half of a new one.
full_disk() { # FILE COMMAND...
    local file=$1 status
    shift
    echo "an older table" >"$file"
    (
        trap '' XFSZ
        ulimit -f 0
        timeout "$patience" "$@" --csv "$file" 2>&1
    ) | cat
    status=${PIPESTATUS[0]}
    [ "$status" != 0 ] && [ "$(cat "$file")" = "an older table" ] && [ ! -e "$file.tmp" ]
}

# What they print and write does not depend on the kernel: without the fast ones, which take ten seconds each.
for demo in outofcore multigpu overlap raytrace; do
    program=$work/$demo
    optimise=-O0
    [ $demo = raytrace ] && optimise=-O1
    check "$demo builds" cpu/cucc $optimise -DTMM_SIMPLE -Xcompiler -Wall,-Wextra,-Werror "demos/$demo.cu" -o "$program"
    check "$demo --help" refuses 0 "^usage: $demo " "$program" --help
    check "$demo: an unknown option" refuses 2 "unknown option '--nothing'" "$program" --nothing
    check "$demo: a file that cannot be written" refuses 2 "cannot write '/none/x.csv'" "$program" --csv /none/x.csv
    check "$demo: an option for a file" refuses 2 "name of a file" "$program" --csv --help
    check "$demo without a device" env CUCC_DEVICES=0 bash -c "! $program"
    [ $demo = raytrace ] && continue # it has no matrices
    check "$demo: a full disk" full_disk "$work/full.csv" "$program" 40
    check "$demo: a size that is none" refuses 2 "whole number" "$program" 12x
    check "$demo: two sizes" refuses 2 "too many" "$program" 10 20
    check "$demo: a type that is none" refuses 2 "float or double" "$program" --type int
done
program=$work/outofcore
check "outofcore within a sixth" passes '^copied in .* times A and B' "$program" --csv "$work/o.csv"
check "outofcore: CSV" csv "$work/o.csv" 1 11
check "outofcore, double, pinned, 64K" passes 'may use: 0.06554 MB' "$program" 111 --type double --memory 64K --pinned
check "outofcore of one element" passes 'may use: 0.004096 MB' "$program" 1
check "outofcore, double, the smallest that takes a sixth" passes '1/6 of that' "$program" 33 --type double
check "outofcore in too little memory" refuses 1 "too few" "$program" --memory 1K
check "outofcore: memory that is none" refuses 2 "such as 64K" "$program" --memory 5T
program=$work/multigpu
check "multigpu: one device acts as two" passes 'acts as several' "$program" 96 --reps 1 --csv "$work/m.csv"
check "multigpu: seven splits, the automatic one and operands on the devices, with the same bits" lines 'same bits' 9
check "multigpu: CSV" csv "$work/m.csv" 18 13
check "multigpu: operands on the devices, double, three of them" passes '^resident .* same bits$' \
    env CUCC_DEVICES=3 "$program" 70 --type double --reps 1
check "multigpu: it says which" grep -q '^2: device 2' "$work/out.txt"
check "multigpu: more parts than rows" passes '^resident .* same bits$' env CUCC_DEVICES=3 "$program" 2 --reps 1
no_memory() { # one of its calls of cudaMalloc is for rows of B
    local call
    for call in $(seq 40); do
        refuses 1 "device memory for rows of B: out of memory" env "CUCC_FAIL=malloc:$call" "$program" 96 --rows 48,48 --reps 1 && return
    done
    return 1
}
check "multigpu: no memory for operands on the devices" no_memory
check "multigpu --rows" passes '^as asked +50 ' env CUCC_DEVICES=2 "$program" 64 --rows 50,14 --reps 1
check "multigpu --weights" passes '^as asked +48 ' "$program" 64 --devices 0,0 --weights 3,1 --reps 1
check "multigpu: rows that do not add up" refuses 2 "adds up to 20, not to 64" "$program" 64 --rows 10,10 --reps 1
check "multigpu: rows for other devices" refuses 2 "for each device" "$program" 64 --rows 1,2,3
check "multigpu: rows and weights" refuses 2 "exclude" "$program" 64 --rows 1,2 --weights 1,2
check "multigpu: a list that is none" refuses 2 "numbers such as" "$program" 64 --devices 0,x
check "multigpu: half a device" refuses 2 "whole numbers" "$program" 64 --devices 0,0.5
check "multigpu: half a row" refuses 2 "whole numbers" "$program" 64 --rows 31.5,32.5
check "multigpu: a device that does not exist" refuses 2 "no device 7" "$program" 64 --devices 0,7
program=$work/overlap
check "overlap: a timeline" passes '^  stream 2 \|.*#.*\|$' "$program" 96 --csv "$work/v.csv"
check "overlap: the floor" lines '^floor: ' 1
check "overlap: CSV" csv "$work/v.csv" 2 11
check "overlap, double, one stream, three products" passes '1 stream: ' "$program" 60 --type double --streams 1 --products 3
check "overlap: too many streams" refuses 2 "from 1 to 8" "$program" --streams 9
program=$work/raytrace small=(--width 48 --height 40 --out "$work/scene")
pictures() { [ -s "$work/scene.png" ] && [ -s "$work/scene.ppm" ] && ! find "$work" -name '*.part' -o -name '*.tmp' | grep .; }
check "raytrace: a table of 16 to 2048 spheres" passes '^ +2048( +[0-9.]+){3}\*?( +[0-9.]+){3} ' "$program" "${small[@]}" --csv "$work/r.csv"
check "raytrace: CSV" csv "$work/r.csv" 96 15
check "raytrace: its pictures, and no half of one" pictures
# The picture by default is one of spheres: colours change at their edges, more often than within them.
edges() {
    passes 'spheres of radius 1.35 to 8.12' "$program" --spheres 2048 --no-cpu --memory culled --out "$work/default" || return 1
    tail -c $((3 * 160 * 120)) "$work/default.ppm" | od -An -v -t u1 -w480 | awk '
        { for (f = 4; f <= NF; f++) { d = $f - $(f - 3); if (d > 40 || d < -40) changes++ } }
        END { print changes + 0, "of", NR * (NF - 3); exit !(NR == 120 && changes > 5000) }'
}
check "raytrace: the picture by default shows spheres" edges
check "raytrace --spheres, --seed, --no-cpu" passes 'against the first kernel' "$program" "${small[@]}" --spheres 5 --seed 3 --no-cpu
check "raytrace --memory" passes '^ +7 +- +- +- +[0-9.]+ +- +[0-9.]+  ' "$program" "${small[@]}" --spheres 7 --memory shared
check "raytrace --preview" passes '▀|▄|48;2;' "$program" "${small[@]}" --spheres 9 --preview
check "raytrace: a full disk" full_disk "$work/full.csv" "$program" "${small[@]}" --spheres 5
check "raytrace: a camera's rays by every kind of memory" passes '^ +9( +[0-9.]+){6}  [a-zC]' "$program" "${small[@]}" --spheres 9
check "raytrace: none of them is wrong" lines WRONG 0
check "raytrace --memory tree: one table" passes '^ +7 +- +- +- +- +[0-9.]+ +[0-9.]+  ' "$program" "${small[@]}" --spheres 7 --memory tree
check "raytrace: a memory that is none" refuses 2 "global, readonly" "$program" --memory fast
check "raytrace: a table in the place of the picture" refuses 2 "both write 'x.png'" "$program" --out x --csv x.png
check "raytrace: no width" refuses 2 "from 1 to" "$program" --width 0
check "raytrace: pictures that cannot be written" refuses 2 "/none/x.png" "$program" --width 8 --height 8 --spheres 1 --out /none/x

program=$work/weekend small=(--width 40 --height 24 --samples 2 --out "$work/weekend.png")
check "weekend builds" cpu/cucc -O1 -Xcompiler -Wall,-Wextra,-Werror demos/weekend.cu -o "$program"
check "weekend: a row for each kind of memory" passes '^picture: .*weekend.png$' "$program" "${small[@]}" --csv "$work/w.csv"
check "weekend: all five are right" lines '^(global|readonly|constant|shared|tree) .* ok$' 5
check "weekend: CSV" csv "$work/w.csv" 5 9
# Light above, shadows between the spheres, all colours: the picture is no plain one.
check "weekend: its picture" test "$(wc -c <"$work/weekend.png")" -gt 1500
check "weekend --memory, --depth, --seed" passes '^tree .* ok$' "$program" "${small[@]}" --memory tree --depth 3 --seed 70000
for refused in "--memory fast" "--out x.png --csv x.png" "--samples 0" "--samples 65537" "--depth 1001" "--width 9x" "--seed" "--csv --help" 5; do
    # shellcheck disable=SC2086
    check "weekend $refused: refused with a sentence" refuses 2 "^weekend: .*see --help" "$program" $refused
done
check "weekend: a file that cannot be written" refuses 2 "cannot write '/none/x.csv'" "$program" --csv /none/x.csv
check "weekend: a picture that cannot be written" refuses 2 "cannot write '/none/x.png'" "$program" --width 8 --height 8 --samples 1 --out /none/x.png
check "weekend: it says so before the work" lines '^(global|tree) ' 0
check "weekend: a full disk" full_disk "$work/full.csv" "$program" "${small[@]}"
# No option changes a byte: -ffast-math would have several divisions share an inverse.
check "weekend builds with -ffast-math" cpu/cucc -Xcompiler -O3,-march=native,-ffast-math demos/weekend.cu -o "$program.fast"
same_bytes() {
    local tall=(--width 100 --height 60 --samples 3 --memory tree)
    "$program" "${tall[@]}" --out "$work/plain.png" && "$program.fast" "${tall[@]}" --out "$work/fast.png" && cmp "$work/plain.png" "$work/fast.png"
}
check "weekend: the same picture" same_bytes
check "weekend without a device" env CUCC_DEVICES=0 bash -c "! $program"

program=$work/million small=(--spheres 300 --width 40 --height 24 --frames 2 --out "$work/million")
check "million builds" cpu/cucc -O1 -Xcompiler -Wall,-Wextra,-Werror demos/million.cu -o "$program"
check "million: two frames, both compared" passes '^ +1 .* ok$' "$program" "${small[@]}" --csv "$work/m.csv"
check "million: CSV" csv "$work/m.csv" 2 8
frames_differ() { [ -s "$work/million_000.png" ] && [ -s "$work/million_001.png" ] && ! cmp "$work/million_000.png" "$work/million_001.png"; }
check "million: spheres have moved" frames_differ
check "million --samples, --seed" passes '^ +0 .* ok$' "$program" "${small[@]}" --samples 3 --seed 20000000000
for refused in "--frames 0" "--spheres x" "--width 0" "--out" "--csv --help" 5 "--seed 99999999999999999999"; do
    # shellcheck disable=SC2086
    check "million $refused: refused with a sentence" refuses 2 "^million: .*see --help" "$program" $refused
done
check "million: a name too long for all its pictures" refuses 2 "cannot use '--out'; see --help" "$program" "${small[@]}" --out "$(printf '%04001d' 0)"
deep=$work/$(printf '%0200d' 0)/$(printf '%0200d' 0)/$(printf '%0200d' 0)/$(printf '%0200d' 0)/$(printf '%0200d' 0)
mkdir -p "$deep"
check "million: two frames by a long name" passes '^ +1 .* ok$' "$program" "${small[@]}" --out "$deep/m"
check "million: they are two files" test -s "$deep/m_001.png"
check "million: a full disk" full_disk "$work/full.csv" "$program" "${small[@]}"
check "million: a picture that cannot be written" refuses 2 "cannot write /none/x_000.png" "$program" "${small[@]}" --out /none/x
check "million without a device" env CUCC_DEVICES=0 bash -c "! $program"
tap_done

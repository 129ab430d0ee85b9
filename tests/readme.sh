#!/usr/bin/env bash
# README.md and its like: every link leads to a file and a heading that are there, README keeps to
# its limits, its first program is demos/first.cu, its tables say what the CSV files do, the pages
# in bench/notes have one form, and the index of bench/results names all that is there.
# shellcheck disable=SC2016,SC2317,SC2329 # $ and ` in single quotes are for awk and sed; functions are called through check
. "$(dirname "$0")/tap.bash"

# The headings of a page as the anchors that GitHub makes of them.
anchors() { sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'; }
links() { # PAGE: the targets of its links and pictures
    grep -o '\](\([^) ]*\))' "$1" | sed 's/^](\(.*\))$/\1/'
    grep -o 'src="[^"]*"' "$1" | sed 's/src="\(.*\)"/\1/'
}
report() { # NAME FAULTS
    if [ -z "$2" ]; then ok "$1"; else not_ok "$1:$2"; fi
}

pages=(README.md CONTRIBUTING.md cpu/README.md demos/README.md demos/*/README.md bench/NOTES.md bench/notes/*.md bench/results/README.md)
for page in "${pages[@]}"; do
    folder=$(dirname "$page") bad=
    while IFS= read -r target; do
        case $target in http*) continue ;; esac
        file=${target%%#*} heading=
        case $target in *"#"*) heading=${target#*#} ;; esac
        if [ -n "$file" ]; then file=$folder/$file; else file=$page; fi
        if [ ! -e "$file" ]; then
            bad="$bad $target: no such file;"
        elif [ -n "$heading" ] && ! anchors "$file" | grep -qx -- "$heading"; then
            bad="$bad $target: no such heading;"
        fi
    done < <(links "$page")
    report "$page: links" "$bad"
done

# Every demo has a line: those of demos/ in a table, those of demos/memory in the list of what to look at.
bad=
for demo in demos/*; do
    name=$(basename "$demo")
    [ ! -d "$demo" ] || name=$name/
    [ "$name" = README.md ] || grep -q "^| \[$name\](" demos/README.md || bad="$bad $name;"
done
report "demos/README.md: a line for each" "$bad"
bad=
for demo in demos/memory/*.cu; do
    name=$(basename "$demo")
    sed -n '/^## What to look at/,$p' demos/memory/README.md | grep -q "^- .*\`$name\`.*: " || bad="$bad $name;"
done
report "demos/memory/README.md: a line for each" "$bad"

# at_most NAME LIMIT NUMBER
at_most() { if [ "$3" -le "$2" ]; then ok "$1: at most $2"; else not_ok "$1: $3, more than $2"; fi; }
at_most "README.md: lines" 150 "$(wc -l <README.md)"
at_most "README.md: numbers, those in links apart" 145 "$(sed 's/](\([^)]*\))/]/g' README.md | grep -oE '[0-9][0-9.,]*' | wc -l)"
at_most "CONTRIBUTING.md: lines" 60 "$(wc -l <CONTRIBUTING.md)"

# README's ladder and the manual name every kernel of the list; sizes of tiles, such as _64, apart.
kernels=$(grep -oE 'KERNEL\(TMM_[A-Z0-9_]+' src/tiledmm/once/kernels.h | sed -E 's/.*\(//; s/_[0-9]+$//' | sort -u)
for page in README.md src/tiledmm/manual.h; do
    bad=
    for kernel in $kernels; do grep -qw -- "$kernel" "$page" || bad="$bad $kernel is not there;"; done
    [ "$(wc -w <<<"$kernels")" -ge 8 ] || bad="$bad no list of kernels;"
    report "$page: names of all kernels" "$bad"
done

# The contents of the manual name every kernel, too: TMM_TENSOR_INT8 as KERNEL TENSOR INT8.
contents=$(sed -n '/^ *CONTENTS/,$p' src/tiledmm/manual.h | tr -s ' \n' ' ')
bad=
for kernel in $kernels; do
    name=${kernel#TMM_}
    [[ $contents == *"KERNEL ${name//_/ }"[,\ ]* ]] || bad="$bad $kernel is not there;"
done
[ -n "$contents" ] || bad="$bad no contents;"
report "src/tiledmm/manual.h: contents name all kernels" "$bad"

# The first program of README, from its #include to the end of main.
sed -n '/^```c/,/^```$/p' README.md | sed '/^```$/q' | sed -n '/^#include/,/^}/p' >"$work/readme.c"
if [ -e demos/first.cu ]; then
    sed -n '/^#include/,/^}/p' demos/first.cu | sed 's,"\.\./tiledmm,"tiledmm,' >"$work/first.c"
    diff "$work/readme.c" "$work/first.c" >"$work/first.diff"
else
    echo "there is no demos/first.cu" >"$work/first.diff"
fi
if [ -s "$work/readme.c" ] && [ ! -s "$work/first.diff" ]; then
    ok "README.md: its first program is demos/first.cu"
else
    not_ok "README.md: its first program is demos/first.cu" "$work/first.diff"
fi

# A figure in a table of README is that of the CSV file, rounded to the digits that it shows.
figures() { # FILE AWK: the program prints  KEY VALUE  for each figure of the CSV files
    awk -F, "$2" "${@:3}" | sort >"$work/$1.csv"
    [ -s "$work/$1.csv" ] || echo "- no rows" >"$work/$1.csv"
}
compare() { # NAME FILE: standard input has  KEY<tab>FIGURE, to be those of figures FILE
    awk -F'\t' -v name="$2" '
        FNR == NR { value[$1] = $2; next }
        {
            digits = $2
            places = sub(/^[0-9]*\./, "", digits) ? length(digits) : 0
            off = $2 - value[$1]
            if (!($1 in value)) print $1 ": not in the CSV file"
            else if ((off < 0 ? -off : off) > 0.505 * 10 ^ -places) print $1 ": " $2 " for " value[$1]
            count++
        }
        END { if (!count) print "no figures found" }' "$work/$2.csv" - >"$work/$2.bad"
    if [ -s "$work/$2.bad" ]; then not_ok "$1" "$work/$2.bad"; else ok "$1"; fi
}
results=bench/results/h200

figures ladder '
    function put(rung, v, k) { k = rung " " $3 " " $4; if (!(k in best) || v > best[k]) best[k] = v }
    FILENAME ~ /gemm.csv$/ && $4 == $5 && $4 == $6 && $4 == 4096 {
        if ($1 == "shared_32") put("TMM_SHARED", $13 / 1000)
        else if ($1 ~ /^register_/) put("TMM_REGISTER", $13 / 1000)
        else if ($1 ~ /^(global|pipelined)$/) put("TMM_" toupper($1), $13 / 1000)
        else if ($1 == "tensor") put("TMM_TENSOR, double", $13 / 1000)
        else if ($1 == "cuBLAS") put("cuBLAS", $13 / 1000)
    }
    FILENAME ~ /gemm_cublas.csv$/ && $1 == "auto_tensor" && $4 == "nn" && $8 == 1 && $9 == $7 &&
    $5 == $6 && $5 == $7 && $12 == 0 { k = "TMM_TENSOR, float float " $5; if (!(k in best)) best[k] = $19 }
    END { for (k in best) print k "\t" best[k] }' $results/gemm.csv $results/gemm_cublas.csv
compare "README.md: the ladder is that of gemm.csv and gemm_cublas.csv" ladder < <(awk -F' *[|] *' '
    /^\| rung \| idea \| float/ { on = 1; next } on && !/^\|/ { on = 0 }
    on && !/---/ {
        rung = $2
        sub(/^\[/, "", rung)
        sub(/\].*/, "", rung)
        split("float 4096,double 4096", column, ",")
        for (i = 1; i <= 2; i++) if ($(3 + i) != "-") print rung " " column[i] "\t" $(3 + i)
    }' README.md)

# Compile time of two demos beside that of thrust::sort.
awk -F, '{ print $1 "." $2 "\t" $7 }' bench/results/compile_time.csv >"$work/sort.csv"
compare "README.md: compile times are those of compile_time.csv" sort \
    < <(sed -n 's/.*`first.cu` takes \([0-9.]*\) and \[matmul.cu\](demos\/matmul.cu) \([0-9.]*\) times.*/demos.first\t\1\ndemos.matmul\t\2/p' README.md)

# Sustained: a figure of gemm_cublas.csv below the table, and in the manual.
figures sustained '
    $1 == "auto" && $3 == "double" && $4 == "nn" && $5 == 4096 && $6 == 4096 && $7 == 4096 && $8 == 1 && $9 == 4096 && $12 == 0 {
        print "double\t" $19
    }' $results/gemm_cublas.csv
compare "README.md and the manual: sustained, double at 4096 is that of gemm_cublas.csv" sustained \
    < <(sed -n 's/.*sustained, \(double by tensor cores\|TMM_TENSOR\) gives \([0-9.]*\) .*/double\t\2/p' README.md src/tiledmm/manual.h)
says_pauses() { grep -q 'gemm\.csv.*: single products with pauses' README.md && tr '\n' ' ' <src/tiledmm/manual.h | grep -q 'gemm\.csv: single *products with pauses'; }
check "README.md and the manual: the other figures are of single products with pauses" says_pauses

# Random shapes, columns by name: geometric mean, 5th percentile as bench/shapes.cu takes it, worst.
shapes=$(sed -n 's/^Five more rungs .*(\(bench.*shapes.csv\)).*/\1/p' README.md)
figures shapes '
    FNR == 1 { for (i = 1; i <= NF; i++) at_of[$i] = i; r = at_of["ratio"] }
    FNR > 1 && $r > 0 { ratio[$1, ++count[$1]] = $r; logs[$1] += log($r) }
    END {
        for (t in count) {
            n = count[t]
            for (i = 2; i <= n; i++) # sorts them
                for (j = i; j > 1 && ratio[t, j - 1] > ratio[t, j]; j--) {
                    x = ratio[t, j]; ratio[t, j] = ratio[t, j - 1]; ratio[t, j - 1] = x
                }
            at = 0.05 * (n - 1); i = int(at) + 1
            print t " mean\t" exp(logs[t] / n) "\n" t " 5th\t" ratio[t, i] + (at - int(at)) * (ratio[t, i + 1] - ratio[t, i])
            print t " worst\t" ratio[t, 1]
        }
    }' "$shapes"
# By kind, as README's table bounds them: the first kind that fits, geometric mean and worst.
said=$(sed -n 's/^| tiny: M x N x K up to \([0-9]*\) million |.*/\1/p; s/^| narrow: else, M or N up to \([0-9]*\) |.*/\1/p
    s/^| mid: else, M x N x K up to \([0-9]*\) billion |.*/\1/p' README.md | paste -sd ' ')
figures kinds '
    FNR == 1 { split("'"$said"'", most, " "); for (i = 1; i <= NF; i++) at_of[$i] = i; r = at_of["ratio"] }
    FNR > 1 && $r > 0 {
        work = $4 * $5 * $6
        kind = work <= most[1] * 1e6 ? "tiny" : $4 <= most[2] || $5 <= most[2] ? "narrow" : work <= most[3] * 1e9 ? "mid" : "large"
        key = kind " " $1
        count[key]++
        logs[key] += log($r)
        if (!(key in worst) || $r < worst[key]) worst[key] = $r
    }
    END { for (key in count) print key " mean\t" exp(logs[key] / count[key]) "\n" key " worst\t" worst[key] }' "$shapes"
compare "README.md: kinds of shapes are those of shapes.csv" kinds < <(awk -F' *[|] *' '
    /^\| (tiny|narrow|mid|large): / {
        sub(/:.*/, "", $2)
        split("float,double,tensor", column, ",")
        for (i = 1; i <= 3; i++)
            if ($(2 + i) != "-") {
                split($(2 + i), x, ", ")
                print $2 " " column[i] " mean\t" x[1] "\n" $2 " " column[i] " worst\t" x[2]
            }
        rows++
    }
    END { if (rows != 4) print "four kinds\t1" }' README.md)
# A rung at the shape of its own: the ratio where TMM_AUTO took it.
figures own_shapes '
    FNR == 1 { for (i = 1; i <= NF; i++) at_of[$i] = i; kernel = at_of["kernel"]; r = at_of["ratio"] }
    FNR > 1 && ($1 == "float" || $1 == "double") { print "TMM_" toupper($kernel) " " $4 " x " $5 " x " $6 " " $1 "\t" $r }
    ' "$shapes"
compare "README.md: shapes of rungs are those of shapes.csv" own_shapes < <(awk -F' *[|] *' '
    /^\| rung \| idea \| M x N x K/ { on = 1; next } on && !/^\|/ { on = 0 }
    on && !/---/ {
        rung = $2
        gsub(/^\[|\].*/, "", rung)
        print rung " " $4 " float\t" $5
        if ($6 != "-") print rung " " $4 " double\t" $6
        rows++
    }
    END { if (rows < 5) print "five rungs\t1" }' README.md)
compare "bench/notes/choice.md: random shapes are those of shapes.csv" shapes < <(awk -F' *[|] *' '
    $2 == "all" && split("float double tensor", type, " ") {
        for (i = 1; i <= 3; i++) {
            split($(2 + i), x, " ")
            print type[i] " mean\t" x[1] "\n" type[i] " 5th\t" x[2] "\n" type[i] " worst\t" x[3]
        }
    }' bench/notes/choice.md)

# What one needs, on the first screen; where nothing is said of -arch, what nvcc takes; a table by card.
first_screen() {
    head -n 12 README.md | grep -q '^    git clone ' && head -n 12 README.md | grep -q 'Needs Linux, bash and g++ (\([0-9]*\) or later)' &&
        grep -q "stock g++ ($(sed -n 's/.*g++ (\([0-9]*\) or later).*/\1/p' README.md) or later" cpu/README.md
}
check "README.md: how to get it and what it needs, on the first screen" first_screen
by_card() {
    local page heading
    page=$(sed -n 's/.*\[predicted, by card\](\([^)]*\)).*/\1/p' README.md)
    heading=${page#*#} page=${page%%#*}
    awk -v wanted="$heading" '/^##* / { name = tolower($0); gsub(/^#* |,/, "", name); gsub(/ /, "-", name); on = name == wanted } on' "$page" |
        grep -q '^| TFLOP/s, predicted | RTX '
}
check "README.md: behind 'predicted, by card' is a table of cards" by_card
if have nvcc; then
    default=$(nvcc --dryrun -c demos/first.cu 2>&1 | grep -oE 'sm_[0-9]+' | head -n 1)
    release=$(nvcc --version | sed -n 's/.*release \([0-9]*\).*/\1/p')
    named=$(sed -n 's/^| none | .*nvcc \([0-9]*\) compiles .*/\1/p' README.md)
    if [ "${named:-$release}" = "$release" ]; then
        check "README.md: without -arch nvcc takes $default" grep -q "^| none | .*nvcc $release compiles all kernels for $default," README.md
    else
        skip "README.md: what nvcc takes without -arch" "it speaks of nvcc $named"
    fi
else
    skip "README.md: what nvcc takes without -arch" "nvcc is not installed"
fi

# The slower of the two ways that README's table names.
figures memory '
    { key[$1 "," $2] = $9 }
    END {
        n = split("global,float; every 32nd:shared,tile with rows of 32:local,local; any index:" \
            "constant,constant; 32 words:readonly,plain; sum in y[i]:texture,global; four loads:" \
            "registers,1 x 1:pinned,copy from pageable:mapped,mapped; 8 passes:" \
            "managed,managed; page faults:async_copy,ordinary; through registers", name, ":")
        for (i = 1; i <= n; i++) { split(name[i], part, ","); print part[1] "\t" key[name[i]] }
    }' $results/memory.csv
compare "README.md: kinds of memory are those of memory.csv" memory \
    < <(sed -n 's,^| \[[^]]*\](demos/memory/\([a-z_]*\)\.cu).*| *\([0-9.]*\) |$,\1\t\2,p' README.md)

# No way is faster than the one called right, on either device, unless it is called right, too, or
# does less: a copy alone, or pages that are there already.
faster() {
    awk -F, '
        $2 ~ /\(right\)/ { demo = $1; next }
        $1 == demo && $9 < 0.95 && $2 !~ /also right|: the limit$|^managed; on the device$/ {
            print " " FILENAME ": " $1 ", " $2 ": " $9 " times the time of the right way;"
        }
        $10 != "result" && $10 != "ok" { print " " FILENAME ": " $1 ", " $2 ": " $10 ";" }' "$@"
}
printf 'a,one (right),0,0,0,0,1,1,1.00,ok\na,two,0,0,0,0,1,1,0.94,ok\n' >"$work/faster.csv"
check "a way that is faster than the right one is found" grep -q 'a, two: 0.94' <(faster "$work/faster.csv")
report "memory.csv: no way is faster than the right one" "$(faster bench/results/h*00/memory.csv)"

# The map of demos/memory: latency and bandwidth are those of memory.csv, and all that was counted held.
figures map '
    $1 == "latency" { print $2 " clocks\t" $5 }
    $1 == "bandwidth" { print $2 " rate\t" $8 }' $results/memory.csv
compare "demos/memory/README.md: the map is that of memory.csv" map < <(awk -F' *[|] *' '
    /^\| memory \|/ { on = 1; next } on && !/^\|/ { on = 0 }
    on && !/---/ {
        row = $2
        if ($6 ~ /^[0-9.]+$/) print row " clocks\t" $6
        if ($7 ~ /^[0-9.]+$/) print row " rate\t" $7
    }' demos/memory/README.md)
report "memory_counters.csv: every figure holds, of rows that memory.csv has" "$(awk -F, '
    FNR == NR { row[$1 "," $2] = 1; next }
    FNR > 1 && ($NF != "yes" || !(($1 "," $2) in row)) { print " " $0 ";" }
    FNR > 1 { rows++ }
    END { if (!rows) print " no rows" }' $results/memory.csv $results/memory_counters.csv)"

figures rays '
    $2 == "exercise" && $3 ~ /^(lab global|global|constant call|shared|culled)$/ { print $3 " " $6 "\t" $9 }
    ' $results/rays.csv
compare "README.md: rays are those of rays.csv" rays < <(
    sed -nE 's/.*RAYT_CULLED draws ([0-9]+) spheres in ([0-9.]+) and ([0-9]+) in ([0-9.]+) microseconds, where the course exercise takes ([0-9.]+) and ([0-9.]+) .*/culled \1\t\2\nculled \3\t\4\nlab global \1\t\5\nlab global \3\t\6/p' README.md)

figures host '
    $1 == "host" && $3 == 16384 && $5 == "pinned" { print $2 " " $4 "\t" $6 }
    $1 == "host" && $3 == 16384 && $4 == 4 { print $2 " Xt\t" $12 }
    ' $results/host_x4.csv
compare "README.md: many GPUs are those of host_x4.csv" host < <(awk -F' *[|] *' '
    /^\| (float|double) \| [0-9]/ { print $2 " 1\t" $3 "\n" $2 " 4\t" $4 "\n" $2 " Xt\t" $5 }' README.md)

# The tables of the pages of notes under Now. Keys: page, row, column.
figures notes '
    function put(page, row, column, v) { print page " " row " " column "\t" v }
    FILENAME ~ /gemm.csv$/ && $3 == "float" && $4 == $5 && $4 == $6 && $1 ~ /^(global|shared|register)/ {
        put("global_shared_register", toupper($1), $4, $13 / 1000)
    }
    FILENAME ~ /rays.csv$/ && $2 == "exercise" {
        row = $3 ~ /^constant$/ ? "CONSTANT, kernel alone" : $3 ~ /^constant call/ ? "CONSTANT, whole call" : toupper($3)
        sub(/^LAB GLOBAL/, "course exercise, global", row)
        sub(/^LAB CONSTANT$/, "course exercise, constant: kernel alone", row)
        put("raytrace", row, $6, $9)
    }
    FILENAME ~ /gemm_cublas.csv$/ && $4 == "nn" && $8 == 1 && $5 == $6 && $5 == $7 && $9 == $7 && $12 == 0 && !seen[$1 $3 $5]++ {
        page = $1 == "auto_tensor" ? "tensor_float" : $1 == "auto" && $3 == "double" ? "tensor_double" : "-"
        put(page, "TFLOP/s", $5, $19)
        put(page, "times cuBLAS", $5, $21)
        if ($1 == "auto" && $3 == "float") {
            put("pipelined", "float, TFLOP/s", $5, $19)
            put("pipelined", "times cuBLAS", $5, $21)
        }
        if ($1 == "auto" && $3 == "int") put("pipelined", "int, part of an IMAD loop", $5, $23 / 100)
        if ($1 == "auto") {
            put("small", $3 ", graph", $5, $17)
            put("small", "cuBLAS " $3 ", graph", $5, $18)
            put("small", $3 ", stream, times cuBLAS", $5, $21)
        }
    }' $results/gemm.csv $results/gemm_cublas.csv $results/rays.csv
for page in global_shared_register pipelined small tensor_double tensor_float raytrace; do
    compare "bench/notes/$page.md: the table under Now is that of the CSV files" notes < <(awk -F' *[|] *' -v page=$page '
        /^## Now/ { now = 1 }
        /^## Decisions/ { now = 0 }
        now && /^\| (N|float|spheres) \| [0-9]+ \| [0-9]+ / { split($0, column, / *[|] */); on = 1; next }
        !/^\|/ { on = 0 }
        on && !/---/ { for (i = 3; i < NF; i++) if ($i != "-") print page " " $2 " " column[i] "\t" $i }
        ' bench/notes/$page.md)
done

# The pages of notes: one form, and short.
for page in bench/notes/*.md; do
    bad=
    for heading in "Bound by" "Now" "Decisions" "Not tried"; do
        grep -qx "## $heading" "$page" || bad="$bad no heading $heading;"
    done
    [ "$(wc -l <"$page")" -le 150 ] || bad="$bad more than 150 lines;"
    long=$(awk 'length($0) > 220 { printf " line %d has %d characters;", NR, length($0) }' "$page")
    sed -n '/^## Now/,/^## Decisions/p' "$page" | grep -q '\.csv' || bad="$bad Now names no CSV file;"
    grep -qF "notes/$(basename "$page"))" bench/NOTES.md || bad="$bad not in bench/NOTES.md;"
    report "$page: form" "$bad$long"
done

bad=
while IFS= read -r file; do
    grep -qF "(${file#bench/results/})" bench/results/README.md || bad="$bad $file is not in bench/results/README.md;"
done < <(find bench/results -type f ! -name README.md | sort)
report "bench/results: an index of all files" "$bad"
at_most "bench/results: bytes" 800000 "$(find bench/results -type f -exec cat {} + | wc -c)"
tap_done

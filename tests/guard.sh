#!/usr/bin/env bash
# The part guard of bench/gpu.sh without a GPU and compilers: which headers it takes, what it asks
# bench/shapes for, and that it fails where that does. What bench/shapes does is in tests/shapes.sh.
# shellcheck disable=SC2016,SC2317,SC2329 # $ is for scripts and awk; functions are called through check
. "$(dirname "$0")/tap.bash"

copy=$PWD/$work/copy tools=$PWD/$work/tools log=$PWD/$work/log.txt
mkdir -p "$copy/bench" "$tools"
cp bench/gpu.sh bench/guard.txt bench/*.csv "$copy/bench"
tool() { # NAME SCRIPT
    printf '#!/bin/bash\n%s\n' "$2" >"$tools/$1"
    chmod +x "$tools/$1"
}
tool nvidia-smi 'echo 9.0'
# what it is asked to build is a program that says what it is asked for; it is too slow for BAD
tool nvcc 'for word; do case $word in -DPEER_HEADER=*) header=${word#*=} ;; *NOTHING*) exit 1 ;; esac; done
[ $# -gt 2 ] || exit 0
cat "${header//\"/}" >>"'"$log"'"
printf "#!/bin/bash\n%s\n" "echo \"\${0##*/} \$*\" >>'"$log"'
for word; do case \$word in *.csv) csv=\$word ;; esac; done
printf \"type,opA,opB,M,N,K,lda,ldb,ldc,batch,ratio\nfloat,N,N,9,8,7,7,8,8,1,1\n\" >\$csv
case \"\${0##*/} \$* \" in *\"\$BAD\"*)
    echo double,N,T,90,80,70,70,70,80,1,\${RATIO:-0.5} >>\$csv
    echo 1 of 2 rows below 0.98 times old; echo \"\${VERDICT:-all results are right}\"; exit 1 ;;
esac
echo 0 of 2 rows below 0.98 times old" >"${@: -1}"
chmod +x "${@: -1}"'
tool git '[ "$1" != cat-file ] || exec test -z "$NO_HISTORY"; echo "header of $2"'
listed() { grep -vE '^(#|accept )' bench/guard.txt; }
guard() { # STATUS LAST_LINE: what it prints and what it asked for say why not
    local status
    : >"$log"
    PATH=$tools:$PATH BAD=${BAD:-nothing} NO_HISTORY=${NO_HISTORY:-} bash "$copy/bench/gpu.sh" "$work/out" guard >"$work/out.txt" 2>&1
    status=$?
    cat "$work/out.txt" "$log"
    [ "$status" = "$1" ] && tail -n 1 "$work/out.txt" | grep -qE -- "$2"
}
export BAD='' NO_HISTORY='' GUARD_TYPES='' GUARD_HEADER=''
check "today's header is as fast" guard 0 '^all good$'
asked() {
    listed | while read -r commit list use types; do
        grep -q "^header of $commit:tiledmm.cuh$" "$log" || { echo "no header of $commit"; exit 1; }
        [ "$use" = all ] && use= || use=" --use $use"
        grep -q "^guard_$commit --shapes bench/$list --least 0.98$use --type ${types// / --type } --csv " "$log" ||
            { echo "not asked for: $commit $list $types"; exit 1; }
    done
}
check "of each commit, by its header, all that bench/guard.txt lists" asked
rows() {
    diff "$work/out/guard.csv" <(echo commit,type,opA,opB,M,N,K,lda,ldb,ldc,batch,ratio &&
        listed | awk '{ print $1 ",float,N,N,9,8,7,7,8,8,1,1" }')
}
check "guard.csv: the rows of all, with the commit" rows
slow() { BAD='--type double --csv' guard 1 '^FAILED: guard 35eccd4 gemm.csv square$' &&
    grep -q '^1 of 2 rows below 0.98 times old$' "$work/out.txt"; }
check "what is slower is a failure" slow
# A loss is accepted by commit and shape, down to a floor; never a wrong result.
accepted() { # STATUS LAST_LINE LINE_OF_GUARD_TXT
    cp bench/guard.txt "$copy/bench" && echo "$3" >>"$copy/bench/guard.txt"
    BAD='35eccd4 --shapes' guard "$1" "$2"
    local status=$?
    cp bench/guard.txt "$copy/bench"
    return "$status"
}
export RATIO=0.95 VERDICT=
shape=double,N,T,90,80,70,70,70,80,1
check "a loss that is accepted is none" eval 'accepted 0 "^all good$" "accept 35eccd4 $shape 0.94 a kernel less" &&
    grep -q "^accepted: $shape 0.95$" "$work/out.txt"'
check "below its floor it is a failure" eval 'accepted 1 "^FAILED: guard 35eccd4" "accept 35eccd4 $shape 0.96 a kernel less" &&
    grep -q "^slower: $shape 0.95$" "$work/out.txt"'
check "so it is beside another commit" accepted 1 '^FAILED: guard 35eccd4' "accept 806a50f $shape 0.94 a kernel less"
check "and at another shape" accepted 1 '^FAILED: guard 35eccd4' "accept 35eccd4 ${shape/90/91} 0.94 a kernel less"
check "a wrong result is never accepted" eval 'VERDICT="some results were WRONG" accepted 1 "^FAILED: guard 35eccd4" "accept 35eccd4 $shape 0.94 a kernel less"'
check "without history it says what it needs" eval 'NO_HISTORY=1 guard 1 "^FAILED: guard:806a50f" &&
    grep -q "commit 806a50f is not in the history here: GUARD_HEADER=FOLDER with 806a50f.cuh" "$work/out.txt"'
mkdir "$work/headers"
for commit in 806a50f 35eccd4; do echo "given: $commit" >"$work/headers/$commit.cuh"; done
given() { NO_HISTORY=1 GUARD_HEADER=$PWD/$work/headers guard 0 '^all good$' && grep -q '^given: 35eccd4$' "$log"; }
check "GUARD_HEADER: headers from a folder" given
one() { GUARD_TYPES=double guard 0 '^all good$' && ! grep -q 'type \(float\|int\)' "$log" && [ "$(grep -c 'type double' "$log")" = 2 ]; }
check "GUARD_TYPES: these alone" one
tool nvcc 'exit 1'
check "a header that does not build is a failure" guard 1 '^FAILED: guard:'

# The file itself: lists and words that are there, and, where there is a history, the commits.
named() {
    listed | while read -r commit list use types; do
        [ -s "bench/$list" ] && [ -n "$types" ] && { [ "$use" = all ] || grep -q ",$use\(,\|$\)" "bench/$list"; } || exit 1
        ! git rev-parse -q --verify HEAD >/dev/null 2>&1 || [ -f "$(git rev-parse --git-dir)/shallow" ] ||
            git cat-file -e "$commit:tiledmm.cuh" || exit 1
    done
}
check "bench/guard.txt names what is there" named
reasons() { # a commit of a line above, ten columns of a shape, a floor below 0.98, and why
    awk '/^#/ { next } $1 != "accept" { commit[$1] = 1; next }
        !($2 in commit) || split($3, cell, ",") != 10 || $4 < 0.5 || $4 >= 0.98 || NF < 7 { print "not so: " $0; bad = 1 }
        END { exit bad }' bench/guard.txt
}
check "what it accepts has a commit, a shape, a floor and a reason" reasons
tap_done

# What the scripts in tests/ share; each begins with  . "$(dirname "$0")/tap.bash". That leads to the
# repository's root, makes an empty folder $work for the script, and gives it TAP (testanything.org):
# a line for each result, the plan at the end, and an exit status that says whether all is well.
# shellcheck shell=bash disable=SC2034 # $work is for the scripts
set -u
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/ends.bash"
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
work=build/test/$(basename "$0" .sh)
rm -rf "$work"
mkdir -p "$work" || exit 1
# What a user has set for the CPU runner, or as a language, is not for tests.
unset CUCC_DEVICES CUCC_MEMORY CUCC_THREADS CUCC_ORDER CUCC_STREAMS CUCC_FAIL CUCC_COUNTS
export LC_ALL=C

# How long a program may take that is to be called hung; much longer than on a busy machine.
patience=600

number=0 failures=0
ok() { # NAME
    number=$((number + 1))
    echo "ok $number - $1"
}
not_ok() { # NAME [FILE...]: the files say why
    local file
    number=$((number + 1)) failures=$((failures + 1))
    echo "not ok $number - $1"
    shift
    for file; do [ ! -s "$file" ] || awk 'NR <= 40 { print "# " $0 }' "$file"; done
}
skip() { ok "$1 # SKIP $2"; } # NAME WHY
check() {                     # NAME COMMAND...: by exit status; what it prints says why
    local name=$1
    shift
    if "$@" >"$work/check.txt" 2>&1; then ok "$name"; else not_ok "$name" "$work/check.txt"; fi
}
tap_done() {
    echo "1..$number"
    exit $((failures > 0))
}
# turns WORD...: of what is alike, ./build.sh test takes one each day, whose number is $TURN. A script that
# runs alone takes all.
turns() {
    [ "${TURN-all}" = all ] && echo "$*" && return
    shift $((TURN % $#))
    echo "$1"
}
other_turn="another day; TURN=all takes all"

skip_all() { # NAME WHY
    skip "$@"
    tap_done
}

have() { command -v "$1" >/dev/null 2>&1; }
have_gpu() { [ -n "${CUDA_VISIBLE_DEVICES-unset}" ] && have nvidia-smi && nvidia-smi -L 2>/dev/null | grep -q '^GPU '; }

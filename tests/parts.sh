#!/usr/bin/env bash
# The parts in src/ give the headers, and keep the rules of the house; join.sh refuses what does not,
# with a sentence that names part and line, and leaves the headers as they were.
# shellcheck disable=SC2317,SC2329 # some functions are only called through expect
. "$(dirname "$0")/tap.bash"

check "the headers are what the parts give" bash src/join.sh --check

# --- what a part may know ---
# code FOLDER: the lines of its parts without comments, as FILE:LINE:TEXT; all lines of a #define begin with #.
code() {
    find "src/$1" -type f \( -name '*.h' -o -name '*.cuh' \) -exec awk '
        FNR == 1 { inside = 0 }
        {
            rest = $0
            text = ""
            while (rest != "") {
                at = index(rest, inside ? "*/" : "/*")
                if (!inside) text = text (at ? substr(rest, 1, at - 1) : rest)
                rest = at ? substr(rest, at + 2) : ""
                if (at) inside = !inside
            }
            print FILENAME ":" FNR ":" (goes_on ? "#" : "") text
            goes_on = text ~ /\\$/
        }' {} +
}
# none FOLDER PATTERN WHAT: no line of code in the folder has the pattern. ^: from its first character on.
none() {
    local found before='.*'
    [[ $2 != ^* ]] || before=
    found=$(code "$1" | grep -E -- "^[^:]*:[0-9]*:$before(${2#^})" | head -n 3)
    if [ -z "$found" ]; then ok "src/$1 $3"; else not_ok "src/$1 $3: $found"; fi
}
none tiledmm/host 'TMM_TYPE|TMM_NAME|TMM_FN|TMM_SUM' "knows no element type"
none tiledmm/host '<<<|TMM_(GLOBAL|SHARED|REGISTER|PIPELINED|SMALL|SKINNY|TENSOR)\b' "knows no kernel"
none tiledmm/once '^[^#]*\bTMM_FN\(' "has nothing that is made per type"
none tiledmm/once '<<<' "launches no kernel"
none tiledmm/kernels/tensor_float '__forceinline__' "begins functions with TMM__DEVICE"
none raytrace/kernels 'rayt_status|cudaError|cudaStream' "knows nothing of the host"
none . '\bgoto\b' "has no goto"
none . '\b(int|bool) [A-Z]{2}[A-Z_0-9]*[,)]' "has no function with a parameter in capitals"
none . '\b_\([0-9]+, *,' "has no instance without a name"
launchers=$(grep -rlE '<<<[a-z]|cudaLaunchKernel[A-Za-z]*\(' src/raytrace | grep -vE '^src/raytrace/(host/launch|trace/host/.*)\.h$')
if [ -z "$launchers" ]; then
    ok "of src/raytrace only host/launch.h and trace/host/ launch kernels"
else
    not_ok "of src/raytrace only host/launch.h and trace/host/ launch kernels: $launchers"
fi
# --- functions have names that a search and ctags find ---
# A body begins with a brace alone on its line. ctags knows a function by what stands before its arguments.
parts=$(find src -name '*.h' -o -name '*.cuh')
# shellcheck disable=SC2086
bodies=$(cat $parts | grep -c '^{$')
if command -v ctags >/dev/null && ctags --version 2>&1 | grep -q Universal; then
    # shellcheck disable=SC2086
    named=$(ctags -x --language-force=C++ --kinds-C++=f $parts | grep -cvE '^(TMM_FN|[A-Z]+__[A-Z_]+|__launch_bounds__) ')
    if [ $((100 * named)) -ge $((95 * bodies)) ]; then
        ok "ctags knows $named of $bodies functions in src/ by name"
    else
        not_ok "ctags knows $named of $bodies functions in src/ by name"
    fi
else
    skip "ctags knows the functions in src/ by name" "Universal Ctags is not installed (Debian: universal-ctags)"
fi
unused=$(sed -n 's/^#define \(tmm_[a-zA-Z0-9_]*\) .*/\1/p' src/tiledmm/once/names.h | while read -r name; do
    grep -rqw --exclude=names.h "$name" src/tiledmm || echo "$name"
done)
if [ -z "$unused" ]; then ok "once/names.h has no name that nobody uses"; else not_ok "once/names.h: nobody uses $unused"; fi
private=$(cd src/raytrace && grep -nE 'rayt__|RAYT__' intersection.cuh kernels/{global,readonly,constant,shared}.cuh |
    grep -vE 'RAYT__(PART_|KERNELS &&)' | head -n 3)
if [ -z "$private" ]; then
    ok "what is made to be pasted from src/raytrace has no private name"
else
    not_ok "what is made to be pasted from src/raytrace has no private name: $private"
fi

contents=$(sed -n '/^   CONTENTS/,$p' src/raytrace/manual.h | tr -s ' \n' ' ')
missing=$(grep -rhoP '^/\* =+ \K.*?(?= =+)' src/raytrace | while read -r name; do
    case "$contents" in *"${name#*: }"*) ;; *) echo "$name" ;; esac
done)
if [ -n "$contents" ] && [ -z "$missing" ]; then
    ok "CONTENTS of src/raytrace/manual.h has all sections"
else
    not_ok "CONTENTS of src/raytrace/manual.h has no $missing"
fi

# --- kernels: with launch bounds, without which nvcc -G may give them too many registers for their blocks ---
# shellcheck disable=SC2317,SC2329 # called through check
bounded() { ! grep -rnE '^TMM_KERNEL void tmm' src/tiledmm; }
check "all kernels have launch bounds" bounded

# --- functions: at most 8 parameters, public ones and what runs on a device apart; 100 lines, kernels 200 ---
# functions FOLDER: kind, lines, parameters, file and line of each. Parts are formatted: a function begins
# with a line that is not indented, and its braces stand alone in the first column.
# shellcheck disable=SC2016 # $0 is awk's
functions() {
    find "$1" -type f \( -name '*.h' -o -name '*.cuh' \) -print0 | sort -z | xargs -0 -n 1 awk '
        function parameters(head, i, c, depth, count) { # of the last parentheses
            for (i = 1; i <= length(head); i++) {
                c = substr(head, i, 1)
                if (c == "(" && depth++ == 0) count = 1
                if (c == ")") depth--
                if (c == "," && depth == 1) count++
            }
            return count
        }
        /^[A-Za-z_]/ { head = ""; first = FNR; opens = 1 }
        opens { head = head " " $0 }
        /;$/ { opens = 0 }
        /^{$/ && opens { opens = 0; inside = 1 }
        /^}/ && inside {
            inside = 0
            kind = "host"
            if (head ~ /_API /) kind = "public"
            if (head ~ /__device__|TMM__DEVICE/) kind = "device"
            if (head ~ /_KERNEL /) kind = "kernel"
            print kind, FNR - first + 1, parameters(head), FILENAME ":" first
        }'
}
# too_large FOLDER: a sentence for each function that is.
too_large() {
    local kind lines parameters where
    functions "$1" | while read -r kind lines parameters where; do
        if [ "$kind" = host ] && [ "$parameters" -gt 8 ]; then echo "$where has $parameters parameters"; fi
        if [ "$lines" -gt "$([ "$kind" = kernel ] && echo 200 || echo 100)" ]; then echo "$where has $lines lines"; fi
    done
}
found=$(too_large src)
if [ -z "$found" ] && [ "$(functions src | wc -l)" -ge 300 ]; then
    ok "no function has too many parameters or lines"
else
    not_ok "no function has too many parameters or lines: $found"
fi
mkdir -p "$work/functions/kernels"
{
    printf 'static inline int nine(int a, int b, int c, int (*d)(int, int), int e, int f, int g,\n                       int h, int i)\n{\n    return 0;\n}\n'
    printf 'TMM_API int public_nine(int a, int b, int c, int d, int e, int f, int g, int h, int i)\n{\n    return 0;\n}\n'
    printf 'static inline int eight(int (*a)(int, int), int b, int c, int d, int e, int f, int g, int h)\n{\n    return 0;\n}\n'
} >"$work/functions/parameters.h"
{
    printf 'static __device__ void long_one(void)\n{\n' && yes '    f();' | head -n 98 && printf '}\n'
    printf 'TMM_KERNEL void long_kernel(void)\n{\n' && yes '    f();' | head -n 198 && printf '}\n'
    printf 'TMM_KERNEL void kernel(void)\n{\n' && yes '    f();' | head -n 197 && printf '}\n'
} >"$work/functions/lines.cuh"
found=$(too_large "$work/functions" | sed 's/.*functions\///' | paste -sd '|')
if [ "$found" = "lines.cuh:1 has 101 lines|lines.cuh:102 has 201 lines|parameters.h:1 has 9 parameters" ]; then
    ok "a function that is too large is named"
else
    not_ok "a function that is too large is named: $found"
fi

# --- refusals, on a copy ---
copy=$PWD/$work/copy before=$PWD/$work/before wanted=
fresh() {
    rm -rf "$copy"
    mkdir "$copy" && cp -r src tiledmm.cuh raytrace.cuh "$copy/"
}
# refused WHAT EDIT... : after `EDIT` in the copy, join and join --check end with 1 and a sentence that
# has $wanted in it, and the headers are as they were.
refused() {
    local what=$1 status bad='' way
    shift
    fresh
    (cd "$copy" && "$@") || bad="the edit failed;"
    (cd "$copy" && sha256sum -- *.cuh) >"$before"
    for way in '' --check; do
        [ "$way" = '' ] && [ "${only_check-}" = 1 ] && continue
        # shellcheck disable=SC2086
        bash "$copy/src/join.sh" $way >"$work/said" 2>&1
        status=$?
        [ $status = 1 ] || bad="$bad join $way ends with $status;"
        ! grep -v '^join: ' "$work/said" >"$work/other" || bad="$bad join $way says, too, '$(head -n 1 "$work/other")';"
        grep -qF -- "$wanted" "$work/said" || bad="$bad join $way says '$(head -n 1 "$work/said")';"
    done
    (cd "$copy" && sha256sum --quiet -c "$before" >/dev/null 2>&1) || bad="$bad a header has changed;"
    [ -z "$(find "$copy" -name '*.tmp')" ] || bad="$bad a file was left;"
    if [ -z "$bad" ]; then ok "$what is refused"; else not_ok "$what is refused: $bad"; fi
}
kernel=src/tiledmm/kernels/simple/shared.cuh
wanted="kernels/simple/shared.cuh, which is not there" refused "a missing part" rm $kernel
wanted="src/tiledmm/kernels/other.cuh is not in" refused "an unlisted part" cp $kernel src/tiledmm/kernels/other.cuh
wanted="names kernels/simple/shared.cuh twice" refused "a doubled part" sh -c 'echo kernels/simple/shared.cuh >>src/tiledmm/PARTS'
open_if() { printf '#if 1\n' >>"$kernel"; }
wanted="$kernel:$(($(wc -l <$kernel) + 1)): this #if has no #endif" refused "an #if without #endif" open_if
close_if() { printf '#endif\n' >>"$kernel"; }
wanted="$kernel:$(($(wc -l <$kernel) + 1)): #endif without" refused "an #endif without #if" close_if
include_part() { printf '#include "global.cuh"\n' >>"$kernel"; }
wanted="a part must not include" refused "an inclusion of a part" include_part
include_macro() { printf '#include TMM_OTHER\n' >>"$kernel"; }
wanted="a part must not include" refused "an inclusion by a macro other than TMM_HEADER" include_macro
long_part() { yes '/* */' | head -n 600 >>"$kernel"; }
wanted="at most 600 lines" refused "a part of more than 600 lines" long_part
wrong_name() { sed -i '1s/shared/other/' "$kernel"; }
wanted="$kernel:1: the first line must begin" refused "a part with another name in its first line" wrong_name
wanted="src/raytrace/kernels/other.cuh is not in" refused "an unlisted part of raytrace" \
    cp src/raytrace/kernels/global.cuh src/raytrace/kernels/other.cuh
hand_edit() { sed -i '3000s/$/ /' tiledmm.cuh; }
only_check=1 wanted="tiledmm.cuh:3000 is not what the parts give: $(bash src/join.sh --where tiledmm.cuh:3000)" \
    refused "a header edited by hand" hand_edit
cut_header() { head -n 5000 tiledmm.cuh >x && mv x tiledmm.cuh; }
only_check=1 wanted="tiledmm.cuh:5000 is not" refused "a header that ends early" cut_header

# --- who uses what ---
if have python3; then
    check "first lines of src/tiledmm name who uses what, and borders hold" python3 tests/uses.py src/tiledmm
    check "first lines of src/raytrace name who uses what" python3 tests/uses.py src/raytrace
    # found SENTENCE FILE EDIT: after this edit by sed of src/tiledmm/FILE in a copy, uses.py says so.
    found() {
        fresh
        sed -i "$3" "$copy/src/tiledmm/$2"
        if (cd "$copy" && python3 "$OLDPWD/tests/uses.py" src/tiledmm) >"$work/said" 2>&1 || ! grep -qF -- "$1" "$work/said"; then
            not_ok "uses.py finds: $1" "$work/said"
        else
            ok "uses.py finds: $1"
        fi
    }
    found "kernels/outer/sizes.h: Uses" kernels/outer/sizes.h 's|Uses: [^.]*\.|Uses: once/nothing.h.|'
    found "kernels/narrow/launch.h uses TMM__OUTER_MOST" kernels/narrow/launch.h 's/most_parts = 64/most_parts = TMM__OUTER_MOST/'
    found "host/job.h uses TMM__TENSOR_DEPTH" host/job.h '$s/^/enum { tmm__planted = TMM__TENSOR_DEPTH };\n/'
    found "type/dispatch.h uses TMM__SKINNY_MOST" type/dispatch.h 's/tmm__xskinny_fits(p))/p->M <= TMM__SKINNY_MOST)/'
else
    skip "first lines name who uses what" "python3 is not installed"
fi

# --- join mends it, and --where finds lines ---
fresh
hand_edit_in_copy() { (cd "$copy" && hand_edit && bash src/join.sh >/dev/null) && cmp -s tiledmm.cuh "$copy/tiledmm.cuh"; }
check "join makes the header again" hand_edit_in_copy
line=$(grep -n '=== KERNEL SHARED ===' tiledmm.cuh | cut -d: -f1)
here=$(grep -n '=== KERNEL SHARED ===' $kernel | cut -d: -f1)
found=$(bash src/join.sh --where "tiledmm.cuh:$line")
if [ "$found" = "$kernel:$here" ]; then ok "--where finds a line"; else not_ok "--where finds a line: $found"; fi
for words in "--where tiledmm.cuh:999999" "--where tiledmm.cuh:x" "--where other.cuh:1" "--where" "--bogus" "--check x"; do
    # shellcheck disable=SC2086
    bash src/join.sh $words >"$work/said" 2>&1
    status=$?
    if [ $status = 2 ] && [ "$(wc -l <"$work/said")" = 1 ] && grep -q '^join: ' "$work/said"; then
        ok "join $words is refused with a sentence"
    else
        not_ok "join $words is refused with a sentence: status $status" "$work/said"
    fi
done
tap_done

#!/usr/bin/env bash
# Joins the parts in src/tiledmm and src/raytrace, in the order of each folder's list PARTS, into
# tiledmm.cuh and raytrace.cuh. It is `cat` with a list, and checks of what the parts may be. Left out
# is "Uses: ... Used by: ..." of a part's first lines, which says nothing to who reads the whole.
#   src/join.sh                     writes the headers
#   src/join.sh --check             compares them with the parts, and writes nothing
#   src/join.sh --where FILE:LINE   the part and the line in it that this line of a header is
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
MOST_LINES=600

die() { printf 'join: %s\n' "$*" >&2; exit 1; }
refuse() { printf 'join: %s\n' "$*" >&2; exit 2; }

# parts NAME: the list of a header's parts, without comments.
parts() { sed 's/#.*//; s/[[:space:]]*$//; /^$/d' "src/$1/PARTS"; }

# check_part FILE: its length, its first line, its conditions and inclusions.
check_part() {
    awk -v file="$1" -v most=$MOST_LINES '
        function fault(line, what) { printf "join: %s:%d: %s\n", file, line, what; bad = 1; exit 1 }
        FNR == 1 && index($0, "/* " file ".") != 1 && file !~ /manual\.h$|licence\.h$/ {
            fault(1, "the first line must begin with \"/* " file ".\"")
        }
        FNR <= 6 && /Uses: .*Used by: / { says = 1 }
        FNR <= 6 && /Uses: / { uses = 1 }
        FNR <= 6 && /Used by: / { users = 1 }
        /^#[ ]*if/ { opened[++depth] = FNR }
        /^#[ ]*(else|elif)/ && depth == 0 { fault(FNR, "#else or #elif without an #if in this part") }
        /^#[ ]*endif/ && depth-- == 0 { fault(FNR, "#endif without an #if in this part") }
        /^#[ ]*include [^<]/ && !/include (TMM|RAYT)_HEADER$/ { fault(FNR, "a part must not include another one") }
        END {
            if (bad) exit 1
            if (depth > 0) fault(opened[depth], "this #if has no #endif in this part")
            if (FNR > most) fault(FNR, "a part has at most " most " lines")
            if (!(uses && users) && file !~ /manual\.h$|licence\.h$/)
                fault(1, "the first lines must say \"Uses: ...\" and \"Used by: ...\"")
        }' "$1" >&2
}

# check_list NAME: each file of the folder is in the list, once, and nothing else is.
check_list() {
    local name=$1 part
    [ -r "src/$name/PARTS" ] || { printf 'join: src/%s/PARTS cannot be read\n' "$name" >&2; return 1; }
    part=$(parts "$name" | sort | uniq -d | head -n 1)
    [ -z "$part" ] || { printf 'join: src/%s/PARTS names %s twice\n' "$name" "$part" >&2; return 1; }
    while IFS= read -r part; do
        [ -f "src/$name/$part" ] || { printf 'join: src/%s/PARTS names %s, which is not there\n' "$name" "$part" >&2; return 1; }
        check_part "src/$name/$part" || return 1
    done < <(parts "$name")
    part=$( (cd "src/$name" && find . -type f \( -name '*.h' -o -name '*.cuh' \) | sed 's/^\.\///' | sort) |
        grep -vxF -f <(parts "$name") | head -n 1)
    [ -z "$part" ] || { printf 'join: src/%s/%s is not in src/%s/PARTS\n' "$name" "$part" "$name" >&2; return 1; }
}

# For awk, before and after a line of a part: `skip` where it is left out. "Uses:" begins a line, and its
# comment ends with it: " */" goes to the line before.
BEFORE='FNR == 1 { head = 1 } head && /^ *Uses: / { skip = 1 }'
AFTER='head && / \*\/$/ { head = skip = 0 }'
paths() { parts "$1" | sed "s|^|src/$1/|"; }
# shellcheck disable=SC2016 # $0 is of awk
joined() {
    paths "$1" | xargs -d '\n' awk "$BEFORE"'
        skip && !was { printf " */" }
        !skip { printf "%s%s", NR == 1 ? "" : "\n", $0 }
        { was = skip }
        '"$AFTER"'
        END { print "" }'
}

# where NAME LINE: the part and its line.
where() {
    paths "$1" | xargs -d '\n' awk -v line="$2" "$BEFORE"'
        !skip && ++lines == line { print FILENAME ":" FNR; found = 1; exit }
        '"$AFTER"'
        END { exit !found }'
}

headers() { find src -mindepth 2 -maxdepth 2 -name PARTS | sed 's/^src\///; s/\/PARTS$//' | sort; }

join_all() {
    local name
    for name in $(headers); do check_list "$name" || exit 1; done
    for name in $(headers); do # all are made before the first is replaced
        joined "$name" >"$name.cuh.tmp" || { rm -f ./*.cuh.tmp; die "$name.cuh cannot be written"; }
    done
    for name in $(headers); do
        if cmp -s "$name.cuh.tmp" "$name.cuh"; then
            rm -f "$name.cuh.tmp"
        else
            mv -f "$name.cuh.tmp" "$name.cuh" || { rm -f ./*.cuh.tmp; die "$name.cuh cannot be written"; }
            printf 'join: %s.cuh: %d lines from %d parts\n' "$name" "$(wc -l <"$name.cuh")" "$(parts "$name" | wc -l)"
        fi
    done
}

check_all() {
    local name line status=0
    for name in $(headers); do
        check_list "$name" || { status=1; continue; }
        [ -r "$name.cuh" ] || { printf 'join: %s.cuh is not there: ./build.sh join makes it\n' "$name" >&2; status=1; continue; }
        # cmp ends at the first difference: what cat then says is no fault
        cmp -s <(joined "$name" 2>/dev/null) "$name.cuh" && continue
        line=$(cmp <(joined "$name" 2>/dev/null) "$name.cuh" 2>&1 | sed -n 's/.* line \([0-9]*\)$/\1/p')
        [ -n "$line" ] || line=$(wc -l <"$name.cuh")
        printf 'join: %s.cuh:%d is not what the parts give: %s differs. Edit the part, then ./build.sh join\n' \
            "$name" "$line" "$(where "$name" "$line" || echo "its end")" >&2
        status=1
    done
    return $status
}

case ${1-} in
'') join_all ;;
--check) [ $# = 1 ] || refuse "--check takes nothing after it"; check_all ;;
--where)
    [ $# = 2 ] || refuse "--where takes FILE:LINE, for example tiledmm.cuh:1234"
    file=${2%:*} line=${2##*:} name=$(basename "${2%:*}" .cuh)
    [ -f "src/$name/PARTS" ] || refuse "--where: there are no parts of '$file'; the headers are: $(headers | tr '\n' ' ')"
    case $line in '' | *[!0-9]* | 0*) refuse "--where: '$line' is no number of a line" ;; esac
    where "$name" "$line" || refuse "--where: $file has no line $line"
    ;;
-h | --help) sed -n '2,7s/^# \{0,1\}//p' "$0" ;;
*) refuse "it takes nothing, --check or --where FILE:LINE, not '$1'" ;;
esac

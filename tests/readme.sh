#!/usr/bin/env bash
# README.md and its like: every link leads somewhere, to a heading that is there, and a link to a line to
# the section that it names.
# `bash tests/readme.sh --fix` first puts the numbers of lines right.
. "$(dirname "$0")/tap.bash"
if [ "${1-}" = --fix ]; then
    while IFS= read -r name; do
        line=$(grep -n "=== $name ===" tiledmm.cuh | cut -d: -f1)
        [ -n "$line" ] && sed -i "s/\[$name\](tiledmm\.cuh#L[0-9]*)/[$name](tiledmm.cuh#L$line)/g" README.md
    done < <(grep -o '\[KERNEL [A-Z ]*\](tiledmm.cuh#L' README.md | sed 's/^\[\(.*\)\].*/\1/' | sort -u)
fi
# The headings of a page as the anchors that GitHub makes of them.
anchors() { sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-'; }
for page in README.md CONTRIBUTING.md bench/NOTES.md cpu/README.md demos/memory/README.md demos/python/README.md; do
    folder=$(dirname "$page") bad=
    while IFS= read -r link; do
        text=${link%%](*} target=${link#*](}
        text=${text#[} target=${target%)}
        case $target in http*) continue ;; esac
        file=${target%%#*} line=${target##*#L}
        [ -e "$folder/$file" ] || bad="$bad $target: no such file;"
        case $target in
        "#"*) anchors "$page" | grep -qx -- "${target#?}" || bad="$bad $target: no such heading;" ;;
        *#L*)
            found=$(grep -n "=== $text ===" "$folder/$file" | cut -d: -f1)
            [ "$found" = "$line" ] || bad="$bad $target: $text is at line ${found:-none};"
            ;;
        esac
    done < <(grep -o '\[[^]]*\]([^) ]*)' "$page"; grep -o 'src="[^"]*"' "$page" | sed 's/src="\(.*\)"/[image](\1)/')
    if [ -z "$bad" ]; then ok "$page: links"; else not_ok "$page: links$bad"; fi
done
tap_done

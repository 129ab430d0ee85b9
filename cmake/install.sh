#!/usr/bin/env bash
# cmake/install.sh PREFIX: the headers to PREFIX/include, what find_package and pkg-config read to
# PREFIX/share. The same as `cmake --install` does, for those who have no CMake.
set -u
cd "$(dirname "$0")/.." || exit 1

die() {
    printf 'install: %s\n' "$*" >&2
    exit 1
}
prefix=${1-}
if [ $# != 1 ] || [ -z "$prefix" ] || [ "${prefix#-}" != "$prefix" ]; then
    die "takes one folder, for example ~/.local or /usr/local"
fi
[ "${prefix#/}" != "$prefix" ] || prefix=${OLDPWD:-$PWD}/$prefix

number=$(sed -n 's/^#define TMM_VERSION \([0-9]*\).*/\1/p' tiledmm.cuh)
[ "$number" ] || die "tiledmm.cuh does not say its version"
major=$((number / 10000)) minor=$((number / 100 % 100)) patch=$((number % 100))

files="include/tiledmm.cuh include/raytrace.cuh share/pkgconfig/tiledmm.pc
       share/cmake/tiledmm/tiledmm-config.cmake share/cmake/tiledmm/tiledmm-config-version.cmake"
contents() {
    case $1 in
    *.cuh) cat "${1##*/}" ;;
    *-config.cmake) cat "cmake/${1##*/}" ;;
    *)
        sed "s/@PROJECT_VERSION@/$major.$minor.$patch/g; s/@PROJECT_VERSION_MAJOR@/$major/g
             s/@PROJECT_VERSION_MINOR@/$minor/g" "cmake/${1##*/}.in"
        ;;
    esac
}

# Every file is first written beside its place, and all are renamed when all are there: whatever
# fails before that leaves nothing, not even a folder.
made=()
make_folder() {
    [ -d "$1" ] && return
    make_folder "$(dirname "$1")" && mkdir "$1" 2>/dev/null && made+=("$1")
}
give_up() {
    local file n
    for file in $files; do rm -f "$prefix/$file.new"; done
    for ((n = ${#made[@]} - 1; n >= 0; n--)); do rmdir "${made[n]}"; done
    die "$1; nothing was installed"
}
for file in $files; do
    make_folder "$(dirname "$prefix/$file")" || give_up "cannot make the folder $(dirname "$prefix/$file")"
    [ ! -d "$prefix/$file" ] || give_up "$prefix/$file is a folder"
    { contents "$file" >"$prefix/$file.new"; } 2>/dev/null || give_up "cannot write to $(dirname "$prefix/$file")"
    chmod 644 "$prefix/$file.new"
done
for file in $files; do
    mv -f "$prefix/$file.new" "$prefix/$file" || die "cannot write $prefix/$file"
done
printf 'install: version %d.%d.%d is in %s\n' "$major" "$minor" "$patch" "$prefix"

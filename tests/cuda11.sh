#!/usr/bin/env bash
# Both headers compile with CUDA 11.8, the oldest toolkit they are meant for, for sm_60 to sm_90.
#
#   bash tests/cuda11.sh          uses the toolkit in $CUDA11_HOME (a folder with bin/nvcc), or the
#                                 one fetched before; skips where there is neither
#   bash tests/cuda11.sh --fetch  first downloads Debian's packages of it (860 MB), which are from
#                                 contrib and non-free, and unpacks what a compiler needs of them
#                                 (0.1 GB) beside the system: into $CUDA11_HOME, or
#                                 ~/.cache/cuda-11.8. Nothing is installed, no root is needed
# shellcheck disable=SC2015,SC2317,SC2329 # mv && mv || die is meant so; functions called through check
. "$(dirname "$0")/tap.bash"
home=${CUDA11_HOME:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/cuda-11.8}
architectures="60 70 80 90" # the oldest, the newest, and where the kernels change in between

die() {
    echo "cuda11.sh: $*" >&2
    exit 1
}

# fetch: packages to a folder beside $home, which is renamed at the end: no half toolkit is left.
fetch() {
    local part=$home.part tool kind
    [ ! -x "$home/bin/nvcc" ] || return
    for tool in apt-get dpkg-deb; do
        command -v $tool >/dev/null || die "--fetch takes Debian's packages apart and needs $tool"
    done
    [ ! -e "$home" ] || die "there is already something in $home"
    rm -rf "$part"
    mkdir -p "$part/lists/partial" "$part/unpacked" || die "no folder can be made at $part"
    part=$(cd "$part" && pwd)
    echo 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm contrib non-free' \
        >"$part/sources.list"
    local options=(-q -o Dir::Etc::SourceList="$part/sources.list" -o Dir::Etc::SourceParts=-
        -o Dir::State::Lists="$part/lists" -o Dir::Cache="$part" -o APT::Sandbox::User=)
    (cd "$part" && apt-get "${options[@]}" update &&
        apt-get "${options[@]}" download nvidia-cuda-toolkit nvidia-cuda-dev) || die "the download failed"
    # Of the second package only the headers and the runtime: its static libraries are most of it.
    dpkg-deb --fsys-tarfile "$part"/nvidia-cuda-toolkit_*.deb |
        tar x -C "$part/unpacked" ./usr/bin ./usr/lib/nvidia-cuda-toolkit || die "unpacking failed"
    dpkg-deb --fsys-tarfile "$part"/nvidia-cuda-dev_*.deb |
        tar x -C "$part/unpacked" --wildcards ./usr/include './usr/lib/*/libcudart*' './usr/lib/*/libcudadevrt*' ||
        die "unpacking failed"
    mkdir "$part/home" "$part/home/lib" || die "no folder can be made in $part"
    mv "$part/unpacked/usr/lib/nvidia-cuda-toolkit/bin" "$part/unpacked/usr/lib/nvidia-cuda-toolkit/libdevice" \
        "$part/unpacked/usr/include" "$part/home" &&
        mv "$part"/unpacked/usr/lib/*/libcuda* "$part/home/lib" || die "the packages hold other files than expected"
    for kind in bin2c cudafe++ cuobjdump fatbinary nvlink ptxas; do
        mv "$part/unpacked/usr/bin/$kind" "$part/home/bin" || die "the packages hold no $kind"
    done
    # Debian's profile names folders of the system; and its links to gcc would win over -ccbin.
    rm -f "$part/home/bin/nvcc.profile" "$part/home/bin/gcc" "$part/home/bin/g++"
    cat >"$part/home/bin/nvcc.profile" <<'PROFILE'
NVVMIR_LIBRARY_DIR = $(_HERE_)/../libdevice
PATH      += $(_HERE_):
INCLUDES  += "-I$(_HERE_)/../include"
LIBRARIES =+ $(_SPACE_) "-L$(_HERE_)/../lib"
PROFILE
    mv "$part/home" "$home" && rm -rf "$part" || die "$part/home could not become $home"
    echo "cuda11.sh: CUDA 11.8 is in $home"
}

case ${1-} in
'') ;;
--fetch) fetch ;;
*) die "takes --fetch or nothing, not '$1'" ;;
esac

no_toolkit() { skip_all "both headers compile with CUDA 11.8" "$1"; }

[ -x "$home/bin/nvcc" ] ||
    no_toolkit "it is not here: bash tests/cuda11.sh --fetch downloads it (860 MB), or CUDA11_HOME names it"
# CUDA 11.8 knows g++ up to 11 and clang up to 14. It also works with g++ 12.
host=()
for compiler in g++-11 g++-10 g++-12 clang++-14; do
    command -v $compiler >/dev/null && host=(-ccbin "$compiler") && break
done
[ ${#host[@]} -gt 0 ] || no_toolkit "it needs g++ 10 to 12 or clang 14 as its host compiler"
[ "${host[1]}" = g++-12 ] && host+=(-allow-unsupported-compiler)

is_version_11() {
    "$home/bin/nvcc" --version
    "$home/bin/nvcc" --version | grep -q 'release 11\.'
}
check "$home is CUDA 11" is_version_11

flags=("${host[@]}" -I. -Werror all-warnings -Xcompiler "-Wall,-Wextra")
all=()
for architecture in $architectures; do
    all+=(-gencode "arch=compute_$architecture,code=sm_$architecture")
done

# A program that includes a header plainly, for the oldest architecture; and all functions as
# symbols, for all.
cat >"$work/tiledmm.cu" <<'CODE'
#include "tiledmm.cuh"
int main(void)
{
    float a = 6, b = 7, c = 0;
    return tmm_smatmul(1, 1, 1, &a, &b, &c) == TMM_OK && c == 42 ? 0 : 1;
}
CODE
cat >"$work/raytrace.cu" <<'CODE'
#include "raytrace.cuh"
int main(void)
{
    rayt_sphere sphere;
    unsigned char image[4];
    return rayt_random_scene(&sphere, 1, 1, 1, 1, 1, 1) == RAYT_OK &&
                   rayt_render_host(RAYT_CULLED, &sphere, 1, image, 1, 1, NULL, NULL) == RAYT_OK
               ? 0
               : 1;
}
CODE
# Of tiledmm.cuh float and double only: int takes as long and is nothing new.
printf '#define %s\n' TMM_IMPLEMENTATION TMM_NO_READY_MADE 'TMM_NAME s' >"$work/tiledmm_implementation.cu"
printf '#include "tiledmm.cuh"\n#define TMM_TYPE double\n#define TMM_NAME d\n#include "tiledmm.cuh"\n' \
    >>"$work/tiledmm_implementation.cu"
printf '#define RAYT_IMPLEMENTATION\n#include "raytrace.cuh"\n' >"$work/raytrace_implementation.cu"

# has_code OBJECT: does it hold code for every architecture asked for?
has_code() {
    local architecture
    "$home/bin/cuobjdump" --list-elf "$1" >"$work/code.txt" && cat "$work/code.txt" || return 1
    for architecture in $architectures; do
        grep -q "sm_$architecture\." "$work/code.txt" || return 1
    done
}
for header in tiledmm raytrace; do
    check "$header.cuh: a program compiles and links for sm_60, ${host[1]}" \
        "$home/bin/nvcc" "${flags[@]}" -arch=sm_60 "$work/$header.cu" -o "$work/$header"
    check "$header.cuh: its IMPLEMENTATION compiles for sm_${architectures// /, }" \
        "$home/bin/nvcc" "${flags[@]}" "${all[@]}" -c "$work/${header}_implementation.cu" -o "$work/$header.o"
    check "$header.cuh: and has code for each of them" has_code "$work/$header.o"
done
tap_done

#!/usr/bin/env bash
# How programs in C and C++, and projects, get at the headers: demos/c_caller/, CMake
# (add_subdirectory, FetchContent, find_package), pkg-config, installation with and without CMake.
# tests/cmake/ is the project that uses them. The fast kernels, which take ten seconds each time, are
# left out everywhere.
# shellcheck disable=SC2016,SC2046,SC2317,SC2329 # CMake's $, pkg-config's words, functions called through check
. "$(dirname "$0")/tap.bash"
[[ $(turns pip cmake) = *cmake* ]] || skip_all "CMake, pkg-config, installation" "$other_turn" # tests/pip.sh has the other days
root=$PWD work=$PWD/$work # some of what follows changes folders

passed() { "$@" | tee "$work/said.txt" && [ "${PIPESTATUS[0]}" = 0 ] && [ "$(tail -n 1 "$work/said.txt")" = "Test PASSED" ]; }
architecture=80 arch=sm_80
have_gpu && architecture=native arch=native
faster='' # what does not run here need not be optimised
have_gpu || ! have nvcc || ! nvcc --help | grep -q -e -Ofc || faster=-Ofc=max

# ---- CMake, in the background ---------------------------------------------------------------------
no_cmake=
have cmake || no_cmake="cmake is not installed"
have nvcc || no_cmake=${no_cmake:-"nvcc is not installed"}
# project FOLDER WAY OPTIONS...
project() {
    local folder=$work/$1 way=$2
    shift 2
    cmake -S tests/cmake -B "$folder" -DWAY="$way" -DCMAKE_CUDA_ARCHITECTURES=$architecture \
        -DCMAKE_CUDA_FLAGS="-DTMM_SIMPLE $faster" -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" "$@" && cmake --build "$folder"
}
in_background() { project "$@" >"$work/$1.txt" 2>&1; }
if have cmake; then
    cmake -S . -B "$work/own" >"$work/install.txt" 2>&1 &&
        cmake --install "$work/own" --prefix "$work/first" >>"$work/install.txt" 2>&1
    mv "$work/first" "$work/moved" 2>>"$work/install.txt" # an installation can be moved
fi
if [ ! "$no_cmake" ]; then
    {
        in_background add_subdirectory add_subdirectory -DTILEDMM="$root"
        in_background FetchContent FetchContent -DTILEDMM="$root"
        in_background find_package find_package -DCMAKE_PREFIX_PATH="$work/moved"
    } &
    projects=$!
fi

# ---- the C and the C++ program ---------------------------------------------------------------------
# a system may have CUDA's headers where every compiler looks
mkdir "$work/trap" && echo '#error "this includes a header of CUDA"' >"$work/trap/cuda_runtime.h"
c99=(-I"$work/trap" -std=c99 -pedantic -Wall -Wextra -Werror -O2)
check "demos/c_caller/product.c compiles as C99 without CUDA's headers" \
    gcc "${c99[@]}" -c demos/c_caller/product.c -o "$work/product.o"
check "demos/c_caller/walks.cpp compiles as C++ without CUDA's headers" \
    g++ -I"$work/trap" -pedantic -Wall -Wextra -Werror -O2 -c demos/c_caller/walks.cpp -o "$work/walks.o"
check "demos/c_caller/library.cu compiles for the CPU runner" \
    cpu/cucc -O0 -DTMM_SIMPLE -c demos/c_caller/library.cu -o "$work/library.o"
for program in product walks; do
    check "CPU runner: $program links" cpu/cucc "$work/$program.o" "$work/library.o" -o "$work/$program"
    check "CPU runner: $program, Test PASSED" passed "$work/$program"
    no_device() { ! CUCC_DEVICES=0 "$work/$program" && CUCC_DEVICES=0 "$work/$program" 2>&1 | grep -q 'no usable CUDA device'; }
    check "CPU runner: $program says when there is no device" no_device
done
refuses() { "$work/product" "$1"; [ $? = 2 ]; }
check "product 12x is refused" refuses 12x
if have nvcc; then
    check "nvcc: library.cu compiles" nvcc -arch=$arch -DTMM_SIMPLE $faster -Werror all-warnings -c demos/c_caller/library.cu -o "$work/library.gpu.o"
    for program in product walks; do
        check "nvcc: $program links" nvcc "$work/$program.o" "$work/library.gpu.o" -o "$work/$program.gpu"
        if have_gpu; then
            check "GPU: $program, Test PASSED" passed "$work/$program.gpu"
        else
            skip "GPU: $program" "no GPU here"
        fi
    done
else
    skip "nvcc: product and walks link" "nvcc is not installed"
fi

# ---- installation ---------------------------------------------------------------------------------
listed="./include/raytrace.cuh ./include/tiledmm.cuh ./share/cmake/tiledmm/tiledmm-config-version.cmake
./share/cmake/tiledmm/tiledmm-config.cmake ./share/pkgconfig/tiledmm.pc"
installs() (
    bash cmake/install.sh "$work/new folder/usr" || return 1
    cd "$work/new folder/usr" || return 1
    [ "$(find . -type f | LC_ALL=C sort | xargs)" = "$(xargs -n 1 <<<"$listed" | LC_ALL=C sort | xargs)" ] || { find . -type f; return 1; }
    cmp include/tiledmm.cuh "$root/tiledmm.cuh" && cmp include/raytrace.cuh "$root/raytrace.cuh" &&
        ! grep -r @ share
)
check "cmake/install.sh installs the headers and what finds them" installs
again() { echo old >"$work/new folder/usr/include/tiledmm.cuh" && installs; }
check "cmake/install.sh replaces an older installation" again
# refused_without_a_trace PREFIX: one sentence, and nothing has changed
refused_without_a_trace() {
    find "$work/refuse" | sort >"$work/before.txt"
    bash cmake/install.sh "$1" >"$work/said.txt" 2>&1 && return 1
    cat "$work/said.txt"
    find "$work/refuse" | sort >"$work/after.txt"
    [ "$(wc -l <"$work/said.txt")" = 1 ] && grep -q 'nothing was installed' "$work/said.txt" &&
        cmp "$work/before.txt" "$work/after.txt"
}
mkdir -p "$work/refuse/usr/share" "$work/refuse/half/share/pkgconfig/tiledmm.pc" && touch "$work/refuse/file"
check "cmake/install.sh to a folder below a file: one sentence, nothing installed" \
    refused_without_a_trace "$work/refuse/file/usr"
check "cmake/install.sh where the third file cannot be: the same" refused_without_a_trace "$work/refuse/half"
if [ "$(id -u)" != 0 ]; then
    chmod a-w "$work/refuse/usr/share"
    check "cmake/install.sh where a folder cannot be written: the same" refused_without_a_trace "$work/refuse/usr"
    chmod u+w "$work/refuse/usr/share"
fi
no_folder() { ! bash cmake/install.sh && ! bash cmake/install.sh --help; }
check "cmake/install.sh without a folder is an error" no_folder
if have cmake; then
    same() { cat "$work/install.txt"; diff -r "$work/moved" "$work/new folder/usr"; }
    check "cmake --install installs the same files" same
else
    skip "cmake --install installs the same files" "cmake is not installed"
fi

# ---- pkg-config -----------------------------------------------------------------------------------
if have pkg-config; then
    export PKG_CONFIG_PATH=$work/pc/share/pkgconfig
    bash cmake/install.sh "$work/pc" >"$work/install.txt" 2>&1
    with_pkg_config() (
        # not from the root of the repository, whose headers would be found anyway
        cd "$work" && "$root/cpu/cucc" -O0 -DTMM_SIMPLE -Xcompiler -Wall,-Wextra,-Werror $(pkg-config --cflags tiledmm) "$root/tests/cmake/main.c" \
            "$root/tests/cmake/library.cu" -o pc/consumer && pc/consumer device
    )
    check "pkg-config --cflags: the project builds and runs on the CPU runner" with_pkg_config
    check "pkg-config: a version 0.1 is there" pkg-config --atleast-version=0.1 tiledmm
    versions_agree() {
        sed -n '2p' tiledmm.cuh | grep -qF " v$(pkg-config --modversion tiledmm | sed 's/\.0$//') "
    }
    check "pkg-config: the version is that of the header's title" versions_agree
else
    skip "pkg-config" "pkg-config is not installed"
fi

# ---- CMake, continued -----------------------------------------------------------------------------
if [ "$no_cmake" ]; then
    skip "CMake: add_subdirectory, FetchContent, find_package" "$no_cmake"
else
    wait "$projects"
    for way in add_subdirectory FetchContent find_package; do
        built() { cat "$work/$way.txt" && "$work/$way/consumer"; }
        check "CMake, $way: the project builds; what needs no GPU runs" built
        if have_gpu; then
            check "CMake, $way: runs on the GPU" "$work/$way/consumer" device
        else
            skip "CMake, $way: runs on the GPU" "no GPU here"
        fi
    done
fi
if have cmake; then
    # asked OPTIONS...: what find_package says, without a compiler
    mkdir "$work/ask"
    printf 'cmake_minimum_required(VERSION 3.18)\nproject(ask LANGUAGES NONE)\nfind_package(tiledmm ${ASK} REQUIRED)\n' >"$work/ask/CMakeLists.txt"
    asked() { rm -rf "$work/ask/build"; cmake -S "$work/ask" -B "$work/ask/build" -DCMAKE_PREFIX_PATH="$work/moved" -DASK="$1"; }
    refused() { ! asked "$1" && asked "$1" 2>&1 | grep -q 'tiledmm-config.cmake, version:'; }
    check "find_package without a version finds it" asked ""
    check "find_package of this minor version finds it" asked 0.1
    check "find_package of a later version does not" refused 0.2
    check "find_package of an earlier minor version, another API, does not" refused 0.0.9
fi
if have cmake; then
    # told ARCHITECTURES...: what the package says of each way to get at it, without a compiler
    mkdir "$work/tell"
    printf 'cmake_minimum_required(VERSION 3.18)\nproject(tell LANGUAGES NONE)\nset(CMAKE_CUDA_COMPILER_LOADED 1)\n%s' \
        'if(ADD)
add_subdirectory("${ADD}" tiledmm)
else()
find_package(tiledmm REQUIRED)
endif()
' >"$work/tell/CMakeLists.txt"
    told() {
        rm -rf "$work/tell/build"
        cmake -S "$work/tell" -B "$work/tell/build" -DCMAKE_CUDA_ARCHITECTURES="$1" -DADD="$2" -DCMAKE_PREFIX_PATH="$work/moved" 2>&1
    }
    warned() { told "$@" | grep -F "tiledmm: CMAKE_CUDA_ARCHITECTURES is $1: kernels are compiled without"; }
    quiet() { told "$@" >"$work/told.txt" && cat "$work/told.txt" && ! grep -q 'tiledmm: ' "$work/told.txt"; }
    for old in 75 52-real '60;75-virtual'; do
        check "CMake: find_package says that $old has no fast instructions" warned "$old" ''
    done
    check "CMake: add_subdirectory says so" warned 75 "$root"
    for new in native all-major 90a '75;80' 120-real; do
        check "CMake: nothing is said of $new" quiet "$new" ''
    done
fi
if [ "$no_cmake" ]; then
    skip "CMake: says so where nobody chose an architecture" "$no_cmake"
else
    unchosen() {
        cmake -S tests/cmake -B "$work/unchosen" -DWAY=add_subdirectory -DTILEDMM="$root" 2>&1 |
            grep 'tiledmm: CMAKE_CUDA_ARCHITECTURES is [57][0-9]: kernels'
    }
    check "CMake: says so where nobody chose an architecture" unchosen
fi
tap_done

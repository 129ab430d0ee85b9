#!/usr/bin/env bash
# What other compilers than nvcc and g++ ask of the headers, as far as those at hand can tell:
# - their declarations are plain C99 and C++11, without a warning from g++ or clang;
# - all of their host code, and the kernels as text, would pass on Windows: clang takes the side of
#   Microsoft's compiler (its macros, its keywords, its 32-bit long) and finds no header of a real
#   system, only the functions below, which Microsoft's C library has. A POSIX call, a GNU extension
#   outside a guard or an attribute that is not for this compiler is an error then.
# - nvcc compiles all of them without a warning, whether g++ or clang++ is its host compiler.
# shellcheck disable=SC2317,SC2329 # functions are called through check
. "$(dirname "$0")/tap.bash"
mkdir "$work/crt" || exit 1

# ---- declarations ---------------------------------------------------------------------------------
# Once plainly, and once more with a type of one's own.
printf '#include "tiledmm.cuh"\n#define TMM_TYPE unsigned\n#define TMM_NAME u\n#include "tiledmm.cuh"\n' >"$work/tiledmm.c"
printf '#include "raytrace.cuh"\n' >"$work/raytrace.c"
# What clang warns of beyond -Wall -Wextra, but for what C++98 lacked and the two underscores in
# private names.
everything=(-Weverything -Wno-c++98-compat-pedantic -Wno-reserved-identifier)
for header in tiledmm raytrace; do
    check "$header.cuh: declarations, gcc -std=c99 -pedantic" \
        gcc -std=c99 -pedantic -Wall -Wextra -Wstrict-prototypes -Werror -I. -fsyntax-only "$work/$header.c"
    check "$header.cuh: declarations, g++ -std=c++11 -pedantic" \
        g++ -std=c++11 -pedantic -Wall -Wextra -Werror -I. -fsyntax-only -x c++ "$work/$header.c"
    if have clang; then
        check "$header.cuh: declarations, clang -std=c99 -pedantic -Weverything" \
            clang -std=c99 -pedantic "${everything[@]}" -Werror -I. -fsyntax-only "$work/$header.c"
        check "$header.cuh: declarations, clang -std=c++11 -pedantic -Weverything" \
            clang -std=c++11 -pedantic "${everything[@]}" -Werror -I. -fsyntax-only -x c++ "$work/$header.c"
    else
        skip "$header.cuh: declarations, clang -Weverything" "clang is not installed"
    fi
done

# ---- Microsoft's rules ----------------------------------------------------------------------------
crt() { cat >"$work/crt/$1"; }
crt corecrt.h <<'CODE'
#pragma once
typedef unsigned __int64 size_t, uintptr_t;
typedef __int64 intptr_t, ptrdiff_t, time_t;
typedef long clock_t;
#define _ACRTIMP
#define _CRTIMP
#define __CRTDECL __cdecl
#ifdef __cplusplus
#define EXTERN_C extern "C"
#else
#define EXTERN_C extern
#endif
CODE
crt stdio.h <<'CODE'
#pragma once
#include <corecrt.h>
#include <stdarg.h>
typedef struct _iobuf {
    void *placeholder;
} FILE;
EXTERN_C FILE *fopen(const char *, const char *);
EXTERN_C int fclose(FILE *), ferror(FILE *), fflush(FILE *), fputs(const char *, FILE *), fputc(int, FILE *);
EXTERN_C size_t fwrite(const void *, size_t, size_t, FILE *);
EXTERN_C __attribute__((format(printf, 2, 3))) int fprintf(FILE *, const char *, ...);
EXTERN_C __attribute__((format(printf, 3, 4))) int snprintf(char *, size_t, const char *, ...);
EXTERN_C int vsnprintf(char *, size_t, const char *, va_list), vfprintf(FILE *, const char *, va_list);
EXTERN_C int remove(const char *), rename(const char *, const char *);
CODE
crt stdlib.h <<'CODE'
#pragma once
#include <corecrt.h>
EXTERN_C void *malloc(size_t), *calloc(size_t, size_t), *realloc(void *, size_t), free(void *);
EXTERN_C void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
EXTERN_C int atexit(void (*)(void));
EXTERN_C unsigned short _byteswap_ushort(unsigned short);
EXTERN_C unsigned long _byteswap_ulong(unsigned long);
EXTERN_C unsigned __int64 _byteswap_uint64(unsigned __int64);
CODE
crt string.h <<'CODE'
#pragma once
#include <corecrt.h>
#ifdef __CUDA__ /* CUDA's headers declare them for both sides */
#define EVERYWHERE __attribute__((host)) __attribute__((device))
#else
#define EVERYWHERE
#endif
EXTERN_C EVERYWHERE void *memcpy(void *, const void *, size_t);
EXTERN_C EVERYWHERE void *memset(void *, int, size_t);
EXTERN_C void *memmove(void *, const void *, size_t);
EXTERN_C int memcmp(const void *, const void *, size_t);
EXTERN_C char *strstr(const char *, const char *);
EXTERN_C size_t strlen(const char *);
EXTERN_C int strcmp(const char *, const char *), strncmp(const char *, const char *, size_t);
EXTERN_C char *strerror(int);
CODE
crt errno.h <<'CODE'
#pragma once
#include <corecrt.h>
EXTERN_C int *_errno(void);
#define errno (*_errno())
CODE
crt ctype.h <<'CODE'
#pragma once
#include <corecrt.h>
EXTERN_C int toupper(int);
CODE
# M_PI and its like are not in Microsoft's math.h unless it is asked for them.
crt math.h <<'CODE'
#pragma once
#include <type_traits>
#define HUGE_VAL __builtin_huge_val()
#define INFINITY __builtin_huge_valf()
#define NAN      __builtin_nanf("")
template <class T> bool isinf(T);
template <class T> bool isnan(T);
template <class T> bool isfinite(T);
template <class T> bool signbit(T);
CODE
# CUDA's headers ask for these of C++.
crt type_traits <<'CODE'
#pragma once
#include <corecrt.h>
namespace std
{
template <bool, class T> struct enable_if {
};
template <class T> struct enable_if<true, T> {
    typedef T type;
};
template <bool condition, class T> using enable_if_t = typename enable_if<condition, T>::type;
template <class> constexpr bool is_arithmetic_v = false;
template <class, class> using _Common_float_type_t = double;
}
CODE
for name in crtdefs.h time.h; do echo '#include <corecrt.h>' | crt $name; done
for name in math stdlib; do echo "#include <$name.h>" | crt c$name; done
# cudaLaunchKernelEx forwards its arguments.
crt utility <<'CODE'
#pragma once
#include <type_traits>
namespace std
{
template <class T> struct remove_reference {
    typedef T type;
};
template <class T> struct remove_reference<T &> {
    typedef T type;
};
template <class T> constexpr T &&forward(typename remove_reference<T>::type &value) noexcept
{
    return static_cast<T &&>(value);
}
}
CODE

# Included before everything: in CUDA's case, what nvcc brings on Windows; then, to Microsoft's
# compiler, __attribute__ is an unknown word.
cat >"$work/before.h" <<'CODE'
#ifdef __CUDA__
#include <cuda_runtime.h>
extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
#define __noinline__ __declspec(noinline)
#endif
#include <stdio.h>
#include <string.h>
#define __attribute__(x) __attribute__is_not_for_this_compiler
CODE
cp "$work/tiledmm.c" "$work/tiledmm.cu"
cp "$work/raytrace.c" "$work/raytrace.cu"
: >"$work/nothing.cu"

microsoft=(-target x86_64-pc-windows-msvc -fms-compatibility-version=19.39 -fms-extensions -nostdinc++ -isystem "$work/crt" -I.
    -include "$work/before.h")
warnings=(-Wall -Wextra -Wgnu -Wvla -Werror)
# Microsoft's compiler takes this declaration mode in C and C++.
if have clang; then
    for header in tiledmm raytrace; do
        for language in c c++; do
            check "$header.cuh: declarations under Microsoft's rules, $language" \
                clang "${microsoft[@]}" "${warnings[@]}" -fsyntax-only -x $language "$work/$header.c"
        done
    done
else
    skip "declarations under Microsoft's rules" "clang is not installed"
fi

# Words of GNU C that clang takes without a warning whatever the target is. What its own stdarg.h and
# the math.h above make of the standard's words does not count. Nor an alignment that is no literal:
# Microsoft's __declspec(align()) takes nothing else.
scan() { # HEADER PREPROCESSED
    awk -v ours="$1.cuh\"" '/^# [0-9]+ "/ { inside = index($0, ours) > 0; line = $2; next }
        inside { print "line " line ": " $0 } { line++ }' "$2" |
        sed 's/__builtin_\(va_start\|va_end\|huge_val\)//g' >"$work/ours.txt"
    grep -q 'cudaGetLastError' "$work/ours.txt" || { echo "the scan does not see $1.cuh"; return 1; }
    ! grep -E '__builtin_|\b(__)?typeof|__extension__|__int128|__asm|__label__|__PRETTY_FUNCTION__|\balign\( *([^0-9 ]|[0-9]+ *[^0-9 )])' "$work/ours.txt"
}
toolkit=
have nvcc && toolkit=$(dirname "$(readlink -f "$(command -v nvcc)")")/../include
if ! have clang++; then
    skip "host code and kernels under Microsoft's rules" "clang is not installed"
elif [ ! -e "$toolkit/cuda_runtime.h" ]; then
    skip "host code and kernels under Microsoft's rules" "it needs the headers of CUDA"
else
    cuda=(-x cuda -std=c++17 --cuda-host-only -nocudainc -nocudalib "${microsoft[@]}" -isystem "$toolkit"
        -D__CUDACC__ -D__CUDACC_VER_MAJOR__=13 -D__CUDACC_VER_MINOR__=0)
    if clang++ "${cuda[@]}" -fsyntax-only "$work/nothing.cu" >"$work/toolkit.txt" 2>&1; then
        for header in tiledmm raytrace; do
            # -Wignored-attributes: __launch_bounds__ is not for clang in this disguise
            check "$header.cuh: host code and kernels under Microsoft's rules" \
                clang++ "${cuda[@]}" "${warnings[@]}" -Wno-ignored-attributes -Wno-unused-function \
                -fsyntax-only "$work/$header.cu"
            clang++ "${cuda[@]}" -E "$work/$header.cu" -o "$work/$header.i" 2>/dev/null
            check "$header.cuh: no word of GNU C is left" scan $header "$work/$header.i"
        done
    else
        skip "host code and kernels under Microsoft's rules" "this clang does not read this toolkit's headers"
    fi
fi

# ---- host compilers of nvcc -----------------------------------------------------------------------
printf '#define TMM_NO_INT\n#define TMM_FLOAT_TENSOR\n#define TMM_DOUBLE_TENSOR\n#include "tiledmm.cuh"\n#include "raytrace.cuh"\n' >"$work/all.cu"
# As projects ask for them, but for -Wpedantic, and what CUDA's headers do not pass.
strict=-Wall,-Wextra,-Wconversion,-Wsign-conversion,-Wdouble-promotion,-Wshadow,-Wcast-qual
for compiler in $(turns g++ clang++); do
    name="nvcc with $compiler: no warning of -Wall, -Wextra, -Wconversion, -Wshadow and others"
    if ! have nvcc; then
        skip "$name" "nvcc is not installed"
    elif ! have "$compiler"; then
        skip "$name" "$compiler is not installed"
    else
        faster=()
        nvcc --help | grep -q -e -Ofc && faster=(-Ofc=max) # warnings come from what is before the optimizer
        check "$name" nvcc -ccbin "$compiler" -allow-unsupported-compiler "${faster[@]}" -arch=sm_80 -Werror all-warnings \
            -Xcompiler "$strict" -I. -c "$work/all.cu" -o "$work/all.o"
    fi
done
tap_done

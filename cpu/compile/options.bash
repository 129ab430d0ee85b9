#!/usr/bin/env bash
# The options of nvcc 13, as its help lists them: what cucc, which reads this file, makes of each.
# shellcheck disable=SC2034,SC2154 # the variables are those of cucc

# Each line: the short name, the long one, whether a value follows (=) or not (-), and what becomes of it: do; no, with
# a sentence for the user; or the reason why it has no meaning here.
nvcc_options='cuda cuda - no: it asks for files between the steps of nvcc, which cucc does not have
cubin cubin - no: it asks for code of a GPU
fatbin fatbin - no: it asks for code of a GPU
ptx ptx - no: it asks for code of a GPU
optix-ir optix-ir - no: it asks for code of a GPU
ltoir ltoir - no: it asks for code of a GPU
E preprocess - do
M generate-dependencies - do
MM generate-nonsystem-dependencies - do
MD generate-dependencies-with-compile - do
MMD generate-nonsystem-dependencies-with-compile - do
MF dependency-output = do
MP generate-dependency-targets - do
MT dependency-target-name = do
c compile - do
dc device-c - do
dw device-w - do
dlink device-link - do
link link - what happens without it
lib lib - do
run run - do
run-args run-args = do
o output-file = do
include pre-include = do
objtemp objdir-as-tempdir - temporary files have a folder of their own
l library = do
D define-macro = do
U undefine-macro = do
I include-path = do
isystem system-include = do
L library-path = do
odir output-directory = do
ccbin compiler-bindir = CXX names the compiler
allow-unsupported-compiler allow-unsupported-compiler - any compiler that is new enough will do
arbin archiver-binary = do
cudart cudart = the runner is always linked in
cudadevrt cudadevrt = the runner is always linked in
ldir libdevice-directory = there is no libdevice
target-dir target-directory = there is no other target
use-local-env use-local-env - of Windows
force-cl-env-setup force-cl-env-setup - of Windows
pg profile - do
g debug - do
G device-debug - lines are known in the modes that need them
lineinfo generate-line-info - lines are known in the modes that need them
opt-info optimization-info = of the compiler for GPUs
O optimize = do
Ofc Ofast-compile = of the compiler for GPUs
dopt dopt = of the compiler for GPUs
dlto dlink-time-opt - the linker has all there is
lto lto - the linker has all there is
gen-opt-lto gen-opt-lto - the linker has all there is
ftemplate-backtrace-limit ftemplate-backtrace-limit = do
ftemplate-depth ftemplate-depth = do
noeh no-exceptions - do
shared shared - do
x x = do
std std = do
nohdinitlist no-host-device-initializer-list - it only refuses programs
nohdmoveforward no-host-device-move-forward - it only refuses programs
expt-relaxed-constexpr expt-relaxed-constexpr - always so
extended-lambda extended-lambda - always so
expt-extended-lambda expt-extended-lambda - always so
m machine = do
m64 m64 - there is no other
Xcudafe Xcudafe = messages are those of the host compiler
Xcompiler compiler-options = do
Xlinker linker-options = do
Xarchive archive-options = do
Xptxas ptxas-options = of the assembler for GPUs
Xnvlink nvlink-options = of the linker for GPUs
static-global-template-stub static-global-template-stub = kernels are functions, as others are
device-entity-has-hidden-visibility device-entity-has-hidden-visibility = kernels are functions, as others are
forward-unknown-to-host-compiler forward-unknown-to-host-compiler - do
forward-unknown-to-host-linker forward-unknown-to-host-linker - do
forward-unknown-opts forward-unknown-opts - do
noprof dont-use-profile - there is no profile
dryrun dryrun - do
v verbose - do
t threads = one file is compiled at a time
split-compile split-compile = one file is compiled at a time
split-compile-extended split-compile-extended = one file is compiled at a time
fdevice-syntax-only fdevice-syntax-only - of the compiler for GPUs
fdevice-time-trace fdevice-time-trace = of the compiler for GPUs
keep keep - there are no files of nvcc to keep
keep-dir keep-dir = there are no files of nvcc to keep
save-temps save-temps - there are no files of nvcc to keep
clean clean-targets - no: rm deletes what was built
time time = there are no phases of nvcc to time
idp input-drive-prefix = of Windows
ddp dependency-drive-prefix = of Windows
dp drive-prefix = of Windows
no-align-double no-align-double - of processors with 32 bits
nodlink no-device-link - there is nothing to link for devices
arch gpu-architecture = kernels are told -D__CUCC_ARCH__
code gpu-code = kernels are told -D__CUCC_ARCH__
gencode generate-code = kernels are told -D__CUCC_ARCH__
rdc relocatable-device-code = always so
e entries = kernels that nobody calls cost nothing
maxrregcount maxrregcount = threads have no registers here (--registers tells --report)
use_fast_math use_fast_math - floats are those of IEEE
ftz ftz = floats are those of IEEE
prec-div prec-div = floats are those of IEEE
prec-sqrt prec-sqrt = floats are those of IEEE
fmad fmad = floats are those of IEEE, and nothing is contracted
extra-device-vectorization extra-device-vectorization - of the compiler for GPUs
default-stream default-stream = a thread of the host waits for its own launches either way
w disable-warnings - do
keep-device-functions keep-device-functions - always so
src-in-ptx source-in-ptx - there is no PTX
restrict restrict - it changes no result
Wreorder Wreorder - do
Wdefault-stream-launch Wdefault-stream-launch - a warning of nvcc alone
Wmissing-launch-bounds Wmissing-launch-bounds - a warning of nvcc alone
Wext-lambda-captures-this Wext-lambda-captures-this - a warning of nvcc alone
Wno-deprecated-declarations Wno-deprecated-declarations - do
Wno-deprecated-gpu-targets Wno-deprecated-gpu-targets - no GPU is meant
Werror Werror = do
res-usage resource-usage - of the assembler for GPUs
ewp extensible-whole-program - always so
no-compress no-compress - there is no code of GPUs to compress
qpp-config qpp-config = of another compiler
astoolspatch compile-as-tools-patch - no: it makes patches for tools of GPUs
code-ls list-gpu-code - do
arch-ls list-gpu-arch - do
err-no display-error-number - messages are those of the host compiler
no-err-no no-display-error-number - messages are those of the host compiler
diag-error diag-error = messages are those of the host compiler
diag-suppress diag-suppress = messages are those of the host compiler
diag-warn diag-warn = messages are those of the host compiler
hls host-linker-script = do
aug-hls augment-host-linker-script - no: it asks for a script of the linker for code of GPUs
r relocatable-link - do
brief-diag brief-diagnostics = messages are those of the host compiler
jtd jump-table-density = of the compiler for GPUs
reloc-ptx relocatable-ptx - there is no PTX
device-stack-protector device-stack-protector = --sanitize finds what it does
compress-mode compress-mode = there is no code of GPUs to compress
frandom-seed frandom-seed = do
sanitize sanitize = --check and --sanitize do this
jobserver jobserver - one file is compiled at a time
optf options-file = do'

forward= # compiler, linker or both
unknown=()
declare -A option_of becomes_of
while read -r short long value becomes; do
    [ "$long" ] || continue
    option_of[$short]=$short option_of[$long]=$short becomes_of[$short]=$value$becomes
done <<<"$nvcc_options"

split() { IFS=, read -ra list <<<"$1"; }

# What nvcc names by -Werror.
warnings_are_errors() {
    local kind list
    split "$1"
    for kind in "${list[@]}"; do
        case $kind in
        all-warnings) compiler+=(-Werror) ;;
        reorder | deprecated-declarations) compiler+=("-Werror=$kind") ;;
        cross-execution-space-call | default-stream-launch | missing-launch-bounds | ext-lambda-captures-this) ;; # of nvcc alone
        *) die "unknown kind of warning: -Werror $kind" ;;
        esac
    done
}

define() {
    case $1 in
    CUCC_UCONTEXT) context=-ucontext ;;
    __CUCC_ARCH__=*) arch=${1#*=} ;;
    *) preprocessor+=("-D$1") ;;
    esac
}

library() {
    case $1 in
    cublas | cublas_static | cublasLt | curand | curand_static | cuda | cudadevrt | nvToolsExt | culibos | cudart | cudart_static) ;;
    cusparse* | cufft* | cusolver* | nvrtc) die "-l$1: NVIDIA's library needs a GPU; leave out what uses it" ;;
    *) linker+=("-l$1") ;;
    esac
}

# The words of a file, in which quotes, double and single, and backslashes keep spaces.
read_words() { # FILE
    local word
    [ -r "$1" ] || die "cannot read the options in $1"
    words=()
    while IFS= read -r word; do words+=("$word"); done < <(xargs -r printf '%s\n' <"$1")
}

do_option() { # SHORT VALUE
    local list each
    case $1 in
    E | M | MM) stop_after=-$1 ;;
    MD | MMD) dependencies=-$1 ;;
    MF) dependency_file=$2 ;;
    MP) dependency_flags+=(-MP) ;;
    MT) dependency_target=$2 ;;
    c | dc | dw) compile_only=yes ;;
    dlink) device_link=yes compile_only=yes ;;
    lib) archive=yes ;;
    run) run=yes ;;
    run-args) IFS=', ' read -ra each <<<"$2" && run_arguments+=("${each[@]}") ;;
    o) output=$2 ;;
    include | l | I | isystem | L)
        split "$2"
        for each in "${list[@]}"; do
            case $1 in
            include) preprocessor+=(-include "$each") ;;
            l) library "$each" ;;
            L) linker+=("-L$each") ;;
            *) include_folder "$each" ;;
            esac
        done ;;
    D) define "$2" ;;
    U) preprocessor+=("-U$2") ;;
    odir) output_folder=$2 ;;
    arbin) archiver=$2 ;;
    pg) compiler+=(-pg) linker+=(-pg) ;;
    g | Wreorder | Wno-deprecated-declarations | w) compiler+=("-$1") ;;
    O)
        case $2 in
        0 | 1 | 2) optimise=-O$2 ;;
        [3-9]) optimise=-O2 ;;
        *) die "-O $2: not a level" ;;
        esac ;;
    ftemplate-backtrace-limit | ftemplate-depth | frandom-seed) compiler+=("-$1=$2") ;;
    noeh) compiler+=(-fno-exceptions) ;;
    shared) shared=yes ;;
    r) relocatable=yes ;;
    x)
        case $2 in
        c | c++ | cu) language_asked=$2 ;;
        *) die "-x $2: not a language (c, c++, cu)" ;;
        esac ;;
    std) set_standard "$2" ;;
    m) [ "$2" = 64 ] || die "-m $2: there is 64 alone" ;;
    Xcompiler) pass_to_compiler "$2" ;;
    Xlinker) linker+=("-Wl,$2") ;;
    Xarchive) IFS=', ' read -ra each <<<"$2" && archive_options+=("${each[@]}") ;;
    forward-unknown-to-host-compiler) forward+=compiler ;;
    forward-unknown-to-host-linker) forward+=linker ;;
    forward-unknown-opts) forward+=compiler,linker ;;
    dryrun) verbose=yes dry=yes ;;
    v) verbose=yes ;;
    Werror) warnings_are_errors "$2" ;;
    code-ls | arch-ls) [ "$1" = code-ls ] && echo "sm_$((arch / 10))" || echo "compute_$((arch / 10))" && exit 0 ;;
    hls) [ "$2" = use-lcs ] || die "-hls=$2: there is no script of the linker for code of GPUs" ;;
    optf)
        split "$2"
        for each in "${list[@]}"; do read_words "$each" && from_files+=("${words[@]}"); done ;;
    *) die "-$1 is forgotten" ;; # cannot happen: a test looks at each
    esac
}

# Takes the option that is the first word, and its value. Sets $used to how many words that are, and $from_files to
# the options of files, which come next.
take_option() {
    local word=$1 name=${1#-} short value
    used=1 from_files=()
    name=${name#-}
    short=${option_of[${name%%=*}]-}
    if [ -z "$short" ]; then
        case $word in
        -[DILOUlmotx]?*) short=${word:1:1} value=${word:2} ;;
        # those of the host compiler's that a linker is called with
        -Wl,* | -rdynamic | -fPIC | -fpic | -fPIE | -pthread | -static-lib* | -B?*) linker+=("$word") && return ;;
        *) unknown+=("$word") && return ;;
        esac
        # nvcc takes them so; the name of a file after -o is never meant
        [ "$short" != o ] || { unknown+=("$word") && return; }
    elif [ "${becomes_of[$short]:0:1}" = = ]; then
        case $name in
        *=*) value=${name#*=} ;;
        *)
            value=${2-}
            [ "$short" != O ] || [[ $value = [0-9] ]] || value=
            [ "$value" ] && used=2
            case $short$value in
            O) value=2 ;; # as it always was
            "$short") die "$word needs a value" ;;
            esac ;;
        esac
    else
        [ "${name#*=}" != false ] || return 0
    fi
    case ${becomes_of[$short]:1} in
    do) do_option "$short" "${value-}" ;;
    no:*) die "$word:${becomes_of[$short]#*no:}" ;;
    esac
}

# What nobody knows goes where it was asked to go, once all is read.
forward_unknown() {
    [ ${#unknown[@]} -gt 0 ] || return
    [ "$forward" ] || die "unknown option ${unknown[0]}"
    [[ $forward = *compiler* ]] && compiler+=("${unknown[@]}")
    [[ $forward = *linker* ]] && linker+=("${unknown[@]}")
}

# What CMake looks for in what nvcc -v prints, which it takes for the command that links.
print_plan() {
    local top=$here own
    if [ -e "$(dirname "$0")/../lib64/libcucc.a" ]; then
        top=$(cd "$(dirname "$0")/.." && pwd)
    else # CMake asks once, and has the compiler of C++ link with what it finds there
        own=$cache/toolkit-$({ "$cxx" --version && find "$here"/{cucc,compile,runtime,check,libraries,include} -type f | LC_ALL=C sort | tr '\n' '\0' | xargs -0 cat; } 2>/dev/null | cksum | tr ' ' -)
        if [ ! -e "$own" ] && [[ ${inputs[*]-} = *CMakeCUDACompilerId.cu ]]; then
            "$here/cucc" --toolkit "$own.$$" >/dev/null
            mv -T "$own.$$" "$own" 2>/dev/null || rm -rf "$own.$$" # another run was first
        fi
        [ ! -e "$own" ] || top=$own
    fi
    cat <<END
#\$ TOP=$top
#\$ NVVMIR_LIBRARY_DIR=$top/nvvm/libdevice
#\$ PATH=$PATH
#\$ INCLUDES="-I$top/include"
#\$ LIBRARIES="-L$top/lib64"
#\$ cucc -arch compute_$((arch / 10)) ${inputs[*]}
#\$ "$here/cucc" ${inputs[*]} "-L$top/lib64" -lcudadevrt -lcudart_static -lrt -lpthread -ldl -o "${output:-a.out}"
END
}

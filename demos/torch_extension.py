"""tiledmm.cuh as a PyTorch operator, in one file: torch.utils.cpp_extension compiles the lines below
with the header, and the operator works on the tensors' own memory, on the current stream of their
device. A transposed tensor goes to the kernel as it is, with TMM_OP_T: nothing is copied.

Run     python3 demos/torch_extension.py     compiles for about a minute the first time
Needs   PyTorch with CUDA, nvcc, ninja and a GPU
"""
import argparse
import atexit
import os
import sys

HEADER_FOLDER = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))

DECLARATIONS = """
#include <torch/extension.h>
torch::Tensor matmul(torch::Tensor A, torch::Tensor B);
std::string operand(torch::Tensor X);
"""

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <string>
#define TMM_WITH_HALF
#define TMM_WITH_BFLOAT16
#define TMM_NO_INT
#define TMM_NO_FLOAT_C
#include "tiledmm.cuh"

// How a matrix lies in memory, for the header: stored by rows it is taken as it is, stored by
// columns as the transpose of a matrix stored by rows, and anything else is copied to rows.
struct layout {
    torch::Tensor tensor;
    tmm_op op;
    long long ld;
    bool copied;
};

static layout layout_of(const torch::Tensor &X)
{
    TORCH_CHECK(X.dim() == 2, "a matrix has 2 dimensions, not ", X.dim());
    long long rows = X.size(0), cols = X.size(1);
    // The stride of a dimension of size 1 is never used and may be anything.
    long long down = rows > 1 ? X.stride(0) : cols, across = cols > 1 ? X.stride(1) : 1;
    if (across == 1 && down >= cols) return {X, TMM_OP_N, std::max(down, 1LL), false};
    down = rows > 1 ? X.stride(0) : 1, across = cols > 1 ? X.stride(1) : rows;
    if (down == 1 && across >= rows) return {X, TMM_OP_T, std::max(across, 1LL), false};
    return {X.contiguous(), TMM_OP_N, std::max(cols, 1LL), true};
}

std::string operand(torch::Tensor X)
{
    layout x = layout_of(X);
    return x.copied ? "copy" : x.op == TMM_OP_T ? "T" : "N";
}

torch::Tensor matmul(torch::Tensor A, torch::Tensor B)
{
    TORCH_CHECK(A.is_cuda() && B.is_cuda() && A.device() == B.device(),
                "both matrices must be on one GPU");
    TORCH_CHECK(A.scalar_type() == B.scalar_type(), "both matrices must have one type");
    layout a = layout_of(A), b = layout_of(B);
    long long M = A.size(0), K = A.size(1), N = B.size(1), ldc = std::max(N, 1LL);
    TORCH_CHECK(B.size(0) == K, "A is ", M, " x ", K, ", but B has ", B.size(0), " rows");

    const c10::cuda::CUDAGuard guard(A.device()); // launches go to the current device
    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    torch::Tensor C = torch::empty({M, N}, A.options());
    tmm_status status = TMM_ERROR_UNSUPPORTED;
#define MULTIPLY(function, type)                                                               \
    status = function(a.op, b.op, M, N, K, 1, (const type *)a.tensor.data_ptr(), a.ld,         \
                      (const type *)b.tensor.data_ptr(), b.ld, 0, (type *)C.data_ptr(), ldc, stream)
    switch (A.scalar_type()) {
    case torch::kFloat32: MULTIPLY(tmm_sgemm, float); break;
    case torch::kFloat64: MULTIPLY(tmm_dgemm, double); break;
    case torch::kFloat16: MULTIPLY(tmm_hgemm, tmm_half); break;
    case torch::kBFloat16: MULTIPLY(tmm_bgemm, tmm_bfloat16); break;
    default: TORCH_CHECK(false, "the type must be float32, float64, float16 or bfloat16");
    }
    TORCH_CHECK(status == TMM_OK, tmm_last_error());
    return C;
}
"""


def fail(sentence):
    sys.exit(f"torch_extension.py: {sentence}")


def open_output():
    """Standard output that is written at the end, or by lines on a terminal."""
    if sys.stdout is None:
        fail("standard output is closed")
    sys.stdout = open(1, "w", encoding=sys.stdout.encoding, closefd=False)
    atexit.register(close_output)


def close_output():
    """Ends the program with a sentence if its output cannot be written. A closed pipe needs none."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"torch_extension.py: standard output: {error.strerror}", file=sys.stderr,
                  flush=True)
        os._exit(1)


def arguments():
    open_output()
    parser = argparse.ArgumentParser(description="Multiplies tensors with tiledmm.cuh in PyTorch "
                                     "and checks them against torch.matmul in float64.",
                                     allow_abbrev=False)
    parser.parse_args()


def load():
    from torch.utils.cpp_extension import load_inline
    # PyTorch switches off the conversions of 16-bit types, by which the header stores C.
    flags = ["-O3", "-U__CUDA_NO_HALF_CONVERSIONS__", "-U__CUDA_NO_BFLOAT16_CONVERSIONS__"]
    # The name of the folder of built extensions does not depend on the header; ninja looks at its
    # date, since the compiler lists it among what the source includes.
    return load_inline(name="tiledmm", cpp_sources=DECLARATIONS, cuda_sources=SOURCE,
                       functions=["matmul", "operand"], extra_include_paths=[HEADER_FOLDER],
                       extra_cuda_cflags=flags)


def judge(torch, name, A, B, C, good=True):
    """One line of the table. The bound is what rounding may do to an element: in sums, twice for
    float64, whose reference is rounded as much as the result; and once to 16 bits."""
    a, b = A.double(), B.double()
    reference = torch.matmul(a, b)
    error = (C.double() - reference).abs()
    double = C.dtype == torch.float64
    unit = 2.0**-53 if double else 2.0**-24
    bound = (1 + double) * (A.shape[1] + 2) * unit * torch.matmul(a.abs(), b.abs())
    if C.dtype in (torch.float16, torch.bfloat16):
        info = torch.finfo(C.dtype)
        bound = bound + info.eps / 2 * (reference.abs() + bound) + info.tiny * info.eps
    good = good and bool((error <= bound).all())  # not so for NaN
    largest = error.max().item() if error.numel() else 0
    print(f"{name:<52}{str(C.dtype)[6:]:>9}{largest:>12.2e}   {'right' if good else 'WRONG'}")
    return good


def main():
    arguments()
    try:
        import torch
    except ImportError as error:
        fail(f"PyTorch is missing (pip install torch): {error}")
    if not torch.cuda.is_available():
        fail("no usable GPU: torch.cuda.is_available() is false")
    try:
        tiledmm = load()
    except (RuntimeError, OSError) as error:
        fail(f"the extension could not be built: {error}")

    torch.manual_seed(1)
    device = torch.device("cuda", torch.cuda.device_count() - 1)  # not the current one, if there are two
    print(f"{torch.cuda.get_device_name(device)}, device {device.index} of {torch.cuda.device_count()}")
    print(f"{'C = A B':<52}{'type':>9}{'max error':>12}")
    M, N, K = 517, 389, 701
    good = True

    def random(rows, cols, dtype):
        return 2 * torch.rand(rows, cols, dtype=dtype, device=device) - 1

    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        wide = random(K, 2 * N, dtype)
        cases = (
            ("contiguous", random(M, K, dtype), random(K, N, dtype), "N", "N"),
            ("A transposed", random(K, M, dtype).t(), random(K, N, dtype), "T", "N"),
            ("B transposed", random(M, K, dtype), random(N, K, dtype).t(), "N", "T"),
            ("both transposed", random(K, M, dtype).t(), random(N, K, dtype).t(), "T", "T"),
            ("B a part of the columns", random(M, K, dtype), wide[:, N // 2:N // 2 + N], "N", "N"),
            ("B every second column", random(M, K, dtype), wide[:, ::2], "N", "copy"),
            ("a row by a column", random(1, K, dtype), random(K, 1, dtype), "N", "N"),
            ("K = 0", random(M, 0, dtype), random(0, N, dtype), "N", "N"),
        )
        for name, A, B, opA, opB in cases:
            operands = tiledmm.operand(A), tiledmm.operand(B)
            good &= judge(torch, f"{name}: {operands[0]}, {operands[1]}", A, B,
                          tiledmm.matmul(A, B), operands == (opA, opB))

    # Operands that appear late on a stream: only work on the same stream sees them.
    stream = torch.cuda.Stream(device)
    A, B = torch.zeros(M, K, device=device), random(K, N, torch.float32)
    values = random(M, K, torch.float32)
    torch.cuda.synchronize(device)
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)  # clock cycles
        A.copy_(values)
        C = tiledmm.matmul(A, B)
    stream.synchronize()
    good &= judge(torch, "on a stream of its own", values, B, C)

    print("Test PASSED" if good else "Test FAILED")
    sys.exit(not good)


if __name__ == "__main__":
    main()

"""Multiplies two matrices with tiledmm.cuh through PyCUDA: SourceModule compiles the file by nvcc.

Run     python3 demos/python/matmul_pycuda.py         5000 x 5000
        python3 demos/python/matmul_pycuda.py --help
Needs   PyCUDA (pip install pycuda), nvcc and a GPU
"""
import common

# PyCUDA puts its source into extern "C" { }: kernels must be neither static nor extern "C" again.
SOURCE = """
#define TMM_KERNEL __global__
#define TMM_SIMPLE
#define TMM_NO_DOUBLE
#define TMM_NO_INT
#include "tiledmm.cuh"
"""


def main():
    args = common.arguments(__doc__.split("\n")[0])
    try:
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule
    except ImportError as error:
        common.fail(f"PyCUDA is missing (pip install pycuda), or it finds no driver: {error}")
    try:
        import pycuda.autoinit  # makes a context, which ends with the program
    except (cuda.Error, RuntimeError) as error:
        common.fail(f"no usable GPU: {error}")

    module = SourceModule(SOURCE, include_dirs=[common.FOLDER])
    kernel = module.get_function("tmm_sgemm_" + args.kernel)

    n = args.size
    A, B, C = common.matrices(n)
    dA, dB, dC = cuda.to_device(A), cuda.to_device(B), cuda.to_device(C)
    grid, block = common.geometry(args.kernel, n, n)
    parameters = common.parameters(n, n, n, dA, dB, dC)

    kernel(*parameters, grid=grid, block=block)  # the first launch loads the kernel
    times = []
    start, stop = cuda.Event(), cuda.Event()
    for _ in range(args.reps):
        start.record()
        kernel(*parameters, grid=grid, block=block)
        stop.record()
        stop.synchronize()
        times.append(start.time_till(stop))
    cuda.memcpy_dtoh(C, dC)
    common.report(args, "PyCUDA", pycuda.autoinit.device.name(), A, B, C, times)


if __name__ == "__main__":
    main()

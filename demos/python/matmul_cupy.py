"""Multiplies two matrices with tiledmm.cuh through CuPy: RawModule compiles the file at run time.

Run     python3 demos/python/matmul_cupy.py         5000 x 5000
        python3 demos/python/matmul_cupy.py --type half
        python3 demos/python/matmul_cupy.py --help
Needs   CuPy (pip install cupy-cuda13x) and a GPU
"""
import common


def main():
    args = common.arguments(__doc__.split("\n")[0], types=("float", "half"))
    try:
        import cupy
    except ImportError as error:
        common.fail(f"CuPy is missing (pip install cupy-cuda13x): {error}")
    try:
        device = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        common.fail(f"no usable GPU: {error}")

    with open(common.HEADER, encoding="utf-8") as file:
        options = common.OPTIONS + (("-DTMM_WITH_HALF",) if args.type == "half" else ())
        module = cupy.RawModule(code=file.read(), options=options)
    kernel = module.get_function(f"tmm_{common.LETTERS[args.type]}gemm_{args.kernel}")

    n = args.size
    A, B, C = common.matrices(n, args.type)
    dA, dB, dC = cupy.asarray(A), cupy.asarray(B), cupy.asarray(C)
    grid, block = common.geometry(args.kernel, n, n)
    parameters = common.parameters(n, n, n, dA, dB, dC)

    kernel(grid, block, parameters)  # the first launch loads the kernel
    times = []
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    for _ in range(args.reps):
        start.record()
        kernel(grid, block, parameters)
        stop.record()
        stop.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, stop))
    common.report(args, "CuPy", device, A, B, cupy.asnumpy(dC), times)


if __name__ == "__main__":
    main()

"""Multiplies two matrices with tiledmm.cuh through cuda-python: NVRTC compiles the file at run
time, the driver interface runs it.

Run     python3 demos/python/matmul_nvrtc.py         5000 x 5000
        python3 demos/python/matmul_nvrtc.py --help
Needs   cuda-python (pip install cuda-bindings) and a GPU
"""
import common


def checked(result):
    """What a call has returned, after its status; a status other than 0 ends the program."""
    status, *values = result
    if int(status) != 0:
        common.fail(f"{type(status).__name__} {status.name}")
    return values[0] if len(values) == 1 else values


def compile_header(architecture):
    """tiledmm.cuh as a cubin for an architecture such as sm_90."""
    from cuda.bindings import nvrtc
    with open(common.HEADER, "rb") as file:
        program = checked(nvrtc.nvrtcCreateProgram(file.read(), b"tiledmm.cuh", 0, [], []))
    options = [o.encode() for o in ("--gpu-architecture=" + architecture, *common.OPTIONS)]
    status, = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if int(status) != 0:
        log = b" " * checked(nvrtc.nvrtcGetProgramLogSize(program))
        checked(nvrtc.nvrtcGetProgramLog(program, log))
        common.fail("tiledmm.cuh does not compile:\n" + log.decode())
    cubin = b" " * checked(nvrtc.nvrtcGetCUBINSize(program))
    checked(nvrtc.nvrtcGetCUBIN(program, cubin))
    return cubin


def main():
    args = common.arguments(" ".join(__doc__.split("\n")[:2]))
    try:
        from cuda.bindings import driver
    except ImportError as error:
        common.fail(f"cuda-python is missing (pip install cuda-bindings): {error}")
    try:
        status, = driver.cuInit(0)
    except RuntimeError as error:  # there is no driver
        common.fail(f"no usable GPU: {str(error).splitlines()[0]}")
    if int(status) != 0:
        common.fail(f"no usable GPU: {status.name}")
    device = checked(driver.cuDeviceGet(0))
    checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(device))))
    name = checked(driver.cuDeviceGetName(256, device)).split(b"\0")[0].decode()
    attribute = driver.CUdevice_attribute
    major, minor = (checked(driver.cuDeviceGetAttribute(which, device)) for which in (
        attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
        attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))

    module = checked(driver.cuModuleLoadData(compile_header(f"sm_{major}{minor}")))
    kernel = checked(driver.cuModuleGetFunction(module, b"tmm_sgemm_" + args.kernel.encode()))

    n = args.size
    host = common.matrices(n)
    memory = [checked(driver.cuMemAlloc(X.nbytes)) for X in host]
    for X, pointer in zip(host, memory):
        checked(driver.cuMemcpyHtoD(pointer, X.ctypes.data, X.nbytes))
    grid, block = common.geometry(args.kernel, n, n)
    # cuLaunchKernel takes the addresses of the parameters, which must stay alive until then.
    pointers = (common.numpy.uint64(int(pointer)) for pointer in memory)
    values = [common.numpy.array(value) for value in common.parameters(n, n, n, *pointers)]
    addresses = common.numpy.array([value.ctypes.data for value in values], common.numpy.uint64)

    def launch():
        checked(driver.cuLaunchKernel(kernel, *grid, *block, 0, 0, addresses.ctypes.data, 0))

    launch()  # the first launch loads the kernel
    times = []
    start, stop = (checked(driver.cuEventCreate(0)) for _ in range(2))
    for _ in range(args.reps):
        checked(driver.cuEventRecord(start, 0))
        launch()
        checked(driver.cuEventRecord(stop, 0))
        checked(driver.cuEventSynchronize(stop))
        times.append(checked(driver.cuEventElapsedTime(start, stop)))
    A, B, C = host
    checked(driver.cuMemcpyDtoH(C.ctypes.data, memory[2], C.nbytes))
    common.report(args, "NVRTC and cuda-python", name, A, B, C, times)


if __name__ == "__main__":
    main()

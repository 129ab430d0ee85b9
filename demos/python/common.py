"""What the three demos of this folder share: the output, the arguments, the matrices, how a
kernel of tiledmm.cuh is launched, the check and the table."""
import argparse
import atexit
import os
import statistics
import sys
import time

HEADER = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "tiledmm.cuh"))
FOLDER = os.path.dirname(HEADER)  # the header includes itself, so compilers must look here
# For NVRTC: the kernels below and no others. All of them would take 20 seconds, these take 3.
OPTIONS = ("-I" + FOLDER, "-DTMM_SIMPLE", "-DTMM_NO_DOUBLE", "-DTMM_NO_INT")

# The kernels for float, tmm_sgemm_NAME: the edge of the tile of C that a block computes, and the
# threads of a block in x and y.
KERNELS = {
    "global": (32, 32, 32),
    "shared_8": (8, 8, 8),
    "shared_16": (16, 16, 16),
    "shared_32": (32, 32, 32),
    "register_64": (64, 256, 1),
    "register_128": (128, 256, 1),
}
LETTERS = {"float": "s", "half": "h"}  # tmm_sgemm_NAME, tmm_hgemm_NAME
OF_HALF = ("global", "shared_32", "register_128")


def fail(sentence):
    sys.exit(f"{os.path.basename(sys.argv[0])}: {sentence}")


try:
    import numpy
except ImportError:
    numpy = None  # --help works without it; arguments() asks for it


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
            print(f"{os.path.basename(sys.argv[0])}: standard output: {error.strerror}",
                  file=sys.stderr, flush=True)
        os._exit(1)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def arguments(description, types=("float",)):
    open_output()
    parser = argparse.ArgumentParser(description=description, allow_abbrev=False)
    parser.add_argument("size", nargs="?", type=positive, default=5000,
                        help="rows and columns of the matrices (default 5000)")
    parser.add_argument("--kernel", choices=KERNELS, default="register_128", metavar="NAME",
                        help=f"one of {', '.join(KERNELS)} (default register_128)")
    parser.add_argument("--reps", type=positive, default=10,
                        help="timings, of which the median is shown (default 10)")
    if len(types) > 1:
        parser.add_argument("--type", choices=types, default=types[0],
                            help=f"of the elements: {' or '.join(types)} (default {types[0]});"
                            f" half has {', '.join(OF_HALF)}")
    args = parser.parse_args()
    args.type = getattr(args, "type", types[0])
    if args.type == "half" and args.kernel not in OF_HALF:
        parser.error(f"half has {', '.join(OF_HALF)}, not {args.kernel}")
    if numpy is None:
        fail("NumPy is missing (pip install numpy)")
    return args


def matrices(size, type="float"):
    """A, B, and a C of NaN: an element that the kernel does not write shows, one it reads, too."""
    random = numpy.random.default_rng(1)
    element = numpy.float16 if type == "half" else numpy.float32
    A, B = (2 * random.random((2, size, size), dtype=numpy.float32) - 1).astype(element)
    return A, B, numpy.full((size, size), numpy.nan, dtype=element)


def geometry(kernel, M, N):
    """Grid and block. blockIdx.x is the number of a tile of C, blockIdx.z that of a product."""
    tile, x, y = KERNELS[kernel]
    return (-(-M // tile) * -(-N // tile), 1, 1), (x, y, 1)


def parameters(M, N, K, A, B, C):
    """The parameters of a kernel, for C = A B of dense row-major matrices; A, B and C as the
    library at hand passes device pointers. An operand has a row stride, a column stride and the
    distance to the next product of a batch; exchange its two strides to transpose it."""
    i, f = numpy.int64, numpy.float32
    return (i(M), i(N), i(K), f(1),  # alpha
            A, i(K), i(1), i(0),
            B, i(N), i(1), i(0),
            f(0),  # beta: C is not read
            C, i(N), i(0))


def times_of_dot(A, B):
    """numpy.dot, and the median of its seconds."""
    numpy.dot(A[:64], B)  # its threads start here
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        product = numpy.dot(A, B)
        seconds.append(time.perf_counter() - start)
    return product, statistics.median(seconds)


def error_by_samples(A, B, C, samples=2000):
    """The largest error of some elements against sums in float64, and the largest as a part of
    what rounding may do to that element, (K + 2) u |a| |b|; above 1 the element is wrong."""
    random = numpy.random.default_rng(2)
    rows = random.integers(0, C.shape[0], samples)
    cols = random.integers(0, C.shape[1], samples)
    a, b = A[rows].astype(numpy.float64), B[:, cols].T.astype(numpy.float64)
    error = abs(C[rows, cols] - (a * b).sum(axis=1))
    bound = (A.shape[1] + 2) * 2.0**-24 * (abs(a) * abs(b)).sum(axis=1) + rounding(C[rows, cols])
    return error.max(), (error / bound).max()


def rounding(C):
    """What one rounding to half may add; sums are in float."""
    if C.dtype != numpy.float16:
        return 0
    return 2.0**-11 * abs(C.astype(numpy.float64)) + 2.0**-25


def difference(A, B, C, product):
    """The largest difference of two products over all elements, and the largest as a part of
    twice that bound, with |a|_2 |b|_2, which is not smaller than |a| |b| and quick to have."""
    error = abs(C.astype(numpy.float64) - product)
    norms = [numpy.sqrt((X.astype(numpy.float64)**2).sum(axis=n)) for X, n in ((A, 1), (B, 0))]
    bound = 2 * (A.shape[1] + 2) * 2.0**-24 * numpy.outer(*norms) + rounding(C)
    return error.max(), (error / bound).max()


def report(args, library, device, A, B, C, milliseconds):
    """The table, the verdict and the end of the program. milliseconds: all timings of the kernel;
    C: what it has computed."""
    size = args.size
    A, B = A.astype(numpy.float32), B.astype(numpy.float32)  # numpy.dot of halves is slow
    product, cpu_seconds = times_of_dot(A, B)
    gpu_seconds = statistics.median(milliseconds) * 1e-3
    print(f"C = A B, {size} x {size} {C.dtype}, {library} on {device}")
    print(f"{'method':<24}{'time ms':>12}{'GFLOP/s':>12}{'max error':>14}{'of its bound':>16}")
    good = True
    for method, seconds, result in (("numpy.dot, CPU", cpu_seconds, product),
                                    (args.kernel + ", GPU", gpu_seconds, C)):
        error, part = error_by_samples(A, B, result)
        good = good and bool(part <= 1)  # not so for NaN
        print(f"{method:<24}{seconds * 1e3:>12.3f}{2e-9 * size**3 / seconds:>12.1f}"
              f"{error:>14.3e}{part:>16.2e}")
    error, part = difference(A, B, C, product)
    good = good and bool(part <= 1)
    print(f"Maximum error: {error:.3e}, the largest difference from numpy.dot over all elements.")
    print("In the table: 2000 elements against sums in float64. GPU time is the kernel's, a median"
          " by events,\nwithout copies; it is "
          f"{cpu_seconds / gpu_seconds:.1f} times as fast as numpy.dot.")
    print("Test PASSED" if good else "Test FAILED")
    sys.exit(not good)

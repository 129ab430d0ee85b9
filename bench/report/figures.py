"""The rows of results.csv as tables, plots and sentences ask for them, and the limits of the device."""
import math
import statistics

# The kernels from the simplest to the fastest: name in the CSV, name in the report.
KERNELS = {
    "global": "CUDA basic (global)",
    "shared_8": "CUDA shared, tile 8",
    "shared_16": "CUDA shared, tile 16",
    "shared_32": "CUDA shared, tile 32",
    "register_64": "registers, tile 64",
    "register_128": "registers, tile 128",
    "small": "small",
    "pipelined": "pipelined",
    "tensor": "tensor cores",
    "outer": "outer",
    "direct": "direct",
    "narrow": "narrow",
    "tensor_int8": "tensor cores, INT8",
    "auto": "auto (tmm_gemm)",
    "cuBLAS": "cuBLAS",
}
# Those that the units of the type bind: bytes on tensor cores do other work.
OURS = [name for name in KERNELS if name not in ("auto", "cuBLAS", "tensor_int8")]
SHARED = ["shared_8", "shared_16", "shared_32"]

# FLOP for each byte that a kernel loads from global memory, in float, as the comment above each
# kernel in tiledmm.cuh states it. Double has half of it, and "tensor" is stated for double.
INTENSITY = {
    "global": 0.25, "shared_8": 2, "shared_16": 4, "shared_32": 8, "register_64": 16,
    "register_128": 32, "small": 10.7, "pipelined": 32, "tensor": 32,
}
SIZE = {"float": 4, "double": 8, "int": 4}
UNIT = {"float": 2.0**-24, "double": 2.0**-53}
ARITHMETIC = {"float": "FP32", "double": "FP64", "int": "INT32"}
STARVED = 8  # so many times the rate of FP64 for FP32, and more, is what is called starved here


def base_name(name):
    """The kernel of a row: "auto = small" is auto."""
    return "auto" if name.startswith("auto") else name


def chosen(row):
    """The kernel that really ran: "auto = small" is small."""
    name = row["name"].split(" = ")[-1]
    return name if name in INTENSITY else {"shared": "shared_32"}.get(name, name)


def intensity(row):
    """FLOP per byte of global loads, or None if it is not stated."""
    value = INTENSITY.get(chosen(row))
    return value * 4 / SIZE[row["type"]] if value else None


def work(row):
    """Floating-point operations of a product."""
    return 2.0 * row["M"] * row["N"] * row["K"]


def gflops(row):
    """Rate of a product by its median time."""
    return work(row) / row["median_ms"] * 1e-6


# ---- numbers as text -------------------------------------------------------------------------------
def digits(value, count=3):
    """A number with so many significant digits, without an exponent where it can do without."""
    if value is None or not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e7:
        return f"{value:.{count - 1}e}"
    places = max(0, count - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"


def time_text(ms):
    """A time with the unit that suits it."""
    if ms >= 1000:
        return f"{digits(ms / 1000)} s"
    return f"{digits(ms)} ms" if ms >= 0.1 else f"{digits(ms * 1000)} us"


def rate_text(value):
    """A rate given in GFLOP/s."""
    return f"{digits(value / 1000)} TFLOP/s" if value >= 1000 else f"{digits(value)} GFLOP/s"


def listing(words):
    """a, b and c."""
    words = list(words)
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


# ---- rows ------------------------------------------------------------------------------------------
KEY = "subject name memory type M N K spheres threads ranks devices streams place measured_on".split()


class Figures:
    """All rows; of those about the same thing, the one measured last."""

    def __init__(self, rows):
        latest = {}
        for row in rows:
            latest[tuple(row.get(field) for field in KEY)] = row
        self.rows = list(latest.values())
        self.on_gpu = any(row.get("backend") == "GPU" for row in self.rows)
        self.limits = Limits(self)

    def of(self, subject, **wanted):
        """The rows of a subject that have these values."""
        return [
            row for row in self.rows
            if row["subject"] == subject and all(row.get(k) == v for k, v in wanted.items())
        ]

    def types(self, subject="matmul"):
        """The element types that were measured, in the usual order."""
        there = {row["type"] for row in self.of(subject)}
        return [name for name in SIZE if name in there]

    def squares(self, kind):
        """Square products of demos/matmul with this element type."""
        return [row for row in self.of("matmul", type=kind) if row["M"] == row["N"] == row["K"]]

    def sizes(self, kind, name=None):
        """The N that were measured, at all or by one kernel."""
        rows = self.squares(kind)
        return sorted({r["N"] for r in rows if name is None or base_name(r["name"]) == name})

    def product(self, kind, size, name, threads=None):
        """The row of one method at one size, or None."""
        for row in self.squares(kind):
            if row["N"] == size and base_name(row["name"]) == name and row["threads"] == threads:
                return row
        return None

    def counts(self, kind, size, name):
        """{p: row} of OpenMP by threads, or of MPI by ranks."""
        if name == "OpenMP":
            rows = [r for r in self.squares(kind) if r["name"] == "OpenMP" and r["N"] == size]
            return {r["threads"]: r for r in sorted(rows, key=lambda r: r["threads"])}
        rows = [r for r in self.of("mpi", type=kind, name=name) if r["N"] == size]
        return {r["ranks"]: r for r in sorted(rows, key=lambda r: r["ranks"])}

    def methods(self, kind, size):
        """[(name in the report, row, processors or None)] of one size: sequential, OpenMP, MPI,
        kernels from the simplest to the fastest, cuBLAS."""
        found = []
        row = self.product(kind, size, "sequential")
        if row:
            found.append(("sequential", row, 1))
        for p, row in self.counts(kind, size, "OpenMP").items():
            found.append((f"OpenMP, {p} thread{'s' * (p > 1)}", row, p))
        for p, row in self.counts(kind, size, "MPI").items():
            found.append((f"MPI, {p} rank{'s' * (p > 1)}", row, p))
        for name, title in KERNELS.items():
            row = self.product(kind, size, name)
            if row:
                found.append((title, row, None))
        return found

    def scaling_size(self, kind):
        """The largest size with the sequential product, and with MPI if that was measured."""
        sizes = self.sizes(kind, "sequential")
        with_mpi = [size for size in sizes if self.counts(kind, size, "MPI")]
        return max(with_mpi or sizes, default=None)

    def full_size(self, kind):
        """The largest size among those with the most kernels of the roofline, or None."""
        count = {n: sum(bool(self.product(kind, n, name)) for name in INTENSITY) for n in self.sizes(kind)}
        most = max(count.values(), default=0)
        return max(n for n in count if count[n] == most) if most else None

    def best(self, kind, size, names):
        """The fastest of some kernels at a size, or None."""
        rows = [self.product(kind, size, name) for name in names]
        return min((r for r in rows if r), key=lambda r: r["median_ms"], default=None)

    def wrong(self):
        """Rows whose result was not right."""
        return [row for row in self.rows if row.get("verdict") not in ("ok", "", "unchecked", None)]


class Limits:
    """What the device can do: measured where bench/gemm or demos/memory measured it, else what
    demos/matmul takes for its peak. Rates in GFLOP/s and GB/s, times in ms; None: not known."""

    def __init__(self, figures):
        self.nominal = {kind: self.peak_of(figures, kind) for kind in SIZE}
        measured = {row["name"]: row for row in figures.of("limits")}
        self.measured = bool(measured)
        self.arithmetic = dict(self.nominal)
        for kind, name in (("float", "ffma"), ("double", "dfma"), ("int", "imad")):
            if name in measured:
                self.arithmetic[kind] = measured[name]["rate"]
        tensor = [row["rate"] for name, row in measured.items() if name.startswith("dmma")]
        self.tensor = max(tensor, default=None)
        copies = [
            row["rate"] for row in figures.of("memory", memory="global")
            if row["name"].startswith("cudaMemcpy") and row["rate"]
        ]
        self.bandwidth = measured["read"]["rate"] if "read" in measured else max(copies, default=None)
        self.bandwidth_how = "a reading kernel" if "read" in measured else "cudaMemcpy"
        kernels = [
            row["median_ms"] for row in figures.of("matmul")
            if row["memory"] not in ("CPU caches", "library")
        ]
        self.launch = measured["launch"]["median_ms"] if "launch" in measured else None
        self.launch_how = "an empty launch" if self.launch else "the shortest kernel measured"
        self.launch = self.launch or min(kernels, default=None)
        pinned = [
            row["rate"] for row in figures.of("memory", memory="pinned")
            if row["name"].startswith("copy from pinned") and row["rate"]
        ]
        self.copies = max(pinned, default=None)

    @staticmethod
    def peak_of(figures, kind):
        """The peak that demos/matmul computes from clock and units, out of its percentages."""
        found = [
            100 * gflops(row) / row["percent_of_limit"] for row in figures.of("matmul", type=kind)
            if row["percent_of_limit"]
        ]
        return statistics.median(found) if found else None

    def starvation(self):
        """How many times FP32's rate is FP64's, or None."""
        single, double = self.nominal["float"], self.nominal["double"]
        if not single or not double:
            single, double = self.arithmetic["float"], self.arithmetic["double"]
        return single / double if single and double else None

    def uses_tensor(self, row):
        """Was it done by the tensor cores? So by their kernel, or if it is faster than all else."""
        if row["type"] != "double" or not self.tensor:
            return False
        peak = self.arithmetic["double"]
        return chosen(row) == "tensor" or bool(peak and gflops(row) > 1.02 * peak)

    def candidates(self, row):
        """[(limit, the time that it alone would take in ms)] for a product on the device."""
        found = []
        if self.launch:
            found.append(("launch", self.launch))
        peak, name = self.arithmetic[row["type"]], ARITHMETIC[row["type"]]
        if self.uses_tensor(row):
            peak, name = self.tensor, "FP64 tensor cores"
        if peak:
            found.append((name, work(row) / peak * 1e-6))
        if self.bandwidth:
            once = row["M"] * row["K"] + row["K"] * row["N"] + row["M"] * row["N"]
            least = once * SIZE[row["type"]] / self.bandwidth * 1e-6
            loads = intensity(row)
            # all its loads from memory, if that is possible in the time; else caches serve some
            own = work(row) / loads / self.bandwidth * 1e-6 if loads else 0
            found.append(("memory", own if least < own <= 1.1 * row["median_ms"] else least))
        return found

    def binding(self, row):
        """(limit, share of the time that it explains); the limit is None if none explains half."""
        found = self.candidates(row)
        if not found:
            return None, 0.0
        name, ms = max(found, key=lambda item: item[1])
        share = ms / row["median_ms"]
        return (name if share >= 0.5 else None), share

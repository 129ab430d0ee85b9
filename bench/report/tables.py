"""The tables of the report, computed from the rows of results.csv."""
import dataclasses
import re

import sentences
from figures import KERNELS, OURS, SHARED, base_name, digits, gflops
from figures import chosen as chosen_kernel


@dataclasses.dataclass
class Table:
    """Cells are text as it is to be shown; the first column is a heading of its row."""

    name: str  # anchor and label: letters, digits, hyphens
    title: str
    head: list
    rows: list
    notes: list = dataclasses.field(default_factory=list)
    all_words: bool = False

    def texts(self):
        """The columns that hold words and no numbers, which stand left: the first one, and others."""
        def is_word(cell):
            return cell != "-" and not re.fullmatch(r"[+-]?\d[\d.e+-]*( ?[^ \d]\S*)?", cell)

        words = {n for n in range(len(self.head)) if all(is_word(row[n]) for row in self.rows)}
        return set(range(len(self.head))) if self.all_words else {0} | words


def ratio(above, below):
    """One time over another, or a dash."""
    return digits(above / below) if above and below else "-"


def error_text(value):
    """An error."""
    return "-" if value is None else f"{value:.1e}" if value else "0"


def machine(f):
    """What it was measured on."""
    row = f.rows[-1]
    dates = sorted({r["date"] for r in f.rows})
    first = next((r for r in f.of("matmul") if base_name(r["name"]) == "global"), row)
    lines = [
        ("device", row["device"] if f.on_gpu else "none: the kernels ran on the CPU (CPU runner)"),
        ("driver", row["driver"]), ("toolkit", row["toolkit"]), ("compiler", row["compiler"]),
        ("processor", f"{row['processor']}, {row['cores']} cores"),
        ("date", dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"),
        ("sources", f"{row['sources']} (checksum of headers and demos)"),
        ("timings of a product", first.get("repetitions")),
    ]
    limits = f.limits
    how = "measured" if limits.measured else "clock times units"
    for kind, name in (("float", "FP32"), ("double", "FP64"), ("int", "INT32")):
        if f.on_gpu and limits.arithmetic[kind]:
            unit = "TOP/s" if kind == "int" else "TFLOP/s"
            lines.append((name, f"{digits(limits.arithmetic[kind] / 1000)} {unit} ({how})"))
    if limits.tensor:
        lines.append(("FP64 tensor cores", f"{digits(limits.tensor / 1000)} TFLOP/s (measured)"))
    if f.on_gpu and limits.bandwidth:
        lines.append(("device memory", f"{digits(limits.bandwidth)} GB/s ({limits.bandwidth_how})"))
    if f.on_gpu and limits.launch:
        lines.append(("launch", f"{digits(limits.launch * 1000)} us ({limits.launch_how})"))
    rows = [[name, str(value)] for name, value in lines if value not in ("", None)]
    return Table("machine", "What it was measured on", ["what", "value"], rows, all_words=True)


def rate_table(f, kind):
    """Time, speed-up and efficiency of every method at one size: the DGEMM report's table."""
    size = f.scaling_size(kind) or max(f.sizes(kind), default=None)
    if size is None:
        return None
    sequential = f.product(kind, size, "sequential")
    rows = []
    for title, row, p in f.methods(kind, size):
        speed = sequential["median_ms"] / row["median_ms"] if sequential else None
        error = row["max_abs_error"]
        rows.append([
            title, digits(row["min_ms"], 4), digits(row["mean_ms"], 4), digits(row["median_ms"], 4),
            digits(row["max_ms"], 4), digits(gflops(row)), digits(speed),
            digits(speed / p) if speed and p else "-",
            error_text(error), row["verdict"] or "-",
        ])
    head = ["method", "min ms", "mean ms", "median ms", "max ms", "GFLOP/s", "S = T_s/T_p", "E = S/p",
            "max |error|", "verdict"]
    return Table(f"methods-{kind}", f"All methods, {kind}, N = {size}", head, rows,
                 sentences.speed_ups(f, kind))


def by_size(f, kind, speed):
    """Median times by size, or speed-ups over the sequential product."""
    sizes = f.sizes(kind)
    lines = {}
    for size in sizes:
        sequential = f.product(kind, size, "sequential")
        best = {}
        for title, row, p in f.methods(kind, size):
            label = title.split(",")[0] if title.startswith(("OpenMP", "MPI")) else title
            if p is None or label not in best or row["median_ms"] < best[label]["median_ms"]:
                best[label] = row
        for label, row in best.items():
            if speed and not sequential:
                continue
            value = sequential["median_ms"] / row["median_ms"] if speed else row["median_ms"]
            lines.setdefault(label, {})[size] = digits(value)
    order = ["sequential", "OpenMP", "MPI", *KERNELS.values()]
    if speed:
        lines.pop("sequential", None)
        sizes = [n for n in sizes if f.product(kind, n, "sequential")]
    rows = [[label] + [lines[label].get(n, "-") for n in sizes] for label in order if label in lines]
    rows = [row for row in rows if set(row[1:]) != {"-"}]
    if not rows:
        return None
    name, title = ("speed-up", "Speed-up over the sequential product") if speed else ("time", "Median time in ms")
    notes = ["OpenMP and MPI: the number of threads and ranks that is fastest at that size."]
    notes += sentences.peaks(f, kind)[1:] if speed else sentences.growth(f, kind)
    return Table(f"{name}-{kind}", f"{title} by N, {kind}", ["method", *map(str, sizes)], rows, notes)


def shared_table(f, kind):
    """Global against shared by N, with the ratio: the two-GPU report's first table."""
    rows = []
    for size in f.sizes(kind):
        basic, best = f.product(kind, size, "global"), f.best(kind, size, SHARED)
        if not basic or not best:
            continue
        tiles = [f.product(kind, size, name) for name in SHARED]
        rows.append([
            str(size), digits(basic["median_ms"], 4),
            *[digits(r["median_ms"], 4) if r else "-" for r in tiles],
            base_name(best["name"]).removeprefix("shared_"), ratio(basic["median_ms"], best["median_ms"]),
        ])
    if not rows:
        return None
    head = ["N", "global ms", "shared 8 ms", "shared 16 ms", "shared 32 ms", "best tile", "global / shared"]
    return Table(f"shared-{kind}", f"Global against shared memory, {kind}", head, rows,
                 sentences.shared(f, kind))


def scaling_table(f, kind):
    """Speed-up and efficiency by threads and ranks."""
    size = f.scaling_size(kind)
    sequential = f.product(kind, size, "sequential") if size else None
    if not sequential:
        return None
    names = [name for name in ("OpenMP", "MPI") if f.counts(kind, size, name)]
    counts = {name: f.counts(kind, size, name) for name in names}
    rows = []
    for p in sorted({p for name in names for p in counts[name]}):
        cells = [str(p)]
        for name in names:
            row = counts[name].get(p)
            speed = sequential["median_ms"] / row["median_ms"] if row else None
            cells += [digits(row["median_ms"]), digits(speed), digits(speed / p)] if row else ["-"] * 3
        rows.append(cells)
    if not rows:
        return None
    head = ["p"] + [f"{name} {what}" for name in names for what in ("ms", "S", "E")]
    return Table(f"scaling-{kind}", f"By threads and ranks, {kind}, N = {size}", head, rows,
                 sentences.scaling(f, kind))


def mpi_gpu_table(f, kind):
    """MPI with kernels: ranks that share the devices of this machine."""
    rows = sorted(f.of("mpi", name="MPI, GPU", type=kind), key=lambda r: (r["N"], r["ranks"]))
    if not rows:
        return None
    first = rows[0]["median_ms"]
    lines = [[str(r["ranks"]), str(r["N"]), digits(r["min_ms"], 4), digits(r["median_ms"], 4),
              digits(r["max_ms"], 4), digits(r["rate"]), ratio(first, r["median_ms"])] for r in rows]
    note = (f"Ranks on the device{'s' if ' x ' in rows[0]['device'] else ''} of one machine: where there "
            "are fewer devices than ranks they take turns, so that more ranks cannot be faster than one.")
    head = ["ranks", "N", "min ms", "median ms", "max ms", "GFLOP/s", "over one rank"]
    return Table(f"mpi-gpu-{kind}", f"MPI ranks with kernels on the device, {kind}", head, lines, [note])


def devices_table(f, kind):
    """A row per split and device with times and ratio: the two-GPU report's second table."""
    rows = []
    for row in f.of("devices", type=kind):
        share = row["part_rows"] / row["N"]
        parts = [r["part_ms"] for r in f.of("devices", type=kind, name=row["name"]) if r["part_rows"]]
        rows.append([
            row["name"], f"{row['place']}: device {row['device_index']}", str(row["part_rows"]),
            f"{100 * share:.3g}%", digits(row["part_ms"], 4), ratio(max(parts), min(parts)),
            digits(row["min_ms"], 4), digits(row["median_ms"], 4),
            ratio(row["other_ms"], row["min_ms"]), row["verdict"],
        ])
    if not rows:
        return None
    head = ["split", "device", "rows", "share", "device ms", "slowest / fastest", "total min ms",
            "total median ms", "alone / total", "verdict"]
    size = f.of("devices", type=kind)[0]["N"]
    return Table(f"devices-{kind}", f"One product over several devices, {kind}, N = {size}", head, rows,
                 sentences.devices(f, kind))


def error_table(f, kind):
    """Largest error, and GPU against CPU time: the PyCUDA report's table."""
    rows = []
    for size in f.sizes(kind):
        row, cpu = f.best(kind, size, OURS), f.product(kind, size, "sequential")
        if not row:
            continue
        ours = [f.product(kind, size, name) for name in OURS]
        worst = max((r["max_abs_error"] for r in ours if r and r["max_abs_error"] is not None), default=None)
        relative = max((r["max_rel_error"] for r in ours if r and r["max_rel_error"] is not None), default=None)
        rows.append([
            str(size), chosen_kernel(row), digits(row["median_ms"], 4), digits(row["end_to_end_ms"], 4),
            digits(cpu["median_ms"], 4) if cpu else "-",
            ratio(cpu and cpu["median_ms"], row["median_ms"]), ratio(cpu and cpu["median_ms"], row["end_to_end_ms"]),
            error_text(worst), error_text(relative),
        ])
    if not rows:
        return None
    head = ["N", "fastest kernel", "kernel ms", "with copies ms", "CPU ms", "CPU / kernel",
            "CPU / with copies", "max |error|", "max rel. error"]
    title = "GPU against CPU" if f.on_gpu else "Kernels on the CPU runner against the sequential product"
    return Table(f"error-{kind}", f"{title}, and the largest error of all kernels, {kind}", head, rows,
                 sentences.gpu_cpu(f, kind) + sentences.errors(f, kind))


def cublas_table(f):
    """Ratio to cuBLAS by size."""
    pairs = {kind: sentences.cublas_pairs(f, kind) for kind in f.types()}
    pairs = {kind: values for kind, values in pairs.items() if values}
    if not pairs:
        return None
    sizes = sorted({n for values in pairs.values() for n in values})
    rows = [[kind] + [digits(values.get(n)) for n in sizes] for kind, values in pairs.items()]
    sustained = bool(f.of("limits", name="sustained"))
    note = ("Sustained, ours and cuBLAS in turn (bench/gemm)." if sustained else
            "Single products with pauses between them (demos/matmul).")
    return Table("cublas-ratio", "Time of cuBLAS over time of tmm_gemm (above 1: ours is faster)",
                 ["N", *map(str, sizes)], rows, [note, *sentences.cublas(f)])


def choice_tables(f, kind):
    """What TMM_AUTO compares, a table for each size: demos/matmul --why, beside what was measured."""
    made = []
    shapes = {(row["M"], row["N"], row["K"], row["measured_on"]) for row in f.of("choice", type=kind)}
    for m, n, k, where in sorted(shapes):
        rows = f.of("choice", type=kind, M=m, N=n, K=k, measured_on=where)
        lines = []
        for row in rows:
            found = f.product(kind, n, row["name"]) if f.on_gpu and row["takes"] != "no" else None
            measured = [digits(1e3 * found["median_ms"]) if found else "-"] if f.on_gpu else []
            predicted = row["predicted_ms"]
            lines.append([row["name"], row["takes"], digits(1e3 * predicted) if predicted else "-", *measured,
                          row["bound"] or "-", row["plan"]])
        head = ["kernel", "TMM_AUTO", "predicted us", *(["measured us"] if f.on_gpu else []), "bound by",
                "plan, or why not"]
        name = f"choice-{kind}-{n}"
        name += f"-{len(made)}" if name in (table.name for table in made) else ""  # for another GPU
        made.append(Table(name, f"How TMM_AUTO chooses, {kind}, {m} x {n} x {k}, on {where}",
                          head, lines, sentences.choice(f, rows)))
    return made


def spheres_table(f):
    """Milliseconds by number of spheres and kind of memory: the lab's table."""
    table = sentences.sphere_table(f)
    if not table:
        return None
    order = ["CPU", "global", "readonly", "constant", "shared", "culled"]
    names = [n for n in order if any(n in row for row in table.values())]
    rows = []
    for count in sorted(table):
        row = table[count]
        least = row["global"]["median_ms"] if "global" in row else None
        constant = row["constant"]["median_ms"] if "constant" in row else None
        rows.append([str(count), *[digits(row[n]["median_ms"]) if n in row else "-" for n in names],
                     ratio(least, constant)])
    first = next(iter(table[max(table)].values()))
    head = ["spheres", *[f"{n} ms" for n in names], "global / constant"]
    return Table("spheres", f"Spheres by kind of memory, {first['width']} x {first['height']} pixels", head,
                 rows, sentences.spheres(f))


def overlap_table(f):
    """Copies beside kernels."""
    rows = []
    for row in f.of("overlap"):
        rows.append([
            f"{row['type']}, {row['name']}", str(row["N"]), str(row["streams"]), digits(row["min_ms"], 4),
            digits(row["median_ms"], 4), digits(row["max_ms"], 4), digits(row["in_ms"]),
            digits(row["compute_ms"]), digits(row["out_ms"]),
        ])
    if not rows:
        return None
    head = ["way", "N", "streams", "min ms", "median ms", "max ms", "copies in ms", "compute ms", "copies out ms"]
    return Table("overlap", "Several products from host memory, with and without streams", head, rows,
                 sentences.overlap(f))


def memory_table(f):
    """Right and wrong ways of every kind of memory."""
    rows = []
    for row in f.of("memory"):
        rate = f"{digits(row['rate'])} {row['rate_unit']}"
        rows.append([row["memory"], row["name"].replace(";", ","), digits(row["median_ms"]), rate,
                     digits(row["ratio"]), row["verdict"]])
    if not rows:
        return None
    head = ["demo", "way", "ms", "rate", "times the right way", "verdict"]
    return Table("memory", "Kinds of memory, used well and badly (demos/memory)", head, rows, sentences.memory(f))


def all_tables(f):
    """{name: table}, in the order of the page."""
    kinds = f.types()
    made = [machine(f)]
    made += [rate_table(f, kind) for kind in kinds]
    made += [by_size(f, kind, speed) for kind in kinds for speed in (False, True)]
    made += [shared_table(f, kind) for kind in kinds]
    made += [scaling_table(f, kind) for kind in kinds] + [mpi_gpu_table(f, kind) for kind in f.types("mpi")]
    made += [devices_table(f, kind) for kind in f.types("devices")]
    made += [error_table(f, kind) for kind in kinds] + [cublas_table(f)]
    made += [table for kind in f.types("choice") for table in choice_tables(f, kind)] + [spheres_table(f)]
    made += [overlap_table(f), memory_table(f)]
    return {table.name: table for table in made if table}

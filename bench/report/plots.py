"""The plots of the report, from the same rows as the tables."""
import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

import sentences  # noqa: E402
from figures import (  # noqa: E402
    ARITHMETIC, KERNELS, OURS, SHARED, UNIT, digits, gflops, intensity, rate_text,
)

plt.rcParams.update({
    "font.size": 10, "axes.grid": True, "grid.alpha": 0.3, "axes.axisbelow": True,
    "axes.titlesize": 11, "legend.fontsize": 8.5, "lines.markersize": 5, "lines.linewidth": 1.4,
    "svg.hashsalt": "tiledmm", "savefig.dpi": 150, "figure.figsize": (7.2, 5.0),
})

# One look per method in all plots; markers tell them apart without colour, too.
LOOKS = {
    "sequential": ("#000000", "s", "-"), "OpenMP": ("#777777", "D", "--"), "MPI": ("#aa7733", "P", "--"),
    "global": ("#cc3311", "o", "-"), "shared_8": ("#99ccee", "v", "-"), "shared_16": ("#4499cc", "^", "-"),
    "shared_32": ("#0060a8", "<", "-"), "register_64": ("#88cc88", ">", "-"),
    "register_128": ("#228833", "d", "-"), "small": ("#ddaa33", "p", "-"),
    "pipelined": ("#aa3377", "h", "-"), "tensor": ("#6633aa", "*", "-"), "auto": ("#dd22dd", "x", ":"),
    "outer": ("#bbaa00", "1", "-"), "direct": ("#ee7733", "2", "-"), "narrow": ("#009988", "3", "-"),
    "tensor_int8": ("#332288", "4", "-"),
    "cuBLAS": ("#444444", "+", ":"),
    "float": ("#0060a8", "o", "-"), "double": ("#c04000", "s", "-"), "int": ("#228833", "^", "-"),
    "CPU": ("#000000", "s", "-"), "readonly": ("#ee9988", "v", "-"), "constant": ("#ddaa33", "p", "-"),
    "shared": ("#0060a8", "^", "-"), "culled": ("#228833", "d", "-"),
}


def line(axes, points, label, look, **more):
    """One curve, sorted by x."""
    colour, marker, style = LOOKS[look]
    points = sorted(points)
    axes.plot([x for x, _ in points], [y for _, y in points], color=colour, marker=marker,
              linestyle=style, label=label, **more)


def plain(value, _=None):
    """A tick as people write it: 0.01, 16, 5000."""
    return f"{value:g}" if 1e-4 <= abs(value) < 1e6 else f"{value:.0e}"


def log_axis(axis, base=10):
    """A logarithmic axis with plain numbers."""
    axis.set_major_locator(LogLocator(base=base, numticks=14))
    axis.set_major_formatter(FuncFormatter(plain))
    axis.set_minor_formatter(NullFormatter())


def finish(figure, axes, title, x, y, columns=4):
    """Labels, and the legend below the plot, where it covers nothing."""
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    handles, _ = axes.get_legend_handles_labels()
    if handles:
        axes.legend(loc="upper center", bbox_to_anchor=(0.47, -0.13), ncols=min(columns, len(handles)),
                    frameon=False)
    return figure


def new_plot():
    """An empty plot."""
    return plt.subplots(layout="constrained")


def where(f):
    """What was measured on, for titles."""
    return f.rows[-1]["device"] if f.on_gpu else "CPU runner, CPU times"


def methods_by_size(f, kind):
    """{method: {N: row}}; OpenMP and MPI by the number of threads and ranks that is fastest."""
    found = {}
    for size in f.sizes(kind):
        for name in ("sequential", *KERNELS):
            row = f.product(kind, size, name)
            if row:
                found.setdefault(name, {})[size] = row
        for name in ("OpenMP", "MPI"):
            counts = f.counts(kind, size, name)
            if counts:
                found.setdefault(name, {})[size] = min(counts.values(), key=lambda r: r["median_ms"])
    return found


def title_of(name):
    """A method in a legend."""
    return KERNELS.get(name, name)


def time_plot(f, kind):
    """Median time by size, with the range from minimum to maximum as a bar."""
    figure, axes = new_plot()
    for name, rows in methods_by_size(f, kind).items():
        line(axes, [(n, r["median_ms"]) for n, r in rows.items()], title_of(name), name)
        low = [r["median_ms"] - r["min_ms"] for r in rows.values()]
        high = [r["max_ms"] - r["median_ms"] for r in rows.values()]
        axes.errorbar(list(rows), [r["median_ms"] for r in rows.values()], yerr=[low, high], fmt="none",
                      ecolor=LOOKS[name][0], elinewidth=0.8, capsize=2, alpha=0.6)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    log_axis(axes.xaxis, 2)
    log_axis(axes.yaxis)
    return finish(figure, axes, f"Time of one product, {kind}, {where(f)}",
                  "N (matrices of N x N)", "time in ms: median; bars: minimum to maximum")


def speed_up_plot(f, kind):
    """Speed-up over the sequential product by size."""
    figure, axes = new_plot()
    for name, rows in methods_by_size(f, kind).items():
        base = {n: f.product(kind, n, "sequential") for n in rows}
        points = [(n, base[n]["median_ms"] / r["median_ms"]) for n, r in rows.items() if base[n]]
        if points and name != "sequential":
            line(axes, points, title_of(name), name)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    log_axis(axes.xaxis, 2)
    log_axis(axes.yaxis)
    return finish(figure, axes, f"Speed-up over the sequential product, {kind}, {where(f)}",
                  "N (matrices of N x N)", "speed-up S = T_s / T_p (times)")


def shared_plot(f):
    """How many times as fast the shared kernel is as the global one."""
    figure, axes = new_plot()
    for kind in f.types():
        points = []
        for size in f.sizes(kind, "global"):
            basic, best = f.product(kind, size, "global"), f.best(kind, size, SHARED)
            if best:
                points.append((size, basic["median_ms"] / best["median_ms"]))
        if points:
            line(axes, points, kind, kind)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xscale("log", base=2)
    log_axis(axes.xaxis, 2)
    return finish(figure, axes, f"Global against shared memory, {where(f)}", "N (matrices of N x N)",
                  "time of global / time of the best shared tile")


def efficiency_plot(f):
    """Efficiency by threads and ranks."""
    figure, axes = new_plot()
    most = 1
    for kind in [k for k in f.types() if k != "int"]:
        size = f.scaling_size(kind)
        sequential = f.product(kind, size, "sequential") if size else None
        for name, style in (("OpenMP", "-"), ("MPI", "--")):
            counts = f.counts(kind, size, name) if sequential else {}
            points = sorted((p, sequential["median_ms"] / r["median_ms"] / p) for p, r in counts.items())
            if points:
                colour, marker, _ = LOOKS[kind]
                filled = colour if name == "OpenMP" else "white"
                axes.plot([p for p, _ in points], [e for _, e in points], style, color=colour,
                          marker=marker, markerfacecolor=filled, label=f"{name}, {kind}, N = {size}")
                most = max(most, points[-1][0])
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xscale("log", base=2)
    axes.set_xlim(0.9, most * 1.1)
    log_axis(axes.xaxis, 2)
    return finish(figure, axes, f"Efficiency on the CPU ({f.rows[-1]['cores']} cores)",
                  "p (threads of OpenMP, ranks of MPI)", "efficiency E = S / p", 2)


def cublas_plot(f):
    """Ratio to cuBLAS by size."""
    figure, axes = new_plot()
    for kind in f.types():
        pairs = sentences.cublas_pairs(f, kind)
        if pairs:
            line(axes, pairs.items(), f"tmm_gemm, {kind}", kind)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylim(bottom=0)
    axes.set_xscale("log", base=2)
    log_axis(axes.xaxis, 2)
    how = "sustained" if f.of("limits", name="sustained") else "single products"
    return finish(figure, axes, f"tmm_gemm against cuBLAS (above 1: faster), {how}, {where(f)}", "N (matrices of N x N)",
                  "time of cuBLAS / time of tmm_gemm (times)")


def error_plot(f):
    """Largest absolute error by size, and what rounding explains at most."""
    figure, axes = new_plot()
    for kind in [k for k in f.types() if k in UNIT]:
        colour, _, _ = LOOKS[kind]
        for label, names, marker, style in (
            ("kernels", OURS, "o", "-"), ("sequential", ["sequential"], "s", "--"),
            ("cuBLAS", ["cuBLAS"], "+", ":"),
        ):
            points = []
            for size in f.sizes(kind):
                rows = [r for r in (f.product(kind, size, name) for name in names) if r]
                values = [r["max_abs_error"] for r in rows if r["max_abs_error"]]
                if values:
                    points.append((size, max(values)))
            if points:
                axes.plot(*zip(*points), style, color=colour, marker=marker, label=f"{kind}: {label}",
                          markerfacecolor=colour if marker == "o" else "none")
        sizes = f.sizes(kind)
        axes.plot(sizes, [(n + 2) * UNIT[kind] * n / 4 for n in sizes], color=colour, linewidth=0.8,
                  alpha=0.6, label=f"{kind}: bound")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    log_axis(axes.xaxis, 2)
    return finish(figure, axes, f"Largest error; bound: (N + 2) u N / 4; {where(f)}", "N (matrices of N x N)",
                  "largest |C - reference| (elements of A and B in (-1, 1))", 4)


def spheres_plot(f):
    """Time of an image by number of spheres and kind of memory."""
    table = sentences.sphere_table(f)
    figure, axes = new_plot()
    for name in ("CPU", "global", "readonly", "constant", "shared", "culled"):
        points = [(count, row[name]["median_ms"]) for count, row in table.items() if name in row]
        if points:
            line(axes, points, name, name)
    first = next(iter(next(iter(table.values())).values()))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    log_axis(axes.xaxis, 2)
    log_axis(axes.yaxis)
    return finish(figure, axes, f"One image of {first['width']} x {first['height']} pixels, {where(f)}",
                  "spheres", "median time in ms", 6)


def roofline_plot(f, kind):
    """Rates by FLOP per byte of global loads, under the roofs of memory and arithmetic."""
    limits = f.limits
    size = f.full_size(kind)
    figure, axes = new_plot()
    peak = limits.arithmetic[kind] if f.on_gpu else max(gflops(r) for r in f.squares(kind))
    roof = ARITHMETIC[kind] if f.on_gpu else "highest rate of a product here"
    how = "measured" if limits.measured or not f.on_gpu else "clock times units"
    low, high = 0.08, 64.0
    rates = []
    for name in OURS:
        row = f.product(kind, size, name)
        if row and intensity(row):
            rates.append(gflops(row))
            line(axes, [(intensity(row), gflops(row))], KERNELS[name], name)
    if limits.bandwidth and peak:
        ridge = peak / limits.bandwidth
        axes.plot([low, ridge], [low * limits.bandwidth, peak], color="black")
        axes.plot([ridge, max(high, 2 * ridge)], [peak, peak], color="black")
        axes.text(low * 1.15, low * limits.bandwidth * 0.85, f"memory {digits(limits.bandwidth)} GB/s\n"
                  f"({limits.bandwidth_how})", fontsize=8, va="top")
    elif peak:
        axes.plot([low, high], [peak, peak], color="black")
    right = axes.get_xlim()[1] * 0.8
    if peak:
        axes.text(right, peak * 1.08, f"{roof} {rate_text(peak)} ({how})", fontsize=8, ha="right")
    if kind == "double" and limits.tensor:
        axes.axhline(limits.tensor, color="#6633aa", linewidth=1, linestyle="--")
        axes.text(right, limits.tensor * 1.08, f"FP64 tensor cores {rate_text(limits.tensor)} (measured)", fontsize=8, ha="right", color="#6633aa")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    bottom = min([*rates, *([low * limits.bandwidth] if limits.bandwidth else [])], default=1) / 4
    axes.set_ylim(bottom, 2.2 * max([peak or 1, limits.tensor or 0 if kind == "double" else 0, *rates]))
    log_axis(axes.xaxis, 2)
    log_axis(axes.yaxis)
    return finish(figure, axes, f"Roofline, {kind}, N = {size}, {where(f)}",
                  "FLOP per byte of global loads (as stated at each kernel)", "GFLOP/s")


def all_plots(f):
    """{name: (figure, alternative text)}, those that there are figures for."""
    made = {}
    # a curve needs some points
    kinds = [kind for kind in f.types() if len(f.sizes(kind)) > 2]
    for kind in kinds:
        made[f"time-{kind}"] = time_plot(f, kind), f"time by size of all methods, {kind}"
        if len(f.sizes(kind, "sequential")) > 1:
            made[f"speed-up-{kind}"] = speed_up_plot(f, kind), f"speed-up by size of all methods, {kind}"
    if any(len(f.sizes(kind, "global")) > 1 for kind in f.types()):
        made["shared"] = shared_plot(f), "time of the global kernel over that of the shared one, by size"
    if any(f.counts(kind, f.scaling_size(kind), "OpenMP") for kind in f.types() if f.scaling_size(kind)):
        made["efficiency"] = efficiency_plot(f), "efficiency by threads and ranks"
    if any(sentences.cublas_pairs(f, kind) for kind in f.types()):
        made["cublas"] = cublas_plot(f), "time of cuBLAS over time of tmm_gemm, by size"
    if any(kind in UNIT and len(f.sizes(kind)) > 1 for kind in f.types()):
        made["error"] = error_plot(f), "largest absolute error by size"
    if sentences.sphere_table(f):
        made["spheres"] = spheres_plot(f), "time of an image by number of spheres and kind of memory"
    for kind in f.types():
        if kind != "int" and f.full_size(kind):
            made[f"roofline-{kind}"] = roofline_plot(f, kind), f"roofline of the kernels, {kind}"
    return made


def render(figure, form):
    """A figure as the bytes of a PNG or SVG file."""
    out = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    figure.savefig(out, format=form, metadata=metadata)
    return out.getvalue()


def close(figure):
    """Gives its memory back."""
    plt.close(figure)

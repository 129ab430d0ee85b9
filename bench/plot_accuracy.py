#!/usr/bin/env python3
"""bench/plot_accuracy.py CSV OUT.png: errors of products, of TMM_AUTO, tensor cores and cuBLAS.

From the rows of bench/accuracy: the error by kind of data at one K, and by K for three kinds.
From the rows of bench/gemm: the ratio to cublasSgemm and the error by size, for A and B uniform in
(-1, 1); or TFLOP/s and error of double by TMM_TENSOR_INT8, by kind of data, if that is all that is
there, as bench/gpu.sh OUT fp64 leaves it. Which it is follows from the rows. Errors are |C - Cref| / (|A||B|) in units of
u = 2^-24, of double 2^-53. Needs matplotlib, which brings Pillow.
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)
from plot_gemm import save  # noqa: E402

U, U_DOUBLE = 2.0**-24, 2.0**-53
# name in the CSV of bench/accuracy: label, colour, marker
STYLE = {
    "strict": ("tiledmm, strict (TMM_AUTO)", "#0060a8", "o"),
    "tensor": ("tiledmm, tensor cores (TMM_TENSOR)", "#c04000", "D"),
    "tensor_int8": ("tiledmm, tensor cores (TMM_TENSOR_INT8)", "#c04000", "D"),
    "cublas_sgemm": ("cuBLAS SGEMM", "#222222", "s"),
    "cublas_dgemm": ("cuBLAS DGEMM", "#222222", "s"),
    "cublas_tf32": ("cuBLAS TF32", "#999999", "^"),
}
BY_KIND = 4096  # the K of the plot by kind, or the nearest that is there
OVER_K = [("uniform", "-"), ("positive", "--"), ("slivers", ":")]
# rows of TMM_TENSOR_INT8 by phi: label, colour, marker; the last: uniform by mma.sync
INT8 = {
    0: ("uniform", "#c04000", "D"),
    1: ("(u - 0.5) exp(z)", "#e0a000", "o"),
    2: ("(u - 0.5) exp(2 z)", "#308040", "^"),
    4: ("(u - 0.5) exp(4 z)", "#999999", "v"),
    None: ("uniform, by mma.sync", "#0060a8", "x"),
}
LEAST = 0.02  # what is smaller, exact results above all, is drawn here
MOST = 1e7


def machine(row):
    return f"{row['device']}, CUDA {row['toolkit']}, cuBLAS {row['cublas']}"


def clip(error):
    return min(max(error, LEAST), MOST)


def plot_kinds(rows, out):
    where = machine(rows[0])  # other rows do not repeat it
    smallest = min(int(row["M"]) for row in rows)
    rows = [row for row in rows if int(row["M"]) == smallest]  # without the large squares
    depths = sorted({int(row["K"]) for row in rows})
    chosen = min(depths, key=lambda depth: (abs(depth - BY_KIND), depth))
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    kernels = [name for name in STYLE if any(row["kernel"] == name for row in rows)]
    places = {kind: number for number, kind in enumerate(kinds)}

    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 8), dpi=90, sharex=False)
    for number, name in enumerate(kernels):
        label, colour, marker = STYLE[name]
        some = [row for row in rows if row["kernel"] == name and int(row["K"]) == chosen]
        shift = 0.16 * (number - (len(kernels) - 1) / 2)
        y = [places[row["kind"]] + shift for row in some]
        left.plot([clip(float(row["max_u"])) for row in some], y, marker, color=colour,
                  markersize=5, label=label + ", largest")
        left.plot([clip(float(row["mean_u"])) for row in some], y, marker, color=colour,
                  markersize=4, fillstyle="none", alpha=0.8,
                  label=label + ", mean" if len(kernels) < 3 else None)
        for kind, line in OVER_K:
            some = sorted((int(row["K"]), clip(float(row["max_u"]))) for row in rows
                          if row["kernel"] == name and row["kind"] == kind)
            right.plot([p[0] for p in some], [p[1] for p in some], line, marker=marker,
                       color=colour, markersize=4, linewidth=1.2)
    left.axvline(chosen + 2, color="#c00000", linewidth=1)
    for number in range(0, len(kinds), 2):
        left.axhspan(number - 0.5, number + 0.5, color="#f2f2f2", zorder=0)
    left.set_yticks(range(len(kinds)), kinds)
    left.set_ylim(len(kinds) - 0.4, -0.6)
    left.set_xlabel(f"error / u (filled: largest, hollow: mean; {LEAST} or less, exact too, at the "
                    "edge)")
    left.set_title(f"by kind of data, C {smallest} x {smallest}, K = {chosen}", fontsize=11)
    left.set_xlim(LEAST / 1.5, MOST * 1.5)
    left.set_xscale("log")

    right.plot(depths, [depth + 2 for depth in depths], color="#c00000", linewidth=1)
    right.set_xscale("log")
    right.set_yscale("log")
    right.set_ylim(LEAST / 1.5, MOST)
    right.set_xlabel("K (products in each sum)")
    right.set_ylabel("largest error / u")
    right.set_title("by K: " + ", ".join(f"{kind} ({name})" for (kind, _), name in
                                          zip(OVER_K, ("solid", "dashed", "dotted"))), fontsize=11)
    for axes in (left, right):
        axes.grid(color="#dddddd", axis="x" if axes is left else "both")
        axes.set_axisbelow(True)
    handles = [plt.Line2D([], [], color=STYLE[name][1], marker=STYLE[name][2], linestyle="",
                          label=STYLE[name][0]) for name in kernels]
    handles.append(plt.Line2D([], [], color="#c00000", linewidth=1, label="promise, K + 2"))
    what = "double products, u = 2^-53" if "cublas_dgemm" in kernels else "float products, u = 2^-24"
    figure.suptitle(f"|C - AB| / (|A||B|) of {what}\n" + where, fontsize=12)
    figure.legend(handles=handles, loc="lower center", ncols=len(handles), fontsize=10)
    figure.tight_layout(rect=(0, 0.045, 1, 1))
    save(figure, out)


def plot_sizes(rows, out):
    """Ratio and error by size: square, A and B as stored, dense."""
    points = {"auto": [], "auto_tensor": []}
    cublas, where = {}, machine(rows[0])  # other rows do not repeat it
    for row in rows:
        size = row["M"]
        if row["name"] not in points or row["type"] != "float" or row["op"] != "nn":
            continue
        if row["batch"] != "1" or row["offset"] != "0" or row["result"] != "ok":
            continue
        if not row["ratio"] or any(row[key] != size for key in ("N", "K", "lda", "ldb", "ldc")):
            continue
        error = float(row["error"]) / U if row["error"] else 0
        points[row["name"]].append((int(size), float(row["ratio"]), error))
        if row["cublas_error"]:
            cublas[int(size)] = float(row["cublas_error"]) / U
    if not any(points.values()):
        sys.exit("plot_accuracy.py: no square products of float beside cuBLAS in this file")
    if not points["auto_tensor"]:
        print("plot_accuracy.py: no rows of auto_tensor: the strict kernels alone", file=sys.stderr)

    # wide and low: README has it on its first screen
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.8, 4.2), dpi=130, width_ratios=(3, 2))
    left.axhline(1, color="#222222", linewidth=1)
    sizes = sorted({p[0] for some in points.values() for p in some})
    for name, style in (("auto_tensor", "tensor"), ("auto", "strict")):
        label, colour, marker = STYLE[style]
        some = sorted(points[name])
        if not some:
            continue
        label = label.replace("TMM_TENSOR", "TMM_AUTO_TENSOR")
        left.plot([p[0] for p in some], [p[1] for p in some], "-", marker=marker, color=colour,
                  markersize=5, label=label)
        right.plot([p[0] for p in some], [p[2] for p in some], "-", marker=marker, color=colour,
                   markersize=5)
    label, colour, marker = STYLE["cublas_sgemm"]
    some = sorted(cublas.items())
    left.plot([], [], "-", marker=marker, color=colour, markersize=5, label=label)
    right.plot([p[0] for p in some], [p[1] for p in some], "-", marker=marker, color=colour,
               markersize=4, linewidth=1)
    left.set_title("speed, times cuBLAS SGEMM (higher is better)", fontsize=10)
    left.set_ylabel("times cuBLAS SGEMM")
    right.set_title("largest error |C - AB| / (|A||B|) (lower is better)", fontsize=10)
    right.set_ylabel("units of u = 2^-24")
    ticks = [n for n in (2**e for e in range(3, 18)) if sizes[0] <= n <= sizes[-1]]
    ticks = ticks if len(ticks) > 1 else sizes
    for axes in (left, right):
        axes.set_ylim(bottom=0)
        axes.set_xlabel("N (matrices of N x N floats)")
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [str(n) for n in ticks], fontsize=9 if axes is left else 7.5)
        axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        axes.grid(color="#dddddd")
        axes.set_axisbelow(True)
    figure.suptitle(f"C = A B in float, {where}", fontsize=10)
    figure.legend(loc="lower center", ncols=3, fontsize=9)
    figure.tight_layout(rect=(0, 0.065, 1, 1))
    save(figure, out)


def plot_double(rows, out):
    """TFLOP/s and error by size: square products of double by TMM_TENSOR_INT8 and by cuBLAS."""
    ours, cublas = {}, {}
    for row in rows:
        kept = row["type"] == "double" and row["op"] == "nn" and row["result"] == "ok"
        if not kept or not row["ratio"] or any(row[key] != row["M"] for key in ("N", "K", "ldc")):
            continue
        size, rate, phi = int(row["M"]), float(row["tflops"]), float(row["phi"])
        if row["name"] == "tensor_int8":
            key = None if int(row["compiled_for"]) < 90 else phi
            ours.setdefault(key, []).append((size, rate, float(row["error"]) / U_DOUBLE))
        elif row["name"] == "auto" and phi == 0:
            error = float(row["cublas_error"] or "nan") / U_DOUBLE
            cublas[size] = (size, rate / float(row["ratio"]), error)
    if not cublas:
        sys.exit("plot_accuracy.py: no rows of auto beside cuBLAS in this file")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.8, 4.2), dpi=110, width_ratios=(3, 2))
    series = [(INT8[key], sorted(ours[key])) for key in INT8 if key in ours]
    series.append((STYLE["cublas_dgemm"], [cublas[size] for size in sorted(cublas)]))
    for (label, colour, marker), some in series:
        size, rate, error = zip(*some)
        left.plot(size, rate, "-", marker=marker, color=colour, markersize=5, label=label)
        right.plot(size, error, "-", marker=marker, color=colour, markersize=5)
    sizes = sorted({point[0] for _, some in series for point in some})
    right.plot(sizes, [size + 2 for size in sizes], "--", color="#222222", linewidth=1,
               label="promise, K + 2")
    left.set_title("TFLOP/s, sustained (higher is better)", fontsize=10)
    left.set_ylim(bottom=0)
    right.set_title("largest error |C - AB| / (|A||B|) (lower is better)", fontsize=10)
    right.set_ylabel("units of u = 2^-53")
    right.set_yscale("log")
    for axes in (left, right):
        axes.set_xlabel("N (matrices of N x N doubles)")
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(n) for n in sizes], fontsize=8)
        axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        axes.grid(color="#dddddd")
        axes.set_axisbelow(True)
    figure.suptitle(f"C = A B in double by TMM_TENSOR_INT8, {machine(rows[0])}", fontsize=10)
    figure.legend(loc="lower center", ncols=7, fontsize=8.5, handlelength=1.6, columnspacing=1.2)
    figure.tight_layout(rect=(0, 0.065, 1, 1))
    save(figure, out)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_accuracy.py CSV OUT.png")
    try:
        with open(sys.argv[1], newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        sys.exit(f"plot_accuracy.py: {sys.argv[1]}: {error}")
    if rows and "kind" in rows[0]:
        plot_kinds(rows, sys.argv[2])
    elif any(row.get("name") == "tensor_int8" for row in rows):
        plot_double(rows, sys.argv[2])
    elif rows and "cublas_us" in rows[0]:
        plot_sizes(rows, sys.argv[2])
    else:
        sys.exit(f"plot_accuracy.py: {sys.argv[1]} is neither of bench/accuracy nor of bench/gemm")


if __name__ == "__main__":
    main()

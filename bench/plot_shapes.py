#!/usr/bin/env python3
"""bench/plot_shapes.py CSV OUT.png: the ratio to cuBLAS over arithmetic intensity, a point a shape.

From the rows of bench/shapes, a panel for each type. Above 1 tiledmm is faster. Both axes are
logarithmic; the dotted line is the geometric mean, which the panel's title states with the 5th
percentile. Needs matplotlib, which brings Pillow.
"""
import csv
import math
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402
from plot_gemm import save  # noqa: E402

# kind: label, colour
KINDS = {
    "1-16": ("1 to 16 rows or columns", "#999999"),
    "17-64": ("17 to 64", "#0060a8"),
    "65-256": ("65 to 256", "#40a0e0"),
    "small": ("small", "#222222"),
    "mid": ("mid", "#308040"),
    "large": ("large", "#80c040"),
    "long_k": ("long K", "#c04000"),
    "short_k": ("short K", "#e0a000"),
}
TITLES = {
    "float": "float, strict",
    "double": "double",
    "tensor": "float, TMM_AUTO_TENSOR",
    "int8": "double, TMM_AUTO_TENSOR",
}
TICKS = [0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 3, 4, 6, 8, 12, 16]


def intensity(row):
    """Operations for each byte of A, B and C, once through memory."""
    m, n, k = (int(row[name]) for name in "MNK")
    size = 8 if row["type"] in ("double", "int8") else 4
    return 2 * m * n * k / (size * (m * k + k * n + m * n))


def read(path):
    """{type: {kind: [(intensity, ratio)]}} and a line on the machine."""
    points, machine = {}, ""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["result"] != "ok" or not row["ratio"]:
                continue
            kinds = points.setdefault(row["type"], {})
            kinds.setdefault(row["kind"], []).append((intensity(row), float(row["ratio"])))
            if row["device"]:  # may stand in the first row alone
                machine = (f"{row['device']}, CUDA {row['toolkit']}, cuBLAS {row['cublas']}, "
                           f"seed {row['seed']}")
    return points, machine


def percentile(ordered, part):
    """As bench/summary.h has it: between neighbours in proportion."""
    at = part * (len(ordered) - 1)
    low = int(at)
    if low + 1 == len(ordered):
        return ordered[low]
    return ordered[low] + (at - low) * (ordered[low + 1] - ordered[low])


def draw(axes, name, kinds):
    ratios = sorted(ratio for points in kinds.values() for _, ratio in points)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    axes.axhline(1, color="black", linewidth=1)
    axes.axhline(mean, color="black", linewidth=1, linestyle=":")
    for kind, (label, colour) in KINDS.items():
        points = kinds.get(kind, [])
        axes.plot([point[0] for point in points], [point[1] for point in points], "o",
                  color=colour, markersize=4.5, alpha=0.85, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    low, high = min(ratios[0] / 1.1, 0.9), max(ratios[-1] * 1.1, 1.1)
    axes.set_ylim(low, high)
    axes.set_yticks([tick for tick in TICKS if low <= tick <= high])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(color="#dddddd")
    axes.set_axisbelow(True)
    axes.set_xlabel("operations / byte of A, B and C")
    axes.set_title(f"{TITLES.get(name, name)}: {len(ratios)} shapes\n"
                   f"mean {mean:.3f}, 5th percentile {percentile(ratios, 0.05):.3f}", fontsize=10)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: plot_shapes.py CSV OUT.png")
    try:
        points, machine = read(sys.argv[1])
    except (OSError, KeyError, ValueError) as error:
        sys.exit(f"plot_shapes.py: {sys.argv[1]}: {error!r}")
    if not points:
        sys.exit(f"plot_shapes.py: {sys.argv[1]} has no shapes beside cuBLAS")

    names = [name for name in TITLES if name in points]
    figure, panels = plt.subplots(1, len(names), figsize=(4.6 * len(names) + 1, 5), dpi=130,
                                  squeeze=False)
    for axes, name in zip(panels[0], names):
        draw(axes, name, points[name])
    panels[0][0].set_ylabel("time of cuBLAS / time of tiledmm\n(above 1: tiledmm is faster)")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.suptitle(f"Shapes drawn at random, beside cublasSgemm and cublasDgemm\n{machine}",
                    fontsize=11)
    figure.legend(handles, labels, loc="lower center", ncol=len(KINDS), fontsize=8,
                  handletextpad=0.2, columnspacing=1.2)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    save(figure, sys.argv[2], colours=64)


if __name__ == "__main__":
    main()

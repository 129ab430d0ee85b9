#!/usr/bin/env python3
"""bench/plot_gemm.py CSV OUT.png [KERNEL]: the ratio to cuBLAS by size, from the rows of bench/gemm.

Square products, A and B as stored, of KERNEL (default: auto), in float and double. Above 1 tiledmm
is faster. The dashed lines are cublas?gemm against the best algorithm that cublasLt proposes: where
they lie above 1, cuBLAS itself could have been faster. Needs matplotlib, which brings Pillow.
"""
import csv
import io
import sys

import matplotlib
from PIL import Image

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend has to be chosen first)

COLOURS = {"float": "#0060a8", "double": "#c04000"}


def save(figure, path, colours=32):
    """Writes a PNG of few colours: a third of the bytes, and a plot has no more."""
    whole = io.BytesIO()
    figure.savefig(whole, format="png")
    with Image.open(whole) as image:
        few = image.convert("RGB").quantize(colours, method=Image.Quantize.MAXCOVERAGE,
                                            dither=Image.Dither.NONE)
        few.save(path, format="PNG", optimize=True)


def read(path, kernel):
    """{type: [(N, ratio, ratio of cublasLt)]} and a line on the machine."""
    series, machine = {}, ""
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if row["device"]:  # may stand in the first row alone
                machine = f"{row['device']}, CUDA {row['toolkit']}, cuBLAS {row['cublas']}"
            if row["name"] != kernel or row["op"] != "nn" or row["batch"] != "1":
                continue
            size = row["M"]
            dense = all(row[key] == size for key in ("N", "K", "lda", "ldb", "ldc"))
            if not dense or row["offset"] != "0" or not row["ratio"] or row["result"] != "ok":
                continue
            lt = row["cublaslt_us"]
            best = float(row["cublas_us"]) / float(lt) if lt else None
            series.setdefault(row["type"], []).append((int(size), float(row["ratio"]), best))
    return {name: sorted(points) for name, points in series.items()}, machine


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: plot_gemm.py CSV OUT.png [KERNEL]")
    kernel = sys.argv[3] if len(sys.argv) == 4 else "auto"
    try:
        series, machine = read(sys.argv[1], kernel)
    except (OSError, KeyError) as error:
        sys.exit(f"plot_gemm.py: {sys.argv[1]}: {error!r}")
    if not series:
        sys.exit(f"plot_gemm.py: {sys.argv[1]} has no square products of '{kernel}' beside cuBLAS")

    figure, axes = plt.subplots(figsize=(9, 5), dpi=130)
    axes.axhline(1, color="black", linewidth=1)
    sizes = set()
    for name, points in series.items():
        colour = COLOURS.get(name)
        letter = "S" if name == "float" else "D"
        x = [point[0] for point in points]
        sizes.update(x)
        axes.plot(x, [point[1] for point in points], "o-", color=colour, markersize=5,
                  label=f"tiledmm, {name}")
        best = [(point[0], point[2]) for point in points if point[2]]
        axes.plot([b[0] for b in best], [b[1] for b in best], "--", color=colour, linewidth=1,
                  alpha=0.7, label=f"best of cublasLt, {name}, against cublas{letter}gemm")
    axes.set_xscale("log", base=2)
    ticks = [n for n in (2**e for e in range(3, 18)) if min(sizes) <= n <= max(sizes)]
    if len(ticks) < 2:
        ticks = sorted(sizes)
    axes.set_xticks(ticks, [str(n) for n in ticks])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.grid(color="#dddddd")
    axes.set_axisbelow(True)
    axes.set_xlabel("N (matrices of N x N elements)")
    axes.set_ylabel("time of cuBLAS / time of tiledmm\n(above 1: tiledmm is faster)")
    axes.set_title(f"C = A B on a stream, beside cublasSgemm and cublasDgemm\n{machine}",
                   fontsize=11)
    axes.legend(fontsize=9)
    figure.tight_layout()
    save(figure, sys.argv[2])


if __name__ == "__main__":
    main()

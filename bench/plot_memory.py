#!/usr/bin/env python3
"""The hierarchy of memory as a picture: latency and bandwidth of each kind, as memory.csv has them.

    python3 bench/plot_memory.py [MEMORY_CSV [PICTURE]]

Reads the rows of latency and bandwidth (demos/memory/latency.cu, bandwidth.cu). MEMORY_CSV is that
of the H200 if it is not named, and PICTURE demos/memory/hierarchy.png.
"""
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = pathlib.Path(__file__).resolve().parent.parent

# kind, row of memory.csv, whose it is, colour; a box is as wide as more threads share it
LEVELS = [
    ("registers", "registers", "of a thread", "#dce9f7"),
    ("shared memory", "shared", "of a block", "#c5dcf2"),
    ("L1 cache", "L1", "of a multiprocessor", "#c5dcf2"),
    ("distributed shared memory", "distributed shared", "of a cluster of blocks", "#a9cbea"),
    ("L2 cache", "L2", "of the device", "#8db8e0"),
    ("global memory", "global", "of the device", "#6fa3d4"),
    ("host memory, mapped", "mapped host", "of the host, over the bus", "#e8c9a0"),
]


def read(path):
    """{way: clocks} and {way: GB/s}."""
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    clocks = {row["way"]: float(row["extra"]) for row in rows if row["demo"] == "latency"}
    rates = {row["way"]: float(row["rate"]) for row in rows if row["demo"] == "bandwidth"}
    if not clocks or not rates:
        sys.exit(f"plot_memory: {path} has no rows of latency or of bandwidth")
    return clocks, rates


def number(value, unit):
    """Three digits, as a text."""
    if value is None:
        return "-"
    digits = 0 if value >= 100 else 1
    return f"{value:,.{digits}f} {unit}"


def main():
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "bench/results/h200/memory.csv"
    picture = sys.argv[2] if len(sys.argv) > 2 else ROOT / "demos/memory/hierarchy.png"
    clocks, rates = read(path)
    figure, axes = plt.subplots(figsize=(8.8, 4.6), dpi=100)
    for level, (kind, row, scope, colour) in enumerate(LEVELS):
        y = len(LEVELS) - 1 - level
        half = 1.5 + 0.42 * level
        axes.add_patch(plt.Rectangle((-half, y + 0.06), 2 * half, 0.88, facecolor=colour, edgecolor="#335577"))
        axes.text(0, y + 0.62, kind, ha="center", va="center", fontsize=10.5, weight="bold")
        axes.text(0, y + 0.29, scope, ha="center", va="center", fontsize=8.5)
        axes.text(5.8, y + 0.5, number(clocks.get(row), "clocks"), ha="right", va="center", fontsize=10.5)
        axes.text(8.0, y + 0.5, number(rates.get(row), "GB/s"), ha="right", va="center", fontsize=10.5)
    axes.text(5.8, len(LEVELS) + 0.2, "latency", ha="right", fontsize=10.5, weight="bold")
    axes.text(8.0, len(LEVELS) + 0.2, "bandwidth", ha="right", fontsize=10.5, weight="bold")
    axes.text(-4.2, len(LEVELS) + 0.2, f"NVIDIA {path.parent.name.upper()}", fontsize=10.5)
    axes.set_xlim(-4.3, 8.2)
    axes.set_ylim(0, len(LEVELS) + 0.6)
    axes.axis("off")
    figure.tight_layout(pad=0.4)
    figure.savefig(picture, metadata={"Software": None})


if __name__ == "__main__":
    main()

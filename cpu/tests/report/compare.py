#!/usr/bin/env python3
"""Sets sectors and bank conflicts that cucc --report counts beside those of Nsight Compute.

usage: compare.py REPORT.csv NCU.csv OUTPUT.csv
       compare.py REPORT.csv OUTPUT.csv

REPORT.csv is what a program built with --report appends to CUCC_REPORT. NCU.csv is what ncu --csv prints for
the metrics below. Both must be of patterns.cu. Without NCU.csv, the counters are those that an earlier OUTPUT.csv
holds. The exit status is 1 if a figure differs by more than 5%."""
import csv
import sys

TOLERANCE = 0.05
METRICS = {
    "sectors loaded": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "sectors stored": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "conflicts of loads": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "conflicts of stores": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}


def counted_here(path):
    """For each launch, in the order of its line: the figures."""
    launches = {}
    with open(path, newline="") as file:
        for kernel, _, what, _, units, needed in csv.reader(file):
            name, _, place = kernel.partition(", launched at ")
            sums = launches.setdefault((int(place.rpartition(":")[2]), name), dict.fromkeys(METRICS, 0))
            loads = what.endswith("load")
            if what.startswith("global"):
                sums["sectors loaded" if loads else "sectors stored"] += int(units)
            elif what.startswith("shared"):
                sums["conflicts of loads" if loads else "conflicts of stores"] += int(units) - int(needed)
    return [(name, sums) for (_, name), sums in sorted(launches.items())]


def counted_on_gpu(path):
    """For each launch, in the order of its number: the figures."""
    with open(path, newline="") as file:
        lines = [line for line in file if line.startswith('"')]
    names = {metric: figure for figure, metric in METRICS.items()}
    launches = {}
    for row in csv.DictReader(lines):
        figures = launches.setdefault(int(row["ID"]), (row["Kernel Name"].partition("(")[0], {}))[1]
        if row["Metric Name"] in names:
            figures[names[row["Metric Name"]]] = int(float(row["Metric Value"].replace(",", "")))
    return [launches[number] for number in sorted(launches)]


def again(report, earlier):
    """The figures of a report beside the counters of an earlier comparison."""
    here = [(name, figure, n) for name, figures in counted_here(report) for figure, n in figures.items()]
    with open(earlier, newline="") as file:
        rows = [(row["kernel"], row["figure"], int(row["Nsight Compute"])) for row in csv.DictReader(file)]
    wrong = 0
    for name, figure, mine in here:
        real = rows.pop(0)[2] if rows and rows[0][:2] == (name, figure) else 0
        if abs(mine - real) > TOLERANCE * max(mine, real, 1):
            print(f"{name}, {figure}: {mine}, not {real}")
            wrong += 1
    print(f"{len(here)} figures, {wrong} wrong, {len(rows)} not met")
    sys.exit(wrong + len(rows) > 0)


def main():
    if len(sys.argv) == 3:
        again(*sys.argv[1:])
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    here, gpu = counted_here(sys.argv[1]), counted_on_gpu(sys.argv[2])
    if [name for name, _ in here] != [name for name, _ in gpu]:
        sys.exit(f"compare.py: other kernels: {[n for n, _ in here]} and {[n for n, _ in gpu]}")
    worst = 0.0
    with open(sys.argv[3], "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["kernel", "figure", "cucc --report", "Nsight Compute", "difference"])
        for (name, counted), (_, measured) in zip(here, gpu):
            for figure in METRICS:
                mine, real = counted[figure], measured[figure]
                difference = abs(mine - real) / max(mine, real, 1)
                worst = max(worst, difference)
                if mine or real:
                    out.writerow([name, figure, mine, real, f"{difference:.3f}"])
    print(f"{len(here)} kernels, largest difference {100 * worst:.1f}%")
    sys.exit(worst > TOLERANCE)


if __name__ == "__main__":
    main()

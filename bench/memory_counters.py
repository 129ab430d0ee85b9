#!/usr/bin/env python3
"""Counts on a GPU what demos/memory says it has computed: loads, stores, sectors, passes over banks.

    python3 bench/memory_counters.py OUT.csv [--programs FOLDER] [DEMO...]

Builds each demo with nvcc (or takes it from FOLDER), runs it under Nsight Compute, which counts in
the first run of each way, and compares the counts with the demo's own table, and with what its text
says. A row of OUT.csv: demo, way, figure, computed, counted, holds. Exit status 1: a figure does
not hold. Counters are those of Nsight Compute for compute capability 7.5 to 9.0.
"""

import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEAR = 0.05  # relative; a warp counts as 32 threads, though some have nothing to do

# What is counted, by warps of which a thread takes part. LOADS do not include copies to shared memory.
LOADS = "smsp__inst_executed_op_global_ld_pred_on_any.sum"
STORES = "smsp__inst_executed_op_global_st_pred_on_any.sum"
SHARED_LOADS = "smsp__inst_executed_op_shared_ld.sum"
SHARED_STORES = "smsp__inst_executed_op_shared_st.sum"
WORD_ACCESSES = "smsp__sass_inst_executed_op_memory_32b.sum"
QUAD_ACCESSES = "smsp__sass_inst_executed_op_memory_128b.sum"
LOCAL_LOADS = "smsp__inst_executed_op_local_ld.sum"
COPIES = "smsp__inst_executed_op_ldgsts_pred_on_any.sum"
REDUCTIONS = "smsp__inst_executed_op_global_red.sum"
ATOMICS = "smsp__sass_inst_executed_op_global_atom.sum"
BULK_COPIES = "smsp__inst_executed_op_tma_ld.sum"
FETCHES = "smsp__inst_executed_op_texture.sum"
SURFACE_STORES = "smsp__inst_executed_op_surface_st.sum"
LOAD_SECTORS = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
STORE_SECTORS = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"
PASSES = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"
PRODUCTS = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
SHARED_LIMIT = "launch__occupancy_limit_shared_mem"
WARP_LIMIT = "launch__occupancy_limit_warps"
CONSTANT_TURNS = "idc__requests.sum"


def threads(metric):
    """The counts of warps, as those of threads."""
    return lambda count: 32 * count[metric]


def shared_words(count):
    """Words that warps load from shared memory, where all other accesses are of a word."""
    others = count[LOADS] + count[STORES] + count[SHARED_STORES]
    return count[WORD_ACCESSES] + 4 * count[QUAD_ACCESSES] - others


def column(name, factor=1.0):
    """A column of the demo's table."""
    return lambda row: factor * float(row[name])


def constant(value):
    """A figure of the demo's text."""
    return lambda row: value


def loads(factor=1.0):
    """The column loads; the loads of a launch are this part of those of a run."""
    return ("loads", column("loads", factor), threads(LOADS))


def stores(factor=1.0):
    """The column stores."""
    return ("stores", column("stores", factor), threads(STORES))


BOTH = [loads(), stores()]
COPIED = ("copies of 16 bytes", column("loads"), threads(COPIES))
FETCHED = ("fetches", lambda row: float(row["stores"]) * float(row["fetches"]), threads(FETCHES))
SECTORS = ("sectors of a load", column("sectors"), lambda c: c[LOAD_SECTORS])
CONTENDED = ("thousands of atomics", column("atomics"), lambda c: 0.032 * (c[REDUCTIONS] + c[ATOMICS]))
ADDING = (
    "atomics of warps",
    lambda row: 1000 * float(row["atomics"]) / (32 if row["way"] == "global atomics" else 1),
    lambda c: c[REDUCTIONS] + c[ATOMICS],
)
FIT = ("blocks that fit", column("blocks"), lambda c: min(c[SHARED_LIMIT], c[WARP_LIMIT]))
BANKS = ("passes over the banks", column("passes"), lambda c: c[PASSES] / c[SHARED_LOADS])
FOUR = ("sectors of a store", constant(4), lambda c: c[STORE_SECTORS])
SCATTERED = ("sectors of a store", constant(32), lambda c: c[STORE_SECTORS])

# demo: for each way that runs a kernel, in the table's order: its name, what is to hold.
CHECKS = {
    "async_copy": [
        ("asynchronous; ahead (right)", [COPIED, stores()]),
        ("ordinary; through registers", BOTH),
    ],
    "atomics": [
        ("shared; one a block (right)", [loads(), CONTENDED]),
        ("shared; one a warp", [loads(), CONTENDED]),
        ("global", [loads(), CONTENDED]),
        ("contended; one a block (right)", [loads(), CONTENDED]),
        ("contended; one a warp", [loads(), CONTENDED]),
        ("contended; global", [loads(), CONTENDED]),
    ],
    "cluster": [
        ("cluster; shared (right)", BOTH),
        ("cluster; global", BOTH),
        ("launches; global", [loads(0.01), stores(0.01)]),
    ],
    "constant": [
        ("constant; same word (right)", BOTH),
        ("global; same word", BOTH),
        (
            "constant; 32 words",
            [*BOTH, ("turns of a warp for a load", column("words"), lambda c: c[CONSTANT_TURNS] / c[LOADS])],
        ),
        ("global; 32 words", BOTH),
    ],
    "device_variable": [
        ("variable (right)", BOTH),
        ("cudaMalloc (also right)", BOTH),
        ("copied into the variable", BOTH),
    ],
    "global": [
        (
            "float4 (right)",
            [*BOTH, ("sectors for 32 floats", column("sectors"), lambda c: c[LOAD_SECTORS] / 4)],
        ),
        ("float; neighbours", [*BOTH, SECTORS]),
        ("float; one off", [*BOTH, SECTORS]),
        ("float; every 32nd", [*BOTH, SECTORS]),
    ],
    "l2": [
        # two threads of each warp look up a word: a load of the warp
        (way, [("loads of warps", lambda row: 2 * float(row["stores"]) / 32, lambda c: c[LOADS]), stores()])
        for way in ("window (right)", "window; streaming hints", "streaming hints", "no hints")
    ],
    "layout": [
        ("one field; arrays (right)", [*BOTH, SECTORS]),
        ("one field; structs", [*BOTH, SECTORS]),
        ("all; arrays (right)", [*BOTH, SECTORS]),
        ("all; structs by two float4", [*BOTH, SECTORS]),
        ("all; structs by eight floats", [*BOTH, SECTORS]),
    ],
    "local": [
        ("shared; any index (right)", BOTH),
        ("registers; constant indices", BOTH),
        ("registers too few: spilled", BOTH),
        (
            "local; any index",
            [
                *BOTH,
                (
                    "local loads",
                    lambda row: float(row["loads"]) + float(row["stores"]) / 4,  # those at the end by 16 bytes
                    threads(LOCAL_LOADS),
                ),
            ],
        ),
    ],
    "mapped": [
        ("mapped (right)", [loads()]),
        ("copied (also right)", [loads()]),
        ("copied; 8 passes (right)", [loads()]),
        ("mapped; 8 passes", [loads()]),
    ],
    "parameters": [
        ("__grid_constant__ (right)", [loads(1 / 8), stores(1 / 8)]),
        ("parameter; address taken", [loads(1 / 8), stores(1 / 8)]),
        ("constant memory; copied", [loads(1 / 8), stores(1 / 8)]),
        ("global memory; copied", [loads(1 / 8), stores(1 / 8)]),
    ],
    "readonly": [
        ("const __restrict__ (right)", [stores()]),
        ("__ldg; sum in a variable", [stores()]),
        ("plain; sum in a variable", [stores()]),
        ("plain; sum in y[i]", [loads(), stores()]),
    ],
    "registers": [
        (
            way,
            [
                *BOTH,
                (
                    "multiply-adds a word of shared memory",
                    column("fma/load"),
                    lambda c: c[PRODUCTS] / 32 / shared_words(c),
                ),
            ],
        )
        for way in ("4 x 4 in registers (right)", "1 x 1")
    ],
    "shared": [
        ("tile with rows of 33 (right)", [*BOTH, BANKS, FOUR]),
        ("tile with rows of 32", [*BOTH, BANKS, FOUR]),
        ("stores down columns", [*BOTH, SCATTERED]),
    ],
    "shared_size": [
        (way, [*BOTH, FIT])
        for way in (
            "up to 96 KB; opt-in (right)",
            "up to 96 KB; carve-out 50 %",
            "48 KB; no opt-in",
            "24 KB; no opt-in",
        )
    ],
    "shuffle": [
        (way, [loads(), ADDING])
        for way in (
            "one pass; last block (right)",
            "shuffles; int4",
            "shuffles",
            "shared memory; a tree",
            "global atomics",
        )
    ],
    "surface": [
        ("surface; texture (right)", [("texels written", column("stores"), threads(SURFACE_STORES))]),
        ("surface; texture (right)", [("fetches", column("stores"), threads(FETCHES)), stores()]),
        ("global memory", [loads(1 / 2), stores(1 / 2), SCATTERED]),
        ("global memory", [loads(1 / 2), stores(1 / 2), FOUR]),
    ],
    "tensor_map": [
        (
            "tensor map (right)",
            [*BOTH, ("requests", lambda row: float(row["stores"]) / 1024, lambda c: c[BULK_COPIES])],
        ),
        ("by hand", BOTH),
    ],
    "texture": [("texture; filtered (right)", [*BOTH, FETCHED]), ("global; four loads", BOTH)],
    "texture_edges": [
        ("wrap; array (right)", [*BOTH, FETCHED]),
        ("wrap; by hand", BOTH),
        ("mirror; array (right)", [*BOTH, FETCHED]),
        ("mirror; by hand", BOTH),
    ],
    "texture_linear": [("loads; comparisons (right)", BOTH), ("texture of linear memory", [*BOTH, FETCHED])],
    "texture_volume": [("texture; filtered (right)", [*BOTH, FETCHED]), ("global; 8 loads", BOTH)],
    "tma": [
        (
            "bulk; loads below 9.0 (right)",
            [*BOTH, ("copies", lambda row: float(row["stores"]) / 4096, lambda c: c[BULK_COPIES])],
        ),
        (
            "cp.async",
            [stores(), ("copies", lambda row: float(row["copies"]) * float(row["stores"]) / 4096, threads(COPIES))],
        ),
        ("loads", BOTH),
    ],
}
# The launches of each kernel that begin a way: a way runs nine times. Others launch more often in a run.
FIRST_LAUNCHES = {"cluster": "1|10|19", "parameters": "1"}
EACH_NINTH = "|".join(str(1 + 9 * way) for way in range(8))
ALL_METRICS = sorted(
    value for name, value in globals().items() if name.isupper() and isinstance(value, str) and "__" in value
)


def profile(program, table):
    """Runs PROGRAM under ncu; the counts of the first run of each way, in order of their launch."""
    runs = FIRST_LAUNCHES.get(program.name, EACH_NINTH)
    command = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none"]
    command += ["--kernel-id", f":::^({runs})$", "--metrics", ",".join(ALL_METRICS)]
    done = subprocess.run([*command, program, "--csv", table], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), None)
    if first is None:
        sys.exit(f"memory_counters: ncu counts nothing in {program}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    rows = csv.DictReader(lines[first:])
    next(rows)  # units
    found = []
    for row in rows:
        counts = {}
        for metric in ALL_METRICS:
            text = (row.get(metric) or "").replace(",", "")
            counts[metric] = float(text) if text.replace(".", "").isdigit() else float("nan")
        found.append(counts)
    return found


def check(demo, program, work):
    """The rows of OUT.csv for a demo."""
    table = work / f"{demo}.csv"
    counts = profile(program, table)
    with open(table, encoding="utf-8") as file:
        ways = {row["way"]: row for row in csv.DictReader(file)}
    expected = CHECKS[demo]
    if len(counts) != len(expected):
        return [[demo, "-", "ways", len(expected), len(counts), "no"]]
    rows = []
    for (way, figures), count in zip(expected, counts, strict=True):
        if way not in ways:
            rows.append([demo, way, "a row of this name", 1, 0, "no"])
            continue
        for figure, computed, counted in figures:
            want, got = computed(ways[way]), counted(count)
            holds = abs(got - want) <= NEAR * abs(want)
            rows.append([demo, way, figure, f"{want:.10g}", f"{got:.10g}", "yes" if holds else "no"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", help="the CSV file")
    parser.add_argument("demos", nargs="*", help="these demos; without, all that are checked")
    parser.add_argument("--programs", type=pathlib.Path, help="a folder of programs that are built already")
    options = parser.parse_intermixed_args()
    unknown = [demo for demo in options.demos if demo not in CHECKS]
    if unknown:
        parser.error(f"{unknown[0]} is not checked; known are {' '.join(CHECKS)}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for demo in options.demos or CHECKS:
            program = work / demo if options.programs is None else options.programs / demo
            if options.programs is None:
                source = ROOT / "demos" / "memory" / f"{demo}.cu"
                subprocess.run(["nvcc", "-O3", "-arch=native", source, "-o", program], check=True)
            rows += check(demo, program, work)
    try:
        with open(options.out, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["demo", "way", "figure", "computed", "counted", "holds"])
            writer.writerows(rows)
    except OSError as error:
        sys.exit(f"memory_counters: cannot write {options.out}: {error.strerror}")
    failed = [row for row in rows if row[-1] != "yes"]
    for row in failed:
        print("does not hold:", *row)
    print(f"{len(rows)} figures, {len(failed)} do not hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

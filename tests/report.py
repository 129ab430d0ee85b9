#!/usr/bin/env python3
"""Tests of bench/report: store, tables, sentences, plots and page on planted figures; whole runs with
stand-ins for the programs, interrupted and resumed, on a pretended GPU and without one. Prints TAP.

tests/report.py --stand-in PROGRAM ARGUMENTS... is such a stand-in: it writes a CSV file as the program
would, of a device whose figures are known.
"""
import csv
import html.parser
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPORT = os.path.join(ROOT, "bench/report")
WORK = os.path.join(ROOT, "build/test/report")
sys.path.insert(0, REPORT)

# ---- the pretended device: rates in GFLOP/s, GB/s, ms --------------------------------------------
PEAK = {"float": 60000.0, "double": 30000.0, "int": 30000.0}
SPEED = {  # of each kernel, as a part of the peak
    "global": 0.10, "shared_8": 0.08, "shared_16": 0.13, "shared_32": 0.15, "register_64": 0.5,
    "register_128": 0.6, "pipelined": 0.85, "small": 0.4, "direct": 0.05, "tensor_int8": 1.5,
    "auto = pipelined": 0.85, "cuBLAS": 0.8,
}
MEMORY_OF = {"auto = pipelined": "as chosen", "cuBLAS": "library", "global": "global"}
LAUNCH = 0.004

PATIENCE = 600  # seconds, after which something hangs; nothing here takes a tenth of it


# what demos/matmul --why prints of a product on it
WHY = """\
{0} x {0} x {0}, batch 1, on {1}, sm_90 with 132 multiprocessors: pipelined
* pipelined         54.53 us  tile 128 x 128, instance 2, k in 2 slices, which a block adds, A packed; bound by arithmetic
  small             72.10 us  tile 32 x 64, instance 3; bound by L2
  register_128     115.00 us  tile 128 x 128, instance 0; bound by arithmetic; only by name
  global         no estimate  tile 32 x 32, instance 0; bound by L2; only by name
  shared_8       no: it stands for shared here
  skinny         no: kernel skinny: M x N is {0} x {0}, but one of them must be 16 at most
Without clusters, which this program was not compiled for.
"""


def flop(size):
    """Operations of a product."""
    return 2.0 * size**3


def matmul_rows(kind, size, with_cpu, threads=(1, 2, 4)):
    """What demos/matmul finds on the pretended device: (name, memory, device, ms, end to end, error)."""
    rows = []
    if with_cpu:
        alone = flop(size) / 10e6
        rows.append(("sequential", "CPU caches", "CPU", alone, None))
        for p in threads:
            name = f"OpenMP {p} thread{'s' * (p > 1)}"
            rows.append((name, "CPU caches", "CPU", alone / p / (1.25 - 0.25 / p), None))
    for name, part in SPEED.items():
        if name == "cuBLAS" and kind == "int":
            continue
        if kind != "double" and name == "tensor_int8":
            continue
        if kind != "float" and name in ("shared_8", "shared_16", "register_64"):
            continue  # of double and int these stand for the largest tiles
        ms = max(LAUNCH * 1.2, flop(size) / (part * PEAK[kind]) * 1e-6)
        memory = MEMORY_OF.get(name, "shared")
        rows.append((name, memory, "Pretended", ms, ms + 24e-9 * size * size * 20 + 0.05))
    return rows


def calls(log):
    """The calls of stand-ins so far."""
    try:
        with open(log, encoding="utf-8") as file:
            return file.read().split("\n")[:-1]
    except OSError:
        return []


def stand_in(program, words):
    """Writes the CSV file of a program."""
    name = program.removesuffix(".cpu")
    log = os.environ.get("REPORT_TEST_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:
            file.write(" ".join([program, *words]) + "\n")
        if len(calls(log)) == int(os.environ.get("REPORT_TEST_HANGS", "0")):
            time.sleep(PATIENCE)
    fault = os.environ.get("REPORT_TEST_FAULT", "")
    if fault == "dies":
        print("a kernel: an illegal memory access was encountered")
        return 1
    kind = words[words.index("--type") + 1] if "--type" in words else "float"
    size = int(words[0]) if words and words[0].isdigit() else 0
    if "--why" in words or "--gpu" in words:
        where = "NVIDIA " + words[words.index("--gpu") + 1] if "--gpu" in words else "Pretended"
        text = WHY.format(size, where)
        print(text.replace("bound by", "bound of") if fault == "nonsense" else text, end="")
        return 0
    lines = []
    if name == "matmul":
        lines.append("name,memory,type,M,N,K,device,real_time_ms,min_ms,mean_ms,max_ms,end_to_end_ms,gflops,"
                     "percent_of_peak,speed_up,efficiency,max_abs_error,max_rel_error,verdict")
        for row, memory, device, ms, whole in matmul_rows(kind, size, "--cpu" in words):
            rate = flop(size) / ms * 1e-6
            share = "" if device == "CPU" or program.endswith(".cpu") else 100 * rate / PEAK[kind]
            verdict = "wrong" if fault == "wrong" and row == "shared_16" else "ok"
            lines.append(f"{row},{memory},{kind},{size},{size},{size},{device},{ms},{0.9 * ms},{ms},{1.2 * ms},"
                         f"{whole or ''},{rate},{share},,,{1e-9 * size},1e-6,{verdict}")
    elif name == "matmul_mpi":
        lines.append("source,scaling,type,N,panel,ranks,rows,cols,real_time_ms,gflops,speed_up,efficiency,"
                     "not_hidden,model_ms,verdict,min_ms,mean_ms,max_ms")
        for p in (1, 2, 4):
            ms = flop(size) / 10e6 / p * 1.1
            lines.append(f"measured,strong,{kind},{size},128,{p},1,{p},{ms},{flop(size) / ms * 1e-6},1,1,0,1,ok,"
                         f"{ms},{ms},{ms}")
        lines.append(f"model,strong,{kind},{size},128,128,8,16,1,1,1,1,0,1,predicted,,,")
    elif name == "multigpu":
        lines.append("name,type,N,place,device,rows,device_ms,real_time_ms,speed_up,verdict,median_ms,mean_ms,max_ms")
        for split, first, ms in (("2/8 first", size // 4, 12), ("automatic", size // 2, 10), ("resident", size // 2, 6)):
            for place, rows in ((0, first), (1, size - first)):
                lines.append(f"{split},{kind},{size},{place},{place},{rows},{8 + place},{ms},{18 / ms},ok,{ms + 1},"
                             f"{ms + 1},{ms + 2}")
    elif name == "raytrace":
        lines.append("name,spheres,memory,width,height,real_time,time_unit,rays_per_second,tests_per_second,"
                     "correct,seed,device,min_time,mean_time,max_time")
        for count in (16, 128, 1024):
            for where, slow in (("global", 2), ("constant", 1), ("shared", 1.5), ("culled", 0.1), ("CPU", 100)):
                ms = 0.001 * count * slow
                lines.append(f"raytrace/{where}/{count},{count},{where},64,48,{ms},ms,1,1,1,1,Pretended,{ms},{ms},{ms}")
    elif name == "overlap":
        lines.append("name,type,N,products,streams,device,real_time_ms,in_ms,compute_ms,out_ms,floor_ms")
        lines.append(f"serial,{kind},{size},8,1,Pretended,30,10,15,5,15")
        lines.append(f"streams,{kind},{size},8,3,Pretended,16,10,15,5,15")
    elif name == "outofcore":
        lines.append("name,type,N,device,memory_bytes,real_time_ms,gflops,bytes_in,bytes_out,host_memory,verdict")
        lines.append(f"outofcore,{kind},{size},Pretended,1000,40,900,1,1,pageable,ok")
    elif name == "gemm":
        head = ("name,choice,type,op,M,N,K,real_time_us,cublas_us,tflops,gbytes_per_s,ratio,result")
        lines += [head, "limit_ffma,,float,,,,,,,60,,,", "limit_dfma,,double,,,,,,,30,,,",
                  "limit_dmma_m16n8k16,,double,,,,,,,60,,,", "limit_read,,,,,,,,,,4000,,",
                  f"limit_launch,,,,,,,{LAUNCH * 1000},,,,,"]
        for size in (256, 1024):
            lines.append(f"auto,small,float,nn,{size},{size},{size},10,12,1,1,1.2,ok")
            lines.append(f"textbook,shared_32,float,nn,{size},{size},{size},20,12,1,1,0.6,ok")
    else:
        lines += ["way,loads,stores,extra,MB,ms,GB/s,x time,result",
                  "copy from pinned (right),0,0,1,1,2,50,1,ok", "by page faults,0,0,1,1,nan,nan,nan,ok",
                  "copy from pageable,0,0,1,1,20,5,10,ok"]
    if fault == "nonsense":
        lines = [lines[0], "what,is,this"]
    with open(words[words.index("--csv") + 1], "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return 0


if len(sys.argv) > 2 and sys.argv[1] == "--stand-in":
    sys.exit(stand_in(os.path.relpath(sys.argv[2], os.environ["REPORT_TEST_PROGRAMS"]), sys.argv[3:]))

import measure  # noqa: E402
import plots  # noqa: E402
import sentences  # noqa: E402
import store  # noqa: E402
import tables  # noqa: E402
from figures import INTENSITY, Figures  # noqa: E402

# ---- TAP -----------------------------------------------------------------------------------------
number = failures = 0


def check(name, good, *said):
    """One result."""
    global number, failures
    number += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    for text in said if not good else ():
        print("\n".join(f"# {line}" for line in str(text).split("\n")[:20]))


# ---- planted figures -----------------------------------------------------------------------------
PLACE = {
    "backend": "GPU", "device": "Pretended", "driver": "1.0", "toolkit": "CUDA 13.0", "compiler": "g++ 13",
    "processor": "A CPU", "cores": 16, "sources": "01234567", "date": "2026-01-02", "job": "planted",
}


def planted(subject, **values):
    """A row as the store reads it."""
    row = dict.fromkeys(store.FIELDS)
    row.update({field: "" for field in store.FIELDS if field not in store.INTEGERS | store.REALS})
    return {**row, **PLACE, "subject": subject, **values}


def product(name, kind, size, ms, peak=None, shape=None, **values):
    """A product; with a peak in GFLOP/s, the percentage of it."""
    rows, columns, depth = shape or (size, size, size)
    rate = 2.0 * rows * columns * depth / ms * 1e-6
    memory = "CPU caches" if name in ("sequential", "OpenMP") else "library" if name == "cuBLAS" else "shared"
    return planted("matmul", **{
        "name": name, "type": kind, "M": rows, "N": columns, "K": depth, "memory": memory, "rate": rate,
        "min_ms": 0.9 * ms, "mean_ms": ms, "median_ms": ms, "max_ms": 1.1 * ms, "repetitions": 3,
        "percent_of_limit": 100 * rate / peak if peak else None, "verdict": "ok", **values,
    })


def limit(name, rate=None, ms=None):
    """A measured limit."""
    return planted("limits", name=name, rate=rate, median_ms=ms)


def planted_device(float_peak, double_peak, bandwidth, parts, kinds=("float", "double"), sizes=(32, 256, 4096),
                   launch=LAUNCH):
    """Figures of a device: each kernel at its part of the peak, never faster than a launch."""
    peak = {"float": float_peak, "double": double_peak}
    rows = [limit("ffma", float_peak), limit("dfma", double_peak), limit("read", bandwidth),
            limit("launch", ms=launch)]
    for kind in kinds:
        for size in sizes:
            for name, part in parts[kind].items():
                ms = max(launch * 1.1, flop(size) / (part * peak[kind]) * 1e-6)
                rows.append(product(name, kind, size, ms, peak[kind]))
    return Figures(rows)


def says(name, said, *wanted, never=()):
    """All of these are in what is said, and none of those."""
    text = "\n".join(said)
    missing = [w for w in wanted if w not in text] + [f"not: {n}" for n in never if n in text]
    check(name, not missing, missing, text)


def test_sentences():
    """Which limit binds, on devices whose answer is known."""
    usual = {"global": 0.1, "shared_16": 0.13, "shared_32": 0.15, "register_128": 0.6, "pipelined": 0.85}
    flat = {"global": 0.55, "shared_16": 0.9, "shared_32": 0.93, "register_128": 0.95, "pipelined": 0.96}
    starved = planted_device(64000.0, 1000.0, 900.0, {"float": usual, "double": flat})
    says("a card with FP64 at 1/64: arithmetic binds, and shared cannot help", sentences.shared(starved, "double"),
         "1/64 of the rate of float", "1.00 TFLOP/s", "shared 93%", "FP64 arithmetic binds", "cannot help",
         never=["which is a gain", "caches serve", "does not win"])
    says("the same card in float is not taken for starved", sentences.shared(starved, "float"),
         "1.50 times as fast as global, which is a gain", never=["1/64"])
    says("it says so by size, too", sentences.ladder(starved, "double"), "FP64 arithmetic binds, which has 1/64")
    says("and at the head of the page", sentences.summary(starved), "64 FP32 operations for one of FP64",
         "starved of FP64")
    slow = planted_device(64000.0, 1000.0, 900.0, {"float": usual, "double": {"global": 0.3, "shared_32": 0.4}})
    says("starved, but far from the limit: it does not claim that arithmetic binds",
         sentences.shared(slow, "double"), "1/64", never=["cannot help"])
    even = planted_device(60000.0, 30000.0, 4000.0, {"float": usual, "double": usual})
    says("a card with FP64 at 1/2 is not starved", sentences.summary(even), "made for FP64", never=["starved"])
    says("FP32 binds the fastest kernel", sentences.ladder(even, "float"), "N = 4096", "pipelined",
         "FP32 arithmetic binds: 85% of 60.0 TFLOP/s")
    says("a launch binds at N = 32", sentences.ladder(even, "float"),
         "N = 32: ", "the launch binds: 91% of the time is what an empty launch takes (4.00 us)")
    says("and there shared has nothing to win", sentences.shared(even, "float"),
         "Launch, float: at N = 32 and 256 most of global's time is a launch", never=["by 10%"])
    says("shared wins: fewer loads, and caches serve the rest", sentences.shared(even, "float"),
         "1.50 times as fast as global", "a 32nd of the loads", "24.0 TB/s", "6.00 times", "serve 83% of them")
    tied = dict(usual, shared_16=0.1, shared_32=0.102)
    says("shared does not matter: said so", sentences.shared(planted_device(6e4, 3e4, 4e3, {
        "float": tied}, ["float"]), "float"), "no gain worth the name", never=["which is a gain"])
    lost = dict(usual, shared_16=0.06, shared_32=0.07)
    says("shared loses: said so", sentences.shared(planted_device(6e4, 3e4, 4e3, {
        "float": lost}, ["float"]), "float"), "0.700 times as fast as global", "does not win on this device",
        never=["which is a gain"])
    # without caches: the loads of global are what its time is, 0.25 FLOP a byte
    bare = planted_device(10000.0, 5000.0, 400.0, {"float": {"global": 0.0099, "shared_16": 0.12}}, ["float"])
    name, share = bare.limits.binding(bare.product("float", 4096, "global"))
    check("a kernel as fast as its loads come from memory is bound by memory",
          name == "memory" and 0.98 < share < 1.02, name, share)
    says("and shared wins for that", sentences.shared(bare, "float"), "so memory binds it")
    flat_shape = Figures([limit("read", 4000.0), limit("ffma", 60000.0), limit("launch", ms=LAUNCH),
                          product("pipelined", "float", 8192, 0.071, 60000.0, shape=(1, 8192, 8192))])
    name, share = flat_shape.limits.binding(flat_shape.rows[3])
    check("a row times a matrix is bound by memory", name == "memory" and share > 0.9, name, share)
    # no limit measured: the peak that demos/matmul computes is taken
    nominal = Figures([product(n, k, 4096, flop(4096) / (0.9 * p) * 1e-6, p) for k, p in
                       (("float", 32000.0), ("double", 500.0)) for n in ("global", "shared_32")])
    says("without measured limits a starved card is recognised by its peaks", sentences.shared(nominal, "double"),
         "1/64", "FP64 arithmetic binds")
    tensor = Figures([*even.rows, limit("dmma_m16n8k16", 60000.0),
                      product("tensor", "double", 4096, flop(4096) / 54000 * 1e-6, 30000.0)])
    says("FP64 by tensor cores is held against their limit", sentences.ladder(tensor, "double"),
         "the FP64 tensor cores bind: 90% of 60.0 TFLOP/s")
    copied = Figures([product("pipelined", "float", 4096, 3.0, 60000.0, end_to_end_ms=30.0),
                      product("sequential", "float", 4096, 9000.0)])
    says("copies bind a single product", sentences.ladder(copied, "float"), "10.0 times as long as the kernel alone",
         "bound by copies")
    says("and the GPU's gain is given with them", sentences.gpu_cpu(copied, "float"),
         "300 times as fast as one CPU thread", "90% of that time is copies")
    on_cpu = Figures([dict(row, backend="CPU") for row in even.rows if row["subject"] == "matmul"])
    for function in (sentences.ladder, sentences.gpu_cpu, sentences.shared, sentences.roofline):
        says(f"on the CPU runner {function.__name__} claims nothing of a GPU", function(on_cpu, "float"), "CPU",
             never=["binds", "TB/s"])
    wrong = Figures([*even.rows, product("small", "float", 4096, 3.0, verdict="wrong")])
    says("a wrong result comes first", sentences.summary(wrong)[:1], "WRONG RESULTS: 1", "small")
    empty = Figures([planted("spheres", name="global", memory="global", spheres=16, width=4, height=4,
                             median_ms=1.0)])
    for function in (sentences.summary, sentences.cublas, sentences.spheres, sentences.overlap, sentences.memory):
        function(empty)
    check("figures of next to nothing are no trouble", len(tables.all_tables(empty)) == 2 and plots.all_plots(empty))


def test_choice():
    """What demos/matmul --why prints, as rows and as sentences."""
    rows = measure.from_why("float")(WHY.format(300, "Pretended"))
    kept = [(r["name"], r["takes"], r.get("predicted_ms"), r["plan"], r.get("bound")) for r in rows]
    check("--why: a row for each kernel", [k[:2] for k in kept] == [
        ("pipelined", "chosen"), ("small", "compared"), ("register_128", "only by name"),
        ("global", "only by name"), ("shared_8", "no"), ("skinny", "no")], kept)
    check("--why: time, plan and bound of a kernel, or why not", kept[0][2:] == (
        0.05453, "tile 128 x 128, instance 2, k in 2 slices, which a block adds, A packed", "arithmetic") and
        kept[3][2] is None and kept[5][2:] == (
            None, "kernel skinny: M x N is 300 x 300, but one of them must be 16 at most", None), kept)
    for name, old, new in (("no head", "batch 1", "batch"), ("another word", "bound by", "bound of"),
                           ("a line too many", "Without clusters", "Also"), ("nothing chosen", "* pip", "  pip")):
        try:
            measure.from_why("float")(WHY.format(300, "Pretended").replace(old, new))
            check(f"--why with {name} is refused", False)
        except ValueError as error:
            check(f"--why with {name} is refused", str(error))

    def chosen(ms, small_ms, backend="GPU"):
        there = [planted("choice", **{**row, "M": 300, "N": 300, "K": 300, "backend": backend}) for row in rows]
        times = (("pipelined", ms), ("small", small_ms))
        f = Figures([*there, *[product(name, "float", 300, t, backend=backend) for name, t in times]])
        table = tables.all_tables(f)["choice-float-300"]
        return table.notes, table.rows

    said, lines = chosen(0.06, 0.07)
    says("the choice: by how much, and right", said, "It takes pipelined, predicted at 54.5 us, bound by arithmetic; "
         "next comes small, predicted to take 1.32 times as long.", "pipelined took 60.0 us, the least")
    check("the choice: what was measured stands beside", [line[2:4] for line in lines[:3]] == [
        ["54.5", "60.0"], ["72.1", "70.0"], ["115", "-"]], lines)
    says("the choice: a faster kernel is named", chosen(0.06, 0.05)[0], "small is the fastest", "50.0 us",
         never=["the least"])
    said, lines = chosen(0.06, 0.05, "CPU")
    says("the choice: CPU times say nothing of it", said, "predictions for that GPU", never=["easured", "50.0"])
    check("the choice: nor does the table", all(len(line) == 5 for line in lines), lines)


def near(text, value):
    """Is the number of a cell this one, to the digits that it shows?"""
    return text != "-" and abs(float(text) - value) <= 0.006 * abs(value)


def test_tables(path):
    """The tables against what is computed here from the CSV file, by other means."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    made = tables.all_tables(Figures(store.Store(path).rows))

    def time_of(name, kind, size, threads=""):
        found = [float(r["median_ms"]) for r in rows if r["subject"] == "matmul" and r["type"] == kind and
                 r["N"] == str(size) and r["name"].split(" =")[0] == name and r["threads"] == threads]
        return found[0] if found else None

    good = True
    for size, basic, *tiles, best, ratio in made["shared-float"].rows:
        shared = [time_of(f"shared_{n}", "float", size) for n in (8, 16, 32)]
        good &= near(basic, time_of("global", "float", size)) and all(map(near, tiles, shared))
        good &= near(ratio, time_of("global", "float", size) / min(shared))
        good &= best == str((8, 16, 32)[shared.index(min(shared))])
    check("table: global against shared, from the CSV", good and len(made["shared-float"].rows) == 4,
          made["shared-float"].rows)
    table = made["methods-double"]
    size = int(table.title.split("= ")[1])
    alone = time_of("sequential", "double", size)
    by_name = {row[0]: row for row in table.rows}
    threads = by_name["OpenMP, 4 threads"]
    took = time_of("OpenMP", "double", size, "4")
    ranks = by_name["MPI, 2 ranks"]
    mpi = [float(r["median_ms"]) for r in rows if r["name"] == "MPI" and r["type"] == "double" and
           r["ranks"] == "2" and r["N"] == str(size)][0]
    basic = by_name["CUDA basic (global)"]
    check("table: S = T_s / T_p and E = S / p of OpenMP", near(threads[6], alone / took) and
          near(threads[7], alone / took / 4), threads)
    check("table: S and E of MPI", near(ranks[6], alone / mpi) and near(ranks[7], alone / mpi / 2), ranks)
    check("table: S of CUDA, and no E", near(basic[6], alone / time_of("global", "double", size)) and basic[7] == "-",
          basic)
    check("table: a line for each kernel that was measured", {"direct", "tensor cores, INT8", "small"} <= set(by_name),
          list(by_name))
    shown = [near(basic[n + 1], float(next(r[f] for r in rows if r["name"] == "global" and r["type"] == "double" and
                                           r["N"] == str(size)))) for n, f in
             enumerate(("min_ms", "mean_ms", "median_ms", "max_ms"))]
    check("table: minimum, mean, median, maximum", all(shown), basic)
    good = True
    for row in made["error-float"].rows:
        ours = [r for r in rows if r["type"] == "float" and r["N"] == row[0] and r["subject"] == "matmul" and
                r["name"] in INTENSITY]
        least = min(ours, key=lambda r: float(r["median_ms"]))
        good &= near(row[2], float(least["median_ms"])) and near(row[3], float(least["end_to_end_ms"]))
        good &= row[7] == f"{max(float(r['max_abs_error']) for r in ours):.1e}"
        cpu = time_of("sequential", "float", row[0])
        good &= near(row[6], cpu / float(least["end_to_end_ms"])) if cpu else row[6] == "-"
    check("table: error, and GPU against CPU", good, made["error-float"].rows)
    row = made["devices-float"].rows[1]
    check("table: a row per device, with times and ratio", row[0] == "2/8 first" and row[3] == "75%" and
          near(row[4], 9) and near(row[5], 9 / 8) and near(row[6], 12) and near(row[8], 1.5), row)
    row = made["spheres"].rows[1]
    check("table: spheres by memory", row[0] == "128" and near(row[2], 0.256) and near(row[3], 0.128) and
          near(row[-1], 2), made["spheres"].rows)
    row = made["cublas-ratio"].rows[0]
    check("table: ratio to cuBLAS", row[0] == "float" and [t for t in row[1:] if t != "-"] == ["1.20"] * 2, row)
    good = True
    for size in (32, 1024, 4096):
        table = made[f"choice-float-{size}"]
        good &= near(table.rows[0][3], 1e3 * time_of("pipelined", "float", str(size))) and "Pretended" in table.title
    check("table: how TMM_AUTO chooses, beside what was measured", good and "choice-int-32" in made, table.rows)
    row = made["scaling-float"].rows[1]
    check("table: by threads and ranks", row[0] == "2" and near(row[2], 2 * 1.125) and near(row[3], 1.125) and
          near(row[5], 2 / 1.1), row)
    even = all(len(row) == len(table.head) for table in made.values() for row in table.rows)
    said = [name for name, table in made.items() if not table.notes and name != "machine"]
    check("every table has cells for its head, and a sentence", even and not said, said)
    return made


class Reader(html.parser.HTMLParser):
    """What a page links to and is linked by."""

    def __init__(self):
        super().__init__()
        self.anchors, self.links, self.sources, self.tags = [], [], [], set()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.add(tag)
        self.anchors += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes["href"]] if "href" in attributes else []
        self.sources += [attributes["src"]] if "src" in attributes else []


def test_page(folder, made):
    """page.html, tables.md, tables.tex, plots."""
    with open(os.path.join(folder, "page.html"), encoding="utf-8") as file:
        text = file.read()
    reader = Reader()
    reader.feed(text)
    check("page: anchors are there once, and every link leads to one", len(set(reader.anchors)) == len(reader.anchors)
          and all(link[1:] in reader.anchors for link in reader.links), reader.links)
    alone = all(source.startswith("data:") for source in reader.sources)
    check("page: nothing from outside, no script", alone and not reader.tags & {"script", "link", "iframe"} and
          "url(" not in text, reader.tags)
    check("page: for phones and for paper", 'name="viewport"' in text and "@media print" in text)
    check("page: all tables, and all plots with a text", all(f'id="table-{name}"' in text for name in made) and
          text.count("<img alt=") == len(reader.sources) >= 9, len(reader.sources))
    with open(os.path.join(folder, "tables.md"), encoding="utf-8") as file:
        markdown = file.read()
    blocks = re.findall(r"(?:^\|.*\n)+", markdown, re.M)
    even = all(len({line.count("|") for line in block.replace("\\|", "").strip().split("\n")}) == 1
               for block in blocks)
    check("Markdown: as many tables, even rows", len(blocks) == len(made) and even)
    with open(os.path.join(folder, "tables.tex"), encoding="utf-8") as file:
        latex = file.read()
    parts = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", latex, re.S)
    bad = [line for columns, body in parts for line in body.strip().split("\n") if line != r"\hline" and
           (len(re.findall(r"(?<!\\)&", line)) + 1 != len(columns) or re.search(r"(?<!\\)[_#%$]", line) or
            not line.endswith(r" \\"))]
    balanced = latex.count("{") - latex.count(r"\{") == latex.count("}") - latex.count(r"\}")
    check("LaTeX: as many tables, even rows, nothing left to escape",
          len(parts) == len(made) and not bad and balanced, bad)
    files = sorted(os.listdir(os.path.join(folder, "plots")))
    names = {file.rsplit(".", 1)[0] for file in files}
    good = all(f"{name}.{form}" in files for name in names for form in ("png", "svg"))
    for file in files:
        path = os.path.join(folder, "plots", file)
        if file.endswith(".svg"):
            xml.etree.ElementTree.parse(path)
        else:
            with open(path, "rb") as stream:
                good &= stream.read(8) == b"\x89PNG\r\n\x1a\n"
    check("plots: PNG and SVG of each", good and len(names) == text.count("<figure"), files)


def test_plots(figures):
    """Every plot is labelled, nothing is cut off, no two labels lie on each other."""
    for name, (figure, _) in plots.all_plots(figures).items():
        figure.canvas.draw()
        axes = figure.axes[0]
        canvas = figure.bbox
        texts = [t for t in figure.findobj(plots.plt.Text) if t.get_visible() and t.get_text().strip()]
        boxes = [(t.get_text(), t.get_window_extent()) for t in texts]
        # labels of ticks beyond the ends of an axis are not drawn
        across, up = ({id(t) for t in axis.get_ticklabels(which="both")} for axis in (axes.xaxis, axes.yaxis))
        inside = axes.bbox
        drawn = [(text, box) for t, (text, box) in zip(texts, boxes) if
                 (id(t) not in across or inside.x0 - 2 < (box.x0 + box.x1) / 2 < inside.x1 + 2) and
                 (id(t) not in up or inside.y0 - 2 < (box.y0 + box.y1) / 2 < inside.y1 + 2)]
        cut = [text for text, box in drawn if box.x0 < -1 or box.y0 < -1 or box.x1 > canvas.x1 + 1 or
               box.y1 > canvas.y1 + 1]
        over = [(a, b) for n, (a, box) in enumerate(drawn) for b, other in drawn[:n] if box.overlaps(other)]
        labelled = axes.get_xlabel() and axes.get_ylabel() and axes.get_title()
        check(f"plot {name}: labelled, not cut, nothing overlaps", labelled and not cut and not over, cut, over)
        plots.close(figure)


def test_store():
    """results.csv: what is written is read; what is no such file is refused."""
    path = os.path.join(WORK, "results.csv")
    first = store.Store(path)
    first.append([planted("matmul", name="a, \"b\"", M=3, median_ms=0.1 + 0.2, max_abs_error=1e-300)])
    again = store.Store(path).rows[0]
    check("store: what was written is read", again["name"] == 'a, "b"' and again["M"] == 3 and again["N"] is None and
          again["median_ms"] == 0.3 and again["max_abs_error"] == 1e-300, again)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name, content in (("cut short", text[:-40]), ("empty", ""), ("something else", "a,b\n1,2\n"),
                          ("with words for numbers", text.replace("planted,matmul", "planted,matmul", 1)
                           .replace(",3,", ",three,")), ("binary", "\0\1\2" * 50)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        try:
            store.Store(path)
            check(f"store: a file {name} is refused", False)
        except store.StoreError as error:
            check(f"store: a file {name} is refused", path in str(error) and "\n" not in str(error), error)
    os.remove(path)
    one = [{"name": "a", "type": "float", "min_ms": n, "mean_ms": n, "median_ms": n, "max_ms": n, "repetitions": 1}
           for n in (3.0, 1.0, 2.0, 6.0)]
    merged = measure.merge_runs([[row] for row in one])
    check("four runs: minimum 1, mean 3, median 2.5, maximum 6", [merged[0][k] for k in (
        "min_ms", "mean_ms", "median_ms", "max_ms", "repetitions")] == [1, 3, 2.5, 6, 4], merged)


def test_sources():
    """What the report repeats of the sources is what they say."""
    def read(path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return re.sub(r"\s+", " ", file.read())

    header = read("tiledmm.cuh")
    stated = ("0.25 FLOP per byte in float", "TMM_TILE / 4 FLOP per byte in float (8 for tile 32)",
              "TILE / 4 FLOP per byte in float (32 for TILE 128)", "M N K elements, 32 FLOP per byte in float",
              "10.7 FLOP per byte in float for 32 x 64", "FLOP per byte 16 8")
    check("the intensities are those that tiledmm.cuh states", all(text in header for text in stated) and
          INTENSITY == {"global": 0.25, "shared_8": 2, "shared_16": 4, "shared_32": 8, "register_64": 16,
                        "register_128": 32, "small": 10.7, "pipelined": 32, "tensor": 2 * 16},
          [text for text in stated if text not in header])
    most = int(re.search(r"define RAYT_MAX_CONST (\d+)", read("raytrace.cuh"))[1])
    check("so is what constant memory holds of spheres", sentences.CONSTANT_HOLDS == most // 64 * 2)
    heads = {
        "demos/matmul.cu": measure.from_matmul(1), "demos/raytrace.cu": measure.from_raytrace(1),
        "demos/matmul_mpi.cu": measure.from_mpi("MPI", "CPU", 1), "demos/multigpu.cu": measure.from_multigpu(2, 1),
        "demos/overlap.cu": measure.from_overlap, "demos/outofcore.cu": measure.from_outofcore,
        "demos/memory/global.cu": measure.from_memory("global"), "bench/gemm.cu": measure.from_gemm,
    }
    for path, convert in heads.items():
        source = re.sub(r'" *\n? *"', "", read(path).replace("%%", "%"))
        columns = next((text.split(",") for text in re.findall(r'"((?:[\w%/ ]+,)+\w+)\\n"', source) if
                        len(text.split(",")) > 8), None)
        try:
            row = dict.fromkeys(columns, "1")
            row.update(name="auto", source="measured", scaling="strong")
            check(f"{path} writes the columns that are read", convert(row))
        except (KeyError, TypeError) as error:
            check(f"{path} writes the columns that are read", False, repr(error), columns)


# ---- whole runs ----------------------------------------------------------------------------------
PROGRAMS = os.path.join(WORK, "programs")
BIN = os.path.join(WORK, "bin")


def script(path, text):
    """An executable file."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, 0o755)


def make_stand_ins():
    """Programs in the place of the built ones; nvcc, nvidia-smi and mpirun of a pretended GPU."""
    names = ["matmul", "matmul_mpi", "multigpu", "raytrace", "overlap", "outofcore"]
    call = f'#!/bin/sh\nexec "{sys.executable}" "{os.path.abspath(__file__)}" --stand-in "$0" "$@"\n'
    for name in names:
        script(os.path.join(PROGRAMS, name + ".cpu"), call)
    # nvcc: "compiles" a stand-in to the name after -o
    script(os.path.join(BIN, "nvcc"), "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
           "[ \"$1\" = --version ] && echo 'release 13.0, V13' && exit\n"
           "[ -z \"$REPORT_TEST_SLOW\" ] || { echo nvcc >>\"$REPORT_TEST_LOG\"; sleep \"$REPORT_TEST_SLOW\"; }\n"
           f"cat >\"$out\" <<'END'\n{call}END\nchmod +x \"$out\"\n")
    script(os.path.join(WORK, "include/cublas_v2.h"), "")
    script(os.path.join(BIN, "nvidia-smi"), "#!/bin/sh\n[ \"$1\" = -L ] && echo 'GPU 0: Pretended' && exit\n"
           "echo 'Pretended, 1.0, 9.0'\n")
    script(os.path.join(BIN, "mpirun"), "#!/bin/sh\n[ \"$1\" = --version ] && exit\nshift 2; exec \"$@\"\n")
    script(os.path.join(BIN, "mpicxx"), "#!/bin/sh\n")


def hear_interrupts():
    """What a shell starts in the background, as build.sh does its tests, ignores them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def report(*words, gpu=False, **environment):
    """Starts bench/report on the stand-ins."""
    more = dict(environment, REPORT_TEST_PROGRAMS=PROGRAMS)
    if gpu:
        more["PATH"] = BIN + os.pathsep + os.environ["PATH"]
    given = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
    return subprocess.Popen([sys.executable, REPORT, "--programs", PROGRAMS, *([] if gpu else ["--cpu"]), *words],
                            env={**given, **more}, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, preexec_fn=hear_interrupts)


def run(*words, **more):
    """Runs it to its end: status, output, errors."""
    process = report(*words, **more)
    out, error = process.communicate(timeout=PATIENCE)
    return process.returncode, out, error


def test_resuming():
    """Interrupted, what was measured stays; started again, only the rest is measured."""
    folder, log = os.path.join(WORK, "resumed"), os.path.join(WORK, "calls.txt")
    words = ("--out", folder, "--quick", "--only", "devices,spheres,overlap,outofcore", "--types", "float")
    process = report(*words, REPORT_TEST_LOG=log, REPORT_TEST_HANGS="3")
    while len(calls(log)) < 3 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=PATIENCE)
    path, page = os.path.join(folder, "results.csv"), os.path.join(folder, "page.html")
    rows = store.Store(path).rows
    done = {row["job"] for row in rows}
    check("interrupted: status 130, and a sentence", process.returncode == 130 and "interrupted" in error and
          "Traceback" not in error, process.returncode, out, error)
    check("interrupted: what was measured stays, and nothing waits for a page", len(done) == 2 and
          "--page" in error and not os.path.exists(page), done)
    status, out, error = run(*words, "--page", REPORT_TEST_LOG=log)
    check("--page makes the page of that", status == 0 and os.path.exists(page), status, error)
    before = len(calls(log))
    status, out, error = run(*words, REPORT_TEST_LOG=log)
    rows = store.Store(path).rows
    made = [tuple(row[field] for field in ("subject", "name", "N", "spheres", "place")) for row in rows]
    check("resumed: the rest, once", status == 0 and len(calls(log)) == before + 2 and len(set(made)) == len(made) and
          {row["subject"] for row in rows} == {"devices", "spheres", "overlap", "outofcore"} and
          "2 of 4 measurements" in out, out, error, calls(log))
    status, out, error = run(*words, REPORT_TEST_LOG=log)
    check("again: nothing is left to measure", status == 0 and len(calls(log)) == before + 2, out, error)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    here = store.Store(path).rows[0]["compiler"]
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(here, "another compiler"))
    status, out, error = run(*words, REPORT_TEST_LOG=log)
    check("measured elsewhere: refused, not mixed", status == 2 and "another compiler" in error and
          "--fresh" in error and error.count("\n") == 1, status, error)
    return words


def test_interrupted_build():
    """Interrupted while programs are compiled, it ends these and begins no other."""
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        name = signal.Signals(number).name
        folder, log = os.path.join(WORK, name), os.path.join(WORK, name + ".txt")
        process = report("--out", folder, "--programs", folder, gpu=True, REPORT_TEST_LOG=log, REPORT_TEST_SLOW="25")
        while not calls(log) and process.poll() is None:
            time.sleep(0.02)
        time.sleep(0.5)  # as many as there are cores
        begun, begin = len(calls(log)), time.monotonic()
        process.send_signal(number)
        out, error = process.communicate(timeout=PATIENCE)
        took = time.monotonic() - begin
        check(f"{name} while programs are compiled: status {status}, without waiting, no other is begun",
              process.returncode == status and took < 12 and len(calls(log)) == begun and "interrupted" in error and
              "Traceback" not in error, process.returncode, f"{took:.1f} s", begun, calls(log), out, error)


def test_faults(words):
    """Bad options, folders that cannot be used, programs that fail: a status and a sentence."""
    def refused(name, status, pattern, *given, lines=1, **more):
        found, out, error = run(*given, **more)
        check(name, found == status and re.search(pattern, error) and error.count("\n") == lines and
              "Traceback" not in error, f"status {found}", out, error)

    for given, pattern in (
        (["--nothing"], "unrecognized arguments: --nothing"), (["--sizes", "12x"], "'12x' is no whole number"),
        (["--sizes", "0"], "from 1 to"), (["--types", "half"], "'half' is none of float"),
        (["--only", "all"], "none of limits"), (["--reps", "-1"], "reps"), (["--ranks"], "expected one argument"),
    ):
        refused(f"a bad option: {' '.join(given)}", 2, pattern, *given)
    file = os.path.join(WORK, "a file")
    script(file, "")
    refused("a folder that cannot be made", 2, "cannot make the folder '.*a file/x'", "--out", file + "/x")
    folder = os.path.join(WORK, "folder")
    os.makedirs(os.path.join(folder, "results.csv"))
    refused("results.csv that cannot be read", 2, "results.csv': Is a directory", "--out", folder)
    refused("a page of nothing", 2, "there is no '.*results.csv'", "--page", "--out", os.path.join(WORK, "none"))
    folder = os.path.join(WORK, "full")
    os.makedirs(folder)
    shutil.copy(os.path.join(WORK, "resumed/results.csv"), folder)
    script(os.path.join(folder, "plots"), "")
    refused("a page that cannot be written", 1, "cannot write '.*plots", "--page", "--out", folder)
    few = ("--only", "matmul", "--types", "float", "--sizes", "32", "--reps", "1", "--out")
    refused("a program that fails", 1, "nothing is measured.*exit status 1: a kernel: an illegal memory", *few,
            os.path.join(WORK, "dies"), REPORT_TEST_FAULT="dies")
    refused("a program whose CSV is nonsense", 1, "its CSV cannot be read", *few, os.path.join(WORK, "nonsense"),
            REPORT_TEST_FAULT="nonsense")
    refused("a wrong result: status 1", 1, "1 results are WRONG", *few, os.path.join(WORK, "wrong"),
            REPORT_TEST_FAULT="wrong")
    with open(os.path.join(WORK, "wrong/page.html"), encoding="utf-8") as page_file:
        check("and the page says so", re.search('<li class="wrong">WRONG RESULTS: 1 .*shared_16', page_file.read()))
    why = ("--only", "choice", "--types", "double", "--out")
    refused("a choice that cannot be read", 1, "choice double 256 H200: what it prints cannot be read: \\* pipelined",
            *why, os.path.join(WORK, "unread"), REPORT_TEST_FAULT="nonsense")
    refused("--gpu where there is a GPU", 2, "--gpu is for machines without a GPU", *why, os.path.join(WORK, "x"),
            "--gpu", "H100", gpu=True)
    log = os.path.join(WORK, "why.txt")
    status, _, error = run(*why, os.path.join(WORK, "why"), "--gpu", "H100", REPORT_TEST_LOG=log)
    check("without a GPU: the choice for one by name", status == 0 and calls(log) == [
        f"matmul.cpu {size} --type double --gpu H100" for size in (256, 1024, 4096)], status, error, calls(log))
    absent = os.path.join(WORK, "absent")
    script(os.path.join(absent, "sitecustomize.py"), "import importlib.util\nfind = importlib.util.find_spec\n"
           "importlib.util.find_spec = lambda name, *rest: None if name == 'matplotlib' else find(name, *rest)\n")
    refused("without matplotlib: how to get it", 2, "matplotlib is missing; ./build.sh report installs it", *words,
            PYTHONPATH=absent)


def test_gpu():
    """A whole run on the pretended GPU. Returns its folder."""
    folder = os.path.join(WORK, "gpu")
    status, out, error = run("--out", folder, "--sizes", "32,256,1024,4096", "--reps", "2", gpu=True)
    check("a whole run on a pretended GPU", status == 0 and "Pretended" in out and "page.html" in out and not error,
          status, out, error)
    rows = store.Store(os.path.join(folder, "results.csv")).rows
    subjects = {row["subject"] for row in rows}
    check("all subjects are measured", subjects == set(measure.SUBJECTS), subjects)
    check("every row says where, with what and when", all(row[field] for row in rows for field in (
        "device", "driver", "toolkit", "compiler", "processor", "date")), rows[0])
    return folder


def main():
    """All tests."""
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    make_stand_ins()
    test_sentences()
    test_choice()
    test_store()
    test_sources()
    folder = test_gpu()
    made = test_tables(os.path.join(folder, "results.csv"))
    test_page(folder, made)
    test_plots(Figures(store.Store(os.path.join(folder, "results.csv")).rows))
    test_faults(test_resuming())
    test_interrupted_build()
    print(f"1..{number}")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()

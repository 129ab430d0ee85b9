"""What is run: the programs to build, the jobs, and how each program's CSV becomes rows of results.csv."""
import collections
import concurrent.futures
import contextlib
import csv
import dataclasses
import glob
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import machine as machine_module
import store as store_module
from machine import ROOT

MEMORY_DEMOS = "async_copy constant global local managed mapped pinned readonly registers shared texture".split()
SUBJECTS = "limits matmul choice mpi devices spheres overlap outofcore memory".split()
TIME_LIMIT = 300  # seconds for one run of a program


class Failed(Exception):
    """A program that did not build, run or print what it should; the text says which and why."""


@dataclasses.dataclass
class Job:
    """One or more runs of one program, which give some rows of results.csv."""

    name: str  # unique; in the column `job`
    subject: str
    program: str
    arguments: list
    convert: object  # a row of the program's CSV -> a dict of columns, or None to leave it out
    seconds: float  # expected, for the time that remains
    repeat: int = 1  # runs of the program, where it measures once only
    ranks: int = 0  # by mpirun with so many
    environment: dict = dataclasses.field(default_factory=dict)
    prints: bool = False  # no CSV: what it prints -> a list of dicts of columns


# ---- programs ------------------------------------------------------------------------------------
def source_of(program):
    """The .cu file of a program; the name of one for the CPU runner ends in .cpu."""
    name = program.removesuffix(".cpu")
    return "bench/gemm.cu" if name == "gemm" else f"demos/{name}.cu"


def cublas_there():
    """Can programs be linked with cuBLAS?"""
    nvcc = shutil.which("nvcc")
    return bool(nvcc) and os.path.exists(
        os.path.join(os.path.dirname(os.path.realpath(nvcc)), "../include/cublas_v2.h")
    )


def build_command(program, path, machine):
    """How a program is compiled."""
    source = source_of(program)
    if program.endswith(".cpu"):
        return [os.path.join(ROOT, "cpu/cucc"), "-Xcompiler", "-fopenmp", source, "-o", path]
    # what the fastest kernels are made of is in the instruction set with an "a" only
    native = ["-gencode", "arch=compute_90a,code=sm_90a"]
    command = ["nvcc", "-O3", *(native if machine.get("capability") == "9.0" else ["-arch=native"])]
    if program == "matmul_mpi":
        command += ["-ccbin", "mpicxx"]
    if program == "matmul":
        command += ["-Xcompiler", "-fopenmp"]
    if program == "matmul" and cublas_there():
        command += ["-DWITH_CUBLAS", "-lcublas"]
    if program == "gemm":
        command += ["-lcublas", "-lcublasLt"]
    return [*command, source, "-o", path]


def is_current(path, program):
    """Is it there, and newer than all that it is made from?"""
    patterns = [source_of(program), "*.cuh"]
    if program.endswith(".cpu"):
        patterns += ["cpu/cucc", "cpu/*/*"]
    if not os.path.exists(path):
        return False
    newest = max(
        os.path.getmtime(file)
        for pattern in patterns
        for file in glob.glob(os.path.join(ROOT, pattern))
    )
    return os.path.getmtime(path) >= newest


def build(programs, folder, machine, progress):
    """Compiles what is not current, several at a time. Returns {program: why it could not be built}."""
    outdated = [p for p in programs if not is_current(os.path.join(folder, p), p)]
    failed, done = {}, 0

    def compile_one(program):
        path = os.path.join(folder, program)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        environment = dict(os.environ)
        if program == "matmul_mpi.cpu":
            environment["CXX"] = "mpicxx"
        run_command(build_command(program, path + ".new", machine), environment, 600)
        os.replace(path + ".new", path)  # an interrupted compilation may leave half of a program

    with concurrent.futures.ThreadPoolExecutor(min(8, machine_module.core_count())) as pool:
        waiting = {pool.submit(compile_one, program): program for program in outdated}
        try:
            while waiting:
                progress.show(f"building, {done} of {len(outdated)} done")
                ready, _ = concurrent.futures.wait(
                    waiting, 0.2, concurrent.futures.FIRST_COMPLETED
                )
                for future in ready:
                    program = waiting.pop(future)
                    done += 1
                    if future.exception():
                        failed[program] = str(future.exception())
        except KeyboardInterrupt:
            interrupted.set()  # no thread starts another
            stop(list(running))
            raise
    return failed


running = set()  # processes under way; each leads a group of its own
interrupted = threading.Event()


def stop(processes):
    """Ends these and all that they started, within a second or so."""
    for number, patience in ((signal.SIGTERM, 0.8), (signal.SIGKILL, 1)):
        until = time.monotonic() + patience
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0, until - time.monotonic()))


def run_command(command, environment, limit):
    """Runs one command in the repository's folder and returns what it said. Failed, with the end of
    that, unless it ends well."""
    name = os.path.basename(command[0])
    if interrupted.is_set():
        raise Failed("interrupted")
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.STDOUT, start_new_session=True,
            )
        except OSError as error:
            raise Failed(f"{name}: {store_module.reason(error)}") from error
        running.add(process)
        try:
            if interrupted.is_set():  # meanwhile
                stop([process])
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            stop([process])
            raise Failed(f"took longer than {limit} s") from None
        except KeyboardInterrupt:
            stop([process])
            raise
        finally:
            running.discard(process)
        said.seek(0)
        text = said.read().decode(errors="replace")
    if status != 0:
        lines = [line for line in text.split("\n") if line.strip()]
        last = [line for line in lines if line != "Test FAILED" and "--help lists" not in line][-1:] or ["no output"]
        raise Failed(f"exit status {status}: {last[0][:200]}")
    return text


# ---- from each program's CSV to rows ---------------------------------------------------------------
def number(text):
    """A number of a CSV file; None where there is none, or none that could be measured."""
    value = float(text) if text else math.nan
    return value if math.isfinite(value) else None


def times_of(row, scale=1.0, names=("min_ms", "mean_ms", "real_time_ms", "max_ms")):
    """Minimum, mean, median and maximum, in milliseconds."""
    ours = ("min_ms", "mean_ms", "median_ms", "max_ms")
    values = (number(row[name]) for name in names)
    return {name: None if v is None else v * scale for name, v in zip(ours, values)}


def from_matmul(repetitions):
    """demos/matmul."""

    def convert(row):
        name, threads = row["name"], None
        if name.startswith("OpenMP"):
            threads, name = int(name.split()[1]), "OpenMP"
        return {
            "name": name, "memory": row["memory"], "type": row["type"], "threads": threads,
            "M": row["M"], "N": row["N"], "K": row["K"], "measured_on": row["device"],
            "repetitions": repetitions, **times_of(row), "end_to_end_ms": number(row["end_to_end_ms"]),
            "rate": number(row["gflops"]), "rate_unit": "GFLOP/s",
            "percent_of_limit": number(row["percent_of_peak"]),
            "max_abs_error": number(row["max_abs_error"]),
            "max_rel_error": number(row["max_rel_error"]), "verdict": row["verdict"],
        }

    return convert


# What demos/matmul --why prints: the product and the device, a line for each kernel, a remark.
WHY_HEAD = re.compile(r"(\d+) x (\d+) x (\d+), batch 1, on (.+, sm_\d+ with \d+ multiprocessors): (\w+)")
WHY_PLAN = re.compile(r"([* ]) (\w+) +(?:([\d.]+) us|no estimate)  (tile .+); bound by ([^;]+)(; only by name)?")
WHY_REFUSAL = re.compile(r"  (\w+) +no: (.+)")
WHY_REMARK = re.compile(r"Without clusters, .+")


def from_why(kind):
    """demos/matmul --why: a row for each kernel, the chosen one first. Nothing is measured."""

    def convert(text):
        lines = text.rstrip("\n").split("\n")
        head = WHY_HEAD.fullmatch(lines[0])
        if not head:
            raise ValueError(lines[0][:100])
        same = {"type": kind, "M": head[1], "N": head[2], "K": head[3], "measured_on": head[4]}
        rows = []
        for line in lines[1:]:
            plan, refusal = WHY_PLAN.fullmatch(line), WHY_REFUSAL.fullmatch(line)
            if plan:
                takes = "chosen" if plan[1] == "*" else "only by name" if plan[6] else "compared"
                ms = float(plan[3]) * 1e-3 if plan[3] else None
                rows.append({**same, "name": plan[2], "takes": takes, "predicted_ms": ms,
                             "plan": plan[4], "bound": plan[5]})
            elif refusal:
                rows.append({**same, "name": refusal[1], "takes": "no", "plan": refusal[2]})
            elif not WHY_REMARK.fullmatch(line):
                raise ValueError(line[:100])
        if [row["name"] for row in rows if row["takes"] == "chosen"] != [head[5]]:
            raise ValueError(lines[0][:100])
        return rows

    return convert


def from_mpi(name, measured_on, repetitions):
    """demos/matmul_mpi: what was measured, not its model."""

    def convert(row):
        if row["source"] != "measured" or row["scaling"] != "strong":
            return None
        return {
            "name": name, "type": row["type"], "ranks": row["ranks"], "M": row["N"], "N": row["N"],
            "K": row["N"], "measured_on": measured_on, "repetitions": repetitions, **times_of(row),
            "rate": number(row["gflops"]), "rate_unit": "GFLOP/s", "verdict": row["verdict"],
        }

    return convert


def from_multigpu(count, repetitions):
    """demos/multigpu: a row for each device and split."""

    def convert(row):
        times = times_of(row, 1.0, ("real_time_ms", "mean_ms", "median_ms", "max_ms"))
        alone = number(row["speed_up"]) * number(row["real_time_ms"])
        return {
            "name": row["name"], "type": row["type"], "M": row["N"], "N": row["N"], "K": row["N"],
            "devices": count, "place": row["place"], "device_index": row["device"],
            "part_rows": row["rows"], "part_ms": number(row["device_ms"]), "other_ms": alone,
            "repetitions": repetitions, **times, "verdict": row["verdict"],
        }

    return convert


def from_raytrace(repetitions):
    """demos/raytrace."""

    def convert(row):
        return {
            "name": row["memory"], "memory": row["memory"], "spheres": row["spheres"],
            "width": row["width"], "height": row["height"], "measured_on": row["device"],
            **times_of(row, 1.0, ("min_time", "mean_time", "real_time", "max_time")),
            "repetitions": 1 if row["memory"] == "CPU" else repetitions,
            "rate": number(row["rays_per_second"]), "rate_unit": "rays/s",
            "verdict": "ok" if row["correct"] == "1" else "wrong",
        }

    return convert


def once(row):
    """The four times of a program that measures once."""
    value = number(row["real_time_ms" if "real_time_ms" in row else "ms"])
    return dict.fromkeys(("min_ms", "mean_ms", "median_ms", "max_ms"), value)


def from_overlap(row):
    """demos/overlap."""
    parts = {name: number(row[name]) for name in ("in_ms", "compute_ms", "out_ms", "floor_ms")}
    return {
        "name": row["name"], "type": row["type"], "M": row["N"], "N": row["N"], "K": row["N"],
        "streams": row["streams"], "measured_on": row["device"], "repetitions": 1, **once(row),
        **parts,
    }


def from_outofcore(row):
    """demos/outofcore."""
    return {
        "name": "outofcore", "memory": row["host_memory"], "type": row["type"], "M": row["N"],
        "N": row["N"], "K": row["N"], "measured_on": row["device"], "repetitions": 1, **once(row),
        "rate": number(row["gflops"]), "rate_unit": "GFLOP/s", "verdict": row["verdict"],
    }


def from_memory(demo):
    """demos/memory: all but the lines without a time. Each names its rate by its unit."""

    def convert(row):
        if number(row["ms"]) is None:
            return None
        unit = list(row)[list(row).index("ms") + 1]
        return {
            "name": row["way"], "memory": demo, "repetitions": 1, **once(row),
            "rate": number(row[unit]), "rate_unit": unit,
            "ratio": number(row["x time"]), "verdict": "ok" if row["result"] in ("ok", "-") else "wrong",
        }

    return convert


def from_gemm(row):
    """bench/gemm: the limits of the device, and products sustained beside cuBLAS."""
    name = row["name"]
    if name == "limit_launch":
        ms = number(row["real_time_us"]) * 1e-3
        return {"name": "launch", "median_ms": ms, "min_ms": ms, "mean_ms": ms, "max_ms": ms}
    if name.startswith("limit_"):
        is_memory = row["gbytes_per_s"] != ""
        return {
            "name": name[6:], "type": row["type"], "rate_unit": "GB/s" if is_memory else "GFLOP/s",
            "rate": number(row["gbytes_per_s"]) if is_memory else 1e3 * number(row["tflops"]),
        }
    if name != "auto" or not row["cublas_us"]:
        return None
    return {
        "name": "sustained", "type": row["type"], "M": row["M"], "N": row["N"], "K": row["K"],
        "median_ms": number(row["real_time_us"]) * 1e-3, "other_ms": number(row["cublas_us"]) * 1e-3,
        "ratio": number(row["ratio"]), "verdict": row["result"],
    }


def merge_runs(runs):
    """Several runs of one program, as one: the minimum of the minima, the mean of the means and so
    on; other numbers are the median ones."""
    if len(runs) == 1:
        return runs[0]
    by_key = collections.OrderedDict()
    measured = store_module.REALS | {"repetitions"}
    for rows in runs:
        for row in rows:
            key = tuple(str(row.get(f)) for f in store_module.FIELDS if f not in measured | {"verdict"})
            by_key.setdefault(key, []).append(row)
    how = {"min_ms": min, "max_ms": max, "mean_ms": statistics.fmean, "repetitions": sum}
    merged = []
    for rows in by_key.values():
        out = dict(rows[0])
        for field in measured:
            values = [row[field] for row in rows if row.get(field) is not None]
            if values:
                out[field] = how.get(field, statistics.median)(values)
        wrong = [row["verdict"] for row in rows if row.get("verdict") not in ("ok", None)]
        if wrong:
            out["verdict"] = wrong[0]
        merged.append(out)
    return merged


# ---- the plan --------------------------------------------------------------------------------------
def plan(settings):
    """All jobs that this machine can run, and {what is left out: why}."""
    jobs, left_out = [], {}
    on_gpu, reps = settings.on_gpu, settings.reps
    suffix = "" if on_gpu else ".cpu"

    def product_cost(size, with_cpu):
        """Seconds that demos/matmul takes, about."""
        work = (size / 1024) ** 3
        if on_gpu:
            return 1.5 + 0.06 * work + (0.5 * work if with_cpu else 0)
        return 0.1 + 32 * reps * work if with_cpu else 0.5 + 2.5 * reps * work

    if on_gpu and cublas_there():
        shapes = [word for size in settings.sizes for word in ("--shape", str(size))]
        types = [word for t in settings.types if t != "int" for word in ("--type", t)]
        if types:
            what = ",".join([*types[1::2], *shapes[1::2]])
            jobs.append(Job(f"limits {what}", "limits", "gemm",
                            [*types, *shapes, "--kernel", "auto", "--no-lt"], from_gemm,
                            10 + 4.0 * len(settings.sizes)))
    elif on_gpu:
        left_out["limits, and products beside cuBLAS"] = "cuBLAS is not installed"
    else:
        left_out["limits, and products beside cuBLAS"] = "no GPU here"
    for kind in settings.types:
        for size in settings.sizes:
            if kind == "int" and size not in settings.int_sizes:
                continue
            with_cpu = size <= settings.most_cpu
            words = [str(size), "--type", kind, "--reps", str(reps)]
            words += ["--cpu"] if with_cpu else ["--no-cpu"]
            jobs.append(Job(f"matmul {kind} {size} reps {reps}", "matmul", "matmul" + suffix, words,
                            from_matmul(reps), product_cost(size, with_cpu)))
        for size in [] if on_gpu or kind == "int" else settings.large_sizes:
            # larger, for the CPU's own products: of the kernels only the quickest there
            kernel = "register_64" if kind == "float" else "register_128"
            words = [str(size), "--type", kind, "--reps", str(reps), "--cpu", "--kernel", kernel]
            jobs.append(Job(f"matmul {kind} {size} {kernel} reps {reps}", "matmul", "matmul.cpu",
                            words, from_matmul(reps), product_cost(size, False)))
    for kind in settings.types:
        for size in settings.why_sizes:
            name = f"choice {kind} {size}" + (f" {settings.gpu}" if settings.gpu else "")
            words = [str(size), "--type", kind, *(["--gpu", settings.gpu] if settings.gpu else ["--why"])]
            jobs.append(Job(name, "choice", "matmul" + suffix, words, from_why(kind), 0.5 if on_gpu else 0.1,
                            prints=True))
    if shutil.which("mpirun") and shutil.which("mpicxx"):
        for kind in [t for t in settings.types if t != "int"]:
            for size in settings.mpi_sizes:
                few = min(reps, 3)  # each rank count is timed so often, from one rank on
                words = [str(size), "--type", kind, "--reps", str(few), "--cpu", "--panel", "128"]
                cost = 1 + 2.5 * few * (size / 1024) ** 3 * (0.25 if on_gpu else 0.1)
                jobs.append(Job(f"mpi {kind} {size} ranks {settings.ranks} reps {few}", "mpi",
                                "matmul_mpi.cpu", words, from_mpi("MPI", "CPU", few), cost,
                                ranks=settings.ranks, environment={"CUCC_THREADS": "1"}))
            if on_gpu:
                words = [str(settings.host_size), "--type", kind, "--reps", str(reps)]
                jobs.append(Job(f"mpi on GPU {kind} reps {reps}", "mpi", "matmul_mpi", words,
                                from_mpi("MPI, GPU", "GPU", reps), 8, ranks=4))
    else:
        left_out["MPI"] = "mpirun or mpicxx is not installed"
    count = len(machine_module.output_of("nvidia-smi", "-L").strip().split("\n")) if on_gpu else 1
    for kind in [t for t in settings.types if t != "int"]:
        words = [str(settings.host_size), "--type", kind, "--reps", str(reps)]
        jobs.append(Job(f"devices {kind} {settings.host_size} reps {reps}", "devices",
                        "multigpu" + suffix, words, from_multigpu(max(2, count), reps),
                        4 if on_gpu else 2, environment={} if on_gpu else {"CUCC_DEVICES": "2"}))
    jobs.append(Job(f"spheres repeat {settings.repeat}", "spheres", "raytrace" + suffix,
                    ["--out", "{folder}/spheres"], from_raytrace(9 if on_gpu else 1),
                    15 if on_gpu else 1.5, repeat=1 if on_gpu else settings.repeat))
    for kind in [t for t in settings.types if t != "int"]:
        words = [str(settings.overlap_size), "--type", kind]
        jobs.append(Job(f"overlap {kind} {settings.overlap_size} repeat {settings.repeat}", "overlap",
                        "overlap" + suffix, words, from_overlap, 2 if on_gpu else 0.6,
                        repeat=settings.repeat))
        words = [str(settings.host_size), "--type", kind]
        jobs.append(Job(f"outofcore {kind} {settings.host_size} repeat {settings.repeat}",
                        "outofcore", "outofcore" + suffix, words, from_outofcore,
                        3 if on_gpu else 0.6, repeat=settings.repeat))
    if on_gpu:
        for demo in MEMORY_DEMOS:
            jobs.append(Job(f"memory {demo}", "memory", f"memory/{demo}", [], from_memory(demo), 1.5))
    else:
        left_out["speeds of the kinds of memory"] = "the CPU runner has but one memory"
    if settings.only:
        jobs = [job for job in jobs if job.subject in settings.only]
    return jobs, left_out


def run_job(job, programs, machine):
    """Runs a job; returns its rows, complete."""
    runs = []
    environment = {**os.environ, **job.environment}
    for _ in range(job.repeat):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.csv")
            words = [word.replace("{folder}", folder) for word in job.arguments]
            command = [os.path.join(programs, job.program), *words]
            command += [] if job.prints else ["--csv", path]
            if job.ranks:
                command = [*mpirun(job.ranks), *command]
            said = run_command(command, environment, TIME_LIMIT)
            if job.prints:
                try:
                    runs.append(job.convert(said))
                except ValueError as error:
                    raise Failed(f"what it prints cannot be read: {error}") from error
                continue
            try:
                with open(path, newline="", encoding="utf-8") as file:
                    read = list(csv.DictReader(file))
                if any(None in row or None in row.values() for row in read):
                    raise ValueError("lines of other lengths")
                rows = [job.convert(row) for row in read]
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise Failed(f"its CSV cannot be read: {error!r}") from error
        runs.append([row for row in rows if row])
    rows = merge_runs(runs)
    if not rows:
        raise Failed("it measured nothing")
    where = {field: machine[field] for field in store_module.IDENTITY}
    same = {"job": job.name, "subject": job.subject, "date": machine_module.today(), **where}
    return [{**row, **same} for row in rows]


def mpirun(ranks):
    """How so many ranks are started, also by root and on fewer cores."""
    command = ["mpirun", "-n", str(ranks)]
    if "Open MPI" in machine_module.output_of("mpirun", "--version"):
        command.append("--oversubscribe")
        if os.geteuid() == 0:
            command.append("--allow-run-as-root")
    return command


# ---- progress --------------------------------------------------------------------------------------
class Progress:
    """One line on a terminal that is written over; on no terminal, nothing."""

    def __init__(self, stream=sys.stderr):
        self.stream = stream
        self.there = stream.isatty()

    def show(self, text):
        """Replaces the line."""
        if self.there:
            width = shutil.get_terminal_size((80, 24)).columns - 1
            self.stream.write("\r" + text[:width].ljust(width))
            self.stream.flush()

    def clear(self):
        """Takes the line away."""
        if self.there:
            self.show("")
            self.stream.write("\r")
            self.stream.flush()


def duration(seconds):
    """Seconds in words."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def measure_all(jobs, results, programs, machine, progress):
    """Runs what results.csv does not hold yet. Returns {job: why it failed}."""
    done = results.jobs()
    waiting = [job for job in jobs if job.name not in done]
    needed = sorted({job.program for job in waiting})
    not_built = build(needed, programs, machine, progress)
    failed = {}
    spent = expected = 0.0
    for at, job in enumerate(waiting):
        rest = sum(j.seconds * j.repeat for j in waiting[at:])
        # the estimates are trusted at first, then scaled by how they have done so far
        pace = (spent + 10) / (expected + 10)
        progress.show(f"[{len(jobs) - len(waiting) + at + 1}/{len(jobs)}] {job.name}"
                      f"  -  about {duration(rest * pace)} left")
        if job.program in not_built:
            failed[job.name] = f"{source_of(job.program)} does not build: {not_built[job.program]}"
            continue
        begin = time.monotonic()
        try:
            results.append(run_job(job, programs, machine))
        except Failed as error:
            failed[job.name] = str(error)
        spent += time.monotonic() - begin
        expected += job.seconds * job.repeat
    progress.clear()
    return failed

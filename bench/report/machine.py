"""What the measurements run on: device, driver, toolkit, compiler, processor, state of the sources."""
import datetime
import glob
import os
import re
import shutil
import subprocess
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def output_of(*command):
    """What a command prints, or nothing if it is not there or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def has_gpu():
    """Is there nvcc, and a GPU that it may use?"""
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "" or not shutil.which("nvcc"):
        return False
    return output_of("nvidia-smi", "-L").startswith("GPU ")


def processor_name():
    """The CPU as the system calls it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            found = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.M)
    except OSError:
        found = None
    return found[1].strip() if found else "CPU"


def core_count():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def sources_sum():
    """Eight digits that change with the headers and the programs that are measured."""
    total = 0
    for pattern in ("*.cuh", "demos/*.cu", "demos/memory/*.cu", "bench/gemm.cu", "bench/*.h"):
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            with open(path, "rb") as file:
                total = zlib.crc32(file.read(), total)
    return f"{total:08x}"


def describe(on_gpu):
    """The columns of results.csv that say where a row was measured; and what only the page shows."""
    compiler = output_of(os.environ.get("CXX", "g++"), "--version").split("\n")[0]
    machine = {
        "backend": "GPU" if on_gpu else "CPU",
        "device": "CPU runner",
        "driver": "",
        "toolkit": "",
        "compiler": compiler,
        "processor": processor_name(),
        "cores": core_count(),
        "sources": sources_sum(),
    }
    if on_gpu:
        query = "--query-gpu=name,driver_version,compute_cap"
        lines = output_of("nvidia-smi", query, "--format=csv,noheader").strip().split("\n")
        name, driver, capability = ([word.strip() for word in lines[0].split(",")] + ["", "", ""])[:3]
        release = re.search(r"release ([\d.]+)", output_of("nvcc", "--version"))
        machine["device"] = f"{len(lines)} x {name}" if len(lines) > 1 else name
        machine["driver"] = driver
        machine["toolkit"] = f"CUDA {release[1]}" if release else "CUDA"
        machine["capability"] = capability
    return machine


def today():
    """The date that a row is measured at."""
    return datetime.date.today().isoformat()

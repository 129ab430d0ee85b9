#!/usr/bin/env python3
"""bench/report: measures what this machine can run and makes the report of it, page.html.

./build.sh report sets up what it needs and runs it; python3 bench/report runs it with the matplotlib
that is there. What was measured stays in results.csv: interrupted by Ctrl-C, the same command goes on
where it was.
"""
import argparse
import importlib.util
import os
import shutil
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


import machine as machine_module  # noqa: E402  (the folder has to be found first)
import measure  # noqa: E402
from figures import Figures  # noqa: E402
from store import Store, StoreError, reason  # noqa: E402

TYPES = ("float", "double", "int")


def fail(text, status):
    """A sentence, and out."""
    print(f"report: {text}", file=sys.stderr)
    sys.exit(status)


def whole(low, high):
    """A parser of whole numbers from low to high."""
    def parse(text):
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is no whole number from {low} to {high}")
        return int(text)

    return parse


def listed(parse):
    """A parser of lists with commas."""
    return lambda text: list(dict.fromkeys(parse(word) for word in text.split(",")))


def one_of(words):
    """A parser of some given words."""
    def parse(text):
        if text not in words:
            raise argparse.ArgumentTypeError(f"'{text}' is none of {', '.join(words)}")
        return text

    return parse


class Parser(argparse.ArgumentParser):
    """One that says what is wrong in one line."""

    def error(self, message):
        fail(f"{message}; --help lists what can be asked", 2)


def parse_options():
    """The command line."""
    parser = Parser(
        prog="report", formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.split("\n\n", 1)[1],
        epilog="Exit status: 0 all is well, 1 something failed or came out wrong, 2 it could not begin, "
               "130 interrupted, 143 terminated.",
    )
    add = parser.add_argument
    add("--out", metavar="FOLDER", default=os.path.join(machine_module.ROOT, "build/report"),
        help="where the report goes (default: build/report)")
    add("--page", action="store_true", help="measure nothing, make the page of what results.csv holds")
    add("--fresh", action="store_true", help="forget what was measured before")
    add("--quick", action="store_true", help="few small sizes, one repetition: to try it out")
    add("--cpu", action="store_true", help="on the CPU runner, even if there is a GPU")
    add("--only", metavar="SUBJECTS", type=listed(one_of(measure.SUBJECTS)),
        help=f"some of these, with commas between them: {' '.join(measure.SUBJECTS)}")
    add("--sizes", metavar="N,N,...", type=listed(whole(1, 32768)), help="sizes of the matrices")
    add("--types", metavar="TYPES", type=listed(one_of(TYPES)), default=list(TYPES),
        help="some of float,double,int (default: all)")
    add("--reps", metavar="R", type=whole(1, 100), help="timings of each product (default: 7; on the CPU 3)")
    add("--gpu", metavar="WORD", help="without a GPU: for which one the choice of a kernel is shown, by a word "
        "of its name (default: H200)")
    add("--ranks", metavar="P", type=whole(1, 64), help="MPI ranks at most (default: the cores, 2 to 16)")
    add("--programs", metavar="FOLDER", default=os.path.join(machine_module.ROOT, "build/report-programs"),
        help="where the programs are built (default: build/report-programs)")
    return parser.parse_args()


def complete(options):
    """The defaults that depend on the machine."""
    options.on_gpu = not options.cpu and machine_module.has_gpu()
    if options.on_gpu and options.gpu:
        fail("--gpu is for machines without a GPU; with --cpu it is taken here, too", 2)
    if not options.on_gpu:
        options.gpu = options.gpu or "H200"
    # of the sizes three at most: the first, the middle and the last
    named = options.sizes or [256, 1024, 4096]
    options.why_sizes = list(dict.fromkeys([named[0], named[len(named) // 2], named[-1]]))
    options.ranks = options.ranks or min(16, max(2, machine_module.core_count()))
    if options.on_gpu:
        options.sizes = options.sizes or [32, 64, 128, 256, 512, 1024, 2048, 3072, 4096, 5120]
        options.most_cpu, options.int_sizes, options.large_sizes = 2048, [1024, 4096], []
        options.mpi_sizes, options.host_size, options.overlap_size = [1024, 2048], 8192, 3072
    else:
        options.large_sizes = [] if options.sizes else [512, 1024]
        options.sizes = options.sizes or [32, 64, 128, 256]
        options.most_cpu, options.int_sizes = max(options.sizes), [64, 128]
        options.mpi_sizes, options.host_size, options.overlap_size = [256, *options.large_sizes], 256, 128
    options.repeat = 3
    options.reps = options.reps or (7 if options.on_gpu else 3)
    if options.quick:
        options.sizes = [n for n in options.sizes if n <= 1024][:: 3 if options.on_gpu else 2]
        options.large_sizes, options.repeat, options.reps = [], 1, 1
        options.why_sizes = options.why_sizes[1:2] or options.why_sizes
        options.host_size = options.overlap_size = 1024 if options.on_gpu else 96
        options.mpi_sizes = options.sizes[-1:]
    options.out, options.programs = os.path.abspath(options.out), os.path.abspath(options.programs)
    options.mpi_sizes = [n for n in options.mpi_sizes if n in options.sizes + options.large_sizes]
    return options


def interrupt(number, _):
    """The first signal interrupts; what follows, as from build.sh, changes nothing."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt(number)


def main():
    """Measures, then makes the page. An interrupt ends both at once: a page takes longer than a second."""
    options = complete(parse_options())
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)
    try:
        status = make_report(options)
    except KeyboardInterrupt as signalled:
        if sys.stderr.isatty():
            print(file=sys.stderr)  # below the line of progress
        fail("interrupted; what was measured is kept: the same command goes on, --page makes the page of it",
             128 + signalled.args[0])
    sys.exit(status)


def make_report(options):
    """Returns the exit status."""
    if not importlib.util.find_spec("matplotlib"):
        fail("matplotlib is missing; ./build.sh report installs it, or: pip install -r "
             "bench/report/requirements.txt", 2)
    path = os.path.join(options.out, "results.csv")
    if options.page and not os.path.lexists(path):
        fail(f"there is no '{path}' to make the page of", 2)
    try:
        os.makedirs(options.out, exist_ok=True)
    except OSError as error:
        fail(f"cannot make the folder '{options.out}': {reason(error)}", 2)
    try:
        if options.fresh and os.path.isfile(path):
            os.remove(path)
        results = Store(path)
        if not results.rows and not options.page:
            results.rewrite()  # before the work, not after it
    except (StoreError, OSError) as error:
        fail(str(error), 2)

    failed, left_out = {}, {}
    if not options.page:
        failed, left_out = measure_rest(options, results)
    elif results.rows:
        there = {row["subject"] for row in results.rows}
        left_out = {name: "not in results.csv" for name in measure.SUBJECTS if name not in there}
    if not results.rows:
        fail(f"nothing is measured in '{path}'" + "".join(f"; {k}: {v}" for k, v in failed.items()),
             2 if options.page else 1)
    figures = Figures(results.rows)
    import page  # only now: matplotlib takes a while

    try:
        written = page.make(figures, options.out, left_out, failed)
    except OSError as error:
        fail(f"cannot write '{error.filename or options.out}': {reason(error)}", 1)
    for what, why in failed.items():
        print(f"report: failed: {what}: {why}", file=sys.stderr)
    wrong = figures.wrong()
    if wrong:
        print(f"report: {len(wrong)} results are WRONG", file=sys.stderr)
    shown = os.path.relpath(written)
    print(f"report: {shown if len(shown) < len(written) else written}")
    return 1 if failed or wrong else 0


def measure_rest(options, results):
    """Runs the jobs that are not done. Returns what failed and what was left out."""
    if not options.on_gpu and not shutil.which(os.environ.get("CXX", "g++")):
        fail("g++ is missing", 2)
    where = machine_module.describe(options.on_gpu)
    other = results.other_machine(where)
    if other:
        fail(f"{other}; --fresh measures anew, --out FOLDER elsewhere", 2)
    jobs, left_out = measure.plan(options)
    done = results.jobs()
    rest = [job for job in jobs if job.name not in done]
    print(f"report: {where['device']}, {len(rest)} of {len(jobs)} measurements to make"
          + (", about " + measure.duration(sum(j.seconds * j.repeat for j in rest)) + " and the time of "
             "compiling" if rest else ""), flush=True)
    try:
        failed = measure.measure_all(jobs, results, options.programs, where, measure.Progress())
        return failed, left_out
    except StoreError as error:
        fail(str(error), 1)


if __name__ == "__main__":
    main()

"""The cell magic %%cucc, which %load_ext cucc brings (in a clone: %load_ext cpu, with its folder in sys.path)."""

import codecs
import html
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tty

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 300  # that a program may run
MOST_OUTPUT = 1000000  # characters: notebooks keep what they show
GRACE = 2  # seconds from SIGTERM to SIGKILL


class CellError(Exception):
    """A sentence, which IPython shows in place of a traceback."""

    def _render_traceback_(self):
        return [f"cucc: {self}"]


def _end(process):
    """Ends a process and all of its group, which it leads."""
    try:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(GRACE)
    except subprocess.TimeoutExpired:
        pass
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def _follow(process, output, hidden, seconds, interrupts):
    """Shows what comes from a file descriptor, without what is hidden, until the process has ended."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    shown, text, ends = 0, "", time.monotonic() + seconds if seconds else None
    while True:
        if interrupts:
            return "it was interrupted"
        left = ends - time.monotonic() if ends else 1
        if left <= 0:
            return f"it was ended after {seconds} seconds (--seconds N: another limit)"
        quiet = not select.select([output], [], [], min(left, 0.2))[0]
        over = quiet and process.poll() is not None  # its children may hold the other end
        if not quiet:
            try:
                piece = os.read(output, 1 << 16)
            except OSError:  # of a terminal whose other end is closed
                piece = b""
            text += decoder.decode(piece, not piece)
            over = not piece
        # Whole lines, or what is hidden could be cut; what waits at a prompt is shown all the same.
        end = len(text) if over or quiet or len(text) > 1 << 16 else text.rfind("\n") + 1
        now, text = text[:end], text[end:]
        now = hidden.sub("", now)
        sys.stdout.write(now[: MOST_OUTPUT - shown])
        if over or quiet:  # else it goes to the notebook in larger pieces
            sys.stdout.flush()
        shown += len(now)
        if shown > MOST_OUTPUT:
            return f"it was ended after {MOST_OUTPUT} characters of output"
        if over:
            process.wait()
            return None


def _run(command, hidden, seconds=None, page=None):
    """Runs a command in a group of its own and shows its output. Returns its status, and why it was ended.

    What may write a page is a program, which has a terminal.
    """
    # KeyboardInterrupt could come while the process begins, which would then go on.
    interrupts = []
    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, lambda *_: interrupts.append(1)) if main else None
    if page:  # a program: C's stdout then comes line by line, and is not lost when it is ended
        output, end = pty.openpty()
        tty.setraw(end)  # newlines stay as they are
    else:
        output, end = os.pipe()
    try:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=end,
                stderr=end,
                start_new_session=True,
                env={"CUCC_REPORT": page, **os.environ} if page else None,
            )
        finally:
            os.close(end)
        try:
            why = _follow(process, output, hidden, seconds, interrupts)
        finally:
            _end(process)
        if interrupts:
            _follow(process, output, hidden, GRACE, [])  # what it had written before
        return process.returncode, why
    finally:
        os.close(output)
        if main:
            signal.signal(signal.SIGINT, before)


def _read_line(line):
    """Splits the line of the magic: cucc's options, the program's arguments, the limit of its time."""
    try:
        options, arguments = shlex.split(line), []
    except ValueError as error:
        raise CellError(f"%%cucc {line}: {error}") from None
    if "--" in options:
        at = options.index("--")
        options, arguments = options[:at], options[at + 1 :]
    seconds = SECONDS
    if "--seconds" in options:
        at = options.index("--seconds")
        number = "".join(options[at + 1 : at + 2])
        if not re.fullmatch(r"0*[1-9]\d{0,8}", number):
            raise CellError("--seconds needs a whole number from 1")
        seconds = int(number)
        del options[at : at + 2]
    return options, arguments, seconds


def _show_page(page, folder):
    """Shows a page of cucc inline: in a frame, so that its style is not the notebook's."""
    from IPython.display import display

    with open(page, encoding="utf-8", errors="replace") as file:
        text = file.read().replace(folder, "")
    # Links within the page would lead to the notebook's address.
    text = text.replace("<head>", '<head><base href="about:srcdoc">', 1)
    frame = (
        '<div><iframe title="page of cucc" style="width:100%;height:36em;resize:vertical;'
        f'border:1px solid #8888" srcdoc="{html.escape(text)}"></iframe></div>'
    )
    display({"text/html": frame, "text/plain": "(the page of cucc)"}, raw=True)


def _status(status, options):
    if status < 0:
        return f"the program ended by {signal.Signals(-status).name}"
    found = status == 23 and {"--check", "--sanitize"}.intersection(options)
    return f"the program ended with status {status}" + (": faults were found" if found else "")


def cucc(line, cell):
    """%%cucc [--check] [--report] [--seconds N] [options of cucc] [-- arguments of the program]

    Compiles the cell, a CUDA program with a main, and runs it on the CPU, in the notebook's folder and for
    at most N seconds (300). --check names races, missing barriers and other faults, --report shows a page
    of what the warps take, --sanitize finds accesses out of bounds. Other options are those of nvcc.
    """
    options, arguments, seconds = _read_line(line)
    with tempfile.TemporaryDirectory(prefix="cucc-") as folder:
        source, program, page = (os.path.join(folder, name) for name in ("cell.cu", "cell", "page.html"))
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n" + cell)  # %%cucc is the cell's first line
        hidden = re.compile(f"cucc: the page of .* is {re.escape(page)}\n|{re.escape(folder + os.sep)}")
        status, why = _run(["bash", os.path.join(HERE, "cucc"), *options, "-I.", source, "-o", program], hidden)
        if status or why:
            raise CellError(f"the cell was not compiled: {why}" if why else "the cell does not compile")
        if not os.access(program, os.X_OK):
            return  # -c or -E
        status, why = _run([program, *arguments], hidden, seconds, page)
        if os.path.exists(page):
            _show_page(page, folder + os.sep)
        if why:
            raise CellError(f"the program did not end: {why}")
        if status:
            raise CellError(_status(status, options))


def load(shell):
    shell.register_magic_function(cucc, "cell")

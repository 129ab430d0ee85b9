#!/usr/bin/env python3
"""Which kernels have other machine code? Compiles two versions of a header, compares kernel by kernel.

tests/same_code.py [OPTIONS] OLD NEW

OLD and NEW are each a header file or a git revision, for instance:  HEAD~1 tiledmm.cuh
Needs nvcc and g++, no GPU. Every kernel is compiled, TMM_TENSOR of float as well.

  --header NAME    which header of a revision, and under which name it is included (tiledmm.cuh)
  --arch LIST      architectures, separated by commas (sm_80,sm_90a,sm_120)
  -D NAME[=VALUE]  is defined for both versions, for instance TMM_SIMPLE, which takes less time

Compared are instructions, relocations, constants, registers, stack, shared memory, parameters and
launch bounds. A kernel that has only got another name counts as the same. Exit status: 0 all are the
same, 1 some differ, are new or gone, 2 nothing could be compared.
"""
import argparse
import concurrent.futures
import hashlib
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(ROOT, "build/same_code")
KEPT = 60  # cubins in the cache
SOURCE = """#define TMM_FLOAT_TENSOR 1
#define TMM_KERNEL extern "C" __global__
#define RAYT_KERNEL extern "C" __global__
#include "%s"
"""


class Refused(Exception):
    pass


def text_of(what, header):
    """The header that is meant by a file's name or a revision."""
    if os.path.isfile(what):
        with open(what, "rb") as file:
            return file.read()
    if os.path.isdir(what):
        raise Refused(f"{what} is a folder; a header or a revision is meant, such as {what.rstrip('/')}/{header}")
    shown = subprocess.run(["git", "-C", ROOT, "show", f"{what}:{header}"], capture_output=True)
    if shown.returncode:
        raise Refused(f"{what} is no file, and git has no {what}:{header}")
    return shown.stdout


def run(command, folder, about):
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        raise Refused(f"{command[0]} is not installed") from None
    if done.returncode:
        said = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise Refused(f"{about} does not compile:\n" + "\n".join(said[:10]))
    return done.stdout


def digest(*parts):
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part if isinstance(part, bytes) else part.encode())
        whole.update(b"\0")
    return whole.hexdigest()[:32]


def store(path, content):
    """Whole or not at all: two runs at once, or an interrupted one, do no harm."""
    with tempfile.NamedTemporaryFile(dir=CACHE, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def cubin(text, key, header, architecture, flags, about):
    """The header's cubin. One that the cache has from the same tokens or the same PTX is taken."""
    known = os.path.join(CACHE, digest(key, architecture) + ".ptx")  # holds the hash of the PTX
    with tempfile.TemporaryDirectory() as folder:
        ptx = None
        if os.path.exists(known):
            of_ptx = read(known).decode()
        else:
            with open(os.path.join(folder, header), "wb") as file:
                file.write(text)
            with open(os.path.join(folder, "kernels.cu"), "w") as file:
                file.write(SOURCE % header)
            ptx = os.path.join(folder, "kernels.ptx")
            run(["nvcc", "-I.", *flags, f"-arch={architecture}", "-ptx", "kernels.cu", "-o", ptx], folder, about)
            of_ptx = digest(key[:8], architecture, read(ptx))
        made = os.path.join(CACHE, of_ptx + ".cubin")
        if not os.path.exists(made):
            if ptx is None:  # its cubin has left the cache
                os.remove(known)
                return cubin(text, key, header, architecture, flags, about)
            binary = os.path.join(folder, "kernels.cubin")
            run(["nvcc", f"-arch={architecture}", "-cubin", ptx, "-o", binary], folder, about)
            store(made, read(binary))
        store(known, of_ptx.encode())
        os.utime(made)
        return read(made)


# ---- what a cubin says of its kernels -----------------------------------------------------------
# An ELF file. Attributes of kernels (.nv.info) are one byte of format, one of kind and two of size
# or value. Their kinds are named as cuobjdump -elf names them.
SIZED, FRAME_SIZE, PARAM_CBANK, REGCOUNT = 4, 0x11, 0x0A, 0x2F


def attributes(content):
    at = 0
    while at + 4 <= len(content):
        form, kind, size = struct.unpack_from("<BBH", content, at)
        at += 4
        value = struct.pack("<H", size)
        if form == SIZED:
            value = content[at:at + size]
            at += size
        yield kind, value


def kernels_of(data):
    """{name: {what: value}} of a cubin's functions; values that are equal mean the same code."""
    offset = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + n * size) for n in range(count)]

    def string(table, at):
        start = headers[table][4] + at
        return data[start:data.index(b"\0", start)].decode()

    def content(section):  # type 8 (NOBITS) has a size but no bytes
        return b"" if section[1] == 8 else data[section[4]:section[4] + section[5]]

    sections = [(string(names, header[0]), header) for header in headers]
    symbols = []
    for name, header in sections:
        if name == ".symtab":
            raw = content(header)
            symbols = [struct.unpack_from("<IBBHQQ", raw, at) for at in range(0, len(raw), 24)]
            strings = header[6]

    def place(symbol, kernel):  # where a relocation points, without names that are free to change
        label, _, _, section, value, _ = symbols[symbol]
        where = sections[section][0] if 0 < section < len(sections) else string(strings, label)
        return where.replace(kernel, "*"), value

    found = {name[len(".text."):]: {"code": content(header), "constants": {}, "relocations": [], "attributes": [],
                                    "shared memory": 0}
             for name, header in sections if name.startswith(".text.")}
    for name, header in sections:
        match = re.fullmatch(r"\.(nv\.shared|nv\.constant\d+|nv\.info|rela?\.text)\.(.*)", name)
        kernel = found.get(match.group(2)) if match else None
        if kernel is None:
            if name != ".nv.info":
                continue
            for kind, value in attributes(content(header)):  # of all functions: symbol, value
                if kind in (REGCOUNT, FRAME_SIZE) and len(value) == 8:
                    symbol, number = struct.unpack("<II", value)
                    owner = found.get(string(strings, symbols[symbol][0]))
                    if owner is not None:
                        owner["registers" if kind == REGCOUNT else "stack"] = number
            continue
        what = match.group(1)
        if what == "nv.shared":
            kernel["shared memory"] = header[5]
        elif what.startswith("nv.constant"):
            kernel["constants"][what] = content(header)
        elif what == "nv.info":  # PARAM_CBANK begins with the number of a symbol, which says nothing
            kernel["attributes"] = [(kind, value[4:] if kind == PARAM_CBANK else value)
                                    for kind, value in attributes(content(header))]
        else:
            raw, step = content(header), 24 if what.startswith("rela") else 16
            for at in range(0, len(raw), step):
                where, info = struct.unpack_from("<QQ", raw, at)
                added = raw[at + 16:at + step]
                kernel["relocations"].append((where, info & 0xFFFFFFFF, place(info >> 32, match.group(2)), added))
    return found


def instructions(kernel):
    return len(kernel["code"]) // 16


def difference(old, new):
    words = []
    if old["code"] != new["code"]:
        words.append(f"{instructions(old)} -> {instructions(new)} instructions")
    for what in ("registers", "stack", "shared memory"):
        if old.get(what) != new.get(what):
            words.append(f"{what} {old.get(what)} -> {new.get(what)}")
    if not words:
        words = [what for what in ("constants", "relocations") if old[what] != new[what]]
    return ", ".join(words or ["parameters or launch bounds"])


def compare(architecture, old, new):
    """Prints what there is to say, returns whether all is the same."""
    lines, same = [], [name for name in new if name in old and old[name] == new[name]]
    left = {name: kernel for name, kernel in old.items() if name not in same}
    for name in [name for name in new if name not in same]:
        before = next((other for other in left if left[other] == new[name]), None)
        if before is not None:
            del left[before]
            same.append(name)
            lines.append(("renamed", f"{before} -> {name}"))
    counts = {"renamed": len(lines), "differ": 0, "new": 0, "gone": 0}
    for name in new:
        if name in same:
            continue
        if name in left:
            lines.append(("differs", f"{name}: {difference(left.pop(name), new[name])}"))
            counts["differ"] += 1
        else:
            lines.append(("new", f"{name}: {instructions(new[name])} instructions"))
            counts["new"] += 1
    for name in left:
        lines.append(("gone", f"{name}: {instructions(left[name])} instructions"))
        counts["gone"] += 1
    words = [f"{number} {what}" for what, number in counts.items() if number]
    print(", ".join([f"{architecture}: {len(new)} kernels", f"{len(same)} the same", *words]))
    for what, line in lines:
        print(f"  {what:<8} {line}")
    return not (counts["differ"] or counts["new"] or counts["gone"])


def main():
    parser = argparse.ArgumentParser(usage="tests/same_code.py [--header NAME] [--arch LIST] [-D NAME[=VALUE]] OLD NEW",
                                     description=__doc__.split("\n\n", 2)[2],
                                     formatter_class=argparse.RawDescriptionHelpFormatter, add_help=True)
    parser.add_argument("old", help=argparse.SUPPRESS)
    parser.add_argument("new", help=argparse.SUPPRESS)
    parser.add_argument("--header", default="tiledmm.cuh", help=argparse.SUPPRESS)
    parser.add_argument("--arch", default="sm_80,sm_90a,sm_120", help=argparse.SUPPRESS)
    parser.add_argument("-D", dest="defines", action="append", default=[], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    flags = ["-D" + define for define in asked.defines]
    architectures = asked.arch.split(",")
    for architecture in architectures:
        if not re.fullmatch(r"sm_\d+[af]?", architecture):
            raise Refused(f"--arch: '{architecture}' is no architecture such as sm_90a")
    if "/" in asked.header or not asked.header:
        raise Refused(f"--header: '{asked.header}' is not the name of a header at the top of the repository")
    texts = [text_of(what, asked.header) for what in (asked.old, asked.new)]

    os.makedirs(CACHE, exist_ok=True)
    version = digest(run(["nvcc", "--version"], None, "nvcc"))[:8]
    keys = []
    for text in texts:  # comments and blank lines make no code; macros stay as they are
        with tempfile.NamedTemporaryFile(suffix=".cpp") as file:
            file.write(text)
            file.flush()
            tokens = run(["g++", "-fpreprocessed", "-dD", "-E", "-P", file.name], None, "the header")
        keys.append(version + digest(SOURCE % asked.header, " ".join(flags), tokens))

    work = {(architecture, key): (text, what)
            for architecture in architectures for key, text, what in zip(keys, texts, (asked.old, asked.new))}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = {(architecture, key): pool.submit(cubin, text, key, asked.header, architecture, flags,
                                                 f"{what}, for {architecture},")
                for (architecture, key), (text, what) in work.items()}
        try:
            cubins = {which: future.result() for which, future in made.items()}
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    same = True
    for architecture in architectures:
        old, new = (kernels_of(cubins[architecture, key]) for key in keys)
        if not old and not new:
            raise Refused(f"there is no kernel in {asked.old} nor in {asked.new}")
        same = compare(architecture, old, new) and same
    oldest = sorted((os.path.join(CACHE, name) for name in os.listdir(CACHE) if name.endswith(".cubin")),
                    key=os.path.getmtime)[:-KEPT]
    for path in oldest:
        os.remove(path)
    return 0 if same else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Refused, OSError) as reason:
        print(f"same_code.py: {reason}", file=sys.stderr)
        sys.exit(2)

#!/usr/bin/env python3
"""Which folder of cpu/ uses which, and which file of runtime/ which: uses.py [FOLDER] tells what is not as said.

A folder uses those whose headers it includes. The first lines of one header of each folder say which ("Uses: ... Used
by: ..."); no folder uses, through whatever others, one that uses it. Calls go the same way, since a function lies in
the folder of the header that declares it: only runtime/watch.h and include/ declare what other folders do.
In compile/ a function lies in the header that declares it. Files of runtime/ and of check/ call those before them
alone, in the order in which the first lines of runtime.h and check_state.h name them; those of the page are as one.
"""
import os
import pathlib
import re
import sys

SAYS = {"include": "include/cuda_runtime.h", "runtime": "runtime/runtime.h", "check": "check/check_state.h",
        "libraries": "libraries/cublas.cpp", "compile": "compile/rewrite.cpp"}
INTERFACES = re.compile(r"runtime/watch\.h|include/")  # declare what files of other folders do
IGNORED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ ]*#[ ]*(?!include)(?:\\\n|[^\n])*', re.S | re.M)
ATTRIBUTES = re.compile(r"__attribute__\s*\(\(.*?\)\)|\[\[.*?\]\] ?", re.S)
HEAD = re.compile(r"^(?=\S)(?!namespace|template|using|typedef|struct|enum|class|union|static|return|[#} ])([^;{}]*?\b(\w+)\([^;{}]*\)[^;{}()]*)", re.M)
VARIABLE = re.compile(r"^(?:extern )?(?:thread_local|__thread) [^;=()]*?\b(\w+)(?: = [^;]*)?;", re.M)


def without_comments(text):
    return ATTRIBUTES.sub("", IGNORED.sub(lambda found: '""' if found[0][0] == '"' else "", text))


def defined(code):
    """Functions with a body, and variables that are no declarations; outside of classes."""
    names = {m[2] for m in HEAD.finditer(code) if re.match(r"\s*\{", code[m.end():])}
    return names | {m[1] for m in VARIABLE.finditer(code) if not m[0].startswith("extern")}


def declared(code):
    """Functions without a body, and variables that are extern."""
    names = {m[2] for m in HEAD.finditer(code) if code[m.end():m.end() + 1] == ";"}
    return names | {m[1] for m in VARIABLE.finditer(code) if m[0].startswith("extern")}


def without_declarations(code):
    """What is left: bodies."""
    code = HEAD.sub("", code)
    return VARIABLE.sub(lambda found: "" if found[0].startswith("extern") else found[0], code)


def uses(code, name, variables):
    called = rf"{name}\b" if name in variables else rf"{name}\("
    return name in code and re.search(rf"(?:(?<![\w.>:~])|(?<=cucc::)){called}", code) and \
        not re.search(rf"^(?:static|[ ]+\w)[^;(){{}}=]*\b{name}\([^;{{}}]*\)[^;(){{}}]*\{{", code, re.M)  # its own, or a member


def folder_of(path):
    return path.split("/")[0]


def reached(path, includes):
    """What it includes, and what that includes."""
    seen, todo = set(), [path]
    while todo:
        for other in includes[todo.pop()] - seen:
            seen.add(other)
            todo.append(other)
    return seen


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    texts, wrong = {}, []
    for folder in SAYS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and path.suffix not in (".bash", ".pyc"):
                texts[path.relative_to(root).as_posix()] = path.read_text()
    codes = {path: without_comments(text) for path, text in texts.items()}
    where, says = {}, {}  # the one file that defines a name; the headers that declare it
    for path, code in codes.items():
        for name in defined(code) if path.endswith(".cpp") else ():
            where[name] = None if name in where else path
    for path, code in codes.items():
        for name in declared(code):
            if path.endswith(".cpp") and where.get(name, path) not in (path, None):
                wrong.append(f"{path} declares {name}, which is in {where[name]}: include its header")
            elif not path.endswith(".cpp"):
                says.setdefault(name, []).append(path)
    of = {name: path for name, path in where.items() if path and name in says}
    for path in (path for path in codes if folder_of(path) == "compile"):
        code = re.sub(r"^static ", "", codes[path], flags=re.M)
        wrong += [f"{path} declares {name}, and does not have it" for name in declared(code) - defined(code)]

    includes = {path: {os.path.normpath(os.path.join(os.path.dirname(path), other))
                       for other in re.findall(r'^[ ]*#[ ]*include "([^"]*)"', text, re.M)} & set(texts)
                for path, text in texts.items()}
    reach = {path: reached(path, includes) for path in texts}
    variables = {m[1] for code in codes.values() for m in VARIABLE.finditer(code)}
    by_folder = {folder: {folder_of(other) for path in texts if path.startswith(folder + "/")
                          for other in reach[path]} - {folder} for folder in SAYS}
    calls = {path: without_declarations(code) for path, code in codes.items() if folder_of(path) in ("runtime", "check")}
    by_file = {path: {} for path in calls}
    for name, path in of.items():
        for header in says[name]:
            if folder_of(header) != folder_of(path) and not INTERFACES.match(header):
                wrong.append(f"{header} declares {name}, which is in {path}")
        for other in calls:
            if other != path and reach[other].union({other}).intersection(says[name]) and uses(calls[other], name, variables):
                by_file[other].setdefault(path, name)
    for path in calls:  # what headers call, those call that include them
        for header in reach[path] & set(calls):
            by_file[path].update({other: name for other, name in by_file[header].items() if other != path})
    for folder, used in by_folder.items():
        users = sorted(other for other in SAYS if folder in by_folder[other])
        line = f"Uses: {', '.join(f'{f}/' for f in sorted(used)) or 'no other folder'}. Used by: {', '.join(f'{f}/' for f in users) or 'none'}."
        head = re.sub(r"\s+\*?\s*", " ", texts[SAYS[folder]].split("*/")[0])
        if line not in head:
            wrong.append(f'{SAYS[folder]}: the first lines do not say "{line}"')
        for other in used:
            if folder in by_folder[other] and folder < other:
                wrong.append(f"{folder}/ and {other}/ use each other")

    for header in ("runtime/runtime.h", "check/check_state.h"):
        folder = folder_of(header) + "/"
        order = [folder + name for name in re.findall(r"\b\w+\.cpp", texts[header].split("*/")[0])]
        for i, path in enumerate(order):
            wrong += [f"{path} uses {name} of {other}, which comes after it" for other, name in by_file.get(path, {}).items()
                      if other in order[i:] or other.startswith("check/check_page") and folder == "check/"]
        for path in set(order) ^ {path for path in calls if re.fullmatch(folder + r"(?!check_page)\w+\.cpp", path)}:
            wrong.append(f"{path} is not there" if path in order else f"the first lines of {header} do not name {path}")
    print("\n".join(wrong) or f"{len(texts)} files of {len(SAYS)} folders, {len(of)} names that they share")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

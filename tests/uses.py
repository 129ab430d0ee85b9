#!/usr/bin/env python3
"""Derives which part of src/NAME uses which, from the names that parts define.

tests/uses.py [--write] FOLDER   compares the "Uses: ... Used by: ..." in the first lines of each part
                                 with what is derived, and names those that differ; --write mends them
A part defines functions, macros, enumerators, types and variables; a name that two parts define is
looked at in neither. Then come the borders: what a part of each folder may use (BORDERS).
"""
import pathlib
import re
import sys
import textwrap

# Parts about names alone: they use whatever is named, and no part names them.
EVERYWHERE = {"once/set_aside.h", "once/give_back.h", "once/names.h", "type/begin.h", "type/end.h"}
# What these define is the setting in which all of a type is made: TMM_TYPE, TMM__PASS.
SETTING = {"ready_made.h", "type/instances.h"}
# Options of the caller; and functions that are declared low and defined high, by which a launcher
# reaches another kernel.
APART = {"TMM_TILE", "TMM_EPILOGUE", "tmm__xrow", "tmm__xsplit"}
# These declare what later parts define.
DECLARING = {"once/functions.h": r"once/", "type/api.h": r"once/", "checks.h": r"once/"}
# What a part may use: (its path, what it must not use, why). The first group of a path is {}.
BORDERS = [
    (r"once/(?!kernels\.h)", r"(?!once/)", "once/ is below all others, but for its list of kernels"),
    (r"host/", r"(?!once/|host/)", "host/ knows no type and no kernel"),
    (r"kernels/common/", r"(?!once/|kernels/common/|type/epilogue)", "common/ is below the kernels"),
    (r"kernels/(?!common/)(\w+)/.*\.cuh$", r"(?!once/|kernels/(?:common|{})/|type/epilogue)", "device code knows its own kernel alone"),
    (r"kernels/(?!common/)(\w+)/.*\.h$", r"(?!once/|launch/|kernels/(?:common|{})/)", "a launcher knows its own kernel alone"),
    (r"launch/", r"(?!once/|launch/|kernels/common/|kernels/\w+/sizes\.h)", "launch/ is below the launchers"),
    (r"type/(?!instances\.h)", r"kernels/(?!common/|simple/)\w+/(?!launch\.h)", "type/ knows of a kernel its launcher alone"),
]
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)
WORD = re.compile(r"\b(?:tmm|TMM|rayt|RAYT)_\w+")
HEAD = re.compile(r"^(?:(?!\*/).)*?\bUses: (?P<says>(?:(?!\*/).)*?Used\s+by:\s(?:(?!\*/).)*?)\s*\*/", re.S)


def without_comments(text):
    return COMMENT.sub(lambda found: " " if found[0][0] == "/" else '""', text)


def defined(code):
    """The names that this code of a part defines."""
    names = set(re.findall(r"^[ ]*#[ ]*define (\w+)", code, re.M))
    names.update(re.findall(r"^#define tmm_gemm_\w+\s+(?:TMM__JOIN\()?(tmm__\w+)", code, re.M))  # to be pasted
    for body in re.findall(r"\benum\b[^;{(]*\{([^}]*)\}", code):
        names.update(re.findall(r"(?:^|,)\s*(\w+)", body))
    names.update(re.findall(r"\}\s*(\w+);", code))
    names.update(re.findall(r"^typedef [^{;]*?\b(\w+);", code, re.M))
    for head in re.findall(r"^((?:static|TMM_|RAYT_|TMM__|RAYT__|extern)[^;{}#]*?)\n?\{", code, re.M):
        head = re.sub(r"(__launch_bounds__|__attribute__|alignas|__align__)\s*\((?:[^()]|\([^()]*\))*\)", "", head)
        found = re.search(r"\b(\w+)\s*\(", head)
        if found:
            names.add(found[1])
    for variable in re.findall(r"^static [^;{}()=]*?\b(\w+)(?:\[[^\]]*\])* = ", code, re.M):
        names.add(variable)
    return {name for name in names if WORD.fullmatch(name)}


def grouped(parts, own):
    """Parts of folder `own` by their files; three of them or more, or two of another folder, as the folder."""
    folders = {}
    for part in parts:
        folders.setdefault(part.rsplit("/", 1)[0] if "/" in part else "", []).append(part)
    entries = []
    for folder in sorted(folders):
        inside = sorted(folders[folder])
        if folder and len(inside) >= (3 if folder == own else 2):
            entries.append(folder + "/")
        else:
            entries += [part.rsplit("/", 1)[-1] for part in inside] if folder == own else inside
    # several kernels, too
    kernels = [e for e in entries if re.match(r"kernels/(?!common)", e)]
    if len({e.split("/")[1] for e in kernels}) >= 4:
        entries = [e for e in entries if e not in kernels] + ["kernels/"]
    return ", ".join(entries)


def derive(folder):
    order = [line.split("#")[0].strip() for line in (folder / "PARTS").read_text().splitlines()]
    order = [part for part in order if part]
    code = {part: without_comments((folder / part).read_text()) for part in order}
    names = code.get("once/names.h", "")
    instances = {prefix: alias for alias, prefix in re.findall(r"^#define (tmm__\w+)\s+TMM__INSTANCE\((\w+), \w+\)", names, re.M)}
    functions = dict(re.findall(r"^#define (tmm__\w+)\s+TMM_FN\((\w+)\)", names, re.M))
    owners = {}
    for part in order:
        if part not in EVERYWHERE | SETTING:
            for name in defined(code[part]):
                owners.setdefault(name, set()).add(part)
    owner = {name: next(iter(parts)) for name, parts in owners.items() if len(parts) == 1}
    made = {prefix: owner[alias] for prefix, alias in instances.items() if alias in owner}
    for alias, function in functions.items():  # of one instance, by its whole name
        prefixes = [prefix for prefix in made if function.startswith(prefix)]
        if prefixes and alias not in owners:
            owner[alias] = made[max(prefixes, key=len)]
    uses = {part: {} for part in order}
    for part in order:
        if part in EVERYWHERE:
            continue
        words = set(WORD.findall(code[part]))
        for name in (words & set(owner)) - APART:
            if owner[name] != part and re.match(DECLARING.get(part, ""), owner[name]):
                uses[part].setdefault(owner[name], name)
        for prefix in re.findall(r"\b(gemm_\w*)##", code[part]):  # instances, by pasting
            if prefix in made and made[prefix] != part:
                uses[part].setdefault(made[prefix], prefix)
    return order, uses


def main():
    write = "--write" in sys.argv[1:]
    folder = pathlib.Path([a for a in sys.argv[1:] if a != "--write"][0])
    order, uses = derive(folder)
    users = {part: [p for p in order if part in uses[p]] for part in order}
    faults = 0
    for part in order:
        text = (folder / part).read_text()
        head = HEAD.match(text)
        if part in EVERYWHERE or not head:
            continue
        own = part.rpartition("/")[0]
        used = grouped(users[part], own)
        if re.search(r"^(?:TMM|RAYT)_API\b", text, re.M) or not used:
            used = "callers" if not used else used + ", callers"
        says = f"Uses: {grouped(uses[part], own) or 'nothing'}. Used by: {used}."
        if " ".join(("Uses: " + head["says"]).split()) == says and not write:
            continue
        if not write:
            print(f"{folder}/{part}: {says}")
            faults += 1
            continue
        whole = [says] if len(says) <= 94 else re.split(r" (?=Used by: )", says)
        wrapped = "\n".join(
            textwrap.fill(line, 97, initial_indent="   ", subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)
            for line in whole
        )
        begin = head.start("says") - len("Uses: ")
        before = text[:begin]
        before = before.rstrip() + "\n"
        (folder / part).write_text(before + wrapped + " */" + text[head.end():])
    for part in order:
        for where, forbidden, why in BORDERS if folder.name == "tiledmm" else []:
            found = re.match(where, part)
            if not found:
                continue
            for other, name in sorted(uses[part].items()):
                if re.match(forbidden.format(*found.groups()), other):
                    print(f"{folder}/{part} uses {name} of {other}: {why}")
                    faults += 1
    return 1 if faults else 0


sys.exit(main())

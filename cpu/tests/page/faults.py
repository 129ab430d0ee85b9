#!/usr/bin/env python3
"""Checks what a page of cucc --check --html says of faults.

usage: faults.py PAGE.html SOURCE.cu [FAULT...]

Of the comments in SOURCE.cu (faults.cu says what they mean) those of each FAULT, all if none is named, must be on
the page: title, how often it came, and the lines side by side, each with its words and that line of the code."""
import html
import re
import sys


def read_marks(lines, faults):
    marks = {}
    for number, line in enumerate(lines, 1):
        for fault, words in re.findall(r"(?:/\*|;) (\d+) ?((?::|is|comes) [^;]*)(?=;)", line):
            if not faults or fault in faults:
                marks.setdefault(int(fault), []).append((number, *words.split(" ", 1)))
    return marks


def plain(text):
    return html.unescape(re.sub("<[^>]*>", "", text))


def check_fault(fault, marks, section, lines):
    head = plain(section.split("<div class=\"pair\">")[0])
    sides = section.split('<div class="side">')[1:]
    found = []
    for number, kind, words in marks:
        if kind == "is" and not head.startswith(f"{fault}. {words}, "):
            found.append(f"it is not called {words}: {head.splitlines()[0]}")
        if kind == "comes" and f"It came {words}." not in head:
            found.append(f"it does not come {words}: {head}")
        if kind != ":":
            continue
        with_words = [side for side in sides if plain(side.split("</h4>")[0]) == words]
        if len(with_words) != 1:
            found.append(f"{len(with_words)} sides say {words}: {[plain(side.split('</h4>')[0]) for side in sides]}")
            continue
        hit = re.findall(r'<div class="line hit" aria-current="true">(.*?)</div>', with_words[0])
        wanted = f"\u25b6 {number}{lines[number - 1]}"
        if [plain(line) for line in hit] != [wanted]:
            found.append(f"{words}: not line {number}, but {[plain(line) for line in hit]}")
    if len(sides) != sum(kind == ":" for _, kind, _ in marks):
        found.append(f"it has {len(sides)} sides")
    if "<b>Right:</b> " not in section:
        found.append("it does not say what would be right")
    return [f"fault {fault}: {text}" for text in found]


def main():
    page_file, source, *faults = sys.argv[1:]
    with open(page_file, encoding="utf-8") as file:
        page = file.read()
    with open(source, encoding="utf-8") as file:
        lines = file.read().split("\n")
    marks = read_marks(lines, faults)
    sections = re.findall(r'<section class="fault" id="fault(\d+)">(.*?)</section>', page, re.S)
    found = [] if len(sections) == len(marks) > 0 else [f"{len(sections)} faults in place of {len(marks)}"]
    for number, section in sections:
        found += check_fault(int(number), marks.get(int(number), []), section, lines)
    print("\n".join(found))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())

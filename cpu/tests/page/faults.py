#!/usr/bin/env python3
"""Checks what a page of cucc --check --html says of faults.

usage: faults.py PAGE.html SOURCE.cu FAULTS.txt

FAULTS.txt has a line for each fault, "NUMBER TITLE: HOW OFTEN", and below it its lines, "TAG: WORDS": side by side
the page must show these words and the line of SOURCE.cu with the comment TAG."""
import html
import re
import sys


def read_faults(lines):
    faults = []
    for line in lines:
        name, text = line.split(": ", 1)
        if name[0].isdigit():
            faults.append((name.replace(" ", ". ", 1), text, []))
        else:
            faults[-1][2].append((name, text))
    return faults


def plain(text):
    return html.unescape(re.sub("<[^>]*>", "", text))


def check_fault(title, often, places, section, lines):
    head = plain(section.split('<div class="pair">')[0])
    sides = [side.split("</h4>") for side in section.split('<div class="side">')[1:]]
    labels = [plain(side[0]) for side in sides]
    found = []
    if not head.startswith(f"{title}, ") or f"It came {often}." not in head:
        found.append(f"it is not that, {often}: {head}")
    if sorted(labels) != sorted(words for _, words in places):
        found.append(f"its sides are {labels}")
    for tag, words in places:
        number = next(n for n, line in enumerate(lines, 1) if f"/* {tag} */" in line)
        wanted = f"\u25b6 {number}{lines[number - 1]}"
        hits = [re.findall(r'<div class="line hit" aria-current="true">(.*?)</div>', side[1]) for side in sides if plain(side[0]) == words]
        if [[plain(line) for line in hit] for hit in hits] != [[wanted]]:
            found.append(f"{words}: not line {number}, but {hits}")
    if "<b>Right:</b> " not in section:
        found.append("it does not say what would be right")
    return [f"{title}: {text}" for text in found]


def main():
    texts = []
    for name in sys.argv[1:4]:
        with open(name, encoding="utf-8") as file:
            texts.append(file.read())
    page, source, faults = texts[0], texts[1].split("\n"), read_faults(texts[2].splitlines())
    sections = re.findall(r'<section class="fault" id="fault\d+">(.*?)</section>', page, re.S)
    found = [] if len(sections) == len(faults) else [f"{len(sections)} faults in place of {len(faults)}"]
    for fault, section in zip(faults, sections):
        found += check_fault(*fault, section, source)
    print("\n".join(found))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks a page that cucc --report --html has written.

usage: page.py PAGE.html [SOURCE.cu]

Any page is one file of at most 1 MB that refers to nothing outside, whose tags are closed in order and whose
links lead somewhere. Of lines of SOURCE.cu with a comment "worst N: FIGURE", the page names the Nth worst by file,
line and figure, draws a warp of it twice, and shows its heat beside the code. "worst 0": no line is the worst."""
import html
import re
import sys
from html.parser import HTMLParser

EMPTY = {"meta", "br"}
MOST_BYTES = 1000 * 1000


class Page(HTMLParser):
    """Finds what is not closed, and keeps what the checks below ask for."""

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.ids, self.links = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"line {self.getpos()[0]}: </{tag}> closes another tag")


def check_form(text):
    page = Page()
    page.feed(text)
    page.close()
    faults = page.faults + [f"<{tag}> is not closed" for tag in page.open]
    if len(text.encode()) > MOST_BYTES:
        faults.append(f"{len(text.encode())} bytes")
    faults += [f"{found} refers to something outside" for found in re.findall(r"https?:|src=|url\(|@import|<script", text)]
    faults += [f"{link} leads nowhere" for link in page.links if link.removeprefix("#") not in page.ids]
    if len(set(page.ids)) != len(page.ids):
        faults.append("two places have the same id")
    if text.count("<details") != text.count("<summary>"):
        faults.append("a <details> without its <summary>")
    wanted = ('name="viewport"', "prefers-color-scheme:dark", ":focus-visible")
    return faults + [f"no {word}" for word in wanted if word not in text]


def check_worst(text, source):
    with open(source) as file:
        lines = file.read().split("\n")
    marks = {}
    for number, line in enumerate(lines, 1):
        for rank, figure in re.findall(r"worst (\d): (.*?);", line):
            marks[int(rank)] = (number, figure)
    sections = text.split('<section class="worst">')[1:]
    sections = [section.split("</section>")[0] for section in sections]
    if 0 in marks:
        return ["a line is the worst"] if sections else []
    faults = [] if len(sections) == len(marks) == 3 else [f"{len(sections)} worst lines"]
    for rank, section in enumerate(sections, 1):
        number, figure = marks[rank]
        title = html.unescape(section.split("</h3>")[0])
        if f"{source.rpartition('/')[2]}:{number}<" not in title or figure not in title:
            faults.append(f"worst {rank} is not line {number} with {figure}: {title}")
        for word in ('<figure class="bad"><svg', '<figure class="good"><svg', "Right:"):
            if section.count(word) != 1:
                faults.append(f"worst {rank}: {section.count(word)} times {word}")
        bad, good = section.partition('<figure class="good">')[::2]
        if bad.count('class="lane"') != 32 or good.count('class="lane"') != 32:
            faults.append(f"worst {rank}: a warp without 32 lanes")
        shown = re.search(rf'<div class="line" id="f\d+l{number}">.*', text)
        if not shown or not re.search(r'<i class="h[1-5]" style="width:\d+%">', shown[0]):
            faults.append(f"line {number} has no heat")
    return faults


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    faults = check_form(text)
    if len(sys.argv) > 2:
        faults += check_worst(text, sys.argv[2])
    print("\n".join(faults))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())

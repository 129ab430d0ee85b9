"""Turns the lines of try --json, on standard input, into a comment of a pull request, in Markdown.

Programs choose their names and what they print: all of it is shown as code, so that nobody is notified and no
link or picture is made of it.
"""

import json
import sys

MARK = "<!-- cucc -->"  # by which the workflow finds its comment again
MOST = 60000  # characters; GitHub takes 65536


def code(text):
    """Text as code. What could be markup is written by its number, so that nothing in it is."""
    text = "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in " ".join(str(text).split()))
    return text and f"<code>{text}</code>"


def read(lines):
    """The programs, and how many lines are none."""
    programs, others = [], 0
    for line in lines:
        try:
            program = json.loads(line)
        except ValueError:
            program = None
        if isinstance(program, dict) and {"program", "built", "ended", "seconds", "says"} <= program.keys():
            programs.append(program)
        else:
            others += bool(line.strip())
    return programs, others


def comment(programs, others):
    built = sum(program["built"] is True for program in programs)
    well = sum(program["ended"] == "well" for program in programs)
    text = f"{MARK}\n**{len(programs)} programs: {built} build, {well} of them end well**\n\n"
    if others:
        text += f"{others} lines were not read.\n\n"
    if programs:
        text += "| | program | ended | seconds | says |\n|---|---|---|---|---|\n"
    for number, program in enumerate(programs):
        ended = program["ended"] if program["built"] is True else "does not build"
        mark = ":white_check_mark:" if ended == "well" else ":x:"
        seconds = program["seconds"] if isinstance(program["seconds"], (int, float)) else ""
        text += f"| {mark} | {code(program['program'])} | {code(ended)} | {seconds} | {code(program['says'])} |\n"
        if len(text) > MOST // 2:
            text += f"\n{len(programs) - number - 1} more programs are left out.\n"
            break
    for program in programs:
        faults = program.get("faults")
        if not faults or not isinstance(faults, list):
            continue
        fence = "```"
        lines = "\n".join(" ".join(str(fault).split()) for fault in faults)
        while fence in lines:
            fence += "`"
        part = f"\n{code(program['program'])}\n\n{fence}\n{lines}\n{fence}\n"
        if len(text) + len(part) > MOST:
            text += "\nMore faults are left out.\n"
            break
        text += part
    return text


if __name__ == "__main__":
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.write(comment(*read(sys.stdin)))

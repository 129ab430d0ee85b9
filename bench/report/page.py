"""The report's files: page.html with everything in it, tables.md, tables.tex, plots/*.png and *.svg."""
import base64
import fnmatch
import html
import os
import re

import plots as plots_module
import sentences
import tables as tables_module

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 1rem/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto;
  max-width: 62rem; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.5rem; border-bottom: 2px solid #0060a8; }
h3, caption { font-size: 1rem; font-weight: 600; text-align: left; margin: 1.2rem 0 0.4rem; }
caption { padding: 0.3rem 0; }
a { color: #0060a8; } a.self { text-decoration: none; opacity: 0.5; margin-left: 0.3rem; }
nav ul { columns: 15rem; padding-left: 1.2rem; }
.wide { overflow-x: auto; margin: 0.5rem 0; }
table { min-width: 20rem; border-collapse: separate; border-spacing: 0; font-size: 0.875rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid #ddd; }
thead th { border-bottom: 2px solid #888; white-space: normal; vertical-align: bottom; }
.text { text-align: left; } .words td { white-space: normal; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: #fff; }
.notes { margin: 0.4rem 0 1rem; padding-left: 1.2rem; } .wrong { color: #b00000; font-weight: 700; }
.cpu { background: #fff3cd; border-left: 5px solid #cc9900; padding: 0.5rem 0.8rem; }
figure { margin: 1rem 0; } figure img { width: 45rem; max-width: none; height: auto; display: block; }
@media (min-width: 48rem) { figure img { max-width: 100%; } }
@media (max-width: 47.99rem) { figure img { width: 36rem; } }
pre { background: #f4f4f4; padding: 0.6rem; overflow-x: auto; font-size: 0.8rem; }
@media print { body { max-width: none; padding: 0; font-size: 10pt; } nav, a.self { display: none; }
  h2, h3, caption { break-after: avoid; } table, figure { break-inside: avoid; } tr { break-inside: avoid; }
  .wide { overflow: visible; } table { font-size: 7pt; } th, td { padding: 0.1rem 0.25rem; }
  th:first-child, td:first-child { position: static; } figure img { width: 100%; max-width: 15cm; }
  a { color: inherit; text-decoration: none; } @page { margin: 1.5cm; } }
"""


# What each section shows, in order; the first * stands for each element type, another for any text.
SECTIONS = (
    ("device", "Device", ["table machine"]),
    ("methods", "All methods: time, speed-up, efficiency",
     ["table methods-*", "plot time-*", "table time-*", "plot speed-up-*", "table speed-up-*"]),
    ("shared", "Global against shared memory", ["plot shared", "table shared-*"]),
    ("scaling", "Threads and ranks", ["plot efficiency", "table scaling-*", "table mpi-gpu-*"]),
    ("devices", "Several devices", ["table devices-*"]),
    ("cublas", "Against cuBLAS", ["plot cublas", "table cublas-ratio"]),
    ("choice", "How TMM_AUTO chooses", ["table choice-*-*"]),
    ("errors", "Errors, and GPU against CPU", ["plot error", "table error-*"]),
    ("spheres", "Spheres by kind of memory", ["plot spheres", "table spheres"]),
    ("memory", "Copies and kinds of memory", ["table overlap", "table memory"]),
    ("roofline", "Roofline", ["plot roofline-*"]),
)


def contents_of(items, kinds, there):
    """(what, name) of a section's items that are there: all of one type, then all of the next."""
    wanted = [item for item in items if "*" not in item]
    wanted += [item.replace("*", kind, 1) for kind in kinds for item in items if "*" in item]
    return [(what, name) for what, pattern in map(str.split, wanted) for name in there[what]
            if fnmatch.fnmatchcase(name, pattern)]


def plot_notes(f, name):
    """The sentences under a plot."""
    kind = name.split("-")[-1]
    if name.startswith("roofline-"):
        return sentences.roofline(f, kind)
    if name.startswith("time-"):
        return sentences.ladder(f, kind)
    if name.startswith("speed-up-"):
        return sentences.peaks(f, kind)[:1]
    by_name = {
        "shared": sentences.shared_peaks(f), "efficiency": sentences.efficiencies(f),
        "cublas": sentences.cublas(f), "error": sentences.error_growth(f),
        "spheres": sentences.sphere_growth(f),
    }
    return by_name.get(name, [])


# ---- HTML ------------------------------------------------------------------------------------------
def notes_html(notes):
    """Sentences as a list."""
    items = "".join(f"<li>{html.escape(note)}</li>" for note in dict.fromkeys(notes))
    return f'<ul class="notes">{items}</ul>' if items else ""


def cell_html(text, left, tag="td"):
    """A cell; a wrong result stands out."""
    mark = ' class="wrong"' if text.lower() == "wrong" else ' class="text"' if left else ""
    return f"<{tag}{mark}>{html.escape(text)}</{tag}>"


def table_html(table, notes):
    """A table in a box that scrolls sideways, and sentences below it."""
    left = table.texts()
    head = "".join(cell_html(text, n in left, "th") for n, text in enumerate(table.head))
    lines = ("".join(cell_html(text, n in left) for n, text in enumerate(row)) for row in table.rows)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    words = ' class="words"' if table.all_words else ""
    return (
        f'<div class="wide" id="table-{table.name}"><table{words}><caption>{html.escape(table.title)} '
        f'<a class="self" href="#table-{table.name}" aria-label="link to this table">#</a></caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>\n"
        + notes_html(notes)
    )


def plot_html(name, svg, text, notes):
    """A plot, drawn in the page."""
    data = base64.b64encode(svg).decode()
    return (
        f'<figure id="plot-{name}"><div class="wide"><img alt="{html.escape(text)}" '
        f'src="data:image/svg+xml;base64,{data}"></div>'
        f'<figcaption>{notes_html(notes)}</figcaption></figure>\n'
    )


def cite_html(f):
    """How to quote the page."""
    row = f.rows[-1]
    date = max(r["date"] for r in f.rows)
    what = row["device"] if f.on_gpu else "CPU runner (CPU times)"
    text = (f"tiledmm report, {what}, {row['toolkit'] or row['compiler']}, measured {date}, sources "
            f"{row['sources']}, section or table by its # (such as #table-shared-float).")
    key = re.sub("[^a-z0-9]+", "-", what.lower()).strip("-")
    bibtex = (f"@misc{{tiledmm-{key},\n  title = {{tiledmm report: {what}}},\n"
              f"  note = {{{row['toolkit'] or row['compiler']}, sources {row['sources']}}},\n"
              f"  year = {{{date[:4]}}}, month = {{{int(date[5:7])}}}\n}}")
    return f"<p>{html.escape(text)}</p><pre>{html.escape(bibtex)}</pre>"


def method_html(f, left_out, failed):
    """How it was measured, and what is missing."""
    how = [
        "Products: C = A B, row-major, elements uniform in (-1, 1) (int: all 32 bits). Kernel times by "
        "events on the device after a warm-up; a product shorter than a millisecond is repeated within "
        "one timing. With copies: allocation, copies of A and B, product, copy of C." if f.on_gpu else
        "Products: C = A B, row-major, elements uniform in (-1, 1) (int: all 32 bits). Times by the clock "
        "of the CPU.",
        "T_s is the sequential product, blocked for the caches, on one thread. MPI ranks multiply by the "
        "same product on a core each and send each other panels (SUMMA); times from the first rank's "
        "start to the last one's end. E = S / p is given where p counts like processors.",
        "Every result was checked: against sums of higher precision, all elements or a sample of them and "
        "a random projection of the whole; spheres byte by byte against the CPU's image.",
        "All measurements, with minimum, mean, median and maximum: results.csv beside this page; the "
        "tables for pasting: tables.md and tables.tex; the plots: plots/.",
    ]
    gone = [f"Left out: {what} ({why})." for what, why in left_out.items()]
    gone += [f"Failed: {what}: {why}." for what, why in failed.items()]
    return notes_html(how + gone)


def page_html(f, tables, drawn, left_out, failed):
    """The whole page."""
    row = f.rows[-1]
    title = f"tiledmm report: {row['device'] if f.on_gpu else 'CPU runner'}"
    body, contents = [], []
    for anchor, heading, items in SECTIONS:
        parts, said = [], {sentences.ON_CPU}  # which the head of the page says
        kinds = f.types() or f.types("choice")
        for what, name in contents_of(items, kinds, {"table": tables, "plot": drawn}):
            notes = tables[name].notes if what == "table" else plot_notes(f, name)
            new = [note for note in notes if note not in said]  # nothing twice in a section
            said.update(new)
            parts.append(table_html(tables[name], new) if what == "table" else
                         plot_html(name, *drawn[name], new))
        if parts:
            contents.append((anchor, heading))
            body.append(f'<section id="{anchor}"><h2>{heading} <a class="self" href="#{anchor}" '
                        f'aria-label="link to this section">#</a></h2>\n{"".join(parts)}</section>')
    contents += [("method", "How it was measured"), ("cite", "How to cite")]
    links = "".join(f'<li><a href="#{anchor}">{heading}</a></li>' for anchor, heading in contents)
    marked = "" if f.on_gpu else f'<p class="cpu"><strong>CPU.</strong> {sentences.ON_CPU}</p>'
    findings = notes_html([s for s in sentences.summary(f) if s != sentences.ON_CPU])
    if f.wrong():
        findings = findings.replace("<li>WRONG", '<li class="wrong">WRONG', 1)
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>
<header><h1>{html.escape(title)}</h1>
<p>Matrix multiply by tiledmm.cuh and ray casting by raytrace.cuh, measured {max(r['date'] for r in f.rows)}.</p>
{marked}</header>
<section id="summary"><h2>In short <a class="self" href="#summary" aria-label="link to this section">#</a></h2>
{findings}</section>
<nav aria-label="Contents"><ul>{links}</ul></nav>
{chr(10).join(body)}
<section id="method"><h2>How it was measured</h2>{method_html(f, left_out, failed)}</section>
<section id="cite"><h2>How to cite</h2>{cite_html(f)}</section>
</body></html>
"""


# ---- Markdown and LaTeX ----------------------------------------------------------------------------
def as_markdown(table):
    """A table for a README."""
    def line(cells):
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    left = table.texts()
    rule = "".join("---|" if n in left else "---:|" for n in range(len(table.head)))
    lines = [f"### {table.title}", "", line(table.head), "|" + rule]
    lines += [line(row) for row in table.rows] + [""]
    lines += [f"- {note}" for note in table.notes] + ([""] if table.notes else [])
    return "\n".join(lines)


LATEX = {"\\": r"\textbackslash{}", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$",
         "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
         "|": r"\textbar{}", "<": r"\textless{}", ">": r"\textgreater{}"}


def escape_latex(text):
    """Text that LaTeX sets as it is."""
    return "".join(LATEX.get(letter, letter) for letter in text)


def as_latex(table):
    """A table that needs no package but graphicx, which shrinks it to the width of the text."""
    def line(cells):
        return " & ".join(map(escape_latex, cells)) + r" \\"

    left = table.texts()
    columns = "".join("l" if n in left else "r" for n in range(len(table.head)))
    lines = [r"\begin{table}[htbp]", r"\centering", rf"\caption{{{escape_latex(table.title)}}}",
             rf"\label{{tab:{table.name}}}", r"\smallskip", r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
             rf"\begin{{tabular}}{{{columns}}}", r"\hline", line(table.head), r"\hline"]
    lines += [line(row) for row in table.rows] + [r"\hline", r"\end{tabular}}", r"\end{table}"]
    lines += [f"% {note}" for note in table.notes]
    return "\n".join(lines) + "\n"


# ---- files -----------------------------------------------------------------------------------------
def write(path, data):
    """A file that appears whole or not at all."""
    with open(path + ".tmp", "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.replace(path + ".tmp", path)


def make(f, folder, left_out, failed):
    """All files of the report. Returns the path of the page; OSError if one cannot be written."""
    tables = tables_module.all_tables(f)
    os.makedirs(os.path.join(folder, "plots"), exist_ok=True)
    drawn = {}
    for name, (figure, text) in plots_module.all_plots(f).items():
        forms = {form: plots_module.render(figure, form) for form in ("png", "svg")}
        plots_module.close(figure)
        for form, data in forms.items():
            write(os.path.join(folder, "plots", f"{name}.{form}"), data)
        drawn[name] = forms["svg"], text
    write(os.path.join(folder, "tables.md"), "\n".join(as_markdown(t) for t in tables.values()))
    head = "% \\usepackage{graphicx} is needed; \\input{tables} puts in all, or paste those you want.\n"
    write(os.path.join(folder, "tables.tex"), head + "\n".join(as_latex(t) for t in tables.values()))
    path = os.path.join(folder, "page.html")
    write(path, page_html(f, tables, drawn, left_out, failed))
    return path



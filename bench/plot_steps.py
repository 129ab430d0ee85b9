"""Draws demos/steps/climb.svg from a steps.csv of bench/steps.sh: plot_steps.py steps.csv > climb.svg"""

import csv
import sys

SIZE, HIGH, BAR, GAP, TOP, LEFT = "4096", 220, 26, 6, 40, 54  # of the products; pixels
GROUPS = (
    ("strict FP32", range(1, 13)),
    ("half in, float out", range(13, 22)),
    ("double", range(22, 24)),
)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: plot_steps.py steps.csv > climb.svg")
    with open(sys.argv[1]) as file:
        steps = {
            int(row["step"][:2]): row
            for row in csv.DictReader(file)
            if row["M"] == SIZE
        }
    parts, x = [], LEFT

    def y(part):
        return TOP + HIGH * (1.1 - part) / 1.1

    def text(x, y, words, more=""):
        parts.append(f'<text x="{x:.0f}" y="{y:.0f}" {more}>{words}</text>')

    for name, numbers in GROUPS:
        start = x
        for number in numbers:
            if number not in steps:
                continue
            part, rate = (
                float(steps[number]["of_cublas"]),
                float(steps[number]["tflops"]),
            )
            parts.append(
                f'<rect x="{x}" y="{y(part):.1f}" width="{BAR}" height="{TOP + HIGH - y(part):.1f}">'
                f"<title>{steps[number]['step']}: {rate:.1f} TFLOP/s, {part:.3f} of cuBLAS</title></rect>"
            )
            text(x + BAR / 2, TOP + HIGH + 14, f"{number:02}", 'text-anchor="middle"')
            text(
                x + BAR / 2,
                min(y(part), y(1) if part > 0.93 else y(0))
                - 4,  # not on the line of cuBLAS
                f"{rate:.3g}",
                'text-anchor="middle" class="small"',
            )
            x += BAR + GAP
        if x > start:
            text((start + x - GAP) / 2, TOP + HIGH + 30, name, 'text-anchor="middle"')
            x += 3 * GAP
    for part in (0, 0.5, 1):
        line = "cublas" if part == 1 else "grid"
        parts.append(
            f'<line x1="{LEFT - 4}" x2="{x}" y1="{y(part):.1f}" y2="{y(part):.1f}" class="{line}"/>'
        )
        text(
            LEFT - 8,
            y(part) + 4,
            "cuBLAS" if part == 1 else f"{part:g}",
            'text-anchor="end" class="small"',
        )
    text(LEFT, 16, f"Part of cuBLAS at {SIZE} x {SIZE} x {SIZE}; on the bars TFLOP/s")
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {x + 8} {TOP + HIGH + 40}" font-family="sans-serif" font-size="12">\n'
        "<style>rect { fill: #4878a8 } text { fill: #333 } .small { font-size: 10px } .grid { stroke: #bbb }\n"
        ".cublas { stroke: #c33; stroke-width: 2 }\n"
        "@media (prefers-color-scheme: dark) { text { fill: #ddd } rect { fill: #79a8d8 } }</style>"
    )
    print("\n".join(parts) + "\n</svg>")


if __name__ == "__main__":
    main()

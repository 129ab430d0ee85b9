#!/usr/bin/env python3
"""Makes the pictures of runs in demos/memory: the worst lines of a demo, as the page of cucc --report shows them.

usage: pictures.py        (needs a Chromium, see browser.py, and Pillow)"""
import base64
import io
import os
import subprocess
import sys
import tempfile

from browser import Browser, find_browser
from PIL import Image

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
WIDTH, COLOURS = 720, 64
SHOWN = {"global": 1, "shared": 1, "constant": 2, "layout": 1}  # how many of the worst lines
CLIP = """(() => { const all = [...document.querySelectorAll(".worst")].slice(0, %d);
all.forEach(s => s.querySelector("details").open = true);
const boxes = all.map(s => s.getBoundingClientRect());
return [boxes[0].left - 8, boxes[0].top - 8 + scrollY, boxes[0].width + 16, boxes.at(-1).bottom - boxes[0].top + 16]; })()"""


def write_page(demo, folder):
    program, page = os.path.join(folder, demo), os.path.join(folder, demo + ".html")
    subprocess.run(["cpu/cucc", "--report", "--gpu", "h200", f"demos/memory/{demo}.cu", "-o", program], cwd=ROOT, check=True)
    subprocess.run([program], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CUCC_REPORT": page})
    return page


def main():
    file = find_browser()
    if not file:
        sys.exit("there is no Chromium")
    browser = Browser(file)
    try:
        with tempfile.TemporaryDirectory() as folder:
            for demo, shown in SHOWN.items():
                browser.open("file://" + write_page(demo, folder), WIDTH, dark=False)
                x, y, width, height = browser.evaluate(CLIP % shown)
                clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
                answer = browser.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
                picture = Image.open(io.BytesIO(base64.b64decode(answer["data"]))).convert("RGB")
                picture = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
                picture.save(f"{ROOT}/demos/memory/{demo}_run.png", optimize=True)
    finally:
        browser.close()


if __name__ == "__main__":
    main()

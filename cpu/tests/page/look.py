#!/usr/bin/env python3
"""Opens pages in a headless Chromium as people do, on a phone and on a desk, light and dark, and says what they
would stumble over.

usage: look.py PAGE.html [WIDTH [light|dark]] [--expect WORDS | --picture FILE.png]

Nothing may be wider than the screen, no text may be too small or too faint (WCAG 2.2: 4.5 to 1), all that can be
used is reached by Tab in order, is seen then and has a mark, Enter opens what is closed, links lead somewhere that
is seen, and nothing is asked of a network or logged as an error. Exit status 0: all is well, 1: it says what is not,
77: there is no browser. --expect: it must find something, in whose sentence the words stand.
--picture: the page as it is seen."""
import base64
import os
import sys

from browser import Browser, find_browser

NO_BROWSER = 77
TAB, ENTER = 9, 13

SEEN = r"""(width => {
const found = [];
document.querySelectorAll("details").forEach(d => d.open = true);
const name = e => e.tagName.toLowerCase() + (e.className.baseVal ?? e.className ? "." + (e.className.baseVal ?? e.className) : "") +
    ' "' + e.textContent.trim().slice(0, 30) + '"';
const scrolls = e => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) ? e : scrolls(e.parentElement));
if (document.documentElement.scrollWidth > width) found.push("the page is " + document.documentElement.scrollWidth + " wide on a screen of " + width);
for (const e of document.body.querySelectorAll("*")) {
    const box = e.getBoundingClientRect();
    if (box.width && (box.right > width + 1 || box.left < -1) && !scrolls(e)) found.push("beyond the screen: " + name(e));
    if (getComputedStyle(e).overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1) found.push("cut off: " + name(e));
}
const parse = c => { const n = c.match(/[\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
const back = e => {
    const layers = [];
    for (let p = e; p; p = p.parentElement) layers.push(parse(getComputedStyle(p).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
};
const light = c => { const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05) / (y + .05); };
/* what lies behind a text of a drawing: the shapes before it that hold its middle */
const behind = t => {
    const box = t.getBoundingClientRect(), x = box.left + box.width / 2, y = box.top + box.height / 2;
    let color = back(t.ownerSVGElement);
    for (const r of t.ownerSVGElement.querySelectorAll("rect")) {
        const b = r.getBoundingClientRect(), s = getComputedStyle(r);
        if (s.fill === "none" || x < b.left || x > b.right || y < b.top || y > b.bottom || !(r.compareDocumentPosition(t) & 4)) continue;
        const fill = parse(s.fill);
        color = over([...fill.slice(0, 3), fill[3] * Number(s.fillOpacity) * Number(s.opacity)], color);
    }
    return color;
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
    const e = texts.currentNode.parentElement, s = getComputedStyle(e);
    if (!texts.currentNode.data.trim() || !e.getClientRects().length || e.closest("style")) continue;
    const drawn = e.ownerSVGElement, size = parseFloat(s.fontSize) * (drawn ? e.getScreenCTM().a : 1);
    const c = ratio(over(parse(drawn ? s.fill : s.color), drawn ? behind(e) : back(e)), drawn ? behind(e) : back(e));
    const large = size >= 24 || (size >= 18.66 && s.fontWeight >= 700);
    if (c < (large ? 3 : 4.5)) found.push("too faint, " + c.toFixed(2) + " to 1: " + name(e));
    if (size < 8) found.push("too small, " + size.toFixed(1) + " pixels: " + name(e));
}
return [found, light(back(document.body))];
})"""

# All that can be used has a number, in the order of the page.
NUMBER = """(() => {
document.querySelectorAll("details").forEach(d => d.open = true);
const all = [...document.querySelectorAll("a[href], summary, [tabindex], button, input, select")];
all.forEach((e, i) => e.dataset.number = i);
document.activeElement.blur(); scrollTo(0, 0);
return all.length; })()"""
FOCUSED = """(() => {
const e = document.activeElement, box = e.getBoundingClientRect(), s = getComputedStyle(e);
return [Number(e.dataset.number ?? -1), e.textContent.trim().slice(0, 30), box.bottom > 0 && box.top < innerHeight,
        s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2]; })()"""
CLOSE = """(() => { const d = document.querySelector("details"); if (!d) return false;
d.open = false; d.firstElementChild.focus(); return true; })()"""
LINKS = """[...document.querySelectorAll('a[href^="#"]')].map(a => a.getAttribute("href")).filter((h, i, all) => all.indexOf(h) === i).map(h => {
location.hash = h; const box = document.querySelector(h)?.getBoundingClientRect();
return box && box.bottom > 0 && box.top < innerHeight ? "" : h + " leads to nothing that is seen"; }).filter(t => t)"""


def walk_by_keys(browser):
    found, count = [], browser.evaluate(NUMBER)
    for number in range(count):
        browser.press("Tab", TAB)
        at, text, seen, marked = browser.evaluate(FOCUSED)
        if at != number:
            return found + [f"Tab {number + 1} of {count} comes to number {at}: {text}"]
        found += [] if seen else [f"Tab comes to what is not on the screen: {text}"]
        found += [] if marked else [f"nothing marks where Tab is: {text}"]
    if browser.evaluate(CLOSE):
        browser.press("Enter", ENTER, "\r")
        found += [] if browser.evaluate("document.querySelector('details').open") else ["Enter does not open what is closed"]
    return found


def what_it_asked(browser, url):
    found = []
    for name, params in browser.events:
        if name == "Network.requestWillBeSent" and params["request"]["url"].split("#")[0] != url:
            found.append(f"it asks for {params['request']['url']}")
        elif name == "Runtime.exceptionThrown" or name == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            found.append(f"its script says: {params}")
        elif name == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            found.append(f"the console says: {params['entry']['text']}")
    return found


def look(browser, page, width, dark):
    url = "file://" + os.path.abspath(page).replace(" ", "%20").replace('"', "%22")
    browser.open(url, width, dark)
    found, light = browser.evaluate(f"{SEEN}({width})")
    if light > 0.1 if dark else light < 0.8:
        found.append(f"its back is {'light' if dark else 'dark'}")
    found += walk_by_keys(browser) + browser.evaluate(LINKS) + what_it_asked(browser, url)
    return [f"{width} pixels, {'dark' if dark else 'light'}: {text}" for text in found]


def take_picture(browser, file):
    height = browser.evaluate("Math.ceil(document.documentElement.getBoundingClientRect().height)")
    clip = {"x": 0, "y": 0, "width": browser.evaluate("innerWidth"), "height": height, "scale": 1}
    picture = browser.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
    with open(file, "wb") as out:
        out.write(base64.b64decode(picture["data"]))


def main():
    words = sys.argv[1:]
    options = {words[i]: words[i + 1] for i in range(len(words) - 1) if words[i] in ("--expect", "--picture")}
    words = words[: len(words) - 2 * len(options)]
    page, widths, schemes = words[0], [int(w) for w in words[1:2]] or [390, 1280], words[2:3] or ["light", "dark"]
    file = find_browser()
    if not file:
        print("no Chromium (apt install chromium-headless-shell, or CHROME=FILE)")
        return NO_BROWSER
    try:
        browser, found = Browser(file), []
    except RuntimeError as error:
        print(f"{file} does not start: {error}".replace("\n", " "))
        return NO_BROWSER
    try:
        for width in widths:
            for scheme in schemes:
                found += look(browser, page, width, scheme == "dark")
                if "--picture" in options:
                    take_picture(browser, options["--picture"])
    finally:
        browser.close()
    print("\n".join(found[:20]))
    if "--expect" in options:
        return not any(options["--expect"] in text for text in found)
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())

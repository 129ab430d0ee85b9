"""A headless Chromium, spoken to through pipes: the DevTools protocol, a message of JSON up to each zero byte."""
import glob
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 60  # seconds for an answer


def find_browser():
    """The file of a browser, $CHROME first, or None."""
    found = [shutil.which(name) for name in (os.environ.get("CHROME") or "", *NAMES)]
    found += sorted(glob.glob(os.path.expanduser("~/.cache/ms-playwright/chromium*/chrome*linux*/*hrom*")))
    return next((file for file in found if file and os.access(file, os.X_OK) and not os.path.isdir(file)), None)


class Browser:
    """One page. call() asks, wait() waits for an event; all events are kept in .events."""

    def __init__(self, file):
        self.folder = tempfile.mkdtemp()
        asks, self.to = os.pipe()
        self.answers, tells = os.pipe()
        self.log = tempfile.TemporaryFile()
        # the browser reads from 3 and writes to 4; a shell puts them there
        flags = "--headless --no-sandbox --disable-gpu --hide-scrollbars --remote-debugging-pipe --no-first-run --disable-background-networking"
        words = ["bash", "-c", f'exec "$0" {flags} "$1" 3<&{asks} 4>&{tells}', file, f"--user-data-dir={self.folder}"]
        self.process = subprocess.Popen(words, pass_fds=(asks, tells), stdout=self.log, stderr=self.log)
        os.close(asks)
        os.close(tells)
        self.events, self.rest, self.number, self.session = [], b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def _next(self):
        end = time.time() + PATIENCE
        while b"\0" not in self.rest:
            ready = select.select([self.answers], [], [], max(0, end - time.time()))[0]
            more = os.read(self.answers, 1 << 20) if ready else b""
            if not more:
                self.log.seek(0)
                raise RuntimeError(f"the browser {'has ended' if ready else 'does not answer'}: {self.log.read().decode(errors='replace')[-500:]}")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(message)
        if "id" not in message:
            self.events.append((message["method"], message["params"]))
        return message

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def wait(self, event):
        while all(name != event for name, _ in self.events):
            self._next()

    def open(self, url, width, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        for place in ("about:blank", url):
            self.events = []
            self.call("Page.navigate", url=place)
            self.wait("Page.loadEventFired")

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def press(self, key, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, text=text if kind == "keyDown" else "")

    def close(self):
        os.close(self.to)  # it ends then, and so do its helpers
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
        os.close(self.answers)
        shutil.rmtree(self.folder, ignore_errors=True)

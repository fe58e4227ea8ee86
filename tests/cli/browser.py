# SPDX-License-Identifier: MIT
"""A headless Chromium, led over a pair of pipes by its DevTools protocol."""

import base64
import json
import shutil
import subprocess

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35,
        "Home": 36, "ArrowUp": 38, "ArrowDown": 40, "/": 191}
GONE = ("Inspected target navigated or closed", "Execution context was destroyed.",
        "Cannot find context with specified id")


class PageGone(Exception):
    """A link was followed while the page was asked."""


class Browser:
    """One page of a browser. `with Browser() as page:` ends it."""

    def __init__(self):
        # The browser reads from its descriptor 3 and writes to 4.
        command = ["sh", "-c", 'exec "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1', "sh", BROWSER,
                   "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                   "about:blank"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        bufsize=0)
        self.to, self.come = self.process.stdin, self.process.stdout
        self.number, self.session, self.rest = 0, None, b""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.to.close()
        self.come.close()

    def call(self, method, **params):
        """One command and its answer; events in between are passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.to.write(json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                more = self.come.read(1 << 20)
                assert more, "the browser ended"
                self.rest += more
            text, _, self.rest = self.rest.partition(b"\0")
            answer = json.loads(text)
            if answer.get("id") == self.number:
                if answer.get("error", {}).get("message") in GONE:
                    raise PageGone
                assert "error" not in answer, answer
                return answer["result"]

    def value(self, expression):
        """What JavaScript gives; if its page goes meanwhile, what the next page gives."""
        try:
            answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                               awaitPromise=True)
        except PageGone:
            return self.value(expression)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def open(self, address, width=1400, height=900, dark=False):
        """Show a page in a window of a size, light or dark, and wait until it is there."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.value("new Promise(done => document.readyState === 'complete' ? done() : "
                   "addEventListener('load', () => done()))")

    def press(self, *keys):
        """Press and release keys; a text of several letters is typed."""
        for key in keys:
            shift = 8 if key == "Shift+Tab" else 0
            name = key.removeprefix("Shift+")
            if name not in KEYS:
                self.call("Input.insertText", text=name)
                continue
            text = {"Enter": "\r", " ": " ", "/": "/"}.get(name)
            event = {"key": name, "code": "Space" if name == " " else name,
                     "windowsVirtualKeyCode": KEYS[name], "modifiers": shift}
            self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown",
                      **event, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def picture(self, file):
        """Keep a picture of what is seen."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(file, "wb") as stream:
            stream.write(base64.b64decode(data))

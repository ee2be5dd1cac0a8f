"""browser.py: a page in headless Chromium, driven over its DevTools pipe; the standard library is all it needs.

    with Browser() as browser:
        page = browser.open("/path/page.html", dark=True)
        page.click("th button")            # a click of the mouse in the middle of the element
        page.value("document.title")       # of an expression
        page.screenshot("page.png")
        page.faults                        # exceptions, console errors, requests for anything but the page
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars"]
SECONDS = 120  # for anything: there to end what hangs


def program():
    """Where Chromium is, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Page:
    def __init__(self, browser, session, url):
        self.browser, self.session, self.url = browser, session, url
        self.faults = []

    def ask(self, method, **params):
        return self.browser.ask(method, params, self.session)

    def value(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(expression + ": " + json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def wait(self, expression):
        end = time.monotonic() + SECONDS
        while not self.value(expression):
            if time.monotonic() > end:
                raise RuntimeError("never true: " + expression)
            time.sleep(0.02)

    def place(self, selector):
        return self.value("""(() => { const node = document.querySelector(%s); if (!node) return null;
            node.scrollIntoView({block: "center", inline: "center"}); const box = node.getBoundingClientRect();
            return {x: box.x, y: box.y, width: box.width, height: box.height}; })()""" % json.dumps(selector))

    def mouse(self, kind, x, y, clicks=1):
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=clicks)

    def click(self, selector):
        box = self.place(selector)
        if not box:
            raise RuntimeError("not on the page: " + selector)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        self.mouse("mousePressed", x, y)
        self.mouse("mouseReleased", x, y)

    def drag(self, selector, start, end):
        """Between two places in the element, as parts of its width."""
        box = self.place(selector)
        y = box["y"] + box["height"] / 2
        self.mouse("mousePressed", box["x"] + box["width"] * start, y)
        for part in (start + (end - start) / 2, end):
            self.mouse("mouseMoved", box["x"] + box["width"] * part, y)
        self.mouse("mouseReleased", box["x"] + box["width"] * end, y)

    def type(self, selector, text):
        self.click(selector)
        self.ask("Input.insertText", text=text)

    def screenshot(self, path, selector=None):
        params = {"format": "png"}
        if selector:
            box = self.place(selector)
            params["clip"] = dict(box, y=box["y"] + self.value("scrollY"), scale=1)
            params["captureBeyondViewport"] = True
        Path(path).write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", **params)["data"]))


class Browser:
    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        self.number, self.pages, self.waiting = 0, {}, b""
        to_read, self.to = os.pipe()
        self.source, from_write = os.pipe()

        # The browser reads from descriptor 3 and writes to 4; the ends are moved out of the way first.
        def place():
            high_read, high_write = os.dup(to_read), os.dup(from_write)
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        self.process = subprocess.Popen([program()] + FLAGS + ["--remote-debugging-pipe", "--user-data-dir=" + self.folder, "about:blank"],
                                        preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        return self

    def __exit__(self, *unused):
        os.close(self.to)
        os.close(self.source)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        end = time.monotonic() + SECONDS
        while b"\0" not in self.waiting:
            ready, _, _ = select.select([self.source], [], [], max(0, end - time.monotonic()))
            part = os.read(self.source, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("the browser says nothing")
            self.waiting += part
        text, self.waiting = self.waiting.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, params=None, session=None):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.to, text):]
        while True:
            answer = self.message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + json.dumps(answer["error"]))
                return answer["result"]
            self.note(answer)

    def note(self, event):
        """An event of a page: a fault, or nothing that matters."""
        page, method, params = self.pages.get(event.get("sessionId")), event.get("method"), event.get("params", {})
        if not page:
            return
        if method == "Runtime.exceptionThrown":
            page.faults.append("exception: " + json.dumps(params["exceptionDetails"])[:2000])
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            page.faults.append("console: " + json.dumps(params["args"])[:2000])
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            page.faults.append("log: " + params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = params["request"]["url"]
            if url.split("#")[0] != page.url.split("#")[0] and not url.startswith("data:"):
                page.faults.append("request: " + url)
        elif method == "Page.javascriptDialogOpening":
            page.faults.append("dialog: " + params["message"])

    def open(self, path, fragment="", dark=False, width=1280, height=1000, scripts=True):
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = Page(self, session, Path(path).resolve().as_uri() + fragment)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(domain + ".enable")
        page.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        if not scripts:
            page.ask("Emulation.setScriptExecutionDisabled", value=True)
        page.ask("Page.navigate", url=page.url)
        page.wait("document.readyState === 'complete'")
        return page

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A browser as a viewer of files: opens pages, hands them files, keeps what they complain about, takes pictures."""
import base64, os, time
import chromium


class Viewer(chromium.Chromium):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.events = []

    def message(self, limit=60):
        answer = super().message(limit)
        if "method" in answer:
            self.events.append(answer)
        return answer

    def open(self, url, width=1400, height=900):
        self.events.clear()
        self.call("Runtime.enable")
        self.call("Log.enable")
        self.call("DOM.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.navigate(url)
        self.wait_for("document.readyState === 'complete'")

    def complaints(self):
        """What the page wrote to the console as an error, or threw."""
        found = []
        for event in self.events:
            p = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(p["exceptionDetails"].get("exception", {}).get("description") or str(p["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "assert"):
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
            elif event["method"] == "Log.entryAdded" and p["entry"]["level"] == "error":
                found.append(p["entry"]["text"])
        return found

    def element(self, expression):
        """The remote object that the expression gives."""
        result = self.call("Runtime.evaluate", expression=expression)["result"]
        if "objectId" not in result:
            raise RuntimeError("no element: " + expression)
        return result["objectId"]

    def put_file(self, expression, path):
        """Puts a file into the file input that the expression gives, as a user would by its dialog."""
        self.call("DOM.setFileInputFiles", files=[os.path.abspath(path)], objectId=self.element(expression))

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y, count=1):
        self.mouse("mouseMoved", x, y)
        for n in range(1, count + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=n)
            self.mouse("mouseReleased", x, y, button="left", clickCount=n)
        time.sleep(0.2)

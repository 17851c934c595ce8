# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""WebKit's remote inspector, for its timeline: what a page itself says it did."""
import json, socket, struct, threading, time


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Inspector:
    """The first page of a browser that was started with WEBKIT_INSPECTOR_SERVER=127.0.0.1:port. Its timeline runs from the
    end of the constructor to stop()."""

    def __init__(self, port, seconds=30):
        end = time.monotonic() + seconds
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), 5)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self.socket.settimeout(seconds)
        self.address = self.page = None
        self.ids = 0
        self.records = []
        self.running, self.stopped = threading.Event(), threading.Event()
        self._send("SetupInspectorClient", b"\0")
        threading.Thread(target=self._listen, daemon=True).start()
        if not self.running.wait(seconds):
            raise RuntimeError("the inspector starts no timeline")

    def stop(self):
        """[(type, start, end)] in seconds, children too, in the order of their starts."""
        self._to_page("Timeline.stop")
        if not self.stopped.wait(30):
            raise RuntimeError("the timeline does not end")
        self.socket.close()
        flat = []

        def take(record):
            flat.append((record["type"], record["startTime"], record.get("endTime", record["startTime"])))
            for child in record.get("children", ()):
                take(child)

        for record in self.records:
            take(record)
        return sorted(flat, key=lambda r: r[1:])

    def _send(self, name, parameters):
        body = name.encode() + b"\0" + parameters
        self.socket.sendall(struct.pack(">IB", len(body), 1) + body)

    def _to_page(self, method, **parameters):
        self.ids += 2
        inner = json.dumps({"id": self.ids, "method": method, "params": parameters})
        outer = {"id": self.ids + 1, "method": "Target.sendMessageToTarget", "params": {"targetId": self.page, "message": inner}}
        self._send("SendMessageToBackend", self.address + json.dumps(outer).encode() + b"\0")

    def _listen(self):
        stream = self.socket.makefile("rb")
        try:
            while not self.stopped.is_set():
                size, _ = struct.unpack(">IB", stream.read(5))
                name, _, parameters = stream.read(size).partition(b"\0")
                self._take(name.decode(), parameters)
        except (OSError, ValueError, struct.error):
            pass

    def _take(self, name, parameters):
        if name == "SetTargetList" and not self.address and parameters[16:24] == b"WebPage\0":
            self.address = parameters[:16]
            self._send("Setup", self.address)
        if name != "SendMessageToFrontend":
            return
        message = json.loads(parameters[16:].rstrip(b"\0"))
        if message.get("method") == "Target.targetCreated" and not self.page:
            self.page = message["params"]["targetInfo"]["targetId"]
            for method in ("Inspector.enable", "Page.enable", "Timeline.enable"):
                self._to_page(method)
            self._to_page("Timeline.setInstruments", instruments=["Timeline"])
            self._to_page("Timeline.start")
        elif message.get("method") == "Target.dispatchMessageFromTarget":
            message = json.loads(message["params"]["message"])
            if message.get("method") == "Timeline.recordingStarted":
                self.running.set()
            elif message.get("method") == "Timeline.recordingStopped":
                self.stopped.set()
            elif message.get("method") == "Timeline.eventRecorded":
                self.records.append(message["params"]["record"])

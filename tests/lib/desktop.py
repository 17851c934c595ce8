# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What tests of desktop browsers share: pages that wait until the recording has begun, and a display without a screen."""
import http.server, os, subprocess, threading

from ending import end
from framescope import read_line


class Server:
    """{path: (type, text)} on a port of 127.0.0.1, held back until the gate is set. A path that isn't there is a 404;
    wait_for tells of it all the same, so that a page can say how far it is."""

    def __init__(self, pages):
        gate = self.gate = threading.Event()
        asked, lock = self.asked, self.lock = set(), threading.Condition()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                with lock:
                    asked.add(self.path)
                    lock.notify_all()
                gate.wait(60)
                kind, text = pages.get(self.path, (None, None))
                self.send_response(200 if kind else 404)
                self.send_header("Content-Type", kind or "text/plain")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write((text or "").encode())

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def wait_for(self, path, seconds=60):
        """True as soon as path has been asked for."""
        with self.lock:
            return self.lock.wait_for(lambda: path in self.asked, seconds)

    def close(self):
        self.gate.set()
        self.http.shutdown()
        self.http.server_close()


def start_display():
    """An X server without a screen, on a display of its own: (process, ":N")."""
    read, write = os.pipe()
    process = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1024x768x24", "-nolisten", "tcp"],
                               pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    number = read_line(read)
    os.close(read)
    return process, ":" + number

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A private Chromium for tests: its own copy of the binary, so that probes hit no other browser, driven over a pipe."""
import functools, http.server, json, os, shutil, signal, subprocess, sys, tempfile, threading, time

import ending

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--mute-audio",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-features=DialMediaRouteProvider,OptimizationHints"]


def installed():
    """The folder of the installed browser, or None. $FRAMESCOPE_CHROMIUM names another one's."""
    for folder in [os.environ["FRAMESCOPE_CHROMIUM"]] if "FRAMESCOPE_CHROMIUM" in os.environ else ("/usr/lib/chromium", "/opt/google/chrome", "/usr/lib/chromium-browser"):
        for name in ("chromium", "chrome", "chromium-browser", "headless_shell"):
            if os.access(os.path.join(folder, name), os.X_OK):
                return folder, name
    return None


class Pages(http.server.SimpleHTTPRequestHandler):
    extensions_map = dict(http.server.SimpleHTTPRequestHandler.extensions_map, **{".mjs": "text/javascript"})

    def log_message(self, *args):
        pass

    def end_headers(self):
        self.send_header("Cache-Control", "no-store")
        super().end_headers()


def serve(folder):
    """Serves a folder on loopback. Returns the server (call shutdown()) and its base URL."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Pages, directory=folder))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, "http://127.0.0.1:%d/" % server.server_address[1]


class Chromium:
    """with Chromium(trace=[categories]) as b: b.navigate(url); b.evaluate("1+1")"""

    def __init__(self, trace=None, flags=(), folder=None, name=None):
        if not folder:
            folder, name = installed()
        self.home = tempfile.mkdtemp(prefix="framescope-chromium-")
        self.binary = os.path.join(self.home, "bin", name)
        # a browser run by root leaves a folder beside itself that others can't read, and that it doesn't need
        hidden = lambda at, names: [n for n in names if not os.path.islink(os.path.join(at, n)) and
                                    not os.access(os.path.join(at, n), os.R_OK)]
        shutil.copytree(folder, os.path.dirname(self.binary), symlinks=True, ignore=hidden)
        self.trace_file = os.path.join(self.home, "trace.json")
        args = [self.binary, *FLAGS, "--user-data-dir=" + os.path.join(self.home, "profile"),
                "--remote-debugging-pipe", *flags]
        if trace:
            args += ["--trace-startup=" + ",".join(trace), "--trace-startup-file=" + self.trace_file,
                     "--trace-startup-duration=0", "--trace-startup-format=json",
                     "--trace-startup-record-mode=record-as-much-as-possible"]
        self.args = args + ["about:blank"]
        self.next_id = 0
        self.session = None

    def __enter__(self):
        to_child, self.to = os.pipe()
        self.back, from_child = os.pipe()
        high = [os.dup2(to_child, 103), os.dup2(from_child, 104)]

        def place():
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.log = open(os.path.join(self.home, "log"), "w")
        self.process = subprocess.Popen(self.args, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL,
                                        preexec_fn=place, pass_fds=(3, 4, 103, 104))
        for fd in (to_child, from_child, *high):
            os.close(fd)
        self.pid = self.process.pid
        self.buffer = b""
        try:
            page = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"][0]
            self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
            self.call("Page.enable")
        except Exception:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *exc):
        ending.end(self.process)
        os.close(self.to)
        os.close(self.back)
        self.log.close()
        ending.remove(self.home)

    def message(self, limit=60):
        while b"\0" not in self.buffer:
            data = os.read(self.back, 1 << 20)
            if not data:
                raise RuntimeError("the browser closed its pipe: " + open(self.log.name).read()[-500:])
            self.buffer += data
        raw, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(raw)

    def call(self, method, **params):
        self.next_id += 1
        me = self.next_id
        message = {"id": me, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == me:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def navigate(self, url):
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError("%s: %s" % (expression, result["exceptionDetails"]))
        return result["result"].get("value")

    def wait_for(self, expression, seconds=60):
        """Waits until the page's expression is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if self.evaluate("!!(%s)" % expression):
                    return
            except RuntimeError:
                pass  # between two documents
            time.sleep(0.1)
        raise RuntimeError("the page never came to: " + expression)

    def wait_for_title(self, title, seconds=60):
        """Waits for the page's title without running a script in it, which would show up in what is measured."""
        session, self.session = self.session, None
        try:
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                if any(t["title"] == title for t in self.call("Target.getTargets")["targetInfos"]):
                    return
                time.sleep(0.1)
        finally:
            self.session = session
        raise RuntimeError("the page's title never became: " + title)

    def renderers(self):
        """PIDs of the renderer processes."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                args = open("/proc/%s/cmdline" % pid, "rb").read()
                if args.startswith(self.binary.encode()) and b"--type=renderer" in args:
                    found.append(int(pid))
            except OSError:
                pass
        return sorted(found)

    def close_and_read_trace(self):
        """Ends the browser in an orderly way; the start-up trace is written then. Returns its events."""
        session, self.session = self.session, None
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait(60)
        with open(self.trace_file) as f:
            trace = json.load(f)
        return trace["traceEvents"] if isinstance(trace, dict) else trace

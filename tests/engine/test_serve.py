#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""framescope serve on living targets: a small one whose events are known, and a browser."""
import json, os, signal, socket, struct, subprocess, sys, tempfile, threading, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import chromium
import framescope as fs
import stp
from framescope import FRAMESCOPE, check, equal

HERE = os.path.dirname(os.path.abspath(__file__))
INDEPENDENT = os.path.join(fs.ROOT, "../shared/tools/stp_client.py")
tests = fs.Tests()
work = tempfile.TemporaryDirectory(prefix="framescope-serve-")


class Page(fs.Target):
    """targets/page.c: tell(line) -> what it says before "done" """

    def __init__(self):
        super().__init__("page")

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        said = []
        while True:
            answer = self.line()
            if answer == "done":
                return said
            said.append(answer)


def serve(page, *args, **kw):
    path = os.path.join(work.name, "s%d.sock" % time.monotonic_ns())
    return stp.Serve(FRAMESCOPE, "-p", page.pid, "--engine", "native", "--socket", path, *args, **kw)


def start(c, mode=1):
    window = c.call("window-manager", "GetActiveWindow")["windowID"]
    return c.call("profiler", "StartProfiler", startMode=mode, windowID=window)["sessionID"]


def stop(c, sid):
    return [t["timelineID"] for t in c.call("profiler", "StopProfiler", sessionID=sid)["timelineList"]]


def events(c, sid, timeline, **q):
    return c.call("profiler", "GetEvents", sessionID=sid, timelineID=timeline, **q)["eventList"]


def tree(rows, parent=None):
    """reflow(style(…)) of events with ids and parents; selectors are summed up, as some kernels' sides do it already"""
    names = {3: "parse", 7: "reflow", 8: "style", 9: "selector", 10: "layout", 11: "paint"}
    out, selectors = [], 0
    for e in rows:
        if e.get("parentEventID") == parent:
            below = tree(rows, e["eventID"])
            if e["type"] == 9:
                selectors += e["hits"]
            else:
                out.append(names[e["type"]] + ("(%s)" % below if below else ""))
    return " ".join(out + ["selector*%d" % selectors] * bool(selectors))


TURN = "reflow(style(selector*3) layout) paint"


@tests
def small_target():
    """a session holds exactly what happened in it, frame by frame, in both formats"""
    with Page() as page, serve(page) as s:
        for format in "json", "protobuf":
            c = s.ready(format)
            page.tell("work 3")
            sid = start(c)
            page.tell("work 2")
            timelines = stop(c, sid)
            page.tell("work 3")
            equal(len(timelines), 2, "timelines")
            equal(tree(events(c, sid, timelines[0])), TURN + " " + TURN, "main frame")
            equal(tree(events(c, sid, timelines[1])), "layout", "child frame")
            rows = events(c, sid, timelines[0], mode=3, eventTypeList=[9])
            equal(sorted((e["cssSelectorMatching"]["selector"], e["hits"]) for e in rows), [("#foo", 4), (".bar", 2)], "selectors")
            paint = events(c, sid, timelines[0], eventTypeList=[11])[0]
            equal(paint["paint"], {"area": {"x": -1, "y": 2, "w": 300, "h": 400, "ox": 0, "oy": 0}}, "paint")
            for e in events(c, sid, timelines[0]):
                # these functions do next to nothing: all of their time may be that of the probes
                check(e["time"] + e["overhead"] > 0 and e["time"] >= 0 and e["interval"]["end"] > e["interval"]["start"] >= 0, e)
            c.close()


@tests
def independent_client():
    """an independent client finds no problem with a small target"""
    if not os.path.exists(INDEPENDENT):
        return fs.Skip("there is no %s" % os.path.relpath(INDEPENDENT, fs.ROOT))
    with Page() as page, serve(page) as s:
        independent(s, page)


def independent(s, page=None):
    stopped = threading.Event()

    def keep_busy():
        while page and not stopped.wait(0.02):
            page.tell("work 20")

    worker = threading.Thread(target=keep_busy)
    worker.start()
    try:
        for format in "json", "protobuf":
            for command in ["conformance"], ["profile", "--seconds", "0.5"], ["dragonfly", "--seconds", "0.5"]:
                done = subprocess.run(["python3", INDEPENDENT, "--connect", "127.0.0.1:%d" % s.port, "--format", format,
                                       *command], capture_output=True, text=True, timeout=120)
                check(done.returncode == 0 and done.stdout.endswith("0 problems\n"),
                      "%s %s: %s" % (format, command, done.stdout[-2000:] + done.stderr[-500:]))
    finally:
        stopped.set()
        worker.join()


@tests
def url_mode():
    """in URL mode recording begins with the navigation, and that moment is 0"""
    with Page() as page, serve(page) as s:
        c = s.ready()
        sid = start(c, mode=2)
        page.tell("work 1000")
        time.sleep(0.3)
        page.tell("navigate http://there/")
        page.tell("work 2")
        timelines = stop(c, sid)
        rows = events(c, sid, timelines[0])
        equal(tree(rows), "parse " + TURN + " " + TURN, "events")
        equal(rows[0]["documentParsing"]["url"], "http://there/", "URL")
        # nothing lies between the navigation and the parsing but a probe or two
        check(0 <= rows[0]["interval"]["start"] < 50, rows[0])
        # no navigation: no events, but a timeline
        sid = start(c, mode=2)
        page.tell("work 10")
        timelines = stop(c, sid)
        equal(len(timelines), 1, "timelines")
        equal(events(c, sid, timelines[0]), [], "events")


@tests
def process_time():
    """PROCESS is the process's own CPU time, within 1 %"""
    with Page() as page, serve(page) as s:
        c = s.ready("protobuf")
        sid = start(c)
        own = int(page.tell("busy 2000")[0]) / 1000
        timelines = stop(c, sid)
        rows = [e for e in events(c, sid, timelines[0], mode=4) if e["type"] == 2]
        equal(len(rows), 1, "PROCESS events")
        check(abs(rows[0]["time"] - own) < own / 100, "%.1f ms, the process says %.1f ms" % (rows[0]["time"], own))


@tests
def answers_while_stopping():
    """while many events become timelines, others are answered, and so is the client that waits"""
    with Page() as page, serve(page, "--memory", "4096") as s:
        a, b = s.ready("protobuf"), s.ready("json")
        sid = start(a)
        page.tell("work 30000")
        waiting = a.start("profiler", "StopProfiler", sessionID=sid)
        before = 0
        while waiting[0] not in a.answers:
            equal(b.call("window-manager", "GetActiveWindow")["windowID"], 1, "window")
            equal(a.call("window-manager", "GetActiveWindow")["windowID"], 1, "window")
            before += 1
        check(before > 3, "only %d answers came before that of StopProfiler" % before)
        timelines = [t["timelineID"] for t in a.finish(waiting)["timelineList"]]
        sums = {e["type"]: e["hits"] for e in events(a, sid, timelines[0], mode=2)}
        equal(sums, {7: 30000, 8: 30000, 9: 90000, 10: 30000, 11: 30000}, "events")
        # one level of the tree is cheap, whatever is below it
        equal(len(events(a, sid, timelines[0], maxDepth=1, interval={"start": 0, "end": 1e9}, eventTypeList=[11])), 30000, "paints")


@tests
def bad_clients_harm_no_recording():
    """flooding, slow and broken clients lose no event of the recording"""
    with Page() as page, serve(page) as s:
        c = s.ready()
        noise = [s.client() for _ in range(3)]
        over = threading.Event()

        def flood(client):
            body = b"\x01\x0a\x05scope\x10\x07\x18\x01\x28\x01\x42\x17[\"ecmascript-debugger\"]"
            frame = b"STP\x01" + stp.varint(len(body)) + body
            client.sock.settimeout(0.05)
            while not over.is_set():
                try:
                    client.sock.sendall(frame * 50)
                    if client is not noise[0]:  # the first one never reads
                        client.sock.recv(1 << 16)
                except (TimeoutError, OSError):
                    pass

        threads = [threading.Thread(target=flood, args=(n,)) for n in noise]
        sid = start(c)
        for t in threads:
            t.start()
        try:
            for _ in range(20):
                page.tell("work 1000")
                bad = socket.create_connection(("127.0.0.1", s.port))
                bad.sendall(b"STP\x01\xff\xff\xff\xff\x0f")
                bad.close()
        finally:
            over.set()
            for t in threads:
                t.join()
        timelines = stop(c, sid)
        sums = {e["type"]: e["hits"] for e in events(c, sid, timelines[0], mode=2)}
        equal(sums, {7: 20000, 8: 20000, 9: 60000, 10: 20000, 11: 20000}, "events")


@tests
def memory_bound():
    """sessions are refused when memory is used up, never dropped; a recording too large ends by itself"""
    with Page() as page, serve(page, "--memory", "16") as s:
        c = s.ready()
        kept = []
        try:
            while len(kept) < 100:
                sid = start(c)
                page.tell("work 10000")
                kept.append((sid, stop(c, sid)))
            check(False, "a hundred sessions fit into 16 MiB")
        except stp.Refused as e:
            equal(e.status, 7, "status of the refusal")
        check(len(kept) > 1, "not even two sessions fit")
        # the last ones may have ended by themselves, the first are as they were
        for sid, timelines in kept[:2]:
            equal(len(events(c, sid, timelines[0], eventTypeList=[7])), 10000, "events of session %d" % sid)
        c.call("profiler", "ReleaseSession")
        sid = start(c)
        page.tell("work 50000")
        timelines = stop(c, sid)
        n = len(events(c, sid, timelines[0], eventTypeList=[7], maxDepth=1))
        check(1000 < n < 50000, "%d events of a recording that took all the memory" % n)
        code, errors = s.stop()
        equal(code, 0, "exit code")
        check("--memory" in errors, "said: %r" % errors)


@tests
def memory_of_what_is_being_built():
    """a session that is being built counts before it is there"""
    with Page() as page, serve(page, "--memory", "32") as s:
        c = s.ready("protobuf")
        sid = start(c)
        page.tell("work 30000")  # half of the memory
        first = c.start("profiler", "StopProfiler", sessionID=sid)
        sid = start(c)
        page.tell("work 50000")  # would fit into all of it
        c.finish(first)
        timelines = stop(c, sid)
        sums = {e["type"]: e["hits"] for e in events(c, sid, timelines[0], mode=2)}
        check(1000 < sums[7] < 50000, "%d of 50000 reflows were recorded" % sums[7])


@tests
def target_ends():
    """when the target ends its window is closed, the session can be had, and the server ends with its last client"""
    with Page() as page, serve(page) as s:
        c = s.ready("protobuf")
        c.describe("window-manager")
        sid = start(c)
        page.tell("work 2")
        page.process.kill()
        page.process.wait()
        service, name, message = c.next_event() or (None, None, None)
        equal((service, name, message), ("window-manager", "OnWindowClosed", {"windowID": 1}), "event")
        timelines = stop(c, sid)
        equal(len(events(c, sid, timelines[0], eventTypeList=[7])), 2, "events")
        equal(c.call("window-manager", "ListWindows"), {"windowList": []}, "windows")
        c.close()
        equal(s.process.wait(20), 0, "exit code")


@tests
def leaves_nothing():
    """clients that vanish in the middle leave nothing running, and serve leaves no probe"""
    with Page() as page, serve(page) as s:
        for i in range(6):
            c = s.ready()
            sid = start(c)
            page.tell("work 2000")
            if i % 2:
                c.start("profiler", "StopProfiler", sessionID=sid)
            if i % 3 == 0:
                c.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            c.close()
            end = time.monotonic() + 20
            while True:
                d = s.ready()
                try:
                    start(d)
                    break
                except stp.Refused:
                    check(time.monotonic() < end, "the session of a client that has gone still runs")
                finally:
                    d.close()
        equal(s.stop(signal.SIGTERM)[0], 0, "exit code")
        page.tell("work 1")


@tests
def who_may_connect():
    """the unix socket is for root and the user who called sudo, whatever its mode becomes"""
    environment = dict(os.environ, SUDO_UID="65534", SUDO_GID="65534")

    def attempt(uid):
        code = "import os, socket, sys; os.setgid(%d); os.setuid(%d); s = socket.socket(socket.AF_UNIX); " \
            "s.settimeout(10); s.connect(sys.argv[1]); sys.exit(0 if s.recv(10) else 1)" % (uid, uid)
        return subprocess.run(["/usr/bin/python3", "-c", code, s.socket], stderr=subprocess.DEVNULL).returncode == 0

    os.chmod(work.name, 0o755)
    with Page() as page, serve(page, environment=environment) as s:
        st = os.stat(s.socket)
        equal((st.st_mode & 0o777, st.st_uid), (0o600, 65534), "mode and owner")
        check(attempt(0) and attempt(65534), "root and the user are let in")
        check(not attempt(1), "another user is let in")
        os.chmod(s.socket, 0o666)
        check(not attempt(1), "another user is let in where the mode allows it")
        check(attempt(65534), "the user is let in")
    with Page() as page, stp.Serve(FRAMESCOPE, "-p", page.pid, "--engine", "native") as s:
        equal(s.socket, "/run/framescope/%d.sock" % page.pid, "default path")
        equal(os.stat(s.socket).st_mode & 0o777, 0o600, "mode")
        stp.Client.unix(s.socket).close()
    check(not os.path.exists(s.socket), "the socket is still there")


@tests
def browser():
    """a browser: complete events in a real page's session, in both formats, and an independent client finds no problem"""
    if not chromium.installed():
        return fs.Skip("needs an installed Chromium")
    server, base = chromium.serve(os.path.join(HERE, "pages"))
    needs = {3: "documentParsing", 4: "cssParsing", 5: "scriptCompilation", 6: "scriptThreadEvaluation",
             9: "cssSelectorMatching", 11: "paint"}
    try:
        with chromium.Chromium() as b:
            b.navigate(base + "load.html")
            b.wait_for("document.title.startsWith('turn')")
            with stp.Serve(FRAMESCOPE, "-p", b.pid) as s:
                for format in "json", "protobuf":
                    b.navigate(base + "load.html")
                    b.wait_for("document.title.startsWith('turn')")
                    time.sleep(1.5)  # longer than the host takes to notice who works
                    c = s.ready(format)
                    renderers = c.call("window-manager", "ListWindows")["windowList"]
                    check(all("renderer" in w["title"] for w in renderers), renderers)
                    listed = json.loads(fs.run("windows", "-p", b.pid, "--json")[1])["windowList"]
                    equal([w["title"] for w in listed], [w["title"] for w in renderers], "windows on the command line")
                    shown = fs.run("windows", "-p", b.pid)[1].splitlines()
                    check(len(shown) == 1 + len(listed) and not any("=" in line for line in shown), shown)
                    sid = start(c)
                    time.sleep(1.5)
                    timelines = stop(c, sid)
                    rows = events(c, sid, timelines[0])
                    check({6, 7, 8, 10} <= {e["type"] for e in rows}, "types: %s of %s, %s in %s" % (
                        {e["type"] for e in rows}, timelines, c.call("window-manager", "GetActiveWindow"), renderers))
                    for e in rows:
                        check(e["eventID"] and e["interval"]["end"] >= e["interval"]["start"] >= 0 and e["time"] >= 0, e)
                        check(e["type"] not in needs or needs[e["type"]] in e, e)
                        check(e["type"] != 11 or {"ox", "oy"} <= set(e["paint"]["area"]), e)
                    # noting that a rule matched takes less than measuring it
                    zero = [e for e in rows if not e["time"] and e["type"] != 9]
                    check(len(zero) <= len(rows) / 20, "%d of %d events have no time" % (len(zero), len(rows)))
                    # the page of another site comes up in another process: it is found all the same
                    b.evaluate("window.left = true")
                    sid = start(c, mode=2)
                    b.navigate(base.replace("127.0.0.1", "localhost") + "index.html" if format == "json" else base + "load.html")
                    b.wait_for("!window.left && document.readyState == 'complete'")
                    time.sleep(0.5)
                    timelines = stop(c, sid)
                    found = [events(c, sid, t) for t in timelines]
                    fit = [{3, 10} <= {e["type"] for e in rows} for rows in found]
                    # it comes first where this build's URLs can be read, and it is there in any case
                    known = any(e.get("documentParsing", {}).get("url") for rows in found for e in rows)
                    check(fit[0] if known else any(fit), "types after a navigation: %s" % [
                        {e["type"] for e in rows} for rows in found])
                    check(all(rows[0]["interval"]["start"] >= 0 for rows in found), "an event before the navigation")
                    c.close()
                if os.path.exists(INDEPENDENT):
                    b.wait_for("document.title.startsWith('turn')")
                    independent(s)
                equal(s.stop()[0], 0, "exit code")
            check(b.process.poll() is None, "the browser has ended")
    finally:
        server.shutdown()


if not fs.is_root():
    print("ok 1 - serve on living targets # SKIP needs root")
    sys.exit(0)
tests.run()

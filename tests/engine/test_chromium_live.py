#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A browser under load survives what users do: many attachments, a long recording, two at once, a killed target, two
Ctrl-C; and no probe ever stays behind."""
import json, os, re, shutil, signal, subprocess, sys, tempfile, time

import chromium
from tap import Tap

FRAMESCOPE = os.environ["FRAMESCOPE"]
HERE = os.path.dirname(os.path.abspath(__file__))
LONG_SECONDS = int(os.environ.get("FRAMESCOPE_LONG_SECONDS", "300"))
CYCLES = 20


def sites(binary):
    rows = json.loads(subprocess.run([FRAMESCOPE, "probes", "--binary", binary, "--json", "--no-cache"], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)["probes"]
    return [int(r["offset"], 0) if isinstance(r["offset"], str) else r["offset"] for r in rows if r.get("offset")]


def planted(pid, binary, offsets):
    """How many of the sites hold another byte in this process than in the file."""
    found = 0
    with open(binary, "rb") as file, open("/proc/%d/mem" % pid, "rb", buffering=0) as mem:
        for line in open("/proc/%d/maps" % pid):
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) r.x. ([0-9a-f]+) \S+ \d+\s+(.*)", line)
            if not m or m.group(4) != binary:
                continue
            start, end, offset = (int(g, 16) for g in m.groups()[:3])
            for o in offsets:
                if offset <= o < offset + end - start:
                    file.seek(o)
                    mem.seek(start + o - offset)
                    found += file.read(1) != mem.read(1)
    return found


def report(path):
    """The report as data, or None if the file is no valid recording."""
    p = subprocess.run([FRAMESCOPE, "report", path, "--json"], stdout=subprocess.PIPE, text=True)
    return json.loads(p.stdout) if p.returncode == 0 else None


def hits(path):
    r = report(path)
    return sum(t["hits"] for t in r["types"]) if r else -1


def start(pid, out, *options):
    p = subprocess.Popen([FRAMESCOPE, "record", "-p", str(pid), "-o", out, *options], stderr=subprocess.PIPE, text=True)
    p.first = p.stderr.readline()  # "recording process …": all probes are planted and armed
    return p


def settle(pids, binary, offsets, want, seconds=20):
    """Waits until probes are planted in one of the processes (want) or gone from all."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        n = max(planted(p, binary, offsets) for p in pids)
        if bool(n) == want:
            return True
        time.sleep(0.02)
    return False


def main():
    tap = Tap()
    if os.geteuid() or not chromium.installed():
        tap.skip("a browser under load", "needs root and an installed Chromium")
        return tap.done()
    work = tempfile.mkdtemp(prefix="framescope-live-")
    server, base = chromium.serve(os.path.join(HERE, "pages"))
    try:
        with chromium.Chromium() as b:
            b.navigate(base + "load.html")
            b.wait_for_title("turn 50")
            offsets = sites(b.binary)
            attachments(tap, b, work, offsets)
            long_recording(tap, b, work, offsets)
            interrupts(tap, b, work, offsets)
            killed(tap, b, work)
    finally:
        server.shutdown()
        shutil.rmtree(work)
    tap.done()


def attachments(tap, b, work, offsets):
    before, times, counts = b.renderers(), [], []
    for i in range(CYCLES):
        out = os.path.join(work, "cycle.fscope")
        t = time.monotonic()
        p = start(b.pid, out, "-d", "0.5")
        text = p.communicate(timeout=60)[1]
        times.append(time.monotonic() - t)
        if p.returncode:
            return tap.ok(False, "attachment %d" % i, text)
        counts.append(hits(out))
    tap.ok(min(counts) > 0, "%d attachments to a browser under load each recorded something" % CYCLES,
           "calls: %s\nseconds, half a second of recording included: %s" % (
               counts, " ".join("%.2f" % t for t in times)))
    tap.ok(b.process.poll() is None and b.renderers() == before, "the browser lives and no renderer was restarted")
    tap.ok(max(planted(p, b.binary, offsets) for p in before) == 0, "no probe stayed behind")


def long_recording(tap, b, work, offsets):
    """One long recording, and shorter ones beside it by a second framescope."""
    before, out, other = b.renderers(), os.path.join(work, "long.fscope"), os.path.join(work, "other.fscope")
    turns = b.evaluate("turns")
    p = start(b.pid, out, "-d", str(LONG_SECONDS))
    end = time.monotonic() + LONG_SECONDS - 5
    beside = []
    for _ in range(3):
        time.sleep(min(5, LONG_SECONDS / 10))
        q = start(b.pid, other, "-d", "1")
        q.communicate(timeout=60)
        beside.append(hits(other))
    # the file's pages must read as they are on disk, not with the first one's breakpoints
    tap.ok(sites(b.binary) == offsets, "functions are found as well while probes sit on them")
    tap.ok(min(beside) > 0, "a second framescope records beside the first", "calls: %s" % beside)
    time.sleep(max(0, end - time.monotonic()))
    text = p.communicate(timeout=120)[1]
    r = report(out)
    tap.ok(p.returncode == 0 and r is not None, "%d s of recording end well" % LONG_SECONDS, text)
    ran = b.evaluate("turns") - turns
    n = sum(t["hits"] for t in r["types"]) if r else 0
    # each turn of the page has 20 forced reflows, and one function that is compiled
    tap.ok(n > 20 * ran * 0.9, "the other did not take calls away", "%d calls in %d turns of the page" % (n, ran))
    tap.ok(b.process.poll() is None and b.renderers() == before,
           "the browser lives after %d s and no renderer was restarted" % LONG_SECONDS)
    tap.ok(max(planted(x, b.binary, offsets) for x in before) == 0, "no probe stayed behind after that")


def interrupts(tap, b, work, offsets):
    pids = b.renderers()
    out = os.path.join(work, "twice.fscope")
    p = start(b.pid, out)
    tap.ok(settle(pids, b.binary, offsets, True), "probes are planted while recording")
    p.send_signal(signal.SIGINT)
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=20)
    tap.ok(settle(pids, b.binary, offsets, False), "Ctrl-C twice leaves no probe behind", "exit code %d" % p.returncode)
    q = start(b.pid, out)
    settle(pids, b.binary, offsets, True)
    q.kill()
    q.communicate(timeout=20)
    tap.ok(settle(pids, b.binary, offsets, False), "nor does kill -9 of framescope")


def killed(tap, b, work):
    out = os.path.join(work, "killed.fscope")
    p = start(b.pid, out)
    time.sleep(2)
    victims = [b.pid] + b.renderers()
    t = time.monotonic()
    for pid in [b.pid] + victims[1:]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    b.process.wait()
    text = p.first + p.communicate(timeout=20)[1]
    took = time.monotonic() - t
    tap.ok(took < 5, "framescope ends soon after its target was killed", "%.2f s" % took)
    tap.ok(p.returncode == 0 and hits(out) > 0, "with a valid file", text)


main()

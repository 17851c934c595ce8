#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Times against the truth: what probing costs is measured while recording, and taken off. The target times itself in
functions that aren't probed, between those that are. Everything is a median over many calls, and the best of some
attempts counts: machines are noisy, but an estimate that is wrong is wrong every time."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from framescope import *
import statistics

tests = Tests()
ATTEMPTS = 5
THREAD = "fs-calibrate"


class Measured:
    """One recording of the target: what it says of itself, and what is reported."""

    def __init__(self, case, *options, warm=0.3, text=False):
        names = {"spin": ["spin"], "parent": ["parent", "child"], "nap": ["nap"]}[case[0]]
        probes = {n: "event = %s; function = %s" % ("PAINT" if n == "parent" else "LAYOUT", n) for n in names}
        if text:
            probes["child"] += "; text = arg1 : cstr"
        with Target("overhead", *case) as t, Record(t.pid, engine("overhead", probes), *options) as r:
            time.sleep(warm)
            self.truth = {line.split()[0]: int(line.split()[1]) for line in t.work(120)}
            self.share = own_share(r.process.pid)
        equal(r.code, 0, r.errors)
        self.record = r
        code, out, errors = run("events", r.path, "--json", "-n", "0", timeout=120)
        equal(code, 0, errors)
        events = json.loads(out)["eventList"]
        self.roots = [e for e in events if "parentEventID" not in e]
        check(len(self.roots) == int(case[1]), "%d outermost events" % len(self.roots))

    def median(self, field):
        return statistics.median(e[field] for e in self.roots) * 1e6


def own_share(pid):
    """CPU time of the calibrating thread, per cent of the time since the process began; None: no such thread."""
    for tid in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/comm" % (pid, tid)) as f:
            if f.read().strip() != THREAD:
                continue
        with open("/proc/%d/task/%s/schedstat" % (pid, tid)) as f:
            ran = int(f.read().split()[0])
        with open("/proc/%d/task/%s/stat" % (pid, tid)) as f:
            started = int(f.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
        return 100 * ran / 1e9 / (time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    return None


def percent(got, truth):
    return 100 * (got - truth) / truth


def best(limits, *args, **kwargs):
    """Measures until every figure is within its limit; limits: {(reported field, truth's name): per cent}."""
    tried = []
    for _ in range(ATTEMPTS):
        m = Measured(*args, **kwargs)
        off = {field: percent(m.median(field), m.truth[truth]) for field, truth in limits}
        tried.append(" ".join("%s %.0f of %.0f ns (%+.2f %%)" % (field, m.median(field), m.truth[truth], off[field])
                              for field, truth in limits))
        print("# %s: %s" % (" ".join(map(str, args[0])), tried[-1]))
        if all(abs(off[field]) <= limit for (field, _), limit in limits.items()):
            return m
    raise AssertionError("in none of %d attempts near enough:\n%s" % (ATTEMPTS, "\n".join(tried)))


@tests
def spin():
    """20 us of work: the reported time is within 1 % of the truth"""
    best({("time", "time"): 1}, ["spin", 8000, 20000])


def parent(ns, **kwargs):
    best({("aggregatedTime", "whole"): 10, ("time", "self"): 15}, ["parent", 1000, ns], **kwargs)


@tests
def empty_children():
    """100 probed children of no length below 20 us of work: the parent's times are near the truth"""
    parent(0)


@tests
def short_children():
    """100 probed children of 0.2 us"""
    parent(200)


@tests
def middling_children():
    """100 probed children of 1 us"""
    parent(1000)


@tests
def longer_children():
    """100 probed children of 5 us"""
    parent(5000)


@tests
def children_with_texts():
    """100 probed children of 0.2 us, each with a text that is read"""
    parent(200, text=True)


@tests
def nap():
    """5 ms of sleep and 1 ms of work: the one is blocked time, the other the event's own"""
    m = best({("time", "time"): 3}, ["nap", 150, 1000000])
    blocked = statistics.median(e["off_cpu"] for e in m.record.recording.of(END)) / 1e6
    print("# blocked: %.3f ms" % blocked)
    check(5 <= blocked < 7, "blocked %.3f ms" % blocked)


if not is_root():
    print("1..0 # SKIP needs root")
    sys.exit(0)
tests.run()

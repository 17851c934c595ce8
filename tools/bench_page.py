# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pages in the installed Chromium, with all default probes and without: medians of five runs that alternate."""
import os, statistics, time
from benchlib import WORK, end, record
import chromium

RUNS = 5
# what runs, and how often: forced reflows of some text, of a box without anything in it, and a page that forces none
CASES = {"reflows": "reflows(box, 20000)", "empty_reflows": "reflows(small, 20000)", "ordinary": "ordinary(200)"}


def cpu_ns(pids):
    """CPU time of processes: by their clocks, as clock_getcpuclockid(3) numbers them."""
    return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids)


class Runs:
    def __init__(self, browser, expression):
        self.browser, self.expression = browser, expression
        self.wall, self.cpu, self.events = [], [], []

    def run(self):
        """CPU time of the renderers is what counts: wall time is others', too. It includes all their threads."""
        pids = self.browser.renderers()
        before = cpu_ns(pids)
        self.wall.append(self.browser.evaluate(self.expression))
        self.cpu.append((cpu_ns(pids) - before) / 1e6)

    def run_recorded(self):
        p = record(self.browser.pid, os.path.join(WORK, "page.fscope"))
        try:
            self.run()
        finally:
            self.events.append(end(p)[0])


def measure(browser, expression):
    bare, probed = Runs(browser, expression), Runs(browser, expression)
    Runs(browser, expression).run()  # compiled by then
    for _ in range(RUNS):
        bare.run()
        probed.run_recorded()
    cpu = [statistics.median(r.cpu) for r in (bare, probed)]
    wall = [statistics.median(r.wall) for r in (bare, probed)]
    events = statistics.median(probed.events)
    return {"without_ms": round(cpu[0], 1), "with_ms": round(cpu[1], 1), "cpu_ratio": round(cpu[1] / cpu[0], 4),
            "wall_ratio": round(wall[1] / wall[0], 4), "events": round(events),
            "events_per_s": round(1000 * events / wall[1]),
            "added_ns_per_event": round((cpu[1] - cpu[0]) * 1e6 / max(events, 1))}


def page(results, seconds):
    if not chromium.installed():
        results["page"] = "no Chromium is installed"
        return
    rows = {}
    with chromium.Chromium() as browser:
        browser.navigate("file://" + os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_page.html"))
        browser.wait_for("window.ordinary")
        for name, expression in CASES.items():
            rows[name] = measure(browser, expression)
            print("page %s: %s" % (name, rows[name]), flush=True)
            results["ratio_page_" + name] = rows[name]["cpu_ratio"]
    results["page"] = rows

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pages in the installed browsers: without probes, with empty pairs on the functions that the page hits (which is what any
tool adds), and with all default probes. Medians of five runs that alternate."""
import contextlib, json, os, statistics, subprocess, time
from benchlib import FRAMESCOPE, WORK, empty_pair, end, record
import chromium, firefox

RUNS = 5
# what runs, and how often: forced reflows of some text, of a box without anything in it, and a page that forces none
CASES = {"reflows": "reflows(box, 20000)", "empty_reflows": "reflows(small, 20000)", "ordinary": "ordinary(200)"}
HOT = 100  # calls in a run that make a function worth an empty pair
PAGE = "file://" + os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_page.html")


def cpu_ns(pids):
    """CPU time of processes: by their clocks, as clock_getcpuclockid(3) numbers them."""
    return sum(time.clock_gettime_ns(~pid << 3 | 2) for pid in pids)


class ChromiumPage(chromium.Chromium):
    def open(self):
        self.navigate(PAGE)
        self.wait_for("window.ordinary")

    def page_pids(self):
        return self.renderers()


class FirefoxPage(firefox.Firefox):
    def open(self):
        self.navigate(PAGE)
        self.wait_for_title("forced reflows")

    def page_pids(self):
        return [pid for pid, kind in self.processes().items() if kind == "tab"]


BROWSERS = {"chromium": (chromium.installed, ChromiumPage), "firefox": (firefox.installed, FirefoxPage)}


class EmptySite:
    """A place of a module, as empty_pair() wants its target."""

    def __init__(self, pid, module, offset):
        self.pid, self.address = pid, None
        with open("/proc/%d/maps" % pid) as maps:
            for line in maps:
                span, _, at, _, _, path = (line.split(None, 5) + [""])[:6]
                begin, end = (int(x, 16) for x in span.split("-"))
                if path.strip() == module and int(at, 16) <= offset < int(at, 16) + end - begin:
                    self.address = "%x" % (begin + offset - int(at, 16))


class Page:
    def __init__(self, browser, expression):
        self.browser, self.expression = browser, expression
        self.out = os.path.join(WORK, "page.fscope")
        self.wall, self.cpu, self.events = {}, {}, []

    def run(self, how):
        """CPU time of the processes that show pages is what counts: wall time is others', too."""
        pids = self.browser.page_pids()
        before = cpu_ns(pids)
        self.wall.setdefault(how, []).append(self.browser.evaluate(self.expression))
        self.cpu.setdefault(how, []).append((cpu_ns(pids) - before) / 1e6)

    def bare(self):
        self.run("bare")

    def probed(self):
        p = record(self.browser.pid, self.out)
        try:
            self.run("probed")
        finally:
            self.events.append(end(p)[0])

    def limit(self):
        with contextlib.ExitStack() as pairs:
            for module, offset in self.hot:
                sites = (EmptySite(pid, module, offset) for pid in self.browser.page_pids())
                site = next((s for s in sites if s.address), None)
                pair = site and (empty_pair(site, "session") or empty_pair(site, "multi"))
                if pair:
                    pairs.callback(lambda p: (p.stdin.close(), p.wait()), pair)
            self.run("limit")

    def find_hot(self):
        """The functions that a run calls often; it also has everything compiled."""
        self.probed()
        report = subprocess.run([FRAMESCOPE, "report", "--json", self.out], stdout=subprocess.PIPE, check=True).stdout
        self.hot = sorted({(p["module"], p["offset"]) for p in json.loads(report)["probes"] if p["kernel"]["calls"] >= HOT})
        self.wall, self.cpu, self.events = {}, {}, []

    def figures(self):
        cpu = {how: statistics.median(v) for how, v in self.cpu.items()}
        wall = {how: statistics.median(v) for how, v in self.wall.items()}
        events = statistics.median(self.events)
        return {"without_ms": round(cpu["bare"], 1), "limit_ms": round(cpu["limit"], 1), "with_ms": round(cpu["probed"], 1),
                "cpu_ratio": round(cpu["probed"] / cpu["bare"], 4), "limit_ratio": round(cpu["limit"] / cpu["bare"], 4),
                "wall_ratio": round(wall["probed"] / wall["bare"], 4), "events": round(events), "functions": len(self.hot),
                "events_per_s": round(1000 * events / wall["probed"]),
                "added_ns_per_event": round((cpu["probed"] - cpu["bare"]) * 1e6 / max(events, 1)),
                "limit_ns_per_event": round((cpu["limit"] - cpu["bare"]) * 1e6 / max(events, 1))}


def measure(browser, expression):
    page = Page(browser, expression)
    page.find_hot()
    for _ in range(RUNS):
        page.bare()
        page.limit()
        page.probed()
    return page.figures()


def page(results, seconds):
    results["page"] = {}
    for name, (installed, kind) in BROWSERS.items():
        if not installed():
            results["page"][name] = "not installed"
            continue
        rows = results["page"][name] = {}
        with kind() as browser:
            browser.open()
            for case, expression in CASES.items():
                rows[case] = measure(browser, expression)
                print("page %s %s: %s" % (name, case, rows[case]), flush=True)
                results["ratio_page_%s_%s" % (name, case)] = rows[case]["cpu_ratio"]
                results["ratio_page_%s_%s_limit" % (name, case)] = rows[case]["limit_ratio"]

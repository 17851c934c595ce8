#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The installed Firefox, stripped as it ships: every recorded call must go with the marker that Gecko's own profiler
wrote for it in the same run, one to one, in every process. Nothing here knows an offset or a version."""
import collections, os, shutil, tempfile

import chromium
import enginetable
import firefox
import pagerun
import tracecompare
from tap import Tap

HERE = os.path.dirname(os.path.abspath(__file__))
MARGIN_NS = 50_000_000

INSIDE, AROUND, BEHIND = "inside", "around", "behind"  # where a marker is: in the call, around it, between it and the next
# probe -> the markers of that very function, where they are
PAIRS = {
    "PresShell::DoFlushPendingNotifications": (["DoFlushPendingNotifications"], INSIDE),
    "RestyleManager::ProcessPendingRestyles": (["Styles"], AROUND),
    "PresShell::DoReflow": (["Reflow (sync)", "Reflow (interruptible)"], INSIDE),
    "nsRefreshDriver::PaintIfNeeded": (["ViewManagerFlush"], INSIDE),
    "ScriptLoader::CompileMainThread": (["ScriptCompileMainThread"], INSIDE),
    "ScriptLoader::EvaluateScript": (["ScriptExecution"], INSIDE),
    "ModuleLoaderBase::EvaluateModuleInContext": (["ModuleEvaluation"], INSIDE),
    "nsGlobalWindowInner::RunTimeoutHandler": (["setTimeout callback"], INSIDE),
    "nsRefreshDriver::RunFrameRequestCallbacks": (["requestAnimationFrame callbacks"], INSIDE),
    "nsDOMNavigationTiming::NotifyNavigationStart": (["Navigation::Start"], BEHIND),
}
# those that the page makes happen; the others may not occur
REQUIRED = 9
# markers that not every call of the function writes, but each of them stands in one
WITHIN = {
    "nsHtml5TreeOpExecutor::RunFlushLoop": ["HTMLParserTreeOps"],
    "EventDispatcher::Dispatch": ["DOMEvent"],
}
# what the definition of Gecko has no way to
NOT_READ = {"SCRIPT_THREAD_EVALUATION": {"event name": "not read in Gecko"}, "PAINT": {"area": "not read in Gecko"}}
# type -> the probes that Gecko has a marker for
REPORTED = {
    "SCRIPT_COMPILATION": ["ScriptLoader::CompileMainThread"],
    "SCRIPT_THREAD_EVALUATION": ["ScriptLoader::EvaluateScript", "ModuleLoaderBase::EvaluateModuleInContext",
                                 "nsGlobalWindowInner::RunTimeoutHandler", "nsRefreshDriver::RunFrameRequestCallbacks"],
    "REFLOW": ["PresShell::DoFlushPendingNotifications"],
    "STYLE_RECALCULATION": ["RestyleManager::ProcessPendingRestyles"],
    "LAYOUT": ["PresShell::DoReflow"],
    "PAINT": ["nsRefreshDriver::PaintIfNeeded"],
}
# what the page and its iframe do
SHEETS = 4  # a.css, b.css, f.css and one <style>
DOCUMENTS = 2
MODULES = 2
SELECTORS = {"querySelectorAll": collections.Counter({".item%d" % i: 4 for i in range(5)}), "querySelector": collections.Counter({"p": 1})}


class Run:
    """A recording: its events and marks by probe, and as [(tid, start, end)] in CLOCK_MONOTONIC."""

    def __init__(self, path):
        self.rows = collections.defaultdict(list)
        for row in pagerun.rows(path):
            if row["kind"] == "recording":
                self.begin, self.end = row["begin_monotonic_ns"], row["begin_monotonic_ns"] + row["end_ns"]
            elif row["kind"] in ("event", "mark"):
                self.rows[row["probe"]].append(row)

    def calls(self, probe):
        return sorted((r["tid"], self.begin + r.get("start_ns", r.get("ts_ns")), self.begin + r.get("end_ns", r.get("ts_ns")))
                      for r in self.rows[probe])

    def until_next(self, probe):
        """Instants, each up to the next one on its thread."""
        calls = self.calls(probe)
        return [(tid, start, following[1] - 1 if following[0] == tid else self.end)
                for (tid, start, _), following in zip(calls, calls[1:] + [(0, 0, 0)])]

    def types(self):
        """{type: the process's events} by pid"""
        return collections.Counter(r["type"] for rows in self.rows.values() for r in rows if "type" in r)


def compare(run, profile, probe, names, where):
    window = run.begin + MARGIN_NS, run.end - MARGIN_NS
    traced = firefox.markers(profile, names)
    if where == BEHIND:
        # the last of the thread is open to the end of the recording: count what begins in the window
        calls = [(tid, start, min(end, window[1])) for tid, start, end in run.until_next(probe)]
        return tracecompare.match(calls, traced, window)
    return tracecompare.match(run.calls(probe), traced, window, inside=where == INSIDE)


def check_markers(tap, run, profile):
    """Returns {probe: (recorded, reported)}."""
    counts, equal = {}, 0
    for probe, (names, where) in PAIRS.items():
        m = compare(run, profile, probe, names, where)
        detail = "%d recorded, %d reported as %s, %d missing, %d extra; calls by process: %s" % (
            m.recorded, m.traced, "/".join(names), len(m.missing), len(m.extra),
            dict(collections.Counter(r["pid"] for r in run.rows[probe])))
        for what, list_ in (("missing", m.missing), ("extra", m.extra)):
            for tid, a, b in list_[:3]:
                detail += "\n  %s: tid %d, %.3f to %.3f ms" % (what, tid, (a - run.begin) / 1e6, (b - run.begin) / 1e6)
        good = tap.ok(not m.missing and not m.extra, probe + " = " + "/".join(names), detail)
        equal += bool(good and m.recorded)
        counts[probe] = m.recorded, m.traced
    tap.ok(equal >= REQUIRED, "at least %d functions were compared and equal" % REQUIRED, "%d were" % equal)
    window = run.begin + MARGIN_NS, run.end - MARGIN_NS
    for probe, names in WITHIN.items():
        calls = run.calls(probe)
        inner = [m for m in firefox.markers(profile, names) if m[1] >= window[0] and m[2] <= window[1]]
        lost = [m for m in inner if not any(c[0] == m[0] and c[1] <= m[1] and m[2] <= c[2] for c in calls)]
        tap.ok(inner and not lost, "each %s lies in a call of %s" % ("/".join(names), probe),
               "%d calls, %d markers, %d not in a call" % (len(calls), len(inner), len(lost)))
        counts[probe] = len(calls), len(inner)
    return counts


def check_page(tap, run, pid, counts):
    """What has no marker, against what the page is made of."""
    of_page = lambda probe: [r for r in run.rows[probe] if r["pid"] == pid]
    sheets = of_page("css::Loader::ParseSheet")
    tap.ok(len(sheets) == SHEETS, "each sheet of the page was parsed once", "%d of %d" % (len(sheets), SHEETS))
    threads = {r["tid"] for r in of_page("nsHtml5StreamParser::DoDataAvailable")}
    tap.ok(len(of_page("nsHtml5StreamParser::DoDataAvailable")) >= DOCUMENTS and pid not in threads,
           "the documents' text went through the parser's own thread", threads)
    modules = of_page("ModuleLoaderBase::CreateModuleScript")
    tap.ok(len(modules) >= MODULES, "modules were compiled", "%d; the page has %d" % (len(modules), MODULES))
    for name, wanted in SELECTORS.items():
        probe = "nsINode::Q" + name[1:]
        got = collections.Counter(r.get("selector") for r in of_page(probe))
        tap.ok(all(got[text] == hits for text, hits in wanted.items()), "%s with its exact selectors, as often as it was called" % name,
               dict(got))
    seen = sum(hits for counter in SELECTORS.values() for hits in counter.values())
    got = sum(1 for name, wanted in SELECTORS.items() for r in of_page("nsINode::Q" + name[1:]) if r.get("selector") in wanted)
    timers = {r.get("thread_type") for r in of_page("nsGlobalWindowInner::RunTimeoutHandler")}
    tap.ok(timers == {"TIMEOUT"}, "timers have their thread type", timers)
    enginetable.note("gecko", "CSS_PARSING", len(sheets), SHEETS)
    enginetable.note("gecko", "CSS_SELECTOR_MATCHING", got, seen, ["selector"])
    loops, batches = counts["nsHtml5TreeOpExecutor::RunFlushLoop"]
    enginetable.note("gecko", "DOCUMENT_PARSING", loops,
                     reason="Gecko reports only what was not empty; each of its %d reports lies in a recorded call" % batches)
    for kind, probes in REPORTED.items():
        enginetable.note("gecko", kind, sum(counts[p][0] for p in probes), sum(counts[p][1] for p in probes), NOT_READ.get(kind, ()))


def main():
    tap = Tap()
    if not tap.ready("firefox", firefox.installed(), "no Firefox is installed"):
        return
    work = tempfile.mkdtemp(prefix="framescope-markers-")
    out = os.path.join(work, "run.fscope")
    server, base = chromium.serve(os.path.join(HERE, "pages"))
    try:
        with firefox.Firefox(profiler=True) as browser:
            before = {pid for pid, kind in browser.processes().items() if kind == "tab"}
            code, messages = pagerun.record(browser, out, base + "index.html", lambda: browser.wait_for_title("done"))
            tap.ok(code == 0, "record ends well", messages)
            tap.ok(browser.process.poll() is None, "the browser lives")
            tap.ok(before and before <= set(browser.processes()), "no process with pages was restarted", before)
            tap.ok(browser.evaluate("window.steps") == 7, "the page ran as it does without probes")
            profile = browser.close_and_read_profile()
        run = Run(out)
        counts = check_markers(tap, run, profile)
        check_page(tap, run, firefox.process_of(profile, base + "index.html"), counts)
    finally:
        server.shutdown()
        shutil.rmtree(work, ignore_errors=True)
    tap.done()


main()

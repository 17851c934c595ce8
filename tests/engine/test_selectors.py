#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Blink's matched rules: a reflow that a script forces is the tree REFLOW > STYLE_RECALCULATION > CSS_SELECTOR_MATCHING, and
LAYOUT, with each selector's text and as many hits as the page has elements for it, and as the browser itself reports; in a
recording, through the profiler service, and in what is exported for DevTools."""
import json, os, shutil, signal, subprocess, tempfile, time

import chromium, enginetable, pagerun, stp
from tap import Tap

FRAMESCOPE = os.environ["FRAMESCOPE"]
PROBE = "ElementRuleCollector::DidMatchRule"
TURNS = 3
# what selectors.html has, by each turn
WANTED = {".one": 20, "#two": 1, "em.three": 7, ".list .four": 30, ".list > .five": 4, ".six + .seven": 1, ".six ~ .eight": 5,
          ".nine": 2, ".list .ten": 9, ".eleven": 3, ".list .four:first-child": 1, ".one[data-twelve]": 20,
          ".list .four:...": 30, ".list .ten:...": 5, ".one[...]": 20}
# what is read of those that have an argument or a value, and what the browser writes out
LEFT_OUT = {".list .four:...": ".list .four:not(.one)", ".list .ten:...": ".list .ten:nth-child(2n)",
            ".one[...]": '.one[data-twelve=""]'}


def found(binary):
    out = subprocess.run([FRAMESCOPE, "probes", "--binary", binary, "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return any(p["name"] == PROBE and p.get("offset") for p in json.loads(out)["probes"])


def calibrated(tap, binary, work):
    """Is the function known for this build? If not, calibrate finds it, into a cache of our own."""
    if found(binary):
        return True
    os.environ["FRAMESCOPE_CACHE"] = os.path.join(work, "cache")
    p = subprocess.run([FRAMESCOPE, "calibrate", binary], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    if p.returncode == 0 and found(binary):
        return True
    tap.skip("matched rules", "calibrate does not find the function in this build: " + p.stderr.strip().split("\n")[-1])
    return False


def rows_of(path):
    return [r for r in pagerun.rows(path) if r["kind"] == "event"]


def sums(rows):
    total = {}
    for text, hits in rows:
        total[text] = total.get(text, 0) + hits
    return {t: n for t, n in total.items() if t in WANTED}


def check_tree(tap, rows):
    """The style recalculations of the page's turns, by their selectors."""
    by_id = {r["id"]: r for r in rows}
    matches = [r for r in rows if r["type"] == "CSS_SELECTOR_MATCHING"]
    styles = {r["parent"] for r in matches if r.get("selector") == "#two"}
    tap.ok(len(styles) == TURNS, "a style recalculation for each turn", "%d of them" % len(styles))
    for style in styles:
        below = [(r.get("selector"), r["hits"]) for r in matches if r["parent"] == style]
        if not tap.ok(sums(below) == WANTED, "each selector as often as it matches", below):
            continue
        reflow = by_id.get(by_id[style]["parent"], {})
        tap.ok(by_id[style]["type"] == "STYLE_RECALCULATION" and reflow.get("type") == "REFLOW" and
               any(r["type"] == "LAYOUT" and r["parent"] == reflow["id"] for r in rows),
               "they stand below STYLE_RECALCULATION below REFLOW, which has a LAYOUT")
    return sums([(r.get("selector"), r["hits"]) for r in matches]), sum(r["hits"] for r in matches)


def traced(events, pids):
    total, counts = 0, {}
    for e in events:
        if e["name"] != "SelectorStats" or e["pid"] not in pids:
            continue
        for row in e["args"]["selector_stats"]["selector_timings"]:
            total += row["match_count"]
            counts[row["selector"]] = counts.get(row["selector"], 0) + row["match_count"]
    return counts, total


def record_and_compare(tap, base, work):
    out = os.path.join(work, "run.fscope")
    with chromium.Chromium(trace=["blink", "devtools.timeline", "disabled-by-default-blink.debug"]) as b:
        p = subprocess.Popen([FRAMESCOPE, "record", "-p", str(b.pid), "-o", out], stderr=subprocess.PIPE, text=True)
        p.stderr.readline()
        b.navigate(base + "selectors.html")
        b.wait_for_title("ready")
        for _ in range(TURNS):
            b.evaluate("restyle()")
        p.send_signal(signal.SIGINT)
        messages = p.communicate(timeout=60)[1]
        tap.ok(p.returncode == 0 and "0 records lost" in messages, "a recording without loss", messages)
        rows = rows_of(out)
        pids = {r["pid"] for r in rows if r.get("selector") == "#two"}
        trace = b.close_and_read_trace()
    recorded, total = check_tree(tap, [r for r in rows if r["pid"] in pids])
    reported, _ = traced(trace, pids)
    reported = {t: reported.get(LEFT_OUT.get(t, t), 0) for t in WANTED}
    tap.ok(recorded == reported, "the browser's own SelectorStats has the same counts", "%s\n%s" % (recorded, reported))
    enginetable.note("blink", "CSS_SELECTOR_MATCHING", sum(recorded.values()), sum(reported.values()), checks=["selector"])
    check_export(tap, out, work)


def check_export(tap, path, work):
    out = os.path.join(work, "run.devtools.json")
    subprocess.run([FRAMESCOPE, "export", path, "-o", out], check=True)
    counts, _ = traced(json.load(open(out))["traceEvents"], {e["pid"] for e in json.load(open(out))["traceEvents"]})
    counts = {t: n for t, n in counts.items() if t in WANTED}
    tap.ok(counts == {t: n * TURNS for t, n in WANTED.items()}, "DevTools' selector statistics are filled", counts)


def serve_and_ask(tap, base):
    with chromium.Chromium() as b:
        b.navigate(base + "selectors.html")
        b.wait_for_title("ready")
        with stp.Serve(FRAMESCOPE, "-p", b.pid) as s:
            c = s.ready()
            b.evaluate("restyle()")
            # longer than the host takes to notice who works
            time.sleep(1.5)
            window = c.call("window-manager", "GetActiveWindow")["windowID"]
            sid = c.call("profiler", "StartProfiler", startMode=1, windowID=window)["sessionID"]
            b.evaluate("restyle()")
            timelines = [t["timelineID"] for t in c.call("profiler", "StopProfiler", sessionID=sid)["timelineList"]]
            rows = c.call("profiler", "GetEvents", sessionID=sid, timelineID=timelines[0])["eventList"]
    matches = [(e["cssSelectorMatching"].get("selector"), e["hits"]) for e in rows if "cssSelectorMatching" in e]
    tap.ok(sums(matches) == WANTED, "the profiler service answers with the same", matches)


def main():
    tap = Tap()
    if os.geteuid() or not chromium.installed():
        tap.skip("matched rules", "needs root and an installed Chromium")
        return tap.done()
    work = tempfile.mkdtemp(prefix="framescope-selectors-")
    server, base = chromium.serve(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pages"))
    try:
        if calibrated(tap, os.path.join(*chromium.installed()), work):
            record_and_compare(tap, base, work)
            serve_and_ask(tap, base)
    finally:
        server.shutdown()
        shutil.rmtree(work, ignore_errors=True)
    tap.done()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The installed Chromium, as it ships: the names of events that listeners are called for, and the areas that are painted, are
those that the browser itself traced in the same run. Nothing here knows where an object keeps them."""
import json, os, shutil, subprocess, tempfile

import chromium
import enginetable
import pagerun
import tracecompare
from tap import Tap

FRAMESCOPE = os.environ["FRAMESCOPE"]
HERE = os.path.dirname(os.path.abspath(__file__))
CATEGORIES = ["blink", "devtools.timeline", "v8"]
MARGIN_NS = 50_000_000

CALL, PAINT, LAYER = "V8ScriptRunner::CallFunction", "LocalFrameView::RunPaintLifecyclePhase", "PaintLayerPainter::Paint"
PROBES = [CALL, PAINT, LAYER, "LocalFrameView::PushPaintArtifactToCompositor", "EventDispatcher::Dispatch",
          "LocalDOMWindow::DispatchEvent", "DOMTimer::Fired"]
NAMES = {"mine", "grüß", "世界", "outer", "inner", "click", "load", "in-the-frame", "DOMContentLoaded", "readystatechange",
         "scroll", "a-name-of-more-than-thirty-two-characters"}


def load(path):
    """The recording's window, and its events by probe, with times in CLOCK_MONOTONIC."""
    rows = pagerun.rows(path)
    info = next(r for r in rows if r["kind"] == "recording")
    begin, events = info["begin_monotonic_ns"], {}
    for row in rows:
        if row["kind"] == "event":
            row["span"] = row["tid"], begin + row["start_ns"], begin + row["end_ns"]
            events.setdefault(row["probe"], []).append(row)
    return (begin + MARGIN_NS, begin + info["end_ns"] - MARGIN_NS), events


def traced(trace, name):
    """Complete events of that name: [((tid, start, end), data)], the outer before the inner."""
    found = [((e["tid"], round(e["ts"] * 1000), round((e["ts"] + e.get("dur", 0)) * 1000)), e["args"].get("data", {}))
             for e in trace if e.get("name") == name and e["ph"] == "X"]
    return sorted(found, key=lambda f: (f[0][0], f[0][1], -f[0][2]))


def around(inner, outer, slack=tracecompare.SLACK_NS):
    return inner[0] == outer[0] and outer[1] - slack <= inner[1] and inner[2] <= outer[2] + slack


def expected_names(trace):
    """[(span of a function's call, the type of the event that it is called for, or None)]"""
    callers = [(span, data.get("type")) for span, data in traced(trace, "EventDispatch")]
    callers += [(span, None) for span, _ in traced(trace, "TimerFire") + traced(trace, "EvaluateScript")]
    expected = []
    for span in tracecompare.spans(trace, ["v8.callFunction"]):
        inside = [c for c in callers if around(span, c[0], 0)]
        expected.append((span, min(inside, key=lambda c: c[0][2] - c[0][1])[1] if inside else None))
    return expected


def pair(events, spans):
    """[(event of ours, index of the span that lies in it)], closest first; each is used once."""
    pairs = sorted((abs(e["span"][1] - s[1]) + abs(e["span"][2] - s[2]), k, i) for k, e in enumerate(events)
                   for i, s in enumerate(spans) if around(s, e["span"]))
    used, found = (set(), set()), []
    for _, k, i in pairs:
        if k not in used[0] and i not in used[1]:
            used[0].add(k)
            used[1].add(i)
            found.append((events[k], i))
    return found


def in_window(span, window):
    return span[1] >= window[0] and span[2] <= window[1]


def check_names(tap, trace, window, events):
    expected = [e for e in expected_names(trace) if in_window(e[0], window)]
    pairs = pair(events.get(CALL, []), [e[0] for e in expected])
    tap.ok(len(pairs) == len(expected) > 0, "every call of a listener that was traced was recorded",
           "%d of %d" % (len(pairs), len(expected)))
    wrong = [(e.get("event"), expected[i][1]) for e, i in pairs if e.get("event") != expected[i][1]]
    tap.ok(not wrong, "each has the name of its event, as traced", wrong if wrong else "%d calls" % len(pairs))
    untold = [e for e, i in pairs if expected[i][1] and e.get("thread_type") != "EVENT"]
    tap.ok(not untold, "and says that it was called for one", untold[:2])
    met = {expected[i][1] for _, i in pairs}
    tap.ok(NAMES <= met, "all of the page's events were met", sorted(NAMES - met))
    return not wrong and NAMES <= met


def area_of(data):
    clip = data["clip"]
    return clip[0], clip[1], clip[2] - clip[0], clip[5] - clip[1]


def check_areas(tap, trace, window, events):
    area = lambda e: tuple(e.get(k) for k in ("x", "y", "w", "h"))
    paints = [p for p in traced(trace, "Paint") if in_window(p[0], window)]
    pairs = pair(events.get(LAYER, []), [p[0] for p in paints])
    wrong = [(area(e), area_of(paints[i][1])) for e, i in pairs if area(e) != area_of(paints[i][1])]
    tap.ok(pairs and len(pairs) == len(paints) and not wrong, "each layer's area is the one traced",
           wrong[:5] if wrong else "%d of %d" % (len(pairs), len(paints)))
    phases, wrong = [e for e in events.get(PAINT, []) if in_window(e["span"], window)], []
    tap.ok(all(None not in area(e) for e in phases), "every painting has an area", [e for e in phases if None in area(e)][:2])
    seen = set()
    for e in phases:
        inner = [p for p in paints if around(p[0], e["span"])]
        if inner:  # the document's own layer comes first; nothing inside: nothing was to be painted anew
            seen.add(area(e))
            if area(e) != area_of(inner[0][1]):
                wrong.append((area(e), area_of(inner[0][1])))
    tap.ok(not wrong and len(seen) >= 3, "that of the document, as traced, for several sizes of it", wrong[:5] or sorted(seen))
    far = [a for a in seen if a[1] > 0]
    tap.ok(bool(far), "far down in a long page it begins where painting does", sorted(seen))
    return not wrong and pairs


def main():
    tap = Tap()
    if not tap.ready("chromium", chromium.installed(), "no Chromium is installed"):
        return
    work = tempfile.mkdtemp(prefix="framescope-told-")
    out = os.path.join(work, "run.fscope")
    server, base = chromium.serve(os.path.join(HERE, "pages"))
    try:
        with chromium.Chromium(trace=CATEGORIES) as browser:
            text = subprocess.run([FRAMESCOPE, "probes", "--binary", browser.binary, "--json"], check=True, stdout=subprocess.PIPE,
                                  text=True).stdout
            if not any("calibrated" == p.get("source") for p in json.loads(text)["probes"]):
                tap.skip("names and areas", "this build isn't calibrated: run framescope calibrate")
                return tap.done()
            code, messages = pagerun.record(browser, out, base + "told.html", lambda: browser.wait_for_title("done"), PROBES)
            tap.ok(code == 0, "record ends well", messages if code else "")
            trace = browser.close_and_read_trace()
        window, events = load(out)
        names, areas = check_names(tap, trace, window, events), check_areas(tap, trace, window, events)
        for kind, check, right in (("SCRIPT_THREAD_EVALUATION", "event name", names), ("PAINT", "area", areas)):
            enginetable.note("blink", kind, checks={check: bool(right)}, reason="counted by another test")
    finally:
        server.shutdown()
        shutil.rmtree(work)
    tap.done()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The installed Chromium, stripped as it ships: every recorded call must nest one to one with the event that the
browser itself traced (--trace-startup) in the same run. Nothing here knows an offset or a version."""
import json, os, subprocess, tempfile

import chromium
import enginetable
import pagerun
import tracecompare
from tap import Tap

FRAMESCOPE = os.environ["FRAMESCOPE"]
HERE = os.path.dirname(os.path.abspath(__file__))
CATEGORIES = ["blink", "devtools.timeline", "v8", "disabled-by-default-v8.compile", "navigation", "cc",
              "disabled-by-default-devtools.timeline", "loading"]
MARGIN_NS = 50_000_000

# probe -> the trace events of that very function; the trace event lies inside the call
PAIRS = {
    "HTMLDocumentParser::PumpTokenizer": ["HTMLDocumentParser::PumpTokenizer"],
    "HTMLDocumentParser::PumpTokenizerIfPossible": ["HTMLDocumentParser::PumpTokenizerIfPossible"],
    "CSSParserImpl::ParseStyleSheet": ["CSSParserImpl::parseStyleSheet"],
    "V8ScriptRunner::CompileScript": ["v8.compile"],
    "V8ScriptRunner::CompileModule": ["v8.compileModule"],
    "V8ScriptRunner::CompileAndRunScript": ["EvaluateScript"],
    "V8ScriptRunner::RunCompiledScript": ["v8.run"],
    "V8ScriptRunner::EvaluateModule": ["v8.evaluateModule"],
    "V8ScriptRunner::CallFunction": ["v8.callFunction"],
    "LocalFrameView::UpdateStyleAndLayout": ["LocalFrameView::UpdateStyleAndLayout"],
    "Document::UpdateStyle": ["Document::updateStyle"],
    "LocalFrameView::UpdateLayout": ["Layout"],
    "LocalFrameView::PerformLayout": ["LocalFrameView::performLayout"],
    "LocalFrameView::RunPrePaintLifecyclePhase": ["LocalFrameView::RunPrePaintLifecyclePhase"],
    "LocalFrameView::RunPaintLifecyclePhase": ["LocalFrameView::RunPaintLifecyclePhase"],
    "LocalFrameView::PushPaintArtifactToCompositor": ["Layerize"],
    "ProxyMain::BeginMainFrame": ["ProxyMain::BeginMainFrame"],
    "FrameLoader::CommitNavigation": ["FrameLoader::CommitNavigation"],
}
# what of it stands for an event type in the table of engines
TYPES = {
    "DOCUMENT_PARSING": ["HTMLDocumentParser::PumpTokenizer"],
    "CSS_PARSING": ["CSSParserImpl::ParseStyleSheet"],
    "SCRIPT_COMPILATION": ["V8ScriptRunner::CompileScript", "V8ScriptRunner::CompileModule"],
    "SCRIPT_THREAD_EVALUATION": ["V8ScriptRunner::CompileAndRunScript", "V8ScriptRunner::EvaluateModule",
                                 "V8ScriptRunner::CallFunction"],
    "REFLOW": ["LocalFrameView::UpdateStyleAndLayout"],
    "STYLE_RECALCULATION": ["Document::UpdateStyle"],
    "LAYOUT": ["LocalFrameView::UpdateLayout"],
    "PAINT": ["LocalFrameView::RunPaintLifecyclePhase"],
}
# these many must be there and equal (issue: nine); the table of results shows the rest as well
REQUIRED = 9


def resolved(binary):
    """What the resolver says: {probe: evidence}, {probe: reason why it isn't found}."""
    text = subprocess.run([FRAMESCOPE, "probes", "--binary", binary, "--json"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    probes = json.loads(text)["probes"]
    return ({p["name"]: p["evidence"] for p in probes if "offset" in p},
            {p["name"]: p["reason"] for p in probes if "offset" not in p})


def load(path):
    """The recording's own view: info, probes' calls by name as [(tid, start, end)] in CLOCK_MONOTONIC, losses."""
    info, calls = None, {}
    for row in pagerun.rows(path):
        if row["kind"] == "recording":
            info = row
        elif row["kind"] == "event":
            base = info["begin_monotonic_ns"]
            calls.setdefault(row["probe"], []).append((row["tid"], base + row["start_ns"], base + row["end_ns"]))
    return info, calls


def main():
    tap = Tap()
    if not tap.ready("chromium", chromium.installed(), "no Chromium is installed"):
        return
    work = tempfile.mkdtemp(prefix="framescope-trace-")
    out = os.path.join(work, "run.fscope")
    server, base = chromium.serve(os.path.join(HERE, "pages"))
    with chromium.Chromium(trace=CATEGORIES) as browser:
        renderers = browser.renderers()
        code, messages = pagerun.record(browser, out, base + "index.html", lambda: browser.wait_for_title("done"), PAIRS)
        tap.ok(code == 0, "record ends well", messages if code else "")
        tap.ok(browser.process.poll() is None, "the browser lives")
        tap.ok(set(renderers) <= set(browser.renderers()), "no renderer was restarted")
        tap.ok(browser.evaluate("steps") == 7, "the page ran as it does without probes")
        found, refused = resolved(browser.binary)
        trace = browser.close_and_read_trace()
    info, calls = load(out)
    begin = info["begin_monotonic_ns"]
    window = begin + MARGIN_NS, begin + info["end_ns"] - MARGIN_NS
    equal = 0
    counts = {}
    for probe, names in PAIRS.items():
        if probe not in found:
            # a build that inlined the function can't be probed there; a call that was recorded all the same would be wrong
            tap.ok(not calls.get(probe), probe + " isn't in this build and wasn't recorded", refused[probe])
            continue
        m = tracecompare.match(calls.get(probe, []), tracecompare.spans(trace, names), window)
        detail = "%d recorded, %d traced as %s, %d missing, %d extra" % (
            m.recorded, m.traced, "/".join(names), len(m.missing), len(m.extra))
        for what, list_ in (("missing", m.missing), ("extra", m.extra)):
            for tid, a, b in list_[:3]:
                detail += "\n  %s: tid %d, %.3f to %.3f ms" % (what, tid, (a - begin) / 1e6, (b - begin) / 1e6)
        # it may return early where it is one function with its caller, whose trace event comes later
        larger = "one function with" in found[probe]
        good = tap.ok(not m.missing and (larger or not m.extra), probe + " = " + "/".join(names), detail)
        equal += bool(good and m.recorded and not m.extra)
        counts[probe] = m.recorded, m.traced
    for event_type, probes in TYPES.items():
        enginetable.note("blink", event_type, *(sum(counts[p][i] for p in probes if p in counts) for i in (0, 1)))
    tap.ok(equal >= REQUIRED, "at least %d functions were compared and equal" % REQUIRED, "%d were" % equal)
    server.shutdown()
    for name in os.listdir(work):
        os.unlink(os.path.join(work, name))
    os.rmdir(work)
    tap.done()


main()

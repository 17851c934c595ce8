#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""calibrate on the installed Firefox: its functions' calls are as many as Gecko's own profiler has events for. Then a recording
of a page that it doesn't know: a timeline per frame, which remains when the iframe is removed, and every event of a document,
sheet, script or module with the right URL."""
import configparser, glob, json, os, re, subprocess, time

import calibrated
import chromium
import firefox
import pagerun
from tap import Tap

FRAMESCOPE = os.environ["FRAMESCOPE"]
HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 180 + 30  # when the program gives up, and room for the search in the file
MODULES = ["four.mjs", "three.mjs"]
URLS = ["DOCUMENT_PARSING", "CSS_PARSING", "SCRIPT_COMPILATION", "SCRIPT_THREAD_EVALUATION", "STYLE_RECALCULATION", "REFLOW",
        "LAYOUT", "PAINT"]  # types with at least one event of each of the page's documents, or of its main one


# what Gecko's profiler reports call by call, and what it has events within
EQUAL = ["ModuleLoaderBase::EvaluateModuleInContext", "PresShell::DoFlushPendingNotifications", "PresShell::DoReflow",
         "RestyleManager::ProcessPendingRestyles", "ScriptLoader::CompileMainThread", "ScriptLoader::EvaluateScript",
         "nsDOMNavigationTiming::NotifyNavigationStart", "nsGlobalWindowInner::RunTimeoutHandler", "nsRefreshDriver::PaintIfNeeded"]
WITHIN = ["EventDispatcher::Dispatch", "nsHtml5TreeOpExecutor::RunFlushLoop", "nsRefreshDriver::RunFrameRequestCallbacks"]
# what has an argument in every calibration, whatever the machine is busy with
ARGUMENTS = {
    "url": ["ModuleLoaderBase::CreateModuleScript", "ModuleLoaderBase::EvaluateModuleInContext", "PresShell::DoFlushPendingNotifications",
            "PresShell::DoReflow", "RestyleManager::ProcessPendingRestyles", "ScriptLoader::CompileMainThread",
            "ScriptLoader::EvaluateScript", "css::Loader::ParseSheet", "nsDocShell::InternalLoad", "nsHtml5StreamParser::DoDataAvailable",
            "nsHtml5TreeOpExecutor::RunFlushLoop", "nsINode::QuerySelector", "nsINode::QuerySelectorAll", "nsRefreshDriver::PaintIfNeeded"],
    "document": ["Document::Document", "Document::~Document", "RestyleManager::ProcessPendingRestyles",
                 "nsHtml5StreamParser::DoDataAvailable", "nsHtml5TreeOpExecutor::RunFlushLoop"],
    "frame": ["nsDocShell::nsDocShell", "nsDocShell::~nsDocShell", "nsGlobalWindowInner::RunTimeoutHandler",
              "nsRefreshDriver::RunFrameRequestCallbacks"],
}
ARGUMENTS["frame"] = sorted(ARGUMENTS["frame"] + ARGUMENTS["url"])


def check_file(tap, path):
    """What stands in the .sites file: the comparison with Gecko's events, and all arguments."""
    sites = configparser.RawConfigParser(strict=False, comment_prefixes=(";",))
    sites.read(path)
    equal = [s for s in sites if sites[s].get("calls") and sites[s].get("calls") == sites[s].get("reported")]
    counts = {s: sites[s]["evidence"].split(";")[0] for s in sites if "evidence" in sites[s]}
    tap.ok(sorted(equal) == EQUAL, "nine functions have as many calls as Gecko has events", {s: counts[s] for s in equal})
    tap.ok(all(int(sites[s]["calls"]) > 0 and counts[s] == "calls %s = profile %s" % (sites[s]["calls"], sites[s]["calls"]) for s in equal),
           "the evidence says so")
    within = {s: re.match(r"not one to one: calls (\d+), each of the profile's (\d+) in one of them", counts[s]) for s in WITHIN}
    tap.ok(all(m and int(m[1]) and int(m[2]) for m in within.values()), "three have each of Gecko's events in a call",
           {s: counts[s] for s in WITHIN})
    dropped = {s: sites[s]["dropped"] for s in sites if "dropped" in sites[s]}
    tap.ok(not dropped, "none is dropped", dropped)
    for key, wanted in ARGUMENTS.items():
        found = sorted(s for s in sites if key in sites[s])
        tap.ok(found == wanted, "every function that should has its %s" % key,
               "missing: %s; also: %s" % (set(wanted) - set(found), set(found) - set(wanted)))


def record(out, base, env):
    """The page runs to its end, then loses its iframe."""
    with firefox.Firefox() as browser:
        def done():
            browser.wait_for_title("done")
            browser.evaluate("document.getElementById('inner').remove()")

        return pagerun.record(browser, out, base + "index.html", done, env=env)


def check_modules(tap, rows, base):
    urls = sorted(r["url"][len(base):] for r in rows if r["probe"] == "ModuleLoaderBase::CreateModuleScript" and
                  r.get("url", "").startswith(base))
    tap.ok(urls == MODULES, "every module that was compiled has its URL", urls)


def check_timelines(tap, out, base):
    listed = json.loads(subprocess.run([FRAMESCOPE, "timelines", out, "--json"], check=True, stdout=subprocess.PIPE,
                                       text=True).stdout)["timelineList"]
    text = json.dumps(listed)
    tap.ok(base + "index.html" in text and base + "frame.html" in text, "the removed iframe's timeline remains", text[:600])


def main():
    tap = Tap()
    if not tap.ready("calibrate", firefox.installed(), "no Firefox is installed"):
        return
    binary = os.path.join(*firefox.installed())
    folders = calibrated.Folders()
    tmp, cache, env = folders.tmp, folders.cache, folders.env
    server, base = chromium.serve(os.path.join(HERE, "pages"))
    try:
        began = time.monotonic()
        p = subprocess.run([FRAMESCOPE, "calibrate", binary], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                           timeout=300)
        tap.ok(p.returncode == 0, "calibrate ends well", p.stderr if p.returncode else p.stdout[-300:])
        tap.ok(time.monotonic() - began < LIMIT, "in time", "%.0f s" % (time.monotonic() - began))
        tap.ok(not calibrated.left_behind(tmp), "it leaves nothing behind", calibrated.left_behind(tmp))
        written = glob.glob(cache + "/builds/*.sites")
        tap.ok(len(written) == 1, "one file in the cache", written)
        check_file(tap, written[0])
        out = os.path.join(folders.work, "run.fscope")
        code, messages = record(out, base, env)
        tap.ok(code == 0, "a recording with it ends well", messages if code else "")
        rows = calibrated.events(out)
        pids = {r["pid"] for r in rows if r.get("url", "").startswith(base)}
        tap.ok(len(pids) == 1, "the page's events are there, in one process", sorted(pids))
        rows = [r for r in rows if r["pid"] in pids]
        calibrated.check_urls(tap, rows, base, "ScriptLoader::EvaluateScript")
        check_modules(tap, rows, base)
        calibrated.check_frames(tap, rows, base)
        check_timelines(tap, out, base)
        calibrated.check_types(tap, rows, base, URLS, "gecko")
    finally:
        server.shutdown()
        folders.remove()
    tap.done()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""calibrate on the installed WebKitGTK, named by its library or by a program that uses it, then a recording of a page that it
doesn't know: a timeline per frame, which remains when the iframe is removed, and every event of a document, sheet or script
with the right URL. Of what WebKit's inspector tells, calls are as many."""
import glob, json, os, re, signal, subprocess, time

import calibrated
import desktop
import webkit
import pagerun
from tap import Tap

FRAMESCOPE = os.environ["FRAMESCOPE"]
HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 180 + 30  # when the program gives up, and room for the search in the file
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript"}
# the listener that removes the iframe is none of the page's scripts
REMOVE = """onload="steps++; const wait = setInterval(() => { if (document.title != 'done') return; clearInterval(wait);
	document.getElementById('inner').remove(); setTimeout(() => { new Image().src = 'removed'; }, 200); }, 20)\""""
REPORTED = ["Document::resolveStyle", "JSEventListener::handleEvent", "LocalFrameViewLayoutContext::performLayout",
            "RenderLayerBacking::paintContents", "ScriptElement::executeClassicScript"]
URLS = ["DOCUMENT_PARSING", "CSS_PARSING", "SCRIPT_THREAD_EVALUATION", "STYLE_RECALCULATION", "REFLOW", "LAYOUT", "PAINT"]


def pages():
    files = {}
    for path in glob.glob(os.path.join(HERE, "pages", "*.*")):
        text = open(path).read().replace('onload="steps++"', REMOVE)
        files["/" + os.path.basename(path)] = TYPES[os.path.splitext(path)[1]], text
    return files


class Held(webkit.MiniBrowser):
    """Its first page comes when it is asked to go there."""

    def __init__(self, server, url):
        super().__init__(url)
        self.server = server

    def navigate(self, url):
        self.server.gate.set()


def calibrate(binary, env):
    return subprocess.run([FRAMESCOPE, "calibrate", binary], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                          timeout=300)


def environment(pid):
    try:
        with open("/proc/%s/environ" % pid, "rb") as f:
            return f.read()
    except OSError:
        return b""


def interrupted(tap, binary, env, tmp):
    """At the moment when its first page is being shown."""
    for how, name in ((signal.SIGINT, "interrupted"), (signal.SIGKILL, "killed")):
        p = subprocess.Popen([FRAMESCOPE, "calibrate", binary], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
        for line in p.stderr:
            if line.startswith("showing"):
                break
        displays = [pid for pid in calibrated.processes("Xvfb") if tmp.encode() in environment(pid)]
        p.send_signal(how)
        p.communicate(timeout=60)
        tap.ok(not calibrated.left_behind(tmp, 60), name + " it leaves nothing behind", calibrated.left_behind(tmp))
        gone = [pid for pid in displays if os.path.exists("/proc/" + pid)]
        tap.ok(displays and not gone, "nor its display", "%s, still there %s" % (displays, gone))


def without_display(tap, binary, env):
    hidden = "mount --bind /dev/null /usr/bin/Xvfb && exec %s calibrate %s" % (FRAMESCOPE, binary)
    p = subprocess.run(["unshare", "--mount", "sh", "-c", hidden], stderr=subprocess.PIPE, text=True, env=env, timeout=60)
    tap.ok(p.returncode == 8 and "Xvfb" in p.stderr and p.stderr.count("\n") == 1, "without Xvfb a sentence says so", p.stderr)


def check_counts(tap, path):
    """The file's numbers are the inspector's."""
    text = open(path).read()
    counts = re.findall(r"^\[(.*)\]\n(?:(?!\[).*\n)*?calls = (\d+)\nreported = (\d+)$", text, re.M)
    tap.ok(sorted(name for name, _, _ in counts) == REPORTED, "what the inspector's timeline has was compared", counts)
    tap.ok(all(calls == reported and int(calls) > 10 for _, calls, reported in counts), "and is equal", counts)
    tap.ok("dropped" not in text, "no function is another")


def main():
    tap = Tap()
    if not tap.ready("calibrate", not webkit.missing(), webkit.missing()):
        return
    folders = calibrated.Folders()
    tmp, cache, env = folders.tmp, folders.cache, folders.env
    server = desktop.Server(pages())
    base = server.url + "/"
    try:
        locks = glob.glob("/tmp/.X*-lock")
        without_display(tap, webkit.installed(), env)
        interrupted(tap, webkit.installed(), env, tmp)
        began = time.monotonic()
        p = calibrate(os.path.join(os.path.dirname(webkit.installed()), "WebKitWebProcess"), env)
        tap.ok(p.returncode == 0, "calibrate ends well", p.stderr if p.returncode else p.stdout[-300:])
        tap.ok(time.monotonic() - began < LIMIT, "in time", "%.0f s" % (time.monotonic() - began))
        tap.ok(not calibrated.left_behind(tmp), "it leaves nothing behind", calibrated.left_behind(tmp))
        tap.ok(glob.glob("/tmp/.X*-lock") == locks, "not even a display's lock")
        sites = glob.glob(cache + "/builds/*.sites")
        tap.ok(len(sites) == 1, "one file in the cache", sites)
        check_counts(tap, sites[0])
        p = calibrate(FRAMESCOPE, env)
        tap.ok(p.returncode == 8 and "no engine that is known" in p.stderr, "a program that uses no engine is refused", p.stderr)

        out = os.path.join(folders.work, "run.fscope")
        with Held(server, base + "index.html") as browser:
            tap.ok(server.wait_for("/index.html"), "the browser asks for the page")
            code, messages = pagerun.record(browser, out, base + "index.html", lambda: server.wait_for("/removed"), env=env)
        tap.ok(code == 0, "a recording with it ends well", messages if code else "")
        rows = calibrated.events(out)
        tap.ok(len({r["pid"] for r in rows}) == 1, "its events are of one process", len(rows))
        calibrated.check_urls(tap, rows, base, "ScriptElement::executeClassicScript")
        # a layer is far from its document
        calibrated.check_frames(tap, rows, base, excused=["RenderLayerBacking::paintContents"])
        listed = subprocess.run([FRAMESCOPE, "timelines", out, "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
        frames = [t["url"] for t in json.loads(listed)["timelineList"] if t.get("frameID")]
        tap.ok(frames == [base + "index.html", base + "frame.html"], "the removed iframe's timeline remains", frames)
        calibrated.check_types(tap, rows, base, URLS, "webkit")
    finally:
        server.close()
        folders.remove()
    tap.done()


main()

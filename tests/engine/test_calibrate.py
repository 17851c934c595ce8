#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""calibrate on the installed Chromium, then a recording of a page that it doesn't know: a timeline per frame, and every
event of a document, sheet or script with the right URL; then one of a page that does nothing but count, in the process that
the browser starts for another site; and the calls of each function are as many as the browser itself traced. Interrupted or
killed, it leaves nothing behind."""
import collections, configparser, glob, json, os, pwd, signal, subprocess, time

import calibrated
import chromium
import enginetable
import pagerun
from tap import Tap

FRAMESCOPE = os.environ["FRAMESCOPE"]
HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 180 + 30  # when the program gives up, and room for the search in the file

REQUIRED = 9  # functions whose calls must be compared


def owners(pids):
    found = set()
    for pid in pids:
        try:
            found.add(pwd.getpwuid(os.stat("/proc/" + pid).st_uid).pw_name)
        except OSError:
            pass
    return found


def start(binary, env):
    """calibrate, at the moment when the first page is being shown."""
    p = subprocess.Popen([FRAMESCOPE, "calibrate", binary], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    for line in p.stderr:
        if line.startswith("showing"):
            break
    return p


def check_counts(tap, binary, path, env):
    """The file's numbers are equal, and `probes` shows them."""
    sites = configparser.ConfigParser(interpolation=None, comment_prefixes=(";",), strict=False)
    sites.optionxform = str
    sites.read(path)
    probes = [s for s in sites.sections() if s != "build"]
    compared = [p for p in probes if "calls" in sites[p]]
    unequal = ["%s: %s" % (p, sites[p].get("dropped", "")) for p in compared if sites[p]["calls"] != sites[p]["reported"]]
    tap.ok(not unequal, "calls are as many as the browser traced", unequal)
    tap.ok(len(compared) >= REQUIRED, "at least %d functions were compared" % REQUIRED,
           ["%s: %s" % (p, sites[p].get("evidence")) for p in probes if p not in compared])
    shown = json.loads(subprocess.run([FRAMESCOPE, "probes", "--binary", binary, "--json"], check=True, stdout=subprocess.PIPE,
                                      text=True, env=env).stdout)
    evidence = {p["name"]: p.get("evidence") or "" for p in shown["probes"]}
    missing = [p for p in compared if "calls %s = trace %s" % (sites[p]["calls"], sites[p]["reported"]) not in evidence.get(p, "")]
    tap.ok(not missing, "probes shows that", missing)
    text = open(path).read()
    forged = text.replace("\nreported = ", "\nreported = 1", 1)
    with open(path, "w") as f:
        f.write(forged)
    shown = subprocess.run([FRAMESCOPE, "probes", "--binary", binary], check=True, stdout=subprocess.PIPE, text=True, env=env).stdout
    tap.ok("not used: " + path in shown, "a file whose numbers don't agree is refused with a reason")
    with open(path, "w") as f:
        f.write(text)


def record(out, base, env):
    """framescope's exit code, what it said, and the size of the document in the end as the browser tells it."""
    with chromium.Chromium() as browser:
        code, messages = pagerun.record(browser, out, base + "index.html", lambda: browser.wait_for_title("done"), env=env)
        size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
        return code, messages, (0, 0, size["width"], size["height"])


def check_told(tap, rows, size):
    """What listeners are called for, and what is painted. True for each that was right."""
    names = collections.Counter(r["event"] for r in rows if r["probe"] == "V8ScriptRunner::CallFunction" and "event" in r)
    # the page's script clicks three times; nothing else has a listener
    named = tap.ok(names == {"click": 3, "load": 1}, "listeners are called for the events that the page has", names)
    paints = sorted((r for r in rows if r["type"] == "PAINT"), key=lambda r: r["start_ns"])
    areas = [tuple(r.get(k) for k in ("x", "y", "w", "h")) for r in paints]
    area = tap.ok(areas and not any(None in a for a in areas) and areas[-1] == size, "the area painted is the document's",
                  "the last of %s, document %s" % (sorted(set(areas)), size))
    return {"SCRIPT_THREAD_EVALUATION": {"event name": named}, "PAINT": {"area": area}}


def report(path):
    return json.loads(subprocess.run([FRAMESCOPE, "report", "--json", path], check=True, stdout=subprocess.PIPE, text=True).stdout)


def unread_of(path):
    """{probe: {argument: how often it could not be read}}"""
    return {p["name"]: p["kernel"]["unread"] for p in report(path)["probes"]}


def check_timer(tap, out, base, env):
    """A page that comes after one of another site, and has nothing but a timer."""
    with chromium.Chromium() as browser:
        browser.navigate(base.replace("127.0.0.1", "localhost") + "index.html")
        browser.wait_for_title("done")
        code, messages = pagerun.record(browser, out, base + "timer.html", lambda: browser.wait_for_title("counted"), env=env)
    unread = {n: f for n, f in unread_of(out).items() if n in ("V8ScriptRunner::CallFunction", "DOMTimer::Fired")}
    tap.ok(code == 0 and len(unread) == 2 and not any(unread.values()), "every argument of a plain timer's calls is read", (messages, unread))
    rows = calibrated.events(out)
    page = {r["timeline"] for r in rows if r["frame"] and r["type"] == "LAYOUT" and r.get("url") == base + "timer.html"}
    pids = {r["pid"] for r in rows if r["timeline"] in page}
    scripts = collections.Counter(r["timeline"] for r in rows if r["pid"] in pids and r["probe"] == "V8ScriptRunner::CallFunction")
    tap.ok(len(page) == 1 and set(scripts) == page and scripts.total() >= 19, "and all of them stand in its page's timeline",
           (page, scripts))
    tap.ok(page == {1}, "which comes first, before what the browser shows of its own", page)
    processes = report(out)["processes"]
    toolbars = {p["pid"] for p in processes if "--type=renderer" in p["cmdline"] and "--top-chrome-webui" in p["cmdline"]}
    tap.ok({p["pid"] for p in processes if p["own_pages"]} == toolbars and not toolbars & pids,
           "which it shows in other processes, as the recording says", (pids, toolbars))


def parsed_urls(rows, page):
    """Which URLs the parsers have in the process that shows the page, and its PID."""
    pids = {r["pid"] for r in rows if r.get("url") == page}
    return collections.Counter(r.get("url") for r in rows if r["pid"] in pids and r["type"] == "DOCUMENT_PARSING" and r["frame"]), pids


def check_fragments(tap, out, base, env):
    """The parser of a fragment loads nothing that has a URL: its document has one."""
    url = base + "fragments.html"
    again = url + "?again"
    with chromium.Chromium() as browser:
        code, messages = pagerun.record(browser, out, url, lambda: browser.wait_for_title("parsed"), env=env)
        urls, pids = parsed_urls(calibrated.events(out), url)
        one = tap.ok(code == 0 and len(pids) == 1 and urls[url] > 20 and not set(urls) - {url, "about:blank"},
                     "fragments have the URL of their document", (messages, pids, urls))
        if not one:
            return
        # the browser's own toolbars, which may come up meanwhile, parse into documents that no frame shows
        code, messages = pagerun.record(browser, out, again, lambda: browser.wait_for_title("parsed?again"), env=env, process=pids.pop())
    # an event without one shows its frame's: what was read is counted
    urls, unread = parsed_urls(calibrated.events(out), again)[0], unread_of(out)["HTMLDocumentParser::PumpTokenizer"]
    tap.ok(code == 0 and urls[again] > 20 and not unread.get("url"), "and it was read at every call", (messages, urls, unread))


def main():
    tap = Tap()
    if not tap.ready("calibrate", chromium.installed(), "no Chromium is installed"):
        return
    binary = os.path.join(*chromium.installed())
    folders = calibrated.Folders()
    tmp, cache, env = folders.tmp, folders.cache, folders.env
    server, base = chromium.serve(os.path.join(HERE, "pages"))
    try:
        p = start(binary, env)
        users = owners(calibrated.processes(tmp))
        tap.ok(users == {"nobody"}, "the private browser runs as nobody", sorted(users))
        p.send_signal(signal.SIGINT)
        messages = p.communicate(timeout=60)
        tap.ok(p.returncode == 1 and "nothing was written" in messages[1], "Ctrl-C ends it", messages)
        tap.ok(not calibrated.left_behind(tmp), "and leaves nothing behind", calibrated.left_behind(tmp))
        p = start(binary, env)
        p.kill()
        p.communicate(timeout=60)
        left = calibrated.left_behind(tmp, 60)
        tap.ok(not left, "killed it leaves nothing behind either", left)
        tap.ok(not glob.glob(cache + "/builds/*"), "and writes nothing")

        p = subprocess.run([FRAMESCOPE, "calibrate", binary], stderr=subprocess.PIPE, text=True,
                           env=dict(env, TMPDIR=tmp + "/" + "long" * 20))
        tap.ok(p.returncode == 7 and "TMPDIR" in p.stderr, "a folder with too long a name is refused", p.stderr)

        began = time.monotonic()
        p = subprocess.run([FRAMESCOPE, "calibrate", binary], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
                           timeout=300)
        tap.ok(p.returncode == 0, "calibrate ends well", p.stderr if p.returncode else p.stdout[-300:])
        tap.ok(time.monotonic() - began < LIMIT, "in time", "%.0f s" % (time.monotonic() - began))
        tap.ok(not calibrated.left_behind(tmp), "it leaves nothing behind", calibrated.left_behind(tmp))
        sites = glob.glob(cache + "/builds/*.sites")
        tap.ok(len(sites) == 1 and os.stat(sites[0]).st_mode & 0o777 == 0o644, "one file in the cache", sites)
        check_counts(tap, binary, sites[0], env)

        out = os.path.join(folders.work, "run.fscope")
        code, messages, size = record(out, base, env)
        tap.ok(code == 0, "a recording with it ends well", messages if code else "")
        # the browser shows pages of its own beside: those are another process's
        rows = calibrated.events(out)
        pids = {r["pid"] for r in rows if r.get("url", "").startswith(base)}
        rows = [r for r in rows if r["pid"] in pids and not r.get("url", "").startswith("chrome")]
        tap.ok(bool(rows), "the page's events are there")
        calibrated.check_urls(tap, rows, base, "V8ScriptRunner::CompileAndRunScript")
        calibrated.check_frames(tap, rows, base)
        check_timer(tap, os.path.join(folders.work, "timer.fscope"), base, env)
        check_fragments(tap, os.path.join(folders.work, "fragments.fscope"), base, env)
        told = check_told(tap, rows, size)
        for kind in list(calibrated.WANTED) + ["SCRIPT_COMPILATION", "SCRIPT_THREAD_EVALUATION", "REFLOW", "LAYOUT", "PAINT"]:
            if any(r["type"] == kind and r.get("url") == base + "index.html" for r in rows):
                enginetable.note("blink", kind, checks={"URL": calibrated.told_urls(rows, kind), **told.get(kind, {})}, reason="counted by another test")
    finally:
        server.shutdown()
        folders.remove()
    tap.done()


main()

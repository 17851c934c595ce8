# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What calibration leaves behind, and whether a recording of a page that it doesn't know has the right URLs and frames."""
import glob, os, shutil, tempfile, time

import enginetable
import pagerun

# type -> the files of the page that its events may be about; each must be met
WANTED = {
    "DOCUMENT_PARSING": ["index.html", "frame.html"],
    "CSS_PARSING": ["a.css", "b.css", "f.css", "index.html"],
    "STYLE_RECALCULATION": ["index.html", "frame.html"],
}
SCRIPTS = ["index.html", "one.js", "two.js", "frame.html"]
FRAMES = ["STYLE_RECALCULATION", "DOCUMENT_PARSING", "LAYOUT", "PAINT"]


def processes(tmp):
    """PIDs of what runs from there."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            if tmp.encode() in open(path, "rb").read():
                found.append(path.split("/")[2])
        except OSError:
            pass
    return found


def left_behind(tmp, seconds=0):
    """Files and processes that are still there after so long."""
    end = time.monotonic() + seconds
    while True:
        left = os.listdir(tmp) + processes(tmp)
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.2)


class Folders:
    """Where a calibration may work and write, as a user of few rights can: `tmp`, `cache`, and the environment that says so."""

    def __init__(self):
        self.work = tempfile.mkdtemp(prefix="fs-", dir="/var/tmp")
        self.tmp, self.cache = os.path.join(self.work, "tmp"), os.path.join(self.work, "cache")
        os.mkdir(self.tmp)
        os.chmod(self.work, 0o711)
        os.chmod(self.tmp, 0o711)
        self.env = dict(os.environ, TMPDIR=self.tmp, FRAMESCOPE_CACHE=self.cache)

    def remove(self):
        shutil.rmtree(self.work, ignore_errors=True)


def events(path):
    rows = pagerun.rows(path)
    frames = {row["id"]: row["frame"] for row in rows if row["kind"] == "timeline"}
    return [dict(row, frame=frames[row["timeline"]]) for row in rows if row["kind"] == "event"]


def no_texts(rows):
    """What was read where no text is kept: with control characters, or what is in no encoding."""
    odd = lambda text: any(ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 or c == "\ufffd" for c in text)
    return [(row["name"], row[key]) for row in rows for key in ("url", "event_name") if odd(row.get(key) or "")]


def check_urls(tap, rows, base, script):
    """Every event has the URL of the file that it is about. `script`: the probe of whole scripts that run."""
    by_type, first = {}, {}
    for row in rows:
        by_type.setdefault(row["type"], []).append(row)
        if row.get("url", "").startswith(base):
            first[row["timeline"]] = min(row["start_ns"], first.get(row["timeline"], row["start_ns"]))
    for kind, files in WANTED.items():
        urls = [r.get("url", "") for r in by_type.get(kind, [])]
        strange = sorted({u for u in urls if u not in [base + f for f in files] + ["about:blank", ""]})
        # a new frame shows about:blank, which may have no text anywhere
        late = [r for r in by_type.get(kind, []) if not r.get("url") and r["start_ns"] > first.get(r["timeline"], 0)]
        tap.ok(not strange and not late, "every %s has a URL of the page" % kind, "also: %s, %s" % (strange, late[:2]))
        missing = [f for f in files if base + f not in urls]
        tap.ok(not missing, "%s of all files" % kind, "not of %s" % missing if missing else "%d events" % len(urls))
    urls = sorted(r.get("url", "")[len(base):] for r in rows if r["probe"] == script)
    tap.ok(urls == sorted(SCRIPTS + ["index.html"]), "every script that was run has its URL", urls)
    odd = no_texts(rows)
    tap.ok(not odd, "every text that was read is one", odd[:3])


def check_frames(tap, rows, base, excused=()):
    """`excused`: probes from whose arguments no way leads to a frame."""
    main = {r["timeline"] for r in rows if r["frame"] and r.get("url") == base + "index.html"}
    inner = {r["timeline"] for r in rows if r["frame"] and r.get("url") == base + "frame.html"}
    # what is about a document need not lead to its frame; the types that must are looked for below
    frameless = {r["probe"] for r in rows if not r["frame"] and r.get("url", "").startswith(base)}
    tap.ok(len(main) == 1 and len(inner) == 1 and main != inner, "page and iframe have a timeline each",
           "page %s, iframe %s, without a frame: %s" % (sorted(main), sorted(inner), sorted(frameless)))
    lost = {(r["type"], r["probe"], r["timeline"]) for r in rows if r["type"] in FRAMES and r["timeline"] not in main | inner and
            r["probe"] not in excused}
    tap.ok(not lost, "no style, parsing, layout or painting is outside of them", sorted(lost) if lost else "")


def told_urls(rows, kind):
    """For the table of engines: True, or the probes of that kind whose calls never have a URL; what is summed up aside."""
    rows = [r for r in rows if r["type"] == kind and "aggregate" not in r.get("flags", "")]
    without = {r["probe"] for r in rows} - {r["probe"] for r in rows if r.get("url")}
    return ["not of %s: no way to it is known" % " and ".join(sorted(without))] if without else True


def check_types(tap, rows, base, kinds, engine):
    """Of each kind there is an event that has the page's URL."""
    for kind in kinds:
        urls = {r["url"] for r in rows if r["type"] == kind and r.get("url", "").startswith(base)}
        if tap.ok(base + "index.html" in urls, "%s knows the page's URL" % kind, sorted(urls)):
            enginetable.note(engine, kind, checks={"URL": told_urls(rows, kind)}, reason="counted by another test")

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Finds Blink's functions in the installed, stripped Chromium, whichever build that is. What is found is checked by other
means: the ELF headers, the bytes in the file, and calls as objdump shows them."""
import json, os, re, shutil, struct, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import chromium

TYPES = ("DOCUMENT_PARSING", "CSS_PARSING", "SCRIPT_COMPILATION", "SCRIPT_THREAD_EVALUATION", "REFLOW",
         "STYLE_RECALCULATION", "LAYOUT", "PAINT")
CALLS = (("V8ScriptRunner::CompileAndRunScript", "V8ScriptRunner::CompileScript"),
         ("V8ScriptRunner::CompileAndRunScript", "V8ScriptRunner::RunCompiledScript"),
         ("LocalFrameView::UpdateLayout", "LocalFrameView::PerformLayout"),
         ("Document::UpdateStyleAndLayoutTreeForThisDocument", "Document::UpdateStyle"))
number = 0


def result(good, name, detail=""):
    global number
    number += 1
    print("%sok %d - %s%s" % ("" if good else "not ", number, name, ": " + detail if detail and not good else ""))
    return good


def executable_segments(path):
    """[(offset, vaddr, size)]"""
    with open(path, "rb") as f:
        header = f.read(64)
        at, = struct.unpack_from("<Q", header, 32)
        count, = struct.unpack_from("<H", header, 56)
        f.seek(at)
        entries = [struct.unpack("<IIQQQQQQ", f.read(56)) for _ in range(count)]
    return [(e[2], e[3], e[5]) for e in entries if e[0] == 1 and e[1] & 1]


def probes(binary, *options):
    start = time.monotonic()
    proc = subprocess.run([os.environ["FRAMESCOPE"], "probes", "--binary", binary, "--engine", "blink", "--json", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seconds = time.monotonic() - start
    if proc.returncode:
        print("# exit code %d: %s" % (proc.returncode, proc.stderr.strip()))
        return [], False, seconds
    answer = json.loads(proc.stdout)
    return answer["probes"], all(m.get("from_cache") for m in answer["modules"]), seconds


def vaddr_of(segments, offset):
    for start, vaddr, size in segments:
        if start <= offset < start + size:
            return offset - start + vaddr
    return None


def calls_of(binary, vaddr, size):
    """Targets of the direct calls and jumps of a function."""
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % vaddr,
                          "--stop-address=%d" % (vaddr + size), binary], stdout=subprocess.PIPE, text=True).stdout
    return {int(m, 16) for m in re.findall(r"\b(?:call|jmp)\s+(?:0x)?([0-9a-f]+)\b", out)}


def check_bytes(binary, segments, found):
    wrong = []
    with open(binary, "rb") as f:
        for p in found:
            vaddr = vaddr_of(segments, p["offset"])
            f.seek(p["offset"] - 1)
            before, code = f.read(1), f.read(4)
            # Chromium is built with frame pointers; a function starts on 16 bytes, behind int3 or the end of another
            if vaddr is None or vaddr % 16 or code != b"\x55\x48\x89\xe5":
                wrong.append("%s at 0x%x has %s" % (p["name"], p["offset"], (before + code).hex()))
    result(not wrong, "every function begins on the grid and sets up a frame", "; ".join(wrong))


def check_found(binary, all_probes):
    segments = executable_segments(binary)
    found = [p for p in all_probes if "offset" in p]
    missing = ["%s: %s" % (p["name"], p.get("reason")) for p in all_probes if "offset" not in p]
    names = [p["name"] for p in found]
    result(len(set(names)) >= 12, "at least twelve functions are found", "%d: %s" % (len(names), "; ".join(missing)))
    result(not missing, "all probes of the definition are found", "; ".join(missing))
    result(len(set(names)) == len(names), "none is ambiguous",
           ", ".join(sorted({n for n in names if names.count(n) > 1})))
    for t in TYPES:
        result(any(p["event"] == t for p in found), "%s is found" % t)
    offsets = [p["offset"] for p in found if p["kind"] == "span"]
    result(len(set(offsets)) == len(offsets), "no two probes of calls share a function")
    check_bytes(binary, segments, found)
    result(all(p["cost"] == "emulated" for p in found), "each probe costs one trap",
           ", ".join("%s: %s" % (p["name"], p["cost"]) for p in found if p["cost"] != "emulated"))
    if not shutil.which("objdump"):
        print("ok %d - calls between the functions # SKIP objdump is not installed" % (number + 1))
        return
    by_name = {p["name"]: p for p in found}
    for caller, callee in CALLS:
        a, b = by_name.get(caller), by_name.get(callee)
        result(a and b and vaddr_of(segments, b["offset"]) in
               calls_of(binary, vaddr_of(segments, a["offset"]), a["size"]), "%s calls %s, says objdump" % (caller, callee))


def main():
    where = chromium.installed()
    if not where:
        print("ok 1 - find Blink's functions # SKIP no Chromium is installed")
        return
    binary = os.path.realpath(os.path.join(*where))
    cache = tempfile.mkdtemp(prefix="framescope-cache-")
    os.environ["FRAMESCOPE_CACHE"] = cache
    try:
        first, from_cache, cold = probes(binary)
        result(first and not from_cache, "the first search looks into the binary")
        check_found(binary, first)
        again, from_cache, warm = probes(binary)
        result(from_cache and again == first, "the second search remembers the same")
        forced, from_cache, _ = probes(binary, "--no-cache")
        result(not from_cache and forced == first, "--no-cache looks again and finds the same")
        print("# first search %.2f s, from the cache %.3f s" % (cold, warm))
        # loose limits for busy machines: the figures are in the benchmark
        result(cold < 30 and warm < 3 and warm < cold, "the time is of the right order", "%.2f s, %.3f s" % (cold, warm))
    finally:
        shutil.rmtree(cache)


main()
sys.exit(0)

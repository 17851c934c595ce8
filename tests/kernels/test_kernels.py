#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Records a small target on other kernels: every rung of the ladder gives the same exact tree, and a kernel that lacks
something is refused with one sentence. FRAMESCOPE_KERNELS chooses among 6.18 6.12 6.1 5.10 and latest, or all."""
import copy, json, os, re, sys, tempfile, time
import debian_kernels, framescope, guest

OUT = os.environ["O"]
# The best rung that each kernel has, and those below it
RUNGS = {"latest": ["session", "multi", "links"], "6.18": ["session", "multi", "links"], "6.12": ["multi", "links"],
         "6.1": ["links"], "5.10": []}
DIRECT = {"latest", "6.18", "6.12"}  # what direct reads of the target's memory need: 6.2
NAMES = {"session": "uprobe.session", "multi": "uprobe.multi", "links": "perf links"}
DEFAULT = "6.12 6.1 5.10"
NO_KERNEL = 5  # exit code: the kernel lacks something

# name, what was read, flags, children
def call(name, read="", *children, unwound=False):
    return (name, read, "unwound" if unwound else "", list(children))


def leaves(n):
    return [call("leaf", "x=%d" % i) for i in range(n)]


def nested(name, values, unwound=False):
    tree = []
    for value in values:
        tree = [call(name, "x=%d" % value, *tree, unwound=unwound)]
    return tree


# What work.c does, by process (0: the first) and thread (0: its first)
EXPECTED = {
    (0, 0): [call("reflow", "label=first", *leaves(3)), *nested("descend", [1, 2, 3, 4, 5]),
             call("catch", "", *nested("escape", [0, 1, 2], unwound=True), call("leaf", "x=100")),
             call("cold", "url=http://cold.test/page"), call("sleep"),
             call("branch", "x=1"), call("branch", "x=2", call("leaf", "x=2")), call("reflow", "label=last")],
    (0, 1): [call("reflow", "label=thread", *leaves(2))],
    (1, 0): [call("reflow", "label=child", *leaves(1))],
}

# The small targets of the engine tests, all recorded at once: program, arguments, tree. `exits` is `calls` under another
# name, for which another definition asks for exit probes
SITES = "; exit = sites"
CALLS = ("leaf", "outer", "recurse", "jump_through", "jump_out", "tail_source", "tail_target", "tail_caller", "raiser",
         "co_outer", "co_inner", "never_returns")
GROUP = [
    # the kernel has 64 return probes for a thread: deeper calls are seen to end late
    ("calls", ["recurse", "100"], "recurse(" * 64 + "recurse!noreturn(" * 35 + "recurse!noreturn" + ")" * 99),
    ("exits", ["recurse", "100"], "recurse(" * 99 + "recurse" + ")" * 99),
    ("calls", ["jumps", "3"], " ".join(["jump_through!unwound(jump_out!unwound)"] * 3 + ["outer(leaf leaf)"] * 100)),
    ("calls", ["tail"], "tail_caller(tail_source(tail_target!tail))"),
    ("exits", ["tail"], "tail_caller(tail_source tail_target)"),
    # only with exit probes: the kernel takes return addresses on another stack for those of dead calls
    ("exits", ["coroutines"], "co_outer(leaf!switch leaf!switch leaf!switch) co_inner!switch co_inner!switch leaf"),
    ("calls", ["signal-stack"], "raiser(leaf) leaf!switch"),
    ("calls", ["thread-ends"], "never_returns!clipped"),
    ("throws", [], "catcher(middle(thrower) after) catcher(middle!unwound(thrower!unwound) after after) "
                   "catcher(middle(thrower) after)"),
]
ENGINES = {
    "calls": ({n: "event = LAYOUT; function = " + n for n in CALLS}, ""),
    "exits": ({n: "event = LAYOUT; function = " + n + SITES for n in CALLS}, ""),
    "throws": ({n: "event = PAINT; function = " + n for n in ("catcher", "middle", "thrower", "after")}, "exceptions = yes"),
}

number = 0


def result(good, name, why=""):
    global number
    number += 1
    print("%sok %d - %s" % ("" if good else "not ", number, name), flush=True)
    if not good and why:
        print("# " + str(why).strip().replace("\n", "\n# "), flush=True)


def skip(name, reason):
    global number
    number += 1
    print("ok %d - %s # SKIP %s" % (number, name, reason), flush=True)


def show(tree, indent=0):
    return "".join("%s%s %s %s\n%s" % ("  " * indent, n, r, f, show(c, indent + 1)) for n, r, f, c in tree)


def trees(lines):
    """The recorded trees by process and thread, in the form of EXPECTED, from `export -f jsonl`."""
    records = [json.loads(line) for line in lines.splitlines()]
    pids = [r["pid"] for r in records if r["kind"] == "process"]
    events = sorted((r for r in records if r["kind"] == "event"), key=lambda r: r["id"])
    roots, made = {}, {}
    for e in events:
        read = ["%s=%s" % (k, e[k]) for k in ("label", "url", "x") if k in e]
        # how much of a call was overhead depends on the machine, not on the tree
        flags = ",".join(f for f in e.get("flags", "").split(",") if f != "overhead-high")
        made[e["id"]] = node = (e["probe"], " ".join(read), flags, [])
        if e["parent"]:
            made[e["parent"]][3].append(node)
        else:
            roots.setdefault((e["pid"], e["tid"]), []).append((e["start_ns"], node))
    out, threads = {}, {}
    for pid, tid in sorted(roots, key=lambda k: (pids.index(k[0]), k[1])):
        index = threads[pid] = threads.get(pid, -1) + 1
        out[pids.index(pid), index] = [node for _, node in sorted(roots[pid, tid], key=lambda n: n[0])]
    return out


def record_steps(name, *options, prefix=()):
    """One recording of the target, with what it holds."""
    return [["case", name], ["target", "/bin/work", "/cold." + name],
            ["record", *prefix, "/bin/framescope", "record", "-p", "$PID", "-o", "/out/%s.fscope" % name, *options],
            ["go"], ["wait"],
            ["run", "/bin/framescope", "report", "--json", "/out/%s.fscope" % name],
            ["run", "/bin/framescope", "export", "/out/%s.fscope" % name, "-f", "jsonl", "-o", "-"]]


def group_steps():
    """All small targets below one process, in one recording, which is brought out."""
    command = []
    for program, args, _ in GROUP:
        command += ["--"] * bool(command) + ["/bin/" + program, *args]
    return [["case", "group"], ["target", "/bin/group", *command],
            ["record", "/bin/framescope", "record", "-p", "$PID", "-o", "/out/group.fscope"],
            ["go"], ["wait"], ["read", "/out/group.fscope"]]


def refuse_steps(name, *options, prefix=()):
    """A recording that is not to come about."""
    return [["case", name], ["target", "/bin/work", "/cold.refuse"],
            ["run", *prefix, "/bin/framescope", "record", "-p", "$PID", "-d", "1", "-o", "/out/%s.fscope" % name, *options],
            ["run", "/bin/framescope", "report", "--json", "/out/%s.fscope" % name], ["go"], ["wait"]]


def check_recording(kernel, got, name, rung, direct, options=""):
    title = "%s records the target's tree by %s%s" % (kernel, NAMES[rung], options)
    reports = got.reports.get(name, [])
    if len(reports) != 3 or any(code for code, _ in reports):
        return result(False, title, "\n".join("exit %d: %s" % r for r in reports))
    report = json.loads(reports[1][1])
    found = trees(reports[2][1])
    why = ""
    if report["info"]["rung"] != NAMES[rung]:
        why += "the rung was %s\n" % report["info"]["rung"]
    if report["info"]["direct_reads"] != direct:
        why += "direct reads: %s\n" % report["info"]["direct_reads"]
    if report["counts"]["lost"] or report["counts"]["read_failed"] or not report["info"]["target_ended"]:
        why += "counts: %s\n" % report["counts"]
    for key in sorted(set(found) | set(EXPECTED)):
        if found.get(key) != EXPECTED.get(key):
            why += "process %d, thread %d: expected\n%sgot\n%s" % (
                *key, show(EXPECTED.get(key, [])), show(found.get(key, [])))
    sleeps = [json.loads(line) for line in reports[2][1].splitlines() if '"probe":"sleep"' in line]
    # under emulation, and on a busy machine, it takes a while to fall asleep
    if not sleeps or sleeps[0]["blocked_ns"] < 50e6 or sleeps[0]["time_ns"] > sleeps[0]["blocked_ns"]:
        why += "100 ms of sleep: %s\n" % sleeps
    marks = [json.loads(line) for line in reports[2][1].splitlines() if '"kind":"mark"' in line]
    if [(m["probe"], m.get("label")) for m in marks] != [("mark", "here")]:
        why += "marks: %s\n" % marks
    result(not why, title, why)


def check_group(kernel, got):
    """Every small target's tree, and that all records of it agree with each other."""
    title = "%s records %d small targets at once" % (kernel, len(GROUP))
    code, text = got.reports.get("group", [(None, "no report")])[0]
    if code or "group" not in got.files:
        return result(False, title, "exit %s: %s" % (code, text))
    with tempfile.NamedTemporaryFile(suffix=".fscope") as f:
        f.write(got.files["group"])
        f.flush()
        recording = framescope.Recording(f.name)
    why = ""
    pids = sorted(recording.processes)[1:]  # the group's own is the first
    if len(pids) != len(GROUP):
        return result(False, title, "processes: %s" % recording.processes)
    for pid, (program, args, expected) in zip(pids, GROUP):
        part = copy.copy(recording)
        part.records = [r for r in recording.records if r.get("tgid") == pid]
        found = framescope.shape(part.forest())
        if found != expected:
            why += "%s %s: expected\n  %s\ngot\n  %s\n" % (program, " ".join(args), expected, found)
    try:
        recording.check_pairing()
    except AssertionError as e:
        why += "%s\n" % e
    lost = sum(p["lost_begins"] + p["lost_ends"] + p["orphan_exits"] for p in recording.probes)
    if lost:
        why += "%d lost or orphaned\n" % lost
    result(not why, title, why + text)


def check_refusal(kernel, got, name, title, words):
    reports = got.reports.get(name, [])
    if len(reports) != 2:
        return result(False, "%s %s" % (kernel, title), reports)
    code, text = reports[0]
    text = text.strip()
    why = ""
    if code != NO_KERNEL:
        why += "exit code %d\n" % code
    if "\n" in text or not text.startswith("framescope: ") or re.search(r"errno|[ (]-\d", text) or not re.search(words, text):
        why += "not one sentence with /%s/\n" % words
    if reports[1][0] == 0:
        why += "a recording was written all the same\n"
    print("# " + text)
    result(not why, "%s %s" % (kernel, title), why + text)


def steps_for(series):
    steps = [["mount", "proc", "/proc"], ["mount", "sysfs", "/sys"], ["mount", "tmpfs", "/out"],
             ["mount", "tmpfs", "/var/cache"]]
    for rung in RUNGS[series]:
        steps += record_steps(rung, *([] if rung == RUNGS[series][0] else ["--rung", rung]))
    if not RUNGS[series]:
        return steps + refuse_steps("old")
    steps += group_steps()
    steps += [s for rung in ("session", "multi") if rung not in RUNGS[series]
              for s in refuse_steps("no-" + rung, "--rung", rung)]
    steps += refuse_steps("ringbuf", prefix=["/bin/deny", "ringbuf"])
    # a kernel without uprobes has neither the PMU nor links to them
    steps += [["mount", "tmpfs", "/sys/bus/event_source/devices/uprobe"]]
    steps += refuse_steps("uprobes", prefix=["/bin/deny", "uprobes"])
    return steps + [["umount", "/sys"]] + refuse_steps("btf")


def guest_files(static):
    """What the virtual machine holds: {path: (mode, content)}."""
    read = lambda path: open(path, "rb").read()
    binaries = {"bin/framescope": "framescope", "init": "tests/kernels/init", "bin/work": "tests/kernels/work",
                "bin/deny": "tests/kernels/deny", "bin/group": "tests/kernels/group",
                "bin/calls": "tests/engine/targets/calls", "bin/exits": "tests/engine/targets/calls",
                "bin/throws": "tests/engine/targets/throws"}
    files = {path: (0o755, read(os.path.join(static, source))) for path, source in binaries.items()}
    files["var/cache/.keep"] = (0o644, b"")
    files["engines/work.engine"] = (0o644, read("tests/kernels/work.engine"))
    for name, (probes, flags) in ENGINES.items():
        with tempfile.TemporaryDirectory() as folder:
            text = read(framescope.engine(name, probes, flags, folder)).replace(b"name = test", b"name = " + name.encode())
        files["engines/%s.engine" % name] = (0o644, text)
    # each recording has a page of its own that was not read before
    for name in [*NAMES, "refuse"]:
        files["cold." + name] = (0o644, b"http://cold.test/page\0")
    return files


def check(series):
    started = time.monotonic()
    try:
        image, release = debian_kernels.fetch(series, "amd64", os.path.join(OUT, "kernels"))
    except debian_kernels.Unavailable as e:
        return skip("Linux %s" % series, e)
    fetched = time.monotonic() - started
    static = os.path.join(OUT, "static")
    if not os.path.exists(static + "/framescope"):
        return result(False, "Linux %s" % release, "%s/framescope is not built: make guests" % static)
    files = guest_files(static)
    got = guest.boot(image, files, steps_for(series))
    kernel = "Linux " + release
    print("# %s: fetched in %.1f s, init after %s s, done after %s s, %.1f s in all" % (
        kernel, fetched, got.up, got.done, time.monotonic() - started), flush=True)
    if got.done is None or got.faults:
        result(False, "%s runs the steps" % kernel, "\n".join(got.faults) + "\n" + got.console[-2000:])
    for rung in RUNGS[series]:
        check_recording(kernel, got, rung, rung, series in DIRECT)
    if RUNGS[series]:
        check_group(kernel, got)
    else:
        return check_refusal(kernel, got, "old", "is refused", "attach cookies.*5.17")
    for rung in ("session", "multi"):
        if rung not in RUNGS[series]:
            check_refusal(kernel, got, "no-" + rung, "refuses --rung " + rung, rung)
    check_refusal(kernel, got, "ringbuf", "without ring buffer is refused", "ring buffer")
    check_refusal(kernel, got, "uprobes", "without uprobes is refused", "UPROBE|uprobes")
    check_refusal(kernel, got, "btf", "without BTF is refused", "BTF")


def main():
    chosen = os.environ.get("FRAMESCOPE_KERNELS", DEFAULT).replace(",", " ").split()
    if chosen == ["all"]:
        chosen = ["6.18", "6.12", "6.1", "5.10"]
    unknown = [c for c in chosen if c not in RUNGS]
    if unknown:
        sys.exit("FRAMESCOPE_KERNELS: no such series: %s; there are %s" % (" ".join(unknown), " ".join(RUNGS)))
    reason = guest.missing()
    for series in chosen:
        if reason:
            skip("Linux %s" % series, reason)
        else:
            check(series)
    print("1..%d" % number)


main()

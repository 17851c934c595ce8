# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The same function and string with other tools, each without loss where it can be had; and what the kernel itself takes:
for an empty pair, which no tool with probes can be below, and for one that reads the times and the text and keeps nothing."""
import os, re, shutil, signal, subprocess, time
from benchlib import ROOT, WORK, Target, empty_pair, end, framescope, interleave

TRACING = "/sys/kernel/tracing"
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Missing(Exception):
    """Why a peer can't be measured here."""


def installed(name):
    if not shutil.which(name):
        raise Missing("not installed")
    return name


def attach_framescope(target):
    p, _ = framescope(target)
    return lambda: end(p)


def attach_limit(*kinds):
    def attach(target):
        pair = next(filter(None, (empty_pair(target, kind) for kind in kinds)), None)
        if not pair:
            raise Missing("this kernel has no such probes")
        return lambda: (pair.stdin.close(), pair.wait(60))
    return attach


def attach_bpftrace(target):
    script = 'uprobe:%s:bench_work { printf("B %%llu %%s\\n", nsecs, str(arg0)); } uretprobe:%s:bench_work { printf("E %%llu\\n", nsecs); }'
    p = subprocess.Popen([installed("bpftrace"), "-o", os.path.join(WORK, "bpftrace.out"), "-e",
                          script % (target.path, target.path)], env=dict(os.environ, BPFTRACE_PERF_RB_PAGES="4096"), **QUIET)
    time.sleep(5)
    return lambda: (p.send_signal(signal.SIGINT), p.wait(60))


def attach_tracefs(target):
    def write(name, text, flags=os.O_WRONLY):
        fd = os.open(TRACING + "/" + name, flags)
        os.write(fd, text.encode())
        os.close(fd)

    if not os.access(TRACING + "/uprobe_events", os.W_OK):
        raise Missing("no tracefs")
    events = lambda text: write("uprobe_events", text, os.O_WRONLY | os.O_APPEND)
    events("p:fsb/begin %s:%#x s=+0(%%di):string\n" % (target.path, target.offset()))
    events("r:fsb/end %s:%#x\n" % (target.path, target.offset()))
    write("buffer_size_kb", "16384")
    write("events/fsb/enable", "1")
    cpus = [os.path.join(TRACING, "per_cpu", c) for c in sorted(os.listdir(TRACING + "/per_cpu"))]
    # as trace-cmd does: whole pages, one reader for each CPU
    readers = [subprocess.Popen(["cat", cpu + "/trace_pipe_raw"], stdout=open(os.path.join(WORK, "trace.out.%d" % i), "wb"))
               for i, cpu in enumerate(cpus)]

    def stop():
        write("events/fsb/enable", "0")
        stats = "".join(open(cpu + "/stats").read() for cpu in cpus)
        for reader in readers:
            reader.kill()
            reader.wait()
        for name in ("begin", "end"):
            events("-:fsb/%s\n" % name)
        return {"lost": sum(int(n) for n in re.findall(r"(?:overrun|dropped events): (\d+)", stats))}

    return stop


def attach_perf(target):
    perf = installed("perf")
    run = lambda *a: subprocess.run([perf, *a], **QUIET).returncode
    begin = run("probe", "-q", "-x", target.path, "fsp_b=bench_work name:string") and \
        run("probe", "-q", "-x", target.path, "fsp_b=bench_work")
    if begin or run("probe", "-q", "-x", target.path, "fsp_e=bench_work%return"):
        raise Missing("perf probe failed")
    p = subprocess.Popen([perf, "record", "-q", "-m", "16M", "-e", "probe_bench_target:fsp_b*", "-e",
                          "probe_bench_target:fsp_e*", "-p", str(target.pid), "-o", os.path.join(WORK, "perf.data")], **QUIET)
    time.sleep(2)
    return lambda: (p.send_signal(signal.SIGINT), p.wait(60), run("probe", "-q", "-d", "probe_bench_target:*"))


ATTACH = {"empty": attach_limit("session", "multi"), "least": attach_limit("least"),
          "framescope": attach_framescope, "bpftrace": attach_bpftrace, "perf": attach_perf, "tracefs": attach_tracefs}
LIMITS = ("empty", "least")


def uftrace_target():
    """The other end of the scale: instrumentation that is compiled in, in a target that uftrace itself starts."""
    uftrace = installed("uftrace")
    path = os.path.join(WORK, "peer-uftrace", "bench_target")
    os.makedirs(os.path.dirname(path))
    if subprocess.run(["gcc", "-O2", "-pg", "-fno-shrink-wrap", "-D_GNU_SOURCE", "-fcf-protection=none", "-o", path,
                       os.path.join(ROOT, "tests/engine/targets/bench_target.c")], **QUIET).returncode:
        raise Missing("gcc -pg failed")
    return Target("peer-uftrace", path, [uftrace, "record", "--no-libcall", "-b", "16M", "-F", "bench_work", "-A",
                                         "bench_work@arg1/s", "-d", os.path.join(WORK, "uftrace.data")])


def peers(results, seconds):
    found, running, stop = {}, {}, {}
    for name, attach in ATTACH.items():
        target = Target("peer-" + name)
        try:
            stop[name] = attach(target)
            running[name] = target
        except Missing as reason:
            found[name] = str(reason)
            target.close()
    try:
        running["uftrace"] = uftrace_target()
    except Missing as reason:
        found["uftrace"] = str(reason)
    interleave(list(running.values()), seconds)
    said = {name: s() for name, s in stop.items()}
    for name, target in running.items():
        found[name] = target.figures()
        if isinstance(said.get(name), dict):
            found[name].update(said[name])
        target.close()
    of = lambda name, other: round(found[name]["p10_ns"] / found[other]["p10_ns"], 3)
    for name in found:
        if name in ("framescope", *LIMITS) or not isinstance(found[name], dict):
            continue
        results["ratio_to_" + name] = of("framescope", name)
        for limit in LIMITS:
            if limit in running:
                results["ratio_%s_to_%s" % (limit, name)] = of(limit, name)
    results["peers"] = found

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The same function and string with other tools, each without loss where it can be had."""
import os, shutil, signal, subprocess, time
from benchlib import ROOT, WORK, Target, end, framescope, interleave

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
    reader = subprocess.Popen(["cat", TRACING + "/trace_pipe"], stdout=open(os.path.join(WORK, "trace.out"), "wb"))

    def stop():
        write("events/fsb/enable", "0")
        reader.kill()
        reader.wait()
        for name in ("begin", "end"):
            events("-:fsb/%s\n" % name)

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


ATTACH = {"framescope": attach_framescope, "bpftrace": attach_bpftrace, "perf": attach_perf, "tracefs": attach_tracefs}


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
    found, running, stop = {}, {}, []
    for name, attach in ATTACH.items():
        target = Target("peer-" + name)
        try:
            stop.append(attach(target))
            running[name] = target
        except Missing as reason:
            found[name] = str(reason)
            target.close()
    try:
        running["uftrace"] = uftrace_target()
    except Missing as reason:
        found["uftrace"] = str(reason)
    interleave(list(running.values()), seconds)
    for s in stop:
        s()
    for name, target in running.items():
        found[name] = target.figures()
        target.close()
    for name in found:
        if name != "framescope" and isinstance(found[name], dict):
            results["ratio_to_" + name] = round(found["framescope"]["p10_ns"] / found[name]["p10_ns"], 3)
    results["peers"] = found

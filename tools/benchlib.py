# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the parts of tools/bench share: targets of their own, recordings of them, runs that alternate."""
import os, re, shutil, signal, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "lib"))
from framescope import BUILD, FRAMESCOPE, ROOT

os.environ.setdefault("FRAMESCOPE_ENGINES", os.path.join(ROOT, "user/engines"))

TARGET = os.path.join(BUILD, "tests/engine/targets/bench_target")
TOOL = lambda name: os.path.join(BUILD, "tools", name)
WORK = tempfile.mkdtemp(prefix="framescope-bench-")
ENGINE = """[engine]
name = bench
modules = bench_target
[work]
event = LAYOUT
function = bench_work
text = arg0 : cstr
"""


class Target:
    """A private copy of the small target: probes on it hit nobody else."""

    def __init__(self, name, path=None, prefix=()):
        self.path = path or os.path.join(WORK, name, "bench_target")
        if not path:
            os.makedirs(os.path.dirname(self.path))
            shutil.copy(TARGET, self.path)
        self.process = subprocess.Popen([*prefix, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.address = self.process.stdout.readline().split()[1]
        self.pid = self.process.pid
        self.ns = []

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)

    def run(self, calls=1000, batches=10):
        self.process.stdin.write("%d %d 0\n" % (calls, batches))
        self.process.stdin.flush()
        self.ns += [int(x) / calls for x in self.process.stdout.readline().split()]

    def offset(self):
        """File offset of the probed function."""
        out = subprocess.run(["nm", self.path], stdout=subprocess.PIPE, text=True).stdout
        vaddr = int(re.search(r"([0-9a-f]+) T bench_work", out).group(1), 16)
        for line in subprocess.run(["readelf", "-lW", self.path], stdout=subprocess.PIPE, text=True).stdout.splitlines():
            f = line.split()
            if f[:1] == ["LOAD"] and int(f[2], 16) <= vaddr < int(f[2], 16) + int(f[4], 16):
                return vaddr - int(f[2], 16) + int(f[1], 16)

    def figures(self):
        s = sorted(self.ns)
        return {"p10_ns": round(s[len(s) // 10]), "median_ns": round(statistics.median(s))}


def interleave(targets, seconds, calls=1000):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for t in targets:
            t.run(calls)


def empty_pair(target, kind):
    p = subprocess.Popen([TOOL("empty-pair"), kind, str(target.pid), target.address], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True)
    return p if p.stdout.readline().strip() == "ready" else None


def record(pid, out, *options):
    """framescope, once it records."""
    if os.path.exists(out):
        os.unlink(out)
    p = subprocess.Popen([FRAMESCOPE, "record", "-p", str(pid), "-o", out, *options], stderr=subprocess.PIPE, text=True)
    said = ""
    for line in p.stderr:
        said += line
        if "recording process" in line:
            return p
    sys.exit("bench: " + said)


def framescope(target, *options):
    engine, out = os.path.join(WORK, "bench.engine"), os.path.join(WORK, "bench.fscope")
    with open(engine, "w") as f:
        f.write(ENGINE)
    return record(target.pid, out, "--engine", engine, *options), out


def end(p):
    p.send_signal(signal.SIGINT)
    text = p.communicate()[1]
    m = re.search(r"([\d,]+) events?, ([\d,]+) records? lost", text, re.I)
    return tuple(int(n.replace(",", "")) for n in m.groups())

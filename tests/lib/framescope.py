# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What tests of live captures share: small targets, recordings of them, trees of calls, TAP."""
import atexit, collections, json, os, select, shutil, signal, subprocess, sys, tempfile, time, traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("O", "build"))
FRAMESCOPE = os.environ.get("FRAMESCOPE", os.path.join(BUILD, "framescope"))
DUMP = os.path.join(BUILD, "tools", "dump-records")

BEGIN, END, MARK, AGGREGATE, THREAD, FORK, EXEC, EXIT, CPU, COST, LOSS, NOTE = range(1, 13)
UNWOUND, CLIPPED, STACK_SWITCH, TAIL, DEEP, READ_FAILED, HIDDEN, NO_RETURN = (1 << i for i in range(8))

# exit codes: base/error.h
OTHER, USAGE, NO_TARGET, PERMISSION, KERNEL, NOTHING, OUTPUT, INPUT, LOST, CHANGED = range(1, 11)


class Tests:
    """Collects test functions and prints TAP: @tests decorates, tests.run() ends the program."""

    def __init__(self):
        self.all = []

    def __call__(self, function):
        self.all.append(function)
        return function

    def run(self):
        only = sys.argv[1:]
        failed = 0
        for i, function in enumerate(self.all, 1):
            name = (function.__doc__ or function.__name__).strip().split("\n")[0]
            if only and not any(o in function.__name__ for o in only):
                continue
            start = time.monotonic()
            try:
                skip = function()
                if isinstance(skip, Skip):
                    print("ok %d - %s # SKIP %s" % (i, name, skip))
                else:
                    print("ok %d - %s (%.1f s)" % (i, name, time.monotonic() - start))
            except Exception as e:
                failed += 1
                print("not ok %d - %s" % (i, name))
                where = traceback.extract_tb(e.__traceback__)[-1]
                print("# %s: %s" % (type(e).__name__, str(e).replace("\n", "\n# ")))
                print("# at %s:%d: %s" % (os.path.basename(where.filename), where.lineno, where.line))
            sys.stdout.flush()
        sys.exit(failed > 0)


class Skip(str):
    """Returned by a test that can't run here: the reason."""


def equal(got, wanted, what=""):
    if got != wanted:
        raise AssertionError("%s: got %r, wanted %r" % (what or "value", got, wanted))


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def target_path(name):
    return os.path.join(BUILD, "tests", "engine", "targets", name)


def read_line(fd, seconds=20):
    """One line from a pipe, without waiting for ever."""
    line, end = bytearray(), time.monotonic() + seconds
    while not line.endswith(b"\n"):
        if not select.select([fd], [], [], max(0, end - time.monotonic()))[0]:
            raise AssertionError("no line came, only %r" % line)
        byte = os.read(fd, 1)
        if not byte:
            break
        line += byte
    return line.decode(errors="replace").strip()


class Target:
    """A small target. It says "ready", waits for a line, works, says "done", waits for the end of its input."""

    def __init__(self, name, *args, prefix=(), path=None):
        self.process = subprocess.Popen([*prefix, path or target_path(name), *map(str, args)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0, cwd=ROOT)
        self.pid = self.process.pid
        self.name = name
        equal(self.line(), "ready", name)

    def line(self, seconds=60):
        return read_line(self.process.stdout.fileno(), seconds)

    def go(self):
        self.process.stdin.write(b"go\n")

    def work(self, seconds=60):
        """Lets it work; returns what it says before "done"."""
        self.go()
        said = []
        while True:
            line = self.line(seconds)
            if line == "done":
                return said
            if not line:
                raise AssertionError("%s ended: %s" % (self.name, self.process.wait()))
            said.append(line)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


Call = collections.namedtuple("Call", "name children flags")


class Recording:
    """What dump-records says of a file."""

    def __init__(self, path):
        out = subprocess.run([DUMP, path], capture_output=True, text=True, check=True).stdout.splitlines()
        self.tables = json.loads(out[0])
        self.records = [json.loads(line) for line in out[1:]]
        self.info = self.tables["info"]
        self.probes = self.tables["probes"]
        self.processes = {p["pid"]: p for p in self.tables["processes"]}
        self.threads = {t["tid"]: t for t in self.tables["threads"]}

    def name(self, record):
        return self.probes[record["probe"]]["name"]

    def of(self, *types):
        return [r for r in self.records if r["type"] in types]

    def stats(self, name):
        """Sums over all sites of a probe."""
        rows = [p for p in self.probes if p["name"] == name]
        if not rows:
            raise AssertionError("no probe %s, only %s" % (name, [p["name"] for p in self.probes]))
        return {k: sum(p[k] for p in rows) for k in rows[0] if isinstance(rows[0][k], int)}

    def count(self, name, type=END):
        return sum(1 for r in self.of(type) if self.name(r) == name)

    def tids(self, name):
        """{thread: ended calls of this probe}"""
        return dict(collections.Counter(r["tid"] for r in self.of(END) if self.name(r) == name))

    def check_pairing(self):
        """Every begin has its end and they agree; parents exist, enclose their children and stand one level above."""
        begins = {r["call"]: r for r in self.of(BEGIN)}
        ends = {r["call"]: r for r in self.of(END)}
        equal(len(begins), len(self.of(BEGIN)), "begins with a call id of their own")
        equal(set(begins), set(ends), "calls with both records")
        for call, b in begins.items():
            e = ends[call]
            for key in ("tid", "parent", "sp", "probe", "tgid", "depth"):
                equal(e[key], b[key], "%s of call %x" % (key, call))
            equal(e["begin"], b["ts"], "begin in the end record")
            check(e["ts"] >= b["ts"], "call %x ends before it begins" % call)
            if b["parent"]:
                p, pe = begins[b["parent"]], ends[b["parent"]]
                equal(b["depth"], p["depth"] + 1, "depth of call %x" % call)
                check(p["ts"] <= b["ts"] and e["ts"] <= pe["ts"], "call %x sticks out of its parent" % call)
            else:
                equal(b["depth"], 0, "depth of the root call %x" % call)
        return len(begins)

    def forest(self, tid=None):
        """Trees of Call in order, all threads' or one's; children by parent id, flags of both records."""
        ends = {r["call"]: r for r in self.of(END)}
        made, roots = {}, []
        for b in self.of(BEGIN):
            if tid and b["tid"] != tid:
                continue
            flags = b["flags"] | ends.get(b["call"], {"flags": 0})["flags"]
            call = made[b["call"]] = Call(self.name(b), [], flags)
            (made[b["parent"]].children if b["parent"] in made else roots).append(call)
        return roots


def shape(calls, flags=True):
    """'a(b!unwound c)' of a forest: compact, for comparing."""
    names = {UNWOUND: "unwound", CLIPPED: "clipped", STACK_SWITCH: "switch", TAIL: "tail", DEEP: "deep",
             READ_FAILED: "failed", HIDDEN: "hidden", NO_RETURN: "noreturn"}
    out = []
    for c in calls:
        text = c.name
        if flags:
            text += "".join("!" + names[f] for f in names if c.flags & f)
        if c.children:
            text += "(" + shape(c.children, flags) + ")"
        out.append(text)
    return " ".join(out)


def engine(modules, probes, flags="", folder=None):
    """Writes an engine definition. probes: {name: "key = value; key = value"}"""
    if not folder:
        folder = tempfile.mkdtemp(prefix="framescope-engine-")
        atexit.register(shutil.rmtree, folder, True)
    path = os.path.join(folder, "test.engine")
    with open(path, "w") as f:
        f.write("[engine]\nname = test\nmodules = %s\n%s\n" % (modules, flags.replace("; ", "\n")))
        for name, keys in probes.items():
            f.write("\n[%s]\n%s\n" % (name, keys.replace("; ", "\n")))
    return path


class Record:
    """with Record(pid, engine_path, "--buffer", "64K") as r: …; then r.recording, r.code, r.errors"""

    def __init__(self, pid, definition=None, *args, command=None, name="out.fscope", duration=None, prefix=()):
        self.folder = tempfile.mkdtemp(prefix="framescope-test-")
        atexit.register(shutil.rmtree, self.folder, True)  # the recording may be read after the end of the block
        self.path = os.path.join(self.folder, name)
        self.args = [*prefix, FRAMESCOPE, "record", "-p", str(pid), "-o", self.path, "--no-cache"]
        if definition:
            self.args += ["--engine", definition]
        if duration:
            self.args += ["-d", str(duration)]
        self.args += map(str, args)
        self.errors = ""
        self.code = None

    def __enter__(self):
        self.process = subprocess.Popen(self.args, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, cwd=ROOT)
        while True:
            line = read_line(self.process.stderr.fileno())
            self.errors += line + "\n"
            if "recording process" in line:
                return self
            if not line:
                self.code = self.process.wait()
                raise AssertionError("record ended with %d: %s" % (self.code, self.errors))

    def stop(self, sig=signal.SIGINT, seconds=30):
        if self.code is None:
            if self.process.poll() is None and sig:
                self.process.send_signal(sig)
            self.errors += self.process.communicate(timeout=seconds)[1].decode(errors="replace")
            self.code = self.process.returncode
        return self.code

    @property
    def recording(self):
        self.stop()
        if not hasattr(self, "_recording"):
            self._recording = Recording(self.path)
        return self._recording

    def __exit__(self, *exc):
        try:
            self.stop()
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


def run(*args, **kwargs):
    """framescope with arguments: (exit code, stdout, stderr)."""
    done = subprocess.run([FRAMESCOPE, *map(str, args)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=kwargs.pop("timeout", 60), **kwargs)
    return done.returncode, done.stdout, done.stderr


def is_root():
    return os.geteuid() == 0

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A virtual machine that runs steps on another kernel: software emulation, nothing but an initramfs, no privilege."""
import os, re, shutil, subprocess, tempfile, threading

QEMU = "qemu-system-x86_64"
# Calibrating the time stamp counter on a busy host was seen to make a guest's clock run 15 times too fast
CLOCK = "tsc=unstable clocksource=hpet "


def cpio(files):
    """The bytes of a newc archive. files: {path: (mode, content)}; folders are made as needed."""
    out = bytearray()

    def add(name, mode, content):
        head = [len(entries) + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        out.extend(b"070701" + b"".join(b"%08x" % n for n in head) + name.encode() + b"\0")
        out.extend(b"\0" * (-len(out) % 4))
        out.extend(content)
        out.extend(b"\0" * (-len(out) % 4))
        entries.add(name)

    entries = set()
    for path, (mode, content) in sorted(files.items()):
        parts = path.strip("/").split("/")
        for i in range(1, len(parts)):
            folder = "/".join(parts[:i])
            if folder not in entries:
                add(folder, 0o40755, b"")
        add("/".join(parts), 0o100000 | mode, content)
    # the kernel opens this for the first process before anything is mounted
    add("dev", 0o40755, b"") if "dev" not in entries else None
    add("TRAILER!!!", 0, b"")
    return bytes(out)


class Result:
    def __init__(self):
        self.reports = {}   # case name -> [(exit code, output)]
        self.files = {}     # case name -> bytes of a file
        self.faults = []    # what went wrong in the steps themselves
        self.up = self.done = None
        self.console = ""


def parse(data):
    """The reports of init.c."""
    result = Result()
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        if end < 0:
            break
        line = data[at:end].decode(errors="replace")
        at = end + 1
        m = re.fullmatch(r"= (\S+) (-?\d+) (\d+)", line)
        if m:
            size = int(m.group(3))
            result.reports.setdefault(m.group(1), []).append(
                (int(m.group(2)), data[at:at + size].decode(errors="replace")))
            at += size + 1
            continue
        m = re.fullmatch(r"< (\S+) (\d+)", line)
        if m:
            size = int(m.group(2))
            result.files[m.group(1)] = data[at:at + size]
            at += size + 1
        elif line.startswith("! "):
            result.faults.append(line[2:])
        elif line.startswith("+ up "):
            result.up = float(line[5:])
        elif line.startswith("+ done "):
            result.done = float(line[7:])
    return result


def boot(kernel, files, steps, limit=240, append=""):
    """Boots a kernel with these files and runs the steps (lists of words). Returns a Result."""
    files = dict(files)
    files["steps"] = (0o644, "".join("\t".join(s) + "\n" for s in steps).encode())
    with tempfile.TemporaryDirectory(prefix="framescope-guest-") as folder:
        initrd = os.path.join(folder, "initrd")
        with open(initrd, "wb") as f:
            f.write(cpio(files))  # emulated, unpacking would take longer than loading
        out = os.path.join(folder, "report")
        command = [QEMU, "-accel", "tcg", "-cpu", "max", "-m", "512", "-smp", "1", "-nodefaults", "-nographic",
                   "-no-reboot", "-serial", "stdio", "-serial", "file:" + out, "-kernel", kernel, "-initrd", initrd,
                   "-append", "console=ttyS0 panic=-1 mitigations=off edd=off loglevel=4 " + CLOCK + append]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        late = threading.Timer(limit, process.kill)
        late.start()
        console = process.communicate()[0].decode(errors="replace")
        late.cancel()
        data = open(out, "rb").read() if os.path.exists(out) else b""
    result = parse(data)
    result.console = console
    return result


def missing():
    """Why no machine can be had here, or None."""
    if os.uname().machine != "x86_64":
        return "only x86-64 guests are made"
    if not shutil.which(QEMU):
        return "%s is not installed" % QEMU
    return None

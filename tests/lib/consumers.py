# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Viewers from npm, installed by the lock file in tests/viewers into the build folder."""
import os, shutil, subprocess

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "viewers")
FILES = ("package.json", "package-lock.json")


def install():
    """The folder that node_modules is in. Raises RuntimeError with the reason when they can't be had."""
    folder = os.path.join(os.environ.get("O", "build"), "viewers")
    os.makedirs(folder, exist_ok=True)
    done = os.path.join(folder, "installed")
    lock = open(os.path.join(HERE, FILES[1])).read()
    if not os.path.exists(done) or open(done).read() != lock:
        for name in FILES:
            shutil.copy(os.path.join(HERE, name), folder)
        try:
            p = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, text=True, timeout=300,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except (FileNotFoundError, subprocess.TimeoutExpired) as e:
            raise RuntimeError("npm: %s" % e)
        if p.returncode:
            raise RuntimeError("npm ci failed: " + p.stdout.strip().splitlines()[-1])
        with open(done, "w") as f:
            f.write(lock)
    return folder


def node(folder, script, *args):
    """Runs a script of tests/viewers beside node_modules; returns what it prints."""
    shutil.copy(os.path.join(HERE, script), folder)
    p = subprocess.run(["node", os.path.join(folder, script), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if p.returncode:
        raise RuntimeError(p.stderr.strip()[-1500:])
    return p.stdout

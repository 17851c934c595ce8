# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A browser recorded while it shows a page, and what the recording says, row by row."""
import json, os, signal, subprocess, time

FRAMESCOPE = os.environ["FRAMESCOPE"]


def record(browser, out, page, done, probes=(), env=None, process=None):
    """Records while the page runs; done() waits for its end. framescope's exit code and what it said. `process`: the PID of
    the only one to record, if not all of the browser's."""
    command = [FRAMESCOPE, "record", "-p", str(process or browser.pid), "-o", out] + ["--no-follow"] * bool(process)
    for probe in probes:
        command += ["--probe", probe]
    p = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
    messages = p.stderr.readline()  # "recording process …": all probes are planted and armed
    try:
        browser.navigate(page)
        done()
        time.sleep(0.5)
    finally:
        if p.poll() is None:
            p.send_signal(signal.SIGINT)
        messages += p.communicate(timeout=60)[1]
    return p.returncode, messages


def rows(path):
    """JSON lines. Texts in them may have what Python takes for an end of line, too: only a newline is one."""
    text = subprocess.run([FRAMESCOPE, "export", path, "-f", "jsonl", "-o", "-"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return [json.loads(line) for line in text.split("\n") if line]

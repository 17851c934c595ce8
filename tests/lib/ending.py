# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How tests end the programs that they started, and what those leave behind."""
import os, shutil, subprocess, time


def end(process, seconds=20):
    """Asks it to end; kills it if it doesn't."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def remove(folder):
    for _ in range(20):  # processes of a browser may still write into it
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            break
        time.sleep(0.2)

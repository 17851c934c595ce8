# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""TAP lines for tests/run."""
import os


class Tap:
    def __init__(self):
        self.n = 0

    def ok(self, condition, name, detail=""):
        self.n += 1
        print("%sok %d - %s" % ("" if condition else "not ", self.n, name), flush=True)
        if detail:
            print("# " + str(detail).strip().replace("\n", "\n# "), flush=True)
        return condition

    def skip(self, name, reason):
        self.n += 1
        print("ok %d - %s # SKIP %s" % (self.n, name, reason), flush=True)

    def ready(self, name, installed, missing):
        """Can a program that is installed be attached to here? Else skips all with the reason."""
        if os.geteuid():
            self.skip(name, "attaching needs root")
        elif not installed:
            self.skip(name, missing)
        else:
            return True
        self.done()
        return False

    def done(self):
        print("1..%d" % self.n, flush=True)

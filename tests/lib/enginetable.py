# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table engines × event types: tests note what they saw, tests/run gathers the notes and prints the table."""
import json

TYPES = ["DOCUMENT_PARSING", "CSS_PARSING", "SCRIPT_COMPILATION", "SCRIPT_THREAD_EVALUATION", "REFLOW",
         "STYLE_RECALCULATION", "CSS_SELECTOR_MATCHING", "LAYOUT", "PAINT"]
ENGINES = ["blink", "gecko", "webkit", "v8", "netsurf", "litehtml"]
MARK = "# engine-table "


def note(engine, event_type, recorded=None, reported=None, checks=(), reason=""):
    """One cell. recorded: calls in the recording; reported: the number that the browser itself reported in the same run
    (its trace, its markers), or that the page implies; checks: those of 'URL', 'selector', 'event name' and 'area' that
    were compared and right. Where one of the numbers can't be had, reason says why in a few words. Printed as a TAP
    comment, so that a test needs nothing but its output."""
    if event_type not in TYPES or engine not in ENGINES:
        raise ValueError("no such cell: %s, %s" % (engine, event_type))
    if (recorded is None or reported is None) and not reason:
        raise ValueError("a cell without a number needs a reason: %s, %s" % (engine, event_type))
    print(MARK + json.dumps({"engine": engine, "type": event_type, "recorded": recorded, "reported": reported,
                             "checks": list(checks), "reason": reason}), flush=True)


class Table:
    """What tests/run makes of the notes."""

    def __init__(self):
        self.cells = {}

    def take(self, line):
        cell = json.loads(line[len(MARK):])
        known = self.cells.setdefault((cell["engine"], cell["type"]), cell)
        if known is not cell:  # another test saw more of the same type: the first figures stay
            known["checks"] += [c for c in cell["checks"] if c not in known["checks"]]
            if known["recorded"] is None:
                known.update(recorded=cell["recorded"], reported=cell["reported"], reason=cell["reason"])

    def missing(self):
        return [(e, t) for e in ENGINES for t in TYPES if (e, t) not in self.cells]

    def unequal(self):
        return [key for key, cell in self.cells.items() if None not in (cell["recorded"], cell["reported"]) and
                cell["recorded"] != cell["reported"]]

    def text(self):
        """Markdown, as it stands in README: calls recorded = calls reported, what was right, notes below."""
        reasons = []

        def cell(engine, event_type):
            c = self.cells.get((engine, event_type))
            if c is None:
                return "not run"
            words = []
            if c["recorded"] is not None:
                words.append(str(c["recorded"]))
                if c["reported"] is not None:
                    words += ["=" if c["recorded"] == c["reported"] else "≠", str(c["reported"])]
            if c["reason"]:
                if c["reason"] not in reasons:
                    reasons.append(c["reason"])
                words.append("(%d)" % (reasons.index(c["reason"]) + 1))
            return " ".join(words) + "".join(", " + check for check in c["checks"])

        lines = ["| event type | %s |" % " | ".join(ENGINES), "|---" * (len(ENGINES) + 1) + "|"]
        lines += ["| %s | %s |" % (t, " | ".join(cell(e, t) for e in ENGINES)) for t in TYPES]
        return "\n".join(lines + [""] + ["(%d) %s  " % (i + 1, r) for i, r in enumerate(reasons)])

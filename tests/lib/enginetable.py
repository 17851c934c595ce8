# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table engines × event types: tests note what they saw, tests/run gathers the notes and prints the table."""
import json

TYPES = ["DOCUMENT_PARSING", "CSS_PARSING", "SCRIPT_COMPILATION", "SCRIPT_THREAD_EVALUATION", "REFLOW",
         "STYLE_RECALCULATION", "CSS_SELECTOR_MATCHING", "LAYOUT", "PAINT"]
ENGINES = ["blink", "gecko", "webkit", "v8", "netsurf", "litehtml"]
MARK = "# engine-table "
# what is told of an event beside its time: each of these is right, wrong, or lacking for a reason
CHECKS = {t: ["URL"] for t in TYPES}
CHECKS.update(SCRIPT_THREAD_EVALUATION=["URL", "event name"], CSS_SELECTOR_MATCHING=["selector"], PAINT=["URL", "area"])
ALLOWED = ["URL", "selector", "event name", "area"]


def note(engine, event_type, recorded=None, reported=None, checks=(), reason=""):
    """One cell. recorded: calls in the recording; reported: the number that the browser itself reported in the same run
    (its trace, its markers), or that the page implies. Where one of the numbers can't be had, reason says why in a few
    words. checks: what was compared beside the number, of ALLOWED: {"URL": True (right) or False (wrong), "area": "why it
    can't be had, in a few words", "selector": ["of which calls it can't be had; right of the others"]}; a list names those
    that were right. Several tests may note the same cell, each what it compared. Printed as a TAP comment, so that a test needs nothing but its output."""
    if event_type not in TYPES or engine not in ENGINES:
        raise ValueError("no such cell: %s, %s" % (engine, event_type))
    if (recorded is None or reported is None) and not reason:
        raise ValueError("a cell without a number needs a reason: %s, %s" % (engine, event_type))
    checks = dict(checks) if isinstance(checks, dict) else dict.fromkeys(checks, True)
    for check, result in checks.items():
        said = result[0] if isinstance(result, list) and len(result) == 1 else result
        if check not in ALLOWED or said == "" or not isinstance(said, (bool, str)):
            raise ValueError("no such check: %s: %r" % (check, result))
    print(MARK + json.dumps({"engine": engine, "type": event_type, "recorded": recorded, "reported": reported,
                             "checks": checks, "reason": reason}), flush=True)


def stronger(a, b):
    """Of two results of one check: what was wrong once stays wrong, then what is right of some calls only, and what one test
    compared needs no other's excuse."""
    if a is False or b is False:
        return False
    return next((r for r in (a, b) if isinstance(r, list)), True if a is True or b is True else a)


class Table:
    """What tests/run makes of the notes."""

    def __init__(self):
        self.cells = {}

    def take(self, line):
        cell = json.loads(line[len(MARK):])
        known = self.cells.setdefault((cell["engine"], cell["type"]), cell)
        if known is cell:
            return
        for check, result in cell["checks"].items():
            known["checks"][check] = stronger(known["checks"].get(check, result), result)
        # more numbers count, then those without reservations; of equals the first stay
        worth = [(sum(c[n] is not None for n in ("recorded", "reported")), not c["reason"]) for c in (known, cell)]
        if worth[1] > worth[0]:
            known.update(recorded=cell["recorded"], reported=cell["reported"], reason=cell["reason"])

    def wanted(self, key):
        """The checks of a cell in the order in which they are shown: those that its type wants, and what else was noted.
        Where there is a reason for no call at all, there is nothing to check."""
        cell = self.cells[key]
        if cell["recorded"] is None and not cell["checks"]:
            return []
        return CHECKS[key[1]] + [c for c in ALLOWED if c in cell["checks"] and c not in CHECKS[key[1]]]

    def unsettled(self):
        """["engine TYPE: what is open"], of the engines that were tested: no note, unequal numbers, or a check that is wrong
        or was never made."""
        open_ends = []
        tested = [e for e in ENGINES if any(key[0] == e for key in self.cells)]
        for key in ((e, t) for e in tested for t in TYPES):
            cell = self.cells.get(key)
            if cell is None:
                problems = ["not run"]
            else:
                problems = ["%s not compared" % c for c in self.wanted(key) if c not in cell["checks"]]
                problems += ["%s wrong" % c for c, result in cell["checks"].items() if result is False]
                if None not in (cell["recorded"], cell["reported"]) and cell["recorded"] != cell["reported"]:
                    problems.append("%d recorded, %d reported" % (cell["recorded"], cell["reported"]))
            if problems:
                open_ends.append("%s %s: %s" % (*key, ", ".join(problems)))
        return open_ends

    def text(self):
        """Markdown, as it stands in README: calls recorded = calls reported, what was right
        (and with a question mark, what no test compared), notes below."""
        reasons = []

        def number(reason):
            if reason not in reasons:
                reasons.append(reason)
            return "(%d)" % (reasons.index(reason) + 1)

        def shown(checks, check):
            result = checks.get(check)
            if isinstance(result, str):
                return "no %s %s" % (check, number(result))
            if isinstance(result, list):
                return "%s %s" % (check, number(result[0]))
            return {True: check, False: check + " WRONG", None: check + "?"}[result]

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
                words.append(number(c["reason"]))
            return ", ".join([" ".join(words)] + [shown(c["checks"], check) for check in self.wanted((engine, event_type))])

        lines = ["| event type | %s |" % " | ".join(ENGINES), "|---" * (len(ENGINES) + 1) + "|"]
        lines += ["| %s | %s |" % (t, " | ".join(cell(e, t) for e in ENGINES)) for t in TYPES]
        return "\n".join(lines + [""] + ["(%d) %s  " % (i + 1, r) for i, r in enumerate(reasons)])

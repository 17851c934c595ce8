# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Compares recorded calls with the events that the browser itself traced in the same run, one to one."""
import bisect, collections

GRAIN_NS = 2000  # a trace's own rounding: a short call inside another one must not lose its event to that
SLACK_NS = 20000  # a trace's time stamps are whole microseconds, and the trace event may begin before the probe's own time stamp is taken

Match = collections.namedtuple("Match", "recorded traced missing extra")


def spans(trace, names):
    """The trace's complete events with one of these names: [(tid, start_ns, end_ns)]."""
    found = []
    open_begins = collections.defaultdict(list)
    for e in trace:
        if e.get("name") not in names:
            continue
        start = round(e["ts"] * 1000)
        if e["ph"] == "X":
            found.append((e["tid"], start, start + round(e.get("dur", 0) * 1000)))
        elif e["ph"] == "B":
            open_begins[e["tid"], e["name"]].append(start)
        elif e["ph"] == "E" and open_begins[e["tid"], e["name"]]:
            found.append((e["tid"], open_begins[e["tid"], e["name"]].pop(), start))
    return sorted(found)


def match(recorded, traced, window, inside=True):
    """Pairs calls with trace events on the same thread: the trace event lies inside the call (or, with inside=False,
    the call inside the trace event). Only what lies wholly in `window` counts, a pair where its trace event does: at a
    border one of the two may stick out. Both are [(tid, start, end)]."""
    lo, hi = window
    keep = lambda s: s[1] >= lo and s[2] <= hi
    by_tid = collections.defaultdict(list)
    for tid, start, end in recorded:
        by_tid[tid].append((start, end))
    for calls in by_tid.values():
        calls.sort()
    used = set()
    missing = []
    counted = 0
    for tid, start, end in traced:
        calls = by_tid.get(tid, [])
        hit = None
        # the innermost unused call that holds it: recursion pairs inside out
        i = bisect.bisect_right(calls, (start + SLACK_NS, 1 << 62)) - 1
        best = None
        while i >= 0 and i > bisect.bisect_right(calls, (start, 0)) - 200:
            a, b = calls[i]
            outer = (a - SLACK_NS <= start and end <= b + SLACK_NS) if inside else \
                    (start - SLACK_NS <= a and b <= end + SLACK_NS)
            if outer and (tid, i) not in used:
                sticks_out = max(0, a - start - GRAIN_NS) + max(0, end - b - GRAIN_NS) if inside else \
                    max(0, start - a - GRAIN_NS) + max(0, b - end - GRAIN_NS)
                size = sticks_out, abs((b - a) - (end - start))
                if best is None or size < best[0]:
                    best = (size, i)
            i -= 1
        if not inside and best is None:
            for j in range(bisect.bisect_left(calls, (start - SLACK_NS, 0)), len(calls)):
                a, b = calls[j]
                if a > end:
                    break
                if b <= end + SLACK_NS and (tid, j) not in used:
                    best = (0, j)
                    break
        hit = best[1] if best else None
        if hit is not None:
            used.add((tid, hit))
        if keep((tid, start, end)):
            counted += 1
            if hit is None:
                missing.append((tid, start, end))
    extra = [(tid, a, b) for tid, calls in by_tid.items() for i, (a, b) in enumerate(calls)
             if (tid, i) not in used and keep((tid, a, b))]
    return Match(counted - len(missing) + len(extra), counted, missing, extra)

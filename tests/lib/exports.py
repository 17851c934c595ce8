# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings made without a browser, their exports, and readers of those that share no code with the writers."""
import collections, csv, decimal, gzip, io, json, os, re, shutil, subprocess, tempfile

OUT = os.environ.get("O", "build")
TOOL = os.environ.get("FRAMESCOPE", os.path.join(OUT, "framescope"))
HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FORMATS = ["chrome", "devtools", "perfetto", "metrics", "folded", "speedscope", "html", "csv", "jsonl"]

Slice = collections.namedtuple("Slice", "tid name start end")


class Workshop:
    """A folder for one test run: with Workshop() as w: w.export(w.record("page"), "chrome")"""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="framescope-exports-")
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, scenario, number=0):
        path = self.path("%s-%d.fscope" % (scenario, number))
        if not os.path.exists(path):
            subprocess.run([os.path.join(OUT, "tests/viewers/recordings"), scenario, path, str(number)], check=True)
        return path

    def export_to(self, recording, name, *options):
        """Writes to a file and returns its path."""
        path = self.path(name)
        subprocess.run([TOOL, "export", recording, "-o", path, *options], check=True)
        return path

    def export(self, recording, format, *options):
        return subprocess.run([TOOL, "export", recording, "-f", format, "-o", "-", *options], check=True,
                              stdout=subprocess.PIPE).stdout


def strict(data):
    """Parses as the strictest reader would: UTF-8, no NaN, no lone surrogates, numbers kept as they are written."""
    def refuse(name):
        raise ValueError("not JSON: " + name)

    text = data.decode("utf-8") if isinstance(data, bytes) else data
    if text.startswith("\ufeff"):
        raise ValueError("a byte order mark")
    if re.search(r"\\u[dD][89a-fA-F]", text):
        raise ValueError("a surrogate in an escape")
    return json.loads(text, parse_constant=refuse, parse_float=decimal.Decimal)


def ns(us):
    """Microseconds as written to nanoseconds, exactly."""
    value = decimal.Decimal(us) * 1000
    if value != value.to_integral_value():
        raise ValueError("finer than a nanosecond: %s" % us)
    return int(value)


def lines(data):
    """JSON lines by kind."""
    found = collections.defaultdict(list)
    # not splitlines(): a text may hold U+2028, which JSON lets stand
    for line in data.decode("utf-8").split("\n")[:-1]:
        item = strict(line)
        found[item["kind"]].append(item)
    return found


def chrome_slices(data):
    return [Slice(e["tid"], e["name"], ns(e["ts"]) - 1000, ns(e["ts"]) - 1000 + ns(e["dur"]))
            for e in strict(data)["traceEvents"] if e["ph"] == "X"]


def nested(slices):
    """Depth of each slice on its thread, or None if two of a thread overlap without one lying in the other."""
    depths = []
    stacks = collections.defaultdict(list)
    for s in slices:  # in file order: by start, parents first
        stack = stacks[s.tid]
        while stack and stack[-1].end <= s.start and not (stack[-1].end == s.start == s.end):
            stack.pop()
        while stack and stack[-1].start == stack[-1].end and s.end > stack[-1].end:
            stack.pop()
        if stack and s.end > stack[-1].end:
            return None
        depths.append(len(stack))
        stack.append(s)
    return depths


def nested_as_doubles(data):
    """As a viewer in JavaScript has it: the sum of ts and dur as doubles."""
    stacks = collections.defaultdict(list)
    for e in json.loads(data)["traceEvents"]:
        if e["ph"] != "X":
            continue
        stack = stacks[e["tid"]]
        while stack and e["ts"] >= stack[-1]:
            stack.pop()
        if stack and e["ts"] + e["dur"] > stack[-1]:
            return False
        stack.append(e["ts"] + e["dur"])
    return True


def files_of(pid, folder):
    """What the process has open in the folder, as paths that can be looked at."""
    found = []
    for fd in os.listdir("/proc/%d/fd" % pid):
        path = "/proc/%d/fd/%s" % (pid, fd)
        try:
            if os.readlink(path).startswith(folder):
                found.append(path)
        except OSError:
            pass
    return found


def can_be_nameless(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600))
        return True
    except OSError:
        return False


# --- Perfetto, by way of protoc ---

def protoc(data):
    """The packets as nested dicts of lists."""
    proto = os.path.join(HERE, "../user/export/perfetto.proto")
    text = subprocess.run(["protoc", "--decode=perfetto.Trace", "-I", os.path.dirname(proto), proto], input=data,
                          stdout=subprocess.PIPE, check=True).stdout.decode("utf-8")
    root = collections.defaultdict(list)
    stack = [root]
    unknown = 0
    for line in text.splitlines():
        line = line.strip()
        if line == "}":
            stack.pop()
        elif line.endswith("{"):
            inner = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(inner)
            stack.append(inner)
            unknown += line[0].isdigit()
        elif line:
            key, value = line.split(": ", 1)
            unknown += key.isdigit()
            stack[-1][key].append(unescape(value) if value.startswith('"') else number(value))
    return root["packet"], unknown


def number(text):
    try:
        return int(text)
    except ValueError:
        return {"true": True, "false": False}.get(text) if text in ("true", "false") else float(text)


def unescape(text):
    simple = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "'": "'", "\\": "\\"}
    out = bytearray()
    i = 1
    while i < len(text) - 1:
        if text[i] != "\\":
            out += text[i].encode("utf-8")
            i += 1
        elif text[i + 1] in simple:
            out += simple[text[i + 1]].encode()
            i += 2
        else:
            out.append(int(text[i + 1:i + 4], 8))
            i += 4
    return out.decode("utf-8")


def perfetto_slices(packets):
    """Slices of thread tracks, and how deep each was."""
    names, tids, annotations, strings = {}, {}, {}, {}
    opened = collections.defaultdict(list)
    found = []
    base = packets[0]["clock_snapshot"][0]["clocks"][0]["timestamp"][0]
    for p in packets:
        for data in p["interned_data"]:
            names.update({n["iid"][0]: n["name"][0] for n in data["event_names"]})
            annotations.update({n["iid"][0]: n["name"][0] for n in data["debug_annotation_names"]})
            strings.update({n["iid"][0]: n["str"][0] for n in data["debug_annotation_string_values"]})
        for track in p["track_descriptor"]:
            for thread in track["thread"]:
                tids[track["uuid"][0]] = thread["tid"][0]
        for event in p["track_event"]:
            track = event["track_uuid"][0]
            if track not in tids:
                continue
            if event["type"][0] == 1:
                notes = {annotations[a["name_iid"][0]]: value_of(a, annotations, strings) for a in event["debug_annotations"]}
                opened[track].append((names[event["name_iid"][0]], p["timestamp"][0] - base, notes))
            elif event["type"][0] == 2:
                name, start, notes = opened[track].pop()
                found.append((Slice(tids[track], name, start, p["timestamp"][0] - base), len(opened[track]), notes))
    if any(opened.values()):
        raise ValueError("slices without an end")
    return found


def value_of(annotation, names, strings):
    if annotation["dict_entries"]:
        return {names[a["name_iid"][0]]: value_of(a, names, strings) for a in annotation["dict_entries"]}
    for key in ("uint_value", "int_value", "string_value"):
        if annotation[key]:
            return annotation[key][0]
    return strings[annotation["string_value_iid"][0]]


def page_data(data):
    """What an HTML report has inside."""
    return strict(data.decode("utf-8").split('id="data">', 1)[1].split("</script>", 1)[0])


def table(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))


def unpack(data):
    return gzip.GzipFile(fileobj=io.BytesIO(data)).read()

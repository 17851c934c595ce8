# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A small Scope client. It knows no service's messages by itself: it asks the host for their description and encodes and
decodes by that, in JSON and protobuf."""
import json, select, socket, struct, subprocess, time

JSON, PROTOBUF = 1, 0
COMMAND, RESPONSE, EVENT, ERROR = 1, 2, 3, 4
DOUBLE, INT32, UINT32, SINT32, BOOL, STRING, MESSAGE = 1, 3, 4, 5, 8, 9, 11
STATUS = {3: "BAD_REQUEST", 4: "INTERNAL_ERROR", 5: "COMMAND_NOT_FOUND", 6: "SERVICE_NOT_FOUND", 7: "OUT_OF_MEMORY",
          8: "SERVICE_NOT_ENABLED", 9: "SERVICE_ALREADY_ENABLED"}


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def take_varint(data, at):
    n = shift = 0
    while True:
        n |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 128:
            return n, at


def fields(data):
    """[(number, value)]: int for varints, bytes for the rest"""
    at, out = 0, []
    while at < len(data):
        key, at = take_varint(data, at)
        if key & 7 == 0:
            value, at = take_varint(data, at)
        elif key & 7 == 1:
            value, at = data[at:at + 8], at + 8
        else:
            assert key & 7 == 2, "wire type %d" % (key & 7)
            n, at = take_varint(data, at)
            value, at = data[at:at + n], at + n
            assert len(value) == n, "cut off"
        out.append((key >> 3, value))
    return out


class Refused(Exception):
    def __init__(self, status, text):
        self.status, self.text = status, text
        super().__init__("%s: %s" % (STATUS.get(status, status), text))


class Field:
    def __init__(self, row, messages):
        self.name, self.type, self.number, self.quantifier, message, self.enum = (row + [None] * 6)[:6]
        self.quantifier = self.quantifier or 0
        self.message = lambda: messages[message]

    def to_json(self, v):
        return to_json(self.message(), v) if self.type == MESSAGE else int(v) if self.type == BOOL else v

    def from_json(self, v):
        return from_json(self.message(), v) if self.type == MESSAGE else bool(v) if self.type == BOOL else v

    def to_protobuf(self, v):
        if self.type == DOUBLE:
            return varint(self.number << 3 | 1) + struct.pack("<d", v)
        if self.type in (STRING, MESSAGE):
            data = v.encode() if self.type == STRING else to_protobuf(self.message(), v)
            return varint(self.number << 3 | 2) + varint(len(data)) + data
        return varint(self.number << 3) + varint(int(v))

    def from_protobuf(self, v):
        if self.type == DOUBLE:
            return struct.unpack("<d", v)[0]
        if self.type == STRING:
            return v.decode()
        if self.type == MESSAGE:
            return from_protobuf(self.message(), v)
        if self.type == INT32:
            return v - (1 << 64) if v >> 63 else v
        assert self.type in (UINT32, BOOL), self.type
        return bool(v) if self.type == BOOL else v


def to_json(message, d):
    out = []
    for f in message:
        v = d.get(f.name)
        out.append([f.to_json(x) for x in v or []] if f.quantifier == 2 else None if v is None else f.to_json(v))
    return out


def from_json(message, row):
    assert len(row) <= len(message), "more values than fields: %r" % row
    d = {}
    for f, v in zip(message, row + [None] * len(message)):
        if f.quantifier == 2:
            d[f.name] = [f.from_json(x) for x in v or []]
        elif v is not None:
            d[f.name] = f.from_json(v)
        else:
            assert f.quantifier == 1, "required %s is missing in %r" % (f.name, row)
    return d


def to_protobuf(message, d):
    out = b""
    for f in message:
        v = d.get(f.name)
        for x in (v or []) if f.quantifier == 2 else [] if v is None else [v]:
            out += f.to_protobuf(x)
    return out


def from_protobuf(message, data):
    by_number = {f.number: f for f in message}
    d = {f.name: [] for f in message if f.quantifier == 2}
    for number, v in fields(data):
        f = by_number[number]
        if f.quantifier == 2:
            d[f.name].append(f.from_protobuf(v))
        else:
            assert f.name not in d, "%s twice" % f.name
            d[f.name] = f.from_protobuf(v)
    for f in message:
        assert f.quantifier or f.name in d, "required %s is missing" % f.name
    return d


class Client:
    """Client(socket).connect("protobuf"); .enable("profiler"); .call("profiler", "StartProfiler", startMode=1, windowID=1)"""

    def __init__(self, sock, seconds=30):
        self.sock, self.buffer = sock, b""
        sock.settimeout(seconds)
        self.tag, self.events, self.answers = 100, [], {}
        greeting = self.stp0()
        assert greeting.startswith("*services "), greeting
        self.services = greeting[10:].split(",")
        assert "stp-1" in self.services, greeting
        sock.sendall("13 *enable stp-1".encode("utf-16-be"))
        assert self.take(6) == b"STP/1\n"
        self.format = JSON
        self.described = {}

    @classmethod
    def unix(cls, path, **kw):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(10)
        s.connect(path)
        return cls(s, **kw)

    @classmethod
    def tcp(cls, port, **kw):
        return cls(socket.create_connection(("127.0.0.1", port), 10), **kw)

    def take(self, n):
        while len(self.buffer) < n:
            data = self.sock.recv(1 << 20)
            if not data:
                raise EOFError("the host closed the connection")
            self.buffer += data
        out, self.buffer = self.buffer[:n], self.buffer[n:]
        return out

    def stp0(self):
        count = ""
        while not count.endswith(" "):
            count += self.take(2).decode("utf-16-be")
        return self.take(2 * int(count)).decode("utf-16-be")

    def send(self, service, command, payload, format=None, tag=None):
        if tag is None:
            self.tag = tag = self.tag + 1
        format = self.format if format is None else format
        name = service.encode()
        body = b"\x01\x0a" + varint(len(name)) + name + b"\x10" + varint(command) + b"\x18" + varint(format) + b"\x28" + \
            varint(tag) + b"\x42" + varint(len(payload)) + payload
        self.sock.sendall(b"STP\x01" + varint(len(body)) + body)
        return tag

    def read(self):
        """(type, header fields) of the next frame"""
        assert self.take(4) == b"STP\x01"
        size = b""
        while not size or size[-1] & 128:
            size += self.take(1)
        body = self.take(take_varint(size, 0)[0])
        kind, at = take_varint(body, 0)
        return kind, dict(fields(body[at:]))

    def wait(self, tag):
        """The answer's payload; what else comes is kept."""
        while tag not in self.answers:
            kind, head = self.read()
            if kind == EVENT:
                self.events.append((head[1].decode(), head[2], head[8]))
            else:
                self.answers[head[5]] = kind, head
        kind, head = self.answers.pop(tag)
        if kind == ERROR:
            text = json.loads(head[8])[0] if head[3] == JSON else fields(head[8])[0][1].decode()
            raise Refused(head[4], text)
        return head[8]

    def raw(self, service, command, array):
        """A command in JSON, whatever the format is otherwise."""
        return json.loads(self.wait(self.send(service, command, json.dumps(array).encode(), JSON)))

    def describe(self, service):
        """({command: (number, argument, result)}, {event number: (name, message)})"""
        if service not in self.described:
            messages = {}
            for row in self.raw("scope", 11, [service, [], 1, 1])[0]:
                messages[row[0]] = [Field(f, messages) for f in row[2]]
            commands, events = self.raw("scope", 7, [service])
            self.described[service] = ({name: (number, messages[arg], messages[result])
                                        for name, number, arg, result in commands},
                                       {number: (name, messages[arg]) for name, number, arg in events})
        return self.described[service]

    def connect(self, format="json"):
        self.format = {"json": JSON, "protobuf": PROTOBUF}[format]
        self.raw("scope", 3, [format])
        return self

    def enable(self, *names):
        for name in names:
            assert self.call("scope", "Enable", name=name) == {"name": name}

    def start(self, service, command, **args):
        """Sends without waiting; the result of finish()."""
        number, arg, result = self.describe(service)[0][command]
        payload = json.dumps(to_json(arg, args)).encode() if self.format == JSON else to_protobuf(arg, args)
        return self.send(service, number, payload), result, self.format

    def finish(self, started):
        tag, result, format = started
        payload = self.wait(tag)
        return from_json(result, json.loads(payload)) if format == JSON else from_protobuf(result, payload)

    def call(self, service, command, **args):
        return self.finish(self.start(service, command, **args))

    def next_event(self, seconds=20):
        """(service, name, message), or None if none comes in time."""
        end = time.monotonic() + seconds
        while not self.events:
            left = end - time.monotonic()
            if not self.buffer and (left <= 0 or not select.select([self.sock], [], [], left)[0]):
                return None
            kind, head = self.read()
            assert kind == EVENT, kind
            self.events.append((head[1].decode(), head[2], head[8]))
        service, number, payload = self.events.pop(0)
        name, message = self.describe(service)[1][number]
        return service, name, from_json(message, json.loads(payload)) if self.format == JSON else \
            from_protobuf(message, payload)

    def close(self):
        self.sock.close()


class Serve:
    """with Serve("--replay", path) as s: s.client("json")"""

    def __init__(self, framescope, *args, environment=None):
        self.command = [framescope, "serve", *map(str, args), "--listen", "127.0.0.1:0"]
        self.environment = environment

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        stdin=subprocess.DEVNULL, env=self.environment)
        self.socket = self.port = None
        while self.port is None:
            line = self.process.stdout.readline()
            if not line:
                raise AssertionError("serve ended with %s: %s" % (self.process.wait(), self.process.stderr.read()))
            where = line.split()[-1]
            if where.startswith("/"):
                self.socket = where
            else:
                self.port = int(where.rpartition(":")[2])
        return self

    def client(self, format="json", **kw):
        return Client.tcp(self.port, **kw).connect(format)

    def ready(self, format="json", **kw):
        c = self.client(format, **kw)
        c.enable("window-manager", "profiler")
        return c

    def stop(self, sig=15, seconds=20):
        """(exit code, what it said on stderr)"""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        try:
            errors = self.process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, errors

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.stop()
        self.process.stdout.close()
        self.process.stderr.close()

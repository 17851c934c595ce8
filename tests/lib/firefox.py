# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A private Firefox for tests: its own copy of the folder, so that probes hit no other browser, driven by Marionette."""
import collections, json, os, shutil, socket, subprocess, sys, tempfile, time

import ending

# Nothing goes out to the network, nothing is asked, every process is there from the start.
PREFS = {
    "app.normandy.enabled": False, "app.update.enabled": False, "browser.aboutwelcome.enabled": False,
    "browser.newtabpage.enabled": False, "browser.region.network.url": "", "browser.safebrowsing.blockedURIs.enabled": False,
    "browser.safebrowsing.downloads.enabled": False, "browser.safebrowsing.malware.enabled": False,
    "browser.safebrowsing.phishing.enabled": False, "browser.search.update": False, "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore", "browser.startup.page": 0, "captivedetect.canonicalURL": "",
    "datareporting.policy.dataSubmissionEnabled": False, "dom.push.connection.enabled": False, "extensions.getAddons.cache.enabled": False,
    "extensions.systemAddon.update.enabled": False, "extensions.update.enabled": False, "geo.provider.network.url": "",
    "marionette.port": 0, "media.gmp-manager.updateEnabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "network.dns.disablePrefetch": True, "network.http.speculative-parallel-limit": 0,
    "services.settings.server": "data:,", "toolkit.telemetry.enabled": False, "toolkit.telemetry.server": "",
    "trailhead.firstrun.didSeeAboutWelcome": True,
}


def installed():
    """The folder of the installed browser and its program's name, or None. $FRAMESCOPE_FIREFOX names another folder."""
    for folder in [os.environ["FRAMESCOPE_FIREFOX"]] if "FRAMESCOPE_FIREFOX" in os.environ else \
            ("/usr/lib/firefox-esr", "/usr/lib/firefox", "/opt/firefox"):
        for name in ("firefox-esr", "firefox"):
            if os.access(os.path.join(folder, name), os.X_OK):
                return folder, name
    return None


def profiled_processes(profile):
    """The profile and those of the other processes in it."""
    yield profile
    for child in profile.get("processes", []):
        yield from profiled_processes(child)


def markers(profile, names):
    """The markers with one of these names: [(tid, start_ns, end_ns)] in CLOCK_MONOTONIC; instants end where they start."""
    found = []
    for process in profiled_processes(profile):
        origin = process["meta"]["startTimeAsClockMonotonicNanosecondsSinceBoot"]
        for thread in process["threads"]:
            column = thread["markers"]["schema"]
            open_begins = collections.defaultdict(list)
            for row in thread["markers"]["data"]:
                name = thread["stringTable"][row[column["name"]]]
                if name not in names:
                    continue
                start, end = (origin + round((row[column[k]] or 0) * 1e6) for k in ("startTime", "endTime"))
                phase = row[column["phase"]]  # 0 instant, 1 interval, 2 its begin, 3 its end
                if phase == 2:
                    open_begins[name].append(start)
                elif phase != 3:
                    found.append((int(thread["tid"]), start, end if phase else start))
                elif open_begins[name]:
                    found.append((int(thread["tid"]), open_begins[name].pop(), end))
    return sorted(found)


def process_of(profile, url):
    """The PID of the process that showed this page."""
    for process in profiled_processes(profile):
        for thread in process["threads"]:
            column = thread["markers"]["schema"]
            for row in thread["markers"]["data"]:
                if thread["stringTable"][row[column["name"]]] == "DocumentLoad" and url in row[column["data"]]["name"]:
                    return int(thread["pid"])
    raise RuntimeError("no process of the profile shows " + url)


class Firefox:
    """with Firefox(profiler=True) as b: b.navigate(url); b.evaluate("1+1"); b.close_and_read_profile()"""

    def __init__(self, profiler=False, folder=None, name=None):
        if not folder:
            folder, name = installed()
        self.home = tempfile.mkdtemp(prefix="framescope-firefox-")
        self.binary = os.path.join(self.home, "bin", name)
        shutil.copytree(folder, os.path.dirname(self.binary), symlinks=True, ignore_dangling_symlinks=True)
        self.profile = os.path.join(self.home, "profile")
        os.mkdir(self.profile)
        with open(os.path.join(self.profile, "user.js"), "w") as f:
            for key, value in PREFS.items():
                f.write("user_pref(%s, %s);\n" % (json.dumps(key), json.dumps(value)))
        self.profiled = os.path.join(self.home, "profile.json")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("MOZ_")}
        self.env.update(HOME=self.home, MOZ_CRASHREPORTER_DISABLE="1")
        if profiler:
            self.env.update(MOZ_PROFILER_STARTUP="1", MOZ_PROFILER_STARTUP_FEATURES="nostacksampling,nomarkerstacks,markersallthreads",
                            MOZ_PROFILER_STARTUP_ENTRIES="8000000", MOZ_PROFILER_SHUTDOWN=self.profiled)
        self.socket = None
        self.next_id = 0

    def __enter__(self):
        self.log = open(os.path.join(self.home, "log"), "w")
        self.process = subprocess.Popen([self.binary, "--headless", "--no-remote", "--marionette", "--profile", self.profile,
                                         "about:blank"], env=self.env, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)
        self.pid = self.process.pid
        try:
            self.connect()
            self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"pageLoadStrategy": "none"}})
        except Exception:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def connect(self, seconds=60):
        end = time.monotonic() + seconds
        active = os.path.join(self.profile, "MarionetteActivePort")
        while not self.socket:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("Firefox does not listen: " + open(self.log.name).read()[-500:])
            try:
                self.socket = socket.create_connection(("127.0.0.1", int(open(active).read())), 60)
            except (OSError, ValueError):
                time.sleep(0.1)
        self.reader = self.socket.makefile("rb")
        self.message()  # its greeting

    def __exit__(self, *exc):
        if self.socket:
            self.socket.close()
        ending.end(self.process)
        self.log.close()
        ending.remove(self.home)

    def message(self):
        """Marionette's: the length in decimal, a colon, JSON."""
        size = b""
        while not size.endswith(b":"):
            byte = self.reader.read(1)
            if not byte:
                raise RuntimeError("the browser closed its connection: " + open(self.log.name).read()[-500:])
            size += byte
        return json.loads(self.reader.read(int(size[:-1])))

    def call(self, method, **params):
        self.next_id += 1
        body = json.dumps([0, self.next_id, method, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(body), body))
        while True:
            kind, number, error, result = self.message()
            if number == self.next_id:
                if error:
                    raise RuntimeError("%s: %s" % (method, error.get("message", error)))
                return result

    def navigate(self, url):
        self.call("WebDriver:Navigate", url=url)

    def evaluate(self, expression):
        return self.call("WebDriver:ExecuteScript", script="return " + expression, args=[], sandbox=None)["value"]

    def wait_for_title(self, title, seconds=60):
        """Waits for the page's title, which the browser's own process knows: no script runs in the page."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.call("WebDriver:GetTitle")["value"] == title:
                return
            time.sleep(0.1)
        raise RuntimeError("the page's title never became: " + title)

    def processes(self):
        """{pid: type} of the browser's processes: "tab" shows pages, "" is the first one."""
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                command = open("/proc/%s/cmdline" % pid, "rb").read().replace(b"\0", b" ").decode(errors="replace").strip()
            except OSError:
                continue
            if command.startswith(self.binary + " "):
                found[int(pid)] = command.rsplit(" ", 1)[1] if " -contentproc " in command else ""
        return found

    def close_and_read_profile(self):
        """Ends the browser in an orderly way; Gecko's profiler writes what it saw in all processes then."""
        try:
            self.call("Marionette:Quit", flags=["eAttemptQuit"])
        except (RuntimeError, OSError):
            pass
        self.process.wait(60)
        with open(self.profiled) as f:
            return json.load(f)

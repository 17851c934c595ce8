# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""WebKitGTK's own MiniBrowser for tests: private copies of its libraries, so that probes hit no other program, and a display
of its own."""
import glob, os, re, shutil, subprocess, tempfile

from desktop import start_display
from ending import end

SESSION = ("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS")


def installed():
    """MiniBrowser's path, or None."""
    found = glob.glob("/usr/lib/*/webkit2gtk-4.*/MiniBrowser") + glob.glob("/usr/lib*/webkit2gtk-4.*/MiniBrowser")
    return found[0] if found else None


def missing():
    """What isn't there to run it, in a sentence; None: nothing."""
    if not installed():
        return "WebKitGTK's MiniBrowser is not installed"
    return None if shutil.which("Xvfb") else "Xvfb is not installed"


def library(name="webkit2gtk"):
    """The path of the library that MiniBrowser uses."""
    text = subprocess.run(["ldd", installed()], capture_output=True, text=True, check=True).stdout
    return re.search(r"\s*lib%s-\S+ => (/\S+)" % name, text).group(1)


class MiniBrowser:
    """with MiniBrowser(url) as b: … b.pid …; `variables` are added to its environment."""

    def __init__(self, url, **variables):
        self.folder = tempfile.mkdtemp(prefix="framescope-webkit-")
        for name in ("webkit2gtk", "javascriptcoregtk"):
            path = library(name)
            shutil.copy(path, os.path.join(self.folder, os.path.basename(path)))
        home = os.path.join(self.folder, "home")
        os.mkdir(home)
        self.display, name = start_display()
        env = {key: value for key, value in os.environ.items() if key not in SESSION}
        env.update(DISPLAY=name, HOME=home, LD_LIBRARY_PATH=self.folder, GDK_BACKEND="x11", NO_AT_BRIDGE="1",
                   GSETTINGS_BACKEND="memory", **variables)
        self.process = subprocess.Popen([installed(), url], env=env, cwd=home, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *args):
        end(self.process)
        end(self.display)
        shutil.rmtree(self.folder, ignore_errors=True)

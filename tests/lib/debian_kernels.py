# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Kernels of Debian's archive, of other releases too: apt fetches them with lists and sources of its own.

Neither the machine's sources nor its package state are touched, and no privilege is needed. The mirror is the one
that the machine itself uses. Exact versions come and go in the archive, so a kernel is asked for by its series.
"""
import glob, os, re, shutil, subprocess

# Where a series is looked for: the small suites first, since their lists take a second
SUITES = {
    "5.10": (["bullseye-security"], ["bullseye"]),
    "6.1": (["bookworm-security"], ["bookworm"]),
    "6.12": (["bookworm-security", "bookworm-backports"], ["trixie"]),
    "6.18": (["trixie-backports"], []),
}
# Any other series, and the latest there is
OTHER = (["trixie-backports"], ["sid"])
KEYRINGS = "/usr/share/keyrings/debian-archive-keyring.*"


class Unavailable(Exception):
    """Why a kernel can't be had; one sentence for a skip."""


def run(*args, **kw):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                          env=dict(os.environ, LC_ALL="C"), **kw)


def mirrors():
    """The machine's own mirror of Debian and of its security archive."""
    main = security = None
    try:
        lines = run("apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(ORIGIN)").stdout.splitlines()
    except FileNotFoundError:
        raise Unavailable("there is no apt-get here")
    for line in lines:
        site, release, *origin = line.split(" ")
        if origin and origin[0] not in ("", "Debian"):
            continue
        if re.fullmatch(r"[a-z]+-security", release):
            security = security or site
        elif re.fullmatch(r"(bullseye|bookworm|trixie|forky|sid|(old)*stable|testing)(-updates|-backports)?", release):
            main = main or site
    if not main:
        raise Unavailable("this machine's package sources name no mirror of Debian")
    return main, security or re.sub(r"/debian/?$", "/debian-security", main)


def configure(folder, suites, arch):
    """An apt.conf that keeps all of apt's state in `folder`. Returns its path."""
    main, security = mirrors()
    keyring = (sorted(glob.glob(KEYRINGS)) or [""])[0]
    options = "[signed-by=%s]" % keyring if keyring else ""
    for sub in ("lists/partial", "cache/archives/partial"):
        os.makedirs(os.path.join(folder, sub), exist_ok=True)
    with open(os.path.join(folder, "sources.list"), "w") as f:
        for suite in suites:
            f.write("deb %s %s %s main\n" % (options, security if suite.endswith("-security") else main, suite))
    path = os.path.join(folder, "apt.conf")
    with open(path, "w") as f:
        f.write("".join('#clear %s;\n' % name for name in (
            "APT::Update::Post-Invoke-Success", "APT::Update::Post-Invoke", "APT::Architectures", "Acquire::IndexTargets")))
        f.write("""Dir::Etc::sourcelist "{0}/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "{0}/lists";
Dir::State::status "/dev/null";
Dir::Cache "{0}/cache";
APT::Architecture "{1}";
APT::Architectures {{ "{1}"; }};
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::Check-Valid-Until "false";
Acquire::IndexTargets::deb::Packages {{
	MetaKey "$(COMPONENT)/binary-$(ARCHITECTURE)/Packages";
	flatMetaKey "Packages";
	ShortDescription "Packages";
	Description "$(RELEASE)/$(COMPONENT) $(ARCHITECTURE) Packages";
	Optional "false";
}};
""".format(folder, arch))
    return path


def version_key(version):
    return [int(n) for n in re.findall(r"\d+", version)]


def newest(conf, series, arch):
    """Names of the newest kernel of a series that the lists offer, best first: 'image' holds it, since 7.0 'binary'."""
    pattern = r"^linux-(image|binary)-%s[0-9.+a-z-]*-cloud-%s$" % (
        re.escape(series) + r"\." if series != "latest" else "[0-9]", arch)
    names = run("apt-cache", "-c", conf, "search", "--names-only", pattern).stdout
    names = [line.split(" ")[0] for line in names.splitlines()]
    names = [n for n in names if "-rt-" not in n and ".deb11." not in n and ".deb10." not in n]
    return sorted(names, key=lambda n: (version_key(n), "-binary-" in n), reverse=True)


def unpack(package, folder):
    """Takes the boot image out of a package. Returns its path and release name; raises Unavailable if it holds none."""
    tar = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", folder, "--no-anchored", "--wildcards", "vmlinuz*"], stdin=tar.stdout,
                   stderr=subprocess.DEVNULL)
    tar.stdout.close()
    tar.wait()
    for root, _, files in os.walk(folder):
        for name in files:
            if name.startswith("vmlinuz"):
                release = name[8:] or os.path.basename(root)
                path = os.path.join(folder, "vmlinuz-" + release)
                os.rename(os.path.join(root, name), path)
                return path, release
    raise Unavailable("%s holds no boot image" % os.path.basename(package))


def fetch(series, arch, cache):
    """The boot image of the newest kernel of a series ("6.12", or "latest"), from the cache if it was fetched before.
    Returns its path and release name."""
    home = os.path.join(os.path.abspath(cache), arch, series)
    have = glob.glob(os.path.join(home, "vmlinuz-*"))
    if have:
        return have[0], os.path.basename(have[0])[8:]
    reason = ""
    for suites in SUITES.get(series, OTHER):
        if not suites:
            continue
        work = os.path.join(home, "apt")
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        conf = configure(work, suites, arch)
        update = run("apt-get", "-c", conf, "-q", "update")
        names = newest(conf, series, arch)
        if not names:
            reason = reason or "the archive has no %s kernel in %s%s" % (
                series, ", ".join(suites), ": " + update.stderr.strip().split("\n")[-1] if update.stderr.strip() else "")
        for name in names[:3]:
            got = run("apt-get", "-c", conf, "-q", "download", name, cwd=work)
            package = glob.glob(os.path.join(work, name + "_*.deb"))
            if not package:
                reason = "%s can't be downloaded: %s" % (name, got.stderr.strip().split("\n")[-1])
                continue
            try:
                path, release = unpack(package[0], work)
            except Unavailable as e:
                reason = str(e)
                continue
            final = os.path.join(home, os.path.basename(path))
            os.rename(path, final)
            shutil.rmtree(work)
            return final, release
    shutil.rmtree(os.path.join(home, "apt"), ignore_errors=True)
    raise Unavailable(reason)

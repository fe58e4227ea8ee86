#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetch NVIDIA's real libcuda.so.1 drivers from Debian's archive, for the tests; or libnvidia-ml.

NVIDIA's drivers load, report their version and resolve entry points on a machine without a GPU.
They are licensed files: they go to a cache outside the work tree, and are never committed.
"""
import argparse
import contextlib
import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from modes import DRIVERS as FEW  # noqa: E402

REQUIRED = ("460", "470", "535", "550")
EXTRAS = ("340", "390", "418", "450", "525", "555")
SUITES = ("bullseye", "bookworm", "trixie", "sid", "experimental")
DEBIAN_SUITES = {"oldoldstable", "oldstable", "stable", "testing", "unstable", "sid", "buster",
                 "bullseye", "bookworm", "trixie", "forky", "duke"}
TRIES = 3
PAUSE_SECONDS = 3
COMMAND_SECONDS = 300

EPILOG = """\
layout of the cache:
  <cache>/drivers/<version>/libcuda.so.1   the driver, beside it what it needs and driver.json
  <cache> is --cache, else $CUSHIM_CACHE, else $XDG_CACHE_HOME/cushim, else ~/.cache/cushim
  Drivers before 430 need LD_LIBRARY_PATH to name their folder ("needs" in --list says so).
  With --library nvml: <cache>/nvml-drivers/<version>/libnvidia-ml.so.1

exit codes:
  0  every driver named by --require is in the cache; without --require: at least one is
  1  it is not
  2  wrong usage
"""

# Runs in a process of its own: an old driver may crash, hang, or fork on a machine it predates.
PROBE = """
import ctypes, os, sys
for needed in sys.argv[2:]:
    ctypes.CDLL(needed, mode=ctypes.RTLD_GLOBAL)
version = ctypes.c_int(0)
code = ctypes.CDLL(sys.argv[1]).cuDriverGetVersion(ctypes.byref(version))
print(code, version.value, flush=True)
os._exit(0)
"""
# NVML reports no version before nvmlInit, which needs a GPU: that it loads and answers is enough.
PROBE_NVML = """
import ctypes, os, sys
text = ctypes.CDLL(sys.argv[1]).nvmlErrorString
text.restype = ctypes.c_char_p
print(0 if text(0) else 1, 1, flush=True)
os._exit(0)
"""


class Library:
    """One of the libraries that a driver's packages hold."""

    def __init__(self, name, folder, packages, script):
        self.file = f"{name}.so.1"
        self.prefix = f"{name}.so."
        self.folder = folder
        self.packages = re.compile(packages)
        self.probe = script


LIBRARIES = {
    "cuda": Library("libcuda", "drivers",
                    r"libcuda1|libnvidia-(tesla|tesla-\d+|legacy-\d+xx)-cuda1", PROBE),
    "nvml": Library("libnvidia-ml", "nvml-drivers",
                    r"libnvidia-((tesla|tesla-\d+|legacy-\d+xx)-)?ml1", PROBE_NVML),
}
CUDA = LIBRARIES["cuda"]


class Unavailable(Exception):
    """A driver could not be had; `again` says whether another try may help."""

    def __init__(self, reason, again=False):
        super().__init__(" ".join(str(reason).split()))
        self.again = again


# ---------------------------------------------------------------------------- the cache

def drivers_folder(option, wanted=CUDA):
    """The folder that holds one folder per driver version."""
    cache = option or os.environ.get("CUSHIM_CACHE")
    if not cache:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache = Path(base) / "cushim"
    return Path(cache).expanduser().absolute() / wanted.folder


def version_key(version):
    return [int(part) for part in re.findall(r"\d+", version)]


def cached_drivers(folder, wanted=CUDA):
    """What driver.json says of each driver in the cache, oldest first, with its path."""
    found = []
    for note in folder.glob("[0-9]*/driver.json"):
        library = note.with_name(wanted.file)
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            driver = json.loads(note.read_text(encoding="utf-8"))
            if library.is_file() and driver["version"] == note.parent.name:
                found.append({"branch": driver["branch"], "version": driver["version"],
                              "cuda": driver["cuda"], "path": str(library),
                              "needs": driver["needs"]})
    return sorted(found, key=lambda driver: version_key(driver["version"]))


def missing_from(folder, branches, wanted=CUDA):
    have = {driver["branch"] for driver in cached_drivers(folder, wanted)}
    return [branch for branch in branches if branch not in have]


@contextlib.contextmanager
def locked(folder):
    """One run at a time fetches into a cache; the others wait, then find it filled."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in folder.glob(".new-*"):  # of a run that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        yield


# ------------------------------------------------------- the machine's own apt source

def parse_deb822(text):
    """Paragraphs of `Field: value` lines, as dictionaries with lower-case keys."""
    paragraph, field = {}, None
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            if paragraph:
                yield paragraph
            paragraph, field = {}, None
        elif line.startswith("#"):
            continue
        elif line[0] in " \t":
            if field:
                paragraph[field] += "\n" + line
        elif ":" in line:
            field, _, value = line.partition(":")
            field = field.strip().lower()
            paragraph[field] = value.strip()


def parse_one_line(text):
    """The `deb [options] address suite components` lines, as deb822 paragraphs."""
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^]]*)]\s+)?(\S+)\s+(\S+)\s+([^#]+)", line)
        if match:
            options = re.findall(r"([a-z-]+)=(\S+)", match[1] or "")
            # arch=, lang= and target= are left out: their deb822 names differ, and we set our own.
            entry = {key: value for key, value in options if key not in ("arch", "lang", "target")}
            yield entry | {"types": "deb", "uris": match[2], "suites": match[3],
                           "components": match[4]}


def apt_source_files():
    """The apt source files of this machine, wherever its configuration puts them."""
    shown = subprocess.run(["apt-config", "shell", "MAIN", "Dir::Etc::sourcelist/f",
                            "PARTS", "Dir::Etc::sourceparts/d"],
                           capture_output=True, text=True, check=True).stdout
    paths = dict(word.split("=", 1) for word in shlex.split(shown))
    files = [Path(paths["MAIN"])] if paths.get("MAIN") else []
    if paths.get("PARTS"):
        parts = Path(paths["PARTS"]).glob("*")
        files += sorted(part for part in parts if part.suffix in (".list", ".sources"))
    return [file for file in files if file.is_file()]


def likelihood(file, entry):
    """How much an apt source looks like Debian's own archive or a mirror of it; 0: not at all."""
    if (entry.get("enabled", "yes").lower() in ("no", "false", "0")
            or "deb" not in entry.get("types", "").split()
            or "main" not in entry.get("components", "").split()
            or DEBIAN_SUITES.isdisjoint(entry.get("suites", "").split())
            or not entry.get("uris") or entry["uris"].startswith("cdrom:")):
        return 0
    signed = entry.get("signed-by", "")
    return (4 * ("debian-archive" in signed)
            + 2 * (file.name in ("sources.list", "debian.sources"))
            + (not signed or entry["uris"].rstrip("/").endswith("/debian")))


def debian_source():
    """The apt source of this machine that is Debian itself, as a deb822 dictionary."""
    for tool in ("apt-get", "apt-cache", "apt-config", "dpkg", "dpkg-deb"):
        if not shutil.which(tool):
            raise Unavailable(f"{tool} is not installed; fetching needs a Debian machine")
    best, source = 0, None
    for file in apt_source_files():
        parse = parse_deb822 if file.suffix == ".sources" else parse_one_line
        for entry in parse(file.read_text(encoding="utf-8", errors="replace")):
            if likelihood(file, entry) > best:
                best, source = likelihood(file, entry), entry
    if not source:
        raise Unavailable("this machine's apt configuration names no Debian archive")
    return source


def with_all_debian_keys(signed_by):
    """Signed-By, widened by the other Debian keyrings that are installed.

    An older machine's entry may name a keyring that lacks a newer suite's key. Signatures stay
    checked: a suite that none of the keys signed is refused by apt. A key embedded in the entry,
    or a fingerprint, is left alone.
    """
    if not signed_by.startswith("/"):
        return signed_by
    files = re.split(r"[\s,]+", signed_by.strip())
    for keyring in sorted(Path("/usr/share/keyrings").glob("debian-archive-*")):
        if keyring.suffix in (".gpg", ".pgp") and "removed" not in keyring.name:
            if str(keyring) not in files:
                files.append(str(keyring))
    return " ".join(files)


# ------------------------------------------------------------------------ apt, in private

def run(*command, cwd=None):
    """Run a command; its output, or Unavailable (worth another try) with its own words."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace",
                              timeout=COMMAND_SECONDS, env=os.environ | {"LC_ALL": "C"},
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        raise Unavailable(f"{command[0]} took over {COMMAND_SECONDS} s", again=True) from late
    if done.returncode:
        errors = re.findall(r"^E: (.*)", done.stderr, re.M) or done.stderr.splitlines()[-1:]
        raise Unavailable(f"{command[0]}: {errors[0] if errors else done.returncode}", again=True)
    return done.stdout


class Suite:
    """One Debian suite's component, seen through an apt with state of its own."""

    def __init__(self, name, source, work, architecture=None, component="non-free", kind="deb"):
        self.name = name
        self.architecture = architecture or run("dpkg", "--print-architecture").strip()
        self.component = component
        self.folder = work / name
        self.packages = None
        for part in ("state", "lists/partial", "cache/archives/partial", "download"):
            (self.folder / part).mkdir(parents=True)
        if os.geteuid() == 0:  # as root, apt downloads as the user _apt, who must write here
            with contextlib.suppress(LookupError, OSError):
                shutil.chown(self.folder / "download", "_apt")
        self._write_source(source, kind)
        self._write_config()

    def _write_source(self, source, kind):
        entry = {key: value for key, value in source.items() if key != "enabled"}
        entry |= {"types": kind, "suites": self.name, "components": self.component,
                  "architectures": self.architecture,
                  "targets": "Packages" if kind == "deb" else "Sources"}
        if "signed-by" in entry:
            entry["signed-by"] = with_all_debian_keys(entry["signed-by"])
        text = "".join(f"{key.title()}: {value}\n" for key, value in entry.items())
        (self.folder / "debian.sources").write_text(text, encoding="utf-8")

    def _write_config(self):
        """Everything that could touch or depend on the system's apt state, turned away.

        The file is given with -c, so that it comes after the system's own settings. The hooks are
        cleared because container images have some that delete the system's package cache.
        """
        (self.folder / "status").touch()
        settings = {
            "Dir::State": f"{self.folder}/state/",
            "Dir::State::Lists": f"{self.folder}/lists/",
            "Dir::State::Status": f"{self.folder}/status",
            "Dir::Cache": f"{self.folder}/cache/",
            "Dir::Cache::Archives": "archives/",
            "Dir::Etc::SourceList": f"{self.folder}/debian.sources",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "APT::Architecture": self.architecture,
            "APT::Default-Release": "",
            "Acquire::Languages": "none",
            "Acquire::Retries": "0",
            "Acquire::http::Timeout": "20",
            "Acquire::https::Timeout": "20",
        }
        lines = [f'#clear APT::Update::{hook};'
                 for hook in ("Pre-Invoke", "Post-Invoke", "Post-Invoke-Success")]
        lines.append('#clear APT::Architectures;')
        lines += [f'{key} "{value}";' for key, value in settings.items()]
        (self.folder / "apt.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def _apt(self, tool, *arguments):
        return run(tool, f"-c={self.folder}/apt.conf", *arguments, cwd=self.folder / "download")

    def update(self):
        """Read the suite's list of packages, once."""
        if self.packages is None:
            self._apt("apt-get", "--error-on=any", "update")
            self.packages = list(parse_deb822(self._apt("apt-cache", "dumpavail")))

    def source(self, name):
        """Download a source package, of a suite of kind deb-src."""
        self._apt("apt-get", "--error-on=any", "update")
        self._apt("apt-get", "source", "--download-only", name)

    def archive(self, name, version):
        """Download a package; the path of its file."""
        self._apt("apt-get", "download", f"{name}={version}")
        path, = (self.folder / "download").glob(f"{name}_*.deb")
        return path

    def candidates(self, branch, wanted):
        """The packages that may hold a driver of this branch, newest first."""
        found = [package for package in self.packages
                 if wanted.packages.fullmatch(package["package"])
                 and package["version"].split(".")[0] == branch]
        return sorted(found, key=lambda package: version_key(package["version"]), reverse=True)

    def download(self, package, into):
        """Download and unpack a package, and the fatbinaryloader that an old one depends on."""
        names = re.findall(r"[\w.+-]+-fatbinaryloader", package.get("depends", ""))
        for name in [package["package"], *names]:
            self._apt("apt-get", "download", f"{name}={package['version']}")
            for archive in (self.folder / "download").glob("*.deb"):
                run("dpkg-deb", "-x", str(archive), str(into))
                archive.unlink()


# ------------------------------------------------------------------------ one driver

def probe(library, needs, script=PROBE):
    """The CUDA version that the library itself reports (12040 for 12.4); of NVML, 1."""
    if library.read_bytes()[:4] != b"\x7fELF":
        raise Unavailable(f"{library.name} is not an ELF file")
    command = [sys.executable, "-I", "-c", script, str(library), *map(str, needs)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=60, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        raise Unavailable("cuDriverGetVersion does not return") from late
    if done.returncode:
        words = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise Unavailable(f"does not load: {words[0]}")
    code, version = map(int, done.stdout.split())
    if code or version <= 0:
        raise Unavailable(f"cuDriverGetVersion returns {code} and version {version}")
    return version


def install(folder, suite, package, branch, wanted):
    """Fetch one driver, check it, and put it into the cache in one step."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as new:
        unpacked, ready = Path(new, "unpacked"), Path(new, "ready")
        ready.mkdir()
        suite.download(package, unpacked)
        files = [file for file in unpacked.rglob("lib*.so.*") if not file.is_symlink()]
        drivers = [file for file in files if file.name.startswith(wanted.prefix)]
        if len(drivers) != 1:
            raise Unavailable(f"{package['package']} holds {len(drivers)} {wanted.prefix} files")
        version = drivers[0].name.removeprefix(wanted.prefix)
        if version.split(".")[0] != branch or version.encode() not in drivers[0].read_bytes():
            raise Unavailable(f"{drivers[0].name} does not call itself a {branch} driver")
        needs = [file.name for file in files if file not in drivers]
        for file in files:
            file.rename(ready / (wanted.file if file in drivers else file.name))
        cuda = probe(ready / wanted.file, [ready / name for name in needs], wanted.probe)
        note = {"branch": branch, "version": version, "cuda": cuda, "package": package["package"],
                "package_version": package["version"], "suite": suite.name, "needs": needs}
        (ready / "driver.json").write_text(json.dumps(note, indent=2) + "\n", encoding="utf-8")
        shutil.rmtree(folder / version, ignore_errors=True)  # only a damaged one can be there
        ready.rename(folder / version)


def search(folder, suites, branches, rejected, wanted):
    """Look through all suites once. Returns {branch: reason} and whether to try again."""
    reasons, again = {}, False
    for suite in suites:
        branches = missing_from(folder, branches, wanted)
        if not branches:
            break
        try:
            suite.update()
        except Unavailable as failure:
            again |= failure.again
            reasons |= {branch: f"{suite.name}: {failure}" for branch in branches}
            continue
        for branch in branches:
            for package in suite.candidates(branch, wanted):
                key = (suite.name, package["package"])
                try:
                    if key not in rejected:
                        install(folder, suite, package, branch, wanted)
                        break
                except Unavailable as failure:
                    reasons[branch] = f"{suite.name}: {failure}"
                    again |= failure.again
                    if not failure.again:
                        rejected.add(key)
    return reasons, again


def fetch(folder, branches, wanted=CUDA):
    """Fetch what the cache lacks. Returns why, for each branch that could not be had."""
    if not missing_from(folder, branches, wanted):
        return {}
    absent = {branch: f"not in {', '.join(SUITES)}" for branch in branches}
    reasons, rejected = absent, set()
    try:
        source = debian_source()
        with locked(folder), tempfile.TemporaryDirectory(prefix="cushim-apt-") as work:
            os.chmod(work, 0o755)  # for the user _apt
            suites = [Suite(name, source, Path(work)) for name in SUITES]
            for attempt in range(TRIES):
                time.sleep(PAUSE_SECONDS if attempt else 0)
                failures, again = search(folder, suites, branches, rejected, wanted)
                reasons = absent | failures
                if not again or not missing_from(folder, branches, wanted):
                    break
    except (Unavailable, OSError, subprocess.SubprocessError) as failure:
        reasons = {branch: " ".join(str(failure).split()) for branch in branches}
    return reasons


# ------------------------------------------------------------------------ command line

def branch_list(text):
    names = [name for name in re.split(r"[\s,]+", text) if name]
    if not all(re.fullmatch(r"\d{3}", name) for name in names):
        raise argparse.ArgumentTypeError(f"'{text}' is not a driver branch such as 535")
    return names


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("branch", nargs="*", type=branch_list,
                        help=f"driver branches, such as 535; default: {' '.join(REQUIRED)}, "
                        f"and as extras {' '.join(EXTRAS)}")
    parser.add_argument("--require", type=branch_list, default=[], metavar="BRANCH,...",
                        help="fetch these too, and exit 1 if one of them could not be had")
    parser.add_argument("--few", action="store_true",
                        help=f"those that `sh tests/run` takes: {' '.join(FEW)}")
    parser.add_argument("--cache", metavar="DIR", help="the cache (see below)")
    parser.add_argument("--library", choices=LIBRARIES, default="cuda",
                        help="which library of the driver; default: %(default)s")
    parser.add_argument("--list", action="store_true",
                        help="fetch nothing; print what is in the cache, as JSON")
    return parser.parse_args()


def main():
    options = parse_arguments()
    library = LIBRARIES[options.library]
    folder = drivers_folder(options.cache, library)
    if options.list:
        print(json.dumps(cached_drivers(folder, library), indent=2))
        return 0
    named = [name for group in options.branch for name in group]
    default = FEW if options.few else [*REQUIRED, *EXTRAS]
    wanted = list(dict.fromkeys([*(named or default), *options.require]))
    reasons = fetch(folder, wanted, library)
    newest = {driver["branch"]: driver for driver in cached_drivers(folder, library)}
    for branch in wanted:
        if branch in newest:
            driver = newest[branch]
            cuda = f"CUDA {driver['cuda'] // 1000}.{driver['cuda'] % 1000 // 10}"
            what = cuda if library is CUDA else "NVML"
            print(f"{driver['version']} {what} {driver['path']}")
        else:
            print(f"{branch} unavailable: {reasons[branch]}")
    had = [branch for branch in wanted if branch in newest]
    return 0 if had and set(options.require) <= set(had) else 1


if __name__ == "__main__":
    sys.exit(main())

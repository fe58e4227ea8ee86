# SPDX-License-Identifier: MIT
"""Debian's archive, any suite of it, through an apt with state of its own.

Where the archive is comes from this machine's own apt configuration, which is not touched.
"""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from fetching import Unavailable, version_key
from fetching import run as run_command

DEBIAN_SUITES = {"oldoldstable", "oldstable", "stable", "testing", "unstable", "sid", "buster",
                 "bullseye", "bookworm", "trixie", "forky", "duke"}


def what_failed(command, errors):
    """A tool's own words; another try may help."""
    words = re.findall(r"^E: (.*)", errors, re.M) or errors.splitlines()[-1:]
    return f"{command[0]}: {words[0]}", True


def run(*command, cwd=None):
    """Run a command; its output, or Unavailable."""
    return run_command(what_failed, *command, cwd=cwd)


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

    def candidates(self, name, start=""):
        """The packages with names of a pattern and versions that start so, newest first."""
        found = [package for package in self.packages if re.fullmatch(name, package["package"])
                 and package["version"].startswith(start)]
        return sorted(found, key=lambda package: version_key(package["version"]), reverse=True)

    def download(self, name, version):
        """Download a package; its path, until the next one."""
        folder = self.folder / "download"
        for archive in folder.glob("*.deb"):
            archive.unlink()
        self._apt("apt-get", "download", f"{name}={version}")
        return next(folder.glob("*.deb"))

    def unpack(self, package, into):
        """Download and unpack a package, and the fatbinaryloader that an old driver depends on."""
        names = re.findall(r"[\w.+-]+-fatbinaryloader", package.get("depends", ""))
        for name in [package["package"], *names]:
            run("dpkg-deb", "-x", str(self.download(name, package["version"])), str(into))


@contextlib.contextmanager
def opened(names, folder=None, **of_suite):
    """Suites, below a folder, in one that is gone afterwards."""
    source = debian_source()
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as work:
        os.chmod(work, 0o755)  # for the user _apt
        yield [Suite(name, source, Path(work), **of_suite) for name in names]


def release():
    """This machine's Debian release: "bookworm"."""
    text = Path("/etc/os-release").read_text(encoding="utf-8")
    return re.search(r"^VERSION_CODENAME=(\w+)", text, re.M)[1]

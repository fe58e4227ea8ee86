#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetch NVIDIA's headers of every toolkit release, for gen/scan.py and the tests.

They come out of the wheels that pip finds with this machine's own configuration. They are
NVIDIA's: they go to a cache outside the work tree, and are never committed.
"""
import argparse
import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import registry
from libraries import CUDA, LIBRARIES

REGISTRY = Path(__file__).resolve().parent / "registry"
MAJORS = (11, 12, 13)
LAST_SUFFIXED = 12  # up to CUDA 12 the major release is part of a package's name
TAGS = {
    "linux": ("manylinux2014_x86_64", "manylinux1_x86_64", "manylinux_2_17_x86_64"),
    "windows": ("win_amd64",),
}
AT_ONCE = 4  # most of the time is pip's own start
TRIES = 3
PAUSE_SECONDS = 3
COMMAND_SECONDS = 300

EPILOG = """\
layout of the cache:
  <cache>/headers/<release>/<linux|windows>/*.h, of the newest patch of each release
  <cache>/headers-nvml/<release>/linux/nvml.h, with --library nvml
  <cache> is --cache, else $CUSHIM_CACHE, else $XDG_CACHE_HOME/cushim, else ~/.cache/cushim
  What is there is not asked for again; to have a release anew, remove its folder.

exit codes:
  0  every release named by --require is in the cache; without --require: at least one is
  1  it is not
  2  wrong usage
"""


class Unavailable(Exception):
    """Something could not be had; `again` says whether another try may help."""

    def __init__(self, reason, again=False):
        super().__init__(" ".join(str(reason).split()))
        self.again = again


# ---------------------------------------------------------------------------- the cache

def headers_folder(option=None, library=CUDA):
    """The folder that holds one folder per release."""
    cache = option or os.environ.get("CUSHIM_CACHE")
    if not cache:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache = Path(base) / "cushim"
    return Path(cache).expanduser().absolute() / library.cache


def release_key(release):
    """12.10 comes after 12.9."""
    return [int(part) for part in release.split(".")]


def complete(folder, release, library=CUDA):
    """Whether the cache has a release, for all platforms."""
    return all((folder / release / platform / name).is_file()
               for platform in library.platforms for name in library.needed)


def cached_releases(folder, library=CUDA):
    """Releases in the cache, oldest first."""
    names = [path.name for path in folder.glob("*") if re.fullmatch(r"\d+\.\d+", path.name)]
    return sorted((name for name in names if complete(folder, name, library)), key=release_key)


@contextlib.contextmanager
def locked(folder):
    """One run at a time fetches into a cache; the others wait, then find it filled."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in folder.glob(".new-*"):  # of a run that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        yield


# ---------------------------------------------------------------------------------- pip

def pip(*arguments):
    """Run pip; its output, or Unavailable with its own words."""
    try:
        done = subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check",
                               "--retries", "1", *arguments], capture_output=True, text=True,
                              errors="replace", timeout=COMMAND_SECONDS, stdin=subprocess.DEVNULL,
                              env=os.environ | {"LC_ALL": "C"}, check=False)
    except subprocess.TimeoutExpired as late:
        raise Unavailable(f"pip took over {COMMAND_SECONDS} s", again=True) from late
    if done.returncode:
        raise Unavailable(*what_failed(done.stderr))
    return done.stdout


def what_failed(stderr):
    """Pip's reason, and whether another try may help."""
    missing = re.search(r"satisfies the requirement (\S+) \(from versions: (?!none)", stderr)
    if missing:  # it knows other versions, and so was answered
        return f"pip finds no {missing[1]} for this platform", False
    broken = re.search(r"connection broken by .*: (.*?)'\)", stderr)
    if broken:
        return f"pip reaches no package index: {broken[1]}", True
    errors = re.findall(r"^ERROR: (.*)", stderr, re.M) or stderr.splitlines()[-1:]
    return f"pip: {errors[0] if errors else 'no reason given'}", True


def package(name, major):
    """A package's name for a major release."""
    return f"{name}-cu{major}" if major <= LAST_SUFFIXED else name


def offered(major, library):
    """Releases of a major release, and of all later ones where that is the last we name apart."""
    shown = pip("index", "versions", package(library.packages[0], major))
    listed = re.search(r"^Available versions: (.*)", shown, re.M)
    releases = {".".join(version.split(".")[:2])
                for version in re.findall(r"\d+\.\d+\.\d+", listed[1] if listed else "")}
    return [release for release in releases if release_key(release)[0] >= major]


def unpack(library, names, release, platform, into):
    """Put the headers of some packages' newest patch of a release into a folder."""
    tags = [word for tag in TAGS[platform] for word in ("--platform", tag)]
    wanted = [f"{package(name, release_key(release)[0])}=={release}.*" for name in names]
    with tempfile.TemporaryDirectory(prefix="cushim-pip-") as work:
        pip("download", "--no-deps", "--only-binary=:all:", *tags, "--dest", work, *wanted)
        for wheel in Path(work).glob("*.whl"):
            try:
                with zipfile.ZipFile(wheel) as members:
                    for member in members.namelist():
                        header = library.wanted.fullmatch(member)
                        if header:
                            (into / header[1]).write_bytes(members.read(member))
            except zipfile.BadZipFile as error:
                raise Unavailable(f"{wheel.name}: {error}", again=True) from error


# ------------------------------------------------------------------------- one release

def install(folder, release, library):
    """Fetch one release, check it, and put it into the cache in one step."""
    with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as new:
        ready = Path(new, release)
        for platform in library.platforms:
            headers = ready / platform
            headers.mkdir(parents=True)
            try:
                unpack(library, library.packages, release, platform, headers)
            except Unavailable as failure:
                if failure.again or library.packages[1:] == ():
                    raise
                # 11.7 has no profiler package
                unpack(library, library.packages[:1], release, platform, headers)
            check(headers, release, library)
        shutil.rmtree(folder / release, ignore_errors=True)  # only a damaged one can be there
        ready.rename(folder / release)


def check(headers, release, library):
    """Refuse what does not call itself that release."""
    major, minor = release_key(release)
    for name in library.needed:
        if not (headers / name).is_file():
            raise Unavailable(f"the wheel for {headers.name} has no {name}")
    if not library.version:
        return  # the header does not say
    text = (headers / "cuda.h").read_text(encoding="utf-8", errors="replace")
    if not re.search(rf"^#define CUDA_VERSION {major * 1000 + minor * 10}\s*$", text, re.M):
        raise Unavailable(f"cuda.h for {headers.name} does not call itself {release}")


def again_and_again(action, *arguments):
    """Call ACTION until it succeeds, fails for good, or has had its tries."""
    for attempt in range(1, TRIES + 1):
        try:
            return action(*arguments)
        except Unavailable as failure:
            if not failure.again or attempt == TRIES:
                raise
            time.sleep(PAUSE_SECONDS)
    return None


def fetch(folder, releases, library):
    """Fetch what the cache lacks. Returns why, for each release that could not be had."""
    def fetch_one(release):
        try:
            if not complete(folder, release, library):
                again_and_again(install, folder, release, library)
        except (Unavailable, OSError) as failure:
            return str(failure)
        return None

    if all(complete(folder, release, library) for release in releases):
        return {}
    try:
        with locked(folder), ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(releases, pool.map(fetch_one, releases)))
    except OSError as failure:
        return {release: str(failure) for release in releases}


def all_releases(folder, library):
    """Every release that is cached or offered, oldest first; says so where it cannot know."""
    releases = set(cached_releases(folder, library))
    try:
        for major in MAJORS:
            releases.update(again_and_again(offered, major, library))
    except Unavailable as failure:
        print(f"fetch.py: only what is cached: {failure}", file=sys.stderr)
    return sorted(releases, key=release_key)


def registry_ends():
    """The oldest and the newest release of the registry."""
    releases = sorted({row["release"] for row in registry.read(REGISTRY, "levels")})
    return [registry.version_text(releases[end]) for end in (0, -1)]


# ------------------------------------------------------------------------ command line

def release_list(text):
    """12.4,13.0 as a list."""
    names = [name for name in re.split(r"[\s,]+", text) if name]
    if not all(re.fullmatch(r"[1-9]\d*\.(0|[1-9]\d*)", name) for name in names):
        raise argparse.ArgumentTypeError(f"'{text}' is not a release such as 12.4")
    return names


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", nargs="*", type=release_list,
                        help="toolkit releases, such as 12.4; default: all that pip finds")
    parser.add_argument("--ends", action="store_true",
                        help="of the releases that the registry knows, the oldest and the newest")
    parser.add_argument("--require", type=release_list, default=[], metavar="RELEASE,...",
                        help="fetch these too, and exit 1 if one of them could not be had")
    parser.add_argument("--cache", metavar="DIR", help="the cache (see below)")
    parser.add_argument("--library", choices=LIBRARIES, default="cuda",
                        help="whose headers; default: %(default)s")
    parser.add_argument("--list", action="store_true",
                        help="fetch nothing; print what is in the cache, as JSON")
    return parser.parse_args()


def main():
    """Fetch, and print one line a release."""
    options = parse_arguments()
    library = LIBRARIES[options.library]
    folder = headers_folder(options.cache, library)
    if options.list:
        print(json.dumps([{"release": release, "path": str(folder / release)}
                          for release in cached_releases(folder, library)], indent=2))
        return 0
    named = [release for group in options.release for release in group]
    if options.ends:
        named += registry_ends()
    wanted = list(dict.fromkeys([*(named or all_releases(folder, library)),
                                *options.require]))
    reasons = fetch(folder, wanted, library)
    have = [release for release in wanted if complete(folder, release, library)]
    for release in wanted:
        print(f"{release} {folder / release}" if release in have else
              f"{release} unavailable: {reasons[release]}")
    return 0 if have and set(options.require) <= set(have) else 1


if __name__ == "__main__":
    sys.exit(main())

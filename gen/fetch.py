#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetch NVIDIA's headers of every toolkit release, for gen/scan.py and the tests.

They come out of the wheels that pip finds with this machine's own configuration. They are
NVIDIA's: they go to a cache outside the work tree, and are never committed.
"""
import json
import re
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fetching
import registry
from fetching import Unavailable, again_and_again, locked, version_key
from libraries import CUDA, LIBRARIES

REGISTRY = Path(__file__).resolve().parent / "registry"
MAJORS = (11, 12, 13)
LAST_SUFFIXED = 12  # up to CUDA 12 the major release is part of a package's name
TAGS = {
    "linux": ("manylinux2014_x86_64", "manylinux1_x86_64", "manylinux_2_17_x86_64"),
    "windows": ("win_amd64",),
}
AT_ONCE = 4  # most of the time is pip's own start
LAYOUT = """\
layout of the cache:
  <cache>/headers/<release>/<linux|windows>/*.h, of the newest patch of each release
  <cache>/headers-nvml/<release>/linux/nvml.h, with --library nvml
  What is there is not asked for again; to have a release anew, remove its folder.
"""


# ---------------------------------------------------------------------------- the cache

def headers_folder(option=None, library=CUDA):
    """The folder that holds one folder per release."""
    return fetching.cache_folder(library.cache, option)


def complete(folder, release, library=CUDA):
    """Whether the cache has a release, for all platforms."""
    return all((folder / release / platform / name).is_file()
               for platform in library.platforms for name in library.needed)


def cached_releases(folder, library=CUDA):
    """Releases in the cache, oldest first."""
    names = [path.name for path in folder.glob("*") if re.fullmatch(r"\d+\.\d+", path.name)]
    return sorted((name for name in names if complete(folder, name, library)), key=version_key)


# ---------------------------------------------------------------------------------- pip

def pip(*arguments):
    """Run pip; its output, or Unavailable with its own words."""
    return fetching.run(what_failed, sys.executable, "-m", "pip", "--disable-pip-version-check",
                        "--retries", "1", *arguments)


def what_failed(_, stderr):
    """Pip's reason, and whether another try may help."""
    missing = re.search(r"satisfies the requirement (\S+) \(from versions: (?!none)", stderr)
    if missing:  # it knows other versions, and so was answered
        return f"pip finds no {missing[1]} for this platform", False
    broken = re.search(r"connection broken by .*: (.*?)'\)", stderr)
    if broken:
        return f"pip reaches no package index: {broken[1]}", True
    errors = re.findall(r"^ERROR: (.*)", stderr, re.M) or stderr.splitlines()[-1:]
    return f"pip: {errors[0]}", True


def package(name, major):
    """A package's name for a major release."""
    return f"{name}-cu{major}" if major <= LAST_SUFFIXED else name


def offered(major, library):
    """Releases of a major release, and of all later ones where that is the last we name apart."""
    shown = pip("index", "versions", package(library.packages[0], major))
    listed = re.search(r"^Available versions: (.*)", shown, re.M)
    releases = {".".join(version.split(".")[:2])
                for version in re.findall(r"\d+\.\d+\.\d+", listed[1] if listed else "")}
    return [release for release in releases if version_key(release)[0] >= major]


def unpack(library, names, release, platform, into):
    """Put the headers of some packages' newest patch of a release into a folder."""
    tags = [word for tag in TAGS[platform] for word in ("--platform", tag)]
    wanted = [f"{package(name, version_key(release)[0])}=={release}.*" for name in names]
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
        fetching.put(ready, folder / release)


def check(headers, release, library):
    """Refuse what does not call itself that release."""
    major, minor = version_key(release)
    for name in library.needed:
        if not (headers / name).is_file():
            raise Unavailable(f"the wheel for {headers.name} has no {name}")
    if not library.version:
        return  # the header does not say
    text = (headers / "cuda.h").read_text(encoding="utf-8", errors="replace")
    if not re.search(rf"^#define CUDA_VERSION {major * 1000 + minor * 10}\s*$", text, re.M):
        raise Unavailable(f"cuda.h for {headers.name} does not call itself {release}")


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
    return sorted(releases, key=version_key)


def registry_ends():
    """The oldest and the newest release of the registry."""
    releases = sorted({row["release"] for row in registry.read(REGISTRY, "levels")})
    return [registry.version_text(releases[end]) for end in (0, -1)]


# ------------------------------------------------------------------------ command line

def main():
    """Fetch, and print one line a release."""
    parser = fetching.command_line(__doc__, LAYOUT, LIBRARIES, r"[1-9]\d*\.(0|[1-9]\d*)",
                                   "release such as 12.4", "all that pip finds")
    parser.add_argument("--ends", action="store_true",
                        help="of the releases that the registry knows, the oldest and the newest")
    options = parser.parse_args()
    library = LIBRARIES[options.library]
    folder = headers_folder(options.cache, library)
    if options.list:
        print(json.dumps([{"release": release, "path": str(folder / release)}
                          for release in cached_releases(folder, library)], indent=2))
        return 0
    named = fetching.named(options) + (registry_ends() if options.ends else [])
    wanted = list(dict.fromkeys([*(named or all_releases(folder, library)),
                                *options.require]))
    reasons = fetch(folder, wanted, library)
    lines = {release: f"{release} {folder / release}" for release in wanted
             if complete(folder, release, library)}
    return fetching.report(wanted, options.require, lines, reasons)


if __name__ == "__main__":
    sys.exit(main())

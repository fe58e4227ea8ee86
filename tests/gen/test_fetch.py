# SPDX-License-Identifier: MIT
"""gen/fetch.py, with pip looking at a folder of small wheels of our own instead of a registry."""

import importlib.util
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from handmade import GEN

sys.path.insert(0, str(GEN))
import fetch as script  # noqa: E402 pylint: disable=wrong-import-position
import fetching  # noqa: E402 pylint: disable=wrong-import-position

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("pip"), reason="no pip")

RUNTIME, PROFILER = "nvidia_cuda_runtime", "nvidia_cuda_profiler_api"
TAGS = {"linux": "manylinux1_x86_64", "windows": "win_amd64"}
# package, version, platforms: as the registry has them, in small.
OFFERED = [
    (f"{RUNTIME}_cu11", "11.7.9", ("linux", "windows")),
    (f"{RUNTIME}_cu12", "12.9.1", ("linux", "windows")),
    (f"{RUNTIME}_cu12", "12.10.2", ("linux", "windows")),
    (f"{RUNTIME}_cu12", "12.10.11", ("linux", "windows")),
    (RUNTIME, "0.0.1", ("linux",)),
    (RUNTIME, "13.0.48", ("linux", "windows")),
    (RUNTIME, "14.0.1", ("linux",)),
    (f"{PROFILER}_cu11", "11.8.1", ("linux", "windows")),
    (f"{PROFILER}_cu12", "12.9.7", ("linux", "windows")),
    (f"{PROFILER}_cu12", "12.10.3", ("linux", "windows")),
    (PROFILER, "13.0.39", ("linux", "windows")),
]


def wheel(folder, package, version, platform, files):
    """Write a wheel that holds FILES."""
    info = f"{package}-{version}.dist-info"
    tag = f"py3-none-{TAGS[platform]}"
    with zipfile.ZipFile(folder / f"{package}-{version}-{tag}.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\n"
                         f"Name: {package.replace('_', '-')}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
                         f"Root-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{info}/RECORD", "")


def contents(package, version, platform):
    """Headers of one of the packages, and files that are none of our business."""
    if package.startswith(PROFILER):
        return {"nvidia/cuda_profiler_api/include/cudaProfiler.h": platform}
    major, minor, patch = version.split(".")
    base = "nvidia/cuda_runtime/include/"
    return {f"{base}cuda.h": f"/* {platform} {patch} */\n"
            f"#define CUDA_VERSION {int(major) * 1000 + int(minor) * 10}\n",
            **{base + name: name for name in ("cudaTypedefs.h", "cudaGL.h", "cuda_vdpau_interop.h",
                                              "cuda_runtime.h", "crt/cudaInner.h")},
            "nvidia/cuda_runtime/lib/cuda.h": "not this one"}


@pytest.fixture(name="wheels")
def wheels_fixture(tmp_path):
    """A folder of wheels."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for package, version, platforms in OFFERED:
        for platform in platforms:
            wheel(folder, package, version, platform, contents(package, version, platform))
    return folder


def fetch(wheels, cache, *arguments):
    """The finished fetch.py, whose pip sees nothing but the wheels."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "CUSHIM_CACHE": str(cache),
                    "PIP_CONFIG_FILE": os.devnull}
    return subprocess.run([sys.executable, GEN / "fetch.py", *arguments], capture_output=True,
                          text=True, check=False, env=environment)


def tree(folder):
    """Every file below a folder with its text."""
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8")
            for path in Path(folder).rglob("*") if path.is_file() and path.name != ".lock"}


def test_all(wheels, tmp_path):
    """Without arguments every release, its newest patch, both platforms, headers and no more."""
    done = fetch(wheels, tmp_path / "cache")
    headers = tmp_path / "cache" / "headers"
    assert done.stdout.splitlines() == [
        *(f"{release} {headers / release}" for release in ("11.7", "12.9", "12.10", "13.0")),
        "14.0 unavailable: pip finds no nvidia-cuda-runtime==14.0.* for this platform"]
    assert done.returncode == 0
    files = tree(headers)
    assert {name for name in files if name.startswith("12.10/")} == {
        f"12.10/{platform}/{name}" for platform in TAGS
        for name in ("cuda.h", "cudaTypedefs.h", "cudaGL.h", "cudaProfiler.h",
                     "cuda_vdpau_interop.h")}
    for platform in TAGS:
        assert files[f"12.10/{platform}/cuda.h"].startswith(f"/* {platform} 11 */")
        assert files[f"12.10/{platform}/cudaProfiler.h"] == platform
    assert "11.7/linux/cuda.h" in files and "11.7/linux/cudaProfiler.h" not in files
    assert not list(headers.glob(".new-*"))


def test_cached(wheels, tmp_path):
    """What is cached is not asked for again; the rest of the wheels may be gone."""
    cache = tmp_path / "cache"
    fetch(wheels, cache, "12.9,13.0")
    before = tree(cache)
    for file in wheels.iterdir():
        file.unlink()
    done = fetch(wheels, cache, "13.0", "--require", "12.9")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [f"{release} {cache / 'headers' / release}"
                                        for release in ("13.0", "12.9")]
    assert tree(cache) == before
    listed = json.loads(fetch(wheels, cache, "--list").stdout)
    assert listed == [{"release": release, "path": str(cache / "headers" / release)}
                      for release in ("12.9", "13.0")]


def test_required(wheels, tmp_path):
    """A required release that is not to be had is a failure; the others are fetched."""
    done = fetch(wheels, tmp_path / "cache", "13.0", "--require", "12.9,12.7")
    assert done.returncode == 1
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["13.0", str(tmp_path / "cache/headers/13.0")],
        ["12.9", str(tmp_path / "cache/headers/12.9")], ["12.7", "unavailable:"]]


def test_damaged_cache(wheels, tmp_path):
    """A release that lacks a platform, and what a killed run left, are replaced."""
    headers = tmp_path / "cache" / "headers"
    (headers / "13.0" / "linux").mkdir(parents=True)
    (headers / ".new-killed" / "13.0").mkdir(parents=True)
    (headers / "13.0" / "linux" / "stale.h").touch()
    assert json.loads(fetch(wheels, tmp_path / "cache", "--list").stdout) == []
    assert fetch(wheels, tmp_path / "cache", "13.0").returncode == 0
    assert "13.0/linux/stale.h" not in tree(headers)
    assert sorted(path.name for path in headers.iterdir()) == [".lock", "13.0"]


@pytest.mark.parametrize("platform, files, words", [
    ("windows", {"nvidia/include/cuda.h": "#define CUDA_VERSION 13000\n"},
     "the wheel for windows has no cudaTypedefs.h"),
    ("linux", {"nvidia/include/cuda.h": "#define CUDA_VERSION 12090\n",
               "nvidia/include/cudaTypedefs.h": ""},
     "cuda.h for linux does not call itself 13.0"),
])
def test_bad_wheel(platform, files, words, wheels, tmp_path):
    """A wheel that is not what it says leaves no trace in the cache."""
    wheel(wheels, RUNTIME, "13.0.99", platform, files)
    done = fetch(wheels, tmp_path / "cache", "13.0")
    assert done.stdout == f"13.0 unavailable: {words}\n"
    assert done.returncode == 1
    assert tree(tmp_path / "cache") == {}


@pytest.mark.parametrize("failures, again, calls", [(2, True, 3), (9, True, 3), (9, False, 1)])
def test_tries(failures, again, calls, monkeypatch):
    """What may pass is tried three times; what pip has answered is not asked again."""
    monkeypatch.setattr(fetching, "PAUSE_SECONDS", 0)
    made = []

    def action(argument):
        made.append(argument)
        if len(made) <= failures:
            raise fetching.Unavailable("no", again)
        return "had"

    if failures < calls:
        assert fetching.again_and_again(action, 1) == "had"
    else:
        with pytest.raises(fetching.Unavailable):
            fetching.again_and_again(action, 1)
    assert made == [1] * calls


@pytest.mark.parametrize("words, reason, again", [
    ("WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('<pip "
     "object>: Failed to establish a new connection: [Errno 111] Connection refused')': /simple/\n"
     "ERROR: Could not find a version that satisfies the requirement a==1.* (from versions: none)",
     "pip reaches no package index: [Errno 111] Connection refused", True),
    ("ERROR: Could not find a version that satisfies the requirement a==1.* (from versions: 2.0)",
     "pip finds no a==1.* for this platform", False),
    ("ERROR: something else", "pip: something else", True),
    ("/usr/bin/python3: No module named pip", "pip: /usr/bin/python3: No module named pip", True),
    ("exit code 2", "pip: exit code 2", True),
])
def test_reasons(words, reason, again):
    """Of all that pip says, the one sentence that helps."""
    assert script.what_failed([], words) == (reason, again)


def test_no_cache_folder(wheels, tmp_path):
    """A cache that cannot be made is a sentence, not a trace."""
    (tmp_path / "cache").touch()
    done = fetch(wheels, tmp_path / "cache", "13.0")
    assert done.stdout.startswith("13.0 unavailable: ") and str(tmp_path) in done.stdout
    assert (done.returncode, done.stderr) == (1, "")


def test_usage(wheels, tmp_path):
    """A release is two numbers."""
    for argument in ("12", "12.x", "twelve", "012.4", "12.4.1"):
        done = fetch(wheels, tmp_path / "cache", argument)
        assert done.returncode == 2
        assert f"'{argument}' is not a release such as 12.4" in done.stderr


def test_no_address():
    """No network address is written down: which registry pip asks is the machine's choice."""
    for name in ("archive", "fetch", "fetching"):
        assert "://" not in (GEN / f"{name}.py").read_text(encoding="utf-8")

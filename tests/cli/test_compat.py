# SPDX-License-Identifier: MIT
"""`cushim compat`: releases, drivers' versions, drivers' files, and bad words."""

import json
import re

import pytest
from command import (FAILED, FAKE_GPU, NO_DRIVER, OK, ROOT, USAGE, each_branch, real_driver, run,
                     run_on)

pytest_generate_tests = each_branch

FACTS = [json.loads(line) for line in
         (ROOT / "gen/registry/drivers.jsonl").read_text(encoding="utf-8").splitlines()]


def compat(*arguments):
    """The JSON output."""
    result = run("compat", "--json", *arguments)
    assert (result.code, result.err) == (OK, "")
    return result.json()


def test_release_text():
    result = run("compat", "12.4")
    assert (result.code, result.err) == (OK, "")
    assert [line.split(maxsplit=1) for line in result.out.splitlines()] == [
        ["CUDA", "12.4"],
        ["Linux", "550.54.14, Update 1: 550.54.15"],
        ["runs", "from     525.60.13, without what came after that driver's own release"],
        ["Windows", "551.61, Update 1: 551.78"],
        ["runs", "from     528.33, without what came after that driver's own release"],
        ["before", "that     package cuda-compat-12-4, on Linux and data center GPUs, some RTX "
         "and Jetson"],
        ["newest", "PTX      8.4"]]


def test_every_release():
    for release in sorted({row["toolkit"] for row in FACTS if "toolkit" in row}):
        answer = compat(f"{release // 1000}.{release % 1000 // 10}")
        assert list(answer) == ["release", "toolkits", "runs_from", "compat_package", "ptx"]
        assert answer["release"] == release
        assert answer["toolkits"] == [
            {name: row[name] for name in ("update", "linux", "windows")}
            for row in FACTS if row.get("toolkit") == release]
        assert answer["ptx"] == next(row["ptx"] for row in FACTS if row.get("release") == release)
        family = [row for row in FACTS if row.get("family") == release // 1000]
        assert answer["runs_from"]["limited"] == bool(family)
        assert answer["runs_from"]["linux"] == (family or answer["toolkits"])[0]["linux"]


def test_driver_version():
    assert compat("550.163.01") == {"driver": "550.163.01", "release": 12040,
                                    "newer": False, "windows": False, "runs": [6050, 12040],
                                    "limited": [12050, 12090], "not": [13000, 13040], "ptx": 84}
    assert compat("550")["not"] == [13000, 13040] and compat("550")["release"] == 12040


@pytest.mark.parametrize("version, release", [("565.57.01", 12070), ("615.1", 13040),
                                              ("999.1", 13040)])
def test_driver_of_no_known_toolkit(version, release):
    """It runs at least its own release's programs; a later branch than all counts as the last."""
    answer = compat(version)
    assert (answer["release"], answer["runs"]) == (release, [6050, release])
    assert answer["newer"] == (version == "999.1")
    text = run("compat", version).out
    assert ("newer than this build knows: at least CUDA 13.4" in text) == answer["newer"]
    assert ("at least up to 9.4" in text) == answer["newer"]


@pytest.mark.parametrize("version, limited", [
    ("450.36.06", []), ("450.51.05", []), ("450.51.06", []), ("450.57", []), ("450.66", []),
    ("450.80.02", [11010, 11080]), ("450", [11010, 11080]), ("455.23.05", [11020, 11080]),
    ("525.53", []), ("525.60.13", [12010, 12090]), ("525", [12010, 12090]),
    ("580.65.06", [13010, 13040]),
])
def test_oldest_of_a_family(version, limited):
    """A driver that is older than the one that serves the family serves its own release alone."""
    assert compat(version)["limited"] == limited


@pytest.mark.parametrize("version, release", [
    ("340.108", 6050), ("375.26", 8000), ("384.130", 9000), ("387.26", 9010), ("390.25", 9010),
    ("390.157", 9010), ("396.24", 9020), ("410.48", 10000), ("450.36.06", 11000)])
def test_below_the_first_toolkit(version, release):
    """A branch is of the release of the branch before it at least."""
    answer = compat(version)
    assert (answer["release"], answer["runs"]) == (release, [6050, release])
    assert re.search(r"^  runs +CUDA ", run("compat", version).out, re.M)


@pytest.mark.parametrize("version, limited", [
    ("451.48", []), ("452.39", [11010, 11080]), ("527.41", []), ("528.33", [12010, 12090]),
    ("551.61", [12050, 12090])])
def test_windows(version, limited):
    """A driver of Windows' table is judged by it: 528.33 is the oldest for all of 12 there, and
    525.60.13 on Linux; and no cuda-compat package is for it."""
    answer = compat(version)
    assert (answer["windows"], answer["limited"]) == (True, limited)
    text = run("compat", version).out
    assert text.startswith(f"{version} on Windows, CUDA ") and "cuda-compat" not in text


def test_windows_and_linux():
    """Of each version in the tables one system alone has the driver, so none is doubtful."""
    tables = [row for row in FACTS if "toolkit" in row or "family" in row]
    windows = {row["windows"] for row in tables} - {None}
    assert len(windows) > 40 and not windows & {row["linux"] for row in tables}
    for version in sorted(windows)[::9]:
        assert compat(version)["windows"]
    for version in sorted({row["linux"] for row in tables})[::9]:
        assert not compat(version)["windows"]


def test_driver_text():
    lines = run("compat", "450.80.02").out.splitlines()
    assert lines[0] == "450.80.02, CUDA 11.0"
    assert [line[18:] for line in lines[1:]] == [
        "CUDA 11.0 and earlier", "CUDA 11.1 to 11.8: without their new entries and PTX",
        "CUDA 12.0 and later, but with a cuda-compat package on data center GPUs",
        "up to 7.0; a later one ends with error 222"]


def test_real_drivers(branch):
    """The release that a driver's version stands for is what the driver itself reports."""
    driver = real_driver(branch)
    result = run_on(driver, "info", "--json")
    reported = result.json()["driver"]
    assert compat(driver.version)["release"] == reported["version"]
    assert reported["ptx"] == compat(driver.version)["ptx"]


def test_file():
    answer = compat(FAKE_GPU)
    assert answer["driver"] == FAKE_GPU
    assert answer["release"] == 10020
    assert run("compat", CUSHIM_LIBCUDA=FAKE_GPU).out.startswith(f"{FAKE_GPU}, CUDA 10.2\n")


def test_info_has_the_line():
    out = run("info", "--driver", FAKE_GPU).out
    assert "  runs            programs of CUDA up to 10.2; PTX up to 6.5; a cuda-compat" in out


@pytest.mark.parametrize("words, code, message", [
    ("12.4.1", USAGE, "is no CUDA release"), ("new", USAGE, "is no CUDA release"),
    ("", USAGE, "is no CUDA release"), ("0.5", USAGE, "is no CUDA release"),
    ("99.9", FAILED, "nothing is known of CUDA 99.9; the newest one whose driver is known is 13.4"),
    ("100.1", FAILED, "no release is known for driver 100.1"),
    ("100", FAILED, "no release is known for driver 100"),
    ("550.1.2.3", FAILED, "no release is known for driver 550.1.2.3"),
    ("5500", USAGE, "is no CUDA release"), ("550x", USAGE, "is no CUDA release"),
    ("/nonexistent/libcuda.so.1", NO_DRIVER, "/nonexistent/libcuda.so.1"),
])
def test_bad_words(words, code, message):
    result = run("compat", words)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_two_words():
    result = run("compat", "12.4", "12.5")
    assert result.code == USAGE
    assert "there is also '12.5'" in result.err

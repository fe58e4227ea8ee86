# SPDX-License-Identifier: MIT
"""`cushim newer` and `cushim diff`: against nm, against the registry, and files that are none."""

import os

import pytest
from command import (DRIVERS, FAILED, FAKE_GPU, INPUT, NO_DRIVER, OK, USAGE, each_branch,
                     nm_exports, real_driver, registry, run)
from real_drivers import is_private

pytest_generate_tests = each_branch

ENTRIES = registry()
SINCE = {entry["symbol"]: entry["since"] for entry in ENTRIES}


def newer(*arguments):
    """The symbols of the JSON output, in its order, and which of them are private."""
    result = run("newer", "--json", *arguments)
    assert (result.code, result.err) == (OK, "")
    answer = result.json()
    assert list(answer) == ["driver", "release", "level", "symbols"]
    return {row["symbol"]: row for row in answer["symbols"]}


def driver_symbols(path):
    """What a driver exports of the driver API, documented or not."""
    return {name for name in nm_exports(path) if name.startswith("cu")}


@pytest.mark.in_all
def test_level_is_the_difference_of_two_drivers():
    """What driver 550 has beyond 12.2 is what it exports and driver 535, of 12.2, does not."""
    old, new = real_driver("535"), real_driver("550")
    found = newer("--driver", new.path, "--level", "12.2")
    public = {name for name, row in found.items() if not row["private"]}
    assert public == {name for name in driver_symbols(new.path) - driver_symbols(old.path)
                      if not is_private(name)}
    assert public == {name for name in driver_symbols(new.path) if SINCE.get(name, 0) > 12020}


def test_every_driver(branch):
    """All that the registry does not know is private; with a level the newer entries come too."""
    path = real_driver(branch).path
    exports = driver_symbols(path)
    found = newer("--driver", path)
    assert set(found) == {name for name in exports if name not in SINCE}
    assert all(row["private"] and is_private(name) for name, row in found.items())
    found = newer("--driver", path, "--level", "8.0")
    assert set(found) == {name for name in exports if SINCE.get(name, 99999) > 8000}
    for name, row in found.items():
        assert row["since"] == SINCE.get(name)
        assert row["private"] == (name not in SINCE)


def test_how_to_reach_them():
    path = real_driver("550").path
    out = run("newer", "--driver", path, "--level", "12.2").out
    assert 'cushim_proc(cu, "cuGraphAddNode", 12030, CUSHIM_STREAM_LEGACY, &why)' in out
    assert 'cushim_proc(cu, "cuStreamBeginCaptureToGraph", 12030, CUSHIM_STREAM_PTSZ, &why)' in out
    assert out.splitlines()[-1].endswith("of these private")


def test_search(tmp_path):
    assert run("newer", CUSHIM_LIBCUDA=FAKE_GPU).out.startswith(f"{FAKE_GPU}, exports of CUDA ")
    result = run("newer", CUSHIM_LIBCUDA=tmp_path / "none")
    assert (result.code, result.out) == (NO_DRIVER, "")


def bad_files(folder):
    """Files that no driver is, each with a word of the sentence."""
    cases = {"empty": (b"", "not an ELF file"), "text": (b"#!/bin/sh\n", "not an ELF file"),
             "short": (b"\x7fELF", "damaged"),
              "head": (b"\x7fELF\2\1\1" + bytes(57), "exports no entry")}
    for name, (content, word) in cases.items():
        (folder / name).write_bytes(content)
        yield folder / name, word
    whole = open(FAKE_GPU, "rb").read()
    (folder / "cut").write_bytes(whole[:len(whole) // 2])
    yield folder / "cut", "truncated"
    yield folder, "folder"
    yield folder / "missing", "No such file"
    yield "/dev/null", "not a regular file"
    os.mkfifo(folder / "pipe")
    yield folder / "pipe", "not a regular file"
    yield "/bin/true", "exports no entry"


def test_bad_files(tmp_path):
    for path, word in bad_files(tmp_path):
        for arguments in (["newer", "--driver", path], ["diff", path, "12.4"],
                          ["diff", "12.4", path]):
            result = run(*arguments)
            assert (result.code, result.out) == (INPUT, ""), path
            assert str(path) in result.err and word in result.err


@pytest.mark.parametrize("level, message", [
    ("x", "'x' is not a CUDA release"), ("99", "'99' is no CUDA release up to"),
    ("13.9", "'13.9' is no CUDA release up to"), ("", "'' is not a CUDA release"),
])
def test_bad_levels(level, message):
    result = run("newer", "--level", level)
    assert (result.code, result.out) == (USAGE, "")
    assert message in result.err


def diff(one, other):
    """The JSON output, where there is a difference."""
    result = run("diff", "--json", one, other)
    assert (result.code, result.err) == (FAILED, "")
    return result.json()


@pytest.mark.parametrize("words, message", [
    ([], "two expected"), (["12.4"], "two expected"), (["12.4", "12.5", "12.6"], "also '12.6'"),
    (["12.4", "99.9"], "'99.9' is no CUDA release"), (["new", "12.4"], "'new' is no CUDA release"),
    (["12.4", "libcuda.so.1"], "no path with a slash"),
])
def test_diff_bad_words(words, message):
    result = run("diff", *words)
    assert (result.code, result.out) == (USAGE, "")
    assert message in result.err


def test_diff_releases():
    answer = diff("12.4", "12.5")
    linux = {entry["symbol"] for entry in ENTRIES if entry.get("platform") != "windows"}
    assert set(answer["entries_gained"]) == {name for name in linux if SINCE[name] == 12050}
    assert answer["entries_lost"] == answer["features_lost"] == []
    assert answer["features_gained"] == ["context-events", "green-context-streams",
                                         "launch-carveout"]
    assert {"name": "cuCtxCreate", "stream": "legacy", "a": "cuCtxCreate_v3",
            "b": "cuCtxCreate_v4"} in answer["meanings"]


def test_diff_is_symmetrical():
    there, back = diff("11.4", "12.2"), diff("12.2", "11.4")
    for kind in ("entries", "features"):
        assert there[f"{kind}_gained"] == back[f"{kind}_lost"]
    assert sorted((row["name"], row["a"], row["b"]) for row in there["meanings"]) == \
        sorted((row["name"], row["b"], row["a"]) for row in back["meanings"])


def test_diff_of_the_same():
    result = run("diff", "12.4", "550.163.01")
    assert (result.code, result.err) == (OK, "")
    assert result.out.splitlines() == ["A CUDA 12.4", "B driver 550.163.01, CUDA 12.4",
                                       "no difference"]


def test_diff_of_drivers():
    paths = [DRIVERS[branch].path for branch in DRIVERS]
    for one, other in zip(paths, paths[1:]):
        answer = diff(one, other)
        first, second = driver_symbols(one), driver_symbols(other)
        for name, expected in (("gained", second - first), ("lost", first - second)):
            assert set(answer[f"entries_{name}"]) == expected


def test_nothing_is_executed():
    """A driver whose constructor or cuInit would end the process is read all the same."""
    fake = os.path.join(os.path.dirname(FAKE_GPU), "../fakes/fake_init_aborts.so")
    assert run("newer", "--driver", fake).code == OK

# SPDX-License-Identifier: MIT
"""`cushim newer` and `cushim diff`: against nm, against the registry, and files that are none."""

import json
import os
import shutil
import subprocess
import sys

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


def answers(path, questions):
    """What a real driver's cuGetProcAddress gives: {question: symbol or None}."""
    code = """
import ctypes, json, sys
library = ctypes.CDLL(sys.argv[1])
exports = {ctypes.cast(library[name], ctypes.c_void_p).value: name for name in sys.argv[2].split()}
new = hasattr(library, "cuGetProcAddress_v2")
ask = library.cuGetProcAddress_v2 if new else library.cuGetProcAddress
version = ctypes.c_int()
library.cuDriverGetVersion(ctypes.byref(version))
for question in json.loads(sys.stdin.read()):
    name, since, stream = question
    found, status = ctypes.c_void_p(), ctypes.c_int()
    more = [ctypes.byref(status)] if new else []
    ask(name.encode(), ctypes.byref(found), since or version.value,
        ctypes.c_ulonglong(1 if stream == "legacy" else 2), *more)
    print(json.dumps(exports.get(found.value)))
"""
    done = subprocess.run([sys.executable, "-c", code, path, " ".join(driver_symbols(path))],
                          input=json.dumps(questions), capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("level", ["3.0", "11.0", "12.0"])
def test_calls_reach_what_they_list(branch, level):
    """As for a registry that ends there: the driver's own version gives the newest ABI, an ABI's
    own release that ABI."""
    driver = real_driver(branch)
    if driver.cuda < 11030:  # no cuGetProcAddress: an exported symbol is all that there is
        rows = newer("--driver", driver.path, "--level", level)
        assert set(rows) <= set(driver_symbols(driver.path))
        return
    rows = [row for row in newer("--driver", driver.path, "--level", level).values()
            if not row["private"]]
    assert rows or level == "12.0" and driver.cuda <= 12000
    given = answers(driver.path, [(row["name"], None, row["stream"]) for row in rows])
    assert [row["symbol"] for row, symbol in zip(rows, given)
            if row["newest"] != (symbol == row["symbol"])] == []
    given = answers(driver.path, [(row["name"], row["since"], row["stream"]) for row in rows])
    assert [row["symbol"] for row, symbol in zip(rows, given) if symbol != row["symbol"]] == []


def test_unknown_entries(tmp_path):
    """A driver of tomorrow: the newest ABI is asked for by the driver's version, the others are
    found by their symbols."""
    names = "cuInit cuMemAlloc_v2 cuOfTomorrow cuOfTomorrow_v2 cuOfTomorrow_ptsz cuCtxCreate_v9"
    (tmp_path / "a.c").write_text("".join(f"int {name}(void) {{ return 0; }}\n"
                                          for name in names.split()))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "a.so", "a.c"], cwd=tmp_path, check=True)
    found = newer("--driver", tmp_path / "a.so")
    assert {name: row["newest"] for name, row in found.items()} == {
        "cuOfTomorrow": False, "cuOfTomorrow_v2": True, "cuOfTomorrow_ptsz": True,
        "cuCtxCreate_v9": True}
    lines = {line.split()[0]: line for line in
             run("newer", "--driver", tmp_path / "a.so").out.splitlines()}
    own = 'cushim_proc(cu, "{}", cushim_driver_version(cu), CUSHIM_STREAM_{}, &why)'
    assert lines["cuOfTomorrow"].endswith("by dlsym alone")
    assert lines["cuOfTomorrow_v2"].endswith(own.format("cuOfTomorrow", "LEGACY"))
    assert lines["cuOfTomorrow_ptsz"].endswith(own.format("cuOfTomorrow", "PTSZ"))
    assert lines["cuCtxCreate_v9"].endswith(own.format("cuCtxCreate", "LEGACY"))


def test_search(tmp_path):
    assert run("newer", CUSHIM_LIBCUDA=FAKE_GPU).out.startswith(f"{FAKE_GPU}, exports of CUDA ")
    result = run("newer", CUSHIM_LIBCUDA=tmp_path / "none")
    assert (result.code, result.out) == (NO_DRIVER, "")


@pytest.mark.in_all
def test_windows_driver(tmp_path):
    """The exports of a DLL."""
    if not shutil.which("x86_64-w64-mingw32-gcc"):
        pytest.skip("no x86_64-w64-mingw32-gcc")
    names = ["cuInit", "cuMemAllocAsync", "cuOfTomorrow_v2"]
    source = tmp_path / "driver.c"
    source.write_text("".join(f"__declspec(dllexport) int {name}(void) {{ return 0; }}\n"
                              for name in names), encoding="utf-8")
    subprocess.run(["x86_64-w64-mingw32-gcc", "-shared", source, "-o", tmp_path / "nvcuda.dll"],
                   check=True)
    lines = run("newer", "--driver", tmp_path / "nvcuda.dll").out.splitlines()
    assert lines[0].endswith("nvcuda.dll, exports of CUDA 11.2") and len(lines) == 3, lines
    assert lines[1].startswith("cuOfTomorrow_v2 ") and lines[2].startswith("1 not known")
    # A release beside it is that of Windows, whatever system the command runs on.
    words = [tmp_path / "nvcuda.dll", "12.4"]
    found = {way: json.loads(run("diff", "--json", *order).out)[f"entries_{way}"]
             for way, order in (("gained", words), ("lost", words[::-1]))}
    assert found["gained"] == found["lost"] and "cuD3D11GetDevice" in found["gained"]
    assert not any("EGL" in symbol or "VDPAU" in symbol for symbol in found["gained"])


def bad_files(folder):
    """Files that no driver is, each with a word of the sentence."""
    cases = {"empty": (b"", "neither an ELF file"), "text": (b"#!/bin/sh\n", "nor a PE file"),
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
    ("x", "'x' is no CUDA release"), ("99", "no CUDA release after"),
    ("13.9", "no CUDA release after"), ("", "'' is no CUDA release"),
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


def test_diff_has_releases():
    """Of each entry the one that it came with."""
    lines = run("diff", "11.1", "12.1").out.splitlines()
    assert {"  + cuMemAllocAsync, CUDA 11.2", "  + cuCtxGetId, CUDA 12.0"} <= set(lines)


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


@pytest.mark.parametrize("words, known", [(["650.10", "999.99"], "no difference is known"),
                                          (["12.4", "700"], "more may differ")])
def test_diff_of_unknown_releases(words, known):
    """Nothing is known of what came after this build; that is no equality."""
    result = run("diff", *words)
    assert (result.code, result.err) == (FAILED, "")
    assert known in result.out and "newer than this build knows: at least CUDA" in result.out
    assert "no difference\n" not in result.out
    answer = diff(*words)
    assert [answer[side]["newer"] for side in "ab"] == [words[0] == "650.10", True]


def test_diff_of_branches():
    assert diff("535", "550")["entries_gained"] == diff("535.261.03", "12.4")["entries_gained"]


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

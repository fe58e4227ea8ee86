# SPDX-License-Identifier: MIT
"""`cushim symbols`."""

from fnmatch import fnmatchcase

import pytest
from command import (FAKE_GPU, NO_DRIVER, OK, READERS, USAGE, each_branch, fake, nm_exports,
                     real_driver, registry, run, run_on)

pytest_generate_tests = each_branch

FIELDS = ["symbol", "name", "since", "stream", "header", "state", "via", "offset"]
ENTRIES = registry()


def check_schema(answer):
    """Names and values of the JSON output."""
    assert list(answer) == ["driver", "symbols"]
    assert list(answer["driver"]) == ["path", "version", "status"]
    for row in answer["symbols"]:
        assert list(row) == FIELDS
        available = row["state"] == "available"
        assert row["state"] in ("available", "newer", "absent", "platform", "no-driver")
        assert row["via"] in (("proc", "dlsym") if available else ("none",))
        assert row["stream"] in ("legacy", "ptsz", "ptds")
        if available:
            assert row["offset"].startswith("0x") and int(row["offset"], 16) > 0
        else:
            assert row["offset"] is None


def symbols(*arguments, driver=FAKE_GPU):
    """The rows of the JSON output."""
    result = run("symbols", "--json", "--driver", driver, *arguments)
    assert (result.code, result.err) == (OK, "")
    answer = result.json()
    check_schema(answer)
    return answer["symbols"]


def test_every_entry_once_and_as_in_the_registry():
    rows = symbols()
    facts = FIELDS[:5]
    assert [[row[name] for name in facts] for row in rows] == \
        [[entry[name] for name in facts] for entry in ENTRIES]


def test_text_has_the_same_rows():
    result = run("symbols", "--driver", FAKE_GPU)
    assert (result.code, result.err) == (OK, "")
    head, titles, *lines, tail = result.out.splitlines()
    rows = symbols()
    assert head == f"{FAKE_GPU}, CUDA 10.2"
    assert titles.split() == ["SYMBOL", "SINCE", "STREAM", "HEADER", "STATE", "VIA", "OFFSET"]
    assert [line.split() for line in lines] == [
        [row["symbol"], f"{row['since'] // 1000}.{row['since'] % 1000 // 10}", row["stream"],
         row["header"], row["state"], row["via"], row["offset"] or "-"] for row in rows]
    available = sum(row["state"] == "available" for row in rows)
    assert tail == f"{len(rows)} of {len(rows)} entries shown, {available} of these available"


def test_text_is_aligned():
    titles, *lines = run("symbols", "--driver", FAKE_GPU).out.splitlines()[1:-1]
    for title in ("SINCE", "STREAM", "HEADER", "STATE", "VIA", "OFFSET"):
        column = titles.index(title)
        for line in lines:
            assert line[column - 1] == " " != line[column], line


def test_missing():
    everything = symbols()
    assert symbols("--missing") == [row for row in everything if row["state"] != "available"]


@pytest.mark.parametrize("words, since", [("2.0", 2000), ("11.4", 11040), ("12", 12000),
                                          ("12.10", 12100), ("99.9", 99090)])
def test_since(words, since):
    assert symbols("--since", words) == [row for row in symbols() if row["since"] >= since]


@pytest.mark.parametrize("glob", ["cuMemAlloc", "cuMem*", "*_v2", "cuMemAlloc_v?", "cu[AB]*",
                                  "nothing", ""])
def test_name(glob):
    rows = symbols("--name", glob)
    assert [row["symbol"] for row in rows] == [
        entry["symbol"] for entry in ENTRIES
        if fnmatchcase(entry["symbol"], glob) or fnmatchcase(entry["name"], glob)]


def test_name_finds_all_abis():
    found = {row["symbol"] for row in symbols("--name", "cuMemAlloc")}
    assert found == {"cuMemAlloc", "cuMemAlloc_v2"}


def test_filters_together():
    rows = symbols("--name", "cuMem*", "--since", "11.2", "--missing")
    assert rows == [row for row in symbols() if row["name"].startswith("cuMem")
                    and row["since"] >= 11020 and row["state"] != "available"]
    tail = run("symbols", "--driver", FAKE_GPU, "--name", "cuMem*", "--since", "11.2",
               "--missing").out.splitlines()[-1]
    assert tail == f"{len(rows)} of {len(ENTRIES)} entries shown, 0 of these available"


@pytest.mark.parametrize("order, via", [("both", "proc"), ("symbols", "dlsym")])
def test_order(order, via):
    """The look-up is asked, unless the symbols alone are."""
    rows = symbols("--order", order, "--name", "cuMemAlloc", driver=fake("v12"))
    assert [row["via"] for row in rows] == [via, via]


@pytest.mark.parametrize("path, status", [("", "empty-path"),
                                          ("/nonexistent/libcuda.so.1", "not-found")])
def test_without_driver(path, status):
    result = run("symbols", "--json", CUSHIM_LIBCUDA=path)
    assert result.code == NO_DRIVER
    assert result.err.startswith("cushim symbols: ")
    answer = result.json()
    check_schema(answer)
    assert answer["driver"] == {"path": None, "version": 0, "status": status}
    assert len(answer["symbols"]) == len(ENTRIES)
    assert {row["state"] for row in answer["symbols"]} == {"no-driver"}


def test_text_without_driver():
    result = run("symbols", CUSHIM_LIBCUDA="/nonexistent/libcuda.so.1")
    assert result.code == NO_DRIVER
    assert result.out.startswith("no driver\n")
    assert "/nonexistent/libcuda.so.1" in result.err


def test_missing_without_driver_is_a_sentence():
    """All are missing: the table is for those that a name or a release asks for."""
    nowhere = {"CUSHIM_LIBCUDA": "/nonexistent/libcuda.so.1"}
    result = run("symbols", "--missing", **nowhere)
    assert (result.code, result.out) == (NO_DRIVER, "")
    assert result.err.count("\n") == 1 and "/nonexistent/libcuda.so.1" in result.err
    assert "cuMemAllocAsync" in run("symbols", "--missing", "--name", "cuMem*", **nowhere).out
    assert run("symbols", "--missing", "--json", **nowhere).json()["symbols"]


def test_name_without_driver_is_answered():
    """The registry has the release; a driver that was asked for, or what it lacks, it has not."""
    nowhere = {"CUSHIM_LIBCUDA": "/nonexistent/libcuda.so.1"}
    for more in ([], ["--json"]):
        result = run("symbols", "--name", "cuCtxCreate", *more, **nowhere)
        assert (result.code, result.err) == (OK, "") and "no-driver" in result.out
    for more in (["--missing"], ["--driver", "/nonexistent/libcuda.so.1"]):
        assert run("symbols", "--name", "cuCtxCreate", *more, **nowhere).code == NO_DRIVER


@pytest.mark.parametrize("command", ["symbols", "features", "compat", "info", "newer"])
def test_release_is_no_file(command):
    if command == "newer" and not READERS:
        pytest.skip("built without it")
    result = run(command, "--driver", "12.4")
    assert (result.code, result.out) == (USAGE, "")
    assert "by 'cushim sim --cuda 12.4 -- cushim ...'" in result.err


def test_the_driver_is_not_started(tmp_path):
    for more in ([], ["--json"], ["--audit"]):
        assert run("symbols", "--driver", FAKE_GPU, *more, FAKE_LOG=tmp_path / "log").code == OK
        assert (tmp_path / "log").read_text() == "cuInit 0\nheld 0\n"
        run("symbols", "--driver", fake("init_aborts"), *more)


@pytest.mark.parametrize("order", ["both", "symbols"])
def test_offsets_are_those_of_nm(branch, order):
    driver = real_driver(branch)
    result = run_on(driver, "symbols", "--json", "--order", order)
    assert (result.code, result.err) == (OK, "")
    answer = result.json()
    check_schema(answer)
    exports = nm_exports(driver.path)
    assert {row["symbol"]: int(row["offset"], 16) for row in answer["symbols"] if row["offset"]} \
        == {entry["symbol"]: exports[entry["symbol"]] for entry in ENTRIES
            if entry["symbol"] in exports}

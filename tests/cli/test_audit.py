# SPDX-License-Identifier: MIT
"""`cushim symbols --audit`."""

import pytest
from command import (FAILED, FAKE_GPU, NO_DRIVER, OK, each_branch, fake, real_driver, registry,
                     run, run_on)

pytest_generate_tests = each_branch

ROUTE = ["state", "via", "offset"]


def audit(driver, *arguments):
    """Exit code and JSON answer."""
    result = run("symbols", "--audit", "--json", "--driver", driver, *arguments)
    assert result.err == ""
    answer = result.json()
    assert list(answer) == ["driver", "compared", "differences"]
    assert list(answer["driver"]) == ["path", "version", "status"]
    for row in answer["differences"]:
        assert list(row) == ["symbol", "name", "since", "stream", "header", "reason", "proc",
                             "dlsym"]
        assert list(row["proc"]) == list(row["dlsym"]) == ROUTE
    return result.code, answer


@pytest.mark.parametrize("name", ["v12", "v13", "v11", "v10", "v6"])
def test_honest_driver(name):
    code, answer = audit(fake(name))
    assert answer["differences"] == []
    assert (code, answer["compared"]) == (OK, len(registry()))
    result = run("symbols", "--audit", "--driver", fake(name))
    assert result.code == OK
    assert f"{len(registry())} entries compared, 0 differences" in result.out


def test_driver_without_proc_is_said_to_be_one():
    assert "this driver has no cuGetProcAddress" in run("symbols", "--audit", "--driver",
                                                        FAKE_GPU).out


def test_driver_that_denies_what_it_exports():
    code, answer = audit(fake("proc_denies"))
    assert code == FAILED
    symbols = {row["symbol"] for row in answer["differences"]}
    assert {"cuMemAlloc", "cuMemAlloc_v2", "cuLaunchKernel"} <= symbols
    for row in answer["differences"]:
        assert row["reason"] == "exported, but cuGetProcAddress does not give it"
        assert row["dlsym"]["via"] == "dlsym"
        assert row["proc"] == {"state": "absent", "via": "none", "offset": None}


@pytest.mark.parametrize("name", ["proc_lies", "proc_garbage", "proc_fails", "proc_v1_fails"])
def test_driver_that_misbehaves(name):
    code, answer = audit(fake(name))
    assert code == FAILED
    assert answer["differences"]


def test_text():
    result = run("symbols", "--audit", "--driver", fake("proc_denies"))
    assert (result.code, result.err) == (FAILED, "")
    head, titles, *rows, tail = result.out.splitlines()
    assert head.endswith(", CUDA 12.4")
    assert titles.split() == ["SYMBOL", "SINCE", "PROC", "DLSYM", "DIFFERENCE"]
    answer = audit(fake("proc_denies"))[1]
    assert [row.split()[0] for row in rows] == [row["symbol"] for row in answer["differences"]]
    assert tail == f"{len(registry())} entries compared, {len(rows)} differences"


def test_filters():
    code, answer = audit(fake("proc_denies"), "--name", "cuMemAlloc")
    assert (code, answer["compared"], len(answer["differences"])) == (FAILED, 2, 2)
    code, answer = audit(fake("proc_denies"), "--name", "cuMemAlloc", "--since", "12.0")
    assert (code, answer["compared"], answer["differences"]) == (OK, 0, [])
    newer = [entry for entry in registry() if entry["since"] > 12040]
    code, answer = audit(fake("proc_denies"), "--since", "12.5")
    assert (code, answer["compared"]) == (OK, len(newer))


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_without_driver(more):
    result = run("symbols", "--audit", *more, CUSHIM_LIBCUDA="/nonexistent/libcuda.so.1")
    assert result.code == NO_DRIVER
    assert "/nonexistent/libcuda.so.1" in result.err


def test_real_driver(branch):
    result = run_on(real_driver(branch), "symbols", "--audit", "--json")
    assert (result.code, result.err) == (OK, "")
    assert result.json()["differences"] == []

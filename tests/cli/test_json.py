# SPDX-License-Identifier: MIT
"""docs/json.md: each member that a command prints is in its table, with its type."""

import re

import pytest
from command import (CLI, FAKE_GPU, FATBINS, READERS, ROOT, SIM_DRIVERS, SIM_NVML, fake,
                     run)

TYPES = {bool: "true or false", int: "number", float: "number", str: "text", type(None): "null"}
RUNS = {
    "info": [["info", "--init", "--driver", FAKE_GPU], ["info", "--driver", "/nonexistent/x"]],
    "symbols": [["symbols", "--driver", FAKE_GPU], ["symbols", "--driver", "/nonexistent/x"]],
    "symbols --audit": [["symbols", "--audit", "--driver", fake("proc_denies")],
                        ["symbols", "--audit", "--driver", fake("proc_lies")]],
    "features": [["features", "--driver", FAKE_GPU], ["features", "--driver", FAKE_GPU,
                                                      "--device", "0"]],
    "doctor": [["doctor", "--no-init"], ["doctor", "--root", "/nonexistent"]],
    "explain": [["explain", "222"], ["explain", "918"],
                ["explain", "truncated: 9 bytes, but a segment ends at 10"],
                ["explain", "cuMemAlloc is not available"]],
    "compat X.Y": [["compat", "12.4"], ["compat", "13.3"], ["compat", "10.1"]],
    "compat DRIVER": [["compat", "550.163.01"], ["compat", "340.108"]],
}
if READERS:
    RUNS |= {
        "newer": [["newer", "--driver", FAKE_GPU, "--level", "3.0"]],
        "diff": [["diff", "11.4", "12.5"], ["diff", "12.5", "11.4"]],
        "scan": [["scan", CLI, FAKE_GPU, FATBINS / "both.fatbin", "/none"],
                 ["scan", "--drivers", "9.0", CLI, ROOT / "docs/examples/graph.c"],
                 ["scan", "--drivers", "3.1,9.0", "--gpus", "maxwell,A100", CLI,
                  FATBINS / "both.fatbin"]],
    }
if SIM_DRIVERS:
    RUNS["info"].append(["info", "--init", "--driver", SIM_DRIVERS[-1]])
    RUNS["features"].append(["features", "--driver", SIM_DRIVERS[-1], "--device", "0"])
    RUNS["matrix"] = [["matrix", "--cuda", "12.4", "--fault-each", "--", CLI, "info"],
                      ["matrix", "--cuda", "12.4", "--fault", "cuInit", "--", CLI, "info",
                       "--init"],
                      ["matrix", "--cuda", "12.4", "--gate", "--", CLI, "info"]]


def members(value, path=""):
    """(path, type) of everything in a value that is no object and no array."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from members(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from members(inner, path + "[]")
    else:
        yield path, TYPES[type(value)]


def documented():
    """{command: {path: types}}"""
    tables = {}
    for line in (ROOT / "docs/json.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## cushim "):
            table = tables[line.removeprefix("## cushim ")] = {}
        elif row := re.match(r"\| `([^`]+)` \| ([^|]+) \|", line):
            table[row[1]] = set(row[2].split(", "))
    return tables


def test_all_are_there():
    assert set(RUNS) <= set(documented())


@pytest.mark.parametrize("command", RUNS)
def test_members(command):
    table, seen = documented()[command], set()
    nvml = {"CUSHIM_LIBNVIDIA_ML": str(SIM_NVML), "CUSHIM_SIM_SUMMARY": "0"} if SIM_NVML else {}
    for words in RUNS[command]:
        answer = run(words[0], "--json", *words[1:], **nvml).json()
        for path, kind in members(answer):
            path = re.sub(r"^all\.", "files[].", path)
            assert kind in table.get(path, ()), f"{path}: {kind}"
            seen.add(path)
    optional = {"init", "init.devices[].nvml", "nvml", "remarks[]", "files[].unknown[]",
                "files[].missing[].required[]", "files[].missing[].called[]",
                "files[].missing[].named[]", "files[].missing[].optional[]",
                "files[].runtime.library", "files[].runtime.release", "files[].runtime.floor",
                "python[]"}
    if not SIM_NVML:
        optional |= {path for path in table if ".nvml." in f".{path}"}
    assert set(table) - seen <= optional

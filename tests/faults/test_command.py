# SPDX-License-Identifier: MIT
"""Each call of the system that the command makes fails in turn. It ends with a sentence and one of
its exit codes, or with the whole answer. CUSHIM_FAULTS=all takes every call, not a selection."""

import os
import re
import subprocess
from pathlib import Path

import pytest

CLI = os.environ["CUSHIM_CLI"]
FAKE = str(Path(os.environ["CUSHIM_FAKES"]) / "fake_v12.so")
# What can fail, and which words name it. A dlopen(NULL) that fails is known of static programs.
KINDS = {"allocate": b"memory", "open": b"open files", "read": b"Input/output error|reading",
         "map": b"memory", "dlopen": b"memory|no reason|link the program dynamically"}
CODES = range(0, 6)
MOST = 12  # calls of one kind that fail, one in each run

COMMANDS = [
    ("info", "--driver", FAKE),
    ("info", "--driver", FAKE, "--json"),
    ("symbols", "--driver", FAKE, "--json"),
    ("features", "--driver", FAKE),
]
if os.environ["CUSHIM_READERS"]:
    COMMANDS += [("scan", FAKE), ("newer", "--driver", FAKE), ("diff", FAKE, "12.4")]


def run(command, fault, calls):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("CUSHIM_LIBCUDA", "CUSHIM_SIM"))}
    environment |= {"FAULT": fault, "FAULT_CALLS": str(calls), "LC_ALL": "C"}
    return subprocess.run([CLI, *command], env=environment, capture_output=True, timeout=60,
                          check=False)


def occurrences(count):
    if os.environ.get("CUSHIM_FAULTS") == "all" or count <= MOST:
        return range(1, count + 1)
    first = range(1, MOST // 2)
    return sorted({*first, *(count * i // (MOST // 2) for i in range(1, MOST // 2 + 1))})


def shown(done):
    """What it wrote, and what of that is about NVML, without which the command goes on. Without
    memory for a sentence "ok" stands for it."""
    nvml = rb'"nvml": {[^}]*}|(?<=NVML, for monitors and schedulers\n).*'
    rest = re.sub(nvml, b"", done.stdout)
    return re.sub(rb'"message": ".*?"', b"", rest), b"".join(re.findall(nvml, done.stdout))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_command(command, tmp_path):
    calls = tmp_path / "calls"
    faults = 0
    for kind, words in KINDS.items():
        whole = run(command, f"{kind}:0", calls)
        for first in occurrences(int(calls.read_text())):
            for on in ("", ":on"):
                done = run(command, f"{kind}:{first}{on}", calls)
                what = f"{kind}:{first}{on}: {done}"
                assert done.returncode in CODES, what
                if done.returncode == whole.returncode:
                    (rest, nvml), (rest_whole, nvml_whole) = shown(done), shown(whole)
                    assert rest == rest_whole, what
                    assert nvml == nvml_whole or re.search(words, nvml), what
                else:
                    assert re.search(words, done.stdout + done.stderr), what
                faults += 1
    assert faults > 0

# SPDX-License-Identifier: MIT
"""NVML's table on NVIDIA's real libraries, without a GPU.

A slot is filled if and only if the library exports that symbol, with the export's own address; and
the registry knows every symbol that a library exports, but for those that no header has.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from fetch import EXTRAS, LIBRARIES, REQUIRED, cached_drivers, drivers_folder
from real_drivers import ROOT, nm_exports

PROBE = os.environ["CUSHIM_NVML_PROBE"]
NVML = LIBRARIES["nvml"]
# Between parts of the driver; nscq is another library, of which one release had a copy inside.
PRIVATE = {"nvmlInternalGetExportTable", "nvmlRetry_NvRmControl", "nscq_init", "nscq_path_compile",
           "nscq_path_release", "nscq_session_create", "nscq_session_destroy", "nscq_shutdown"}
SYMBOLS = [json.loads(line)["symbol"] for line in
           (ROOT / "gen/registry/nvml/entries.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module", name="fetched")
def fetched_fixture():
    """{branch: path} of what is in the cache after fetch.py, and what it printed."""
    script = Path(__file__).with_name("fetch.py")
    done = subprocess.run([os.sys.executable, str(script), "--library", "nvml"],
                          capture_output=True, text=True, check=False, timeout=1500)
    assert done.returncode in (0, 1), done.stderr
    notes = cached_drivers(drivers_folder(None, NVML), NVML)
    return {note["branch"]: Path(note["path"]) for note in notes}, done.stdout


def exports_of(path):
    """{symbol: address} without the symbols' versions."""
    return {name.split("@")[0]: address for name, address in nm_exports(path).items()}


@pytest.mark.parametrize("branch", sorted((*REQUIRED, *EXTRAS)))
def test_every_export_and_no_other(branch, fetched):
    paths, said = fetched
    if branch not in paths:
        reason = next((line for line in said.splitlines() if line.startswith(branch)), branch)
        if branch in REQUIRED and os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run([PROBE, str(paths[branch])], capture_output=True, text=True, timeout=60,
                          check=False, env=os.environ | {"LD_LIBRARY_PATH": ""})
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [int(row[0]) for row in rows] == list(range(len(SYMBOLS)))
    exports = exports_of(paths[branch])
    wrong, filled = [], set()
    for number, kind, what, *sentence in rows:
        symbol = SYMBOLS[int(number)]
        if kind == "has":
            filled.add(symbol)
            if exports.get(symbol) != int(what):
                wrong.append(f"{symbol} has another address")
        elif symbol == "nvmlErrorString" or what != "13" or not sentence[0].startswith(
                f"{symbol} is not available: {paths[branch]} does not export it"):
            wrong.append(f"{symbol}: {what} {sentence}")
    assert not wrong
    assert set(exports) - filled <= PRIVATE
    print(f"# {branch}: {len(filled)} of {len(exports)} exports, 0 wrong")

# SPDX-License-Identifier: MIT
"""Facts from files, and `cushim measure`, which writes one."""

import json
import os
import re
import socket

import pytest
from command import (FAKE_GPU, FATBINS, INPUT, NO_DRIVER, OK, READERS, ROOT, SIM_DRIVERS, SYSTEM,
                     USAGE, each_branch, fake, nm_exports, real_driver, registry, run)
from scanning import build

pytest_generate_tests = each_branch

PAGE = (ROOT / "docs/facts.md").read_text(encoding="utf-8")
LINES = re.search(r"<!-- test: facts -->\n```\n(.*?)```", PAGE, re.S)[1]
NEEDS_READERS = pytest.mark.skipif(not READERS, reason="no libelf in this build")


@pytest.fixture(name="facts")
def facts_fixture(tmp_path):
    """The page's own file."""
    (tmp_path / "facts.jsonl").write_text(LINES)
    return tmp_path / "facts.jsonl"


def test_kinds():
    """The page has a row for each kind of line, and the example has a line of it."""
    kinds = [list(json.loads(line)) for line in LINES.splitlines()[1:]]
    rows = [re.findall(r"`(\w+)`", line.split("|")[1])
            for line in PAGE.partition("## What cushim")[0].splitlines() if line.startswith("| `")]
    assert sorted(kind[:-1] for kind in kinds) == sorted(rows)
    assert all(kind[-1] == "source" for kind in kinds)


def test_compat(facts):
    """A driver, a toolkit and a release that the build lacks."""
    assert "newer than this build knows" in run("compat", "625").out
    for word in ("625", "625.10.01", "625.99"):
        result = run("compat", "--json", "--facts", facts, word)
        assert (result.code, result.err) == (OK, "")
        answer = result.json()
        assert (answer["release"], answer["newer"], answer["ptx"]) == (13060, False, 96)
        assert answer["runs"] == [6050, 13060]
    assert "newer than this build" in run("compat", "--facts", facts, "626").out
    toolkit = run("compat", "--json", "--facts", facts, "13.6").json()
    assert toolkit["toolkits"] == [{"update": 0, "linux": "625.10.01", "windows": None}]
    assert toolkit["runs_from"] == {"linux": "580.65.06", "windows": None, "limited": True}
    assert run("compat", "--json", "550").json()["release"] == 12040


def test_feature(facts):
    """A feature of a file: what a driver of its release, an older one and none have."""
    words = ["features", "--json", "--facts", facts, "--name", "new"]
    answers = {}
    for driver in ("v13", "v12", "v5"):
        row, = run(*words, "--driver", fake(driver)).json()["features"]
        assert row["entries"] == ["cuInit", "cuDeviceGet"] and row["group"] == "own"
        answers[driver] = row["answer"]
    assert set(answers.values()) == {"driver"}
    facts.write_text(facts.read_text().replace("13050", "12040"))
    row, = run(*words, "--driver", fake("v12")).json()["features"]
    assert row["answer"] == "supported"
    row, = run(*words, "--driver", fake("v10")).json()["features"]
    assert row["answer"] == "driver"
    row, = run(*words, "--driver", "/nonexistent/x").json()["features"]
    assert row["answer"] == "no-driver"
    text = run("features", "--facts", facts, "--driver", fake("v12")).out
    assert "new " in text and "two entries" in text
    total = run("features", "--driver", fake("v12")).out.splitlines()[-1].split()[0]
    assert f"\n{int(total) + 1} features shown" in text


def cells(*words, code=OK):
    """The verdicts on a file."""
    result = run("scan", "--json", *words)
    assert (result.code, result.err) == (code, "")
    return [(cell["verdict"], cell["rule"]) for cell in result.json()["verdicts"]]


@NEEDS_READERS
def test_scan(facts):
    """A GPU by name, the driver from which it is known, and PTX that only the new driver takes."""
    both = FATBINS / "both.fatbin"
    assert run("scan", "--gpus", "RTX 6090", both).code == USAGE
    words = ["--facts", facts, "--gpus", "RTX 6090", "--drivers"]
    assert cells(*words, "625", both)[0] == ("runs", "runs")
    assert cells(*words, "615", both, code=1)[0] == ("fails", "gpu-later")


def test_where(facts, tmp_path):
    """The variable, and the user's own file."""
    assert run("compat", "--json", "625", CUSHIM_FACTS=f":{facts}").json()["newer"] is False
    for name in ("config", "home/.config"):
        (tmp_path / name / "cushim").mkdir(parents=True)
        (tmp_path / name / "cushim/facts.jsonl").write_text(LINES)
    own = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "HOME": "/nonexistent"}
    assert run("compat", "--json", "625", **own).json()["newer"] is False
    own = {"XDG_CONFIG_HOME": "", "HOME": str(tmp_path / "home")}
    assert run("compat", "--json", "625", **own).json()["newer"] is False
    assert run("--complete", "compat", "62", **own).out.startswith("625")


def test_twice(facts):
    """The same fact again is none too many."""
    result = run("compat", "--json", "--facts", facts, "--facts", facts, "625")
    assert (result.code, result.json()["release"]) == (OK, 13060)
    result = run("compat", "--json", "--facts", facts, "13.6")
    assert len(result.json()["toolkits"]) == 1


BAD = {
    "no form": ('{"gpu": "X", "capability": 90, "source": "s"}', ":1: no file of facts"),
    "later form": ('{"facts": 2}', ":1: facts of form 2, and this build reads form 1"),
    "empty": ("", "an empty file"),
    "no JSON": ('{"facts": 1}\n{"gpu": \n', ":2: "),
    "no object": ('{"facts": 1}\n\n[1]\n', ":3: no JSON object"),
    "no kind": ('{"facts": 1}\n{"planet": "Mars", "source": "s"}', ":2: none of the kinds"),
    "no source": ('{"facts": 1}\n{"gpu": "X 1", "capability": 90}', ":2: no source"),
    "unknown member": ('{"facts": 1}\n{"gpu": "X 1", "capability": 90, "colour": 1, "source": "s"}',
                       "'colour' is no member"),
    "capability as text": ('{"facts": 1}\n{"gpu": "X 1", "capability": "9.0", "source": "s"}',
                           "capability a number"),
    "known otherwise": ('{"facts": 1}\n{"gpu": "H100", "capability": 100, "source": "s"}',
                        ":2: H100 is known, with capability 90"),
    "known release": ('{"facts": 1}\n{"release": 12040, "ptx": 99, "branch": 550, "source": "s"}',
                      "release 12040 is known"),
    "known toolkit": ('{"facts": 1}\n{"toolkit": 12040, "update": 0, "linux": "1.2", '
                      '"source": "s"}', "known, with another driver"),
    "known family": ('{"facts": 1}\n{"family": 12, "linux": "530.1", "source": "s"}',
                     "family 12 is known, with driver 525.60.13"),
    "known runtime": ('{"facts": 1}\n{"runtime": "libcudart.so.12", "release": 13000, '
                      '"source": "s"}', "libcudart.so.12 is known"),
    "known architecture": ('{"facts": 1}\n{"architecture": "rubin", "capabilities": [90], '
                           '"last": null, "source": "s"}', "90 is known, of hopper"),
    "known target": ('{"facts": 1}\n{"release": 11000, "ptx": 70, "branch": 445, "targets": [90], '
                     '"source": "s"}', "90 is known from CUDA 11.8 on"),
    "known feature": ('{"facts": 1}\n{"feature": "peer-access", "group": "g", "text": "t", '
                      '"since": 4000, "entries": ["cuInit"], "source": "s"}',
                      "feature peer-access is known"),
    "unknown entry": ('{"facts": 1}\n{"feature": "x", "group": "g", "text": "t", '
                      '"since": 4000, "entries": ["cuNew"], "source": "s"}', "'cuNew' is no entry"),
    "no driver": ('{"facts": 1}\n{"toolkit": 13060, "update": 0, "linux": "new", "source": "s"}',
                  "linux a driver"),
    "no branch": ('{"facts": 1}\n{"release": 13060, "ptx": 96, "branch": 6, "source": "s"}',
                  "branch one such as"),
    "measured, later form": ('{"measured": 2, "driver": {"version": 13060}}', "does not read"),
    "measured, no release": ('{"measured": 1, "driver": {}}', "driver.version is no release"),
    "long line": ('{"facts": 1}\n{"' + 100000 * "x" + '": 1}', ":2: none of the kinds"),
    "bytes": ('{"facts": 1}\n\x00\x01', ":2: "),
}


@pytest.mark.parametrize("name", BAD)
def test_bad(name, tmp_path):
    """Each is refused with its line, and nothing is judged."""
    text, words = BAD[name]
    (tmp_path / "bad.jsonl").write_text(text)
    for result in (run("compat", "--facts", tmp_path / "bad.jsonl", "12.4"),
                   run("compat", "12.4", CUSHIM_FACTS=str(tmp_path / "bad.jsonl"))):
        assert (result.code, result.out) == (INPUT, "")
        assert f"bad.jsonl{words}" in result.err if words.startswith(":") else words in result.err
        assert len(result.err) < 600


def test_no_file():
    result = run("compat", "--facts", "/nonexistent", "12.4")
    assert result.code == INPUT and "/nonexistent: No such file" in result.err


# ---- cushim measure

def measured(*words, code=OK, **variables):
    """What it prints."""
    result = run("measure", *words, **variables)
    assert result.code == code
    return result.json()


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_measure(tmp_path):
    """A driver with two GPUs of a kind; the file is a column, and facts."""
    words = ["measure", "--driver", SIM_DRIVERS[-1], tmp_path / "mine.json"]
    result = run(*words, CUSHIM_SIM_DEVICES="2")
    assert (result.code, result.out, result.err) == (OK, "", "")
    text = (tmp_path / "mine.json").read_text()
    root = json.loads(text)
    assert list(root) == ["name", "measured", "cushim", "driver", "gpus", "unknown", "symbols",
                          "features"]
    table = (ROOT / "docs/json.md").read_text(encoding="utf-8").partition("## cushim measure")[2]
    for member in root:
        assert f"| `{member}" in table
    assert len(root["gpus"]) == 1 and root["gpus"][0]["capability"] >= 50
    assert root["unknown"] == [] and "cuInit" in root["symbols"]
    assert {row["answer"] for row in root["features"]} >= {"supported", "device"}
    private = [str(tmp_path), os.environ.get("HOME", "/root"), "GPU-", "0000:", "/"]
    assert [word for word in private if word in text] == []
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)
    page = run("report", "--html", "-", tmp_path / "mine.json")
    assert page.code == OK and root["name"] in page.out
    assert run("compat", "--facts", tmp_path / "mine.json", "12.4").code == OK


@pytest.mark.parametrize("words, names", [([], True), (["--name", "my box"], False)])
def test_measure_without_gpus(words, names):
    root = measured("--driver", FAKE_GPU, "--no-init", *words)
    assert root["gpus"] == [] and "features" not in root
    assert root["name"] == "my box" or names
    assert root["driver"]["linux"] is None


def test_measure_no_device():
    """The GPUs are left out, with a word about it."""
    result = run("measure", "--driver", FAKE_GPU, FAKE_DEVICES="-1")
    assert result.code == OK and result.json()["gpus"] == []
    assert "cushim measure: without GPUs: " in result.err


def test_measure_no_driver(tmp_path):
    result = run("measure", tmp_path / "x", CUSHIM_LIBCUDA="/nonexistent/x")
    assert (result.code, result.out) == (NO_DRIVER, "") and not (tmp_path / "x").exists()
    result = run("measure", "--driver", FAKE_GPU, "--no-init", "/nonexistent/x")
    assert result.code == SYSTEM and "/nonexistent/x: No such file" in result.err


@NEEDS_READERS
def test_measure_unknown(tmp_path):
    """What a driver exports that this build does not know, without what is for debuggers."""
    own = {"cuDriverGetVersion": "int *v) { *v = 14020; return 0; }",
           "cuInit": "void) { return 100; }"}
    names = [row["symbol"] for row in registry()] + ["cuQuantumLaunch_v2", "cudbgGetAPI"]
    driver = build(tmp_path, "".join(f"int {name}({own.get(name, 'void) { return 0; }')}\n"
                                     for name in names),
                   "-shared", "-fPIC", name="libcuda.so.640.10.01")
    root = measured("--driver", driver, "--no-init")
    assert root["unknown"] == ["cuQuantumLaunch_v2"]
    assert root["driver"] == {"version": 14020, "linux": "640.10.01"}
    assert root["name"] == "640.10.01"


def test_measure_real(branch):
    """The entries are the file's exports; debuggers' are no news."""
    driver = real_driver(branch)
    libraries = {"LD_LIBRARY_PATH": str(driver.path.parent)} if driver.needs else {}
    root = measured("--driver", driver.path, "--no-init", **libraries)
    exports = nm_exports(driver.path)
    assert root["symbols"] == [row["symbol"] for row in registry() if row["symbol"] in exports]
    assert root["unknown"] == [] and root["driver"]["version"] == driver.cuda


def test_measured_as_facts(tmp_path):
    """A driver and a GPU that only the file has."""
    (tmp_path / "m.json").write_text(json.dumps(
        {"name": "x", "measured": 1, "driver": {"version": 13060, "linux": "625.10.01"},
         "gpus": [{"gpu": "NVIDIA GeForce RTX 6090", "capability": 130}], "symbols": []}))
    answer = run("compat", "--json", "--facts", tmp_path / "m.json", "625").json()
    assert (answer["release"], answer["newer"]) == (13060, False)
    if READERS:
        both = FATBINS / "both.fatbin"
        words = ["--facts", tmp_path / "m.json", "--gpus", "RTX 6090", "--drivers", "625"]
        assert cells(*words, both) == [("runs", "runs")]

# SPDX-License-Identifier: MIT
"""`cushim scan` for other programs: JUnit, Markdown, SARIF and GitHub's annotations say what the
JSON output says. tests/corpus/test_formats.py asks other programs' own readers."""

import json
import re
import xml.etree.ElementTree as xml

import pytest
from command import FAILED, FAKE_GPU, OK, SYSTEM, USAGE, run
from scanning import cubin, fatbin, scan

WORDS = ["--drivers", "470,550", "--gpus", "7.5,A100,H100"]
LEVELS = {"limits": "note", "unknown": "warning", "fails": "error"}


@pytest.fixture(name="path")
def path_fixture(tmp_path):
    """A file with all four verdicts; its name has what each format must mask."""
    path = tmp_path / "a b|c<&%,\"\u00e9.fatbin"
    path.write_bytes(fatbin(("cubin", 80, cubin(80, version=124))) +
                     fatbin(("cubin", 80, cubin(80)), ("ptx", 80, "8.4", "sm_80")) +
                     fatbin(("cubin", 75)))
    return path


@pytest.fixture(name="outputs")
def outputs_fixture(tmp_path, path):
    """The verdicts of the JSON output, and what the same run writes."""
    names = {name: tmp_path / name for name in ("junit", "markdown", "sarif")}
    words = [word for name, file in names.items() for word in (f"--{name}", file)]
    result = run("scan", *WORDS, "--github", *words, path)
    assert result.code == FAILED
    texts = {name: file.read_text(encoding="utf-8") for name, file in names.items()}
    return scan(*WORDS, path, code=FAILED)["verdicts"], texts | {"github": result.out}


def test_all_verdicts(outputs):
    assert {row["verdict"] for row in outputs[0]} == {"limits", "unknown", "fails", "runs"} - \
        ({"runs"} if "runs" not in {row["verdict"] for row in outputs[0]} else set())
    assert len(outputs[0]) == 6


def test_junit(outputs):
    verdicts, texts = outputs
    suite = xml.fromstring(texts["junit"])
    cases = suite.findall("testcase")
    assert len(cases) == int(suite.get("tests")) == len(verdicts)
    assert int(suite.get("failures")) == sum(row["verdict"] == "fails" for row in verdicts)
    assert int(suite.get("skipped")) == sum(row["verdict"] == "unknown" for row in verdicts)
    for case, row in zip(cases, verdicts):
        assert case.get("name").startswith(f"{row['driver']}, GPU {row['capability'] // 10}.")
        failure, skipped = case.find("failure"), case.find("skipped")
        assert (failure is not None) == (row["verdict"] == "fails")
        assert (skipped is not None) == (row["verdict"] == "unknown")
        if failure is not None:
            assert failure.get("type") == row["rule"] and row["reason"] in failure.get("message")
            assert 'a b|c<&%,"é.fatbin' in failure.text


def test_junit_strict(tmp_path, path):
    run("scan", *WORDS, "--strict", "--junit", tmp_path / "x", path)
    suite = xml.fromstring((tmp_path / "x").read_text())
    verdicts = scan(*WORDS, path, code=FAILED)["verdicts"]
    assert suite.get("skipped") == "0" and int(suite.get("failures")) == \
        sum(row["verdict"] in ("fails", "unknown") for row in verdicts)


def test_markdown(outputs):
    verdicts, texts = outputs
    table, reasons = texts["markdown"].split("\n\n")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()]
    assert [len(row) for row in rows] == [4, 4, 4, 4]
    assert [cell.strip() for row in rows[2:] for cell in row[1:]] == \
        [f"{row['verdict']} {row['code'] or ''}".strip() for row in verdicts]
    lines = [re.split(r"(?<!\\)\|", line)[1:-1] for line in reasons.splitlines()]
    assert {len(line) for line in lines} == {5}
    assert [line[3].strip() for line in lines[2:]] == \
        [row["reason"] for row in verdicts if row["verdict"] != "runs"]


def test_sarif(outputs):
    verdicts, texts = outputs
    root = json.loads(texts["sarif"])
    assert root["version"] == "2.1.0" and len(root["runs"]) == 1
    results, driver = root["runs"][0]["results"], root["runs"][0]["tool"]["driver"]
    wanted = [row for row in verdicts if row["verdict"] != "runs"]
    assert [(row["ruleId"], row["level"]) for row in results] == \
        [(row["rule"], LEVELS[row["verdict"]]) for row in wanted]
    assert [rule["id"] for rule in driver["rules"]] == \
        list(dict.fromkeys(row["rule"] for row in wanted))
    for result, row in zip(results, wanted):
        assert row["reason"] in result["message"]["text"]
        location, = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"].endswith(
            "/a%20b%7Cc%3C%26%25%2C%22%C3%A9.fatbin")


def test_github(outputs):
    verdicts, texts = outputs
    lines = [line for line in texts["github"].splitlines() if line.startswith("::")]
    wanted = [row for row in verdicts if row["verdict"] != "runs"]
    assert len(lines) == len(wanted)
    for line, row in zip(lines, wanted):
        level = {"limits": "notice"}.get(row["verdict"], LEVELS[row["verdict"]])
        match = re.fullmatch(r"::(\w+) file=([^,:]*),title=([^:,]*)::(.*)", line)
        assert match and match[1] == level and row["reason"].replace("%", "%25") in match[4]
        assert match[2].endswith("a b|c<&%25%2C\"\u00e9.fatbin")


def test_json_stays_json(path):
    """The annotations of a run with --json go to stderr."""
    result = run("scan", "--json", "--github", *WORDS, path)
    assert result.json()["verdicts"] and result.err.startswith("::")


def test_only_verdicts(tmp_path):
    for option in (["--github"], ["--junit", tmp_path / "x"], ["--sarif", tmp_path / "x"],
                   ["--markdown", tmp_path / "x"]):
        result = run("scan", *option, FAKE_GPU)
        assert result.code == USAGE and "give --drivers or --gpus" in result.err
        assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("option", ["--junit", "--markdown", "--sarif"])
def test_no_file(option, path):
    result = run("scan", "--gpus", "8.0", option, "-", path)
    assert result.code == USAGE and "'-' is no name of a file" in result.err
    assert result.out == ""


@pytest.mark.parametrize("option", ["--junit", "--markdown", "--sarif"])
def test_full_disk(option, path, tmp_path):
    for file, words in (("/dev/full", "No space left"), (tmp_path / "none/x", "No such file")):
        result = run("scan", "--gpus", "8.0", option, file, path)
        assert result.code == SYSTEM and words in result.err


def test_nothing_found(tmp_path):
    """A cell without a file."""
    (tmp_path / "empty").mkdir()
    words = [word for name in ("junit", "markdown", "sarif") for word in
             (f"--{name}", tmp_path / name)]
    result = run("scan", "--drivers", "535", "--github", *words, tmp_path / "empty")
    assert result.code == OK
    assert "::warning title=driver 535%2C CUDA 12.2%2C any GPU::" in result.out
    assert json.loads((tmp_path / "sarif").read_text())["runs"][0]["results"][0]["locations"] == []
    assert xml.fromstring((tmp_path / "junit").read_text()).get("skipped") == "1"


def test_sarif_names_files_from_the_top(tmp_path, monkeypatch):
    """Without "./": the folder is the repository's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.c").write_text('#include <cushim/cushim.h>\n'
                                  'void f(const struct cushim *cu) { cu->cuCtxGetId(0, 0); }\n')
    (tmp_path / "b.fatbin").write_bytes(fatbin(("cubin", 90)))
    for words in (["--drivers", "9.0", "."], ["--gpus", "8.0", "./b.fatbin"]):
        run("scan", *words, "--sarif", "x", "--github")
        result, *_ = json.loads((tmp_path / "x").read_text())["runs"][0]["results"]
        location, = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] in ("a.c", "b.fatbin")

# SPDX-License-Identifier: MIT
"""`cushim report`: what is in the page. test_report_page.py looks at it in a browser."""

import json
import re

import pytest
from command import FAKE_GPU, INPUT, OK, ROOT, SYSTEM, USAGE, registry, report_page, run

ENTRIES = registry()
FEATURES = [json.loads(line) for line in
            (ROOT / "gen/registry/features.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module", name="page")
def page_fixture(tmp_path_factory):
    """A page with two drivers measured: a fake one and, where there is one, a simulated one."""
    return report_page(tmp_path_factory.mktemp("report"))


def data_of(page):
    """The JSON in the page."""
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])


def test_data(page):
    data = data_of(page)
    assert [row["name"] for row in data["drivers"]] == ["fake", "new"]
    rows = [(row["name"], row["since"], row["group"], row["stream"]) for row in data["entries"]]
    assert rows == \
        [(entry["symbol"], entry["since"], entry["header"], entry["stream"]) for entry in ENTRIES]
    assert [(row["name"], row["since"]) for row in data["features"]] == \
        [(row["feature"], row["since"]) for row in FEATURES]
    branches = {row["release"] for row in
                (json.loads(line) for line in (ROOT / "gen/registry/drivers.jsonl").read_text(
                    encoding="utf-8").splitlines()) if "ptx" in row}
    assert {9010, 11050, 11080} <= branches
    assert data["releases"] == sorted(branches | {entry["since"] for entry in ENTRIES})
    measured = json.loads((page.parent / "fake").read_text())
    letters = {"available": "y", "newer": "o", "absent": "n", "platform": "p"}
    assert [row["marks"][0] for row in data["entries"]] == \
        [letters[row["state"]] for row in measured["symbols"]]
    names = [entry["symbol"] for entry in ENTRIES]
    assert [[names[index] for index in row["entries"]] for row in data["features"]] == \
        [row["entries"] for row in FEATURES]


def test_toolkits(tmp_path):
    """Each line of gen/registry/drivers.jsonl; a mark is what `cushim compat` answers."""
    toolkits = [row for row in map(json.loads, (ROOT / "gen/registry/drivers.jsonl").read_text(
        encoding="utf-8").splitlines()) if "toolkit" in row]
    (tmp_path / "550.json").write_text(json.dumps(
        {"name": "550", "driver": {"version": 12040}, "symbols": []}))
    (tmp_path / "page").write_text(run("report", "--html", "-", tmp_path / "550.json").out)
    rows = data_of(tmp_path / "page")["toolkits"]
    assert [row["since"] for row in rows] == [row["toolkit"] for row in toolkits]
    for row, fact in zip(rows, toolkits, strict=True):
        assert row["name"].endswith(f" Update {fact['update']}") == (fact["update"] > 0)
        assert f"Linux {fact['linux']}," in row["text"]
        assert (fact["windows"] or "without a Windows driver") in row["text"]
        assert row["marks"] == ("y" if row["since"] <= 12040 else
                                "l" if row["since"] < 13000 else "x")
        assert row["floor"] == (row["since"] if row["since"] < 11000 else
                                row["since"] // 1000 * 1000)
    assert "; programs run from Linux 525.60.13; PTX 8.4" in next(
        row["text"] for row in rows if row["since"] == 12040)


def marks_of(*words):
    """{name: marks} of the entries and features of a page."""
    result = run("report", "--html", "-", *words)
    assert (result.code, result.err) == (OK, "")
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', result.out, re.S)[1])
    return {row["name"]: row["marks"] for row in [*data["entries"], *data["features"]]}, \
        data["drivers"]


def test_device(tmp_path):
    """Two files of one name make one column: the entries, and what the device has."""
    for command, more in (("symbols", []), ("features", ["--device", "0"])):
        (tmp_path / command).write_text(run(command, "--json", "--driver", FAKE_GPU, *more).out)
    marks, drivers = marks_of(f"a={tmp_path / 'symbols'}", f"a={tmp_path / 'features'}")
    assert drivers == [{"name": "a", "version": 10020}]
    letters = {"supported": "y", "device": "d", "driver": "o", "absent": "n", "platform": "p"}
    answers = {row["feature"]: row["answer"]
               for row in json.loads((tmp_path / "features").read_text())["features"]}
    decided = {name: letters[answer] for name, answer in answers.items() if answer in letters}
    assert set(decided.values()) >= {"y", "d", "o", "n"}
    assert decided == {name: marks[name] for name in decided}
    assert marks["cuInit"] == "y"
    marks, _ = marks_of(f"a={tmp_path / 'features'}")
    assert marks["cuInit"] == "u"


def test_plain_names(tmp_path):
    """Names alone are entries that are there, as in docs/measured."""
    (tmp_path / "a.json").write_text(json.dumps(
        {"name": "mine", "driver": {"version": 11040}, "symbols": ["cuInit", "cuMemAlloc_v2"]}))
    marks, drivers = marks_of(tmp_path / "a.json")
    assert drivers == [{"name": "mine", "version": 11040}]
    assert {name for name in marks if marks[name] == "y" and name.startswith("cu")} == \
        {"cuInit", "cuMemAlloc_v2"}
    assert (marks["cuMemFree_v2"], marks["cuGreenCtxCreate"], marks["cuD3D9Begin"]) == \
        ("n", "o", "p")
    assert marks_of(f"yours={tmp_path / 'a.json'}")[1][0]["name"] == "yours"


@pytest.mark.parametrize("file", sorted((ROOT / "docs/measured").glob("*.json")),
                         ids=lambda file: file.stem)
def test_measured(file):
    """What is committed is of the registry's entries, and is in the project's page."""
    measured = json.loads(file.read_text(encoding="utf-8"))
    known = [entry["symbol"] for entry in ENTRIES]
    assert [name for name in known if name in measured["symbols"]] == measured["symbols"]
    assert file.stem == measured["name"].replace(" ", "-")
    assert f"'{file.stem}'" in (ROOT / "tools/meson.build").read_text(encoding="utf-8")


def test_nothing_is_loaded(page):
    """The page has all that it needs."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"src=|href=\"[^#]|@import|url\(|fetch\(|https?:", text)


@pytest.mark.parametrize("words, code, message", [
    ([], USAGE, "--html is missing"),
    (["--html", "/nonexistent/folder/page.html"], SYSTEM, "No such file"),
    (["--html", "-", "/nonexistent.json"], INPUT, "/nonexistent.json"),
    (["--html", "-", __file__], INPUT, "test_report.py"),
])
def test_bad_words(words, code, message):
    result = run("report", *words)
    assert (result.code, result.out) == (code, "")
    assert message in result.err


def test_no_end_of_the_data_within(tmp_path):
    """A name cannot end the element that it is in."""
    (tmp_path / "a.json").write_text(run("symbols", "--json", "--driver", FAKE_GPU).out)
    result = run("report", "--html", "-", f"</script><b>={tmp_path / 'a.json'}")
    assert result.code == OK
    assert result.out.count("</script>") == 2

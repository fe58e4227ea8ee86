# SPDX-License-Identifier: MIT
"""`cushim report`: what is in the page, and what a real browser shows of it."""

import json
import re
import shutil
import subprocess

import pytest
from command import FAKE_GPU, INPUT, OK, ROOT, SIM_DRIVERS, SYSTEM, USAGE, registry, run

ENTRIES = registry()
FEATURES = [json.loads(line) for line in
            (ROOT / "gen/registry/features.jsonl").read_text(encoding="utf-8").splitlines()]
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
NEEDS_BROWSER = pytest.mark.skipif(not BROWSER, reason="no Chromium")


@pytest.fixture(scope="module", name="page")
def page_fixture(tmp_path_factory):
    """A page with two drivers measured: a fake one and, where there is one, a simulated one."""
    folder = tmp_path_factory.mktemp("report")
    words = []
    for name, driver in (("fake", FAKE_GPU), ("new", SIM_DRIVERS[-1] if SIM_DRIVERS else FAKE_GPU)):
        (folder / name).write_text(run("symbols", "--json", "--driver", driver).out)
        words.append(f"{name}={folder / name}")
    result = run("report", "--html", folder / "page.html", *words)
    assert (result.code, result.out, result.err) == (OK, "", "")
    return folder / "page.html"


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
    assert data["releases"] == sorted({entry["since"] for entry in ENTRIES})
    exported = {row["symbol"] for row in json.loads((page.parent / "fake").read_text())["symbols"]
                if row["state"] == "available"}
    assert {row["name"] for row in data["entries"] if row["drivers"][0]} == exported


def test_nothing_is_loaded(page):
    """The page has all that it needs."""
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=|@import|url\(|fetch\(|https?:", text)


def shown(page, link):
    """Names and count that the browser shows for a link."""
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                           f"file://{page}#{link}"], capture_output=True, text=True, timeout=60,
                          check=True)
    body = done.stdout.partition('<tbody id="body">')[2].partition("</tbody>")[0]
    return (re.findall(r'<th scope="row"><a [^>]*>([^<]*)</a>', body),
            re.search(r'id="count"[^>]*>([^<]*)<', done.stdout)[1], done.stdout)


@NEEDS_BROWSER
def test_search_and_filter(page):
    names, count, _ = shown(page, "q=cumempool")
    assert names == [entry["symbol"] for entry in ENTRIES
                     if "cumempool" in entry["symbol"].lower()]
    assert count == f"{len(names)} of {len(ENTRIES)} entries"
    names, _, _ = shown(page, "group=cudaGL.h&release=3000")
    assert names == [entry["symbol"] for entry in ENTRIES
                     if entry["header"] == "cudaGL.h" and entry["since"] <= 3000]
    names, _, _ = shown(page, "fresh=12040")
    assert names == [entry["symbol"] for entry in ENTRIES if entry["since"] == 12040]


@NEEDS_BROWSER
def test_features_and_sort(page):
    names, _, dom = shown(page, "view=features&group=graph&sort=-since")
    wanted = sorted((row for row in FEATURES if row["group"] == "graph"),
                    key=lambda row: (-row["since"], row["feature"]))
    assert names == [row["feature"] for row in wanted]
    assert 'aria-sort="descending"' in dom


@NEEDS_BROWSER
def test_link_to_a_row(page):
    _, _, dom = shown(page, "row=cuMemAlloc_v2")
    assert re.search(r'<tr class="here"><th scope="row"><a [^>]*>cuMemAlloc_v2<', dom)


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

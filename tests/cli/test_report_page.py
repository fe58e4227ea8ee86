# SPDX-License-Identifier: MIT
"""The page of `cushim report` in a real browser: search, filters, order, links, keys, sizes."""

import json
import os

import pytest
from browser import BROWSER, Browser
from command import ROOT, registry, report_page

pytestmark = pytest.mark.skipif(not BROWSER, reason="no Chromium")

ENTRIES = registry()
FEATURES = [json.loads(line) for line in
            (ROOT / "gen/registry/features.jsonl").read_text(encoding="utf-8").splitlines()]
NAMES = "[...document.querySelectorAll('#body th a')].map(a => a.textContent)"
FOCUS = "document.activeElement.id || document.activeElement.textContent"


@pytest.fixture(scope="module", name="browser")
def browser_fixture():
    """One for all tests."""
    with Browser() as browser:
        yield browser


@pytest.fixture(scope="module", name="address")
def address_fixture(tmp_path_factory):
    """Of the page."""
    return f"file://{report_page(tmp_path_factory.mktemp('report'))}"


def entries(wanted):
    """Symbols of the registry that a filter takes."""
    return [entry["symbol"] for entry in ENTRIES if wanted(entry)]


def choose(browser, element, value):
    """Choose in a list, as a user does."""
    browser.value(f"{{const e = document.getElementById('{element}'); e.value = '{value}'; "
                  "e.dispatchEvent(new Event('input')); 0}")


@pytest.mark.parametrize("link, wanted", [
    ("q=cumempool", lambda entry: "cumempool" in entry["symbol"].lower()),
    ("q=Peer+async", lambda entry: "peer" in entry["symbol"].lower() and
     "async" in entry["symbol"].lower()),
    ("group=cudaGL.h&release=3000", lambda entry: entry["header"] == "cudaGL.h" and
     entry["since"] <= 3000),
    ("fresh=12040", lambda entry: entry["since"] == 12040),
    ("feature=memory-pools", lambda entry: entry["symbol"] in next(
        row["entries"] for row in FEATURES if row["feature"] == "memory-pools")),
    ("group=nonsense&release=1", lambda entry: True),
])
def test_links(browser, address, link, wanted):
    browser.open(f"{address}#{link}")
    names = entries(wanted)
    assert sorted(browser.value(NAMES)) == sorted(names)
    assert browser.value("found.textContent") == f"{len(names)} of {len(ENTRIES)} entries"


def test_search_and_filters_make_the_link(browser, address):
    """What is typed and chosen is shown at once, and the address then has it."""
    browser.open(address)
    browser.press("/", "event")
    choose(browser, "fresh", 11010)
    names = entries(lambda entry: "event" in entry["symbol"].lower() and entry["since"] == 11010)
    assert names and browser.value(NAMES) == names
    link = browser.value("location.hash")
    assert link == "#q=event&fresh=11010"
    browser.open(address + link)
    assert browser.value(NAMES) == names
    browser.press("/", "Escape")
    choose(browser, "fresh", "")
    assert len(browser.value(NAMES)) == len(ENTRIES)


def test_nothing_found(browser, address):
    browser.open(f"{address}#q=nonsense")
    assert browser.value("found.textContent") == f"None of {len(ENTRIES)} entries: clear a filter"
    browser.value("document.getElementById('clear').click()")
    assert len(browser.value(NAMES)) == len(ENTRIES)


def test_order(browser, address):
    browser.open(f"{address}#view=features&group=graph")
    button = "document.querySelector('[data-key=since]')"
    rows = [row for row in FEATURES if row["group"] == "graph"]
    for order, sign in (("ascending", 1), ("descending", -1)):
        browser.value(button + ".focus()")
        browser.press(" " if sign == 1 else "Enter")
        wanted = sorted(rows, key=lambda row, sign=sign: (sign * row["since"], row["feature"]))
        assert browser.value(NAMES) == [row["feature"] for row in wanted]
        assert browser.value(button + ".parentNode.ariaSort") == order
        assert browser.value("document.activeElement.dataset.key") == "since"
    assert browser.value("location.hash") == "#view=features&group=graph&sort=-since"


def test_link_to_a_row(browser, address):
    """The row is marked and seen; a filter that hides it is cleared."""
    for link in ("row=cuMemAlloc_v2", "q=graph&row=cuMemAlloc_v2"):
        browser.open(f"{address}#{link}")
        assert browser.value("document.querySelector('.here a').textContent") == "cuMemAlloc_v2"
        place, table = (browser.value(f"{{const r = document.querySelector('{what}')"
                                      ".getBoundingClientRect(); [r.top, r.bottom]}")
                        for what in (".here", "#table"))
        assert table[0] < place[0] < place[1] < table[1]
    browser.open(f"{address}#row=nonsense")
    assert browser.value("document.querySelector('.here')") is None


def test_from_a_feature_to_its_entries(browser, address):
    browser.open(f"{address}#view=features&q=memory-pools")
    browser.value("document.querySelector('#body td.text a').click()")
    browser.value("new Promise(done => setTimeout(done, 100))")
    wanted = next(row["entries"] for row in FEATURES if row["feature"] == "memory-pools")
    assert sorted(browser.value(NAMES)) == sorted(wanted)


def test_keys(browser, address):
    """The order of the tab key, then the arrow keys; the focus is seen and survives."""
    browser.open(address)
    names = [entry["symbol"] for entry in ENTRIES]
    order = ["Skip to the table", "q", "view", "group", "feature", "release", "fresh", "clear",
             "table", "Entry", "Since", "Header", "Stream", names[0]]
    for wanted in order:
        browser.press("Tab")
        assert browser.value(FOCUS) == wanted
        assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    for key, wanted in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("PageDown", 11),
                        ("PageUp", 1), ("End", len(names) - 1), ("ArrowDown", len(names) - 1),
                        ("Home", 0), ("ArrowUp", 0), ("ArrowDown", 1)):
        browser.press(key)
        assert browser.value(FOCUS) == names[wanted], key
    browser.press("Enter")
    browser.value("new Promise(done => setTimeout(done, 100))")
    assert browser.value("location.hash") == f"#row={names[1]}"
    assert browser.value(FOCUS) == names[1]
    browser.press("Shift+Tab")
    assert browser.value(FOCUS) == "Stream"


def test_toolkits(browser, address):
    """A view of its own; the bars over the releases: runs, with limits, not."""
    browser.open(f"{address}#view=toolkits&q=12.4")
    assert browser.value(NAMES) == ["CUDA 12.4", "CUDA 12.4 Update 1"]
    assert browser.value("found.textContent").startswith("2 of ")
    bars = browser.value("[...document.querySelectorAll('#body tr:first-child td.release')]"
                         ".map(cell => [cell.textContent, cell.colSpan])")
    releases = browser.value("data.releases")
    count = [sum(low <= n < high for n in releases)
             for low, high in ((12040, 99000), (12000, 12040), (0, 12000))]
    assert bars == [["✓ from 12.4", count[0]], ["limited from 12.0", count[1]], ["", count[2]]]
    choose(browser, "group", "11.x")
    browser.press("/", "Escape")
    assert set(name.split()[1].split(".")[0] for name in browser.value(NAMES)) == {"11"}
    assert browser.value("location.hash") == "#view=toolkits&group=11.x"


@pytest.mark.skipif(not os.path.exists(os.environ.get("CUSHIM_SUPPORT_PAGE", "")),
                    reason="ninja -C build support-page was not run")
def test_own_page(browser):
    """The project's page has a column for each measured driver, with what that driver has."""
    measured = [json.loads(file.read_text(encoding="utf-8"))
                for file in (ROOT / "docs/measured").glob("*.json")]
    measured.sort(key=lambda driver: -driver["driver"]["version"])
    browser.open(f"file://{os.environ['CUSHIM_SUPPORT_PAGE']}")
    titles = browser.value("[...document.querySelectorAll('#head .driver')].map(e => e.title)")
    assert len(measured) > 10
    assert titles == [f"driver {driver['name']}, CUDA {driver['driver']['version'] // 1000}."
                      f"{driver['driver']['version'] % 1000 // 10}" for driver in measured]
    marks = browser.value("[...document.querySelectorAll('#body tr')].map(row => [...row."
                          "querySelectorAll('td.r')].map(cell => cell.textContent))")
    for number, driver in enumerate(measured):
        has = [entry["symbol"] for entry, row in zip(ENTRIES, marks) if row[number] == "✓"]
        assert has == driver["symbols"], driver["name"]


def test_skip_link(browser, address):
    browser.open(address)
    browser.press("Tab")
    assert browser.value("document.activeElement.getBoundingClientRect().left") >= 0
    browser.press("Enter")
    assert browser.value(FOCUS) == "table"


@pytest.mark.parametrize("view", ["features", "toolkits"])
@pytest.mark.parametrize("width, dark", [(390, False), (390, True), (1400, False), (1400, True)])
def test_sizes(browser, address, width, dark, view):
    """On a phone nothing but the table is wider than the screen; texts have enough contrast."""
    browser.open(f"{address}#view={view}", width=width, height=800, dark=dark)
    assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.value("getComputedStyle(document.querySelector('td.release')).display") == \
        ("none" if width < 600 else "table-cell")
    ground = browser.value("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(18, 22, 27)") == dark
    script = """(() => {
      const light = text => { const [r, g, b] = text.match(/[0-9.]+/g).map(n => n / 255)
        .map(n => n <= .04045 ? n / 12.92 : ((n + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b; };
      const worst = {};
      for (const one of document.querySelectorAll('h1, p, label, td, th, a, button, #count span')) {
        let behind = one;
        while (behind && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)')
          behind = behind.parentElement;
        const a = light(getComputedStyle(one).color);
        const b = light(getComputedStyle(behind || document.body).backgroundColor);
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        const name = one.tagName + '.' + one.className;
        worst[name] = Math.min(worst[name] ?? 99, ratio);
      }
      return worst;
    })()"""
    ratios = browser.value(script)
    assert {name: ratio for name, ratio in ratios.items() if ratio < 4.5} == {}

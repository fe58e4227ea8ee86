# SPDX-License-Identifier: MIT
"""The web site in a real browser: the search, colours, contents, a narrow window, the dark."""

import sys
from pathlib import Path

import pytest
from test_site import fixture_site, pytestmark as site_marks  # noqa: F401

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from browser import BROWSER, Browser  # noqa: E402

pytestmark = [*site_marks, pytest.mark.in_all,
              pytest.mark.skipif(not BROWSER, reason="without Chromium")]
RESULTS = "[...document.querySelectorAll('#results a')].map(link => link.getAttribute('href'))"
WAIT = "new Promise(done => setTimeout(() => done(), 20))"


@pytest.fixture(scope="module", name="browser")
def fixture_browser():
    with Browser() as browser:
        yield browser


def search(browser, words):
    """Type into the search; the addresses of what it finds."""
    browser.press("/", words)
    for _ in range(250):  # until the index is there
        if not browser.value("results.hidden"):
            break
        browser.value(WAIT)
    return browser.value(RESULTS)


def box(browser, selector):
    """Where an element stands in the window."""
    return browser.value("(({x, y, width, height}) => ({x, y, width, height}))(document"
                         f".querySelector('{selector}').getBoundingClientRect())")


@pytest.mark.parametrize("words, first", [
    ("out of memory fault", "docs/simulated-driver.html#faults"),
    ("drop-in", "docs/adopt.html#drop-in"),
    ("cushim_memory_alloc", "man/cushim_memory.3.html#cushim_memory_alloc"),
    ("unsupported toolchain", "docs/troubleshooting.html#a-module-does-not-load-222-"
                              "unsupported-toolchain"),
    ("CUSHIM_LIBCUDA order", "docs/finding-the-driver.html#the-order"),
    ("how do I know whether cuMemAllocAsync is there?",
     "docs/adopt.html#ask-whether-the-driver-has-an-entry"),
    ("can I fork", "docs/how-it-works.html#forks"),
    ("docker", "docs/troubleshooting.html#it-works-in-a-shell-and-not-as-a-service-or-in-a-"
               "container"),
    ("error while loading shared libraries", "docs/troubleshooting.html#error-while-loading-"
                                             "shared-libraries-libcushimso0"),
    ("performance overhead", "index.html#beside-other-ways"),
    ("__constant__", "docs/kernel-functions.html"),
    ("multiple gpus", "docs/devices.html#several-gpus"),
    ("thread safe", "docs/how-it-works.html#threads"),
    ("choose a device by UUID", "docs/devices.html#choosing-a-device-and-several-gpus"),
    ("environment variables", "docs/environment.html#variables-of-the-environment"),
    ("which driver for this binary", "docs/scan.html#what-does-a-program-need"),
])
def test_search_finds_the_place(browser, site, words, first):
    """Among the first three; the page has the words of its heading there."""
    browser.open((site / "docs/guide.html").as_uri())
    found = search(browser, words)
    assert f"../{first}" in found[:3], found
    browser.press("ArrowDown", "Enter")
    browser.value(WAIT)
    assert browser.value("location.pathname").startswith(str(site))


def test_search_without_a_result(browser, site):
    browser.open((site / "index.html").as_uri())
    assert search(browser, "nonsense-that-is-nowhere") == []
    assert browser.value("results.textContent") == "Nothing has these words."
    browser.press("Escape")
    assert browser.value("results.hidden")


def test_search_is_reached_by_enter(browser, site):
    browser.open((site / "index.html").as_uri())
    first = search(browser, "wrong-ABI trap")[0]
    browser.press("Enter")
    for _ in range(250):
        if browser.value("location.href").endswith(first):
            break
        browser.value(WAIT)
    assert browser.value("location.href") == f"{site.as_uri()}/{first}"


def test_code_has_colours(browser, site):
    """Words, texts and comments of a program differ from the rest, and nothing is lost."""
    browser.open((site / "docs/guide.html").as_uri())
    shown = {kind: browser.value(f"getComputedStyle(document.querySelector('pre {kind}')).color")
             for kind in (".word", ".string", ".comment", ".number", "code")}
    assert len(set(shown.values())) == 5, shown
    text = browser.value("document.querySelector('pre code').textContent")
    assert 'printf("no GPU: %s\\n", cushim_message(cu));' in text


def test_wide_window(browser, site):
    """Pages to the left, text in the middle, contents to the right, all at the top."""
    browser.open((site / "docs/adopt.html").as_uri(), 1600, 900)
    places = [box(browser, name) for name in ("nav", "main", "aside")]
    assert [place["x"] for place in places] == sorted(place["x"] for place in places)
    assert all(place["y"] < 100 for place in places)
    assert browser.value("document.querySelectorAll('aside a').length") > 10
    browser.value("document.querySelector('aside a[href=\"#drop-in\"]').click()")
    assert 0 <= box(browser, "#drop-in")["y"] < 200


@pytest.mark.parametrize("page", ["index.html", "docs/adopt.html", "docs/sentences.html",
                                  "man/cushim_launch.3.html"])
def test_phone(browser, site, page):
    """The page begins with its text, and is not wider than the window."""
    browser.open((site / page).as_uri(), 420, 800)
    assert box(browser, "main")["y"] < 120
    assert box(browser, "nav")["y"] > box(browser, "main")["height"]
    assert browser.value("document.documentElement.scrollWidth") <= 420
    assert box(browser, "input")["width"] > 300
    browser.value("document.querySelector('a.jump').click()")
    assert 0 <= box(browser, "nav")["y"] < 800


@pytest.mark.parametrize("dark", [False, True])
def test_dark_and_light(browser, site, dark):
    """The text can be read on what is behind it: by WCAG's contrast, which wants 4.5."""
    browser.open((site / "docs/guide.html").as_uri(), dark=dark)
    search(browser, "test")

    def light(color):
        parts = [int(part) / 255 for part in color[color.index("(") + 1:-1].split(",")[:3]]
        linear = [part / 12.92 if part <= .04045 else ((part + .055) / 1.055) ** 2.4
                  for part in parts]
        return .2126 * linear[0] + .7152 * linear[1] + .0722 * linear[2]

    def color(selector, what):
        return light(browser.value(
            f"getComputedStyle(document.querySelector('{selector}')).{what}"))

    for front, back in (("body", "body"), ("main a", "body"), ("pre .word", "pre"),
                        ("pre .string", "pre"), ("pre .comment", "pre"), ("pre .number", "pre"),
                        ("nav h2", "body"), ("#results li", "#results"), ("mark", "mark")):
        pair = sorted([color(front, "color"), color(back, "backgroundColor")])
        assert (pair[1] + .05) / (pair[0] + .05) >= 4.5, (front, pair)
    assert (color("body", "backgroundColor") < .1) == dark

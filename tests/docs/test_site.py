# SPDX-License-Identifier: MIT
"""The web site: it is made by one command, and no link in it leads nowhere."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

from highlight import colour  # noqa: E402

BUILD = Path(os.environ.get("MESON_BUILD_ROOT", "build"))
LACKING = ["mandoc"] * (not shutil.which("mandoc")) + \
    ["python3-markdown"] * (not importlib.util.find_spec("markdown"))
pytestmark = [pytest.mark.skipif(bool(LACKING), reason=f"without {', '.join(LACKING)}"),
              pytest.mark.skipif(not list((BUILD / "docs/reference").glob("*.3")),
                                 reason="built without manual pages")]
SUPPORT = Path(os.environ.get("CUSHIM_SUPPORT_PAGE", BUILD / "tools/support.html"))


def make(output):
    """What `ninja -C build site` runs."""
    return subprocess.run([sys.executable, ROOT / "docs/site/site.py", output, "0.1.0", SUPPORT,
                           BUILD / "docs/reference"], text=True, capture_output=True, check=False)


def test_all_that_is_missing_is_named(tmp_path):
    done = subprocess.run([sys.executable, "-S", ROOT / "docs/site/site.py", tmp_path / "site",
                           "0.1.0", SUPPORT, tmp_path], text=True, capture_output=True,
                          check=False, env={"PATH": ""})
    assert (done.returncode, done.stderr) == (1, "site: missing: python3-markdown, mandoc\n")


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory):
    """The site, in a folder of its own."""
    if not SUPPORT.exists():
        pytest.skip("ninja -C build support-page was not run")
    output = tmp_path_factory.mktemp("out") / "site"
    done = make(output)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return output


class Links(HTMLParser):
    """What a page links to, and what can be linked to in it."""

    def __init__(self, page):
        super().__init__()
        self.links, self.names = [], set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.names |= {values[key] for key in ("id", "name") if values.get(key)}
        self.links += [values[key] for key in ("href", "src") if values.get(key)]


def broken_links(site):
    """"page: link" of each that leads nowhere."""
    pages = {page: Links(page) for page in site.rglob("*.html")}
    for page, found in pages.items():
        for link in found.links:
            path, _, name = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            to = (page.parent / path).resolve() if path else page
            if not to.is_file() or (name and to in pages and name not in pages[to].names):
                yield f"{page.relative_to(site)}: {link}"


def test_links(site):
    assert len(list(site.rglob("*.html"))) > 60
    assert not sorted(set(broken_links(site)))


def test_broken_links_are_found(site):
    """The test above can fail."""
    (site / "bad.html").write_text('<a href="nowhere.html">a</a><a href="index.html#no">b</a>'
                                   '<a href="index.html">c</a>', encoding="utf-8")
    assert sorted(broken_links(site)) == ["bad.html: index.html#no", "bad.html: nowhere.html"]
    (site / "bad.html").unlink()


def test_every_page_is_in_the_navigation(site):
    """Whatever the repository has, from each page."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    start = Links(site / "index.html").links
    for page in pages:
        name = "index.html" if page.name == "README.md" else f"docs/{page.stem}.html"
        assert (site / name).exists() and name in start
    for name in ("support.html", "man/index.html"):
        assert name in start and (site / name).exists()
    assert "../support.html" in Links(site / "docs/report.html").links


def test_every_section_can_be_searched(site):
    """The index leads to each heading of each page, and to the answer of each question."""
    index = (site / "search-index.js").read_text(encoding="utf-8")
    found = json.loads(index.partition(" = ")[2].rstrip(";\n"))
    addresses = {address for address, *_ in found}
    for address in addresses:
        path, _, name = address.partition("#")
        assert not name or name in Links(site / path).names, address
    pages = {address.partition("#")[0] for address in addresses}
    assert {str(page.relative_to(site)) for page in (site / "docs").glob("*.html")} - pages == \
        {"docs/index-of-questions.html"}
    assert sum(title == "I want to ..." for _, title, *_ in found) >= 40
    assert any(heading == "cushim_load" and "table" in text for *_, heading, text in found)


@pytest.mark.parametrize("language, text, marked", [
    ("c", 'int a = 12; // "b"', '<span class="word">int</span> a = <span class="number">12</span>; '
                                '<span class="comment">// "b"</span>'),
    ("sh", "echo $# '#' # c", "echo $# <span class=\"string\">'#'</span> "
                              '<span class="comment"># c</span>'),
    ("diff", "+#include <a>", '<span class="word">+#include</span> &lt;a&gt;'),
    ("text", "if < 3", "if &lt; 3"),
])
def test_colours(language, text, marked):
    assert colour(language, text) == marked


def test_page_of_all_entries_has_the_measured_drivers(site):
    """Each file of docs/measured is a column; tests/cli/test_report_page.py looks at the page."""
    text = (site / "support.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])
    names = {json.loads(file.read_text(encoding="utf-8"))["name"]
             for file in (ROOT / "docs/measured").glob("*.json")}
    assert len(names) > 10 and {driver["name"] for driver in data["drivers"]} == names


def test_nothing_comes_from_elsewhere(site):
    """Read without a network: no page loads a style, a script or a picture from another place."""
    foreign = [f"{page.name}: {found}" for page in site.rglob("*.html") for found in re.findall(
        r'(?:<link[^>]*href|<(?:img|script)[^>]*src)="(https?:[^"]*)"', page.read_text("utf-8"))]
    assert not foreign


def test_another_folder_is_left_alone(tmp_path):
    """Only what is a site is emptied."""
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = make(tmp_path)
    assert done.returncode == 1 and "is no site" in done.stderr
    assert (tmp_path / "mine.txt").exists()

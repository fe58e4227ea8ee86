# SPDX-License-Identifier: MIT
"""The web site: it is made by one command, and no link in it leads nowhere."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MESON_BUILD_ROOT", "build"))
COMMAND = os.environ.get("CUSHIM_CLI", "cushim")


def make(output):
    """What `ninja -C build site` runs."""
    support = output.parent / "support.html"
    subprocess.run([COMMAND, "report", "--html", support], check=True)
    return subprocess.run([sys.executable, ROOT / "docs/site/site.py", output, "0.1.0", support,
                           BUILD / "docs/reference"], text=True, capture_output=True, check=False)


@pytest.fixture(name="site", scope="module")
def site_fixture(tmp_path_factory):
    """The site, in a folder of its own."""
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
    for name in ("api/files.html", "support.html", "man/index.html"):
        assert name in start and (site / name).exists()
    assert "../support.html" in Links(site / "docs/report.html").links


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

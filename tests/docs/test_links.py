# SPDX-License-Identifier: MIT
"""Every link of the Markdown pages leads to a file that is there, and to a heading that it has."""

import json
import re
from pathlib import Path

from pages import PAGES, ROOT

OTHERS = [ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "gen/README.md",
          ROOT / "kernels/README.md", ROOT / "docs/examples/README.md", ROOT / "src/README.md",
          ROOT / "src/sim/README.md",
          *sorted((ROOT / "tests").rglob("README.md"))]
QUESTIONS = ROOT / "docs/index-of-questions.md"
LONGEST = {"simulated-driver.md": 2000, "troubleshooting.md": 2000, "measurements.md": 2000}
ALL_WORDS = 20900  # half of what there was
# Made of the registry, or compared with the programs line by line.
REFERENCE = ("errors.md", "environment.md", "simulated-entries.md", "json.md",
             "kernel-functions.md")
LINK = re.compile(r"\[[^][]*(?:\[[^][]*\][^][]*)*\]\(([^()\s]+)\)")


def prose(page):
    """Text of a page without its code."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"^    .*$", "", text, flags=re.M)


def links(page):
    """Targets of a page's links."""
    return LINK.findall(re.sub(r"`[^`\n]*`", "", prose(page)))


def anchors(page):
    """The names of a page's headings, as GitHub and docs/site/site.py make them."""
    found = []
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.M):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.append(name)
    return found


def count_words(text):
    """Words, without the rules of tables."""
    return len([word for word in text.split() if re.search(r"\w", word)])


def broken(pages):
    """"page: link" of each that leads nowhere, or to one of several headings."""
    for page in pages:
        for link in links(page):
            path, _, name = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            to = (page.parent / path).resolve() if path else page
            if not to.exists() or (name and anchors(to).count(name) != 1):
                yield f"{page.name}: {link}"


def test_links():
    pages = [*PAGES, *OTHERS]
    assert sum(len(links(page)) for page in pages) > 200
    assert not list(broken(pages))


def test_broken_links_are_found(tmp_path):
    """The test above can fail."""
    page = tmp_path / "page.md"
    page.write_text("# A [b](page.md) `c`\n[1](no.md) [2](page.md#no) [3](#a-b-c) `[4](no.md)`\n"
                    "## Twice\n## Twice\n[5](#twice) [the [6]](no.md#a)\n```\n# no\n```\n",
                    encoding="utf-8")
    assert list(broken([page])) == ["page.md: no.md", "page.md: page.md#no", "page.md: #twice",
                                    "page.md: no.md#a"]


def questions():
    """(question, words of the answer, target) of each row."""
    return re.findall(r"^\| (?!I want to)(.*?) \| \[(.*?)\]\((\S+)\).* \|$",
                      QUESTIONS.read_text(encoding="utf-8"), re.M)


def section(page, name):
    """Text of a page from a heading to the next one of its level."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^(#+) (.*)$", text, re.M):
        if re.sub(r"[^\w\- ]", "", found[2].lower()).replace(" ", "-") == name:
            rest = text[found.end():]
            end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.M)
            return rest[:end.start()] if end else rest
    return ""


def test_plain_names_that_older_drivers_lack():
    """The list of adopt.md is the registry's: names that mean an ABI of 11.0 by default, and that
    drivers before have in another one."""
    registry = [json.loads(line) for name in ("entries", "levels") for line in
                (ROOT / f"gen/registry/{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    since = {row["symbol"]: row["since"] for row in registry if "since" in row}
    first = {row["name"]: row["since"] for row in registry[::-1] if row.get("stream") == "legacy"}
    meant = {row["name"]: row["symbol"] for row in registry
             if "name" in row and row.get("release", 99999) <= 12000}
    listed = section(ROOT / "docs/adopt.md", "what-a-name-means").partition("lack the plain")[2]
    assert set(re.findall(r"`(cu\w+)`", listed.partition(";")[0])) == {
        name for name, symbol in meant.items()
        if since[symbol] == 11000 and first[name] < since[symbol]}


def test_every_question_has_an_answer():
    """Forty questions and more, each with a heading that answers it; none is there twice."""
    rows = questions()
    names = [question for question, *_ in rows]
    assert len(rows) >= 40 and len(set(names)) == len(rows)
    assert len(rows) == len(re.findall(r"^\| (?!I want to)", QUESTIONS.read_text("utf-8"), re.M))
    assert not [target for *_, target in rows if "#" not in target]
    assert f"{len(rows)} questions" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_answer_is_where_the_link_leads():
    """What the index names as code stands below that heading."""
    lacking = []
    for _, answer, target in questions():
        path, _, name = target.partition("#")
        text = " ".join(section((QUESTIONS.parent / path).resolve(), name).split())
        lacking += [f"{target}: {code}" for code in re.findall(r"`([^`]+)`", answer)
                    if code not in text]
    assert not lacking


def test_long_pages_do_not_grow():
    """A page that grows with each finding is read by nobody."""
    for name, most in LONGEST.items():
        words = count_words((ROOT / "docs" / name).read_text(encoding="utf-8"))
        assert words <= most, f"docs/{name} has {words} words; at most {most}"


def test_all_pages_together_do_not_grow():
    """What people wrote, as `wc -w` counts it, without what is there to look things up in."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page.name not in REFERENCE]
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    assert len(pages) > 20 and words <= ALL_WORDS, f"docs has {words} words; at most {ALL_WORDS}"


def test_every_page_is_listed():
    """From the README or from the questions one link leads to each page."""
    here = {(page.parent / link.partition("#")[0]).resolve()
            for page in (ROOT / "README.md", QUESTIONS) for link in links(page)}
    assert not [page.name for page in PAGES[1:] if Path(page).resolve() not in here]

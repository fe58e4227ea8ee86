#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the web site: the pages of the repository, the manual pages and the page of all entries,
with a search that needs no server. Run by `ninja -C build site`.

Usage: site.py OUTPUT VERSION SUPPORT MANUALS

OUTPUT is emptied first if site.py made it. SUPPORT is the page of all entries that `cushim report`
makes, MANUALS the folder of the manual pages. Needs python3-markdown and mandoc.
"""

import html
import importlib.util
import json
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from string import Template

from highlight import colour_page

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Other loaders' names over cushim: these headers have no manual page.
ADAPTERS = ("cuew", "dynlink_loader")
# What README.md does not list among the pages for users.
AUTHORS = ["CONTRIBUTING.md", "src/README.md", "src/sim/README.md", "gen/README.md",
           "kernels/README.md", "CHANGELOG.md"]
REFERENCE = {"support.html": "All entries and features", "man/index.html": "Manual pages"}
QUESTIONS = "docs/index-of-questions.md"
SENTENCES = "docs/sentences.md"  # made here, and in no folder of the repository
LINK = re.compile(r'(<(?:a href|img alt="[^"]*" src)=")([^"#:]+)((?:#[^"]*)?")')


def read(path):
    """The text of a page."""
    if path != SENTENCES:
        return (ROOT / path).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "sentences.md"
        subprocess.run([sys.executable, ROOT / "gen/emit.py", made.name, made], check=True)
        return made.read_text(encoding="utf-8")


def pages():
    """{group: [path]}: README.md's table of contents, and what is for authors."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| (.*\.md.*) \|$", text.partition("## Read on")[2], re.M)
    groups = {name.capitalize(): re.findall(r"\]\(([^)#]+\.md)", links) for name, links in rows}
    first = next(iter(groups))
    groups[first] = ["README.md", QUESTIONS, *groups[first]]
    groups["Reference"].append(SENTENCES)
    return {**groups, "For authors": [path for path in AUTHORS if (ROOT / path).exists()]}


def target(path):
    """Where a page of the repository lies in the site."""
    if path == "README.md":
        return "index.html"
    return re.sub(r"README\.html$", "index.html", path[:-len(".md")] + ".html")


def heading(text):
    """The first heading of a page, without Markdown's marks."""
    found = re.search(r"^# (.*)$", text, re.M)
    return found[1].replace("`", "") if found else "cushim"


def slug(text, _separator):
    """The name of a heading in links, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def plain(text):
    """Words of HTML."""
    text = re.sub(r"</?(?:a|b|code|em|i|span|strong)\b[^>]*>", "", text)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def headings(text):
    """(start, level, name, words) of each heading that can be linked to."""
    return [(found.start(), int(found[1]), found[2], plain(found[3])) for found in
            re.finditer(r'<h([1-4])[^>]* id="([^"]+)"[^>]*>(.*?)</h\1>', text, re.S)]


def contents(text, levels):
    """The list of a page's headings, if it has several."""
    found = [(level, name, words) for _, level, name, words in headings(text) if level in levels]
    if len(found) < 2:
        return ""
    lines = [f'<li{" class=deep" if level > levels[0] else ""}><a href="#{name}">'
             f"{html.escape(words)}</a></li>" for level, name, words in found]
    return "\n".join(["<h2>On this page</h2>", "<ul>", *lines, "</ul>"])


class Site:
    """What is written, and the links within it."""

    def __init__(self, output, version, manuals):
        self.output = output
        self.version = version
        self.manuals = sorted(manuals, key=lambda page: (page.suffix, page.name))
        self.groups = pages()
        self.index = []  # of the search: address, title, heading, text
        self.texts = {path: read(path) for paths in self.groups.values() for path in paths}
        self.titles = {path: heading(text) for path, text in self.texts.items()}
        self.template = Template((HERE / "page.html").read_text(encoding="utf-8"))

    def navigation(self, here, up):
        """The list of all pages, for one of them."""
        groups = {name: {target(path): self.titles[path] for path in paths}
                  for name, paths in self.groups.items()}
        groups["Reference"].update(REFERENCE)
        lines = []
        for name, links in groups.items():
            lines.append(f"<h2>{name}</h2>\n<ul>")
            for link, title in links.items():
                mark = ' class="here"' if link == here else ""
                lines.append(f'<li><a{mark} href="{up}{link}">{title}</a></li>')
            lines.append("</ul>")
        return "\n".join(lines)

    def write(self, path, title, content, levels=(2, 3)):
        """A page within the frame that all share."""
        up = "../" * path.count("/")
        file = self.output / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.template.substitute(
            title=title, up=up, version=self.version, content=content,
            contents=contents(content, levels), navigation=self.navigation(path, up)),
            encoding="utf-8")

    def add_to_index(self, path, title, content):
        """Each section of a page is something that the search finds."""
        found = headings(content)
        ends = [start for start, *_ in found[1:]] + [len(content)]
        for (start, level, name, words), end in zip(found, ends):
            text = plain(content[start:end])[len(words):].strip()
            self.index.append([path if level == 1 and path[:4] != "man/" else f"{path}#{name}",
                               title, words, text])

    def add_questions(self, content):
        """Each question leads to its answer."""
        rows = re.findall(r'<tr>\s*<td>(.*?)</td>\s*<td><a href="([^"]+)">(.*?)</a>', content)
        self.index += [[posixpath.normpath(posixpath.join("docs", link)), "I want to ...",
                        plain(question), plain(answer)] for question, link, answer in rows]

    def copy(self, path):
        """A file of the repository, as it is."""
        copy = self.output / "files" / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, copy)

    def link(self, page, found):
        """A link of a page to a file of the repository: to its page, or to a copy of it."""
        before, name, after = found.groups()
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
        up = "../" * target(page).count("/")
        if path in self.titles:
            return before + up + target(path) + after
        header = re.fullmatch(r"include/cushim/(\w+)\.(h|hpp)", path)
        if header and header[1] not in ADAPTERS:
            page = {"cushim.h": "cushim", "cushim.hpp": "cushim.hpp"}.get(
                posixpath.basename(path), f"cushim_{header[1]}")
            if any(manual.name == f"{page}.3" for manual in self.manuals):
                return f"{before}{up}man/{page}.3.html{after}"
        source = ROOT / path
        if source.is_file():
            self.copy(path)
            return f"{before}{up}files/{path}{after}"
        if source.is_dir():
            names = sorted(file.name for file in source.iterdir() if file.is_file())
            for file in names:
                self.copy(f"{path}/{file}")
            links = "\n".join(f'<li><a href="{file}">{file}</a></li>' for file in names)
            self.write(f"files/{path}/index.html", path, f"<h1>{path}</h1>\n<ul>\n{links}\n</ul>")
            return f"{before}{up}files/{path}/index.html{after}"
        return found[0]  # tests/docs/test_site.py finds what leads nowhere

    def write_pages(self):
        """The pages of Markdown."""
        import markdown  # pylint: disable=import-outside-toplevel
        for path, title in self.titles.items():
            text = re.sub(r"^<!--.*?-->\n", "", self.texts[path], flags=re.M)
            made = markdown.markdown(text, extensions=["extra", "toc", "sane_lists"],
                                     extension_configs={"toc": {"slugify": slug}})
            made = LINK.sub(lambda found, path=path: self.link(path, found), made)
            if path == QUESTIONS:
                self.add_questions(made)
            else:
                self.add_to_index(target(path), title, made)
            self.write(target(path), title, colour_page(made))

    def write_manuals(self):
        """The manual pages, by mandoc. Aliases are left out."""
        names = []
        for page in self.manuals:
            if page.read_text(encoding="utf-8").startswith(".so "):
                continue
            name = f"{page.stem}.{page.suffix[1:]}"
            made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", page],
                                  text=True, capture_output=True, check=True).stdout
            title = f"{page.stem}({page.suffix[1:]})"
            self.add_to_index(f"man/{name}.html", title, made)
            self.write(f"man/{name}.html", title, made, (1, 2))
            names.append(name)
        links = "\n".join(f'<li><a href="{name}.html">{name[:-2]}({name[-1]})</a></li>'
                          for name in names)
        self.write("man/index.html", "Manual pages", f"<h1>Manual pages</h1>\n<ul>\n{links}\n</ul>")

    def write_search(self):
        """The script and its index; a script may be loaded from a disk, other data not."""
        shutil.copy(HERE / "search.js", self.output)
        (self.output / "search-index.js").write_text(
            f"window.searchIndex = {json.dumps(self.index, ensure_ascii=False)};\n",
            encoding="utf-8")


def empty(output):
    """A new folder; an old one is removed only if it is a site."""
    if output.exists() and not (output / "style.css").exists():
        sys.exit(f"{output}: exists, and is no site")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)


def main():
    output, version, support, manuals = sys.argv[1:]
    output = Path(output)
    missing = [] if importlib.util.find_spec("markdown") else ["python3-markdown"]
    missing += [] if shutil.which("mandoc") else ["mandoc"]
    if missing:
        sys.exit(f"site: missing: {', '.join(missing)}")
    empty(output)
    shutil.copy(HERE / "style.css", output)
    site = Site(output, version, Path(manuals).glob("*.[13]"))
    site.write_pages()
    site.write_manuals()
    site.write_search()
    shutil.copy(support, output / "support.html")
    print(f"site: {output / 'index.html'}")


if __name__ == "__main__":
    main()

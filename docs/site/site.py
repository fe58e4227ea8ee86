#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the web site: the pages of the repository, the manual pages, the reference of the headers
and the page of all entries. Run by `ninja -C build site`.

Usage: site.py OUTPUT VERSION SUPPORT MANUALS

OUTPUT is emptied first if site.py made it. SUPPORT is the page of all entries that `cushim report`
makes, MANUALS the folder of the manual pages. Needs python3-markdown, mandoc and doxygen.
"""

import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path
from string import Template

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "reference"))

from headers import ADAPTERS, run_doxygen  # noqa: E402

# The navigation. A page of docs/ that is not here comes last, under "More".
GROUPS = {
    "Start": ["README.md", "docs/index-of-questions.md", "docs/guide.md",
              "docs/examples/README.md"],
    "Adopt": ["docs/adopt.md", "docs/windows.md", "docs/own-kernel.md", "docs/languages.md",
              "docs/python.md", "docs/nvml.md", "docs/packaging.md", "docs/abi.md",
              "docs/security.md", "docs/platforms.md"],
    "Use": ["docs/finding-the-driver.md", "docs/troubleshooting.md", "docs/features.md",
            "docs/compat.md", "docs/facts.md", "docs/doctor.md", "docs/scan.md",
            "docs/newer-and-diff.md", "docs/report.md"],
    "Test": ["docs/simulated-driver.md", "docs/unit-tests.md", "docs/matrix.md",
             "docs/ci.md", "docs/gcc.md"],
    "Look up": ["docs/sentences.md", "docs/errors.md", "docs/verdicts.md", "docs/json.md",
                "docs/simulated-details.md", "docs/simulated-entries.md",
                "docs/kernel-functions.md",
                "docs/measurements.md"],
    "How it is made": ["docs/how-it-works.md", "gen/README.md", "kernels/README.md",
                       "CONTRIBUTING.md", "CHANGELOG.md"],
}
REFERENCE = {"api/files.html": "Headers", "support.html": "All entries and features"}
LINK = re.compile(r'(<(?:a href|img alt="[^"]*" src)=")([^"#:]+)((?:#[^"]*)?")')


def pages():
    """{group: [path]} of what there is."""
    groups = {name: [path for path in paths if (ROOT / path).exists()]
              for name, paths in GROUPS.items()}
    known = {path for paths in groups.values() for path in paths}
    more = [f"docs/{file.name}" for file in sorted((ROOT / "docs").glob("*.md"))
            if f"docs/{file.name}" not in known]
    return {**groups, "More": more} if more else groups


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


class Site:
    """What is written, and the links within it."""

    def __init__(self, output, version, manuals):
        self.output = output
        self.version = version
        self.manuals = sorted(manuals, key=lambda page: (page.suffix, page.name))
        self.groups = pages()
        self.titles = {path: heading((ROOT / path).read_text(encoding="utf-8"))
                       for paths in self.groups.values() for path in paths}
        self.template = Template((HERE / "page.html").read_text(encoding="utf-8"))

    def navigation(self, here, up):
        """The list of all pages, for one of them."""
        groups = {name: {target(path): self.titles[path] for path in paths}
                  for name, paths in self.groups.items()}
        groups["Reference"] = {**REFERENCE, "man/index.html": "Manual pages"}
        lines = []
        for name, links in groups.items():
            lines.append(f"<h2>{name}</h2>\n<ul>")
            for link, title in links.items():
                mark = ' class="here"' if link == here else ""
                lines.append(f'<li><a{mark} href="{up}{link}">{title}</a></li>')
            lines.append("</ul>")
        return "\n".join(lines)

    def write(self, path, title, content):
        """A page within the frame that all share."""
        up = "../" * path.count("/")
        file = self.output / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.template.substitute(
            title=title, up=up, version=self.version, content=content,
            navigation=self.navigation(path, up)), encoding="utf-8")

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
        if header and posixpath.basename(path) not in ADAPTERS:
            return f"{before}{up}api/{header[1]}_8{header[2]}.html{after}"
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
            text = (ROOT / path).read_text(encoding="utf-8")
            text = re.sub(r"^<!--.*?-->\n", "", text, flags=re.M)
            html = markdown.markdown(text, extensions=["extra", "toc", "sane_lists"],
                                     extension_configs={"toc": {"slugify": slug}})
            html = LINK.sub(lambda found, path=path: self.link(path, found), html)
            self.write(target(path), title, html)

    def write_manuals(self):
        """The manual pages, by mandoc. Aliases are left out."""
        names = []
        for page in self.manuals:
            if page.read_text(encoding="utf-8").startswith(".so "):
                continue
            name = f"{page.stem}.{page.suffix[1:]}"
            html = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", page],
                                  text=True, capture_output=True, check=True).stdout
            self.write(f"man/{name}.html", f"{page.stem}({page.suffix[1:]})", html)
            names.append(name)
        links = "\n".join(f'<li><a href="{name}.html">{name[:-2]}({name[-1]})</a></li>'
                          for name in names)
        self.write("man/index.html", "Manual pages", f"<h1>Manual pages</h1>\n<ul>\n{links}\n</ul>")


def empty(output):
    """A new folder; an old one is removed only if it is a site."""
    if output.exists() and not (output / "style.css").exists():
        sys.exit(f"{output}: exists, and is no site")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)


def main():
    output, version, support, manuals = sys.argv[1:]
    output = Path(output)
    try:
        import markdown  # noqa: F401 pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        sys.exit("site: python3-markdown is missing")
    for tool in ("mandoc", "doxygen"):
        if not shutil.which(tool):
            sys.exit(f"site: {tool} is missing")
    empty(output)
    shutil.copy(HERE / "style.css", output)
    site = Site(output, version, Path(manuals).glob("*.[13]"))
    site.write_pages()
    site.write_manuals()
    run_doxygen(output, "html", version)
    (output / "html").rename(output / "api")
    shutil.copy(support, output / "support.html")
    print(f"site: {output / 'index.html'}")


if __name__ == "__main__":
    main()

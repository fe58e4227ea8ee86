# SPDX-License-Identifier: MIT
"""`meson install` runs it: a link of an installed page to a file of the sources, which is not
installed, becomes plain text.

Usage: plain_links.py FOLDER, below the prefix.
"""

import os
import re
import sys
from pathlib import Path

# Code comes first, so that no link is found in it.
CODE_OR_LINK = re.compile(
    r"^```(?s:.*?)^```|^    .*$|!?\[([^][]*(?:\[[^][]*\][^][]*)*)\]\(([^()\s]+)\)|`[^`\n]*`", re.M)


def plain(page):
    """The text of a page, with links that lead somewhere."""
    def text(found):
        path = (found[2] or "").partition("#")[0]
        stays = not path or re.match("[a-z]+:", path) or (page.parent / path).exists()
        return found[0] if stays else found[1]
    return CODE_OR_LINK.sub(text, page.read_text(encoding="utf-8"))


def main():
    top = Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"]) / sys.argv[1]
    for page in top.rglob("*.md"):
        page.write_text(plain(page), encoding="utf-8")


if __name__ == "__main__":
    main()

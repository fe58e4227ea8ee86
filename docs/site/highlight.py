# SPDX-License-Identifier: MIT
"""Colours for the code of the pages: comments, texts, numbers and words of a language."""

import html
import re

C = """auto bool break case catch char class const const_cast continue default delete do double else
enum explicit extern false final float for friend if inline int long mutable namespace new noexcept
nullptr override private protected public return short signed sizeof static static_assert
static_cast struct switch template this throw true try typedef typename union unsigned using virtual
void volatile while NULL"""
PYTHON = """and as assert break class continue def del elif else except finally for from global if
import in is lambda not or pass raise return try while with yield None True False"""
RUST = """as break const crate else enum extern fn for if impl in let loop match mod mut pub ref
return self Self static struct trait type unsafe use where while true false"""
GO = """break case chan const continue default defer else for func go goto if import interface map
package range return select struct switch type var nil true false"""
SHELL = "case do done elif else esac export fi for if in then until while"
SLASHES = r"//[^\n]*|/\*.*?\*/"
HASH = r"(?<![\w$&])#[^\n]*"
# language: (comments, words)
LANGUAGES = {
    **dict.fromkeys(("c", "cpp", "c++", "diff"), (SLASHES, C)),
    "python": (HASH, PYTHON), "py": (HASH, PYTHON), "rust": (SLASHES, RUST), "go": (SLASHES, GO),
    "sh": (HASH, SHELL), "yaml": (HASH, ""), "meson": (HASH, ""), "cmake": (HASH, ""),
}
STRING = r'"(?:[^"\\\n]|\\.)*"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\''
NUMBER = r"(?<![\w.$])\d[\w.]*"


def colour(language, text):
    """HTML of a piece of code. What stands in no list stays as it is."""
    if language not in LANGUAGES:
        return html.escape(text, quote=False)
    comment, words = LANGUAGES[language]
    kinds = {"comment": comment, "string": STRING, "number": NUMBER}
    if comment is SLASHES:
        kinds["hash"] = r"^[+-]?#\s*\w+"
    if words:
        kinds["word"] = rf"\b(?:{'|'.join(words.split())})\b"
    pattern = re.compile("|".join(f"(?P<{kind}>{rule})" for kind, rule in kinds.items()),
                         re.M | re.S)
    made, place = [], 0
    for found in pattern.finditer(text):
        kind = "word" if found.lastgroup == "hash" else found.lastgroup
        made += [html.escape(text[place:found.start()], quote=False),
                 f'<span class="{kind}">{html.escape(found[0], quote=False)}</span>']
        place = found.end()
    return "".join([*made, html.escape(text[place:], quote=False)])


def colour_page(text):
    """A page, as Markdown made it, with its blocks of code in colours."""
    return re.sub(r'(<code class="language-([\w+]+)">)(.*?)(</code>)',
                  lambda found: found[1] + colour(found[2], html.unescape(found[3])) + found[4],
                  text, flags=re.S)

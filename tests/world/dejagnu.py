# SPDX-License-Identifier: MIT
"""What the comments of one test say in the language of GCC's testsuite.

`{ dg-do run { target c } }` and its like are lists of Tcl; the GCC internals manual names them. A
selector names what must hold: an effective target, a pattern of a target's name, `!`, `&&`, `||`.
"""
import fnmatch
import re
import warnings
from dataclasses import dataclass, field

TRIPLE = "x86_64-pc-linux-gnu"
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


def words(text):
    """The elements of a Tcl list: a str, or a Braced one whose inside is not read yet."""
    at, found = 0, []
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return found
        start = at
        if text[at] == "{":
            depth = 0
            while at < len(text):
                depth += {"{": 1, "}": -1}.get(text[at], 0)
                at += 2 if text[at] == "\\" else 1
                if depth == 0:
                    break
            found.append(Braced(text[start + 1:at - 1]))
        elif text[at] == '"':
            at += 1
            while at < len(text) and text[at] != '"':
                at += 2 if text[at] == "\\" else 1
            found.append(unescape(text[start + 1:at]))
            at += 1
        else:
            while at < len(text) and not text[at].isspace():
                at += 1
            found.append(text[start:at])


class Braced(str):
    """An element that stood in braces."""


def unescape(text):
    """Tcl's backslashes in quotes."""
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), text, flags=re.DOTALL)


def holds(selector, targets):
    """Does a selector hold? `targets` are the effective targets that do."""
    parts = words(selector)
    if parts and parts[0] in ("target", "xfail"):
        parts = parts[1:]
    return holds_all(parts, targets)


def holds_all(parts, targets):
    """The same of a list's elements."""
    if not parts:
        return True
    if parts[0] == "!":
        return not holds_all(parts[1:], targets)
    if len(parts) > 2 and parts[1] in ("&&", "||"):
        left, right = holds_all(parts[:1], targets), holds_all(parts[2:], targets)
        return (left and right) if parts[1] == "&&" else (left or right)
    return any(holds(part, targets) if isinstance(part, Braced) and part != parts
               else part in targets or fnmatch.fnmatch(TRIPLE, part) for part in parts)


def applies(arguments, targets, flags):
    """`comment {selector} {include} {exclude}` of dg-skip-if and dg-xfail-run-if."""
    selector, include, exclude = (arguments[1:] + ["", "*", ""][len(arguments) - 1:])[:3]
    line = " ".join(flags)

    def given(patterns):
        return any(fnmatch.fnmatch(" " + line + " ", "*[ \t]" + one + "[ \t]*") or one == "*"
                   for one in words(patterns))
    return holds(selector, targets) and given(include) and not given(exclude)


@dataclass
class Test:
    """One test as its comments describe it."""
    do: str = "run"
    skip: str = ""         # why it is not run
    options: list = None   # in place of the default ones
    more: list = field(default_factory=list)
    sources: list = field(default_factory=list)
    variables: dict = field(default_factory=dict)
    output: str = ""       # a pattern of all that it writes
    fails: bool = False    # it must end with an error
    known: bool = False    # GCC knows that it fails


def read(text, targets, flags, default="run"):
    """The comments of a source; `flags`: those of every test, for dg-skip-if."""
    test = Test(do=default)
    for line in text.splitlines():
        for match in re.finditer(r"\{[ \t]+(dg-[-a-z]+)([ \t]+.*)?[ \t]+\}", line):
            one(test, match[1], words(match[2] or ""), targets, flags)
    return test


def one(test, name, arguments, targets, flags):
    """Take one comment into account."""
    selector = arguments[1] if len(arguments) > 1 else ""
    if name == "dg-do":
        test.do = arguments[0]
        if not holds(selector, targets):
            test.skip = f"not for this target: {selector.strip()}"
    elif name == "dg-require-effective-target":
        if holds(selector, targets) and arguments[0] not in targets:
            test.skip = f"needs {arguments[0]}"
    elif name == "dg-skip-if":
        if applies(arguments, targets, flags + test.more):
            test.skip = "skipped by itself"
    elif name == "dg-xfail-run-if":
        test.known |= applies(arguments, targets, flags + test.more)
    elif name in ("dg-error", "dg-excess-errors"):
        test.skip = test.skip or "does not compile on purpose"
    elif name == "dg-shouldfail":
        test.fails |= holds(selector, targets)
    elif not holds(selector, targets) and name != "dg-set-target-env-var":
        return
    elif name == "dg-options":
        test.options = arguments[0].split()
    elif name == "dg-additional-options":
        test.more += arguments[0].split()
    elif name == "dg-additional-sources":
        test.sources += arguments[0].split()
    elif name == "dg-set-target-env-var":
        test.variables[arguments[0]] = arguments[1]
    elif name == "dg-output" and not selector.strip().startswith("xfail"):
        test.output += arguments[0]


def matches(pattern, text):
    """Does Tcl find the pattern? Its dot is any character, and a [ in brackets is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.search(pattern, text, re.DOTALL) is not None

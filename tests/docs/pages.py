# SPDX-License-Identifier: MIT
"""Reads the code blocks and the commands of the pages.

A fenced block of C or C++ has a comment above it that tells what to do with it:

    <!-- test: program -->                whole; it is compiled and run
    <!-- test: from FILE -->              paragraphs of docs/examples/FILE
    <!-- test: fragment -->               statements; they are compiled and run behind prelude.h
    <!-- test: fragment, sim -->          the same, linked with the simulated driver
    <!-- test: declarations -->           the same outside of any function; the last one
                                          is called with the table
    <!-- test: change -->                 a diff: what it adds and what it keeps is a fragment
    <!-- test: output, no driver -->      what the program before it prints without a driver
    <!-- test: output, no device -->      ... and with a driver that finds no device
    <!-- test: session, NAME -->          a command and what it prints: test_readme.py
    <!-- test: facts -->                  a file of facts: tests/cli/test_facts.py
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
KINDS = ("program", "fragment", "fragment, sim", "declarations", "change",
         "output, no driver", "output, no device")
CODE = ("c", "cpp", "c++", "diff")
MARK = re.compile(r"<!-- test: (.*) -->")


@dataclass
class Block:
    """A fenced block."""
    page: Path
    line: int  # of its fence
    language: str
    kind: str  # one of KINDS; empty without a mark
    text: str
    outputs: dict = field(default_factory=dict)  # "no driver" -> what is printed there

    def name(self):
        """For pytest, and for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    def code(self):
        """What is compiled: of a change, what it leaves."""
        if self.kind != "change":
            return self.text
        return "".join(line[1:] + "\n" for line in self.text.splitlines() if line[:1] != "-")


def fenced(page):
    """Every fenced block of a page, with its mark."""
    lines = page.read_text(encoding="utf-8").splitlines()
    start = None
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start = number
            continue
        mark = MARK.fullmatch(lines[start - 1]) if start else None
        yield Block(page, start + 1, lines[start][3:].strip(), mark[1] if mark else "",
                    "".join(f"{line}\n" for line in lines[start + 1:number]))
        start = None
    assert start is None, f"{page}:{start + 1}: this block has no end"


def read_blocks(pages):
    """The blocks of C and C++, each with the outputs that follow it, and what is wrong."""
    blocks, wrong = [], []
    for page in pages:
        last = None
        for block in fenced(page):
            output = block.kind.startswith("output")
            if block.kind.startswith(("session, ", "from ")) or block.kind == "facts":
                continue
            if block.kind and block.kind not in KINDS:
                wrong.append(f"{block.name()}: no such mark: {block.kind}")
            elif output and last is None:
                wrong.append(f"{block.name()}: the output of no program")
            elif output:
                last.outputs[block.kind.partition(", ")[2]] = block.text
            elif block.language in CODE and not block.kind:
                wrong.append(f"{block.name()}: no mark tells how to run this block")
            elif block.kind:
                blocks.append(block)
                last = block if block.kind == "program" else None
        wrong += [f"{page}: a mark without a block: {found[0]}" for found in
                  re.finditer(r"<!-- test:.*?-->\n(?!```)", page.read_text(encoding="utf-8"))]
    return blocks, wrong


def quotes(pages):
    """(block, its file) of what is quoted."""
    for page in pages:
        for block in fenced(page):
            if block.kind.startswith("from "):
                yield block, ROOT / "docs/examples" / block.kind.removeprefix("from ")


def example(file, kind):
    """A file as a block."""
    return Block(file, 1, file.suffix[1:], kind, file.read_text(encoding="utf-8"))


def indented_commands(page):
    """(line, command) of each `cushim ...` in an indented block; what follows two blanks is words.
    `cushim sim: ...` is what that command prints."""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"    cushim (?!\w+:)", line):
            yield number, re.split(r"\s{2,}", line.strip())[0]


def inline_commands(page):
    """(line, command) of each `cushim ...` within a sentence."""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for found in re.finditer(r"`([A-Z_]+=\S* )*(cushim [a-z]+(?![\w:])[^`]*)`", line):
            yield number, found[2]

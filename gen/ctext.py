# SPDX-License-Identifier: MIT
"""C text from registry facts, shared by the emitters."""

import re
import textwrap

from libraries import CUDA

BANNER = """/* SPDX-License-Identifier: MIT */
/* Generated from gen/registry/{sources} by gen/emit.py. Do not edit. */
"""
WORD = re.compile(r"[A-Za-z_]\w*")


def banner(*sources, library=CUDA):
    """First lines of every generated file."""
    folder = "" if library is CUDA else f"{library.name}/"
    return BANNER.format(sources=", ".join(f"{folder}{source}.jsonl" for source in sources))


def declare(kind, name):
    """A declarator: ("void *", "p") -> "void *p"; ("int (*)(int)", "f") -> "int (*f)(int)"."""
    if "(*)" in kind:
        return kind.replace("(*)", f"(*{name})", 1)
    return kind + ("" if kind.endswith("*") else " ") + name


def parameters(entry, rename=lambda kind: kind):
    """The parameter list of an entry."""
    return ", ".join(declare(rename(kind), name) for kind, name in entry["params"]) or "void"


def call_type(entry, name, rename=lambda kind: kind, library=CUDA):
    """A pointer to an entry, as a declaration of NAME."""
    result = declare(entry.get("result", library.result), f"({library.call}*{name})")
    return f"{result}({parameters(entry, rename)})"


def prototype(entry, library=CUDA):
    """The head of an entry's function."""
    name = declare(entry.get("result", library.result), f"{library.call}{entry['symbol']}")
    return f"{name}({parameters(entry)})"


def wrap(text, indent=4):
    """A long declaration over several lines of at most 100 columns."""
    return "\n".join(textwrap.wrap(text, 100, subsequent_indent=" " * indent,
                                   break_long_words=False, break_on_hyphens=False))


def wrap_directive(text):
    """A long line for the preprocessor over several lines."""
    return " \\\n".join(textwrap.wrap(text, 98, subsequent_indent="    ",
                                      break_long_words=False, break_on_hyphens=False))


def foreign_structs(entries):
    """Declarations of the structs that parameters point to and other headers define."""
    tags = {tag for entry in entries for kind, _ in entry["params"]
            for tag in re.findall(r"\bstruct (\w+)", kind)}
    return [f"struct {tag};" for tag in sorted(tags)]


def names_in(kind):
    """Identifiers of a type's text."""
    return WORD.findall(kind)


def newest(row):
    """The last version of a type that there is or was."""
    return [fact for fact in row["versions"] if fact["kind"] != "gone"][-1]


def macro_name(header):
    """cudaGL.h -> CUDAGL_H, the guard macro of NVIDIA's header of that name."""
    return {"cuda.h": "__cuda_cuda_h__", "cudaProfiler.h": "cuda_profiler_H"}.get(
        header, header.replace(".", "_").upper())


def by_name(entries):
    """name -> its legacy entries, first ABI first."""
    names = {}
    for entry in entries:
        if entry["stream"] == "legacy":
            names.setdefault(entry["name"], []).append(entry)
    for group in names.values():
        group.sort(key=lambda entry: entry["since"])
    return names


def member(entry, names):
    """The table member's own name: the first of several ABIs is NAME_v1, all others the symbol."""
    several = len(names[entry["name"]]) > 1 if entry["name"] in names else False
    first = entry["stream"] == "legacy" and entry["symbol"] == entry["name"]
    return entry["symbol"] + "_v1" if several and first else entry["symbol"]

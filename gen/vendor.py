#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gen/vendor.py: write cushim.h and cushim.c with a few functions of the driver, to copy.

Usage: vendor.py FOLDER [NAME...] [--sources FILE...] [--helpers]

A NAME is a function of the driver, or a type or constant of CUDA. In --sources they are found. With
each function come all its ABIs, so that a plain name means what it means with the whole library.
With --helpers the files are the whole library, but for the functions that nothing names.
"""

import argparse
import difflib
import json
import re
import sys
import tempfile
import textwrap
from pathlib import Path

import amalgamate
import emit
import registry

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"
MAIN = ROOT / "include/cushim/cushim.h"
SMALL = [SRC / "small/open.c"]  # instead of the library's own; what they include comes with them
SMALL_POSIX = [SRC / "small/posix.c"]
GENERATED = {"loader/registry.h": "entries.c", "error_names.h": "error_names.c"}
HEADERS = ["api.h", "calls_only.h", "calls_only_names.h", "cuda.h", "cuda_types.h",
           "cuda_functions.h", "cuda_names.h"]
# What a small cushim.h does not have, and the macro that would bring it.
WHOLE = {"calls_only.h": "CUSHIM_CALLS_ONLY", "calls_only_names.h": "CUSHIM_CALLS_ONLY",
         "cuda_functions.h": "CUSHIM_DROPIN"}
WORD = re.compile(r"\b[A-Za-z_]\w*")
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|/\*.*?\*/|//[^\n]*', re.S)
INCLUDE = re.compile(r'#\s*include\s+[<"]([^>"]+)[>"]')
DECLARED = re.compile(r"^CUSHIM_PUBLIC [^;]*?\b(cushim_\w+)\(", re.M)
CALLED = re.compile(r"\b(cu[A-Z]\w*)\s*\(")
OWN = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)|"
                 r"^(?:\w[\w \t*]*?\b)?(cu[A-Z]\w*)\s*\([^;{]*\{", re.M)
OFFERED = re.compile(r"^#define (CUSHIM_\w+)\(", re.M)
RESULTS = "CUresult"  # the one type that the files always have
HEADER = """\
/*
 * cushim {version}: {count} of the CUDA driver API at run time, without linking to it.
 *
 * One of two files, cushim.h and cushim.c, to copy into a project. cushim.c is C11 and needs only,
 * on Linux, -ldl -pthread where the C library has them apart. Their comments are the library's,
 * shortened; its documentation describes each function. Made by:
 *   {command}
 *
{terms}
 */
"""


class VendorError(Exception):
    """What the caller asked for cannot be done; the message says why."""


def without_comments(text):
    """C text without comments, empty lines and the space that lines up a macro's backslashes."""
    text = TOKEN.sub(lambda match: " " if match[0][0] == "/" else match[0], text)
    text = re.sub(r"[ \t]+\\$", r" \\", text, flags=re.M)
    return re.sub(r"\n{2,}", "\n", re.sub(r"[ \t]+$", "", text, flags=re.M))


def words(path):
    """The identifiers of a C source, in code and in strings: dlsym has the names there."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise VendorError(f"{path}: {error.strerror}") from None
    return dict.fromkeys(WORD.findall(without_comments(text)))


def lacking(path, header, helpers):
    """What a source takes of cushim and the two files have not, as (line for people, whether it can
    stay so): headers, and functions and macros of headers."""
    helping = [one.name for one in listed("headers")]
    public = {name: one.name for one in sorted((ROOT / "include/cushim").glob("*.h"))
              for pattern in (DECLARED, OFFERED)
              for name in pattern.findall(one.read_text(encoding="utf-8"))}
    there, told = set(WORD.findall(without_comments(header))), set()
    text = TOKEN.sub(lambda match: match[0] if match[0][0] != "/" else "\n" * match[0].count("\n"),
                     path.read_text(encoding="utf-8", errors="replace"))
    for number, line in enumerate(text.splitlines(), 1):
        for name in re.findall(r'#\s*include\s+[<"]cushim/([^>"]+)[>"]', line):
            if name == MAIN.name:
                continue
            if name in HEADERS or name in helping and helpers:
                what = "include cushim.h instead, which has it"
            elif name in helping:
                what = "give --helpers, and include cushim.h instead"
            else:
                what = "it is of the whole library"
            yield (f"{path}:{number}: cushim/{name} is not written: {what}",
                   what.startswith("include"))
        for name in WORD.findall(line):
            if name not in public or name in there or name in told:
                continue
            told.add(name)
            what = "give --helpers" if public[name] in helping and not helpers else \
                "it is of the whole library"
            yield f"{path}:{number}: {name} is not in the two files: {what}", False


def unknown_calls(paths, known):
    """Calls in sources of functions that are named as the driver's, and that neither the registry
    has nor a source defines; lines for people."""
    texts = {path: TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]),
                             path.read_text(encoding="utf-8", errors="replace")) for path in paths}
    own = {name for text in texts.values() for pair in OWN.findall(text) for name in pair}
    for path, text in texts.items():
        for name in dict.fromkeys(CALLED.findall(text)):
            if known.knows(name) or name in own:
                continue
            line = 1 + text[:re.search(rf"\b{name}\s*\(", text).start()].count("\n")
            near = difflib.get_close_matches(name, known.names.values(), 1, 0.8)
            yield f"{path}:{line}: cushim knows no function {name}" + (
                f"; did you mean {near[0]}?" if near else "")


def listed(part):
    """The sources of a list of src/meson.build, without what the build generates."""
    text = (SRC / "meson.build").read_text(encoding="utf-8")
    found = [SRC / path for value in re.findall(rf"^{part} \+?= files\((.*?)\)", text, re.M | re.S)
             for path in re.findall(r"'([^']+)'", value)]
    if not found:
        raise VendorError(f"{SRC / 'meson.build'}: no list {part}")
    return found


def closure(paths):
    """The project's own files that some include, themselves among them, and the sources of the
    headers: loader/x.c for loader/x.h."""
    todo, seen = list(paths), {}
    while todo:
        path = todo.pop()
        if path in seen or not path.is_file():
            continue
        seen[path] = True
        todo += [SRC / name for name in INCLUDE.findall(path.read_text(encoding="utf-8"))]
        todo += [path.with_suffix(".c")] if path.suffix == ".h" else []
    return list(seen)


def small_parts():
    """The loader of a subset without helpers: sources in the library's order, and the systems'."""
    windows = [path for path in listed("windows_sources") if path.name == "platform_windows.c"]
    used = set(closure([*SMALL, *SMALL_POSIX, *windows]))
    shared = [path for path in listed("loader_sources") if path in used]
    lost = [path for path in used - {*shared, *SMALL, *SMALL_POSIX, *windows}
            if path.suffix == ".c"]
    if lost:
        raise VendorError(f"{lost[0]}: src/small needs it, and it is not in loader_sources")
    return {"sources": shared + SMALL, "posix": SMALL_POSIX, "windows": windows}


def whole_parts():
    """The library's own loader, and the helpers."""
    return {"sources": listed("loader_sources") + listed("helper_sources"),
            "posix": listed("posix_sources"), "windows": listed("windows_sources")}


def without_details(text):
    """C text in which of every comment that describes something the first paragraph stays."""
    def brief(match):
        comment = match[0]
        if not comment.startswith("/**"):
            return comment if comment[0] != "/" else " "
        first = re.split(r"\n \*\n|\n \* @", comment)[0].removesuffix("*/").rstrip()
        return f"{first} */" if first != "/**" else " "
    text = TOKEN.sub(brief, text)
    return re.sub(r"\n{2,}", "\n", re.sub(r"[ \t]+$", "", text, flags=re.M))


class Names:
    """What the registry knows of names."""

    def __init__(self):
        self.rows = {name: registry.read(registry.DEFAULT, name)
                     for name in ("entries", "types", "levels", "errors")}
        self.names = {row["symbol"]: row["name"] for row in self.rows["entries"]}
        self.types = {row["name"]: row for row in self.rows["types"]}
        self.values = {value[0]: row["name"] for row in self.rows["types"]
                       for fact in row["versions"] for value in fact.get("values", [])}
        self.tags = {fact["tag"]: row["name"] for row in self.rows["types"]
                     for fact in row["versions"]
                     if fact["kind"] in ("struct", "union") and "tag" in fact}
        self.aliases = {f"{name}_v1" for name in self.names.values()}

    def functions(self, word):
        """The names of the functions that a word stands for."""
        first = word.removesuffix("_v1") if word in self.aliases else word
        found = {self.names.get(first), first} & set(self.names.values())
        # A plain name may mean another's symbol in some release.
        return found | {self.names[row["symbol"]] for row in self.rows["levels"]
                        if row.get("name") in found}

    def type(self, word):
        """The type that a word is, or that has it as a constant; None if it is neither."""
        name = self.values.get(word, self.tags.get(word, word))
        return name if name in self.types else None

    def all(self):
        """Every name that one may give."""
        return sorted({*self.names, *self.names.values(), *self.types, *self.values})

    def knows(self, word):
        """Whether it is a function, type or constant."""
        return self.functions(word) or self.type(word)


class Subset(dict):
    """The registry as far as some words need it, for the emitters."""

    def __init__(self, known, seen, errors):
        super().__init__()
        self.directory = registry.DEFAULT
        functions = set().union(*(known.functions(word) for word in seen))
        rows = known.rows
        self["entries"] = [row for row in rows["entries"] if row["name"] in functions]
        self["levels"] = [row for row in rows["levels"] if row.get("name", "") in {"", *functions}]
        types = self.needed(known, {known.type(word) for word in seen})
        self["types"] = [row for row in rows["types"] if row["name"] in types]
        self["errors"] = errors

    def needed(self, known, types):
        """The types that the entries and TYPES are made of. Each word of a row may be one."""
        todo = [RESULTS, *filter(None, types), *WORD.findall(json.dumps(self["entries"]))]
        found = set()
        while todo:
            name = known.type(todo.pop())
            if name is None or name in found:
                continue
            found.add(name)
            # CUdeviceptr_v2, by which the table calls it, is CUdeviceptr for its users.
            todo += [re.sub(r"_v\d+$", "", name)]
            todo += WORD.findall(json.dumps(known.types[name]["versions"]))
        return found


def errors_of(known, asked, own, helpers):
    """The error codes that have a name: without a driver the loader returns and explains few of
    them, and with one the driver has all names."""
    rows = known.rows["errors"]
    if helpers or "cushim_error_string" in asked:
        return rows
    if "cushim_error_name" in asked:
        return [{**row, "text": row["name"]} for row in rows]
    return [row for row in rows if row["name"] in own]


def generate(folder, subset, helpers):
    """The generated files, in a folder as the build's; returns (companions, sources, helpers)."""
    (folder / "cushim").mkdir()
    companions = sorted({row["header"] for row in subset["entries"]} - {"cuda.h"})
    more = ["attribute_names.c"] if helpers else []
    for name in [*HEADERS, *companions, *GENERATED.values(), *more]:
        path = folder / "cushim" / name if name.endswith(".h") else folder / name
        macro = None if helpers else WHOLE.get(name)
        path.write_text(f'#error "{macro} is for the whole library"\n' if macro else
                        emit.OUTPUTS[name](subset), encoding="utf-8")
    return ([folder / "cushim" / name for name in companions],
            [folder / name for name in GENERATED.values()], [folder / name for name in more])


def declared_there(header, source):
    """The header without the functions that the source lacks. A paragraph is one of them, or a
    few of a kind, and what describes them."""
    def stays(paragraph):
        names = DECLARED.findall(paragraph)
        return not names or any(re.search(rf"^[^\s#].*\b{name}\)?\(", source, re.M)
                                for name in names)
    return "\n\n".join(filter(stays, header.split("\n\n")))


def command(functions, options):
    """How the same files are made again, whatever they were made from; lines of a comment."""
    others = sorted({*options.names} - functions)
    line = " ".join(["gen/vendor.py FOLDER", *(["--helpers"] if options.helpers else []),
                     *sorted(functions), *others])
    return "\n *     ".join(textwrap.wrap(line, 90, break_on_hyphens=False))


def counted(functions):
    """How many these are."""
    return f"{len(functions)} function{'s' * (len(functions) != 1)}"


def write(options):
    """Write the two files, or nothing; returns how many functions they have, in words."""
    known = Names()
    unknown = [name for name in options.names if not known.knows(name) and
               name not in ("cushim_error_name", "cushim_error_string")]
    if unknown:
        near = difflib.get_close_matches(unknown[0], known.all(), 1)
        raise VendorError(f"{unknown[0]}: no function, type or constant of CUDA" +
                          (f"; did you mean {near[0]}?" if near else ""))
    seen = dict.fromkeys(options.names)
    for path in options.sources:
        seen |= words(path)
    none = not any(known.functions(word) for word in seen)
    if none and any(word in seen for word in ("cushim_load", "cushim_init")):
        seen["cuInit"] = None  # a program that only asks whether there is a driver
    elif none:
        raise VendorError("no function of the driver is named, and none is in the sources")
    parts = whole_parts() if options.helpers else small_parts()
    functions = set().union(*(known.functions(word) for word in seen))
    own = set().union(*map(words, closure(sum(parts.values(), []))))
    subset = Subset(known, {*seen, *own}, errors_of(known, seen, own, options.helpers))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        companions, sources, helpers = generate(folder, subset, options.helpers)
        parts["sources"] = sources + parts["sources"] + helpers
        joiner = amalgamate.Joiner([ROOT / "include", folder, SRC])
        header = amalgamate.header(joiner, argparse.Namespace(
            headers=[MAIN, *(listed("headers")[1:] if options.helpers else [])],
            companions=companions, typedefs=[], owners=[]))
        source = amalgamate.sources(joiner, argparse.Namespace(helpers=[], dropin=[], **parts))
    if not options.helpers:
        source = re.sub(r"^(    )+", lambda spaces: "\t" * (len(spaces[0]) // 4),
                        without_comments(source), flags=re.M)
        header = without_details(declared_there(header, source))
    build = (ROOT / "meson.build").read_text(encoding="utf-8")
    head = HEADER.format(version=re.search(r"^\s*version: '([^']+)'", build, re.M)[1],
                         count=counted(functions), command=command(functions, options),
                         terms=amalgamate.terms(ROOT / "LICENSE"))
    found = [pair for path in options.sources for pair in lacking(path, header, options.helpers)]
    found += [(line, True) for line in unknown_calls(options.sources, known)]
    for line, _ in found:
        print(f"gen/vendor.py: {line}", file=sys.stderr)
    if not all(may_stay for _, may_stay in found):
        raise VendorError("nothing is written: the two files would lack what the sources use")
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("cushim.h", header), ("cushim.c", source)):
        try:
            (options.folder / name).write_text(head + text, encoding="utf-8")
        except OSError as error:
            raise VendorError(f"{options.folder / name}: {error.strerror}") from None
    return counted(functions)


def main():
    parser = argparse.ArgumentParser(
        prog="gen/vendor.py", description="Write cushim.h and cushim.c with a few functions.")
    parser.add_argument("folder", type=Path, help="where the two files go; it is made if need be")
    parser.add_argument("names", metavar="name", nargs="*", help="a function, type or constant")
    parser.add_argument("--sources", metavar="file", type=Path, nargs="+", default=[],
                        help="C or C++ files that name what they use")
    parser.add_argument("--helpers", action="store_true",
                        help="the whole loader and the helpers as well")
    options = parser.parse_intermixed_args()
    try:
        count = write(options)
    except (VendorError, amalgamate.AmalgamateError, registry.RegistryError) as error:
        sys.exit(f"gen/vendor.py: {error}")
    except OSError as error:
        sys.exit(f"gen/vendor.py: {error.filename or options.folder}: {error.strerror}")
    sizes = [(options.folder / name).stat().st_size for name in ("cushim.h", "cushim.c")]
    print(f"{count}; cushim.h {sizes[0]} bytes, cushim.c {sizes[1]} bytes")


if __name__ == "__main__":
    main()

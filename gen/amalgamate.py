# SPDX-License-Identifier: MIT
"""Join the library's sources to two files to copy, cushim.h and cushim.c: for two_files.py and
vendor.py."""

import re

INCLUDE = re.compile(r'\s*#\s*include\s+([<"])([^>"]+)[>"]')
TOOLKIT = re.compile(r"cuda\w*Typedefs\.h$")  # NVIDIA's own, where its cuda.h came first
DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b\s*(.*?)\s*$")
DEFINE = re.compile(r"\s*#\s*define\s+(\w+)")
BANNER = re.compile(r"(/\* (SPDX-License-Identifier: .*|Generated from .*) \*/|// SPDX-.*)$")

# Which parts there are, and the condition that each is compiled under.
PARTS = {"sources": None, "posix": "#ifndef _WIN32", "windows": "#ifdef _WIN32",
         "helpers": "#ifdef CUSHIM_HELPERS", "dropin": "#ifdef CUSHIM_DROPIN"}
LOADER = ("sources", "posix", "windows")
SIDES = {("ifdef", "_WIN32"): "#ifdef _WIN32", ("ifndef", "_WIN32"): "#ifndef _WIN32"}

HEADER = """\
/*
 * cushim {version}: the whole CUDA driver API at run time, without linking to it.
 *
 * One of two files, cushim.h and cushim.c, to copy into a project. cushim.c is C11 and needs only,
 * on Linux, -ldl -pthread where the C library has them apart. Macros that change them:
 *   CUSHIM_HELPERS  for cushim.c: adds the helpers, which cushim.h declares; without them a program
 *                   is as small as with the static library
 *   CUSHIM_COMPANIONS  for cushim.h: the types of cudaGL.h, cudaEGL.h and the others as well
 *   CUSHIM_TYPEDEFS    for cushim.h: the types of cudaTypedefs.h (PFN_cuInit_v2000, ...) as well
 *   CUSHIM_OWNERS      for cushim.h in C++: the owners of cushim.hpp, which need the helpers
 *   CUSHIM_FOREIGN_TYPES  for cushim.h: takes the types of CUDA from a header of the project's own
 *   CUSHIM_DROPIN      for cushim.c: adds functions of the driver's own names (cuInit, ...), which
 *                      load the driver on their first call, in place of -lcuda; for cushim.h:
 *                      declares them
 *
{license}
 */
/* Generated from {origin} by gen/two_files.py. Do not edit. */
"""
TOP = """
/* What the including project chose for its own calls is not for the table itself. */
#undef CUDA_API_PER_THREAD_DEFAULT_STREAM
#undef CUSHIM_CALLS_ONLY
#undef CUSHIM_CUDA_VERSION
#undef CUSHIM_FOREIGN_TYPES

#ifndef CUSHIM_COMPANIONS
#define CUSHIM_COMPANIONS
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr1, dlinfo, secure_getenv */
#endif
"""
HIDE = """
#if defined(__GNUC__)
/* The sources were written apart; in one file some names of one hide those of another. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#ifndef _WIN32
/* A plug-in and its program may each have a copy: neither sees the other's. */
#pragma GCC visibility push(hidden)
#endif
#endif

#include "cushim.h"
"""
# One object has all functions of the loader, used or not, and none of them runs often.
SHRINK = """
#if defined(__OPTIMIZE__) && defined(__clang__)
#pragma clang attribute push(__attribute__((minsize)), apply_to = function)
#elif defined(__OPTIMIZE__) && defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("Os")
#endif
"""
UNSHRINK = """
#if defined(__OPTIMIZE__) && defined(__clang__)
#pragma clang attribute pop
#elif defined(__OPTIMIZE__) && defined(__GNUC__)
#pragma GCC pop_options
#endif
"""
UNHIDE = """
#if defined(__GNUC__)
#ifndef _WIN32
#pragma GCC visibility pop
#endif
#pragma GCC diagnostic pop
#endif
"""


class AmalgamateError(Exception):
    """Input that cannot be joined; the message begins with file and line."""


class Conditions:
    """On which systems the lines of one file are compiled, as far as that matters here."""

    def __init__(self):
        self.stack = []
        self.guarded = False

    def read(self, line):
        """Follow a directive."""
        match = DIRECTIVE.match(line)
        if not match:
            return
        word, rest = match.groups()
        if word in ("if", "ifdef", "ifndef"):
            guard = not self.guarded and word == "ifndef" and rest.endswith("_H")
            self.guarded = True
            self.stack.append("" if guard else SIDES.get((word, rest)))
        elif word == "endif":
            self.stack.pop()
        else:
            other = {"#ifdef _WIN32": "#ifndef _WIN32", "#ifndef _WIN32": "#ifdef _WIN32"}
            self.stack[-1] = other.get(self.stack[-1]) if word == "else" else None

    def side(self):
        """The condition here: "" for none, None where it is one that cannot be told."""
        sides = {side for side in self.stack if side != ""}
        return "" if not sides else sides.pop() if len(sides) == 1 else None


class Joiner:
    """Text of many files, each of the project's own headers once."""

    def __init__(self, folders):
        self.folders = folders
        self.seen = set()
        self.system = {}  # include line -> its conditions

    def find(self, name, beside, place):
        """The project's file that an include line names."""
        for folder in [beside, *self.folders]:
            if (folder / name).is_file():
                return (folder / name).resolve()
        raise AmalgamateError(f"{place}: no {name} in the folders given")

    def text(self, path, side="", in_place=False):
        """Lines of a file. System headers are noted; they stay in the text only IN_PLACE."""
        conditions = Conditions()
        self.seen.add(path.resolve())
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            conditions.read(line)
            match = INCLUDE.match(line)
            if not match:
                if not (BANNER.match(line) or DEFINE.match(line) and "_GNU_SOURCE" in line):
                    yield line
            elif match[1] == '"' or match[2].startswith("cushim/"):
                own = self.find(match[2], path.parent, f"{path}:{number}")
                if own not in self.seen:
                    yield from self.text(own, side, in_place)
            elif TOOLKIT.match(match[2]):
                yield line
            else:
                if in_place:
                    yield line
                self.note(line.strip(), "" if in_place else side or conditions.side(),
                          f"{path}:{number}")

    def note(self, line, side, place):
        """Remember a system header for the top of cushim.c."""
        if side is None:
            raise AmalgamateError(f"{place}: a system header under a condition other than _WIN32")
        self.system.setdefault(line, set()).add(side)

    def system_lines(self):
        """All system headers, each under its condition."""
        for side in ("", "#ifdef _WIN32", "#ifndef _WIN32"):
            both = {"", "#ifdef _WIN32", "#ifndef _WIN32"} - {side}
            lines = sorted(line for line, sides in self.system.items()
                           if (sides == {side} if side else "" in sides or sides == both))
            yield from [side, *lines, "#endif"] if side and lines else lines


def tidy(lines):
    """The text without runs of blank lines and without guards that became empty."""
    text = "\n".join(lines) + "\n"
    text = re.sub(r"#ifndef _GNU_SOURCE\n#endif\n", "", text)
    return re.sub(r"\n{3,}", "\n\n", text)


def local_macros(path):
    """Macros that a source defines for itself: the next source may use the name otherwise."""
    found = (DEFINE.match(line) for line in path.read_text(encoding="utf-8").splitlines())
    return sorted({match[1] for match in found if match} - {"_GNU_SOURCE"})


def header(joiner, options):
    """Text of cushim.h."""
    main, *helpers = options.headers
    lines = list(joiner.text(main, in_place=True))
    lines += ["", "#if defined(CUSHIM_COMPANIONS) && defined(CUSHIM_CUDA_TYPES_H)"]
    for path in options.companions:
        lines += joiner.text(path, in_place=True)
    lines += ["#endif", "", "#ifdef CUSHIM_TYPEDEFS"]
    for path in options.typedefs:
        own = path.name == "cudaTypedefs.h"
        lines += [] if own else ["#if defined(CUSHIM_COMPANIONS) && defined(CUSHIM_CUDA_TYPES_H)"]
        lines += joiner.text(path, in_place=True)
        lines += [] if own else ["#endif"]
    lines += ["#endif", ""]
    # Only the first needs no more types than a project's own header has.
    for path in sorted(helpers, key=lambda path: path.name != "error.h"):
        if path.resolve() not in joiner.seen:
            lines += joiner.text(path, in_place=True)
        lines += ["#ifndef CUSHIM_FOREIGN_TYPES"] if path.name == "error.h" else []
    if options.owners:
        cxx = Joiner(options.include)  # system headers of C++ are not for the top of cushim.c
        cxx.seen = joiner.seen
        lines += ["", "#if defined(CUSHIM_OWNERS) && defined(__cplusplus)"]
        lines += [line for path in options.owners for line in cxx.text(path, in_place=True)]
        lines += ["#endif"]
    return tidy([*lines, *(["#endif"] if helpers else [])])


def sources(joiner, options):
    """Text of cushim.c behind its licence."""
    loader, rest = [], []
    for part, condition in PARTS.items():
        body = loader if part in LOADER else rest
        for path in getattr(options, part):
            side = condition if condition and "_WIN32" in condition else ""
            macros = [f"#undef {name}" for name in local_macros(path)]
            lines = ["", f"/* ---- {path.name} */", *joiner.text(path, side), *macros]
            body += [condition, *lines, "#endif"] if condition else lines
    return tidy([TOP, *joiner.system_lines(), HIDE, SHRINK, *loader, UNSHRINK, *rest,
                 UNHIDE])


def terms(license_file):
    """The licence as lines of a comment."""
    return "\n".join(f" * {line}".rstrip()
                     for line in license_file.read_text(encoding="utf-8").splitlines())

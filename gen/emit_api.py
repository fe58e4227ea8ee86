# SPDX-License-Identifier: MIT
"""api.h: struct cushim_api, one typed member for every ABI symbol."""

import re

import ctext
from emit_cuda import (DEFAULT_LEVEL, FIRST_LEVEL, FOREIGN_MESSAGE, Level, bring_back, macros,
                       meanings, put_away, unknown_level)

SEEN = 11020  # the only one of those that was looked at: enums that its entries use are there
VERSIONED = re.compile(r"_v\d+$")
# What every header with types of CUDA has. In the mode of foreign types, all others are cushim's.
COMMON = ["CUresult", "CUdevice", "CUdeviceptr", "CUcontext", "CUstream"]
HEAD = """#ifndef CUSHIM_API_H
#define CUSHIM_API_H

#include <stddef.h>
#include <stdint.h>

/* Without a toolkit's cuda.h before this header, cushim brings its own types. The functions, which
 * the table replaces, cost as much to compile as it does: cuda.h and CUSHIM_DROPIN bring them. */
#ifdef CUSHIM_FOREIGN_TYPES
#ifdef CUSHIM_CUDA_TYPES_H
#error "CUSHIM_FOREIGN_TYPES is defined after a header of cushim's declared the types"
#endif
#ifndef CUSHIM_CUDA_VERSION
#define CUSHIM_CUDA_VERSION {default}
#endif
#if {unknown}
#error "CUSHIM_CUDA_VERSION is no release that cushim knows, from {oldest} to {newest}"
#endif
#elif !defined(__cuda_cuda_h__)
#include <cushim/cuda_types.h>
#ifdef CUSHIM_DROPIN
#include <cushim/cuda_functions.h>
#endif
#elif !defined(CUSHIM_CUDA_TYPES_H) && !(defined(CUDA_VERSION) && defined(CU_PARAM_TR_DEFAULT))
#error "{message}"
#define CUSHIM_FOREIGN_TYPES
#elif CUDA_VERSION < 11000
#error "the cuda.h before cushim's headers is older than CUDA 11.0"
#elif !defined(CUSHIM_CUDA_TYPES_H) && defined(CUSHIM_CUDA_VERSION)
#if CUSHIM_CUDA_VERSION != CUDA_VERSION
#error "CUSHIM_CUDA_VERSION contradicts CUDA_VERSION of the cuda.h before cushim's headers"
#endif
#endif
#if defined(CUSHIM_FOREIGN_TYPES) || defined(CUSHIM_CUDA_TYPES_H) || CUDA_VERSION >= 11000

#ifndef CUDAAPI
#ifdef _WIN32
#define CUDAAPI __stdcall
#else
#define CUDAAPI
#endif
#endif
#ifndef CUDA_CB
#define CUDA_CB CUDAAPI
#endif

#ifdef __cplusplus
extern "C" {{
#endif

#if defined(__GNUC__)
#define CUSHIM_EXTENSION __extension__
#else
#define CUSHIM_EXTENSION
#endif
""".replace("{message}", FOREIGN_MESSAGE).replace("{default}", str(DEFAULT_LEVEL)).replace(
    "{{", "{")
STRUCT = """
#ifdef CUSHIM_CALLS_ONLY
#define cushim_api cushim_slots /* and calls_only.h makes the table of it */
#endif
/*
 * The order of the members is ABI: new ones come at the end. A member is what the driver exports
 * under that name, or a stub of the same type; never NULL. Where a name has several ABIs, the first
 * is NAME_v1, and the macros of cuda.h lead a plain name to the member it means. Where there are no
 * such macros, under CUSHIM_FOREIGN_TYPES, the plain name is a second name of that member.
 */
struct cushim_api {
    size_t size; /* of this structure, as the library that filled it knows it */
    struct cushim_instance *instance; /* what belongs to this table; for cushim's own use */
"""


class Names:
    """How a type is written in the table, whatever headers the caller has."""

    def __init__(self, entries, types, base):
        self.types = {row["name"]: row for row in types}
        self.base = base
        self.used = {}
        self.first_use = {}  # name -> release of the first entry that has it
        for entry in entries:
            for kind, _ in entry["params"]:
                for word in ctext.names_in(kind):
                    self.use(word)
                    self.first_use.setdefault(word, entry["since"])
        # CUdeviceptr_v2 is a number, and CUdeviceptr another name for it, in every cuda.h.
        self.plain = {
            f"{name}{match[0]}": name for name, row in self.types.items()
            for match in [VERSIONED.search(row["versions"][0].get("type", ""))]
            if match and len(row["versions"]) == 1 and row["versions"][0]["since"] == base and
            self.types.get(f"{name}{match[0]}", row)["versions"][0]["kind"] == "alias"}

    def use(self, name):
        """Note a type and what it is made of, the latter first."""
        row = self.types.get(name)
        if row is None or name in self.used:
            return
        fact = ctext.newest(row)
        if fact["kind"] == "alias":
            for word in ctext.names_in(fact["type"]):
                self.use(word)
        if fact["kind"] == "function":
            for kind in [fact["result"]] + [kind for kind, _ in fact["params"]]:
                for word in ctext.names_in(kind):
                    self.use(word)
        self.used[name] = row

    def rename(self, kind):
        """KIND with the companions' types under names of our own."""
        return ctext.WORD.sub(lambda match: self.own(match[0]), kind)

    def own(self, name):
        """A companion's type is cushim_NAME: its header may be included later, or never. So is
        one that a cuda.h from before the registry may lack."""
        row = self.used.get(name)
        if name in self.plain:
            return self.plain[name]
        return f"cushim_{name}" if row and (row["header"] != "cuda.h" or self.uncertain(row)) \
            else name

    def uncertain(self, row):
        """Whether it is unknown which release before the registry's oldest brought a type.

        Names with a version came at some time during CUDA 11, others not before the first entry
        that has them.
        """
        name, first, last = row["name"], row["versions"][0], row["versions"][-1]
        if row["header"] != "cuda.h" or row.get("internal") or first["since"] > self.base or \
                last["kind"] == "gone" or name in self.plain or name in self.plain.values():
            return False
        return VERSIONED.search(name) or min(
            self.first_use.get(word, self.base) for word in (name, first.get("type"))) > FIRST_LEVEL

    def forward(self, row, fact=None, name=None):
        """A declaration that needs nothing of the header that has the type."""
        name, fact = name or self.own(row["name"]), fact or ctext.newest(row)
        if fact["kind"] in ("struct", "union"):
            return f"typedef {fact['kind']} {fact['tag']} {name};"
        if fact["kind"] == "handle":
            const = "const " if fact.get("const") else ""
            return f"typedef {const}struct {fact['tag']} *{name};"
        if fact["kind"] == "enum":
            signed = any(value[1] < 0 for value in fact["values"])
            return f"typedef {'int' if signed else 'unsigned int'} {name};"
        if fact["kind"] == "function":
            params = ", ".join(ctext.declare(self.rename(kind), param)
                               for kind, param in fact["params"])
            return f"typedef {fact['result']} (CUDA_CB *{name})({params or 'void'});"
        return f"typedef {ctext.declare(self.rename(fact['type']), name)};"


def foreign(names):
    """Types that a project's own header may lack: cushim's names stand for them in the table.

    They are declared by their tags, so they are the project's if it has them, but for enums.
    """
    versioned = {plain: name for name, plain in names.plain.items()}
    needed = {names.plain.get(name, name): row for name, row in names.used.items()}
    for name, row in needed.items():
        if row["header"] == "cuda.h" and name not in COMMON:
            fact = ctext.newest(names.types[versioned.get(name, name)])
            yield names.forward(row, fact, f"cushim_{name}")
            if not names.uncertain(row):
                yield f"#define {name} cushim_{name}"


def end_foreign(names):
    """The project's own names again."""
    return ["#ifdef CUSHIM_FOREIGN_TYPES",
            *(f"#undef {line.split()[1]}" for line in foreign(names) if line[0] == "#"), "#endif"]


def uncertain(names):
    """Types that a cuda.h from before the registry may or may not have, under our own names."""
    rows = [row for row in names.used.values() if names.uncertain(row)]
    if not rows:
        return []
    return ["", f"/* Types that a cuda.h before {names.base} may lack, or have by another name. */",
            f"#if defined(CUSHIM_CUDA_TYPES_H) || CUDA_VERSION >= {names.base}",
            *(f"typedef {row['name']} {names.own(row['name'])};" for row in rows), "#else",
            *(line for row in rows for line in before_registry(names, row)), "#endif"]


def before_registry(names, row):
    """An uncertain type without a word on the caller's header, but for enums that it has."""
    first = row["versions"][0]
    forward = [names.forward(row, first)]
    if first["kind"] != "enum" or names.first_use.get(row["name"], SEEN + 1) > SEEN:
        return forward
    return [f"#if CUDA_VERSION >= {SEEN}", f"typedef {row['name']} {names.own(row['name'])};",
            "#else", *forward, "#endif"]


def forwards(names, base):
    """Types that the caller's cuda.h may lack."""
    lines = ["", "/* Types that an older cuda.h, or any public one, lacks. */",
             "#ifndef CUSHIM_CUDA_TYPES_H"]
    for row in names.used.values():
        first, last = row["versions"][0], row["versions"][-1]
        lacking = [f"CUDA_VERSION < {first['since']}"] * (first["since"] > base)
        lacking += [f"CUDA_VERSION >= {last['since']}"] * (last["kind"] == "gone")
        if row["header"] != "cuda.h":
            continue
        if row.get("internal"):
            lines += ["#ifndef __CUDA_API_VERSION_INTERNAL", names.forward(row), "#endif"]
        elif lacking:
            lines += [f"#if {' || '.join(lacking)}", names.forward(row), "#endif"]
    return lines + ["#endif"]


def companions(names):
    """Types of the companion headers, under names of our own."""
    lines = ["", "/* Types of cudaGL.h and the other companions: theirs where they came first. */"]
    for row in names.used.values():
        if row["header"] == "cuda.h":
            continue
        forward = names.forward(row)
        if ctext.newest(row)["kind"] == "enum":
            own = f"typedef {row['name']} {names.own(row['name'])};"
            lines += [f"#ifdef {ctext.macro_name(row['header'])}", own, "#else", forward, "#endif"]
        else:
            lines.append(forward)
    return lines


def second_names(entries, levels, base):
    """symbol -> the plain names that its slot has beside its own, each with its condition.

    The first ABI has the plain name, which the macros of cuda.h lead elsewhere. Types of the
    project's own come without these macros, so there the slot that is meant has the name.
    """
    symbols = {entry["symbol"]: entry for entry in entries}
    level = Level(base)
    found = {}
    for name, group in ctext.by_name(entries).items():
        meant = list(meanings(name, levels, symbols, base))
        if len(group) == 1 and all(symbol == name for *_, symbol in meant):
            continue
        for since, until, symbol in meant:
            tests = level.conditions(since, until)
            if symbol != name:
                found.setdefault(symbol, []).append(
                    (name, " && ".join(["defined(CUSHIM_FOREIGN_TYPES)", *tests])))
        if name in symbols:
            own = [" && ".join(level.conditions(since, until)) for since, until, symbol in meant
                   if symbol == name]
            found.setdefault(name, []).append(
                (name, " || ".join(["!defined(CUSHIM_FOREIGN_TYPES)",
                                    *(f"({test})" if test else "1" for test in own)])))
    return found


def members(entries, names, seconds):
    """The members, in registry order."""
    groups = ctext.by_name(entries)
    for entry in entries:
        own = ctext.member(entry, groups)
        others = [(name, test) for name, test in seconds.get(entry["symbol"], []) if name != own]
        text = ctext.call_type(entry, own, names.rename) + ";"
        if not others:
            yield ctext.wrap("    " + text, 8)
            continue
        lines = ["    CUSHIM_EXTENSION union {", ctext.wrap("        " + text, 12)]
        for name, test in others:
            second = "        " + ctext.call_type(entry, name, names.rename) + ";"
            lines += [ctext.wrap_directive(f"#if {test}"), ctext.wrap(second, 12), "#endif"]
        yield "\n".join([*lines, "    };"])


def emit(registry):
    """Text of api.h."""
    entries, types = registry["entries"], registry["types"]
    base = min(row["release"] for row in registry["levels"])
    names = Names(entries, types, base)
    levels = registry["levels"]
    newest = max(row["release"] for row in levels)
    head = HEAD.replace("{unknown}", unknown_level(levels)).replace(
        "{oldest}", str(FIRST_LEVEL)).replace("{newest}", str(newest))
    lines = [ctext.banner("entries", "types", "levels") + head,
             f"#define CUSHIM_ENTRY_COUNT {len(entries)}",
             f"#define CUSHIM_REGISTRY_VERSION {newest}"]
    lines += ["", *ctext.foreign_structs(entries), "",
              "/* The project's types, and of all others no more than the table needs. */",
              "#ifdef CUSHIM_FOREIGN_TYPES", *foreign(names), "#else", *uncertain(names),
              *forwards(names, base), "#endif", *companions(names)]
    lines += ["", "struct cushim_instance;"]
    away = macros(registry)
    lines += ["", "/* cuda.h's macros would rename the members in their own definition. */",
              "#if !defined(CUSHIM_CUDA_TYPES_H) || defined(CUSHIM_CUDA_FUNCTIONS_H) || \\",
              "    defined(CUSHIM_CUDA_NAMES_H)", "#define CUSHIM_API_AWAY", *put_away(away),
              "#endif"]
    lines += [STRUCT.rstrip("\n"), *members(entries, names, second_names(entries, levels, base)),
              "};", "#ifdef CUSHIM_CALLS_ONLY", "#undef cushim_api",
              "#include <cushim/calls_only.h>", "#endif", ""]
    lines += ["#ifdef CUSHIM_API_AWAY", *bring_back(away), "#endif", *end_foreign(names)]
    lines += ["", "#ifdef __cplusplus", "}", "#endif", "", "#ifdef CUSHIM_CUDA_TYPES_H",
              "#include <cushim/cuda_names.h>", "#endif", "#ifdef CUSHIM_CALLS_ONLY",
              "#include <cushim/calls_only_names.h>", "#endif", "", "#endif", "#endif"]
    return "\n".join(lines) + "\n"

# SPDX-License-Identifier: MIT
"""cuda.h, in its parts, and its companions: our own headers, for builds without a toolkit."""

import ctext
from libraries import CUDA as DRIVER

TYPES_HEAD = """#ifndef CUSHIM_CUDA_TYPES_H
#ifdef __cuda_cuda_h__
#error "cushim/cuda.h stands in for NVIDIA's cuda.h: include one of the two"
#elif defined(CUSHIM_FOREIGN_TYPES)
#error "CUSHIM_FOREIGN_TYPES takes all types from your header: cushim/cuda.h has types of its own"
#elif defined(CUDAAPI) || defined(CUDA_CB) || {foreign}
#error "{message}"
#define CUSHIM_FOREIGN_TYPES
#else
#define CUSHIM_CUDA_TYPES_H

/* NVIDIA's header, included later, finds its own guard and adds nothing. */
#define __cuda_cuda_h__

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The newest release that is known here. */
#define CUSHIM_REGISTRY_VERSION {newest}

/* The release whose meaning unversioned names have, as in NVIDIA's cuda.h of that release. */
#ifndef CUSHIM_CUDA_VERSION
#define CUSHIM_CUDA_VERSION {default}
#endif
#if {unknown}
#error "CUSHIM_CUDA_VERSION is no release that cushim knows, from {oldest} to {newest}"
#endif
#ifdef CUDA_VERSION
#error "CUDA_VERSION is defined before cushim/cuda.h: CUSHIM_CUDA_VERSION chooses the release"
#else
#define CUDA_VERSION CUSHIM_CUDA_VERSION
#endif

#ifdef _WIN32
#define CUDAAPI __stdcall
#define CUDA_CB __stdcall
#else
#define CUDAAPI
#define CUDA_CB
#endif
"""
# What unversioned names mean if CUSHIM_CUDA_VERSION is not defined. The names change at 12.0 and
# at 13.0. Those of 13.0 are missing in many of the drivers that people have, CUDA 12.2 of Debian 12
# among them. Those of 11 are there, but nothing written for CUDA 12 compiles with them, and drivers
# of 12.x refuse their stream memory operations unless the kernel module allows them. The names of
# 12.9 are those of 12.0, and CUDA_VERSION of 12.0 keeps source that tests it from newer entries.
# tests/headers/default_level.py counts; docs/measurements.md has its table.
DEFAULT_LEVEL = 12000
CUDA = """#ifndef CUSHIM_CUDA_H
#define CUSHIM_CUDA_H

/* Functions before names, which are macros. */
#include <cushim/cuda_types.h>
#ifdef CUSHIM_CUDA_TYPES_H /* else there was an error */
#include <cushim/cuda_functions.h>
#include <cushim/cuda_names.h>
#endif

#endif
"""
FUNCTIONS_HEAD = """\
/* The functions, of every ABI. The drop-in defines them, or a link to libcuda. */
#ifndef CUSHIM_CUDA_FUNCTIONS_H
#define CUSHIM_CUDA_FUNCTIONS_H

#include <cushim/cuda_types.h>
#ifndef CUSHIM_CALLS_ONLY_NAMES_H /* whose macros would be in the declarations */
"""
NAMES_HEAD = """/* What names without a version mean. */
#ifndef CUSHIM_CUDA_NAMES_H
#define CUSHIM_CUDA_NAMES_H
"""
COMPANION_HEAD = """#ifndef {guard}
#define {guard}

#include <cushim/cuda.h>
"""
CXX_OPEN = '\n#ifdef __cplusplus\nextern "C" {\n#endif\n'
CXX_CLOSE = "\n#ifdef __cplusplus\n}\n#endif\n"
PROC_PER_THREAD = """
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
/* Asked for neither kind of stream, the look-up finds what this program's own calls use. */
#if CUSHIM_CUDA_VERSION < 12000
static inline CUresult cuGetProcAddress_ptsz(const char *symbol, void **pfn, int cudaVersion,
                                             cuuint64_t flags)
{
    const cuuint64_t streams =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!(flags & streams))
        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return cuGetProcAddress(symbol, pfn, cudaVersion, flags);
}
#define cuGetProcAddress cuGetProcAddress_ptsz
#else
static inline CUresult cuGetProcAddress_v2_ptsz(const char *symbol, void **pfn, int cudaVersion,
                                                cuuint64_t flags,
                                                CUdriverProcAddressQueryResult *symbolStatus)
{
    const cuuint64_t streams =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!(flags & streams))
        flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
}
#define cuGetProcAddress_v2 cuGetProcAddress_v2_ptsz
#endif
#endif
"""
MACROS = """#if defined(__GNUC__)
#define CUSHIM_ANONYMOUS __extension__
#else
#define CUSHIM_ANONYMOUS
#endif
#if defined(__cplusplus) && __cplusplus >= 201103L
#define CUSHIM_ALIGN(bytes) alignas(bytes)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define CUSHIM_ALIGN(bytes) _Alignas(bytes)
#else
#define CUSHIM_ALIGN(bytes)
#endif"""
# Macros of which a project's own header with some types of CUDA has at least one.
FOREIGN = ["cuMemAlloc", "cuCtxCreate", "cuCtxDestroy", "CU_TRSF_READ_AS_INTEGER",
           "CU_LAUNCH_PARAM_END", "CU_IPC_HANDLE_SIZE"]
FOREIGN_MESSAGE = ("a header of yours, not NVIDIA's cuda.h, declared types of CUDA before cushim's "
                   "headers: leave it out, because cushim declares all types, or define "
                   "CUSHIM_FOREIGN_TYPES, and cushim takes them from it (docs/adopt.md)")
FIRST_LEVEL = 11000  # the oldest that there is
# CUDA 11 before the oldest headers that the registry was made from; 11.2's were looked at.
BEFORE_REGISTRY = [11000, 11010, 11020, 11030, 11040, 11050, 11060]
# A name with its ABI in it follows the per-thread default stream until the plain name means it;
# this one did so for as long as its successor was not the plain name's meaning.
FOLLOWS_UNTIL = {"cuStreamGetCaptureInfo_v2": 13000}


class Level:
    """Which lines a level of CUSHIM_CUDA_VERSION sees; the oldest known release has no floor."""

    def __init__(self, base, library=DRIVER):
        self.base = base
        self.macro = library.level

    def conditions(self, since, until):
        """What the preprocessor tests for since <= level < until; nothing where that is always."""
        low = since is not None and since > self.base
        return ([f"{self.macro} >= {since}"] if low else []) + \
            ([f"{self.macro} < {until}"] if until is not None else [])

    def guard(self, since, until, lines):
        """LINES for since <= level < until."""
        tests = self.conditions(since, until)
        return [f"#if {' && '.join(tests)}", *lines, "#endif"] if tests else lines


def fields(items, indent=1):
    """Lines of a record's body."""
    pad = "    " * indent
    for field in items:
        dims = "".join(f"[{size}]" for size in field.get("dims", []))
        if "type" in field:
            yield f"{pad}{ctext.declare(field['type'], field['name'] + dims)};"
            continue
        kind = "struct" if "struct" in field else "union"
        extension = "" if field["name"] else "CUSHIM_ANONYMOUS "
        tag = field.get("tag", "")
        yield f"{pad}{extension}{kind} {tag}{' ' if tag else ''}{{"
        yield from fields(field[kind], indent + 1)
        yield f"{pad}}}{' ' if field['name'] else ''}{field['name']}{dims};"


def enum(name, fact, level):
    """An enum with all its values; only at their levels those that changed or went, and negative
    ones, which make the type signed."""
    tag = f" {fact['tag']}" if "tag" in fact else ""
    # C has no enumerators beyond int; the compilers do.
    beyond = any(value[1] > 0x7FFFFFFF for value in fact["values"])
    lines = [f"{'CUSHIM_ANONYMOUS ' if beyond else ''}typedef enum{tag} {{"]
    several = {}
    for value in fact["values"]:
        several.setdefault(value[0], []).append(value)
    for value in fact["values"]:
        changed = len(several[value[0]]) > 1 or value[1] < 0
        until = value[3] if len(value) == 4 else None
        number = str(value[1]) if value[1] < 0x7FFFFFFF else hex(value[1])
        lines += level.guard(value[2] if changed else None, until, [f"    {value[0]} = {number},"])
    return lines + [f"}} {name};"]


def body(name, fact, level):
    """Lines that define one version of a type."""
    kind = fact["kind"]
    if kind == "define":
        return [f"#define {name} {fact['value']}"]
    if kind == "alias":
        return [f"typedef {ctext.declare(fact['type'], name)};"]
    if kind == "handle":
        return [f"typedef {'const ' if fact.get('const') else ''}struct {fact['tag']} *{name};"]
    if kind == "function":
        params = ", ".join(ctext.declare(kind, param) for kind, param in fact["params"]) or "void"
        return [ctext.wrap(f"typedef {fact['result']} (CUDA_CB *{name})({params});")]
    if kind == "enum":
        return enum(name, fact, level)
    if kind in ("struct", "union"):
        tag = fact.get("tag", "")
        lines = list(fields(fact["fields"]))
        if "align" in fact:
            lines.insert(0, f"    CUSHIM_ALIGN({fact['align']})")
        return [f"typedef {kind} {tag}{' ' if tag else ''}{{", *lines, f"}} {name};"]
    return []


def moved_values(types):
    """Enumerators that one release moved from one enum to another, or made a macro."""
    owners = {}
    for row in types:
        for fact in row["versions"]:
            if fact["kind"] == "define":
                owners.setdefault(row["name"], set()).add(row["name"])
            for value in fact.get("values", []):
                owners.setdefault(value[0], set()).add(row["name"])
    return {value for value, names in owners.items() if len(names) > 1}


def define(row, level, moved):
    """A type with its history."""
    versions = row["versions"]
    lines = []
    for fact, following in zip(versions, versions[1:] + [None]):
        # What was never otherwise is there at every level: newer types do no harm.
        steady = fact is versions[0] and row["name"] not in moved and moved.isdisjoint(
            value[0] for value in fact.get("values", []))
        since = None if steady else fact["since"]
        until = following["since"] if following else None
        if fact["kind"] != "gone":
            lines += level.guard(since, until, body(row["name"], fact, level))
    if row["name"] == "CUuuid":  # the CUDA runtime's headers define it too
        lines = ["#ifndef CU_UUID_HAS_BEEN_DEFINED", "#define CU_UUID_HAS_BEEN_DEFINED", *lines,
                 "#endif"]
    if row["name"] == "CUdeviceptr_v2":  # a pointer's size: the registry has the 64-bit one
        lines = ["#if defined(_WIN64) || defined(__LP64__)", *lines, "#else",
                 "typedef unsigned int CUdeviceptr_v2;", "#endif"]
    return lines


def needs(fact):
    """Names that a version of a type uses."""
    if fact["kind"] == "alias":
        return ctext.names_in(fact["type"])
    if fact["kind"] == "function":
        return [word for kind in [fact["result"]] + [kind for kind, _ in fact["params"]]
                for word in ctext.names_in(kind)]
    return list(field_needs(fact.get("fields", [])))


def field_needs(items):
    """Names that a record's fields use."""
    for field in items:
        if "type" in field:
            yield from ctext.names_in(field["type"])
        else:
            yield from field_needs(field.get("struct") or field.get("union"))


def lasting(types, entries):
    """The types; those that entries use stay, though a release's headers dropped them."""
    rows = {row["name"]: row for row in types}
    todo = [word for entry in entries for kind, _ in entry["params"]
            for word in ctext.names_in(kind)]
    while todo:
        row = rows.get(todo.pop())
        if row:
            todo += [word for fact in row["versions"] for word in needs(fact)]
            del rows[row["name"]]  # what is left at the end is what no entry uses
    for row in types:
        yield row if row["name"] in rows else {**row, "versions": kept(row["versions"])}


def kept(versions):
    """A type's history without the releases whose headers did not have it."""
    result = []
    for fact in versions:
        same = result and {**fact, "since": 0} == {**result[-1], "since": 0}
        if fact["kind"] != "gone" and not same:
            result.append(fact)
    return result


def in_order(types):
    """The types, each after what it is made of. Records that only pointers name come first."""
    rows = {row["name"]: row for row in types}
    tags = {fact["tag"]: row["name"] for row in types for fact in row["versions"]
            if fact["kind"] in ("struct", "union") and "tag" in fact}
    done, result = set(), []

    def visit(name):
        name = name if name in rows else tags.get(name, name)
        if name in done or name not in rows:
            return
        done.add(name)
        for fact in rows[name]["versions"]:
            for word in needs(fact):
                visit(word)
        result.append(rows[name])

    for row in types:
        visit(row["name"])
    return result


def meanings(name, levels, symbols, base):
    """(since, until, symbol) of what an unversioned name means; None where there is no bound.

    Below the oldest known release it means the same, unless the symbol is newer than that.
    """
    steps = [row for row in levels if row.get("name") == name]
    if not steps or steps[0]["release"] > base:
        steps = [{"release": base, "symbol": name}] + steps
    for step, following in zip(steps, steps[1:] + [{}]):
        since, symbol = step["release"], step["symbol"]
        if symbol in symbols and since == base:
            since = symbols[symbol]["since"] if symbols[symbol]["since"] > FIRST_LEVEL else None
            if since and symbol != name:
                yield None, since, name
        yield since, following.get("release"), symbol


def unversioned(entries, levels, header, level):
    """Macros that give unversioned names their level's meaning."""
    symbols = {entry["symbol"]: entry for entry in entries}
    for name in {entry["name"]: None for entry in entries if entry["header"] == header}:
        for since, until, symbol in meanings(name, levels, symbols, level.base):
            yield from meaning(name, symbol, since, until, symbols, level)
    for entry in entries:  # names that carry their ABI themselves, such as cuStreamGetCtx_v2
        symbol = entry["symbol"]
        twin = twin_of(symbol, symbols)
        until = FOLLOWS_UNTIL.get(symbol) or min(
            (row["release"] for row in levels if row.get("symbol") == symbol), default=None)
        if entry["header"] == header and symbol != entry["name"] and twin and \
                (until is None or until > level.base):
            yield from level.guard(None, until, ["#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM",
                                                 f"#define {symbol} {twin}", "#endif"])


def twin_of(symbol, symbols):
    """The ABI that a symbol has under the per-thread default stream, if it has one."""
    return next((symbol + suffix for suffix in ("_ptsz", "_ptds") if symbol + suffix in symbols),
                None)


def meaning(name, symbol, since, until, symbols, level):
    """Macros of one meaning of a name."""
    twin = twin_of(symbol, symbols)
    lines = []
    if twin:
        lines += ["#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM", f"#define {name} {twin}"]
        if symbol != name:
            lines += ["#else", f"#define {name} {symbol}"]
        lines.append("#endif")
    elif symbol != name:
        lines.append(f"#define {name} {symbol}")
    return level.guard(since, until, lines) if lines else []


def unknown_level(levels, library=DRIVER):
    """The condition under which the level's macro is no release."""
    before = BEFORE_REGISTRY if library is DRIVER else []
    releases = [*before, *sorted({row["release"] for row in levels})]
    return " && \\\n    ".join(
        " && ".join(f"{library.level} != {release}" for release in releases[start:start + 3])
        for start in range(0, len(releases), 3))


def macros(registry):
    """Names that a cuda.h or a companion, of whatever release, may have as macros."""
    level = Level(min(row["release"] for row in registry["levels"]))
    entries = registry["entries"]
    lines = [line for header in {entry["header"] for entry in entries}
             for line in unversioned(entries, registry["levels"], header, level)]
    lines += PROC_PER_THREAD.splitlines()
    return sorted({line.split()[1] for line in lines if line.startswith("#define")})


def put_away(names):
    """Lines before which NAMES may be macros, and after which they are not."""
    return [line for name in names for line in (f'#pragma push_macro("{name}")', f"#undef {name}")]


def bring_back(names):
    """Lines that end what put_away began."""
    return [f'#pragma pop_macro("{name}")' for name in names]


def type_lines(registry, header):
    """Lines of HEADER's types."""
    level = Level(min(row["release"] for row in registry["levels"]))
    moved = moved_values(registry["types"])
    for row in in_order(list(lasting(registry["types"], registry["entries"]))):
        if row["header"] == header:
            yield from define(row, level, moved)
    yield ""
    yield from ctext.foreign_structs(of_header(registry, header))


def of_header(registry, header):
    """HEADER's entries."""
    return [entry for entry in registry["entries"] if entry["header"] == header]


def function_lines(registry, header):
    """Lines that declare HEADER's functions."""
    for entry in of_header(registry, header):
        yield ctext.wrap(f"{ctext.prototype(entry)};")


def name_lines(registry, header):
    """Lines of HEADER's macros."""
    level = Level(min(row["release"] for row in registry["levels"]))
    return unversioned(registry["entries"], registry["levels"], header, level)


def emit_types(registry):
    """Text of cuda_types.h."""
    newest = max(row["release"] for row in registry["levels"])
    head = TYPES_HEAD.format(oldest=FIRST_LEVEL, newest=newest, default=DEFAULT_LEVEL,
                             unknown=unknown_level(registry["levels"]),
                             message=FOREIGN_MESSAGE,
                             foreign=" || ".join(f"defined({name})" for name in FOREIGN))
    lines = [ctext.banner("entries", "types", "levels") + "\n" + head, MACROS, CXX_OPEN,
             *type_lines(registry, "cuda.h"), CXX_CLOSE, "#endif", "#endif"]
    return "\n".join(lines) + "\n"


def emit_functions(registry):
    """Text of cuda_functions.h."""
    away = macros(registry)
    lines = [ctext.banner("entries", "types", "levels") + "\n" + FUNCTIONS_HEAD,
             "/* After cushim.h the names are there. Here a name is the exported symbol itself. */",
             "#ifdef CUSHIM_CUDA_NAMES_H", *put_away(away), "#endif", CXX_OPEN,
             *function_lines(registry, "cuda.h"), "",
             "#ifdef CUSHIM_CUDA_NAMES_H", *bring_back(away), "#endif", PROC_PER_THREAD,
             CXX_CLOSE, "#endif", "#endif"]
    return "\n".join(lines) + "\n"


def emit_names(registry):
    """Text of cuda_names.h."""
    lines = [ctext.banner("entries", "types", "levels") + "\n" + NAMES_HEAD,
             *name_lines(registry, "cuda.h"), "", "#endif"]
    return "\n".join(lines) + "\n"


def emit_cuda(_):
    """Text of cuda.h."""
    return ctext.banner("entries", "types", "levels") + "\n" + CUDA


def emit_companion(registry, header):
    """Text of a companion, such as cudaGL.h."""
    names = list(name_lines(registry, header))
    plain = sorted({line.split()[1] for line in names if line.startswith("#define")})
    lines = [ctext.banner("entries", "types", "levels"),
             COMPANION_HEAD.format(guard=ctext.macro_name(header)), CXX_OPEN,
             *type_lines(registry, header), "#ifndef CUSHIM_CALLS_ONLY_NAMES_H",
             *function_lines(registry, header), "#else",
             *(f"#undef {name}" for name in plain), "#endif", "", *names, CXX_CLOSE, "#endif"]
    return "\n".join(lines) + "\n"

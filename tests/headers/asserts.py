# SPDX-License-Identifier: MIT
"""Compile-time assertions, as C and C++ text, from facts about one toolkit's headers.

Compiled after the toolkit's own headers they prove the facts; after cushim's, that it agrees.
"""

import json

import toolkits

HEAD = """
#pragma GCC system_header
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <stddef.h>
#ifdef __cplusplus
#define HOLDS(...) static_assert((__VA_ARGS__), #__VA_ARGS__)
#if defined(__clang__) || __GNUC__ >= 11 /* quicker than std::is_same, ten thousand times over */
#define SAME(a, ...) static_assert(__is_same(a, __VA_ARGS__), #a " is " #__VA_ARGS__)
#else
#define SAME(a, ...) static_assert(std::is_same<a, __VA_ARGS__>::value, #a " is " #__VA_ARGS__)
#endif
#include <type_traits>
#define SIGNED(a) (std::is_signed<std::underlying_type<a>::type>::value)
#define OF(...) decltype(__VA_ARGS__)
#define AT(type, field) decltype(((type *)0)->field)
#define ALIGN(...) alignof(__VA_ARGS__)
#else
#define HOLDS(...) _Static_assert((__VA_ARGS__), #__VA_ARGS__)
#define SAME(a, ...) _Static_assert(__builtin_types_compatible_p(a, __VA_ARGS__), \\
                                    #a " is " #__VA_ARGS__)
#define SIGNED(a) ((a)-1 < (a)1)
#define OF(...) __typeof__(__VA_ARGS__)
#define AT(type, field) __typeof__(((type *)0)->field)
#define ALIGN(...) _Alignof(__VA_ARGS__)
#endif
#define TABLE struct cushim_api
#define SLOT(field, index) \\
    HOLDS(offsetof(TABLE, field) == sizeof(size_t) + sizeof(void *) + (index) * sizeof(void *))
"""
# Where C and the headers of C++11 differ: an alignment that only the newer standards have.
ALIGNED = "(!defined(__cplusplus) && __STDC_VERSION__ >= 201112L) || __cplusplus >= 201103L"


def entries():
    """The registry's entries; their order is the table's."""
    lines = (toolkits.ROOT / "gen" / "registry" / "entries.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def layout(facts):
    """Types of the headers: sizes, alignments, offsets, values, and what typedefs stand for."""
    for name, (size, align, fields) in facts.records.items():
        yield f"HOLDS(sizeof({name}) == {size});"
        if align > 16:
            yield f"#if {ALIGNED}"
        yield f"HOLDS(ALIGN({name}) == {align});"
        if align > 16:
            yield "#endif"
        for field, (offset, field_size, kind) in fields.items():
            yield f"HOLDS(offsetof({name}, {field}) == {offset});"
            yield f"HOLDS(sizeof((({name} *)0)->{field}) == {field_size});"
            if kind:
                yield f"SAME(AT({name}, {field}), {kind});"
    for name, values in facts.values.items():
        signed = any(value < 0 for _, value in values)
        yield f"HOLDS(sizeof({name}) == 4 && {'' if signed else '!'}SIGNED({name}));"
        for constant, value in values:
            yield f"HOLDS({constant} == {value});"
            yield f"#ifdef __cplusplus\nSAME(OF({constant}), {name});\n#endif"
    for name, kind in facts.aliases.items():
        yield f"SAME({name}, {kind});"


def table_layout(rows):
    """Every member's place, by the registry's order, and the size of it all."""
    names = several(rows)
    for index, row in enumerate(rows):
        yield f"SLOT({row['symbol']}, {index});"
        if row["symbol"] in names:
            yield f"SLOT({row['symbol']}_v1, {index});"
    yield f"HOLDS(sizeof(TABLE) == sizeof(size_t) + sizeof(void *) + {len(rows)} * sizeof(void *));"
    yield f"HOLDS(CUSHIM_ENTRY_COUNT == {len(rows)});"


def several(rows):
    """Names with more than one ABI."""
    legacy = [row["name"] for row in rows if row["stream"] == "legacy"]
    return {name for name in legacy if legacy.count(name) > 1}


def undefined(rows):
    """Away with the macros: a symbol is then named by its name."""
    names = [row["symbol"] for row in rows] + [f"{row['symbol']}_v1" for row in rows]
    return [f"#undef {name}" for name in names]


def typedef(row):
    """NVIDIA's typedef of an entry."""
    stream = "" if row["stream"] == "legacy" else f"_{row['stream']}"
    return f"PFN_{row['name']}_v{row['since']}{stream}"


def known(rows, typedefs):
    """The entries that a mode of the headers has a typedef for."""
    return [row for row in rows if (row["name"], row["since"], row["stream"]) in typedefs]


def table_types(rows, typedefs, later_companions=False):
    """Every member has the type of its typedef.

    The table names a companion's enums in its own way where the companion came later; C++ then
    takes them for other types.
    """
    enums = ("CUGLDeviceList", "CUoutput_mode", "CUd3d")
    for row in known(rows, typedefs):
        text = f"SAME(AT(TABLE, {row['symbol']}), {typedef(row)});"
        if later_companions and any(enum in kind for kind, _ in row["params"] for enum in enums):
            text = f"#ifndef __cplusplus\n{text}\n#endif"
        yield text


def prototypes(rows, typedefs, names):
    """Every function that NAMES has, by what it stands for, is declared with its typedef's type."""
    symbols = {row["symbol"]: row for row in known(rows, typedefs)}
    for name, symbol in names.items():
        if symbol in symbols:
            yield f"SAME(OF(&{name}), {typedef(symbols[symbol])});"


def meanings(rows, names):
    """Through the table, an unversioned name is the member of what it stands for."""
    places = {row["symbol"]: index for index, row in enumerate(rows)}
    for name, symbol in names.items():
        if symbol in places:
            yield f"SLOT({name}, {places[symbol]});"


def text(*parts):
    """One file of assertions."""
    return "\n".join([HEAD, *(line for part in parts for line in part), ""])

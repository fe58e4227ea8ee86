# SPDX-License-Identifier: MIT
"""calls_only.h and calls_only_names.h: the table for CUSHIM_CALLS_ONLY, whose slots are called and
never compared."""

import ctext
from emit_cuda import Level, meanings

HEAD = """\
/* A slot is never NULL, so a test for NULL does not do what it did. In this mode a slot can be
 * called, and CUSHIM_HAS(cu, name) finds out whether the driver has it. All else does not compile:
 * a comparison, a condition, an assignment. The layout is the true table's, struct cushim_slots. */
#ifndef CUSHIM_{guard}_H
#define CUSHIM_{guard}_H

#ifndef CUSHIM_API_H
#error "include cushim/cushim.h, with CUSHIM_CALLS_ONLY defined"
#endif
"""
STRUCT = """
#ifdef __cplusplus
#define CUSHIM_CALL(name) struct { decltype(cushim_slots::name) call; } name;
#else
#define CUSHIM_CALL(name) struct { __typeof__(((struct cushim_slots *)0)->name) call; } name;
#endif

struct cushim_api {
    size_t size;
    struct cushim_instance *instance;
"""


def emit_struct(registry):
    """Text of calls_only.h; cuda.h's macros are away where it is included."""
    entries = registry["entries"]
    groups = ctext.by_name(entries)
    lines = [ctext.banner("entries") + HEAD.format(guard="CALLS_ONLY") + STRUCT.rstrip("\n")]
    lines += [f"    CUSHIM_CALL({ctext.member(entry, groups)})" for entry in entries]
    lines += ["};", "", "#undef CUSHIM_CALL", "", "#endif"]
    return "\n".join(lines) + "\n"


def plain_names(entries, levels):
    """A plain name of several ABIs, where no macro of cuda.h leads it anywhere."""
    symbols = {entry["symbol"]: entry for entry in entries}
    level = Level(min(row["release"] for row in levels))
    groups = ctext.by_name(entries)
    for name in groups:
        meant = list(meanings(name, levels, symbols, level.base))
        first = ctext.member(symbols[name], groups) if name in symbols else name
        if first == name and all(symbol == name for *_, symbol in meant):
            continue
        yield f"#ifndef {name}"
        yield "#ifdef CUSHIM_FOREIGN_TYPES"
        for since, until, symbol in meant:
            target = first if symbol == name else symbol
            if target != name:
                yield from level.guard(since, until, [f"#define {name} {target}"])
        yield "#else"
        yield from [f"#define {name} {first}"] if first != name else []
        yield from ["#endif", "#endif"]


def emit_names(registry):
    """Text of calls_only_names.h; cuda.h's macros are there where it is included."""
    entries = registry["entries"]
    groups = ctext.by_name(entries)
    lines = [ctext.banner("entries", "levels") + HEAD.format(guard="CALLS_ONLY_NAMES")]
    lines += plain_names(entries, registry["levels"])
    for entry in entries:
        member = ctext.member(entry, groups)
        lines += [f"#ifndef {member}", f"#define {member}(...) {member}.call(__VA_ARGS__)",
                  "#endif"]
    return "\n".join([*lines, "", "#endif"]) + "\n"

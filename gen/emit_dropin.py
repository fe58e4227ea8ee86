# SPDX-License-Identifier: MIT
"""dropin.c: every entry as a function of its own name, for programs that used to link libcuda."""

import ctext

HEAD = """
{includes}

#include "dropin.h"

#include "loader/error_name.h"

/* Here a name is the exported symbol itself. */
{undefs}
"""
TEXTS = {"cuGetErrorName": "cushim_error_name_entry",
         "cuGetErrorString": "cushim_error_name_string_entry"}
GUARDS = {"windows": "#ifdef _WIN32", "linux": "#ifndef _WIN32"}


def guarded(entry, lines):
    """LINES, only where the entry exists."""
    guard = GUARDS.get(entry.get("platform"))
    return [guard, *lines, "#endif"] if guard else lines


def function(entry, head, table, groups):
    """A function of that head that passes its arguments on to a table's member."""
    arguments = ", ".join(name for _, name in entry["params"])
    member = ctext.member(entry, groups)
    return [ctext.wrap(head), "{",
            ctext.wrap(f"    return {table}->{member}({arguments});", 8), "}"]


def assembler(entries):
    """A line for each entry that exists on ELF systems; dropin.h has what it expands to."""
    return [f"CUSHIM_DROPIN_ENTRY({entry['symbol']}, {number})"
            for number, entry in enumerate(entries)
            if entry.get("platform") != "windows" and entry["symbol"] not in TEXTS]


def text(entry, groups):
    """A function that has a text for codes that came after the driver, too: those of the stubs."""
    code, string = (name for _, name in entry["params"])
    return ["CUSHIM_DROPIN_HIDDEN " + ctext.prototype(entry), "{",
            f"    CUresult result = CUSHIM_DROPIN_TABLE->{ctext.member(entry, groups)}({code}, "
            f"{string});",
            "    return result != CUDA_ERROR_INVALID_VALUE",
            "               ? result",
            f"               : {TEXTS[entry['symbol']]}({code}, {string});", "}"]


def emit(registry):
    """Text of dropin.c."""
    entries = registry["entries"]
    groups = ctext.by_name(entries)
    headers = sorted({entry["header"] for entry in entries})
    includes = "\n".join(f"#include <cushim/{header}>" for header in headers)
    undefs = "\n".join(f"#undef {entry['symbol']}" for entry in entries)
    lines = [ctext.banner("entries") + HEAD.format(includes=includes, undefs=undefs)]
    lines += ["#ifdef CUSHIM_DROPIN_ENTRY", "", *assembler(entries), "", "#else", "",
              "/* A slot of the first table loads, and then does what the caller asked for. */"]
    for number, entry in enumerate(entries):
        head = f"static CUresult CUDAAPI first_{entry['symbol']}({ctext.parameters(entry)})"
        lines += function(entry, head,
                          f"cushim_dropin_load({number})", groups)
    lines += ["", "const struct cushim_api cushim_dropin_first = {",
              "    .size = sizeof(struct cushim_api),"]
    lines += [f"    .{ctext.member(entry, groups)} = first_{entry['symbol']}," for entry in entries]
    lines += ["};", "",
              "_Atomic(const struct cushim_api *) cushim_dropin_table = &cushim_dropin_first;", ""]
    for entry in entries:
        if entry["symbol"] not in TEXTS:
            lines += guarded(entry, function(entry, ctext.prototype(entry),
                                             "CUSHIM_DROPIN_TABLE", groups))
    lines += ["", "#endif", ""]
    for entry in entries:
        if entry["symbol"] in TEXTS:
            lines += text(entry, groups)
    return "\n".join(lines) + "\n"

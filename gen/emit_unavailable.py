# SPDX-License-Identifier: MIT
"""unavailable.c: for every entry a typed stub for each reason why a driver may lack it."""

import ctext

# Families of stubs, each a whole table; and the entries that a hand-written function serves.
FAMILIES = ("no_driver", "newer", "absent")
ALWAYS = {"cuGetErrorName", "cuGetErrorString"}
NO_DRIVER = {"cuInit", "cuDriverGetVersion"}

HEAD = """
{includes}

#include "unavailable.h"

/* The stubs take what the entries take, and look at none of it. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
"""


def function(family, entry):
    """Name of the function that serves ENTRY in FAMILY."""
    if entry["symbol"] in ALWAYS:
        return f"cushim_always_{entry['symbol']}"
    if entry["symbol"] in NO_DRIVER and family == "no_driver":
        return f"cushim_no_driver_{entry['symbol']}"
    return f"{family}_{entry['symbol']}"


def stubs(family, entries):
    """The generated functions of one family."""
    for number, entry in enumerate(entries):
        name = function(family, entry)
        if not name.startswith("cushim_"):
            yield ctext.wrap(f"static CUresult CUDAAPI {name}({ctext.parameters(entry)})")
            yield f"{{\n    return cushim_unavailable_{family}({number});\n}}"


def table(family, entries):
    """The family as a table."""
    groups = ctext.by_name(entries)
    yield f"const struct cushim_api cushim_{family}_api = {{"
    yield "    .size = sizeof(struct cushim_api),"
    for entry in entries:
        yield f"    .{ctext.member(entry, groups)} = {function(family, entry)},"
    yield "};"


def emit(registry):
    """Text of unavailable.c."""
    entries = registry["entries"]
    headers = sorted({entry["header"] for entry in entries})
    includes = "\n".join(f"#include <cushim/{header}>" for header in headers)
    lines = [ctext.banner("entries") + HEAD.format(includes=includes)]
    for family in FAMILIES:
        lines += [*stubs(family, entries), "", *table(family, entries), ""]
    return "\n".join(lines).rstrip("\n") + "\n"

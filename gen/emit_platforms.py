# SPDX-License-Identifier: MIT
"""platforms.c: the platform of each entry that exists on one alone."""

import ctext


def emit(registry):
    """Text of platforms.c."""
    rows = [f"    [{index}] = KNOWN_{entry['platform'].upper()}, /* {entry['symbol']} */"
            for index, entry in enumerate(registry["entries"]) if entry.get("platform")]
    return "\n".join([ctext.banner("entries"), '#include "known.h"', "",
                      "const unsigned char known_platforms[CUSHIM_ENTRY_COUNT] = {",
                      *(rows or ["    0"]), "};"]) + "\n"

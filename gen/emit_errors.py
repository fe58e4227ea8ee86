# SPDX-License-Identifier: MIT
"""error_names.c: name and meaning of every error code, in the order of the codes."""

import json

import ctext
from emit_entries import Pool


def emit(registry):
    """Text of error_names.c."""
    # Of plain ASCII, a JSON string is a C string too.
    pool, rows = Pool(), []
    for row in registry["errors"]:
        rows.append(f"    {{{row['code']}, {pool.add(row['name'])}, {pool.add(row['text'])}}},")
    assert pool.size <= 0xffff
    lines = [ctext.banner("errors"), '#include "error_names.h"', "",
             "const char cushim_error_strings[] =",
             *(f"    {json.dumps(text)} \"\\0\"" for text in pool.offsets), "    ;", "",
             "const struct cushim_error_data cushim_errors[] = {", *rows, "};", "",
             f"const size_t cushim_error_count = {len(rows)};"]
    return "\n".join(lines) + "\n"

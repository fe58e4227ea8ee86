# SPDX-License-Identifier: MIT
"""error_names.c: name and meaning of every error code, in the order of the codes."""

import json

import ctext
from emit_entries import Pool
from libraries import CUDA


def emit(registry, library=CUDA):
    """Text of error_names.c."""
    prefix = "cushim" if library is CUDA else f"cushim_{library.name}"
    # Of plain ASCII, a JSON string is a C string too.
    pool, rows = Pool(), []
    for row in registry["errors"]:
        rows.append(f"    {{{row['code']}, {pool.add(row['name'])}, {pool.add(row['text'])}}},")
    assert pool.size <= 0xffff
    lines = [ctext.banner("errors", library=library), '#include "error_names.h"', "",
             f"const char {prefix}_error_strings[] =",
             *(f"    {json.dumps(text)} \"\\0\"" for text in pool.offsets), "    ;", "",
             f"const struct cushim_error_data {prefix}_errors[] = {{", *rows, "};", "",
             f"const size_t {prefix}_error_count = {len(rows)};"]
    return "\n".join(lines) + "\n"

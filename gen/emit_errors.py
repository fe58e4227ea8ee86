# SPDX-License-Identifier: MIT
"""error_names.c: name and meaning of every error code, in the order of the codes."""

import json

import ctext


def emit(registry):
    """Text of error_names.c."""
    # Of plain ASCII, a JSON string is a C string too.
    rows = [f"    {{{row['code']}, {json.dumps(row['name'])}, {json.dumps(row['text'])}}},"
            for row in registry["errors"]]
    lines = [ctext.banner("errors"), '#include "error_names.h"', "",
             "const struct cushim_error_data cushim_errors[] = {", *rows, "};", "",
             f"const size_t cushim_error_count = {len(rows)};"]
    return "\n".join(lines) + "\n"

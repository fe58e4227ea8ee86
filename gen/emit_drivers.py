# SPDX-License-Identifier: MIT
"""drivers.c: which driver serves which toolkit, as data."""

import re

import ctext
import registry as files
from emit_entries import Pool

NUMBER = re.compile(r"^\d+(\.\d+)+$")
# What a line is, by the field that it alone has, and what else it has.
KINDS = {
    "title": {"source", "title"},
    "family": {"family", "linux", "windows", "source"},
    "forward": {"forward", "platform", "source"},
    "ptx": {"release", "ptx", "branch", "targets", "source"},
    "toolkit": {"toolkit", "update", "linux", "windows", "source"},
}
MAY_LACK = {"targets"}


def number(text):
    """A driver's version as numbers: "550.54.14" -> (550, 54, 14)."""
    return tuple(int(part) for part in text.split("."))


def check(row, sources, before):
    """Raise ValueError for a line that is no fact; BEFORE is the last of its kind."""
    kind = next((name for name in KINDS if name in row), None)
    if kind is None or not KINDS[kind] - MAY_LACK <= row.keys() <= KINDS[kind]:
        raise ValueError("not the fields of one kind of line: " + ", ".join(sorted(row)))
    if kind == "title":
        sources.add(row["source"])
    elif row["source"] not in sources:
        raise ValueError(f"no line above names the source {row['source']}")
    for system in ("linux", "windows"):
        text = row.get(system)
        if text is not None and not (isinstance(text, str) and NUMBER.match(text)):
            raise ValueError(f"{system} is not a driver's version: {text}")
    for field in ("family", "forward", "release", "ptx", "branch", "toolkit", "update"):
        if field in row and not files.is_a(row[field], int):
            raise ValueError(f"{field} is not a number")
    key = {"family": ("family",), "ptx": ("release",), "toolkit": ("toolkit", "update")}.get(kind)
    if key and kind in before and [before[kind][k] for k in key] >= [row[k] for k in key]:
        raise ValueError(f"does not come after the {kind} before it")
    if kind == "toolkit" and kind in before and \
            number(row["linux"]) < number(before[kind]["linux"]):
        raise ValueError(f"Linux driver {row['linux']} is older than the one before it")
    before[kind] = row
    return kind


def read(registry):
    """The lines by their kinds."""
    sources, before, found = set(), {}, {kind: [] for kind in KINDS}
    for line, row in enumerate(registry["drivers"], 1):
        try:
            found[check(row, sources, before)].append(row)
        except ValueError as error:
            raise files.RegistryError(
                f"{registry.directory}/drivers.jsonl:{line}: {error}") from None
    return found


def emit(registry):
    """Text of drivers.c."""
    found, pool = read(registry), Pool()
    pool.add("")
    toolkits = [f"    {{{row['toolkit']}, {row['update']}, {pool.add(row['linux'])}, "
                f"{pool.add(row['windows'] or '')}}}," for row in found["toolkit"]]
    families = [f"    {{{row['family']}, {pool.add(row['linux'])}, "
                f"{pool.add(row['windows'] or '')}}}," for row in found["family"]]
    ptx = [f"    {{{row['release']}, {row['ptx']}, {row['branch']}}}," for row in found["ptx"]]
    targets = [f"    {{{target}, {row['release']}}}," for row in found["ptx"]
               for target in row.get("targets", [])]
    forward = min((row["forward"] for row in found["forward"]), default=0)
    lines = [ctext.banner("drivers"), '#include "helpers/compat_data.h"', "",
             "const char cushim_driver_strings[] =", *pool.lines(), "    ;", ""]
    for kind, name, rows in [("toolkit", "toolkits", toolkits), ("family", "families", families),
                             ("ptx", "ptx", ptx), ("target", "targets", targets)]:
        lines += [f"const struct cushim_{kind}_data cushim_{name}[] = {{", *rows, "};",
                  f"const size_t cushim_{name}_count = {len(rows)};", ""]
    lines.append(f"const int cushim_forward_since = {forward};")
    return "\n".join(lines) + "\n"

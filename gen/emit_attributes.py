# SPDX-License-Identifier: MIT
"""attribute_names.c: device attributes by number, each number's best name first."""

import ctext
import registry as files

ENUM = "CUdevice_attribute"
PREFIX = "CU_DEVICE_ATTRIBUTE_"
# Says where an enum of one release ends; no attribute.
END = PREFIX + "MAX"


def rows(registry):
    """(number, release that introduced it, name), ordered by number.

    A name that has meant two numbers means the newer one. Of several names for a number those
    that a release dropped come last. The oldest headers scanned cannot tell when what they have
    came: for that the release is 0, not known.
    """
    line, definition = next(((line, row) for line, row in enumerate(registry["types"], 1)
                             if row["name"] == ENUM), (1, None))
    place = f"{registry.directory}/types.jsonl:{line}"
    if definition is None or any("values" not in version for version in definition["versions"]):
        raise files.RegistryError(f"{place}: no enum {ENUM}")
    names, first = {}, {}
    for name, number, since, *until in (value for version in definition["versions"]
                                        for value in version["values"]):
        if name == END:
            continue
        if not name.startswith(PREFIX):
            raise files.RegistryError(f"{place}: {name} does not begin with {PREFIX}")
        first[number] = min(since, first.get(number, since))
        if name not in names or not until or since > names[name][1]:
            names[name] = (number, since, bool(until))
    order = {name: index for index, name in enumerate(names)}
    ranked = sorted(names, key=lambda name: (names[name][0], names[name][2], order[name]))
    oldest = min(version["since"] for version in definition["versions"])
    known = {number: since if since > oldest else 0 for number, since in first.items()}
    return [(names[name][0], known[names[name][0]], name) for name in ranked]


def emit(registry):
    """Text of attribute_names.c."""
    table = rows(registry)
    lines = [ctext.banner("types"), '#include "helpers/attribute_names.h"', "",
             "const struct cushim_attribute cushim_attributes[] = {",
             *(f"    {{\"{name}\", {number}, {since}}}," for number, since, name in table), "};",
             "", f"const size_t cushim_attributes_count = {len(table)};"]
    return "\n".join(lines) + "\n"

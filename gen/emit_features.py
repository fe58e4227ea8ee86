# SPDX-License-Identifier: MIT
"""The features as an enum (feature_names.h) and as data (features.c)."""

import re

import ctext
import emit_attributes
import registry as files
from emit_entries import Pool

NAME = re.compile(r"^[a-z0-9]+(-[a-z0-9]+)*$")
OPTIONAL = {"constants": list, "attribute": dict, "capability": int, "platform": str}
KNOWN = {*files.FIELDS["features"], *OPTIONAL}
MOST = 255  # entries of a feature, that a byte holds


def oldest(registry):
    """The oldest release scanned: what its headers have may have come before it."""
    return min(row["release"] for row in registry["levels"] if "name" not in row)


def constants(registry):
    """Constant -> the release that brought it, as far as the headers tell."""
    found = {}
    for row in registry["types"]:
        for version in row["versions"]:
            if version["kind"] == "define":
                found.setdefault(row["name"], version["since"])
            for name, _, since, *_ in version.get("values", []):
                found[name] = min(since, found.get(name, since))
    return found


def check(feature, entries, known, attributes, first):
    """Raise ValueError for a feature that the rest of the registry contradicts."""
    if not NAME.match(feature["feature"]):
        raise ValueError(f"{feature['feature']} is not lower case with hyphens")
    if not (feature["text"].isascii() and feature["text"].isprintable() and feature["text"]):
        raise ValueError("text is not plain ASCII")
    if feature.keys() - KNOWN:
        raise ValueError(f"unknown field {min(feature.keys() - KNOWN)}")
    for field, kind in OPTIONAL.items():
        if field in feature and not files.is_a(feature[field], kind):
            raise ValueError(f"{field} is not {files.WORDS.get(kind, 'an object')}")
    needed, possible = [], []
    for symbol in feature["entries"]:
        if symbol not in entries:
            raise ValueError(f"no entry {symbol}")
        needed.append(entries[symbol]["since"])
    for name in feature.get("constants", []):
        if name not in known:
            raise ValueError(f"no constant {name}")
        (needed if known[name] > first else possible).append(known[name])
    if "attribute" in feature:
        possible.append(check_attribute(feature["attribute"], attributes) or first)
    if not needed and not possible:
        raise ValueError("neither entries nor constants nor an attribute")
    low, high = max(needed, default=0), max(needed + possible)
    if not low <= feature["since"] <= high:
        raise ValueError(f"since {feature['since']} is not what its entries, constants and "
                         f"attribute have, {low} to {high}")


def check_attribute(attribute, attributes):
    """The release of an attribute, 0 for not known; raises ValueError where there is none."""
    name = attribute.get("name")
    if name not in attributes:
        raise ValueError(f"no attribute {name}")
    if attribute.keys() - {"name", "mask", "min"} or {"mask", "min"} <= attribute.keys():
        raise ValueError("an attribute has a name, and mask or min")
    if not all(files.is_a(attribute[test], int) and attribute[test] > 0
               for test in ("mask", "min") if test in attribute):
        raise ValueError("mask or min is not a number above 0")
    return attributes[name][1]


def read(registry):
    """The checked features and the attributes that they name, by name."""
    entries = {entry["symbol"]: entry for entry in registry["entries"]}
    prefix = len(emit_attributes.PREFIX)
    known, first = constants(registry), oldest(registry)
    # Of the oldest headers' attributes it is not known when they came: at their release at last.
    attributes = {name[prefix:]: (number, since or first)
                  for number, since, name in emit_attributes.rows(registry)}
    for line, feature in enumerate(registry["features"], 1):
        try:
            check(feature, entries, known, attributes, first)
        except ValueError as error:
            raise files.RegistryError(
                f"{registry.directory}/features.jsonl:{line}: {error}") from None
    return registry["features"], attributes


def constant(feature):
    """memory-pools -> CUSHIM_FEATURE_MEMORY_POOLS."""
    return "CUSHIM_FEATURE_" + feature["feature"].replace("-", "_").upper()


def emit_header(registry):
    """Text of feature_names.h."""
    features, _ = read(registry)
    lines = [ctext.banner("features"), "#ifndef CUSHIM_FEATURE_NAMES_H",
             "#define CUSHIM_FEATURE_NAMES_H", "",
             "/** What a driver can do. Values never change; new ones are added at the end. */",
             "enum cushim_feature {"]
    for number, feature in enumerate(features):
        comma = "," if number + 1 < len(features) else ""
        lines += [f"    /** {feature['text'][0].upper()}{feature['text'][1:]}. */",
                  f"    {constant(feature)} = {number}{comma}"]
    return "\n".join([*lines, "};", "", "#endif"]) + "\n"


def emit(registry):
    """Text of features.c."""
    features, attributes = read(registry)
    index = {entry["symbol"]: number for number, entry in enumerate(registry["entries"])}
    pool, symbols, rows = Pool(), [], []
    for feature in features:
        attribute = feature.get("attribute", {})
        name = attribute.get("name")
        rows.append(
            f"    {{{attribute.get('mask', attribute.get('min', 1))}, "
            f"{pool.add(feature['feature'])}, {pool.add(feature['text'])}, "
            f"{pool.add(feature['group'])}, {pool.add(name or '')}, {feature['since']}, "
            f"{len(symbols)}, {attributes[name][0] if name else 0}, "
            f"{len(feature['entries'])}, {int('mask' in attribute)}, "
            f"{feature.get('capability', 0)}, {files.PLATFORMS.index(feature.get('platform'))}}},")
        symbols += [str(index[symbol]) for symbol in feature["entries"]]
    if pool.size > 0xffff or max(map(len, (f["entries"] for f in features))) > MOST:
        raise files.RegistryError(f"{registry.directory}/features.jsonl:1: too much for 16 bits")
    lines = [ctext.banner("features"), '#include "helpers/feature_data.h"', "",
             "const char cushim_feature_strings[] =", *pool.lines(), "    ;", "",
             "const struct cushim_feature_data cushim_features[] = {", *rows, "};", "",
             "const uint16_t cushim_feature_entries[] = {",
             ctext.wrap("    " + ", ".join([*symbols, "0"])), "};", "",
             f"const size_t cushim_features_count = {len(features)};"]
    return "\n".join(lines) + "\n"

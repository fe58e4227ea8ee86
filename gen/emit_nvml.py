# SPDX-License-Identifier: MIT
"""NVML: its types, functions and table in one header, its entries as data, and the drop-in."""

import json

import ctext
import emit_cuda
import emit_dropin
import emit_entries
from libraries import NVML

DEFAULT_LEVEL = 12000  # whose plain names mean what the drivers have that people use
SYMBOL_BYTES = 64  # of CUSHIM_NVML_SYMBOL_SIZE
HEAD = """#ifndef CUSHIM_NVML_API_H
#define CUSHIM_NVML_API_H

#ifdef __nvml_nvml_h__
#error "cushim/nvml.h stands in for NVIDIA's nvml.h: include one of the two"
#endif
/* NVIDIA's header, included later, finds its own guard and adds nothing. */
#define __nvml_nvml_h__

#include <stddef.h>

/* The CUDA release whose nvml.h this header is like: what plain names mean. */
#ifndef CUSHIM_NVML_VERSION
#define CUSHIM_NVML_VERSION {level}
#endif
#if {unknown}
#error "CUSHIM_NVML_VERSION is no release that cushim knows, from {oldest} to {newest}"
#endif

"""
# Macros with arguments, in our own words.
MACROS = """
/* What the version member of a structure has to be. */
#define NVML_STRUCT_VERSION(data, ver) \\
    ((unsigned int)(sizeof(nvml##data##_v##ver##_t) | ((ver) << 24U)))
/* CUDA's version, as nvmlSystemGetCudaDriverVersion stores it. */
#define NVML_CUDA_DRIVER_VERSION_MAJOR(v) ((v) / 1000)
#define NVML_CUDA_DRIVER_VERSION_MINOR(v) ((v) % 1000 / 10)
/* Arguments for a printf with NVML_DEVICE_PCI_BUS_ID_FMT. */
#define NVML_DEVICE_PCI_BUS_ID_FMT_ARGS(pci) (pci)->domain, (pci)->bus, (pci)->device
/* A part of a fabric's health mask, and whether it has a value: GET(mask, _DEGRADED_BW). */
#define NVML_GPU_FABRIC_HEALTH_GET(mask, part) \\
    ((mask) >> NVML_GPU_FABRIC_HEALTH_MASK_SHIFT##part & NVML_GPU_FABRIC_HEALTH_MASK_WIDTH##part)
#define NVML_GPU_FABRIC_HEALTH_TEST(mask, part, value) \\
    (NVML_GPU_FABRIC_HEALTH_MASK##part##value == NVML_GPU_FABRIC_HEALTH_GET(mask, part))
/* A part of a link's bit error rate: GET(counter, BER_MANTISSA). */
#define NVML_NVLINK_ERROR_COUNTER_BER_GET(counter, part) \\
    ((counter) >> NVML_NVLINK_##part##_SHIFT & NVML_NVLINK_##part##_WIDTH)
/* Bits of an nvmlMask255_t, and of what a pointer leads to. */
#define NVML_255_MASK_BIT_SET(bit, set) ((set).mask[(bit) / 32] |= 1 << (bit) % 32)
#define NVML_255_MASK_BIT_GET(bit, set) ((set).mask[(bit) / 32] & 1 << (bit) % 32)
#define NVML_255_MASK_BIT_SET_PTR(bit, set) NVML_255_MASK_BIT_SET(bit, *(set))
#define NVML_255_MASK_BIT_GET_PTR(bit, set) NVML_255_MASK_BIT_GET(bit, *(set))
"""
STRUCT = """
struct cushim_nvml_library;

/*
 * The order of the members is ABI: new ones come at the end. A member is what the driver's NVML
 * exports under that name, or a stub of the same type; never NULL. Where a name has several ABIs,
 * the plain name is the first of them, reachable as NAME_v1 too, and the macros below lead a plain
 * name to the member it means.
 */
struct cushim_nvml {
    size_t size; /* of this structure, as the library that filled it knows it */
    const struct cushim_nvml_library *library; /* what belongs to it; for cushim's own use */
"""


def base(registry):
    """The oldest release of the registry."""
    return min(row["release"] for row in registry["levels"])


def types(registry):
    """Lines of the types, each after what it is made of."""
    level = emit_cuda.Level(base(registry), NVML)
    moved = emit_cuda.moved_values(registry["types"])
    rows = list(emit_cuda.lasting(registry["types"], registry["entries"]))
    for row in emit_cuda.in_order(rows):
        yield from emit_cuda.define(row, level, moved)


def members(entries):
    """The table's members, in the registry's order."""
    groups = ctext.by_name(entries)
    for entry in entries:
        own = ctext.member(entry, groups)
        first, plain = (f"{ctext.call_type(entry, name, library=NVML)};"
                        for name in (own, entry["symbol"]))
        if own == entry["symbol"]:
            yield ctext.wrap("    " + first, 8)
        else:
            yield "\n".join(["    CUSHIM_ANONYMOUS union {", ctext.wrap("        " + first, 12),
                             ctext.wrap("        " + plain, 12), "    };"])


def emit_header(registry):
    """Text of nvml_api.h."""
    entries, levels = registry["entries"], registry["levels"]
    releases = [row["release"] for row in levels]
    level = emit_cuda.Level(base(registry), NVML)
    lines = [ctext.banner("entries", "types", "levels", library=NVML) + HEAD.format(
        level=DEFAULT_LEVEL, oldest=min(releases), newest=max(releases),
        unknown=emit_cuda.unknown_level(levels, NVML))]
    lines += [emit_cuda.MACROS, emit_cuda.CXX_OPEN, *types(registry), MACROS]
    lines += ["/* The functions, of every ABI. The drop-in defines them, or a link to NVML. */",
              *(ctext.wrap(f"{ctext.prototype(entry, NVML)};") for entry in entries), "",
              f"#define CUSHIM_NVML_ENTRY_COUNT {len(entries)}"]
    lines += [STRUCT.rstrip("\n"), *members(entries), "};", emit_cuda.CXX_CLOSE]
    lines += ["/* What names without a version mean; as NVIDIA's macro, this one turns it off. */",
              "#ifndef NVML_NO_UNVERSIONED_FUNC_DEFS",
              *emit_cuda.unversioned(entries, levels, "nvml.h", level), "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


def emit_entries_data(registry):
    """Text of nvml_entries.c."""
    entries = registry["entries"]
    names = emit_entries.distinct(entry["name"] for entry in entries)
    suffixes = emit_entries.distinct(entry["symbol"][len(entry["name"]):] for entry in entries)
    releases = emit_entries.distinct(entry["since"] for entry in entries)
    assert max(len(entry["symbol"]) for entry in entries) < SYMBOL_BYTES
    assert max(map(len, suffixes)) < 4 and len(suffixes) <= 256 and len(releases) <= 256
    arrays, offsets = emit_entries.name_arrays("cushim_nvml_entry", len("nvml"), names)
    rows = [f"    {{{offsets[entry['name']]}, {releases.index(entry['since'])}, "
            f"{suffixes.index(entry['symbol'][len(entry['name']):])}}}," for entry in entries]
    lines = [ctext.banner("entries", library=NVML), '#include "nvml/entries.h"', "", *arrays,
             *emit_entries.array("const char cushim_nvml_entry_suffixes[][4]",
                                 map(json.dumps, suffixes)),
             *emit_entries.array("const uint16_t cushim_nvml_entry_releases[]", releases), "",
             "const struct cushim_nvml_entry_data cushim_nvml_entries[CUSHIM_NVML_ENTRY_COUNT] = {",
             *rows, "};"]
    return "\n".join(lines) + "\n"


def emit_dropin_functions(registry):
    """Text of nvml_dropin.c."""
    entries = registry["entries"]
    groups = ctext.by_name(entries)
    lines = [ctext.banner("entries", library=NVML), "/* Here a name is the exported symbol. */",
             "#define NVML_NO_UNVERSIONED_FUNC_DEFS", '#include "nvml/dropin.h"', ""]
    for entry in entries:
        lines += emit_dropin.function(entry, ctext.prototype(entry, NVML),
                                      "cushim_nvml_dropin_table()", groups)
    return "\n".join(lines) + "\n"

# SPDX-License-Identifier: MIT
"""The simulated driver: every entry as a function around its behaviour, if it has one; and as an
exported function of a thin library (src/sim/thin/thin.h)."""

import hashlib
import re

import ctext
from sim_missing import Missing

POINTER, HANDLE, STRING, FLOAT, INT, UNSIGNED, BYTES = "phsfiub"
OUTPUTS = {"int *": "i", "unsigned int *": "u", "size_t *": "u", "float *": "f",
           "unsigned long long *": "h", "cuuint64_t *": "u", "void **": "h", "const char **": "s"}
TEXTS = {"cuDeviceGetName": "name", "cuDeviceGetPCIBusId": "pciBusId"}  # written as a string
# Not const, and yet what the caller gives: often an array, which may be of no length.
INPUTS = {"CUjit_option *", "CUlibraryOption *", "CUpointer_attribute *", "CUmem_range_attribute *",
          "CUstreamBatchMemOpParams *", "CUexecAffinityParam *", "CUgraphicsResource *",
          "CUDA_MEM_ALLOC_NODE_PARAMS *", "CUmemLocation *", "CUdevResource *"}
# Numbers that stand for something, and are shown as such.
HANDLES = re.compile(r"CUdeviceptr|CUmemGenericAllocationHandle|CUtexObject|CUsurfObject|"
                     r"CUgraphConditionalHandle")
SCALARS = {"int": INT, "unsigned int": UNSIGNED, "unsigned short": UNSIGNED,
           "unsigned char": UNSIGNED, "size_t": UNSIGNED, "unsigned long long": UNSIGNED,
           "float": FLOAT, "const char *": STRING}
# In the headers of Linux, and exported by no driver of a desktop or server: Tegra's.
ELSEWHERE = {"cuEventCreateFromEGLSync"}
# Of Windows first: drivers 10.1 and 11.0 do not export it here, 11.2 does.
LATER = {"cuDeviceGetLuid": 11020}
STREAM = {"legacy": "l", "ptsz": "s", "ptds": "d"}

BEHAVIOURS = """
#ifndef CUSHIM_SIM_BEHAVIOURS_H
#define CUSHIM_SIM_BEHAVIOURS_H

{includes}

"""
EXPORTS = """
#include "call/call.h"
#include "memory/memory.h"
#include "sim.h"

"""
STUBS = """
#include "thin/thin.h"

/* Here a name is the exported symbol itself. */
{undefs}

SIM_STUBS_BEGIN
"""

def simulated(entries):
    """The entries that a driver on Linux can have."""
    return [entry for entry in entries
            if entry.get("platform") != "windows" and entry["symbol"] not in ELSEWHERE]


def base(entry):
    """The symbol whose behaviour serves an entry: per-thread forms share the legacy one's."""
    symbol = entry["symbol"]
    return symbol if entry["stream"] == "legacy" else symbol.rsplit("_", 1)[0]


class Kinds:
    """How the log shows a type."""

    def __init__(self, types):
        self.facts = {row["name"]: ctext.newest(row) for row in types}
        self.kinds = {name: facts["kind"] for name, facts in self.facts.items()}

    def output(self, text):
        """What an argument points to that the call writes: one letter, or -."""
        if text in OUTPUTS:
            return OUTPUTS[text]
        if text in INPUTS:
            return "-"
        kind = text.removesuffix(" *")
        if kind == text or kind.startswith("const ") or kind == "void" or kind == "char":
            return "-"
        target = self.of(kind)
        return target if target in (HANDLE, UNSIGNED, INT) and kind in self.kinds else "-"

    def fields(self, text):
        """Name, type and letter of what a call reads behind a pointer; no unions, no arrays."""
        if not text.startswith("const ") or not text.endswith(" *"):
            return []
        name = text.removeprefix("const ").removesuffix(" *")
        facts = self.facts.get(name, {})
        while facts.get("kind") == "alias":
            facts = self.facts.get(facts["type"], {})
        return list(self.leaves(facts.get("fields", []), "")) if facts.get("kind") == "struct" \
            else []

    def leaves(self, fields, path):
        """Those of a structure and of the structures in it."""
        for field in fields:
            name = path + field["name"]
            if "union" in field or "dims" in field or field["name"].startswith("reserved"):
                continue
            if "struct" in field:
                yield from self.leaves(field["struct"], name + ".")
            elif self.of(field["type"]) == BYTES:
                inner = self.facts.get(field["type"], {})
                if inner.get("kind") == "struct":
                    yield from self.leaves(inner["fields"], name + ".")
            else:
                yield name, self.of(field["type"])

    def of(self, text):
        """One letter."""
        if text in SCALARS:
            return SCALARS[text]
        if text.endswith("*") or "(*)" in text:
            return POINTER
        if HANDLES.match(text):
            return HANDLE
        kind = self.kinds.get(text.removeprefix("const "), "alias")
        if kind == "struct" or kind == "union":
            return BYTES
        if kind == "enum":
            return UNSIGNED
        if kind == "handle" or kind == "function":
            return HANDLE
        return UNSIGNED


def superseded(registry):
    """Plain symbols that no source means for which the registry knows a toolkit: all their headers
    map the name to another symbol, of other parameters."""
    entries = {entry["symbol"]: entry for entry in registry["entries"]}
    first = min(row["release"] for row in registry["levels"])
    meaning = {row["name"]: row["symbol"] for row in registry["levels"]
               if row["release"] == first and "symbol" in row}
    return {name for name, symbol in meaning.items()
            if name in entries and types_of(entries[name]) != types_of(entries[symbol])}


def types_of(entry):
    """Types of an entry's parameters."""
    return [kind for kind, _ in entry["params"]]


def abis(entries):
    """A number for each entry: the same for two of one name that are called in the same way."""
    seen = {}
    return [seen.setdefault((entry["name"], *types_of(entry)), number)
            for number, entry in enumerate(entries)]


def emit_header(registry, missing):
    """Text of sim_behaviours.h."""
    entries = simulated(registry["entries"])
    marks = Missing(missing, entries)
    absent = marks.symbols() | set(marks.answers)
    headers = sorted({entry["header"] for entry in entries})
    lines = [ctext.banner("entries") + BEHAVIOURS.format(
        includes="\n".join(f"#include <cushim/{header}>" for header in headers))]
    for entry in entries:
        if entry["stream"] == "legacy" and entry["symbol"] not in absent:
            lines.append(ctext.wrap(f"CUresult sim_{entry['symbol']}({ctext.parameters(entry)});"))
            lines.append(f"#define SIM_PARAMETERS_{entry['symbol']} {ctext.parameters(entry)}")
    symbols = [entry["symbol"] for entry in entries]
    digest = hashlib.sha256("\n".join(symbols).encode()).hexdigest()[:16]
    lines += ["", "/* Answers to what entries refuse: src/sim/missing.def. */", *marks.constants(),
              "", f"#define SIM_ENTRY_COUNT {len(entries)}",
              f"#define SIM_ENTRIES_ID 0x{digest}U /* of their order */",
              f"#define SIM_NEWEST {max(entry['since'] for entry in entries)}", "",
              "enum sim_number { /* in sim_entries */",
              *(f"    SIM_NUMBER_{symbol}," for symbol in symbols), "};"]
    return "\n".join(lines) + "\n\n#endif\n"


def emit_stubs(registry):
    """Text of sim_stubs.c."""
    entries = simulated(registry["entries"])
    lines = [ctext.banner("entries") + STUBS.format(
        undefs="\n".join(f"#undef {entry['symbol']}" for entry in entries))]
    for number, entry in enumerate(entries):
        names = ", ".join(name for _, name in entry["params"])
        lines.append(ctext.wrap(f"SIM_STUB({entry['symbol']}, {number}, "
                                f"({ctext.parameters(entry)}), ({names}))"))
    lines += ["", "#ifdef SIM_STUB_ADDRESS", "static void *const addresses[] = {",
              *(f"    SIM_STUB_ADDRESS({entry['symbol']})," for entry in entries),
              "};", "#endif", "SIM_STUBS_END"]
    return "\n".join(lines) + "\n"


def emit_exports(registry, missing):
    """Text of sim_exports.c."""
    entries = simulated(registry["entries"])
    marks = Missing(missing, entries)
    present = {entry["symbol"] for entry in entries} - marks.symbols()
    kinds = Kinds(registry["types"])
    old = superseded(registry)
    lines = [ctext.banner("entries", "types", "levels") + EXPORTS]
    for number, entry in enumerate(entries):
        lines += function(number, entry, base(entry) in present, marks.answers)
    lines += field_tables(kinds, entries)
    for entry in entries:
        if entry["params"]:
            rows = ", ".join(parameter(kinds, entry, kind, name) for kind, name in entry["params"])
            lines.append(ctext.wrap(f"static const struct sim_parameter {entry['symbol']}_p[] = "
                                    f"{{{rows}}};"))
    lines += ["", "const struct sim_entry sim_entries[] = {"]
    for entry, abi in zip(entries, abis(entries)):
        count = len(entry["params"])
        parameters = f"{entry['symbol']}_p" if count else "NULL"
        lines.append(ctext.wrap(
            f"    {{\"{entry['symbol']}\", \"{entry['name']}\", {entry['since']}, "
            f"'{STREAM[entry['stream']]}', {int(base(entry) in present)}, "
            f"{int(entry['symbol'] in old)}, {abi}, {count}, {parameters}, "
            f"(void *)(uintptr_t)call_{entry['symbol']}, "
            f"(void *)(uintptr_t)trap_{entry['symbol']}}},", 8))
    lines += ["};", f"const size_t sim_entry_count = {len(entries)};", "",
              "const struct sim_new_error sim_new_errors[] = {",
              *(f"    {{{value}, {since}}}, /* {name} */" for name, value, since
                in new_errors(registry["types"])), "    {0, 0},", "};"]
    return "\n".join(lines) + "\n"


# Codes that are older than the oldest headers of the registry and newer than CUDA 6.5, by the first
# release whose driver was seen to name them (390, 418, 450, 460 and 470 were asked).
SEEN_IN_DRIVERS = {
    9010: (220, 221, 720),
    10010: (401, 802, 803, 804, 900, 901, 902, 903, 904, 905, 906, 907, 908),
    11000: (102, 222, 909, 910),
    11020: (34, 223),
    11040: (224, 805, 806, 807, 808, 809, 911),
    11070: (46,),
}


def new_errors(types):
    """Codes that came after CUDA 6.5, by release."""
    codes = next(ctext.newest(row) for row in types if row["name"] == "CUresult")
    oldest = min(value[2] for value in codes["values"])
    seen = {code: since for since, codes in SEEN_IN_DRIVERS.items() for code in codes}
    return [(name, number, since if since > oldest else seen[number])
            for name, number, since in (value[:3] for value in codes["values"])
            if since > oldest or number in seen]


def parameter(kinds, entry, kind, name):
    """One struct sim_parameter."""
    output = "t" if TEXTS.get(entry["name"]) == name else kinds.output(kind)
    size = "0" if output == "-" else f"sizeof(*({kind})0)"
    fields = kinds.fields(kind)
    return (f"{{\"{name}\", sizeof({kind}), '{kinds.of(kind)}', '{output}', {size}, "
            f"{len(fields)}, {fields_name(kind) if fields else 'NULL'}}}")


def fields_name(kind):
    """Of the table of a structure's fields."""
    return "fields_" + kind.removeprefix("const ").removesuffix(" *")


def field_tables(kinds, entries):
    """One struct sim_field for each field that the log shows, by structure."""
    types = {kind for entry in entries for kind, _ in entry["params"] if kinds.fields(kind)}
    for kind in sorted(types):
        name = kind.removeprefix("const ").removesuffix(" *")
        rows = ", ".join(f"{{\"{field}\", offsetof({name}, {field}), "
                         f"sizeof((({name} *)0)->{field}), '{letter}'}}"
                         for field, letter in kinds.fields(kind))
        yield ctext.wrap(f"static const struct sim_field {fields_name(kind)}[] = {{{rows}}};")


def function(number, entry, present, answers):
    """One entry's function, and its trap."""
    names = [name for _, name in entry["params"]]
    pointers = ", ".join(f"&{name}" for name in names) or "NULL"
    if present:
        call = answers.get(base(entry)) or f"sim_{base(entry)}({', '.join(names)})"
    else:
        call = "CUDA_ERROR_NOT_SUPPORTED"
    return [ctext.wrap(f"static CUresult call_{entry['symbol']}({ctext.parameters(entry)})"), "{",
            ctext.wrap(f"    const void *const sim_arguments[] = {{{pointers}}};", 8),
            "    struct sim_call sim_call;",
            f"    if (sim_call_begin(&sim_call, {number}, sim_arguments))",
            ctext.wrap(f"        sim_call.result = {call};", 12),
            "    return sim_call_end(&sim_call);", "}",
            f"static void trap_{entry['symbol']}(void)", "{", f"    sim_fault_trap({number});", "}"]


def exported(entries, version):
    """The symbols that CUDA `version` exports."""
    return [entry["symbol"] for entry in entries
            if max(entry["since"], LATER.get(entry["symbol"], 0)) <= version]


def emit_version(registry, version):
    """Text of a linker's version script: what a driver exports, and one function for cushim."""
    symbols = [*exported(simulated(registry["entries"]), version), "cushim_sim_engine"]
    return "{\n    global:\n" + "".join(f"        {symbol};\n" for symbol in symbols) + \
        "    local: *;\n};\n"


def emit_definition(registry, version):
    """Text of a module definition file, for a library of Windows."""
    entries = [entry for entry in simulated(registry["entries"])
               if entry.get("platform") != "linux"]
    return "EXPORTS\n" + "".join(f"    {symbol}\n" for symbol in exported(entries, version))


def emit_missing(registry, missing):
    """Text of docs/simulated-entries.md."""
    entries = simulated(registry["entries"])
    count = sum(entry["stream"] == "legacy" for entry in entries)
    return Missing(missing, entries).page(count)

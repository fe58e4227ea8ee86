# SPDX-License-Identifier: MIT
"""The simulated NVML: its exported functions, which check what every call is checked for."""

import re

import ctext
from libraries import NVML

COUNT = re.compile(r"count|size$", re.IGNORECASE)
# What may be NULL though nothing counts it.
OPTIONAL = {("nvmlDeviceGetAutoBoostedClocksEnabled", "defaultIsEnabled"),
            ("nvmlDeviceGetGridLicensableFeatures", "pGridLicensableFeatures")}
# Handles of what a simulated machine has none of: each value is wrong.
NONE_OF = {"nvmlUnit_t", "nvmlGpuInstance_t", "nvmlComputeInstance_t"}
# Measured on driver 580; the other entries answer 25.
OTHER_MISMATCH = {"nvmlDeviceGetMemoryInfo_v2": "NVML_ERROR_FUNCTION_NOT_FOUND"}


def resolve(name, types):
    """The type that an alias means in the newest release."""
    while name in types and ctext.newest(types[name]).get("type") in types:
        name = ctext.newest(types[name])["type"]
    return name


def versions(kind, types):
    """[(constant, release)] that the version of a structure may have; none if it has no version."""
    match = re.match(r"(?:const )?(nvml\w+_t) \*$", kind)
    name = resolve(match[1], types) if match else ""
    fields = ctext.newest(types[name]).get("fields", []) if name in types else []
    if not fields or fields[0]["name"] != "version":
        return []
    own = re.compile(re.escape(re.sub(r"(_v\d+)?_t$", "", name)) + r"_v\d+")
    return [(constant, row["versions"][0]["since"]) for constant, row in types.items()
            if own.fullmatch(constant) and ctext.newest(row)["kind"] == "define"]


def needed(entry):
    """Pointers of an entry that may not be NULL: an array whose length is a number behind a pointer
    may, to ask for the length."""
    pointers = [(kind, name) for kind, name in entry["params"] if "*" in kind]
    counted = [name for kind, name in pointers if kind == "unsigned int *" and COUNT.search(name)]
    return [name for kind, name in pointers
            if (name in counted or not counted) and (entry["symbol"], name) not in OPTIONAL]


def checks(entry, types, oldest):
    """Lines of a function's body between its begin and its behaviour."""
    devices = [name for kind, name in entry["params"] if kind == "nvmlDevice_t"]
    wrong = [f"!sim_nvml_known({name})" for name in devices]
    wrong += [f"!{name}" for name in needed(entry)]
    if wrong:
        yield ctext.wrap(f"    if (result == NVML_SUCCESS && ({' || '.join(wrong)}))", 8)
        yield "        result = NVML_ERROR_INVALID_ARGUMENT;"
    for kind, name in entry["params"]:
        known = [f"sim_nvml_version({name}->version, {constant}, {0 if since <= oldest else since})"
                 for constant, since in versions(kind, types)]
        if known:
            yield ctext.wrap(f"    if (result == NVML_SUCCESS && !({' || '.join(known)}))", 8)
            code = OTHER_MISMATCH.get(entry["symbol"], "NVML_ERROR_ARGUMENT_VERSION_MISMATCH")
            yield f"        result = {code};"


def behaviour(entry):
    """The head of an entry's behaviour."""
    return ctext.prototype(entry | {"symbol": "sim_" + entry["symbol"]}, NVML)


def simulated(registry):
    """Entries that have a behaviour: all but nvmlErrorString, which needs no device."""
    return [(number, entry) for number, entry in enumerate(registry["entries"])
            if "result" not in entry]


def emit_sim_header(registry):
    """Text of nvml_sim.h: a behaviour of each entry."""
    newest = max(row["release"] for row in registry["levels"])
    lines = [ctext.banner("entries", "types", "levels", library=NVML),
             "#ifndef CUSHIM_SIM_NVML_SIM_H", "#define CUSHIM_SIM_NVML_SIM_H", "",
             f"#define CUSHIM_NVML_VERSION {newest}",
             "#define NVML_NO_UNVERSIONED_FUNC_DEFS /* here a name is the exported symbol */",
             "#include <cushim/nvml_api.h>", "",
             *(ctext.wrap(behaviour(entry) + ";") for _, entry in simulated(registry)), "",
             "#endif"]
    return "\n".join(lines) + "\n"


def emit_sim(registry):
    """Text of nvml_sim.c: each entry checks its call. A behaviour that nobody wrote refuses."""
    types = {row["name"]: row for row in registry["types"]}
    oldest = min(row["release"] for row in registry["levels"])
    lines = [ctext.banner("entries", "types", "levels", library=NVML), '#include "nvml/nvml.h"', "",
             '#pragma GCC diagnostic ignored "-Wunused-parameter"', "",
             "SIM_EXPORT const char *nvmlErrorString(nvmlReturn_t result)", "{",
             "    return cushim_nvml_error_string(result);", "}"]
    for number, entry in simulated(registry):
        kinds = [kind for kind, _ in entry["params"]]
        refusal = "INVALID_ARGUMENT" if NONE_OF & set(kinds) else "NOT_SUPPORTED"
        device = next((name for kind, name in entry["params"] if kind == "nvmlDevice_t"), "NULL")
        early = "_early" if entry["name"].startswith("nvmlInit") else ""
        names = ", ".join(name for _, name in entry["params"])
        lines += ["", ctext.wrap(f"__attribute__((weak)) {behaviour(entry)}"), "{",
                  f"    return NVML_ERROR_{refusal};", "}", "",
                  ctext.wrap(f"SIM_EXPORT {ctext.prototype(entry, NVML)}"), "{",
                  f"    nvmlReturn_t result = sim_nvml_begin{early}({number}, {device});",
                  *checks(entry, types, oldest),
                  "    if (result == NVML_SUCCESS)",
                  ctext.wrap(f"        result = sim_{entry['symbol']}({names});", 12),
                  "    return sim_nvml_end(result);", "}"]
    return "\n".join(lines) + "\n"

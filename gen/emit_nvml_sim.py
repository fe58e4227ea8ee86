# SPDX-License-Identifier: MIT
"""The simulated NVML: its exported functions, which check what every call is checked for."""

import re
from pathlib import Path

import ctext
from libraries import NVML
from registry import RegistryError

ANSWERS = Path(__file__).resolve().parents[1] / "src" / "sim" / "nvml" / "answers.def"
MARK = re.compile(r"([A-Z]+)\(([^,()]+)")
REFUSALS = {"VALID": "INVALID_ARGUMENT", "ONLY": "NOT_SUPPORTED"}
COUNT = re.compile(r"count|size$", re.IGNORECASE)
# What may be NULL though nothing counts it.
OPTIONAL = {("nvmlDeviceGetAutoBoostedClocksEnabled", "defaultIsEnabled"),
            ("nvmlDeviceGetGridLicensableFeatures", "pGridLicensableFeatures")}
# Handles of what a simulated machine has none of: each value is wrong.
NONE_OF = {"nvmlUnit_t", "nvmlGpuInstance_t", "nvmlComputeInstance_t"}
# Measured on an H100 with driver 580; the other entries answer 25.
OTHER_MISMATCH = {"nvmlDeviceGetMemoryInfo_v2": "NVML_ERROR_FUNCTION_NOT_FOUND",
                  "nvmlDeviceGetNvlinkBwMode": "NVML_ERROR_NOT_SUPPORTED",
                  "nvmlDeviceGetNvlinkSupportedBwModes": "NVML_ERROR_NOT_SUPPORTED"}


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


class Answers:
    """The lines of answers.def: by symbol, what is checked, and bodies of behaviours."""

    def __init__(self, path, registry):
        self.path = path
        self.types = {row["name"]: row for row in registry["types"]}
        self.entries = {entry["symbol"]: entry for _, entry in simulated(registry)}
        self.checks = {symbol: [] for symbol in self.entries}
        self.bodies = {}
        text = Path(path).read_text(encoding="utf-8")
        self.read(re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S))

    def read(self, text):
        """Every mark, and nothing between them."""
        at = 0
        while text[at:].strip():
            at += len(text[at:]) - len(text[at:].lstrip())
            match = MARK.match(text, at)
            line = text.count("\n", 0, at) + 1
            if not match:
                self.fail(line, "no mark")
            given, at = arguments(text, match.end())
            for symbol in match[2].split():
                if symbol not in self.entries:
                    self.fail(line, f"no entry {symbol}")
                self.add(match[1], self.entries[symbol], given, line)

    def add(self, mark, entry, given, line):
        """One mark of one entry."""
        symbol, params = entry["symbol"], entry["params"]
        if mark in REFUSALS and len(given) == 1:
            self.checks[symbol] += check(given[0], REFUSALS[mark])
            return
        if symbol in self.bodies:
            self.fail(line, f"{symbol} has a behaviour already")
        if mark == "VALUE" and 0 < len(given) <= len(params):
            body = [store(*param, value) for param, value in
                    zip(params[-len(given):], given)]
        elif mark == "ZERO" and not given:
            body = [store(kind, name, self.zero(kind, name)) for kind, name in params
                    if name in needed(entry)]
        elif mark == "TEXT" and len(given) == 1 and len(params) > 1:
            answer = f"sim_nvml_text({given[0]}, {params[-2][1]}, {params[-1][1]})"
        elif mark == "ANSWER" and len(given) == 1:
            answer = given[0]
        elif mark == "SAME" and len(given) == 1 and given[0] in self.entries:
            other = self.entries[given[0]]
            answer = f"sim_{given[0]}(" + ", ".join(
                f"({kind}){name}" for (kind, _), (_, name) in zip(other["params"], params)) + ")"
            self.checks[symbol] += self.checks[given[0]]
        else:
            self.fail(line, f"{mark} is not written so")
        self.bodies[symbol] = [*body, "    return NVML_SUCCESS;"] if mark in ("VALUE", "ZERO") \
            else [ctext.wrap(f"    return {answer};", 8)]

    def zero(self, kind, name):
        """Nothing, of the type that a pointer points to; a structure keeps its version."""
        value = f".version = {name}->version" if versions(kind, self.types) else "0"
        return f"{{{value}}}"

    def fail(self, line, message):
        """End with the place."""
        raise RegistryError(f"{self.path}:{line}: {message}")


def arguments(text, at):
    """The arguments of a mark behind its first, and where it ends."""
    given, depth, start = [], 1, at
    while depth and at < len(text):
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(text[at], 0)
        if (text[at] == "," and depth == 1) or not depth:
            given.append(" ".join(text[start:at].split()))
            start = at + 1
        at += 1
    return given[1:], at


def store(kind, name, value):
    """A line that gives a pointer's target a value, which is an expression or initialises it."""
    target = kind.removesuffix(" *")
    return ctext.wrap(f"    *{name} = ({target}){value};" if value.startswith("{")
                      else f"    *{name} = ({target})({value});", 8)


def check(condition, code):
    """Lines that refuse a call unless the condition holds."""
    return [ctext.wrap(f"    if (result == NVML_SUCCESS && !({condition}))", 8),
            f"        result = NVML_ERROR_{code};"]


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
             *(line for _, entry in simulated(registry)
               for line in (ctext.wrap(behaviour(entry) + ";"),
                            f"#define SIM_PARAMETERS_{entry['symbol']} {ctext.parameters(entry)}")),
             "",
             "#endif"]
    return "\n".join(lines) + "\n"


def emit_sim(registry):
    """Text of nvml_sim.c: each entry checks its call. A behaviour that nobody wrote refuses."""
    types = {row["name"]: row for row in registry["types"]}
    oldest = min(row["release"] for row in registry["levels"])
    answers = Answers(ANSWERS, registry)
    lines = [ctext.banner("entries", "types", "levels", library=NVML),
             '#include "device/device.h"', '#include "nvml/nvml.h"', "",
             '#pragma GCC diagnostic ignored "-Wunused-parameter"', "",
             "SIM_EXPORT const char *nvmlErrorString(nvmlReturn_t result)", "{",
             "    return cushim_nvml_error_string(result);", "}"]
    for number, entry in simulated(registry):
        kinds = [kind for kind, _ in entry["params"]]
        refusal = "INVALID_ARGUMENT" if NONE_OF & set(kinds) else "NOT_SUPPORTED"
        device = next((name for kind, name in entry["params"] if kind == "nvmlDevice_t"), "NULL")
        early = "_early" if entry["name"].startswith("nvmlInit") else ""
        names = ", ".join(name for _, name in entry["params"])
        body = answers.bodies.get(entry["symbol"])
        lines += ["", ctext.wrap(("" if body else "__attribute__((weak)) ") + behaviour(entry)),
                  "{", *(body or [f"    return NVML_ERROR_{refusal};"]), "}", "",
                  ctext.wrap(f"SIM_EXPORT {ctext.prototype(entry, NVML)}"), "{",
                  f"    nvmlReturn_t result = sim_nvml_begin{early}({number}, {device});",
                  *checks(entry, types, oldest), *answers.checks[entry["symbol"]],
                  "    if (result == NVML_SUCCESS)",
                  ctext.wrap(f"        result = sim_{entry['symbol']}({names});", 12),
                  "    return sim_nvml_end(result);", "}"]
    return "\n".join(lines) + "\n"

# SPDX-License-Identifier: MIT
"""gpus.c: architectures with the last driver branch of each, GPUs by name, branches, runtimes."""

import ctext
import registry as files

# What a line is, by the field that it alone has, and what else it has.
KINDS = {
    "title": {"source", "title"},
    "architecture": {"architecture", "capabilities", "last", "source"},
    "tegra": {"tegra", "source"},
    "gpu": {"gpu", "capability", "source"},
    "runtime": {"runtime", "release", "source"},
}


def check(row, sources, known):
    """Raise ValueError for a line that is no fact; KNOWN is every capability above."""
    kind = next((name for name in KINDS if name in row), None)
    if kind is None or row.keys() != KINDS[kind]:
        raise ValueError("not the fields of one kind of line: " + ", ".join(sorted(row)))
    if kind == "title":
        sources.add(row["source"])
        return kind
    if row["source"] not in sources:
        raise ValueError(f"no line above names the source {row['source']}")
    capabilities = row.get("capabilities", row.get("tegra", []))
    if not isinstance(capabilities, list) or \
            not all(files.is_a(number, int) and number > 9 for number in capabilities):
        raise ValueError("the compute capabilities are not numbers such as 90")
    twice = known.intersection(capabilities)
    if twice:
        raise ValueError(f"{min(twice)} is of two architectures")
    known.update(capabilities)
    if kind == "architecture" and not (row["last"] is None or files.is_a(row["last"], int)):
        raise ValueError("last is neither a driver branch nor null")
    if kind == "gpu" and row["capability"] not in known:
        raise ValueError(f"no line above has the compute capability {row['capability']}")
    if kind == "runtime" and not files.is_a(row["release"], int):
        raise ValueError("release is not a number")
    return kind


def read(registry):
    """The lines by their kinds."""
    sources, known, found = set(), set(), {kind: [] for kind in KINDS}
    for line, row in enumerate(registry["gpus"], 1):
        try:
            found[check(row, sources, known)].append(row)
        except ValueError as error:
            raise files.RegistryError(f"{registry.directory}/gpus.jsonl:{line}: {error}") from None
    return found


def emit(registry):
    """Text of gpus.c."""
    found = read(registry)
    architectures = [f'    {{{capability}, {row["last"] or 0}, "{row["architecture"]}", false}},'
                     for row in found["architecture"] for capability in row["capabilities"]]
    architectures += [f'    {{{capability}, 0, "tegra", true}},'
                      for row in found["tegra"] for capability in row["tegra"]]
    gpus = [f'    {{"{row["gpu"]}", {row["capability"]}}},' for row in found["gpu"]]
    runtimes = [f'    {{"{row["runtime"]}", {row["release"]}}},' for row in found["runtime"]]
    branches = [f"    {{{row['branch']}, {row['release']}}}," for row in registry["drivers"]
                if "ptx" in row]
    lines = [ctext.banner("gpus", "drivers"), '#include "facts.h"', ""]
    for kind, name, rows in [("architecture", "architectures", architectures),
                             ("gpu", "gpus", gpus), ("runtime", "runtimes", runtimes),
                             ("branch", "branches", branches)]:
        lines += [f"const struct facts_{kind} facts_{name}[] = {{", *rows, "};",
                  f"const size_t facts_{kind}_count = {len(rows)};", ""]
    return "\n".join(lines[:-1]) + "\n"

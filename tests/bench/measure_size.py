# SPDX-License-Identifier: MIT
"""What the library adds to a program: in its file, and in memory."""

import json
import re
import shlex
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from measure import Table, output, short

HERE = Path(__file__).resolve().parent


def without(words, *options):
    """A command without these options and the word that follows each."""
    kept = iter(words)
    return [word for word in kept if not (word in options and next(kept, True))]


def loader_units(build):
    """How the build compiles each file of the static library: words without outputs and
    optimisation, the folder to run them in, and the source."""
    for unit in json.loads((build / "compile_commands.json").read_text()):
        if "/libcushim.a.p/" in f"/{unit['output']}":
            words = shlex.split(unit["command"])
            words = without(words[words[0].endswith("ccache"):], "-o", "-MF", "-MQ")
            yield ([word for word in words if not re.match(r"-O|-g$|-MD$|-Werror", word)],
                   unit["directory"], unit["file"])


def sizes(program):
    """text and data of a program, as the command `size` counts them."""
    return [int(word) for word in output("size", program).splitlines()[1].split()[:2]]


def build_both(build, folder, flags):
    """Programs with and without the loader, compiled alike: two paths."""
    def compile_one(number, words, directory, _):
        target = folder / f"{number}.o"
        subprocess.run([*words, *flags, "-o", str(target)], cwd=directory, check=True)
        return target

    units = list(loader_units(build))
    with ThreadPoolExecutor() as pool:
        objects = pool.map(compile_one, range(len(units)), *zip(*units))
        output("ar", "rcs", folder / "libcushim.a", *objects)
    compiler = units[0][0][0]
    common = [word for word in units[0][0] if word.startswith(("-I", "-std="))]
    for name in ("with", "without"):
        subprocess.run([compiler, *common, *flags, str(HERE / f"size_{name}.c"), "-o",
                        str(folder / name), str(folder / "libcushim.a"), "-lpthread", "-ldl"],
                       cwd=build, check=True)
    return folder / "with", folder / "without"


def size(build, quick):
    """What the static library adds to a program that only uses the loader."""
    table = Table(
        "Size",
        "What the static library adds to a dynamically linked executable that calls "
        "`cushim_load(NULL)->cuInit(0)` and nothing else, against one with an empty `main`; "
        "bytes, as the command `size` counts them. The registry and the stubs, one for each entry "
        "and reason, are most of it.",
        ("flags", "text", "data", "text + data", "relocations"))
    variants = (["-O2"], ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"],
                ["-Os", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"])
    for flags in variants[:1] if quick else variants:
        with tempfile.TemporaryDirectory() as folder:
            programs = build_both(build, Path(folder), flags)
            (text, data), relocated = (
                [more - less for more, less in zip(*map(count, programs))]
                for count in (sizes, lambda program: [relocations(program)]))
        table.rows.append((f"`{' '.join(flags)}`", text, data, text + data, *relocated))
    return table


def relocations(program):
    """How many the system's loader processes when the program starts."""
    return output("readelf", "-rW", program).count(" R_")


def memory(programs, driver, turns):
    """Private memory of a process after a load."""
    table = Table(
        "Memory",
        "Private memory that a process has written (`Private_Dirty` of `/proc/self/smaps_rollup`) "
        "when the load is done, and `bare`, `cushim`, `symbols`, `every` as in the table of loads; "
        f"medians of {turns} processes of each, in turns.",
        ("driver (CUDA)", "bare, KiB", "cushim, KiB", "symbols, KiB", "every, KiB"))
    kinds = ("bare", "cushim", "symbols", "every")
    found = [[int(output(programs / "load", kind, driver.path,
                         environment=driver.environment()).split()[1]) for kind in kinds]
             for _ in range(turns)]
    table.rows.append((short(driver), *map(statistics.median, zip(*found))))
    return table

# SPDX-License-Identifier: MIT
"""What it costs to compile a file that includes our header, beside NVIDIA's cuda.h."""

import os
import resource
import shlex
import statistics
import subprocess
import tempfile
from pathlib import Path

from measure import Table, instructions

ROOT = Path(__file__).resolve().parents[2]


def newest_toolkit():
    """The newest headers that gen/fetch.py fetched; None if it fetched none."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("CUSHIM_CACHE") or Path(home) / "cushim")
    found = [(tuple(map(int, path.parent.name.split("."))), path)
             for path in cache.glob("headers/*/linux") if (path / "cuda.h").exists()]
    return max(found)[1] if found else None


def compile_seconds(command):
    """Processor time of one compilation."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compiler(source, include):
    """The command that the C compiler's driver starts, without the preprocessor and assembler."""
    shown = subprocess.run(["cc", "-###", *include, "-S", "-o", "/dev/null", str(source)],
                           check=True, capture_output=True, text=True).stderr
    return next(words for words in map(shlex.split, shown.splitlines())
                if words and words[0].endswith("/cc1"))


def header(build, turns, callgrind):
    """The C compiler on a file of one line, for each header."""
    toolkit = newest_toolkit()
    release = toolkit.parent.name if toolkit else "none"
    ours = [f"-I{ROOT / 'include'}", f"-I{build / 'gen'}"]
    kinds = {
        f"`cuda.h` of NVIDIA {release}": (["cuda.h"], [f"-I{toolkit}"]),
        f"`cuda.h` and `cudaTypedefs.h` of NVIDIA {release}": (["cuda.h", "cudaTypedefs.h"],
                                                               [f"-I{toolkit}"]),
        "`cushim/cuda.h`": (["cushim/cuda.h"], ours),
        "`cushim/cushim.h`, helpers and table included": (["cushim/cushim.h"], ours),
        "`cushim/cushim.h` over NVIDIA's `cuda.h`": (["cuda.h", "cushim/cushim.h"],
                                                     [f"-I{toolkit}", *ours]),
    }
    if not toolkit:
        kinds = {name: kind for name, kind in kinds.items() if "NVIDIA" not in name}
    table = Table(
        "A header",
        "The C compiler (`cc1` of gcc, without optimisation) on a file that includes the header "
        f"and nothing else: processor time, median of {turns} in turns, and instructions by "
        "callgrind.",
        ("header", "ms", "over the first", "instructions, millions", "over the first"))
    with tempfile.TemporaryDirectory() as folder:
        commands = {}
        for number, (name, (files, include)) in enumerate(kinds.items()):
            source = Path(folder, f"{number}.c")
            source.write_text("".join(f"#include <{file}>\n" for file in files))
            commands[name] = compiler(source, include)
        times = {name: [] for name in commands}
        for _ in range(turns):
            for name, command in commands.items():
                times[name].append(compile_seconds(command) * 1000)
        counts = {name: instructions("main", *command) if callgrind else 0
                  for name, command in commands.items()}
    first = next(iter(commands))
    for name in commands:
        time = statistics.median(times[name])
        row = (name, f"{time:.1f}", f"{time / statistics.median(times[first]):.2f}")
        table.rows.append((*row, f"{counts[name] / 1e6:.0f}",
                           f"{counts[name] / counts[first]:.2f}") if callgrind
                          else (*row, "", ""))
    return table

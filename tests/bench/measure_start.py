# SPDX-License-Identifier: MIT
"""How long a whole program takes up to its first result from a device."""

import os
import statistics
import subprocess
import time
from pathlib import Path

from measure import Table, quartiles

PTX = Path(__file__).resolve().parents[2] / "kernels/vecadd.ptx"


def start(programs, turns):
    """Linked to the driver, and with the drop-in."""
    table = Table(
        "From start to first result",
        "Whole processes in turns, from `fork` to exit: initialise, primary context, module from "
        "PTX, two copies in, a kernel, a copy out. linked: `-lcuda`. drop-in: the same source with "
        f"the drop-in. The system's driver. Medians of {turns}.",
        ("program", "ms", "quartiles", "over linked"))
    times = {way: [] for way in ("linked", "drop-in")}
    for _ in range(turns):
        for way, found in times.items():
            begin = time.perf_counter()
            result = subprocess.run([programs / f"first-{way}", PTX], check=False,
                                    stderr=subprocess.DEVNULL, env=environment())
            found.append((time.perf_counter() - begin) * 1000)
            if result.returncode:
                table.rows.append((way, "no device here", "", ""))
                return table
    for way, found in times.items():
        ratio = statistics.median(found) / statistics.median(times["linked"])
        table.rows.append((way, f"{statistics.median(found):.1f}", quartiles(found),
                           f"{ratio:.4f}"))
    return table


def environment():
    """The build folder holds a libcuda.so.1 that does nothing; nobody is to find it."""
    return {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}

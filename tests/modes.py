# SPDX-License-Identifier: MIT
"""Which cases run: `sh tests/run` takes a part of them, `sh tests/run all` takes all, and CI, which
calls that, takes fewer of a few tests. What is left out is reported with these words and counted.

A test says it by a mark: `in_all` leaves it out of `sh tests/run`, `by_hand` leaves it out of CI.
Cases of a driver, of a toolkit's release or of a compiler are left out by what is below, so that
each test of them need not repeat it.
"""

import json
import os
from pathlib import Path

QUICK = os.environ.get("CUSHIM_TESTS") == "quick"  # set by Meson: tests/meson.build
CI = bool(os.environ.get("CI"))
BY_QUICK = "left out by 'sh tests/run'"
BY_CI = "left out by CI"
MARKS = {"in_all": "left out by 'sh tests/run', runs by 'sh tests/run all'",
         "by_hand": "left out by CI, runs by 'sh tests/run all' elsewhere"}

# Before 12.0 cuGetProcAddress has another form than since; both are in Debian's stable archive.
DRIVERS = ("470", "550")
COMPILERS = ("gcc", "g++")
LEVELS = Path(__file__).resolve().parents[1] / "gen/registry/levels.jsonl"


def releases():
    """The toolkits' releases that the registry knows, oldest first, as (12, 4)."""
    rows = map(json.loads, LEVELS.read_text(encoding="utf-8").splitlines())
    return [divmod(number // 10, 100) for number in sorted({row["release"] for row in rows})]


def release_ends():
    """The oldest and the newest of them, as folders are named: 12.4."""
    known = releases()
    return tuple(f"{major}.{minor}" for major, minor in (known[0], known[-1]))


def few(name, value):
    """Whether `sh tests/run` leaves out the cases with this value of a parameter."""
    if name == "toolkit":
        return value is not None and getattr(value, "release", value) not in release_ends()
    if name == "driver_name" and value.startswith("sim "):
        return False
    chosen = {"branch": DRIVERS, "driver_name": DRIVERS, "compiler": COMPILERS}
    return name in chosen and value not in chosen[name]


def left_out(marks, parameters):
    """Why a case does not run, or None: its marks' names, and its parameters by name."""
    if QUICK and ("in_all" in marks or any(few(*item) for item in parameters.items())):
        return BY_QUICK
    return BY_CI if CI and "by_hand" in marks else None

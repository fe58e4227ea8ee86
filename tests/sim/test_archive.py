# SPDX-License-Identifier: MIT
"""libcushim-sim.a defines no name that a program could have as well."""

import os
import re
import subprocess

ARCHIVE = os.environ["SIM_ARCHIVE"]
HEADER = os.path.join(os.path.dirname(__file__), "..", "..", "include", "cushim", "sim.h")


def symbols(*options):
    result = subprocess.run(["nm", "-P", *options, ARCHIVE], check=True, stdout=subprocess.PIPE,
                            encoding="utf-8")
    # A member's line is the archive's path, "[MEMBER]:" behind it.
    return {line.split()[0] for line in result.stdout.splitlines()
            if len(line.split()) > 2 and not line.endswith("]:")}


def test_names_have_the_prefix():
    names = symbols("-g", "--defined-only")
    assert names and all(name.startswith("cushim_sim_") for name in names), sorted(names)[:20]


def test_what_the_header_declares_is_there():
    with open(HEADER, encoding="utf-8") as file:
        declared = set(re.findall(r"\b(cushim_sim_\w+)\(", file.read()))
    assert declared and declared <= symbols("-g", "--defined-only")


def test_nothing_else_of_the_driver_is_asked_for():
    """Undefined names are the C library's, or have the library's prefix: none of its own parts."""
    undefined = {name for name in symbols("-g", "-u")}
    assert not [name for name in undefined if re.match(r"(sim|ptx|ir|parse|lower|check)_", name)]

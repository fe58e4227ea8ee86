# SPDX-License-Identifier: MIT
"""CUDA 11.2, older than the headers that the registry was made from.

It stands for 11.0 to 11.6, whose headers no wheel has. There are no typedefs of entry points
yet: the prototypes are what members are compared with.
"""

import re

import pytest

import asserts
import facts
import toolkits
from measured import MODES, OURS, ROWS

# What only counts an enum's values is, before 11.7, the count of 11.7.
COUNTS = {
    "CU_DEVICE_ATTRIBUTE_MAX", "CU_JIT_NUM_OPTIONS", "CU_JIT_NUM_INPUT_TYPES",
    "CU_MEM_HANDLE_TYPE_MAX", "CU_MEM_ACCESS_FLAGS_PROT_MAX", "CU_MEM_LOCATION_TYPE_MAX",
    "CU_MEM_ALLOCATION_TYPE_MAX", "CU_EGL_COLOR_FORMAT_MAX"}
LEVEL = "-DCUSHIM_CUDA_VERSION=11020"


@pytest.fixture(scope="module", name="toolkit")
def debian_toolkit():
    """What fetch_debian.py puts into the cache."""
    folder = toolkits.cache() / "headers-debian" / "11.2"
    if not (folder / "linux" / "cuda.h").is_file():
        pytest.skip(f"no CUDA 11.2 headers in {folder}: run tests/headers/fetch_debian.py")
    return toolkits.Toolkit(folder, "linux")


@pytest.mark.parametrize("standard", toolkits.STANDARDS)
@pytest.mark.parametrize("compiler", toolkits.each_compiler())
def test_table(toolkit, compiler, standard, shim, tmp_path):
    """Every member is where it is elsewhere, and has its prototype's type, old ABIs too."""
    where = ["-I", toolkit.folder, "-isystem", shim["linux"]]
    declared = facts.Facts(toolkit).functions(*facts.INTERNAL)
    assert declared == {row["symbol"] for row in ROWS
                        if row["since"] <= toolkit.version and row.get("platform") != "windows"}
    types = (f"SAME(AT(TABLE, {name}), OF(&{name}));" for name in sorted(declared))
    (tmp_path / "table.h").write_text(asserts.text(
        asserts.undefined(ROWS), asserts.table_layout(ROWS), types))
    (tmp_path / "layout.h").write_text(asserts.text(asserts.layout(facts.Facts(toolkit))))
    real = toolkit.includes("cuda", "companions")
    table, layout = (f'#include "{tmp_path / name}"\n' for name in ("table.h", "layout.h"))
    toolkits.check_all({
        "after, all ABIs": (compiler, standard, real + OURS + layout + table, *toolkits.WARNINGS,
                            *where, *facts.INTERNAL),
        "after": (compiler, standard, real + OURS, *toolkits.WARNINGS, *where),
        "after, per-thread": (compiler, standard, real + OURS, *toolkits.WARNINGS, *where,
                              toolkits.PER_THREAD),
        "between": (compiler, standard, toolkit.includes("cuda") + OURS
                    + toolkit.includes("companions"), *toolkits.WARNINGS, *where),
        "before": (compiler, standard, OURS + real, *toolkits.WARNINGS, *where)})


@pytest.mark.parametrize("mode", MODES)
def test_names(toolkit, mode, shim):
    """At level 11.2 names mean, and constants are, what they were."""
    shims = ["-isystem", shim["linux"], *MODES[mode]]
    where = ["-I", toolkit.folder, *shims]
    real = toolkit.includes("cuda", "companions")
    ours = toolkit.includes("cuda", "companions", prefix="cushim/")
    names = facts.macros(real, *where, compiler="gcc")
    names = sorted(names | facts.Facts(toolkit).functions(*MODES[mode]))
    assert facts.meanings(names, ours, LEVEL, *shims, compiler="gcc") == \
        facts.meanings(names, real, *where, compiler="gcc")


@pytest.mark.parametrize("compiler, standard", [("gcc", "c11"), ("clang", "c++17")])
def test_layout(toolkit, compiler, standard, shim, tmp_path):
    """Our cuda.h at level 11.2 has its structs and values, all but the counts."""
    (tmp_path / "layout.h").write_text(asserts.text(asserts.layout(facts.Facts(toolkit))))
    ours = toolkit.includes("cuda", "companions", prefix="cushim/")
    errors = toolkits.check(compiler, standard, ours + f'#include "{tmp_path}/layout.h"\n',
                            LEVEL, "-isystem", shim["linux"])
    lines = [line for line in errors.splitlines() if "error: " in line]
    different = {name for line in lines for name in re.findall(r"(\w+) == -?\d+", line)}
    assert different == COUNTS and len(lines) == len(COUNTS)

# SPDX-License-Identifier: MIT
"""NVML: source for -lnvidia-ml with the drop-in, and what it costs those who use it and others."""

import pytest
from adopt import HERE, needed, run
from fetch import drivers_folder
from test_size import EMPTY, TABLE, size

MOST = 40960
USER = """#include <stdio.h>
#include <cushim/nvml.h>
int main(void)
{
    const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
    unsigned count = 0;
    if (nvml->nvmlInit() != NVML_SUCCESS)
        puts(cushim_nvml_message(nvml));
    return nvml->nvmlDeviceGetCount(&count) == NVML_SUCCESS ? (int)count : 0;
}
"""
BOTH = TABLE.replace("<cushim/cushim.h>", "<cushim/nvml.h>").replace(
    "    int count = 0;", "    int count = cushim_nvml_load(NULL)->nvmlInit();")


def headers(name, installed):
    """The folder of an nvml.h: cushim's own, or NVIDIA's of a release."""
    if name == "cushim":
        return installed.cuda_headers
    folder = drivers_folder(None).parent / "headers-nvml" / name / "linux"
    if not (folder / "nvml.h").exists():
        pytest.skip(f"no nvml.h of {name}: gen/fetch.py --library nvml fetches it")
    return folder


@pytest.mark.parametrize("name", ["cushim", "11.8", "12.4", "13.0"])
def test_dropin(installed, build, name, tmp_path):
    """Unchanged source starts without NVML, and uses the one that is there."""
    program = installed.compile(
        tmp_path / "program", HERE / "nvml.c",
        options=["-Wall", "-Werror", "-I", headers(name, installed)],
        libraries=[installed.libraries / "libcushim-nvml-dropin.a"])
    assert not [library for library in needed(program) if "nvidia" in library]
    without = run(program, env={**installed.env, "CUSHIM_LIBNVIDIA_ML": "/nowhere"})
    assert without == "12 12 0 12 NVML, or a library that it needs, is not on this machine\n"
    fake = build.path / "tests/fakes/fake_nvml.so"  # it has the first ABI of process lists alone
    assert run(program, env={**installed.env, "CUSHIM_LIBNVIDIA_ML": str(fake)}) == \
        "0 0 7 13 the fake's success\n"


def test_size(installed, build, tmp_path):
    """A program with NVML alone, and what NVML adds to one that has the driver's table."""
    if build.options["optimization"] not in ("2", "3", "s"):
        pytest.skip("this build is not optimised")
    empty = size(installed, tmp_path, "empty", EMPTY)
    alone = size(installed, tmp_path, "alone", USER, installed.static) - empty
    table = size(installed, tmp_path, "table", TABLE, installed.static)
    added = size(installed, tmp_path, "both", BOTH, installed.static) - table
    print(f"# NVML alone {alone} bytes, beside the table {added}")
    assert alone <= MOST and added <= MOST


def test_no_byte_for_others(installed, tmp_path):
    """A program that does not use it has none of its objects, with no option of the linker's."""
    source = tmp_path / "table.c"
    source.write_text(TABLE, encoding="utf-8")
    program = installed.compile(tmp_path / "table", source, libraries=[installed.static])
    assert "nvml" not in run("nm", program)
    assert b"nvml" not in program.read_bytes()

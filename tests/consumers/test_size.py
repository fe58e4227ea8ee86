# SPDX-License-Identifier: MIT
"""What the loader adds to a program: at most 64 KiB, and the drop-in at most 48 KiB more."""

import pytest

from adopt import run

MOST = 65536
MOST_OF_DROPIN = 49152
# One program for each way; each uses the loader, asks why there is no driver, and calls.
TABLE = """#include <stdio.h>
#include <cushim/cushim.h>
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    if (cushim_init(cu) != CUSHIM_OK)
        puts(cushim_message(cu));
    int count = 0;
    return cu->cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}
"""
DROPIN = """#include <stdio.h>
#include <cuda.h>
int main(void)
{
    int count = 0;
    if (cuInit(0) != CUDA_SUCCESS)
        puts("no CUDA");
    return cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}
"""
EMPTY = """#include <stdio.h>
int main(void)
{
    puts("no CUDA");
    return 0;
}
"""


def size(installed, folder, name, text, *libraries):
    """Bytes of text and data of a program, as the command `size` counts them."""
    source = folder / f"{name}.c"
    source.write_text(text, encoding="utf-8")
    program = installed.compile(folder / name, source, libraries=libraries,
                                options=["-O2", "-Wl,--gc-sections", "-I",
                                         installed.cuda_headers])
    text_size, data_size = run("size", program).splitlines()[1].split()[:2]
    return int(text_size) + int(data_size)


@pytest.fixture(name="optimised", autouse=True)
def optimised_fixture(build):
    """Sizes mean something in an optimised build alone."""
    if build.options["optimization"] not in ("2", "3", "s"):
        pytest.skip("this build is not optimised")


def test_table(installed, tmp_path):
    """An executable that uses the loader and the table."""
    added = size(installed, tmp_path, "with", TABLE, installed.static) \
        - size(installed, tmp_path, "without", EMPTY)
    assert added <= MOST, f"{added} bytes"


def test_dropin(installed, tmp_path):
    """An executable that was written for -lcuda."""
    added = size(installed, tmp_path, "dropin", DROPIN, installed.dropin) \
        - size(installed, tmp_path, "table", TABLE, installed.static)
    assert added <= MOST_OF_DROPIN, f"{added} bytes more"

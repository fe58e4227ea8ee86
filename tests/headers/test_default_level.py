# SPDX-License-Identifier: MIT
"""What a plain name means if nothing is chosen: the ABI of CUDA 12.0, in C and in the table."""

import pytest

import default_level
import toolkits
from test_levels import OTHER_IN_THIRTEEN, THIRTEEN

MEANT = 12000
# Each call compiles in one release alone.
USE = """#include <cushim/cushim.h>
CUresult use(const struct cushim_api *cu, CUcontext *context, CUgraph graph, size_t *count);
CUresult use(const struct cushim_api *cu, CUcontext *context, CUgraph graph, size_t *count)
{
    CUresult result = cu->cuCtxCreate(context, 0, 0);
    return result ? result : cu->cuGraphGetEdges(graph, NULL, NULL, count);
}
"""


def test_same_as_that_level():
    """Without a choice the headers are, macro by macro, those of the level."""
    default = default_level.macros(toolkits.GENERATED)
    meant = default_level.macros(toolkits.GENERATED, f"-DCUSHIM_CUDA_VERSION={MEANT}")
    assert default.pop("CUSHIM_CUDA_VERSION") == meant.pop("CUSHIM_CUDA_VERSION") == str(MEANT)
    assert default == meant
    newest = default_level.macros(toolkits.GENERATED,
                                  "-DCUSHIM_CUDA_VERSION=CUSHIM_REGISTRY_VERSION")
    assert int(newest["CUSHIM_REGISTRY_VERSION"]) > MEANT
    for name in [*OTHER_IN_THIRTEEN, "cuDeviceGetUuid", "cuEventElapsedTime"]:
        assert newest[name] == THIRTEEN[name] != default.get(name, name)


@pytest.mark.parametrize("compiler, standard", [("gcc", "c99"), ("clang", "c++17")])
def test_calls_of_twelve(compiler, standard):
    """Source for CUDA 12 compiles without a definition, and not for the newest release."""
    assert not toolkits.check(compiler, standard, USE, *toolkits.WARNINGS)
    assert toolkits.check(compiler, standard, USE,
                          "-DCUSHIM_CUDA_VERSION=CUSHIM_REGISTRY_VERSION")


def test_the_default_suits_drivers():
    """docs/measurements.md says so: each driver from the default's release on has all of it."""
    changed = [line.split(" | ")[0] for line in default_level.changes(toolkits.GENERATED)]
    assert changed[2:] == ["| 12.0", "| 13.0"]
    drivers = list(default_level.newest_drivers().values())
    if not drivers:
        pytest.skip("no real driver in the cache; tests/drivers/fetch.py fetches them")
    lines = list(default_level.table(toolkits.GENERATED, drivers))
    assert len(lines) == len(drivers) + 2
    for driver, line in zip(drivers, lines[2:]):
        column = lines[0].split(" | ").index("12.0 to 12.9")
        assert (line.split(" | ")[column] == "0") == (driver.cuda >= MEANT), line

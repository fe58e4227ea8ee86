# SPDX-License-Identifier: MIT
"""cushim.hpp and the launch macros: every compiler takes them without a warning."""

from pathlib import Path

import pytest

import toolkits

ROOT = Path(__file__).resolve().parents[2]
WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Wshadow", "-Wpedantic",
            "-Wno-overlength-strings", "-Werror"]
PAIRS = [(compiler, standard) for compiler in ("gcc", "clang") for standard in ("c++11", "c++20")]
# Numbers of several types as dimensions, and a launch.
DIMENSIONS = """
#include <cushim/launch.h>
CUresult use(const struct cushim_api *cu, CUfunction function, int width, long height, short few);
CUresult use(const struct cushim_api *cu, CUfunction function, int width, long height, short few)
{
    struct cushim_launch by_hand = {sizeof(struct cushim_launch), CUSHIM_DIM((width + 15) / 16,
        height, few), CUSHIM_DIM(16, 16u), 0, 0, CUSHIM_DIM(width), false, 0, 0};
    struct cushim_launch flat = cushim_launch_2d(640, 480, 16, 16, 0);
    CUresult code = CUSHIM_LAUNCH(cu, function, &by_hand, width, 2.0f);
    return code ? code : CUSHIM_LAUNCH(cu, function, &flat);
}
"""


@pytest.mark.parametrize("options", [[], ["-DCUSHIM_CHECK_LAUNCHES"]], ids=["plain", "checked"])
@pytest.mark.parametrize("compiler, standard", PAIRS + [("gcc", "c11"), ("clang", "c11")])
def test_dimensions(compiler, standard, options):
    """CUSHIM_DIM takes ints, which is a narrowing in C++."""
    assert toolkits.check(compiler, standard, DIMENSIONS, *WARNINGS, *options) == ""


@pytest.mark.parametrize("options", [[], ["-fno-exceptions"]], ids=["exceptions", "codes"])
@pytest.mark.parametrize("compiler, standard", PAIRS)
def test_owners(compiler, standard, options):
    """The example that uses codes compiles either way."""
    text = (ROOT / "docs" / "examples" / "timed_graph.cpp").read_text(encoding="utf-8")
    assert toolkits.check(compiler, standard, text, *WARNINGS, *options) == ""


@pytest.mark.parametrize("compiler, standard", PAIRS)
def test_without_exceptions_nothing_throws(compiler, standard):
    """What would throw is not declared."""
    text = "#include <cushim/cushim.hpp>\ncushim::device gpu(nullptr);\n"
    assert toolkits.check(compiler, standard, text) == ""
    assert "error" in toolkits.check(compiler, standard, text, "-fno-exceptions")

# SPDX-License-Identifier: MIT
"""The table and our cuda.h agree with every toolkit's headers: proven when compiled."""

import pytest

import facts
import toolkits
from measured import MODES, ROWS


def proven(measured, compiler, standard):
    """Compile all assertions of a toolkit in every order and mode."""
    toolkits.check_all({
        name: (compiler, standard, text, *toolkits.WARNINGS, *options)
        for name, (text, *options) in measured.variants().items()})


@pytest.mark.parametrize("toolkit, compiler, standard",
                         toolkits.each_pair("c99", "c11", "c++11", "c++20"))
def test_table(toolkit, compiler, standard, measure):
    """Members, structs, values and names on Linux."""
    proven(measure(toolkit), compiler, standard)


@pytest.mark.parametrize("standard", toolkits.ON_WINDOWS)
@pytest.mark.parametrize("compiler", toolkits.each_compiler("windows"))
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit("windows"))
def test_windows(toolkit, compiler, standard, measure):
    """The same with the headers for Windows, Direct3D among them."""
    proven(measure(toolkit), compiler, standard)


@pytest.mark.parametrize("platform", toolkits.each_platform())
def test_complete(platform, measure):
    """Every typedef of a toolkit is one entry, and no entry is without one in the newest."""
    found = toolkits.toolkits(platform)
    if not found:
        pytest.skip(toolkits.NONE)
    keys = [(row["name"], row["since"], row["stream"]) for row in ROWS]
    assert len(set(keys)) == len(keys)
    before = set()
    for toolkit in found:
        there = measure(toolkit).all
        assert there - set(keys) == set(), toolkit.release
        assert before - there == set(), toolkit.release
        before = there if toolkit.companions == found[-1].companions else set()
    here = {key for key, row in zip(keys, ROWS) if row.get("platform", platform) == platform}
    assert here - before == set()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("platform", toolkits.each_platform())
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit())
def test_macros(toolkit, platform, mode, shim):
    """Constants have the same text, and names of functions the same meaning."""
    toolkit = toolkits.Toolkit(toolkit.folder.parent, platform)
    compiler = next(iter(toolkits.COMPILERS[platform]))
    shims = ["-isystem", shim[platform], *MODES[mode]]
    real = toolkit.includes("cuda", "companions")
    ours = toolkit.includes("cuda", "companions", prefix="cushim/")
    here = ["-I", toolkit.folder, *shims]
    names = facts.macros(real, *here, compiler=compiler)
    names |= facts.Facts(toolkit).functions() | facts.Facts(toolkit).functions(*MODES[mode])
    said = facts.meanings(sorted(names), real, *here, compiler=compiler)
    level = f"-DCUSHIM_CUDA_VERSION={toolkit.version}"
    assert facts.meanings(sorted(names), ours, level, *shims, compiler=compiler) == said
    assert len(said) > 500 and said["CU_IPC_HANDLE_SIZE"] == "64"

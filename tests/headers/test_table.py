# SPDX-License-Identifier: MIT
"""The table and our cuda.h agree with every toolkit's headers: proven when compiled."""

from functools import lru_cache

import pytest

import asserts
import facts
import toolkits

ROWS = asserts.entries()
COMPANION = {row["symbol"]: row["header"] for row in ROWS if row["header"] != "cuda.h"}
OURS = "#include <cushim/cushim.h>\n"
MODES = {"legacy": [], "per-thread": [toolkits.PER_THREAD]}
# In per-thread mode it is an inline function of the headers, and no symbol of a driver.
INLINE = {"cuGetProcAddress_ptsz", "cuGetProcAddress_v2_ptsz"}


@pytest.fixture(scope="session", name="shim")
def shim_folders(tmp_path_factory):
    """Stand-ins for the graphics headers, by platform."""
    folder = tmp_path_factory.mktemp("shim")
    return {platform: toolkits.stand_ins(folder, platform) for platform in toolkits.COMPANIONS}


class Measured:
    """What a toolkit's headers say, and the files of assertions made of it."""

    def __init__(self, toolkit, shim, folder):
        self.toolkit, self.folder = toolkit, folder
        self.options = ["-I", toolkit.folder, "-isystem", shim]
        compiler = next(iter(toolkits.COMPILERS[toolkit.platform]))
        self.facts = facts.Facts(toolkit)
        self.public = facts.typedefs(toolkit, self.options, compiler=compiler)
        self.all = facts.typedefs(toolkit, self.options, *facts.INTERNAL, compiler=compiler)
        self.headers = toolkit.includes("cuda", "companions")
        functions = self.facts.functions()
        functions |= {row["name"] for row in asserts.known(ROWS, self.public)}
        for mode, options in MODES.items():
            names = facts.meanings(sorted(functions), self.headers, *self.options, *options,
                                   compiler=compiler)
            declared = self.facts.functions(*options)
            names = {name: symbol for name, symbol in names.items() if symbol in declared}
            self._write(f"names-{mode}.h", asserts.prototypes(ROWS, self.public, names),
                        asserts.meanings(ROWS, names))
        self._write("layout.h", asserts.layout(self.facts))
        self._write("table.h", asserts.undefined(ROWS), asserts.table_layout(ROWS))
        self._write("types-public.h", asserts.table_types(ROWS, self.public))
        self._write("types-later.h", asserts.table_types(ROWS, self.public, True))
        self._write("types-all.h", asserts.table_types(ROWS, self.all))
        symbols = {row["symbol"]: row["symbol"] for row in ROWS}
        self._write("declared.h", asserts.prototypes(ROWS, self.all, symbols))

    def _write(self, name, *parts):
        (self.folder / name).write_text(asserts.text(*parts), encoding="utf-8")

    def asserted(self, *names):
        """#include lines of files of assertions."""
        return "".join(f'#include "{self.folder / name}.h"\n' for name in names)

    def variants(self):
        """name -> (text, options) of all orders and modes."""
        kit, here = self.toolkit, self.options
        real = kit.includes("cuda", "companions", "typedefs")
        level = f"-DCUSHIM_CUDA_VERSION={kit.version}"
        ours = kit.includes("companions", prefix="cushim/")
        for mode, options in MODES.items():
            names = f"names-{mode}"
            yield f"after {mode}", (
                real + OURS + self.asserted(names, "table", "types-public"), *here, *options)
            yield f"before {mode}", (
                OURS + real + self.asserted(names, "table", "types-later"), *here, *options, level)
            yield f"without {mode}", (
                ours + OURS + kit.includes("typedefs") + self.asserted(names), *here, *options,
                level)
        yield "after internal", (
            real + OURS + self.asserted("layout", "table", "types-all"), *here, *facts.INTERNAL)
        yield "without internal", (
            ours + OURS + kit.includes("typedefs") + self.asserted(
                "layout", "table", "types-all", "declared"), *here, *facts.INTERNAL, level)


@pytest.fixture(scope="session", name="measure")
def measure_fixture(shim, tmp_path_factory):
    """Toolkit -> what its headers say, measured once."""
    return lru_cache(None)(lambda toolkit: Measured(
        toolkit, shim[toolkit.platform], tmp_path_factory.mktemp(toolkit.release)))


def proven(measured, compiler, standard):
    """Compile all assertions of a toolkit in every order and mode."""
    toolkits.check_all({
        name: (compiler, standard, text, *toolkits.WARNINGS, *options)
        for name, (text, *options) in measured.variants()})


@pytest.mark.parametrize("standard", toolkits.STANDARDS)
@pytest.mark.parametrize("compiler", toolkits.each_compiler())
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit())
def test_table(toolkit, compiler, standard, measure):
    """Members, structs, values and names on Linux."""
    proven(measure(toolkit), compiler, standard)


@pytest.mark.parametrize("standard", toolkits.STANDARDS)
@pytest.mark.parametrize("compiler", toolkits.each_compiler("windows"))
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit("windows"))
def test_windows(toolkit, compiler, standard, measure):
    """The same with the headers for Windows, Direct3D among them."""
    proven(measure(toolkit), compiler, standard)


@pytest.mark.parametrize("platform", toolkits.COMPANIONS)
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

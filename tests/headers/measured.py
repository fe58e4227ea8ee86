# SPDX-License-Identifier: MIT
"""One toolkit, measured, and the translation units that prove that cushim agrees with it."""

import asserts
import facts
import toolkits

ROWS = asserts.entries()
OURS = "#include <cushim/cushim.h>\n"
FUNCTIONS = "#define CUSHIM_DROPIN\n"
MODES = {"legacy": [], "per-thread": [toolkits.PER_THREAD]}


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
        self._write("no-macros.h", asserts.undefined(ROWS))
        self._write("table.h", asserts.table_layout(ROWS))
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
        typedefs = kit.includes("typedefs")
        real = kit.includes("cuda", "companions", "typedefs")
        level = f"-DCUSHIM_CUDA_VERSION={kit.version}"
        ours = kit.includes("companions", prefix="cushim/")
        internal = [*here, *facts.INTERNAL]
        threads = [*here, toolkits.PER_THREAD]
        given, bare = self.asserted, "no-macros"
        return {
            "after, legacy": (
                real + OURS + given("names-legacy", bare, "table", "types-public"), *here),
            "after, per-thread": (
                real + OURS + given("names-per-thread", bare, "types-public"), *threads),
            "after, all ABIs": (
                real + OURS + given("layout", bare, "table", "types-all"), *internal),
            # Before NVIDIA's header, which then adds nothing, ours declares the functions if asked.
            "before, legacy": (
                FUNCTIONS + OURS + real + given("names-legacy", bare, "types-later"), *here, level),
            "before, per-thread": (
                FUNCTIONS + OURS + real + given("names-per-thread"), *threads, level),
            # NVIDIA's typedefs upon our types; they ask for cuda.h, and have it already.
            "without, legacy": (
                ours + OURS + typedefs + given("layout", "names-legacy", bare, "table",
                                               "types-all", "declared"), *internal, level),
            "without, per-thread": (
                ours + OURS + typedefs + given("names-per-thread"), *threads, level),
        }

# SPDX-License-Identifier: MIT
"""cudaTypedefs.h and its companions have the names and the types of every toolkit's headers.

The types are measured with clang. The assertions made of them hold after the toolkit's headers
and after ours, at its level; so both are the same.
"""

import re
from functools import lru_cache

import pytest

import asserts
import facts
import toolkits
from measured import MODES, OURS, ROWS

FORWARDING = toolkits.GENERATED.parent / "src" / "packaging" / "cuda-headers"
PLAIN = re.compile(r"^#define (PFN_\w+) ", re.M)
# Plain names that no program can use: misspelt, or without their typedef on Linux.
UNUSABLE = {"PFN_cuGraphBatchMemOpNodeSetParams", "PFN_cuStreamGetId", "PFN_cuWGLGetDevice"}

BOTH_MODES = ("toolkit's", "ours alone", "ours last")  # the order has nothing to do with the mode


class Typedefs:
    """The typedefs of one toolkit: their types, and what plain names stand for in each mode."""

    def __init__(self, toolkit, shim, folder):
        self.toolkit, self.shim, self.folder = toolkit, ["-isystem", shim], folder
        self.here = ["-I", toolkit.folder, *self.shim]
        self.compiler = next(iter(toolkits.COMPILERS[toolkit.platform]))
        self.types = facts.Facts(toolkit).typedefs()
        self.everything = toolkit.includes("cuda", "companions", "typedefs")
        self.plain = {mode: self.plain_names(self.everything, *self.here, *options)
                      for mode, options in MODES.items()}
        for mode, names in self.plain.items():
            kinds = self.types | {name: self.types[typedef] for name, typedef in names.items()
                                  if typedef in self.types}
            assert set(names) - set(kinds) <= UNUSABLE
            text = asserts.text(f"SAME({name}, {kind});" for name, kind in kinds.items())
            (folder / f"{mode}.h").write_text(text, encoding="utf-8")

    def plain_names(self, text, *options):
        """Plain name -> what it stands for after TEXT."""
        defined = toolkits.preprocess(text, "-dM", *options, compiler=self.compiler)
        names = sorted(PLAIN.findall(defined))
        probes = "".join(f"\n@{number}@ {name}\n" for number, name in enumerate(names))
        output = toolkits.preprocess(text + probes, *options, compiler=self.compiler)
        return {names[int(number)]: body
                for number, body in re.findall(r"^@(\d+)@ (.*?) *$", output, re.M)}

    def ours(self, prefix="cushim/"):
        """#include lines of our own."""
        return self.toolkit.includes("typedefs", prefix=prefix)

    def variants(self):
        """name -> (text, options): in which orders programs have the headers."""
        kit, internal = self.toolkit, [*self.here, *facts.INTERNAL]
        level = f"-DCUSHIM_CUDA_VERSION={kit.version}"
        real = kit.includes("typedefs")
        return {
            "toolkit's": (self.everything, *internal),
            "ours alone": (self.ours() + OURS, *self.shim, level),
            "ours, then the toolkit's": (OURS + self.ours() + self.everything, *internal, level),
            "ours between": (kit.includes("cuda") + OURS + self.ours() + real, *internal),
            "ours last": (self.everything + self.ours() + OURS, *internal),
            "ours upon the toolkit's, upon our cuda.h": (
                OURS + self.everything + self.ours(), *internal, level),
            "as <cudaTypedefs.h>": (
                self.ours("") + real, *self.shim, "-I", FORWARDING, level),
        }


@pytest.fixture(scope="module", name="typedefs")
def measure_typedefs(shim, tmp_path_factory):
    """Toolkit -> its typedefs, measured once."""
    return lru_cache(None)(lambda toolkit: Typedefs(
        toolkit, shim[toolkit.platform], tmp_path_factory.mktemp(toolkit.release)))


def proven(measured, compiler, standard):
    """Compile the assertions after the headers in every order, and in both modes."""
    toolkits.check_all({
        f"{name}, {mode}": (compiler, standard,
                            text + f'#include "{measured.folder / mode}.h"\n',
                            *toolkits.WARNINGS, *options, *macros)
        for name, (text, *options) in measured.variants().items()
        for mode, macros in MODES.items() if mode == "legacy" or name in BOTH_MODES})


@pytest.mark.parametrize("toolkit, compiler, standard", toolkits.each_pair("c11", "c++17"))
def test_types(toolkit, compiler, standard, typedefs):
    """Every type, and what every plain name stands for, on Linux."""
    proven(typedefs(toolkit), compiler, standard)


@pytest.mark.parametrize("standard", toolkits.ON_WINDOWS)
@pytest.mark.parametrize("compiler", toolkits.each_compiler("windows"))
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit("windows"))
def test_types_on_windows(toolkit, compiler, standard, typedefs):
    """The same with the headers for Windows, Direct3D among them."""
    proven(typedefs(toolkit), compiler, standard)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("platform", toolkits.each_platform())
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit())
def test_plain_names(toolkit, platform, mode, typedefs):
    """The plain names of a level are those of the toolkit, and stand for the same."""
    measured = typedefs(toolkits.Toolkit(toolkit.folder.parent, platform))
    level = f"-DCUSHIM_CUDA_VERSION={toolkit.version}"
    ours = measured.plain_names(measured.ours(), level, *measured.shim, *MODES[mode])
    theirs = measured.plain[mode]
    usable = {name: typedef for name, typedef in theirs.items() if typedef in measured.types}
    assert set(theirs) - set(usable) <= UNUSABLE
    assert {name: typedef for name, typedef in ours.items() if name not in UNUSABLE
            or name in usable} == usable
    assert bool(ours) == (toolkit.version < 13000)


def test_names():
    """There is a typedef for every entry, and no other."""
    text = "".join(f"#include <cushim/{header}>\n" for header in (
        name.replace(".h", "Typedefs.h") for name in ["cuda.h", *sorted(
            set(sum(toolkits.COMPANIONS.values(), [])))]))
    found = set(facts.PFN.findall(toolkits.preprocess(text)))
    assert found == {(row["name"], str(row["since"]),
                      "" if row["stream"] == "legacy" else row["stream"]) for row in ROWS}


@pytest.mark.parametrize("standard", toolkits.STANDARDS)
@pytest.mark.parametrize("compiler", toolkits.each_compiler())
@pytest.mark.parametrize("level, same, absent", [
    (11000, {"cuCtxCreate": 3020, "cuDeviceGetUuid": 9020},
     ["cuGetProcAddress", "cuMemAllocAsync"]),
    (11040, {"cuCtxCreate": 11040, "cuDeviceGetUuid": 11040},
     ["cuLaunchKernelEx", "cuStreamBatchMemOp_v2"]),
    (12090, {"cuCtxCreate": 11040, "cuGetProcAddress": 12000}, []),
    (13000, {}, ["cuInit"])])
def test_without_toolkit(level, same, absent, compiler, standard, tmp_path):
    """In every standard; and before the releases of the registry too, a plain name is the newest
    type of the level."""
    (tmp_path / "same.h").write_text(asserts.text(
        (f"SAME(PFN_{name}, PFN_{name}_v{since});" for name, since in same.items()),
        (f"#ifdef PFN_{name}\n#error {name}\n#endif" for name in absent)))
    toolkits.check_all({
        mode: (compiler, standard,
               f'#include <cushim/cudaTypedefs.h>\n#include "{tmp_path}/same.h"\n',
               *toolkits.WARNINGS, f"-DCUSHIM_CUDA_VERSION={level}", *macros)
        for mode, macros in MODES.items()})


@pytest.mark.parametrize("compiler, standard", [("gcc", "c99"), ("clang", "c++20")])
def test_toolkit_without_typedefs(compiler, standard, tmp_path):
    """A toolkit's cuda.h, and no other cudaTypedefs.h than the forwarding one: a clear line."""
    (tmp_path / "cuda.h").write_text("#define __cuda_cuda_h__\n#define CUDA_VERSION 12000\n")
    errors = toolkits.check(compiler, standard, "#include <cuda.h>\n#include <cudaTypedefs.h>\n",
                            "-I", tmp_path, "-I", FORWARDING)
    assert re.findall(r'error: (?:#error )?"(.*)"', errors) == [
        "no cudaTypedefs.h of the toolkit whose cuda.h came before"]


# What is changed in our header -> the name that is then refused.
CHANGES = {
    (r"PFN_cuMemAlloc_v3020\)\(CUdeviceptr_v2 \*", "PFN_cuMemAlloc_v3020)(int *"): "cuMemAlloc",
    (r"typedef [^;]*PFN_cuCtxSynchronize_v2000\)[^;]*;", ""): "cuCtxSynchronize",
    (r"(define PFN_cuStreamQuery PFN_cuStreamQuery_v)2000\n", r"\g<1>7000_ptsz\n"): None,
    (r"define PFN_cuMemFree PFN_cuMemFree_v3020", "define PFN_cuMemFree PFN_cuMemFree_v2000"):
        "cuMemFree",
}


@pytest.mark.parametrize("standard", ["c11", "c++17"])
@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_changed_header(change, standard, typedefs, tmp_path, monkeypatch):
    """A header that is wrong in one place is refused: by its type, or by its plain names."""
    found = [kit for kit in toolkits.toolkits() if kit.version < 13000]
    if not found:
        pytest.skip(toolkits.NONE)
    measured = typedefs(found[-1])
    text, *options = measured.variants()["ours alone"]
    for header in (toolkits.GENERATED / "cushim").glob("*.h"):
        (tmp_path / "cushim").mkdir(exist_ok=True)
        (tmp_path / "cushim" / header.name).write_text(header.read_text())
    file = tmp_path / "cushim" / "cudaTypedefs.h"
    changed, count = re.subn(*change, file.read_text())
    assert count == 1
    file.write_text(changed)
    monkeypatch.setattr(toolkits, "GENERATED", tmp_path)
    errors = toolkits.check("gcc", standard, text + f'#include "{measured.folder}/legacy.h"\n',
                            *options)
    if CHANGES[change]:
        assert f"PFN_{CHANGES[change]}" in errors
    else:  # of the same type: only its name tells
        assert not errors
        assert measured.plain_names(text, *options) != measured.plain["legacy"]

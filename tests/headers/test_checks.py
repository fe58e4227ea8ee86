# SPDX-License-Identifier: MIT
"""The proofs of test_table.py can fail: one number or one type changed, and it is refused."""

import re
import shutil

import pytest

import toolkits

LANGUAGES = [("gcc", "c11"), pytest.param("gcc", "c++17", marks=toolkits.BY_HAND),
             pytest.param("clang", "c11", marks=toolkits.BY_HAND), ("clang", "c++17")]
# What is changed in a generated header -> the proof that then fails.
IN_HEADERS = {
    ("api.h", r"\(CUDAAPI \*cuMemAlloc_v2\)\(CUdeviceptr \*", "(CUDAAPI *cuMemAlloc_v2)(int *"):
        "cuMemAlloc_v2",
    ("api.h", r"\(CUDAAPI \*cuInit\)\(unsigned int", "(CUDAAPI *cuInit)(int"): "cuInit",
    ("api.h", r"\n    CUresult \(CUDAAPI \*cuDeviceGet\)[^;]*;", "\n"): "cuDeviceGet",
    ("cuda_functions.h", r"CUDAAPI cuInit\(unsigned int", "CUDAAPI cuInit(int"): "cuInit",
    ("cuda_types.h", r"CUDA_ERROR_NOT_FOUND = 500", "CUDA_ERROR_NOT_FOUND = 501"):
        "CUDA_ERROR_NOT_FOUND",
    ("cuda_types.h", r"    int totalConstantMemory;", "    long totalConstantMemory;"):
        "totalConstantMemory",
    ("cuda_types.h", r"CUSHIM_ALIGN\(128\)", "CUSHIM_ALIGN(64)"): "CUtensorMap",
    ("cuda_names.h", r"#define cuMemAlloc cuMemAlloc_v2", "#define cuMemAlloc cuMemFree_v2"):
        "cuMemAlloc",
}
# The same in what was measured.
IN_FACTS = {
    ("layout.h", r"(offsetof\(CUDA_MEMCPY2D, srcY\) ==) 8", r"\1 12"): "srcY",
    ("layout.h", r"(sizeof\(CUuuid\) ==) 16", r"\1 17"): "CUuuid",
    ("layout.h", r"CUDA_ERROR_NOT_FOUND == 500", "CUDA_ERROR_NOT_FOUND == 501"):
        "CUDA_ERROR_NOT_FOUND",
    ("layout.h", r"SAME\(CUcontext, struct CUctx_st", "SAME(CUcontext, struct CUmod_st"):
        "CUcontext",
    ("types-all.h", "PFN_cuInit_v2000", "PFN_cuCtxSynchronize_v2000"): "cuInit",
    ("table.h", r"SLOT\(cuInit, \d+\)", "SLOT(cuInit, 5)"): "cuInit",
    ("names-legacy.h", r"SLOT\(cuMemAlloc, \d+\)", "SLOT(cuMemAlloc, 5)"): "cuMemAlloc_v2",
}


@pytest.fixture(scope="module", name="measured")
def newest(measure):
    """The newest toolkit."""
    found = toolkits.toolkits()
    if not found:
        pytest.skip(toolkits.NONE)
    return measure(found[-1])


def mutated(source, folder, file, pattern, replacement):
    """A copy of SOURCE, a folder, with one place in one file changed."""
    shutil.copytree(source, folder, dirs_exist_ok=True)
    text = (folder / file).read_text()
    changed, count = re.subn(pattern, replacement, text)
    assert count, f"{file} has nothing like {pattern}"
    (folder / file).write_text(changed)


def refused(errors, about):
    """An error is about what was changed."""
    return any(re.search(rf"error: .*\b{about}\b", line) for line in errors.splitlines())


def prove(measured, compiler, standard, change=lambda text: text):
    """The proof for builds without a toolkit, which holds all assertions."""
    text, *options = measured.variants()["without, legacy"]
    every = ["-ferror-limit=0"] if compiler == "clang" else []
    return toolkits.check(compiler, standard, change(text), *toolkits.WARNINGS, *every, *options)


@pytest.mark.parametrize("compiler, standard", LANGUAGES)
@pytest.mark.parametrize("change", IN_HEADERS, ids=IN_HEADERS.values())
def test_changed_header(change, compiler, standard, measured, tmp_path, monkeypatch):
    """A generated header that is wrong in one place."""
    mutated(toolkits.GENERATED / "cushim", tmp_path / "cushim", *change)
    monkeypatch.setattr(toolkits, "GENERATED", tmp_path)
    errors = prove(measured, compiler, standard)
    assert refused(errors, IN_HEADERS[change]), errors


@pytest.mark.parametrize("compiler, standard", LANGUAGES)
@pytest.mark.parametrize("change", IN_FACTS, ids=IN_FACTS.values())
def test_changed_fact(change, compiler, standard, measured, tmp_path):
    """A toolkit that differs from the one it is in one place."""
    mutated(measured.folder, tmp_path, *change)
    errors = prove(measured, compiler, standard,
                   lambda text: text.replace(str(measured.folder), str(tmp_path)))
    assert refused(errors, IN_FACTS[change]), errors


@pytest.mark.parametrize("compiler, standard", LANGUAGES)
def test_unchanged(compiler, standard, measured):
    """The same without a change."""
    assert not prove(measured, compiler, standard)

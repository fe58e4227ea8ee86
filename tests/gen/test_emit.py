# SPDX-License-Identifier: MIT
"""gen/emit.py on a tiny registry: exactly what golden-emit.txt holds, and it compiles everywhere.

handmade.py renews it.
"""

import re
import shutil
import subprocess
import sys

import pytest

import test_emit_sim
from handmade import GEN, REGISTRY, golden
from handmade import emit as run_emit

sys.path.insert(0, str(GEN))
import emit  # noqa: E402 pylint: disable=wrong-import-position

ROOT = GEN.parent
GOLDEN = golden("emit")
SAME_SHAPE = {"cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h", "cudaD3D10.h", "cudaD3D11.h"}
SAME_SHAPE |= {name.replace(".h", "Typedefs.h") for name in SAME_SHAPE | {"cudaGL.h"}}
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
COMPILERS = [("gcc", "c99"), ("gcc", "c11"), ("g++", "c++11"),
             ("clang", "c99"), ("clang", "c11"), ("clang++", "c++11")]
MACROS = [[], ["-DCUSHIM_CUDA_VERSION=12000"], ["-DCUDA_API_PER_THREAD_DEFAULT_STREAM"],
          ["-DCUSHIM_CUDA_VERSION=11040", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"]]
# Whatever the macros are, one layout; and a name leads to the member that it means.
USER = """
#include <cushim/api.h>
#include <cushim/cudaGL.h>
#include <cushim/cudaD3D9.h>
#include <cushim/cudaTypedefs.h>
#include <cushim/cudaD3D9Typedefs.h>

#define AT(member) offsetof(struct cushim_api, member)
#define HOLDS(name, condition) typedef char name[(condition) ? 1 : -1]

HOLDS(alloc, AT(cuMemAlloc) == AT(cuMemAlloc_v2) && AT(cuMemAlloc_v1) == 4 * sizeof(void *));
HOLDS(last, AT(cuPass) == (CUSHIM_ENTRY_COUNT + 1) * sizeof(void *));
HOLDS(size, sizeof(struct cushim_api) == (CUSHIM_ENTRY_COUNT + 2) * sizeof(void *));
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
HOLDS(stream, AT(cuLaunchHostFunc) == AT(cuLaunchHostFunc_ptsz));
#else
HOLDS(stream, AT(cuMemcpy) + sizeof(void *) == AT(cuMemcpy_ptds));
#endif
#if CUDA_VERSION >= 12010
HOLDS(value, CUDA_ERROR_INVALID_VALUE == 2 && CU_LIMIT == 0x20);
#else
HOLDS(value, CUDA_ERROR_INVALID_VALUE == 1 && CU_LIMIT == 0x10);
#endif
extern PFN_cuInit by_plain_name;
extern PFN_cuInit_v2000 by_plain_name;
extern PFN_cuMemAlloc allocate;
#if CUDA_VERSION >= 12010
extern PFN_cuMemAlloc_v3020 allocate;
extern PFN_cuLaunchHostFunc_v10000 launch;
extern PFN_LaunchHostFunc launch;
#else
extern PFN_cuMemAlloc_v2000 allocate;
#endif
extern PFN_cuD3D9CtxCreate create;
#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
HOLDS(aligned, sizeof(CUnode) == 64);
#endif

CUresult call(const struct cushim_api *cu, CUdeviceptr *dptr);
CUresult call(const struct cushim_api *cu, CUdeviceptr *dptr)
{
    return cu->cuMemAlloc(dptr, sizeof(CUpassing));
}
"""

# The table and the functions, in whatever order their headers come.
TABLE, FUNCTIONS = "#include <cushim/api.h>\n", "#include <cushim/cuda.h>\n"
ORDERS = [TABLE + FUNCTIONS, FUNCTIONS + TABLE, "#define CUSHIM_DROPIN\n" + TABLE,
          "#define CUSHIM_DROPIN\n" + TABLE + FUNCTIONS,
          "#include <cushim/cudaTypedefs.h>\n" + TABLE, TABLE + "#include <cushim/cudaGL.h>\n"]
BOTH = """
CUresult (*function)(CUdeviceptr *, size_t) = cuMemAlloc;
CUresult (*first)(CUdeviceptr, const void *, size_t) = cuMemcpy;
CUresult call(const struct cushim_api *cu, CUdeviceptr *dptr);
CUresult call(const struct cushim_api *cu, CUdeviceptr *dptr)
{
    first = cu->cuMemcpy;
    return cu->cuMemAlloc(dptr, 1);
}
"""


@pytest.fixture(scope="module", name="emitted")
def emitted_fixture(tmp_path_factory):
    """A folder with every output, the headers below cushim/."""
    folder = tmp_path_factory.mktemp("emitted")
    (folder / "cushim").mkdir()
    for output in emit.OUTPUTS:
        file = folder / "cushim" / output if output.endswith(".h") else folder / output
        done = run_emit(output, file)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    header = test_emit_sim.emit(folder, "sim_behaviours.h")
    (folder / "sim_behaviours.h").write_text(header, encoding="utf-8")
    return folder


def test_all_golden():
    """Every output is held against a golden one."""
    assert set(GOLDEN) == set(emit.OUTPUTS) - SAME_SHAPE


@pytest.mark.parametrize("output", sorted(GOLDEN))
def test_golden(output, emitted):
    """Byte for byte."""
    file = next(emitted.rglob(output))
    assert file.read_text(encoding="utf-8") == GOLDEN[output]


def test_unchanged_output_is_left(tmp_path):
    """An output that would be the same is not written, so that nothing rebuilds for it."""
    file = tmp_path / "api.h"
    run_emit("api.h", file)
    before = file.stat().st_mtime_ns
    run_emit("api.h", file)
    assert file.stat().st_mtime_ns == before


@pytest.mark.parametrize("macros", MACROS, ids=" ".join)
@pytest.mark.parametrize("compiler, standard", COMPILERS)
def test_headers_compile(compiler, standard, macros, emitted, tmp_path):
    """The headers in each language, with one layout under all macros."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / ("user.cc" if "++" in compiler else "user.c")
    source.write_text(USER, encoding="utf-8")
    compile_with(compiler, standard, source, [f"-I{emitted}", *macros])


@pytest.mark.parametrize("macros", MACROS, ids=" ".join)
@pytest.mark.parametrize("order", ORDERS, ids=lambda text: " ".join(re.findall(r"\w+\.h", text)))
def test_order(order, macros, emitted, tmp_path):
    """Names lead to the same members and functions, whichever header comes first."""
    source = tmp_path / "user.c"
    source.write_text(order + BOTH, encoding="utf-8")
    compile_with("gcc", "c11", source, [f"-I{emitted}", *macros],
                 ["-S", "-o", tmp_path / "user.s"])
    kept = "_ptds" if "-DCUDA_API_PER_THREAD_DEFAULT_STREAM" in macros else ""
    text = (tmp_path / "user.s").read_text(encoding="utf-8")
    assert set(re.findall(r"\bcuMem\w+", text)) == {"cuMemAlloc_v2", f"cuMemcpy{kept}"}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("output", sorted(name for name in emit.OUTPUTS if name.endswith(".c")))
def test_sources_compile(output, compiler, emitted):
    """The library's own generated sources, against the declarations in src/."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    compile_with(compiler, "c11", emitted / output,
                 [f"-I{emitted}", f"-I{emitted / 'cushim'}", f"-I{ROOT / 'include'}",
                  f"-I{ROOT / 'src'}", f"-I{ROOT / 'src' / 'dropin'}",
                  f"-I{ROOT / 'src/sim'}", f"-I{ROOT / 'tools'}",
                  "-Wno-overlength-strings"])


def compile_with(compiler, standard, source, options, action=("-fsyntax-only",)):
    """Fail with the compiler's words."""
    done = subprocess.run([compiler, f"-std={standard}", *WARNINGS, *action, *options, source],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_companions_need_no_entries(emitted):
    """A companion of which the registry has nothing is a header all the same."""
    for output in SAME_SHAPE:
        of = output.replace("Typedefs", "") if "Typedefs" in output else "cuda.h"
        assert f"#include <cushim/{of}>" in (emitted / "cushim" / output).read_text("utf-8")


BAD = {
    "no JSON": ("entries", 2, b'{"symbol": \n', "Expecting value"),
    "an empty line": ("entries", 2, b"\n", "Expecting value"),
    "a missing end": ("errors", 2, b'{"code": 1, "name": "X"', "Expecting ',' delimiter"),
    "not UTF-8": ("types", 3, b'{"name": "\xff"}\n', "'utf-8' codec can't decode byte 0xff"),
    "no object": ("levels", 1, b"[12000]\n", "not an object"),
    "a missing field": ("entries", 1, b'{"symbol": "cuX", "name": "cuX"}\n', "since is not there"),
    "a wrong type": ("errors", 1, b'{"code": "0", "name": "A", "text": "a"}\n',
                     "code is not a number"),
    "a truth as a number": ("levels", 1, b'{"release": true}\n', "release is not a number"),
    "a duplicate type": ("types", 2, b'{"name": "CUD3D9register_flags", "header": "cuda.h", '
                         b'"versions": [{"since": 12000, "kind": "alias", "type": "int"}]}\n',
                         "CUD3D9register_flags is there twice"),
    "a duplicate entry": ("entries", 3, b'{"symbol": "cuInit", "name": "cuInit", "since": 2000, '
                          b'"stream": "legacy", "header": "cuda.h", "params": []}\n',
                          "cuInit is there twice"),
    "a symbol of another name": ("entries", 1, b'{"symbol": "cuX_v2", "name": "cuY", "since": 1, '
                                 b'"stream": "legacy", "header": "cuda.h", "params": []}\n',
                                 "cuX_v2 is not of name cuY and stream legacy"),
    "bad parameters": ("entries", 1, b'{"symbol": "cuX", "name": "cuX", "since": 1, "stream": '
                       b'"legacy", "header": "cuda.h", "params": ["int"]}\n',
                       "params are not pairs of type and name"),
    "an unknown platform": ("entries", 1, b'{"symbol": "cuX", "name": "cuX", "since": 1, "stream": '
                            b'"legacy", "header": "cuda.h", "params": [], "platform": "os/2"}\n',
                            "platform is not one of linux, windows"),
    "no versions": ("types", 1, b'{"name": "X", "header": "cuda.h", "versions": []}\n',
                    "no versions"),
    "an unknown kind": ("types", 1, b'{"name": "X", "header": "cuda.h", "versions": [{"since": 1, '
                        b'"kind": "class"}]}\n', "no version of a type"),
    "a kind of an odd type": ("types", 1, b'{"name": "X", "header": "cuda.h", "versions": '
                              b'[{"since": 1, "kind": {}}]}\n', "no version of a type"),
    "a value too deep": ("types", 1, b"[" * 200000 + b"\n", "maximum recursion depth"),
    "a kind without its fields": ("types", 1, b'{"name": "X", "header": "cuda.h", "versions": '
                                  b'[{"since": 1, "kind": "struct"}]}\n', "no version of a type"),
    "an unknown symbol": ("levels", 2, b'{"release": 12000, "name": "cuInit", "symbol": "cuIn"}\n',
                          "no entry cuIn"),
    "a plain name of no entry": ("typedefs", 2, b'{"name": "PFN_cuX", "versions": '
                                 b'[{"since": 1, "symbol": "cuX"}]}\n', "no entry cuX"),
    "a plain name twice": ("typedefs", 2, b'{"name": "PFN_cuInit", "versions": [{"since": 1, '
                           b'"symbol": null}]}\n', "PFN_cuInit is there twice"),
    "a plain name without a history": ("typedefs", 1, b'{"name": "PFN_cuX", "versions": []}\n',
                                       "no versions"),
    "a plain name without a release": ("typedefs", 1, b'{"name": "PFN_cuX", "versions": '
                                       b'[{"symbol": "cuInit"}]}\n',
                                       "versions are not objects with a number since"),
    "a plain name without a meaning": ("typedefs", 1, b'{"name": "PFN_cuX", "versions": '
                                       b'[{"since": 1}]}\n', "no meaning of a plain name"),
    "half a meaning": ("levels", 2, b'{"release": 12000, "name": "cuInit"}\n',
                       "name and symbol are not there together"),
    "codes out of order": ("errors", 2, b'{"code": 0, "name": "A", "text": "a"}\n',
                           "code 0 does not come after 0"),
    "a text of two lines": ("errors", 2, b'{"code": 1, "name": "A", "text": "a\\nb"}\n',
                            "text is not plain ASCII"),
    "a driver's line of no kind": ("drivers", 2, b'{"source": "notes", "linux": "1.2"}\n',
                                   "not the fields of one kind of line: linux, source"),
    "a fact without source": ("drivers", 2, b'{"family": 12, "linux": null, "windows": null, '
                              b'"source": "hearsay"}\n', "no line above names the source hearsay"),
    "no driver's version": ("drivers", 2, b'{"family": 12, "linux": "new", "windows": null, '
                            b'"source": "notes"}\n', "linux is not a driver's version: new"),
    "a toolkit out of order": ("drivers", 6, b'{"toolkit": 12000, "update": 0, "linux": '
                               b'"530.1", "windows": null, "source": "notes"}\n',
                               "does not come after the toolkit before it"),
    "a toolkit with an older driver": ("drivers", 6, b'{"toolkit": 12000, "update": 1, "linux": '
                                       b'"525.60.12", "windows": null, "source": "notes"}\n',
                                       "Linux driver 525.60.12 is older than the one before it"),
    "a GPU's line of no kind": ("gpus", 2, b'{"source": "list", "gpu": "H1"}\n',
                                "not the fields of one kind of line: gpu, source"),
    "a GPU without source": ("gpus", 2, b'{"tegra": [62], "source": "hearsay"}\n',
                             "no line above names the source hearsay"),
    "a capability as text": ("gpus", 2, b'{"tegra": ["6.2"], "source": "list"}\n',
                             "the compute capabilities are not numbers such as 90"),
    "a capability twice": ("gpus", 3, b'{"tegra": [11], "source": "list"}\n',
                           "11 is of two architectures"),
    "a GPU of no capability": ("gpus", 4, b'{"gpu": "H2", "capability": 91, "source": "list"}\n',
                               "no line above has the compute capability 91"),
    "an explanation without cause": (
        "causes", 1, b'{"code": 1, "runtime": "a", "phrases": [], "who": "b", "causes": []}\n',
        "no causes"),
    "an explanation that words a meaning again": (
        "causes", 1, b'{"code": 1, "runtime": "a", "phrases": [], "who": "b", "text": "c", '
        b'"causes": [{"cause": "d", "check": "e"}]}\n',
        "text is there for codes that are not in errors.jsonl, and no others"),
    "a cause without check": (
        "causes", 2, b'{"code": 36, "runtime": "a", "phrases": [], "who": "b", "text": "c", '
        b'"causes": [{"cause": "c"}]}\n', "a cause has the fields cause and check"),
    "explanations out of order": (
        "causes", 2, b'{"code": 0, "runtime": "a", "phrases": [], "who": "b", "causes": '
        b'[{"cause": "c", "check": "d"}]}\n', "code 0 does not come after 1"),
    "an explanation with an unknown field": (
        "causes", 1, b'{"code": 1, "runtime": "a", "phrases": [], "who": "b", "causes": '
        b'[{"cause": "c", "check": "d"}], "cure": ""}\n', "unknown field cure"),
    "a sentence twice": ("sentences", 5, b'{"sentence": "no `end`", "cure": "a"}\n',
                         "no `end` is there twice"),
    "a cure of nothing": ("sentences", 1, b'{"cure": "a"}\n',
                          "not a heading, a text, or a sentence with or without a cure"),
    "an empty cure": ("sentences", 2, b'{"sentence": "a", "cure": " "}\n',
                      "a field is empty, or no string"),
    "a feature of two words": ("features", 1, b'{"feature": "a b", "group": "g", "text": "t", '
                               b'"since": 2000, "entries": ["cuInit"]}\n',
                               "a b is not lower case with hyphens"),
    "a feature twice": ("features", 2, b'{"feature": "memory", "group": "g", "text": "t", '
                        b'"since": 2000, "entries": ["cuInit"]}\n', "memory is there twice"),
    "a feature of no entry": ("features", 1, b'{"feature": "a", "group": "g", "text": "t", '
                              b'"since": 2000, "entries": ["cuIn"]}\n', "no entry cuIn"),
    "a feature of no constant": ("features", 1, b'{"feature": "a", "group": "g", "text": "t", '
                                 b'"since": 2000, "entries": [], "constants": ["CU_X"]}\n',
                                 "no constant CU_X"),
    "a feature of no attribute": ("features", 1, b'{"feature": "a", "group": "g", "text": "t", '
                                  b'"since": 2000, "entries": [], "attribute": {"name": "X"}}\n',
                                  "no attribute X"),
    "a feature of nothing": ("features", 1, b'{"feature": "a", "group": "g", "text": "t", '
                             b'"since": 2000, "entries": []}\n', "neither entries nor constants"),
    "a feature older than its entry": (
        "features", 1, b'{"feature": "a", "group": "g", "text": "t", "since": 2000, "entries": '
        b'["cuMemAlloc_v2"]}\n', "since 2000 is not what its entries, constants and attribute "
        "have, 3020 to 3020"),
    "a feature newer than its attribute": (
        "features", 1, b'{"feature": "a", "group": "g", "text": "t", "since": 13000, "entries": '
        b'["cuInit"], "attribute": {"name": "NEW"}}\n', "since 13000 is not what its entries, "
        "constants and attribute have, 2000 to 12010"),
    "a feature with an unknown field": (
        "features", 1, b'{"feature": "a", "group": "g", "text": "t", "since": 2000, "entries": '
        b'["cuInit"], "needs": 1}\n', "unknown field needs"),
    "a feature for no bits": (
        "features", 1, b'{"feature": "a", "group": "g", "text": "t", "since": 12010, "entries": '
        b'[], "attribute": {"name": "NEW", "mask": 0}}\n', "mask or min is not a number above 0"),
}
OUTPUT_OF = {"drivers": "drivers.c", "features": "features.c", "entries": "entries.c",
             "types": "cuda_types.h", "levels": "api.h", "errors": "error_names.c",
             "typedefs": "cudaTypedefs.h", "gpus": "gpus.c", "causes": "causes.c",
             "sentences": "sentences.c"}


@pytest.mark.parametrize("name", BAD)
def test_bad_line(name, tmp_path):
    """A line that is no good is refused with file and line; nothing is written."""
    file, number, line, words = BAD[name]
    registry = shutil.copytree(REGISTRY, tmp_path / "registry")
    path = registry / f"{file}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:number - 1], line, *lines[number:]]))
    refused(OUTPUT_OF[file], registry, tmp_path, f"{path}:{number}: {words}")


@pytest.mark.parametrize("file", OUTPUT_OF)
@pytest.mark.parametrize("state", ["missing", "empty", "a folder"])
def test_no_file(file, state, tmp_path):
    """A file that is not there, empty or unreadable is refused as its line 1."""
    registry = shutil.copytree(REGISTRY, tmp_path / "registry")
    path = registry / f"{file}.jsonl"
    path.unlink()
    if state == "empty":
        path.touch()
    elif state == "a folder":
        path.mkdir()
    refused(OUTPUT_OF[file], registry, tmp_path, f"{path}:1: ")


def refused(output, registry, tmp_path, message):
    """Assert that an output is refused in one line, with nothing written."""
    done = run_emit(output, tmp_path / "output", registry)
    assert done.stderr.startswith(message)
    assert len(done.stderr.splitlines()) == 1
    assert (done.returncode, done.stdout) == (1, "")
    assert not (tmp_path / "output").exists()


def test_usage(tmp_path):
    """An unknown output is wrong usage."""
    done = run_emit("cudaVK.h", tmp_path / "output")
    assert done.returncode == 2
    assert "no output cudaVK.h" in done.stderr

# SPDX-License-Identifier: MIT
"""CUSHIM_CALLS_ONLY: slots are called and asked for, and every other use stops the compiler."""

import re

import pytest

import toolkits
from test_foreign import HEADERS as FOREIGN

COMPILERS = pytest.mark.parametrize("compiler, standard", [
    ("gcc", "c99"), ("clang", "c17"), ("gcc", "c++11"), ("clang", "c++20")])
MODE = "-DCUSHIM_CALLS_ONLY"
STRICT = [*toolkits.WARNINGS, "-pedantic", "-Wshadow", "-Wundef"]
HEAD = "#include <cushim/cushim.h>\n"
USE = """
CUresult use(const struct cushim_api *cu, CUdeviceptr *p, CUstream stream);
CUresult use(const struct cushim_api *cu, CUdeviceptr *p, CUstream stream)
{
    if (!CUSHIM_HAS(cu, cuMemAllocAsync) || !CUSHIM_HAS(cu, cuMemAlloc) ||
        !CUSHIM_HAS(cu, cuMemAlloc_v1) || !CUSHIM_HAS(cu, cuMemAdvise))
        return cu->cuMemAlloc(p, 4096);
    CUresult result = cu->cuMemAllocAsync(p, 4096, stream);
    return result ? result : cu->cuMemFreeAsync_ptsz(*p, stream);
}
"""
# Each is wrong, or not what it was, in source that had pointers of its own.
WRONG = ["if (cu->{0}) return 1;", "if (!cu->{0}) return 1;", "if (cu->{0} != NULL) return 1;",
         "if (NULL == cu->{0}) return 1;", "return cu->{0} ? 1 : 2;", "return cu->{0} && 1;",
         "void *p = (void *)cu->{0}; return p != NULL;", "while (cu->{0}) return 1;"]
NAMES = ["cuInit", "cuMemAlloc", "cuMemAlloc_v2", "cuMemAdvise", "cuLaunchKernel"]
TEST = """
int test_{0}(const struct cushim_api *cu);
int test_{0}(const struct cushim_api *cu) {{ {1} return 0; }}
"""


def heads():
    """What comes before cushim's header: nothing, a toolkit's cuda.h, types of the project's."""
    yield pytest.param("", [], id="none")
    yield pytest.param(FOREIGN["few"] + "#define CUSHIM_FOREIGN_TYPES\n", [], id="foreign")
    yield pytest.param(FOREIGN["macros"] + "#define CUSHIM_FOREIGN_TYPES\n", [], id="macros")
    for toolkit in toolkits.toolkits()[::len(toolkits.toolkits()) - 1 or 1]:
        yield pytest.param("#include <cuda.h>\n", ["-I", toolkit.folder], id=toolkit.release)


@COMPILERS
@pytest.mark.parametrize("streams", [[], [toolkits.PER_THREAD]], ids=["legacy", "per-thread"])
@pytest.mark.parametrize("head, options", heads())
def test_calls(head, options, streams, compiler, standard):
    """Calls and CUSHIM_HAS compile without a warning; a member that there is not does not."""
    warnings = toolkits.WARNINGS if options else STRICT  # NVIDIA's header is not so strict
    said = toolkits.check(compiler, standard, head + HEAD + USE, *warnings, MODE, *options,
                          *streams)
    assert not said, said
    wrong = head + HEAD + TEST.format(0, "return (int)cu->cuMemAllok(NULL, 1);")
    assert "cuMemAllok" in toolkits.check(compiler, standard, wrong, MODE, *options, *streams)


@COMPILERS
@pytest.mark.parametrize("streams", [[], [toolkits.PER_THREAD]], ids=["legacy", "per-thread"])
@pytest.mark.parametrize("head, options", heads())
def test_other_uses(head, options, streams, compiler, standard):
    """Each other use is an error in this mode, and is none without it."""
    text = head + HEAD
    lines = {}
    for number, (wrong, name) in enumerate((wrong, name) for wrong in WRONG for name in NAMES):
        text += TEST.format(number, wrong.format(name))
        lines[text.count("\n")] = (wrong, name)
    limit = "-ferror-limit=0" if compiler == "clang" else "-fmax-errors=0"
    said = toolkits.check(compiler, standard, text, MODE, limit, *options, *streams)
    refused = {int(line) for line in re.findall(
        r"<stdin>:(\d+):\d+: (?:error|note: in expansion of macro)", said)}
    assert refused == set(lines), [lines[line] for line in set(lines) - refused]
    said = toolkits.check(compiler, standard, text, *options, *streams)
    assert "error:" not in said, said


@COMPILERS
@pytest.mark.parametrize("streams", [[], [toolkits.PER_THREAD]], ids=["legacy", "per-thread"])
def test_same_slot(streams, compiler, standard):
    """A name is the same slot as in the true table, so a program of both modes can be linked."""
    text = HEAD + "#include <cushim/cudaGL.h>\n#include <cushim/launch.h>\n" + "".join(
        f"typedef char at_{number}[offsetof(struct cushim_api, {name}) == "
        f"offsetof(struct cushim_slots, {name}) ? 1 : -1];\n"
        for number, name in enumerate([*NAMES[:1], *NAMES[2:3], "cuMemFreeAsync_ptsz",
                                       "cuGLCtxCreate_v2", "cuMemAlloc_v1"]))
    text += ("typedef char all[sizeof(struct cushim_api) == sizeof(struct cushim_slots) ? 1 : -1]"
             ";\nCUresult gl(const struct cushim_api *cu, CUcontext *context);\n"
             "CUresult gl(const struct cushim_api *cu, CUcontext *context)\n"
             "{ return cu->cuGLCtxCreate(context, 0, 0); }\n")
    said = toolkits.check(compiler, standard, text, *toolkits.WARNINGS, MODE, *streams)
    assert not said, said


@COMPILERS
@pytest.mark.parametrize("test", ["if (cuMemAllocAsync) return 1;",
                                  "if (!cuMemAllocAsync) return 1;",
                                  "if (cuMemAllocAsync != NULL) return 1;"])
@pytest.mark.parametrize("header", ["#define CUSHIM_DROPIN\n" + HEAD,
                                    "#include <cushim/cuew.h>\n", "#include <cushim/cuda.h>\n"])
def test_functions_are_warned_about(header, test, compiler, standard):
    """With the drop-in a test for NULL is a test of a function: -Wall has a warning for it."""
    text = header + (f"int test(void);\nint test(void)\n{{ {test} return 0; }}\n")
    said = toolkits.check(compiler, standard, text, "-Wall")
    assert re.search(r"-Waddress|-Wpointer-bool-conversion|-Wtautological-pointer-compare", said)

# SPDX-License-Identifier: MIT
"""An unversioned name means what it meant in the release that CUSHIM_CUDA_VERSION names.

levels/cuda11.c, cuda12.c and cuda13.c call each name that changed its meaning as source for
that release does. Compiled with the toolkit's own headers and with ours at its level, as plain
calls and through the table, they must mean the same symbols, and be refused where NVIDIA's are.
"""

import re
from pathlib import Path

import pytest

import asserts
import toolkits

LEVELS = Path(__file__).parent / "levels"
ROWS = asserts.entries()
PLACES = {row["symbol"]: index for index, row in enumerate(ROWS)}
# What the names mean in each, written by hand. Those of one line are new in that release.
ELEVEN = {
    "cuCtxCreate": "cuCtxCreate_v2", "cuDeviceGetUuid": "cuDeviceGetUuid",
    "cuEventElapsedTime": "cuEventElapsedTime", "cuGetProcAddress": "cuGetProcAddress",
    "cuGraphAddDependencies": "cuGraphAddDependencies",
    "cuGraphAddKernelNode": "cuGraphAddKernelNode",
    "cuGraphExecKernelNodeSetParams": "cuGraphExecKernelNodeSetParams",
    "cuGraphExecUpdate": "cuGraphExecUpdate", "cuGraphGetEdges": "cuGraphGetEdges",
    "cuGraphInstantiate": "cuGraphInstantiate_v2",
    "cuGraphKernelNodeGetParams": "cuGraphKernelNodeGetParams",
    "cuGraphKernelNodeSetParams": "cuGraphKernelNodeSetParams",
    "cuGraphNodeGetDependencies": "cuGraphNodeGetDependencies",
    "cuGraphNodeGetDependentNodes": "cuGraphNodeGetDependentNodes",
    "cuGraphRemoveDependencies": "cuGraphRemoveDependencies", "cuMemAdvise": "cuMemAdvise",
    "cuMemPrefetchAsync": "cuMemPrefetchAsync", "cuStreamBatchMemOp": "cuStreamBatchMemOp",
    "cuStreamGetCaptureInfo": "cuStreamGetCaptureInfo",
    "cuStreamUpdateCaptureDependencies": "cuStreamUpdateCaptureDependencies",
    "cuStreamWaitValue32": "cuStreamWaitValue32", "cuStreamWaitValue64": "cuStreamWaitValue64",
    "cuStreamWriteValue32": "cuStreamWriteValue32",
    "cuStreamWriteValue64": "cuStreamWriteValue64",
}
TWELVE = ELEVEN | {
    "cuGetProcAddress": "cuGetProcAddress_v2", "cuGraphAddKernelNode": "cuGraphAddKernelNode_v2",
    "cuGraphExecKernelNodeSetParams": "cuGraphExecKernelNodeSetParams_v2",
    "cuGraphExecUpdate": "cuGraphExecUpdate_v2",
    "cuGraphInstantiate": "cuGraphInstantiateWithFlags",
    "cuGraphKernelNodeGetParams": "cuGraphKernelNodeGetParams_v2",
    "cuGraphKernelNodeSetParams": "cuGraphKernelNodeSetParams_v2",
    "cuStreamBatchMemOp": "cuStreamBatchMemOp_v2",
    "cuStreamGetCaptureInfo": "cuStreamGetCaptureInfo_v2",
    "cuStreamWaitValue32": "cuStreamWaitValue32_v2",
    "cuStreamWaitValue64": "cuStreamWaitValue64_v2",
    "cuStreamWriteValue32": "cuStreamWriteValue32_v2",
    "cuStreamWriteValue64": "cuStreamWriteValue64_v2",
}
LATER = {"cuGraphAddNode": 12020, "cuMemcpy3DBatchAsync": 12080, "cuMemcpyBatchAsync": 12080}
OTHER_IN_THIRTEEN = {
    "cuCtxCreate": "cuCtxCreate_v4", "cuGraphAddDependencies": "cuGraphAddDependencies_v2",
    "cuGraphAddNode": "cuGraphAddNode_v2", "cuGraphGetEdges": "cuGraphGetEdges_v2",
    "cuGraphNodeGetDependencies": "cuGraphNodeGetDependencies_v2",
    "cuGraphNodeGetDependentNodes": "cuGraphNodeGetDependentNodes_v2",
    "cuGraphRemoveDependencies": "cuGraphRemoveDependencies_v2", "cuMemAdvise": "cuMemAdvise_v2",
    "cuMemPrefetchAsync": "cuMemPrefetchAsync_v2",
    "cuMemcpy3DBatchAsync": "cuMemcpy3DBatchAsync_v2",
    "cuMemcpyBatchAsync": "cuMemcpyBatchAsync_v2",
    "cuStreamGetCaptureInfo": "cuStreamGetCaptureInfo_v3",
    "cuStreamUpdateCaptureDependencies": "cuStreamUpdateCaptureDependencies_v2",
}
THIRTEEN = TWELVE | OTHER_IN_THIRTEEN | {  # these two with the parameters that they had
    "cuDeviceGetUuid": "cuDeviceGetUuid_v2", "cuEventElapsedTime": "cuEventElapsedTime_v2"}
# (source, releases that refuse it) -> the calls that are refused: those with other parameters.
REFUSED = {
    (11, 12): {"cuGetProcAddress", "cuGraphExecUpdate", "cuGraphInstantiate",
               "cuStreamGetCaptureInfo"},
    (12, 11): {"cuGetProcAddress", "cuGraphAddKernelNode", "cuGraphExecKernelNodeSetParams",
               "cuGraphExecUpdate", "cuGraphInstantiate", "cuStreamGetCaptureInfo"},
    (12, 13): set(OTHER_IN_THIRTEEN),
    (13, 12): set(OTHER_IN_THIRTEEN),
}
HEADERS = {"NVIDIA's": "#include <cuda.h>\n", "ours": "#include <cushim/cuda.h>\n"}
SHORT = "-Wno-missing-field-initializers"  # source for 11 fills the fields of 11
MEMBER = """#include <cushim/cushim.h>
extern const struct cushim_api *cu;
#define CALL(name) cu->name
"""


def expected(version, mode):
    """name -> symbol at a level."""
    names = {11: ELEVEN, 12: TWELVE, 13: THIRTEEN}[version // 1000]
    names = names | {name: names.get(name, name) for name, since in LATER.items()
                     if version >= since}
    if mode == "legacy":
        return names
    twins = {symbol: symbol + suffix for symbol in names.values() for suffix in ("_ptsz", "_ptds")
             if symbol + suffix in PLACES}
    return {name: twins.get(symbol, symbol) for name, symbol in names.items()}


def options(toolkit, headers, mode):
    """Compiler options for one of HEADERS, in a mode."""
    where = ["-I", toolkit.folder] if headers == "NVIDIA's" else [
        f"-DCUSHIM_CUDA_VERSION={toolkit.version}"]
    return [*where, *([toolkits.PER_THREAD] if mode == "per-thread" else [])]


def source(era):
    """#include line of the calls of CUDA 11, 12 or 13."""
    return f'#include "{LEVELS}/cuda{era}.c"\n'


@pytest.mark.parametrize("mode", ["legacy", "per-thread"])
@pytest.mark.parametrize("compiler, standard", [("gcc", "c11"), ("clang", "c++17")])
@pytest.mark.parametrize("headers", HEADERS)
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit())
def test_plain_call(toolkit, headers, compiler, standard, mode, tmp_path):
    """The object file asks the linker for the symbols of the level."""
    text = HEADERS[headers] + "#define CALL(name) name\n" + source(toolkit.version // 1000)
    found, errors = toolkits.undefined(compiler, standard, text, tmp_path, *toolkits.WARNINGS,
                                       SHORT,
                                       *options(toolkit, headers, mode))
    assert not errors
    assert found == set(expected(toolkit.version, mode).values())


@pytest.mark.parametrize("mode", ["legacy", "per-thread"])
@pytest.mark.parametrize("compiler, standard", [("gcc", "c11"), ("clang", "c++17")])
@pytest.mark.parametrize("headers", HEADERS)
@pytest.mark.parametrize("toolkit", toolkits.each_toolkit())
def test_member(toolkit, headers, compiler, standard, mode, tmp_path):
    """Through the table the same source compiles, and each name is the member of its symbol."""
    names = expected(toolkit.version, mode)
    text = HEADERS[headers] + MEMBER + source(toolkit.version // 1000)
    if mode == "per-thread":
        # There it is a function of the headers, which no table has: refused, not misunderstood.
        assert "cuGetProcAddress" in toolkits.check(compiler, standard, text,
                                                    *options(toolkit, headers, mode))
        text = "#define NO_PROC_MEMBER\n" + text
        del names["cuGetProcAddress"]
    places = tmp_path / "places.h"
    places.write_text(asserts.text(f"SLOT({name}, {PLACES[symbol]});"
                                   for name, symbol in names.items()))
    found, errors = toolkits.undefined(
        compiler, standard, text + f'#include "{places}"\n', tmp_path, *toolkits.WARNINGS,
        SHORT, *options(toolkit, headers, mode))
    assert not errors
    assert found == {"cu"}


def other_levels():
    """Every toolkit with the sources for CUDA releases before it; the last before a change also
    with those for after it."""
    found = toolkits.toolkits()
    for toolkit, following in zip(found, found[1:] + found[-1:]):
        at = toolkit.version // 1000
        eras = [era for era in (11, 12, 13) if era < at]
        eras += [era for era in (12, 13) if era > at and following.version // 1000 > at]
        yield from (pytest.param(toolkit, era, id=f"{toolkit.release}-source of {era}")
                    for era in eras)


@pytest.mark.parametrize("call", ["plain", "member"])
@pytest.mark.parametrize("headers", HEADERS)
@pytest.mark.parametrize("toolkit, era", list(other_levels()) or [
    pytest.param(None, None, id="none", marks=pytest.mark.skip(toolkits.NONE))])
def test_other_level(toolkit, era, headers, call):
    """Where a name's parameters changed, source for the other level does not compile."""
    at = toolkit.version // 1000
    text = HEADERS[headers] + (MEMBER if call == "member" else "#define CALL(name) name\n")
    errors = toolkits.check("gcc", "c11", text + source(era), *toolkits.WARNINGS, SHORT,
                            *options(toolkit, headers, "legacy"))
    refused = set(re.findall(r"In function 'call_(\w+)'", errors))
    if (era, at) in REFUSED:
        assert refused == REFUSED[era, at]
    else:  # two changes apart: both of them
        assert refused >= REFUSED[(11, 12) if era < at else (12, 11)]

# SPDX-License-Identifier: MIT
"""`cushim scan` of several sources together. guard_files.txt has programs, each a folder; behind
each line with calls of newer entries stands what is known of each: g, guarded; u, unknown; f,
certainly without a guard."""

import os
import re
import sys

import pytest
from command import FAILED, OK, ROOT, SIM_DRIVERS, run
from simulated import compiled

sys.path.insert(0, str(ROOT / "tests"))

import parts  # noqa: E402

PROGRAMS = {}
for _name, _text in parts.read(ROOT / "tests/cli/guard_files.txt").items():
    PROGRAMS.setdefault(_name.split("/")[0], {})[_name.split("/", 1)[1]] = _text


def judged(folder, *options):
    """The file, the line and the letters of each line with calls of newer entries."""
    found = {}
    for source in run("scan", "--json", "--drivers", "9.0", *options, folder).json()["sources"]:
        for call in source["calls"]:
            letter = "g" if call["guarded"] else "u" if call["asked"] else "f"
            place = source["file"].removeprefix(f"{folder}/"), call["line"]
            if call["newer"]:
                found[place] = found.get(place, "") + letter
    return found


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)


def marks(files):
    return {(name, number): mark[1] for name, text in files.items()
            for number, line in enumerate(text.decode().splitlines(), 1)
            if (mark := re.search(r"/[/*]= (\w+)", line))}


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(tmp_path, program):
    """As they are, with CRLF and a mark of UTF-8, and in another order of the files."""
    files = PROGRAMS[program]
    write(tmp_path / "a", files)
    assert judged(tmp_path / "a") == marks(files)
    write(tmp_path / "b", {name: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")
                           for name, text in files.items()})
    assert judged(tmp_path / "b") == marks(files)
    names = sorted(files, reverse=True)
    write(tmp_path / "c", {f"{at:03}/{name}": files[name] for at, name in enumerate(names)})
    assert judged(tmp_path / "c") == {
        (f"{names.index(name):03}/{name}", line): mark for (name, line), mark in
        marks(files).items()}


def test_words(tmp_path):
    """The words are those of a guard in the same function, and the line is that of the question."""
    write(tmp_path, PROGRAMS["member"])
    got = run("scan", "--drivers", "9.0", "--strict", tmp_path)
    assert got.code == FAILED
    assert [line.split("/")[-1] for line in got.out.splitlines() if "no guard" in line] == [
        "alloc.c:4: no guard: cuMemAllocAsync came with CUDA 11.2; the guard of line 4 is "
        "inverted: it leads here without the entry",
        "alloc.c:5: no guard: cuLaunchKernelEx came with CUDA 11.6; the guard of line 5 is of CUDA "
        "11.2: put the call into if (CUSHIM_HAS(..., cuLaunchKernelEx))"]
    alone = run("scan", "--drivers", "9.0", tmp_path / "alloc.c")
    assert alone.code == OK and alone.out.count(": unknown: ") == 5


HELPERS = {
    "cushim_capture_begin": "cu, stream, CU_STREAM_CAPTURE_MODE_GLOBAL",
    "cushim_graph_instantiate": "cu, graph, 0, &exec",
    "cushim_library_load": "cu, ptx, sizeof ptx, NULL, NULL, &library",
    "cushim_library_kernel": 'cu, library, "k", &kernel'}
TRIES = """#include <cushim/cushim.h>
#include <cushim/module.h>
#include <cushim/stream.h>
#include <stdio.h>
static const char ptx[] =
    ".version 6.0\\n.target sm_50\\n.address_size 64\\n.entry k() { ret; }\\n";
int main(void)
{
    const struct cushim_api *cu = cushim_open(NULL);
    CUcontext context;
    CUstream stream;
    CUgraph graph = NULL;
    CUgraphExec exec;
    CUlibrary library = (CUlibrary)16;
    CUkernel kernel;
    if (cu->cuInit(0) || cu->cuCtxCreate_v2(&context, 0, 0) || cu->cuStreamCreate(&stream, 0))
        return 1;
    TRIES
    return 0;
}
"""

if "CUSHIM_STATIC" in os.environ and SIM_DRIVERS:  # not in a build with sanitizers

    def test_helpers_fail_where_a_guard_says_so(tmp_path):
        """Their success tells of an entry if, and only if, they fail with each older driver."""
        tries = [f'if (!{name}({HELPERS[name]})) puts("{name}");' for name in HELPERS]
        tries[0] += "cu->cuStreamEndCapture(stream, &graph);"
        program = compiled(tmp_path, TRIES.replace("    TRIES", "\n".join(tries)))
        releases = ("10.0", "11.2", "11.8", "12.0", "12.4")
        works = {release: run("sim", "-q", "--cuda", release, "--", program).out.splitlines()
                 for release in releases}
        assert works["12.4"] == list(HELPERS) and works["10.0"] == list(HELPERS)[:2]
        entries = {"10.0": "cuGraphCreate", "11.2": "cuMemAllocAsync", "12.0": "cuLibraryUnload",
                   "12.4": "cuGreenCtxDestroy"}
        for name in HELPERS:
            for release, entry in entries.items():
                (tmp_path / "b").mkdir(exist_ok=True)
                (tmp_path / "b/b.c").write_text(
                    f"void f(void) {{ if (!{name}(cu, x)) cu->{entry}(x); }}\n")
                older = releases[:releases.index(release)]
                fails = not any(name in works[one] for one in older)
                mark = "g" if fails else "f"
                assert judged(tmp_path / "b") == {("b.c", 1): mark}, (name, entry)

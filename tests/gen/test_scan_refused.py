# SPDX-License-Identifier: MIT
"""gen/scan.py refuses headers that contradict themselves with file and line, and writes nothing."""

from typing import NamedTuple

import pytest

from handmade import NEEDS_CLANG, edit, line_of, registry_text, scan, scanned, toolkits

pytestmark = NEEDS_CLANG

OLD, NEW = "12.0/linux/", "12.1/linux/"


class Refused(NamedTuple):
    """Changes to a case's headers, and where and in what words they are refused."""

    case: str
    changes: dict  # file -> pairs of old and new text
    file: str
    text: str  # of the line that the message names
    words: str


def added(text):
    """A change that puts TEXT before the declaration that every cuda.h here has."""
    return ("\nCUresult CUDAAPI cuInit(", f"\n{text}\nCUresult CUDAAPI cuInit(")


def typedef(text):
    """A change that puts TEXT into a typedef header."""
    return ("\ntypedef CUresult(CUDAAPI *PFN_cuInit_v2000)",
            f"\n{text}\ntypedef CUresult(CUDAAPI *PFN_cuInit_v2000)")


CUDA, TYPEDEFS = OLD + "cuda.h", OLD + "cudaTypedefs.h"
NEW_CUDA, NEW_TYPEDEFS = NEW + "cuda.h", NEW + "cudaTypedefs.h"
REFUSED = {
    "a syntax error": Refused(
        "entries", {CUDA: [("typedef struct CUplan_st *CUplan;", "typedef struct CUplan_st *;;)")]},
        CUDA, "typedef struct CUplan_st *;;)", "expected"),
    "a missing header": Refused(
        "entries", {CUDA: [("<stdlib.h>", "<nowhere.h>")]},
        CUDA, "<nowhere.h>", "'nowhere.h' file not found"),
    "a typedef without a prototype": Refused(
        "entries", {TYPEDEFS: [typedef("typedef CUresult(CUDAAPI *PFN_cuLost_v9000)(void);")]},
        TYPEDEFS, "PFN_cuLost_v9000", "PFN_cuLost_v9000 has no prototype"),
    "an ABI's typedef without a prototype": Refused(
        "entries", {CUDA: [("CUresult CUDAAPI cuPlan(CUplan *phPlan);\n", "")]},
        TYPEDEFS, "PFN_cuPlan_v10000", "PFN_cuPlan_v10000 has no prototype"),
    "a per-thread typedef without a prototype": Refused(
        "entries", {CUDA: [("CUresult CUDAAPI cuWait_ptsz(CUstream hStream);\n", "")]},
        TYPEDEFS, "PFN_cuWait_v7000_ptsz", "PFN_cuWait_v7000_ptsz has no prototype"),
    "a prototype without its typedef": Refused(
        "entries", {CUDA: [added("CUresult CUDAAPI cuAlloc_v4(int node);")]},
        CUDA, "cuAlloc_v4", "cuAlloc_v4 has no typedef, though other ABIs of cuAlloc have"),
    "a per-thread prototype without its typedef": Refused(
        "entries", {CUDA: [added("CUresult CUDAAPI cuInit_ptsz(unsigned int Flags);")]},
        CUDA, "cuInit_ptsz", "cuInit_ptsz has no typedef, though other ABIs of cuInit have"),
    "a prototype without any typedef": Refused(
        "entries", {CUDA: [added("CUresult CUDAAPI cuLost(void);")]},
        CUDA, "cuLost", "cuLost has no typedef"),
    "a typedef without a version": Refused(
        "entries", {TYPEDEFS: [typedef("typedef CUresult(CUDAAPI *PFN_cuLost)(void);")]},
        TYPEDEFS, "PFN_cuLost", "PFN_cuLost does not say which release introduced it"),
    "a typedef of another type": Refused(
        "entries", {TYPEDEFS: [("PFN_cuSetup_v9000)(CUplan hPlan, int",
                                "PFN_cuSetup_v9000)(CUplan hPlan, long")]},
        TYPEDEFS, "PFN_cuSetup_v9000", "PFN_cuSetup_v9000 is not of the type of cuSetup at "),
    "a typedef that returns something else": Refused(
        "entries", {CUDA: [added("int CUDAAPI cuCount(void);")],
                    TYPEDEFS: [typedef("typedef int(CUDAAPI *PFN_cuCount_v9000)(void);")]},
        TYPEDEFS, "PFN_cuCount_v9000", "PFN_cuCount_v9000 returns int, not CUresult"),
    "a version that goes backwards in a header": Refused(
        "entries", {TYPEDEFS: [("PFN_cuPlan_v10000", "PFN_cuPlan_v12000")]},
        TYPEDEFS, "PFN_cuPlan_v11000", "a version that goes backwards"),
    "a version that goes backwards between releases": Refused(
        "entries", {NEW_TYPEDEFS: [("PFN_cuWait_v2000", "PFN_cuWait_v1000")]},
        NEW_TYPEDEFS, "PFN_cuWait_v1000", "cuWait goes backwards: from 2000 to 1000"),
    "a version that changes between releases": Refused(
        "entries", {NEW_TYPEDEFS: [("PFN_cuWait_v2000", "PFN_cuWait_v12010")]},
        NEW_TYPEDEFS, "PFN_cuWait_v12010", "cuWait: since was 2000, is 12010"),
    "a new ABI that is older than the old one": Refused(
        "entries", {NEW_CUDA: [("CUresult CUDAAPI cuSetup(CUplan hPlan, int mode);\n", "")],
                    NEW_TYPEDEFS: [("PFN_cuSetup_v9000)(CUplan hPlan, int mode);",
                                    "PFN_cuSetup_v8000)(CUplan hPlan, int mode, size_t bytes);"),
                                   ("typedef CUresult(CUDAAPI *PFN_cuSetup_v12010)(CUplan hPlan, "
                                    "int mode, size_t bytes);\n", "")]},
        NEW_TYPEDEFS, "PFN_cuSetup_v8000",
        "cuSetup_v2 (8000) goes backwards against cuSetup (9000)"),
    "a typedef newer than its header": Refused(
        "entries", {NEW_TYPEDEFS: [("PFN_cuZero_v12010", "PFN_cuZero_v12020")]},
        NEW_TYPEDEFS, "PFN_cuZero_v12020", "PFN_cuZero_v12020 is newer than the header, which is "
        "of 12.1"),
    "a symbol declared twice": Refused(
        "entries", {CUDA: [("CUresult CUDAAPI cuWait_ptsz(CUstream hStream);\n",
                            "CUresult CUDAAPI cuWait_ptsz(CUstream hStream);\n" * 2)]},
        CUDA, None, "cuWait_ptsz is declared twice, first at "),
    "a typedef declared twice": Refused(
        "entries", {TYPEDEFS: [typedef("typedef CUresult(CUDAAPI *PFN_cuInit_v2000)"
                                       "(unsigned int Flags);")]},
        TYPEDEFS, None, "PFN_cuInit_v2000 is declared twice, first at "),
    "a version that contradicts the folder": Refused(
        "entries", {NEW_CUDA: [("CUDA_VERSION 12010", "CUDA_VERSION 12040")]},
        NEW_CUDA, "CUDA_VERSION 12040", "CUDA_VERSION is 12040 in the folder of 12010"),
    "a version that is no number": Refused(
        "entries", {CUDA: [("CUDA_VERSION 12000", "CUDA_VERSION NEWEST")]},
        CUDA, "CUDA_VERSION NEWEST", "CUDA_VERSION is not a number"),
    "no version": Refused(
        "entries", {CUDA: [("#define CUDA_VERSION 12000", "")]}, CUDA, None, "no CUDA_VERSION"),
    "parameters that changed between releases": Refused(
        "entries", {NEW_CUDA: [("cuWait(CUstream hStream);", "cuWait(CUstream hStream, int n);")],
                    NEW_TYPEDEFS: [("PFN_cuWait_v2000)(CUstream hStream);",
                                    "PFN_cuWait_v2000)(CUstream hStream, int n);")]},
        NEW_TYPEDEFS, "PFN_cuWait_v2000", "cuWait changed its parameters"),
    "parameters that differ between platforms": Refused(
        "platforms", {"12.1/windows/cuda.h": [("cuTegra(int fd)", "cuTegra(void *fd)")],
                      "12.1/windows/cudaTypedefs.h": [("PFN_cuTegra_v12000)(int fd)",
                                                       "PFN_cuTegra_v12000)(void *fd)")]},
        "12.1/windows/cudaTypedefs.h", "PFN_cuTegra_v12000", "cuTegra changed its parameters"),
    "a type that differs between platforms": Refused(
        "platforms", {"12.0/windows/cuda.h": [("unsigned int CUdevice", "unsigned long CUdevice")]},
        "12.0/windows/cuda.h", "CUdevice;", "CUdevice differs between the platforms"),
    "a type that moves to another header": Refused(
        "platforms", {f"12.1/{platform}/cuda.h":
                      [added("typedef enum CUGLmap_flags_enum { CU_GL_MAP_NONE } CUGLmap_flags;")]
                      for platform in ("linux", "windows")} |
        {NEW + "cudaGL.h": [("typedef enum CUGLmap_flags_enum {\n    CU_GL_MAP_NONE = 0,\n"
                             "    CU_GL_MAP_READ_ONLY = 1\n} CUGLmap_flags;\n", "")]},
        NEW_CUDA, "CUGLmap_flags;", "CUGLmap_flags: header was cudaGL.h, is cuda.h"),
    "a name that means no entry": Refused(
        "entries", {CUDA: [added("#define cuLost cuLost_v9")]},
        CUDA, "#define cuLost", "cuLost means cuLost_v9, which is no entry"),
    "a name of two meanings": Refused(
        "platforms", {"12.1/windows/cudaGL.h": [
            ("#define cuGLMap cuGLMap_v2\n", ""),
            ("cuGLMap(CUdeviceptr *dptr, size_t", "cuGLMap_v2(CUdeviceptr *dptr, size_t")]},
        "12.1/windows/cudaGL.h", "cuGLMap(CUdeviceptr *dptr, unsigned int",
        "cuGLMap means cuGLMap, on the other platform cuGLMap_v2"),
    "a per-thread name without its twin": Refused(
        "entries", {CUDA: [("#define cuWait __CUDA_API_PTSZ(cuWait)\n", "")]},
        CUDA, "cuWait(CUstream hStream);",
        "under the per-thread default stream cuWait means cuWait instead of cuWait_ptsz"),
    "a plain name of two meanings": Refused(
        "plain", {"12.1/windows/cudaTypedefs.h": [
            ("#define PFN_cuPlan PFN_cuPlan_v12010", "#define PFN_cuPlan PFN_cuPlan_v10000")]},
        "12.1/windows/cudaTypedefs.h", "#define PFN_cuPlan",
        "PFN_cuPlan is PFN_cuPlan_v10000, on the other platform PFN_cuPlan_v12010"),
    "a plain name that is no per-thread form of its own": Refused(
        "plain", {TYPEDEFS: [("#define PFN_cuCopy __API_TYPEDEF_PTSZ(PFN_cuCopy, 3020, 7000)",
                              "#define PFN_cuCopy PFN_cuCopy_v3020")]},
        TYPEDEFS, "#define PFN_cuCopy", "under the per-thread default stream PFN_cuCopy is "
        "PFN_cuCopy_v3020 instead of PFN_cuCopy_v7000_ptsz"),
    "a bit field": Refused(
        "types", {CUDA: [("    int only;", "    int only : 3;")]},
        CUDA, "int only : 3", "bit fields are not supported"),
    "a nested record that is no member": Refused(
        "types", {CUDA: [("    int only;", "    struct CUinner_st { int x; } *only;")]},
        CUDA, "CUinner_st", "CUinner_st is declared in a record without being its member"),
    "an enum without a name": Refused(
        "types", {CUDA: [("    int only;", "    enum { CU_A, CU_B } only;")]},
        CUDA, "CU_A, CU_B", "a type without a name"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path):
    """Each contradiction stops the scan with file, line and a sentence."""
    refused = REFUSED[name]
    headers = toolkits(refused.case, tmp_path / "headers")
    for file, changes in refused.changes.items():
        edit(headers / file, *changes)
    done = scan(headers, tmp_path / "registry")
    file = headers / refused.file
    place = f"{file}:{line_of(file, refused.text)}: " if refused.text else f"{file}:"
    assert done.stderr.startswith(place) and refused.words in done.stderr
    assert done.stderr.removeprefix(f"{file}:").partition(":")[0].isdigit()
    assert len(done.stderr.splitlines()) == 1
    assert (done.returncode, done.stdout) == (1, "")
    assert registry_text(tmp_path / "registry") == {}


def test_plain_name_contradicts(tmp_path):
    """A release that was scanned before and now has another meaning for a plain name."""
    headers, registry = toolkits("plain", tmp_path / "headers"), tmp_path / "registry"
    before = scanned(headers, registry)
    file = headers / NEW_TYPEDEFS
    edit(file, ("#define PFN_cuPlan PFN_cuPlan_v12010", "#define PFN_cuPlan PFN_cuPlan_v10000"))
    (headers / "12.1/windows/cudaTypedefs.h").unlink()
    (headers / "12.1/windows/cudaTypedefs.h").symlink_to(file)
    done = scan(headers, registry)
    assert done.stderr == f"{file}:{line_of(file, '#define PFN_cuPlan')}: PFN_cuPlan is of " \
        "cuPlan, and was of cuPlan_v2\n"
    assert registry_text(registry) == before


def remove(*files):
    """An action on a headers folder."""
    def action(headers):
        for file in files:
            (headers / file).unlink()
    return action


def remove_folder(folder):
    """An action that leaves an empty folder."""
    def action(headers):
        for file in sorted((headers / folder).rglob("*"), reverse=True):
            if file.is_dir():
                file.rmdir()
            else:
                file.unlink()
    return action


@pytest.mark.parametrize("action, file, words", [
    (remove_folder("."), "", "no release folders such as 12.4/linux"),
    (remove_folder("12.1"), "12.1/linux/cuda.h", "no such file"),
    (remove_folder("12.1/linux"), "12.1/linux/cuda.h", "no such file"),
    (remove_folder("12.1/windows"), "12.1/windows/cuda.h", "no such file"),
    (remove("12.1/windows/cuda.h"), "12.1/windows/cuda.h", "no such file"),
    (remove("12.1/linux/cudaTypedefs.h", "12.1/windows/cudaTypedefs.h"), "12.1/linux/cuda.h",
     "no cudaTypedefs.h beside it"),
    (remove("12.1/linux/cudaVDPAUTypedefs.h"), "12.1/linux/cudaVDPAU.h",
     "no cudaVDPAUTypedefs.h beside it"),
])
def test_missing(action, file, words, tmp_path):
    """What is not there is named, with line 1."""
    headers = toolkits("platforms", tmp_path / "headers")
    action(headers)
    done = scan(headers, tmp_path / "registry")
    assert (done.returncode, done.stderr) == (1, f"{headers / file}:1: {words}\n")
    assert registry_text(tmp_path / "registry") == {}


def test_no_headers(tmp_path):
    """A folder that does not exist is like an empty one."""
    done = scan(tmp_path / "nowhere", tmp_path / "registry")
    assert done.stderr == f"{tmp_path / 'nowhere'}:1: no release folders such as 12.4/linux\n"
    assert done.returncode == 1


def test_release_too_late(tmp_path):
    """A release older than what the registry has come to cannot be put in between."""
    registry = tmp_path / "registry"
    before = scanned(toolkits("entries", tmp_path / "new", ["12.1"]), registry)
    headers = toolkits("entries", tmp_path / "both")
    done = scan(headers, registry)
    line = line_of(headers / CUDA, "CUDA_VERSION")
    assert done.stderr == (f"{headers / CUDA}:{line}: 12.0 goes backwards: the registry has come "
                           "to 12.1 without it\n")
    assert (done.returncode, registry_text(registry)) == (1, before)


@pytest.mark.parametrize("name", ["entries", "types", "levels"])
def test_bad_registry(name, tmp_path):
    """A bad line of the registry stops the scan, and the file stays as it is."""
    registry = tmp_path / "registry"
    headers = toolkits("entries", tmp_path / "headers")
    scanned(headers, registry)
    file = registry / f"{name}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join([*lines[:2], '{"name": \n', *lines[2:]]), encoding="utf-8")
    before = registry_text(registry)
    done = scan(headers, registry)
    assert done.stderr.startswith(f"{file}:3: Expecting value")
    assert (done.returncode, registry_text(registry)) == (1, before)

# SPDX-License-Identifier: MIT
"""gen/vendor.py: two small files with the functions that a project uses."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from adopt import NO_DRIVER, ROOT, assert_keeps_to_itself, facts, run, with_driver

VENDOR = ROOT / "gen/vendor.py"
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Wvla", "-Werror",
            "-Wstrict-prototypes", "-Wmissing-prototypes"]
# What gdrcopy's tests call, as its maintainers might list it.
DOZEN = ["cuInit", "cuDeviceGet", "cuDeviceGetCount", "cuCtxCreate", "cuCtxDestroy", "cuMemAlloc",
         "cuMemFree", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuPointerSetAttribute",
         "cuPointerGetAttribute", "cuCtxSetCurrent"]
MOST_SOURCE = 100_000
MOST_PROGRAM = 20_000
APP = """#include <stdio.h>
#include "cushim.h"
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    int count = 0;
    printf("status %d\\n", (int)cushim_status(cu));
    printf("driver %d\\n", cushim_driver_version(cu));
    printf("init %d\\n", (int)cushim_init(cu));
    printf("message %s\\n", cushim_message(cu));
    printf("has %d\\n", CUSHIM_HAS(cu, cuMemAlloc) ? 1 : 0);
    printf("count %d\\n", (int)cu->cuDeviceGetCount(&count));
    printf("error %s\\n", cushim_last_error());
    return 0;
}
"""
EMPTY = "#include <stdio.h>\nint main(void)\n{\n    puts(\"no CUDA\");\n    return 0;\n}\n"
# Every slot holds the driver's function of exactly that name, or a stub.
SLOTS = """#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "cushim.h"
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    void *driver = dlopen(cushim_path(cu), RTLD_NOW | RTLD_NOLOAD);
    int wrong = 0, available = 0;
    for (size_t i = 0; driver && i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        size_t at = 2 * sizeof(void *) + i * sizeof(void *);
        void *held, *exported;
        cushim_entry_at(i, &entry);
        exported = dlsym(driver, entry.symbol);
        memcpy(&held, (const char *)cu + at, sizeof held);
        available += exported != NULL;
        wrong += exported ? held != exported || !cushim_has_member_(cu, at)
                          : !held || cushim_has_member_(cu, at);
    }
    printf("slots %d of %d, %d wrong\\n", available, CUSHIM_ENTRY_COUNT, wrong);
    return !driver || wrong;
}
"""
# The same of the small files and of the library: where each slot leads.
LEADS = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <cushim/cushim.h>
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    printf("status %d %d\\n", (int)cushim_status(cu), cushim_driver_version(cu));
    for (size_t i = 0; i < cushim_entry_count(); i++) {
        struct cushim_entry entry;
        size_t at = 2 * sizeof(void *) + i * sizeof(void *);
        const char *held;
        Dl_info where = {0};
        cushim_entry_at(i, &entry);
        memcpy(&held, (const char *)cu + at, sizeof held);
        if (!cushim_has_member_(cu, at))
            printf("%s stub %d\\n", entry.symbol, ((CUresult(*)(void *, void *))held)(NULL, NULL));
        else if (dladdr(held, &where))
            printf("%s %s %td\\n", entry.symbol, strrchr(where.dli_fname, '/'),
                   held - (const char *)where.dli_fbase);
        else
            printf("%s nowhere\\n", entry.symbol);
    }
    return 0;
}
"""


def vendor(folder, *words, code=0):
    """Run the tool."""
    return run(sys.executable, VENDOR, folder, *words, code=code)


def compiled(folder, name, text, *options, sources=("cushim.c",), compiler="cc"):
    """A program of TEXT and the small files."""
    (folder / f"{name}.c").write_text(text, encoding="utf-8")
    run(compiler, *options, f"{name}.c", *sources, "-o", name, "-ldl", "-pthread", cwd=folder)
    return folder / name


def test_a_program_that_only_loads(tmp_path):
    """It calls no function of the driver itself."""
    text = """#include "cushim.h"
int main(void)
{
    return (int)cushim_init(cushim_load(0)) == (int)CUSHIM_OK;
}
"""
    (tmp_path / "loads.c").write_text(text, encoding="utf-8")
    shown = vendor(tmp_path, "--sources", str(tmp_path / "loads.c"))
    assert shown.startswith("1 function; ")
    assert ": 1 function of the CUDA driver" in (tmp_path / "cushim.h").read_text(encoding="utf-8")
    run(compiled(tmp_path, "loads", text, *WARNINGS), env={"CUSHIM_LIBCUDA": NO_DRIVER})


@pytest.fixture(name="dozen", scope="module")
def dozen_fixture(tmp_path_factory):
    """A dozen functions, in a folder with a space."""
    folder = tmp_path_factory.mktemp("a dozen")
    vendor(folder, *DOZEN)
    return folder


def test_source_is_small(dozen):
    """Licence and comments of the functions included."""
    texts = [(dozen / name).read_text(encoding="utf-8") for name in ("cushim.h", "cushim.c")]
    assert sum(map(len, texts)) < MOST_SOURCE
    for text in texts:
        assert text.count("SPDX-License-Identifier: MIT") == 1
        assert "Permission is hereby granted" in text and "cuCtxCreate cuCtxDestroy" in text
        assert re.findall(r'#\s*include\s+("[^"]+"|<cushim.*>)', text) == (
            ['"cushim.h"'] if text is texts[1] else [])


def test_program_is_small(dozen):
    """By `cc -O2` alone: file and memory."""
    programs = [compiled(dozen, "app", APP, "-O2", "-s"),
                compiled(dozen, "empty", EMPTY, "-O2", "-s", sources=())]
    with_it, without = ([path.stat().st_size, *map(int, run("size", path).splitlines()[1]
                                                   .split()[:2])] for path in programs)
    assert with_it[0] - without[0] < MOST_PROGRAM
    assert sum(with_it[1:]) - sum(without[1:]) < MOST_PROGRAM


@pytest.mark.parametrize("compiler", ["gcc", "clang", "x86_64-w64-mingw32-gcc"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_no_remark(dozen, compiler, level):
    """On both systems."""
    run(compiler, *WARNINGS, level, "-c", "cushim.c", "-o", "remark.o", cwd=dozen)


@pytest.mark.parametrize("options", [
    ["gcc", "-std=c99"], ["g++", "-x", "c++", "-std=c++11"],
    ["gcc", "-DCUSHIM_CUDA_VERSION=13000"], ["gcc", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"],
    ["gcc", "-DCUSHIM_FOREIGN_TYPES", "-include", "mine.h"]], ids=" ".join)
def test_header(dozen, options):
    """It is the library's header as far as it goes."""
    (dozen / "mine.h").write_text(
        "#include <stddef.h>\ntypedef enum { CUDA_SUCCESS } CUresult;\ntypedef int CUdevice;\n"
        "typedef unsigned long long CUdeviceptr;\ntypedef struct CUctx_st *CUcontext;\n"
        "typedef struct CUstream_st *CUstream;\n", encoding="utf-8")
    (dozen / "user.c").write_text(
        "#include \"cushim.h\"\nint use(const struct cushim_api *cu, CUdeviceptr *memory);\n"
        "int use(const struct cushim_api *cu, CUdeviceptr *memory)\n"
        "{ return cu->cuMemAlloc(memory, 1) + CUSHIM_HAS(cu, cuCtxCreate); }\n", encoding="utf-8")
    run(*options, "-Wall", "-Wextra", "-Werror", "-c", "user.c", "-o", "user.o", cwd=dozen)


@pytest.mark.parametrize("macro", ["CUSHIM_CALLS_ONLY", "CUSHIM_DROPIN"])
def test_what_it_has_not(dozen, macro):
    """The compiler says where it is."""
    (dozen / "more.c").write_text("#include \"cushim.h\"\n", encoding="utf-8")
    assert f"{macro} is for the whole library" in run(
        "cc", f"-D{macro}", "-c", "more.c", "-o", "more.o", cwd=dozen, code=1)


def test_functions_that_it_lacks_are_not_declared(dozen):
    """So a call of one does not compile, instead of not linking."""
    text = (dozen / "cushim.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"^CUSHIM_PUBLIC [^;]*?\b(cushim_\w+)\(", text, re.M))
    run("cc", "-c", "cushim.c", "-o", "names.o", cwd=dozen)
    defined = set(re.findall(r" T (\w+)", run("nm", dozen / "names.o")))
    assert declared and declared <= defined
    assert "cushim_open(" not in text and "cushim_proc(" not in text


def test_without_a_driver(dozen):
    """Every slot can be called, and the sentence says what was not found."""
    program = compiled(dozen, "app", APP, *WARNINGS, "-O2")
    assert_keeps_to_itself(program)
    shown = facts(run(program, env={"CUSHIM_LIBCUDA": NO_DRIVER}))
    assert (shown["status"], shown["driver"], shown["init"], shown["has"]) == ("3", "0", "3", "0")
    assert shown["count"] == "3" and shown["message"].startswith(f"CUSHIM_LIBCUDA={NO_DRIVER}: ")
    assert shown["message"].count(NO_DRIVER) == 1  # which the system's words have
    assert shown["error"] == f"cuDeviceGetCount is not available: {shown['message']}"
    assert facts(run(program, env={"CUSHIM_LIBCUDA": ""}))["message"] == \
        "CUSHIM_LIBCUDA: empty, which hides the driver"


@pytest.mark.parametrize("fake, status, says", [
    ("libm.so.6", 14, "it has no cuDriverGetVersion"),
    ("fake_stub.so", 15, "the toolkit's stub")])
def test_what_is_no_driver(build, dozen, fake, status, says):
    """Refused as by the library, and its table is of stubs."""
    path = build.path / "tests/fakes" / fake if "fake" in fake else fake
    shown = facts(run(compiled(dozen, "app", APP), env={"CUSHIM_LIBCUDA": str(path)}))
    assert shown["status"] == str(status) and says in shown["message"]
    assert shown["count"] == "3" and shown["has"] == "0"


def test_every_slot(dozen, drivers):
    """No other ABI, on any driver."""
    program = compiled(dozen, "slots", SLOTS, *WARNINGS, "-O2")
    for driver in drivers:
        shown = run(program, env=with_driver({}, driver))
        assert re.fullmatch(r"slots [1-9]\d of \d\d, 0 wrong\n", shown), driver.version


def test_as_the_library(build, dozen, tmp_path):
    """On every fake driver, among them those that lie and those that hook: one status, and each
    slot leads to the same function or to a stub with the same code."""
    (dozen / "cushim").mkdir(exist_ok=True)
    (dozen / "cushim/cushim.h").write_text('#include "../cushim.h"\n', encoding="utf-8")
    small = compiled(dozen, "leads", LEADS, "-I.")
    run("cc", "-I", ROOT / "include", "-I", build.path / "gen", dozen / "leads.c",
        build.path / "src/libcushim.a", "-o", tmp_path / "leads", "-ldl", "-pthread")
    fakes = sorted((build.path / "tests/fakes").glob("fake_*.so"))
    for fake in fakes:
        shown = [run(program, env={"CUSHIM_LIBCUDA": str(fake)}).splitlines()
                 for program in (small, tmp_path / "leads")]
        assert len(shown[0]) > 20 and [line for line in shown[0] if line not in shown[1]] == [], \
            fake.name
    assert len(fakes) > 10


def test_init_of_a_driver(dozen, driver):
    """Without a GPU a driver says so, and the sentence names its file."""
    shown = facts(run(compiled(dozen, "app", APP), env=with_driver({}, driver)))
    assert (shown["status"], shown["driver"]) == ("0", str(driver.cuda))
    assert shown["has"] == "1" and (shown["init"] == "0" or "cuInit returned" in shown["message"])


def test_options(build, dozen):
    """A path, a second try that finds what was not there, and an option that it has not."""
    shutil.copy(build.path / "tests/fakes/fake_v12.so", dozen / "later.so")
    text = """#include <stdio.h>
#include "cushim.h"
static void show(const struct cushim_api *cu)
{
    printf("%d %d\\n", (int)cushim_status(cu), cushim_driver_version(cu) > 0);
}
int main(void)
{
    struct cushim_options options = {.size = sizeof options, .allow_compat = true};
    show(cushim_load(&options));
    puts(cushim_last_error());
    puts(cushim_message(cushim_load(&options)));
    options.size = 1;
    puts(cushim_message(cushim_load(&options)));
    options = (struct cushim_options){.size = sizeof options, .path = "./none.so", .retry = true};
    const struct cushim_api *first = cushim_load(&options);
    show(first);
    printf("%d\\n", cushim_load(&options) == first);
    options.path = "./later.so";
    show(cushim_load(&options));
    printf("%d\\n", cushim_load(NULL) == cushim_load(&options));
    show(first);
    return 0;
}
"""
    program = compiled(dozen, "options", text, *WARNINGS, "-fsanitize=address,undefined")
    shown = run(program, cwd=dozen, env={"ASAN_OPTIONS": "detect_leaks=0"})
    refused = "the options of cushim_load were refused: "
    unknown = refused + "allow_compat is not in this subset"
    assert shown.splitlines() == [
        "1 0", unknown, unknown, refused + "size is too small; set it to sizeof of the structure",
        "3 0", "1", "0 1", "1", "3 0"]


def test_names_in_sources(tmp_path):
    """Calls, strings, types and constants are found; comments are not read."""
    source = tmp_path / "théir source.cc"
    source.write_text("/* cuMemAllocManaged */ // cuMemHostAlloc\n"
                      "auto f = dlsym(h, \"cuStreamCreate\"); CUmemorytype t; // CUarray_format\n"
                      "int n = CU_DEVICE_ATTRIBUTE_WARP_SIZE; cu->cuLaunchKernel(1);\n",
                      encoding="utf-8")
    assert vendor(tmp_path / "made/here", "--sources", source).startswith("2 functions")
    text = (tmp_path / "made/here/cushim.h").read_text(encoding="utf-8")
    for name in ("cuStreamCreate)", "cuLaunchKernel_ptsz)", "} CUmemorytype",
                 "CU_DEVICE_ATTRIBUTE_WARP_SIZE"):
        assert name in text, name
    for name in ("cuMemAllocManaged", "cuMemHostAlloc", "CUarray_format", "cuStreamQuery"):
        assert name not in text, name


def test_what_the_sources_take_and_is_not_there(tmp_path):
    """Headers and names that the files do not have are named, with file and line, and what has
    them; then nothing is written."""
    source = tmp_path / "app.c"
    source.write_text("#include <cushim/cushim.h>\n#include <cushim/memory.h>\n"
                      "/* cushim_memory_free\n */ #include <cushim/feature.h>\n"
                      "int x = CUSHIM_CHECK(cu->cuInit(0)) + cushim_load(0) + cushim_open(0);\n",
                      encoding="utf-8")
    for words, says in (([], [
            "2: cushim/memory.h is not written: give --helpers, and include cushim.h instead",
            "4: cushim/feature.h is not written: it is of the whole library",
            "5: CUSHIM_CHECK is not in the two files: give --helpers",
            "5: cushim_open is not in the two files: give --helpers"]), (["--helpers"], [
            "2: cushim/memory.h is not written: include cushim.h instead, which has it",
            "4: cushim/feature.h is not written: it is of the whole library"])):
        done = subprocess.run([sys.executable, VENDOR, tmp_path / "made", "--sources", source,
                               *words], capture_output=True, text=True)
        assert done.returncode == 1 and done.stderr.splitlines() == [
            *(f"gen/vendor.py: {source}:{line}" for line in says),
            "gen/vendor.py: nothing is written: the two files would lack what the sources use"]
        assert not (tmp_path / "made").exists()


def test_calls_that_are_no_functions_of_the_driver(tmp_path):
    """They are named, unless the sources define them. A header that is another's name stays."""
    source = tmp_path / "app.c"
    source.write_text("#include <cushim/memory.h>\n#define cuTry(x) (x)\n"
                      "static int\ncuMine(int a,\n       int b)\n{\n    return a + b;\n}\n"
                      "static int cuOther(void) { return 0; }\n"
                      "/* cuNot() */ int n = cuTry(cuInit(0)) + cuMine(1, 2) + cuOther();\n"
                      "const char *s = \"cuNot()\";\n"
                      "int m = cuMemAlocate(0) + cuFoo (1);\n", encoding="utf-8")
    done = subprocess.run([sys.executable, VENDOR, tmp_path, "--helpers", "--sources", source],
                          check=True, capture_output=True, text=True)
    assert done.stderr.splitlines() == [f"gen/vendor.py: {source}:{line}" for line in (
        "1: cushim/memory.h is not written: include cushim.h instead, which has it",
        "12: cushim knows no function cuMemAlocate; did you mean cuMemAlloc?",
        "12: cushim knows no function cuFoo")]
    assert (tmp_path / "cushim.h").exists()


def test_all_abis_and_error_names(tmp_path):
    """A plain name means what it means with the whole library, in any release."""
    vendor(tmp_path, "cuGraphInstantiate", "cushim_error_string")
    text = (tmp_path / "cushim.h").read_text(encoding="utf-8")
    assert "cuGraphInstantiate_v2" in text and "cuGraphInstantiateWithFlags" in text
    for release in (11000, 11040, 12000, 13000):
        run("cc", *WARNINGS, f"-DCUSHIM_CUDA_VERSION={release}", "-c", "-x", "c",
            tmp_path / "cushim.h", "-o", tmp_path / "header.o")
    shown = run(compiled(tmp_path, "name", "#include <stdio.h>\n#include \"cushim.h\"\n"
                         "int main(void)\n{\n    puts(cushim_error_string((CUresult)719));\n"
                         "    return 0;\n}\n"))
    assert "kernel" in shown


def test_companion(tmp_path):
    """A function of cudaGL.h brings its types."""
    vendor(tmp_path, "cuGraphicsGLRegisterBuffer")
    run("cc", *WARNINGS, "-c", "cushim.c", cwd=tmp_path)
    run("cc", *WARNINGS, "-DCUSHIM_COMPANIONS", "-c", "-x", "c", "cushim.h", "-o", "h.o",
        cwd=tmp_path)


def test_with_helpers(tmp_path, driver):
    """The whole loader and the helpers, with the functions that they use."""
    vendor(tmp_path, "--helpers", "cuMemHostAlloc")
    run("cc", *WARNINGS, "-O2", "-c", "cushim.c", cwd=tmp_path)
    program = compiled(tmp_path, "helped", """#include <stdio.h>
#include "cushim.h"
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_device_properties device = {.size = sizeof device};
    printf("%s; %d\\n", cushim_status_name(cushim_status(cu)),
           cushim_device_describe(cu, 0, &device) != CUDA_SUCCESS);
    return cu->cuMemHostAlloc == NULL;
}
""")
    assert run(program, env=with_driver({}, driver)).startswith("ok; ")
    assert run(program, env={"CUSHIM_LIBCUDA": NO_DRIVER}) == "not-found; 1\n"


@pytest.mark.parametrize("words, says", [
    (["cuMemAlocate"], "gen/vendor.py: cuMemAlocate: no function, type or constant of CUDA; "
                       "did you mean cuMemAlloc?"),
    ([], "gen/vendor.py: no function of the driver is named, and none is in the sources"),
    (["CUdevice"], "gen/vendor.py: no function of the driver is named"),
    (["cuInit", "--sources", "/nonexistent.c"],
     "gen/vendor.py: /nonexistent.c: No such file or directory"),
])
def test_refused(tmp_path, words, says):
    """With a sentence, and nothing is written."""
    shown = vendor(tmp_path / "made", *words, code=1)
    assert shown.startswith(says) and "Traceback" not in shown
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_full_disk(tmp_path):
    """The sentence names the file."""
    (tmp_path / "cushim.c").symlink_to("/dev/full")
    shown = vendor(tmp_path, "cuInit", code=1)
    assert shown == f"gen/vendor.py: {tmp_path / 'cushim.c'}: No space left on device\n"


def test_other_locale(tmp_path):
    """Neither the locale nor the current folder changes the files."""
    vendor(tmp_path / "one", *DOZEN)
    subprocess.run([sys.executable, VENDOR, "two", *reversed(DOZEN)], cwd=tmp_path, check=True,
                   capture_output=True, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"})
    for name in ("cushim.h", "cushim.c"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()

# SPDX-License-Identifier: MIT
"""Source written for cuda.h and -lcuda, linked with the drop-in instead."""

import json
import re
import sys

import pytest
from adopt import HERE, ROOT, assert_keeps_to_itself, exports, facts, need, needed, run, with_driver

# What the macros of each release's headers make of four names.
MEANINGS = {
    "11.8": "cuMemAlloc_v2 cuLaunchKernel{ptsz} cuMemcpyHtoD_v2{ptds} cuCtxCreate_v2",
    "12.4": "cuMemAlloc_v2 cuLaunchKernel{ptsz} cuMemcpyHtoD_v2{ptds} cuCtxCreate_v2",
    "13.0": "cuMemAlloc_v2 cuLaunchKernel{ptsz} cuMemcpyHtoD_v2{ptds} cuCtxCreate_v4",
}
PER_THREAD = "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"
RELEASES = pytest.mark.parametrize("toolkit", MEANINGS, indirect=True, ids=str)


def compile_legacy(installed, folder, toolkit, *options):
    """The old program with a toolkit's cuda.h, and beside it what compares the slots."""
    slots = folder / "slots.o"
    installed.compile(slots, HERE / "slots.c", options=["-c", "-DNO_MAIN"])
    return installed.compile(folder / "legacy", HERE / "legacy.c", slots,
                             options=["-I", toolkit, *options], libraries=[installed.dropin])


def level(release):
    """11.8 -> 11080."""
    major, minor = release.split(".")
    return str(int(major) * 1000 + int(minor) * 10)


def meaning(release, per_thread):
    """The symbols that the headers of a release give."""
    return MEANINGS[release].format(ptsz="_ptsz" if per_thread else "",
                                    ptds="_ptds" if per_thread else "")


@pytest.mark.parametrize("per_thread", [False, True], ids=["legacy", "per-thread"])
@RELEASES
def test_unchanged_source(installed, toolkit, per_thread, tmp_path):
    """With the real headers of three releases: compiles, links, starts without a driver."""
    program = compile_legacy(installed, tmp_path, toolkit, "-Wall", "-Werror",
                             *([PER_THREAD] if per_thread else []))
    assert_keeps_to_itself(program)
    assert facts(run(program, env=installed.env)) == {
        "headers": level(toolkit.parent.name),
        "symbols": meaning(toolkit.parent.name, per_thread),
        "version": "0 0", "error": "CUDA_ERROR_NOT_INITIALIZED", "before": "3 3 3 3",
        "init": "100", "after": "3"}


@pytest.mark.parametrize("per_thread", [False, True], ids=["legacy", "per-thread"])
def test_unchanged_source_without_a_toolkit(installed, per_thread, tmp_path):
    """cushim's own <cuda.h>, from the folder that is there for it."""
    for release in MEANINGS:
        options = ["-Wall", "-Werror", f"-DCUSHIM_CUDA_VERSION={level(release)}"]
        program = compile_legacy(installed, tmp_path, installed.cuda_headers, *options,
                                 *([PER_THREAD] if per_thread else []))
        shown = facts(run(program, env=installed.env))
        assert (shown["headers"], shown["symbols"]) == (level(release),
                                                        meaning(release, per_thread))
        assert shown["init"] == "100"


@pytest.mark.parametrize("toolkit", ["13.0"], indirect=True)
def test_unchanged_source_in_cxx(installed, toolkit, tmp_path):
    """C++ calls the same C functions."""
    need("g++")
    program = installed.compile(tmp_path / "legacy", compiler="g++",
                                options=["-I", toolkit, "-x", "c++", HERE / "legacy.c", "-x",
                                         "none"], libraries=[installed.dropin])
    assert facts(run(program, env=installed.env))["init"] == "100"


def test_typedefs_without_a_toolkit(installed, tmp_path):
    """<cudaTypedefs.h> from the same folder: plain names of the level, types of all releases."""
    source = tmp_path / "types.c"
    source.write_text(
        "#include <cudaTypedefs.h>\nint main(void)\n{ PFN_cuInit init = cuInit;\n"
        "PFN_cuMemAlloc_v3020 allocate = cuMemAlloc; PFN_cuCtxCreate_v12050 newer = 0;\n"
        "return !allocate || newer || init(0) != CUDA_ERROR_NO_DEVICE; }\n", encoding="utf-8")
    program = installed.compile(
        tmp_path / "types", source, libraries=[installed.dropin],
        options=["-I", installed.cuda_headers, "-Wall", "-Werror", "-DCUSHIM_CUDA_VERSION=12040"])
    run(program, env=installed.env)


def test_companions_without_a_toolkit(installed, tmp_path):
    """One function of each companion header, called before there is a driver."""
    source = tmp_path / "companions.c"
    source.write_text("""
        #include <cuda.h>
        #include <cudaEGL.h>
        #include <cudaGL.h>
        #include <cudaVDPAU.h>
        #include <stdio.h>
        int main(void)
        {
            CUgraphicsResource resource;
            CUeglFrame frame;
            printf("egl %d\\n", cuGraphicsResourceGetMappedEglFrame(&frame, 0, 0, 0));
            printf("gl %d\\n", cuGraphicsGLRegisterBuffer(&resource, 1, 0));
            printf("vdpau %d\\n", cuGraphicsVDPAURegisterOutputSurface(&resource, 1, 0));
        }
        """, encoding="utf-8")
    program = installed.compile(tmp_path / "companions", source, libraries=[installed.dropin],
                                options=["-I", installed.cuda_headers, "-Wall", "-Werror"])
    assert facts(run(program, env=installed.env)) == {"egl": "3", "gl": "3", "vdpau": "3"}


@pytest.mark.parametrize("per_thread", [False, True], ids=["legacy", "per-thread"])
@RELEASES
def test_right_abi_on_real_drivers(installed, toolkit, per_thread, drivers, tmp_path):
    """On every driver in the cache: the program runs, and each slot is the symbol of its name."""
    main = tmp_path / "main.c"
    main.write_text("int legacy_run(void); int slots_check(void);\n"
                    "int main(void) { return legacy_run() | slots_check(); }\n",
                    encoding="utf-8")
    program = compile_legacy(installed, tmp_path, toolkit, "-DPLUGIN", main,
                             *([PER_THREAD] if per_thread else []))
    for driver in drivers:
        shown = facts(run(program, env=with_driver(installed.env, driver)))
        assert shown["version"] == f"0 {driver.cuda}"
        assert re.fullmatch(r"[1-9]\d\d 0", shown["slots"]), (driver.version, shown["slots"])
        if driver.cuda >= 6000:
            assert shown["error"] == "CUDA_ERROR_NOT_INITIALIZED"


def test_nothing_visible_from_outside(installed, tmp_path):
    """Neither of an executable with -rdynamic nor of a plug-in, whose host has another libcuda."""
    program = installed.compile(tmp_path / "legacy", HERE / "legacy.c",
                                libraries=[installed.dropin],
                                options=["-I", installed.cuda_headers, "-rdynamic"])
    assert_keeps_to_itself(program)
    plugin = installed.compile(tmp_path / "plugin.so", HERE / "legacy.c",
                               libraries=[installed.dropin],
                               options=["-I", installed.cuda_headers, "-DPLUGIN", "-shared",
                                        "-fPIC"])
    assert_keeps_to_itself(plugin)
    assert "legacy_run" in exports(plugin)
    other = libcuda(tmp_path)
    script = ("import ctypes, sys\n"
              "ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)\n"
              "sys.exit(ctypes.CDLL(sys.argv[2]).legacy_run())\n")
    shown = facts(run(sys.executable, "-c", script, other, plugin, env=installed.env))
    assert (shown["version"], shown["init"]) == ("0 0", "100"), "it kept to its own functions"


GOES_THROUGH = """
#include <cushim/cushim.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

extern _Atomic(const struct cushim_api *) cushim_dropin_table;
{declarations}
static const struct {{ const char *symbol; int (*call)(void *, void *, void *); }} functions[] = {{
{rows}
}};
{answers}
static const struct {{ size_t size; void *instance; int (*slots[])(void); }} table = {{
    0, 0, {{{slots}}}}};

int main(void)
{{
    const struct cushim_api *first = cushim_dropin_table;
    size_t count = sizeof functions / sizeof *functions;
    for (size_t i = 0; i < count; i++) {{
        struct cushim_entry entry;
        cushim_entry_at(i, &entry);
        if (strcmp(entry.symbol, functions[i].symbol))
            printf("order %s\\n", entry.symbol);
        if (!functions[i].call)
            continue;
        cushim_dropin_table = (const struct cushim_api *)(const void *)&table;
        if (functions[i].call(NULL, NULL, NULL) != (int)i)
            printf("slot %s\\n", entry.symbol);
        cushim_dropin_table = first;
        cushim_last_error_clear();
        functions[i].call(NULL, NULL, NULL);
        size_t length = strlen(entry.symbol);
        const char *words = cushim_last_error();
        if (strncmp(words, entry.symbol, length) || words[length] != ' ')
            printf("first %s\\n", entry.symbol);
    }}
    printf("functions %zu\\n", count);
    return 0;
}}
"""


def test_each_function_goes_through_its_own_slot(installed, tmp_path):
    """All of them, later and on the first call, shown by a table whose slots say their number."""
    lines = (ROOT / "gen/registry/entries.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    declarations, rows, answers = [], [], []
    for number, entry in enumerate(entries):
        here = entry.get("platform", "linux") == "linux"
        if here:
            declarations.append(f"int call_{number}(void *, void *, void *) "
                                f"__asm__(\"{entry['symbol']}\");")
        rows.append(f"    {{\"{entry['symbol']}\", {f'call_{number}' if here else 'NULL'}}},")
        answers.append(f"static int answer_{number}(void) {{ return {number}; }}")
    source = tmp_path / "through.c"
    source.write_text(GOES_THROUGH.format(
        declarations="\n".join(declarations), rows="\n".join(rows), answers="\n".join(answers),
        slots=", ".join(f"answer_{number}" for number in range(len(entries)))), encoding="utf-8")
    program = installed.compile(tmp_path / "through", source, libraries=[installed.dropin],
                                options=["-w"])
    shown = run(program, env=installed.env).split("\n")
    # These three answer without a driver, and so leave no error.
    silent = {"first cuGetErrorName", "first cuGetErrorString", "first cuDriverGetVersion"}
    assert set(shown) - silent == {f"functions {len(entries)}", ""}


def libcuda(folder):
    """A small libcuda.so.1 that counts its calls; also as libcuda.so, to link with."""
    library = folder / "libcuda.so.1"
    run("cc", "-O2", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", HERE / "driver.c",
        "-o", library)
    if not (folder / "libcuda.so").exists():
        (folder / "libcuda.so").symlink_to("libcuda.so.1")
    return library


@pytest.mark.parametrize("order", ["drop-in first", "libcuda first"])
def test_beside_a_linked_libcuda(installed, order, tmp_path):
    """The program links both: one libcuda in the process, each call arrives once."""
    libcuda(tmp_path)
    libraries = [installed.dropin, f"-L{tmp_path}", "-Wl,--no-as-needed", "-lcuda"]
    if order == "libcuda first":
        libraries = libraries[1:] + libraries[:1]
    program = installed.compile(tmp_path / "beside", HERE / "beside.c", libraries=libraries,
                                options=["-w", "-I", installed.cuda_headers])
    env = {"LD_LIBRARY_PATH": str(tmp_path)}
    shown = facts(run(program, env=env))
    # cuInit from the program, cuDeviceGetCount, and cuInit from within that.
    assert shown == {"init": "0", "count": "3", "calls": "3"}
    assert "libcuda.so.1" in needed(program)


@pytest.mark.parametrize("found", [["-Wl,--as-needed", "-lcuda"], ["-Wl,-rpath-link,{}"]], ids=str)
def test_beside_a_library_that_links_libcuda(installed, found, tmp_path):
    """A third library calls libcuda itself, the program the drop-in: both reach one driver.

    GNU ld wants to see that libcuda (a toolkit's stub will do), and the program still needs none.
    """
    libcuda(tmp_path)
    (tmp_path / "lib").mkdir()
    other = tmp_path / "other.c"
    other.write_text("int cuDeviceGetCount(int *); int other_device_count(void)\n"
                     "{ int count = 0; cuDeviceGetCount(&count); return count; }\n",
                     encoding="utf-8")
    run("cc", "-shared", "-fPIC", other, "-o", tmp_path / "lib/libother.so", f"-L{tmp_path}",
        "-lcuda")
    program = installed.compile(
        tmp_path / "beside", HERE / "beside.c",
        options=["-w", "-DOTHER", "-I", installed.cuda_headers],
        libraries=[installed.dropin, f"-L{tmp_path}/lib", "-lother", f"-L{tmp_path}",
                   *(option.format(tmp_path) for option in found)])
    assert_keeps_to_itself(program)
    shown = facts(run(program, env={"LD_LIBRARY_PATH": f"{tmp_path}:{tmp_path}/lib"}))
    assert shown == {"init": "0", "count": "3", "calls": "3", "other": "3", "later": "5"}


def test_first_call_from_many_threads_loads(installed, tmp_path):
    """Sixteen calls, and one question of each load: every thread may load, and one is published."""
    library = libcuda(tmp_path)
    source = tmp_path / "count.c"
    source.write_text("#include <dlfcn.h>\n#include <stdio.h>\n"
                      "__attribute__((destructor)) static void count(void)\n"
                      "{ void *driver = dlopen(\"libcuda.so.1\", RTLD_NOW | RTLD_NOLOAD);\n"
                      "  int (*calls)(void); *(void **)&calls = dlsym(driver, "
                      "\"driver_version_calls\"); printf(\"asked %d\\n\", calls()); }\n",
                      encoding="utf-8")
    program = installed.compile(tmp_path / "threads", HERE / "threads.c", source,
                                libraries=[installed.dropin],
                                options=["-w", "-I", installed.cuda_headers])
    for _ in range(50):
        shown = facts(run(program, env={"CUSHIM_LIBCUDA": str(library)}))
        assert 17 <= int(shown.pop("asked")) <= 32
        assert shown == {"version": "10020", "alike": "1"}

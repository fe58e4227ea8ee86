# SPDX-License-Identifier: MIT
"""The simulated drivers are thin libraries before one engine, and behave as whole ones.

SIM_LIBRARIES is the folder with libcuda-sim-VERSION.so; SIM_PORTABLE is the newest of them, its
stubs in C; SIM_OTHER_LIBRARY is no engine. SIM_PROBE is the program proc_probe, SIM_PROGRAM
thin_program, and SIM_PROGRAM_SOURCE its source.
"""

import os
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

from test_surface import ENTRIES, LIBRARIES, OWN, PROBE, VERSIONS, expected, number, real_drivers

PROGRAM = os.environ["SIM_PROGRAM"]
SOURCE = os.environ["SIM_PROGRAM_SOURCE"]
ENGINE = "libcushim-sim-engine.so"
NEWEST, OTHER = VERSIONS[-1], "11.8"
SHARED_OBJECT_INIT_FAILED = 303
MOST = 12_000_000


def of(version):
    """The thin library of a version."""
    return LIBRARIES / f"libcuda-sim-{version}.so"


def environment(**variables):
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("CUSHIM_", "LD_"))}
    return {**clean, "LC_ALL": "C", **variables}


def run(*arguments, program=PROGRAM, code=0, cwd=None, **variables):
    """Lines of standard output, and standard error."""
    done = subprocess.run([str(word) for word in (program, *arguments)], text=True, cwd=cwd,
                          capture_output=True, check=False, env=environment(**variables),
                          timeout=120)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout.split("\n")[:-1], done.stderr


def pair(folder, version=NEWEST, name="libcuda.so.1"):
    """A thin library and its engine in another folder."""
    folder.mkdir(exist_ok=True)
    shutil.copy(of(version), folder / name)
    shutil.copy(LIBRARIES / ENGINE, folder)
    return folder / name


# --- Addresses ---

def ask_proc(path, entries):
    """The symbols at the addresses that cuGetProcAddress gives for each entry's own version."""
    questions = [f"{entry['name']} {max(entry['since'], 11030)} "
                 f"{1 if entry['stream'] == 'legacy' else 2}" for entry in entries]
    done = subprocess.run([PROBE, path, "v1"], input="\n".join(questions), text=True,
                          capture_output=True, check=True, env=environment())
    return [line.split()[-1] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("version", [name for name in VERSIONS if number(name) >= 11030])
def test_proc_address_answers_with_exported_functions(version):
    cuda = number(version)
    entries = [entry for entry in ENTRIES if entry["symbol"] in expected(cuda)]
    answers = ask_proc(of(version), entries)
    assert len(answers) == len(entries) > 400
    assert set(answers) <= expected(cuda), "each is an address of the library's own export"
    names = {entry["symbol"]: entry["name"] for entry in ENTRIES}
    assert [names[answer] for answer in answers] == [entry["name"] for entry in entries]
    assert len(set(answers)) > 400


# --- Where it is found ---

def test_found_by_path_in_every_mode():
    for mode in ("open", "lazy", "global"):
        assert run(mode, of(NEWEST), "version", 0) == ([str(number(NEWEST))], "")


def test_found_by_search(tmp_path):
    link = tmp_path / "libcuda.so.1"
    link.symlink_to(of(OTHER))
    asked = ("open", "libcuda.so.1", "version", 0)
    assert run(*asked, LD_LIBRARY_PATH=str(tmp_path))[0] == ["11080"]
    assert run("open", link, "version", 0)[0] == ["11080"]
    (tmp_path / "more").mkdir()
    (tmp_path / "more/libcuda.so.1").symlink_to("../libcuda.so.1")
    assert run(*asked, LD_LIBRARY_PATH=str(tmp_path / "more"))[0] == ["11080"]


def test_found_where_the_folder_is_left(tmp_path):
    pair(tmp_path / "drivers")
    assert run("open", "./libcuda.so.1", "chdir", "/", "version", 0, "work", 0,
               cwd=tmp_path / "drivers")[0] == [str(number(NEWEST)), "0"]


def test_found_by_linked_programs(tmp_path):
    path = pair(tmp_path / "moved")
    for name, options in {"rpath": ["-Wl,--disable-new-dtags,-rpath," + str(path.parent)],
                          "runpath": ["-Wl,--enable-new-dtags,-rpath," + str(path.parent)],
                          "environment": []}.items():
        program = tmp_path / name
        subprocess.run(["cc", "-D_GNU_SOURCE", "-o", program, SOURCE, "-Wl,--no-as-needed", path,
                        "-Wl,--as-needed", "-rdynamic", "-pthread", "-ldl", *options], check=True)
        search = {"LD_LIBRARY_PATH": str(path.parent)} if not options else {}
        assert run("linked", "version", 0, "work", 0, "threads", 0, "leaks", program=program,
                   **search)[0] == [str(number(NEWEST)), "0", str(number(NEWEST)), "1 0"]


def test_found_where_it_is_preloaded():
    """By a link, as a blank would end the name in LD_PRELOAD."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        link = Path(folder, "link")
        link.symlink_to(of(NEWEST).parent)
        library = link / of(NEWEST).name
        assert run("linked", "version", 0, "work", 0, LD_PRELOAD=str(library))[0] == \
            [str(number(NEWEST)), "0"]


def test_found_in_a_moved_installation(tmp_path):
    moved = tmp_path / "a b/ü"
    moved.parent.mkdir()
    folder = tmp_path / "usr"
    pair(folder, name="libcuda-sim-13.0.so")
    shutil.move(folder, moved)
    assert run("open", moved / "libcuda-sim-13.0.so", "work", 0)[0] == ["0"]


def test_portable_form(tmp_path):
    """As where the stubs have no assembler: the same functions, by the same addresses."""
    path = pair(tmp_path)
    shutil.copy(os.environ["SIM_PORTABLE"], path)
    assert run("open", path, "version", 0, "work", 0, "leaks")[0] == \
        [str(number(NEWEST)), "0", "0 0"]
    assert set(real_drivers.nm_exports(path)) == expected(number(NEWEST)) | OWN
    entries = [entry for entry in ENTRIES if entry["symbol"] in expected(number(NEWEST))]
    assert ask_proc(path, entries) == ask_proc(of(NEWEST), entries)


# --- Without an engine ---

def refused(path, words):
    """Every call returns a code, and one sentence says why."""
    out, err = run("open", path, "version", 0, "devices", 0, "work", 0, "error", 0, "forked", 0,
                   "threads", 0, "close", 0)
    assert out[:3] == [f"-{SHARED_OBJECT_INIT_FAILED}", f"{SHARED_OBJECT_INIT_FAILED} -1",
                       f"{SHARED_OBJECT_INIT_FAILED}"]
    assert out[3] == f"{SHARED_OBJECT_INIT_FAILED} the simulated driver has no engine"
    assert err.count("\n") == 1 and err.startswith("cushim: simulated driver: "), err
    assert words in err
    assert run("open", path, "close", 0)[1] == "", "who calls nothing reads nothing"


def test_no_engine(tmp_path):
    path = tmp_path / "libcuda.so.1"
    shutil.copy(of(NEWEST), path)
    refused(path, str(tmp_path / ENGINE))


def test_damaged_engine(tmp_path):
    path = pair(tmp_path)
    for content in (b"", b"no library" * 1000):
        (tmp_path / ENGINE).write_bytes(content)
        refused(path, str(tmp_path / ENGINE))


def test_engine_that_is_another_library(tmp_path):
    path = pair(tmp_path)
    shutil.copy(os.environ["SIM_OTHER_LIBRARY"], tmp_path / ENGINE)
    refused(path, f"its engine {tmp_path / ENGINE} is of another build")


def test_engine_of_another_registry(tmp_path):
    path = pair(tmp_path)
    header = (LIBRARIES / "sim_behaviours.h").read_text(encoding="utf-8")
    mark = struct.pack("=Q", int(re.search(r"SIM_ENTRIES_ID (0x[0-9a-f]+)U", header)[1], 16))
    content = path.read_bytes()
    assert content.count(mark) == 1
    path.write_bytes(content.replace(mark, b"\1" + mark[1:]))
    refused(path, f"its engine {tmp_path / ENGINE} is of another build")


def test_removed_engine_is_not_missed_later(tmp_path):
    """It was loaded with the library."""
    path = pair(tmp_path)
    assert run("open", path, "chdir", "/", "version", 0, "engines")[0] == \
        [str(number(NEWEST)), "1"]


# --- Several ---

def test_several_are_separate(tmp_path):
    """Own versions, devices and contexts; also where two are of one release."""
    copy = pair(tmp_path)
    asked = ["open", of(NEWEST), "open", of(OTHER), "open", of("13.0"), "open", copy, "engines"]
    for i in range(4):
        asked += ["version", i]
    asked += ["work", 0, "work", 1, "work", 2, "work", 3, "engines"]
    for i in (1, 0, 3, 2):
        asked += ["threads", i]
    out, err = run(*asked, CUSHIM_SIM_SUMMARY="1")
    versions = [str(number(version)) for version in (NEWEST, OTHER, "13.0", NEWEST)]
    assert out == ["4", *versions, "0", "0", "0", "0", "4",
                   *(versions[i] for i in (1, 0, 3, 2))]
    summaries = re.findall(r"CUDA (\S+), 1 device", err)
    assert sorted(summaries) == sorted([NEWEST, OTHER, "13.0", NEWEST]), err


def test_opened_and_closed_many_times():
    """The first's engine, and copies, whose names must not be taken for one another."""
    asked = ["open", of(NEWEST)]
    for i in range(1, 30):
        asked += ["open", of(VERSIONS[i % 5]), "version", i, "close", i]
    asked += ["engines", "close", 0, "engines"]
    out, err = run(*asked)
    wanted = []
    for i in range(1, 30):
        wanted += [str(number(VERSIONS[i % 5])), "0"]
    assert (out, err) == ([*wanted, "1", "0", "0"], "")


def test_copies_of_closed_descriptors(tmp_path):
    """A copy that stays has the name of a descriptor that the next one's copy has again."""
    asked = []
    for i, version in enumerate(VERSIONS[1:7]):
        asked += ["open", of(version), "work", i]
    asked += [word for i in range(6) for word in ("version", i)] + ["engines"]
    assert run(*asked)[0] == ["0"] * 6 + [str(number(version)) for version in VERSIONS[1:7]] + ["6"]


# --- The program's namespace, and its end ---

def test_nothing_leaks():
    assert run("open", of(NEWEST), "work", 0, "leaks")[0] == ["0", "0 0"]
    assert run("global", of(NEWEST), "work", 0, "leaks")[0] == ["0", "1 0"]


def test_closed_without_threads_all_goes():
    assert run("open", of(NEWEST), "version", 0, "engines", "close", 0, "engines")[0] == \
        [str(number(NEWEST)), "1", "0", "0"]


def test_closed_after_work_all_stays():
    """What a thread may still be in; opened again, it is the same driver."""
    asked = ("open", of(NEWEST), "work", 0, "close", 0, "engines", "open", of(NEWEST), "version", 1,
             "engines")
    assert run(*asked)[0] == ["0", "0", "1", str(number(NEWEST)), "1"]


def test_forked_child_calls():
    assert run("open", of("10.0"), "version", 0, "forked", 0)[0] == ["10000", "100"]


def test_summary_is_said_once():
    _, err = run("open", of(NEWEST), "work", 0, "close", 0, CUSHIM_SIM_SUMMARY="1")
    assert len(re.findall("calls succeeded", err)) == 1
    _, err = run("open", of(NEWEST), "version", 0, "close", 0, CUSHIM_SIM_SUMMARY="1")
    assert len(re.findall("1 call", err)) == 1, err


DESTRUCTOR = """
#include <stdio.h>
#include <stdlib.h>
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuMemAlloc_v2(void **, size_t), cuMemFree_v2(void *), cuStreamCreate(void **, unsigned);
int cuStreamSynchronize(void *), cuMemsetD8Async(void *, unsigned char, size_t, void *);
static void *memory, *stream;
__attribute__((constructor)) static void begin(void)
{
    void *context;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
        cuMemAlloc_v2(&memory, 4096) || cuStreamCreate(&stream, 0))
        abort();
}
__attribute__((destructor)) static void end(void)
{
    int rc = cuMemsetD8Async(memory, 1, 4096, stream);
    rc = rc ? rc : cuStreamSynchronize(stream);
    printf("at the end %d\\n", rc ? rc : cuMemFree_v2(memory));
    fflush(stdout);
}
"""


def test_destructors_of_its_users_come_first(tmp_path):
    """A library's that is linked to the driver, also where the driver was loaded long before."""
    path = pair(tmp_path)
    (tmp_path / "user.c").write_text(DESTRUCTOR, encoding="utf-8")
    user = tmp_path / "libuser.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", user, tmp_path / "user.c", path,
                    f"-Wl,-rpath,{tmp_path}"], check=True)
    assert run("open", path, "work", 0, "open", user)[0] == ["0", "at the end 0"]
    assert run("open", user)[0] == ["at the end 0"]
    assert run("open", path, "open", user, "close", 1, "close", 0)[0] == ["at the end 0", "0", "0"]


# --- Size ---

def test_size_and_one_engine(tmp_path):
    """All files as a packager installs them: without debug information."""
    for path in [*map(of, VERSIONS), LIBRARIES / ENGINE]:
        shutil.copy(path, tmp_path)
        subprocess.run(["strip", tmp_path / path.name], check=True)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sum(sizes.values()) <= MOST, sizes
    assert max(size for name, size in sizes.items() if name != ENGINE) < 120_000, \
        "a thin library has no engine in it"


def test_an_export_is_one_jump():
    """On x86-64 one instruction, on AArch64 three; and one where indirect jumps are to land."""
    listed = subprocess.run(["nm", "-DS", "--defined-only", of(NEWEST)], check=True,
                            capture_output=True, text=True).stdout
    most = {"x86_64": 10, "aarch64": 16}.get(os.uname().machine, 1000)
    sizes = [int(line.split()[1], 16) for line in listed.splitlines()
             if line.split()[-1] not in OWN]
    assert len(sizes) > 600 and 6 <= min(sizes) and max(sizes) <= most


@pytest.mark.parametrize("version", VERSIONS)
def test_no_relocation_for_each_symbol(version):
    """Loading costs the same with 300 exports and with 700."""
    listed = subprocess.run(["readelf", "-rW", of(version)], check=True, capture_output=True,
                            text=True).stdout
    assert not re.search(r"\bcu[A-Z]\w+", listed) and len(listed.splitlines()) < 60


def test_one_link():
    """Only the links of the engine and of the simulated NVML read the driver's objects."""
    build = LIBRARIES.parents[1]
    listed = subprocess.run(["ninja", "-C", build, "-t", "query", "src/sim/libcushim-sim-core.a"],
                            check=True, capture_output=True, text=True).stdout
    assert sorted(line.strip() for line in listed.partition("outputs:")[2].splitlines()
                  if line.strip().endswith(".so")) == \
        [f"src/sim/{ENGINE}", "src/sim/libnvidia-ml-sim.so"], listed

# SPDX-License-Identifier: MIT
"""`cushim scan`: programs made here, of which it is known what they need, and bad files."""

import json
import os
import struct
import subprocess
import tempfile
import zipfile

import pytest
from command import (CLI, FAILED, FAKE_GPU, INPUT, OK, SIM_DRIVERS, USAGE, environment, registry,
                     run)
from scanning import MINGW, NEEDS_MINGW, build, fatbin, memory_of, only, scan

ENTRIES = registry()
SINCE = {entry["symbol"]: entry["since"] for entry in ENTRIES}
LINKED = """
int cuInit(unsigned), cuMemAlloc_v2(void *, unsigned long), cuGraphAddNode(void), cuNewThing(void);
int main(void) { return cuInit(0) + cuMemAlloc_v2(0, 1) + cuGraphAddNode() + cuNewThing(); }
"""
NAMED = """
const char *const names[] = {"libcuda.so.1", "cuInit", "cuMemAlloc_v2", "cuMemAllocAsync",
                             "cuda is no entry", "cuInitialise", "xcuCtxCreate"};
int main(int count, char **words) { return names[count][0] + words[0][0]; }
"""
ASKED = NAMED.replace('"cuMemAlloc_v2"', '"cuGetProcAddress", "cuCtxCreate"')
MENTIONED = NAMED.replace('"libcuda.so.1", ', "")


def entries(file):
    """{symbol: (since, how)}"""
    return {row["symbol"]: (row["since"], row["how"]) for row in file["entries"]}


NOTHING = {"required": [], "called": [], "named": [], "optional": []}
WANTED = {"cuInit": (2000, "linked"), "cuMemAlloc_v2": (3020, "linked"),
          "cuGraphAddNode": (12020, "linked")}


@pytest.mark.parametrize("options, name", [
    (["-c"], "a.o"), (["-shared", "-fPIC"], "a.so"), (["-shared", "-fPIC", "-s"], "stripped.so"),
])
def test_linked(tmp_path, options, name):
    file = only(build(tmp_path, LINKED, *options, name=name))
    assert entries(file) == WANTED
    assert file["unknown"] == ["cuNewThing"]
    ways = ("called", "weak", "named", "asked", "runtime", "mentioned")
    assert file["oldest"] == {"linked": 12020} | dict.fromkeys(ways)
    assert file["format"] == "ELF, x86-64" and file["missing"] == [] and file["code"] == []


LAZY = ("int cuInit(void), cuMemAlloc_v2(void), cuGraphAddNode(void);"
        "int f(void) { return cuInit() + cuGraphAddNode(); }")


@pytest.mark.parametrize("more, options, how", [
    ("", ["-Wl,-z,lazy"], {"cuInit": "called", "cuGraphAddNode": "called"}),
    ("", ["-Wl,-z,lazy", "-s"], {"cuInit": "called", "cuGraphAddNode": "called"}),
    ("", ["-Wl,-z,lazy", "-fno-plt"], {"cuInit": "linked", "cuGraphAddNode": "linked"}),
    ("", ["-Wl,-z,now"], {"cuInit": "linked", "cuGraphAddNode": "linked"}),
    ("int (*const p)(void) = cuInit;", ["-Wl,-z,lazy"],
     {"cuInit": "linked", "cuGraphAddNode": "called"}),
    ("int (*const p)(void) = cuMemAlloc_v2;", ["-Wl,-z,lazy"],
     {"cuInit": "called", "cuGraphAddNode": "called", "cuMemAlloc_v2": "linked"}),
    ("void *PyInit_a(void) { return 0; }", ["-Wl,-z,lazy"],
     {"cuInit": "linked", "cuGraphAddNode": "linked"}),
], ids=["lazy", "stripped", "no-plt", "now", "both", "address", "python"])
def test_looked_up_at_the_call(tmp_path, more, options, how):
    """What is not at the start, by the file's flags, its relocations and who loads it. The system's
    loader agrees: it says what is missing at the start alone."""
    path = build(tmp_path, LAZY + more, "-O2", "-shared", "-fPIC", *options, name="a.so")
    file = only(path)
    assert {symbol: way for symbol, (_, way) in entries(file).items()} == how
    load = "import ctypes, os; ctypes.CDLL('./a.so', mode=os.RTLD_LAZY)"
    done = subprocess.run(["python3", "-c", load], cwd=tmp_path, capture_output=True, text=True,
                          check=False)
    if "PyInit" not in more:
        assert (done.returncode != 0) == ("linked" in how.values()), done.stderr
    whole = bytearray(path.read_bytes())
    struct.pack_into("<Q", whole, 40, 0)
    struct.pack_into("<HHH", whole, 58, 0, 0, 0)
    path.write_bytes(whole)
    found = {way for _, way in entries(only(path)).values()}  # by the dynamic table alone
    assert found == ({"called"} if "called" in how.values() else {"linked"})


def test_linked_to_the_library(tmp_path):
    """An executable with the driver's library among those that it needs."""
    stub = build(tmp_path, "int cuInit(void), cuMemAlloc_v2(void), cuGraphAddNode(void), "
                 "cuNewThing(void); int cuInit(void) { return 0; } int cuMemAlloc_v2(void) "
                 "{ return 0; } int cuGraphAddNode(void) { return 0; } int cuNewThing(void) "
                 "{ return 0; }", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", name="stub.so")
    file = only(build(tmp_path, LINKED, stub))
    assert entries(file) == WANTED and file["links"] and not file["loads"]


def test_archive(tmp_path):
    one = build(tmp_path, LINKED, "-c", name="a.o")
    other = build(tmp_path, "int cuCtxDestroy_v2(void); int f(void) { return cuCtxDestroy_v2(); }",
                  "-c", name="b.o")
    subprocess.run(["ar", "rcs", tmp_path / "lib.a", one, other], check=True)
    file = only(tmp_path / "lib.a")
    assert entries(file) == WANTED | {"cuCtxDestroy_v2": (4000, "linked")}
    assert file["format"] == "archive of 2 objects"


@pytest.mark.parametrize("source, how", [(NAMED, "named"), (MENTIONED, "mentioned")])
def test_named(tmp_path, source, how):
    file = only(build(tmp_path, source))
    assert entries(file) == {"cuInit": (2000, how), "cuMemAlloc_v2": (3020, how),
                             "cuMemAllocAsync": (11020, how)}
    assert file["loads"] == (how == "named")
    assert file["oldest"][how] == 11020


def test_end_of_a_string(tmp_path):
    """The linker may keep a name as the end of a longer string."""
    path = build(tmp_path, NAMED.replace('"cuInit"', '"Failed to cuInit", "my_cuCtxDetach"'))
    assert entries(only(path))["cuInit"] == (2000, "named")
    assert "cuCtxDetach" not in entries(only(path))


def test_numbers_before_the_names(tmp_path):
    """Constants that the compiler put before a string are no part of it."""
    source = ("struct { unsigned char id[16]; char library[13]; unsigned char more[3]; "
              "char one[7]; unsigned char end; char other[15]; } const data = "
              "{{1, 200, 3, 4, 5, 6, 7, 8, 9, 250, 11, 12, 13, 14, 15, 16}, \"libcuda.so.1\", "
              "{7, 8, 9}, \"cuInit\", 200, "
              "\"cuMemAlloc_v2\"};"
              "int main(int count, char **words) { return data.id[count]; }")
    file = only(build(tmp_path, source))
    assert file["loads"]
    assert entries(file) == {"cuInit": (2000, "named"), "cuMemAlloc_v2": (3020, "named")}


def test_path_of_the_library(tmp_path):
    assert only(build(tmp_path, NAMED.replace("libcuda.so.1", "/usr/lib/libcuda.so.1")))["loads"]


def test_asked(tmp_path):
    """Where cuGetProcAddress is asked a plain name stands for any ABI: the first has it."""
    file = only(build(tmp_path, ASKED))
    assert entries(file) == {"cuInit": (2000, "asked"), "cuCtxCreate": (2000, "asked"),
                             "cuMemAllocAsync": (11020, "asked"),
                             "cuGetProcAddress": (11030, "asked")}


def test_asked_of_the_runtime(tmp_path):
    """cudaGetDriverEntryPoint asks for plain names alone; a suffixed one is a word of a message."""
    text = NAMED.replace('"libcuda.so.1", ', "").replace("names[count][0]",
                                                         "cudaGetDriverEntryPoint()")
    file = only(build(tmp_path, "int cudaGetDriverEntryPoint(void);" + text, "-shared", "-fPIC"))
    assert entries(file) == {"cuInit": (2000, "asked"), "cuMemAllocAsync": (11020, "asked"),
                             "cuMemAlloc_v2": (3020, "mentioned")}


@pytest.mark.parametrize("text", ["CUSHIM_LIBCUDA", 99 * "-" + " CUSHIM_LIBCUDA"],
                         ids=["alone", "end"])
def test_cushim_in_a_program(tmp_path, text):
    """It looks up each entry, and does without what a driver lacks; so no name is missing."""
    source = NAMED.replace('"xcuCtxCreate"', f'"{text}"')
    file = only("--drivers", "3.1", build(tmp_path, source))
    assert {how for _, how in entries(file).values()} == {"asked"}
    assert entries(file)["cuMemAlloc_v2"] == (2000, "asked")  # the first ABI of the name
    assert file["missing"] == [{"driver": "CUDA 3.1"} | NOTHING]


def test_linked_to_cushim(tmp_path):
    """It uses the driver, though nothing of it is there; a name that it gives to cushim is asked
    for, and cushim's own ways to ask are none of its needs."""
    library = build(tmp_path, "int cushim_load(void) { return 0; }", "-shared", "-fPIC",
                    "-Wl,-soname,libcushim.so.0", name="libcushim.so")
    source = "int cushim_load(void); int main(void) { return cushim_load(); }"
    path = build(tmp_path, source, library)
    file = only(path)
    assert (file["cushim"], file["entries"]) == ("libcushim.so.0", [])
    assert ("  cushim          uses the driver through cushim (libcushim.so.0): needs no entry to "
            "start; which it calls cannot be seen: its sources tell, and "
            f"'cushim matrix -- {path}'\n") in run("scan", path).out
    assert "missing" not in run("scan", "--drivers", "9.0", path).out
    names = 'const char *const names[] = {"cuGetProcAddress_v2", "cuMemAllocAsync"};'
    file = only(build(tmp_path, names + source, library))
    assert entries(file) == {"cuMemAllocAsync": (11020, "asked")}


if "CUSHIM_STATIC" in os.environ:  # not in a build with sanitizers, which programs link as well
    def test_cushim_linked_statically(tmp_path):
        """Of a real program nothing but the names that are its own."""
        path = build(tmp_path, 'const void *cushim_load(void *); int cushim_has(const void *, '
                     'const char *); int main(void) { return cushim_has(cushim_load(0), '
                     '"cuMemAllocAsync"); }', os.environ["CUSHIM_STATIC"], "-ldl", "-lpthread")
        file = only(path)
        assert file["cushim"] == "inside"
        assert "cuMemAllocAsync" in entries(file) and not [symbol for symbol in entries(file)
                                                           if symbol.startswith("cuGetProc")]
        assert file["oldest"]["asked"] == 11020


def test_names_of_others(tmp_path):
    """libcufile's functions begin as the driver's do, and are no unknown entries."""
    file = scan(build(tmp_path, "int cuFileRead(void); int f(void) { return cuFileRead(); }", "-c",
                      name="a.o"))
    assert file["files"] == []


def test_runtime(tmp_path):
    """What the CUDA runtime in a program names is not missing where a driver lacks it."""
    path = build(tmp_path, NAMED.replace('"xcuCtxCreate"', '"/cudart.shm.%x"'))
    assert {how for _, how in entries(only(path)).values()} == {"runtime"}
    file = only("--drivers", "10.2", path)
    assert file["missing"] == [{"driver": "CUDA 10.2"} | NOTHING]
    assert {row["need"] for row in file["entries"]} == {"optional"}


def test_other_machine_and_no_section_headers(tmp_path):
    whole = bytearray(build(tmp_path, LINKED, "-shared", "-fPIC").read_bytes())
    struct.pack_into("<H", whole, 18, 183)
    (tmp_path / "arm").write_bytes(whole)
    assert only(tmp_path / "arm")["format"] == "ELF, aarch64"
    struct.pack_into("<Q", whole, 40, 0)
    struct.pack_into("<HHH", whole, 58, 0, 0, 0)
    (tmp_path / "bare").write_bytes(whole)
    file = only(tmp_path / "bare")
    assert file["format"] == "ELF, aarch64, without section headers"
    assert entries(file) == WANTED and file["unknown"] == ["cuNewThing"]


@pytest.mark.in_all
@NEEDS_MINGW
def test_windows(tmp_path):
    (tmp_path / "a.def").write_text("LIBRARY nvcuda.dll\nEXPORTS\ncuInit\ncuMemAlloc_v2\n"
                                    "cuGraphAddNode\ncuNewThing\n")
    subprocess.run([MINGW + "dlltool", "-d", tmp_path / "a.def", "-l", tmp_path / "a.a"],
                   check=True)
    (tmp_path / "a.c").write_text(LINKED)
    subprocess.run([MINGW + "gcc", "-w", tmp_path / "a.c", tmp_path / "a.a", "-o",
                    tmp_path / "a.exe"], check=True)
    file = only(tmp_path / "a.exe")
    assert file["format"] == "PE, x86-64" and file["links"]
    assert {symbol: row for symbol, row in entries(file).items() if row[1] == "linked"} == WANTED
    assert file["unknown"] == ["cuNewThing"]


@pytest.mark.in_all
@NEEDS_MINGW
def test_windows_delayed(tmp_path):
    """Imports that are resolved at the first call have a directory of their own; it is written by
    hand, since this compiler's linker does not know it."""
    (tmp_path / "a.c").write_text("volatile const char room[512] = \"room for a directory\";"
                                  "int main(int count, char **words) { return room[count]; }")
    subprocess.run([MINGW + "gcc", tmp_path / "a.c", "-o", tmp_path / "a.exe"], check=True)
    whole = bytearray((tmp_path / "a.exe").read_bytes())
    head = struct.unpack_from("<I", whole, 60)[0]
    count, size = struct.unpack_from("<H", whole, head + 6)[0], \
        struct.unpack_from("<H", whole, head + 20)[0]
    at = whole.index(b"room for a directory")
    for section in range(head + 24 + size, head + 24 + size + 40 * count, 40):
        begin, length, offset = struct.unpack_from("<III", whole, section + 12)
        if offset <= at < offset + length:
            base = begin + at - offset
    struct.pack_into("<IIIIIIII", whole, at, 1, base + 100, 0, 0, base + 200, 0, 0, 0)
    whole[at + 32:at + 64] = bytes(32)
    whole[at + 100:at + 111] = b"NVCUDA.dll\0"
    struct.pack_into("<QQ", whole, at + 200, base + 300, 0)
    whole[at + 300:at + 318] = b"\0\0cuMemAllocAsync\0"
    struct.pack_into("<II", whole, head + 24 + 112 + 8 * 13, base, 64)
    (tmp_path / "a.exe").write_bytes(whole)
    file = only(tmp_path / "a.exe")
    assert file["links"] and entries(file) == {"cuMemAllocAsync": (11020, "called")}


@pytest.mark.in_all
@NEEDS_MINGW
@pytest.mark.parametrize("library, release", [
    ("cudart64_12.dll", 12000), ("CUDART64_110.DLL", 11000), ("cudart64_101.dll", 10010),
    ("cudart64_12-0a1b2c3d.dll", 12000), ("cublas64_13.dll", 13000), ("cudart64_99.dll", None)])
def test_windows_runtime(tmp_path, library, release):
    """The CUDA runtime's name tells its release; a later one and another library tell nothing."""
    (tmp_path / "a.def").write_text(f"LIBRARY \"{library}\"\nEXPORTS\ncudaFree\n")
    subprocess.run([MINGW + "dlltool", "-d", tmp_path / "a.def", "-l", tmp_path / "a.a"],
                   check=True)
    (tmp_path / "a.c").write_text("int cudaFree(void *); int main(void) { return cudaFree(0); }")
    subprocess.run([MINGW + "gcc", tmp_path / "a.c", tmp_path / "a.a", "-o", tmp_path / "a.exe"],
                   check=True)
    if release is None:
        assert scan(tmp_path / "a.exe")["files"] == []
        return
    assert only(tmp_path / "a.exe")["runtime"]["release"] == release
    if release == 12000:
        text = run("scan", "--drivers", "522", "--explain", tmp_path / "a.exe")
        assert "fails 35" in text.out and "fix: Windows driver 528.33 or later" in text.out


RUNTIMES_TABLES = ('const char *const table[] = {"nvcuda.dll", "cudaErrorCudartUnloading", %s};'
                   'int main(void) { return table[0][0] == 0; }')


@pytest.mark.in_all
@NEEDS_MINGW
@pytest.mark.parametrize("table, inside", [('"cudaD3D9MapVertexBuffer"', True), ('"none"', False)])
def test_windows_runtime_inside(tmp_path, table, inside):
    """The names of errors alone may be anybody's."""
    names = [entry["symbol"] for entry in registry() if 12000 <= entry["since"] < 13000]
    (tmp_path / "a.c").write_text(
        RUNTIMES_TABLES % ", ".join([table, *(f'"{name}"' for name in names)]))
    subprocess.run([MINGW + "gcc", tmp_path / "a.c", "-o", tmp_path / "a.exe"], check=True)
    runtime = only(tmp_path / "a.exe")["runtime"]
    assert (runtime is not None and runtime["release"] // 1000 == 12) == inside


@pytest.mark.in_all
@NEEDS_MINGW
def test_windows_objects(tmp_path):
    """What is not read is told, and is no harmless file; an import library is one."""
    (tmp_path / "a.c").write_text("int cuInit(unsigned); int f(void) { return cuInit(0); }")
    subprocess.run([MINGW + "gcc", "-c", "a.c", "-o", "a.obj"], cwd=tmp_path, check=True)
    subprocess.run([MINGW + "ar", "rc", "a.lib", "a.obj"], cwd=tmp_path, check=True)
    for name, words in (("a.obj", "COFF object, not read"),
                        ("a.lib", "archive of 1 COFF object, not read")):
        row = only("--drivers", "470", tmp_path / name)
        assert row["format"] == words
        assert {(cell["verdict"], cell["rule"]) for cell in row["verdicts"]} == \
            {("unknown", "not-read")}
        strict = run("scan", "--strict", "--drivers", "470", tmp_path / name)
        assert strict.code == FAILED and "nothing of the CUDA driver" not in strict.out
    member = struct.pack("<HHHHIIHH", 0, 0xffff, 0, 0x8664, 0, 18, 0, 4) + b"cuInit\0nvcuda.dll\0"
    head = f"{'a/':<16}{0:<12}{0:<6}{0:<6}{0:<8}{len(member):<10}`\n".encode()
    (tmp_path / "b.lib").write_bytes(b"!<arch>\n" + head + member)
    assert "import library, 1 object: nothing" in run("scan", tmp_path / "b.lib").out


# ---- against releases and drivers

@pytest.mark.parametrize("against, missing", [
    ("12.2", []), ("12.1", ["cuGraphAddNode"]), ("535.104.05", []), ("470.256.02",
                                                                     ["cuGraphAddNode"]),
    ("2.0", ["cuMemAlloc_v2", "cuGraphAddNode"]),
])
def test_against(tmp_path, against, missing):
    source = LINKED.replace(" + cuNewThing()", "")
    path = build(tmp_path, source, "-shared", "-fPIC")
    file = only("--drivers", against, path, code=FAILED if missing else OK)
    assert [row["required"] for row in file["missing"]] == [missing]
    assert {row["need"] for row in file["entries"]} == {"required"}
    text = run("scan", "--drivers", against, path)
    assert text.code == (FAILED if missing else OK)
    assert all(symbol in text.out for symbol in missing)
    assert text.out.count("  missing  ") == bool(missing)  # no line if nothing is


def test_unknown_entries(tmp_path):
    """Whether a driver has what this build does not know is not known; a driver's file tells."""
    path = build(tmp_path, LINKED, "-shared", "-fPIC")
    verdict, = only("--drivers", "12.2", path)["verdicts"]
    assert (verdict["verdict"], verdict["rule"]) == ("unknown", "unknown-entry")
    assert run("scan", "--strict", "--drivers", "12.2", path).code == FAILED
    if SIM_DRIVERS:
        verdict, = only("--drivers", SIM_DRIVERS[-1], path, code=FAILED)["verdicts"]
        assert (verdict["verdict"], verdict["rule"]) == ("fails", "required-entry")


def test_weak(tmp_path):
    """A program starts without a function that it declares weak."""
    source = ("__attribute__((weak)) int cuGraphAddNode(void); int cuInit(unsigned);"
              "int f(void) { return cuGraphAddNode ? cuGraphAddNode() : cuInit(0); }")
    file = only("--drivers", "11.0", build(tmp_path, source, "-shared", "-fPIC"))
    assert entries(file) == {"cuInit": (2000, "linked"), "cuGraphAddNode": (12020, "weak")}
    assert file["missing"][0]["optional"] == ["cuGraphAddNode"]
    assert file["verdicts"][0]["verdict"] == "limits"


def test_of_another_platform(tmp_path):
    """No driver for Linux has Windows' entries, whatever a table of names has."""
    path = build(tmp_path, NAMED.replace('"xcuCtxCreate"', '"cuD3D9Begin"'))
    assert only("--drivers", "12.2", path)["missing"][0]["named"] == []


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
def test_against_files(tmp_path):
    """A name that is looked up, and may be done without, fails no driver."""
    path = build(tmp_path, NAMED)
    for driver in SIM_DRIVERS:
        major, minor = map(int, driver.stem.split("-")[-1].split("."))
        version = 1000 * major + 10 * minor
        file = only("--drivers", driver, path)
        assert file["missing"][0]["named"] == ([] if version >= 11020 else ["cuMemAllocAsync"])
        assert file["verdicts"][0]["verdict"] == ("runs" if version >= 11020 else "unknown")


# ---- folders, wheels, bad input

def test_wheel(tmp_path):
    program = build(tmp_path, NAMED)
    with zipfile.ZipFile(tmp_path / "a.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(program, "package/module.so")
        wheel.writestr("package/code.fatbin", fatbin(("cubin", 80)))
        wheel.writestr("package/text.py", "cuInit")
        wheel.writestr("package/other.py", "cuda")
    answer = scan(tmp_path / "a.whl")
    names = [file["file"] for file in answer["files"]]
    assert answer["python"] == [f"{tmp_path}/a.whl:package/text.py"]
    assert names == [f"{tmp_path}/a.whl:package/module.so", f"{tmp_path}/a.whl:package/code.fatbin"]


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_wheel_with_any_names(tmp_path, locale):
    """A name that is not ASCII, and one that is no UTF-8, hides neither itself nor what follows."""
    program = build(tmp_path, NAMED).read_bytes()
    with zipfile.ZipFile(tmp_path / "a b\u00e9.whl", "w") as wheel:
        for name in ("a.so", "tests/\u00e9t\u00e9.txt", "tests/\u4e2d\u6587.so", "esc\33[31m.so",
                     "xxxx.so", "z.so"):
            wheel.writestr(name, "text" if name.endswith(".txt") else program)
    path = tmp_path / "a b\u00e9.whl"
    path.write_bytes(path.read_bytes().replace(b"xxxx.so", b"x\xe9\xffx.so"))
    result = run("scan", "--json", path, LC_ALL=locale)
    assert (result.code, result.err) == (OK, "")
    answer = result.json()
    assert [file["file"].rpartition(":")[2] for file in answer["files"]] == \
        ["a.so", "tests/\u4e2d\u6587.so", "esc\33[31m.so", "x??x.so", "z.so"]
    assert answer["problems"] == []
    text = subprocess.run([CLI, "scan", path], stdout=subprocess.PIPE, check=True,
                          env=environment(LC_ALL=locale)).stdout
    assert b"x\xe9\xffx.so: ELF" in text and b"\33[31m" not in text


def test_bomb(tmp_path):
    """What unpacks to more than the bound is passed over by name, and the rest is read."""
    program = build(tmp_path, NAMED).read_bytes()
    bomb = tmp_path / "bomb.whl"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in ("a.so", "huge.so", "z.so"):
            wheel.writestr(name, program)
    whole = bytearray(bomb.read_bytes())
    central = whole.index(b"PK\1\2", whole.index(b"PK\1\2") + 1)
    for place in (central + 24, whole.index(b"huge.so") - 30 + 22):
        struct.pack_into("<I", whole, place, 3 << 30)
    bomb.write_bytes(whole)
    code, out, err, memory = memory_of(bomb)
    assert code == INPUT
    assert f"{bomb}:a.so: ELF" in out and f"{bomb}:z.so: ELF" in out and "huge" not in out
    assert err == f"cushim scan: {bomb}:huge.so: passed over: it unpacks to more than 2 GiB\n"
    assert memory < 100 << 10


def test_large_member(tmp_path):
    """A library that is larger than the memory it may take is unpacked to a file without a name."""
    program = build(tmp_path, NAMED).read_bytes()
    with zipfile.ZipFile(tmp_path / "a.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        wheel.writestr("large.so", program + bytes(200 << 20))
    (tmp_path / "temporary").mkdir()
    code, out, err, memory = memory_of(tmp_path / "a.whl", TMPDIR=str(tmp_path / "temporary"))
    assert (code, err) == (OK, "") and "large.so: ELF, x86-64, names the driver's library" in out
    assert memory < 100 << 10 and not list((tmp_path / "temporary").iterdir())
    code, out, err, _ = memory_of(tmp_path / "a.whl", TMPDIR=str(tmp_path / "missing"))
    assert code == INPUT and "large.so: too large for the memory, and no temporary file" in err


@pytest.mark.parametrize("at, value, words", [
    ("local", b"PK\1\1", "damaged, or packed in a way"), ("method", b"\x0e\0", "packed in a way"),
    ("flags", b"\1\0", "encrypted"), ("data", b"\xff\xff\xff\xff", "damaged"),
    ("crc", b"\0\0\0\0", "damaged: its check sum differs"),
])
def test_bad_member(tmp_path, at, value, words):
    """Of a wheel with a bad member the others are read."""
    program = build(tmp_path, NAMED).read_bytes()
    with zipfile.ZipFile(tmp_path / "a.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("text", "")
        wheel.writestr("bad.so", program)
        wheel.writestr("good.so", program)
        local = wheel.getinfo("bad.so").header_offset
    whole = bytearray((tmp_path / "a.whl").read_bytes())
    central = whole.index(b"PK\1\2", whole.index(b"PK\1\2") + 1)
    places = {"local": [local], "method": [local + 8, central + 10], "flags": [local + 6,
                                                                            central + 8],
              "data": [local + 36 + 200], "crc": [local + 14, central + 16]}
    for place in places[at]:
        whole[place:place + len(value)] = value
    (tmp_path / "a.whl").write_bytes(whole)
    result = run("scan", tmp_path / "a.whl")
    assert result.code == INPUT and "good.so: ELF" in result.out and "bad.so" not in result.out
    assert f"{tmp_path}/a.whl:bad.so: " in result.err and words in result.err
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.whl").rename(tmp_path / "folder/a.whl")
    assert run("scan", tmp_path / "folder").code == OK


def test_damaged_in_a_folder(tmp_path):
    """Such a file is named and passed over: somebody's data may begin as a zip file does."""
    build(tmp_path, LINKED, "-c", name="a.o")
    (tmp_path / "list.dat").write_bytes(b"PK\3\4 no zip")
    result = run("scan", tmp_path)
    assert result.code == OK and "cuGraphAddNode" in result.out
    assert result.err == f"cushim scan: {tmp_path}/list.dat: a damaged zip file\n"
    assert run("scan", tmp_path / "list.dat").code == INPUT


def test_folder(tmp_path):
    """All files below; links within are not followed, and what is no program is passed over."""
    (tmp_path / "deep").mkdir()
    build(tmp_path / "deep", NAMED)
    build(tmp_path, LINKED, "-c", name="a.o")
    (tmp_path / "deep" / "circle").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to("missing")
    (tmp_path / "text").write_text("cuInit")
    answer = scan(tmp_path)
    assert {file["file"] for file in answer["files"]} == {f"{tmp_path}/deep/program",
                                                          f"{tmp_path}/a.o"}
    assert entries(answer["all"]) == WANTED | {"cuMemAllocAsync": (11020, "named")}
    text = run("scan", tmp_path).out
    assert "all 2 files: together" in text


def test_nothing():
    result = run("scan", "/bin/true")
    assert (result.code, result.err) == (OK, "")
    assert "/bin/true: ELF, x86-64: nothing of the CUDA driver" in result.out


@pytest.mark.parametrize("content, word", [
    (b"", "not a program"), (b"text", "not a program"), (b"\x7fELF", "damaged ELF"),
    (b"MZ" + bytes(58) + b"\x40\0\0\0PE\0\0" + bytes(20), "damaged PE"),
    (b"!<arch>\nbroken" + bytes(60), "damaged archive"), (b"PK\3\4 no zip", "damaged zip"),
    (b"\x50\xed\x55\xba" + bytes(20), "damaged fatbin"),
])
def test_bad_file(tmp_path, content, word):
    (tmp_path / "bad").write_bytes(content)
    result = run("scan", tmp_path / "bad")
    assert (result.code, result.out) == (INPUT, "")
    assert f"{tmp_path}/bad: " in result.err and word in result.err
    assert len(result.err.splitlines()) == 1
    problems = scan(tmp_path / "bad", code=INPUT)["problems"]
    assert [row["file"] for row in problems] == [f"{tmp_path}/bad"]


def test_debian_package(tmp_path):
    """It is not read, and that is no success."""
    (tmp_path / "a.deb").write_bytes(b"!<arch>\n" + b"debian-binary   0           0     0     "
                                     b"100644  4         `\n2.0\n")
    result = run("scan", tmp_path / "a.deb")
    assert (result.code, result.out) == (INPUT, "") and "unpack it with 'dpkg-deb -x'" in result.err


def test_truncated(tmp_path):
    """Every length of a library is read, or refused in one sentence; never worse."""
    whole = build(tmp_path, LINKED, "-shared", "-fPIC", "-s").read_bytes()
    for size in range(0, len(whole), max(1, len(whole) // 60)):
        (tmp_path / "cut").write_bytes(whole[:size])
        assert run("scan", tmp_path / "cut").code in (OK, INPUT)


def test_good_and_bad_together(tmp_path):
    good = build(tmp_path, LINKED, "-c", name="a.o")
    result = run("scan", tmp_path / "missing", good)
    assert result.code == INPUT
    assert "No such file" in result.err and "cuGraphAddNode" in result.out


def test_odd_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for name, word in (("pipe", "not a regular file"), ("loop", "leads nowhere")):
        result = run("scan", tmp_path / name)
        assert (result.code, result.out) == (INPUT, ""), name
        assert word in result.err


def test_unreadable_folder():
    """Root may read everything, so that root becomes nobody first."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        os.makedirs(f"{folder}/read/closed", mode=0)
        result = run("scan", f"{folder}/read", user=65534 if os.geteuid() == 0 else None)
        assert result.code == INPUT and "Permission denied" in result.err


@pytest.mark.parametrize("words, message", [
    ([], "no file or folder given"), (["--gpus", "new", "x"], "'new' is no compute capability"),
    (["--gpus", "9.0,9", "x"], "'9' is no compute capability"),
    (["--gpus", "9.0,", "x"], "'' is no compute capability"),
    (["--drivers", "535,nonsense", "x"], "'nonsense' is no CUDA release"),
    (["--drivers", "", "x"], "the value is empty"),
    (["--drivers", "100", "x"], "'100' is no CUDA release"),
    (["--drivers", "99.9", "x"], "'99.9' is no CUDA release"),
])
def test_usage(words, message):
    result = run("scan", *words)
    assert (result.code, result.out) == (USAGE, "")
    assert message in result.err


def test_nothing_is_executed():
    """A library whose functions end the process is read; its name is only data."""
    fake = os.path.join(os.path.dirname(FAKE_GPU), "../fakes/fake_init_aborts.so")
    assert run("scan", fake).code == OK


def test_json_of_all(tmp_path):
    answer = scan(build(tmp_path, LINKED, "-c", name="a.o"))
    assert json.dumps(answer["all"]["entries"]) == json.dumps(answer["files"][0]["entries"])

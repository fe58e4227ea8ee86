# SPDX-License-Identifier: MIT
"""The promises of docs/security.md that other suites do not hold: programs with rights that their
caller lacks, planted libraries, files that are only read, the note for packagers."""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from adopt import NO_DRIVER, ROOT, environment, need, run
NOBODY = 65534
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
TABLE = """#include <stdio.h>
#include <sys/auxv.h>
#include <cushim/cushim.h>
int main(void)
{
    const struct cushim_api *cu = cushim_load(NULL);
    struct cushim_attempt attempt = {.size = sizeof attempt};
    printf("secure %d\\n", getauxval(AT_SECURE) != 0);
    printf("version %d\\n", cushim_driver_version(cu));
    for (size_t i = 0; cushim_attempt_at(cu, i, &attempt); i++)
        printf("tried %s\\n", attempt.path);
    return 0;
}
"""
DROPIN = """#include <stdio.h>
#include <sys/auxv.h>
#include <cuda.h>
int main(void)
{
    int version = 0;
    cuDriverGetVersion(&version);
    printf("secure %d\\nversion %d\\n", getauxval(AT_SECURE) != 0, version);
    return 0;
}
"""
PLANTED = 99090  # the version of the fake driver that is planted


@pytest.fixture(name="place")
def place_fixture():
    """A folder that every user may enter, with a planted driver."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        fake = Path(os.environ["MESON_BUILD_ROOT"]) / "tests/fakes/fake_future.so"
        shutil.copy(fake, place / "libcuda.so.1")
        yield place


def program(installed, place, way):
    """A program that loads a driver, linked in one of the ways."""
    source = place / "program.c"
    source.write_text(DROPIN if way == "drop-in" else TABLE, encoding="utf-8")
    options = ["-I", installed.cuda_headers]
    if way == "two files":
        files = Path(os.environ["MESON_BUILD_ROOT"]) / "src/packaging/two-files"
        return installed.compile(place / "program", source, files / "cushim.c",
                                 options=["-I", files])
    if way == "shared":
        shutil.copy(installed.shared.resolve(), place / "libcushim.so.0")
        return installed.compile(place / "program", source, options=[*options, "-Wl,-rpath", place],
                                 libraries=[place / "libcushim.so.0"])
    library = installed.dropin if way == "drop-in" else installed.static
    return installed.compile(place / "program", source, options=options, libraries=[library])


def lend_rights(file, kind):
    """Make the program one that may do more than its caller, or skip."""
    if os.geteuid() != 0:
        pytest.skip("only root can lend rights")
    if kind == "set-uid":
        file.chmod(0o4755)
        return
    need("setcap")
    run("setcap", "cap_net_bind_service=ep", file)


def start(file, cwd, user=None, **variables):
    """What the program prints, as facts: "tried" holds all paths."""
    done = subprocess.run([file], cwd=cwd, env=environment(variables), user=user, text=True,
                          group=user, extra_groups=[] if user else None, capture_output=True,
                          check=True, timeout=60)
    facts = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    return {**facts, "tried": re.findall(r"^tried (.*)$", done.stdout, re.M)}


@pytest.mark.parametrize("kind", ["set-uid", "file capabilities"])
@pytest.mark.parametrize("way", ["static", "shared", "two files", "drop-in"])
def test_environment_of_programs_with_rights(installed, place, way, kind):
    """Whoever starts such a program chooses no library for it."""
    file = program(installed, place, way)
    choices = {"CUSHIM_LIBCUDA": str(place / "libcuda.so.1")}, {"LD_LIBRARY_PATH": str(place)}
    for choice in choices:  # without rights the choice counts
        found = start(file, "/", NOBODY if os.geteuid() == 0 else None, **choice)
        assert found["secure"] == "0" and int(found["version"]) == PLANTED
    lend_rights(file, kind)
    for choice in choices:
        found = start(file, place, NOBODY, **choice)
        assert found["secure"] == "1", "this file system honours no rights"
        assert int(found["version"]) != PLANTED
        assert not [path for path in found["tried"] if path.startswith(str(place))]


def test_planted_in_the_current_folder(installed, place):
    """Neither the current folder nor the program's own is searched."""
    found = start(program(installed, place, "static"), place)
    assert found["secure"] == "0" and int(found["version"]) != PLANTED
    assert all(path.startswith("/") or path == "libcuda.so.1" for path in found["tried"])


def test_planted_on_windows():
    """The system's loader is asked for System32 alone; no call searches otherwise."""
    text = (ROOT / "src/loader/platform_windows.c").read_text(encoding="utf-8")
    calls = re.findall(r"LoadLibrary\w*\([^;]*;", text)
    assert calls and all("LoadLibraryExW" in call for call in calls)
    assert "LOAD_LIBRARY_SEARCH_SYSTEM32" in text and "LOAD_LIBRARY_SEARCH_DEFAULT_DIRS" not in text


def test_every_variable_is_read_safely():
    """secure_getenv everywhere: the C library forgets the variables of programs with rights."""
    files = [file for folder in ("src", "tools", "include") for suffix in ("*.[ch]", "*.hpp")
             for file in (ROOT / folder).rglob(suffix)]
    files.remove(ROOT / "include/cushim/cuew.h")  # looks for a compiler, as cuew does
    plain = [f"{file.relative_to(ROOT)}: {line.strip()}" for file in files
             for line in file.read_text(encoding="utf-8").splitlines()
             if re.search(r"(?<!secure_)\bgetenv\(", line) and "windows" not in file.name]
    assert len(files) > 200 and not plain


COMMANDS = [["scan", "FILE"], ["newer", "--driver", "FILE"], ["diff", "FILE", "FILE"],
            ["scan", "--drivers", "FILE", "FILE"]]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_files_are_only_read(installed, place, words):
    """A library that these commands examine runs no code, and may lie about itself."""
    library, trace = place / "libcuda.so.1", place / "it-ran"
    source = place / "trap.c"
    source.write_text(f'#include <fcntl.h>\nint cuInit(unsigned n) {{ return (int)n; }}\n'
                      f'__attribute__((constructor)) static void run(void)\n'
                      f'{{ open("{trace}", O_CREAT | O_WRONLY, 0600); }}\n', encoding="utf-8")
    installed.compile(library, source, options=["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"])
    command = os.environ.get("CUSHIM_CLI") or installed.prefix / "bin/cushim"
    words = [str(library) if word == "FILE" else word for word in words]
    run(command, *words, env={"CUSHIM_LIBCUDA": NO_DRIVER}, code=None)
    assert not trace.exists()
    run(command, "info", "--driver", library, code=None)  # this one loads it, as documented
    assert trace.exists()


def effects(trace, *command, env=None):
    """What a program does to the rest of the system: files that it may write, sockets, programs."""
    need("strace")
    run("strace", "-f", "-qq", "-o", trace,
        "-e", "trace=openat,open,creat,socket,execve,fork,vfork,clone,clone3,unlink,rename,mkdir",
        *command, env={"CUSHIM_LIBCUDA": NO_DRIVER, **(env or {})}, code=None)
    lines = [re.sub(r"^\d+ +", "", line) for line in trace.read_text().splitlines()][1:]
    assert any("O_RDONLY" in line for line in lines)
    harmless = re.compile(r"open(at)?\((?!.*(O_WRONLY|O_RDWR|O_CREAT))|clone.*CLONE_THREAD|.*exit")
    return [line for line in lines if not harmless.match(line)]


def test_what_the_library_does(installed, place):
    """A load, by its search and by a path."""
    file = program(installed, place, "static")
    trace = place / "trace"
    assert not effects(trace, file)
    assert not effects(trace, file, env={"CUSHIM_LIBCUDA": str(place / "libcuda.so.1")})
    writer = place / "writer"  # and what is looked for is found
    writer.write_text(f"#!/bin/sh\necho > {place}/written\n", encoding="utf-8")
    assert effects(trace, "sh", writer)


def simulated(installed):
    """The folder of the installed simulated drivers."""
    found = sorted(installed.prefix.rglob("libcuda-sim-*.so"))
    if not found:
        pytest.skip("built without the simulated driver")
    return found


def test_simulated_drivers_are_not_found(installed):
    """No search for a driver ends at one: other names, in a folder that no search looks into."""
    libraries = simulated(installed)
    assert not list(installed.prefix.rglob("libcuda.so*"))
    assert not {file.parent for file in libraries} & {installed.libraries, installed.prefix / "lib"}


def test_what_the_simulated_driver_does(installed, place):
    """Devices, memory and a kernel: as far as the command's demo goes."""
    library = str(simulated(installed)[-1])
    done = effects(place / "trace", installed.prefix / "bin/cushim", "demo", "--driver", library)
    assert not [line for line in done if "/dev/null" not in line]
    log = place / "calls"
    done = effects(place / "trace", installed.prefix / "bin/cushim", "demo", "--driver", library,
                   env={"CUSHIM_SIM_LOG": str(log)})
    assert log.stat().st_size > 0 and all(str(log) in line for line in done)


def test_folder_of_the_command(installed):
    """What `cushim sim` puts in front of a program's search belongs to the caller alone."""
    simulated(installed)
    shown = run(installed.prefix / "bin/cushim", "sim", "--quiet", "--", "sh", "-c",
                'stat -c "%a %u" "${LD_LIBRARY_PATH%%:*}"')
    assert shown.split() == ["700", str(os.geteuid())]


@pytest.mark.parametrize("way", ["static", "shared", "two files", "drop-in"])
def test_note_for_packagers(installed, place, way):
    """What contains the loader has the note that it opens an optional libcuda."""
    elffile = pytest.importorskip("elftools.elf.elffile")  # python3-pyelftools
    file = program(installed, place, way)
    with open(place / "libcushim.so.0" if way == "shared" else file, "rb") as binary:
        section = elffile.ELFFile(binary).get_section_by_name(".note.dlopen")
        assert section["sh_type"] == "SHT_NOTE" and section["sh_addr"] % 4 == 0
        data = section.data()
    libraries = set()
    while data:
        owner_size, text_size, kind = (int.from_bytes(data[i:i + 4], "little") for i in (0, 4, 8))
        assert (owner_size, kind, data[12:16]) == (4, 0x407C0C0A, b"FDO\0")
        text, data = data[16:16 + text_size], data[16 + (text_size + 3) // 4 * 4:]
        assert text.endswith(b"]\0")
        entry, = json.loads(text[:-1])
        assert entry["priority"] == "suggested" and {"feature", "description"} <= set(entry)
        libraries |= set(entry["soname"])
    nvml = {"libnvidia-ml.so.1"} if way == "shared" else set()  # which has both
    assert libraries == {"libcuda.so.1"} | nvml


def test_every_promise_has_a_test():
    """The page names a file and a test in it for each promise; both exist."""
    named = re.findall(r"`(tests/[\w/.-]+)(?::(\w+))?`", PAGE)
    assert len(named) > 15
    for file, name in named:
        assert (ROOT / file).exists(), file
        if name:
            assert re.search(rf"\b{name}\b", (ROOT / file).read_text(encoding="utf-8")), name
    rows = re.findall(r"^\| .* \| (.*) \|$", PAGE, re.M)
    heads = ("test", "meaning", "---")
    assert not [row for row in rows if "tests/" not in row and row not in heads]

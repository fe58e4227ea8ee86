# SPDX-License-Identifier: MIT
"""What breaks loaders: languages, C libraries, shadows, full tables, no memory, threads, hooks."""

import errno
import os
import platform
import re
import shutil
import subprocess

import pytest
from adopt import HERE, ROOT, facts, need, run

SOURCES = HERE / "breaks"
GONE = "libcushim-gone.so.9"
LIBRARIES = ["-ldl", "-pthread"]


class Loader:
    """The two files, compiled in several ways."""

    def __init__(self, build, folder):
        self.files = build.path / "src/packaging/two-files"
        self.folder = folder
        self.fakes = build.path / "tests/fakes"

    def fake(self, name):
        """Path of a fake driver."""
        path = self.fakes / f"fake_{name}.so"
        assert path.exists()
        return path

    def compile(self, source, name, *flags, compiler="gcc", libraries=LIBRARIES):
        """A program with the loader in it."""
        program = self.folder / name
        run(compiler, "-I", self.files, *flags, SOURCES / source,
            self.files / "cushim.c", "-o", program, *libraries)
        return program

    def preload(self, source, compiler="gcc"):
        """What LD_PRELOAD names."""
        library = self.folder / f"{source}.so"
        if not library.exists():
            run(compiler, "-shared", "-fPIC", "-O1", SOURCES / source, "-o", library, "-ldl")
        return str(library)


@pytest.fixture(scope="module")
def loader(build, tmp_path_factory):
    """Where the programs of this file go."""
    need("gcc")
    return Loader(build, tmp_path_factory.mktemp("breaks"))


@pytest.fixture(scope="module")
def show(loader):
    """The program that opens paths and prints what came of it, one line each."""
    return loader.compile("show.c", "show", "-g", "-O1")


def statuses(text):
    """The status of each line, with its message."""
    return [line.split(" | ")[0] for line in text.splitlines()]


def copy_as_driver(path, folder):
    """PATH as the libcuda.so.1 of a folder that is made for it."""
    folder.mkdir(parents=True)
    shutil.copy(path, folder / "libcuda.so.1")
    return folder


# ---- languages and C libraries ----

WORDINGS = {
    "german": "%: Kann die Datei nicht oeffnen: Datei oder Verzeichnis nicht gefunden",
    "musl": "Error loading shared library %: No such file or directory (needed by /usr/bin/x)",
    "short": "%: ",
    "japanese": "%: \u5171\u6709\u30aa\u30d6\u30b8\u30a7\u30af\u30c8\u30d5\u30a1\u30a4\u30eb",
}


@pytest.mark.parametrize("wording", WORDINGS.values(), ids=WORDINGS)
def test_status_in_any_language(loader, show, tmp_path, wording):
    """The object that the system's loader names is all that a status depends on."""
    env = {"LD_PRELOAD": loader.preload("words.c"), "WORDS": wording}
    shown = run(show, "-", loader.fake("needs_gone"), "libcuda-none.so.7", env=env)
    assert statuses(shown) == ["not-found", "dependency", "not-found"], shown
    assert "reinstall" not in shown and wording.split("%")[1].split("(")[0].strip() in shown
    where = copy_as_driver(loader.fake("needs_gone"), tmp_path / "needs")
    shown = run(show, "-", env={**env, "LD_LIBRARY_PATH": str(where)})
    assert statuses(shown) == ["dependency"] and GONE in shown


def test_status_in_the_systems_german(show, loader, tmp_path):
    """The same with the C library's own translation, where it is installed."""
    need("localedef")
    if not os.path.exists("/usr/share/locale/de/LC_MESSAGES/libc.mo"):
        pytest.skip("the C library's German messages are not installed")
    run("localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8")
    env = {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"}
    assert statuses(run(show, "-", loader.fake("needs_gone"), env=env)) == \
        ["not-found", "dependency"]


@pytest.mark.parametrize("name", ["a b:c", "a:b", "a b", "a: b", "-"])
def test_status_whatever_the_folder_is_called(loader, show, tmp_path, name):
    """A path may have in it what separates the system's words."""
    folder = copy_as_driver(loader.fake("needs_gone"), tmp_path / name)
    (folder / "bad.so").write_bytes(broken_library(loader))
    shown = run(show, folder / "libcuda.so.1", folder / "bad.so")
    assert statuses(shown) == ["dependency", "open-failed"], shown


def broken_library(loader):
    """One that passes inspection and is refused by the system's loader: it needs a symbol."""
    source = loader.folder / "undefined.c"
    source.write_text("int cushim_nowhere(void); int cuInit(unsigned f);\n"
                      "int cuInit(unsigned f) { return cushim_nowhere() + (int)f; }\n",
                      encoding="utf-8")
    run("gcc", "-shared", "-fPIC", source, "-o", loader.folder / "undefined.so")
    return (loader.folder / "undefined.so").read_bytes()


@pytest.fixture(scope="module")
def musl_fake(loader):
    """A driver for a program with musl: the fakes of the build need glibc."""
    need("musl-gcc")
    library = loader.folder / "musl-fake.so"
    run("musl-gcc", "-shared", "-fPIC", "-I", ROOT / "tests/fakes", ROOT / "tests/fakes/fake.c",
        "-o", library)
    return library


def test_musl(loader, musl_fake):
    """Two files, dynamic: a driver loads, and the statuses are those of glibc."""
    program = loader.compile("show.c", "show-musl", "-std=c11", "-Wall", "-Wextra", "-Werror",
                             compiler="musl-gcc", libraries=[])
    run("musl-gcc", "-shared", "-fPIC", "-o", loader.folder / GONE, ROOT / "tests/fakes/gone.c",
        f"-Wl,-soname,{GONE}")
    run("musl-gcc", "-shared", "-fPIC", "-I", ROOT / "tests/fakes", ROOT / "tests/fakes/fake.c",
        ROOT / "tests/fakes/needs_gone.c", loader.folder / GONE, "-o",
        loader.folder / "musl-needs.so")
    (loader.folder / GONE).unlink()
    shown = run(program, "-", musl_fake, loader.folder / "musl-needs.so", "/nonexistent")
    assert statuses(shown) == ["not-found", "ok", "dependency", "not-found"], shown
    assert "EMPTY" not in shown and "CUDA 12.4, 28 of" in shown


def test_musl_static(loader, musl_fake):
    """A static program of musl has no dlopen: that is the status, for a search and a path."""
    program = loader.compile("show.c", "show-static", "-static", compiler="musl-gcc",
                             libraries=[])
    shown = run(program, "-", musl_fake, "/nonexistent")
    assert statuses(shown) == ["no-dlopen", "no-dlopen", "not-found"], shown
    assert "link the program dynamically" in shown and "EMPTY" not in shown


def test_musl_meson(loader, tmp_path):
    """The libraries of the Meson build with musl."""
    need("musl-gcc", "meson", "ninja")
    run("meson", "setup", tmp_path / "build", ROOT, "-Dtests=false", "-Dtools=disabled",
        "-Dsim=false", "-Dbuildtype=plain", "-Dwerror=true", env={"CC": "musl-gcc"})
    run("ninja", "-C", tmp_path / "build", "-j2", "src/libcushim.a", "src/libcushim.so.0.1.0")
    program = loader.folder / "show-meson"
    (loader.folder / "as-installed").mkdir()
    (loader.folder / "as-installed/cushim.h").write_text("#include <cushim/cushim.h>\n",
                                                         encoding="utf-8")
    run("musl-gcc", SOURCES / "show.c", "-I", loader.folder / "as-installed", "-I",
        ROOT / "include", "-I", tmp_path / "build/gen", tmp_path / "build/src/libcushim.a", "-o",
        program)
    assert statuses(run(program, "-")) == ["not-found"]


# ---- what is found first ----

def chroot_command(folder):
    """How to run a program with FOLDER as its root; skips where nobody may."""
    for command in (["chroot", folder], ["unshare", "-r", "chroot", folder]):
        if shutil.which(command[0]) and subprocess.run(
                [*map(str, command), "/show"], check=False, capture_output=True).returncode == 0:
            return command
    return pytest.skip("chroot is not allowed here, neither as root nor in a user namespace")


@pytest.fixture
def root(show, tmp_path):
    """A root with the program and the C library in it, and with no driver."""
    folder = tmp_path / "root"
    folder.mkdir()
    shutil.copy(show, folder / "show")
    for library in re.findall(r"(/\S+) \(0x", run("ldd", show)):
        target = folder / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    return folder


@pytest.mark.parametrize("where", [f"/usr/lib/{platform.machine()}-linux-gnu", "/usr/lib64",
                                   "/usr/lib/wsl/lib", "/run/opengl-driver/lib"])
def test_stub_found_first(loader, root, where):
    """The toolkit's stub in LD_LIBRARY_PATH does not hide the driver that is installed."""
    inside = chroot_command(root)
    env = {"LD_LIBRARY_PATH": "/stubs"}
    assert statuses(run(*inside, "/show", "-", env=env)) == ["not-found"]
    copy_as_driver(loader.fake("stub"), root / "stubs")
    assert statuses(run(*inside, "/show", "-", env=env)) == ["stub"]
    (root / where.lstrip("/")).mkdir(parents=True, exist_ok=True)
    shutil.copy(loader.fake("v12"), root / where.lstrip("/") / "libcuda.so.1")
    shown = run(*inside, "/show", "-", env=env)
    assert statuses(shown) == ["ok"] and f"{where}/libcuda.so.1: CUDA 12.4" in shown
    attempts = shown.split(" | ")[-1].split()
    assert attempts[0] == "stub" and attempts[-1] == "ok"


def test_first_of_several_failures(loader, root):
    """Of what a search meets, the sentence is about the first that was there."""
    copy_as_driver(loader.fake("stub"), root / "stubs")
    copy_as_driver(loader.fake("negative"), root / "usr/lib/wsl/lib")
    shown = run(*chroot_command(root), "/show", "-", env={"LD_LIBRARY_PATH": "/stubs"})
    assert statuses(shown) == ["stub"] and "the toolkit's stub" in shown
    attempts = shown.split(" | ")[-1].split()
    assert attempts[0] == "stub" and "version-invalid" in attempts[1:]


# ---- files and memory that fail ----

def test_no_descriptors(loader, show, tmp_path):
    """Named as what it is, by a path and in a search."""
    where = copy_as_driver(loader.fake("v12"), tmp_path / "here")
    env = {"SHOW_NO_DESCRIPTORS": "1", "LD_LIBRARY_PATH": str(where)}
    shown = run(show, where / "libcuda.so.1", "-", "libcuda.so.1", env=env)
    assert statuses(shown) == ["no-descriptors"] * 3 and "ulimit -n" in shown


@pytest.mark.parametrize("variable, error, status", [
    ("FAIL_OPEN", errno.EMFILE, "no-descriptors"), ("FAIL_OPEN", errno.ENFILE, "no-descriptors"),
    ("FAIL_OPEN", errno.EIO, "read-failed"), ("FAIL_OPEN", errno.EACCES, "unreadable"),
    ("FAIL_OPEN", errno.ENOMEM, "out-of-memory"), ("FAIL_OPEN", errno.ESTALE, "read-failed"),
    ("FAIL_OPEN", errno.ELOOP, "not-found"), ("FAIL_READ", errno.EIO, "read-failed"),
    ("FAIL_READ", errno.ESTALE, "read-failed"), ("FAIL_READ", errno.ENOMEM, "out-of-memory"),
])
def test_file_that_fails(loader, show, tmp_path, variable, error, status):
    """The system's error, not a guess about the file."""
    where = copy_as_driver(loader.fake("v12"), tmp_path / "here")
    env = {"LD_PRELOAD": loader.preload("fail.c"), variable: str(error)}
    shown = run(show, where / "libcuda.so.1", env=env)
    assert statuses(shown) == [status] and os.strerror(error) in shown


def test_reads_that_are_short(loader, show):
    """A read may give less than it was asked for."""
    env = {"LD_PRELOAD": loader.preload("fail.c"), "SHORT_READ": "1"}
    assert statuses(run(show, loader.fake("v12"), env=env)) == ["ok"]


def test_no_memory(loader):
    """Each allocation fails once: no slot is empty, and no sentence is missing or wrong."""
    program = loader.compile("memory.c", "memory", "-g", "-fsanitize=address,undefined",
                             "-fno-sanitize=vptr", *(f"-Wl,--wrap={name}" for name in (
                                 "malloc", "calloc", "realpath", "dlinfo")))
    shown = run(program, loader.fake("v12"), "-", "/nonexistent", loader.fake("stub"),
                env={"ASAN_OPTIONS": "detect_leaks=1"})
    assert facts(shown)["bad"] == "0" and int(facts(shown)["failures"]) > 20, shown


def test_close_too_often(loader):
    """Nothing is used after it was freed, and 1,000 rounds leave nothing behind."""
    program = loader.compile("close.c", "close", "-g", "-fsanitize=address,undefined")
    shown = facts(run(program, loader.fake("v12")))
    assert "closed already" in shown["said"] and shown["rounds"] == "1000"


def test_valgrind(loader, show):
    """The same by valgrind, which also sees the C library's memory."""
    need("valgrind")
    shown = run("valgrind", "-q", "--leak-check=full", "--show-leak-kinds=definite,indirect",
                "--error-exitcode=9", show, loader.fake("v12"), loader.fake("stub"), "-",
                "/nonexistent", env={"SHOW_ROUNDS": "20"})
    assert shown.count("CUDA 12.4") == 20


# ---- threads, exceptions, hooks ----

def test_thread_sanitizer(loader):
    """Loads, opens, calls and closes at once: no report, and nothing is suppressed."""
    program = loader.compile("threads.c", "threads", "-g", "-O1", "-fsanitize=thread", "-Wno-tsan")
    without_randomization = ["setarch", "-R"] if shutil.which("setarch") else []
    shown = run(*without_randomization, program, *(loader.fake(name) for name in (
        "v12", "v13", "v10", "wrap_driver", "hash_sysv", "versioned")), "/nonexistent",
                *(f"+{loader.fake(name)}" for name in ("v11", "stub")),
                env={"CUSHIM_LIBCUDA": str(loader.fake("v12")), "TSAN_OPTIONS": "exitcode=66"})
    assert facts(shown) == {"wrong": "0"}


@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_exceptions(loader, standard):
    """Out of the log and the resolver, more often than loads may be within each other."""
    need("g++")
    source = loader.folder / "loader.o"
    if not source.exists():
        run("gcc", "-O1", "-c", loader.files / "cushim.c", "-o", source)
    program = loader.folder / standard
    run("g++", f"-std={standard}", "-Wall", "-Wextra", "-Werror",
        "-Wno-missing-field-initializers", "-I", loader.files, SOURCES / "exception.cc", source,
        "-o", program, *LIBRARIES)
    shown = facts(run(program, env={"CUSHIM_LIBCUDA": "/nonexistent"}))
    assert shown == {"caught": "60", "opened": "yes", "loaded": "not-found"}


@pytest.mark.parametrize("flags", [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]], ids=" ".join)
def test_dlsym_of_another(loader, flags):
    """What was put before the C library's dlsym is asked, however the program is linked."""
    program = loader.compile("show.c", "show" + "".join(flags), "-O1", *flags)
    shown = run(program, loader.fake("v12"), env={"LD_PRELOAD": loader.preload("hook.c")})
    assert "hooked" in shown and "CUDA 12.4, 28 of" in shown


def test_audit_library(loader, show):
    """An audit library may answer dlsym itself: with one, every symbol goes through dlsym."""
    source = loader.folder / "audit.c"
    source.write_text("""#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <unistd.h>
unsigned la_version(unsigned version);
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie);
unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie)
{ (void)map, (void)id, (void)cookie; return LA_FLG_BINDTO | LA_FLG_BINDFROM; }
uintptr_t la_symbind64(Elf64_Sym *s, unsigned n, uintptr_t *a, uintptr_t *b, unsigned *flags,
                       const char *name);
uintptr_t la_symbind64(Elf64_Sym *s, unsigned n, uintptr_t *a, uintptr_t *b, unsigned *flags,
                       const char *name)
{ (void)n, (void)a, (void)b;
  if (*flags & LA_SYMB_DLSYM && strcmp(name, "cuDeviceGet") == 0 && write(1, "audited\\n", 8) != 8)
      return 0;
  return s->st_value; }
""", encoding="utf-8")
    run("gcc", "-shared", "-fPIC", source, "-o", loader.folder / "audit.so")
    shown = run(show, loader.fake("v12"), env={"LD_AUDIT": str(loader.folder / "audit.so")})
    assert "audited" in shown and "CUDA 12.4, 28 of" in shown


@pytest.mark.parametrize("standard", ["c99", "c11", "gnu17"])
def test_options_as_an_argument(loader, standard):
    """A compound literal is an argument like any other."""
    source = loader.folder / "literal.c"
    source.write_text("""#include "cushim.h"
int main(void)
{
    const struct cushim_api *cu = cushim_open(
        &(struct cushim_options){.size = sizeof(struct cushim_options), .path = "/nonexistent"});
    int code = cushim_status(cu) != CUSHIM_ERROR_NOT_FOUND;
    cushim_close(cu);
    return code + (cushim_load(&(struct cushim_options){
                       .size = sizeof(struct cushim_options), .path = "/nonexistent"}) == 0);
}
""", encoding="utf-8")
    run("gcc", f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-I", loader.files,
        loader.files / "cushim.c", "-D_GNU_SOURCE", source, "-o",
        loader.folder / "literal", *LIBRARIES)
    run(loader.folder / "literal")


def test_words_for_windows(loader):
    """Advice names what there is on Windows."""
    mingw = "x86_64-w64-mingw32-gcc"
    need(mingw)
    program = loader.folder / "show.o"
    run(mingw, "-Wall", "-Wextra", "-Werror", "-c",
        loader.files / "cushim.c", "-o", program)
    text = program.read_bytes()
    assert b"nvcuda.dll" in text
    for word in (b"LD_LIBRARY_PATH", b"libcuda.so", b"ldconfig", b"ulimit"):
        assert word not in text

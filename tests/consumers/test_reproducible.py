# SPDX-License-Identifier: MIT
"""Two builds of the library, in different folders and environments, with a packager's flags: all
that is made has the same bytes, and the flags have their effect."""

import hashlib
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from adopt import ROOT, need, run

pytestmark = pytest.mark.by_hand
FLAGS = {"CFLAGS": "-O2 -g -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fcf-protection",
         "LDFLAGS": "-Wl,-z,relro -Wl,-z,now"}
SOURCES = ("meson.build", "meson_options.txt", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE",
           "README.md", "src", "gen", "include", "kernels", "tools", "docs")
TARGETS = ("src/libcushim.so.0.1.0", "src/libcushim.a", "src/packaging/two-files/cushim.c")
FOLDERS = ("one/cushim/build", "another place/of/cushim/made/here")  # below a folder
ENVIRONMENTS = ({"TZ": "Asia/Tokyo", "LC_ALL": "C", "LANG": "C"},
                {"TZ": "America/Lima", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"})


def build(top, folder, variables):
    """Copy the sources and build the library; the build's folder."""
    place = top / folder
    source = place.parent
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, source / name)
    environment = {**{key: value for key, value in os.environ.items()
                      if not key.startswith(("MESON", "NINJA", "MAKE"))},
                   "CCACHE_DISABLE": "1", **FLAGS, **variables}
    for command in (["meson", "setup", place, source, "-Dbuildtype=plain", "-Dtools=disabled",
                     "-Dman=disabled", "-Dwerror=true", "--prefix=/usr"],
                    ["ninja", "-C", place, *TARGETS]):
        done = subprocess.run(command, env=environment, text=True, capture_output=True,
                              check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return place


@pytest.fixture(name="roots", scope="module")
def roots_fixture(tmp_path_factory):
    """Both builds, at once."""
    need("meson", "ninja")
    top = tmp_path_factory.mktemp("builds")
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda item: build(top / str(item[0]), *item[1]),
                             enumerate(zip(FOLDERS, ENVIRONMENTS))))


def digests(root):
    """{path: what is in the file}, of all that is made of the sources and of nothing else."""
    wanted = [*TARGETS, *(file.relative_to(root) for suffix in ("*.[ch]", "*.pc", "*.cmake")
                          for file in root.rglob(suffix)
                          if "meson-uninstalled" not in file.parts)]  # for use in the folder
    return {str(path): hashlib.sha256((root / path).read_bytes()).hexdigest() for path in wanted}


def test_same_bytes(roots):
    first, second = (digests(root) for root in roots)
    assert len(first) > 40 and set(first) == set(second)
    assert {path for path in first if first[path] != second[path]} == set()


def test_debug_information_names_sources(roots):
    """It is there, and relative to the sources."""
    need("readelf")
    shown = run("readelf", "--debug-dump=info", "--dwarf-depth=1", roots[0] / TARGETS[0])
    assert re.search(r"DW_AT_name .*: src/loader/open\.c", shown)
    assert str(roots[0].parent) not in shown and "pytest" not in shown


def test_flags_have_their_effect(roots):
    """Of the hardening that is asked for, nothing is lost: not in assembler either."""
    need("readelf")
    library = roots[0] / TARGETS[0]
    dynamic, symbols = run("readelf", "-d", library), run("readelf", "--dyn-syms", "-W", library)
    assert "BIND_NOW" in dynamic and "GNU_RELRO" in run("readelf", "-lW", library)
    assert "__stack_chk_fail" in symbols and re.search(r"__\w+_chk@", symbols)
    if os.uname().machine == "x86_64":
        # Of the objects: the C library's own that are linked to them may lack it.
        notes = run("readelf", "-n", roots[0] / TARGETS[1], code=None)
        assert notes.count("x86 feature: IBT, SHSTK") == notes.count("File: ") > 20


def test_what_every_build_has(roots, installed):
    """With and without flags: no executable stack, no relocation of code, no search path."""
    for library in (installed.shared, roots[0] / TARGETS[0]):
        segments, dynamic = run("readelf", "-lW", library), run("readelf", "-d", library)
        assert re.search(r"GNU_STACK .* RW ", segments)
        assert not re.search(r"RPATH|RUNPATH|TEXTREL", dynamic)

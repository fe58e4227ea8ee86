# SPDX-License-Identifier: MIT
"""The simulated drivers as a packager installs them: their size, and what they need."""

import json
import re
import shutil
import sys

import pytest
from adopt import ROOT, need, needed, run

MOST = 12_000_000


@pytest.fixture(name="stripped")
def stripped_fixture(build, tmp_path):
    """The folder of the simulated drivers after `meson install --strip`."""
    if build.options["sim"] is not True:
        pytest.skip("built without the simulated driver")
    run("meson", "install", "-C", build.path, "--no-rebuild", "--strip", "--destdir", tmp_path)
    return next(tmp_path.rglob("libcushim-sim-engine.so")).parent


def test_size(stripped):
    """All versions together."""
    sizes = {file.name: file.stat().st_size for file in stripped.iterdir()}
    assert len(sizes) > 30 and sum(sizes.values()) <= MOST, sizes
    assert ".symtab" not in run("readelf", "-SW", stripped / "libcushim-sim-engine.so")


def test_found_from_the_command(stripped, tmp_path):
    """In a prefix that was moved: the command finds a version, and that its engine."""
    prefix = next(tmp_path.rglob("bin/cushim")).parents[1]
    moved = tmp_path / "moved to ü"
    shutil.move(prefix, moved)
    assert stripped.parts[-2:] == ("cushim", "sim")
    command = moved / "bin/cushim"
    shown = json.loads(run(command, "sim", "--quiet", "--cuda", "12.4", "--", command, "info",
                           "--json"))
    assert shown["driver"]["version"] == 12040
    assert shown["driver"]["path"].startswith(str(moved))


@pytest.mark.parametrize("codecs, ending", [("static", ".a"), ("shared", ".so")])
def test_codecs(build, codecs, ending, tmp_path):
    """Which zstd and lz4 the engine is linked with: what its link names."""
    need("meson", "ninja")
    if not build.options["sim"]:
        pytest.skip("built without the simulated driver")
    run("meson", "setup", tmp_path, ROOT, "-Dsim=true", "-Dtools=disabled", "-Dfatbin=enabled",
        f"-Dsim_codecs={codecs}")
    words = run("ninja", "-C", tmp_path, "-t", "commands", "src/sim/libcushim-sim-engine.so")
    link = words.splitlines()[-1].split()
    assert [word for word in link if "libzstd" in word and word.endswith(ending)], link
    assert [word for word in link if "liblz4" in word and word.endswith(ending)], link
    assert codecs == "shared" or not [name for name in needed(
        build.path / "src/sim/libcushim-sim-engine.so") if re.match("libzstd|liblz4", name)]


@pytest.mark.parametrize("flags", [(), ("-flto",), ("-flto=auto", "-ffat-lto-objects")],
                         ids=["plain", "lto", "fat"])
def test_names_are_local(flags, tmp_path):
    """The library inside of a program: machine code with our names alone, whatever CFLAGS a
    packager has. Distributions strip bytecode from libraries."""
    need("gcc", "ar", "objcopy", "nm")
    source, library, out = (tmp_path / name for name in ("a.c", "liba.a", "out.o"))
    source.write_text("int helper(int n) { return n * n; }\n"
                      "int cushim_sim_test(int n) { return helper(n + 1); }\n", encoding="utf-8")
    run("gcc", "-O0", *flags, "-c", source, "-o", tmp_path / "a.o")
    run("ar", "rcsT", library, tmp_path / "a.o")
    run(sys.executable, ROOT / "src/sim/localise.py", "--objcopy", "objcopy", library, out,
        "--", "gcc")
    assert ".gnu.lto_" not in run("readelf", "-SW", out)
    names = run("nm", "--defined-only", "--extern-only", out).split()[2::3]
    assert names == ["cushim_sim_test"]

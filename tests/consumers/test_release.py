# SPDX-License-Identifier: MIT
"""A release as `meson dist` makes it: what is in it, and its installation in one line."""

import re
import shutil

import pytest
from adopt import HERE, NO_DRIVER, ROOT, facts, need, run

NOTHING = {"CUSHIM_LIBCUDA": NO_DRIVER}


@pytest.fixture(name="release", scope="module")
def fixture_release(tmp_path_factory):
    """`meson dist` of what is committed, unpacked. Its build folder is its own: the one under test
    is in use."""
    need("git", "meson")
    if run("git", "status", cwd=ROOT, code=None).startswith("fatal"):
        pytest.skip("not a git checkout")
    folder = tmp_path_factory.mktemp("release")
    run("meson", "setup", folder / "build", ROOT, "-Dtools=disabled")
    run("meson", "dist", "-C", folder / "build", "--allow-dirty", "--no-tests", "--formats=gztar")
    run("tar", "xf", next((folder / "build/meson-dist").glob("*.tar.gz")), cwd=folder)
    return next(folder.glob("cushim-*"))


def test_release_has_them(release, tmp_path):
    """As CMake's FetchContent takes them."""
    need("cmake")
    run("cmake", "-S", HERE / "cmake-two-files", "-B", tmp_path / "made",
        f"-DTWO_FILES={release / 'two-files'}")
    run("cmake", "--build", tmp_path / "made", "--target", "app")
    assert facts(run(tmp_path / "made/app", env=NOTHING))["status"] == "not-found"
    tarball = next((release.parent / "build/meson-dist").glob("*.tar.gz"))
    fetch = tmp_path / "fetch"
    fetch.mkdir()
    (fetch / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(app LANGUAGES C)\ninclude(FetchContent)\n"
        f"FetchContent_Declare(cushim URL {tarball})\nFetchContent_MakeAvailable(cushim)\n"
        f"add_executable(app {HERE}/app.c)\ntarget_link_libraries(app PRIVATE cushim::cushim)\n",
        encoding="utf-8")
    run("cmake", "-S", fetch, "-B", fetch / "made", "-DCMAKE_POLICY_DEFAULT_CMP0135=NEW")
    run("cmake", "--build", fetch / "made")
    assert facts(run(fetch / "made/app", env=NOTHING))["status"] == "not-found"


OWN_KERNEL = """cmake_minimum_required(VERSION 3.13)
project(app LANGUAGES C)
{take}
add_executable(app {sources}/app.c)
target_link_libraries(app PRIVATE cushim::cushim)
cushim_embed(app {sources}/add.cu OLDEST 10.2)
"""
FETCH = """include(FetchContent)
FetchContent_Declare(cushim GIT_REPOSITORY file://{root} GIT_TAG HEAD)
FetchContent_MakeAvailable(cushim)"""


@pytest.mark.parametrize("take", ["add_subdirectory({root} cushim)", FETCH],
                         ids=["add_subdirectory", "FetchContent"])
def test_checkout(take, build, tmp_path):
    """CMake on the sources as they are: Python makes the two files, the same as Meson's."""
    need("cmake", "clang", *(["git"] if take == FETCH else []))
    if take == FETCH and run("git", "status", cwd=ROOT, code=None).startswith("fatal"):
        pytest.skip("not a git checkout")
    (tmp_path / "CMakeLists.txt").write_text(OWN_KERNEL.format(
        take=take.format(root=ROOT), sources=HERE / "own-kernel"), encoding="utf-8")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "made")
    run("cmake", "--build", tmp_path / "made")
    assert run(tmp_path / "made/app", env=NOTHING) == "CPU 1000\n"
    for name in ("cushim.h", "cushim.c") if take != FETCH else ():
        assert (tmp_path / "made/cushim/two-files" / name).read_bytes() == (
            build.path / "src/packaging/two-files" / name).read_bytes()


def test_checkout_without_python(tmp_path):
    """CMake ends with a sentence that says what is missing."""
    need("cmake", "make")
    said = run("cmake", "-S", ROOT, "-B", tmp_path, "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
               "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF",
               f"-DCMAKE_MAKE_PROGRAM={shutil.which('make')}",
               f"-DCMAKE_C_COMPILER={shutil.which('cc')}", code=1)
    assert "Install python3, or take a release" in " ".join(said.split())


def test_install_of_a_release(release, tmp_path):
    """The one line of docs/ci.md, here without the simulated driver, whose build takes long."""
    page = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
    line = re.search(r"^tar xf (\S+)\.tar\.gz && (sh )\1/(tools/install)$", page, re.M)
    assert line and line[1] == release.name
    run("sh", release / line[3], "-Dsim=false", "--buildtype=plain", env={"DESTDIR": str(tmp_path)})
    command = tmp_path / "usr/local/bin/cushim"
    assert run(command, "--version").split()[1] == release.name.removeprefix("cushim-")
    # Where the loader and pkg-config search, also without dpkg-dev, by which Meson knows Debian.
    library = tmp_path / "usr/local/lib"
    assert (library / "libcushim.so.0").exists() and (library / "pkgconfig/cushim.pc").exists()

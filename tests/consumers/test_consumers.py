# SPDX-License-Identifier: MIT
"""Every way of adopting cushim, really built, linked and run from an installation."""

import json
import re
import shutil

import pytest
from adopt import (HERE, NO_DRIVER, ROOT, assert_keeps_to_itself, facts, need, needed, run,
                   with_driver)

NOTHING = {"status": "not-found", "driver": "0", "cuMemAlloc": "CUDA_ERROR_NOT_INITIALIZED"}


def check_app(program, env, driver):
    """The program on the table, without a driver and with one."""
    assert facts(run(program, env=env)) == NOTHING
    shown = facts(run(program, env=with_driver(env, driver)))
    assert shown == {"status": "ok", "driver": str(driver.cuda),
                     "cuMemAlloc": "CUDA_ERROR_NOT_INITIALIZED"}


def check_legacy(program, env, driver):
    """The program that was written for -lcuda, likewise."""
    assert_keeps_to_itself(program)
    shown = facts(run(program, env=env))
    assert (shown["version"], shown["init"], shown["after"]) == ("0 0", "100", "3")
    shown = facts(run(program, env=with_driver(env, driver)))
    assert (shown["version"], shown["error"]) == (f"0 {driver.cuda}",
                                                  "CUDA_ERROR_NOT_INITIALIZED")


def test_pkg_config(installed, driver, tmp_path):
    """Shared, and static with nothing of it visible from outside, not even on request."""
    need("make", "pkg-config")
    for flags in ("", "-rdynamic"):
        run("make", "-B", "-C", HERE / "pkg-config", f"OUT={tmp_path}", f"LDFLAGS={flags}",
            f"PKG_CONFIG={installed.pkg_config}", env=installed.env)
        assert "libcushim.so.0" in needed(tmp_path / "shared")
        assert_keeps_to_itself(tmp_path / "static")
    check_app(tmp_path / "shared", installed.env, driver)
    check_app(tmp_path / "static", installed.env, driver)


def test_pkg_config_drop_in(installed, driver, tmp_path):
    """-lcuda replaced, in a project that has no toolkit."""
    need("make", "pkg-config")
    run("make", "-C", HERE / "drop-in", f"OUT={tmp_path}", f"PKG_CONFIG={installed.pkg_config}",
        env=installed.env)
    check_legacy(tmp_path / "legacy", installed.env, driver)


def test_cmake_simulated(installed, tmp_path):
    """The lines of docs/unit-tests.md, with its program, as a test of CTest."""
    need("cmake")
    if not (installed.libraries / "libcushim-sim.a").exists():
        pytest.skip("built without the simulated driver")
    page = (ROOT / "docs/unit-tests.md").read_text(encoding="utf-8")
    shutil.copy(ROOT / "docs/examples/unit-tests/with_assert.c", tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(tests LANGUAGES C)\n" +
        page.partition("```cmake\n")[2].partition("```")[0], encoding="utf-8")
    made = tmp_path / "made"
    run("cmake", "-S", tmp_path, "-B", made, f"-DCMAKE_PREFIX_PATH={installed.prefix}",
        env=installed.env)
    run("cmake", "--build", made)
    assert "100% tests passed" in run("ctest", "--test-dir", made)


def test_cmake_simulated_beside_a_copy(build, installed, tmp_path):
    """A project with cushim in it, and the simulated driver of an installed one for its tests: they
    share the project's copy of the loader. Another release or no helpers is refused."""
    need("cmake")
    if not (installed.libraries / "libcushim-sim.a").exists():
        pytest.skip("built without the simulated driver")
    (tmp_path / "mine.c").write_text(
        "#include <cushim/memory.h>\nint mine(const struct cushim_api *cu);\n"
        "int mine(const struct cushim_api *cu)\n"
        "{ CUdeviceptr memory; return cushim_memory_alloc(cu, 4, &memory); }\n", encoding="utf-8")
    (tmp_path / "test.c").write_text(
        "#include <cushim/sim.h>\nint mine(const struct cushim_api *cu);\nint main(void)\n{\n"
        "    struct cushim_sim_options options = {.size = sizeof options};\n"
        "    const struct cushim_api *cu = cushim_sim_open(&options);\n"
        "    return cu->cuInit(0) || mine(cu) != CUDA_ERROR_INVALID_CONTEXT ||\n"
        "           cushim_sim_calls(\"cuMemAlloc_v2\") != 1;\n}\n", encoding="utf-8")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(tests LANGUAGES C)\n"
        f"add_subdirectory({build.path}/src/packaging/two-files cushim)\n"
        "add_library(mine STATIC mine.c)\n"
        "target_link_libraries(mine PRIVATE cushim::static)\n"
        "find_package(cushim REQUIRED COMPONENTS cushim dropin sim)\n"
        "add_executable(before test.c)\nadd_executable(after test.c)\n"
        "target_link_libraries(before PRIVATE cushim::sim mine)\n"
        "target_link_libraries(after PRIVATE mine cushim::sim)\n", encoding="utf-8")
    setup = ("cmake", "-S", tmp_path, f"-DCMAKE_PREFIX_PATH={installed.prefix}", "-B")
    run(*setup, tmp_path / "made", env=installed.env)
    said = run("cmake", "--build", tmp_path / "made", "--verbose")
    assert "libcushim-sim.a" in said and not re.search(r"/libcushim\.(a|so)", said)
    for name in ("before", "after"):
        run(tmp_path / "made" / name, env=installed.env)
    said = run(*setup, tmp_path / "none", "-DCUSHIM_HELPERS=OFF", env=installed.env, code=1)
    assert "the project's own copy is 0.1.0 without helpers" in " ".join(said.split())


def test_pkg_config_simulated(installed, tmp_path):
    """A test program with the simulated driver in it."""
    need("pkg-config")
    if not (installed.libraries / "libcushim-sim.a").exists():
        pytest.skip("built without the simulated driver")
    program = tmp_path / "program"
    flags = run(*installed.pkg_config.split(), "--cflags", "--libs", "cushim-sim",
                env=installed.env).split()
    run("cc", ROOT / "docs/examples/test_with_faults.c", "-o", program, *flags)
    assert_keeps_to_itself(program)
    assert [name for name in needed(program) if "cushim" in name] == []
    assert run(program, env=installed.env).endswith("as expected\n")


def test_cmake_package(installed, driver, tmp_path):
    """find_package, in a prefix that is not the one cushim was configured for."""
    need("cmake")
    run("cmake", "-S", HERE / "cmake", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={installed.prefix}",
        "-DCMAKE_BUILD_TYPE=Debug", env=installed.env)
    run("cmake", "--build", tmp_path)
    assert "libcushim.so.0" in needed(tmp_path / "shared")
    assert_keeps_to_itself(tmp_path / "static")
    check_app(tmp_path / "shared", installed.env, driver)
    check_app(tmp_path / "static", installed.env, driver)
    check_legacy(tmp_path / "legacy", installed.env, driver)
    if (installed.libraries / "libcushim-sim.a").exists():
        assert_keeps_to_itself(tmp_path / "simulated")
        assert run(tmp_path / "simulated", env=installed.env).endswith("as expected\n")


def test_cmake_package_version(installed, tmp_path):
    """A later release, or another major one, is refused by CMake and not at run time."""
    need("cmake")
    for wanted, code in (("0.1", 0), ("0.0.1", 0), ("0.99", 1), ("1.0", 1),
                         ("0.0.1...0.1.0", 0), ("0.1...1.0", 0), ("0.0.1...0.0.9", 1),
                         ("0.0.1...<0.1.0", 1), ("0.2...1.0", 1)):
        folder = tmp_path / wanted
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.13)\nproject(version LANGUAGES C)\n"
            f"find_package(cushim {wanted} REQUIRED)\n", encoding="utf-8")
        shown = run("cmake", "-S", folder, "-B", folder / "build", code=code,
                    env={"CMAKE_PREFIX_PATH": str(installed.prefix)})
        assert code == 0 or "version: 0.1.0" in shown


def test_cmake_package_parts(build, tmp_path):
    """A part that is not installed has no target, and asking for it is an error of CMake's."""
    need("cmake")
    installed = build.install(tmp_path / "root")
    for number, (wanted, code) in enumerate([
            ("cushim static dropin cuda_headers", 0), ("nonsense", 1), ("cushim dropin", 0),
            ("static", 1)]):
        if number == 2:
            (installed.libraries / "libcushim.a").unlink()
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.13)\nproject(parts LANGUAGES C)\n"
            f"find_package(cushim REQUIRED COMPONENTS {wanted})\n", encoding="utf-8")
        shown = run("cmake", "-S", folder, "-B", folder / "build", code=code,
                    env={"CMAKE_PREFIX_PATH": str(installed.prefix)})
        assert code == 0 or f"no component {wanted} is installed" in shown


def test_cmake_two_files(build, driver, tmp_path):
    """add_subdirectory of the folder that `meson compile two-files` makes."""
    need("cmake")
    run("cmake", "-S", HERE / "cmake-two-files", "-B", tmp_path, "-DCMAKE_BUILD_TYPE=Debug",
        f"-DTWO_FILES={build.path / 'src/packaging/two-files'}")
    run("cmake", "--build", tmp_path)
    env = {"CUSHIM_LIBCUDA": NO_DRIVER}
    check_app(tmp_path / "app", env, driver)
    check_legacy(tmp_path / "legacy", env, driver)


@pytest.fixture(name="subproject")
def fixture_subproject(tmp_path):
    """The build folder of a project that has cushim's source below its own."""
    need("meson", "ninja")
    project, folder = tmp_path / "project", tmp_path / "build"
    shutil.copytree(HERE / "meson", project)
    for source in (HERE / "app.c", HERE / "legacy.c", ROOT / "docs/examples/test_with_faults.c"):
        shutil.copy(source, project)
    (project / "subprojects").mkdir()
    (project / "subprojects/cushim").symlink_to(ROOT)
    run("meson", "setup", folder, project, "-Dbuildtype=plain", f"--prefix={tmp_path}/prefix",
        "--wrap-mode=forcefallback")  # another cushim may be installed
    return folder


@pytest.mark.in_all
@pytest.mark.by_hand
def test_meson_subproject_simulated(subproject):
    """The simulated driver, which a project's tests ask for."""
    run("ninja", "-C", subproject, "simulated")
    assert_keeps_to_itself(subproject / "simulated")
    assert run(subproject / "simulated", env={"CUSHIM_LIBCUDA": NO_DRIVER}).endswith(
        "as expected\n")


def test_meson_subproject(subproject, driver, tmp_path):
    """Only the libraries that are asked for are built, no test and no tool."""
    folder = subproject
    run("ninja", "-C", folder, "app")
    built = {path.name for path in folder.rglob("*") if
             path.suffix in (".a", ".so", ".0") and not path.is_symlink()}
    assert built == {"libcushim.a"}
    run("ninja", "-C", folder)
    built = {path.name for path in folder.rglob("*") if
             path.suffix in (".a", ".so", ".0") and not path.is_symlink()}
    assert built == {"libcushim.a", "libcushim-dropin.a"}  # and not what nobody asked for
    run("meson", "install", "-C", folder)
    assert {path.name for path in (tmp_path / "prefix").rglob("*") if path.is_file()} == {"app"}
    targets = json.loads(run("meson", "introspect", "--targets", folder))
    assert {target["name"] for target in targets if target["type"] == "executable"} == {
        "app", "legacy", "simulated"}
    assert "libcushim-sim.a" in run("ninja", "-C", folder, "-n", "simulated")
    env = {"CUSHIM_LIBCUDA": NO_DRIVER}
    assert_keeps_to_itself(folder / "app")
    check_app(folder / "app", env, driver)
    check_legacy(folder / "legacy", env, driver)

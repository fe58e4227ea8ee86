# SPDX-License-Identifier: MIT
"""Structures that begin with their size grow: a program of one release, a library of another."""

import re
import shutil

import pytest
from adopt import HERE, ROOT, need, run

SIZED = re.compile(r"^struct (cushim_\w+) \{\n    size_t size;.*?^\};", re.M | re.S)
READ = {"cushim_options", "cushim_context_options", "cushim_jit_options", "cushim_link_input",
        "cushim_launch", "cushim_nvml_options"}
# Those a caller fills; the library fills the others.
TAIL = "size is of a newer release, and a member that this release lacks is set"


class Release:
    """A library and a program, both of the headers of one release."""

    def __init__(self, build, folder, grown):
        self.folder = folder
        tree = folder / "include"
        shutil.copytree(ROOT / "include", tree)
        self.sized = set()
        for header in (tree / "cushim").glob("*.h"):
            text = header.read_text(encoding="utf-8")
            if header.name != "sim.h":  # of the simulator, which is a library of its own
                self.sized |= set(SIZED.findall(text))
            if grown:
                text = SIZED.sub(lambda found: found[0][:-2] + "    unsigned long long appended;\n"
                                 "};", text)
                header.write_text(text, encoding="utf-8")
        generated = build.path / "gen"
        flags = ["-I", tree, "-I", generated, "-I", generated / "cushim", "-I", ROOT / "src"]
        flags += ["-D_GNU_SOURCE", *(["-DGROWN"] if grown else [])]
        sources = [file for room in ("loader", "helpers", "nvml")
                   for file in sorted((ROOT / "src" / room).glob("*.c"))
                   if file.stem != "platform_windows"]
        sources += [file for file in sorted(generated.glob("*.c"))
                    if file.stem not in ("dropin", "nvml_dropin", "nvml_sim")]
        run("gcc", "-shared", "-fPIC", *flags, *sources, "-o", folder / "libcushim.so", "-ldl",
            "-pthread")
        run("gcc", *flags, HERE / "growth/growth.c", "-o", folder / "growth",
            "-L", folder, "-lcushim")

    def run(self, library, driver, *words):
        """Lines of the program with the library of a release."""
        text = run(self.folder / "growth", driver, *words,
                   env={"LD_LIBRARY_PATH": str(library.folder)})
        return {line.split(" ")[0]: line.split(" ", 1)[1] for line in text.splitlines()}


@pytest.fixture(scope="module", name="releases")
def releases_fixture(build, tmp_path_factory):
    """The present one, and one in which every such structure has one member more."""
    need("gcc")
    return {name: Release(build, tmp_path_factory.mktemp(name), name == "next")
            for name in ("this", "next")}


@pytest.fixture(name="driver")
def driver_fixture(build):
    """A simulated driver."""
    libraries = sorted((build.path / "src/sim").glob("libcuda-sim-12.*.so"))
    if not libraries:
        pytest.skip("built without the simulated driver")
    return libraries[-1]


@pytest.mark.parametrize("program, library, words", [
    ("this", "this", []), ("next", "next", []), ("this", "next", []), ("next", "this", []),
    ("next", "next", ["set"])])
def test_grows(releases, driver, program, library, words):
    """A member that the caller does not set, or that the library knows, disturbs nothing."""
    found = releases[program].run(releases[library], driver, *words)
    assert releases[program].sized <= set(found)
    link = found.pop("cushim_link_input")  # its second image is one byte
    assert "inputs[1]" in link or "input 1" in link, link
    for name, line in found.items():
        assert line in ("0 taken", "0 written", "0 CUDA_ERROR_INVALID_VALUE"), f"{name} {line}"


def test_set_member(releases, driver):
    """What the library lacks and the caller sets is refused by the name of the argument."""
    found = releases["next"].run(releases["this"], driver, "set")
    for name in READ:
        code, sentence = found[name].split(" ", 1)
        assert code == "1" and TAIL in sentence, (name, sentence)
    for name in releases["next"].sized - READ:
        assert found[name] in ("0 kept", "0 CUDA_ERROR_INVALID_VALUE"), (name, found[name])

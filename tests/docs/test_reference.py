# SPDX-License-Identifier: MIT
"""The reference of the public headers, and the manual pages."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "reference"))

from headers import ADAPTERS, INCLUDE, read_headers, run_doxygen  # noqa: E402

BUILD = Path(os.environ.get("MESON_BUILD_ROOT", "build"))
COMMAND = os.environ.get("CUSHIM_CLI", "cushim")
PAGES = sorted((BUILD / "docs" / "reference").glob("*.[13]"))
WRITTEN = [page for page in PAGES if not page.read_text(encoding="utf-8").startswith(".so ")]
# What is described once, at the beginning of cushim.h.
EXPLAINED = {"cu"}
LACKING = [tool for tool in ("doxygen", "help2man", "mandoc", "man") if not shutil.which(tool)]
pytestmark = [pytest.mark.skipif(bool(LACKING), reason=f"without {', '.join(LACKING)}"),
              pytest.mark.skipif(not PAGES, reason="built without manual pages")]


@pytest.fixture(name="headers", scope="module")
def headers_fixture(tmp_path_factory):
    """What Doxygen reads, without a warning: a file, macro, type or member without words is one."""
    return read_headers(run_doxygen(tmp_path_factory.mktemp("xml")))


def functions(headers):
    """(header, function) of all."""
    found = [(header, member) for header in headers for member in header.members
             if member.kind == "function"]
    assert len(found) > 95
    return found


def lacks(header, function):
    """What the comment of a function does not tell."""
    described = {plain.text for plain in function.sections("parametername")}
    names = [name for name in function.names if name and name not in EXPLAINED]
    yield from (f"parameter {name}" for name in names if name not in described)
    result = function.declaration
    if result not in ("void", "CUresult") and not function.sections("simplesect", "return"):
        yield "result"
    # A header may tell for all of its functions what holds for all.
    for word in ("Threads:", "Since:"):
        if word not in function.words() + header.words():
            yield word
    if result == "CUresult" and "CUDA_" not in function.words() + header.words():
        yield "errors"


def test_warnings_are_failures(tmp_path):
    """Doxygen's warnings reach us: a setting that leads to one ends the run."""
    with pytest.raises(RuntimeError, match="not documented"):
        run_doxygen(tmp_path, extra="EXCLUDE_SYMBOLS =")


def test_every_header_is_read(headers):
    assert {header.name for header in headers} == \
        {f"cushim/{file.name}" for file in (INCLUDE / "cushim").glob("*.h")
         if file.name not in ADAPTERS}


def test_every_function_is_documented(headers):
    """Each parameter and result, errors, threads and the release; sizes and owners are there."""
    lacking = [f"{header.name}: {function.name}: {what}" for header, function in functions(headers)
               for what in lacks(header, function)]
    assert not lacking


def test_what_is_made_has_an_owner(headers):
    """A function that hands out a handle tells whose it is, or how long it is valid."""
    handle = re.compile(r"CU(context|module|deviceptr|library|graphExec|function|kernel) \*(\w+)$")
    found, lacking = 0, []
    for _, function in functions(headers):
        texts = {item.find("parameternamelist/parametername").text:
                 " ".join(item.find("parameterdescription").itertext())
                 for item in function.sections("parameteritem")}
        for name in (made[2] for made in map(handle.match, function.parameters) if made):
            found += 1
            if not re.search(r"caller's|valid until", texts[name]):
                lacking.append(f"{function.name}: {name}")
    assert found > 8 and not lacking


def test_every_function_has_a_manual_page(headers):
    names = {page.stem for page in PAGES}
    assert {function.name for _, function in functions(headers)
            if "sim" not in function.name or (BUILD / "src/sim").exists()} <= names


def test_every_class_is_in_the_manual_page_of_cxx():
    """Each class of cushim.hpp, and each public function that its source describes."""
    source = (INCLUDE / "cushim/cushim.hpp").read_text(encoding="utf-8")
    source = re.sub(r"^namespace detail\n.*?^} // namespace detail$", "", source, flags=re.M | re.S)
    page = (BUILD / "docs/reference/cushim.hpp.3").read_text(encoding="utf-8")
    classes = re.findall(r"^(?:template <.*> )?class (\w+)(?!;|\w)", source, re.M)
    assert len(classes) == 14 and re.findall(r"^\.Ss class cushim::(\w+)$", page, re.M) == classes
    described = re.findall(r"\*/\n(?! ?[#*]|class |namespace )[^;{]*?(\w+)\(", source)
    shown = re.findall(r'^\.It Vt ".*?(\w+)\(', page, re.M)
    assert len(described) > 50 and sorted(shown) == sorted(described)


def test_every_command_has_a_manual_page():
    listed = subprocess.run([COMMAND, "--help"], text=True, capture_output=True, check=True).stdout
    names = re.findall(r"^  ([a-z]+) ", listed.partition("Commands:")[2].partition("\n\n")[0], re.M)
    assert len(names) > 5
    assert {"cushim", *(f"cushim-{name}" for name in names)} == \
        {page.stem for page in PAGES if page.suffix == ".1"}


@pytest.mark.parametrize("page", [page for page in WRITTEN if page.suffix == ".1"],
                         ids=lambda page: page.name)
def test_manual_page_has_every_option(page):
    """The page and --help are of one source."""
    name = page.stem.partition("-")[2]
    shown = subprocess.run([COMMAND, *([name] if name else []), "--help"], text=True,
                           capture_output=True, check=True).stdout
    text = page.read_text(encoding="utf-8").replace("\\-", "-")
    options = set(re.findall(r"--[a-z][a-z-]*", shown))
    assert {"--help", "--version"} <= options
    assert not [option for option in options if option not in text]


def test_manual_pages_are_clean():
    """mandoc's warnings, and groff's."""
    assert len(WRITTEN) > 20
    checked = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *WRITTEN], text=True,
                             capture_output=True, check=False)
    assert checked.returncode == 0 and not checked.stdout, checked.stdout
    for page in WRITTEN:
        shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], text=True,
                               capture_output=True, env={**os.environ, "MANWIDTH": "80"},
                               check=False)
        words = [line for line in shown.stderr.splitlines()  # groff 1.23 does not fill such a line
                 if "cannot adjust line" not in line]
        assert shown.returncode == 0 and not words, f"{page.name}: {words}"
        assert "NAME" in shown.stdout


def test_aliases_lead_somewhere():
    for page in set(PAGES) - set(WRITTEN):
        name = page.read_text(encoding="utf-8").split("/")[1].strip()
        assert (page.parent / name).exists() and (page.parent / name) in WRITTEN
        assert re.search(rf"^\.Nm {page.stem}\b", (page.parent / name).read_text(), re.M)


SIMULATED = ("cushim_sim", "cushim-sim", "cushim-matrix")


@pytest.mark.skipif(not shutil.which("mandb"), reason="without mandb")
def test_pages_are_found_by_words(tmp_path):
    """In a prefix of one's own, after the command that the page of adopting names."""
    assert 'mandb "$PREFIX/share/man"' in (ROOT / "docs/adopt.md").read_text(encoding="utf-8")
    folder = tmp_path / "share/man"
    for page in PAGES:
        (folder / f"man{page.suffix[1:]}").mkdir(parents=True, exist_ok=True)
        shutil.copy(page, folder / f"man{page.suffix[1:]}")
    subprocess.run(["mandb", folder], check=True, capture_output=True)
    for word, page in (("memory", "cushim_memory_alloc"), ("toolkit", "cushim-compat"),
                       ("pinned", "cushim.hpp"), ("pinned", "cushim_memory"),
                       ("pool", "cushim.hpp"), ("events", "cushim_stream"),
                       ("graph", "cushim_graph_instantiate"), ("callback", "cushim_stream"),
                       ("kernel", "cushim_launch"), ("PTX", "cushim_module_load"),
                       ("error", "cushim_error"), ("leak", "cushim_sim"), ("fault", "cushim_sim"),
                       ("load a driver", "cushim "), ("attributes", "cushim_device"),
                       ("context", "cushim_context"), ("drivers", "cushim-matrix"),
                       ("simulated", "cushim-sim")):
        if page.startswith(SIMULATED) and not any(file.stem == page for file in PAGES):
            continue  # a build without the simulated driver
        found = subprocess.run(["apropos", "-M", folder, word], check=False, text=True,
                               capture_output=True)
        assert any(line.startswith(page) for line in found.stdout.splitlines()), found

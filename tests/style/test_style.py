# SPDX-License-Identifier: MIT
"""What every file of the project keeps to."""

import ast
import collections
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
C_FILES = (".c", ".h", ".cpp", ".cu")
SOURCES = (*C_FILES, ".py", ".build", ".sh")
OWN_HEADERS = ROOT / "tests" / "gen"  # golden output, and headers that are wrong on purpose


def tracked(*suffixes):
    """Files of the repository with one of these endings."""
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    files = [ROOT / name for name in listed.stdout.split("\0") if name.endswith(suffixes)]
    return [file for file in files if file.exists() and OWN_HEADERS / "golden" not in file.parents
            and OWN_HEADERS / "headers" not in file.parents
            and OWN_HEADERS / "registry" not in file.parents]


@pytest.mark.in_all
def test_clang_format():
    if not shutil.which("clang-format"):
        pytest.skip("no clang-format")
    files = [file for file in tracked(".c", ".h", ".cpp") if "shim" not in file.parts]
    result = subprocess.run(["clang-format", "--dry-run", "-Werror", *files],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_shellcheck():
    if not shutil.which("shellcheck"):
        pytest.skip("no shellcheck")
    files = [file for file in tracked("") if file.is_file() and file.suffix in ("", ".sh")
             and re.match(rb"#!\S*/(env )?(ba)?sh\n", file.read_bytes())]
    result = subprocess.run(["shellcheck", *files], capture_output=True, text=True)
    assert len(files) > 4 and result.returncode == 0, result.stdout


def test_one_dialect_of_c():
    """A pointer is compared with nothing."""
    other = [f"{file.relative_to(ROOT)}:{number}" for file in tracked(*C_FILES)
             for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
             if re.search(r"[!=]= NULL\b|\bNULL [!=]=", line)]
    assert not other


def test_no_name_is_defined_twice():
    """The first of two functions of a Python module would be lost; of two tests, in silence."""
    twice = []
    for file in tracked(".py"):
        body = ast.parse(file.read_text(encoding="utf-8")).body
        names = collections.Counter(getattr(node, "name", None) for node in body)
        twice += [f"{file.relative_to(ROOT)}: {name}" for name, count in names.items()
                  if name and count > 1]
    assert not twice


def test_licence_lines():
    lacking = [str(file.relative_to(ROOT)) for file in tracked(*SOURCES)
               if "SPDX-License-Identifier: MIT" not in file.read_text(encoding="utf-8")[:400]]
    assert not lacking


def test_reuse():
    """Every file has a holder and a licence, by the rules of REUSE; Debian 12's tool is too old to
    read REUSE.toml, so this asks what can be asked without it, and a newer tool if there is one."""
    text = (ROOT / "REUSE.toml").read_text(encoding="utf-8")
    assert 'path = "**"\nprecedence = "closest"\n' in text
    used = {licence for file in tracked(*SOURCES) for licence in re.findall(
        r"^\W*SPDX-License-Identifier: ([\w.-]+)", file.read_text(encoding="utf-8"), re.M)}
    used |= set(re.findall(r'SPDX-License-Identifier = "(.*)"', text))
    assert {path.stem for path in (ROOT / "LICENSES").iterdir()} == used == {"MIT"}
    named = re.search(r"path = \[(.*?)\]", text, re.S)[1]
    named = re.findall(r'"(.*)"', named)
    assert [name for name in named if not (ROOT / name).exists()] == []
    odd = {str(file.relative_to(ROOT)) for file in tracked(*SOURCES) if re.search(
        r"SPDX-License-Identifier: (?!MIT(?: \*/| -->)?$)", file.read_text("utf-8"), re.M)}
    assert odd == set(named), "what REUSE.toml lists has licence lines in strings, and no other"
    tool = shutil.which("reuse")
    version = re.search(r"version (\d+)", subprocess.run(
        [tool, "--version"], capture_output=True, text=True).stdout) if tool else None
    if version and int(version[1]) >= 4:
        done = subprocess.run([tool, "--root", ROOT, "lint"], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_line_length():
    long = [f"{file.relative_to(ROOT)}:{number}" for file in tracked(*SOURCES, ".md")
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
            if len(line) > 100 and not line.startswith(("|", '{"'))]
    assert not long


def test_file_length():
    long = [f"{file.relative_to(ROOT)}" for file in tracked(".c", ".h", ".py")
            if len(file.read_text(encoding="utf-8").splitlines()) > 600]
    assert not long


def test_no_network_addresses():
    address = re.compile(r"https?://(?!docs\.nvidia|spdx|github\.com|www\.w3\.org|json-schema)")
    found = [f"{file.relative_to(ROOT)}:{number}" for file in tracked(*SOURCES, ".txt", ".in")
             for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
             if address.search(line) and "test_style" not in file.name]
    assert not found


def test_nothing_of_nvidias():
    words = ("NVIDIA " + "Corporation", "NOTICE TO " + "LICENSEE")
    files = tracked(*SOURCES, ".jsonl", ".ptx", ".txt", ".md")
    found = [str(file.relative_to(ROOT)) for file in files
             if any(word in file.read_text(encoding="utf-8") for word in words)]
    assert not found

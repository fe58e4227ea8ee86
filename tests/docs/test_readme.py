# SPDX-License-Identifier: MIT
"""What README.md shows of the command is what the command prints.

`<!-- test: session, NAME -->` above a block: its first line is the command, `...` stands for lines
that are left out, and a line may be broken. NAME is a program beside this file, a wheel of
tests/corpus, or a driver of the cache.
"""

import re
import shlex
import shutil
import sys

import pytest
from pages import ROOT, fenced
from runner import BUILD, CLI, HERE, NOWHERE, SIM, environment, run

sys.path[:0] = [str(HERE.parent / "corpus")]

import corpus  # noqa: E402
from real_drivers import newest_drivers  # noqa: E402

SESSIONS = {block.kind.partition(", ")[2]: block.text for block in fenced(ROOT / "README.md")
            if block.kind.startswith("session")}
USUAL = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"


def one_line(text):
    """A page breaks lines where it likes."""
    return " ".join(text.split())


def compare(session, done):
    """Each piece between two `...` is there, in this order."""
    shown, place = one_line(done.stdout), 0
    for piece in re.split(r"^ *\.\.\.$", session.partition("\n")[2], flags=re.M):
        found = shown.find(one_line(piece), place)
        assert found >= 0, f"not printed: {piece}\n{done.stdout}{done.stderr}"
        place = found + len(one_line(piece))


def command(session):
    """The words of a session's first line."""
    line = session.partition("\n")[0]
    assert line.startswith("$ cushim ")
    return [CLI, *shlex.split(line)[2:]]


def test_every_session_is_known():
    assert list(SESSIONS) == ["by_hand", "forgets", "torchaudio", "driver 550.163.01"]


@pytest.mark.parametrize("name", ["by_hand", "forgets"])
def test_matrix(tmp_path, name):
    if not SIM:
        pytest.skip("built without the simulated driver")
    shutil.copy(HERE / f"{name}.c", tmp_path)
    made = run(["cc", "-g", f"{name}.c", "-o", name, "-I", ROOT / "include", "-I",
                (BUILD / "gen").resolve(), (BUILD / "src/libcushim.a").resolve(), "-ldl",
                "-pthread"], tmp_path, environment())
    assert made.returncode == 0, made.stderr
    done = run(command(SESSIONS[name]), tmp_path,
               environment(CUSHIM_SIM_DIR=str((BUILD / "src/sim").resolve())))
    assert done.returncode == 1
    assert one_line(done.stdout) == one_line(SESSIONS[name].partition("\n")[2])


@pytest.mark.in_all
def test_scan(tmp_path):
    """On the wheel of tests/corpus, which pip fetches."""
    package = next(one for one in corpus.packages() if one["package"] == "torchaudio")
    wheel = corpus.wheel_of(package, corpus.cache_folder())
    (tmp_path / "torchaudio.whl").symlink_to(wheel)
    done = run(command(SESSIONS["torchaudio"]), tmp_path, environment())
    assert done.returncode == 1
    compare(SESSIONS["torchaudio"], done)


def test_info(tmp_path):
    """On that driver of NVIDIA's, under the path of a usual place."""
    version = "550.163.01"
    paths = [driver.path for driver in newest_drivers().values()
             if driver.path.parent.name == version]
    if not paths:
        pytest.skip(f"driver {version} is not in the cache; tests/drivers/fetch.py fetches it")
    session = SESSIONS[f"driver {version}"]
    done = run(command(session), tmp_path, environment(CUSHIM_LIBCUDA=str(paths[0])))
    assert done.returncode == 0
    for path in (paths[0], paths[0].resolve()):
        done.stdout = done.stdout.replace(str(path), USUAL)
    compare(session, done)


def rows(page, heading):
    """{first cell: the others} of the tables of a section."""
    text = (ROOT / page).read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.M | re.S)[1]
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in section.splitlines() if line.startswith("|")]
    return {first: others for first, *others in cells}


def test_figures_are_those_of_the_measurements():
    """The comparison's load, call, size and wrong slots, on the driver that it names."""
    shown = rows("README.md", "Beside other ways")
    loads = rows("docs/measurements.md", "A complete load")
    load = dict(zip(loads["driver (CUDA)"], loads["550.163.01 (12.4)"]))
    more = (int(load["cushim, µs"]) - int(load["bare, µs"])) / 1000
    ratios = [f"{float(load[f'{kind} / bare']):.2f}" if f"{kind} / bare" in load else ""
              for kind in ("cushim", "lines", "cuew", "nv-codec-headers")]
    ratios[0] += f" (+{more:.2f} ms)"
    assert shown["time to load driver 12.4 (a bare `dlopen` is 1)"] == [*ratios, ""]

    over = {name: f"{float(cells[1]):.2f}"
            for name, cells in rows("docs/measurements.md", "A call").items()
            if cells[1][:1].isdigit()}
    assert shown["time of a call (a function pointer is 1)"] == \
        [over["cushim's table"], *[over["function pointer"]] * 2, over["table of nv-codec-headers"],
         f"{over['GOT (`-lcuda`, `-fno-plt`)']} to {over['PLT (`-lcuda`)']}"]

    text = (ROOT / "docs/measurements.md").read_text(encoding="utf-8")
    collected = rows("docs/measurements.md", "Size")[
        "`-O2 -ffunction-sections -fdata-sections -Wl,--gc-sections`"]
    others = re.search(r"cuew \(.*?adds ([\d,]+).*?nv-codec-headers [\d.]+\s+adds\s+([\d,]+)",
                       text, re.S).groups()
    assert shown["code and data in a program, bytes"] == \
        [f"{int(collected[-1]):,}", "", *others, ""]

    covered = rows("docs/measurements.md", "Coverage, and slots that hold another ABI than their "
                   "type")["550.163.01 (12.4)"]
    wrong, filled = re.fullmatch(r"(\d+) \((\d+)\)", covered[-1]).groups()
    slots = shown["functions of a wrong ABI, driver 12.4"]
    assert slots[:2] == [covered[1], f"{wrong} of {filled}, by plain names"]


def test_a_difference_is_found(tmp_path):
    """The comparison can fail."""
    done = run([CLI, "info"], tmp_path, environment(CUSHIM_LIBCUDA=NOWHERE))
    compare("$ cushim info\nDriver\n ...\nEntries known\n", done)
    with pytest.raises(AssertionError, match="not printed"):
        compare("$ cushim info\nEntries known\n...\nDriver\n", done)

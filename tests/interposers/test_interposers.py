# SPDX-License-Identifier: MIT
"""A program that uses cushim is intercepted wherever the same program without it is.

Each style of interposer is a stand-in of our own (quota.h). A run is one process of program.c: one
style, one driver, one route to the driver's functions. The routes `dlsym` and `proc` are programs
without cushim; what they get is what the others are compared with.
"""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))

from real_drivers import newest_drivers  # noqa: E402

HERE = Path(os.environ["INTERPOSERS"])
PLAIN = tempfile.TemporaryDirectory(dir="/tmp")  # ends with Python
SIMULATED = ["11.0", "11.2", "11.4", "11.8", "12.0", "12.4", "12.8"]
REAL = ["450", "470", "525", "535", "550", "555"]
IN_CI = {"sim 11.0", "sim 11.4", "sim 12.8", "450", "470", "550"}
NEWER = 2  # enum cushim_state
OUT_OF_MEMORY = 2


@dataclass
class Style:
    """An interposer: how it gets into a process, and which programs it means to meet."""
    preload: str = ""
    audit: str = ""
    wrapper: str = ""  # found as libcuda.so.1
    opened: str = ""  # what a dlopen of its own opens
    program: str = ""  # a program that is linked for it
    meets: tuple = ("dlsym", "proc")
    hooks: tuple = ("cuMemAlloc_v2", "alloc")  # an entry, and what program.c calls its allocation
    since: int = 0  # older drivers have nothing that it could hook


STYLES = {
    "none": Style(meets=()),
    "dlsym, all names": Style(preload="by_dlsym"),
    "dlsym, entries only": Style(preload="by_dlsym_entries", meets=("dlsym",)),
    "dlsym, cuMemAllocAsync only": Style(preload="by_dlsym_async", meets=("dlsym",), since=11020,
                                         hooks=("cuMemAllocAsync", "async")),
    "dlsym, cuGetProcAddress only": Style(preload="by_dlsym_proc", meets=("proc",), since=11030),
    "dlsym and dlerror": Style(preload="by_dlsym_dlerror"),
    "dlsym, answers in anonymous memory": Style(preload="by_dlsym_thunks"),
    "dlsym, entries that the driver lacks": Style(preload="by_dlsym_lacking"),
    "dlsym, one wrapper for both streams": Style(preload="by_dlsym_one_wrapper"),
    "patched dlsym": Style(preload="by_patch"),
    "patched dlsym, entries only": Style(preload="by_patch_entries", meets=("dlsym",)),
    "LD_AUDIT": Style(audit="by_audit"),
    "LD_AUDIT, entries only": Style(audit="by_audit_entries", meets=("dlsym",)),
    "DT_AUDIT": Style(program="audited"),
    "dlopen": Style(preload="by_dlopen", opened="wrapper_full"),
    "full wrapper": Style(wrapper="wrapper_full"),
    "wrapper that passes cuGetProcAddress on": Style(wrapper="wrapper_passes", meets=("dlsym",)),
    "wrapper of few entries": Style(wrapper="wrapper_few", since=11030),
    "wrapper of few entries, driver in a namespace": Style(wrapper="wrapper_few_namespace",
                                                           since=11030),
    "wrapper of cuGetProcAddress": Style(wrapper="wrapper_proc", meets=("proc",), since=12000),
}


@dataclass
class Run:
    """What a run printed."""
    code: int
    stderr: str
    owners: dict = field(default_factory=dict)  # file of each entry that there is
    since: dict = field(default_factory=dict)  # release of each
    newer: set = field(default_factory=set)  # entries
    spent: dict = field(default_factory=dict)  # {name: (code for little, code for much)}
    facts: dict = field(default_factory=dict)


def release_of(name):
    """The CUDA release of a driver, by the name in the parameters below."""
    if name.startswith("sim "):
        major, minor = name.removeprefix("sim ").split(".")
        return int(major) * 1000 + int(minor) * 10
    return drivers()[name].cuda


@functools.cache
def drivers():
    """The real drivers in the cache, by branch."""
    return newest_drivers()


@functools.cache
def driver_folder(name, top):
    """A folder with the driver as libcuda.so.1."""
    if not name.startswith("sim "):
        return drivers()[name].path.parent
    library = HERE.parents[1] / "src/sim" / f"libcuda-sim-{name.removeprefix('sim ')}.so"
    folder = top / name.replace(" ", "-")
    folder.mkdir()
    (folder / "libcuda.so.1").symlink_to(library)
    return folder


@functools.cache
def wrapper_folder(name, top):
    """A folder with the wrapper as libcuda.so.1."""
    folder = top / name
    folder.mkdir()
    (folder / "libcuda.so.1").symlink_to(HERE / f"{name}.so")
    return folder


@pytest.fixture(scope="session", name="top")
def top_folder(tmp_path_factory):
    """Where the folders above lie."""
    return tmp_path_factory.mktemp("inter posers")


@functools.cache
def preloadable(name):
    """A copy: a blank in the path would end it in LD_PRELOAD."""
    return shutil.copy(HERE / f"{name}.so", PLAIN.name)


def environment(style, driver, top):
    """Of a process that the style intercepts."""
    variables = {name: value for name, value in os.environ.items()
                 if not name.startswith(("CUSHIM_LIB", "CUSHIM_LOG", "CUDA_", "LD_"))}
    variables["LD_LIBRARY_PATH"] = str(driver)
    variables["INTERPOSED_DRIVER"] = str(driver / "libcuda.so.1")
    if style.wrapper:
        variables["LD_LIBRARY_PATH"] = str(wrapper_folder(style.wrapper, top))
    if style.opened:
        variables["INTERPOSED_WRAPPER"] = str(HERE / f"{style.opened}.so")
    if style.preload:
        variables["LD_PRELOAD"] = str(preloadable(style.preload))
    if style.audit:
        variables["LD_AUDIT"] = str(HERE / f"{style.audit}.so")
    return variables


@functools.cache
def run(style_name, driver_name, program, route, top):
    """One process; each is run once however many tests look at it."""
    style = STYLES[style_name]
    driver = driver_folder(driver_name, top)
    done = subprocess.run([HERE / f"program_{style.program or program}", route],
                          env=environment(style, driver, top), capture_output=True, text=True,
                          timeout=60, check=False)
    result = Run(done.returncode, done.stderr)
    for line in done.stdout.splitlines():
        kind, *words = line.split(" ", 3)
        if kind == "entry":
            result.owners[words[0]] = words[2]
            result.since[words[0]] = int(words[1])
        elif kind == "state" and int(words[1]) == NEWER:
            result.newer.add(words[0])
        elif kind == "spend":
            result.spent[words[0]] = int(words[1]), int(words[2])
        elif kind != "state":
            result.facts[kind] = words[0]
    return result


def driver_file(driver_name, top):
    """The driver's own file."""
    return os.path.realpath(driver_folder(driver_name, top) / "libcuda.so.1")


def intercepted(result, driver_name, top):
    """The entries for which the program got another function than the driver's."""
    driver = driver_file(driver_name, top)
    return {symbol for symbol, owner in result.owners.items()
            if os.path.realpath(owner) != driver}


def references(style_name, driver_name, top):
    """The runs without cushim that the style means to meet, by route."""
    style = STYLES[style_name]
    return {route: run(style_name, driver_name, "static", route, top) for route in style.meets}


def runs(style_name, driver_name, top):
    """The runs with cushim: (name, run)."""
    style = STYLES[style_name]
    programs = ["static"] if style.program else ["static", "nopie", "shared"]
    return [(program, run(style_name, driver_name, program, "table", top))
            for program in programs]


def pairs(names):
    """Parameters: each style on each driver that has what it hooks."""
    for style_name, style in STYLES.items():
        for driver_name in names:
            known = driver_name.startswith("sim ") or driver_name in drivers()
            if not known or release_of(driver_name) >= style.since:
                yield pytest.param(style_name, driver_name, id=f"{style_name}, {driver_name}",
                                   marks=[] if driver_name in IN_CI else [pytest.mark.by_hand])


@pytest.fixture(autouse=True)
def skip_without_driver(request):
    """The tests on real drivers need those in the cache."""
    name = request.node.callspec.params["driver_name"]
    if not name.startswith("sim ") and name not in drivers():
        pytest.skip("no real driver in the cache; tests/drivers/fetch.py fetches them")


SIMULATED_NAMES = [f"sim {release}" for release in SIMULATED]
ON_ALL = pytest.mark.parametrize("style_name, driver_name", list(pairs(SIMULATED_NAMES + REAL)))
ON_SIMULATED = pytest.mark.parametrize("style_name, driver_name", list(pairs(SIMULATED_NAMES)))


@ON_ALL
def test_stand_in(style_name, driver_name, top):
    """Each stand-in does what its line above claims; else the other tests would prove nothing."""
    style = STYLES[style_name]
    for route in ("dlsym", "proc"):
        result = run(style_name, driver_name, "static", route, top)
        by_symbol = route == "dlsym" or release_of(driver_name) < 11030
        meant = ("dlsym" if by_symbol else "proc") in style.meets
        if not meant and result.code != 0:
            continue  # such a program does not work with this interposer
        assert result.code == 0, result.stderr
        entry, name = style.hooks
        assert meant == (entry in intercepted(result, driver_name, top))
        if name in result.spent:
            assert result.spent[name] == (0, OUT_OF_MEMORY if meant else 0)


@ON_ALL
def test_entries(style_name, driver_name, top):
    """An entry that is intercepted in one of the references is intercepted in cushim's table, and
    nothing newer than the driver is believed."""
    wanted = set()
    for route, result in references(style_name, driver_name, top).items():
        assert result.code == 0, (route, result.stderr)
        wanted |= intercepted(result, driver_name, top)
    for program, result in runs(style_name, driver_name, top):
        assert result.code == 0, (program, result.stderr)
        assert result.facts["status"] == "ok", program
        assert not wanted - intercepted(result, driver_name, top), program
        release = release_of(driver_name)
        assert not {symbol for symbol, since in result.since.items() if since > release}
        assert result.newer


@ON_ALL
def test_symbols(style_name, driver_name, top):
    """By symbols only, cushim is intercepted exactly where dlsym is."""
    reference = run(style_name, driver_name, "static", "dlsym", top)
    result = run(style_name, driver_name, "static", "symbols", top)
    assert result.code == reference.code == 0
    if result.facts["status"] == "ok":
        assert result.owners == reference.owners
    else:  # a library of so few symbols is no driver to dlsym either
        assert "cuDeviceGetCount" not in reference.owners


@ON_SIMULATED
def test_quota(style_name, driver_name, top):
    """What a reference may not spend, a program with cushim may not spend by any way."""
    spent = [reference.spent for reference in references(style_name, driver_name, top).values()
             if "alloc" in reference.spent]
    ways = [("static", "table"), ("static", "table-per-thread"), ("static", "helpers"),
            ("static", "helpers-per-thread")]
    if not STYLES[style_name].program:
        ways += [("nopie", "table"), ("shared", "table"), ("dropin", "")]
    for program, route in ways:
        result = run(style_name, driver_name, program, route, top)
        assert result.code == 0, (program, route, result.stderr)
        assert "alloc" in result.spent, (program, route)
        assert result.facts.get("context", "0") == "0"
        for name, codes in result.spent.items():
            there = name + "_ptsz" if name == "async" and "per-thread" in route else name
            refused = [one.get(there, one["alloc"])[1] for one in spent]
            assert codes == (0, max(refused, default=0)), (program, route, name)

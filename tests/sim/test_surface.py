# SPDX-License-Identifier: MIT
"""What the simulated drivers export and how they answer cuGetProcAddress, beside real drivers.

SIM_LIBRARIES is the folder with libcuda-sim-VERSION.so; SIM_PROBE the program proc_probe.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/drivers"))

import real_drivers  # noqa: E402

PROBE = os.environ["SIM_PROBE"]
LIBRARIES = Path(os.environ["SIM_LIBRARIES"])
ENTRIES = [json.loads(line) for line in
           (ROOT / "gen/registry/entries.jsonl").read_text(encoding="utf-8").splitlines()]
FILE = re.compile(r"libcuda-sim-(\d+\.\d)\.so")
VERSIONS = sorted((match[1] for match in map(FILE.fullmatch, os.listdir(LIBRARIES)) if match),
                  key=lambda name: tuple(map(int, name.split("."))))
DRIVERS = {driver.branch: driver for driver in real_drivers.newest_drivers().values()}


def number(version):
    """"12.4" -> 12040"""
    major, minor = version.split(".")
    return 1000 * int(major) + 10 * int(minor)


def library(cuda):
    """The simulated driver of a CUDA version, 12040."""
    return LIBRARIES / f"libcuda-sim-{cuda // 1000}.{cuda % 1000 // 10}.so"


def expected(cuda):
    """The documented symbols of that version on a desktop or server."""
    return {entry["symbol"] for entry in ENTRIES
            if entry["since"] <= cuda and entry.get("platform") != "windows"
            and entry["symbol"] != "cuEventCreateFromEGLSync"
            and (entry["symbol"] != "cuDeviceGetLuid" or cuda >= 11020)}


OWN = {"cushim_sim_engine"}  # for the loader


def exported(path):
    """What the file exports of the documented API."""
    return {name for name in real_drivers.nm_exports(path)
            if name.startswith("cu") and not real_drivers.is_private(name)} - OWN


def questions():
    """Every name and symbol of the registry, and some others, at and around every version."""
    names = sorted({entry["name"] for entry in ENTRIES} | {entry["symbol"] for entry in ENTRIES}
                   | {"cuNoSuch", "-", "CuInit", "cuinit", "cudbgGetAPIVersion"})
    versions = sorted({entry["since"] + step for entry in ENTRIES for step in (-1, 0, 1)}
                      | {0, -1, 1, -2**31, 2**31 - 1, 99999})
    lines = [f"{name} {version} {flags}" for name in names for version in versions
             for flags in (0, 1, 2)]
    lines += [f"{name} {version} {flags}"
              for name in ("cuInit", "cuMemcpy", "cuStreamSynchronize", "cuNoSuch")
              for version in versions for flags in (3, 4, 5, 8, 2**32, 2**32 + 2, 2**64 - 1)]
    return "\n".join(lines) + "\n"


def answers(path, form, environment=None):
    """The probe's answers, one line each."""
    done = subprocess.run([PROBE, str(path), form], input=questions(), text=True,
                          capture_output=True, check=True, env=environment)
    return done.stdout.splitlines()


def test_there_are_all_versions():
    wanted = ("6.5 8.0 9.0 9.1 10.0 10.1 10.2 11.0 11.1 11.2 11.3 11.4 11.5 11.6 11.7 11.8 "
              "12.0 12.1 12.2 12.3 12.4 12.5 12.6 12.8 12.9 13.0").split()
    newest = max(entry["since"] for entry in ENTRIES)
    assert set(wanted) <= set(VERSIONS)
    assert library(newest).exists()


@pytest.mark.parametrize("version", VERSIONS)
def test_exports_are_exactly_those_of_the_version(version):
    symbols = set(real_drivers.nm_exports(library(number(version))))
    assert symbols == expected(number(version)) | OWN


def real_driver(branch):
    """The cached driver of a branch."""
    if branch not in DRIVERS:
        pytest.skip(f"driver {branch} is not in the cache; tests/drivers/fetch.py fetches it")
    return DRIVERS[branch]


@pytest.mark.parametrize("branch", real_drivers.each_branch())
def test_exports_are_the_real_drivers(branch):
    driver = real_driver(branch)
    if not library(driver.cuda).exists():
        pytest.skip(f"driver {driver.version} is CUDA {driver.cuda}, which is not simulated")
    assert exported(library(driver.cuda)) == exported(driver.path)


@pytest.mark.parametrize("branch,form", [
    ("470", "v1"), ("525", "v1"), ("525", "v2"), ("535", "v1"), ("535", "v2"), ("550", "v1"),
    ("550", "v2"), ("555", "v1"), ("555", "v2")])
def test_proc_address_answers_as_the_real_driver(branch, form):
    driver = real_driver(branch)
    real = answers(driver.path, form, driver.environment())
    simulated = answers(library(driver.cuda), form)
    assert len(real) == len(simulated) > 100000
    different = [(a, b) for a, b in zip(real, simulated) if a != b]
    assert not different, different[:10]


def test_drivers_before_11_3_have_no_proc_address():
    for version in VERSIONS:
        has = any(name.startswith("cuGetProcAddress")
                  for name in real_drivers.nm_exports(library(number(version))))
        assert has == (number(version) >= 11030)

# SPDX-License-Identifier: MIT
"""The plugin of pytest.

`pytest --cushim-sim 11.4,12.2` runs the suite once for each release, each in a process of its own
under `cushim sim`, with the arguments of this run. What a run leaked is shown at the end. The mark
`cushim` skips a test that the driver or its devices cannot run.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional

import pytest

from . import load
from .native import FOLDER

RUN = "CUSHIM_PYTEST_RELEASE"  # in the environment of a run: its release
RELEASE = os.environ.pop(RUN, None)
# As `pytest` starts it, or as `python -m pytest` does, with the working folder to import from.
START = "import sys; {}import pytest; sys.exit(pytest.main())"
VALUES = ("devices", "profile", "memory", "grain", "workers")
MARK = ("cushim(feature=None, symbol=None, release=None, devices=1): skip the test unless the CUDA "
        "driver has the feature (on device 0), exports the symbol, is of the release or later, "
        "such as (12, 0), and has so many devices")


def pytest_addoption(parser: Any) -> None:
    """The options of `cushim sim` that tests need."""
    group = parser.getgroup("cushim", "simulated CUDA drivers")
    group.addoption("--cushim-sim", metavar="RELEASES",
                    help="run once for each release, such as 11.4,12.2,13.0, on a simulated driver")
    group.addoption("--cushim-devices", metavar="N", help="how many devices, 0 to 64 (default: 1)")
    group.addoption("--cushim-profile", metavar="NAME", help="which device: ampere, hopper, ...")
    group.addoption("--cushim-memory", metavar="SIZE", help="memory of each device, such as 8G")
    group.addoption("--cushim-grain", metavar="BYTES",
                    help="let kernels use blocks up to a multiple of so many bytes, at most 512")
    group.addoption("--cushim-workers", metavar="N", help="CPU threads that run a kernel")
    group.addoption("--cushim-fault", metavar="RULE", action="append", default=[],
                    help="make calls fail, e.g. cuMemAlloc:call=3,error=2; may be repeated")
    group.addoption("--cushim-check", action="store_true",
                    help="fail if something was not released, or a rule never fired")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: Any) -> Optional[int]:
    """The run that starts the others; None in one of these and in xdist's workers."""
    option = config.option
    if option.cushim_sim is None or RELEASE or hasattr(config, "workerinput") or option.help:
        return None
    releases = [release.strip() for release in option.cushim_sim.split(",")]
    command = find_command()
    codes: Dict[str, int] = {}
    problems: Dict[str, List[str]] = {}
    with tempfile.TemporaryDirectory(prefix="cushim-pytest-") as folder:
        for release in releases:
            summary = Path(folder, "summary.json")
            codes[release] = run(config, command, release, summary)
            if not summary.exists():  # `cushim sim` refused it, and has said why
                raise pytest.UsageError(f"no run on a simulated driver of CUDA {release}")
            problems[release] = json.loads(summary.read_text("utf-8"))["problems"]
            summary.unlink()
            if codes[release] == pytest.ExitCode.INTERRUPTED:
                break
            if option.cushim_check and problems[release] and not codes[release]:
                codes[release] = int(pytest.ExitCode.TESTS_FAILED)
    show(codes, problems)
    return next((code for code in codes.values() if code), 0)


def find_command() -> str:
    """The command of this package, or else the system's."""
    own = FOLDER / "bin" / "cushim"
    found = str(own) if own.exists() else shutil.which("cushim")
    if not found:
        raise pytest.UsageError("--cushim-sim: the command cushim is not installed")
    return found


def run(config: Any, command: str, release: str, summary: Path) -> int:
    """One run; its exit code."""
    words = [command, "sim", "--quiet", "--cuda", release, "--summary", str(summary)]
    for name in VALUES:
        value = config.getoption("cushim_" + name)
        words += [] if value is None else ["--" + name, value]
    for rule in config.option.cushim_fault:
        words += ["--fault", rule]
    as_module = Path(sys.argv[0]).name == "__main__.py"
    start = START.format("" if as_module else "sys.path.pop(0); ")
    words += ["--", sys.executable, "-c", start, *map(str, config.invocation_params.args)]
    sys.stdout.flush()
    with subprocess.Popen(words, cwd=str(config.invocation_params.dir),
                          env={**os.environ, RUN: release}) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # the terminal sent it to the run as well, which ends itself
                continue


def show(codes: Dict[str, int], problems: Dict[str, List[str]]) -> None:
    """What became of each release, and what it left."""
    print(" simulated CUDA drivers ".center(shutil.get_terminal_size().columns - 1, "="))
    for release, code in codes.items():
        print(f"CUDA {release}: {'passed' if code == 0 else f'failed (exit code {code})'}")
        for problem in problems.get(release, []):
            print(f"    {problem}")
    sys.stdout.flush()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: Any) -> None:
    """The mark; and of a run, a report of its own."""
    config.addinivalue_line("markers", MARK)
    report = getattr(config.option, "xmlpath", None)
    if RELEASE and report:
        path = Path(report)
        config.option.xmlpath = str(path.with_name(f"{path.stem}-cuda{RELEASE}{path.suffix}"))


def pytest_report_header() -> Optional[str]:
    """Which driver it is."""
    return f"cushim: simulated driver of CUDA {RELEASE}" if RELEASE else None


def pytest_runtest_setup(item: Any) -> None:
    """Skip what cannot run."""
    for mark in item.iter_markers("cushim"):
        reason = lacking(*mark.args, **mark.kwargs)
        if reason:
            pytest.skip(reason)


def lacking(feature: Optional[str] = None, symbol: Optional[str] = None, release: Any = 0,
            devices: int = 1) -> str:
    """What the driver of this process lacks, as a sentence; "" if nothing."""
    driver = load()
    if symbol and symbol not in {entry.symbol for entry in driver.entries()}:
        raise ValueError(f"cushim knows no entry '{symbol}'; `cushim symbols` lists them")
    if not driver or (devices > 0 and not driver.init()):
        return driver.message
    if release and driver.version < tuple(release):
        return "CUDA {}.{} is needed, and the driver is of {}".format(*release, driver.version)
    if symbol and not driver.has(symbol):
        if driver.nearest(symbol) != symbol:
            raise ValueError(driver.reason(symbol))
        return driver.reason(symbol)
    count = len(driver.devices()) if devices > 0 else 0
    if count < devices:
        return f"{devices} devices are needed, and there are {count}"
    if feature:
        features = driver.features(0 if count else None)
        if feature not in features:
            raise ValueError(f"cushim knows no feature '{feature}'; `cushim features` lists them")
        return "" if features[feature] else features[feature].reason
    return ""

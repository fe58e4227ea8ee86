# SPDX-License-Identifier: MIT
"""The plugin of pytest.

`pytest --cushim-sim 11.4,12.2` runs the suite once for each release, each in a process of its own
under `cushim sim`, with the arguments of this run. What a run leaked is shown at the end. The mark
`cushim` skips a test that the driver or its devices cannot run.
"""

import difflib
import inspect
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from argparse import SUPPRESS
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

import pytest

from . import _number, _release, load
from .native import FOLDER, needed
from .sim import Left

RUN = "CUSHIM_PYTEST_RELEASE"  # in the environment of a run: its release
RELEASE = os.environ.pop(RUN, None)
if RELEASE:  # `--quiet` is for the run's end; a test that fails shows what the driver said
    os.environ.pop("CUSHIM_SIM_SUMMARY", None)
LEFT = "CUSHIM_PYTEST_LEFT"  # a file in which each process of a run notes what its tests left
CHECKS = ("race", "init", "sync")
CHECK_FAILED = 5  # the command's exit code
# As `pytest` starts it, or as `python -m pytest` does, with the working folder to import from.
START = "import sys; {}import pytest; sys.exit(pytest.main())"
VALUES = ("devices", "profile", "memory", "grain", "workers")
WORKER = "cushim_release"  # what a worker of pytest-xdist is told: the run's release
MARK = ("cushim(feature=None, symbol=None, release=None, devices=1): skip the test unless the CUDA "
        "driver has the feature (on device 0), exports the symbol, is of the release or later, "
        "such as (12, 0), and has so many devices")


def pytest_addoption(parser: Any, pluginmanager: Any) -> None:
    """The options of `cushim sim` that tests need."""
    config = pluginmanager.get_plugin("pytestconfig")
    refuse_unknown_checks(map(str, config.invocation_params.args) if config else ())
    group = parser.getgroup("cushim", "simulated CUDA drivers")
    group.addoption("--cushim-sim", metavar="RELEASES",
                    help="run once for each release, such as 11.4,12.2,13.0 or 11.4+, on a "
                    "simulated driver")
    group.addoption("--cushim-devices", metavar="N", help="how many devices, 0 to 64 (default: 1)")
    group.addoption("--cushim-profile", metavar="NAME",
                    help="which simulated device; 'cushim sim --list' has the names (default: "
                         "ampere, or the newest that the release knows)")
    group.addoption("--cushim-memory", metavar="SIZE", help="memory of each device, such as 8G")
    group.addoption("--cushim-grain", metavar="BYTES",
                    help="let kernels use blocks up to a multiple of so many bytes, at most 512")
    group.addoption("--cushim-workers", metavar="N", help="CPU threads that run a kernel")
    group.addoption("--cushim-fault", metavar="RULE", action="append", default=[],
                    help="make calls fail, e.g. cuMemAlloc:call=3,error=2; may be repeated")
    group.addoption("--cushim-check", action="store_const", const="", default=None,
                    help="fail if something was not released, or a rule never fired; "
                         "with =race, =init or =sync, or several with commas between, also a test "
                         "whose kernels have such faults")
    for count in range(1, len(CHECKS) + 1):  # argparse has no flag with a value that may lack
        for words in itertools.permutations(CHECKS, count):
            group.addoption("--cushim-check=" + ",".join(words), action="store_const",
                            const=",".join(words), dest="cushim_check", help=SUPPRESS)


def refuse_unknown_checks(words: Iterable[str]) -> None:
    """argparse would name a flag that takes no value."""
    for word in itertools.takewhile("--".__ne__, words):
        name, equals, checks = word.partition("=")
        for check in checks.split(",") if name == "--cushim-check" and equals else ():
            if check not in CHECKS:
                raise pytest.UsageError(f"--cushim-check: '{check}' is none of {', '.join(CHECKS)}")


def without_sim(option: Any) -> Optional[str]:
    """The option that does nothing without --cushim-sim, if there is one."""
    given = [name for name in VALUES if getattr(option, "cushim_" + name) is not None]
    given += ["fault"] if option.cushim_fault else []
    given += ["check"] if option.cushim_check is not None else []
    return "--cushim-" + given[0] if given and option.cushim_sim is None else None


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: Any) -> Optional[int]:
    """The run that starts the others; None in one of these and in xdist's workers."""
    option = config.option
    alone = without_sim(option)
    if alone and not option.help:
        raise pytest.UsageError(f"{alone} needs a simulated driver: add --cushim-sim RELEASES, "
                                "such as --cushim-sim 11.4,13.0")
    if option.cushim_sim is None or RELEASE or hasattr(config, "workerinput") or option.help:
        return None
    command = find_command()
    releases = releases_of(command, option.cushim_sim)
    codes: Dict[str, int] = {}
    problems: Dict[str, List[str]] = {}
    failed = set()  # by --cushim-check alone
    with tempfile.TemporaryDirectory(prefix="cushim-pytest-") as folder:
        for release in releases:
            summary, left = Path(folder, "summary.json"), Path(folder, release)
            codes[release], stopped = run(config, command, release, summary, left)
            if not summary.exists():  # `cushim sim` refused it, and has said why
                raise pytest.UsageError(f"no run on a simulated driver of CUDA {release}")
            problems[release] = json.loads(summary.read_text("utf-8"))["problems"]
            summary.unlink()
            if stopped:
                break
            if problems[release] and left.exists():
                problems[release] += left.read_text("utf-8").splitlines()
            if option.cushim_check is not None and problems[release] and \
                    codes[release] in (0, CHECK_FAILED if option.cushim_check else 0):
                codes[release] = int(pytest.ExitCode.TESTS_FAILED)
                failed.add(release)
    show(codes, problems, failed)
    return next((code for code in codes.values() if code), 0)


def find_command() -> str:
    """The command of this package, or else the system's."""
    own = FOLDER / "bin" / "cushim"
    found = str(own) if own.exists() else shutil.which("cushim")
    if not found:
        raise pytest.UsageError("--cushim-sim: the command cushim is not installed")
    return found


def releases_of(command: str, asked: str) -> List[str]:
    """Of "11.4,12.0-12.4,13.0+", a range the newest first; `cushim sim` tells of what is none."""
    first_line = subprocess.run([command, "sim", "--list"], capture_output=True, text=True,
                                check=True).stdout.splitlines()[0]
    known = first_line.split(":")[1].split()
    releases: List[str] = []
    for word in map(str.strip, asked.split(",")):
        first, sign, last = word.partition("-")
        if word.endswith("+"):
            first, sign, last = word[:-1], "+", known[-1]
        if sign and first in known and last in known:
            releases += reversed(known[known.index(first):known.index(last) + 1])
        else:
            releases.append(word)
    return releases


def run(config: Any, command: str, release: str, summary: Path, left: Path) -> Tuple[int, bool]:
    """One run: its exit code, and whether it was interrupted. pytest's own code for that is also
    the one of a test file that cannot be imported."""
    words = [command, "sim", "--quiet", "--cuda", release, "--summary", str(summary)]
    for name in VALUES:
        value = config.getoption("cushim_" + name)
        words += [] if value is None else ["--" + name, value]
    for rule in config.option.cushim_fault:
        words += ["--fault", rule]
    if config.option.cushim_check:
        words += ["--check=" + config.option.cushim_check]
    as_module = Path(sys.argv[0]).name == "__main__.py"
    start = START.format("" if as_module else "sys.path.pop(0); ")
    words += ["--", sys.executable, "-c", start]
    if config.pluginmanager.hasplugin("cacheprovider"):  # for --lf
        words += ["-o", f"cache_dir={config.getini('cache_dir')}/cuda{release}"]
    words += map(str, config.invocation_params.args)
    if config.option.verbose < 0:  # pytest's own heading, which names the driver, is not shown
        print(line(f"CUDA {release}"))
    sys.stdout.flush()
    with subprocess.Popen(words, cwd=str(config.invocation_params.dir),
                          env={**os.environ, **of_its_own(config, release), RUN: release,
                               LEFT: str(left)}) as process:
        stopped = False
        while True:
            try:
                return process.wait(), stopped
            except KeyboardInterrupt:  # the terminal sent it to the run as well, which ends itself
                stopped = True


def of_its_own(config: Any, release: str) -> Dict[str, str]:
    """Variables that give a run files of its own: what pytest-cov measures."""
    if not getattr(config.option, "cov_source", None):
        return {}
    return {"COVERAGE_FILE": f"{os.environ.get('COVERAGE_FILE', '.coverage')}.cuda{release}"}


def line(text: str) -> str:
    """A heading, as pytest has them."""
    return f" {text} ".center(shutil.get_terminal_size().columns - 1, "=")


def ended(code: int) -> str:
    """How a run ended."""
    number = -code if code < 0 else code - 128
    if number in {member.value for member in signal.Signals}:
        return f"signal {number} ({signal.strsignal(number)})"
    return f"exit code {code}"


def show(codes: Dict[str, int], problems: Dict[str, List[str]], failed: "set[str]") -> None:
    """What became of each release, and what it left."""
    print(line("simulated CUDA drivers"))
    for release, code in codes.items():
        how = "--cushim-check" if release in failed else ended(code)
        print(f"CUDA {release}: {f'failed ({how})' if code else 'passed'}")
        for problem in problems.get(release, []):
            print(f"    {problem}")
    sys.stdout.flush()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: Any) -> None:
    """The mark; and of a run, a report of its own. A worker of pytest-xdist belongs to one."""
    global TESTS  # pylint: disable=global-statement
    if getattr(config, "workerinput", {}).get(WORKER):
        TESTS = Left()
    config.addinivalue_line("markers", MARK)
    report = getattr(config.option, "xmlpath", None)
    if RELEASE and report:
        path = Path(report)
        config.option.xmlpath = str(path.with_name(f"{path.stem}-cuda{RELEASE}{path.suffix}"))


def pytest_report_header() -> Optional[str]:
    """Which driver it is."""
    return f"cushim: simulated driver of CUDA {RELEASE}" if RELEASE else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist that it belongs to this run."""
    if RELEASE:
        node.workerinput[WORKER] = RELEASE


TESTS = Left() if RELEASE else None  # other runs of pytest are left alone


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:
    """Note what the test leaves, with its fixtures."""
    if TESTS:
        TESTS.begin()
    yield
    if TESTS:
        TESTS.end(item.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: Any) -> None:
    """Fail for what the checks of kernels found in the test, which itself has passed."""
    count = TESTS.found() if TESTS else 0
    if count:
        pytest.fail(f"the checks of kernels found {count} fault{'s' if count > 1 else ''} in "
                    f"{item.name}; standard error has them", pytrace=False)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """For the run that started this one."""
    path = os.environ.get(LEFT)
    lines = TESTS.lines() if path and TESTS else []
    if path and lines:
        with open(path, "a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))


def pytest_runtest_setup(item: Any) -> None:
    """Skip what cannot run."""
    for mark in item.iter_markers("cushim"):
        reason = wrong = ""
        try:
            check_words(mark.args, mark.kwargs)
            reason = lacking(*mark.args, **mark.kwargs)
        except (TypeError, ValueError) as error:
            wrong = str(error)
        if wrong:
            pytest.fail(f"the mark cushim of {item.name}: {wrong}", pytrace=False)
        if reason:
            skip_at_the_test(reason)


def skip_at_the_test(reason: str) -> None:
    """As pytest.skip, with the place of the test."""
    try:
        skipped = pytest.skip.Exception(reason, _use_item_location=True)
    except TypeError:  # an old pytest
        skipped = pytest.skip.Exception(reason)
    raise skipped


def check_words(values: Sequence[Any], named: Dict[str, Any]) -> None:
    """Refuse what the mark does not take."""
    known = list(inspect.signature(lacking).parameters)
    form = "the mark is " + MARK.partition(":")[0]
    for name in named:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise ValueError(f"it takes no '{name}'; " +
                             (f"did you mean {near[0]}?" if near else form))
        if name in known[:len(values)]:
            raise ValueError(f"{name} is given twice; {form}")
    if len(values) > len(known):
        raise ValueError(f"it takes {len(known)} values, not {len(values)}; {form}")


def lacking(feature: Optional[str] = None, symbol: Optional[str] = None, release: Any = None,
            devices: int = 1) -> str:
    """What the driver of this process lacks, as a sentence; "" if nothing."""
    needed("feature", feature, (str, type(None)), "a name of `cushim features`")
    needed("symbol", symbol, (str, type(None)), "a name of `cushim symbols`")
    needed("devices", devices, int, "a number")
    wanted: Any = tuple(release) if isinstance(release, list) else release or 0
    oldest = _release(_number(wanted))
    driver = load()
    if symbol and symbol not in {entry.symbol for entry in driver.entries()}:
        near = driver.nearest(symbol)
        raise ValueError(f"cushim knows no entry '{symbol}'; " + (
            f"did you mean {near}?" if near else "`cushim symbols` lists them"))
    known = driver.features() if feature else {}
    if feature and feature not in known:
        alike = difflib.get_close_matches(feature, known, 1)
        raise ValueError(f"cushim knows no feature '{feature}'; " + (
            f"did you mean {alike[0]}?" if alike else "`cushim features` lists them"))
    if not driver or (devices > 0 and not driver.init()):
        return driver.message
    if driver.version < oldest:
        return f"CUDA {oldest} is needed, and the driver is of {driver.version}"
    if symbol and not driver.has(symbol):
        if driver.nearest(symbol) != symbol:
            raise ValueError(driver.reason(symbol))
        return driver.reason(symbol)
    count = len(driver.devices()) if devices > 0 else 0
    if count < devices:
        return f"{devices} devices are needed, and there are {count}"
    if feature:
        features = driver.features(0 if count else None)
        return "" if features[feature] else features[feature].reason
    return ""

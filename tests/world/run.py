#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other projects' own tests on the simulated driver: what passes, and why the rest does not.

    python3 tests/world/run.py build/tools/cushim numba-cuda pycuda
    python3 tests/world/run.py build/tools/cushim tinygrad --source tinygrad=FOLDER
    python3 tests/world/run.py build/tools/cushim tinygrad --few

pip fetches what suites.toml names, once for each folder of --work. What pip does not have is given
by --source. The exit code is 0 if each failure is one of known.txt, 77 if pip could not fetch what
a suite needs and no other failed, and 1 otherwise.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Python's own traces: pytest's show the source, and Python 3.11 sometimes fails to parse it.
# The limit finds a test that hangs. On a busy machine the longest take minutes.
PYTEST = ["--timeout", "600", "--tb", "native"]


class NotFetched(Exception):
    """pip did not get what a suite needs."""


def read_suites():
    """suites.toml. A suite with `like` has what the other has, but for lines of its own."""
    with open(HERE / "suites.toml", "rb") as file:
        suites = tomllib.load(file)
    for name, suite in suites.items():
        other = suites[suite["like"]] if "like" in suite else {}
        env = other.get("env", {}) | suite.get("env", {})
        suites[name] = {"home": name, **other, **suite, "env": env}
    return suites


def fill(text, folder):
    """The names of places in a text of suites.toml."""
    site = next((folder / "environment/lib").glob("python*")) / "site-packages"
    return text.format(site=site, here=HERE, work=folder, path=os.environ["PATH"],
                       python=folder / "environment/bin/python")


def pip(folder, *words):
    """pip of the suite's environment, which works beside this."""
    return subprocess.Popen([folder / "environment/bin/python", "-m", "pip", "--quiet",
                             "--disable-pip-version-check", *words])


def prepare(folder, suite, options):
    """The environment, the source package and what is built of it, unless they are there."""
    packages = suite["packages"] + (suite.get("whole_packages", []) if not options.few else [])
    wanted = "\n".join([*packages, suite.get("sdist", ""), *suite.get("build", [])])
    mark = folder / "prepared.txt"
    # What the whole suite has is enough for the small selection.
    if mark.exists() and set(wanted.split("\n")) <= set(
            mark.read_text(encoding="utf-8").split("\n")):
        return
    mark.unlink(missing_ok=True)
    shutil.rmtree(folder / "sdist", ignore_errors=True)
    venv.create(folder / "environment", with_pip=True, clear=True)
    work = [pip(folder, "install", "--no-compile", *packages)]
    if "sdist" in suite:
        work.append(pip(folder, "download", "--no-deps", "--no-binary",
                        suite["sdist"].split("=")[0], "-d", folder / "sdist", suite["sdist"]))
    if any([one.wait() for one in work]):
        raise NotFetched
    if "sdist" in suite:
        archive, = (folder / "sdist").glob("*.tar.gz")
        shutil.unpack_archive(archive, folder / "sdist")
    for command in suite.get("build", []):
        subprocess.run([options.cushim.resolve(), "sim", "--quiet", "--cuda", suite["cuda"], "--",
                        "sh", "-c", fill(command, folder)], check=True, stdout=subprocess.DEVNULL,
                       cwd=unpacked(folder))
    mark.write_text(wanted, encoding="utf-8")


def unpacked(folder):
    """The folder of the source package."""
    return next(path for path in (folder / "sdist").iterdir() if path.is_dir())


def lacks(name, suite, options):
    """Why the suite cannot run with these options, or nothing."""
    if options.few and "few" not in suite:
        return "it has no small selection"
    if "source" in suite and not options.few and not source_of(name, suite, options):
        return f"it needs {suite['source']}: --source {name}=FOLDER"
    return ""


def source_of(name, suite, options):
    """What --source gives for a suite, or for the one that it is like."""
    return options.sources.get(name, options.sources.get(suite["home"]))


def place_of_tests(name, suite, folder, options):
    """Where pytest runs."""
    given = source_of(name, suite, options)
    if given:
        return Path(given).resolve() / suite.get("folder", "")
    return unpacked(folder) / suite.get("folder", "") if "sdist" in suite else folder


def read_known(name):
    """Tests of a suite that fail, as pairs of a pattern and the cause."""
    pairs = []
    for line in (HERE / "known.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(name + " "):
            _, pattern, cause = line.split(None, 2)
            pairs.append((re.compile(pattern), cause))
    return pairs


def cause_of(name, text, known):
    """Why a test failed: what known.txt says, or the last error that it printed."""
    for pattern, cause in known:
        if pattern.search(name):
            return cause, True
    lines = re.findall(r"^(\S*(?:Error|Exception|CUDA_ERROR).*)$", text, re.MULTILINE)
    ptxas = re.findall(r"ptxas.*?(?:error|fatal)\s*:\s*(.*)", text)
    last = (ptxas or lines or [text.strip().split("\n", 1)[0]])[-1]
    return re.sub(r"0x[0-9a-f]+|\b\d+\b", "#", last)[:150], False


def count(report, known):
    """Outcomes and causes in a JUnit file; the names of failures that nobody expected."""
    outcomes, causes, unknown = collections.Counter(), collections.Counter(), []
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        failed = case.find("failure") if case.find("failure") is not None else case.find("error")
        if failed is not None:
            outcomes["failed"] += 1
            text = (failed.get("message") or "") + "\n" + (failed.text or "")
            cause, expected = cause_of(name, text, known)
            causes[cause] += 1
            if not expected:
                unknown.append(name)
        else:
            outcomes["skipped" if case.find("skipped") is not None else "passed"] += 1
    return outcomes, causes, unknown


def environment(suite, folder):
    """Variables of the tests: no toolkit of this machine's, and what the suite wants."""
    env = {key: value for key, value in os.environ.items()
           if key not in ("CUDA_HOME", "CUDA_PATH", "LIBRARY_PATH")}
    env |= {key: fill(value, folder) for key, value in suite["env"].items()}
    places = [str(HERE), suite["env"].get("PYTHONPATH", "")]
    return env | {"PYTHONPATH": os.pathsep.join(filter(None, places)),
                  "WORLD_WITHOUT": suite.get("without", "")}


def run(name, suite, options):
    """One suite; true if each failure was expected."""
    reason = lacks(name, suite, options)
    if reason:
        print(f"{name}: skipped, {reason}")
        return True
    folder = options.work.resolve() / suite["home"]
    folder.mkdir(parents=True, exist_ok=True)
    prepare(folder, suite, options)
    place = place_of_tests(name, suite, folder, options)
    report, text = folder / f"{name}.xml", folder / f"{name}.txt"
    report.unlink(missing_ok=True)
    plugins = [part for plugin in suite.get("plugins", []) for part in ("-p", plugin)]
    tests = [fill(one, folder) for one in suite["few" if options.few else "pytest"]]
    with open(text, "w", encoding="utf-8") as output:
        code = subprocess.run(
            [options.cushim.resolve(), "sim", "--quiet", "--cuda", suite["cuda"],
             "--profile", suite.get("profile", "ampere"), "--grain", str(suite.get("grain", 1)),
             "--devices", str(suite.get("devices", 1)),
             "--", folder / "environment/bin/python",
             "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *plugins, *PYTEST,
             f"--junitxml={report}", *tests, *options.pytest],
            cwd=place, env=environment(suite, folder), stdout=output,
            stderr=subprocess.STDOUT, check=False).returncode
    if code not in (0, 1) or not report.exists():
        print(f"{name}: pytest ended with {code}; {text}")
        return False
    outcomes, causes, unknown = count(report, read_known(name))
    print(f"| {name} | {outcomes['passed']} | {outcomes['failed']} | {outcomes['skipped']} | "
          + "; ".join(f"{number} {cause}" for cause, number in causes.most_common()) + " |")
    for test in unknown[:options.show]:
        print(f"    not expected: {test}")
    return not unknown and outcomes["passed"] > 0


def main():
    """The suites that the command line names."""
    suites = read_suites()
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("cushim", type=Path, help="the command")
    parser.add_argument("suite", nargs="+", choices=list(suites))
    parser.add_argument("--few", action="store_true", help="the small selection")
    parser.add_argument("--source", action="append", default=[], metavar="SUITE=FOLDER")
    parser.add_argument("--work", type=Path, default=Path("build-world"), help="where all is kept")
    parser.add_argument("--pytest", action="append", default=[], help="one more argument for it")
    parser.add_argument("--show", type=int, default=20, help="how many unexpected ones to name")
    options = parser.parse_args()
    options.sources = dict(pair.split("=", 1) for pair in options.source)
    passed, not_fetched = True, []
    for name in options.suite:
        try:
            passed = run(name, suites[name], options) and passed
        except NotFetched:
            not_fetched.append(name)
    if not_fetched:
        print("pip cannot fetch what is needed by " + ", ".join(not_fetched))
    return 1 if not passed else 77 if not_fetched else 0


if __name__ == "__main__":
    sys.exit(main())

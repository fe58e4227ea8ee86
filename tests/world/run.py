#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Other projects' own tests on the simulated driver: what passes, and why the rest does not.

    python3 tests/world/run.py build/tools/cushim numba-cuda pycuda
    python3 tests/world/run.py build/tools/cushim tinygrad --source tinygrad=FOLDER
    python3 tests/world/run.py build/tools/cushim tinygrad --few

pip fetches what suites.toml names, once for each folder of --work. What pip does not have is given
by --source. The exit code is 0 if each failure is one of known.txt, and 1 otherwise.
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


def fill(text, folder):
    """The names of places in a text of suites.toml."""
    site = next((folder / "environment/lib").glob("python*")) / "site-packages"
    return text.format(site=site, here=HERE, work=folder, path=os.environ["PATH"],
                       python=folder / "environment/bin/python")


def pip(folder, *words):
    """pip of the suite's environment."""
    subprocess.run([folder / "environment/bin/python", "-m", "pip", "--quiet",
                    "--disable-pip-version-check", *words], check=True)


def prepare(folder, suite, options):
    """The environment, the source package and what is built of it, unless they are there."""
    packages = suite["packages"] + (suite.get("whole_packages", []) if not options.few else [])
    wanted = "\n".join([*packages, suite.get("sdist", ""), *suite.get("build", [])])
    mark = folder / "prepared.txt"
    if mark.exists() and mark.read_text(encoding="utf-8") == wanted:
        return
    mark.unlink(missing_ok=True)
    shutil.rmtree(folder / "sdist", ignore_errors=True)
    venv.create(folder / "environment", with_pip=True, clear=True)
    pip(folder, "install", *packages)
    if "sdist" in suite:
        pip(folder, "download", "--no-deps", "--no-binary", suite["sdist"].split("=")[0],
            "-d", folder / "sdist", suite["sdist"])
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


def place_of_tests(name, suite, folder, options):
    """Where pytest runs; None: what is needed was not given."""
    if name in options.sources:
        return Path(options.sources[name]).resolve()
    if "source" in suite and not options.few:
        return None
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
    lines = re.findall(r"^E\s+(.*(?:Error|Exception|CUDA_ERROR).*)$", text, re.MULTILINE)
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
    env |= {key: fill(value, folder) for key, value in suite.get("env", {}).items()}
    places = [str(HERE), str(HERE / "no_jitlink") if "no_jitlink" in suite else "",
              suite.get("env", {}).get("PYTHONPATH", "")]
    return env | {"PYTHONPATH": os.pathsep.join(filter(None, places))}


def run(name, suite, options):
    """One suite; true if each failure was expected."""
    folder = options.work.resolve() / name
    folder.mkdir(parents=True, exist_ok=True)
    prepare(folder, suite, options)
    place = place_of_tests(name, suite, folder, options)
    if place is None:
        print(f"{name}: skipped, it needs {suite['source']}: --source {name}=FOLDER")
        return True
    report, text = folder / "report.xml", folder / "output.txt"
    report.unlink(missing_ok=True)
    plugins = [part for plugin in suite.get("plugins", []) for part in ("-p", plugin)]
    with open(text, "w", encoding="utf-8") as output:
        code = subprocess.run(
            [options.cushim.resolve(), "sim", "--quiet", "--cuda", suite["cuda"],
             "--grain", str(suite.get("grain", 1)), "--", folder / "environment/bin/python",
             "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *plugins,
             "--timeout", "180", f"--junitxml={report}",
             *(suite["few"] if options.few else suite["pytest"]), *options.pytest],
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
    with open(HERE / "suites.toml", "rb") as file:
        suites = tomllib.load(file)
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
    return 0 if all([run(name, suites[name], options) for name in options.suite]) else 1


if __name__ == "__main__":
    sys.exit(main())

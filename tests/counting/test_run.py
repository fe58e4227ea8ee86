# SPDX-License-Identifier: MIT
"""tests/run, with all that it calls made up: what it builds, runs and counts, and how it ends."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = len(os.sched_getaffinity(0)) + 1
CALLED = {"tools/setup": "sh", "tools/configure": "sh", "tests/drivers/fetch.py": "python",
          "gen/fetch.py": "python", "tests/headers/fetch_debian.py": "python",
          "tests/summary.py": "python", "tests/listing.py": "python", "bin/meson": "sh",
          "bin/ninja": "sh"}
WITHOUT = "tests/summary.py --without build-sanitized=unit,cli,sim --without build-threads=sim "
TEXT = {"sh": """#!/bin/sh
echo "{name} $*" >>calls
case " $FAILING " in *" {name} "*) exit 3;; esac
""", "python": """import os, sys
print("{name}", *sys.argv[1:], file=open("calls", "a", encoding="utf-8"))
sys.exit(3 if "{name}" in os.environ["FAILING"].split() else 0)
"""}


@pytest.fixture(name="start", params=["", "Büro – mit Platz"], ids=["plain", "odd path"])
def fixture_start(request, tmp_path):
    """Run it in a tree of its own, which may have an odd path: exit code, and the calls it made."""
    tmp_path /= request.param
    (tmp_path / "tests").mkdir(parents=True)
    shutil.copy(ROOT / "tests/run", tmp_path / "tests/run")
    for name, kind in CALLED.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEXT[kind].format(name=name), encoding="utf-8")
        path.chmod(0o755)

    def start(*arguments, failing="", **variables):
        (tmp_path / "calls").write_text("", encoding="utf-8")
        env = {name: value for name, value in os.environ.items() if name != "CI"}
        env.update(variables, FAILING=failing, PATH=f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        done = subprocess.run(["sh", tmp_path / "tests/run", *arguments], env=env,
                              capture_output=True, check=False)
        return done.returncode, (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    return start


def test_part(start):
    """One build, of which Meson's setup says what runs; what is left out is passed on by name."""
    code, calls = start()
    assert code == 0 and calls[0] == "tools/setup tests"
    assert calls[-1] == WITHOUT + "build=quick"
    assert {"tests/drivers/fetch.py --few", "gen/fetch.py --ends --library cuda",
            "gen/fetch.py --ends --library nvml"} < set(calls)
    assert [call for call in calls if call.startswith("bin/meson test")] == [
        f"bin/meson test -C build --num-processes {PROCESSES} --print-errorlogs --setup quick"]
    assert [call.split()[1] for call in calls if call.startswith("tools/configure")] == ["build"]


def test_all(start):
    """Installed first, counted last, and the counting knows what was to run."""
    code, calls = start("all")
    assert code == 0 and calls[0] == "tools/setup all"
    assert calls[-1] == ("tests/summary.py build=all build-sanitized=unit,cli,sim "
                         "build-threads=sim")
    assert {"tests/drivers/fetch.py", "tests/drivers/fetch.py --library nvml"} | {
        f"{fetch} {library}" for library in ("cuda", "nvml")
        for fetch in ("gen/fetch.py --library", "tests/headers/fetch_debian.py")} < set(
        call.strip() for call in calls)
    tests = [call.split()[3:] for call in calls if call.startswith("bin/meson test")]
    assert [words[0] for words in tests] == ["build", "build-sanitized", "build-threads"]
    assert not {"--suite", "--setup"} & set(tests[0])
    assert " ".join(tests[1]).count("--suite unit --suite cli --suite sim") == 1
    for call in calls:
        if call.startswith("tools/configure"):
            assert {"-Dtests=true", "-Dsim=true", "-Dtools=enabled"} <= set(call.split())


def test_ci_leaves_one_build_out(start):
    code, calls = start("all", CI="true")
    assert code == 0
    assert calls[-1] == ("tests/summary.py --without build-threads=sim build=all "
                         "build-sanitized=unit,cli,sim")


def test_list(start):
    code, calls = start("list")
    assert (code, calls) == (0, ["tests/listing.py build"])


@pytest.mark.parametrize("words", [["most"], ["all", "all"], [""], ["quick", "all"]])
def test_wrong_use(start, words):
    code, calls = start(*words)
    assert (code, calls) == (2, [])


@pytest.mark.parametrize("words", [[], ["all"]])
@pytest.mark.parametrize("failing", ["bin/meson", "tests/summary.py"])
def test_failure_is_the_exit_code(start, words, failing):
    """A test that fails is counted with the rest, and is the exit code in any case."""
    code, calls = start(*words, failing=failing)
    assert code == 1 and calls[-1].startswith("tests/summary.py ")


@pytest.mark.parametrize("failing", ["tools/setup", "tools/configure", "bin/ninja"])
def test_nothing_is_counted_that_was_not_built(start, failing):
    code, calls = start(failing=failing)
    assert code != 0 and not calls[-1].startswith("tests/summary.py")


@pytest.mark.parametrize("failing", ["tests/drivers/fetch.py", "gen/fetch.py"])
def test_what_cannot_be_fetched_is_the_tests_to_judge(start, failing):
    code, calls = start(failing=failing)
    assert code == 0 and calls[-1].startswith("tests/summary.py ")

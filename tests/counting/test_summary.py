# SPDX-License-Identifier: MIT
"""tests/summary.py on real Meson projects, and on records that no Meson wrote."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import summary  # noqa: E402

# What each test prints and does; whether it prints TAP; its suite; (passed, failed, skipped).
PROGRAMS = {
    "right": ("exit 0", False, "unit", (1, 0, 0)),
    "wrong": ("exit 1", False, "unit", (0, 1, 0)),
    "skips": ("echo no GPU here; exit 77", False, "device", (0, 0, 1)),
    "cannot set up": ("exit 99", False, "unit", (0, 1, 0)),
    "crashes": ("kill -SEGV $$", False, "unit", (0, 1, 0)),
    "hangs": ("exec sleep 60", False, "unit", (0, 1, 0)),
    "fails as it must": ("exit 1", False, "unit", (1, 0, 0)),
    "passes and must not": ("exit 0", False, "unit", (0, 1, 0)),
    "tap": ("echo 1..2; echo ok 1 - a; echo ok 2 - b", True, "unit", (2, 0, 0)),
    "tap wrong": ("echo 1..2; echo ok 1 - a; echo not ok 2 - b", True, "unit", (1, 1, 0)),
    "tap skips": ("echo 1..2; echo ok 1; echo 'ok 2 - b # SKIP no GPU'", True, "device",
                  (1, 0, 1)),
    "tap todo": ("echo 1..1; echo 'not ok 1 - a # TODO later'", True, "unit", (1, 0, 0)),
    "tap skips all": ("echo '1..0 # SKIP no GPU'", True, "device", (0, 0, 1)),
    "tap too few": ("echo 1..3; echo ok 1 - a; echo ok 2 - b", True, "unit", (2, 1, 0)),
    "tap too many": ("echo 1..1; echo ok 1 - a; echo ok 2 - b", True, "unit", (2, 1, 0)),
    "tap without plan": ("echo ok 1 - a; echo ok 2 - b", True, "unit", (2, 1, 0)),
    "tap exits 66": ("echo 1..2; echo ok 1 - a; echo ok 2 - b; exit 66", True, "unit", (2, 1, 0)),
    "tap crashes": ("echo 1..2; echo ok 1 - a; kill -ABRT $$", True, "unit", (1, 1, 0)),
    "tap hangs": ("echo 1..2; echo ok 1 - a; exec sleep 60", True, "unit", (1, 1, 0)),
    "tap gives up": ("echo 1..2; echo ok 1 - a; echo 'Bail out! no more'", True, "unit",
                     (1, 1, 0)),
}
NO_PROGRAM = "tap says nothing"  # prints no line of TAP at all


def project(folder, programs):
    """A Meson project of these tests, configured; its build folder."""
    lines = ["project('made-up', version: '1')"]
    for number, (name, (script, tap, suite, _)) in enumerate(programs.items()):
        (folder / f"{number}.sh").write_text(script + "\n", encoding="utf-8")
        more = ", protocol: 'tap'" if tap else ""
        more += ", should_fail: true" if "must" in name else ""
        lines.append(f"test('{name}', find_program('sh'), args: files('{number}.sh'), "
                     f"suite: '{suite}', timeout: {1 if 'hangs' in name else 30}{more})")
    (folder / "meson.build").write_text("\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run(["meson", "setup", "b"], cwd=folder, check=True, capture_output=True)
    return folder / "b"


def summarise(*arguments):
    """Run summary.py: exit code, all lines, and the three numbers of the last one."""
    done = subprocess.run([sys.executable, ROOT / "tests/summary.py", *map(str, arguments)],
                          text=True, capture_output=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    last = re.fullmatch(r"(\d+) passed, (\d+) failed, (\d+) skipped", lines[-1])
    return done.returncode, lines, tuple(int(word) for word in last.groups()) if last else None


@pytest.fixture(scope="module", name="real")
def fixture_real(tmp_path_factory):
    """The project of all programs, run by Meson."""
    programs = {**PROGRAMS, NO_PROGRAM: ("exit 0", True, "unit", (0, 1, 0))}
    build = project(tmp_path_factory.mktemp("real"), programs)
    subprocess.run(["meson", "test", "-C", build], check=False, capture_output=True)
    return build


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_end_of_a_program(real, name):
    """Crash, signal, time limit, wrong plan and status count as failures, whatever was passed."""
    tests = summary.wanted_tests(real, ["unit", "device"])
    for record in summary.read_records(real):
        tests[record["name"]].count(record)
    test = next(test for test in tests.values() if test.name == name)
    assert (test.passed, test.failed, len(test.skipped)) == PROGRAMS[name][3], test


def test_sum_of_all(real):
    """The last line has them all, and what skips without a GPU's need is a failure."""
    code, lines, counts = summarise(f"{real}=unit,device")
    passed, failed, skipped = (sum(column) for column in zip(*(
        row[3] for row in PROGRAMS.values())))
    # The one that says nothing ends as Meson's SKIP: in the suite unit, a test that did not run.
    assert (code, counts) == (1, (passed, failed + 1, skipped + 1)), lines
    assert f"should have run, and did not: {real}: made-up:unit / {NO_PROGRAM}: " in lines
    assert any(line.startswith(f"failed: {real}: made-up:unit / tap exits 66: 1 (ERROR)")
               for line in lines), lines


def of_failed(build, name, lines):
    """The lines about one of the tests that failed."""
    first = next(at for at, line in enumerate(lines)
                 if line.startswith(f"failed: {build}: {name}: "))
    rest = lines[first + 1:]
    return [line[4:] for line in
            rest[:next(at for at, line in enumerate(rest) if not line.startswith("    "))]]


WORDS = {
    "cases": ("echo 1..3; echo ok 1 - a; echo not ok 2 - b; echo '# 1 != 2'; echo x.c:5: error; "
              "echo not ok 3 - c; echo '# why'; exit 2",
              ["not ok 2 - b", "# 1 != 2", "x.c:5: error", "not ok 3 - c", "# why"]),
    "before": ("echo '# no compiler'; echo not ok 1 - build; echo 1..1",
               ["not ok 1 - build", "# no compiler"]),
    "long": ("echo 1..1; echo not ok 1 - a; seq 100",
             ["not ok 1 - a", "1", "2", "3", "4", "...", "97", "98", "99", "100"]),
    "pytest": ("echo 1..1; echo not ok 1 - a; seq -f '# %.0f' 20; echo '# E   1 != 2'",
               ["not ok 1 - a", "# E   1 != 2"]),
    "crash": ("echo 1..2; echo ok 1 - a; echo where >&2; kill -ABRT $$",
              ["1..2", "ok 1 - a", "where", "(test program exited with status code -6)"]),
    "plain": ("seq 100; seq 200 300 >&2; exit 1",
              ["1", "2", "...", "99", "100", "200", "201", "...", "299", "300"]),
    "inner": ("seq 50; echo 3/9 made-up:unit / two FAIL 1.2s; echo not ok 2 - b; seq 50; exit 1",
              ["3/9 made-up:unit / two FAIL 1.2s", "not ok 2 - b"]),
    "silent errors": ("seq 100; exit 1", ["1", "2", "3", "4", "5", "...", "97", "98", "99", "100"]),
    "errors alone": ("seq 100 >&2; exit 1",
                     ["1", "2", "3", "4", "5", "...", "97", "98", "99", "100"]),
    "skips": ("echo 1..2; echo 'ok 1 # SKIP none'; echo not ok 2 - b", ["not ok 2 - b"]),
}
PLAIN = ("plain", "inner", "silent errors", "errors alone")


def test_words_of_what_failed(tmp_path):
    """They are the last lines before the count, behind what all builds skipped."""
    build = project(tmp_path, {name: (script, name not in PLAIN, "unit", None)
                               for name, (script, _) in WORDS.items()})
    subprocess.run(["meson", "test", "-C", build], check=False, capture_output=True)
    lines = summarise(f"{build}=unit", f"{build}=unit")[1]
    for name, (_, words) in WORDS.items():
        assert of_failed(build, name, lines) == words, name
    kinds = [line.partition(":")[0] for line in lines[:-1] if not line.startswith("    ")]
    assert kinds == sorted(kinds, key=lambda kind: kind == "failed")
    assert {"skipped", "should have run, and did not", "failed"} == set(kinds)


def test_words_of_a_nested_run(tmp_path, capsys):
    """What failed on another platform, where the outer run's summary looks for it."""
    sys.path.insert(0, str(ROOT / "tests/platforms"))
    import nested  # pylint: disable=import-outside-toplevel
    stdout = "1..30\n" + "".join(f"{'not ' * (n == 7)}ok {n} - c{n}\n# of {n}\n"
                                 for n in range(1, 31))
    (tmp_path / "meson-logs").mkdir()
    (tmp_path / "meson-logs/testlog.json").write_text(json.dumps(
        {"name": "cushim:unit / t", "result": "FAIL", "stdout": stdout}), encoding="utf-8")
    assert nested.report(tmp_path) == (30, 1)
    told = summary.failure_words({"stdout": capsys.readouterr().out})
    assert told == ["not ok 7 - t: c7", "# not ok 7 - c7", "# # of 7"]


GOOD = {"one": ("exit 0", False, "unit", None), "two": ("exit 77", False, "device", None)}


@pytest.fixture(scope="module", name="built_good")
def fixture_built_good(tmp_path_factory):
    """A project that passes, run by Meson."""
    build = project(tmp_path_factory.mktemp("good"), GOOD)
    subprocess.run(["meson", "test", "-C", build], check=False, capture_output=True)
    return build


def with_own_records(build, folder):
    """A copy of a project for one test, which may change the records."""
    shutil.copytree(build.parent, folder, dirs_exist_ok=True)
    return folder / build.name


@pytest.fixture(name="good")
def fixture_good(built_good, tmp_path):
    """The project that passes."""
    return with_own_records(built_good, tmp_path)


def test_good(good):
    code, lines, counts = summarise(f"{good}=unit,device", f"{good}=unit")
    assert (code, counts) == (0, (2, 0, 1)), lines


def test_suite_without_a_test(good):
    """A suite that was to run and that the build folder does not have."""
    code, lines, counts = summarise(f"{good}=unit,headers,device")
    assert (code, counts) == (1, (1, 1, 1))
    assert f"should have run, and did not: {good}: suite headers" in lines


def test_all_suites(good):
    """All means each suite of the fixed list, and no other."""
    code, lines, counts = summarise(f"{good}=all")
    assert (code, counts) == (1, (1, len(summary.ALL) - 2, 1)), lines
    for suite in set(summary.ALL) - {"unit", "device"}:
        assert f"should have run, and did not: {good}: suite {suite}" in lines


def change(build, edit):
    """Let EDIT have the records as a list, and write what it makes of them."""
    path = build / "meson-logs/testlog.json"
    records = edit([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_test_without_a_record(good):
    change(good, lambda records: [row for row in records if "one" not in row["name"]])
    code, lines, counts = summarise(f"{good}=unit,device")
    assert (code, counts) == (1, (0, 1, 1))
    assert f"should have run, and did not: {good}: made-up:unit / one" in lines


@pytest.mark.parametrize("word", ["FAIL", "ERROR", "TIMEOUT", "INTERRUPT", "UNEXPECTEDPASS",
                                  "A WORD OF LATER RELEASES"])
def test_every_other_word_is_a_failure(good, word):
    change(good, lambda records: [{**row, "result": word} for row in records])
    assert summarise(f"{good}=unit,device")[::2] == (1, (0, 2, 0))


def test_only_the_gpu_excuses(good):
    """A skip outside of the suite device is a failure, but for one reason."""
    for text, failed in (("no clang", 1), ("there is a GPU", 0)):
        change(good, lambda records, text=text: [
            {**row, "result": "SKIP", "stdout": text + "\n"} for row in records])
        code, lines, counts = summarise(f"{good}=unit,device")
        assert (code, counts) == (failed, (0, failed, 2)), lines


def test_no_record(good):
    (good / "meson-logs/testlog.json").unlink()
    code, lines, counts = summarise(f"{good}=unit")
    assert code == 1 and counts is None and "the tests did not run" in lines[-1]


def test_no_build_folder(tmp_path):
    code, lines, counts = summarise(f"{tmp_path}=all")
    assert code == 1 and counts is None and "no build folder" in lines[0]


def test_project_of_one_suite(tmp_path):
    """Meson then leaves the suite out of the names that it records."""
    build = project(tmp_path, {"one": GOOD["one"]})
    subprocess.run(["meson", "test", "-C", build], check=False, capture_output=True)
    assert summarise(f"{build}=unit")[::2] == (0, (1, 0, 0))


SETUP = "add_test_setup('quick', exclude_suites: 'long')\n"
PARTS = {"one": ("exit 0", False, "unit", None), "long one": ("exit 1", False, "long", None),
         "cases": (f'echo 1..3; echo ok 1 - a; echo "ok 2 - b # SKIP {summary.BY_QUICK}"; '
                   f'echo "ok 3 - c # SKIP {summary.BY_QUICK}"', True, "unit", None),
         "no case": (f'echo 1..1; echo "ok 1 - a # SKIP {summary.BY_QUICK}"', True, "cli", None)}


@pytest.fixture(scope="module", name="built_part")
def fixture_built_part(tmp_path_factory):
    """A project of which Meson's setup took a part."""
    folder = tmp_path_factory.mktemp("part")
    build = project(folder, PARTS)
    with open(folder / "meson.build", "a", encoding="utf-8") as file:
        file.write(SETUP)
    subprocess.run(["meson", "test", "-C", build, "--setup", "quick"], check=False,
                   capture_output=True)
    subprocess.run(["meson", "test", "-C", build], check=False, capture_output=True)
    return build


@pytest.fixture(name="part")
def fixture_part(built_part, tmp_path, monkeypatch):
    """The project of which a part ran; the record of all lies beside it."""
    monkeypatch.setattr(summary, "ALL", ["cli", "long", "unit"])
    return with_own_records(built_part, tmp_path)


def judged(capsys, build, suites):
    """What summary.judge gives and what is shown as left out."""
    counts, failed, part = summary.judge(str(build), suites)
    summary.show_left_out([part], ["other=unit,cli"])
    return counts, failed, capsys.readouterr().out.splitlines()


def test_left_out(part, capsys):
    """What is left out counts as nothing else, and is named with its number."""
    counts, failed, lines = judged(capsys, part, ["quick"])
    assert (counts, failed) == ((2, 0, 0), [])
    assert lines == [
        f"left out: {part}: made-up:long / long one",
        f"left out: {part}: made-up:unit / cases: 2 cases",
        f"left out: {part}: made-up:cli / no case: 1 cases",
        "left out: the build other with the suites unit,cli",
        "left out by 'sh tests/run': 1 tests, 3 cases of other tests, 1 builds; "
        "'sh tests/run all' by hand has them"]


def test_left_out_of_a_suite_that_is_gone(part, capsys, monkeypatch):
    """Also of the part, the build folder has to have each suite, and no unknown one."""
    monkeypatch.setattr(summary, "ALL", ["cli", "unit", "world"])
    counts, _, lines = judged(capsys, part, ["quick"])
    assert counts == (2, 2, 0)
    assert f"should have run, and did not: {part}: suite world" in lines
    assert any("suite long, which" in line for line in lines)


def test_part_without_a_record(part, capsys):
    (part / "meson-logs/testlog-quick.json").write_text("", encoding="utf-8")
    counts, _, lines = judged(capsys, part, ["quick"])
    assert counts == (0, 3, 0)
    assert f"should have run, and did not: {part}: made-up:unit / one" in lines


def test_all_runs_what_the_part_leaves_out(part, capsys):
    """The cases too: one that is left out all the same counts as failed."""
    counts, failed, lines = judged(capsys, part, ["all"])
    assert counts == (2, 4, 3) and failed[0].startswith(f"failed: {part}: made-up:long / long one")
    assert ("should have run, and did not: "
            f"{part}: made-up:cli / no case: {summary.BY_QUICK}") in lines


def test_left_out_by_ci_alone(part, capsys, monkeypatch):
    """What is for CI to leave out runs everywhere else."""
    record = part / "meson-logs/testlog-quick.json"
    record.write_text(record.read_text(encoding="utf-8").replace(summary.BY_QUICK, summary.BY_CI),
                      encoding="utf-8")
    monkeypatch.setattr(summary, "CI", True)
    assert judged(capsys, part, ["quick"])[0] == (2, 0, 0)
    monkeypatch.setattr(summary, "CI", False)
    assert judged(capsys, part, ["quick"])[0] == (2, 3, 3)


@pytest.mark.parametrize("user, reason, failed", [
    (0, "only root may", 1), (1000, "only root may", 0), (1000, "no clang", 1)])
def test_only_root(good, monkeypatch, user, reason, failed):
    """What only root can do is skipped by an ordinary user, and by nobody else."""
    monkeypatch.setattr(summary.os, "geteuid", lambda: user)
    change(good, lambda records: [{**row, "result": "SKIP", "stdout": reason + "\n"}
                                  for row in records])
    assert summary.judge(str(good), ["unit"])[0] == (0, failed, 1)


def test_use():
    code, lines, _ = summarise("build")
    assert code == 1 and any("Usage" in line for line in lines)

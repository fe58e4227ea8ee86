# SPDX-License-Identifier: MIT
"""The plugin of pytest: a suite on several simulated releases."""

import contextlib
import importlib.util
import os
import pty
import re
import select
import shutil
import sys
import time

import pytest

SUITE = """
import ctypes
import os
import cushim
import pytest

cu = cushim.load()

def call(name, release, *arguments):
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function(cu.proc(name, release))(*arguments)

def test_runs():
    with open("seen", "a") as file:
        file.write(f"{cu.version} {len(cu.devices())}\\n")

@pytest.mark.cushim("green-contexts")
def test_feature():
    assert cu.has("cuGreenCtxCreate")

@pytest.mark.cushim(symbol="cuGraphAddNode")
def test_symbol():
    assert cu.has("cuGraphAddNode")

@pytest.mark.cushim(release=(12, 0))
def test_release():
    assert cu.version >= (12, 0)

@pytest.mark.cushim(devices=2)
def test_devices():
    assert len(cu.devices()) >= 2
"""
LEAK = SUITE + """
def test_leak():
    context, memory = ctypes.c_void_p(), ctypes.c_void_p()
    assert cu.init()
    assert call("cuCtxCreate", (3, 2), ctypes.addressof(context), 0, 0) == 0
    assert call("cuMemAlloc", (3, 2), ctypes.addressof(memory), 1000, 0) == 0
"""


@pytest.fixture(name="suite")
def fixture_suite(run, tmp_path):
    """Runs pytest on a suite, which it writes."""
    def suite(text, *words, **variables):
        (tmp_path / "test_suite.py").write_text(text, encoding="utf-8")
        (tmp_path / "seen").unlink(missing_ok=True)
        return run("-m", "pytest", "-p", "cushim.plugin", "-p", "no:cacheprovider", "-rs", *words,
                   **variables)
    return suite


def test_releases(suite, tmp_path):
    """Each release is a driver of its own, and a mark skips what it lacks, with the reason."""
    done = suite(SUITE, "--cushim-sim", "11.4,12.2, 13.0", "--cushim-devices", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "seen").read_text("utf-8") == "11.4 2\n12.2 2\n13.0 2\n"
    assert re.findall(r"(\d) passed(?:, (\d) skipped)?", done.stdout) == [
        ("2", "3"), ("4", "1"), ("5", "")], done.stdout
    assert done.stdout.count("green-contexts: it takes a driver of CUDA 12.4 or later") == 2
    assert "CUDA 12.0 is needed, and the driver is of 11.4" in done.stdout
    assert "SKIPPED [1] test_suite.py:" in done.stdout and "plugin.py" not in done.stdout
    assert re.search(r"simulated CUDA drivers =+\nCUDA 11.4: passed\nCUDA 12.2: passed\n"
                     r"CUDA 13.0: passed\n$", done.stdout), done.stdout
    assert "cushim: simulated driver of CUDA 12.2" in done.stdout


@pytest.mark.parametrize("options", [["--cushim-sim", "12.4"], []])
def test_a_misspelt_symbol_is_an_error(options, suite):
    """With a driver and without one; a test that never runs is found."""
    done = suite(SUITE.replace("cuGraphAddNode", "cuGraphAddNdoe", 1), *options,
                 CUSHIM_LIBCUDA="/nowhere/libcuda.so.1")
    assert done.returncode == 1 and \
        "cushim knows no entry 'cuGraphAddNdoe'; did you mean cuGraphAddNode?" in done.stdout


def test_one_device(suite):
    done = suite(SUITE, "--cushim-sim=13.0")
    assert "2 devices are needed, and there are 1" in done.stdout and done.returncode == 0


def test_without_driver(suite):
    """An ordinary run: marked tests are skipped with the reason."""
    done = suite(SUITE, CUSHIM_LIBCUDA="/nowhere/libcuda.so.1")
    assert "1 passed, 4 skipped" in done.stdout and done.returncode == 0, done.stdout
    assert "/nowhere/libcuda.so.1" in done.stdout and "simulated" not in done.stdout


OTHER = """
import cushim.sim

def refuse():
    raise AssertionError

cushim.sim._engine = refuse

def test_one():
    pass

def test_two():
    pass
"""


def test_other_runs_are_left_alone(suite):
    """No simulated driver is looked for in a run that the plugin did not start."""
    done = suite(OTHER)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout


def test_leaks(suite):
    done = suite(LEAK, "--cushim-sim", "12.4,11.4")
    assert done.returncode == 0, done.stdout + done.stderr
    end = done.stdout.partition(" simulated CUDA drivers ")[2]
    assert len(re.findall(r"    process \d+ leaked 1000 bytes of memory in 1 block", end)) == 2
    assert end.count("    test_suite.py::test_leak left 1000 bytes of memory in 1 block\n") == 2
    assert end.count("test_suite.py::") == 4  # and its context
    done = suite(LEAK, "--cushim-sim", "12.4", "--cushim-check")
    assert done.returncode == 1 and "CUDA 12.4: failed (--cushim-check)" in done.stdout
    assert suite(SUITE, "--cushim-sim", "12.4", "--cushim-check").returncode == 0


RACE = """
import cushim

PTX = '''.version 6.0
.target sm_50
.address_size 64
.shared .b32 s[64];
.visible .entry k()
{
    .reg .u32 a, b, t;
    mov.u32 t, %tid.x;
    shl.b32 a, t, 2;
    mov.u32 b, s;
    add.u32 b, b, a;
    st.shared.u32 [b], t;
    xor.b32 a, a, 128;
    mov.u32 b, s;
    add.u32 b, b, a;
    ld.shared.u32 t, [b];
    ret;
}
'''

def launch(threads):
    with cushim.load().device(0) as gpu:
        gpu.module(PTX).kernel("k")(1, threads)
        gpu.synchronize()

def test_alone():
    launch(1)

def test_race():
    launch(64)
"""


@pytest.mark.parametrize("checks, outcomes", [
    ("=race", "1 failed, 1 passed"), ("=sync,race", "1 failed, 1 passed"), ("=sync", "2 passed"),
    ("", "2 passed"), ("=init", "2 failed")])
def test_checks_of_kernels(checks, outcomes, suite):
    """A test whose kernel has a fault fails, with the sentence; a path may come behind the flag."""
    done = suite(RACE, "--cushim-sim", "12.4", "--cushim-check" + checks, "test_suite.py")
    assert outcomes in done.stdout, done.stdout + done.stderr
    assert done.returncode == ("failed" in outcomes)
    assert ("fault in test_race; standard error has them" in done.stdout or
            "faults in test_race; standard error has them" in done.stdout) == (
        "failed" in outcomes)
    assert ("cushim: simulated device 0: race: kernel 'k'" in done.stdout) == ("race" in checks)


def test_a_check_that_there_is_not(suite):
    done = suite(SUITE, "--cushim-sim", "12.4", "--cushim-check=sync,races")
    assert done.returncode == 4
    assert "--cushim-check: 'races' is none of race, init, sync" in done.stderr


@pytest.mark.parametrize("words", [
    ["--cushim-devices=0"], ["--cushim-profile=ampere"], ["--cushim-memory=8G"],
    ["--cushim-grain=512"], ["--cushim-workers=1"], ["--cushim-fault=cuInit:call=1"],
    ["--cushim-check"], ["--cushim-check=race"]])
def test_options_without_releases(words, suite):
    """They would do nothing, and a suite that skips all of its tests would pass."""
    done = suite(SUITE, *words)
    assert done.returncode == 4 and "passed" not in done.stdout
    assert words[0].partition("=")[0] + " needs a simulated driver: add --cushim-sim RELEASES" \
        in done.stderr


@pytest.mark.parametrize("mark, sentence", [
    ("release='12.4'", "release: '12.4': a release is (12, 4) or 12040"),
    ("release=12.4", "release: 12.4: a release is (12, 4) or 12040"),
    ("relase=(12, 4)", "it takes no 'relase'; did you mean release?"),
    ("gpus=2", "it takes no 'gpus'; the mark is cushim(feature=None, symbol=None, release=None, "
               "devices=1)"),
    ("12.4", "feature: a name of `cushim features` is needed, not float"),
    ("symbol=12", "symbol: a name of `cushim symbols` is needed, not int"),
    ("devices='2'", "devices: a number is needed, not str"),
    ("'memory-pools', feature='memory-pools'", "feature is given twice; the mark is cushim("),
    ("None, None, (12, 4), 1, 2", "it takes 4 values, not 5; the mark is cushim("),
])
def test_wrong_marks(mark, sentence, suite):
    done = suite(SUITE.replace("release=(12, 0)", mark), CUSHIM_LIBCUDA="/nowhere/libcuda.so.1")
    assert done.returncode == 1 and f"the mark cushim of test_release: {sentence}" in done.stdout, \
        done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("release", ["12000", "[12, 0]"])
def test_other_forms_of_a_release(release, suite):
    done = suite(SUITE.replace("(12, 0)", release), "--cushim-sim", "11.4")
    assert "CUDA 12.0 is needed, and the driver is of 11.4" in done.stdout, done.stdout


def test_a_run_that_crashes(suite):
    """It is named by its signal."""
    done = suite("import os\ndef test_crash():\n    os.kill(os.getpid(), 11)\n",
                 "-p", "no:faulthandler", "--cushim-sim", "12.4")
    assert done.returncode and \
        "CUDA 12.4: failed (signal 11 (Segmentation fault))\n" in done.stdout, done.stdout


def test_a_file_that_one_release_cannot_import(suite):
    """pytest says "Interrupted", as if somebody had; the other releases run all the same."""
    done = suite("import cushim\nassert cushim.load().version >= (12, 0)\ndef test(): pass\n",
                 "--cushim-sim", "11.4,12.4")
    assert done.returncode == 2 and \
        "CUDA 11.4: failed (exit code 2)\nCUDA 12.4: passed\n" in done.stdout, done.stdout


def test_quiet(suite):
    """Each run has a heading, although pytest has none."""
    done = suite(SUITE, "-q", "--cushim-sim", "11.4,12.2")
    assert re.findall(r"^=+ (.*?) =+$", done.stdout, re.M) == [
        "CUDA 11.4", "short test summary info", "CUDA 12.2", "short test summary info",
        "simulated CUDA drivers"], done.stdout
    assert "= CUDA 11.4 =" not in suite(SUITE, "--cushim-sim", "11.4").stdout


def test_ranges(suite, tmp_path):
    """As `cushim matrix` has them, the newest release first."""
    for asked, seen in ("13.4+", "13.5 13.4"), ("11.2-11.4,9.0", "11.4 11.3 11.2 9.0"):
        assert suite(SUITE, "--cushim-sim", asked).returncode == 0
        assert (tmp_path / "seen").read_text("utf-8") == seen.replace(" ", " 1\n") + " 1\n"
    assert "--cuda: '11.4-' is none of" in suite(SUITE, "--cushim-sim", "11.4-").stderr


def test_files_of_each_release(run, tmp_path):
    """The failures that --lf takes and what pytest-cov measures."""
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--cov', dest='cov_source', action='append', default=[])\n",
        encoding="utf-8")
    (tmp_path / "test_one.py").write_text(
        "import cushim, os\n"
        "def test_new():\n    assert cushim.load().version >= (12, 0)\n"
        "def test_old():\n    print(os.environ.get('COVERAGE_FILE'))\n", encoding="utf-8")
    words = ["-m", "pytest", "-p", "cushim.plugin", "-rP", "--cushim-sim", "11.4,12.4"]
    done = run(*words, "--cov=.")
    assert re.findall(r"^\.cov.*", done.stdout, re.M) == [
        ".coverage.cuda11.4", ".coverage.cuda12.4"], done.stdout
    done = run(*words, "--lf")
    assert re.findall(r"\d (?:failed|passed).* in", done.stdout) == [
        "1 failed in", "2 passed in"], done.stdout


def test_failures(suite):
    """A rule makes a call fail in the suite; other releases run all the same."""
    done = suite(LEAK, "--cushim-sim", "11.4,12.4", "--cushim-fault", "cuMemAlloc:call=1,error=2",
                 "--cushim-fault", "cuInit:slow=1")
    assert done.returncode == 1 and "assert 2 == 0" in done.stdout
    assert "CUDA 11.4: failed (exit code 1)\n" in done.stdout
    assert "CUDA 12.4: failed (exit code 1)\n" in done.stdout
    done = suite(SUITE, "--cushim-sim", "12.4", "--cushim-fault", "cuMemAlloc:call=1")
    assert "    the rule cuMemAlloc:call=1 never fired" in done.stdout and done.returncode == 0


@pytest.mark.parametrize("words, message", [
    (["--cushim-sim", "9.9"], "--cuda: '9.9' is none of"),
    (["--cushim-sim", ""], "--cuda: '' is none of"),
    (["--cushim-sim", "12.4", "--cushim-devices", "many"], "--devices: 'many' is no number"),
    (["--cushim-sim", "12.4", "--cushim-fault", "cuNothing"], "--fault: "),
])
def test_wrong_use(suite, words, message):
    done = suite(SUITE, *words)
    assert done.returncode == 4 and message in done.stderr, done.stdout + done.stderr
    assert "ERROR: no run on a simulated driver" in done.stderr


def test_help(suite):
    """It says where the names of devices are, and the default."""
    text = " ".join(suite("", "--help").stdout.split())
    assert re.search(r"--cushim-profile=NAME which simulated device; 'cushim sim --list' has the "
                     r"names \(default: ampere, or the newest that the release knows\)", text)


def test_wrong_feature(suite):
    done = suite(SUITE.replace("green-contexts", "green-content"), "--cushim-sim", "12.4")
    assert done.returncode == 1
    assert ("the mark cushim of test_feature: cushim knows no feature 'green-content'; did you "
            "mean green-contexts?\n") in done.stdout
    assert "Traceback" not in done.stdout and "plugin.py" not in done.stdout


def test_settings_of_a_file(suite, tmp_path):
    """Options of a configuration file, and a report for each release."""
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = --cushim-sim 11.4,12.4 --junitxml=report.xml\n", encoding="utf-8")
    assert suite(SUITE).returncode == 0
    assert sorted(file.name for file in tmp_path.glob("*.xml")) == [
        "report-cuda11.4.xml", "report-cuda12.4.xml"]


def test_where_modules_are_found(run, tmp_path):
    """`python -m pytest` imports from the working folder, `pytest` does not; so do the runs."""
    (tmp_path / "helper.py").touch()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_import.py").write_text("def test_import():\n    import helper\n",
                                                   encoding="utf-8")
    words = ["-p", "cushim.plugin", "-p", "no:cacheprovider", "--cushim-sim", "12.4", "tests"]
    assert run("-m", "pytest", *words).returncode == 0
    script = tmp_path / "bin/pytest"
    script.parent.mkdir()
    script.write_text("import sys, pytest\nsys.exit(pytest.main())\n", encoding="utf-8")
    done = run(script, *words)
    assert done.returncode == 1 and "No module named 'helper'" in done.stdout


@pytest.mark.in_all
def test_workers(suite, tmp_path):
    if not importlib.util.find_spec("xdist"):
        pytest.skip("no pytest-xdist")
    many = LEAK + "\n@pytest.mark.parametrize('n', range(20))\ndef test_many(n):\n    test_runs()\n"
    done = suite(many, "-n", "2", "--cushim-sim", "11.4,13.0")
    assert done.returncode == 0, done.stdout + done.stderr
    seen = (tmp_path / "seen").read_text("utf-8").splitlines()
    assert sorted(seen) == ["11.4 1"] * 21 + ["13.0 1"] * 21
    assert len(re.findall(r"leaked 1000 bytes", done.stdout)) == 2
    left = "    test_suite.py::test_leak left 1000 bytes of memory in 1 block\n"
    assert done.stdout.count(left) == 2
    done = suite(RACE, "-n", "2", "--cushim-sim", "12.4", "--cushim-check=race")
    assert "1 failed, 1 passed" in done.stdout, done.stdout


def test_interrupt(site, tmp_path):
    """Ctrl-C ends the run and those that would follow, and leaves no folder behind."""
    (tmp_path / "test_long.py").write_text(
        "import time\ndef test_long():\n    open('started', 'w').close()\n    time.sleep(60)\n",
        encoding="utf-8")
    (tmp_path / "temporary").mkdir()
    environment = {"PYTHONPATH": str(site), "PATH": "/usr/bin:/bin", "TERM": "dumb",
                   "TMPDIR": str(tmp_path / "temporary"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-p", "cushim.plugin", "-p", "no:cacheprovider",
             "--cushim-sim", "11.4,12.4"]
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(tmp_path)
        os.execve(sys.executable, words, environment)
    wait_for((tmp_path / "started").exists)
    os.write(terminal, b"\x03")
    text = b""
    with contextlib.suppress(OSError):  # how a terminal ends that nobody writes to any more
        while select.select([terminal], [], [], 30)[0]:
            text += os.read(terminal, 4096)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 2, text.decode()
    assert b"KeyboardInterrupt" in text and b"CUDA 12.4" not in text, text.decode()
    wait_for(lambda: not list((tmp_path / "temporary").glob("cushim*")))


def wait_for(condition):
    """Wait until it is true, but not for ever."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_without_command(suite, site, tmp_path):
    """The module alone: the option names what is missing."""
    shutil.copytree(site / "cushim", tmp_path / "cushim",
                    ignore=lambda *_: ["bin", "libcushim.so.0"])
    done = suite(SUITE, "--cushim-sim", "12.4", PYTHONPATH=str(tmp_path), PATH="/nowhere")
    assert done.returncode == 4 and "the command cushim is not installed" in done.stderr

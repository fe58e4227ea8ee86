# SPDX-License-Identifier: MIT
"""The command for Windows, under Wine: test_command.py WINE FOLDER COMMAND DRIVER FAKES."""

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WINE, FOLDER, COMMAND, DRIVER, FAKES = sys.argv[1:]
NAME = "Драйвер 🚀"


def run(*arguments, code=0, driver=True, errors=True):
    """What is printed, with errors or without; the exit status is checked."""
    lent = ["--driver", DRIVER] if driver else []
    done = subprocess.run([WINE, *lent, FOLDER, COMMAND, *arguments], capture_output=True,
                          check=False)
    shown = (done.stdout + (done.stderr if errors else b"")).decode("utf-8").replace("\r\n", "\n")
    assert done.returncode == code, (arguments, done.returncode, shown)
    return shown


def make_wheel(place, program):
    """A wheel with a library, packed and not, a file for Linux, and one that is damaged."""
    wheel = place / "package.whl"
    data = Path(FAKES, "fake_v12.dll").read_bytes()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("one/packed.exe", Path(program).read_bytes(), zipfile.ZIP_DEFLATED)
        archive.writestr("one/stored.dll", data, zipfile.ZIP_STORED)
        archive.writestr("text.txt", "nothing\n" * 1000, zipfile.ZIP_DEFLATED)
        archive.writestr("true.so", Path(sys.executable).read_bytes(), zipfile.ZIP_DEFLATED)
        archive.writestr("damaged.dll", data, zipfile.ZIP_STORED)
    whole = bytearray(wheel.read_bytes())
    whole[whole.rindex(data) + len(data) // 2] ^= 1
    wheel.write_bytes(whole)
    return wheel


def scan_files(place):
    """`scan`, `newer` and `diff` on files of Windows and of Linux."""
    driver = place / "driver.dll"
    listed = run("newer", "-d", f"{driver}", driver=False)
    assert "exports of CUDA 12." in listed and "0 not known" in listed, listed
    shown = run("diff", f"{driver}", "12.4", code=1, driver=False)
    assert "driver.dll\nB CUDA 12.4\n" in shown and "\n  + cuD3D11" in shown, shown[:500]
    assert "cuEGL" not in shown and "cuVDPAU" not in shown, shown
    wheel = make_wheel(place, COMMAND)
    found = json.loads(run("scan", "--json", "--drivers", "550", f"{place}", driver=False,
                           errors=False))
    names = [file["file"].replace("\\", "/").rpartition("/")[2] for file in found["files"]]
    assert any(name == "driver.dll" for name in names), names
    assert [problem["problem"] for problem in found["problems"]] == [
        "damaged: its check sum differs"], found["problems"]
    assert wheel.name + ":" in found["problems"][0]["file"]
    report = place / "report.xml"
    run("scan", "--drivers", "535", "--junit", f"{report}", f"{driver}", driver=False)
    assert "<testsuite" in report.read_text("utf-8")
    assert "a damaged zip file" in run("scan", f"{cut(wheel)}", code=5, driver=False)
    run("scan", f"{place}/nothing", code=5, driver=False)


def cut(path):
    """A file that ends too early."""
    short = path.with_name("short.whl")
    short.write_bytes(path.read_bytes()[:-30])
    return short


def facts():
    """What needs no driver and no file, and is the same on every system."""
    assert "528.33" in run("compat", "12.4", driver=False)
    assert "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" in run("explain", "222", driver=False)
    assert json.loads(run("explain", "--json", "35", driver=False))
    assert "cuCtxCreate_v4" in run("diff", "12.4", "12.8", code=1, driver=False)
    for subcommand in ("info", "symbols", "features", "compat", "scan", "newer", "diff", "explain",
                       "report"):
        shown = run(subcommand, "--help", driver=False)
        assert shown.startswith(f"Usage: cushim {subcommand} [OPTION...]"), shown
        assert "Exit status:" in shown and "--version" in shown, shown
    assert run("--version", driver=False).startswith("cushim ")
    for words, says in ((["info", "--nonsense"], "unrecognized option '--nonsense'"),
                        (["info", "-d"], "option requires an argument -- 'driver'"),
                        (["diff", "12.4"], "cushim diff: "), (["demo"], "no command 'demo'"),
                        ([], "no command given")):
        shown = run(*words, code=2, driver=False)
        assert says in shown and "--help' or" in shown, shown
    with tempfile.TemporaryDirectory() as folder:
        page, own = Path(folder, f"{NAME}.html"), Path(folder, "own.json")
        own.write_text(run("symbols", "--json"), encoding="utf-8")
        run("report", "--html", f"{page}", f"{NAME}={own}", driver=False)
        assert NAME in page.read_text("utf-8")


def main():
    """Every subcommand, with a driver and without one."""
    shown = run("info", "--init")
    assert "CUDA version    13.5" in shown and "C:\\windows\\system32\\nvcuda.dll" in shown, shown
    assert "MiB" in shown.split("Devices\n")[1] or "GiB" in shown.split("Devices\n")[1], shown
    assert json.loads(run("info", "--json"))["driver"]["version"] == 13050
    shown = run("info", code=3, driver=False)
    assert "name its nvcuda.dll in CUSHIM_LIBCUDA" in shown, shown
    assert ".so" not in shown and "ldconfig" not in shown and "kernel module" not in shown, shown
    shown = run("symbols")
    assert shown.count("\n") > 770, shown
    missing = run("symbols", "--missing")
    assert 10 < missing.count("\n") < 100 and "cuD3D11GetDevice" in missing, missing
    shown = run("features", "-D", "0")
    assert "memory-pools" in shown, shown
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, NAME)
        place.mkdir()
        shutil.copy(Path(FAKES, "fake_v12.dll"), place / "driver.dll")
        shown = run("info", "-d", f"{place}/driver.dll", driver=False)
        assert "12.4" in shown and NAME in shown, shown
        scan_files(place)
    facts()


main()

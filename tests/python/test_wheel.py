# SPDX-License-Identifier: MIT
"""The wheel, built as its page says, in an environment with nothing else in it."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import ROOT

pytestmark = [pytest.mark.in_all, pytest.mark.by_hand]
MOST = 8 * 1024 * 1024


def make(folder, *words):
    """The file that its command makes in a folder."""
    done = subprocess.run(["sh", ROOT / "python/wheel", *words, folder], capture_output=True,
                          text=True, env={**os.environ, "LC_ALL": "C",
                                          "CUSHIM_HOMEPAGE": "a.invalid/b&c"})
    if re.search(r"No matching distribution found|Temporary failure in name", done.stderr):
        pytest.skip("pip cannot fetch the build's packages here")
    assert done.returncode == 0, done.stdout + done.stderr
    found = list(folder.iterdir())
    assert len(found) == 1
    return found[0]


@pytest.fixture(name="wheel", scope="module")
def fixture_wheel(tmp_path_factory):
    """Its file."""
    return make(tmp_path_factory.mktemp("a wheel"))


@pytest.fixture(name="environment", scope="module")
def fixture_environment(wheel, tmp_path_factory):
    """A Python with the wheel and nothing else, and a search path with nothing else."""
    folder = tmp_path_factory.mktemp("an environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", "--no-index", wheel], check=True)
    return folder


def run(environment, *words):
    """A command of the environment."""
    return subprocess.run([environment / "bin" / words[0], *words[1:]], capture_output=True,
                          text=True, env={"PATH": str(environment / "bin"), "LC_ALL": "C.UTF-8"})


def test_file(wheel):
    """Small, for every Python, stripped, and with the licences of what is in it."""
    assert wheel.stat().st_size < MOST
    assert re.fullmatch(r"cushim-[\d.]+-py3-none-manylinux_2_28_x86_64\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        about = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert "\nProject-URL: Homepage, a.invalid/b&c\n" in about
    assert "\nAuthor: The cushim authors\n" in about
    assert "cushim/py.typed" in names and "cushim/bin/cushim" in names
    licences = {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name}
    assert licences == {"LICENSE", "libelf-dev.txt", "libjansson-dev.txt", "liblz4-dev.txt",
                        "libminizip-dev.txt", "libzstd-dev.txt", "zlib1g-dev.txt"}


def is_position_independent(file):
    """Whether it can be loaded at any address."""
    done = subprocess.run(["readelf", "--file-header", "--wide", file], check=True,
                          capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    return re.search(r"Type: +DYN ", done.stdout)


def test_needs(environment):
    """Nothing of the system's but the C library; at any address."""
    files = list(environment.glob("lib/python*/site-packages/cushim/**/*.so*"))
    files += environment.glob("lib/python*/site-packages/cushim/bin/cushim")
    assert len(files) > 30
    for file in files:
        done = subprocess.run(["readelf", "--dynamic", "--wide", file], check=True,
                              capture_output=True, text=True)
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout))
        assert needed <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
                          "ld-linux-x86-64.so.2"}, (file, needed)
        assert not re.search(r"R(UN)?PATH", done.stdout), file
        assert is_position_independent(file), file


def test_commands(environment, wheel):
    """All of the command: its drivers, kernels, and what reads wheels and packed code."""
    assert run(environment, "cushim", "--version").stdout.startswith("cushim ")
    assert len(run(environment, "cushim", "sim", "--list").stdout.splitlines()[0].split()) > 30
    done = run(environment, "cushim", "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(environment, "cushim", "scan", str(wheel))
    assert done.returncode == 0 and "libcushim.so" in done.stdout, done.stdout + done.stderr
    done = run(environment, "cushim", "matrix", "--cuda", "11.4,12.4", "--", "cushim", "info",
               "--init")
    assert done.returncode == 0 and "12.4" in done.stdout, done.stdout + done.stderr


def test_embed(environment, tmp_path):
    """A kernel for Python, by the machine's clang."""
    clang = shutil.which("clang")
    if not clang:
        pytest.skip("clang is not installed")
    (tmp_path / "k.cu").write_text('extern "C" __global__ void k(float *x) { *x = sqrtf(*x); }\n',
                                   encoding="utf-8")
    done = run(environment, "cushim-embed", "--clang", clang, "--oldest", "9.0",
               str(tmp_path / "k.cu"), str(tmp_path / "k.ptx"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert ".entry k(" in (tmp_path / "k.ptx").read_text(encoding="ascii")


def test_module(environment):
    done = run(environment, "cushim", "sim", "--quiet", "--cuda", "12.2", "--", "python", "-c",
               "import cushim; print(cushim.load().version, len(cushim.load().devices()))")
    assert (done.returncode, done.stdout) == (0, "12.2 1\n"), done.stderr


@pytest.mark.by_hand
def test_aarch64(tmp_path):
    """The wheel of the other machine runs kernels there, by qemu-user."""
    root, site = tmp_path / "arm/root", tmp_path / "site"
    done = subprocess.run(["python3", "-B", ROOT / "tests/platforms/sysroot.py", root.parent,
                           "arm64", "libc6"], capture_output=True, text=True)
    emulate = [ROOT / "tests/platforms/emulate", root]
    if (done.returncode or not shutil.which("aarch64-linux-gnu-objcopy")
            or subprocess.run([*emulate, "true"], capture_output=True).returncode):
        pytest.skip(f"no AArch64 by qemu-user, or no binutils for it: {done.stderr}")
    wheel = make(tmp_path / "wheel", "--machine", "aarch64")
    assert wheel.name.endswith("-manylinux_2_28_aarch64.whl") and wheel.stat().st_size < MOST
    shutil.unpack_archive(wheel, site, "zip")
    command = site / "cushim/bin/cushim"
    command.chmod(0o755)
    assert is_position_independent(command)
    for words in (["--version"], ["demo"], ["scan", wheel],
                  ["matrix", "--cuda", "11.4,13.0", "--", command, "info", "--init"]):
        done = subprocess.run([*emulate, command, *words], capture_output=True, text=True)
        assert done.returncode == 0, (words, done.stdout, done.stderr)

# SPDX-License-Identifier: MIT
"""The module as a wheel installs it, with the command and the library of the build."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "tools/cushim"


@pytest.fixture(scope="session", name="build")
def fixture_build():
    """The build under test."""
    path = os.environ.get("MESON_BUILD_ROOT")
    if not path:
        pytest.skip("run by Meson: MESON_BUILD_ROOT names no build")
    return Path(path)


@pytest.fixture(scope="session", name="site")
def fixture_site(build, tmp_path_factory):
    """A folder to import cushim from; the module looks for its libraries beside its own files."""
    folder = tmp_path_factory.mktemp("a pläce")
    package = folder / "cushim"
    shutil.copytree(ROOT / "python/cushim", package, ignore=lambda *_: ["__pycache__"])
    (package / "bin").mkdir()
    (package / "bin/cushim").symlink_to(build / COMMAND)
    (package / "libcushim.so.0").symlink_to(build / "src/libcushim.so.0")
    return folder


@pytest.fixture(name="run")
def fixture_run(site, tmp_path):
    """Runs a Python with the module, in a folder of the test's own."""
    def run(*words, **variables):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("CUSHIM_", "LD_", "MESON_", "PYTEST"))}
        environment.update({"PYTHONPATH": str(site), "COLUMNS": "100", "LC_ALL": "C.UTF-8",
                            "PYTHONDONTWRITEBYTECODE": "1", **variables})
        return subprocess.run([sys.executable, *map(str, words)], cwd=tmp_path, env=environment,
                              capture_output=True, text=True, timeout=300)
    return run

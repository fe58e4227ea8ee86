# SPDX-License-Identifier: MIT
"""Fixtures: the build, an installation of it, and the drivers and headers in the cache."""

import os
import sys
from pathlib import Path

import pytest
from adopt import Build

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))

from fetch import drivers_folder  # noqa: E402
from real_drivers import newest_drivers  # noqa: E402

HEADERS = drivers_folder(None).parent / "headers"


@pytest.fixture(scope="session", name="build")
def build_folder():
    """The build under test."""
    path = os.environ.get("MESON_BUILD_ROOT")
    if not path:
        pytest.skip("run by Meson: MESON_BUILD_ROOT names no build")
    return Build(path)


@pytest.fixture(scope="session")
def installed(build, tmp_path_factory):
    """One installation for all tests of a run."""
    return build.install(tmp_path_factory.mktemp("root"))


@pytest.fixture(scope="session")
def drivers():
    """Every real driver that is here, oldest first."""
    found = list(newest_drivers().values())
    if not found:
        pytest.skip("no real driver in the cache; tests/drivers/fetch.py fetches them")
    return found


@pytest.fixture
def driver(drivers):
    """The newest of them."""
    return drivers[-1]


@pytest.fixture
def toolkit(request):
    """Folder with the headers of the release that the test is parametrized with."""
    folder = HEADERS / request.param / "linux"
    if not (folder / "cuda.h").exists():
        pytest.skip(f"headers of CUDA {request.param} are not in the cache; gen/fetch.py "
                    "fetches them")
    return folder

# SPDX-License-Identifier: MIT
"""Fixtures: the build, an installation of it, and the drivers and headers in the cache."""

import os
import sys
from pathlib import Path

import pytest
from adopt import Build

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))

CACHE = Path(os.environ.get("CUSHIM_CACHE", Path.home() / ".cache/cushim"))


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


def all_drivers():
    """The cached drivers, oldest first; none where they cannot be read."""
    try:
        from real_drivers import newest_drivers
    except ImportError:
        return []
    return list(newest_drivers().values())


@pytest.fixture(scope="session")
def drivers():
    """Every real driver that is here."""
    found = all_drivers()
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
    folder = CACHE / "headers" / request.param / "linux"
    if not (folder / "cuda.h").exists():
        pytest.skip(f"headers of CUDA {request.param} are not in the cache; gen/fetch.py "
                    "fetches them")
    return folder

# SPDX-License-Identifier: MIT
"""What the header tests share: stand-ins for system headers, and the toolkits measured once."""

from functools import lru_cache

import pytest

import toolkits
from measured import Measured


@pytest.fixture(scope="session", name="shim")
def shim_folders(tmp_path_factory):
    """Folders with stand-ins for the graphics headers, by platform."""
    folder = tmp_path_factory.mktemp("shim")
    return {platform: toolkits.stand_ins(folder, platform) for platform in toolkits.COMPANIONS}


@pytest.fixture(scope="session", name="measure")
def measure_toolkit(shim, tmp_path_factory):
    """Toolkit -> what its headers say, measured once."""
    return lru_cache(None)(lambda toolkit: Measured(
        toolkit, shim[toolkit.platform], tmp_path_factory.mktemp(toolkit.release)))

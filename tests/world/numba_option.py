# SPDX-License-Identifier: MIT
"""What numba-cuda's tests expect of the pytest set-up that its wheel leaves out."""
import pytest


def pytest_addoption(parser):
    """The option that the fixture reads."""
    parser.addoption("--dump-failed-filechecks", action="store_true")


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    """The option, for tests of the text of kernels."""
    request.cls._dump_failed_filechecks = request.config.getoption("--dump-failed-filechecks")

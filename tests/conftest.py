# SPDX-License-Identifier: MIT
"""Prints pytest's results as TAP for Meson, which then counts and shows each test."""

import re

import pytest


class Tap:
    """One line a test; what a failure said follows as comments."""

    def __init__(self, write):
        self.write = write
        self.count = 0

    def result(self, ok, name, directive=""):
        """A finished test."""
        self.count += 1
        self.write(f"{'ok' if ok else 'not ok'} {self.count} - {name}{directive}")

    def pytest_runtest_logreport(self, report):
        """Pytest's hook: three reports a test, of which one is the result."""
        name = re.sub(r"[#\\]", "_", report.nodeid.partition("::")[2])
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "expected"
            self.result(True, name, f" # SKIP {reason.removeprefix('Skipped: ')}")
        elif report.failed:
            self.result(False, f"{name} ({report.when})")
            for line in report.longreprtext.splitlines():
                self.write(f"# {line}")
        elif report.when == "call":
            self.result(True, name)

    def pytest_collectreport(self, report):
        """A file that cannot be read is a failure, not an empty suite."""
        if report.failed:
            self.result(False, report.nodeid)
            self.write("# " + report.longreprtext.replace("\n", "\n# "))

    def pytest_sessionfinish(self):
        """The plan comes last, when the number is known."""
        self.write(f"1..{self.count}")


def pytest_addoption(parser):
    parser.addoption("--tap", action="store_true", help="print TAP and nothing else")


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    if config.getoption("--tap"):
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(Tap(lambda line: print(line, flush=True)), "tap")

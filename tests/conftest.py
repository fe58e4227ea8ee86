# SPDX-License-Identifier: MIT
"""Prints pytest's results as TAP for Meson, which then counts and shows each test; and leaves out
what this run does not take."""

import io
import re

import modes
import pytest
from _pytest.config import create_terminal_writer


def why_left_out(item):
    """Why this run does not take a case, or None."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return modes.left_out({mark.name for mark in item.iter_markers()}, parameters)


class Tap:
    """One line a test; what a failure said follows as comments. It takes the place of pytest's own
    reporter, of which other parts of pytest use the writer."""

    def __init__(self, config):
        self._tw = create_terminal_writer(config, io.StringIO())
        self.count = 0

    @staticmethod
    def write(line):
        """A line of TAP."""
        print(line, flush=True)

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

    def pytest_collection_finish(self, session):
        """With --collect-only, each case behind the mode that has it: tests/listing.py reads it."""
        if session.config.getoption("collectonly"):
            for item in session.items:
                name = re.sub(r"[#\\]", "_", item.nodeid.partition("::")[2])
                self.write(f"{'all' if why_left_out(item) else 'both'}\t{name}")

    def pytest_sessionfinish(self):
        """The plan comes last, when the number is known."""
        self.write(f"1..{self.count}")


def pytest_addoption(parser):
    parser.addoption("--tap", action="store_true", help="print TAP and nothing else")


def pytest_collection_modifyitems(items):
    """Before any other reason to skip a case, and before its fixtures."""
    for item in items:
        reason = why_left_out(item)
        if reason:
            item.add_marker(pytest.mark.skipif(True, reason=reason), append=False)


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    for name, words in modes.MARKS.items():
        config.addinivalue_line("markers", f"{name}: {words}")
    if config.getoption("--tap"):
        config.pluginmanager.unregister(name="terminalreporter")
        config.pluginmanager.register(Tap(config), "terminalreporter")

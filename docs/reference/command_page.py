#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the manual page of the command or of a subcommand, from what --help prints (by help2man).

Usage: command_page.py CUSHIM [NAME] VERSION DATE OUTPUT

DATE is "2026-01-31".
"""

import calendar
import datetime
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

# Lines as they were written, not wrapped as for a terminal.
ENVIRONMENT = {**os.environ, "ARGP_HELP_FMT": "rmargin=1000", "LC_ALL": "C", "TZ": "UTC0"}


def summaries(program):
    """{"info": "which driver ..."}, as the command itself lists them."""
    text = subprocess.run([program, "--help"], env=ENVIRONMENT, text=True, capture_output=True,
                          check=True).stdout
    listed = text.partition("Commands:\n")[2].partition("\n\n")[0]
    return dict(re.fullmatch(r"  (\w+) +(.*)", line).groups() for line in listed.splitlines())


def see_also(name, names):
    """The other pages."""
    pages = [f".BR cushim{'-' + other if other else ''} (1)" for other in ["", *names]
             if other != name]
    return "[see also]\n" + ",\n".join([*pages, ".BR cushim (3)"]) + "\n"


def main():
    program, *name, version, date, output = sys.argv[1:]
    name = name[0] if name else ""
    found = summaries(program)
    title = f"cushim-{name}" if name else "cushim"
    day = datetime.datetime.fromisoformat(date)
    with tempfile.TemporaryDirectory() as folder:
        include = Path(folder) / "include"
        include.write_text(see_also(name, found), encoding="utf-8")
        subprocess.run(
            ["help2man", "--no-info", "--section=1", "--manual=User Commands",
             f"--source=cushim {version}", f"--version-string={title} {version}",
             f"--name={found.get(name, 'find, probe and compare CUDA drivers')}",
             f"--include={include}", f"--output={output}",
             f"{shlex.quote(program)} {name}".strip()],
            env={**ENVIRONMENT, "SOURCE_DATE_EPOCH": str(calendar.timegm(day.timetuple()))},
            check=True)
    # help2man writes the month in words, and pages of man(7) have the date so.
    page = Path(output)
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r'(?m)^(\.TH \S+ "1" )"[^"]*"', rf'\1"{date}"', text), encoding="utf-8")


if __name__ == "__main__":
    main()

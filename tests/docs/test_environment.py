# SPDX-License-Identifier: MIT
"""docs/environment.md has each variable of the environment that the sources read, and no other."""

import re

from pages import ROOT

PAGE = (ROOT / "docs/environment.md").read_text(encoding="utf-8")
FOLDERS = ("include", "src", "tools", "python", "kernels")
# How sources read one; doctor.c has tables of names.
READS = re.compile(
    r'(?:getenv|cushim_platform_env|\bnumber|environ\.get|environ)[(\[]\s*"([A-Z]\w+)"'
    r'|\{"([A-Z]\w+)", (?:is_on|is_hiding|is_there|has_\w+|always),'
    r'|"\$([A-Z]\w+)[/"]')
OURS = re.compile(r'"(CUSHIM_(?:SIM_|PYTEST_)\w+|CUSHIM_(?:LIB\w+|LOG|FACTS))"')


def read():
    """{variable: a source that reads it}, and all words in quotes"""
    found, quoted = {}, set()
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in (".c", ".h", ".hpp", ".py"):
                continue
            text = path.read_text(encoding="utf-8")
            for name in [*(max(groups) for groups in READS.findall(text)), *OURS.findall(text)]:
                found[name] = path.name
            quoted |= set(re.findall(r'"\$?([A-Z]\w+)["/]', text))
    return found, quoted


def test_every_variable_is_in_the_table():
    found, quoted = read()
    assert len(found) > 40
    named = [name for line in PAGE.splitlines() if line.startswith("| `")
             for name in re.findall(r"`([A-Z]\w+)`", line.split(" | ")[0])]
    assert len(named) == len(set(named))
    assert not {name: where for name, where in found.items() if name not in named}
    assert not set(named) - quoted

# SPDX-License-Identifier: MIT
"""cuew.h and dynlink_loader.h have every name of what they stand in for, in C and C++.

adapters/cuew.names and adapters/dynlink.names list them: a kind and a name a line.
"""

import re
import subprocess

import pytest
from adopt import HERE, ROOT, need

LANGUAGES = [("cc", "gnu11"), ("clang", "c17"), ("g++", "c++11"), ("clang++", "c++20")]
# How a name of each kind is used; each use is a function of its own.
USES = {
    "function": "(void){name};",
    "macro": "\n#ifndef {name}\n#error {name} is not defined\n#endif\n",
    "member": "CudaFunctions *all = 0; (void)all->{name};",
    "type": "{name} *pointer = 0; (void)pointer;",
    "value": "(void){name};",
}


def names(adapter):
    """(kind, name) of each line of a list."""
    lines = (HERE / "adapters" / f"{adapter}.names").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split()) for line in lines if not line.startswith("#")]


def source(header, rows):
    """A file with one function on one line for each name, and its line for each."""
    text = f"#include <cushim/{header}>\n"
    lines = {}
    for number, (kind, name) in enumerate(rows):
        if kind == "macro":
            text += USES[kind].format(name=name).lstrip("\n")
        else:
            lines[text.count("\n") + 1] = name
            text += f"static void use_{number}(void) {{ {USES[kind].format(name=name)} }}\n"
    return text, lines


def missing(build, compiler, standard, header, rows):
    """Names of a list that a compiler does not know."""
    need(compiler)
    text, lines = source(header, rows)
    limit = "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"
    done = subprocess.run(
        [compiler, "-x", "c++" if "++" in compiler else "c", f"-std={standard}", "-fsyntax-only",
         limit, "-w", "-I", ROOT / "include", "-I", build.path / "gen", "-"], input=text,
        text=True, capture_output=True, check=False, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"})
    found = {lines.get(int(number)) for number in
             re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.M)}
    found |= set(re.findall(r"#error (\w+) is not defined", done.stderr))
    assert found or done.returncode == 0, done.stderr
    return sorted(found - {None})


@pytest.mark.parametrize("adapter, header", [("cuew", "cuew.h"), ("dynlink", "dynlink_loader.h")])
@pytest.mark.parametrize("compiler, standard", LANGUAGES, ids=[name for name, _ in LANGUAGES])
def test_every_name(build, compiler, standard, adapter, header):
    """None is missing; a name that is none is found to be missing, whatever its kind."""
    rows = names(adapter)
    assert len(rows) > 300
    assert not missing(build, compiler, standard, header, rows)
    kinds = {kind for kind, _ in rows}
    wrong = [(kind, f"no_such_{kind}") for kind in kinds]
    assert missing(build, compiler, standard, header, rows + wrong) == sorted(
        name for _, name in wrong)

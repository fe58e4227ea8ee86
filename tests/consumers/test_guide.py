# SPDX-License-Identifier: MIT
"""docs/guide.md, followed line by line in an empty folder: its files, and its commands in order."""

import os
import re
import shutil
import subprocess

import pytest
from adopt import NO_DRIVER, ROOT, environment, need

PAGE = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
STARTED = re.compile(r"(?:cushim (?:sim|matrix)\b.* -- )?\./(\w+)")


@pytest.fixture(name="there", scope="module")
def there_fixture(installed, tmp_path_factory):
    """(folder, environment) of a reader who has installed everything, and has no driver."""
    if not (installed.prefix / "bin" / "cushim").exists():
        pytest.skip("built without the command")
    need("pkg-config")
    folder = tmp_path_factory.mktemp("guide")
    for name, text in re.findall(r"^```c\n/\* (\w+\.c) \*/\n(.*?)^```", PAGE, re.M | re.S):
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "docs/examples/scale.c", folder)
    variables = {**installed.env, "CUSHIM_LIBCUDA": NO_DRIVER,
                 "PATH": f"{installed.prefix / 'bin'}:{os.environ['PATH']}"}
    # Installed below a folder of the test's, and not below the prefix that the files name.
    tools = tmp_path_factory.mktemp("tools")
    (tools / "pkg-config").write_text(f'#!/bin/sh\nexec /usr/bin/{installed.pkg_config} "$@"\n',
                                      encoding="utf-8")
    (tools / "pkg-config").chmod(0o755)
    variables["PATH"] = f"{tools}:{variables['PATH']}"
    return folder, environment(variables)


def test_every_command(there, build):
    """Each ends with 0, and prints the result wherever the program runs."""
    folder, variables = there
    if not build.options["sim"]:
        pytest.skip("built without the simulated driver")
    text = re.sub(r"^```.*?^```", "", PAGE, flags=re.M | re.S)
    commands = re.findall(r"^    (\S.*)$", text, re.M)
    assert len(commands) > 10
    results = 0
    for command in commands:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=variables, text=True,
                              capture_output=True, check=False, timeout=300)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        if STARTED.fullmatch(command) and "scale" in command and "matrix" not in command:
            assert done.stdout == "2 20 1998\n", command
            assert ("on the CPU, because" in done.stderr) == \
                ("--fault" in command or "sim" not in command), f"{command}: {done.stderr}"
            results += 1
    assert results == 5


def test_result_is_on_the_page():
    assert "`2 20 1998`" in PAGE

# SPDX-License-Identifier: MIT
"""What `meson setup` says of the parts that this machine cannot build."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WITHOUT = {**os.environ, "PKG_CONFIG_LIBDIR": "/nonexistent", "CMAKE_PREFIX_PATH": "/nonexistent",
           "LC_ALL": "C"}


def configure(folder, *options):
    """The exit code and the text of it, on a machine without the libraries."""
    done = subprocess.run(["meson", "setup", folder, ROOT, *options], env=WITHOUT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, re.sub(r" +", " ", done.stdout)


def test_what_is_asked_for_and_cannot_be_built(tmp_path):
    """`cushim sim` is half of -Dsim=true: without jansson it is not left out in silence."""
    code, text = configure(tmp_path / "build", "-Dsim=true")
    assert code and "needs jansson: install it (Debian: libjansson-dev)" in text, text


def test_what_is_left_out(tmp_path):
    """The summary names each part, and what is missing for it."""
    code, text = configure(tmp_path / "build")
    assert not code, text
    assert " command : no: jansson is missing\n" in text, text
    assert " simulated driver: no: -Dsim=true builds it\n" in text, text
    code, text = configure(tmp_path / "build", "--reconfigure", "-Dtools=disabled", "-Dsim=true")
    assert not code and " command : no: -Dtools=disabled\n" in text, text
    assert " simulated driver: yes\n" in text, text

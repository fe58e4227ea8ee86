# SPDX-License-Identifier: MIT
"""The places of the repository: root's own home, which others may not enter; and, built anew by an
ordinary user, a path with a space and letters beyond ASCII. tests/run has to work in all three."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = os.environ.get("MESON_BUILD_ROOT", str(ROOT / "build"))
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
# Tests that become another user: the source, the test, what chooses its cases.
OTHER_USERS = {
    "cli/test_doctor.py": ("cli doctor", "-k rights"),
    "cli/test_scan.py": ("cli scan", "-k unreadable"),
    "sim/test_process.c": ("sim process", ""),
    "sim/test_share.c": ("sim share", ""),
    "unit/test_user.c": ("user", ""),
    "consumers/test_dropin_log.py": ("dropin_log", "-k set_uid"),
    "consumers/test_security.py": ("security", "-k programs_with_rights"),
}
BECOMES = re.compile(r"\bset(re)?uid\(|\buser=65534|\bchown\(|NOBODY")

# In a mount namespace the folder becomes another with the same content and the mode of root's home.
CLOSE = """
set -e
close() { # from inside of the folder, whose content has no other path afterwards
    mount -t tmpfs -o mode=0700 closed "$1"
    for entry in .[!.]* *; do
        [ -e "$entry" ] || continue
        if [ -d "$entry" ]; then mkdir "$1/$entry"; else : >"$1/$entry"; fi
        mount --no-canonicalize --bind "./$entry" "$1/$entry"
    done
}
cd "$1"
close "$1"
cd "$1"
if setpriv --reuid 65534 --regid 65534 --clear-groups ls README.md 2>/dev/null; then
    echo "the folder is open"
    exit 1
fi
shift
exec "$@"
"""


@pytest.mark.skipif(not IS_ROOT, reason="only root has a home that tests leave as another user")
@pytest.mark.parametrize("name, cases", [
    pytest.param(*row, id=row[0], marks=[pytest.mark.in_all] * source.startswith("consumers/"))
    for source, row in OTHER_USERS.items()])
def test_in_the_home_of_root(name, cases):
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespace is allowed here")
    meson = ["meson", "test", "-C", BUILD, "--no-rebuild", "--print-errorlogs", "--logbase",
             "places-" + name.split()[-1], "--test-args=" + cases, name]
    done = subprocess.run(["unshare", "--mount", "sh", "-c", CLOSE, "sh", ROOT, *meson], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout
    assert "\nOk:                 1 " in done.stdout, done.stdout


def test_all_are_known():
    """A test that becomes another user is tried in root's home."""
    tests = ROOT / "tests"
    found = {str(path.relative_to(tests)) for path in tests.glob("*/test_*.[cp]*")
             if BECOMES.search(path.read_text(encoding="utf-8"))}
    assert found - {"counting/test_places.py"} == set(OTHER_USERS)


def not_copied(folder, names):
    """What git does not have, and what tests/run makes."""
    return [name for name in names if name == "__pycache__" or Path(folder) == ROOT
            and (name in (".git", "shared") or name.startswith("build"))]


@pytest.fixture(name="copy")
def fixture_copy():
    """The tree in an odd path, an ordinary user's."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        tree = Path(folder, "Büro – mit Platz", "cushim")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=not_copied)
        (tree.parent / "home").mkdir()
        for path in [tree.parent, *tree.parent.rglob("*")] if IS_ROOT else []:
            os.lchown(path, NOBODY, NOBODY)
        yield tree


@pytest.mark.in_all
@pytest.mark.by_hand
def test_odd_path_of_an_ordinary_user(copy):
    """What tests/run calls, for a build without the simulated driver, which takes longest, and not
    optimized."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(copy.parent / "home"), "LANG": "C.UTF-8"}
    as_user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if IS_ROOT else {}
    for command in (["sh", "tools/setup", "tests"],
                    ["sh", "tools/configure", "build", "-Dtests=true", "-Dtools=enabled",
                     "-Dwerror=true", "-Db_lundef=true", "-Doptimization=0", "-Ddebug=false"],
                    ["ninja", "-C", "build", "--quiet"],
                    ["meson", "test", "-C", "build", "--no-rebuild", "--print-errorlogs", "--suite",
                     "unit", "--suite", "cli", "--suite", "docs", "--setup", "quick"]):
        done = subprocess.run(command, cwd=copy, env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **as_user)
        assert done.returncode == 0, f"{command}: {done.stdout[-6000:]}"

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unpack Debian's packages of another architecture: what the tests link, and NVIDIA's driver.

Packages go to FOLDER/root, the driver to FOLDER/driver; with the word driver, it alone is fetched,
and with names these packages alone. What is there already is not fetched again. Nothing is
installed, and apt's state stays as it is.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))

from archive import opened, release  # noqa: E402
from fetching import Unavailable, locked  # noqa: E402

# Run-time libraries and what links against them.
PACKAGES = ["libc6", "libgcc-s1", "libcmocka0", "libcmocka-dev", "libjansson4", "libjansson-dev",
            "libzstd1", "libzstd-dev", "liblz4-1", "liblz4-dev"]
DRIVER = ["libcuda1"]


def unpack(names, component, architecture, folder, suite_name):
    """All packages of these names into a new folder, in one step."""
    if folder.exists():
        return
    with opened([suite_name], architecture=architecture, component=component) as (suite,), \
            tempfile.TemporaryDirectory() as work:
        suite.update()
        new = Path(work, "root")
        for name in names:
            found = suite.candidates(name)
            if not found:
                raise Unavailable(f"{name}:{architecture} is not in {suite.name}")
            suite.unpack(found[0], new)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(new, folder)


def main():
    """Fetch what is missing."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("architecture")
    parser.add_argument("names", nargs="*", metavar="driver | PACKAGE")
    parser.add_argument("--suite", help="of Debian (default: this machine's own)")
    given = parser.parse_args()
    try:
        with locked(given.folder):
            suite = given.suite or release()
            if given.names != ["driver"]:
                unpack(given.names or PACKAGES, "main", given.architecture, given.folder / "root",
                       suite)
            if given.names in ([], ["driver"]):
                unpack(DRIVER, "non-free", given.architecture, given.folder / "driver", suite)
    except Unavailable as failure:
        sys.exit(f"sysroot.py: {failure}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Unpack Debian's packages of another architecture: what the tests link, and NVIDIA's driver.

Usage: sysroot.py FOLDER ARCHITECTURE [driver | PACKAGE...]. Packages go to FOLDER/root, the driver
to FOLDER/driver; with the word, the driver alone is fetched, and with names these packages alone.
What is there already is not fetched again. Nothing is installed, and apt's state stays as it is.
"""

import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))

from archive import opened, release  # noqa: E402
from fetching import Unavailable, locked  # noqa: E402

# Run-time libraries and what links against them; of the machine's own Debian release.
PACKAGES = ["libc6", "libgcc-s1", "libcmocka0", "libcmocka-dev", "libjansson4", "libjansson-dev",
            "libzstd1", "libzstd-dev", "liblz4-1", "liblz4-dev"]
DRIVER = ["libcuda1"]


def unpack(names, component, architecture, folder):
    """All packages of these names into a new folder, in one step."""
    if folder.exists():
        return
    with opened([release()], architecture=architecture, component=component) as (suite,), \
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
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, architecture, names = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    try:
        with locked(folder):
            if names != ["driver"]:
                unpack(names or PACKAGES, "main", architecture, folder / "root")
            if names in ([], ["driver"]):
                unpack(DRIVER, "non-free", architecture, folder / "driver")
    except Unavailable as failure:
        sys.exit(f"sysroot.py: {failure}")


if __name__ == "__main__":
    main()

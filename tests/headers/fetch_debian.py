#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetch the headers of CUDA 11.2 from Debian's archive, for test_debian.py.

No wheel has the headers of a release before 11.7. Debian's package of 11.2 has them, among half
a gigabyte of libraries: it is downloaded once, and just the driver's headers are kept.

They go to <cache>/headers-debian/11.2/linux; the cache is $CUSHIM_CACHE, else
$XDG_CACHE_HOME/cushim, else ~/.cache/cushim. Exit code 1 where they could not be had.

With the argument nvml: nvml.h of the same release, which gen/scan.py reads. It comes in a small
package, and goes to <cache>/headers-nvml/11.2/linux.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "gen"))

import fetching  # noqa: E402
from archive import opened  # noqa: E402

SUITE, RELEASE, VERSION = "bullseye", "11.2", 11020
# Package, folder of the cache, headers.
LIBRARIES = {
    "cuda": ("nvidia-cuda-dev", "headers-debian",
             ("cuda", "cudaEGL", "cudaGL", "cudaProfiler", "cudaVDPAU")),
    "nvml": ("libnvidia-ml-dev", "headers-nvml", ("nvml",)),
}


def unpack(archive, names, folder):
    """Just the headers: they come early in the archive, and what follows is not read."""
    missing = {f"./usr/include/{name}.h" for name in names}
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as data:
        with tarfile.open(fileobj=data.stdout, mode="r|") as tar:
            for member in tar:
                if member.name in missing:
                    (folder / Path(member.name).name).write_bytes(tar.extractfile(member).read())
                    missing.remove(member.name)
                if not missing:
                    break
        data.kill()
    if missing:
        raise OSError(f"{archive.name} lacks {', '.join(sorted(missing))}")


def fetch(target, name, headers):
    """Download, unpack, check, and put in place in one step."""
    with fetching.locked(target.parent), opened([SUITE], target.parent) as (suite,), \
            tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as work:
        suite.update()
        found = suite.candidates(name, RELEASE)
        if not found:
            raise OSError(f"{SUITE} has no {name} {RELEASE}")
        version = found[0]["version"]
        ready = Path(work, "ready")
        ready.mkdir()
        unpack(suite.download(name, version), headers, ready)
        cuda = ready / "cuda.h"  # nvml.h does not name its release
        if cuda.exists() and f"#define CUDA_VERSION {VERSION}" not in cuda.read_text(
                errors="replace"):
            raise OSError(f"{name} {version} is not CUDA {RELEASE}")
        fetching.put(ready, target)


def main():
    name, folder, headers = LIBRARIES[(sys.argv[1:] or ["cuda"])[0]]
    target = fetching.cache_folder(folder) / RELEASE / "linux"
    if not (target / f"{headers[0]}.h").is_file():
        try:
            fetch(target, name, headers)
        except Exception as failure:  # whatever it is, the tests that need these say it is missing
            sys.exit(f"CUDA {RELEASE}: {' '.join(str(failure).split())}")
    print(f"CUDA {RELEASE} {target}")


if __name__ == "__main__":
    main()

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

import importlib.util
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

SUITE, RELEASE, VERSION = "bullseye", "11.2", 11020
# Package, folder of the cache, headers.
LIBRARIES = {
    "cuda": ("nvidia-cuda-dev", "headers-debian",
             ("cuda", "cudaEGL", "cudaGL", "cudaProfiler", "cudaVDPAU")),
    "nvml": ("libnvidia-ml-dev", "headers-nvml", ("nvml",)),
}


def drivers():
    """tests/drivers/fetch.py, which knows how to use apt without touching the system's."""
    path = Path(__file__).resolve().parents[1] / "drivers" / "fetch.py"
    spec = importlib.util.spec_from_file_location("fetch_drivers", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    apt = drivers()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as work:
        os.chmod(work, 0o755)  # for the user _apt
        suite = apt.Suite(SUITE, apt.debian_source(), Path(work))
        suite.update()
        found = [package["version"] for package in suite.packages
                 if package["package"] == name and package["version"].startswith(RELEASE)]
        if not found:
            raise OSError(f"{SUITE} has no {name} {RELEASE}")
        download = suite.folder / "download"
        apt.run("apt-get", f"-c={suite.folder}/apt.conf", "download", f"{name}={found[0]}",
                cwd=download)
        ready = Path(work, "ready")
        ready.mkdir()
        unpack(next(download.glob("*.deb")), headers, ready)
        cuda = ready / "cuda.h"  # nvml.h does not name its release
        if cuda.exists() and f"#define CUDA_VERSION {VERSION}" not in cuda.read_text(
                errors="replace"):
            raise OSError(f"{name} {found[0]} is not CUDA {RELEASE}")
        ready.rename(target)


def main():
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(os.environ.get("CUSHIM_CACHE") or Path(base, "cushim"))
    name, folder, headers = LIBRARIES[(sys.argv[1:] or ["cuda"])[0]]
    target = cache.absolute() / folder / RELEASE / "linux"
    if not (target / f"{headers[0]}.h").is_file():
        try:
            fetch(target, name, headers)
        except Exception as failure:  # whatever it is, the tests that need these say it is missing
            sys.exit(f"CUDA {RELEASE}: {' '.join(str(failure).split())}")
    print(f"CUDA {RELEASE} {target}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write cushim.h and cushim.c: the whole library as two files to copy. Standard library only; run
by Meson, and by CMake in a checkout.

Usage: two_files.py FOLDER [--depfile FILE]

The sources are those of the lists of src/meson.build, in their order. What the build generates is
generated here again.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

import amalgamate
import emit
import registry
import vendor

ROOT = Path(__file__).resolve().parents[1]
OWNERS = ROOT / "include/cushim/cushim.hpp"


def write_two(folder):
    """Write both; returns the files that they were made of."""
    data = emit.Files(registry.DEFAULT)
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        (made / "cushim").mkdir()

        def generate(output):
            path = made / "cushim" / output if output.endswith(".h") else made / output
            path.write_text(emit.OUTPUTS[output](data), encoding="utf-8")
            return path

        for output in vendor.HEADERS:
            generate(output)
        joiner = amalgamate.Joiner([ROOT / "include", made, vendor.SRC, vendor.SRC / "dropin"])
        header = amalgamate.header(joiner, argparse.Namespace(
            include=joiner.folders, headers=vendor.listed("headers"), owners=[OWNERS],
            companions=[generate(output) for output in emit.COMPANIONS],
            typedefs=[generate(output) for output in emit.TYPEDEFS]))
        source = amalgamate.sources(joiner, argparse.Namespace(
            sources=vendor.listed("loader_sources") + [generate("entries.c"),
                                                       generate("error_names.c")],
            posix=vendor.listed("posix_sources"), windows=vendor.listed("windows_sources"),
            helpers=vendor.listed("helper_sources") + [generate("attribute_names.c")],
            dropin=vendor.listed("dropin_sources") + [generate("dropin.c")]))
        used = {path for path in joiner.seen if made.resolve() not in path.parents}
    build = (ROOT / "meson.build").read_text(encoding="utf-8")
    version = re.search(r"^\s*version: '([^']+)'", build, re.M)[1]
    for name, text, origin in (("cushim.h", header, "include/cushim/"), ("cushim.c", source,
                                                                        "src/")):
        text = amalgamate.HEADER.format(
            version=version, license=amalgamate.terms(ROOT / "LICENSE"),
            origin=f"{origin} and gen/registry/") + text
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return [*used, *registry.DEFAULT.glob("*.jsonl"), *Path(__file__).parent.glob("*.py"),
            ROOT / "meson.build", ROOT / "src/meson.build", ROOT / "LICENSE"]


def main():
    """Run as the build does."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--depfile", type=Path)
    options = parser.parse_args()
    try:
        options.folder.mkdir(parents=True, exist_ok=True)
        used = write_two(options.folder)
    except (amalgamate.AmalgamateError, registry.RegistryError, vendor.VendorError) as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"{error.filename or options.folder}: {error.strerror}")
    if options.depfile:
        names = " ".join(str(path).replace(" ", "\\ ") for path in sorted(set(used)))
        options.depfile.write_text(f"cushim.h cushim.c: {names}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

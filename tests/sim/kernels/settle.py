#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make golden/ from what `sim-kernels record` wrote on a GPU, twice.

A kernel whose variants all gave the same keeps one file, NAME.bin; where most did, that file and
one for each of the others, NAME.VARIANT.bin. A variant that gave two results is named and left out.
"""

import collections
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"


def main():
    first, second = (pathlib.Path(folder) for folder in sys.argv[1:3])
    kernels = collections.defaultdict(dict)
    for path in sorted(first.iterdir()):
        data = path.read_bytes()
        again = second / path.name
        if not again.exists() or again.read_bytes() != data:
            print(f"{path.name}: not the same twice", file=sys.stderr)
            continue
        kernels[path.name.split(".")[0], path.suffix][path.stem] = data
    for old in GOLDEN.glob("*"):
        old.unlink()
    for (name, suffix), variants in sorted(kernels.items()):
        usual = collections.Counter(variants.values()).most_common(1)[0][0]
        (GOLDEN / (name + suffix)).write_bytes(usual)
        for variant, data in variants.items():
            if data != usual:
                (GOLDEN / (variant + suffix)).write_bytes(data)
                print(f"{variant}{suffix}: its own")
    return 0


if __name__ == "__main__":
    sys.exit(main())

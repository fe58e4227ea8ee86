#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Put into recorded/ what `sim-kernels record` wrote on a GPU, twice.

A kernel whose variants all gave the same has one part, NAME.bin; where most did, that part and one
for each of the others, NAME.VARIANT.bin. A variant that gave two results is named and left out. A
kernel that did not run keeps what it has.
"""

import collections
import pathlib
import sys

import pack


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
    results = collections.defaultdict(dict)
    for (name, suffix), variants in sorted(kernels.items()):
        usual = collections.Counter(variants.values()).most_common(1)[0][0]
        results[name][name + suffix] = usual
        for variant, data in variants.items():
            if data != usual:
                results[name][variant + suffix] = data
                print(f"{variant}{suffix}: its own")
    for name, files in results.items():
        ptx = {part: data for part, data in pack.read(name).items() if part.endswith(".ptx")}
        pack.write(name, ptx | files)
    return 0


if __name__ == "__main__":
    sys.exit(main())

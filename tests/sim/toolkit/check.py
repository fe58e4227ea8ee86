#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the toolkit's own device libraries on the simulated driver: CUB, libcu++, cooperative groups,
cuRAND, Thrust, small floats.

Needs nvcc, and `toolkit-run` of a build: ninja -C build tests/sim/toolkit/toolkit-run. Each source
is compiled for several targets, with the optimiser and without (-G), which gives different code;
all of it must give the same words, and those that are easy to work out must be right. What nvcc
makes holds code of NVIDIA's, so none of it is committed.
"""

import argparse
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
THREADS, BLOCKS = 128, 4
AT = range(THREADS * BLOCKS)


def blocks(given, found):
    for block in range(BLOCKS):
        part = slice(block * 512, (block + 1) * 512)
        items = sorted(given[part])
        assert found[part] == items[::-1]
        assert found[2048:][part] == items
        assert found[4096:][part] == [sum(items[:i]) for i in range(512)]
        assert found[6144 + block] == sum(items)
        assert found[6160 + 4 * block:][:4] == [items[512 // 4 * (w + 1) - 4] for w in range(4)]
        assert found[7168 + 256 * block:][:256] == [sum(item & 255 == bin for item in items)
                                                    for bin in range(256)]


def warps(given, found):
    for at in AT:
        block, thread = divmod(at, THREADS)
        items = given[512 * block:][:512]
        assert found[4 * at:][:4] == items[thread::128]
        assert found[2048 + 4 * at:][:4] == [items[i] - items[i - 1] if i else items[0]
                                             for i in range(4 * thread, 4 * thread + 4)]
        eight = items[thread // 8 * 32:][:32]
        assert found[4096 + at] == sum(eight[:thread % 8 * 4 + 1:4])
        assert found[4608 + at] == sum(eight[::4])
        alone = thread % 8 == 0 and thread // 8 % 3 == 1
        assert found[5120 + at] == (max(eight[1:20:4]) if alone else 0)
        ordered = [item for part in range(16) for item in sorted(items[32 * part:][:32])]
        assert found[6144 + 4 * at:][:4] == ordered[4 * thread:][:4]
        assert found[8192 + 4 * at:][:4] == [
            int(i == 0 or ordered[i] // 100 != ordered[i - 1] // 100)
            for i in range(4 * thread, 4 * thread + 4)]


def objects(given, found):
    for at in AT:
        block, thread = divmod(at, THREADS)
        assert found[at] == given[block * THREADS + 127 - thread]
        assert found[1024 + at] == THREADS * 1000 + 64
        assert found[2048 + at] == int((thread * thread - 1) / 2) + thread
        assert found[3072 + at] == sum(given[part * THREADS + (thread + part + 1) % THREADS]
                                       for part in range(4))
    assert found[8192:8200:2] == [max(given[128 * b:128 * b + 128]) for b in range(BLOCKS)]


def groups(given, found):
    for at in AT:
        half, warp, pair = (given[at // size * size:][:size] for size in (16, 32, 64))
        value, lane = given[at], at % 32
        assert found[at] == sum(half)
        assert found[1024 + at] == sum(half[:at % 16 + 1])
        same = [i for i in range(32) if (warp[i] ^ value) & 3 == 0]
        assert found[2048 + at] == len(same) * 100 + same.index(lane)
        assert found[3072 + at] == max(item for item in warp if (item ^ value) & 1 == 0)
        odd = [item for item in warp if item & 1]
        assert found[4096 + at] == (odd[0] + len(odd) if value & 1 else -1)
        assert found[5120 + at] == given[at ^ 5]
        assert found[6144 + at] == sum(pair)
        match = sum((item ^ value) & 7 == 0 and 1 << i for i, item in enumerate(warp))
        word = (3 in warp) + 2 + 4 * match & 0xffffffff
        assert found[7168 + at] == word - (word >> 31 << 32)


def sequences(given, found):
    for at in AT:
        items = sorted(given[(8 * at + i) % 512] for i in range(8))
        assert found[8 * at:][:8] == items
        assert found[4096 + at] == sum(items) * 10 + sum(item < 500 for item in items)
        assert found[5120 + at] == 2 * at + (at & 1) + items[3].bit_count()
        assert found[6144 + at] == given[at] + (at % 7) ** 2 * (at & 1)


def cluster(given, found):
    for at in AT:
        block, thread = divmod(at, THREADS)
        assert found[at] == given[(block ^ 1) * THREADS + 127 - thread] + 20000
        assert found[1024 + at] == given[at ^ 3]
        assert found[3072 + at] == 3 * at
    for block in range(BLOCKS):
        assert found[2048 + block] == given[block * THREADS + 5] + (1 - block % 2) * 2 * THREADS


# What has no function here is only compared with itself.
SOURCES = {"blocks": blocks, "warps": warps, "objects": objects, "groups": groups,
           "sequences": sequences, "cluster": cluster, "random": None, "small_floats": None}


def targets(name):
    return [90] if name == "cluster" else [75, 80, 90]


def compile_and_run(arguments, name, target, options, given, folder):
    ptx = folder / f"{name}.{target}{''.join(options)}.ptx"
    subprocess.run([arguments.nvcc, "-std=c++17", "-w", "-ptx", f"-arch=compute_{target}", *options,
                    "-o", ptx, FOLDER / f"{name}.cu"], check=True)
    command = [arguments.build / "tests/sim/toolkit/toolkit-run", arguments.library, ptx]
    words = subprocess.run(command, input=struct.pack("4096i", *given), check=True,
                           stdout=subprocess.PIPE).stdout
    return list(struct.unpack("16384i", words))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path, help="Meson's build folder")
    parser.add_argument("--library", help="simulated driver; default: 13.0's")
    parser.add_argument("--nvcc", default="nvcc")
    arguments = parser.parse_args()
    arguments.library = arguments.library or arguments.build / "src/sim/libcuda-sim-13.0.so"
    random.seed(1)
    given = [random.randrange(1000) for _ in range(4096)]
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, check in SOURCES.items():
            first = None
            for target in targets(name):
                for options in ([], ["-G"]):
                    label = " ".join([name, f"sm_{target}", *options])
                    try:
                        found = compile_and_run(arguments, name, target, options, given,
                                                pathlib.Path(temporary))
                        if check:
                            check(given, found)
                        first = first or found
                        assert found == first, "differs from the first"
                        print(f"ok {label}")
                    except (subprocess.CalledProcessError, AssertionError) as error:
                        print(f"not ok {label}: {error!r}")
                        bad += 1
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()

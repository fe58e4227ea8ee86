#!/bin/sh
# SPDX-License-Identifier: MIT
# Build the fuzzers with clang: build.sh FOLDER [BUILD]. With BUILD, a build folder of Meson's that
# has src/libcushim.a, fuzz_scan too.
set -eu
cd "$(dirname "$0")/../.."
folder=$1
mkdir -p "$folder/include/cushim"
for header in api.h cuda.h cudaEGL.h cudaGL.h cudaProfiler.h cudaVDPAU.h; do
    python3 gen/emit.py "$header" "$folder/include/cushim/$header"
done
python3 gen/emit.py sim_behaviours.h "$folder/include/sim_behaviours.h"
flags="-std=c11 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined
    -fsanitize=fuzzer-no-link,address,undefined -ffp-contract=off -fno-math-errno -Wno-pass-failed
    -DOPS_LEVEL=base -DSIM_HAVE_ZSTD -DSIM_HAVE_LZ4
    -Isrc/sim -Isrc/sim/ptx -Iinclude -I$folder/include"
for source in src/sim/ptx/*.c src/sim/image.c src/sim/fatbin.c tests/fuzz/fuzz_ptx.c \
    tests/fuzz/fuzz_fatbin.c; do
    rounding=
    case $source in */ops_round.c) rounding=-frounding-math ;; esac
    # shellcheck disable=SC2086
    clang $flags $rounding -c "$source" -o "$folder/$(echo "$source" | tr / -).o"
done
for name in fuzz_ptx fuzz_fatbin; do
    clang -fsanitize=fuzzer,address,undefined -o "$folder/$name" "$folder/tests-fuzz-$name.c.o" \
        "$folder"/src-*.o -lzstd -llz4 -lm -lpthread
done
[ $# -gt 1 ] || exit 0
flags="-std=c11 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined
    -fsanitize=fuzzer,address,undefined -DHAVE_ARCHIVE -DHAVE_ZSTD -DHAVE_LZ4 -DMOST_BYTES=1000000
    -Iinclude -I$2/gen -Itools"
# shellcheck disable=SC2086
clang $flags -o "$folder/fuzz_scan" tests/fuzz/fuzz_scan.c tools/elf_file.c tools/fatbin_read.c \
    tools/known.c tools/output.c tools/pe_file.c tools/scan_file.c tools/scan_gpu.c \
    tools/scan_wheel.c "$2/src/libcushim.a" -lelf -larchive -lzstd -llz4 -ljansson -ldl -lpthread

#!/bin/sh
# SPDX-License-Identifier: MIT
# Build the fuzzers with clang: build.sh FOLDER [BUILD]. With BUILD, a build folder of Meson's that
# has src/libcushim.a, fuzz_scan, fuzz_rule and fuzz_library too.
set -eu
cd "$(dirname "$0")/../.."
folder=$1
mkdir -p "$folder/include/cushim" "$folder/generated"
rm -f "$folder"/*.o # also those of sources that are no more
for header in api.h cuda.h cuda_types.h cuda_functions.h cuda_names.h cudaEGL.h cudaGL.h \
    cudaProfiler.h cudaVDPAU.h; do
    python3 gen/emit.py "$header" "$folder/include/cushim/$header"
done
python3 gen/emit.py sim_behaviours.h "$folder/include/sim_behaviours.h"
for source in attribute_names.c entries.c error_names.c; do
    python3 gen/emit.py "$source" "$folder/generated/$source"
done
echo '#define SIM_RELEASES SIM_NEWEST' >"$folder/include/sim_releases.h"
python3 gen/emit.py sim_exports.c "$folder/generated/sim_exports.c"
python3 gen/embed.py src/sim/module/device_runtime.ptx sim_device_runtime \
    "$folder/generated/sim_device_runtime.c"
python3 tests/fuzz/api_calls.py "$folder/generated/api_calls.c"
flags="-std=c11 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined
    -fsanitize=fuzzer-no-link,address,undefined -ffp-contract=off -fno-math-errno -Wno-pass-failed
    -DOPS_LEVEL=base -DCUSHIM_CUDA_VERSION=CUSHIM_REGISTRY_VERSION -DSIM_HAVE_ZSTD -DSIM_HAVE_LZ4
    -Isrc -Isrc/sim -Itests/fuzz -Iinclude -I$folder/include"
export folder flags
# Several at a time: the name of each source is the argument.
# shellcheck disable=SC2016
printf '%s\n' src/sim/*/*.c src/sim/ptx/*/*.c src/loader/*.c src/helpers/*.c \
    "$folder"/generated/*.c tests/fuzz/fuzz_ptx.c tests/fuzz/fuzz_fatbin.c tests/fuzz/fuzz_api*.c \
    tests/sim/ptx/dump.c |
    grep -v -e sim/thin/ -e sim/nvml/ -e windows -e helpers/feature -e helpers/compat |
    xargs -P "$(nproc)" -n 1 sh -c '
        rounding=
        case $1 in */ops_round.c) rounding=-frounding-math ;; esac
        name=$(echo "${1#"$folder"/}" | tr / -)
        clang $flags $rounding -c "$1" -o "$folder/$name.o"
        ' compile
for name in fuzz_ptx fuzz_fatbin; do
    clang -fsanitize=fuzzer,address,undefined -o "$folder/$name" "$folder/tests-fuzz-$name.c.o" \
        "$folder"/src-sim-ptx-*.o "$folder/src-sim-module-image.c.o" \
        "$folder/src-sim-module-fatbin.c.o" "$folder/generated-sim_device_runtime.c.o" \
        "$folder/tests-sim-ptx-dump.c.o" -lzstd -llz4 -lm -lpthread
done
clang -fsanitize=address,undefined -o "$folder/fuzz_api" "$folder"/tests-fuzz-fuzz_api*.o \
    "$folder"/generated-*.o "$folder"/src-*.o -lzstd -llz4 -lm -ldl -lpthread
[ $# -gt 1 ] || exit 0
flags="-std=c11 -D_GNU_SOURCE -g -O1 -fno-omit-frame-pointer -fno-sanitize-recover=undefined
    -fsanitize=fuzzer,address,undefined -DHAVE_MINIZIP -DHAVE_ZSTD -DHAVE_LZ4 -DMOST_BYTES=1000000
    -Iinclude -I$2/gen -Itools"
scan=$(find tools -name 'scan_*.c' ! -name '*_output.c' ! -name '*_report.c' ! -name '*_table.c')
# shellcheck disable=SC2086
clang $flags -o "$folder/fuzz_scan" tests/fuzz/fuzz_scan.c tools/cubin_read.c tools/elf_file.c \
    tools/fatbin_read.c tools/facts.c tools/known.c tools/mapped.c tools/names.c tools/output.c \
    tools/pe_file.c $scan "$2/tools/gpus.c" "$2/tools/platforms.c" "$2/src/libcushim.a" \
    -lelf -lminizip -lzstd -llz4 -ljansson -ldl -lpthread
# These read with the library's and the simulated driver's own sources.
for name in fuzz_rule fuzz_library; do
    # shellcheck disable=SC2086
    clang $flags -Isrc -Isrc/sim -I"$folder/include" -o "$folder/$name" "tests/fuzz/$name.c" \
        "$folder"/generated-[!a]*.o "$folder/generated-attribute_names.c.o" "$folder"/src-*.o \
        -lzstd -llz4 -lm -ldl -lpthread
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# Ask a device what the manual leaves open: questions.sh OUT [PROGRAM]
#
# OUT gets answers.txt, differences.txt (against questions.txt, which has what the simulated driver
# answers) and attributes.txt. PROGRAM is a built device-questions; without one it is built in a
# folder of its own, which takes a C compiler and Meson. Each question is a process: some hang, some
# crash. Ends with 0 if all answers are those, with 3 if some differ, with 77 without a device.
set -u
LC_ALL=C
export LC_ALL
out=${1:?usage: questions.sh OUT [PROGRAM]}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" || exit 1
program=${2:-}
if [ -z "$program" ]; then
    build=$(mktemp -d) || exit 1
    trap 'rm -rf "$build"' EXIT
    { meson setup "$build/cushim" "$here/../.." --prefix "$build" -Dlibdir=lib -Dtests=false \
        -Dtools=disabled -Dsim=false --default-library=static &&
        meson install -C "$build/cushim" &&
        ${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -I "$build/include" -o "$build/device-questions" \
            "$here"/questions*.c "$build/lib/libcushim.a" -ldl -lpthread
    } >"$out/build.txt" 2>&1 || {
        tail -n 20 "$out/build.txt"
        exit 1
    }
    program=$build/device-questions
fi
limit=${QUESTION_SECONDS:-20}
"$program" attributes >"$out/attributes.txt" 2>&1 || {
    code=$?
    cat "$out/attributes.txt"
    exit "$code"
}
names=$("$program" list) || exit 1
for name in $names; do
    echo "$name"
    timeout -s KILL "$limit" "$program" "$name" 2>>"$out/errors.txt"
    code=$?
    [ "$code" -eq 0 ] || echo "  ends with $code"
done >"$out/answers.txt" 2>/dev/null
head -n 1 "$out/attributes.txt"
echo "$(grep -c '^[a-z]' "$out/answers.txt") questions, $(grep -c 'outcome: hangs' \
    "$out/answers.txt") hang, $(grep -c '^  ends with' "$out/answers.txt") end otherwise"
diff -u "$here/questions.txt" "$out/answers.txt" >"$out/differences.txt" && exit 0
echo "$(grep -c '^[-+] ' "$out/differences.txt") lines differ: $out/differences.txt"
exit 3

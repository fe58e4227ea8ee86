#!/bin/sh
# SPDX-License-Identifier: MIT
# Ask a device what the manual leaves open: questions.sh OUT [PROGRAM [EXCEPT]]
#
# OUT gets answers.txt, differences.txt (against questions.txt, which has what an H100 with driver
# 580.159.04 answered) and attributes.txt. PROGRAM is a built device-questions; without one it is
# built in a folder of its own, which takes a C compiler and Meson. EXCEPT has other answers to some
# of the questions, such as those of the simulated driver: names, and behind them what they have in
# common. Each question is a process: some hang, some crash. Ends with 0 if all answers are those,
# with 3 if some differ, with 77 without a device.
set -u
LC_ALL=C
export LC_ALL
out=${1:?usage: questions.sh OUT [PROGRAM]}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out" || exit 1
program=${2:-}
except=${3:-/dev/null}
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
# An exception that is none, as its question is gone or has that answer anyhow, is an error.
awk '
    function decide() {
        if (name in other) {
            answer = (other[name] == answer) ? answer "an exception for nothing\n" : other[name]
            delete other[name]
        }
        if (name != "")
            printf "%s\n%s", name, answer
    }
    function except(line) {
        if (line ~ /^[a-z]/) {
            names = (answers ? "" : names " ") line
            answers = 0
        } else if (line ~ /^ /) {
            answers = 1
            count = split(names, each)
            for (i = 1; i <= count; i++)
                other[each[i]] = other[each[i]] line "\n"
        }
    }
    FILENAME == ARGV[1] { except($0); next }
    /^ / { answer = answer $0 "\n"; next }
    { decide(); name = $0; answer = "" }
    END { decide(); for (name in other) print "no such question: " name }
' "$except" "$here/questions.txt" >"$out/expected.txt" || exit 1
diff -u "$out/expected.txt" "$out/answers.txt" >"$out/differences.txt" && exit 0
echo "$(grep -c '^[-+] ' "$out/differences.txt") lines differ: $out/differences.txt"
exit 3

#!/bin/sh
# SPDX-License-Identifier: MIT
# The simulated driver's own tests on a real one: on_device.sh BUILD LIBCUDA. What is not the
# simulator's own has to hold there as well, each case in a process of its own; the conformance
# suite has to give what was recorded. Ends with 1 if anything failed.
build=$1
driver=$2
here=$(dirname "$0")
good=0 own=0 skipped='' failed=''
export CMOCKA_MESSAGE_OUTPUT=TAP
for name in callbacks captures conditional contexts devices export graphs heap images \
    lifetimes loading memory memory_copy memory_pool memory_virtual newer pool_places \
    sequences share split streams texture_objects; do
    program=$build/tests/sim/test_sim_$name
    for case in $(MEMORY_LIST=1 "$program" "$driver" | grep -v ' own: '); do
        if ! out=$(MEMORY_ONLY=$case timeout 30 "$program" "$driver" 2>&1); then
            failed="$failed $name/$case"
            echo "== $name/$case"
            echo "$out"
        elif echo "$out" | grep -q SKIP; then
            skipped="$skipped $name/$case"
        else
            good=$((good + 1))
        fi
    done
    own=$((own + $(MEMORY_LIST=1 "$program" "$driver" | grep -c ' own: ')))
done
# It was recorded on one device.
CUDA_VISIBLE_DEVICES=0 python3 "$here/conformance/compare.py" \
    --program "$build/tests/sim/conformance/sim-conformance" \
    --library "$driver" --differences /dev/null || failed="$failed conformance"
echo "$good cases hold, $own are the simulator's own"
echo "skipped, as this driver or machine lacks what they ask:${skipped:- none}"
echo "failed:${failed:- none}"
[ -z "$failed" ]

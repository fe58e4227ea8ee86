#!/bin/sh
# SPDX-License-Identifier: MIT
# A stand-in for compute-sanitizer: --tool TOOL --error-exitcode CODE PROGRAM ARGUMENT.... What a
# tool would find, the simulated driver's checks find here.
case $2 in
racecheck) kind=race ;;
initcheck) kind=init ;;
synccheck) kind=sync ;;
*) kind= ;;
esac
failed=$4
shift 4
out=$(CUSHIM_SIM_CHECK=$kind "$@" 2>&1)
code=$?
found=$(printf '%s\n' "$out" | grep -c "simulated device 0: $kind: ")
[ -n "$kind" ] || found=0
printf '%s\n========= ERROR SUMMARY: %d errors\n' "$out" "$found"
[ "$found" -eq 0 ] || exit "$failed"
exit "$code"

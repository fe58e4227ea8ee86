#!/bin/sh
# SPDX-License-Identifier: MIT
# Compare all kernels with what was recorded: compare.sh PROGRAM KERNELS, with the driver in use.
# The two files of kernels/ that are left out are no kernels of their own, or checked elsewhere.
here=$(dirname "$0")
set -- "$1" "$here"/ptx/*.ptx "$2"/[!lp]*.ptx "$2"/link_main.ptx
program=$1
shift
exec "$program" compare -f "$here/golden" "$@"

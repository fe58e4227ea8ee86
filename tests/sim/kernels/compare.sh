#!/bin/sh
# SPDX-License-Identifier: MIT
# Compare all kernels with what was recorded: compare.sh PROGRAM KERNELS [VARIANT], with the driver
# in use; with VARIANT, such as .nvcc-O0, those files only.
# The two files of kernels/ that are left out are no kernels of their own, or checked elsewhere.
here=$(dirname "$0")
set -- "$1" "$here"/ptx/*"${3-}".ptx "$2"/[!lp]*.ptx "$2"/link_main.ptx
program=$1
shift
exec "$program" compare -f "$here/golden" "$@"

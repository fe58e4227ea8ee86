#!/bin/sh
# SPDX-License-Identifier: MIT
# Compare all kernels with what was recorded: compare.sh PROGRAM FOLDER KERNELS [VARIANT], with the
# driver in use. FOLDER is what pack.py made; with VARIANT, such as .nvcc-O0, those files only.
# The two files of kernels/ that are left out are no kernels of their own, or checked elsewhere.
program=$1
folder=$2
set -- "$folder"/ptx/*"${4-}".ptx "$3"/[!lp]*.ptx "$3"/link_main.ptx
exec "$program" compare -f "$folder/golden" "$@"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Make matrix.ptx of matrix.cu: build.sh [NVCC]. Comments and indentation are left out.
cd "$(dirname "$0")" || exit 1
made=$(mktemp) || exit 1
trap 'rm -f "$made"' EXIT
"${1:-nvcc}" -ptx -arch=compute_90 -o "$made" matrix.cu || exit 1
{
    echo '// SPDX-License-Identifier: MIT'
    echo '// From matrix.cu by build.sh; do not edit.'
    sed 's|[[:space:]]*//.*||; s/^[[:space:]]*//; /^$/d' "$made"
} > matrix.ptx

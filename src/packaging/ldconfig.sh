#!/bin/sh
# SPDX-License-Identifier: MIT
# After an installation into the running system: the system's loader finds the shared library only
# if its cache has it. A package (DESTDIR) brings that with it, a user other than root cannot, and
# a folder ($1) that the loader does not search changes nothing of the system.
if [ -n "${DESTDIR:-}" ] || [ "$(id -u)" -ne 0 ] || ! command -v ldconfig >/dev/null; then
    exit 0
fi

# Folders have several names: /lib is /usr/lib.
real() {
    (cd -P "$1" 2>/dev/null && pwd)
}

library=$(real "$1") || exit 0
ldconfig -N -X -v 2>/dev/null | sed -n 's,^\(/[^:]*\):.*,\1,p' | while read -r folder; do
    if [ "$(real "$folder")" = "$library" ]; then
        ldconfig
        break
    fi
done
exit 0

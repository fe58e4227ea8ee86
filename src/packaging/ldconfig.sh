#!/bin/sh
# SPDX-License-Identifier: MIT
# After an installation into the running system: the system's loader finds the shared library only
# if its cache has it. A package (DESTDIR) brings that with it, and a user other than root cannot.
[ -z "${DESTDIR:-}" ] && [ "$(id -u)" -eq 0 ] && command -v ldconfig >/dev/null && ldconfig
exit 0

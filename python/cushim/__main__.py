# SPDX-License-Identifier: MIT
"""The command `cushim`, which lies in the module's folder."""

import os
import sys

from .native import FOLDER


def main() -> None:
    """Become the command."""
    command = str(FOLDER / "bin" / "cushim")
    try:
        os.execv(command, ["cushim", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"cushim: {command}: {error.strerror}")


if __name__ == "__main__":
    main()

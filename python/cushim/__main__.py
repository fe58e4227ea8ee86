# SPDX-License-Identifier: MIT
"""The commands `cushim` and `cushim-embed`, which lie in the module's folder."""

import importlib
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


def embed() -> None:
    """Run cushim-embed, which needs clang on the machine."""
    sys.path.insert(0, str(FOLDER / "embed"))
    importlib.import_module("embed").main()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""One relocatable object of a static library, with no global symbol but cushim_sim_*.

Programs that link the library have functions of their own, by any name. Hidden visibility does not
keep the names of a static library apart from theirs; local symbols do.
"""

import argparse
import subprocess
from pathlib import Path


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--objcopy", required=True)
    parser.add_argument("library")
    parser.add_argument("output")
    parser.add_argument("compiler", nargs="+")
    options = parser.parse_args()
    # By the compiler, which knows the format and, with link-time optimisation, finishes it here.
    link = [*options.compiler, "-r", "-nostdlib", "-o", options.output,
            "-Wl,--whole-archive", options.library, "-Wl,--no-whole-archive"]
    subprocess.run(link, check=True)
    if b".gnu.lto_" in Path(options.output).read_bytes():  # its names cannot be made local
        subprocess.run([*link, "-flinker-output=nolto-rel"], check=True)
    subprocess.run([options.objcopy, "--wildcard", "--keep-global-symbol=cushim_sim_*",
                    options.output], check=True)


if __name__ == "__main__":
    main()

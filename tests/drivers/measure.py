#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write what drivers export, for the columns of the report page: docs/measured/VERSION.json.

    measure.py CUSHIM    each driver of the cache, which fetch.py fills

`cushim measure` writes such a file on another machine.
"""
import json
import subprocess
import sys

from real_drivers import ROOT, newest_drivers

FOLDER = ROOT / "docs" / "measured"


def exported(symbols):
    """The names that are available."""
    return [row["symbol"] for row in symbols["symbols"] if row["state"] == "available"]


def text_of(name, symbols):
    """The file's text: one name a line, so that versions of it can be compared."""
    rows = ",\n  ".join(json.dumps(row) for row in exported(symbols))
    version = json.dumps({"version": symbols["driver"]["version"]})
    return f'{{"name": {json.dumps(name)},\n "driver": {version},\n "symbols": [\n  {rows}]}}\n'


def symbols_of(command, driver):
    """What the command says of a driver of the cache."""
    done = subprocess.run([command, "symbols", "--json", "--driver", driver.path],
                          capture_output=True, text=True, check=True, env=driver.environment())
    return json.loads(done.stdout)


def main():
    FOLDER.mkdir(exist_ok=True)
    for driver in newest_drivers().values():
        text = text_of(driver.version, symbols_of(sys.argv[1], driver))
        (FOLDER / f"{driver.version}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

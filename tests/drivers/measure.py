#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write what drivers export, for the columns of the report page: docs/measured/VERSION.json.

    measure.py CUSHIM                    each driver of the cache, which fetch.py fills
    measure.py --name NAME SYMBOLS.json FEATURES.json
                                         one of another machine: what `cushim symbols --json` and
                                         `cushim features --device 0 --json` printed there
"""
import argparse
import json
import subprocess
from pathlib import Path

from real_drivers import ROOT, newest_drivers

FOLDER = ROOT / "docs" / "measured"


def exported(symbols):
    """The names that are available."""
    return [row["symbol"] for row in symbols["symbols"] if row["state"] == "available"]


def text_of(name, symbols, features=None):
    """The file's text: one name a line, so that versions of it can be compared."""
    measured = {"name": name, "driver": {"version": symbols["driver"]["version"]},
                "symbols": exported(symbols)}
    if features:
        measured["features"] = [{"feature": row["feature"], "answer": row["answer"]}
                                for row in features["features"]]
    lines = []
    for member, value in measured.items():
        if isinstance(value, list):
            rows = ",\n  ".join(json.dumps(row) for row in value)
            lines.append(f'"{member}": [\n  {rows}]')
        else:
            lines.append(f'"{member}": {json.dumps(value)}')
    return "{" + ",\n ".join(lines) + "}\n"


def symbols_of(command, driver):
    """What the command says of a driver of the cache."""
    done = subprocess.run([command, "symbols", "--json", "--driver", driver.path],
                          capture_output=True, text=True, check=True, env=driver.environment())
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", help="the column's title, and the name of the file")
    parser.add_argument("words", nargs="+", metavar="CUSHIM | SYMBOLS.json FEATURES.json")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    if options.name:
        symbols, features = (json.loads(Path(word).read_text(encoding="utf-8"))
                             for word in options.words)
        file = FOLDER / f"{options.name.replace(' ', '-')}.json"
        file.write_text(text_of(options.name, symbols, features), encoding="utf-8")
        return
    for driver in newest_drivers().values():
        text = text_of(driver.version, symbols_of(options.words[0], driver))
        (FOLDER / f"{driver.version}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

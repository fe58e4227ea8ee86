#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw tables of docs/measurements.md into docs: a dot for each value of the columns named here."""

import math
import sys
from pathlib import Path

from plot_launch import line, text

DOCS = Path(__file__).resolve().parents[2] / "docs"
# File, heading above the table, title, columns, goal.
PLOTS = (
    ("load.svg", "A complete load", "A load, over a bare dlopen",
     ("cushim / bare", "lines / bare", "cuew / bare", "nv-codec-headers / bare"), 1.15),
    ("call.svg", "A call", "A call, in nanoseconds", ("ns", "ns, 16 threads"), None),
)
WIDTH, LEFT, RIGHT, TOP, ROW = 860, 250, 40, 84, 26
COLOURS = ("#0b6e99", "#c2570c", "#4d7c0f", "#7c3aed")
STYLE = """text { font: 13px sans-serif; fill: #222 }
.title { font-size: 17px; font-weight: bold }
.grid { stroke: #ddd; stroke-width: 1 }
.wanted { stroke: #b91c1c; stroke-width: 1; stroke-dasharray: 5 4 }"""


class PlotError(Exception):
    """A page without the table; the message says what is missing."""


def cells(row):
    """The words of a table's row."""
    return [cell.strip().replace("`", "") for cell in row.strip().strip("|").split("|")]


def read(page, heading, columns):
    """[(name of the row, [value of each column or None])] of the first table below a heading."""
    lines = page.splitlines()
    starts = [number for number, row in enumerate(lines) if row.lstrip("#").strip() == heading]
    if not starts:
        raise PlotError(f"no heading '{heading}'")
    table = []
    for row in lines[starts[0] + 1:]:
        if row.startswith("|"):
            table.append(cells(row))
        elif table or row.startswith("#"):
            break
    missing = [name for name in columns if not table or name not in table[0]]
    if missing:
        raise PlotError(f"no column '{missing[0]}' in the first table of '{heading}'")
    places = [table[0].index(name) for name in columns]
    return [(row[0], [float(row[place]) if row[place] not in ("", "-") else None
                      for place in places]) for row in table[2:]]


def ticks(low, high):
    """About six round numbers that span the values."""
    step = 10 ** math.floor(math.log10((high - low) / 3))
    step = next(step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 7)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [number * step for number in range(first, last + 1)]


def draw(rows, columns, title, wanted):
    """Text of the SVG."""
    values = [value for _, row in rows for value in row if value is not None]
    values += [wanted] if wanted is not None else []
    marks = ticks(min(values), max(values) + 1e-9)
    bottom = TOP + ROW * len(rows)

    def place(value):
        return LEFT + (value - marks[0]) / (marks[-1] - marks[0]) * (WIDTH - LEFT - RIGHT)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom + 36}" '
             f'viewBox="0 0 {WIDTH} {bottom + 36}">', f"<title>{title}</title>",
             f"<style>{STYLE}</style>",
             f'<rect width="{WIDTH}" height="{bottom + 36}" fill="white"/>',
             text(20, 30, title, more=' class="title"')]
    for mark in marks:
        parts += [line(place(mark), TOP, place(mark), bottom, "grid"),
                  text(place(mark), bottom + 18, f"{mark:g}", "middle")]
    if wanted is not None:
        parts += [line(place(wanted), TOP, place(wanted), bottom, "wanted"),
                  text(place(wanted), TOP - 6, f"wanted: {wanted:g}", "middle")]
    for number, (name, colour) in enumerate(zip(columns, COLOURS)):
        parts += [f'<circle cx="{26 + 205 * number}" cy="50" r="5" fill="{colour}"/>',
                  text(38 + 205 * number, 54, name)]
    for number, (name, row) in enumerate(rows):
        y = TOP + ROW * number + ROW / 2
        parts += [text(LEFT - 12, y + 4, name, "end"),
                  *(f'<circle cx="{place(value):.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
                    for value, colour in zip(row, COLOURS) if value is not None)]
    return "\n".join(parts) + "\n</svg>\n"


def pictures():
    """(file, text) of each plot."""
    page = (DOCS / "measurements.md").read_text(encoding="utf-8")
    for name, heading, title, columns, wanted in PLOTS:
        yield DOCS / name, draw(read(page, heading, columns), columns, title, wanted)


def main():
    try:
        for file, picture in pictures():
            file.write_text(picture, encoding="utf-8")
    except (OSError, PlotError, ValueError) as error:
        sys.exit(f"plot_table.py: {error}")


if __name__ == "__main__":
    main()

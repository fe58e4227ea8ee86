#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw what launch.c measured: an SVG with each run's cost of a launch over the driver's own call.

Usage: plot_launch.py [--title TEXT] [FILE.csv [FILE.svg]]
"""

import csv
import math
import statistics
from html import escape

from plot import PlotError, run

WIDTH, LEFT, RIGHT, TOP, ROW = 860, 250, 120, 64, 56
COLUMNS = ["way", "run", "ns", "percent"]
WANTED = 1  # percent that a typed launch may cost
STYLE = """text { font: 13px sans-serif; fill: #222 }
.title { font-size: 17px; font-weight: bold }
.grid { stroke: #ddd; stroke-width: 1 }
.wanted { stroke: #b91c1c; stroke-width: 1; stroke-dasharray: 5 4 }
.median { stroke: #0b6e99; stroke-width: 3 }
.run { fill: #0b6e99; fill-opacity: 0.4 }"""


def read(lines):
    """way -> [(ns, percent)], in the order of the file."""
    rows = csv.DictReader(lines)
    if rows.fieldnames != COLUMNS:
        raise PlotError(f"line 1: the columns are not {','.join(COLUMNS)}")
    ways = {}
    for number, row in enumerate(rows, 2):
        try:
            values = (float(row["ns"]), float(row["percent"]))
        except (TypeError, ValueError):
            raise PlotError(f"line {number}: not a number where one should be") from None
        if not row["way"] or not all(map(math.isfinite, values)) or values[0] <= 0:
            raise PlotError(f"line {number}: not a measurement")
        ways.setdefault(row["way"], []).append(values)
    if not ways:
        raise PlotError("line 2: no measurement")
    return ways


def text(x, y, words, anchor="start", more=""):
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def line(x1, y1, x2, y2, kind):
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def draw(ways, title):
    """Text of the SVG."""
    values = [percent for runs in ways.values() for _, percent in runs]
    low, high = math.floor(min(values) - 0.2), math.ceil(max(max(values), WANTED) + 0.2)
    bottom = TOP + ROW * len(ways)
    height = bottom + 56

    def place(percent):
        return LEFT + (percent - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
             f'viewBox="0 0 {WIDTH} {height}">',
             f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
             f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
             text(20, 32, title, more=' class="title"')]
    for percent in range(low, high + 1):
        parts += [line(place(percent), TOP, place(percent), bottom, "grid"),
                  text(place(percent), bottom + 18, f"{percent:+d} %", "middle")]
    parts += [line(place(WANTED), TOP, place(WANTED), bottom, "wanted"),
              text(place(WANTED), TOP - 8, "wanted of typed launches: below", "middle")]
    for row, (way, runs) in enumerate(ways.items()):
        y = TOP + ROW * row + ROW / 2
        middle = statistics.median(percent for _, percent in runs)
        parts += [text(LEFT - 12, y + 4, way, "end"),
                  *(f'<circle class="run" cx="{place(percent):.1f}" cy="{y:.1f}" r="4"/>'
                    for _, percent in runs),
                  line(place(middle), y - 14, place(middle), y + 14, "median"),
                  text(WIDTH - RIGHT + 12, y + 4,
                       f"{statistics.median(ns for ns, _ in runs):.0f} ns")]
    parts += [text((LEFT + WIDTH - RIGHT) / 2, bottom + 40,
                   "cost over the driver's own call: each run, and the median", "middle"), "</svg>"]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    run(__doc__, "Launches through cushim's helpers", "launch.c", read, draw)

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draw what copy.c measured: an SVG with the bandwidths, and below them helper to raw.

Usage: plot.py [--title TEXT] [FILE.csv [FILE.svg]]
"""

import argparse
import csv
import math
import sys
from html import escape
from pathlib import Path

WIDTH, HEIGHT, LEFT, RIGHT = 860, 700, 76, 180
UPPER, LOWER = (56, 400), (476, 640)  # top and bottom of the two panels
COLOURS = {("to-device", "pinned"): "#0b6e99", ("to-host", "pinned"): "#c2410c",
           ("to-device", "pageable"): "#4d8f46", ("to-host", "pageable"): "#7c3aed"}
COLUMNS = ["direction", "memory", "bytes", "raw_gb_s", "helper_gb_s", "ratio"]
WANTED = 0.98  # ratio that the helpers shall reach
STYLE = """text { font: 13px sans-serif; fill: #222 }
.title { font-size: 17px; font-weight: bold }
.grid { stroke: #ddd; stroke-width: 1 }
.frame { fill: none; stroke: #555; stroke-width: 1 }
.wanted { stroke: #b91c1c; stroke-width: 1; stroke-dasharray: 5 4 }
.raw { fill: none; stroke-width: 2 }"""


class PlotError(Exception):
    """Input that is not what the program prints; the message names the line."""


def read(lines):
    """(direction, memory) -> [(bytes, raw, helper, ratio)], in the order of the sizes."""
    rows = csv.DictReader(lines)
    if rows.fieldnames != COLUMNS:
        raise PlotError(f"line 1: the columns are not {','.join(COLUMNS)}")
    series = {}
    for number, row in enumerate(rows, 2):
        key = (row["direction"], row["memory"])
        try:
            values = [float(row[name]) for name in COLUMNS[2:]]
        except (TypeError, ValueError):
            raise PlotError(f"line {number}: not a number where one should be") from None
        if key not in COLOURS or min(values) <= 0 or not all(map(math.isfinite, values)):
            raise PlotError(f"line {number}: {','.join(map(str, row.values()))}: not a measurement")
        series.setdefault(key, []).append(tuple(values))
    if not series:
        raise PlotError("line 2: no measurement")
    return {key: sorted(rows) for key, rows in series.items()}


def size_name(size):
    """1048576 -> 1 MiB."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"


class Scale:
    """Numbers to places, evenly or by their logarithms."""

    def __init__(self, low, high, begin, end, logarithmic):
        self.map = math.log if logarithmic else float
        self.low, self.high = self.map(low), self.map(high)
        self.begin, self.end = begin, end

    def __call__(self, value):
        part = (self.map(value) - self.low) / ((self.high - self.low) or 1)
        return self.begin + part * (self.end - self.begin)


def line(x1, y1, x2, y2, kind):
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def text(x, y, words, anchor="middle", more=""):
    """Words at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def panel(x_scale, y_scale, bounds, x_ticks, y_ticks):
    """Frame, grid and the numbers beside it."""
    top, bottom = bounds
    yield (f'<rect class="frame" x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" '
           f'height="{bottom - top}"/>')
    for value in x_ticks:
        yield line(x_scale(value), top, x_scale(value), bottom, "grid")
        yield text(x_scale(value), bottom + 18, size_name(value))
    for value, name in y_ticks:
        yield line(LEFT, y_scale(value), WIDTH - RIGHT, y_scale(value), "grid")
        yield text(LEFT - 8, y_scale(value) + 4, name, "end")


def points(pairs):
    """Places of a line."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in pairs)


def bandwidths(series, x_scale, x_ticks):
    """The upper panel: lines for the driver's own calls, dots for the helpers."""
    values = [value for rows in series.values() for row in rows for value in row[1:3]]
    low = 10 ** math.floor(math.log10(min(values)))
    high = 10 ** math.ceil(math.log10(max(values) * 1.001))
    decades = [low * 10 ** power for power in range(round(math.log10(high / low)) + 1)]
    y_scale = Scale(low, high, UPPER[1], UPPER[0], True)
    yield from panel(x_scale, y_scale, UPPER, x_ticks, [(value, f"{value:g}") for value in decades])
    yield text(20, (UPPER[0] + UPPER[1]) / 2, "GB/s",
               more=f' transform="rotate(-90 20 {(UPPER[0] + UPPER[1]) / 2:.1f})"')
    for place, (key, rows) in enumerate(series.items()):
        colour = COLOURS[key]
        yield (f'<polyline class="raw" stroke="{colour}" points="'
               f'{points((x_scale(row[0]), y_scale(row[1])) for row in rows)}"/>')
        for row in rows:
            yield (f'<circle cx="{x_scale(row[0]):.1f}" cy="{y_scale(row[2]):.1f}" r="3.5" '
                   f'fill="{colour}"/>')
        y = UPPER[0] + 16 + 22 * place
        yield (f'<rect x="{WIDTH - RIGHT + 14}" y="{y - 10}" width="12" height="12" '
               f'fill="{colour}"/>')
        yield text(WIDTH - RIGHT + 32, y, f"{key[0].replace('-', ' ')}, {key[1]}", "start")
    y = UPPER[0] + 28 + 22 * len(series)
    yield text(WIDTH - RIGHT + 14, y, "line: driver's call", "start")
    yield text(WIDTH - RIGHT + 14, y + 20, "dot: helper", "start")


def ratios(series, x_scale, x_ticks):
    """The lower panel: helper to raw, and the ratio that is wanted."""
    values = [row[3] for rows in series.values() for row in rows]
    low = min(0.97, math.floor(min(values) * 100) / 100)
    high = max(1.01, math.ceil(max(values) * 100) / 100)
    y_scale = Scale(low, high, LOWER[1], LOWER[0], False)
    step = max(1, round((high - low) * 100 / 6)) / 100
    count = int((high - low) / step + 1e-6) + 1
    ticks = [low + step * i for i in range(count)]
    yield from panel(x_scale, y_scale, LOWER, x_ticks, [(value, f"{value:.0%}") for value in ticks])
    yield line(LEFT, y_scale(WANTED), WIDTH - RIGHT, y_scale(WANTED), "wanted")
    yield text(WIDTH - RIGHT + 14, y_scale(WANTED) + 4, f"{WANTED:.0%} is wanted", "start")
    for key, rows in series.items():
        yield (f'<polyline class="raw" stroke="{COLOURS[key]}" points="'
               f'{points((x_scale(row[0]), y_scale(row[3])) for row in rows)}"/>')


def draw(series, title):
    """Text of the SVG."""
    sizes = sorted({row[0] for rows in series.values() for row in rows})
    x_scale = Scale(sizes[0], sizes[-1], LEFT + 12, WIDTH - RIGHT - 12, True)
    step = max(1, math.ceil(len(sizes) / 6))
    x_ticks = sizes[::step]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
             f'viewBox="0 0 {WIDTH} {HEIGHT}">',
             f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text(LEFT, 32, title, "start", ' class="title"'),
             *bandwidths(series, x_scale, x_ticks),
             text(LEFT, LOWER[0] - 14, "Helper to driver's call, medians of interleaved runs",
                  "start"),
             *ratios(series, x_scale, x_ticks),
             text((LEFT + WIDTH - RIGHT) / 2, LOWER[1] + 42, "bytes in a copy"), "</svg>"]
    return "\n".join(parts) + "\n"


def run(about, default, source, reader, drawer):
    """The command line: reads what SOURCE printed, and writes the picture."""
    parser = argparse.ArgumentParser(description=about.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--title", default=default)
    parser.add_argument("table", nargs="?",
                        help=f"what {source} printed; standard input without it")
    parser.add_argument("picture", nargs="?", help="the SVG; standard output without it")
    options = parser.parse_args()
    try:
        if options.table:
            with open(options.table, encoding="utf-8", newline="") as lines:
                measured = reader(lines)
        else:
            measured = reader(sys.stdin)
    except (OSError, PlotError) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {options.table or 'standard input'}: {error}")
    picture = drawer(measured, options.title)
    if options.picture:
        Path(options.picture).write_text(picture, encoding="utf-8")
    else:
        sys.stdout.write(picture)


if __name__ == "__main__":
    run(__doc__, "Copies through cushim's helpers", "copy.c", read, draw)

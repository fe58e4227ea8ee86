# SPDX-License-Identifier: MIT
"""The pictures of docs/measurements.md show its tables."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

import plot_table  # noqa: E402


@pytest.mark.parametrize("file, picture", plot_table.pictures(), ids=lambda value: "")
def test_picture_is_of_the_table(file, picture):
    assert file.read_text(encoding="utf-8") == picture, "run tests/bench/plot_table.py"


def test_a_missing_column_is_named():
    with pytest.raises(plot_table.PlotError, match="no column 'weight'"):
        plot_table.read("## A\n| name | ns |\n| --- | --- |\n| x | 1 |\n", "A", ["weight"])
    with pytest.raises(plot_table.PlotError, match="no heading 'B'"):
        plot_table.read("## A\n", "B", ["ns"])

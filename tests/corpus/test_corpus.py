# SPDX-License-Identifier: MIT
"""No verdict on a labelled wheel is false. CUSHIM_CORPUS=all examines the large wheels too."""

import os

import pytest
from corpus import KINDS, Missing, cache_folder, examine, judge, packages, questions, wheel_of

CUSHIM = os.environ.get("CUSHIM_CLI", "cushim")
LABELLED = packages()
SOME = [package for package in LABELLED
        if package["small"] or os.environ.get("CUSHIM_CORPUS") == "all"]


@pytest.mark.parametrize("package", SOME, ids=lambda package: package["package"])
def test_package(package):
    """Each cell is right, or unknown."""
    counts, wrong = examine(CUSHIM, package, cache_folder())
    assert wrong == []
    assert counts["right"] + counts["unknown"] == sum(counts.values()) == len(questions(package))


def test_labels():
    """Each has its source; both answers are there, on many wheels."""
    cells = [cell for package in LABELLED for cell in package["cells"]]
    assert {cell["truth"] for cell in cells} == {"works", "fails"}
    assert {cell["how"] for cell in cells} == {"run", "exports", "cuobjdump", "vendor"}
    assert all(len(cell["source"]) > 20 for cell in cells)
    assert len(LABELLED) > 20 and sum(len(questions(package)) for package in LABELLED) > 500
    assert len([package for package in LABELLED if "debian" in package]) > 10
    assert len({package["sha256"] for package in LABELLED}) == len(LABELLED)


@pytest.mark.parametrize("truth, code, verdict, found, kind", [
    ("works", None, "runs", None, "right"), ("works", None, "limits", None, "right"),
    ("works", None, "unknown", None, "unknown"), ("works", None, "fails", 209, "false fails"),
    ("fails", 35, "fails", 35, "right"), ("fails", 35, "fails", 209, "other code"),
    ("fails", None, "fails", 100, "right"), ("fails", 35, "runs", None, "false runs"),
    ("fails", 35, "limits", None, "false runs"), ("fails", 35, "unknown", None, "unknown"),
])
def test_judge(truth, code, verdict, found, kind):
    cell = {"truth": truth} | ({"code": code} if code else {})
    assert kind in KINDS and judge(cell, {"verdict": verdict, "code": found}) == kind


def test_other_file(tmp_path):
    """A wheel that is not the one that was labelled is refused."""
    package = {"package": "a", "version": "1", "sha256": 64 * "0"}
    (tmp_path / "a-1").mkdir()
    (tmp_path / "a-1/a-1-py3-none-any.whl").write_bytes(b"PK")
    with pytest.raises(Missing, match="not the file that is pinned"):
        wheel_of(package, tmp_path)

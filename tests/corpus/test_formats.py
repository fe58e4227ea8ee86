# SPDX-License-Identifier: MIT
"""What `cushim scan` writes is read by others' own readers, which pip fetches."""

import json
import os
import subprocess
import sys

import pytest
from corpus import cache_folder

CUSHIM = os.environ.get("CUSHIM_CLI", "cushim")
READERS = ["sarif-pydantic==0.6.2", "junitparser==5.0.3"]


@pytest.fixture(name="readers", scope="module")
def readers_fixture():
    """The folder with the readers."""
    folder = cache_folder().parent / "readers"
    if not (folder / "junitparser").is_dir():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder,
                        *READERS], check=True)
    return folder


def read(readers, text):
    """Run Python with the readers; its output as JSON."""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": str(readers)})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_formats(readers, tmp_path):
    """One program, all cells."""
    words = ["--drivers", "470,535", "--gpus", "8.0,H100", "--junit", tmp_path / "junit.xml",
             "--sarif", tmp_path / "x.sarif"]
    done = subprocess.run([CUSHIM, "scan", *words, CUSHIM], check=False, capture_output=True)
    assert done.returncode in (0, 1)
    found = read(readers, "import json, junitparser; "
                 f"suite = junitparser.JUnitXml.fromfile({str(tmp_path / 'junit.xml')!r}); "
                 "cases = [case for inner in suite for case in inner]; "
                 "print(json.dumps([suite.tests, suite.failures, len(cases)]))")
    assert found[0] == found[2] == 4
    results = read(readers, "import json, sarif_pydantic; "
                   f"text = open({str(tmp_path / 'x.sarif')!r}).read(); "
                   "log = sarif_pydantic.Sarif.model_validate_json(text); "
                   "print(json.dumps([run.tool.driver.name for run in log.runs]))")
    assert results == ["cushim scan"]

# SPDX-License-Identifier: MIT
"""docs/simulated-entries.md lists what has no behaviour, as docs/simulated-driver.md promises."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "docs" / "simulated-entries.md"


def made(tmp_path, sources):
    """What the generator makes of these sources."""
    file = tmp_path / "entries.md"
    subprocess.run([sys.executable, ROOT / "gen" / "emit.py", "sim_entries.md", file, "--sources",
                    *sources], check=True)
    return file.read_text(encoding="utf-8")


def test_list_of_entries(tmp_path):
    text = made(tmp_path, sorted((ROOT / "src" / "sim").glob("*/*.c")))
    assert text == LIST.read_text(encoding="utf-8"), "renew it: the command is in the file"


def test_a_behaviour_that_goes_is_listed(tmp_path):
    """The list is made from the sources: without those of streams, streams are in it."""
    sources = [file for file in (ROOT / "src" / "sim").glob("*/*.c")
               if not file.name.startswith("stream")]
    assert "cuStreamCreate," in made(tmp_path, sources)
    assert "cuStreamCreate," not in LIST.read_text(encoding="utf-8")


def test_one_that_only_refuses_is_listed(tmp_path):
    source = tmp_path / "refuses.c"
    source.write_text("CUresult sim_cuInit(unsigned int Flags)\n{\n    (void)Flags;\n"
                      "    return CUDA_ERROR_NOT_SUPPORTED;\n}\n"
                      "CUresult sim_cuCtxSynchronize(void)\n{\n    return 0;\n}\n")
    words = made(tmp_path, [source]).replace("\n", " ").replace(",", " ").split()
    assert "cuInit" in words and "cuCtxSynchronize" not in words

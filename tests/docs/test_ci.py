# SPDX-License-Identifier: MIT
"""Every command of docs/ci.md's workflow files and scripts, run on README's first program."""

import re

import pytest
from pages import ROOT, fenced
from runner import BUILD, CLI, SIM, compile_block, environment, run
from test_docs import FIRST

PAGE = ROOT / "docs" / "ci.md"
FOLDED = re.compile(r"run: >\n((?: {10}.*\n)+)")
LINE = re.compile(r"\s*(?:- )?(?:run: )?((?:CUSHIM_\w*=\S* |cushim |cat ).*)")


def commands(block):
    """The lines of a workflow file or a script that use cushim, or what it wrote."""
    text = FOLDED.sub(lambda found: f"run: {' '.join(found[1].split())}\n", block.text)
    return [found[1].strip() for found in map(LINE.fullmatch, text.splitlines()) if found]


BLOCKS = {block.line: commands(block) for block in fenced(PAGE) if commands(block)}


@pytest.fixture(name="program", scope="module")
def fixture_program(tmp_path_factory):
    """Its folder."""
    if not SIM:
        pytest.skip("built without the simulated driver")
    folder = tmp_path_factory.mktemp("ci")
    compile_block(FIRST, folder)
    (folder / "src").mkdir()
    (folder / "src/program.c").write_text(FIRST.text)
    return folder


def test_the_workflows_are_there():
    """Both services, and the script; each asks about entries, releases and the lack of a driver."""
    words = [[command.split()[:2] for command in block] for block in BLOCKS.values()]
    assert len(words) == 3
    for workflow in words[:2]:
        assert ["cushim", "scan"] in workflow and ["cushim", "matrix"] in workflow


def test_what_is_not_known_is_not_green():
    """A gate of `cushim scan` has --strict, if it is not of sources, and the page says what an
    unknown does without it."""
    text = PAGE.read_text(encoding="utf-8")
    gates = re.findall(r"cushim scan [^`\n]*--(?:drivers|gpus)[^`\n]*", text)
    assert len(gates) == 7
    assert all("--strict" in gate or gate.endswith(" src/") for gate in gates)
    assert "Without `--strict` a verdict `unknown` is green." in text


@pytest.mark.parametrize("line", BLOCKS)
def test_commands(line, program):
    """In their order, in one folder, as a runner's shell runs them: each ends with 0."""
    (program / "cushim").unlink(missing_ok=True)
    (program / "cushim").symlink_to(CLI)
    variables = environment(CUSHIM_SIM_DIR=str((BUILD / "src/sim").resolve()),
                            GITHUB_STEP_SUMMARY=str(program / "summary.md"))
    variables["PATH"] = f"{program}:{variables['PATH']}"
    for command in BLOCKS[line]:
        done = run(["sh", "-ec", command], program, variables)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    if "--junit" in str(BLOCKS[line]):
        assert (program / "drivers.xml").stat().st_size > 0

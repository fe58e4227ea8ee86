# SPDX-License-Identifier: MIT
"""The gate of cushim matrix names the two calls that nothing orders, and their places."""

import os
import re

import pytest
from command import FAILED, ROOT, run
from simulated import compiled, nothing_is_left  # noqa: F401

PROGRAM = os.environ["CUSHIM_REORDER_PROGRAM"]


def gate(name):
    result = run("matrix", "--gate", "--github", "--cuda", "13.5", "--fault-each=1", "--",
                 PROGRAM, name)
    [row] = [line for line in result.rows.split("\n")
             if line.startswith("CUDA 13.5, queued work reordered ")]
    return result, re.sub(" +", " ", row)


def place_of(words, function, path="tests/cli/reorder_program.c"):
    """Of the first such words in a function."""
    text = (ROOT / path).read_text()
    start = text.index(f" {function}(")
    return f"{path}:{text[:text.index(words, start)].count(chr(10)) + 1} ({function})"


@pytest.mark.parametrize("name, first, second", [
    ("bad_read_then_fill", f"cuMemsetD32Async at {place_of('cuMemset', 'set')}",
     f"cuMemcpyDtoHAsync_v2 at {place_of('cuMemcpy', 'copy_out')}"),
    # What must not change places, among others that do.
    ("bad_pipeline", f"cuMemcpyDtoHAsync_v2 at {place_of('cuMemcpy', 'copy_out')}",
     f"cuLaunchKernel at {place_of('cuLaunch', 'add', 'tests/cli/queued.h')}"),
    # What needs both kernels, and not these, which need no order.
    ("bad_after_halves", f"cuMemcpyDtoHAsync_v2 at {place_of('cuMemcpy', 'copy_out')}",
     f"cuLaunchKernel at {place_of('cuLaunch', 'add', 'tests/cli/queued.h')}")])
def test_the_gate_names_what_nothing_orders(name, first, second, monkeypatch):
    """With the place of each; the annotation is at the first."""
    monkeypatch.chdir(ROOT)
    for _ in range(5):  # plainly it passes mostly
        result, row = gate(name)
        if " fails " in row:
            break
    assert result.code == FAILED
    path, line = re.search(r" at (\S+):(\d+) ", first).groups()
    note, = re.findall(f"::error file={path},line={line},title=CUDA 13.5%2C queued work reordered::"
                       "(.*)", result.out)
    assert f"{first} ran before {second}, and nothing orders them" in note
    assert note.endswith("%0Atwo calls in two streams use the same memory, and the later one may "
                         "run first: let its stream wait, by cuStreamWaitEvent, for an event that "
                         "is recorded behind the other call, or call cuStreamSynchronize between "
                         "the two")
    assert (f'fails exit code 1; {first} ran before {second}, and nothing orders them; "the result '
            'is wrong"') in row
    assert "waited for" not in result.rows


def test_the_gate_names_nodes_of_a_graph(monkeypatch):
    """Of one launch; the release mostly fails, too."""
    monkeypatch.chdir(ROOT)
    result, row = gate("bad_edge")
    assert result.code == FAILED
    assert f"a piece of work of cuGraphLaunch at {place_of('cuGraphLaunch', 'bad_edge')} ran " \
        "before an older one, and nothing orders them" in row and \
        "waited for" not in result.rows


def test_the_gate_names_the_round_of_a_loop(monkeypatch):
    """The event that is forgotten is the tenth of twenty; the release fails, or does not."""
    monkeypatch.chdir(ROOT)
    result, row = gate("bad_loop")
    add, times = place_of("cuLaunch", "add", "tests/cli/queued.h"), place_of("cuLaunch", "launch")
    assert result.code == FAILED
    assert f"cuLaunchKernel at {add} ran before cuLaunchKernel at {times}, and nothing" in row


# A kernel reads what another stream fills; if that is late, nothing has written it yet.
UNWRITTEN = """
#include "queued.h"
static void delay(void *late) { if (*(int *)late) nanosleep(&(struct timespec){0, 60000000}, 0); }
static int unwritten(void)
{
    CUdeviceptr made;
    int version, late, result;
    OK(cu->cuMemAlloc_v2(&made, BYTES));
    OK(cu->cuDriverGetVersion(&version));
    late = LATE;
    OK(cu->cuLaunchHostFunc(one, delay, &late));
    OK(cu->cuMemsetD32Async(made, 7, COUNT, one));
    compute();
    add(made, 1, other);
    result = has(made, 8);
    OK(cu->cuMemFree_v2(made));
    return RESULT;
}
int main(int count, char **words)
{
    return run_one((struct program[]){PROGRAM(unwritten)}, 1, count, words);
}
"""


@pytest.mark.parametrize("late, result, releases", [
    ("version == 12040", "result", "CUDA 12.4"), ("1", "result & 0", "CUDA 13.5 to 12.4")])
def test_what_a_check_finds_for_want_of_an_order(late, result, releases, tmp_path):
    """The two calls come first, and what the kernel read in releases is the same."""
    program = compiled(tmp_path, UNWRITTEN.replace("LATE", late).replace("RESULT", result),
                       flags=["-g", "-I", ROOT / "tests/cli"])
    name = "CUDA 13.5, queued work reordered"
    why = ("the check found: " if "0" in result else "exit code 1; ") + "cuLaunchKernel at " \
        r"\S+:\d+ \(add\) ran before cuMemsetD32Async at \S+a.c:12 \(unwritten\), and nothing " \
        "orders them; cuLaunchKernel .*: init: kernel"
    for _ in range(3):  # on a busy machine the other release may be late, too
        text = run("matrix", "--gate", "--github", "--cuda", "13.5,12.4", "--fault-each=1", "--",
                   program, "unwritten").rows
        text = re.sub(" +", " ", text)
        if re.search(f"^{name} fails {why}.*\n{releases} fails same as {name}$", text, re.M):
            break
    else:
        pytest.fail(text)
    note, = (row for row in text.splitlines() if row.startswith("::error") and ": init: " in row)
    assert f"title={name.replace(',', '%2C')}%2C likewise " in note and "file=" in note

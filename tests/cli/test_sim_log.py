# SPDX-License-Identifier: MIT
"""`cushim sim`: the log, and what is said of refusals and of accesses beyond a block."""

import re

import pytest
from command import OK, USAGE, run
from simulated import CALL, PROGRAM, nothing_is_left, sim  # noqa: F401


def test_log(tmp_path):
    log = tmp_path / "log"
    result = sim("texts", options=("--quiet", "--log", log))
    assert (result.code, result.err) == (OK, "")
    lines = [CALL.match(line) for line in log.read_text().splitlines()]
    assert [int(line[1]) for line in lines] == [1, 2, 3, 4]
    assert [line[5] for line in lines] == ["cuInit", "cuDeviceGetName", "cuGetErrorName",
                                           "cuModuleLoad"]
    assert lines[0][6] == "Flags=0"
    assert re.fullmatch(r'name=0x[0-9a-f]+->"NVIDIA A100-SXM4-40GB", len=64, dev=0', lines[1][6])
    assert re.fullmatch(r'error=2, pStr=0x[0-9a-f]+->"CUDA_ERROR_OUT_OF_MEMORY"', lines[2][6])
    assert lines[3][6].endswith(r'fname="no\x0a\"such\" file"')
    assert lines[3][7] == "201" and lines[3][8] == "CUDA_ERROR_INVALID_CONTEXT"
    assert float(lines[0][2]) <= float(lines[3][2])


def test_log_of_structures(tmp_path):
    """The fields of a structure that a call reads; none where its address is wrong."""
    log = tmp_path / "log"
    result = sim("structures", options=("--quiet", "--log", log))
    assert (result.code, result.out, result.err) == (OK, "abc\n", "")
    copies = [line for line in map(CALL.match, log.read_text().splitlines())
              if line[5] in ("cuMemcpy3D_v2", "cuMemcpy2D_v2")]
    assert [line[7] for line in copies] == ["201", "0"]
    assert copies[0][6] == "pCopy=0x8"
    assert re.fullmatch(r"pCopy=0x[0-9a-f]+->{srcXInBytes=0, srcY=0, srcMemoryType=1, "
                        r"srcHost=0x[0-9a-f]+, .*, WidthInBytes=4, Height=1}", copies[1][6])


def test_log_on_stderr():
    result = sim("texts", options=("--quiet", "--log", "-"))
    assert len([line for line in result.err.splitlines() if CALL.match(line)]) == 4


@pytest.mark.parametrize("offset, words", [
    (408, r"the nearest block, 400 bytes at 0x[0-9a-f]+, ends 8 bytes before that"),
    (-16, r"the nearest block, 400 bytes at 0x[0-9a-f]+, begins 16 bytes behind that"),
    (1 << 30, "no block is near"), ("freed", "a block of 400 bytes was there, and was freed")])
def test_beyond_a_block(offset, words):
    """The report names the nearest block, and what else is to come."""
    result = sim("beyond", offset)
    assert (result.code, result.out) == (OK, "700\n")
    assert re.search(rf"^cushim: simulated device 0: kernel 'k', .*; {words}; every later call for "
                     "this device fails because of it$", result.err, re.MULTILINE)


def test_grain():
    """What hardware hides stays hidden, up to the grain."""
    assert sim("beyond", 396).out == "0\n"
    assert sim("beyond", 400).out == "700\n"
    assert sim("beyond", 508, options=("--grain", "512")).out == "0\n"
    assert sim("beyond", 512, options=("--grain", "512")).out == "700\n"
    assert sim("copy_beyond", 396).out == "0 0 7 0\n"
    assert sim("copy_beyond", 400).out == "1 1 0 1\n"
    for offset in (400, 508):
        assert sim("copy_beyond", offset, options=("--grain", "512")).out == "0 0 7 0\n"
    assert sim("copy_beyond", 512, options=("--grain", "512")).out == "1 1 0 1\n"
    for grain, inside, outside in ((1, 196, 200), (16, 204, 208), (512, 252, 256)):
        options = ("--grain", str(grain))
        assert sim("shared_beyond", inside, options=options).out == "0\n"
        assert sim("shared_beyond", outside, options=options).out == "700\n"
    assert run("sim", "--grain", "1024", "--", PROGRAM).code == USAGE


@pytest.mark.parametrize("what, words", [
    ("syntax", "a module was refused with code 218: ptxas application ptx input, line 1; "),
    ("cubin", "a module was refused with code 209: the simulated device runs PTX; a cubin is "
              "machine code (for sm_80); compile for a virtual architecture: "),
    ("library", "a linker input 'a.a' was refused with code 999: fatal   : unexpected archive "
                "format"),
    ("typed", "a linker input 'Input 1' was refused with code 200: error   : it is PTX, and not "
              "given as such"),
    ("logged", None)])
def test_refusals_are_said(tmp_path, what, words):
    """A program that gave no log buffer learns why its code was refused, unless it is quiet."""
    log = tmp_path / "log"
    result = sim("refused", what)
    lines = [line for line in result.err.splitlines() if "refused" in line]
    assert result.code == OK
    assert len(lines) == (words is not None)
    assert words is None or lines[0].startswith(f"cushim: simulated device 0: {words}")
    quiet = sim("refused", what, options=("--quiet", "--log", log))
    assert quiet.err == "" and ("was refused" in log.read_text()) == (words is not None)


def test_a_null_among_the_parameters():
    """Driver 580 gives the same code."""
    result = sim("few")
    assert (result.code, result.out) == (1, "cuLaunchKernel: 1\n")
    assert ("cushim: simulated device 0: a launch was refused: kernel 'k' has 1 parameters, and "
            "the pointer to number 1 is NULL\n") in result.err


def test_log_on_a_full_disk():
    """What cannot be written is said once; the program goes on."""
    result = sim("texts", options=("--quiet", "--log", "/dev/full"))
    assert result.code == OK and result.out == sim("texts", options=("--quiet",)).out
    assert result.err == ("cushim: simulated driver: the log ends here: No space left on device\n")


def test_log_is_appended_to(tmp_path):
    log = tmp_path / "log"
    log.write_text("before\n")
    sim("texts", options=("--quiet", "--log", log))
    sim("texts", options=("--log", log))
    lines = log.read_text().splitlines()
    assert lines[0] == "before" and len([line for line in lines if CALL.match(line)]) == 8
    assert lines[-1].startswith("cushim sim: process ")


def test_log_of_many_threads(tmp_path):
    log = tmp_path / "log"
    result = sim("threads", options=("--log", log))
    assert result.code == OK and "leaked nothing" in result.err
    calls = [CALL.match(line) for line in log.read_text().splitlines()[:-2]]
    assert sorted(int(call[1]) for call in calls) == list(range(1, 408))
    assert len({call[4] for call in calls}) == 5


def test_log_where_the_program_closes_files(tmp_path):
    log = tmp_path / "log"
    assert sim("closes", options=("--quiet", "--log", log)).out == "0\n"
    assert len(log.read_text().splitlines()) == 4


def test_beyond_shared_memory():
    """Of the block's shared memory its size is told, and no block of device memory."""
    result = sim("shared_beyond", 1024)
    assert result.out == "700\n"
    assert re.search(r", st: writes 4 bytes outside of the block's \d+ of shared memory at 0x400; "
                     "every later call for this device fails because of it$", result.err,
                     re.MULTILINE)

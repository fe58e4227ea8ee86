# SPDX-License-Identifier: MIT
"""Every block of C and C++ in README.md and docs/*.md compiles, runs and prints what the page says.

pages.py has the marks that tell how a block is run. A block without a mark is a failure.
"""

import re

import pytest
from pages import CODE, PAGES, ROOT, Block, example, quotes, read_blocks
from runner import (BUILD, FAKE_GPU, FRAMEWORKS, NOWHERE, SIM, compile_block, environment, run,
                    searched_driver, without_device)

FINDING = (ROOT / "docs" / "finding-the-driver.md").read_text(encoding="utf-8")
BLOCKS, WRONG = read_blocks(PAGES)
EXAMPLES = ROOT / "docs/examples"
PROGRAMS = [*(block for block in BLOCKS if block.kind == "program"),
            example(EXAMPLES / "scale.c", "program")]
TESTS = [example(file, "tests, sim") for file in sorted(EXAMPLES.glob("unit-tests/*.c*"))]
PARTS = [block for block in BLOCKS if block.kind != "program"]
FIRST = next(block for block in PROGRAMS if block.page.name == "README.md")


def named(blocks):
    """For pytest: one case for each block. Those of another framework need its package."""
    return pytest.mark.parametrize("block", [
        pytest.param(block, id=block.name(), marks=[pytest.mark.in_all] * any(
            f"<{header}>" in block.text for header in FRAMEWORKS)) for block in blocks])


def one_line(text):
    """A page breaks lines where it likes."""
    return " ".join(text.split())


def test_every_block_has_a_mark():
    assert WRONG == []
    assert len(PROGRAMS) > 0 and len(PARTS) > 5


def test_no_block_is_overlooked():
    """What pages.py reads is all that the pages have, however it is fenced."""
    fences = [f"{page}: {line}" for page in PAGES
              for line in page.read_text(encoding="utf-8").splitlines()
              if re.match(r"\s+```|\s*~~~|```.*(?i:[ {.](c|cpp|c\+\+)\b)", line)]
    assert fences == []
    count = sum(len(re.findall(r"^```(?:c|cpp|c\+\+|diff)$", page.read_text(encoding="utf-8"),
                               re.M)) for page in PAGES)
    assert count == len(BLOCKS) + sum(block.language in CODE for block, _ in quotes(PAGES))


def lines_of(text):
    """The text without indentation."""
    return "\n".join(line.strip() for line in text.strip().splitlines())


@pytest.mark.parametrize("block, file", list(quotes(PAGES)), ids=lambda value:
                         value.name() if isinstance(value, Block) else "")
def test_quote(block, file):
    """What a page quotes stands in the file, each paragraph as a whole."""
    whole = lines_of(file.read_text(encoding="utf-8"))
    for paragraph in block.text.split("\n\n"):
        assert lines_of(paragraph) in whole, f"{block.name()}: {paragraph}"


@pytest.mark.parametrize("text, message", [
    ("```c\nint x;\n```\n", "no mark"),
    ("<!-- test: nothing -->\n```c\nint x;\n```\n", "no such mark"),
    ("<!-- test: output, no driver -->\n```\nwords\n```\n", "no program"),
    ("<!-- test: program -->\n\n```c\nint x;\n```\n", "no mark"),
])
def test_blocks_that_nobody_can_run_are_refused(tmp_path, monkeypatch, text, message):
    monkeypatch.setattr("pages.ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    _, wrong = read_blocks([page])
    assert any(message in words for words in wrong), wrong


def without(block):
    """The exit code of a program that has no driver or no device: 77, of a self-test."""
    return 77 if "return 77;" in block.text else 0


@named(PROGRAMS)
def test_program_without_a_driver(block, tmp_path):
    program = compile_block(block, tmp_path)
    if searched_driver():
        expected = block.outputs.get("no driver", "").replace(
            "no CUDA driver: libcuda.so.1: cannot open shared object file:", f"{NOWHERE}:")
        done = run([program], tmp_path, environment(CUSHIM_LIBCUDA=NOWHERE))
    else:
        expected = block.outputs.get("no driver", "")
        done = run([program], tmp_path, environment())
    assert done.returncode == without(block), done.stderr
    if "no driver" in block.outputs:
        assert one_line(done.stdout) == one_line(expected)


@named(PROGRAMS)
@pytest.mark.parametrize("name, variables", list(without_device()), ids=lambda value:
                         value if isinstance(value, str) else "")
def test_program_without_a_device(block, tmp_path, name, variables):
    """The page shows the sentence with the path of a usual place."""
    program = compile_block(block, tmp_path)
    done = run([program], tmp_path, environment(**variables))
    assert done.returncode == without(block), done.stderr
    expected = one_line(block.outputs.get("no device", ""))
    shown_here = "no device" in block.outputs
    shown = one_line(done.stdout + done.stderr).replace(variables["CUSHIM_LIBCUDA"],
                                                        "/usr/lib/x86_64-linux-gnu/libcuda.so.1")
    if name == "fake" or "cuInit returned 100" in shown:
        assert shown == expected or not shown_here
    elif "cushim_load" not in block.text:
        assert not shown_here  # it asks no driver
    elif shown or shown_here:  # drivers 340 and 390, and those that do not fit this GPU
        assert re.search(r"cuInit returned \d+, .*;", shown)


def test_first_programs_print_the_reason():
    """README shows it without a driver, the guide without a device."""
    guide = next(block for block in PROGRAMS if block.page.name == "guide.md")
    assert set(FIRST.outputs) == {"no driver"} and set(guide.outputs) == {"no device"}
    assert not any("entries" in text for text in (*FIRST.outputs.values(), *guide.outputs.values()))


@named([block for block in PARTS if "sim" not in block.kind])
@pytest.mark.parametrize("where", ["no driver", "no device", "simulated"])
def test_part(block, tmp_path, where):
    """Fragments end normally on each machine; prelude.h enters a device if there is one."""
    program = compile_block(block, tmp_path)
    variables = {"no driver": {"CUSHIM_LIBCUDA": NOWHERE},
                 "no device": {"CUSHIM_LIBCUDA": FAKE_GPU, "FAKE_DEVICES": "-1"},
                 "simulated": {"CUSHIM_LIBCUDA": str(BUILD / f"src/sim/libcuda-sim-{SIM}.so")}}
    if where == "simulated" and not SIM:
        pytest.skip("built without the simulated driver")
    done = run([program], tmp_path, environment(**variables[where]))
    assert done.returncode == (0 if where == "simulated" else 77), done.stdout + done.stderr


@named([*TESTS, *(block for block in PARTS if "sim" in block.kind)])
def test_part_with_the_simulated_driver(block, tmp_path):
    if not SIM:
        pytest.skip("built without the simulated driver")
    done = run([compile_block(block, tmp_path)], tmp_path, environment(CUSHIM_LIBCUDA=NOWHERE))
    assert done.returncode == (0 if block.kind == "tests, sim" else 77), done.stdout + done.stderr


def test_an_example_finds_leaks(tmp_path):
    """Without its release the code under test fails."""
    if not SIM:
        pytest.skip("built without the simulated driver")
    block = next(block for block in TESTS if block.page.name == "with_assert.c")
    leaking, count = re.subn(r".*KEEP.*cushim_memory_free.*\n", "", block.text)
    assert count == 1
    program = compile_block(Block(block.page, 1, "c", block.kind, leaking), tmp_path)
    done = run([program], tmp_path, environment(CUSHIM_LIBCUDA=NOWHERE))
    assert done.returncode < 0 and "not released: 1 memory (12 bytes)\n" in done.stderr


def sources(*names):
    """Text of the loader's files."""
    return "".join((ROOT / "src" / "loader" / name).read_text(encoding="utf-8") for name in names)


def test_every_status_is_explained():
    """docs/finding-the-driver.md has a row for each status, and quotes the loader's own words."""
    rows = dict(re.findall(r"^\| `([a-z-]+)` \| (.*)$", FINDING, re.M))
    assert set(rows) == set(re.findall(r'X\(\w+, "([a-z-]+)"', sources("status.c")))
    words = re.sub(r'"\s*"', "", sources("elf_file.c", "find.c"))
    for piece in ("empty, which hides the driver", "a folder, not a file", "not a regular file",
                  "not an ELF file", "the file is empty", "ELF file, but no shared library",
                  "not a CUDA driver", "the toolkit's stub for linking",
                  "its cuDriverGetVersion fails with error",
                  "its cuDriverGetVersion returns version", "library for another processor"):
        assert piece in FINDING and piece in words, piece


def test_every_folder_is_listed():
    """The search's folders are those of the source."""
    listed = re.findall(r'\{(MULTIARCH )?"(/[^"]*?)" DRIVER', sources("platform_posix.c"))
    assert FINDING.count("/usr/local/cuda/compat/libcuda.so.1") == 1
    listed = [(several, folder) for several, folder in listed if "compat" not in folder]
    assert len(listed) > 7
    for several, folder in listed:
        assert f"/usr/lib/x86_64-linux-gnu{folder}`" in FINDING or \
            f"/usr/lib/aarch64-linux-gnu{folder}`" in FINDING or \
            (not several and f"`{folder}`" in FINDING), folder


def test_every_file_has_its_paragraph():
    """src/README.md follows the rooms: each source, and no other."""
    page = (ROOT / "src" / "README.md").read_text(encoding="utf-8")
    paragraphs = set(re.findall(r"\*\*(\w+\.c)\*\*", page))
    files = {file.name for room in ("loader", "nvml", "helpers")
             for file in (ROOT / "src" / room).glob("*.c")}
    assert paragraphs == files


def test_rules_of_faults():
    """sim.h lists those of the page, each with its options."""
    header = (ROOT / "include/cushim/sim.h").read_text(encoding="utf-8")
    page = (ROOT / "docs/simulated-driver.md").read_text(encoding="utf-8")
    listed = header.partition("Add fault rules")[2].partition("A rule counts")[0]
    stated = page.partition("All rules:\n")[2].partition("\n|")[0]
    words = [[re.findall(r"[\w-]+", line[:30]) for line in re.findall(
        rf"^{margin}((?:    )?[\w-].*)", text, re.M)]
        for margin, text in ((r" \*     ", listed), ("    ", stated))]
    assert len(words[0]) >= 13 and words[0] == words[1]

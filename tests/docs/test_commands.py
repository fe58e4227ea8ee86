# SPDX-License-Identifier: MIT
"""Every `cushim ...` of README.md and docs/*.md is a command that the command knows and runs."""

import re
import shlex
import shutil
import zipfile
from pathlib import Path

import pytest
from pages import PAGES, ROOT, example, fenced, indented_commands, inline_commands
from runner import BUILD, CLI, FAKE_GPU, NOWHERE, SIM, compile_block, environment, run
from test_docs import FIRST, PROGRAMS

DRIVER = BUILD / "src/sim/libcuda-sim-12.4.so" if SIM else FAKE_GPU
LISTED = [(f"{page.relative_to(ROOT)}:{line}", command) for page in PAGES
          for line, command in indented_commands(page)]
INLINE = sorted({(command, f"{page.relative_to(ROOT)}:{line}") for page in PAGES
                 for line, command in inline_commands(page)})


def need_command(command):
    """Skip what the build does not have."""
    if re.match("cushim (sim|matrix)", command) and not SIM:
        pytest.skip("built without the simulated driver")


@pytest.fixture(name="folder", scope="module")
def fixture_folder(tmp_path_factory):
    """Where the commands run: README's first program is ./program, and there are drivers."""
    folder = tmp_path_factory.mktemp("commands")
    compile_block(FIRST, folder)
    for name in ("libcuda.so.1", "one/libcuda.so.1", "other/libcuda.so.1", "other.so"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(Path(DRIVER).resolve())  # its engine lies beside it
    with zipfile.ZipFile(folder / "package.whl", "w") as package:
        package.write(folder / "program", "package/program")
    chooses = example(ROOT / "docs/examples/choose_device.c", "program")
    for block in [*PROGRAMS, chooses]:  # by their first lines or files
        named = re.match(r"/\* (\w+)\.c \*/", block.text)
        if named or block.page.suffix == ".c":
            name = named[1] if named else block.page.stem
            (folder / "of").mkdir(exist_ok=True)
            shutil.copy(compile_block(block, folder / "of"), folder / name)
    (folder / "object.c").write_text("int cuInit(unsigned); int f(void) { return cuInit(0); }\n")
    assert run(["cc", "-c", "object.c", "-o", "program.o"], folder, environment()).returncode == 0
    (folder / "src").mkdir()
    for name in ("shim.c", "scale.c", "a.cpp", "src/b.c"):
        (folder / name).write_text("int f(void) { return cu->cuMemAllocAsync(0, 0, 0); }\n")
    (folder / "build").mkdir()
    shutil.copy(folder / "program", folder / "build")
    facts = next(block for block in fenced(ROOT / "docs/facts.md") if block.kind == "facts")
    (folder / "facts.jsonl").write_text(facts.text, encoding="utf-8")
    for name in ("symbols", "features"):
        done = run([CLI, name, "--json"], folder, environment(CUSHIM_LIBCUDA=str(DRIVER)))
        (folder / f"{name}.json").write_text(done.stdout, encoding="utf-8")
    return folder


def codes_of(command):
    """The exit codes that the pages document for a command that works."""
    if re.match(r"cushim (diff|doctor|matrix)|cushim scan .*--drivers", command):
        return (0, 1)  # 1: something differs, fails or is missing
    return (0,)


def words_of(command):
    """The words of a command line; what the page leaves to the reader is filled in."""
    words = shlex.split(command.partition(" > ")[0])[1:]
    return [CLI] + [DRIVER if word in ("PATH", "/path/to/libcuda.so.1") else word
                    for word in words if not word.startswith("--its-")]


def test_there_are_commands():
    assert len(LISTED) > 6 and len(INLINE) > 5


@pytest.mark.parametrize("where, command", LISTED)
def test_listed_command(where, command, folder):
    """With a driver and a device each of them works."""
    need_command(command)
    done = run(words_of(command), folder, environment(
        CUSHIM_LIBCUDA=str(DRIVER), CUSHIM_SIM_DIR=str(BUILD / "src/sim")))
    assert done.returncode in codes_of(command), f"{where}: {command}: {done.stdout}{done.stderr}"
    if " > " in command:
        (folder / command.partition(" > ")[2]).write_text(done.stdout, encoding="utf-8")
    if "--log" in command:
        assert (folder / "calls.txt").stat().st_size > 0


@pytest.mark.parametrize("command", ["cushim info --init", "cushim symbols --missing"])
def test_exit_code_without_a_driver(command, folder):
    """`cushim --help` documents 3. Commands that report on no driver at all succeed at that."""
    need_command(command)
    assert command in [known for _, known in LISTED]
    done = run(words_of(command), folder, environment(CUSHIM_LIBCUDA=NOWHERE))
    assert done.returncode == 3, f"{command}: {done.stdout}{done.stderr}"


def test_exit_code_of_wrong_usage(folder):
    need_command("cushim info")
    assert run([CLI, "info", "--nonsense"], folder, environment()).returncode == 2


def test_exit_code_of_a_file_that_cannot_be_read(folder):
    need_command("cushim scan")
    done = run([CLI, "scan", "./nothing"], folder, environment())
    assert done.returncode == 5, done.stdout + done.stderr


def test_exit_code_of_the_program(folder):
    """`cushim sim` returns the code of its program."""
    need_command("cushim sim")
    done = run([CLI, "sim", "--", "sh", "-c", "exit 5"], folder,
               environment(CUSHIM_SIM_DIR=str(BUILD / "src/sim")))
    assert done.returncode == 5, done.stderr


@pytest.mark.parametrize("command, where", INLINE)
def test_command_in_a_sentence(command, where, folder):
    """The subcommand exists, and its help has each of the options."""
    need_command(command)
    text = command.partition(" -- ")[0]
    subcommand = text.split()[1]
    shown = run([CLI, subcommand, "--help"], folder, environment())
    assert shown.returncode == 0, f"{where}: {command}: {shown.stderr}"
    for option in re.findall(r"--[a-z][a-z-]*", text):
        assert option in shown.stdout, f"{where}: {command}: no {option}"

# SPDX-License-Identifier: MIT
"""Completion in each shell: the commands, and the options of each, are those of --help; values."""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
import time

import pytest
from command import CLI, COMMANDS, READERS, ROOT, SIM_DRIVERS, run

SCRIPTS = ROOT / "tools/completion"
NAMES = {*COMMANDS, *READERS}
NEEDS_READERS = pytest.mark.skipif(not READERS, reason="no libelf in this build")


def complete(*words):
    """What bash offers for the last word."""
    script = (f"source '{SCRIPTS}/cushim.bash'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
              "_cushim; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-c", script, "bash", CLI, *words], capture_output=True,
                          text=True, check=True)
    assert done.stderr == ""
    return set(done.stdout.split())


def options(*command):
    """Long options that a command's help lists."""
    return set(re.findall(r"--[a-z][a-z-]*", run(*command, "--help").out))


def test_bash_commands():
    assert NAMES <= complete("")
    assert complete("sy") == {"symbols"}
    assert complete("--v") == {"--version"}


@pytest.mark.parametrize("command", sorted(NAMES))
def test_bash_options(command):
    assert complete(command, "--") == options(command)


def test_bash_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "driver.so").touch()
    assert complete("info", "--driver", "dri") == {"driver.so"}


def offered(*words):
    """What the command itself has for the shells."""
    result = run("--complete", *words)
    assert (result.code, result.err) == (0, "")
    return [line.split("\t")[0] for line in result.out.splitlines()]


@pytest.mark.parametrize("words, some", [
    (["symbols", "--order", ""], ["both", "symbols"]),
    (["symbols", "--order=s"], ["--order=symbols"]),
    (["symbols", "-o", "b"], ["both"]),
    (["symbols", "--since", "11.2"], ["11.2"]),
    (["compat", "12.4"], ["12.4"]),
    (["compat", "./"], [":files"]), (["info", "--driver", ""], [":files"]),
    (["report", "x"], [":files"]), (["nonsense", ""], []), (["symbols", "--json", "x"], []),
    (["symbols", "--since=12.4", "x"], []), (["compat", "53"], ["530", "535"]),
    pytest.param(["scan", "--gpus", "8.0,max"], ["8.0,maxwell"], marks=NEEDS_READERS),
    pytest.param(["scan", "--gpus=RTX 409"], ["--gpus=RTX 4090"], marks=NEEDS_READERS),
    pytest.param(["scan", "--drivers", "470,12.4"], ["470,12.4"], marks=NEEDS_READERS),
])
def test_values(words, some):
    assert offered(*words) == some


@pytest.mark.skipif(not SIM_DRIVERS, reason="no simulated drivers in this build")
@pytest.mark.parametrize("words, some", [
    (["sim", "--profile", "h"], ["hopper"]), (["sim", "--cuda", "12.4"], ["12.4"]),
    (["matrix", "--cuda", "11.0,12.4"], ["11.0,12.4"]),
    (["matrix", "--works", "11.0,12.4"], ["11.0,12.4"]),
    (["sim", "--fault", "cuInit"], ["cuInit"]), (["sim", "--fault", "out"],
                                                ["out-of-memory:after="]),
    (["sim", "--", ""], [":program"]), (["sim", "ls", "--"], [":program"]),
    (["sim", "--cuda", "12.4", "ls", "-"], [":program"]), (["sim", "l"], [":program"]),
])
def test_values_of_the_simulator(words, some):
    assert offered(*words) == some


def test_bash_values():
    assert complete("symbols", "--order", "=", "s") == {"symbols"}
    assert complete("symbols", "--order", "b") == {"both"}


class Shell:
    """An interactive shell on a terminal, as its user has it, with the command in its path."""

    def __init__(self, *words, home):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 150, 0, 0))
        path = f"{os.path.dirname(CLI)}:{os.environ['PATH']}"
        self.process = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs,
                                        start_new_session=True, env={
                                            "PATH": path, "HOME": str(home), "TERM": "dumb",
                                            "LC_ALL": "C.UTF-8", "PS1": "", "ZDOTDIR": str(home),
                                            # LeakSanitizer of gcc 12 may wait for ever in jobs.
                                            "ASAN_OPTIONS": "detect_leaks=0"})
        os.close(theirs)
        self.terminal = ours

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)

    def write(self, text):
        """Type."""
        os.write(self.terminal, text.encode())

    def read(self, end, seconds=60):
        """What is shown until a text."""
        seen, last = "", time.monotonic() + seconds
        while end not in seen:
            assert time.monotonic() < last, f"no {end} in {seen!r}"
            if select.select([self.terminal], [], [], 0.2)[0]:
                seen += os.read(self.terminal, 65536).decode(errors="replace")
        return seen


@pytest.fixture(name="zsh")
def fixture_zsh(tmp_path):
    """A zsh that found _cushim by its function path."""
    if not shutil.which("zsh"):
        pytest.skip("no zsh")
    with Shell("zsh", "-f", "-i", home=tmp_path) as shell:
        shell.write(f"PS1=go'>'; unsetopt zle_bracketed_paste; fpath=('{SCRIPTS}' $fpath); "
                    "autoload -Uz compinit; compinit -u -D; LISTMAX=9999\r")
        shell.read("go>")  # from here on the line editor reads what is typed
        yield shell


def test_zsh_completes(zsh):
    """What the tab key makes of a line, which the shell then prints."""
    for typed, wanted in (("sy", "symbols"), ("--vers", "--version"),
                          ("symbols --sin", "symbols --since"),
                          ("symbols --order b", "symbols --order both")):
        zsh.write(f"cushim {typed}\t")
        zsh.read(wanted[len(typed):])  # so that the shell has not more to read at once
        zsh.write("\x01print -r -- '[' \x05']'\r")
        zsh.read(f"\n[ cushim {wanted}")


def test_zsh_offers_the_options(zsh):
    """A tab lists each option of each command."""
    for command in sorted(NAMES):
        zsh.write(f"cushim {command} --\t")
        shown = zsh.read("--help")  # with more to read at once, zsh shows no list
        zsh.write(f"\x15echo end''{command}\r")
        shown += zsh.read(f"end{command}")
        assert options(command) <= set(re.findall(r"--[a-z][a-z-]*", shown)), command


def test_zsh_lists(zsh):
    """Two tabs list the commands with their descriptions, and the options."""
    zsh.write("cushim \t\t")
    shown = zsh.read("every entry")
    assert NAMES <= set(re.findall(r"^(\w+) +--", shown.replace("\r", ""), re.M)), shown


@pytest.mark.skipif(not shutil.which("fish"), reason="no fish")
def test_fish(tmp_path):
    """fish itself computes what it would offer for a line."""
    path = f"{os.path.dirname(CLI)}:{os.environ['PATH']}"
    (tmp_path / "driver.so").touch()
    lines = {"cushim ": NAMES, "cushim --": options(), "cushim info --driver dri": {"driver.so"},
             "cushim symbols --order b": {"both"}, "cushim symbols --order=b": {"--order=both"}}
    lines |= {f"cushim {command} --": options(command) for command in NAMES}
    for line, wanted in lines.items():
        done = subprocess.run(["fish", "--no-config", "-c", f"source '{SCRIPTS}/cushim.fish'; "
                               f"complete -C '{line}'"], capture_output=True, text=True,
                              cwd=tmp_path, check=True, env={**os.environ, "PATH": path})
        assert done.stderr == ""
        offered = {row.split("\t")[0] for row in done.stdout.splitlines()}
        assert offered == wanted if line.endswith("--") else wanted <= offered, line

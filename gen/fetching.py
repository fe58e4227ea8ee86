# SPDX-License-Identifier: MIT
"""What the programs that fetch files of NVIDIA's have in common: a cache outside of the work tree,
tries, and the command line. gen/fetch.py and tests/drivers/fetch.py are such programs."""

import argparse
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

TRIES = 3
PAUSE_SECONDS = 3
COMMAND_SECONDS = 300
CACHE = "<cache> is --cache, else $CUSHIM_CACHE, else $XDG_CACHE_HOME/cushim, else ~/.cache/cushim"
EXITS = """\
exit codes:
  0  all that --require names is in the cache; without --require: at least one is
  1  it is not
  2  wrong usage
"""


class Unavailable(Exception):
    """Something could not be had; `again` says whether another try may help."""

    def __init__(self, reason, again=False):
        super().__init__(" ".join(str(reason).split()))
        self.again = again


def cache_folder(name, option=None):
    """A folder of the cache."""
    cache = option or os.environ.get("CUSHIM_CACHE")
    if not cache:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        cache = Path(base) / "cushim"
    return Path(cache).expanduser().absolute() / name


def version_key(version):
    """12.10 comes after 12.9."""
    return [int(part) for part in re.findall(r"\d+", version)]


@contextlib.contextmanager
def locked(folder):
    """One run at a time fetches into a cache; the others wait, then find it filled."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".lock", "a", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for leftover in folder.glob(".new-*"):  # of a run that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def put(ready, folder):
    """Put what is complete into the cache, in one step."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)  # only a damaged one can be there
    ready.rename(folder)


def run(what_failed, *command, cwd=None):
    """Run a command; its output, or Unavailable with what WHAT_FAILED(command, its errors) gives: a
    reason, and whether another try may help."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, errors="replace",
                              timeout=COMMAND_SECONDS, env=os.environ | {"LC_ALL": "C"},
                              stdin=subprocess.DEVNULL, check=False)
    except subprocess.TimeoutExpired as late:
        raise Unavailable(f"{command[0]} took over {COMMAND_SECONDS} s", again=True) from late
    if done.returncode:
        raise Unavailable(*what_failed(command, done.stderr or f"exit code {done.returncode}"))
    return done.stdout


def again_and_again(action, *arguments):
    """Call ACTION until it succeeds, fails for good, or has had its tries."""
    for attempt in range(1, TRIES + 1):
        try:
            return action(*arguments)
        except Unavailable as failure:
            if not failure.again or attempt == TRIES:
                raise
            time.sleep(PAUSE_SECONDS)
    return None


# ------------------------------------------------------------------------ command line

def command_line(text, layout, libraries, pattern, example, default):
    """A parser of what all the programs take. Names match PATTERN, as EXAMPLE does."""
    def names(words):
        found = [name for name in re.split(r"[\s,]+", words) if name]
        if not all(re.fullmatch(pattern, name) for name in found):
            raise argparse.ArgumentTypeError(f"'{words}' is not a {example}")
        return found

    parser = argparse.ArgumentParser(description=text, epilog=f"{layout}  {CACHE}\n\n{EXITS}",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", type=names, help=f"each a {example}; default: {default}")
    parser.add_argument("--require", type=names, default=[], metavar="NAME,...",
                        help="fetch these too, and exit 1 if one of them could not be had")
    parser.add_argument("--cache", metavar="DIR", help="the cache (see below)")
    parser.add_argument("--library", choices=libraries, default="cuda",
                        help="for the sake of which library; default: %(default)s")
    parser.add_argument("--list", action="store_true",
                        help="fetch nothing; print what is in the cache, as JSON")
    return parser


def named(options):
    """The names on the command line."""
    return [name for group in options.name for name in group]


def report(wanted, required, lines, reasons):
    """Print a line for each that was wanted, of which LINES has those that are there; the exit
    code."""
    for name in wanted:
        print(lines.get(name) or f"{name} unavailable: {reasons[name]}")
    return 0 if lines and set(required) <= set(lines) else 1

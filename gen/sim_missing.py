# SPDX-License-Identifier: MIT
"""src/sim/missing.def: what the simulated driver lacks, and entries without code of their own, as
marks for the build and the docs."""

import fnmatch
import re
from pathlib import Path

from registry import RegistryError

DEFAULT = Path(__file__).resolve().parents[1] / "src" / "sim" / "missing.def"
MARK = re.compile(r'AREA\("(?P<area>[^"]+)"\)|MISSING\((?P<missing>[\w*]+)\)|'
                  r'PARTLY\((?P<symbol>\w+), (?P<mark>\w+), (?P<code>[A-Z_]+),\s+'
                  r'"(?P<what>[^"]+)"\)|'
                  r'ANSWER\((?P<answers>\w+(?:\s+\w+)*),\s+(?P<answer>\w+(?:\(\w*\))?)\)|'
                  r'SAME\((?P<same>\w+(?:\s+\w+)*),\s+(?P<other>\w+)\)')

TABLE = """\
# What is not simulated

The [simulated driver](simulated-driver.md) exports all entries of its version. Those of the first
rows of this table have no behaviour and refuse every call; a `_ptsz` or `_ptds` form does as its
legacy one. The entries below refuse what the table says. All others are simulated: {present} of
{all} have a behaviour.

`src/sim/missing.def` has these lines, and the driver is built with them. The command below makes
this page, and a test compares the two:

    python3 gen/emit.py sim_entries.md docs/simulated-entries.md

| not simulated | entries | answer |
|---|---|---|
"""


class Missing:
    """The marks of one file."""

    def __init__(self, path, entries):
        self.path = path
        self.areas = []  # of [what, symbols]
        self.parts = []  # of (symbol, mark, code, what)
        self.answers = {}  # by symbol, of entries without code of their own: an expression of C
        known = {entry["symbol"]: entry for entry in entries if entry["stream"] == "legacy"}
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise RegistryError(f"{path}:1: {error.strerror}") from None
        text = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.S)
        self.read(text, known)

    def read(self, text, known):
        """Every mark, and nothing between them."""
        at = 0
        for match in [*MARK.finditer(text), None]:
            between = text[at:match.start() if match else len(text)]
            if between.strip():
                self.fail(text, at + len(between) - len(between.lstrip()), "no mark")
            if not match:
                return
            at = match.end()
            symbol = match["missing"] or match["symbol"] or match["answers"] or match["same"]
            if match["missing"]:
                symbol = " ".join(fnmatch.filter(known, symbol)) or symbol
            for each in (symbol or "").split():
                if each not in known:
                    self.fail(text, match.start(), f"no entry {each}")
                if each in self.symbols():
                    self.fail(text, match.start(), f"{each} is missing already")
                if each in self.answers:
                    self.fail(text, match.start(), f"{each} has an answer already")
            if match["area"]:
                self.areas.append([match["area"], []])
            elif match["missing"]:
                if not self.areas:
                    self.fail(text, match.start(), "no area yet")
                self.areas[-1][1].extend(symbol.split())
            elif match["answers"]:
                self.answers.update(dict.fromkeys(symbol.split(), match["answer"]))
            elif match["same"]:
                for each in symbol.split():
                    self.answers[each] = self.call(text, match, known, each)
            else:
                self.parts.append(match.group("symbol", "mark", "code", "what"))

    def call(self, text, match, known, symbol):
        """Of the other entry, with the arguments of this one by their names, or 0."""
        other = symbol + match["other"] if match["other"].startswith("_") else match["other"]
        here = [name for _, name in known[symbol]["params"]]
        there = [name for _, name in known.get(other, {"params": []})["params"]]
        if not set(here) <= set(there):
            self.fail(text, match.start(), f"no parameter of {other} has the name " +
                      ", ".join(name for name in here if name not in there))
        return f"sim_{other}({', '.join(n if n in here else '0' for n in there)})"

    def fail(self, text, at, message):
        """End with the place."""
        raise RegistryError(f"{self.path}:{text.count(chr(10), 0, at) + 1}: {message}")

    def symbols(self):
        """Those without a behaviour."""
        return {symbol for _, symbols in self.areas for symbol in symbols}

    def constants(self):
        """Lines of C: the answers to what entries refuse."""
        return [f"#define SIM_LACK_{symbol}_{mark} CUDA_ERROR_{code}"
                for symbol, mark, code, _ in self.parts]

    def page(self, count):
        """Text of docs/simulated-entries.md, where COUNT entries could have a behaviour."""
        rows = [(what, sorted(symbols), "NOT_SUPPORTED") for what, symbols in self.areas]
        rows += [(what, [symbol], code) for symbol, _, code, what in sorted(self.parts)]
        return TABLE.format(present=count - len(self.symbols()), all=count) + "".join(
            f"| {what} | {', '.join(f'`{symbol}`' for symbol in symbols)} | `{code}` |\n"
            for what, symbols, code in rows)

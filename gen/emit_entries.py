# SPDX-License-Identifier: MIT
"""entries.c: the registry as constant data of few bytes, without a pointer in it."""

import heapq
import itertools
import json
import re
from collections import Counter

import ctext

PLATFORMS = {"linux": "CUSHIM_ENTRY_LINUX", "windows": "CUSHIM_ENTRY_WINDOWS"}
SYMBOL_BYTES = 56  # of cushim_entry.symbol, its end included


class Pool:
    """Strings, each once, at known offsets."""

    def __init__(self):
        self.offsets = {}
        self.size = 0

    def add(self, text):
        """Offset of TEXT."""
        if text not in self.offsets:
            self.offsets[text] = self.size
            self.size += len(re.sub(r"\\[0-7]{3}", "x", text)) + 1
        return self.offsets[text]

    def lines(self):
        """The pool as a string literal."""
        return [f'    "{text}\\0"' for text in self.offsets]


PART = re.compile(r"[A-Z][a-z]*|[a-z]+|\d+|_")
WORD_MOST = 16  # bytes of the longest word, as unpack.h has it
CODES = 256  # a byte stands for a word; 0 ends a name, and a character stands for itself


def candidates(names):
    """One to three parts of a name in a row: what may become a word."""
    for name in names:
        parts = PART.findall(name)
        for first in range(len(parts)):
            for last in range(first + 1, min(first + 3, len(parts)) + 1):
                yield "".join(parts[first:last])


def pack(names):
    """The word of each byte, most of them words that many names have; and the names in such bytes.
    The next word is always the one that saves most in what is left."""
    text = "\n".join(names)
    words = [chr(code) if chr(code) in set("".join(names)) else "" for code in range(CODES)]
    free = [code for code in range(1, CODES) if not words[code] and code != ord("\n")]

    def saving(word):
        return text.count(word) * (len(word) - 1) - len(word)

    heap = [(-saving(word), word) for word in set(candidates(names)) if len(word) <= WORD_MOST]
    heapq.heapify(heap)
    while heap and free:
        _, word = heapq.heappop(heap)
        now = saving(word)
        if heap and now < -heap[0][0]:  # less than it was: others come first
            heapq.heappush(heap, (-now, word))
        elif now > 0:
            words[free[-1]] = word
            text = text.replace(word, chr(free.pop()))
    return words, text.split("\n")


def literal(packed):
    """A packed name as a C string."""
    return "".join(c if c.isascii() and c.isalnum() or c == "_" else f"\\{ord(c):03o}"
                   for c in packed)


def distinct(values):
    """VALUES, each once, in their order."""
    return list(dict.fromkeys(values))


def array(declaration, values):
    """An initialised array."""
    return [f"{declaration} = {{", ctext.wrap("    " + ", ".join(map(str, values)) + ","), "};"]


def name_arrays(prefix, cut, names):
    """Arrays with the names, each without its first CUT characters; and the offset of each."""
    words, packed = pack([name[cut:] for name in names])
    pool = Pool()
    offsets = {name: pool.add(literal(text)) for name, text in zip(names, packed)}
    assert pool.size <= 0xffff
    return [f"const char {prefix}_names[] =", *pool.lines(), "    ;", "",
            f"const char {prefix}_words[] =",
            *(f'    "{word}"' for word in words if word), "    \"" + "\\0" * WORD_MOST + "\"",
            "    ;",
            *array(f"const uint16_t {prefix}_word_offsets[]",
                   itertools.accumulate(map(len, words), initial=0))], offsets


def twin(entry, index):
    """The symbol of the per-thread form of a legacy entry, or None."""
    return next((entry["symbol"] + suffix for suffix in ("_ptsz", "_ptds")
                 if entry["symbol"] + suffix in index), None)


def emit(registry):
    """Text of entries.c."""
    entries = registry["entries"]
    index = {entry["symbol"]: number for number, entry in enumerate(entries)}
    abis = Counter((entry["name"], entry["stream"]) for entry in entries)
    suffixes = distinct(entry["symbol"][len(entry["name"]):] for entry in entries)
    releases = distinct(entry["since"] for entry in entries)
    headers = distinct(entry["header"] for entry in entries)
    names = distinct(entry["name"] for entry in entries)
    assert max(map(len, index)) < SYMBOL_BYTES and all(name.startswith("cu") for name in names)
    assert max(map(len, suffixes)) < 12 and max(map(len, headers)) < 16
    assert len(suffixes) <= 16 and len(headers) <= 16 and len(releases) <= 256
    arrays, offsets = name_arrays("cushim_entry", 2, names)
    rows = []
    for entry in entries:
        flags = [PLATFORMS[entry["platform"]]] if entry.get("platform") else []
        if abis[entry["name"], entry["stream"]] > 1:
            flags.append("CUSHIM_ENTRY_SEVERAL")
        if entry["stream"] == "legacy" and twin(entry, index):
            flags.append("CUSHIM_ENTRY_TWIN")
        if entry["stream"] != "legacy":
            flags.append(f"CUSHIM_ENTRY_{entry['stream'].upper()}")
        rows.append(f"    {{{offsets[entry['name']]}, "
                    f"{releases.index(entry['since'])}, "
                    f"{suffixes.index(entry['symbol'][len(entry['name']):])}, "
                    f"{headers.index(entry['header'])}, {' | '.join(flags) or 0}}},")
    lines = [ctext.banner("entries"), '#include "loader/registry.h"', "",
             *arrays,
             *array("const char cushim_entry_suffixes[][12]", map(json.dumps, suffixes)),
             *array("const char cushim_entry_headers[][16]", map(json.dumps, headers)),
             *array("const uint16_t cushim_entry_releases[]", releases), "",
             "const struct cushim_entry_data cushim_entries[CUSHIM_ENTRY_COUNT] = {", *rows, "};",
             "", "/* The entries in the order of their symbols. */",
             *array("const uint16_t cushim_entry_order[CUSHIM_ENTRY_COUNT]",
                    [index[symbol] for symbol in sorted(index)])]
    return "\n".join(lines) + "\n"

# SPDX-License-Identifier: MIT
"""entries.c: the registry as constant data, with one pool of strings and no pointers in it."""

from collections import Counter

import ctext

STREAMS = {"legacy": "CUSHIM_STREAM_LEGACY", "ptsz": "CUSHIM_STREAM_PTSZ",
           "ptds": "CUSHIM_STREAM_PTDS"}
PLATFORMS = {None: "CUSHIM_ANYWHERE", "linux": "CUSHIM_LINUX_ONLY",
             "windows": "CUSHIM_WINDOWS_ONLY"}


class Pool:
    """Strings, each once, at known offsets."""

    def __init__(self):
        self.offsets = {}
        self.size = 0

    def add(self, text):
        """Offset of TEXT."""
        if text not in self.offsets:
            self.offsets[text] = self.size
            self.size += len(text) + 1
        return self.offsets[text]

    def lines(self):
        """The pool as a string literal."""
        return [f'    "{text}\\0"' for text in self.offsets]


def emit(registry):
    """Text of entries.c."""
    entries = registry["entries"]
    index = {entry["symbol"]: number for number, entry in enumerate(entries)}
    abis = Counter((entry["name"], entry["stream"]) for entry in entries)
    pool = Pool()
    rows = []
    for entry in entries:
        twin = next((index[entry["symbol"] + suffix] for suffix in ("_ptsz", "_ptds")
                     if entry["stream"] == "legacy" and entry["symbol"] + suffix in index), None)
        rows.append(f"    {{{pool.add(entry['symbol'])}, {pool.add(entry['name'])}, "
                    f"{pool.add(entry['header'])}, {entry['since']}, "
                    f"{'CUSHIM_NO_TWIN' if twin is None else twin}, {STREAMS[entry['stream']]}, "
                    f"{PLATFORMS[entry.get('platform')]}, "
                    f"{int(abis[entry['name'], entry['stream']] > 1)}}},")
    by_symbol = [str(index[symbol]) for symbol in sorted(index)]
    lines = [ctext.banner("entries"), '#include "entries.h"', "",
             "const char cushim_strings[] =", *pool.lines(), "    ;", "",
             "const struct cushim_entry_data cushim_entries[CUSHIM_ENTRY_COUNT] = {", *rows, "};",
             "", "/* Indices in the order of the symbols. */",
             "const uint16_t cushim_entries_by_symbol[CUSHIM_ENTRY_COUNT] = {",
             ctext.wrap("    " + ", ".join(by_symbol)), "};"]
    return "\n".join(lines) + "\n"

# SPDX-License-Identifier: MIT
"""What the plain names of cudaTypedefs.h, such as PFN_cuMemAlloc, stand for in each release."""

from headers import HeaderError


def release_names(sets, entries):
    """Plain names of one release, on all platforms: name -> the entry of its type, and the place.

    A name that leads to no typedef is left out, because no program can use it.
    """
    typedefs = {spelled(row): row for row in entries.values()
                for headers in sets.values()
                if (row["name"], row["since"], row["stream"]) in headers.typedefs}
    found = {}
    for headers in sets.values():
        per_thread = headers.plain_names(per_thread=True)
        for name, (typedef, place) in headers.plain_names().items():
            if typedef not in typedefs:
                continue
            entry, _ = found.setdefault(name, (typedefs[typedef], place))
            if spelled(entry) != typedef:
                raise HeaderError(f"{place}: {name} is {typedef}, on the other platform "
                                  f"{spelled(entry)}")
            check_per_thread(name, entry, per_thread[name], typedefs)
    return found


def spelled(entry):
    """NVIDIA's typedef of an entry."""
    stream = "" if entry["stream"] == "legacy" else f"_{entry['stream']}"
    return f"PFN_{entry['name']}_v{entry['since']}{stream}"


def check_per_thread(name, entry, per_thread, typedefs):
    """Under the per-thread macro a name is the typedef of its symbol's twin, where that has one."""
    typedef, place = per_thread
    symbols = {entry["symbol"] + suffix for suffix in ("_ptsz", "_ptds")}
    twin = next((name for name, row in typedefs.items() if row["symbol"] in symbols),
                spelled(entry))
    if typedef != twin:
        raise HeaderError(f"{place}: under the per-thread default stream {name} is {typedef} "
                          f"instead of {twin}")


class PlainNames:
    """The history of every plain name."""

    def __init__(self, rows):
        self.known = {row["name"]: row for row in rows}

    def add_release(self, version, sets, entries):
        """Merge one release; ENTRIES has its symbols already."""
        now = release_names(sets, entries)
        for name in sorted(now, key=lambda name: (now[name][0]["since"], name)):
            entry, place = now[name]
            row = self.known.setdefault(name, {"name": name, "versions": []})
            add_version(row, version, entry["symbol"], place)
        headers = {pair[0] for headers in sets.values() for pair in headers.pairs}
        for name, row in self.known.items():
            last = row["versions"][-1]
            if name not in now and last["since"] < version and last["symbol"] and \
                    entries[last["symbol"]]["header"] in headers:
                row["versions"].append({"since": version, "symbol": None})

    def rows(self):
        """Lines of typedefs.jsonl."""
        return list(self.known.values())


def add_version(row, version, symbol, place):
    """Append a meaning if it is news; refuse one that contradicts what is known of the release."""
    versions = row["versions"]
    if not versions or versions[-1]["since"] < version:
        if not versions or versions[-1]["symbol"] != symbol:
            versions.append({"since": version, "symbol": symbol})
        return
    then = [fact["symbol"] for fact in versions if fact["since"] <= version]
    if then and then[-1] != symbol:
        raise HeaderError(f"{place}: {row['name']} is of {symbol}, and was of {then[-1]}")

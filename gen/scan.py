#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Make the registry (entries, types, levels, typedefs) from the headers of any number of toolkits.

Usage: scan.py [HEADERS] [--library LIBRARY] [--registry DIR] [--check]

HEADERS holds one folder a release, with one a platform in it: 12.4/linux, 12.4/windows (fetch.py
makes it). Lines that the registry has stay where they are, because their order is the table's
layout; new ones are appended. Input that contradicts itself or the registry is refused with file
and line.
"""

import argparse
import re
import sys
from pathlib import Path

import registry
from fetch import headers_folder
from headers import HeaderError, HeaderSet, where
from libraries import LIBRARIES
from plain_names import PlainNames

EPILOG = "Exit codes: 0 done; 1 refused, or with --check the registry would change; 2 wrong usage."


def release_folders(root, library):
    """(version, {platform: folder}) of each release below ROOT, oldest first."""
    found = {}
    for folder in Path(root).glob("*"):
        match = re.fullmatch(r"([1-9]\d*)\.(0|[1-9]\d*)", folder.name)
        if match and folder.is_dir():
            version = int(match[1]) * 1000 + int(match[2]) * 10
            found[version] = {platform: folder / platform for platform in library.platforms}
    if not found:
        raise HeaderError(f"{root}:1: no release folders such as 12.4/linux")
    return sorted(found.items())


# -- entries


def signature(cursor):
    """The function type of a prototype or of a typedef of a pointer, canonical."""
    kind = cursor.type if cursor.kind.name == "FUNCTION_DECL" else \
        cursor.underlying_typedef_type.get_pointee()
    return kind.get_canonical().spelling


def pair(headers):
    """Entries of one header set: each typedef with the symbol that it types.

    A typedef says the release and not the ABI: the oldest is that of a name's first symbol.
    """
    symbols, typedefs = {}, {}
    for symbol in headers.prototypes:
        if headers.library.symbol.match(symbol):
            name, abi, stream = registry.split_symbol(symbol)
            symbols.setdefault((name, stream), []).append((abi, symbol))
    for (name, since, stream), cursor in headers.typedefs.items():
        typedefs.setdefault((name, stream), []).append((since, cursor))
    check_typed(headers, symbols, typedefs)
    for key, versions in typedefs.items():
        versions.sort(key=lambda version: version[0])
        candidates = sorted(symbols.get(key, []))
        prototypes = [headers.prototypes[symbol] for _, symbol in candidates]
        cursors = [cursor for _, cursor in versions]
        if len(prototypes) < len(cursors):
            cursor = unmatched(cursors, prototypes)
            raise HeaderError(f"{where(cursor)}: {cursor.spelling} has no prototype")
        if len(prototypes) > len(cursors):
            cursor = unmatched(prototypes, cursors)
            raise HeaderError(f"{where(cursor)}: {cursor.spelling} has no typedef, though other "
                              f"ABIs of {key[0]} have")
        for (since, cursor), (_, symbol) in zip(versions, candidates):
            check_pair(headers, cursor, since, symbol)
            yield symbol, entry(headers, cursor, symbol, since), cursor


def untyped(headers, known):
    """Entries of headers without typedefs: a symbol came with the first release that has it."""
    for symbol, cursor in headers.prototypes.items():
        if headers.library.symbol.match(symbol):
            since = known[symbol]["since"] if symbol in known else headers.version
            yield symbol, entry(headers, cursor, symbol, since), cursor


def unmatched(cursors, others):
    """The first of CURSORS whose type none of OTHERS has, else the last."""
    types = {signature(other) for other in others}
    return next((cursor for cursor in cursors if signature(cursor) not in types), cursors[-1])


def check_typed(headers, symbols, typedefs):
    """Refuse prototypes without a typedef, which alone says what release introduced them."""
    names = {name for name, _ in typedefs}
    for (name, stream), candidates in symbols.items():
        if (name, stream) not in typedefs:
            cursor = headers.prototypes[candidates[0][1]]
            others = f", though other ABIs of {name} have" if name in names else ""
            raise HeaderError(f"{where(cursor)}: {cursor.spelling} has no typedef{others}")


def check_pair(headers, cursor, since, symbol):
    """Refuse a typedef that does not fit the prototype it was paired with."""
    if since > headers.version:
        raise HeaderError(f"{where(cursor)}: {cursor.spelling} is newer than the header, which "
                          f"is of {registry.version_text(headers.version)}")
    prototype = headers.prototypes[symbol]
    if signature(prototype) != signature(cursor):
        raise HeaderError(f"{where(cursor)}: {cursor.spelling} is not of the type of {symbol} at "
                          f"{where(prototype)}: a version that goes backwards, or a wrong type")


def entry(headers, cursor, symbol, since):
    """One line of entries.jsonl."""
    name, _, stream = registry.split_symbol(symbol)
    params = [[headers.spell(child.type), child.spelling] for child in cursor.get_children()
              if child.kind.name == "PARM_DECL"]
    typed = cursor.kind.name == "TYPEDEF_DECL"
    kind = cursor.underlying_typedef_type.get_pointee() if typed else cursor.type
    result = headers.spell(kind.get_result())
    file = Path(cursor.location.file.name).name
    row = {"symbol": symbol, "name": name, "since": since, "stream": stream,
           "header": headers.header_of(file) if typed else file, "params": params}
    if result == headers.library.result:
        return row
    if typed:
        raise HeaderError(f"{where(cursor)}: {cursor.spelling} returns {result}, not "
                          f"{headers.library.result}")
    return {**row, "result": result}


class Entries:
    """The union of all entries, checked for contradictions."""

    def __init__(self, rows):
        self.known = {row["symbol"]: row for row in rows}
        self.order = [row["symbol"] for row in rows]
        self.places = {}

    def add_release(self, sets):
        """Merge what the platforms of one release have."""
        fresh, platforms = {}, {}
        for platform, headers in sets.items():
            found = pair(headers) if headers.pairs[0][1] else untyped(headers, self.known)
            for symbol, row, cursor in found:
                platforms.setdefault(symbol, []).append(platform)
                self.places.setdefault(symbol, where(cursor))
                old = self.known.get(symbol) or fresh.setdefault(symbol, row)
                if not headers.pairs[0][1] and respelled(old, row):
                    old["params"] = row["params"]
                self._check(symbol, old, row, cursor)
        for symbol, row in fresh.items():
            if len(platforms[symbol]) == 1 and len(sets) > 1:
                row["platform"] = platforms[symbol][0]
            self.known[symbol] = row
        for symbol, seen in platforms.items():
            widen(self.known[symbol], seen)
        self.order += sorted(fresh, key=lambda symbol: (fresh[symbol]["since"], symbol))
        for row in fresh.values():
            if all(typedefs for headers in sets.values() for _, typedefs in headers.pairs):
                self._check_order(row)

    @staticmethod
    def _check(symbol, old, row, cursor):
        """Refuse a line that contradicts an older release's, or the other platform's."""
        if row["since"] < old["since"]:
            raise HeaderError(f"{where(cursor)}: {symbol} goes backwards: from "
                              f"{old['since']} to {row['since']}")
        for key in ("name", "since", "stream", "header"):
            if old[key] != row[key]:
                raise HeaderError(f"{where(cursor)}: {symbol}: {key} was {old[key]}, is {row[key]}")
        if [kind for kind, _ in old["params"]] != [kind for kind, _ in row["params"]]:
            raise HeaderError(f"{where(cursor)}: {symbol} changed its parameters")

    def _check_order(self, row):
        """A higher ABI of a name is newer than every lower one."""
        _, abi, _ = registry.split_symbol(row["symbol"])
        for symbol in self.order:
            name, other, stream = registry.split_symbol(symbol)
            if (name, stream) == (row["name"], row["stream"]):
                since = self.known[symbol]["since"]
                if (other < abi and since >= row["since"]) or (
                        other > abi and since <= row["since"]):
                    raise HeaderError(f"{self.places[row['symbol']]}: {row['symbol']} "
                                      f"({row['since']}) goes backwards against {symbol} ({since})")

    def rows(self):
        """Lines of entries.jsonl."""
        return [self.known[symbol] for symbol in self.order]


# -- types


def respelled(old, new):
    """Whether a header only began to say which version of a structure it means."""
    return [re.sub(r"_v\d+(?=_t\b)", "", kind) for kind, _ in old["params"]] == \
        [re.sub(r"_v\d+(?=_t\b)", "", kind) for kind, _ in new["params"]]


def widen(row, platforms):
    """What one platform had is everywhere as soon as a release has it on another."""
    if platforms != [row.get("platform")]:
        row.pop("platform", None)


class Types:
    """The history of every type and constant."""

    def __init__(self, rows):
        self.known = {row["name"]: row for row in rows}
        self.order = [row["name"] for row in rows]

    def add_release(self, version, sets):
        """Merge what one release has; what its headers no longer have is marked gone."""
        facts, platforms = {}, {}
        for platform, headers in sets.items():
            for name, fact in headers.types.items():
                if facts.setdefault(name, fact) != fact:
                    raise HeaderError(f"{headers.places[name]}: {name} differs between the "
                                      "platforms")
                self._check(name, fact, headers.places[name])
                platforms.setdefault(name, []).append(platform)
        fresh = []
        for name, fact in facts.items():
            fact = dict(fact)
            row = {"name": name, "header": fact.pop("header")}
            if fact.pop("internal", False):
                row["internal"] = True
            if len(platforms[name]) == 1 and len(sets) > 1:
                row["platform"] = platforms[name][0]
            if name not in self.known:
                self.known[name] = {**row, "versions": []}
                fresh.append(name)
            widen(self.known[name], platforms[name])
            add_version(self.known[name]["versions"], version, fact)
        self.order += sorted(fresh)
        present = {api for headers in sets.values() for api, _ in headers.pairs}
        for name, row in self.known.items():
            if name not in facts and row["header"] in present:
                add_version(row["versions"], version, {"kind": "gone"})

    def _check(self, name, fact, place):
        """Refuse what no version of a type can say: a new header, or one form for all callers."""
        old = self.known.get(name, fact)
        for key in ("header", "internal"):
            if old.get(key) != fact.get(key):
                raise HeaderError(f"{place}: {name}: {key} was {old.get(key)}, is {fact.get(key)}")

    def rows(self):
        """Lines of types.jsonl."""
        return [self.known[name] for name in self.order]


def add_version(versions, release, fact):
    """Append FACT to a type's history if it is news at RELEASE; enums merge their values."""
    if versions and versions[-1]["since"] > release:
        return  # an older release than one already merged says nothing new
    last = versions[-1] if versions else None
    if fact["kind"] == "enum" and last and last["kind"] == "enum" and \
            last.get("tag") == fact.get("tag"):
        merge_values(last["values"], release, fact["values"])
        return
    if fact["kind"] == "enum":
        fact["values"] = [[name, value, release] for name, value in fact["values"]]
    if last is None or {**last, "since": 0} != {**fact, "since": 0}:
        if last and last["since"] == release:
            versions.pop()
        versions.append({"since": release, **fact})


def merge_values(values, release, current):
    """Enumerators as [name, value, since] or, where they went or changed, [..., until]."""
    now = dict(current)
    for value in values:
        if len(value) == 3 and value[2] < release and now.get(value[0]) != value[1]:
            value.append(release)
    alive = {value[0] for value in values if len(value) == 3}
    ended = {(value[0], value[3]) for value in values if len(value) == 4}
    for name, number in current:
        if name not in alive and not any(n == name and until > release for n, until in ended):
            values.append([name, number, release])


# -- levels


def levels(rows, version, sets, entries):
    """Append what unversioned names mean in this release, where that changed."""
    if any(row["release"] == version for row in rows):
        return
    before = {row["name"]: row["symbol"] for row in rows if "name" in row}
    now = {}
    for headers in sets.values():
        for name, symbol in meanings(headers, entries).items():
            if now.setdefault(name, symbol) != symbol:
                raise HeaderError(f"{meaning_place(headers, name)}: {name} means {symbol}, on the "
                                  f"other platform {now[name]}")
    rows.append({"release": version})
    for name, symbol in sorted(now.items()):
        if before.get(name, name) != symbol:
            rows.append({"release": version, "name": name, "symbol": symbol})


def meanings(headers, entries):
    """What each unversioned name means in one header set: name -> symbol."""
    found = {name: name for name, _, _ in headers.typedefs}
    if not headers.pairs[0][1]:
        found = {entry["name"]: entry["name"] for entry in entries.values()
                 if entry["name"] in headers.prototypes}
    found.update(headers.meanings())
    for name, symbol in found.items():
        if name != symbol and symbol not in entries:
            raise HeaderError(f"{meaning_place(headers, name)}: {name} means {symbol}, which is "
                              "no entry")
    check_per_thread(headers, found)
    return found


def meaning_place(headers, name):
    """Where a name gets its meaning."""
    for macros in (headers.macros, headers.per_thread_macros):
        if name in macros:
            return macros[name][1]
    return where(headers.prototypes[name])


def check_per_thread(headers, public):
    """Under the per-thread macro a name means its legacy symbol's twin, where that has one."""
    per_thread = headers.meanings(per_thread=True)
    for name in {**public, **per_thread}:
        legacy = public.get(name, name)
        twin = next((legacy + suffix for suffix in ("_ptsz", "_ptds")
                     if legacy + suffix in headers.prototypes), legacy)
        symbol = per_thread.get(name, name)
        # What is no prototype is a function of the header itself, such as cuGetProcAddress_ptsz.
        if symbol in headers.prototypes and symbol != twin:
            raise HeaderError(f"{meaning_place(headers, name)}: under the per-thread default "
                              f"stream {name} means {symbol} instead of {twin}")


# -- everything


def scan(root, directory, library):
    """The four files' rows after merging all releases below ROOT into the registry's."""
    entries = Entries(registry.read(directory, "entries"))
    types = Types(registry.read(directory, "types"))
    plain_names = PlainNames(registry.read(directory, "typedefs"))
    level_rows = registry.read(directory, "levels")
    scanned = {row["release"] for row in level_rows}
    for version, platforms in release_folders(root, library):
        sets = {platform: HeaderSet(folder, platform, library, version)
                for platform, folder in platforms.items()}
        for headers in sets.values():
            check_version(headers, version, scanned)
        entries.add_release(sets)
        types.add_release(version, sets)
        levels(level_rows, version, sets, entries.known)
        plain_names.add_release(version, sets, entries.known)
    files = {"entries": entries.rows(), "types": types.rows(), "levels": level_rows}
    return {**files, "typedefs": plain_names.rows()} if library.pairs[0][1] else files


def check_version(headers, version, scanned):
    """Refuse headers in the wrong folder, and releases that come too late."""
    place = headers.macros["CUDA_VERSION"][1] if headers.library.version else \
        f"{headers.folder / headers.library.needed[0]}:1"
    if headers.version != version:
        raise HeaderError(f"{place}: CUDA_VERSION is {headers.version} in the folder of {version}")
    if scanned and version not in scanned and version < max(scanned):
        raise HeaderError(f"{place}: {registry.version_text(version)} goes backwards: the registry "
                          f"has come to {registry.version_text(max(scanned))} without it")


def main():
    """Scan, then write or compare."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0],
                                     epilog=EPILOG)
    parser.add_argument("headers", nargs="?",
                        help="folder that holds 12.4/linux, 12.4/windows, ...; "
                        "default: where fetch.py puts them")
    parser.add_argument("--library", choices=LIBRARIES, default="cuda",
                        help="whose headers; default: %(default)s")
    parser.add_argument("--registry", help="folder of the .jsonl files")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit 1 if the registry would change")
    options = parser.parse_args()
    library = LIBRARIES[options.library]
    options.headers = options.headers or headers_folder(library=library)
    options.registry = options.registry or library.registry
    try:
        files = scan(options.headers, options.registry, library)
    except (HeaderError, registry.RegistryError, OSError) as error:
        sys.exit(str(error))
    if options.check:
        stale = [name for name, rows in files.items()
                 if registry.dumps(rows) != registry.dumps(registry.read(options.registry, name))]
        sys.exit(f"would change: {', '.join(stale)}" if stale else 0)
    for name, rows in files.items():
        registry.write(options.registry, name, rows)
        print(f"{name}: {len(rows)} lines")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: MIT
"""cudaTypedefs.h and its companions: a type for each entry, and what plain names mean."""

import ctext

HEAD = """#ifndef CUSHIM_{guard}
#define CUSHIM_{guard}

#if defined(__cuda_cuda_h__) && !defined(CUSHIM_CUDA_TYPES_H)
/* After a toolkit's cuda.h the types are the toolkit's too, of the header beside its cuda.h. */
#include <{header}>
#ifndef {guard}
#error "no {header} of the toolkit whose cuda.h came before"
#endif
#elif !defined({guard})
/* The toolkit's header, included later, finds its own guard and adds nothing. */
#define {guard}

#include <cushim/{api}>

#ifdef __cplusplus
extern "C" {{
#endif
"""
TAIL = """
#ifdef __cplusplus
}
#endif

#endif
#endif
"""
PLAIN = """
/* What a name without a release means, at the levels that have it. */"""
FIRST = 11000  # the oldest level that there is


def typedef_name(entry):
    """NVIDIA's typedef of an entry."""
    stream = "" if entry["stream"] == "legacy" else f"_{entry['stream']}"
    return f"PFN_{entry['name']}_v{entry['since']}{stream}"


def steps(row, entries, base):
    """(since, until, symbol) of each meaning of a plain name.

    Before the registry's oldest release a name means the newest entry that the level has, as it
    does in the oldest. A name that carries its ABI, such as PFN_cuStreamBatchMemOp_v2, means no
    other.
    """
    versions = row["versions"]
    for fact, following in zip(versions, versions[1:] + [{}]):
        if fact["symbol"]:
            since, until = fact["since"], following.get("since")
            if since > base:
                yield since, until, fact["symbol"]
            else:
                yield from older(row["name"], entries[fact["symbol"]], until, entries)


def older(name, entry, until, entries):
    """The meaning in the oldest release, below its own release preceded by the ABI before it."""
    before = [row for row in entries.values() if row["since"] < entry["since"] and
              (f"PFN_{row['name']}", row["stream"]) == (name, entry["stream"])]
    floor = entry["since"] if entry["since"] > FIRST else None
    if floor and before:
        yield from older(name, max(before, key=lambda row: row["since"]), floor, entries)
    yield floor, until, entry["symbol"]


def condition(since, until):
    """The levels from SINCE on and before UNTIL, as the preprocessor has it."""
    parts = [f"CUSHIM_CUDA_VERSION >= {since}"] if since else []
    parts += [f"CUSHIM_CUDA_VERSION < {until}"] if until else []
    return " && ".join(parts)


def plain_names(rows, entries, base):
    """Macros of the plain names, those of the same levels together."""
    groups = {}
    for row in rows:
        for since, until, symbol in steps(row, entries, base):
            groups.setdefault((since or 0, until or 0), []).append((row["name"], symbol))
    for (since, until), names in sorted(groups.items()):
        test = condition(since, until)
        lines = list(meanings(names, entries))
        yield from [f"#if {test}", *lines, "#endif"] if test else lines


def meanings(names, entries):
    """Macros of names at one level, with and without a default stream for each thread."""
    twins = {symbol: next((entries[symbol + suffix] for suffix in ("_ptsz", "_ptds")
                           if symbol + suffix in entries), None) for _, symbol in names}
    for name, symbol in names:
        if not twins[symbol]:
            yield f"#define {name} {typedef_name(entries[symbol])}"
    if any(twins.values()):
        yield "#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM"
        yield from (f"#define {name} {typedef_name(twins[symbol])}" for name, symbol in names
                    if twins[symbol])
        yield "#else"
        yield from (f"#define {name} {typedef_name(entries[symbol])}" for name, symbol in names
                    if twins[symbol])
        yield "#endif"


def emit(registry, header):
    """Text of HEADER."""
    api = header.replace("Typedefs", "")
    everything = {entry["symbol"]: entry for entry in registry["entries"]}
    rows = [row for row in registry["typedefs"] if everything[symbol_of(row)]["header"] == api]
    base = min((row["versions"][0]["since"] for row in rows), default=0)
    text = ctext.banner("entries", "typedefs")
    lines = [HEAD.format(guard=ctext.macro_name(header), header=header, api=api)]
    for entry in everything.values():
        if entry["header"] == api:
            lines.append(ctext.wrap(f"typedef {ctext.call_type(entry, typedef_name(entry))};"))
    if rows:
        lines += [PLAIN, *plain_names(rows, everything, base)]
    return text + "\n".join([*lines, TAIL])


def symbol_of(row):
    """A symbol that a plain name had at some time; all of them are of one header."""
    return next(fact["symbol"] for fact in row["versions"] if fact["symbol"])

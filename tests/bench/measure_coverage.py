# SPDX-License-Identifier: MIT
"""How much of a driver a table covers, and how many of its slots hold another ABI."""

from collections import defaultdict

from measure import Table, output, short
from real_drivers import is_private, nm_exports, registry


def slots_of(program, driver):
    """{method: [(symbol of the slot, offset that it holds)]}"""
    slots = defaultdict(list)
    for line in output(program, driver.path, environment=driver.environment()).splitlines():
        method, symbol, offset = line.split()
        slots[method].append((symbol, int(offset, 16)))
    return slots


def coverage(programs, drivers):
    """How much of each driver the table covers, and how many slots hold another ABI."""
    entries = registry()
    known = {entry["symbol"] for entry in entries}
    table = Table(
        "Coverage, and slots that hold another ABI than their type says",
        f"The registry has {len(entries)} entries, those of Windows included. Public: what the "
        "driver exports but `cudbg*`, `cuEGLApiInit` and `cuMemGetAttribute*`, which no header "
        "declares. A slot is wrong if the function in it is not the exported symbol that the slot "
        "is named and typed after; in brackets the number of slots filled. newest: a loader that "
        "asks `cuGetProcAddress(name, newest CUDA version known)` and calls the answer as the "
        "name's newest ABI. own: one that asks for each ABI with that ABI's own version. dlsym: "
        "one that takes the symbol without suffix for the newest ABI.",
        ("driver (CUDA)", "public", "covered", "available", "wrong: cushim", "newest", "own",
         "dlsym"))
    for driver in drivers:
        exports = nm_exports(driver.path)
        public = {symbol for symbol in exports if not is_private(symbol)}
        slots = slots_of(programs / "naive", driver)
        wrong = {method: sum(exports.get(symbol) != offset for symbol, offset in filled)
                 for method, filled in slots.items()}
        shown = {method: f"{wrong[method]} ({len(slots[method])})" if method in wrong else "-"
                 for method in ("newest", "own", "dlsym")}
        share = 100 * len(public & known) / len(public)
        table.rows.append((short(driver), len(public), f"{share:g} %", len(slots["cushim"]),
                           wrong["cushim"], shown["newest"], shown["own"], shown["dlsym"]))
        if public - known:
            table.failures.append(f"{driver.version}: not covered: {sorted(public - known)}")
        if wrong["cushim"] or {symbol for symbol, _ in slots["cushim"]} != public:
            table.failures.append(f"{driver.version}: wrong or missing slots")
    return table

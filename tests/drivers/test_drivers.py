# SPDX-License-Identifier: MIT
"""The table on NVIDIA's own drivers, against what their files export."""

import json
import os
import re
import resource
import shutil
import signal
import tempfile
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import pytest
from real_drivers import (FOREIGN, ROOT, ElfFile, each_branch, is_private, newest_drivers,
                          nm_exports, registry, run_probe, start_probe)

PROBE = os.environ.get("CUSHIM_PROBE", "probe")
HOOK = os.environ.get("CUSHIM_HOOK")
HOOKED = "cuDeviceGetCount"  # by hook.c
ORDERS = ("both", "symbols")
NEWER, UNSUPPORTED = 36, 801  # CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, CUDA_ERROR_NOT_SUPPORTED
REMARK_INTERPOSED, REMARK_NO_PER_THREAD_STREAM = 2, 4
# Instructions that are defined to be invalid: ud2, udf.
TRAPS = {"EM_X86_64": b"\x0f\x0b", "EM_386": b"\x0f\x0b", "EM_AARCH64": bytes(4)}
CALLED_BY_A_LOAD = {"cuDriverGetVersion", "cuGetProcAddress", "cuGetProcAddress_v2"}

DRIVERS = newest_drivers()


def pytest_generate_tests(metafunc):
    if "branch" in metafunc.fixturenames:
        metafunc.parametrize("branch", each_branch())


@pytest.fixture
def driver(branch):
    """The driver of a test case."""
    if branch not in DRIVERS:
        reason = f"driver {branch} is not in the cache; tests/drivers/fetch.py fetches it"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return DRIVERS[branch]


@lru_cache(maxsize=None)
def probe(driver, *options):
    """The probe's answer, asked once for all tests."""
    return run_probe(PROBE, driver, *options)


@lru_cache(maxsize=None)
def elf(driver):
    """The driver's file, read once for all tests."""
    return ElfFile(driver.path)


def version_words(version):
    """12040 as people write it."""
    return f"{version // 1000}.{version % 1000 // 10}"


def test_two_readers_see_the_same_exports(driver):
    """What the other tests compare with: two unrelated programs read the file alike."""
    assert elf(driver).exports == nm_exports(driver.path)


def test_driver_is_the_one_asked_for(driver):
    """Version and path are those of the file that was named."""
    facts = probe(driver).facts
    assert int(facts["version"]) == driver.cuda
    assert Path(facts["path"]) == driver.path.resolve()


def test_every_registry_entry_once(driver):
    """The table is the registry, in its order."""
    shown = [(entry.symbol, entry.name, entry.since, entry.stream, entry.header)
             for entry in probe(driver).entries]
    assert shown == [(entry["symbol"], entry["name"], entry["since"], entry["stream"],
                      entry["header"]) for entry in registry()]
    assert int(probe(driver).facts["table-size"]) == elf(driver).pointer * (2 + len(shown))


@pytest.mark.parametrize("order", ORDERS)
def test_available_means_exported_at_that_address(driver, order):
    """Invariant 1, both ways, by each order: the exact symbol's address or none."""
    exports = elf(driver).exports
    shown = {entry.symbol: entry.offset for entry in probe(driver, "--order", order).entries
             if entry.state == "available"}
    known = {entry["symbol"] for entry in registry()}
    assert shown == {symbol: exports[symbol] for symbol in exports if symbol in known}


@pytest.mark.parametrize("order", ORDERS)
def test_slots_hold_what_the_state_says(driver, order):
    """No slot is NULL; an available one holds the driver's function, all others no such thing."""
    entries = probe(driver, "--order", order).entries
    assert [entry.symbol for entry in entries if entry.slot == 0] == []
    bases = {entry.slot - entry.offset for entry in entries if entry.offset is not None}
    assert len(bases) == 1, "slots and offsets belong to one load address"
    base, end = bases.pop(), max(segment.p_vaddr + segment.p_memsz
                                 for segment in elf(driver).segments)
    inside = {entry.symbol for entry in entries if 0 <= entry.slot - base < end}
    assert inside == {entry.symbol for entry in entries if entry.state == "available"}


def test_no_two_entries_share_a_slot(driver):
    """Unless the file says that both symbols have one address."""
    exports = elf(driver).exports
    holders = defaultdict(list)
    for entry in probe(driver).entries:
        holders[entry.slot].append(entry.symbol)
    shared = [symbols for symbols in holders.values()
              if len(symbols) > 1 and len({exports.get(symbol, symbol) for symbol in symbols}) > 1]
    assert shared == []


@pytest.mark.skipif(not HOOK or os.uname().machine != "x86_64", reason="no hook for this machine")
@pytest.mark.parametrize("order", ORDERS)
def test_a_hooked_dlsym_is_obeyed(driver, order):
    """Tools that put a dlsym of their own before the C library's keep what they answer."""
    plain = probe(driver, "--order", order)
    hooked = run_probe(PROBE, driver, "--order", order, preload=HOOK)
    different = [before.symbol for before, after in zip(plain.entries, hooked.entries)
                 if (before.state, before.offset) != (after.state, after.offset)]
    assert different == [HOOKED]


def test_reason_for_each_missing_entry(driver):
    """Newer than the driver, of another platform, or not exported; nothing else."""
    registered = {entry["symbol"]: entry for entry in registry()}
    for entry in probe(driver).entries:
        if entry.state == "available":
            assert entry.via in ("proc", "dlsym"), entry.symbol
            continue
        elsewhere = registered[entry.symbol].get("platform", "linux") != "linux"
        newer = entry.since > driver.cuda
        expected = "platform" if elsewhere else "newer" if newer else "absent"
        assert (entry.state, entry.via) == (expected, "none"), entry.symbol


def test_both_routes_agree(driver):
    """By any order the same table, and nothing stands before a driver's look-up."""
    tables = {order: probe(driver, "--order", order) for order in ORDERS}
    shown = {order: [(entry.symbol, entry.state, entry.offset) for entry in table.entries]
             for order, table in tables.items()}
    assert shown["both"] == shown["symbols"]
    for table in tables.values():
        assert not int(table.facts["remarks"]) & REMARK_INTERPOSED


def test_route_of_each_entry(driver):
    """cuGetProcAddress came with 11.3, and has every entry."""
    has_lookup = "cuGetProcAddress" in elf(driver).exports
    assert has_lookup == (driver.cuda >= 11030)
    for order in ORDERS:
        via = "proc" if has_lookup and order != "symbols" else "dlsym"
        others = {entry.symbol: entry.via for entry in probe(driver, "--order", order).entries
                  if entry.state == "available" and entry.via != via}
        assert not others


def test_unavailable_entries_say_why(driver):
    """Called, each returns the documented code and leaves a sentence that names it."""
    shown = probe(driver, "--call")
    missing = [entry for entry in shown.entries if entry.state != "available"]
    assert [call[0] for call in shown.calls] == [entry.symbol for entry in missing]
    # A stub knows no version: a process may have several drivers.
    reasons = {"newer": r"came with CUDA {since}, and the driver is older",
               "absent": r"the driver does not export it",
               "platform": r"it exists on Windows only"}
    for entry, (symbol, code, words) in zip(missing, shown.calls):
        newer = entry.since > driver.cuda
        assert code == (NEWER if newer else UNSUPPORTED), f"{symbol}: {entry.state}"
        reason = reasons[entry.state].format(since=re.escape(version_words(entry.since)))
        assert words.startswith(f"{symbol} is not available: "), words
        assert re.search(reason, words), words


def test_per_thread_default_stream_is_all_or_none(driver):
    """Legacy slots that have a per-thread form hold its address, all of them; others stay."""
    legacy, threaded = probe(driver), probe(driver, "--per-thread")
    exports = elf(driver).exports
    twins = {}
    for entry in legacy.entries:
        forms = [entry.symbol + suffix for suffix in ("_ptsz", "_ptds")]
        twins[entry.symbol] = next((form for form in forms if entry.stream == "legacy"
                                    and form in legacy.by_symbol), None)
    has_twins = any(form in exports for form in twins.values())
    assert has_twins == (driver.cuda >= 7000)
    assert bool(int(threaded.facts["remarks"]) & REMARK_NO_PER_THREAD_STREAM) != has_twins
    for before, after in zip(legacy.entries, threaded.entries):
        twin = twins[before.symbol] if has_twins and before.state == "available" else None
        assert after.state == before.state, before.symbol
        assert after.offset == (exports[twin] if twin else before.offset), before.symbol


def test_measured_for_the_page(driver):
    """docs/measured, which measure.py wrote, has what this driver's file exports. The archive may
    have a later version of the branch by now, which exports no less."""
    file = next((ROOT / "docs" / "measured").glob(f"{driver.branch}.*.json"))
    measured = json.loads(file.read_text(encoding="utf-8"))
    exports = nm_exports(driver.path)
    here = [entry["symbol"] for entry in registry() if entry["symbol"] in exports]
    assert measured["driver"]["version"] == driver.cuda
    if measured["name"] == driver.version:
        assert measured["symbols"] == here
    else:
        assert set(measured["symbols"]) <= set(here)


def test_every_public_symbol_is_covered(driver):
    """What a driver exports and the registry lacks is private, by an explicit short list."""
    unknown = set(elf(driver).exports) - {entry["symbol"] for entry in registry()}
    assert sorted(symbol for symbol in unknown if not is_private(symbol)) == []


def trapped_copy(driver, folder, symbols):
    """A copy of the driver in which the first instruction of these functions is invalid."""
    copy = Path(folder, "libcuda.so.1")
    shutil.copyfile(driver.path, copy)
    with open(copy, "r+b") as stream:
        for symbol in symbols:
            stream.seek(elf(driver).file_offset(elf(driver).functions[symbol]))
            stream.write(TRAPS[elf(driver).machine])
    return copy


@pytest.fixture
def no_core_files():
    """A process that dies on purpose leaves no file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    yield
    resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


@pytest.mark.skipif(not FOREIGN and os.uname().machine not in ("x86_64", "aarch64"),
                    reason="no invalid instruction is known")
@pytest.mark.parametrize("trapped", ["cuInit", "all but the version and the look-up"])
def test_load_never_calls_cuinit(driver, trapped, no_core_files):
    """Invariant 4, proven on a copy that dies of SIGILL as soon as cuInit is entered.

    The second copy dies in whichever exported function a load enters beside cuDriverGetVersion
    and cuGetProcAddress: it calls nothing else of the driver's.
    """
    everything = set(elf(driver).functions) - CALLED_BY_A_LOAD
    symbols = {"cuInit"} if trapped == "cuInit" else everything
    with tempfile.TemporaryDirectory() as folder:
        copy = trapped_copy(driver, folder, symbols)
        for options in (["--order", "both"], ["--order", "symbols"], ["--per-thread"]):
            loaded = run_probe(PROBE, driver, *options, path=copy)
            assert Path(loaded.facts["path"]) == copy.resolve()
            assert ([(entry.symbol, entry.state, entry.offset) for entry in loaded.entries]
                    == [(entry.symbol, entry.state, entry.offset)
                        for entry in probe(driver, *options).entries])
        called = start_probe(PROBE, driver, "--init", path=copy)
        assert called.returncode == -signal.SIGILL, "the trap works: calling cuInit hits it"
        assert called.stdout.count("\nentry\t") == len(registry()), "and the load came before"


def test_cuinit_of_the_unchanged_driver_returns(driver):
    """The counterpart of the proof: without the trap the same call comes back."""
    assert "init" in run_probe(PROBE, driver, "--init").facts

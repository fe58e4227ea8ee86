# SPDX-License-Identifier: MIT
"""How a load and the library's size grow with the registry."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import Table, instructions, output
from measure_size import loader_units, sizes

HERE = Path(__file__).resolve().parent
GENERATOR = HERE.parents[1] / "gen"
NEEDED = {"cuDriverGetVersion", "cuInit", "cuGetErrorName", "cuGetErrorString", "cuDeviceGet",
          "cuDeviceGetCount", "cuMemAlloc_v2", "cuLaunchKernel"}  # what the loader itself names


def registry(folder, count):
    """A registry of that many entries: the first of the project's, and made-up ones after them."""
    entries = [json.loads(line) for line in
               (GENERATOR / "registry/entries.jsonl").read_text(encoding="utf-8").splitlines()]
    others = [entry for entry in entries if entry["symbol"] not in NEEDED]
    kept = {entry["symbol"] for entry in others[:count - len(NEEDED)]} | NEEDED
    chosen = [entry for entry in entries if entry["symbol"] in kept]
    last = chosen[-1]["since"]
    names = (f"{entry['name']}Another{len(entry['symbol'])}" for entry in others)
    made_up = [{"symbol": name, "name": name, "since": last, "stream": "legacy",
                "header": "cuda.h", "params": [["unsigned int", "flags"]]}
               for name in sorted(set(names))[:count - len(chosen)]]
    levels = [json.loads(line) for line in
              (GENERATOR / "registry/levels.jsonl").read_text(encoding="utf-8").splitlines()]
    write(folder / "entries.jsonl", chosen + made_up)
    write(folder / "levels.jsonl", [level for level in levels
                                    if level.get("symbol") is None or level["symbol"] in kept])
    (folder / "types.jsonl").symlink_to(GENERATOR / "registry/types.jsonl")
    return len(chosen) + len(made_up)


def write(path, rows):
    """One JSON object a line."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def compiled(build, folder):
    """The loader alone, with this registry, in a program that loads a driver and ends."""
    objects = []
    for words, directory, source in loader_units(build):
        if "/src/loader/" in source or Path(source).name in ("entries.c", "error_names.c"):
            own = folder / Path(source).name
            objects.append(folder / f"{Path(source).stem}.o")
            words = [str(own) if word == source and own.exists() else word for word in words]
            subprocess.run([words[0], f"-I{folder}", *words[1:], "-O2", "-o", str(objects[-1])],
                           cwd=directory, check=True)
    include = [word for word in words if word.startswith(("-I", "-std="))]
    subprocess.run(["cc", f"-I{folder}", *include, "-O2", "-Wl,--gc-sections,-z,now",
                    str(HERE / "load_only.c"), *objects, "-o", str(folder / "load"), "-ldl",
                    "-lpthread"], cwd=directory, check=True)
    return folder / "load"


def growth(build, counts):
    """A load by symbols and the size, for registries of several sizes."""
    table = Table(
        "Growth",
        "The loader built with a registry of that many entries (the first of the project's, above "
        "them made-up ones), and a driver that exports them all and has no `cuGetProcAddress`. "
        "Instructions of `cushim_open` by callgrind, `dlopen` of the driver included; text and "
        "data of a program that calls it and nothing else.",
        ("entries", "instructions", "an entry more", "text + data, bytes", "an entry more"))
    before = None
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "cushim").mkdir()
            entries = registry(folder, count)
            for output_name, path in (("api.h", "cushim/api.h"), ("entries.c", "entries.c")):
                output(sys.executable, GENERATOR / "emit.py", "--registry", folder, output_name,
                       folder / path)
            output(sys.executable, HERE / "trivial_driver.py", folder / "entries.jsonl",
                   folder / "driver.c")
            output("cc", "-shared", "-fPIC", folder / "driver.c", "-o", folder / "driver.so")
            program = compiled(build, folder)
            row = (entries, instructions("main", program, folder / "driver.so"),
                   sum(sizes(program)))
        more = [f"{(now - then) / (row[0] - before[0]):.0f}"
                for now, then in zip(row[1:], before[1:])] if before else ["", ""]
        table.rows.append((row[0], row[1], more[0], row[2], more[1]))
        before = row
    return table

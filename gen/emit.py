#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write one generated file from the registry. Standard library only; run by the build.

Usage: emit.py OUTPUT FILE [--registry DIR] [--missing FILE]
       emit.py VERSION.map FILE
"""

import argparse
import functools
import sys
from pathlib import Path

import emit_api
import emit_attributes
import emit_calls
import emit_causes
import emit_cuda
import emit_drivers
import emit_dropin
import emit_entries
import emit_errors
import emit_features
import emit_gpus
import emit_nvml
import emit_nvml_sim
import emit_platforms
import emit_sentences
import emit_sim
import emit_typedefs
import registry
import sim_missing
from libraries import NVML

COMPANIONS = ["cudaGL.h", "cudaEGL.h", "cudaVDPAU.h", "cudaProfiler.h", "cudaD3D9.h",
              "cudaD3D10.h", "cudaD3D11.h"]
TYPEDEFS = [header.replace(".h", "Typedefs.h") for header in ["cuda.h", *COMPANIONS]]
OUTPUTS = {
    "api.h": emit_api.emit,
    "calls_only.h": emit_calls.emit_struct,
    "calls_only_names.h": emit_calls.emit_names,
    "dropin.c": emit_dropin.emit,
    "entries.c": emit_entries.emit,
    "sim_stubs.c": emit_sim.emit_stubs,
    "error_names.c": emit_errors.emit,
    "attribute_names.c": emit_attributes.emit,
    "drivers.c": emit_drivers.emit,
    "gpus.c": emit_gpus.emit,
    "platforms.c": emit_platforms.emit,
    "causes.c": emit_causes.emit,
    "errors.md": emit_causes.emit_page,
    "sentences.c": emit_sentences.emit,
    "sentences.md": emit_sentences.emit_page,
    "feature_names.h": emit_features.emit_header,
    "features.c": emit_features.emit,
    "cuda.h": emit_cuda.emit_cuda,
    "cuda_types.h": emit_cuda.emit_types,
    "cuda_functions.h": emit_cuda.emit_functions,
    "cuda_names.h": emit_cuda.emit_names,
    **{header: lambda data, header=header: emit_cuda.emit_companion(data, header)
       for header in COMPANIONS},
    **{header: lambda data, header=header: emit_typedefs.emit(data, header)
       for header in TYPEDEFS},
}
NVML_OUTPUTS = {  # from the registry of NVML
    "nvml_api.h": emit_nvml.emit_header,
    "nvml_entries.c": emit_nvml.emit_entries_data,
    "nvml_dropin.c": emit_nvml.emit_dropin_functions,
    "nvml_sim.h": emit_nvml_sim.emit_sim_header,
    "nvml_sim.c": emit_nvml_sim.emit_sim,
    "nvml_error_names.c": lambda data: emit_errors.emit(data, NVML),
}
MARKED = {  # of what is missing, too
    "sim_behaviours.h": emit_sim.emit_header,
    "sim_exports.c": emit_sim.emit_exports,
    "sim_entries.md": emit_sim.emit_missing,
}


class Files(dict):
    """The registry's files, each read when an output first asks for it."""

    def __init__(self, directory):
        super().__init__()
        self.directory = directory

    def __missing__(self, name):
        rows = self[name] = registry.read(self.directory, name)
        file = f"{self.directory}/{name}.jsonl"
        if not rows:
            raise registry.RegistryError(f"{file}:1: no such file, or empty")
        if name in ("levels", "typedefs"):
            symbols = {entry["symbol"] for entry in self["entries"]} | {None}
            for number, row in enumerate(rows, 1):
                for fact in row.get("versions", [row]):
                    if fact.get("symbol") not in symbols:
                        raise registry.RegistryError(f"{file}:{number}: no entry {fact['symbol']}")
        return rows


def main():
    """Write one output, if that changes it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("output", help="one of: " +
                        ", ".join(sorted({**OUTPUTS, **NVML_OUTPUTS, **MARKED})) +
                        ", or a CUDA version's exports, as in 12040.map or 12040.def")
    parser.add_argument("file")
    parser.add_argument("--registry")
    parser.add_argument("--missing", default=sim_missing.DEFAULT,
                        help="what the simulated driver lacks")
    options = parser.parse_args()
    version, _, suffix = options.output.partition(".")
    if version.isdigit() and suffix == "map":
        emitter = functools.partial(emit_sim.emit_version, version=int(version))
    elif version.isdigit() and suffix == "def":
        emitter = functools.partial(emit_sim.emit_definition, version=int(version))
    elif options.output in MARKED:
        emitter = functools.partial(MARKED[options.output], missing=options.missing)
    elif options.output in OUTPUTS:
        emitter = OUTPUTS[options.output]
    elif options.output in NVML_OUTPUTS:
        emitter = NVML_OUTPUTS[options.output]
        options.registry = options.registry or NVML.registry
    else:
        parser.error(f"no output {options.output}")
    try:
        text = emitter(Files(options.registry or registry.DEFAULT))
    except registry.RegistryError as error:
        sys.exit(str(error))
    path = Path(options.file)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

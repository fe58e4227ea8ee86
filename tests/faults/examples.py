#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Let each driver call of each example fail in turn: examples.py BUILD [EXAMPLE...].

Each call that an example makes fails once, alone and from then on, with each of the codes below,
and once after it has happened. The example has to end by itself, without a crash, and with a code
other than 0 unless it says what it did instead. Whatever BUILD is, that takes some minutes; with a
build for AddressSanitizer (-Db_sanitize=address,undefined) it finds leaks as well."""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What a driver may return: from mistakes to a device that is gone, and a code of tomorrow.
CODES = [1, 2, 3, 4, 100, 201, 214, 400, 500, 600, 700, 719, 801, 900, 999, 12345]
ALWAYS = [2, 700, 999]  # and from the first call on that fails
# A sanitizer's own code, which no example has.
SANITIZER = 86
# These look for the other functions: the loader takes another way, which other tests are about.
LOADING = re.compile(r"cuGetProcAddress")
LINE = re.compile(r"^\d+ [0-9.]+ s \d+/\d+ (cu\w+)\(", re.M)
MEASURED = re.compile(r"[0-9.]+ ([mnu]?s|[GM]B/s)\b")  # it differs, or is the same by chance
MOST = 4  # of the calls of one symbol
# Where an example may end as if nothing had happened, and why that is right.
DEGRADATIONS = {
    r"\w+ cuCtxGetApiVersion_v1:": "only codes for a bad context count; the next call has the rest",
    r"\w+ cuCtx(GetCurrent|PopCurrent|PushCurrent)\w*:": "a scope that ends asks again, and then "
                                                         "sets the context another way",
    r"\w+ cu((Device|Func)GetAttribute|FuncGetParam(Count|Info))_v1:":
        "what the driver does not tell is not checked at a launch",
    r"memory cuCtxGetDevice_v1:": "whether there are pools is not known: memory comes without one",
    r"(saxpy|timed_graph) cu(\w*Destroy|MemFree|ModuleUnload|DevicePrimaryCtxRelease|"
    r"CtxSynchronize|ThreadExchangeStreamCaptureMode)": "a destructor of C++ cannot fail",
    r"jit_log cuCtxGetDevice_v1:": "a sentence about the target is left out",
    r"jit_log cuModuleGetFunction_v1:call=2,error=500": "it looks for what is not there",
    r"link cuLinkDestroy_v1:": "what was linked is there already",
    r"choose_device cuDeviceGetPCIBusId_v1:": "the property stays empty, and is not printed",
    r"choose_device cuDeviceGetUuid_v2:": "the first ABI has it, too",
    r"test_with_faults ": "it puts its own rules in the place of those of the environment",
    r".*error=4\b": "what is to be destroyed is gone already",
}


class Examples:
    """The programs of one build, under its newest simulated driver."""

    def __init__(self, build, driver=None):
        build = Path(build).resolve()
        self.folder = build / "docs/examples"
        self.driver = Path(driver) if driver else max(
            (build / "src/sim").glob("libcuda-sim-*.so"),
            key=lambda path: [int(n) for n in re.findall(r"\d+", path.name)])
        self.names = sorted(path.name.removeprefix("example-")
                            for path in self.folder.glob("example-*") if path.is_file())

    def run(self, name, faults=None, log=None):
        """Exit code and output of one example; None where it did not end."""
        arguments = [ROOT / "kernels/vecadd.ptx"] if name == "vector_add" else []
        env = {key: value for key, value in os.environ.items()
               if not key.startswith(("CUSHIM_", "CUDA_", "LD_"))}
        env |= {"CUSHIM_LIBCUDA": str(self.driver), "CUSHIM_SIM_SUMMARY": "0",
                "CUSHIM_SIM_MEMORY": "64M", "CUSHIM_SIM_WORKERS": "1",
                "ASAN_OPTIONS": f"exitcode={SANITIZER}:allocator_may_return_null=1",
                "UBSAN_OPTIONS": "halt_on_error=1"}
        if faults:
            env["CUSHIM_SIM_FAULT"] = faults
        if log:
            env["CUSHIM_SIM_LOG"] = str(log)
        try:
            done = subprocess.run([self.folder / f"example-{name}", *arguments], env=env,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                                  check=False)
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, MEASURED.sub("? \\1", done.stdout.decode(errors="replace"))

    def calls(self, name):
        """Symbols that an example calls, in order, and how often."""
        counts = {}
        with tempfile.TemporaryDirectory() as folder:
            code, output = self.run(name, log=Path(folder) / "log")
            assert code == 0, f"{name}, without a fault: {code}\n{output}"
            log = Path(folder) / "log"
            for symbol in LINE.findall(log.read_text()) if log.exists() else ():
                counts[symbol] = counts.get(symbol, 0) + 1
        return {symbol: count for symbol, count in counts.items() if not LOADING.match(symbol)}

    def some_faults(self, name, count):
        """So many of them, from all over the example: each call before any call twice."""
        rules = list(self.faults(name))
        return rules[::max(1, len(rules) // count)][:count]

    def faults(self, name):
        """Every rule for one example."""
        for symbol, count in self.calls(name).items():
            first_abi = f"{symbol}_v1" if not re.search(r"_v\d$", symbol) else symbol
            for call in range(1, min(count, MOST) + 1):
                for code in CODES:
                    yield f"{first_abi}:call={call},error={code}"
                for code in ALWAYS:
                    yield f"{first_abi}:from={call},error={code}"
                yield f"{first_abi}:call={call},error=700,after"

    def check(self, name, rule, usual):
        """What is wrong with an example's end under a rule, or None."""
        code, output = self.run(name, rule)
        if code is None:
            return "does not end"
        if code < 0 or code == SANITIZER or code > 127 or "Sanitizer" in output:
            return f"code {code}\n{output}"
        if code == 0 and output == usual and not any(
                re.match(text, f"{name} {rule}") for text in DEGRADATIONS):
            return "code 0, as if nothing had happened"
        return None


def main():
    """All examples, or some, whole."""
    examples = Examples(sys.argv[1])
    wrong = runs = 0
    with ThreadPoolExecutor(2) as pool:
        for name in sys.argv[2:] or examples.names:
            usual = examples.run(name)[1]
            rules = list(examples.faults(name))
            for rule, problem in zip(rules, pool.map(
                    lambda rule, name=name, usual=usual: examples.check(name, rule, usual),
                    rules)):
                if problem:
                    print(f"{name}, {rule}: {problem}")
                    wrong += 1
            runs += len(rules)
            print(f"{name}: {len(rules)} runs", flush=True)
    print(f"{runs} runs with a fault, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

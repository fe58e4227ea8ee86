#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random CUDA kernels on the driver in use, against the same functions compiled for the host.

    cushim sim --quiet -- python3 tests/fuzz/fuzz_kernels.py [--seed N] [--seconds N] [--nvcc NVCC]

Each kernel computes in loops, branches and switches over its thread's number, uniform parameters
and words that it loads; gives a value to another thread by shared memory; and goes on with what it
gets. nvcc makes PTX of it, at a level of optimization that changes from batch to batch, and gcc the
host's function. A difference is printed with its source. The exit code is then 1.
"""
import argparse
import ctypes
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KERNELS, BLOCKS, THREADS = 30, 3, 160  # of a batch, of a launch, of a block
WORDS = 512
LEVELS = [[], ["-G"], ["-Xcicc", "-O1"], ["-Xcicc", "-O2"]]
PRELUDE = "typedef unsigned u; typedef unsigned long long q;\n"


class Source:
    """Text of one function, from its own generator."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def leaf(self):
        """A value of 32 bits."""
        constant = self.random.choice([0, 1, 3, 7, 31, 255, 65535, 1 << 31,
                                       self.random.getrandbits(32)])
        return self.random.choice(
            ["a", "b", "c", "i", "t", "n", "w", f"{constant}u", "x[(i+n)&511]", "x[(i*3+c)&511]",
             "x[t]", "x[n&511]"])

    def value(self, depth):
        """An expression."""
        if depth == 0:
            return self.leaf()
        one, other = self.value(depth - 1), self.value(depth - 1)
        return self.random.choice([
            f"({one}+{other})", f"({one}-{other})", f"({one}*{other})", f"({one}^{other})",
            f"({one}&{other})", f"({one}|{other})", f"({one}<<({other}&31))",
            f"({one}>>({other}&31))", f"((u)((int){one}>>({other}&31)))",
            f"({one}<{other}?{self.value(depth - 1)}:{other})", f"({one}/({other}|1u))",
            f"({one}%({other}|1u))", f"((u)(short){one}+(u)(signed char){other})",
            f"((u)(((q){one}*{other})>>({self.leaf()}&31)))",
            f"((u)((long long)(int){one}-(int){other}>>3))",
            f"((u)(int)((float)(int)({one}&0xffff)*0.5f-(float)({other}&0xff)))",
            f"(({one}<{other})|((int){one}>=(int){other})<<1)"])

    def condition(self):
        """Of one thread, of a warp or of all."""
        return self.random.choice([
            f"(int){self.value(1)}<(int){self.value(1)}", f"t<{self.random.randrange(160)}u",
            f"i>={self.random.randrange(480)}u", f"t&{1 << self.random.randrange(8)}u",
            f"n>{self.random.randrange(12)}u", f"{self.value(1)}=={self.value(1)}"])

    def statement(self, depth):
        """A statement, or several."""
        name, kind = self.random.choice("abc"), self.random.randrange(9 if depth else 4)
        inner = lambda: self.statement(depth - 1)  # noqa: E731
        if kind < 4:
            return f"{name}={self.value(self.random.choice([1, 2, 3]))};"
        if kind == 4:
            return f"if({self.condition()}){{{inner()}{inner()}}}else{{{inner()}}}"
        if kind == 5:
            return f"if({self.condition()}){{{inner()}}}"
        if kind == 6:
            self.loops += 1
            end = self.random.choice(["n", f"({self.value(1)}&15)", "7u", "(t&7)"])
            leave = self.random.choice(["", f"if({self.condition()})break;",
                                        f"if({self.condition()})continue;"])
            j = f"j{self.loops}"
            return f"for(u {j}=0;{j}<{end};{j}++){{{inner()}{leave}{name}+={j};{inner()}}}"
        if kind == 7:
            return (f"switch({self.value(1)}&3){{case 0:{inner()}case 1:{inner()}break;"
                    f"case 2:{inner()}default:{inner()}}}")
        return f"m[{self.value(1)}&7]+={self.value(2)};{name}^=m[{self.value(1)}&7];{inner()}"

    def function(self, name):
        """Its text, without what the language needs before it."""
        body = "".join(self.statement(3) for _ in range(4))
        return (f"u {name}(const u*x,u i,u t,u n,u w){{u a=x[i&511],b=x[t],c=w,"
                f"m[8]={{1,2,3,4,5,6,7,8}};{body}return a^b*3^c*7^m[i&7];}}\n")


def sources(seed):
    """CUDA's and C's text of a batch."""
    device, host = PRELUDE, PRELUDE
    for k in range(KERNELS):
        source = Source(f"{seed} {k}")
        texts = [source.function(f"{part}{k}") for part in "fg"]
        other = source.random.choice(["t^1", "t^32", "(t+1)%160", "159-t", "0", "t^5"])
        device += "".join("static __device__ " + text for text in texts)
        device += (
            f'extern "C" __global__ void k{k}(const u*x,u*o,u n){{__shared__ u s[{THREADS + 96}];'
            f"u t=threadIdx.x,i=blockIdx.x*{THREADS}+t;s[t]=f{k}(x,i,t,n,i*9);"
            f"if(t<96)s[t+{THREADS}]=t;__syncthreads();o[i]=g{k}(x,i,t,n,s[{other}]);}}\n")
        host += "".join("static " + text for text in texts)
        host += (
            f"void k{k}(const u*x,u*o,u n){{for(u e=0;e<{BLOCKS};e++){{u s[{THREADS + 96}];"
            f"for(u t=0;t<{THREADS + 96};t++)s[t]=t<{THREADS}?f{k}(x,e*{THREADS}+t,t,n,"
            f"(e*{THREADS}+t)*9):t-{THREADS};for(u t=0;t<{THREADS};t++){{u i=e*{THREADS}+t;"
            f"o[i]=g{k}(x,i,t,n,s[{other}]);}}}}}}\n")
    return device, host


class Driver:
    """The calls that a launch takes."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuInit", 0)
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)

    def __call__(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise OSError(f"{name}: {code}")

    def upload(self, data):
        """Memory of the device with the data."""
        address = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(ctypes.sizeof(data)))
        self("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(ctypes.sizeof(data)))
        return address

    def run(self, module, name, words, n):
        """What a kernel wrote."""
        function, size = ctypes.c_void_p(), BLOCKS * THREADS
        out, number = (ctypes.c_uint32 * size)(), ctypes.c_uint32(n)
        self("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        address, result = self.upload(words), self.upload(out)
        parameters = (ctypes.c_void_p * 3)(*(ctypes.cast(ctypes.byref(value), ctypes.c_void_p)
                                             for value in (address, result, number)))
        self("cuLaunchKernel", function, BLOCKS, 1, 1, THREADS, 1, 1, 0, None, parameters, None)
        self("cuMemcpyDtoH_v2", out, result, ctypes.c_size_t(4 * size))
        self("cuMemFree_v2", address)
        self("cuMemFree_v2", result)
        return list(out)


def batch(driver, seed, nvcc, folder):
    """The kernels that differ."""
    device, host = sources(seed)
    (folder / "k.cu").write_text(device, encoding="utf-8")
    (folder / "k.c").write_text(host, encoding="utf-8")
    library = folder / f"{seed}.so"
    subprocess.run(["gcc", "-O1", "-w", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC", "-o",
                    library, folder / "k.c"], check=True)
    subprocess.run([nvcc, "-w", "-ptx", "-arch=compute_80", *LEVELS[seed % len(LEVELS)],
                    "-o", folder / "k.ptx", folder / "k.cu"], check=True)
    functions, module, wrong = ctypes.CDLL(str(library)), ctypes.c_void_p(), []
    driver("cuModuleLoadData", ctypes.byref(module), (folder / "k.ptx").read_bytes() + b"\0")
    for k in range(KERNELS):
        source = random.Random(seed * KERNELS + k)
        words = (ctypes.c_uint32 * WORDS)(*(source.getrandbits(source.choice([4, 8, 32]))
                                            for _ in range(WORDS)))
        n = source.randrange(12)
        expected = (ctypes.c_uint32 * (BLOCKS * THREADS))()
        getattr(functions, f"k{k}")(words, expected, ctypes.c_uint32(n))
        got = driver.run(module, f"k{k}", words, n)
        if got != list(expected):
            first = next(i for i, value in enumerate(got) if value != expected[i])
            wrong.append(f"kernel {k} of seed {seed}, {LEVELS[seed % len(LEVELS)]}, n = {n}, "
                         f"thread {first}: {got[first]:#x}, not {expected[first]:#x}")
    driver("cuModuleUnload", module)
    library.unlink()
    return wrong


def main():
    """1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--nvcc", default="nvcc")
    options = parser.parse_args()
    driver, end, seed, wrong = Driver(), time.monotonic() + options.seconds, options.seed, []
    with tempfile.TemporaryDirectory() as folder:
        while seed == options.seed or time.monotonic() < end:
            new = batch(driver, seed, options.nvcc, Path(folder))
            if new:
                print("\n".join(new), sources(seed)[0], sep="\n", flush=True)
            wrong += new
            seed += 1
    print(f"{(seed - options.seed) * KERNELS} kernels from seed {options.seed} to {seed - 1}, "
          f"{len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

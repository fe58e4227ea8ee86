#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The simulated driver beside POCL and a plain C loop: the kernels of beside.cl, each on one core.

All three compute in one process, in turns, and must agree. Times are of the CPU; the fastest of all
runs, which other work on the machine disturbs least. It judges nothing; docs/measurements.md has
results. It needs a C compiler, and pocl-opencl-icd for POCL's column.
"""
import argparse
import ctypes
import os
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CPU = 2  # CL_DEVICE_TYPE_CPU
FLOATS, SIDE, NUMBERS, BODIES, BLOCKS = 1 << 24, 512, 1 << 20, 4096, 256


def check(code, what):
    """Fail with the code of a call that did."""
    if code:
        raise SystemExit(f"{what}: {code}")


class Kernel:
    """One of them: its buffers (C type, elements; the results are the last), numbers and launch."""

    def __init__(self, name, buffers, numbers, grid, block, tolerance=0):
        self.name, self.buffers, self.numbers = name, buffers, numbers
        self.grid, self.block, self.tolerance = grid, block, tolerance


F32, U32, U8 = ctypes.c_float, ctypes.c_uint32, ctypes.c_ubyte
KERNELS = [
    Kernel("vecadd", [(F32, FLOATS)] * 3, [FLOATS], (FLOATS // 256, 1), (256, 1)),
    Kernel("matmul", [(F32, SIDE * SIDE)] * 3, [SIDE], (SIDE // 16, SIDE // 16), (16, 16)),
    Kernel("reduce", [(F32, FLOATS), (F32, FLOATS // 256)], [FLOATS], (FLOATS // 256, 1), (256, 1)),
    Kernel("histogram", [(U8, FLOATS), (U32, 256)], [FLOATS], (BLOCKS, 1), (256, 1)),
    Kernel("collatz", [(U32, NUMBERS)], [NUMBERS], (NUMBERS // 256, 1), (256, 1)),
    Kernel("nbody", [(F32, BODIES)] * 3, [BODIES], (BODIES // 256, 1), (256, 1), 1e-3),
]


class Loops:
    """Plain C."""

    def __init__(self):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "loops.so"
            subprocess.run([os.environ.get("CC", "cc"), "-O2", "-ffp-contract=off", "-shared",
                            "-fPIC", HERE / "sim_loop.c", "-o", library, "-lm"], check=True)
            self.library = ctypes.CDLL(str(library))

    def prepare(self, kernel, host):
        """A function that computes once, and one that fetches the results."""
        loop = getattr(self.library, f"loop_{kernel.name}")
        if kernel.name == "matmul":
            return (lambda: loop(*host, SIDE, SIDE)), lambda: host[-1]
        return (lambda: loop(*host, *kernel.numbers)), lambda: host[-1]


class Simulated:
    """The simulated driver with one worker."""

    def __init__(self, library):
        os.environ |= {"CUSHIM_SIM_WORKERS": "1", "CUSHIM_SIM_SUMMARY": "0"}
        self.cu = ctypes.CDLL(str(library))
        context, self.module = ctypes.c_void_p(), ctypes.c_void_p()
        check(self.cu.cuInit(0), "cuInit")
        check(self.cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), "the context")
        check(self.cu.cuCtxSetCurrent(context), "cuCtxSetCurrent")
        text = (HERE / "beside.ptx").read_bytes()
        check(self.cu.cuModuleLoadData(ctypes.byref(self.module), text), "beside.ptx")

    def prepare(self, kernel, host):
        """As that of Loops."""
        function, arguments, cu = ctypes.c_void_p(), [], self.cu
        check(cu.cuModuleGetFunction(ctypes.byref(function), self.module, kernel.name.encode()),
              kernel.name)
        for buffer in host:
            address, size = ctypes.c_uint64(), ctypes.c_size_t(ctypes.sizeof(buffer))
            check(cu.cuMemAlloc_v2(ctypes.byref(address), size), "cuMemAlloc")
            check(cu.cuMemcpyHtoD_v2(address, buffer, size), "cuMemcpyHtoD")
            arguments.append(address)
        last, size = arguments[-1], ctypes.c_size_t(ctypes.sizeof(host[-1]))
        arguments += [U32(number) for number in kernel.numbers]
        packed = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))

        def compute():
            if kernel.name == "histogram":
                check(cu.cuMemsetD8_v2(last, 0, size), "cuMemsetD8")
            check(cu.cuLaunchKernel(function, *kernel.grid, 1, *kernel.block, 1, 0, None, packed,
                                    None), "cuLaunchKernel")
            check(cu.cuCtxSynchronize(), kernel.name)

        def fetch():
            check(cu.cuMemcpyDtoH_v2(host[-1], last, size), "cuMemcpyDtoH")
            for address in arguments[:len(host)]:
                check(cu.cuMemFree_v2(address), "cuMemFree")
            return host[-1]
        return compute, fetch


class Pocl:
    """POCL with one thread."""

    def __init__(self):
        os.environ["POCL_MAX_PTHREAD_COUNT"] = "1"
        self.cl = cl = ctypes.CDLL("libOpenCL.so.1")
        for name in ("Context", "CommandQueue", "ProgramWithSource", "Kernel", "Buffer"):
            getattr(cl, f"clCreate{name}").restype = ctypes.c_void_p
        self.device, code = self.find(), ctypes.c_int()
        if not self.device:
            raise OSError("no POCL")
        self.context = ctypes.c_void_p(cl.clCreateContext(
            None, 1, ctypes.byref(self.device), None, None, ctypes.byref(code)))
        check(code.value, "clCreateContext")
        self.queue = ctypes.c_void_p(cl.clCreateCommandQueue(
            self.context, self.device, ctypes.c_uint64(0), ctypes.byref(code)))
        check(code.value, "clCreateCommandQueue")
        text = ctypes.c_char_p((HERE / "beside.cl").read_bytes())
        self.program = ctypes.c_void_p(cl.clCreateProgramWithSource(
            self.context, 1, ctypes.byref(text), None, ctypes.byref(code)))
        check(cl.clBuildProgram(self.program, 1, ctypes.byref(self.device), b"", None, None),
              "clBuildProgram")

    def find(self):
        """The CPU of the platform that is POCL's."""
        platforms, count = (ctypes.c_void_p * 16)(), ctypes.c_uint()
        self.cl.clGetPlatformIDs(16, platforms, ctypes.byref(count))
        for platform in platforms[:count.value]:
            name, device = ctypes.create_string_buffer(128), ctypes.c_void_p()
            platform = ctypes.c_void_p(platform)
            self.cl.clGetPlatformInfo(platform, 0x0902, ctypes.c_size_t(128), name, None)
            if name.value.startswith(b"Portable Computing Language") and not \
                    self.cl.clGetDeviceIDs(platform, ctypes.c_uint64(CPU), 1,
                                           ctypes.byref(device), None):
                return device
        return None

    def prepare(self, kernel, host):
        """As that of Loops."""
        cl, code, memory = self.cl, ctypes.c_int(), []
        function = ctypes.c_void_p(cl.clCreateKernel(self.program, kernel.name.encode(),
                                                     ctypes.byref(code)))
        check(code.value, kernel.name)
        for i, buffer in enumerate(host):
            memory.append(ctypes.c_void_p(cl.clCreateBuffer(
                self.context, ctypes.c_uint64(32), ctypes.c_size_t(ctypes.sizeof(buffer)), buffer,
                ctypes.byref(code))))
            check(code.value, "clCreateBuffer")
            check(cl.clSetKernelArg(function, i, ctypes.c_size_t(8), ctypes.byref(memory[-1])),
                  "clSetKernelArg")
        for i, number in enumerate(kernel.numbers, len(host)):
            check(cl.clSetKernelArg(function, i, ctypes.c_size_t(4), ctypes.byref(U32(number))),
                  "clSetKernelArg")
        size = ctypes.c_size_t(ctypes.sizeof(host[-1]))
        zeros = ctypes.create_string_buffer(ctypes.sizeof(host[-1]))
        local = (ctypes.c_size_t * 2)(*kernel.block)
        whole = (ctypes.c_size_t * 2)(*(g * b for g, b in zip(kernel.grid, kernel.block)))

        def compute():
            if kernel.name == "histogram":
                check(cl.clEnqueueWriteBuffer(self.queue, memory[-1], 1, ctypes.c_size_t(0), size,
                                              zeros, 0, None, None), "clEnqueueWriteBuffer")
            check(cl.clEnqueueNDRangeKernel(self.queue, function, 2, None, whole, local, 0, None,
                                            None), kernel.name)
            check(cl.clFinish(self.queue), kernel.name)

        def fetch():
            check(cl.clEnqueueReadBuffer(self.queue, memory[-1], 1, ctypes.c_size_t(0), size,
                                         host[-1], 0, None, None), "clEnqueueReadBuffer")
            for one in memory:
                check(cl.clReleaseMemObject(one), "clReleaseMemObject")
            return host[-1]
        return compute, fetch


def inputs(kernel):
    """Buffers with small whole numbers, the same each time: sums of them are exact."""
    buffers = []
    for number, (kind, count) in enumerate(kernel.buffers):
        buffer, pattern = (kind * count)(), bytearray()
        for i in range(17 * 256):
            pattern += bytes(kind((i * 7 + number * 5 + i // 17) % 17))
        whole = bytes(pattern) * (ctypes.sizeof(buffer) // len(pattern) + 1)
        ctypes.memmove(buffer, whole, ctypes.sizeof(buffer))
        buffers.append(buffer)
    return buffers


def differs(kernel, one, other):
    """The first element in which results differ; None: in none."""
    if not kernel.tolerance:
        return None if bytes(one) == bytes(other) else "bytes"
    return next((i for i, (a, b) in enumerate(zip(one, other))
                 if abs(a - b) > kernel.tolerance * max(1, abs(a))), None)


def measure(kernel, ways, runs):
    """The fastest time of each way, in milliseconds."""
    prepared = {name: way.prepare(kernel, inputs(kernel)) for name, way in ways.items()}
    best = dict.fromkeys(ways, float("inf"))
    for turn in range(runs + 1):  # the first one compiles, and touches the result's pages
        for name, (compute, _) in prepared.items():
            start = time.process_time()
            compute()
            if turn:
                best[name] = min(best[name], (time.process_time() - start) * 1e3)
    results = {name: fetch() for name, (_, fetch) in prepared.items()}
    for name, result in results.items():
        where = differs(kernel, results["C"], result)
        if where is not None:
            raise SystemExit(f"{kernel.name}: {name} differs from C at {where}")
    return best


def main():
    """A table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=Path, help="Meson's build folder, built")
    parser.add_argument("--runs", type=int, default=9)
    arguments = parser.parse_args()
    ways = {"cushim": Simulated(arguments.build / "src/sim/libcuda-sim-13.0.so"),
            "C": Loops()}
    try:
        ways["POCL"] = Pocl()
    except OSError as error:
        print(f"without POCL: {error}")
    print("| kernel | cushim, ms | POCL, ms | C, ms | cushim / POCL | cushim / C |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kernel in KERNELS:
        best = measure(kernel, ways, arguments.runs)
        one, other, plain = best["cushim"], best.get("POCL"), best["C"]
        columns = [kernel.name, f"{one:.1f}", f"{other:.1f}" if other else "-", f"{plain:.1f}",
                   f"{one / other:.2f}" if other else "-", f"{one / plain:.2f}"]
        print("|", " | ".join(columns), "|", flush=True)


if __name__ == "__main__":
    main()

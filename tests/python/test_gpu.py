# SPDX-License-Identifier: MIT
"""Python's kernels, memory and calls, on simulated drivers."""

import re
import sys

import pytest
from conftest import ROOT

EXAMPLE = ROOT / "docs/examples/kernel.py"
PTX = re.search(r'PTX = """(.*?)"""', EXAMPLE.read_text(encoding="utf-8"), re.S)[1]
START = f"""
import array, ctypes, cushim
from ctypes import byref, c_float, c_size_t, c_uint, c_void_p
PTX = {PTX!r}
cu = cushim.load()
def fails(function, *arguments, of=cushim.Error):
    try:
        function(*arguments)
    except of as error:
        print(error)
    else:
        print("no error")
"""


@pytest.fixture(name="simulated")
def fixture_simulated(run):
    """Runs a program under a simulated driver that checks for leaks; what it printed."""
    def simulated(program, release="12.4", code=0):
        done = run("-m", "cushim", "sim", "--quiet", "--check", "--cuda", release, "--devices", "2",
                   "--", sys.executable, "-c", START + program)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout
    return simulated


@pytest.mark.parametrize("release", ["9.0", "11.4", "13.0"])
def test_example(run, release):
    """The page's program, with a driver and without one, releases everything."""
    done = run("-m", "cushim", "sim", "--quiet", "--check", "--cuda", release, "--",
               sys.executable, EXAMPLE)
    assert (done.returncode, done.stdout) == (0, "on the GPU: 1998.0\n"), done.stderr
    alone = run(EXAMPLE, CUSHIM_LIBCUDA="/nowhere/libcuda.so.1")
    assert "on the CPU, because" in alone.stdout and "/nowhere/libcuda.so.1" in alone.stdout


def test_page_has_the_example():
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    block = re.search(r"```python\n(with cu\.device.*?)```", page, re.S)[1]
    assert "".join(f"    {line}\n" for line in block.splitlines()) in EXAMPLE.read_text("utf-8")


def test_errors(simulated):
    """Each is the library's sentence, and the device is left all the same."""
    shown = simulated("""
with cu.device(1) as gpu:
    fails(gpu.module, PTX.replace("6.0", "9.9"))
    fails(gpu.module, "scale.ptx")
    module = gpu.module(PTX)
    fails(module.kernel, "scael")
    kernel, memory = module.kernel("scale"), gpu.memory(16)
    fails(kernel, 1, 1, memory)
    fails(kernel, (1, 1, 1), 5000, memory, c_float(1), c_uint(4))
    fails(gpu.memory, 1 << 50)
    fails(lambda: kernel(1, 1, memory, 1.0, 4), of=TypeError)
    fails(lambda: memory.read(bytearray(17)), of=ValueError)
    memory.free()
    fails(lambda: memory.read(bytearray(16)), of=ValueError)
fails(cu.device(7).__enter__)
""").splitlines()
    for line, words in zip(shown, [
            "9.9", "image: 'scale.ptx' is the name of a file; pass what is in it: ", "scale",
            "1 given", "5000", "OUT_OF_MEMORY",
            "argument 2: Memory or a value of ctypes or NumPy is needed, not float",
            "17 bytes do not fit in memory of 16", "was freed", "device"]):
        assert words in line, shown
    assert len(shown) == 10


SCALARS = """
{1}
two, four = {0}
numbers = array.array("f", [1, 2, 3, 4])
with cu.device(0) as gpu:
    memory, kernel = gpu.memory(numbers), gpu.module(PTX).kernel("scale")
    kernel(1, 4, memory, two, four)
    print(memory.read(numbers).tolist())
    fails(kernel, 1, 4, memory, numbers, four, of=TypeError)
"""


@pytest.mark.parametrize("values", ["memoryview(c_float(2)), memoryview(c_uint(4))",
                                    "numpy.float32(2), numpy.uint32(4)",
                                    "numpy.array(2, 'f'), numpy.array(4, 'I')"])
def test_scalars(simulated, values):
    """Numbers of NumPy have sizes, as those of ctypes; an array is no number."""
    numpy = "import numpy" if "numpy" in values else ""
    lines = simulated(SCALARS.format(values, numpy)).splitlines()
    assert lines[0] == "[2.0, 4.0, 6.0, 8.0]"
    assert "argument 2: Memory or a value of ctypes or NumPy is needed, not array: " in lines[1]


@pytest.mark.parametrize("release", ["9.0", "12.3"])
def test_too_few_arguments(run, release):
    """Before CUDA 12.4 no driver tells how many there are; Python goes on all the same."""
    done = run("-m", "cushim", "sim", "--cuda", release, "--", sys.executable, "-c", START + """
with cu.device(0) as gpu:
    kernel = gpu.module(PTX).kernel("scale")
    fails(kernel, 1, 1, gpu.memory(16))
""")
    assert done.returncode == 0 and "CUDA_ERROR_INVALID_VALUE" in done.stdout, done.stdout
    assert ("a launch was refused: kernel 'scale' has 3 parameters, and the pointer to number 2 is "
            "NULL") in done.stderr


def test_wrong_types(simulated):
    """The message names the argument, what it takes and what it got."""
    shown = simulated("""
with cu.device(0) as gpu:
    module, memory = gpu.module(PTX), gpu.memory(16)
    kernel = module.kernel("scale")
    for call, *wrong in ((cu.has, 5), (cu.device, "0"), (cu.features, "0"), (cushim.open, 5),
                         (cu.require, 0, "cuInit"), (cu.call, "cuInit", 2000, 5),
                         (gpu.memory, [1, 2]), (memory.write, [1]), (memory.read, b"1234"),
                         (gpu.module, None), (module.kernel, 5), (kernel, "4", 256),
                         (kernel, 4, (1, 2.0)), (kernel, 1, 1, memory, 5)):
        fails(call, *wrong, of=TypeError)
    fails(gpu.memory, -1, of=ValueError)
device = cu.devices()[0]
fails(device.attribute, 2.0, of=TypeError)
fails(device.attribute, "warp_sizes")
fails(device.attribute, "CU_DEVICE_ATTRIBUTE_MULTIPROCESOR_COUNT")
""").splitlines()
    buffer = "an object with the buffer protocol"
    for line, words in zip(shown, [
            "symbol: a str is needed, not int", "number: an int is needed, not str",
            "device: a Device, an int or None is needed, not str",
            "path: a str, a path or None is needed, not int",
            "symbols: a list of names is needed, not str",
            "argument 1: a value or byref() of ctypes, or None, is needed, not int",
            f"what: a number of bytes or {buffer} is needed, not list",
            f"values: {buffer} is needed, not list",
            f"values: {buffer} that can be written to is needed, not bytes",
            "image: a str or bytes is needed, not NoneType", "name: a str is needed, not int",
            "grid: an int or up to three is needed, not str",
            "block: an int or up to three is needed, not float",
            "argument 2: Memory or a value of ctypes or NumPy is needed, not int",
            "what: -1 is no number of bytes", "name: a str or an int is needed, not float",
            "did you mean WARP_SIZE?", "did you mean MULTIPROCESSOR_COUNT?"]):
        assert words in line, shown
    assert len(shown) == 18


def test_leaves_in_an_error(simulated):
    """What the block allocated is freed, and its own exception goes on."""
    assert simulated("""
try:
    with cu.device() as gpu:
        gpu.memory(100), gpu.module(PTX)
        gpu.synchronize()
        raise KeyError("own")
except KeyError as error:
    print(error)
""") == "'own'\n"


def test_call(simulated):
    """An entry as a release declares it; its error has the code's name and explanation."""
    shown = simulated("""
memory = c_void_p()
assert cu.init()
fails(cu.call, "cuMemAlloc", 3020, byref(memory), c_size_t(16))
with cu.device():
    cu.call("cuMemAlloc", (3, 2), byref(memory), c_size_t(16))
    cu.call("cuMemsetD8", 3020, memory, ctypes.c_ubyte(1), c_size_t(16))
    cu.call("cuMemFree", 3020, memory)
    fails(cu.call, "cuMemFree", 3020, c_void_p(77))
fails(cu.call, "cuMemFree", (99, 0))
fails(cu.call, "cuMemFreee", 3020)
for release in (11, 12.4, (0, 4), -1):
    fails(cu.proc, "cuMemFree", release, of=ValueError)
""").splitlines()
    assert shown[0].startswith("call: cuMemAlloc: CUDA_ERROR_INVALID_CONTEXT (201), ")
    assert shown[1].startswith("call: cuMemFree: CUDA_ERROR_INVALID_VALUE (1), ")
    assert "cuMemFree" in shown[2] and "did you mean" not in shown[2]
    assert shown[3].endswith("; did you mean cuMemFree?")
    assert shown[4:] == [f"release: {wrong}: a release is (12, 4) or 12040"
                         for wrong in ("11", "12.4", "(0, 4)", "-1")]

# SPDX-License-Identifier: MIT
"""A device in use: memory, modules and kernels, by the library's helpers.

    with cushim.load().device(0) as gpu:
        memory = gpu.memory(array.array("f", numbers))
        gpu.module(ptx).kernel("scale")(4, 256, memory, ctypes.c_uint(1000))
        memory.read(result)
"""

import ctypes
import os
from typing import Any, Dict, List, SupportsIndex, Tuple, Union

from . import native
from .error import Error, check
from .native import byref, name_of, needed

Size = Union[int, Tuple[int, ...]]


_LONGEST_PATH = 4096
BUFFER = "an object with the buffer protocol"


def _bytes_of(values: Any, argument: str = "values", words: str = BUFFER) -> memoryview:
    """What lies in an array, bytes, or anything else with the buffer protocol, such as NumPy's."""
    try:
        view = memoryview(values)
    except TypeError:
        raise TypeError(f"{argument}: {words} is needed, not {type(values).__name__}") from None
    return view.cast("B")


class Memory:
    """Memory of a device. It is freed with its device, or by free()."""

    def __init__(self, gpu: "Gpu", size: int) -> None:
        address = native.c_uint64()
        check(native.library().cushim_memory_alloc(gpu.handle, size, byref(address)))
        self._gpu = gpu
        self.size = size
        self.address = address.value

    def _address(self, size: int) -> int:
        if not self.address:
            raise ValueError("the memory was freed")
        if size > self.size:
            raise ValueError(f"{size} bytes do not fit in memory of {self.size}")
        return self.address

    def write(self, values: Any) -> "Memory":
        """Copy from an object with the buffer protocol. The memory itself is returned."""
        data = bytes(_bytes_of(values))
        check(native.library().cushim_copy_to_device(
            self._gpu.handle, self._address(len(data)), data, len(data)))
        return self

    def read(self, values: Any) -> Any:
        """Copy to a writable object with the buffer protocol, which is returned. It waits."""
        view = _bytes_of(values)
        if view.readonly:
            raise TypeError(f"values: {BUFFER} that can be written to is needed, not "
                            f"{type(values).__name__}")
        into = (ctypes.c_char * len(view)).from_buffer(view)
        check(native.library().cushim_copy_to_host(
            self._gpu.handle, into, self._address(len(view)), len(view)))
        return values

    def free(self) -> None:
        """Free it before the device is left."""
        address, self.address = self.address, 0
        check(native.library().cushim_memory_free(self._gpu.handle, address))


class Kernel:
    """A kernel of a module. Call it with the grid, the block and the kernel's arguments, which are
    Memory and numbers of ctypes or NumPy: `kernel(4, 256, memory, ctypes.c_float(2))`."""

    def __init__(self, gpu: "Gpu", address: int) -> None:
        self._gpu = gpu
        self.address = address

    def __call__(self, grid: Size, block: Size, *arguments: Any, shared: int = 0) -> None:
        """Launch. Grid and block are a number or up to three; `shared` is in bytes.
        Drivers from CUDA 12.4 on refuse arguments of another number or of other sizes."""
        values = [_value(place, argument) for place, argument in enumerate(arguments, 1)]
        count = len(values)
        pointers = (native.c_void_p * (count + 1))(*map(ctypes.addressof, values))
        sizes = (native.c_size_t * count)(*map(ctypes.sizeof, values))
        launch = native.sized(native.Launch, grid=_three("grid", grid),
                              block=_three("block", block),
                              shared=needed("shared", shared, SupportsIndex, "an int"))
        check(native.library().cushim_launch_check(
            self._gpu.handle, self.address, byref(launch), sizes, count))
        check(native.library().cushim_launch_kernel(
            self._gpu.handle, self.address, byref(launch), pointers, sizes, count))


def _value(place: int, argument: Any) -> Any:
    if isinstance(argument, Memory):
        return native.c_uint64(argument._address(0))
    if isinstance(argument, (ctypes._SimpleCData, ctypes.Structure, ctypes.Array)):
        return argument
    try:
        view = memoryview(argument)
    except TypeError:
        view = memoryview(b"")
    if view.ndim:
        raise TypeError(f"argument {place}: Memory or a value of ctypes or NumPy is needed, not "
                        f"{type(argument).__name__}: a kernel's parameters have sizes")
    return (ctypes.c_char * view.nbytes).from_buffer_copy(view.tobytes())


def _three(argument: str, size: Size) -> Tuple[int, ...]:
    numbers = (size,) if isinstance(size, SupportsIndex) else size
    needed(argument, numbers, (tuple, list), "an int or up to three")
    for number in numbers:
        needed(argument, number, SupportsIndex, "an int or up to three")
    if not 1 <= len(numbers) <= 3 or min(numbers) < 0:
        raise ValueError(f"{argument}: {size!r} is not one to three numbers")
    return tuple(numbers) + (1,) * (3 - len(numbers))


class Module:
    """A module on a device. It is unloaded when the device is left."""

    def __init__(self, gpu: "Gpu", image: Union[str, bytes]) -> None:
        needed("image", image, (str, bytes), "a str or bytes")
        data = image.encode() if isinstance(image, str) else image
        module = native.c_void_p()
        code = native.library().cushim_module_load(
            gpu.handle, data, len(data), None, None, byref(module))
        if code and len(data) < _LONGEST_PATH and b"\n" not in data and (
                data.endswith((b".ptx", b".cubin", b".fatbin")) or os.path.exists(data)):
            raise Error(f"image: {os.fsdecode(data)!r} is the name of a file; pass what is in it: "
                        "pathlib.Path(name).read_bytes()")
        check(code)
        self._gpu = gpu
        self.address = module.value

    def kernel(self, name: str) -> Kernel:
        """A kernel by its name. The Error names those that are alike."""
        function = native.c_void_p()
        check(native.library().cushim_module_function(
            self._gpu.handle, self.address, name_of(name), byref(function)))
        return Kernel(self._gpu, function.value or 0)


class Gpu:
    """A device whose primary context is current on this thread, in `with`. From Driver.device()."""

    def __init__(self, handle: Any, number: int) -> None:
        self.handle = handle
        self.number = number
        self._scope = native.DeviceScope()
        self._memory: List[Memory] = []
        self._modules: Dict[int, Module] = {}

    def memory(self, what: Any) -> Memory:
        """Memory of so many bytes, or of the size and with the contents of an object with the
        buffer protocol."""
        if isinstance(what, int) and what < 0:
            raise ValueError(f"what: {what} is no number of bytes")
        size = what if isinstance(what, int) else _bytes_of(
            what, "what", f"a number of bytes or {BUFFER}").nbytes
        made = Memory(self, size)
        self._memory.append(made)
        return made if isinstance(what, int) else made.write(what)

    def module(self, image: Union[str, bytes]) -> Module:
        """Load PTX, a cubin or a fatbin. The Error has the compiler's reason."""
        made = Module(self, image)
        self._modules[made.address or 0] = made
        return made

    def synchronize(self) -> None:
        """Wait for the device's work; a kernel's error is raised here or by the next copy."""
        check(native.library().cushim_context_synchronize(self.handle, self._scope.context))

    def __enter__(self) -> "Gpu":
        check(native.library().cushim_device_enter(self.handle, self.number, byref(self._scope)))
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        codes = [native.library().cushim_memory_free(self.handle, memory.address)
                 for memory in self._memory]
        codes += [native.library().cushim_module_unload(self.handle, address)
                  for address in self._modules]
        failed = next((Error(native.last_error()) for code in codes if code), None)
        for memory in self._memory:
            memory.address = 0
        self._memory.clear()
        self._modules.clear()
        check(native.library().cushim_device_leave(byref(self._scope)))
        if failed and not kind:
            raise failed

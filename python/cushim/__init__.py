# SPDX-License-Identifier: MIT
"""The CUDA driver of this machine: whether there is one, what it has, and why not.

    import cushim
    cu = cushim.load()
    if cu.init():
        for device in cu.devices():
            print(device.name, device.capability)
    else:
        print(cu.message)

The module imports without a driver and without a GPU. It needs no other package.
"""

import ctypes
import difflib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, \
    SupportsIndex, Tuple, Union

from . import native
from .error import Error, check
from .gpu import Gpu, Kernel, Memory, Module
from .native import byref, name_of, needed

__all__ = ["Attempt", "Device", "Driver", "Entry", "Error", "Feature", "Gpu", "Kernel", "Memory",
           "Module", "Release", "library_version", "load", "newest_release"]  # not Python's `open`


def __dir__() -> List[str]:
    return [*__all__, "__all__", "__doc__", "__version__", "open"]


_OK = 0  # CUSHIM_OK, CUDA_SUCCESS, CUSHIM_SUPPORTED and CUSHIM_ANSWER_VALUE
_NO_DEVICE = -1
_SENTENCE = 512
_PREFIX = "CU_DEVICE_ATTRIBUTE_"
_BYREF = type(byref(native.c_int()))


class Release(NamedTuple):
    """A release of CUDA. It compares like a tuple: cu.version >= (12, 2)."""
    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Attempt(NamedTuple):
    """A library that a load tried."""
    path: str
    message: str
    status: str


class Entry(NamedTuple):
    """An entry of the driver API that this build knows."""
    symbol: str
    name: str
    header: str
    since: Release


@dataclass(frozen=True)
class Feature:
    """Whether a driver and a device have a feature. It is true if they have."""
    name: str
    group: str
    text: str
    since: Release
    support: str  # "supported", or where it is missing: "driver", "device", "no-driver", ...
    reason: str  # a sentence

    def __bool__(self) -> bool:
        return self.support == "supported"


def _release(number: int) -> Release:
    return Release(number // 1000, number % 1000 // 10)


def _number(release: Union[int, Tuple[int, int]]) -> int:
    """12040, from itself or from (12, 4); 0 is any."""
    pair = isinstance(release, tuple) and [type(part) for part in release] == [int, int]
    number = 1000 * release[0] + 10 * release[1] if pair else release  # type: ignore[index]
    if number and not (isinstance(number, int) and number >= 1000):
        raise ValueError(f"release: {release!r}: a release is (12, 4) or 12040")
    return number


def _attributes() -> List[str]:
    """The names of all attributes that this build knows."""
    attribute, names = native.Attribute(), []
    for index in range(native.library().cushim_attribute_count()):
        native.library().cushim_attribute_at(index, byref(attribute))
        names.append(native.text(attribute.name).replace(_PREFIX, ""))
    return names


class Device:
    """A device of a driver."""

    def __init__(self, driver: "Driver", number: int) -> None:
        self._driver = driver
        self.number = number
        found = native.sized(native.DeviceProperties)
        check(native.library().cushim_device_describe(
            driver.handle, number, byref(found)))
        self.name = native.text(found.name)
        self.uuid = native.text(found.uuid)
        self.pci_bus_id = native.text(found.pci_bus_id)
        self.total_memory = int(found.total_memory)
        self.capability = (int(found.major), int(found.minor))

    def attribute(self, name: Union[str, int]) -> Optional[int]:
        """An attribute by its name or number, such as "MULTIPROCESSOR_COUNT". None if the device
        does not have it or the driver does not know it; Error for a name that cushim does not know.
        """
        needed("name", name, (str, int), "a str or an int")
        value, answer = native.c_int(), native.c_int()
        outputs = byref(value), byref(answer)
        if isinstance(name, int):
            code = native.library().cushim_device_attribute(
                self._driver.handle, self.number, name, *outputs)
        else:
            code = native.library().cushim_device_attribute_named(
                self._driver.handle, self.number, name_of(name), *outputs)
        if code and isinstance(name, str):
            near = difflib.get_close_matches(name.replace(_PREFIX, "").upper(), _attributes(), 1)
            if near and near[0] != name.replace(_PREFIX, ""):
                raise Error(f"{native.last_error()}; did you mean {near[0]}?")
        check(code)
        return value.value if answer.value == _OK else None

    def __repr__(self) -> str:
        return f"<cushim.Device {self.number}: {self.name}>"


class Driver:
    """A driver, or the reason why there is none. It is true if one was loaded. From load() and
    open(); `handle` is the table's address, for C."""

    def __init__(self, handle: int) -> None:
        self.handle: Optional[int] = handle

    def __bool__(self) -> bool:
        return self.status == "ok"

    def __repr__(self) -> str:
        return f"<cushim.Driver: {self.message}>"

    @property
    def status(self) -> str:
        """How the load ended: "ok", "not-found", ..."""
        status = native.library().cushim_status(self.handle)
        return native.text(native.library().cushim_status_name(status))

    @property
    def message(self) -> str:
        """A sentence about the driver, or why there is none and what to do."""
        return native.text(native.library().cushim_message(self.handle))

    @property
    def version(self) -> Release:
        """The driver's CUDA version; (0, 0) without a driver."""
        return _release(native.library().cushim_driver_version(self.handle))

    @property
    def path(self) -> Optional[str]:
        """The library in use, without symbolic links."""
        return native.text(native.library().cushim_path(self.handle)) or None

    @property
    def attempts(self) -> List[Attempt]:
        """What was tried, in order; after a good load the last one is in use."""
        found: List[Attempt] = []
        attempt = native.sized(native.Attempt)
        while native.library().cushim_attempt_at(self.handle, len(found), byref(attempt)):
            status = native.library().cushim_status_name(attempt.status)
            found.append(Attempt(native.text(attempt.path), native.text(attempt.message),
                                 native.text(status)))
        return found

    def init(self) -> bool:
        """Call cuInit. False if that fails or there is no driver: `message` is the reason."""
        return bool(native.library().cushim_init(self.handle) == _OK)

    def require(self, release: Union[int, Tuple[int, int]] = 0,
                symbols: Iterable[str] = ()) -> None:
        """Raise Error, with one sentence that names all that is missing, unless the driver is of
        the release or later and has the symbols."""
        if isinstance(symbols, str):
            raise TypeError("symbols: a list of names is needed, not str")
        symbols = list(symbols)
        names = [name_of(symbol, "symbol") for symbol in symbols]
        array = (native.c_char_p * (len(names) + 1))(*names, None)
        if native.library().cushim_require(self.handle, _number(release), array) != _OK:
            words = native.last_error()
            near = [self.nearest(name) for name in symbols] if self else []
            meant = [name for name in near if name and name not in symbols]
            raise Error(f"{words}; did you mean {', '.join(meant)}?" if meant else words)

    def has(self, symbol: str) -> bool:
        """Whether the driver has an entry, by its exported name: "cuMemAlloc_v2"."""
        return bool(native.library().cushim_has(self.handle, name_of(symbol, "symbol")))

    def reason(self, symbol: str) -> str:
        """Why the driver has an entry or has not, as a sentence."""
        sentence = ctypes.create_string_buffer(_SENTENCE)
        reason = native.text(native.library().cushim_reason(
            self.handle, name_of(symbol, "symbol"), None, sentence, _SENTENCE))
        near = None if self.has(symbol) else self.nearest(symbol)
        return f"{reason}; did you mean {near}?" if near and near != symbol else reason

    def nearest(self, symbol: str) -> Optional[str]:
        """The symbol that a misspelt one may stand for; itself if this build knows it, else None
        if none is near."""
        known = [entry.symbol for entry in self.entries()]
        near = [symbol] if symbol in known else difflib.get_close_matches(symbol, known, 1, 0.8)
        return near[0] if near else None

    def proc(self, name: str, release: Union[int, Tuple[int, int]],
             per_thread: bool = False) -> int:
        """The address of the entry "cuMemAlloc" as release (12, 4) declares it. Error if the driver
        does not have exactly that one."""
        address = native.library().cushim_proc(
            self.handle, name_of(name), _number(release), int(per_thread), None)
        if not address:
            raise Error(native.last_error() + self._near(name))
        return int(address)

    def _near(self, name: str) -> str:
        """What a name that this build does not know may stand for."""
        known = {entry.name for entry in self.entries()}
        near = [] if name in known else difflib.get_close_matches(name, known, 1, 0.8)
        return f"; did you mean {near[0]}?" if near else ""

    def call(self, name: str, release: Union[int, Tuple[int, int]], *arguments: Any) -> None:
        """Call the entry "cuMemAlloc" as the release declares it. Each argument is a value or
        byref() of ctypes; None is NULL. Error has the code's name and explanation."""
        for place, argument in enumerate(arguments, 1):
            if not (argument is None or isinstance(argument, _BYREF)
                    or hasattr(type(argument), "from_param")):
                raise TypeError(f"argument {place}: a value or byref() of ctypes, or None, is "
                                f"needed, not {type(argument).__name__}")
        kinds: List[Any] = [
            native.c_void_p if argument is None or isinstance(argument, _BYREF)
            else type(argument) for argument in arguments]
        function = ctypes.CFUNCTYPE(native.c_int, *kinds)(self.proc(name, release))
        check(native.library().cushim_error_explain(
            function(*arguments), b"call", name_of(name)))

    def device(self, number: int = 0) -> Gpu:
        """A device to work with, by `with`: its primary context is current there."""
        return Gpu(self.handle, needed("number", number, SupportsIndex, "an int"))

    def devices(self) -> List[Device]:
        """The devices, in the driver's order. It calls cuInit; the list is empty if that fails."""
        if not self.init():
            return []
        count = native.c_int()
        ask = native.library().cushim_device_list
        check(ask(self.handle, None, 0, byref(count)))
        numbers = (native.c_int * count.value)()
        check(ask(self.handle, numbers, count.value, None))
        return [Device(self, number) for number in numbers]

    def features(self, device: Union[None, int, Device] = None) -> Dict[str, Feature]:
        """All features by name. Without a device, "undecided" ones are the device's to decide.
        Call init() before you ask about a device."""
        number = device.number if isinstance(device, Device) else device
        needed("device", number, (SupportsIndex, type(None)), "a Device, an int or None")
        found: Dict[str, Feature] = {}
        facts = native.sized(native.FeatureFacts)
        while native.library().cushim_feature_list(len(found), byref(facts)):
            name = native.text(facts.name)
            found[name] = self._feature(facts, _NO_DEVICE if number is None else number)
        return found

    def _feature(self, facts: native.FeatureFacts, device: int) -> Feature:
        support = native.c_int()
        sentence = ctypes.create_string_buffer(_SENTENCE)
        native.library().cushim_feature_reason(self.handle, device, facts.feature,
                                               byref(support), sentence, _SENTENCE)
        return Feature(native.text(facts.name), native.text(facts.group), native.text(facts.text),
                       _release(facts.since),
                       native.text(native.library().cushim_support_name(support)),
                       native.text(sentence.value))

    def entries(self) -> Iterator[Entry]:
        """All entries of the driver API that this build knows, whether the driver has them or not;
        has() tells."""
        entry = native.Entry()
        for index in range(native.library().cushim_entry_count()):
            native.library().cushim_entry_at(index, byref(entry))
            yield Entry(native.text(entry.symbol), native.text(entry.name),
                        native.text(entry.header), _release(entry.since))

    def close(self) -> None:
        """Free what open() returned; the driver stays loaded. Of load() nothing is freed."""
        native.library().cushim_close(self.handle)
        self.handle = None

    def __enter__(self) -> "Driver":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _connect(function: str, path: Union[None, str, "os.PathLike[str]"], **flags: bool) -> Driver:
    needed("path", path, (str, os.PathLike, type(None)), "a str, a path or None")
    options = native.sized(native.Options, path=None if path is None else name_of(os.fspath(path)),
                           **flags)
    handle = getattr(native.library(), function)(byref(options))
    if not handle:
        raise Error(native.last_error())
    return Driver(handle)


def load(path: Union[None, str, "os.PathLike[str]"] = None, *, allow_compat: bool = False,
         per_thread_default_stream: bool = False, retry: bool = False) -> Driver:
    """The driver of the whole process. The first load that succeeds decides; with `retry` one that
    failed is tried again. Without a driver the result is false, and its `message` tells why."""
    return _connect("cushim_load", path, allow_compat=allow_compat,
                    per_thread_default_stream=per_thread_default_stream, retry=retry)


def open(path: Union[None, str, "os.PathLike[str]"] = None, *,  # pylint: disable=redefined-builtin
         allow_compat: bool = False, per_thread_default_stream: bool = False) -> Driver:
    """A driver apart from the process's own, such as one at a path. The caller closes it."""
    return _connect("cushim_open", path, allow_compat=allow_compat,
                    per_thread_default_stream=per_thread_default_stream)


def library_version() -> str:
    """The version of libcushim.so, "0.1.0" for example."""
    return native.text(native.library().cushim_version())


def newest_release() -> Release:
    """The newest release of CUDA whose entries this build knows."""
    return _release(native.library().cushim_registry_version())


if TYPE_CHECKING:
    __version__: str
else:
    def __getattr__(name: str) -> str:
        """The module's version; not loaded before it is asked for."""
        if name == "__version__":
            return library_version()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

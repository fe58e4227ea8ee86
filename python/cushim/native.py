# SPDX-License-Identifier: MIT
"""libcushim.so as ctypes sees it: the structures and functions of its headers that the module uses.

Nothing here is a fact about CUDA; those come from the library's functions.
"""

import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int, c_size_t, c_uint, c_uint64, \
    c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any, Type, TypeVar

FOLDER = Path(__file__).resolve().parent
NAME = "libcushim.so.0"


class Attribute(ctypes.Structure):
    """struct cushim_attribute"""
    _fields_ = [("name", c_char_p), ("number", c_int), ("since", c_int)]


class Options(ctypes.Structure):
    """struct cushim_options"""
    _fields_ = [("size", c_size_t), ("path", c_char_p), ("resolver", c_void_p), ("user", c_void_p),
                ("log", c_void_p), ("order", c_int), ("per_thread_default_stream", c_bool),
                ("allow_compat", c_bool), ("retry", c_bool), ("reserved", c_char)]


class Attempt(ctypes.Structure):
    """struct cushim_attempt"""
    _fields_ = [("size", c_size_t), ("path", c_char_p), ("message", c_char_p), ("source", c_int),
                ("status", c_int)]


class Entry(ctypes.Structure):
    """struct cushim_entry"""
    _fields_ = [("symbol", c_char * 56), ("name", c_char * 56), ("header", c_char_p),
                ("since", c_int), ("stream", c_int)]


class DeviceProperties(ctypes.Structure):
    """struct cushim_device_properties"""
    _fields_ = [("size", c_size_t), ("name", c_char * 256), ("uuid", c_char * 48),
                ("pci_bus_id", c_char * 16), ("total_memory", c_size_t), ("major", c_int),
                ("minor", c_int), ("multiprocessors", c_int), ("warp_size", c_int),
                ("max_threads_per_block", c_int), ("max_threads_per_multiprocessor", c_int),
                ("max_block", c_int * 3), ("max_grid", c_int * 3), ("registers_per_block", c_int),
                ("shared_memory_per_block", c_int), ("shared_memory_per_block_optin", c_int),
                ("shared_memory_per_multiprocessor", c_int), ("constant_memory", c_int),
                ("l2_cache", c_int), ("max_pitch", c_int), ("texture_alignment", c_int),
                ("clock_khz", c_int), ("memory_clock_khz", c_int), ("memory_bus_bits", c_int),
                ("copy_engines", c_int), ("compute_mode", c_int), ("integrated", c_int),
                ("ecc", c_int), ("mapped_host_memory", c_int), ("unified_addressing", c_int),
                ("managed_memory", c_int), ("concurrent_managed_access", c_int),
                ("pageable_memory_access", c_int), ("concurrent_kernels", c_int),
                ("cooperative_launch", c_int), ("cluster_launch", c_int), ("memory_pools", c_int),
                ("virtual_memory", c_int), ("reserved", c_int)]


class DeviceScope(ctypes.Structure):
    """struct cushim_device_scope"""
    _fields_ = [("cu", c_void_p), ("device", c_int), ("context", c_void_p),
                ("previous", c_void_p * 3), ("outcome", c_char * 1024)]


class Launch(ctypes.Structure):
    """struct cushim_launch"""
    _fields_ = [("size", c_size_t), ("grid", c_size_t * 3), ("block", c_size_t * 3),
                ("shared", c_size_t), ("stream", c_void_p), ("cluster", c_size_t * 3),
                ("cooperative", c_bool), ("attribute_count", c_uint), ("attributes", c_void_p)]


class FeatureFacts(ctypes.Structure):
    """struct cushim_feature_facts"""
    _fields_ = [("size", c_size_t), ("feature", c_int), ("name", c_char_p), ("group", c_char_p),
                ("text", c_char_p), ("platform", c_char_p), ("attribute_name", c_char_p),
                ("attribute", c_int), ("attribute_mask", c_uint), ("attribute_minimum", c_int),
                ("since", c_int), ("capability", c_int), ("entry_count", c_size_t)]


# What a function returns, and what it takes. A table is passed on as an address.
FUNCTIONS = {
    "cushim_attempt_at": (c_bool, [c_void_p, c_size_t, POINTER(Attempt)]),
    "cushim_attribute_at": (c_bool, [c_size_t, POINTER(Attribute)]),
    "cushim_attribute_count": (c_size_t, []),
    "cushim_close": (None, [c_void_p]),
    "cushim_context_synchronize": (c_int, [c_void_p, c_void_p]),
    "cushim_copy_to_device": (c_int, [c_void_p, c_uint64, c_void_p, c_size_t]),
    "cushim_copy_to_host": (c_int, [c_void_p, c_void_p, c_uint64, c_size_t]),
    "cushim_device_attribute": (c_int, [c_void_p, c_int, c_int, POINTER(c_int), POINTER(c_int)]),
    "cushim_device_attribute_named": (
        c_int, [c_void_p, c_int, c_char_p, POINTER(c_int), POINTER(c_int)]),
    "cushim_device_describe": (c_int, [c_void_p, c_int, POINTER(DeviceProperties)]),
    "cushim_device_enter": (c_int, [c_void_p, c_int, POINTER(DeviceScope)]),
    "cushim_device_leave": (c_int, [POINTER(DeviceScope)]),
    "cushim_device_list": (c_int, [c_void_p, POINTER(c_int), c_int, POINTER(c_int)]),
    "cushim_driver_version": (c_int, [c_void_p]),
    "cushim_entry_at": (c_bool, [c_size_t, POINTER(Entry)]),
    "cushim_entry_count": (c_size_t, []),
    "cushim_error_explain": (c_int, [c_int, c_char_p, c_char_p]),
    "cushim_feature_list": (c_bool, [c_size_t, POINTER(FeatureFacts)]),
    "cushim_feature_reason": (
        c_char_p, [c_void_p, c_int, c_int, POINTER(c_int), c_char_p, c_size_t]),
    "cushim_has": (c_bool, [c_void_p, c_char_p]),
    "cushim_init": (c_int, [c_void_p]),
    "cushim_last_error": (c_char_p, []),
    "cushim_launch_check": (
        c_int, [c_void_p, c_void_p, POINTER(Launch), c_void_p, c_size_t]),
    "cushim_launch_kernel": (
        c_int, [c_void_p, c_void_p, POINTER(Launch), c_void_p, c_void_p, c_size_t]),
    "cushim_load": (c_void_p, [POINTER(Options)]),
    "cushim_memory_alloc": (c_int, [c_void_p, c_size_t, POINTER(c_uint64)]),
    "cushim_memory_free": (c_int, [c_void_p, c_uint64]),
    "cushim_message": (c_char_p, [c_void_p]),
    "cushim_module_function": (c_int, [c_void_p, c_void_p, c_char_p, POINTER(c_void_p)]),
    "cushim_module_load": (
        c_int, [c_void_p, c_char_p, c_size_t, c_void_p, c_void_p, POINTER(c_void_p)]),
    "cushim_module_unload": (c_int, [c_void_p, c_void_p]),
    "cushim_open": (c_void_p, [POINTER(Options)]),
    "cushim_path": (c_char_p, [c_void_p]),
    "cushim_proc": (c_void_p, [c_void_p, c_char_p, c_int, c_int, POINTER(c_int)]),
    "cushim_reason": (c_char_p, [c_void_p, c_char_p, POINTER(c_int), c_char_p, c_size_t]),
    "cushim_registry_version": (c_int, []),
    "cushim_require": (c_int, [c_void_p, c_int, POINTER(c_char_p)]),
    "cushim_status": (c_int, [c_void_p]),
    "cushim_status_name": (c_char_p, [c_int]),
    "cushim_support_name": (c_char_p, [c_int]),
    "cushim_version": (c_char_p, []),
}

Sized = TypeVar("Sized", bound=ctypes.Structure)


@lru_cache(maxsize=None)
def library() -> Any:
    """The library beside this module, or else the system's. OSError where there is none."""
    own = sorted(FOLDER.glob(NAME + "*"))
    found = ctypes.CDLL(str(own[0]) if own else NAME)
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments
    return found


def sized(kind: Type[Sized], **fields: Any) -> Sized:
    """A structure that begins with its size."""
    return kind(size=ctypes.sizeof(kind), **fields)


def needed(argument: str, value: Any, kinds: Any, words: str) -> Any:
    """The value, or TypeError that names the argument, what is needed, and what was given."""
    if not isinstance(value, kinds):
        raise TypeError(f"{argument}: {words} is needed, not {type(value).__name__}")
    return value


def name_of(value: str, argument: str = "name") -> bytes:
    """A name for the library, which reads to the first NUL."""
    if "\0" in needed(argument, value, str, "a str"):
        raise ValueError(f"{argument}: a NUL in a name")
    return os.fsencode(value)


def text(value: Any) -> str:
    """A string of the library's or of the system's; "" for NULL."""
    return (value or b"").decode("utf-8", "surrogateescape")


def last_error() -> str:
    """What went wrong last on this thread, as a sentence."""
    return text(library().cushim_last_error())


__all__ = ["Attempt", "Attribute", "DeviceProperties", "DeviceScope", "Entry", "FeatureFacts",
           "Launch", "Options", "byref", "c_char_p", "c_int", "c_size_t", "c_uint64", "c_void_p",
           "last_error", "library", "name_of", "needed", "sized", "text"]

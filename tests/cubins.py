# SPDX-License-Identifier: MIT
"""Cubins made by hand: what `cushim scan` reads of them, and no code."""

import struct


def cubin(architecture, abi=7, version=124, flags=0, note=None, before=0):
    """The head of a cubin, and for ABI 8 the note that compilers write from CUDA 13.0 on."""
    head = b"\x7fELF\x02\x01\x01" + bytes([65 if abi == 8 else 51, abi]) + bytes(7)
    head += struct.pack("<HHIQQQI", 2, 190, version if abi == 7 else 1, 0, 0, 0,
                        flags | (architecture << 8 if abi == 8 else architecture))
    head += bytes(64 - len(head) + before)
    if note:
        head += struct.pack("<III12sHHI", 12, 8, 1000, b"NVIDIA Corp", 2, architecture, note)
    return head


def alone(architecture, kernel=".text.k", size=16, kind=2, compat=b"", **head):
    """A whole cubin: a name of sections, one with code, and those that tell of its variant."""
    begin = bytearray(cubin(architecture, **head))
    names = b"\0" + kernel.encode() + b"\0"
    begin[16:18] = struct.pack("<H", kind)
    where = len(begin) + len(names) + len(compat)
    struct.pack_into("<Q", begin, 40, where)
    struct.pack_into("<HHHHHH", begin, 52, 64, 56, 0, 64, 4, 1)
    return bytes(begin) + names + compat + bytes(64) + b"".join(
        struct.pack("<IIQQQQIIQQ", name, kind, flags, 0, at, length, 0, 0, 1, 0)
        for name, kind, flags, at, length in (
            (0, 3, 0, len(begin), len(names)), (1, 1, 6, where, size),
            (0, 0x70000086, 0, len(begin) + len(names), len(compat))))

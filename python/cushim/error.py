# SPDX-License-Identifier: MIT
"""Codes of the driver as an exception."""

from . import native


class Error(RuntimeError):
    """A call failed. The message is cushim's sentence."""


def check(code: int) -> None:
    """Raise Error with the thread's last error, unless the code is CUDA_SUCCESS."""
    if code != 0:
        raise Error(native.last_error())

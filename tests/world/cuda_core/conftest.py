# SPDX-License-Identifier: MIT
"""A device with a stream, this folder's kernels, and arrays of numpy there and back."""
from pathlib import Path

import numpy as np
import pytest
from cuda.core import Device, LegacyPinnedMemoryResource, ObjectCode

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session", name="device")
def fixture_device():
    """The first one, current."""
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture(name="stream")
def fixture_stream(device):
    """One that does not wait for the default one."""
    stream = device.create_stream()
    yield stream
    stream.close()


@pytest.fixture(scope="session", name="code")
def fixture_code(device):  # pylint: disable=unused-argument
    """The module of kernels.ptx."""
    return ObjectCode.from_ptx(str(HERE / "kernels.ptx"))


@pytest.fixture(name="send")
def fixture_send(device, stream):
    """A function: a buffer with an array's bytes, behind the work of the stream."""
    def send(array):
        pinned = LegacyPinnedMemoryResource().allocate(array.nbytes)
        np.from_dlpack(pinned).view(array.dtype)[:] = array.ravel()
        buffer = device.allocate(array.nbytes, stream=stream)
        buffer.copy_from(pinned, stream=stream)
        stream.sync()
        pinned.close()
        return buffer
    return send


@pytest.fixture(name="fetch")
def fixture_fetch(stream):
    """A function: an array of a buffer's bytes, after the work of the stream."""
    def fetch(buffer, dtype):
        pinned = LegacyPinnedMemoryResource().allocate(buffer.size)
        buffer.copy_to(pinned, stream=stream)
        stream.sync()
        array = np.from_dlpack(pinned).view(dtype).copy()
        pinned.close()
        return array
    return fetch

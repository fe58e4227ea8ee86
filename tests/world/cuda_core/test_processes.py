# SPDX-License-Identifier: MIT
"""cuda.core: memory, pools and events of one process in another."""
import multiprocessing

import numpy as np
import pytest
from cuda.core import (Buffer, Device, DeviceMemoryResource, DeviceMemoryResourceOptions,
                       EventOptions, LegacyPinnedMemoryResource, PinnedMemoryResource,
                       PinnedMemoryResourceOptions)

MIB = 1 << 20


@pytest.fixture(name="start")
def fixture_start():
    """A function: start another process of Python, which ends well."""
    context = multiprocessing.get_context("spawn")
    processes = []

    def start(target, *arguments):
        processes.append(context.Process(target=target, args=arguments))
        processes[-1].start()
        return processes[-1]
    yield start
    for process in processes:
        process.join(120)
        assert process.exitcode == 0


def make_pool(kind, device):
    """A pool for other processes."""
    if kind == "device":
        return DeviceMemoryResource(device, DeviceMemoryResourceOptions(ipc_enabled=True,
                                                                        max_size=64 * MIB))
    return PinnedMemoryResource(PinnedMemoryResourceOptions(ipc_enabled=True, max_size=64 * MIB,
                                                            numa_id=0))


def add_one(buffer, ready):
    """The other process: it adds 1 to each byte, once the event has come."""
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    assert buffer.is_mapped
    stream.wait(ready)
    pinned = LegacyPinnedMemoryResource().allocate(buffer.size)
    buffer.copy_to(pinned, stream=stream)
    stream.sync()
    numbers = np.from_dlpack(pinned)
    numbers += 1
    buffer.copy_from(pinned, stream=stream)
    stream.sync()
    buffer.close(stream)


@pytest.mark.parametrize("kind", ["device", "pinned"])
def test_shared_buffer(device, stream, start, send, fetch, kind):
    """Another process writes into a buffer, in the order of an event."""
    pool = make_pool(kind, device)
    buffer = pool.allocate(MIB, stream=stream)
    buffer.copy_from(send(np.full(MIB, 40, np.uint8)), stream=stream)
    ready = stream.record(options=EventOptions(ipc_enabled=True))
    start(add_one, buffer, ready).join(120)
    assert (fetch(buffer, np.uint8) == 41).all()
    buffer.close(stream)


def take_over(pipe):
    """The other process: it gets a pool, then buffers by descriptors."""
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    pool = DeviceMemoryResource.from_allocation_handle(device, pipe.recv())
    assert pool.is_mapped
    with pytest.raises(Exception):
        pool.allocate(64, stream=stream)
    for _ in range(3):
        value, descriptor = pipe.recv()
        buffer = Buffer.from_ipc_descriptor(pool, descriptor, stream=stream)
        buffer.fill(value, stream=stream)
        stream.sync()
        buffer.close(stream)
        pipe.send(buffer.size)


def test_descriptors(device, stream, start, fetch):
    """A pool's handle and the descriptors of three of its buffers."""
    pool = make_pool("device", device)
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    start(take_over, theirs)
    ours.send(pool.allocation_handle)
    for value in (1, 2, 3):
        buffer = pool.allocate(1000 * value, stream=stream)
        stream.sync()
        ours.send((value, buffer.ipc_descriptor))
        assert ours.poll(120)
        ours.recv()
        assert (fetch(buffer, np.uint8) == value).all()
        buffer.close(stream)


def test_plain_pool(device, stream):
    """A pool that is not for other processes gives no descriptor."""
    buffer = DeviceMemoryResource(device).allocate(64, stream=stream)
    with pytest.raises(RuntimeError):
        _ = buffer.ipc_descriptor

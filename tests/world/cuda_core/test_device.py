# SPDX-License-Identifier: MIT
"""cuda.core: devices, streams, events and contexts."""
import threading

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (ContextOptions, Device, EventOptions, LaunchConfig, SMResourceOptions,
                       Stream, StreamOptions, launch)


def test_device(device):
    """A device by its number, its bus and its name."""
    every = Device.get_all_devices()
    assert every[0] == device and len({one.uuid for one in every}) == len(every)
    assert device.compute_capability == (9, 0) and device.arch == "90"
    error, name = driver.cuDeviceGetName(256, 0)
    assert not error and name.split(b"\0")[0].decode() == device.name
    error, number = driver.cuDeviceGetByPCIBusId(device.pci_bus_id.encode())
    assert not error and int(number) == device.device_id
    with pytest.raises(ValueError):
        Device(len(every))


def test_every_property(device):
    """Each attribute that the package knows has an answer."""
    names = [name for name in dir(device.properties) if not name.startswith("_")]
    values = {name: getattr(device.properties, name) for name in names}
    assert len(values) > 100 and None not in values.values()
    assert values["warp_size"] == 32 and values["cluster_launch"] is True
    assert values["max_threads_per_block"] <= values["max_threads_per_multiprocessor"]


def test_streams(device):
    """Priorities are cut to what the device has; a stream knows its device."""
    error, least, greatest = driver.cuCtxGetStreamPriorityRange()
    assert not error and greatest < least
    stream = device.create_stream(options=StreamOptions(priority=greatest))
    assert (stream.priority, stream.is_nonblocking, stream.device) == (greatest, True, device)
    with pytest.raises(ValueError):
        device.create_stream(options=StreamOptions(priority=least + 1))
    same = Stream.from_handle(int(stream.handle))
    assert same.priority == greatest and same.context == stream.context
    assert not device.create_stream(options=StreamOptions(nonblocking=False)).is_nonblocking


def test_events_order_streams(code, device, stream, send, fetch):
    """One stream's work waits for the other's."""
    other = device.create_stream()
    values = np.ones(1 << 16, np.float32)
    buffer = send(values)
    config = LaunchConfig(grid=256, block=256)
    for one, next_one in ((stream, other), (other, stream)) * 5:
        launch(one, config, code.get_kernel("scale"), buffer, buffer, np.float32(0.5),
               np.uint32(values.size))
        next_one.wait(one.record())
    assert (fetch(buffer, np.float32) == 1).all()  # 1 * 0.5 + 0.5, ten times
    other.close()


def test_event_times(device, stream):
    """The time between two events; events without time have none."""
    timed = EventOptions(timing_enabled=True)
    first = stream.record(options=timed)
    buffer = device.allocate(1 << 22, stream=stream)
    buffer.fill(1, stream=stream)
    second = stream.record(options=timed)
    second.sync()
    assert first.is_done and second - first > 0 > first - second
    with pytest.raises(RuntimeError):
        _ = stream.record() - first


def test_event_behind_work(device, stream):
    """An event is not done while the stream waits for memory that another thread writes."""
    flag = device.allocate(4, stream=stream)
    flag.fill(0, stream=stream)
    stream.sync()
    wait = driver.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_GEQ
    assert not driver.cuStreamWaitValue32(stream.handle, int(flag.handle), 3, wait)[0]
    event = stream.record()
    assert not event.is_done

    def write():
        device.set_current()
        assert not driver.cuMemsetD32(int(flag.handle), 3, 1)[0]

    thread = threading.Thread(target=write)
    thread.start()
    event.sync()
    thread.join()
    assert event.is_done


def test_part_of_a_device(code, device, send, fetch):
    """A context of 16 multiprocessors; its stream runs kernels."""
    whole = device.resources.sm
    assert whole.sm_count == device.properties.multiprocessor_count
    (part,), rest = whole.split(SMResourceOptions(count=16))
    assert part.sm_count == 16 and rest.sm_count == whole.sm_count - 16
    context = device.create_context(ContextOptions(resources=[part]))
    stream = context.create_stream()
    assert context.is_green and stream.resources.sm.sm_count == 16
    given = send(np.arange(64, dtype=np.float32))
    launch(stream, LaunchConfig(grid=1, block=64), code.get_kernel("scale"), given, given,
           np.float32(2), np.uint32(64))
    stream.sync()
    assert np.array_equal(fetch(given, np.float32), np.arange(64) * 2 + 0.5)
    stream.close()
    context.close()

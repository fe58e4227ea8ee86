# SPDX-License-Identifier: MIT
"""cuda.core: memory of each kind, and the pools that it comes from."""
import ctypes

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (Buffer, DeviceMemoryResource, DeviceMemoryResourceOptions, Host,
                       LegacyPinnedMemoryResource, ManagedBuffer, ManagedMemoryResource,
                       ManagedMemoryResourceOptions, PinnedMemoryResource,
                       VirtualMemoryResource, VirtualMemoryResourceOptions)
from cuda.core.utils import (CopyOptions, StridedMemoryView, args_viewable_as_strided_memory,
                             copy_batch)

MIB = 1 << 20


def host_bytes(buffer):
    """The bytes of a buffer that the host may touch."""
    return np.ctypeslib.as_array((ctypes.c_uint8 * buffer.size).from_address(int(buffer.handle)))


@pytest.mark.parametrize("value, dtype", [
    (0xA5, np.uint8), (np.uint16(0xBEEF), np.uint16), (np.uint32(0xDEADBEEF), np.uint32)])
def test_fill(device, stream, fetch, value, dtype):
    """Patterns of 1, 2 and 4 bytes."""
    buffer = device.allocate(4096, stream=stream)
    buffer.fill(value, stream=stream)
    assert (fetch(buffer, dtype) == value).all()


def test_fill_refuses(device, stream):
    """A pattern that does not go into the buffer a whole number of times."""
    buffer = device.allocate(6, stream=stream)
    with pytest.raises(ValueError):
        buffer.fill(np.uint32(1), stream=stream)


def test_copies(device, stream, send, fetch):
    """To a buffer that the copy makes, and between buffers of two sizes: refused."""
    numbers = np.arange(1000, dtype=np.int32)
    copy = send(numbers).copy_to(stream=stream)
    assert np.array_equal(fetch(copy, np.int32), numbers)
    with pytest.raises(ValueError):
        copy.copy_to(device.allocate(16, stream=stream), stream=stream)


@pytest.mark.parametrize("order", ["stream", "any", "during_api_call"])
def test_batch(device, stream, send, fetch, order):
    """Several copies in one call, with hints."""
    arrays = [np.full(100 + number, number, np.uint8) for number in range(5)]
    sources = [send(array) for array in arrays]
    copies = [device.allocate(array.nbytes, stream=stream) for array in arrays]
    copy_batch(stream, sources, copies, options=CopyOptions(src_access_order=order))
    for array, copy in zip(arrays, copies):
        assert np.array_equal(fetch(copy, np.uint8), array)


def test_pool(device, stream):
    """A pool of one's own counts what is used. What is freed is there for the same stream."""
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=64 * MIB))
    assert pool.is_handle_owned and not pool.is_ipc_enabled and not pool.is_host_accessible
    buffer = pool.allocate(MIB, stream=stream)
    assert pool.attributes.used_mem_current == MIB
    assert pool.attributes.reserved_mem_current >= MIB
    buffer.close(stream)
    pool.allocate(63 * MIB, stream=stream).close(stream)
    stream.sync()
    assert pool.attributes.used_mem_current == 0
    assert pool.attributes.used_mem_high == 63 * MIB
    with pytest.raises(Exception, match="OUT_OF_MEMORY"):
        pool.allocate(128 * MIB, stream=stream)
    pool.close()


def test_what_a_buffer_is(device, stream):
    """Where each kind of memory may be touched, as the driver tells of its address."""
    kinds = {
        (False, True, False): device.allocate(64, stream=stream),
        (True, True, False): PinnedMemoryResource().allocate(64, stream=stream),
        (True, True, True): ManagedMemoryResource().allocate(64, stream=stream)}
    for known, buffer in kinds.items():
        same = Buffer.from_handle(buffer.handle, buffer.size, owner=buffer)
        assert (same.is_host_accessible, same.is_device_accessible, same.is_managed) == known


def test_pinned(stream):
    """The host writes, the device copies."""
    pool = PinnedMemoryResource()
    first, second = (pool.allocate(256, stream=stream) for _ in range(2))
    stream.sync()
    host_bytes(first)[:] = np.arange(256)
    second.copy_from(first, stream=stream)
    stream.sync()
    assert np.array_equal(host_bytes(second), np.arange(256))


def test_managed_pool(device, stream):
    """Memory of such a pool is one for host and device, and moves. It takes no advice."""
    options = ManagedMemoryResourceOptions(preferred_location=device.device_id)
    buffer = ManagedMemoryResource(options).allocate(2 * MIB, stream=stream)
    stream.sync()
    host_bytes(buffer)[:] = 3
    assert buffer.preferred_location == device and not buffer.read_mostly
    copy = buffer.copy_to(stream=stream)
    buffer.prefetch(device, stream=stream)
    buffer.fill(5, stream=stream)
    stream.sync()
    assert (host_bytes(buffer) == 5).all() and (host_bytes(copy) == 3).all()
    with pytest.raises(Exception, match="NOT_SUPPORTED"):
        buffer.read_mostly = True


def test_managed(device):
    """Advice for memory of the driver's older call is told as it was given."""
    error, address = driver.cuMemAllocManaged(MIB, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL)
    assert not error
    buffer = ManagedBuffer.from_handle(address, MIB)
    buffer.read_mostly = True
    buffer.preferred_location = Host()
    buffer.accessed_by = {Host(), device}
    assert buffer.read_mostly and buffer.preferred_location == Host()
    assert set(buffer.accessed_by) == {Host(), device}
    buffer.accessed_by.discard(device)
    assert set(buffer.accessed_by) == {Host()}
    buffer.preferred_location = None
    assert buffer.preferred_location is None
    buffer.close()
    assert not driver.cuMemFree(address)[0]


def test_virtual(device, stream, fetch):
    """Memory of an address space; it keeps its bytes when it grows."""
    space = VirtualMemoryResource(device, config=VirtualMemoryResourceOptions())
    buffer = space.allocate(2 * MIB)
    buffer.fill(7, stream=stream)
    stream.sync()
    grown = space.modify_allocation(buffer, 6 * MIB)
    assert grown.size >= 6 * MIB
    assert (fetch(grown, np.uint8)[:2 * MIB] == 7).all()
    grown.close()


def test_views(device, send):
    """Views of the host's arrays and of device memory."""
    matrix = np.arange(24, dtype=np.int16).reshape(4, 6)[:, ::2]

    @args_viewable_as_strided_memory((0,))
    def view_of(array):
        return array.view(-1)

    view = view_of(matrix)
    assert (view.shape, view.strides, view.dtype) == ((4, 3), (6, 2), np.int16)
    assert not view.is_device_accessible and view.ptr == matrix.ctypes.data
    given = StridedMemoryView.from_buffer(send(np.ascontiguousarray(matrix)), (4, 3),
                                          dtype=np.dtype(np.int16))
    assert given.is_device_accessible and given.device_id == device.device_id
    again = StridedMemoryView.from_dlpack(given, stream_ptr=-1)
    assert (again.ptr, again.shape, again.dtype) == (given.ptr, (4, 3), np.int16)


def test_dlpack(device, stream):
    """The kind of memory that DLPack tells: on the device, pinned, managed."""
    assert device.allocate(8, stream=stream).__dlpack_device__() == (2, 0)
    assert LegacyPinnedMemoryResource().allocate(8).__dlpack_device__()[0] == 3
    assert ManagedMemoryResource().allocate(8, stream=stream).__dlpack_device__()[0] == 13


def test_freed_twice(device, stream):
    """A buffer closes once; its address is refused by the driver after that."""
    buffer = device.allocate(64, stream=stream)
    place = int(buffer.handle)
    buffer.close(stream)
    stream.sync()
    buffer.close(stream)
    assert driver.cuMemFreeAsync(place, stream.handle)[0] == \
        driver.CUresult.CUDA_ERROR_INVALID_VALUE

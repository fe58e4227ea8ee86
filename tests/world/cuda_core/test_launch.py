# SPDX-License-Identifier: MIT
"""cuda.core: code, kernels and their launches."""
import ctypes

import numpy as np
import pytest
from conftest import HERE
from cuda.bindings import driver
from cuda.core import (Kernel, LaunchConfig, Linker, LinkerOptions, ObjectCode, Program,
                       ProgramOptions, launch)
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions
from cuda.core.utils import StridedMemoryView


def global_of(code, name):
    """The address of a variable of a module."""
    error, address, size = driver.cuLibraryGetGlobal(code.handle, name)
    assert (error, size) == (driver.CUresult.CUDA_SUCCESS, 4)
    return int(address)


def test_scale(device, stream, send, fetch):
    """Numbers, a constant and a counter of a module of this test's own."""
    code = ObjectCode.from_ptx((HERE / "kernels.ptx").read_bytes(), name="mine")
    kernel = code.get_kernel("scale")
    values = np.arange(1000, dtype=np.float32)
    given, out = send(values), device.allocate(4000, stream=stream)
    launch(stream, LaunchConfig(grid=8, block=128), kernel, out, given, np.float32(3),
           np.uint32(values.size))
    assert np.array_equal(fetch(out, np.float32), values * 3 + 0.5)
    calls = ctypes.c_uint32()
    assert driver.cuMemcpyDtoH(ctypes.addressof(calls), global_of(code, b"calls"), 4)[0] == 0
    assert calls.value == 1000


@pytest.mark.parametrize("types", [
    (np.uint8, np.int16, np.float64, np.complex128),
    (ctypes.c_uint8, ctypes.c_int16, ctypes.c_double, complex)])
def test_widths_of_arguments(code, device, stream, fetch, types):
    """Arguments of 1, 2, 8 and 16 bytes lie where the kernel reads them."""
    kernel = code.get_kernel("widths")
    assert kernel.num_arguments == 5
    assert [(one.offset, one.size) for one in kernel.arguments_info] == [
        (0, 8), (8, 1), (10, 2), (16, 8), (24, 16)]
    out = device.allocate(32, stream=stream)
    numbers = [make(value) for make, value in zip(types, (200, -300, 0.125, -7 + 0.25j))]
    launch(stream, LaunchConfig(grid=1, block=1), kernel, out, *numbers)
    assert fetch(out, np.float64).tolist() == [200, -300, 0.125, -6.75]


def test_dynamic_shared_memory(code, device, stream, send, fetch):
    """Memory that the launch gives to each block."""
    numbers = np.arange(128, dtype=np.uint32)
    out = device.allocate(4, stream=stream)
    out.fill(0, stream=stream)
    launch(stream, LaunchConfig(grid=4, block=32, shmem_size=128), code.get_kernel("sum"), out,
           send(numbers))
    assert fetch(out, np.uint32)[0] == numbers.sum()


def test_attributes(code, device):
    """What is known of a kernel, and how many fit."""
    kernel = code.get_kernel("pass")
    assert kernel.attributes.shared_size_bytes == 4
    assert kernel.attributes.max_threads_per_block == device.properties.max_threads_per_block
    assert kernel.attributes.ptx_version == 90
    assert kernel.attributes.num_regs > 0
    assert code.get_kernel("sum").attributes.const_size_bytes >= 4
    occupancy = kernel.occupancy
    blocks = occupancy.max_active_blocks_per_multiprocessor(1024, 0)
    assert blocks == device.properties.max_threads_per_multiprocessor // 1024
    best = occupancy.max_potential_block_size(0, 256)
    assert best.max_block_size == 256
    assert best.min_grid_size == 8 * device.properties.multiprocessor_count
    config = LaunchConfig(grid=16, block=64, cluster=4)
    stream = device.default_stream
    assert occupancy.max_active_clusters(config, stream=stream) > 0
    assert occupancy.max_potential_cluster_size(config, stream=stream) == 8


def test_kernel_of_handle(code):
    """The same kernel by the driver's handle."""
    kernel = code.get_kernel("sum")
    assert Kernel.from_handle(int(kernel.handle)).num_arguments == 2
    with pytest.raises(Exception, match="NOT_FOUND"):
        code.get_kernel("no_such_kernel")


def test_too_many_threads(code, stream):
    """A launch that no device does is refused, and the next one works."""
    with pytest.raises(Exception, match="INVALID_VALUE"):
        launch(stream, LaunchConfig(grid=1, block=2048), code.get_kernel("sum"), 0, 0)
    stream.sync()


def test_cooperative(code, device, stream, fetch):
    """Blocks that wait for each other, and more of them than the device holds at once."""
    kernel, blocks = code.get_kernel("meet"), 2 * device.properties.multiprocessor_count
    arrived, out = (device.allocate(size, stream=stream) for size in (4, 4 * blocks))
    arrived.fill(0, stream=stream)
    launch(stream, LaunchConfig(grid=blocks, block=1, is_cooperative=True), kernel, out, arrived)
    assert (fetch(out, np.uint32) == blocks).all()
    most = kernel.occupancy.max_active_blocks_per_multiprocessor(1024, 0)
    most *= device.properties.multiprocessor_count
    with pytest.raises(ValueError, match=str(most)):
        launch(stream, LaunchConfig(grid=most + 1, block=1024, is_cooperative=True), kernel, out,
               arrived)


def test_cluster(code, device, stream, fetch):
    """Blocks of a cluster write into each other's shared memory. The grid counts clusters."""
    out = device.allocate(4 * 12, stream=stream)
    launch(stream, LaunchConfig(grid=3, cluster=4, block=32), code.get_kernel("pass"), out)
    assert fetch(out, np.uint32).tolist() == [403, 400, 401, 402] * 3


def test_linker(device, stream, fetch):
    """The driver links a kernel to a function of another file."""
    parts = [ObjectCode.from_ptx(str(HERE / name)) for name in ("caller.ptx", "function.ptx")]
    assert Linker.which_backend() == "driver"
    linker = Linker(*parts, options=LinkerOptions(arch="sm_90"))
    linked = linker.link("cubin")
    out = device.allocate(4 * 32, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=32), linked.get_kernel("cubes"), out)
    assert fetch(out, np.uint32).tolist() == [number ** 3 for number in range(32)]


def test_linker_refuses():
    """A function that no input has, and a log with its name."""
    linker = Linker(ObjectCode.from_ptx(str(HERE / "caller.ptx")),
                    options=LinkerOptions(arch="sm_90"))
    with pytest.raises(Exception):
        linker.link("cubin")
    assert "cube" in linker.get_error_log()


def test_program_of_ptx(device, stream, send, fetch):
    """PTX as a program's text."""
    program = Program((HERE / "kernels.ptx").read_text(encoding="utf-8"), "ptx",
                      ProgramOptions(arch="sm_90"))
    kernel = program.compile("cubin").get_kernel("scale")
    out = device.allocate(16, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=32), kernel, out, send(np.ones(4, np.float32)),
           np.float32(2), np.uint32(4))
    assert fetch(out, np.float32).tolist() == [2.5] * 4


def test_bad_ptx():
    """What is no PTX is refused when a kernel is asked for, if not before."""
    with pytest.raises(Exception, match="INVALID_PTX|INVALID_SOURCE|INVALID_IMAGE"):
        ObjectCode.from_ptx(b".version 8.0\n.target sm_90\nnonsense").get_kernel("none")


@pytest.mark.parametrize("address, row, expected", [
    ("clamp", 9, [10, 11, 12, 13, 13, 13]), ("border", 0, [0, 1, 2, 3, 9, 9])])
def test_texture(code, device, stream, fetch, address, row, expected):
    """Reads beside an array by each address mode."""
    array = device.create_opaque_array(OpaqueArrayOptions((4, 3), "float32", 1))
    array.copy_from(np.array([[0, 1, 2, 3], [5, 6, 7, 8], [10, 11, 12, 13]], np.float32),
                    stream=stream)
    texture = device.create_texture_object(
        resource=ResourceDescriptor.from_opaque_array(array),
        options=TextureObjectOptions(address_mode=address, border_color=(9, 9, 9, 9)))
    out = device.allocate(24, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=6), code.get_kernel("texels"), out,
           np.uint64(int(texture.handle)), np.float32(row))
    assert fetch(out, np.float32).tolist() == expected


def test_tensor_map(code, device, stream, send, fetch):
    """A box of a matrix by the copy engine, with zeros beside the matrix."""
    matrix = np.arange(16 * 12, dtype=np.float32).reshape(12, 16)
    view = StridedMemoryView.from_buffer(send(matrix), (12, 16), dtype=np.dtype(np.float32))
    out = device.allocate(128, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=32), code.get_kernel("box"), out,
           view.as_tensor_map((4, 8)), np.int32(12), np.int32(3))
    expected = np.zeros((4, 8), np.float32)
    expected[:, :4] = matrix[3:7, 12:]
    assert np.array_equal(fetch(out, np.float32).reshape(4, 8), expected)

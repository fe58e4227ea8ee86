# SPDX-License-Identifier: MIT
"""cuda.bindings: the driver's own functions, as Python calls them."""
import ctypes
import subprocess
import sys

import numpy as np
import pytest
from conftest import HERE
from cuda.bindings import driver

SUCCESS = driver.CUresult.CUDA_SUCCESS


def good(answer):
    """What a call gives beside its code, which is success."""
    assert answer[0] == SUCCESS, answer[0]
    return answer[1] if len(answer) == 2 else answer[1:]


@pytest.fixture(name="context", autouse=True)
def fixture_context(device):
    """The device's own context, current before and after each test."""
    context = good(driver.cuCtxGetCurrent())
    yield context
    good(driver.cuCtxSynchronize())
    assert int(good(driver.cuCtxGetCurrent())) == int(context)
    assert device.device_id == 0


@pytest.fixture(scope="module", name="module")
def fixture_module(device):  # pylint: disable=unused-argument
    """The kernels as a module."""
    module = good(driver.cuModuleLoadData((HERE / "kernels.ptx").read_bytes()))
    yield module
    good(driver.cuModuleUnload(module))


@pytest.fixture(name="memory")
def fixture_memory():
    """A function: device memory with an array's bytes, freed after the test."""
    blocks = []

    def memory(array):
        blocks.append(good(driver.cuMemAlloc(array.nbytes)))
        good(driver.cuMemcpyHtoD(blocks[-1], array, array.nbytes))
        return blocks[-1]
    yield memory
    for block in blocks:
        good(driver.cuMemFree(block))


def fetch(block, count, dtype):
    """An array of device memory."""
    array = np.zeros(count, dtype)
    good(driver.cuMemcpyDtoH(array, block, array.nbytes))
    return array


def function(module, name):
    """A kernel of a module."""
    return good(driver.cuModuleGetFunction(module, name))


def launch(kernel, threads, parameters, stream=0):
    """One block."""
    good(driver.cuLaunchKernel(kernel, 1, 1, 1, threads, 1, 1, 0, stream, parameters, 0))


def test_errors():
    """Each code has its name; numbers that are no code have none."""
    for code in driver.CUresult:
        assert good(driver.cuGetErrorName(code)).decode() == code.name
        assert len(good(driver.cuGetErrorString(code))) > 3
    assert driver.cuDeviceGet(99)[0] == driver.CUresult.CUDA_ERROR_INVALID_DEVICE
    assert driver.cuMemFree(12345)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    assert driver.cuMemAlloc(1 << 50)[0] == driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY


def test_device_questions():
    """Version, attributes and memory of a device."""
    names = driver.CUdevice_attribute
    assert good(driver.cuDriverGetVersion()) == driver.CUDA_VERSION
    number = good(driver.cuDeviceGet(0))
    assert good(driver.cuDeviceGetAttribute(names.CU_DEVICE_ATTRIBUTE_WARP_SIZE, number)) == 32
    assert good(driver.cuDeviceGetAttribute(
        names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, number)) == 9
    free, total = good(driver.cuMemGetInfo())
    assert 0 < free <= total <= good(driver.cuDeviceTotalMem(number))
    assert len(good(driver.cuDeviceGetUuid(number)).bytes) == 16


def test_contexts(context):
    """A second context of the device, pushed and popped."""
    made = good(driver.cuCtxCreate(None, driver.CUctx_flags.CU_CTX_SCHED_YIELD, 0))
    assert int(good(driver.cuCtxGetCurrent())) == int(made)
    assert good(driver.cuCtxGetFlags()) & driver.CUctx_flags.CU_CTX_SCHED_MASK == \
        driver.CUctx_flags.CU_CTX_SCHED_YIELD
    stack = driver.CUlimit.CU_LIMIT_STACK_SIZE
    good(driver.cuCtxSetLimit(stack, 4096))
    assert good(driver.cuCtxGetLimit(stack)) == 4096
    assert int(good(driver.cuCtxPopCurrent())) == int(made)
    assert int(good(driver.cuCtxGetCurrent())) == int(context)
    good(driver.cuCtxDestroy(made))


@pytest.mark.parametrize("form", ["tuple", "objects", "addresses"])
def test_parameters_of_a_kernel(module, memory, form):
    """Arguments with their C types, as objects with an address, and as a list of addresses."""
    class Pair(ctypes.Structure):
        """The last parameter."""
        _fields_ = [("one", ctypes.c_double), ("two", ctypes.c_double)]

        def getPtr(self):  # pylint: disable=invalid-name
            """What the package asks of an argument without a type."""
            return ctypes.addressof(self)

    out, pair = memory(np.zeros(4)), Pair(2, 0.25)
    types = (ctypes.c_uint64, ctypes.c_uint8, ctypes.c_int16, ctypes.c_double)
    values = (int(out), 250, -7, 1e300)
    if form == "tuple":
        parameters = (values + (pair,), types + (None,))
    elif form == "objects":
        parameters = ((out, *values[1:], pair), (None, *types[1:], None))
    else:
        kept = [make(value) for make, value in zip(types, values)] + [pair]
        addresses = np.array([ctypes.addressof(one) for one in kept], np.uint64)
        parameters = addresses.ctypes.data
    launch(function(module, b"widths"), 1, parameters)
    assert fetch(out, 4, np.float64).tolist() == [250, -7, 1e300, 2.25]


def test_launch_with_attributes(module, memory):
    """A cluster by cuLaunchKernelEx."""
    out = memory(np.zeros(8, np.uint32))
    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = 8, 1, 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 32, 1, 1
    attribute = driver.CUlaunchAttribute()
    attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    attribute.value.clusterDim.x = 2
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1
    config.attrs, config.numAttrs = [attribute], 1
    kernel = function(module, b"pass")
    good(driver.cuLaunchKernelEx(config, kernel, ((out,), (None,)), 0))
    assert fetch(out, 8, np.uint32).tolist() == [201, 200] * 4
    attribute.value.clusterDim.x = 3
    config.attrs = [attribute]
    assert driver.cuLaunchKernelEx(config, kernel, ((out,), (None,)), 0)[0] != SUCCESS


def test_variables(module):
    """A variable and a constant of a module."""
    place, size = good(driver.cuModuleGetGlobal(module, b"calls"))
    assert size == 4
    good(driver.cuMemsetD32(place, 0, 1))
    place, size = good(driver.cuModuleGetGlobal(module, b"offset"))
    assert fetch(place, 1, np.float32)[0] == 0.5
    assert driver.cuModuleGetGlobal(module, b"none")[0] == \
        driver.CUresult.CUDA_ERROR_NOT_FOUND


def test_fills_and_copies(memory):
    """Fills of each width and of rectangles, and copies of rectangles."""
    block, pitch = good(driver.cuMemAllocPitch(20, 3, 4))
    assert pitch >= 20
    good(driver.cuMemsetD2D8(block, pitch, 1, 20, 3))
    good(driver.cuMemsetD2D16(int(block) + pitch + 4, pitch, 0x0203, 2, 2))
    good(driver.cuMemsetD32(int(block) + 2 * pitch, 0x04040404, 1))
    rows, copy = np.zeros((3, 20), np.uint8), driver.CUDA_MEMCPY2D()
    copy.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcDevice, copy.srcPitch = block, pitch
    copy.dstHost, copy.dstPitch = rows.ctypes.data, 20
    copy.WidthInBytes, copy.Height = 20, 3
    good(driver.cuMemcpy2D(copy))
    expected = np.ones((3, 20), np.uint8)
    expected[1:, 4:8] = (3, 2, 3, 2)
    expected[2, :4] = 4
    assert np.array_equal(rows, expected)
    good(driver.cuMemFree(block))
    given, got = bytes(range(64)), bytearray(64)
    block = memory(np.frombuffer(given, np.uint8))
    good(driver.cuMemcpyDtoH(got, block, 64))
    assert bytes(got) == given


def test_pointers():
    """What is known of pinned and of device memory, in Python's types."""
    names = driver.CUpointer_attribute
    pinned = good(driver.cuMemHostAlloc(4096, driver.CU_MEMHOSTALLOC_DEVICEMAP))
    block = good(driver.cuMemAlloc(100))
    for address, kind in ((pinned, driver.CUmemorytype.CU_MEMORYTYPE_HOST),
                          (block, driver.CUmemorytype.CU_MEMORYTYPE_DEVICE)):
        known = good(driver.cuPointerGetAttributes(
            2, [names.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                names.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL], int(address)))
        assert known == [kind, 0]
    base, size = good(driver.cuMemGetAddressRange(int(block) + 50))
    assert int(base) == int(block) and size == 100
    good(driver.cuMemFree(block))
    good(driver.cuMemFreeHost(pinned))


def test_streams_and_events(memory):
    """The host's function runs between a stream's copies; events tell the time between."""
    calls, block = [], memory(np.arange(4, dtype=np.uint8))
    stream = good(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
    events = [good(driver.cuEventCreate(driver.CUevent_flags.CU_EVENT_DEFAULT)) for _ in "12"]
    good(driver.cuEventRecord(events[0], stream))
    back = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(calls.append)
    code = ctypes.cast(back, ctypes.c_void_p)
    host = driver.CUhostFn(_ptr=ctypes.addressof(code))
    got = np.zeros(4, np.uint8)
    good(driver.cuMemsetD8Async(block, 9, 2, stream))
    good(driver.cuMemcpyDtoHAsync(got.ctypes.data, block, 4, stream))
    good(driver.cuLaunchHostFunc(stream, host, 77))
    good(driver.cuEventRecord(events[1], stream))
    good(driver.cuEventSynchronize(events[1]))
    assert got.tolist() == [9, 9, 2, 3] and calls == [77]
    assert good(driver.cuEventElapsedTime(*events)) > 0
    assert driver.cuStreamQuery(stream)[0] == SUCCESS
    for event in events:
        good(driver.cuEventDestroy(event))
    good(driver.cuStreamDestroy(stream))


def test_graph(module, memory):
    """A graph of three nodes; the kernel's arguments change between two launches."""
    out, given = memory(np.zeros(32, np.float32)), memory(np.arange(32, dtype=np.float32))
    got, context = np.zeros(32, np.float32), good(driver.cuCtxGetCurrent())
    params = driver.CUDA_KERNEL_NODE_PARAMS()
    params.func = function(module, b"scale")
    params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1
    params.blockDimX = 32

    def with_factor(factor):
        params.kernelParams = ((out, given, factor, 32),
                               (None, None, ctypes.c_float, ctypes.c_uint))
        return params

    fill = driver.CUDA_MEMSET_NODE_PARAMS()
    fill.dst, fill.value, fill.elementSize, fill.width, fill.height = given, 0, 4, 8, 1
    copy = driver.CUDA_MEMCPY3D()
    copy.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
    copy.srcDevice, copy.dstHost = out, got.ctypes.data
    copy.WidthInBytes, copy.Height, copy.Depth = 128, 1, 1
    graph = good(driver.cuGraphCreate(0))
    first = good(driver.cuGraphAddMemsetNode(graph, None, 0, fill, context))
    kernel = good(driver.cuGraphAddKernelNode(graph, [first], 1, with_factor(2)))
    last = good(driver.cuGraphAddMemcpyNode(graph, [kernel], 1, copy, context))
    assert good(driver.cuGraphNodeGetType(last)) == \
        driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY
    nodes, count = good(driver.cuGraphGetNodes(graph, 3))
    assert count == 3 and {int(node) for node in nodes} == {int(first), int(kernel), int(last)}
    ready = good(driver.cuGraphInstantiate(graph, 0))
    expected = np.where(np.arange(32) < 8, 0, np.arange(32))
    for factor in (2, 5):
        good(driver.cuGraphExecKernelNodeSetParams(ready, kernel, with_factor(factor)))
        good(driver.cuGraphLaunch(ready, 0))
        good(driver.cuStreamSynchronize(0))
        assert np.array_equal(got, expected * factor + 0.5)
    good(driver.cuGraphExecDestroy(ready))
    good(driver.cuGraphDestroy(graph))


def test_addresses_of_functions():
    """A function by its address, and a name that the driver has not."""
    flags = driver.CUdriverProcAddress_flags.CU_GET_PROC_ADDRESS_DEFAULT
    address, status = good(driver.cuGetProcAddress(b"cuDeviceGetCount", 13000, flags))
    assert status == \
        driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SUCCESS
    count = ctypes.c_int()
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int))(int(address))
    assert call(ctypes.byref(count)) == 0
    assert count.value == good(driver.cuDeviceGetCount())
    _, status = good(driver.cuGetProcAddress(b"cuNoSuchFunction", 13000, flags))
    assert status == \
        driver.CUdriverProcAddressQueryResult.CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND


def test_virtual_memory():
    """One physical block at two addresses; a third by the file that stands for it."""
    props = driver.CUmemAllocationProp()
    props.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    props.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    posix = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    props.requestedHandleTypes = posix
    size = good(driver.cuMemGetAllocationGranularity(
        props, driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM))
    access = driver.CUmemAccessDesc()
    access.location = props.location
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    block = good(driver.cuMemCreate(size, props, 0))
    file = good(driver.cuMemExportToShareableHandle(block, posix, 0))
    same = good(driver.cuMemImportFromShareableHandle(int(file), posix))
    room = good(driver.cuMemAddressReserve(3 * size, 0, 0, 0))
    for number, handle in enumerate((block, block, same)):
        good(driver.cuMemMap(int(room) + number * size, size, 0, handle, 0))
    good(driver.cuMemSetAccess(room, 3 * size, [access], 1))
    good(driver.cuMemsetD8(room, 6, size))
    assert (fetch(int(room) + size, size, np.uint8) == 6).all()
    assert (fetch(int(room) + 2 * size, size, np.uint8) == 6).all()
    good(driver.cuMemUnmap(room, 3 * size))
    good(driver.cuMemAddressFree(room, 3 * size))
    for handle in (block, same):
        good(driver.cuMemRelease(handle))


def test_array(memory):
    """Rows into a CUDA array and back."""
    layout = driver.CUDA_ARRAY_DESCRIPTOR()
    layout.Width, layout.Height, layout.NumChannels = 16, 4, 2
    layout.Format = driver.CUarray_format.CU_AD_FORMAT_FLOAT
    array = good(driver.cuArrayCreate(layout))
    told = good(driver.cuArrayGetDescriptor(array))
    assert (told.Width, told.Height, told.NumChannels, told.Format) == \
        (16, 4, 2, driver.CUarray_format.CU_AD_FORMAT_FLOAT)
    numbers = np.arange(128, dtype=np.float32)
    block, back = memory(numbers), memory(np.zeros(128, np.float32))
    kinds = driver.CUmemorytype
    there = driver.CUDA_MEMCPY2D()
    there.srcMemoryType, there.srcDevice, there.srcPitch = kinds.CU_MEMORYTYPE_DEVICE, block, 128
    there.dstMemoryType, there.dstArray = kinds.CU_MEMORYTYPE_ARRAY, array
    there.WidthInBytes, there.Height = 128, 4
    here = driver.CUDA_MEMCPY2D()
    here.srcMemoryType, here.srcArray, here.srcY = kinds.CU_MEMORYTYPE_ARRAY, array, 1
    here.dstMemoryType, here.dstDevice, here.dstPitch = kinds.CU_MEMORYTYPE_DEVICE, back, 128
    here.WidthInBytes, here.Height = 128, 3
    good(driver.cuMemcpy2D(there))
    good(driver.cuMemcpy2D(here))
    assert np.array_equal(fetch(back, 96, np.float32), numbers[32:])
    good(driver.cuArrayDestroy(array))


def test_fault():
    """An address that is nobody's ends the process's work for good."""
    program = f"""
from cuda.bindings import driver as d
def code(answer): return answer[0].name
d.cuInit(0); context = d.cuDevicePrimaryCtxRetain(0)[1]; d.cuCtxSetCurrent(context)
module = d.cuModuleLoad({str(HERE / "kernels.ptx").encode()!r})[1]
kernel = d.cuModuleGetFunction(module, b"sum")[1]
import ctypes
given = ((64, 64), (ctypes.c_uint64, ctypes.c_uint64))
print(code(d.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 128, 0, given, 0)))
print(code(d.cuCtxSynchronize()), code(d.cuMemAlloc(64)), code(d.cuStreamCreate(0)))
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True).stdout.split()
    assert said == ["CUDA_SUCCESS"] + ["CUDA_ERROR_ILLEGAL_ADDRESS"] * 3

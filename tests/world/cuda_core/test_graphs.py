# SPDX-License-Identifier: MIT
"""cuda.core: graphs, captured and built by nodes."""
import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import GraphMemoryResource, LaunchConfig, LegacyPinnedMemoryResource, launch
from cuda.core.graph import GraphCompleteOptions, GraphDefinition

ONE = LaunchConfig(grid=1, block=32)
COUNT = 32


@pytest.fixture(name="scale")
def fixture_scale(code):
    """The kernel's arguments: out, in, factor."""
    kernel = code.get_kernel("scale")

    def scale(out, given, factor):
        return ONE, kernel, out, given, np.float32(factor), np.uint32(COUNT)
    return scale


@pytest.fixture(name="numbers")
def fixture_numbers(send):
    """0 to 31 on the device, and a function for what they are."""
    return send(np.arange(COUNT, dtype=np.float32))


def test_capture(device, stream, scale, numbers, fetch):
    """A captured graph does nothing until it is launched, and then it does so each time."""
    builder = device.create_graph_builder().begin_building()
    launch(builder, *scale(numbers, numbers, 2))
    launch(builder, *scale(numbers, numbers, 1))
    assert builder.is_building
    graph = builder.end_building().complete()
    assert np.array_equal(fetch(numbers, np.float32), np.arange(COUNT))
    expected = np.arange(COUNT, dtype=np.float32)
    for _ in range(3):
        graph.launch(stream)
        expected = expected * 2 + 1
        assert np.array_equal(fetch(numbers, np.float32), expected)
    graph.close()


def test_fork_and_join(device, stream, scale, numbers, fetch):
    """Two branches of a capture, which meet."""
    left, right, both = (device.allocate(numbers.size, stream=stream) for _ in range(3))
    stream.sync()
    builder = device.create_graph_builder().begin_building()
    launch(builder, *scale(numbers, numbers, 1))
    one, two = builder.split(2)
    launch(one, *scale(left, numbers, 2))
    launch(two, *scale(right, numbers, 3))
    builder = one.join(one, two)
    launch(builder, *scale(both, right, 1))
    builder.end_building()
    definition = builder.graph_definition
    assert len(definition.nodes()) == 4 and len(definition.edges()) == 4
    builder.complete().launch(stream)
    start = np.arange(COUNT) + 0.5
    assert np.array_equal(fetch(left, np.float32), start * 2 + 0.5)
    assert np.array_equal(fetch(both, np.float32), start * 3 + 1)


def test_update(device, stream, scale, numbers, fetch):
    """A graph takes the arguments of another of the same form."""
    def captured(factor):
        builder = device.create_graph_builder().begin_building()
        launch(builder, *scale(numbers, numbers, factor))
        return builder.end_building()

    graph = captured(10).complete()
    graph.update(captured(4))
    graph.launch(stream)
    assert np.array_equal(fetch(numbers, np.float32), np.arange(COUNT) * 4 + 0.5)


def test_nodes(stream, scale, numbers, fetch):
    """A chain of a memset, a copy, a kernel and a call of the host."""
    pinned = LegacyPinnedMemoryResource().allocate(numbers.size)
    host = np.from_dlpack(pinned).view(np.float32)
    seen = []
    definition = GraphDefinition()
    node = definition.memset(numbers, np.uint32(0x40000000), numbers.size // 4)  # 2.0
    node = node.launch(*scale(numbers, numbers, 3))
    node = node.memcpy(pinned, numbers, numbers.size)
    node = node.callback(lambda: seen.append(host.copy()))
    assert [len(definition.nodes()), len(definition.edges()), len(node.pred)] == [4, 3, 1]
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    assert (host == 6.5).all() and (seen[0] == 6.5).all()
    assert (fetch(numbers, np.float32) == 6.5).all()


def test_loop(code, stream, send, fetch):
    """A loop whose kernel ends it."""
    count = send(np.zeros(1, np.uint32))
    definition = GraphDefinition()
    condition = definition.create_condition(default_value=1)
    definition.while_loop(condition).body.launch(
        LaunchConfig(grid=1, block=1), code.get_kernel("advance"), count, condition,
        np.uint32(7))
    graph = definition.instantiate()
    for _ in range(2):
        graph.launch(stream)
    # The second launch enters the body once more, as the condition's first value is 1.
    assert fetch(count, np.uint32).tolist() == [8]


@pytest.mark.parametrize("limit, expected", [(1, [1, 0]), (2, [1, 1])])
def test_if(code, device, stream, send, fetch, limit, expected):
    """A body that runs where a kernel of the same capture says so."""
    counts = [send(np.zeros(1, np.uint32)) for _ in range(2)]
    one, advance = LaunchConfig(grid=1, block=1), code.get_kernel("advance")
    builder = device.create_graph_builder().begin_building()
    condition = builder.create_condition(default_value=0)
    launch(builder, one, advance, counts[0], condition, np.uint32(limit))
    body = builder.if_then(condition).begin_building()
    launch(body, one, advance, counts[1], condition, np.uint32(9))
    body.end_building()
    builder.end_building().complete().launch(stream)
    assert [int(fetch(count, np.uint32)[0]) for count in counts] == expected


def test_memory_of_a_graph(device, stream, scale, numbers, fetch):
    """Memory that a graph takes and gives back, counted."""
    memory = GraphMemoryResource(device)
    memory.trim()
    builder = device.create_graph_builder().begin_building()
    block = memory.allocate(numbers.size, stream=builder.stream)
    launch(builder, *scale(block, numbers, 2))
    launch(builder, *scale(numbers, block, 2))
    block.close(builder.stream)
    graph = builder.end_building().complete(GraphCompleteOptions(auto_free_on_launch=True))
    graph.launch(stream)
    assert np.array_equal(fetch(numbers, np.float32), (np.arange(COUNT) * 2 + 0.5) * 2 + 0.5)
    assert memory.attributes.reserved_mem_current > 0
    graph.close()
    memory.trim()
    assert memory.attributes.reserved_mem_current == 0


def test_children(stream, scale, numbers, fetch):
    """A graph in a graph, twice."""
    child = GraphDefinition()
    child.launch(*scale(numbers, numbers, 2))
    parent = GraphDefinition()
    parent.embed(child).embed(child)
    parent.instantiate().launch(stream)
    assert np.array_equal(fetch(numbers, np.float32), np.arange(COUNT) * 4 + 1.5)


def test_capture_refuses(device, stream):
    """What waits for the device has no place in a capture, which is lost."""
    builder = device.create_graph_builder().begin_building("global")
    error = driver.cuStreamSynchronize(builder.stream.handle)[0]
    assert error == driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    with pytest.raises(RuntimeError, match="invalidated"):
        builder.end_building()
    with pytest.raises(Exception, match="CAPTURE_INVALIDATED"):
        builder.close()
    stream.sync()

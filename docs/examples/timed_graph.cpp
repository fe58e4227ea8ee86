// SPDX-License-Identifier: MIT
// The owners of C++ without exceptions: every call returns its code, and the first failure is kept.
// A graph of two fills, launched many times, and the time that it takes.
#include <cstdio>

#include <cushim/cushim.hpp>

static const std::size_t count = 1 << 20;
static const int times = 20;

// What fails is in the device's outcome; the owners release what there is by then.
static bool measure(cushim::unique_device &gpu)
{
    const struct cushim_api *cu = gpu.table();
    struct cushim_outcome *outcome = gpu.outcome();
    cushim::unique_memory<unsigned> numbers;
    cushim::unique_stream stream;
    cushim::unique_event start, end;
    cushim::unique_graph graph;
    unsigned last = 0;
    float milliseconds = 0;

    auto fill_twice = [&]() {
        CUresult code = cushim_fill_32_async(cu, numbers.address(), 1, count, stream.get());
        return code ? code : cushim_fill_32_async(cu, numbers.address(), 2, count, stream.get());
    };
    if (!CUSHIM_KEEP(outcome, numbers.create(gpu, count)) ||
        !CUSHIM_KEEP(outcome, stream.create(gpu)) || !CUSHIM_KEEP(outcome, start.create(gpu)) ||
        !CUSHIM_KEEP(outcome, end.create(gpu)) ||
        !CUSHIM_KEEP(outcome, graph.capture(stream, fill_twice)) ||
        !CUSHIM_KEEP(outcome, start.try_record(stream.get())))
        return false;
    for (int i = 0; i < times; i++)
        if (!CUSHIM_KEEP(outcome, graph.try_launch(stream.get())))
            return false;
    if (!CUSHIM_KEEP(outcome, end.try_record(stream.get())) ||
        !CUSHIM_KEEP(outcome, end.try_synchronize()) ||
        !CUSHIM_KEEP(outcome, end.try_since(start, &milliseconds)) ||
        !CUSHIM_KEEP(outcome,
                     gpu.try_copy(cushim::host_span<unsigned>(&last, 1), numbers.part(0, 1))))
        return false;
    std::printf("%d launches of a graph: %.3f ms\n", times, static_cast<double>(milliseconds));
    return last == 2;
}

int main()
{
    cushim::unique_device gpu;
    if (gpu.enter(cushim_load(nullptr)) != CUDA_SUCCESS) {
        std::printf("skipped: %s\n", gpu.message());
        return 77;
    }
    const bool good = measure(gpu);
    if (gpu.leave() != CUDA_SUCCESS)
        std::printf("%s\n", gpu.message());
    return good ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* Run with --fault cuStreamEndCapture:call=1. The owner of a graph tells it, and the stream
 * captures no longer. */
#include <cushim/cushim.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

int main()
{
    try {
        const cushim::unique_device gpu(cushim_load(nullptr));
        const cushim::unique_stream stream(gpu);
        const cushim::unique_memory<int> memory(gpu, 4);
        cushim::unique_graph graph;
        const CUresult code =
            graph.capture(gpu.table(), stream.get(), [&]() { return stream.try_fill(memory, 7); });
        const bool told = std::strstr(cushim_last_error(), "graph: cuStreamEndCapture: ");
        std::vector<int> back(4);
        stream.fill(memory, 5);
        stream.copy(back, memory);
        stream.synchronize();
        return code == CUDA_ERROR_OUT_OF_MEMORY && told && !graph && back[3] == 5 ? 0 : 1;
    } catch (const cushim::call_error &error) {
        std::puts(error.what());
        return 1;
    }
}

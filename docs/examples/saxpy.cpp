// SPDX-License-Identifier: MIT
// The same in C++: owners that release what they hold, exceptions, and a launch whose arguments'
// types are those of the kernel.
#include <cmath>
#include <cstdio>
#include <vector>

#include <cushim/cushim.hpp>

#include "saxpy_ptx.h"

static void saxpy(const struct cushim_api *cu, float a, const std::vector<float> &x,
                  std::vector<float> &y)
{
    cushim::unique_device gpu(cu);
    cushim::unique_module code(gpu, saxpy_ptx, sizeof saxpy_ptx);
    cushim::unique_stream stream(gpu);
    cushim::unique_memory<float> device_x(gpu, x), device_y(gpu, y);
    const unsigned count = static_cast<unsigned>(x.size());

    stream.launch(code.function("saxpy"), cushim_launch_1d(count, 256, nullptr), count, a, device_x,
                  device_y);
    stream.copy(y, device_y);
    stream.synchronize();
}

int main()
{
    std::vector<float> x, y;
    for (int i = 0; i < 10000; i++) {
        x.push_back(static_cast<float>(i) / 3);
        y.push_back(static_cast<float>(i) / 7);
    }
    std::vector<float> result = y;
    try {
        saxpy(cushim_load(nullptr), 2, x, result);
    } catch (const cushim::call_error &error) {
        std::printf("%s%s\n", error.code() == CUDA_ERROR_NO_DEVICE ? "skipped: " : "",
                    error.what());
        return error.code() == CUDA_ERROR_NO_DEVICE ? 77 : 1;
    }
    for (std::size_t i = 0; i < y.size(); i++)
        if (result[i] != std::fma(2.0f, x[i], y[i]))
            return 1;
    std::puts("every element correct");
    return 0;
}

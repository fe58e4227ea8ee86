// SPDX-License-Identifier: MIT
// The same helpers in C++: a launch whose arguments' types are checked, and owners that release
// what they hold when an exception passes.
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <cushim/context.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#include "saxpy_ptx.h"

static void check(CUresult code)
{
    if (code != CUDA_SUCCESS)
        throw std::runtime_error(std::string(cushim_error_name(code)) + ": " + cushim_last_error());
}

struct primary_context {
    const struct cushim_api *const cu;
    CUcontext handle = nullptr;
    struct cushim_scope scope = {};

    explicit primary_context(const struct cushim_api *instance) : cu(instance)
    {
        check(cushim_primary_retain(cu, 0, &handle));
        CUresult code = cushim_scope_enter(cu, handle, &scope);
        if (code != CUDA_SUCCESS)
            cushim_primary_release(cu, 0);
        check(code);
    }
    primary_context(const primary_context &) = delete;
    primary_context &operator=(const primary_context &) = delete;
    ~primary_context()
    {
        cushim_scope_leave(&scope, CUDA_SUCCESS);
        cushim_primary_release(cu, 0);
    }
};

struct module_owner {
    const struct cushim_api *const cu;
    CUmodule handle = nullptr;

    template <std::size_t bytes>
    module_owner(const struct cushim_api *instance, const char (&ptx)[bytes]) : cu(instance)
    {
        check(cushim_module_load(cu, ptx, bytes, nullptr, nullptr, &handle));
    }
    module_owner(const module_owner &) = delete;
    module_owner &operator=(const module_owner &) = delete;
    ~module_owner()
    {
        cushim_module_unload(cu, handle);
    }
};

struct device_floats {
    const struct cushim_api *const cu;
    CUdeviceptr address = 0;
    const std::size_t bytes;

    device_floats(const struct cushim_api *instance, const std::vector<float> &values)
        : cu(instance), bytes(values.size() * sizeof(float))
    {
        check(cushim_memory_alloc(cu, bytes, &address));
        CUresult code = cushim_copy_to_device(cu, address, values.data(), bytes);
        if (code != CUDA_SUCCESS)
            cushim_memory_free(cu, address);
        check(code);
    }
    device_floats(const device_floats &) = delete;
    device_floats &operator=(const device_floats &) = delete;
    ~device_floats()
    {
        cushim_memory_free(cu, address);
    }
};

static void saxpy(const struct cushim_api *cu, float a, const std::vector<float> &x,
                  std::vector<float> &y)
{
    primary_context context(cu);
    module_owner module(cu, saxpy_ptx);
    device_floats device_x(cu, x), device_y(cu, y);
    CUfunction function = nullptr;
    const unsigned count = static_cast<unsigned>(x.size());
    const struct cushim_launch launch = cushim_launch_1d(count, 256, nullptr);

    check(cushim_module_function(cu, module.handle, "saxpy", &function));
    check(CUSHIM_LAUNCH(cu, function, &launch, count, a, device_x.address, device_y.address));
    check(cushim_copy_to_host(cu, y.data(), device_y.address, device_y.bytes));
}

int main()
{
    const struct cushim_api *cu = cushim_load(NULL);
    if (cushim_init(cu) != CUSHIM_OK) {
        std::printf("skipped: %s\n", cushim_message(cu));
        return 77;
    }
    std::vector<float> x, y;
    for (int i = 0; i < 10000; i++) {
        x.push_back(static_cast<float>(i) / 3);
        y.push_back(static_cast<float>(i) / 7);
    }
    try {
        std::vector<float> result = y;
        saxpy(cu, 2, x, result);
        for (std::size_t i = 0; i < y.size(); i++)
            if (result[i] != std::fma(2.0f, x[i], y[i]))
                throw std::runtime_error("element " + std::to_string(i) + " is wrong");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    std::puts("every element correct");
    return 0;
}

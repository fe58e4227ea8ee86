/* SPDX-License-Identifier: MIT */
#include <vector>
#include <gtest/gtest.h>
#include <cushim/cushim.hpp>
#include <cushim/sim.h>

static std::vector<int> round_trip(const cushim_api *cu, const std::vector<int> &numbers)
{
    std::vector<int> result(numbers.size());
    cushim::unique_device gpu(cu);
    cushim::unique_stream stream(gpu);
    cushim::unique_memory<int> memory(gpu, numbers);
    stream.copy(result, memory);
    stream.synchronize();
    return result;
}

class OnCuda : public testing::TestWithParam<int>
{
  protected:
    void SetUp() override
    {
        cushim_sim_options options = {};
        options.size = sizeof options;
        options.cuda = GetParam();
        cu = cushim_sim_open(&options);
        ASSERT_TRUE(cu) << cushim_last_error();
        ASSERT_EQ(cushim_driver_version(cu), GetParam());
    }
    void TearDown() override
    {
        const char *rule = cushim_sim_unfired(), *leaks = cushim_sim_leaks();
        EXPECT_FALSE(rule) << rule << " never fired";
        EXPECT_FALSE(leaks) << "not released: " << leaks;
        cushim_close(cu);
        EXPECT_TRUE(cushim_sim_reset()) << cushim_last_error();
    }
    const cushim_api *cu = nullptr;
    const std::vector<int> numbers{1, 2, 3};
};

TEST_P(OnCuda, CopiesThroughTheDevice)
{
    EXPECT_EQ(round_trip(cu, numbers), numbers);
}

TEST_P(OnCuda, SaysThatMemoryIsShort)
{
    ASSERT_TRUE(cushim_sim_fault("cuMemAlloc:error=OUT_OF_MEMORY")) << cushim_last_error();
    try {
        round_trip(cu, numbers);
        FAIL() << "no exception";
    } catch (const cushim::call_error &error) {
        EXPECT_EQ(error.code(), CUDA_ERROR_OUT_OF_MEMORY);
    }
}

INSTANTIATE_TEST_SUITE_P(Releases, OnCuda, testing::Values(9000, 11040, 12020, 13000));

/* SPDX-License-Identifier: MIT */
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <cushim/cushim.hpp>
#include <cushim/sim.h>

static std::vector<int> round_trip(const cushim_api *cu, const std::vector<int> &numbers)
{
    std::vector<int> result(numbers.size());
    cushim::unique_device gpu(cu);
    gpu.copy(result, cushim::unique_memory<int>(gpu, numbers));
    return result;
}

struct simulated {
    explicit simulated(int cuda)
    {
        cushim_sim_options options = {};
        options.size = sizeof options;
        options.cuda = cuda;
        cu = cushim_sim_open(&options);
        INFO(cushim_last_error());
        REQUIRE(cu);
        REQUIRE(cushim_driver_version(cu) == cuda);
    }
    ~simulated()
    {
        CHECK(cushim_sim_unfired() == nullptr);
        CHECK(cushim_sim_leaks() == nullptr);
        cushim_close(cu);
        CHECK(cushim_sim_reset());
    }
    const cushim_api *cu;
};

TEST_CASE("numbers come back from the device")
{
    simulated driver(GENERATE(9000, 11040, 12020, 13000));
    const std::vector<int> numbers{1, 2, 3};
    SECTION("as they were")
    {
        CHECK(round_trip(driver.cu, numbers) == numbers);
    }
    SECTION("or the caller learns why not")
    {
        REQUIRE(cushim_sim_fault("cuMemcpyDtoH:error=ILLEGAL_ADDRESS"));
        CHECK_THROWS_AS(round_trip(driver.cu, numbers), cushim::call_error);
    }
}

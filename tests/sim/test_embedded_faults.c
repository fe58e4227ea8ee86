/* SPDX-License-Identifier: MIT */
/* cushim/sim.h: when rules of faults begin, what they count, and how a wrong one is refused. */
#include "embedded_test.h"

/* The settings are those of the open: a rule before it starts no driver. */
static void before_an_open(void)
{
    EXPECT(cushim_sim_fault("missing:cuMemAllocManaged;cuInit:call=2,error=3"));
    const struct cushim_api *cu =
        embedded_open((struct cushim_sim_options){.cuda = 9000, .devices = 2});
    int count = 0;
    EXPECT(cushim_driver_version(cu) == 9000 && !cushim_has(cu, "cuMemAllocManaged"));
    GOOD(cu->cuInit(0));
    EXPECT(cu->cuInit(0) == CUDA_ERROR_NOT_INITIALIZED && !cushim_sim_unfired());
    GOOD(cu->cuDeviceGetCount(&count));
    EXPECT(count == 2);
}

/* The program's calls are counted from the rule on, and what a loader looks up is none of them. */
static void lost_by_number(void)
{
    static const int releases[] = {9000, 12020, 13000};
    static const char rule[] = "device-lost:device=0,call=3";
    char name[64];
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        const struct cushim_api *cu =
            embedded_open((struct cushim_sim_options){.cuda = releases[i], .faults = rule});
        for (int again = 0; again < 2; again++) {
            void *found = NULL;
            int version = 0;
            GOOD(cu->cuInit(0));
            if (releases[i] >= 12000)
                GOOD(cu->cuGetProcAddress_v2("cuInit", &found, 12000, 0, NULL));
            GOOD(cu->cuDriverGetVersion(&version));
            GOOD(cu->cuDeviceGetName(name, sizeof name, 0));
            EXPECT(cushim_sim_unfired());
            EXPECT(cu->cuDeviceGetName(name, sizeof name, 0) == CUDA_ERROR_UNKNOWN);
            EXPECT(!cushim_sim_unfired());
            cushim_sim_clear_faults();
            EXPECT(cushim_sim_fault(rule));
        }
        cushim_close(cu);
        EXPECT(cushim_sim_reset());
    }
}

/* The first call of all is the program's. */
static void first_of_all(void)
{
    const struct cushim_api *cu = embedded_open(
        (struct cushim_sim_options){.cuda = 12020, .faults = "*:call=1,error=3"});
    EXPECT(cu->cuInit(0) == CUDA_ERROR_NOT_INITIALIZED && !cushim_sim_unfired());
    GOOD(cu->cuInit(0));
}

static void test_counting(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(before_an_open), 0);
    assert_int_equal(embedded_in_child(lost_by_number), 0);
    assert_int_equal(embedded_in_child(first_of_all), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

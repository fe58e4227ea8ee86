/* SPDX-License-Identifier: MIT */
/* cushim/sim.h: how the driver is opened, and with what options. */
#include "embedded_test.h"

static int device_count(const struct cushim_api *cu)
{
    int count = -1;
    GOOD(cu->cuInit(0));
    GOOD(cu->cuDeviceGetCount(&count));
    return count;
}

static int capability(const struct cushim_api *cu)
{
    int major = 0, minor = 0;
    GOOD(cu->cuInit(0));
    GOOD(cu->cuDeviceGetAttribute(&major, (CUdevice_attribute)75, 0));
    GOOD(cu->cuDeviceGetAttribute(&minor, (CUdevice_attribute)76, 0));
    return 10 * major + minor;
}

static void defaults(void)
{
    const struct cushim_api *cu = cushim_sim_open(NULL);
    EXPECT(cu && cushim_status(cu) == CUSHIM_OK);
    EXPECT(cushim_driver_version(cu) == cushim_registry_version());
    EXPECT(device_count(cu) == 1 && capability(cu) == 80);
    EXPECT(cushim_has(cu, "cuMemAlloc_v2"));
    cushim_close(cu);
}

static void all_zero(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){0});
    EXPECT(cushim_driver_version(cu) == cushim_registry_version());
    EXPECT(device_count(cu) == 1 && capability(cu) == 80);
    cushim_close(cu);
}

static void oldest(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){.cuda = 6050});
    EXPECT(cushim_driver_version(cu) == 6050);
    EXPECT(cushim_has(cu, "cuMemAlloc_v2") && !cushim_has(cu, "cuGetProcAddress"));
    EXPECT(embedded_start(cu));
}

static void no_device(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){.devices = -1});
    EXPECT(cu->cuInit(0) == CUDA_ERROR_NO_DEVICE);
}

static void most_devices(void)
{
    const struct cushim_api *cu = embedded_open(
        (struct cushim_sim_options){.devices = 64, .profile = "ada", .memory = 256 << 20});
    size_t total = 0;
    EXPECT(device_count(cu) == 64 && capability(cu) == 89);
    GOOD(cu->cuDeviceTotalMem_v2(&total, 63));
    EXPECT(total == 256 << 20);
}

static void strings_are_copied(void)
{
    char profile[] = "turing", faults[] = "cuInit:call=2,error=3";
    const struct cushim_api *cu =
        embedded_open((struct cushim_sim_options){.profile = profile, .faults = faults});
    memset(profile, 'x', sizeof profile - 1);
    memset(faults, 'x', sizeof faults - 1);
    EXPECT(capability(cu) == 75);
    EXPECT(cu->cuInit(0) == CUDA_ERROR_NOT_INITIALIZED);
}

/* Of the environment; options of the program's own do not take any. */
static void environment(void)
{
    setenv("CUSHIM_SIM_CUDA", "11.2", 1);
    setenv("CUSHIM_SIM_DEVICES", "3", 1);
    setenv("CUSHIM_SIM_PROFILE", "ampere", 1);
    setenv("CUSHIM_SIM_FAULT", "cuDeviceGetName", 1);
}

static void environment_with_defaults(void)
{
    char name[64];
    environment();
    const struct cushim_api *cu = cushim_sim_open(NULL);
    EXPECT(cu && cushim_driver_version(cu) == 11020);
    EXPECT(device_count(cu) == 3 && capability(cu) == 80);
    EXPECT(cu->cuDeviceGetName(name, sizeof name, 0) == CUDA_ERROR_UNKNOWN);
}

static void environment_with_options(void)
{
    char name[64];
    environment();
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){.cuda = 12040});
    EXPECT(cushim_driver_version(cu) == 12040);
    EXPECT(device_count(cu) == 1 && capability(cu) == 80);
    GOOD(cu->cuDeviceGetName(name, sizeof name, 0));
}

static void test_open(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(defaults), 0);
    assert_int_equal(embedded_in_child(all_zero), 0);
    assert_int_equal(embedded_in_child(oldest), 0);
    assert_int_equal(embedded_in_child(no_device), 0);
    assert_int_equal(embedded_in_child(most_devices), 0);
    assert_int_equal(embedded_in_child(strings_are_copied), 0);
    assert_int_equal(embedded_in_child(environment_with_defaults), 0);
    assert_int_equal(embedded_in_child(environment_with_options), 0);
}

static void refused(struct cushim_sim_options options, const char *words)
{
    cushim_last_error_clear();
    EXPECT(!cushim_sim_open(&options));
    EXPECT(strstr(cushim_last_error(), "cushim_sim_open: ") == cushim_last_error());
    EXPECT(strstr(cushim_last_error(), words));
}

static void bad_options(void)
{
    const size_t size = sizeof(struct cushim_sim_options);
    int newer = cushim_registry_version() + 10;
    refused((struct cushim_sim_options){0}, "size");
    refused((struct cushim_sim_options){.size = size - 1}, "size");
    refused((struct cushim_sim_options){.size = size + 8}, "size");
    refused((struct cushim_sim_options){.size = size, .cuda = -1}, "cuda");
    refused((struct cushim_sim_options){.size = size, .cuda = 6000}, "cuda");
    refused((struct cushim_sim_options){.size = size, .cuda = 12041}, "cuda");
    refused((struct cushim_sim_options){.size = size, .cuda = 12}, "cuda");
    refused((struct cushim_sim_options){.size = size, .cuda = newer}, "cuda");
    refused((struct cushim_sim_options){.size = size, .devices = -2}, "devices");
    refused((struct cushim_sim_options){.size = size, .devices = 65}, "devices");
    refused((struct cushim_sim_options){.size = size, .profile = "kepler"}, "profile");
    refused((struct cushim_sim_options){.size = size, .cuda = 9000, .profile = "hopper"}, "newer");
    refused((struct cushim_sim_options){.size = size, .profile = ""}, "profile");
    refused((struct cushim_sim_options){.size = size, .workers = 1025}, "workers");
    refused((struct cushim_sim_options){.size = size, .faults = "cuFoo"}, "\"cuFoo\": no entry");
    refused((struct cushim_sim_options){.size = size, .log = "/nonexistent/log"}, "No such file");
}

/* A refusal leaves nothing behind: the next options are taken. */
static void good_after_bad(void)
{
    const size_t size = sizeof(struct cushim_sim_options);
    refused((struct cushim_sim_options){.size = size, .cuda = 11020, .faults = "cuInit;cuFoo"},
            "\"cuFoo\"");
    refused((struct cushim_sim_options){.size = size, .cuda = 11020, .devices = 65}, "devices");
    const struct cushim_api *cu =
        embedded_open((struct cushim_sim_options){.cuda = 12040, .devices = 2});
    EXPECT(cushim_driver_version(cu) == 12040 && device_count(cu) == 2);
}

static void test_bad_options(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(bad_options), 0);
    assert_int_equal(embedded_in_child(good_after_bad), 0);
}

static void two_opens(void)
{
    const struct cushim_api *first =
        embedded_open((struct cushim_sim_options){.cuda = 11080, .devices = 2});
    const struct cushim_api *second = embedded_open((struct cushim_sim_options){
        .cuda = 12040, .devices = 5, .faults = "cuCtxSynchronize:error=4"});
    const struct cushim_api *api = embedded_start(first);
    EXPECT(first != second && cushim_driver_version(second) == 11080);
    EXPECT(device_count(second) == 2);
    EXPECT(api->cuCtxSynchronize_v1() == CUDA_ERROR_DEINITIALIZED);
    EXPECT(second->cuCtxSynchronize_v1() == CUDA_ERROR_DEINITIALIZED);
    cushim_close(first);
    EXPECT(cushim_sim_live("context") == 1);
    cushim_sim_clear_faults();
    GOOD(second->cuCtxSynchronize_v1());
    cushim_close(second);
    EXPECT(cushim_sim_live("context") == 1);
}

static void test_two_opens(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(two_opens), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_two_opens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

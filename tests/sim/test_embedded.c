/* SPDX-License-Identifier: MIT */
/* cushim/sim.h: how the driver is opened, and with what options. */
#include "embedded_test.h"

#include <cushim/context.h>

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

/* Of the environment: for what the program's options leave zero. */
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
    EXPECT(device_count(cu) == 3 && capability(cu) == 80);
    EXPECT(cu->cuDeviceGetName(name, sizeof name, 0) == CUDA_ERROR_UNKNOWN);
}

static void environment_with_zeros(void)
{
    environment();
    setenv("CUSHIM_SIM_PROFILE", "turing", 1);
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){.devices = 2});
    EXPECT(cushim_driver_version(cu) == 11020);
    EXPECT(device_count(cu) == 2 && capability(cu) == 75);
}

static void environment_of_no_release(void)
{
    setenv("CUSHIM_SIM_CUDA", "11.9", 1);
    const struct cushim_api *cu = cushim_sim_open(NULL);
    EXPECT(cu && cushim_driver_version(cu) == cushim_registry_version());
}

static void environment_is_overruled(void)
{
    char name[64];
    environment();
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){
        .cuda = 12040, .devices = -1, .profile = "ada", .faults = "cuInit:error=3"});
    EXPECT(cushim_driver_version(cu) == 12040);
    EXPECT(cu->cuInit(0) == CUDA_ERROR_NOT_INITIALIZED);
    cushim_sim_clear_faults();
    EXPECT(cu->cuInit(0) == CUDA_ERROR_NO_DEVICE);
    EXPECT(cu->cuDeviceGetName(name, sizeof name, 0) != CUDA_ERROR_UNKNOWN);
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
    assert_int_equal(embedded_in_child(environment_with_zeros), 0);
    assert_int_equal(embedded_in_child(environment_of_no_release), 0);
    assert_int_equal(embedded_in_child(environment_is_overruled), 0);
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
    refused((struct cushim_sim_options){0}, "size: 0 is not ");
    refused((struct cushim_sim_options){.size = size - 1}, "; set it to sizeof(struct cushim_sim");
    refused((struct cushim_sim_options){.size = size + 8}, "size: ");
    refused((struct cushim_sim_options){.size = size, .cuda = -1}, "cuda: -1 is no release");
    refused((struct cushim_sim_options){.size = size, .cuda = 6000}, "cuda: 6000 is");
    refused((struct cushim_sim_options){.size = size, .cuda = 9020},
            "cuda: 9020 is no release that is simulated; ");
    refused((struct cushim_sim_options){.size = size, .cuda = 12041}, "cuda: 12041 is");
    refused((struct cushim_sim_options){.size = size, .cuda = 12}, "times the minor number");
    refused((struct cushim_sim_options){.size = size, .cuda = 7777}, "takes one of 6.5 8.0 9.0 ");
    refused((struct cushim_sim_options){.size = size, .cuda = 11090}, "cuda: 11090 is no release");
    refused((struct cushim_sim_options){.size = size, .faults = "cuInit:error=OUT_OF_MEMROY"},
            "did you mean OUT_OF_MEMORY?");
    refused((struct cushim_sim_options){.size = size, .faults = "cuInit:call=0"},
            "faults: \"cuInit:call=0\": cannot use call=0; call is a whole number from 1 on");
    refused((struct cushim_sim_options){.size = size, .cuda = newer}, "cuda");
    refused((struct cushim_sim_options){.size = size, .devices = -2}, "devices: -2 is not from -1");
    refused((struct cushim_sim_options){.size = size, .devices = 65}, "65 is not from -1 to 64");
    refused((struct cushim_sim_options){.size = size, .profile = "kepler"},
            "profile: there is no 'kepler'; it takes one of maxwell pascal ");
    refused((struct cushim_sim_options){.size = size, .cuda = 9000, .profile = "hopper"},
            "profile: no 'hopper'; it came with CUDA 11.8, and the driver is of CUDA 9.0");
    refused((struct cushim_sim_options){.size = size, .profile = ""}, "profile: there is no ''");
    refused((struct cushim_sim_options){.size = size, .workers = 1025},
            "workers: 1025 is not from 0 to 1024");
    refused((struct cushim_sim_options){.size = size, .grain = 513},
            "grain: 513 is not from 0 to 512");
    refused((struct cushim_sim_options){.size = size, .check = "races"},
            "check: 'races' is no check; it takes race, init or sync");
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
    char many[65 * sizeof "cuInit" + 1] = "";
    for (int i = 0; i < 65; i++)
        strcat(many, "cuInit;");
    refused((struct cushim_sim_options){.size = size, .faults = many}, "more than 64 rules");
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
    const size_t size = sizeof(struct cushim_sim_options);
    refused((struct cushim_sim_options){.size = size, .cuda = 12040},
            "cuda: the process has a driver of CUDA 11.8 with 2 devices already");
    refused((struct cushim_sim_options){.size = size, .devices = -1, .faults = "cuInit"},
            "devices: the process has");
    refused((struct cushim_sim_options){.size = size, .profile = "turing"}, "profile: the process");
    refused((struct cushim_sim_options){.size = size, .memory = 1 << 28}, "memory: the process");
    const struct cushim_api *second = embedded_open((struct cushim_sim_options){
        .cuda = 11080, .devices = 2, .faults = "cuCtxSynchronize:error=4"});
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

/* What a test leaves behind: of a context, of several, and of none. */
static void leave_things(const struct cushim_api *cu)
{
    CUcontext context, other;
    CUstream stream;
    CUgraph graph;
    CUdeviceptr memory;
    GOOD(cu->cuInit(0));
    GOOD(cu->cuDevicePrimaryCtxRetain(&context, 0));
    GOOD(cushim_context_create(cu, 0, NULL, &other));
    GOOD(cu->cuCtxSetCurrent(context));
    GOOD(cu->cuStreamCreate(&stream, 0));
    GOOD(cu->cuMemAlloc_v2(&memory, 1 << 20));
    GOOD(cu->cuGraphCreate(&graph, 0));
    EXPECT(cushim_sim_live(NULL) >= 5);
}

/* Each test has its driver, whatever the one before left. */
static void resets(void)
{
    static const int versions[] = {9000, 11020, 13000, 12040, 6050};
    for (size_t i = 0; i < 3 * sizeof versions / sizeof *versions; i++) {
        const int version = versions[i % 5], devices = 1 + (int)(i % 3);
        const struct cushim_api *cu = embedded_open((struct cushim_sim_options){
            .cuda = version, .devices = devices, .memory = ((size_t)256 + i) << 20});
        size_t total = 0;
        CUcontext now = NULL;
        EXPECT(cushim_driver_version(cu) == version && cushim_sim_calls("cuInit") == 0);
        EXPECT(cushim_has(cu, "cuMemAllocAsync") == (version >= 11020));
        EXPECT(device_count(cu) == devices);
        GOOD(cu->cuDeviceTotalMem_v2(&total, 0));
        EXPECT(total == ((size_t)256 + i) << 20);
        GOOD(cu->cuCtxGetCurrent(&now));
        EXPECT(!now);
        if (version >= 10000)
            leave_things(cu);
        EXPECT(cushim_sim_fault("cuMemAlloc:error=2"));
        cushim_close(cu);
        EXPECT(cushim_sim_reset());
        EXPECT(cushim_sim_live(NULL) == 0 && cushim_sim_calls(NULL) == 0);
        EXPECT(!cushim_sim_unfired());
    }
}

/* A fault that spoils the device for the rest of the process is over, too. */
static void reset_after_a_crash(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){.cuda = 12040});
    EXPECT(cushim_sim_fault("device-lost:device=0,call=1"));
    CUcontext context;
    cu->cuInit(0);
    EXPECT(cu->cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS);
    cushim_close(cu);
    EXPECT(cushim_sim_reset());
    EXPECT(embedded_start(embedded_open((struct cushim_sim_options){.cuda = 12040})));
}

static void reset_before_a_start(void)
{
    EXPECT(cushim_sim_reset() && cushim_sim_reset());
    EXPECT(embedded_start(embedded_open((struct cushim_sim_options){.cuda = 9000})));
}

/* Physical memory belongs to no context. */
static void reset_with_a_rest(void)
{
    const struct cushim_api *cu =
        embedded_start(embedded_open((struct cushim_sim_options){.cuda = 12040}));
    CUmemAllocationProp wanted = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle handle;
    GOOD(cu->cuMemCreate(&handle, 2 << 20, &wanted, 0));
    EXPECT(!cushim_sim_reset());
    EXPECT(strstr(cushim_last_error(), "cushim_sim_reset: not destroyed: 1 physical memory"));
    GOOD(cu->cuMemRelease(handle));
    EXPECT(cushim_sim_reset());
}

static void test_reset(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(resets), 0);
    assert_int_equal(embedded_in_child(reset_after_a_crash), 0);
    assert_int_equal(embedded_in_child(reset_before_a_start), 0);
    assert_int_equal(embedded_in_child(reset_with_a_rest), 0);
}

static void unfired(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){0});
    EXPECT(!cushim_sim_unfired());
    EXPECT(cushim_sim_fault("missing:cuMemAlloc_v2;cuInit:call=2;cuCtxSynchronize"));
    EXPECT(strcmp(cushim_sim_unfired(), "cuInit:call=2") == 0);
    cu->cuInit(0);
    EXPECT(strcmp(cushim_sim_unfired(), "cuInit:call=2") == 0);
    EXPECT(cu->cuInit(0) == CUDA_ERROR_UNKNOWN);
    EXPECT(strcmp(cushim_sim_unfired(), "cuCtxSynchronize") == 0);
    cushim_sim_clear_faults();
    EXPECT(!cushim_sim_unfired());
}

static void test_unfired(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(unfired), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),      cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_two_opens), cmocka_unit_test(test_reset),
        cmocka_unit_test(test_unfired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

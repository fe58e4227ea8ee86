/* SPDX-License-Identifier: MIT */
/* cushim/sim.h: when rules of faults begin, what they count, and how a wrong one is refused. */
#include "embedded_test.h"

#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

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
    const struct cushim_api *cu =
        embedded_open((struct cushim_sim_options){.cuda = 12020, .faults = "*:call=1,error=3"});
    EXPECT(cu->cuInit(0) == CUDA_ERROR_NOT_INITIALIZED && !cushim_sim_unfired());
    GOOD(cu->cuInit(0));
}

/* A name that is no name is refused at once. */
static void long_name(void)
{
    static char name[1 << 20];
    memset(name, 'x', sizeof name - 1);
    alarm(20);
    EXPECT(cushim_sim_calls(name) == ULLONG_MAX && cushim_sim_live(name) == SIZE_MAX);
    EXPECT(!cushim_sim_fault(name) && strstr(cushim_last_error(), "too long"));
}

static void test_counting(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(before_an_open), 0);
    assert_int_equal(embedded_in_child(lost_by_number), 0);
    assert_int_equal(embedded_in_child(first_of_all), 0);
    assert_int_equal(embedded_in_child(long_name), 0);
}

static const char ptx[] = ".version 6.0\n.target sm_30\n.address_size 64\n"
                          ".visible .entry k() { ret; }\n";
static char kept[512];

static void keep(void *user, const struct cushim_failure *failure)
{
    (void)user;
    snprintf(kept, sizeof kept, "%s", failure->message);
}

/* A sentence about a failure names the rule that made it, and gives no advice about the machine. */
static void named(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){0});
    struct cushim_device_scope gpu;
    CUdeviceptr memory = 0;
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    const struct cushim_launch launch = {
        .size = sizeof launch, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    EXPECT(cushim_sim_fault("cuInit:call=3;cuInit:call=1,error=NOT_INITIALIZED;cuInit:call=2"));
    EXPECT(cushim_init(cu) == CUSHIM_ERROR_FORKED);
    EXPECT(strstr(cushim_last_error(), "cuInit returned 3, "));
    EXPECT(strstr(cushim_message(cu),
                  "; the fault rule \"cuInit:call=1,error=NOT_INITIALIZED\" did it"));
    EXPECT(cushim_init(cu) == CUSHIM_ERROR_INIT_UNKNOWN);
    const char *said = strstr(cushim_last_error(), "; the fault rule \"cuInit:call=2\" did it");
    EXPECT(said && strcmp(said, "; the fault rule \"cuInit:call=2\" did it") == 0);
    cushim_sim_clear_faults();
    GOOD(cushim_device_enter(cu, 0, &gpu));
    EXPECT(cushim_sim_fault("*:slow=1;cuMemAlloc:call=2,error=2;out-of-memory:after=16"));
    GOOD(cushim_memory_alloc(cu, 16, &memory));
    GOOD(cushim_error_handler_set(keep, NULL));
    EXPECT(cushim_memory_alloc(cu, 8, &memory) == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(strstr(cushim_last_error(),
                  "; the fault rule \"cuMemAlloc:call=2,error=2\" did it; bytes: 8") &&
           !strstr(cushim_last_error(), "are free"));
    EXPECT(cushim_memory_alloc(cu, 8, &memory) == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(strstr(cushim_last_error(), "; the fault rule \"out-of-memory:after=16\" did it"));
    EXPECT(cushim_memory_alloc(cu, (size_t)1 << 60, &memory) == CUDA_ERROR_OUT_OF_MEMORY);
    cushim_sim_clear_faults();
    EXPECT(cushim_memory_alloc(cu, (size_t)1 << 60, &memory) == CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT(!strstr(cushim_last_error(), "rule"));
    EXPECT(cushim_sim_fault("cuModuleLoadDataEx:error=NO_BINARY_FOR_GPU"));
    EXPECT(cushim_module_load(cu, ptx, sizeof ptx - 1, NULL, NULL, &module) == 209);
    EXPECT(strstr(cushim_last_error(), "; the fault rule \"cuModuleLoadDataEx:") &&
           !strstr(cushim_last_error(), "capability"));
    cushim_sim_clear_faults();
    EXPECT(cushim_module_load_file(cu, ptx, NULL, NULL, &module) == CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT(strstr(cushim_last_error(), "path has several lines, as PTX has"));
    GOOD(cushim_module_load(cu, ptx, sizeof ptx - 1, NULL, NULL, &module));
    GOOD(cu->cuModuleGetFunction(&kernel, module, "k"));
    EXPECT(cushim_sim_fault("cuLaunchKernel:error=INVALID_VALUE"));
    EXPECT(cushim_sim_fault("cuLaunchKernelEx:error=INVALID_VALUE"));
    EXPECT(CUSHIM_LAUNCH(cu, kernel, &launch) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(strstr(cushim_last_error(), "; the fault rule \"cuLaunchKernel"));
    cushim_sim_clear_faults();
    GOOD(cu->cuModuleUnload(module));
    cushim_last_error_clear();
    EXPECT(cushim_sim_fault("cuMemAlloc"));
    EXPECT(!CUSHIM_CHECK(cu->cuMemAlloc(&memory, 8)));
    EXPECT(strstr(kept, "; the fault rule \"cuMemAlloc\" did it"));
}

static void test_named(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(named), 0);
}

/* A program that releases all it can has no leak, whatever the calls return. */
static void released(void)
{
    static const char bad[] =
        ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k() {\n"
        ".reg .u64 a;\nmov.u64 a, 16;\nst.global.u64 [a], a;\nret;\n}";
    for (int lost = 0; lost < 3; lost++) {
        const struct cushim_api *cu = embedded_open((struct cushim_sim_options){.cuda = 12020});
        const CUresult code = lost ? CUDA_ERROR_ECC_UNCORRECTABLE : CUDA_ERROR_ILLEGAL_ADDRESS;
        struct cushim_device_scope gpu;
        CUdeviceptr memory = 0;
        CUstream stream;
        CUmodule module;
        CUfunction kernel;
        GOOD(cushim_device_enter(cu, 0, &gpu));
        GOOD(cushim_memory_alloc(cu, 64, &memory));
        GOOD(cu->cuStreamCreate(&stream, 0));
        GOOD(cu->cuModuleLoadData(&module, bad));
        GOOD(cu->cuModuleGetFunction(&kernel, module, "k"));
        EXPECT(freopen("/dev/null", "w", stderr));
        if (lost)
            EXPECT(cushim_sim_fault("device-lost:device=0,error=ECC_UNCORRECTABLE"));
        else
            GOOD(cu->cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        EXPECT(cu->cuCtxSynchronize() == code);
        EXPECT(cu->cuMemAlloc(&(CUdeviceptr){0}, 1) == code);
        if (lost < 2)
            EXPECT(cushim_memory_free(cu, memory) == code);
        EXPECT(cu->cuStreamDestroy(stream) == code && cu->cuModuleUnload(module) == code);
        (void)cushim_device_leave(&gpu);
        EXPECT(lost < 2 ? !cushim_sim_leaks()
                        : strcmp(cushim_sim_leaks(), "1 memory (64 bytes)") == 0);
        cushim_close(cu);
        EXPECT(cushim_sim_reset());
    }
}

/* An open that fails leaves no driver, of which the next one would be another. */
static void failed_open(void)
{
    static const struct cushim_sim_options good = {.size = sizeof good, .cuda = 12040};
    struct cushim_sim_options bad = good;
    bad.faults = "cuMemAloc:error=OUT_OF_MEMORY";
    for (int i = 0; i < 2; i++) {
        const struct cushim_api *cu = embedded_open(good);
        EXPECT(cushim_init(cu) == CUSHIM_OK);
        cushim_close(cu);
        EXPECT(cushim_sim_reset());
        EXPECT(!cushim_sim_open(&bad) && strstr(cushim_last_error(), "faults: "));
    }
}

/* What a release is made to fail on is gone all the same, and so is the graph of a capture that
 * ends without its device. */
static void fails_and_releases(void)
{
    static const char *const rules[] = {"*:from=1", "device-lost:device=0,call=1",
                                        "cuStreamEndCapture"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct cushim_api *cu = embedded_open((struct cushim_sim_options){.cuda = 12040});
        struct cushim_device_scope scope;
        CUgraph graph = NULL;
        CUstream stream;
        CUdeviceptr memory;
        GOOD(cu->cuInit(0));
        GOOD(cushim_device_enter(cu, 0, &scope));
        GOOD(cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        GOOD(cu->cuMemAlloc(&memory, 64));
        GOOD(cu->cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        GOOD(cu->cuMemsetD8Async(memory, 1, 64, stream));
        EXPECT(cushim_sim_fault(rules[i]));
        EXPECT(cu->cuStreamEndCapture(stream, &graph) == CUDA_ERROR_UNKNOWN);
        const CUresult rest = i < 2 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
        EXPECT(cu->cuMemFree(memory) == rest && cu->cuStreamDestroy(stream) == rest);
        EXPECT(cushim_sim_leaked("graph") == 0 && cushim_sim_leaked("memory") == 0 &&
               cushim_sim_leaked("stream") == 0);
        cushim_close(cu);
        EXPECT(cushim_sim_reset());
    }
}

static void test_fails_and_releases(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(fails_and_releases), 0);
}

static void test_failed_open(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(failed_open), 0);
}

static void test_released(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(released), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting),    cmocka_unit_test(test_named),
        cmocka_unit_test(test_failed_open), cmocka_unit_test(test_fails_and_releases),
        cmocka_unit_test(test_released),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

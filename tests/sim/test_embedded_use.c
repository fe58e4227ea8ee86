/* SPDX-License-Identifier: MIT */
/* cushim/sim.h: faults, counts and the log of an open driver. */
#include "embedded_test.h"

static const char kernels[] = ".version 6.0\n.target sm_30\n.address_size 64\n"
                              ".visible .entry nothing() { ret; }\n"
                              ".visible .entry forever() { L: bra L; }\n";

/* --- faults --- */

static void faults(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){0});
    const struct cushim_api *api = embedded_start(cu);
    EXPECT(!cushim_sim_fault(NULL) && strstr(cushim_last_error(), "rules is NULL"));
    EXPECT(!cushim_sim_fault("cuFoo") &&
           strstr(cushim_last_error(), "cushim_sim_fault: \"cuFoo\""));
    EXPECT(cushim_sim_fault("")); /* no rule */
    GOOD(api->cuCtxSynchronize_v1());
    /* The rules that can be used are in force. */
    EXPECT(!cushim_sim_fault("cuCtxSynchronize:call=2;nothing;cuDeviceGetCount"));
    EXPECT(strstr(cushim_last_error(), "\"nothing\""));
    GOOD(api->cuCtxSynchronize_v1());
    EXPECT(api->cuCtxSynchronize_v1() == CUDA_ERROR_UNKNOWN);
    GOOD(api->cuCtxSynchronize_v1());
    EXPECT(api->cuDeviceGetCount(&(int){0}) == CUDA_ERROR_UNKNOWN);
    cushim_sim_clear_faults();
    GOOD(api->cuDeviceGetCount(&(int){0}));
    for (int i = 0; i < 64; i++)
        EXPECT(cushim_sim_fault("cuInit:call=1000"));
    EXPECT(!cushim_sim_fault("cuInit") && strstr(cushim_last_error(), "more than 64 rules"));
    cushim_sim_clear_faults();
    EXPECT(cushim_sim_fault("cuInit"));
    EXPECT(api->cuInit(0) == CUDA_ERROR_UNKNOWN);
}

static void before_any_open(void)
{
    EXPECT(cushim_sim_live(NULL) == 0 && cushim_sim_calls(NULL) == 0);
    cushim_sim_clear_faults();
    EXPECT(cushim_sim_fault("cuInit:error=NO_DEVICE"));
    const struct cushim_api *cu = cushim_sim_open(NULL);
    EXPECT(cu && cu->cuInit(0) == CUDA_ERROR_NO_DEVICE);
}

static void out_of_memory(void)
{
    const struct cushim_api *api = embedded_start(embedded_open((struct cushim_sim_options){0}));
    CUdeviceptr memory[3];
    EXPECT(cushim_sim_fault("out-of-memory:after=1K"));
    GOOD(api->cuMemAlloc_v2(&memory[0], 1000));
    EXPECT(api->cuMemAlloc_v2(&memory[1], 1000) == CUDA_ERROR_OUT_OF_MEMORY);
    GOOD(api->cuMemAlloc_v2(&memory[1], 24));
    EXPECT(api->cuMemAllocManaged(&memory[2], 1, 1) == CUDA_ERROR_OUT_OF_MEMORY);
    cushim_sim_clear_faults();
    GOOD(api->cuMemAllocManaged(&memory[2], 1, 1));
}

/* For instances opened afterwards. */
static void missing(void)
{
    const struct cushim_api *before = embedded_open((struct cushim_sim_options){0});
    EXPECT(cushim_sim_fault("missing:cuMemAlloc_v2"));
    const struct cushim_api *after = embedded_open((struct cushim_sim_options){0});
    CUdeviceptr memory = 0;
    EXPECT(cushim_has(before, "cuMemAlloc_v2") && !cushim_has(after, "cuMemAlloc_v2"));
    GOOD(embedded_start(before)->cuMemAlloc_v2(&memory, 1));
    EXPECT(after->cuMemAlloc_v2(&memory, 1) == CUDA_ERROR_NOT_SUPPORTED);
}

static void wrong_abi(void)
{
    const struct cushim_api *cu =
        embedded_open((struct cushim_sim_options){.cuda = 12040, .faults = "wrong-abi"});
    CUcontext context;
    void *found = NULL;
    const struct cushim_api *api = embedded_start(cu); /* right calls go on */
    GOOD(api->cuGetProcAddress_v2("cuCtxCreate", &found, 13000, 0, NULL));
    if (!freopen("/dev/null", "w", stderr))
        _exit(1);
    ((CUresult(*)(CUcontext *, void *, unsigned, CUdevice))(uintptr_t)found)(&context, NULL, 0, 0);
}

static void test_faults(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(faults), 0);
    assert_int_equal(embedded_in_child(before_any_open), 0);
    assert_int_equal(embedded_in_child(out_of_memory), 0);
    assert_int_equal(embedded_in_child(missing), 0);
    assert_int_equal(embedded_in_child(wrong_abi), 128 + SIGABRT);
}

/* --- counts --- */

static void live(void)
{
    const struct cushim_api *api = embedded_start(embedded_open((struct cushim_sim_options){0}));
    CUstream stream;
    CUevent event;
    CUmodule module;
    CUlinkState linker;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    CUmemoryPool pool;
    CUmemPoolProps pool_of = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                              .location = {CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
    CUgraph graph;
    CUgraphExec exec;
    CUdeviceptr memory;
    EXPECT(cushim_sim_live(NULL) == 1 && cushim_sim_live("context") == 1);
    GOOD(api->cuStreamCreate(&stream, 0));
    GOOD(api->cuEventCreate(&event, 0));
    GOOD(api->cuModuleLoadData(&module, kernels));
    GOOD(api->cuLinkCreate_v2(0, NULL, NULL, &linker));
    GOOD(api->cuArrayCreate_v2(&array, &shape));
    GOOD(api->cuMemPoolCreate(&pool, &pool_of));
    GOOD(api->cuGraphCreate(&graph, 0));
    GOOD(api->cuGraphInstantiateWithFlags(&exec, graph, 0));
    GOOD(api->cuMemAlloc_v2(&memory, 100));
    static const char *const kinds[] = {"context",          "stream", "event",       "module",
                                        "linker state",     "array",  "memory pool", "graph",
                                        "executable graph", "memory"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cushim_sim_live(kinds[i]) != 1) {
            fprintf(stderr, "%s: %zu\n", kinds[i], cushim_sim_live(kinds[i]));
            _exit(1);
        }
    EXPECT(cushim_sim_live(NULL) == 10);
    EXPECT(cushim_sim_live("function") == SIZE_MAX && cushim_sim_live("") == SIZE_MAX);
    EXPECT(cushim_sim_leaked("memroy") == SIZE_MAX);
    EXPECT(strcmp(cushim_last_error(), "cushim_sim_leaked: 'memroy' is no kind of object; "
                                       "did you mean memory?") == 0);
    GOOD(api->cuStreamDestroy_v2(stream));
    GOOD(api->cuMemFree_v2(memory));
    EXPECT(cushim_sim_live("stream") == 0 && cushim_sim_live("memory") == 0);
    EXPECT(cushim_sim_live(NULL) == 8);
}

/* A default pool is the device's, and never the program's to destroy. */
static void live_pool(void)
{
    const struct cushim_api *api = embedded_start(embedded_open((struct cushim_sim_options){0}));
    CUmemoryPool pool;
    CUdeviceptr memory;
    GOOD(api->cuDeviceGetDefaultMemPool(&pool, 0));
    GOOD(api->cuMemAllocAsync(&memory, 100, NULL));
    EXPECT(cushim_sim_live("memory") == 1);
    GOOD(api->cuMemFreeAsync(memory, NULL));
    GOOD(api->cuCtxSynchronize());
    EXPECT(cushim_sim_live(NULL) == 1 && cushim_sim_live("context") == 1);
}

/* A primary context counts while it is retained. */
static void live_primary(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){0});
    const struct cushim_api *api = cu;
    CUcontext context;
    GOOD(api->cuInit(0));
    EXPECT(cushim_sim_live(NULL) == 0);
    for (int i = 0; i < 2; i++)
        GOOD(api->cuDevicePrimaryCtxRetain(&context, 0));
    EXPECT(cushim_sim_live("context") == 1);
    for (int i = 0; i < 2; i++)
        GOOD(api->cuDevicePrimaryCtxRelease_v2(0));
    EXPECT(cushim_sim_live(NULL) == 0);
}

/* What went with its context was not destroyed, until a reset. */
static void leaked(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){0});
    CUcontext context;
    CUstream stream;
    CUdeviceptr memory;
    GOOD(cu->cuInit(0));
    for (int round = 0; round < 2; round++) {
        GOOD(cu->cuDevicePrimaryCtxRetain(&context, 0));
        GOOD(cu->cuCtxSetCurrent(context));
        GOOD(cu->cuMemAlloc_v2(&memory, 100));
        GOOD(cu->cuStreamCreate(&stream, 0));
        GOOD(cu->cuStreamDestroy_v2(stream));
        EXPECT(cushim_sim_leaked("memory") == 1 && cushim_sim_leaked("context") == 1);
        EXPECT(strcmp(cushim_sim_leaks(), "1 context, 1 memory (100 bytes)") == 0);
        if (round == 0)
            GOOD(cu->cuMemFree_v2(memory));
        GOOD(cu->cuDevicePrimaryCtxRelease_v2(0));
        EXPECT(cushim_sim_live(NULL) == 0 && cushim_sim_leaked(NULL) == (size_t)round);
        EXPECT(round == 0 ? !cushim_sim_leaks()
                          : strcmp(cushim_sim_leaks(), "1 memory (100 bytes)") == 0);
    }
    EXPECT(cushim_sim_leaked("memory") == 1 && cushim_sim_leaked("stream") == 0);
    cushim_close(cu);
    EXPECT(cushim_sim_reset() && cushim_sim_leaked(NULL) == 0 && !cushim_sim_leaks());
}

/* All threads write one word, with no order among their values. */
static void found(void)
{
    static const char text[] =
        ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() {\n"
        ".reg .u32 %r;\n.shared .u32 s;\nmov.u32 %r, %tid.x;\nst.shared.u32 [s], %r;\nret;\n}";
    for (int checked = 0; checked < 2; checked++) {
        const struct cushim_api *cu =
            embedded_open((struct cushim_sim_options){.check = checked ? "race" : NULL});
        CUcontext context;
        CUmodule module;
        CUfunction kernel;
        GOOD(cu->cuInit(0));
        GOOD(cu->cuDevicePrimaryCtxRetain(&context, 0));
        GOOD(cu->cuCtxSetCurrent(context));
        GOOD(cu->cuModuleLoadData(&module, text));
        GOOD(cu->cuModuleGetFunction(&kernel, module, "k"));
        EXPECT(cushim_sim_found() == 0);
        GOOD(cu->cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
        GOOD(cu->cuCtxSynchronize());
        EXPECT((cushim_sim_found() > 0) == checked);
        GOOD(cu->cuModuleUnload(module));
        GOOD(cu->cuDevicePrimaryCtxRelease_v2(0));
        cushim_close(cu);
        EXPECT(cushim_sim_reset() && cushim_sim_found() == 0);
    }
}

static void calls(void)
{
    const struct cushim_api *cu = embedded_open((struct cushim_sim_options){0});
    const struct cushim_api *api = embedded_start(cu);
    CUdeviceptr memory;
    unsigned long long before = cushim_sim_calls(NULL);
    EXPECT(before > 2 && cushim_sim_calls("cuInit") == 1 && cushim_sim_calls("cuMemAlloc") == 0);
    GOOD(api->cuMemAlloc_v2(&memory, 1));
    EXPECT(api->cuMemAlloc_v2(NULL, 1) != CUDA_SUCCESS); /* failed ones count */
    EXPECT(cushim_sim_calls("cuMemAlloc") == 2 && cushim_sim_calls("cuMemAlloc_v2") == 2);
    EXPECT(cushim_sim_calls(NULL) == before + 2);
    EXPECT(cushim_sim_calls("cuMemAloc") == ULLONG_MAX && cushim_sim_calls("") == ULLONG_MAX);
    EXPECT(cushim_sim_calls("cuMemAllocAsnyc") == ULLONG_MAX);
    EXPECT(strstr(cushim_last_error(), "did you mean cuMemAllocAsync?"));
}

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(live), 0);
    assert_int_equal(embedded_in_child(live_pool), 0);
    assert_int_equal(embedded_in_child(live_primary), 0);
    assert_int_equal(embedded_in_child(leaked), 0);
    assert_int_equal(embedded_in_child(found), 0);
    assert_int_equal(embedded_in_child(calls), 0);
}

/* --- the rest of the options --- */

static void time_limit(void)
{
    const struct cushim_api *api = embedded_start(
        embedded_open((struct cushim_sim_options){.time_limit_ms = 100, .workers = 2}));
    CUmodule module;
    CUfunction function;
    GOOD(api->cuModuleLoadData(&module, kernels));
    GOOD(api->cuModuleGetFunction(&function, module, "nothing"));
    GOOD(api->cuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
    GOOD(api->cuCtxSynchronize_v1());
    GOOD(api->cuModuleGetFunction(&function, module, "forever"));
    if (!freopen("/dev/null", "w", stderr))
        _exit(1);
    GOOD(api->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(api->cuCtxSynchronize_v1() == CUDA_ERROR_LAUNCH_TIMEOUT);
}

static CUfunction forever(const struct cushim_api *api)
{
    CUmodule module;
    CUfunction function;
    GOOD(api->cuModuleLoadData(&module, kernels));
    GOOD(api->cuModuleGetFunction(&function, module, "forever"));
    if (!freopen("/dev/null", "w", stderr))
        _exit(1);
    return function;
}

static void *stop_soon(void *unused)
{
    usleep(50000);
    cushim_sim_stop();
    return unused;
}

static void stop(void)
{
    const struct cushim_api *api = embedded_start(embedded_open((struct cushim_sim_options){0}));
    CUfunction function = forever(api);
    pthread_t thread;
    cushim_sim_stop(); /* nothing runs */
    GOOD(api->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(pthread_create(&thread, NULL, stop_soon, NULL) == 0);
    EXPECT(api->cuCtxSynchronize_v1() == CUDA_ERROR_LAUNCH_TIMEOUT);
    EXPECT(api->cuMemAlloc_v2(&(CUdeviceptr){0}, 1) == CUDA_ERROR_LAUNCH_TIMEOUT);
    pthread_join(thread, NULL);
}

/* What was launched just before, and waits for it, ends too; kernels of the next driver run. */
static void reset_at_once(void)
{
    alarm(60);
    for (int i = 0; i < 20; i++) {
        const struct cushim_api *api =
            embedded_start(embedded_open((struct cushim_sim_options){0}));
        CUfunction function = forever(api);
        for (int j = 0; j < i % 4; j++)
            GOOD(api->cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        cushim_close(api);
        EXPECT(cushim_sim_reset());
    }
    stop();
}

/* The end of its context waits for a kernel, as long as it may take, and no longer. */
static void end_of_context(void)
{
    const struct cushim_api *api =
        embedded_start(embedded_open((struct cushim_sim_options){.time_limit_ms = 300}));
    CUcontext context;
    CUstream streams[4];
    CUfunction function = forever(api);
    for (int i = 0; i < 4; i++) {
        GOOD(api->cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
        for (int j = 0; j < 5; j++)
            GOOD(api->cuLaunchKernel(function, 8, 1, 1, 32, 1, 1, 0, streams[i], NULL, NULL));
    }
    GOOD(api->cuCtxGetCurrent(&context));
    alarm(60); /* with its limit for each of the 20 it would be 6 s, without any for ever */
    (void)api->cuCtxDestroy_v2(context);
    EXPECT(cushim_sim_live("context") == 0 && alarm(0) > 56);
}

static void end_of_context_by_stop(void)
{
    const struct cushim_api *api = embedded_open((struct cushim_sim_options){0});
    CUcontext context;
    pthread_t thread;
    GOOD(api->cuInit(0));
    GOOD(api->cuDevicePrimaryCtxRetain(&context, 0));
    GOOD(api->cuCtxSetCurrent(context));
    GOOD(api->cuLaunchKernel(forever(api), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    EXPECT(pthread_create(&thread, NULL, stop_soon, NULL) == 0);
    GOOD(api->cuDevicePrimaryCtxReset_v2(0));
    pthread_join(thread, NULL);
}

static char log_file[] = "/tmp/cushim-embedded-XXXXXX";

static void log_to_file(void)
{
    embedded_start(embedded_open((struct cushim_sim_options){.log = log_file}));
}

static void test_options(void **state)
{
    char text[65536] = "";
    (void)state;
    assert_int_equal(embedded_in_child(time_limit), 0);
    assert_int_equal(embedded_in_child(stop), 0);
    assert_int_equal(embedded_in_child(reset_at_once), 0);
    assert_int_equal(embedded_in_child(end_of_context), 0);
    assert_int_equal(embedded_in_child(end_of_context_by_stop), 0);
    close(mkstemp(log_file));
    assert_int_equal(embedded_in_child(log_to_file), 0);
    FILE *file = fopen(log_file, "r");
    assert_non_null(file);
    size_t length = 0;
    char line[1024];
    while (fgets(line, sizeof line, file) && length < sizeof text / 2)
        length = (size_t)snprintf(text, sizeof text, "%s", line); /* the last one */
    fclose(file);
    unlink(log_file);
    assert_non_null(strstr(text, "cuCtxCreate_v2(pctx="));
    assert_null(strstr(text, "leaked")); /* no summary: the program asks for itself */
}

static void *thread(void *user)
{
    for (int i = 0; i < 20; i++) {
        const struct cushim_api *cu = cushim_sim_open(NULL);
        EXPECT(cu && cushim_driver_version(cu) == cushim_registry_version());
        EXPECT(cushim_sim_fault("cuProfilerStart:error=1;cuDeviceGetName:slow=1"));
        (void)cu->cuProfilerStart();
        (void)cushim_sim_live(NULL);
        (void)cushim_sim_calls(NULL);
        cushim_sim_clear_faults();
        cushim_close(cu);
    }
    return user;
}

static void threads(void)
{
    pthread_t all[8];
    for (size_t i = 0; i < 8; i++)
        EXPECT(pthread_create(&all[i], NULL, thread, NULL) == 0);
    for (size_t i = 0; i < 8; i++)
        pthread_join(all[i], NULL);
    EXPECT(cushim_sim_calls("cuProfilerStart") == 160);
}

static void test_threads(void **state)
{
    (void)state;
    assert_int_equal(embedded_in_child(threads), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

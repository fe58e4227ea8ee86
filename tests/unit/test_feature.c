/* SPDX-License-Identifier: MIT */
/* Features: each answer, its sentence, the list, and bad arguments. */
#include <stdlib.h>
#include <string.h>

#include <cushim/feature.h>

#include "common.h"

/* A table whose device is this one: the driver's own attributes are not asked. */
static struct {
    int attribute; /* that has a value of its own */
    int value;     /* of that; all others are 1 */
    int capability;
    CUresult code;
    int calls;
} device;

static CUresult CUDAAPI get_attribute(int *value, CUdevice_attribute attribute, CUdevice number)
{
    device.calls++;
    if (number != 0)
        return CUDA_ERROR_INVALID_DEVICE;
    if (device.code != CUDA_SUCCESS)
        return device.code;
    *value = (int)attribute == device.attribute ? device.value : 1;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        *value = device.capability / 10;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        *value = device.capability % 10;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI get_version(int *version)
{
    *version = GOOD_VERSION;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI nothing(void)
{
    return CUDA_ERROR_UNKNOWN;
}

/* Every symbol of that release, but this one. */
static const char *lacking;
static struct cushim_entry entries[CUSHIM_ENTRY_COUNT];
static size_t symbol_count;

static void *resolve(void *user, const char *symbol)
{
    (void)user;
    if (strcmp(symbol, "cuDriverGetVersion") == 0)
        return (void *)get_version;
    for (size_t i = 0; i < symbol_count; i++) {
        bool named = strcmp(entries[i].symbol, symbol) == 0;
        if (named && !(lacking && strcmp(symbol, lacking) == 0))
            return (void *)nothing;
    }
    return NULL;
}

static const struct cushim_api *opened;
static struct cushim_api table;

static int setup(void **state)
{
    (void)state;
    memset(&device, 0, sizeof device);
    device.capability = 90;
    struct cushim_entry entry;
    symbol_count = 0;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        if (entry.since <= GOOD_VERSION)
            entries[symbol_count++] = entry;
    }
    struct cushim_options options = defaults();
    options.resolver = resolve;
    options.order = CUSHIM_ORDER_SYMBOLS;
    opened = cushim_open(&options);
    assert_non_null(opened);
    assert_int_equal(cushim_status(opened), CUSHIM_OK);
    table = *opened;
    table.cuDeviceGetAttribute = get_attribute;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cushim_close(opened);
    return 0;
}

/* Both functions give this answer, and the sentence is this. */
static void assert_answer(CUdevice number, enum cushim_feature feature,
                          enum cushim_support expected, const char *sentence)
{
    enum cushim_support support = CUSHIM_SUPPORT_UNKNOWN;
    char text[256];
    assert_string_equal(cushim_feature_reason(&table, number, feature, &support, text, sizeof text),
                        sentence);
    assert_int_equal(support, expected);
    assert_int_equal(cushim_feature(&table, number, feature), expected);
}

static void test_supported(void **state)
{
    (void)state;
    assert_answer(0, CUSHIM_FEATURE_MEMORY_POOLS, CUSHIM_SUPPORTED, "memory-pools: supported");
    assert_answer(0, CUSHIM_FEATURE_CLUSTERS, CUSHIM_SUPPORTED, "clusters: supported");
    assert_true(device.calls > 0);
}

/* What depends on no device asks none. */
static void test_driver_alone(void **state)
{
    (void)state;
    assert_answer(CUSHIM_NO_DEVICE, CUSHIM_FEATURE_GRAPHS, CUSHIM_SUPPORTED, "graphs: supported");
    assert_answer(7, CUSHIM_FEATURE_GRAPHS, CUSHIM_SUPPORTED, "graphs: supported");
    assert_answer(CUSHIM_NO_DEVICE, CUSHIM_FEATURE_MEMORY_POOLS, CUSHIM_SUPPORT_UNDECIDED,
                  "memory-pools: the driver has it; whether a device has, MEMORY_POOLS_SUPPORTED "
                  "tells");
    assert_int_equal(device.calls, 0);
}

static void test_not_this_device(void **state)
{
    (void)state;
    device.attribute = CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED;
    assert_answer(0, CUSHIM_FEATURE_MEMORY_POOLS, CUSHIM_UNSUPPORTED_DEVICE,
                  "memory-pools: device 0 lacks it: attribute MEMORY_POOLS_SUPPORTED is 0");
    device.attribute = CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES;
    device.value = 1;
#ifdef _WIN32
    assert_answer(0, CUSHIM_FEATURE_MEMORY_POOL_FD, CUSHIM_UNSUPPORTED_PLATFORM,
                  "memory-pool-fd: it does not exist on Windows");
#else
    assert_answer(0, CUSHIM_FEATURE_MEMORY_POOL_FD, CUSHIM_SUPPORTED, "memory-pool-fd: supported");
#endif
    assert_answer(0, CUSHIM_FEATURE_MEMORY_POOL_FABRIC, CUSHIM_UNSUPPORTED_DEVICE,
                  "memory-pool-fabric: device 0 lacks it: attribute "
                  "MEMPOOL_SUPPORTED_HANDLE_TYPES is 0x1, without the bits 0x8");
    device.attribute = CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT;
    assert_answer(0, CUSHIM_FEATURE_MEMORY_SYNC_DOMAINS, CUSHIM_UNSUPPORTED_DEVICE,
                  "memory-sync-domains: device 0 lacks it: attribute MEM_SYNC_DOMAIN_COUNT is 1, "
                  "less than 2");
    device.capability = 86;
    assert_answer(0, CUSHIM_FEATURE_PROGRAMMATIC_LAUNCH, CUSHIM_UNSUPPORTED_DEVICE,
                  "programmatic-launch: it takes compute capability 9.0, and device 0 has 8.6");
}

static void test_not_this_driver(void **state)
{
    (void)state;
    assert_answer(0, CUSHIM_FEATURE_ERROR_LOGS, CUSHIM_UNSUPPORTED_DRIVER,
                  "error-logs: it takes a driver of CUDA 12.9 or later, and this one is of CUDA "
                  "12.4");
    /* All its entries are there; the release of a constant says no. */
    assert_answer(0, CUSHIM_FEATURE_GRAPH_SWITCH_NODES, CUSHIM_UNSUPPORTED_DRIVER,
                  "graph-switch-nodes: it takes a driver of CUDA 12.8 or later, and this one is of "
                  "CUDA 12.4");
#ifdef _WIN32
    assert_answer(0, CUSHIM_FEATURE_D3D11, CUSHIM_SUPPORTED, "d3d11: supported");
#else
    assert_answer(0, CUSHIM_FEATURE_D3D11, CUSHIM_UNSUPPORTED_PLATFORM,
                  "d3d11: it does not exist on Linux");
#endif
}

static void test_absent(void **state)
{
    lacking = "cuMemPoolDestroy";
    teardown(state);
    setup(state);
    lacking = NULL;
    assert_answer(0, CUSHIM_FEATURE_MEMORY_POOLS, CUSHIM_UNSUPPORTED_ABSENT,
                  "memory-pools: the driver is new enough, but does not export cuMemPoolDestroy");
}

static void test_undecided(void **state)
{
    (void)state;
    device.code = CUDA_ERROR_NOT_INITIALIZED;
    assert_answer(0, CUSHIM_FEATURE_MEMORY_POOLS, CUSHIM_SUPPORT_UNDECIDED,
                  "memory-pools: the driver has it; whether device 0 has, MEMORY_POOLS_SUPPORTED "
                  "tells after cuInit");
    assert_answer(0, CUSHIM_FEATURE_TEXTURE_OBJECTS, CUSHIM_SUPPORT_UNDECIDED,
                  "texture-objects: the driver has it; whether device 0 has, the compute "
                  "capability tells after cuInit");
    device.code = CUDA_ERROR_INVALID_VALUE;
    assert_answer(0, CUSHIM_FEATURE_VIRTUAL_MEMORY_HOST_NUMA, CUSHIM_SUPPORT_UNDECIDED,
                  "virtual-memory-host-numa: the driver has it, but is too old for attribute "
                  "HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, which tells");
    device.code = CUDA_ERROR_UNKNOWN;
    assert_answer(0, CUSHIM_FEATURE_MEMORY_POOLS, CUSHIM_SUPPORT_FAILED,
                  "memory-pools: device 0 could not be asked: cuDeviceGetAttribute returned 999");
    assert_answer(4, CUSHIM_FEATURE_MEMORY_POOLS, CUSHIM_SUPPORT_FAILED,
                  "memory-pools: device 4 could not be asked: cuDeviceGetAttribute returned 101");
}

static void test_no_driver(void **state)
{
    (void)state;
    const struct cushim_api *none = open_path("/nonexistent/libcuda.so.1");
    char text[64];
    assert_int_equal(cushim_feature(none, 0, CUSHIM_FEATURE_GRAPHS), CUSHIM_UNSUPPORTED_NO_DRIVER);
    assert_int_equal(cushim_feature(NULL, 0, CUSHIM_FEATURE_GRAPHS), CUSHIM_UNSUPPORTED_NO_DRIVER);
    assert_string_equal(
        cushim_feature_reason(none, 0, CUSHIM_FEATURE_GRAPHS, NULL, text, sizeof text),
        "graphs: there is no driver");
    cushim_close(none);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    enum cushim_feature beyond = (enum cushim_feature)100000;
    enum cushim_feature feature = CUSHIM_FEATURE_GRAPHS;
    struct cushim_feature_facts facts = {.size = sizeof facts - 1};
    size_t entry = 77;
    char text[16];

    assert_int_equal(cushim_feature(&table, 0, beyond), CUSHIM_SUPPORT_UNKNOWN);
    assert_int_equal(cushim_feature(&table, 0, (enum cushim_feature) - 1), CUSHIM_SUPPORT_UNKNOWN);
    assert_string_equal(cushim_feature_reason(&table, 0, beyond, NULL, text, sizeof text),
                        "this build of c"); /* cut */
    assert_string_equal(cushim_feature_reason(&table, 0, beyond, NULL, NULL, 0), "");
    for (size_t size = 1; size <= sizeof text; size++) {
        memset(text, 'x', sizeof text);
        cushim_feature_reason(&table, 0, CUSHIM_FEATURE_GRAPHS, NULL, text, size);
        assert_int_equal(strlen(text), size - 1);
    }
    assert_false(cushim_feature_list(0, NULL));
    assert_false(cushim_feature_list(0, &facts));
    facts.size = 0;
    assert_false(cushim_feature_list(0, &facts));
    assert_false(cushim_feature_entry(beyond, 0, &entry));
    assert_false(cushim_feature_entry(CUSHIM_FEATURE_GRAPHS, 4, &entry));
    assert_false(cushim_feature_entry(CUSHIM_FEATURE_GRAPHS, 0, NULL));
    assert_int_equal(entry, 77);
    assert_false(cushim_feature_find("graph", &feature));
    assert_false(cushim_feature_find(NULL, &feature));
    assert_false(cushim_feature_find("graphs", NULL));
    assert_string_equal(cushim_support_name((enum cushim_support)99), "unknown");
}

static void test_list(void **state)
{
    (void)state;
    struct cushim_feature_facts facts = {.size = sizeof facts};
    size_t count = 0;
    for (; cushim_feature_list(count, &facts); count++) {
        enum cushim_feature found = CUSHIM_FEATURE_GRAPHS;
        struct cushim_entry entry;
        size_t index;
        assert_int_equal(facts.feature, count);
        assert_true(cushim_feature_find(facts.name, &found));
        assert_int_equal(found, count);
        for (size_t i = 0; i < facts.entry_count; i++) {
            assert_true(cushim_feature_entry(facts.feature, i, &index));
            assert_true(cushim_entry_at(index, &entry));
            assert_true(entry.since <= facts.since);
        }
        assert_true(facts.entry_count > 0 || facts.attribute > 0);
    }
    assert_true(count >= 80);
    assert_true(cushim_feature_list(CUSHIM_FEATURE_MEMORY_POOLS, &facts));
    assert_true(facts.attribute > 0 && facts.attribute_minimum > 0);
    assert_int_equal(facts.attribute_mask, 0);
    assert_true(cushim_feature_list(CUSHIM_FEATURE_MEMORY_POOL_FABRIC, &facts));
    assert_string_equal(facts.group, "memory");
    assert_string_equal(facts.attribute_name, "MEMPOOL_SUPPORTED_HANDLE_TYPES");
    assert_int_equal(facts.attribute_mask, 8);
    assert_int_equal(facts.attribute_minimum, 0);
    assert_int_equal(facts.since, 12030);
    assert_null(facts.platform);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_supported, setup, teardown),
        cmocka_unit_test_setup_teardown(test_driver_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_this_device, setup, teardown),
        cmocka_unit_test_setup_teardown(test_not_this_driver, setup, teardown),
        cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_undecided, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_driver, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_arguments, setup, teardown),
        cmocka_unit_test(test_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

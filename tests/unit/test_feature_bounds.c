/* SPDX-License-Identifier: MIT */
/* Every feature at the bounds of what it takes: release, compute capability, attribute; and the
 * lists of features, devices' properties and toolkits, member by member. */
#include <stdio.h>
#include <string.h>

#include "fake_silent.h"
#include "helpers/compat_data.h"
#include "helpers/feature_data.h"

#include <cushim/compat.h>
#include <cushim/device.h>
#include <cushim/feature.h>

static const struct cushim_api *cu;

static void expect(const struct cushim_feature_data *data, CUdevice device,
                   enum cushim_support wanted, const char *words)
{
    const enum cushim_feature feature = (enum cushim_feature)(data - cushim_features);
    enum cushim_support support = CUSHIM_SUPPORT_UNKNOWN;
    char text[512], whole[512];
    cushim_feature_reason(cu, device, feature, &support, text, sizeof text);
    snprintf(whole, sizeof whole, "%s: %s", cushim_feature_strings + data->name, words);
    assert_string_equal(text, whole);
    assert_int_equal(support, wanted);
    assert_int_equal(cushim_feature(cu, device, feature), wanted);
}

static void check_attribute(const struct cushim_feature_data *data)
{
    const char *name = cushim_feature_strings + data->attribute_name;
    char words[256];
    silent.capability = 990;
    silent.attribute = (int)data->value;
    expect(data, 3, CUSHIM_SUPPORTED, "supported");
    assert_int_equal(silent.device, 3);
    silent.attribute =
        data->is_mask ? (int)(data->value & (data->value - 1)) : (int)data->value - 1;
    if (data->is_mask)
        snprintf(words, sizeof words,
                 "device 3 lacks it: attribute %s is %#x, without the bits %#x", name,
                 (unsigned)silent.attribute, (unsigned)data->value);
    else if (data->value == 1)
        snprintf(words, sizeof words, "device 3 lacks it: attribute %s is 0", name);
    else
        snprintf(words, sizeof words, "device 3 lacks it: attribute %s is %d, less than %d", name,
                 silent.attribute, (int)data->value);
    if (silent.attribute >= 0)
        expect(data, 3, CUSHIM_UNSUPPORTED_DEVICE, words);
    snprintf(words, sizeof words, "the driver has it; whether a device has, %s tells", name);
    expect(data, CUSHIM_NO_DEVICE, CUSHIM_SUPPORT_UNDECIDED, words);
    silent.attribute = data->is_mask ? -1 : (int)data->value + 1;
}

static void check_capability(const struct cushim_feature_data *data)
{
    char words[256];
    silent.attribute = 0x7fffffff;
    for (int capability = data->capability - 1; capability <= data->capability + 1; capability++) {
        silent.capability = capability;
        snprintf(words, sizeof words, "it takes compute capability %d.%d, and device 4 has %d.%d",
                 data->capability / 10, data->capability % 10, capability / 10, capability % 10);
        if (capability < data->capability)
            expect(data, 4, CUSHIM_UNSUPPORTED_DEVICE, words);
        else
            expect(data, 4, CUSHIM_SUPPORTED, "supported");
    }
    if (!data->attribute)
        expect(data, CUSHIM_NO_DEVICE, CUSHIM_SUPPORT_UNDECIDED,
               "the driver has it; whether a device has, the compute capability tells");
}

static void check_release(const struct cushim_feature_data *data)
{
    char words[256];
    if (!data->since)
        return;
    silent.version = data->since - 10;
    cu = silent_open();
    snprintf(words, sizeof words,
             "it takes a driver of CUDA %d.%d or later, and this one is of CUDA %d.%d",
             data->since / 1000, data->since % 1000 / 10, silent.version / 1000,
             silent.version % 1000 / 10);
    expect(data, 0, CUSHIM_UNSUPPORTED_DRIVER, words);
    cushim_close(cu);
    silent.version = data->since;
    silent.attribute = 0x7fffffff;
    silent.capability = 990;
    cu = silent_open();
    expect(data, 0, CUSHIM_SUPPORTED, "supported");
    cushim_close(cu);
}

static void test_features(void **state)
{
    (void)state;
    for (size_t i = 0; i < cushim_features_count; i++) {
        const struct cushim_feature_data *data = &cushim_features[i];
        if (data->platform == 2)
            continue;
        silent_reset();
        cu = silent_open();
        if (data->attribute)
            check_attribute(data);
        if (data->capability)
            check_capability(data);
        if (!data->attribute && !data->capability)
            expect(data, 0, CUSHIM_SUPPORTED, "supported");
        cushim_close(cu);
        check_release(data);
    }
}

/* ---- lists */

static void test_facts(void **state)
{
    static const char *const platforms[] = {NULL, "linux", "windows"};
    struct cushim_feature_facts facts = {.size = sizeof facts};
    size_t entry = 0, i = 0;
    (void)state;
    for (; i < cushim_features_count; i++) {
        const struct cushim_feature_data *data = &cushim_features[i];
        enum cushim_feature found;
        memset((char *)&facts + sizeof facts.size, 0x5a, sizeof facts - sizeof facts.size);
        assert_true(cushim_feature_list(i, &facts));
        assert_int_equal(facts.feature, i);
        assert_string_equal(facts.name, cushim_feature_strings + data->name);
        assert_string_equal(facts.group, cushim_feature_strings + data->group);
        assert_string_equal(facts.text, cushim_feature_strings + data->text);
        assert_true(facts.platform == platforms[data->platform] ||
                    strcmp(facts.platform, platforms[data->platform]) == 0);
        assert_int_equal(facts.since, data->since);
        assert_int_equal(facts.capability, data->capability);
        assert_int_equal(facts.entry_count, data->entry_count);
        assert_int_equal(facts.attribute, data->attribute);
        const bool counts = data->attribute && !data->is_mask;
        assert_int_equal(facts.attribute_mask, data->is_mask ? data->value : 0);
        assert_int_equal(facts.attribute_minimum, counts ? data->value : 0);
        if (data->attribute)
            assert_string_equal(facts.attribute_name,
                                cushim_feature_strings + data->attribute_name);
        else
            assert_null(facts.attribute_name);
        for (size_t k = 0; k < data->entry_count; k++) {
            assert_true(cushim_feature_entry(facts.feature, k, &entry));
            assert_int_equal(entry, cushim_feature_entries[data->entries + k]);
        }
        assert_false(cushim_feature_entry(facts.feature, data->entry_count, &entry));
        assert_true(cushim_feature_find(facts.name, &found));
        assert_int_equal(found, i);
    }
    assert_false(cushim_feature_list(i, &facts));
    char text[8] = "text";
    assert_string_equal(
        cushim_feature_reason(NULL, 0, (enum cushim_feature)0, NULL, NULL, sizeof text), "");
    assert_string_equal(cushim_feature_reason(NULL, 0, (enum cushim_feature)0, NULL, text, 0), "");
    assert_string_equal(text, "text");
    assert_int_equal(cushim_feature(cu, 0, (enum cushim_feature)i), CUSHIM_SUPPORT_UNKNOWN);
    enum cushim_feature none = (enum cushim_feature)7;
    assert_false(cushim_feature_find("no-such-feature", &none));
    assert_int_equal(none, 7);
}

#define PROPERTY(member, attribute)                                                                \
    {                                                                                              \
        offsetof(struct cushim_device_properties, member), CU_DEVICE_ATTRIBUTE_##attribute         \
    }
static const struct {
    size_t offset;
    int number;
} properties[] = {
    PROPERTY(major, COMPUTE_CAPABILITY_MAJOR),
    PROPERTY(minor, COMPUTE_CAPABILITY_MINOR),
    PROPERTY(multiprocessors, MULTIPROCESSOR_COUNT),
    PROPERTY(warp_size, WARP_SIZE),
    PROPERTY(max_threads_per_block, MAX_THREADS_PER_BLOCK),
    PROPERTY(max_threads_per_multiprocessor, MAX_THREADS_PER_MULTIPROCESSOR),
    PROPERTY(max_block[0], MAX_BLOCK_DIM_X),
    PROPERTY(max_block[1], MAX_BLOCK_DIM_Y),
    PROPERTY(max_block[2], MAX_BLOCK_DIM_Z),
    PROPERTY(max_grid[0], MAX_GRID_DIM_X),
    PROPERTY(max_grid[1], MAX_GRID_DIM_Y),
    PROPERTY(max_grid[2], MAX_GRID_DIM_Z),
    PROPERTY(registers_per_block, MAX_REGISTERS_PER_BLOCK),
    PROPERTY(shared_memory_per_block, MAX_SHARED_MEMORY_PER_BLOCK),
    PROPERTY(max_pitch, MAX_PITCH),
    PROPERTY(virtual_memory, VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED),
};
#undef PROPERTY

static CUresult CUDAAPI tell_number(int *value, CUdevice_attribute attribute, CUdevice device)
{
    (void)device;
    *value = 5000 + (int)attribute;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI tell_uuid(CUuuid *uuid, CUdevice device)
{
    for (size_t i = 0; i < sizeof uuid->bytes; i++)
        uuid->bytes[i] = (char)(0xf0 + i + (size_t)device);
    return CUDA_SUCCESS;
}

static void test_properties(void **state)
{
    struct cushim_device_properties all = {.size = sizeof all};
    (void)state;
    silent_reset();
    silent_use("cuDeviceGetAttribute", (silent_fn *)tell_number);
    silent_use("cuDeviceGetUuid", (silent_fn *)tell_uuid);
    silent_use("cuDeviceGetUuid_v2", (silent_fn *)tell_uuid);
    const struct cushim_api *teller = silent_open();
    assert_int_equal(cushim_device_describe(teller, 2, &all), CUDA_SUCCESS);
    for (size_t i = 0; i < COUNT(properties); i++) {
        int value;
        memcpy(&value, (char *)&all + properties[i].offset, sizeof value);
        assert_int_equal(value, 5000 + properties[i].number);
    }
    for (size_t at = offsetof(struct cushim_device_properties, major);
         at < sizeof all - sizeof(int); at += sizeof(int)) {
        int value;
        memcpy(&value, (char *)&all + at, sizeof value);
        assert_true(value > 5000);
    }
    assert_string_equal(all.uuid, "GPU-f2f3f4f5-f6f7-f8f9-fafb-fcfdfeff0001");
    cushim_close(teller);
}

/* ---- drivers and toolkits */

static void test_runs(void **state)
{
    static const int versions[] = {-10,   0,     990,   999,   1000,  1001,  1010,
                                   6050,  10000, 10010, 10020, 10990, 11000, 11010,
                                   11080, 12000, 12040, 12041, 13000};
    (void)state;
    for (size_t i = 0; i < COUNT(versions); i++)
        for (size_t k = 0; k < COUNT(versions); k++) {
            const int driver = versions[i], version = versions[k];
            enum cushim_runs wanted = CUSHIM_RUNS_NOT;
            if (version < 1000 || version / 10 * 10 != version)
                wanted = CUSHIM_RUNS_INVALID;
            else if (driver <= 0)
                wanted = CUSHIM_RUNS_NO_DRIVER;
            else if (driver >= version)
                wanted = CUSHIM_RUNS;
            else if (driver / 1000 == version / 1000 && version >= 11000)
                wanted = CUSHIM_RUNS_LIMITED;
            assert_int_equal(cushim_release_runs(driver, version), wanted);
        }
}

static void test_releases(void **state)
{
    (void)state;
    for (size_t i = 0; i < cushim_ptx_count; i++) {
        const struct cushim_ptx_data *row = &cushim_ptx[i];
        assert_int_equal(cushim_release_ptx(row->release), row->ptx);
        assert_int_equal(cushim_release_has_compat(row->release),
                         cushim_forward_since && row->release >= cushim_forward_since);
        size_t first = 0;
        while (cushim_ptx[first].ptx < row->ptx)
            first++;
        assert_int_equal(cushim_ptx_release(row->ptx), cushim_ptx[first].release);
    }
    assert_int_equal(cushim_ptx_release(0), cushim_ptx[0].release);
    assert_int_equal(cushim_ptx_release(cushim_ptx[cushim_ptx_count - 1].ptx + 1), 0);
    assert_false(cushim_release_has_compat(cushim_ptx[cushim_ptx_count - 1].release + 10));
    for (size_t i = 0; i < cushim_targets_count; i++)
        assert_int_equal(cushim_capability_release(cushim_targets[i].capability),
                         cushim_targets[i].release);
    assert_int_equal(cushim_capability_release(1), 0);
    assert_int_equal(cushim_release_ptx(1), 0);
    for (size_t i = 0; i < cushim_families_count; i++) {
        const char *on_linux = "", *on_windows = "";
        assert_true(cushim_family_floor(cushim_families[i].major, &on_linux, &on_windows));
        assert_string_equal(on_linux ? on_linux : "",
                            cushim_driver_strings + cushim_families[i].linux_driver);
        assert_string_equal(on_windows ? on_windows : "",
                            cushim_driver_strings + cushim_families[i].windows_driver);
    }
    assert_false(cushim_family_floor(1, NULL, NULL));
    assert_true(cushim_family_floor(cushim_families[0].major, NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_features),   cmocka_unit_test(test_facts),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_releases),
    };
    return cmocka_run_group_tests_name("feature_bounds", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Every structure that begins with its size: one byte less than the first release had is refused.
 * An answer fills all that its caller knows and no byte behind it. Of a larger structure, an answer
 * leaves the rest as it is, and a rest that is to be read has to be zero. */
#include <stdio.h>
#include <string.h>

#include "fake_silent.h"

#include <cushim/compat.h>
#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/feature.h>
#include <cushim/launch.h>
#include <cushim/memory.h>
#include <cushim/module.h>

#define SOMETHING ((void *)(uintptr_t)0x1000)

enum { FILL = 0x5a, BEHIND = 64, ROOM = 2048 };

static const struct cushim_api *cu;
static const char ptx[] = ".version 6.4\n.target sm_50\n.address_size 64\n";

/* ---- answers */

static CUresult primary(void *at)
{
    return cushim_primary_describe(cu, 0, at);
}

static CUresult pointer(void *at)
{
    return cushim_pointer_describe(cu, 64, at);
}

static CUresult image(void *at)
{
    return cushim_image_describe(ptx, sizeof ptx, at);
}

static CUresult properties(void *at)
{
    return cushim_device_describe(cu, 0, at);
}

static CUresult result(void *at)
{
    CUmodule module;
    CUresult code = cushim_module_load(cu, ptx, sizeof ptx, NULL, at, &module);
    if (code == CUDA_SUCCESS) {
        struct cushim_jit_result logs;
        memcpy(&logs, at, sizeof logs);
        cushim_jit_result_release(&logs);
    }
    return code;
}

static CUresult launch(void *at)
{
    return cushim_launch_kernel(cu, SOMETHING, at, NULL, NULL, 0);
}

static CUresult options(void *at)
{
    CUcontext context;
    return cushim_context_create(cu, 0, at, &context);
}

static CUresult jit_options(void *at)
{
    CUmodule module;
    return cushim_module_load(cu, ptx, sizeof ptx, at, NULL, &module);
}

static CUresult link_input(void *at)
{
    CUmodule module;
    return cushim_module_link(cu, at, 1, NULL, NULL, &module);
}

struct sized {
    const char *argument; /* "HELPER: NAME" */
    CUresult (*call)(void *at);
    size_t full;
    bool writes; /* all that its caller knows; others are only read */
};

static const struct sized all_sized[] = {
    {"cushim_primary_describe: primary", primary, sizeof(struct cushim_primary), true},
    {"cushim_pointer_describe: pointer", pointer, sizeof(struct cushim_pointer), true},
    {"cushim_image_describe: image", image, sizeof(struct cushim_image), true},
    {"cushim_device_describe: properties", properties, sizeof(struct cushim_device_properties),
     true},
    {"cushim_module_load: result", result, sizeof(struct cushim_jit_result), true},
    {"cushim_launch_kernel: launch", launch, sizeof(struct cushim_launch), false},
    {"cushim_context_create: options", options, sizeof(struct cushim_context_options), false},
    {"cushim_module_load: options", jit_options, sizeof(struct cushim_jit_options), false},
    {"cushim_module_link: inputs", link_input, sizeof(struct cushim_link_input), false},
};

/* A structure of a size, and what is in memory around it. What is read has zeros up to the size,
 * and behind it what would be refused or crash. */
static void prepare_sized(unsigned char *at, const struct sized *sized, size_t size)
{
    const struct cushim_link_input input = {.data = ptx, .bytes = sizeof ptx};
    memset(at, FILL, ROOM);
    if (!sized->writes)
        memset(at, 0, size);
    if (sized->call == link_input)
        memcpy(at, &input, sizeof input);
    if (sized->call == launch) {
        const struct cushim_launch one = {.grid = CUSHIM_DIM(1), .block = CUSHIM_DIM(1)};
        memcpy(at, &one, sizeof one);
    }
    memcpy(at, &size, sizeof size);
}

static void check_refused(const struct sized *sized, size_t size)
{
    static _Alignas(16) unsigned char at[ROOM], before[ROOM];
    char words[256];
    prepare_sized(at, sized, size);
    memcpy(before, at, ROOM);
    snprintf(words, sizeof words, "%s: size: %zu is too small; set it to sizeof of the structure",
             sized->argument, size);
    if (sized->call(at) != CUDA_ERROR_INVALID_VALUE)
        fail_msg("%s of %zu bytes is taken", sized->argument, size);
    assert_string_equal(cushim_last_error(), words);
    assert_memory_equal(at, before, ROOM);
}

static void check_taken(const struct sized *sized, size_t size)
{
    static _Alignas(16) unsigned char at[ROOM];
    size_t known = size < sized->full ? size : sized->full, theirs;
    prepare_sized(at, sized, size);
    cushim_last_error_clear();
    CUresult code = sized->call(at);
    if (code != CUDA_SUCCESS)
        fail_msg("%s of %zu bytes: %s", sized->argument, size, cushim_last_error());
    assert_null(strstr(cushim_last_error(), "is too small"));
    memcpy(&theirs, at, sizeof theirs);
    assert_true(theirs == size);
    for (size_t i = sizeof size; sized->writes && i < known; i++)
        if (at[i] == FILL)
            fail_msg("%s of %zu bytes: byte %zu is not written", sized->argument, size, i);
    for (size_t i = sized->writes ? known : size; i < ROOM; i++)
        if (at[i] != FILL)
            fail_msg("%s of %zu bytes: byte %zu is", sized->argument, size, i);
}

/* A member of a newer release that is set is refused by the name of the structure. */
static void check_rest(const struct sized *sized, size_t size)
{
    static _Alignas(16) unsigned char at[ROOM];
    char words[256];
    if (sized->writes)
        return;
    prepare_sized(at, sized, size);
    at[size - 1] = 1;
    snprintf(words, sizeof words,
             "%s: size is of a newer release, and a member that this release lacks is set",
             sized->argument);
    assert_int_equal(sized->call(at), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_last_error(), words);
}

static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(all_sized); i++) {
        const struct sized *sized = &all_sized[i];
        check_refused(sized, 0);
        check_refused(sized, sized->full - 1);
        check_taken(sized, sized->full);
        check_taken(sized, sized->full + BEHIND);
        check_rest(sized, sized->full + 1);
        check_rest(sized, sized->full + BEHIND);
    }
}

/* Call the list of features (0) or of toolkits (1) with a structure of a size, and mark the bytes
 * that the call wrote. One fill does not tell: a byte of a pointer may be equal to it. */
static bool list_facts(size_t list, size_t size, bool written[ROOM])
{
    static const int fills[] = {FILL, 0xff & ~FILL};
    bool listed = false;
    memset(written, 0, ROOM * sizeof *written);
    for (size_t k = 0; k < COUNT(fills); k++) {
        _Alignas(16) unsigned char at[ROOM];
        size_t theirs;
        memset(at, fills[k], sizeof at);
        memcpy(at, &size, sizeof size);
        listed = list == 0 ? cushim_feature_list(0, (void *)at) : cushim_toolkit_at(0, (void *)at);
        memcpy(&theirs, at, sizeof theirs);
        assert_true(theirs == size);
        for (size_t byte = 0; byte < sizeof at; byte++)
            written[byte] |= at[byte] != fills[k];
    }
    return listed;
}

/* Facts of this build's own lists. */
static void test_facts(void **state)
{
    static const size_t full[] = {sizeof(struct cushim_feature_facts),
                                  sizeof(struct cushim_toolkit)};
    (void)state;
    for (size_t i = 0; i < COUNT(full); i++) {
        const size_t sizes[] = {0, sizeof(size_t), full[i] - 1, full[i], full[i] + BEHIND};
        for (size_t k = 0; k < COUNT(sizes); k++) {
            bool written[ROOM], listed = list_facts(i, sizes[k], written);
            assert_int_equal(listed, sizes[k] >= full[i]);
            for (size_t byte = sizeof(size_t); byte < ROOM; byte++)
                assert_int_equal(written[byte], listed && byte < full[i]);
        }
    }
}

/* The options of a load have no sentence with the size. */
static void test_options(void **state)
{
    struct cushim_options all = {.path = "/nonexistent/libcuda.so.1"};
    (void)state;
    all.size = sizeof all - 1;
    assert_null(cushim_open(&all));
    assert_string_equal(cushim_last_error(),
                        "options: size is too small; set it to sizeof of the structure");
    all.size = sizeof all;
    const struct cushim_api *opened = cushim_open(&all);
    assert_failed(opened, CUSHIM_ERROR_NOT_FOUND);
    cushim_close(opened);
    all.reserved = 1;
    assert_null(cushim_open(&all));
    assert_string_equal(cushim_last_error(), "options: reserved is not 0");
}

static int set_up(void **state)
{
    (void)state;
    silent_reset();
    silent_fail("cuDeviceGetUuid", CUDA_ERROR_NOT_SUPPORTED);
    silent_fail("cuFuncGetAttribute", CUDA_ERROR_NOT_SUPPORTED);
    silent_fail("cuLinkComplete", CUDA_SUCCESS);
    cu = silent_open();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cushim_close(cu);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_options),
    };
    return cmocka_run_group_tests_name("sizes", tests, set_up, tear_down);
}

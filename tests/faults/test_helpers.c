/* SPDX-License-Identifier: MIT */
/* Everything that the helpers ask the system for fails in turn, on the simulated driver: the code
 * and the sentence name the cause, outputs are untouched, and nothing leaks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "faults.h"

#include <cushim/context.h>
#include <cushim/device.h>
#include <cushim/error.h>
#include <cushim/module.h>

static const char ptx[] = ".version 6.4\n.target sm_50\n.address_size 64\n"
                          ".visible .entry first()\n{\n ret;\n}\n"
                          ".visible .entry second()\n{\n ret;\n}\n";
static const struct cushim_api *cu;
static const char *library;

#define UNTOUCHED ((void *)(uintptr_t)0x5a5a5a5a)

static bool names_cause(enum inject_kind kind, int code, const char *text)
{
    switch (kind) {
    case INJECT_ALLOCATE:
        return (code == CUDA_ERROR_OUT_OF_MEMORY || code == CUDA_ERROR_OPERATING_SYSTEM) &&
               strstr(text, "memory");
    case INJECT_OPEN:
        return code == CUDA_ERROR_OPERATING_SYSTEM && strstr(text, strerror(EMFILE));
    case INJECT_READ:
        return code == CUDA_ERROR_OPERATING_SYSTEM && strstr(text, "reading it failed");
    default:
        return false;
    }
}

/* What a helper returned, after its work: nothing fails any more. */
static int ended(CUresult code, char *text, size_t size)
{
    inject_end();
    snprintf(text, size, "%s", cushim_last_error());
    return (int)code;
}

static int load_file(char *text, size_t size)
{
    struct cushim_jit_result result = {.size = sizeof result};
    CUmodule module = UNTOUCHED;
    int code = ended(cushim_module_load_file(cu, in_folder("two.ptx"), NULL, &result, &module),
                     text, size);
    assert_true(code ? module == UNTOUCHED : module != UNTOUCHED);
    if (!code)
        assert_int_equal(cushim_module_unload(cu, module), CUDA_SUCCESS);
    cushim_jit_result_release(&result);
    return code;
}

/* Without a NUL at its end, the text is copied. */
static int load_text(char *text, size_t size)
{
    CUmodule module = UNTOUCHED;
    int code = ended(cushim_module_load(cu, ptx, sizeof ptx - 1, NULL, NULL, &module), text, size);
    assert_true(code ? module == UNTOUCHED : module != UNTOUCHED);
    if (!code)
        assert_int_equal(cushim_module_unload(cu, module), CUDA_SUCCESS);
    return code;
}

static int load_library(char *text, size_t size)
{
    CUlibrary loaded = UNTOUCHED;
    int code = ended(cushim_library_load(cu, ptx, sizeof ptx - 1, NULL, NULL, &loaded), text, size);
    assert_true(code ? loaded == UNTOUCHED : loaded != UNTOUCHED);
    if (!code)
        assert_int_equal(cushim_library_unload(cu, loaded), CUDA_SUCCESS);
    return code;
}

static int link_inputs(char *text, size_t size)
{
    struct cushim_link_input inputs[] = {
        {.size = sizeof *inputs, .data = ptx, .bytes = sizeof ptx - 1},
        {.size = sizeof *inputs, .path = in_folder("other.ptx")},
    };
    struct cushim_jit_result result = {.size = sizeof result};
    struct cushim_cubin cubin = {UNTOUCHED, 7};
    int code = ended(cushim_cubin_link(cu, inputs, 2, NULL, &result, &cubin), text, size);
    assert_true(code ? cubin.data == UNTOUCHED && cubin.bytes == 7 : cubin.data != UNTOUCHED);
    if (!code)
        cushim_cubin_release(&cubin);
    cushim_jit_result_release(&result);
    return code;
}

static CUmodule loaded_module;

/* The sentence has the names that are near, if there is memory to list them. */
static int misspell(char *text, size_t size)
{
    CUfunction function = UNTOUCHED;
    CUresult code = cushim_module_function(cu, loaded_module, "frist", &function);
    ended(code, text, size);
    assert_int_equal(code, CUDA_ERROR_NOT_FOUND);
    assert_ptr_equal(function, UNTOUCHED);
    assert_contains(text, "frist");
    return 0;
}

static int list_devices(char *text, size_t size)
{
    CUdevice devices[1] = {-7};
    int count = -7;
    int code = ended(cushim_device_list(cu, devices, 1, &count), text, size);
    assert_int_equal(count, code ? -7 : 2);
    assert_int_equal(devices[0], code ? -7 : 0);
    return code;
}

static void run(int (*body)(char *, size_t), const char *name)
{
    struct faults_scenario scenario = {name, body, names_cause};
    faults_run(&scenario);
}

#define TEST(body)                                                                                 \
    static void test_##body(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        run(body, #body);                                                                          \
    }
TEST(load_file)
TEST(load_text)
TEST(load_library)
TEST(link_inputs)
TEST(misspell)
TEST(list_devices)

static int set_up(void **state)
{
    (void)state;
    set_environment("CUSHIM_SIM_DEVICES", "2");
    make_folder();
    write_file("two.ptx", ptx, sizeof ptx - 1);
    const char *other = ".version 6.4\n.target sm_50\n.address_size 64\n"
                        ".visible .entry third()\n{\n ret;\n}\n";
    write_file("other.ptx", other, strlen(other));
    cu = open_path(library);
    assert_int_equal(cushim_init(cu), CUSHIM_OK);
    CUcontext context;
    assert_int_equal(cushim_primary_retain(cu, 0, &context), CUDA_SUCCESS);
    assert_int_equal(cu->cuCtxSetCurrent(context), CUDA_SUCCESS);
    return (int)cushim_module_load(cu, ptx, sizeof ptx, NULL, NULL, &loaded_module);
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder();
    return (int)cushim_primary_release(cu, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_file),    cmocka_unit_test(test_load_text),
        cmocka_unit_test(test_load_library), cmocka_unit_test(test_link_inputs),
        cmocka_unit_test(test_misspell),     cmocka_unit_test(test_list_devices),
    };
    if (argc != 2) {
        fprintf(stderr, "usage: %s LIBRARY\n", argv[0]);
        return 2;
    }
    library = argv[1];
    return cmocka_run_group_tests_name("helpers", tests, set_up, tear_down);
}

/* SPDX-License-Identifier: MIT */
/* NVML's table: found, filled, and what its slots do that no library fills. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cushim/nvml.h>

#include "common.h"

#define SLOTS ((sizeof(struct cushim_nvml) - sizeof(size_t) - sizeof(void *)) / sizeof(void *))

static const struct cushim_nvml *load_path(const char *path)
{
    struct cushim_nvml_options options = CUSHIM_NVML_OPTIONS_INIT;
    options.path = path;
    options.retry = true;
    return cushim_nvml_load(&options);
}

/* No slot is empty, and each one that is a function without arguments in our eyes can be called. */
static void assert_every_slot_answers(const struct cushim_nvml *nvml, int code)
{
    if (!can_call_with_zeros())
        return;
    for (size_t i = 0; i < SLOTS; i++) {
        size_t offset = sizeof(size_t) + sizeof(void *) + i * sizeof(void *);
        void *slot;
        memcpy(&slot, (const char *)nvml + offset, sizeof slot);
        assert_non_null(slot);
        if (cushim_nvml_has_(nvml, offset) ||
            offset == offsetof(struct cushim_nvml, nvmlErrorString))
            continue;
        cushim_last_error_clear();
        assert_int_equal(call_with_zeros(slot), code);
        assert_contains(cushim_last_error(), "nvml");
        assert_contains(cushim_last_error(), " is not available: ");
    }
}

/* ---- in children, because a process has one NVML */

static void body_without(void *argument)
{
    (void)argument;
    const struct cushim_nvml *nvml = load_path("/nowhere/libnvidia-ml.so.1");
    assert_int_equal(cushim_nvml_status(nvml), CUSHIM_ERROR_NOT_FOUND);
    const char *said = strstr(cushim_nvml_message(nvml), "/nowhere/libnvidia-ml.so.1");
    assert_true(said && !strstr(said + 1, "/nowhere/libnvidia-ml.so.1")); /* once */
    assert_contains(cushim_nvml_message(nvml), "; give the path of a libnvidia-ml.so.1");
    assert_int_equal(nvml->nvmlInit(), NVML_ERROR_LIBRARY_NOT_FOUND);
    assert_contains(cushim_last_error(), "nvmlInit_v2 is not available: there is no NVML (");
    assert_contains(cushim_last_error(), "/nowhere");
    assert_every_slot_answers(nvml, NVML_ERROR_LIBRARY_NOT_FOUND);
    assert_contains(nvml->nvmlErrorString(NVML_ERROR_LIBRARY_NOT_FOUND), "not on this machine");
    assert_contains(nvml->nvmlErrorString((nvmlReturn_t)12345), "not known");
    assert_false(CUSHIM_NVML_HAS(nvml, nvmlInit));
    assert_false(CUSHIM_NVML_HAS(nvml, nvmlErrorString));
}

static void body_with(void *argument)
{
    const struct cushim_nvml *nvml = load_path(argument);
    int *initialised = exported(argument, "fake_nvml_initialised");
    assert_int_equal(cushim_nvml_status(nvml), CUSHIM_OK);
    assert_contains(cushim_nvml_message(nvml), argument);
    assert_int_equal(*initialised, 0); /* a load initialises nothing */
    assert_int_equal(nvml->nvmlInit(), NVML_SUCCESS);
    assert_int_equal(*initialised, 1);
    assert_int_equal(nvml->nvmlInit_v1(), NVML_SUCCESS);
    assert_int_equal(*initialised, 101);
    unsigned int count = 0;
    assert_int_equal(nvml->nvmlDeviceGetCount(&count), NVML_SUCCESS);
    assert_int_equal(count, 7);
    assert_true(CUSHIM_NVML_HAS(nvml, nvmlInit));
    assert_true(CUSHIM_NVML_HAS(nvml, nvmlDeviceGetComputeRunningProcesses_v1));
    assert_false(CUSHIM_NVML_HAS(nvml, nvmlDeviceGetComputeRunningProcesses)); /* of 12.0: _v3 */
    assert_string_equal(nvml->nvmlErrorString(NVML_SUCCESS), "the fake's success");
    assert_every_slot_answers(nvml, NVML_ERROR_FUNCTION_NOT_FOUND);
    nvmlPdi_v1_t pdi;
    assert_int_equal(nvml->nvmlDeviceGetPdi(NULL, &pdi), NVML_ERROR_FUNCTION_NOT_FOUND);
    assert_contains(cushim_last_error(), "nvmlDeviceGetPdi is not available: ");
    assert_contains(cushim_last_error(), argument);
    assert_contains(cushim_last_error(), "nvml.h of CUDA 13.0 and later");
    assert_ptr_equal(cushim_nvml_load(NULL), nvml);
    assert_ptr_equal(load_path("/nowhere"), nvml); /* the first that succeeds decides */
}

/* An ABI is never another one's stand-in: a driver without nvmlInit_v2 has nvmlInit alone. */
static void body_first_abi(void *argument)
{
    const struct cushim_nvml *nvml = load_path(argument);
    assert_int_equal(cushim_nvml_status(nvml), CUSHIM_OK);
    assert_int_equal(nvml->nvmlInit(), NVML_ERROR_FUNCTION_NOT_FOUND);
    assert_int_equal(nvml->nvmlInit_v1(), NVML_SUCCESS);
}

static void body_environment(void *argument)
{
    set_environment("CUSHIM_LIBNVIDIA_ML", "");
    const struct cushim_nvml *first = cushim_nvml_load(NULL);
    assert_int_equal(cushim_nvml_status(first), CUSHIM_ERROR_EMPTY_PATH);
    assert_contains(cushim_nvml_message(first), "CUSHIM_LIBNVIDIA_ML: empty, which hides NVML");
    set_environment("CUSHIM_LIBNVIDIA_ML", "/nowhere/a");
    struct cushim_nvml_options again = CUSHIM_NVML_OPTIONS_INIT;
    again.retry = true;
    first = cushim_nvml_load(&again);
    assert_string_equal(cushim_nvml_message(first),
                        "CUSHIM_LIBNVIDIA_ML=/nowhere/a: No such file or directory; unset it, or "
                        "give the path of a libnvidia-ml.so.1");
    set_environment("CUSHIM_LIBNVIDIA_ML", argument);
    assert_ptr_equal(cushim_nvml_load(NULL), first); /* a failed load is not repeated */
    struct cushim_nvml_options options = CUSHIM_NVML_OPTIONS_INIT;
    options.retry = true;
    const struct cushim_nvml *second = cushim_nvml_load(&options);
    assert_int_equal(cushim_nvml_status(second), CUSHIM_OK);
    assert_int_equal(first->nvmlInit(), NVML_ERROR_LIBRARY_NOT_FOUND); /* still valid */
}

static void body_failing_again(void *argument)
{
    (void)argument;
    const struct cushim_nvml *first = load_path("/nowhere/a");
    assert_ptr_equal(load_path("/nowhere/a"), first);
    assert_ptr_not_equal(load_path("/nowhere/b"), first);
}

/* Refused: a library that is not NVML, a damaged file, and a toolkit's stub. */
static void body_refused(void *argument)
{
    const struct cushim_nvml *nvml = load_path(fake_path(GOOD));
    assert_int_equal(cushim_nvml_status(nvml), CUSHIM_ERROR_NOT_CUDA);
    assert_contains(cushim_nvml_message(nvml), "it has no nvmlInit");
    nvml = load_path(write_file("libnvidia-ml.so.1",
                                "\x7f"
                                "ELF",
                                4));
    assert_int_equal(cushim_nvml_status(nvml), CUSHIM_ERROR_TRUNCATED);
    mkdir(in_folder("stubs"), 0755);
    copy_file(argument, "stubs/libnvidia-ml.so");
    assert_int_equal(symlink(in_folder("stubs/libnvidia-ml.so"), in_folder("link.so.1")), 0);
    nvml = load_path(in_folder("link.so.1"));
    assert_int_equal(cushim_nvml_status(nvml), CUSHIM_ERROR_STUB);
    assert_contains(cushim_nvml_message(nvml), "stub");
    assert_int_equal(nvml->nvmlInit(), NVML_ERROR_LIBRARY_NOT_FOUND);
}

/* In the folder of the libcuda that the process has loaded. musl knows a library by the name that
 * it was asked for, which is another here. */
#ifdef __GLIBC__
static void body_beside(void *argument)
{
    mkdir(in_folder("a driver"), 0755);
    copy_file(argument, "a driver/libnvidia-ml.so.1");
    const char *driver = copy_file(fake_path("soname"), "a driver/libcuda.so.1");
    assert_non_null(dlopen(driver, RTLD_NOW));
    const struct cushim_nvml *nvml = cushim_nvml_load(NULL);
    assert_int_equal(cushim_nvml_status(nvml), CUSHIM_OK);
    assert_contains(cushim_nvml_message(nvml), "a driver/libnvidia-ml.so.1");
}
#endif

static void body_options(void *argument)
{
    struct cushim_nvml_options options = {.size = 4, .path = argument};
    const struct cushim_nvml *nvml = cushim_nvml_load(&options);
    assert_contains(cushim_last_error(), "size is too small");
    assert_int_equal(cushim_nvml_status(nvml), CUSHIM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(cushim_nvml_message(nvml),
                        "the options of cushim_nvml_load were refused: size is too small; set it "
                        "to sizeof of the structure");
    assert_ptr_equal(cushim_nvml_load(&options), nvml);
    assert_int_equal(nvml->nvmlInit(), NVML_ERROR_LIBRARY_NOT_FOUND);
    options.size = sizeof options;
    assert_int_equal(cushim_nvml_status(cushim_nvml_load(&options)), CUSHIM_OK);
}

/* A header of a later release: what this library does not know can be called, too. */
static void body_later_header(void *argument)
{
    struct cushim_nvml_options options = CUSHIM_NVML_OPTIONS_INIT;
    options.path = argument;
    const struct cushim_nvml *nvml =
        cushim_nvml_connect_(&options, sizeof(struct cushim_nvml) + 2 * sizeof(void *));
    void *slot;
    memcpy(&slot, (const char *)(nvml + 1) + sizeof slot, sizeof slot);
    assert_int_equal(call_with_zeros(slot), NVML_ERROR_FUNCTION_NOT_FOUND);
    assert_contains(cushim_last_error(), "older than the header");
    assert_ptr_equal(cushim_nvml_load(NULL), nvml);
}

static void body_other_errors(void *argument)
{
    (void)argument;
    const struct cushim_nvml *nvml = load_path("/nowhere");
    const struct cushim_api *cu = open_path("/nowhere");
    CUdevice device;
    (void)nvml->nvmlInit();
    (void)cu->cuDeviceGet(&device, 0); /* the last one counts, of whichever table */
    assert_contains(cushim_last_error(), "cuDeviceGet is not available");
    (void)cu->cuDeviceGet(&device, 0);
    (void)nvml->nvmlShutdown();
    assert_contains(cushim_last_error(), "nvmlShutdown is not available");
    assert_contains(cushim_last_error(), "nvmlShutdown is not available"); /* asked twice */
    assert_string_equal(cushim_nvml_error_name(NVML_ERROR_GPU_IS_LOST), "NVML_ERROR_GPU_IS_LOST");
    assert_null(cushim_nvml_error_name((nvmlReturn_t)-5));
    assert_int_equal(cushim_nvml_status(NULL), CUSHIM_ERROR_INVALID_ARGUMENT);
    assert_false(cushim_nvml_has_(nvml, 0));
    assert_false(cushim_nvml_has_(nvml, sizeof *nvml));
}

/* Sixteen threads load at once, half of them anew: all get one table. */
static void *thread_load(void *path)
{
    const struct cushim_nvml *nvml = load_path(path);
    unsigned int count = 0;
    return nvml->nvmlDeviceGetCount(&count) == NVML_SUCCESS ? (void *)(uintptr_t)nvml : NULL;
}

static void body_threads(void *argument)
{
    pthread_t threads[16];
    void *tables[16];
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_load, argument), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_int_equal(pthread_join(threads[i], &tables[i]), 0);
    for (size_t i = 0; i < COUNT(threads); i++)
        assert_ptr_equal(tables[i], cushim_nvml_load(NULL));
}

/* ---- */

#define IN_CHILD(name, fake)                                                                       \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        char path[PATH_SIZE];                                                                      \
        (void)state;                                                                               \
        snprintf(path, sizeof path, "%s", fake_path(fake));                                        \
        run_in_child(body_##name, path, NULL);                                                     \
    }

IN_CHILD(without, "nvml")
IN_CHILD(with, "nvml")
IN_CHILD(first_abi, "nvml_first")
IN_CHILD(environment, "nvml")
IN_CHILD(failing_again, "nvml")
IN_CHILD(refused, "nvml")
#ifdef __GLIBC__
IN_CHILD(beside, "nvml")
#endif
IN_CHILD(options, "nvml")
IN_CHILD(later_header, "nvml")
IN_CHILD(other_errors, "nvml")
IN_CHILD(threads, "nvml")

static int setup(void **state)
{
    (void)state;
    set_environment("CUSHIM_LIBNVIDIA_ML", NULL);
    return make_folder() ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without),       cmocka_unit_test(test_with),
        cmocka_unit_test(test_first_abi),     cmocka_unit_test(test_environment),
        cmocka_unit_test(test_failing_again), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_options),       cmocka_unit_test(test_later_header),
        cmocka_unit_test(test_other_errors),  cmocka_unit_test(test_threads),
#ifdef __GLIBC__
        cmocka_unit_test(test_beside),
#endif
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

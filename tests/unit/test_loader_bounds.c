/* SPDX-License-Identifier: MIT */
/* The loader at its bounds: texts that are cut, the first and last entry, the newest release,
 * descriptor 0, and folders that are searched. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_silent.h"
#include "loader/elf.h"
#include "loader/platform.h"
#include "loader/registry.h"
#include "loader/resolve.h"

/* ---- sentences */

/* In a buffer of any size: as much as fits, and its end. */
static void test_cut(void **state)
{
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    (void)state;
    for (int with_table = 0; with_table < 2; with_table++) {
        const struct cushim_api *table = with_table ? cu : NULL;
        char whole[512], text[520];
        cushim_reason(table, "cuMemAlloc_v2", NULL, whole, sizeof whole);
        assert_string_equal(whole, with_table ? "cuMemAlloc_v2 is available"
                                              : "cushim_slot_at: the table is NULL");
        const size_t length = strlen(whole);
        for (size_t size = 0; size < length + 3; size++) {
            memset(text, 'x', sizeof text);
            assert_ptr_equal(cushim_reason(table, "cuMemAlloc_v2", NULL, text, size), text);
            const size_t kept = size <= length ? size : length + 1;
            if (size) {
                assert_memory_equal(text, whole, kept - 1);
                assert_int_equal(text[kept - 1], '\0');
            }
            for (size_t i = kept; i < sizeof text; i++)
                assert_int_equal(text[i], 'x');
        }
    }
    cushim_close(cu);
}

/* NAME_v1 means the first ABI of a name that has several; no length of a name is too much. */
static void test_first(void **state)
{
    char symbol[2 * CUSHIM_SYMBOL_SIZE];
    (void)state;
    assert_int_equal(cushim_registry_find("cuMemAlloc_v1"), cushim_registry_find("cuMemAlloc"));
    assert_int_equal(cushim_registry_find("cuInit_v1"), CUSHIM_ENTRY_COUNT); /* it has one */
    for (size_t length = 0; length < sizeof symbol; length++) {
        memset(symbol, 'c', length);
        symbol[length] = '\0';
        if (length >= 3)
            memcpy(symbol + length - 3, "_v1", 3);
        assert_int_equal(cushim_registry_find(symbol), CUSHIM_ENTRY_COUNT);
    }
    for (int i = 0; i < 5000; i++) { /* of every part of the list */
        snprintf(symbol, sizeof symbol, "cuNone%d", i);
        assert_int_equal(cushim_registry_find(symbol), CUSHIM_ENTRY_COUNT);
    }
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        assert_int_equal(cushim_registry_find(cushim_registry_symbol(i, symbol)), i);
}

/* The process-wide driver's reason is in brackets, as long as it is the only one. */
static void load_without_driver(void *unused)
{
    char words[2048];
    (void)unused;
    set_environment("CUSHIM_LIBCUDA", "/nonexistent/libcuda.so.1");
    const struct cushim_api *cu = cushim_load(NULL);
    assert_failed(cu, CUSHIM_ERROR_NOT_FOUND);
    snprintf(words, sizeof words, "cuMemFree_v2 is not available: there is no CUDA driver (%s)",
             cushim_message(cu));
    for (int round = 0; round < 2; round++) {
        assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_INITIALIZED);
        assert_string_equal(cushim_last_error(), words);
        assert_string_equal(cushim_last_error(), words);
    }
    cushim_close(open_path(fake_path(GOOD)));
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_INITIALIZED);
    assert_string_equal(cushim_last_error(),
                        "cuMemFree_v2 is not available: there is no CUDA driver");
}

static void load_older(void *unused)
{
    struct cushim_options options = defaults();
    (void)unused;
    options.path = fake_path(GOOD);
    const struct cushim_api *cu = cushim_load(&options);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(cu->cuCtxCreate_v4(NULL, NULL, 0, 0), CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
    assert_string_equal(cushim_last_error(), "cuCtxCreate_v4 is not available: it came with CUDA "
                                             "12.5, and the driver, of CUDA 12.4, is older");
    assert_int_equal(cu->cuMemFree_v2(0), CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_last_error(), "cuMemFree_v2 is not available: the driver, of CUDA "
                                             "12.4, does not export it");
    assert_int_equal(call_with_zeros(table_slot(cu, entry_index("cuWGLGetDevice"))),
                     CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_last_error(),
                        "cuWGLGetDevice is not available: it exists on Windows only");
}

static void test_process_wide(void **state)
{
    (void)state;
    run_in_child(load_without_driver, NULL, NULL);
    run_in_child(load_older, NULL, NULL);
}

/* ---- a driver's look-up */

/* What cuGetProcAddress_v2 is asked for and answers. */
static struct {
    const char *name;
    int version, calls, status;
    CUresult code;
    void *answer;
} asked;

static void *resolve_distinct(void *user, const char *symbol);

/* Of the registry's names it is honest: the newest ABI up to the version. */
static CUresult CUDAAPI answer_v2(const char *name, void **function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status)
{
    struct cushim_entry entry, newest = {.since = 0};
    asked.calls++;
    asked.version = version;
    if (strcmp(name, asked.name) == 0) {
        *function = asked.answer;
        *status = (CUdriverProcAddressQueryResult)asked.status;
        return asked.code;
    }
    for (size_t i = 0; cushim_entry_at(i, &entry); i++)
        if (strcmp(entry.name, name) == 0 && entry.since <= version && entry.since > newest.since &&
            (entry.stream != CUSHIM_STREAM_LEGACY) ==
                (flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM))
            newest = entry;
    *function = newest.since ? resolve_distinct(NULL, newest.symbol) : NULL;
    *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI newest_version(int *version)
{
    *version = silent.version;
    return CUDA_SUCCESS;
}

static void *address_of(silent_fn *function)
{
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

/* Each entry is another address, of the program's own code. */
static void *resolve_distinct(void *user, const char *symbol)
{
    const size_t index = cushim_registry_find(symbol);
    (void)user;
    if (strcmp(symbol, "cuGetProcAddress_v2") == 0)
        return address_of((silent_fn *)answer_v2);
    if (strcmp(symbol, "cuDriverGetVersion") == 0)
        return address_of((silent_fn *)newest_version);
    if (strcmp(symbol, "cuGetProcAddress") == 0 || index == CUSHIM_ENTRY_COUNT)
        return NULL;
    return (char *)address_of((silent_fn *)open_path) + index;
}

static const struct cushim_api *open_distinct(int version)
{
    struct cushim_options options = defaults();
    silent.version = version;
    asked = (__typeof__(asked)){.name = "", .status = CU_GET_PROC_ADDRESS_SUCCESS};
    options.resolver = resolve_distinct;
    const struct cushim_api *cu = cushim_open(&options);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_int_equal(cushim_remarks(cu) & CUSHIM_REMARK_PROC_FAILED, 0);
    return cu;
}

/* It has the second form alone. What it answers about a name that no registry has is not believed
 * if it is an entry's own address, be it the first one's or the last one's. */
static void test_other_entry(void **state)
{
    const size_t indices[] = {0, 1, CUSHIM_ENTRY_COUNT - 1};
    enum cushim_proc_status why;
    (void)state;
    for (size_t i = 0; i < COUNT(indices); i++) {
        char symbol[CUSHIM_SYMBOL_SIZE];
        const struct cushim_api *cu = open_distinct(99000);
        asked.name = "cuOfTomorrow";
        asked.answer = resolve_distinct(NULL, cushim_registry_symbol(indices[i], symbol));
        assert_null(cushim_proc(cu, "cuOfTomorrow", 99000, CUSHIM_STREAM_LEGACY, &why));
        assert_int_equal(why, CUSHIM_PROC_NOT_FOUND);
        asked.answer = address_of((silent_fn *)test_cut);
        assert_ptr_equal(cushim_proc(cu, "cuOfTomorrow", 99000, CUSHIM_STREAM_LEGACY, &why),
                         asked.answer);
        assert_int_equal(why, CUSHIM_PROC_UNVERIFIED);
        assert_int_equal(asked.version, 99000);
        asked.status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        assert_null(cushim_proc(cu, "cuOfTomorrow", 99000, CUSHIM_STREAM_LEGACY, &why));
        asked.status = CU_GET_PROC_ADDRESS_SUCCESS;
        asked.code = CUDA_ERROR_INVALID_VALUE;
        assert_null(cushim_proc(cu, "cuOfTomorrow", 99000, CUSHIM_STREAM_LEGACY, &why));
        cushim_close(cu);
    }
}

/* What the registry knows is not asked: up to its own release, or of a driver that is no newer. */
static void test_told(void **state)
{
    static const struct {
        int driver, version; /* beyond the registry's own */
        bool asks;
    } rows[] = {{0, 0, false}, {0, 10, false}, {10, 0, false}, {10, 10, true}, {-10, 10, false}};
    enum cushim_proc_status why;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct cushim_api *cu = open_distinct(CUSHIM_REGISTRY_VERSION + rows[i].driver);
        asked.calls = 0;
        cushim_proc(cu, "cuDeviceGet", CUSHIM_REGISTRY_VERSION + rows[i].version,
                    CUSHIM_STREAM_LEGACY, &why);
        assert_int_equal(asked.calls, rows[i].asks);
        assert_int_equal(cushim_remarks(cu) & CUSHIM_REMARK_NEWER_THAN_REGISTRY,
                         rows[i].driver > 0 ? CUSHIM_REMARK_NEWER_THAN_REGISTRY : 0);
        cushim_close(cu);
    }
}

/* ---- the system */

/* An auditor of the system's loader may bind symbols otherwise: the tables do not tell. */
static void audited(void *unused)
{
    static void *addresses[CUSHIM_ENTRY_COUNT];
    (void)unused;
    void *handle = dlopen(fake_path(GOOD), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    assert_true(cushim_elf_exports(handle, addresses));
    assert_ptr_equal(addresses[entry_index("cuInit")], dlsym(handle, "cuInit"));
    set_environment("LD_AUDIT", "/nonexistent.so");
    assert_false(cushim_elf_exports(handle, addresses));
    dlclose(handle);
}

static void test_audit(void **state)
{
    (void)state;
    run_in_child(audited, NULL, NULL);
}

/* 0 is a descriptor like any other. */
static void without_input(void *unused)
{
    (void)unused;
    close(0);
    assert_good_driver_loads();
    assert_int_equal(dup(1), 0); /* and it is free again */
    close(0);
    assert_failed(open_path(fake_path("needs_gone")), CUSHIM_ERROR_DEPENDENCY);
    assert_int_equal(dup(1), 0);
}

static void test_descriptor(void **state)
{
    (void)state;
    run_in_child(without_input, NULL, NULL);
}

static bool is_unsafe(const char *folders, const char *name, char *path, size_t size)
{
    set_environment("LD_LIBRARY_PATH", folders);
    const bool unsafe = cushim_platform_search_is_unsafe(name, path, size);
    set_environment("LD_LIBRARY_PATH", NULL);
    return unsafe;
}

/* The first folder that has the name decides; a file that is no library is passed over. */
static void test_folders(void **state)
{
    char path[PATH_SIZE], folders[PATH_SIZE + 20], folder[PATH_SIZE], beyond[PATH_SIZE];
    size_t size;
    (void)state;
    unsigned char *bytes = read_whole(fake_path(GOOD), &size);
    snprintf(folder, sizeof folder, "%s", in_folder(""));
    folder[strlen(folder) - 1] = '\0';
    write_file("good.so", bytes, size);
    write_file("cut.so", bytes, size / 2);
    write_file("text.so", "text", 4);
    free(bytes);
    const char *separators[] = {":", ";"};
    for (size_t i = 0; i < COUNT(separators); i++) {
        snprintf(folders, sizeof folders, "/nonexistent%s%s", separators[i], folder);
        assert_true(is_unsafe(folders, "cut.so", path, sizeof path));
        assert_string_equal(path, in_folder("cut.so"));
        assert_false(is_unsafe(folders, "good.so", path, sizeof path));
        assert_false(is_unsafe(folders, "text.so", path, sizeof path));
        assert_false(is_unsafe(folders, "none.so", path, sizeof path));
    }
    assert_true(is_unsafe(folder, "cut.so", path, strlen(in_folder("cut.so")) + 1));
    assert_false(is_unsafe(folder, "cut.so", path, strlen(in_folder("cut.so"))));
    assert_false(is_unsafe(NULL, "cut.so", path, sizeof path));
    assert_false(is_unsafe("", "cut.so", path, sizeof path));
#if defined(__x86_64__) && !defined(__ILP32__)
    /* Behind them comes the system's own folder, if there is one. */
    snprintf(beyond, sizeof beyond, "../../..%s", in_folder("cut.so"));
    if (access("/usr/lib/x86_64-linux-gnu", X_OK) == 0) {
        assert_true(is_unsafe(NULL, beyond, path, sizeof path));
        assert_memory_equal(path, "/usr/lib/x86_64-linux-gnu/../", 29);
        assert_false(is_unsafe(NULL, beyond, path, strlen(path)));
    }
#else
    (void)beyond;
#endif
}

static int prepare(void **state)
{
    (void)state;
    silent_reset();
    set_environment("LD_LIBRARY_PATH", NULL);
    return make_folder() ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_wide), /* before others are opened */
        cmocka_unit_test(test_first),        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_other_entry),  cmocka_unit_test(test_told),
        cmocka_unit_test(test_audit),        cmocka_unit_test(test_descriptor),
        cmocka_unit_test(test_folders),
    };
    return cmocka_run_group_tests_name("loader_bounds", tests, prepare, clean);
}

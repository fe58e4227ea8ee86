/* SPDX-License-Identifier: MIT */
/*
 * The table is what dlsym returns for the library's handle, slot by slot: also if the library is a
 * wrapper with the driver behind it, and whatever kinds of symbols it has.
 */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static void *open_again(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    return handle;
}

/* Number of entries that dlsym finds, each of them in its slot. */
static size_t compare_with_dlsym(const char *path, enum cushim_order order)
{
    struct cushim_options options = defaults();
    struct cushim_entry entry;
    options.path = path;
    options.order = order;
    const struct cushim_api *cu = cushim_open(&options);
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_sound(cu);
    void *handle = open_again(path);
    size_t found = 0;
    for (size_t i = 0; cushim_entry_at(i, &entry); i++) {
        bool newer = entry.since > cushim_driver_version(cu);
        void *address = newer ? NULL : dlsym(handle, entry.symbol);
        struct cushim_slot slot = cushim_slot_at(cu, i);
        if (slot.address != address || (address && table_slot(cu, i) != address))
            fail_msg("%s: %s is %p, and dlsym returns %p", path, entry.symbol, slot.address,
                     address);
        found += !!address;
    }
    dlclose(handle);
    cushim_close(cu);
    return found;
}

static void test_same_as_dlsym(void **state)
{
    static const enum cushim_order orders[] = {CUSHIM_ORDER_DEFAULT, CUSHIM_ORDER_SYMBOLS};
    for (size_t i = 0; i < COUNT(orders); i++)
        assert_true(compare_with_dlsym(fake_path(*state), orders[i]) > 5);
}

/* Nothing of its own: all comes from the driver behind it. */
static void test_wraps_all(void **state)
{
    (void)state;
    size_t behind = compare_with_dlsym(fake_path(GOOD), CUSHIM_ORDER_DEFAULT);
    size_t wrapped = compare_with_dlsym(fake_path("wrap_all"), CUSHIM_ORDER_DEFAULT);
    assert_true(behind == wrapped);
}

static void test_overrides_one(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("wrap_one"));
    assert_int_equal(call_with_zeros(table_slot(cu, entry_index("cuMemAlloc_v2"))), 2);
    assert_int_equal(call_with_zeros(table_slot(cu, entry_index("cuMemAlloc"))), 0);
    assert_int_equal(cushim_driver_version(cu), GOOD_VERSION);
    cushim_close(cu);
}

/* The version that the wrapper states is the driver's. */
static void test_older_than_what_is_behind(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path("wrap_older"));
    assert_int_equal(cushim_driver_version(cu), 11020);
    assert_true(cushim_has(cu, "cuCtxCreate_v2"));
    assert_false(cushim_has(cu, "cuCtxCreate_v3"));
    assert_int_equal(cushim_slot_at(cu, entry_index("cuMemPrefetchAsync_v2")).state,
                     CUSHIM_STATE_NEWER);
    cushim_close(cu);
}

static void test_kinds_of_symbols(void **state)
{
    static const char *const there[] = {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemAllocHost_v2",
                                        "cuStreamCreate", "cuEventCreate"};
    static const char *const missing[] = {"cuStreamQuery", "cuStreamDestroy_v2", "cuEventQuery",
                                          "cuCtxSynchronize_v2"};
    const struct cushim_api *cu = open_path(fake_path(*state));
    for (size_t i = 0; i < COUNT(there); i++)
        if (!cushim_has(cu, there[i]))
            fail_msg("%s is not there", there[i]);
    for (size_t i = 0; i < COUNT(missing); i++)
        if (cushim_has(cu, missing[i]))
            fail_msg("%s is there", missing[i]);
    assert_int_equal(cushim_has(cu, "cuCtxSynchronize"), HAVE_GLIBC);
    if (HAVE_GLIBC) {
        assert_int_equal(cu->cuCtxSynchronize_v1(), 7); /* what the indirect function chose */
        assert_int_equal((int)(uintptr_t)cushim_slot_at(cu, entry_index("cuStreamCreate")).address,
                         0x1234567);
    }
    cushim_close(cu);
}

/* A section in the image of a library, by its type. */
static const ElfW(Shdr) * find_section(const unsigned char *image, unsigned type)
{
    const ElfW(Ehdr) *header = (const void *)image;
    const ElfW(Shdr) *sections = (const void *)(image + header->e_shoff);
    for (size_t i = 0; i < header->e_shnum; i++)
        if (sections[i].sh_type == type)
            return &sections[i];
    fail_msg("no section of type %u", type);
    return NULL;
}

/* Number of an exported symbol in that image, behind another number; *symbols is the table. */
static size_t find_symbol(unsigned char *image, const char *name, size_t behind,
                          ElfW(Sym) * *symbols)
{
    const ElfW(Shdr) *table = find_section(image, SHT_DYNSYM);
    const ElfW(Ehdr) *header = (const void *)image;
    const ElfW(Shdr) *sections = (const void *)(image + header->e_shoff);
    const char *names = (const char *)image + sections[table->sh_link].sh_offset;
    *symbols = (void *)(image + table->sh_offset);
    for (size_t i = behind + 1; i < table->sh_size / sizeof **symbols; i++)
        if (strcmp(names + (*symbols)[i].st_name, name) == 0)
            return i;
    fail_msg("no symbol %s", name);
    return 0;
}

static ElfW(Sym) * symbol_of(unsigned char *image, const char *name)
{
    ElfW(Sym) * symbols;
    size_t number = find_symbol(image, name, 0, &symbols);
    return &symbols[number];
}

/* Symbols that no linker writes into a table of exports, and that dlsym refuses; that of musl takes
 * the first two. */
static void test_refused_symbols(void **state)
{
    static const char *const refused[] = {"cuMemcpyHtoD_v2", "cuCtxCreate_v2",
                                          "cuStreamBeginCapture", "cuStreamQuery"};
    size_t size;
    (void)state;
    unsigned char *image = read_whole(fake_path(*state), &size);
    symbol_of(image, refused[0])->st_other = STV_HIDDEN;
    symbol_of(image, refused[1])->st_other = STV_INTERNAL;
    symbol_of(image, refused[2])->st_value = 0;
    symbol_of(image, refused[3])->st_info = STT_FUNC; /* STB_LOCAL */
    const char *path = write_file(*state, image, size);
    free(image);
    assert_true(compare_with_dlsym(path, CUSHIM_ORDER_SYMBOLS) > 5);
    struct cushim_options options = defaults();
    options.path = path;
    options.order = CUSHIM_ORDER_SYMBOLS;
    const struct cushim_api *cu = cushim_open(&options);
    for (size_t i = HAVE_GLIBC ? 0 : 2; i < COUNT(refused); i++)
        if (cushim_has(cu, refused[i]))
            fail_msg("%s is there", refused[i]);
    cushim_close(cu);
}

static int prepare(void **state)
{
    (void)state;
    return make_folder() ? 0 : -1;
}

static int clean(void **state)
{
    (void)state;
    remove_folder();
    return 0;
}

static void compare_versions(const char *path)
{
    assert_true(compare_with_dlsym(path, CUSHIM_ORDER_SYMBOLS) > 5);
    const struct cushim_api *cu = open_path(path);
    assert_int_equal(cu->cuCtxSynchronize_v1(), 2);
    assert_int_equal(call_with_zeros(table_slot(cu, entry_index("cuCtxGetDevice"))), 2);
    cushim_close(cu);
}

/* One name with an old and a default version: dlsym returns the default one, in any order. */
static void test_versioned_symbols(void **state)
{
    static const char *const names[] = {"cuCtxSynchronize", "cuCtxGetDevice"};
    size_t size;
    (void)state;
    compare_versions(fake_path("versioned"));
    unsigned char *image = read_whole(fake_path("versioned"), &size);
    ElfW(Half) *versions = (void *)(image + find_section(image, SHT_GNU_versym)->sh_offset);
    for (size_t i = 0; i < COUNT(names); i++) { /* linkers write the default one last */
        ElfW(Sym) * symbols, symbol;
        size_t first = find_symbol(image, names[i], 0, &symbols);
        size_t second = find_symbol(image, names[i], first, &symbols);
        symbol = symbols[first], symbols[first] = symbols[second], symbols[second] = symbol;
        ElfW(Half) version = versions[first];
        versions[first] = versions[second], versions[second] = version;
    }
    compare_versions(write_file("versioned", image, size));
    free(image);
}

int main(void)
{
    static const char *const fakes[] = {"v12",        "hash_sysv", "wrap_all", "wrap_driver",
                                        "wrap_older", "wrap_one",  "symbols",  "symbols_sysv",
                                        "versioned",  "v13",       "proc_lies"};
    struct CMUnitTest tests[COUNT(fakes) + 8] = {
        cmocka_unit_test(test_wraps_all),
        cmocka_unit_test(test_overrides_one),
        cmocka_unit_test(test_older_than_what_is_behind),
        cmocka_unit_test_prestate(test_kinds_of_symbols, (void *)(uintptr_t) "symbols"),
        cmocka_unit_test_prestate(test_kinds_of_symbols, (void *)(uintptr_t) "symbols_sysv"),
        cmocka_unit_test(test_versioned_symbols),
        cmocka_unit_test_prestate(test_refused_symbols, (void *)(uintptr_t) "v12"),
        cmocka_unit_test_prestate(test_refused_symbols, (void *)(uintptr_t) "hash_sysv"),
    };
    for (size_t i = 0; i < COUNT(fakes); i++)
        tests[8 + i] = (struct CMUnitTest){fakes[i], test_same_as_dlsym, NULL, NULL,
                                           (void *)(uintptr_t)fakes[i]};
    return _cmocka_run_group_tests("wrapper", tests, COUNT(tests), prepare, clean);
}

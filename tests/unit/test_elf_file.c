/* SPDX-License-Identifier: MIT */
/*
 * What a load refuses of a damaged library before the system's loader dies of it: each check of
 * elf_file.c that concerns more than the headers (those are in bad_input.c). tests/hostile damages
 * libraries at random.
 */
#include <dirent.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "loader/elf_file.h"

static struct {
    unsigned char *bytes;
    size_t size;
    ElfW(Ehdr) * header;
    ElfW(Phdr) * segments;
    ElfW(Dyn) * dynamic;
} good; /* the library that a case damages, in aligned memory */

static void good_read(const char *fake)
{
    good.bytes = read_whole(fake_path(fake), &good.size);
    good.header = (void *)good.bytes;
    good.segments = (void *)(good.bytes + good.header->e_phoff);
    for (unsigned i = 0; i < good.header->e_phnum; i++)
        if (good.segments[i].p_type == PT_DYNAMIC)
            good.dynamic = (void *)(good.bytes + good.segments[i].p_offset);
    assert_non_null(good.dynamic);
}

static ElfW(Phdr) * good_segment(unsigned type, unsigned number)
{
    for (unsigned i = 0; i < good.header->e_phnum; i++)
        if (good.segments[i].p_type == type && number-- == 0)
            return &good.segments[i];
    fail_msg("no segment %u of type %#x", number, type);
    return NULL;
}

static ElfW(Phdr) * good_last_segment(void)
{
    ElfW(Phdr) *last = NULL;
    for (unsigned i = 0; i < good.header->e_phnum; i++)
        if (good.segments[i].p_type == PT_LOAD)
            last = &good.segments[i];
    return last;
}

static ElfW(Dyn) * good_find_entry(unsigned tag)
{
    for (ElfW(Dyn) *entry = good.dynamic; entry->d_tag != DT_NULL; entry++)
        if ((unsigned long)entry->d_tag == tag)
            return entry;
    return NULL;
}

static ElfW(Dyn) * good_entry(unsigned tag)
{
    ElfW(Dyn) *entry = good_find_entry(tag);
    if (!entry)
        fail_msg("no entry %#x", tag);
    return entry;
}

/* The bytes of a table, in the file. */
static void *good_table(unsigned tag)
{
    uintptr_t address = good_entry(tag)->d_un.d_ptr;
    for (unsigned i = 0; i < good.header->e_phnum; i++) {
        const ElfW(Phdr) *segment = &good.segments[i];
        if (segment->p_type == PT_LOAD && address - segment->p_vaddr < segment->p_filesz)
            return good.bytes + segment->p_offset + (address - segment->p_vaddr);
    }
    fail_msg("table %#x is nowhere", tag);
    return NULL;
}

/* Open what the case made of the library: the status and the words. Frees it. */
static void expect(enum cushim_status status, const char *words)
{
    const char *path = write_file("damaged.so", good.bytes, good.size);
    free(good.bytes);
    const struct cushim_api *cu = open_path(path);
    if (status != CUSHIM_OK) {
        assert_failed(cu, status);
        assert_contains(cushim_message(cu), words);
    } else if (cushim_status(cu) != CUSHIM_OK) {
        fail_msg("%s", cushim_message(cu));
    }
    cushim_close(cu);
}

static void expect_damaged(const char *words)
{
    expect(CUSHIM_ERROR_OPEN_FAILED, words);
}

/* ---- segments */

static void test_segments(void **state)
{
    (void)state;
    good_read(GOOD);
    good.header->e_phoff = good.size - 16;
    expect(CUSHIM_ERROR_TRUNCATED, "truncated: the file ends within its program headers");
    good_read(GOOD);
    good_segment(PT_LOAD, 1)->p_vaddr = good_segment(PT_LOAD, 0)->p_memsz - 1;
    expect_damaged("damaged: its segments overlap");
    good_read(GOOD);
    ElfW(Phdr) *last = good_last_segment(), *first = good_segment(PT_LOAD, 0), held = *last;
    *last = *first;
    *first = held;
    expect_damaged("damaged: its segments overlap");
    good_read(GOOD);
    good_segment(PT_LOAD, 0)->p_memsz--;
    expect_damaged("damaged: its segments overlap");
    good_read(GOOD);
    good_last_segment()->p_memsz = (ElfW(Addr)) - 1;
    expect_damaged("damaged: its segments overlap");
}

/* ---- in memory: what passes, and lies all the same */

static void print_count(void *path)
{
    struct cushim_options options = defaults();
    options.path = path;
    options.order = CUSHIM_ORDER_DLSYM_ONLY;
    const struct cushim_api *cu = cushim_open(&options);
    assert_sound(cu);
    for (size_t i = 0; i < cushim_entry_count(); i++)
        if (cushim_slot_at(cu, i).state == CUSHIM_STATE_AVAILABLE)
            printf("a");
    cushim_close(cu);
}

/* Entries that a load finds of what the case made. */
static size_t count_of(void)
{
    char output[TEXT_SIZE], path[PATH_SIZE];
    snprintf(path, sizeof path, "%s", write_file("damaged.so", good.bytes, good.size));
    free(good.bytes);
    run_in_child(print_count, path, output);
    return strlen(output);
}

/* Of chains without an end the first is read up to where the table ends; the others are not read
 * again and again. cuInit and cuDriverGetVersion are dlsym's, which finds them before. */
static void test_chains(void **state)
{
    (void)state;
    good_read(GOOD);
    size_t all = count_of();
    good_read(GOOD);
    uint32_t *table = good_table(DT_GNU_HASH);
    uint32_t *chains = table + 4 + table[2] * (sizeof(ElfW(Addr)) / 4) + table[0];
    const ElfW(Sym) *symbols = good_table(DT_SYMTAB);
    const char *names = good_table(DT_STRTAB);
    uint32_t count = 0;
    for (uint32_t i = 0; i < table[0]; i++)
        if (table[4 + table[2] * (sizeof(ElfW(Addr)) / 4) + i])
            count++;
    assert_true(count > 1);
    for (size_t i = 0; (const char *)(symbols + table[1] + i) < names; i++)
        chains[i] &= ~(uint32_t)1;
    size_t endless = count_of();
    assert_true(endless > 2 && endless <= all);
}

static void test_sysv_count(void **state)
{
    (void)state;
    good_read("hash_sysv");
    size_t all = count_of();
    good_read("hash_sysv");
    uint32_t *table = good_table(DT_HASH);
    table[1] += 200; /* more than there are symbols, but within the segment */
    assert_int_equal(count_of(), all);
    good_read("hash_sysv");
    table = good_table(DT_HASH);
    table[1] = 3;
    assert_true(count_of() <= 3);
}

/* A symbol whose name is nowhere is passed over. */
static void test_name_nowhere(void **state)
{
    static const char *const fakes[] = {GOOD, "hash_sysv"};
    (void)state;
    for (size_t i = 0; i < COUNT(fakes); i++) {
        good_read(fakes[i]);
        size_t all = count_of();
        good_read(fakes[i]);
        ElfW(Sym) *symbols = good_table(DT_SYMTAB);
        const char *names = good_table(DT_STRTAB);
        size_t found = 0;
        for (size_t k = 1; k < 200 && !found; k++)
            if (strcmp(names + symbols[k].st_name, "cuMemAlloc_v2") == 0)
                found = k;
        assert_true(found > 0);
        symbols[found].st_name = 0x7fffffff;
        assert_int_equal(count_of(), all - 1);
    }
}

/* ---- words of the system */

static void test_printable(void **state)
{
    (void)state;
    good_read("needs_gone");
    char *names = good_table(DT_STRTAB);
    size_t size = good_entry(DT_STRSZ)->d_un.d_val;
    for (size_t i = 0; i + 9 < size; i++)
        if (memcmp(names + i, "libcushim", 9) == 0)
            memcpy(names + i, "l\n\033[1m\177\thim", 9);
    expect(CUSHIM_ERROR_DEPENDENCY, "l??[1m??h-gone.so.9");
}

/* ---- and nothing else is refused */

static void test_libraries_of_the_system(void **state)
{
    static const char *const folders[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
                                          "/usr/lib/i386-linux-gnu", "/usr/lib64", "/usr/lib"};
    char path[PATH_SIZE], message[256];
    size_t good_ones = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(folders); i++) {
        DIR *folder = opendir(folders[i]);
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
            enum cushim_status status = cushim_elf_file_inspect(path, message, sizeof message);
            if (status == CUSHIM_ERROR_TRUNCATED || status == CUSHIM_ERROR_OPEN_FAILED)
                fail_msg("%s: %s", path, message);
            good_ones += status == CUSHIM_OK;
        }
        if (folder)
            closedir(folder);
    }
    print_message("# %zu libraries of the system\n", good_ones);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments),   cmocka_unit_test(test_chains),
        cmocka_unit_test(test_sysv_count), cmocka_unit_test(test_name_nowhere),
        cmocka_unit_test(test_printable),  cmocka_unit_test(test_libraries_of_the_system),
    };
    return cmocka_run_group_tests_name("elf_file", tests, prepare, clean);
}

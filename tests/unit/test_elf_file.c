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

/* ---- every check at its bounds: compared with a second, plain reading of the rules */

enum { MODEL_MOST = 66, MODEL_SIZE = 64 + MODEL_MOST * 56 + 2000 };

struct model {
    _Alignas(16) unsigned char bytes[MODEL_SIZE];
    size_t size;
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[MODEL_MOST];
};

static unsigned model_seed;

static uint64_t model_one_of(const uint64_t *values, size_t count)
{
    model_seed = model_seed * 1664525u + 1013904223u;
    return values[(model_seed >> 8) % count];
}

#define ONE_OF(...)                                                                                \
    model_one_of((const uint64_t[]){__VA_ARGS__}, COUNT(((const uint64_t[]){__VA_ARGS__})))

static ElfW(Phdr) model_make_segment(size_t size, ElfW(Addr) * free_address)
{
    const ElfW(Addr) most = (ElfW(Addr)) - 1;
    ElfW(Phdr) segment = {.p_type = (uint32_t)ONE_OF(PT_LOAD, PT_LOAD, PT_LOAD, PT_NOTE)};
    segment.p_offset = (ElfW(Off))ONE_OF(0, 0, 1, size, size - 1, size + 1, most);
    segment.p_filesz =
        (ElfW(Addr))ONE_OF(0, 0, size - segment.p_offset, size - segment.p_offset + 1, 1);
    segment.p_memsz =
        (ElfW(Addr))ONE_OF(segment.p_filesz, segment.p_filesz, segment.p_filesz + 1,
                           segment.p_filesz - 1, most - *free_address, most - *free_address - 1);
    segment.p_vaddr =
        (ElfW(Addr))ONE_OF(*free_address, *free_address, *free_address + 1, *free_address - 1);
    *free_address = segment.p_vaddr + segment.p_memsz;
    return segment;
}

/* A library's start that is right in most things, and where its program headers lie. */
static void model_make(struct model *model)
{
    const ElfW(Ehdr) *own = good.header;
    const uint64_t count = ONE_OF(1, 2, 2, 3, 17, 18, 63, 64, 65, 66, 0);
    const uint64_t table = count * sizeof *model->segments;
    ElfW(Addr) free_address = 0;
    memset(model->bytes, 0, sizeof model->bytes);
    model->size = (size_t)ONE_OF(MODEL_SIZE, MODEL_SIZE, MODEL_SIZE, 1024, 1025, 1023,
                                 sizeof *own + table, sizeof *own, sizeof *own - 1, 4, 3, 1);
    model->header = *own;
    model->header.e_phnum = (uint16_t)count;
    model->header.e_phoff = (ElfW(Off))ONE_OF(sizeof *own, sizeof *own, 1024 - table, 1025 - table,
                                              1024, model->size - table, model->size - table + 1,
                                              model->size, model->size + 1, (ElfW(Off)) - 1);
    if (!ONE_OF(0, 1, 1, 1, 1))
        switch (ONE_OF(0, 1, 2, 3, 4, 5)) {
        case 0:
            model->header.e_ident[EI_CLASS] =
                own->e_ident[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
            break;
        case 1:
            model->header.e_ident[EI_DATA] ^= 3;
            break;
        case 2:
            model->header.e_machine++;
            break;
        case 3:
            model->header.e_type = (uint16_t)ONE_OF(ET_EXEC, ET_REL, ET_CORE);
            break;
        case 4:
            model->header.e_phentsize = (uint16_t)(own->e_phentsize + ONE_OF(1, 65535));
            break;
        default:
            model->header.e_ident[ONE_OF(0, 1, 2, 3)]++;
        }
    for (uint64_t i = 0; i < count; i++)
        model->segments[i] = model_make_segment(model->size, &free_address);
    if (model->header.e_phoff <= MODEL_SIZE && table <= MODEL_SIZE - model->header.e_phoff)
        memcpy(model->bytes + model->header.e_phoff, model->segments, (size_t)table);
    memcpy(model->bytes, &model->header, sizeof model->header);
}

static enum cushim_status model_segments(const struct model *model, char *words, size_t size)
{
    uint64_t end = 0;
    for (const ElfW(Phdr) *at = model->segments; at < model->segments + model->header.e_phnum;
         at++) {
        ElfW(Phdr) segment; /* the table may lie over the header */
        memcpy(&segment,
               model->bytes + model->header.e_phoff +
                   (size_t)(at - model->segments) * sizeof segment,
               sizeof segment);
        if (segment.p_type != PT_LOAD)
            continue;
        if (segment.p_offset > model->size || segment.p_filesz > model->size - segment.p_offset) {
            snprintf(words, size, "truncated: %zu bytes, but a segment ends at %llu", model->size,
                     (unsigned long long)(segment.p_offset + segment.p_filesz));
            return CUSHIM_ERROR_TRUNCATED;
        }
        if (segment.p_vaddr < end || segment.p_filesz > segment.p_memsz ||
            (ElfW(Addr))(segment.p_vaddr + segment.p_memsz) < segment.p_vaddr) {
            snprintf(words, size, "damaged: its segments overlap");
            return CUSHIM_ERROR_OPEN_FAILED;
        }
        end = segment.p_vaddr + segment.p_memsz;
    }
    *words = '\0';
    return CUSHIM_OK;
}

static enum cushim_status model_judge(const struct model *model, char *words, size_t size)
{
    const ElfW(Ehdr) *header = &model->header, *own = good.header;
    const uint64_t table = header->e_phnum * sizeof *model->segments;
    const size_t magic = model->size < SELFMAG ? model->size : SELFMAG;
    enum cushim_status status;
    const char *text;
    if (memcmp(model->bytes, ELFMAG, magic) != 0) {
        status = CUSHIM_ERROR_NOT_A_LIBRARY, text = "not an ELF file";
    } else if (model->size < sizeof *header) {
        status = CUSHIM_ERROR_TRUNCATED, text = "truncated: the file ends within its ELF header";
    } else if (header->e_ident[EI_CLASS] != own->e_ident[EI_CLASS]) {
        status = CUSHIM_ERROR_WRONG_CLASS;
        text = own->e_ident[EI_CLASS] == ELFCLASS64 ? "32-bit library in a 64-bit process"
                                                    : "64-bit library in a 32-bit process";
    } else if (header->e_ident[EI_DATA] != own->e_ident[EI_DATA]) {
        status = CUSHIM_ERROR_WRONG_MACHINE,
        text = "library for a processor of the other byte order";
    } else if (header->e_machine != own->e_machine) {
        snprintf(words, size, "library for another processor (ELF machine %d, not %d)",
                 header->e_machine, own->e_machine);
        return CUSHIM_ERROR_WRONG_MACHINE;
    } else if (header->e_type != ET_DYN) {
        status = CUSHIM_ERROR_NOT_A_LIBRARY, text = "ELF file, but no shared library";
    } else if (header->e_phentsize != sizeof *model->segments || header->e_phnum > 64) {
        status = CUSHIM_ERROR_NOT_A_LIBRARY, text = "damaged ELF header";
    } else if (header->e_phoff > model->size || table > model->size - header->e_phoff) {
        status = CUSHIM_ERROR_TRUNCATED;
        text = "truncated: the file ends within its program headers";
    } else {
        return model_segments(model, words, size);
    }
    snprintf(words, size, "%s", text);
    return status;
}

static void test_bounds(void **state)
{
    static struct model model;
    unsigned counts[CUSHIM_ERROR_NO_DLOPEN + 1] = {0};
    (void)state;
    good_read(GOOD);
    model_seed = 3;
    for (int round = 0; round < 20000; round++) {
        char words[256], message[256] = "";
        model_make(&model);
        const enum cushim_status wanted = model_judge(&model, words, sizeof words);
        const char *path = write_file("model.so", model.bytes, model.size);
        const enum cushim_status status = cushim_elf_file_inspect(path, message, sizeof message);
        if (status != wanted || strcmp(message, words) != 0)
            fail_msg("round %d: %s: %s; not %s: %s", round, cushim_status_name(status), message,
                     cushim_status_name(wanted), words);
        counts[status]++;
    }
    free(good.bytes);
    assert_true(counts[CUSHIM_OK] > 200 && counts[CUSHIM_ERROR_OPEN_FAILED] > 200);
}

/* ---- in memory: what passes, and lies all the same */

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
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_printable),
        cmocka_unit_test(test_libraries_of_the_system),
    };
    return cmocka_run_group_tests_name("elf_file", tests, prepare, clean);
}

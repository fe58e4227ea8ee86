/* SPDX-License-Identifier: MIT */
/* What the memory of loaded libraries tells: which addresses are code. The rest of elf.c is tested
 * by what it reports: test_locate.c, test_resolve.c, test_close.c. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "loader/elf.h"

/* The segment that holds an address, in the library that has it. */
struct elf_place {
    uintptr_t address, end; /* of the segment in memory */
    unsigned segment, flags;
};

static int elf_find_place(struct dl_phdr_info *object, size_t size, void *data)
{
    struct elf_place *place = data;
    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = (uintptr_t)object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && place->address - start < segment->p_memsz) {
            place->segment = i;
            place->flags = segment->p_flags;
            place->end = start + segment->p_memsz;
            return 1;
        }
    }
    return 0;
}

static struct elf_place elf_place_of(const char *fake, const char *symbol)
{
    struct elf_place place = {(uintptr_t)exported(fake_path(fake), symbol), 0, 0, 0};
    assert_int_equal(dl_iterate_phdr(elf_find_place, &place), 1);
    return place;
}

static bool elf_is_code_at(uintptr_t address)
{
    return cushim_elf_is_code((const void *)address);
}

/* Drivers have their code in the first segment, beside their headers; newer linkers make a second
 * one for it. */
static void test_code(void **state)
{
    struct elf_place first = elf_place_of("first_segment", "cuInit");
    struct elf_place other = elf_place_of(GOOD, "cuInit");
    (void)state;
    assert_int_equal(first.segment, 0);
    assert_true(other.flags & PF_X);
    assert_true(elf_is_code_at(first.address));
    assert_true(elf_is_code_at(first.end - 1));
    assert_true(elf_is_code_at(other.address));
    assert_true(elf_is_code_at((uintptr_t)elf_is_code_at)); /* the program's own */
}

static void test_no_code(void **state)
{
    static const char *const fakes[] = {"first_segment", GOOD};
    (void)state;
    for (size_t i = 0; i < COUNT(fakes); i++) {
        struct elf_place code = elf_place_of(fakes[i], "cuInit");
        struct elf_place data = elf_place_of(fakes[i], "fake_control");
        assert_false(data.flags & PF_X);
        assert_false(elf_is_code_at(data.address));
        assert_false(elf_is_code_at(code.end)); /* rounded up to a page, and no function's */
    }
    int local;
    assert_false(elf_is_code_at((uintptr_t)&local));
    assert_false(elf_is_code_at(0));
    assert_false(elf_is_code_at(0xbad0bad0));
    assert_false(elf_is_code_at(UINTPTR_MAX));
}

/* Its drivers are found like others. */
static void test_first_segment_loads(void **state)
{
    (void)state;
    for (int order = CUSHIM_ORDER_DEFAULT; order <= CUSHIM_ORDER_DLSYM_ONLY; order++) {
        struct cushim_options options = defaults();
        options.path = fake_path("first_segment");
        options.order = (enum cushim_order)order;
        const struct cushim_api *cu = cushim_open(&options);
        assert_int_equal(cushim_status(cu), CUSHIM_OK);
        assert_int_equal(cushim_remarks(cu), 0);
        assert_sound(cu);
        assert_true(cushim_has(cu, "cuMemAlloc_v2"));
        cushim_close(cu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code),
        cmocka_unit_test(test_no_code),
        cmocka_unit_test(test_first_segment_loads),
    };
    return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* Images recognised by their bytes, and names read from them. */
#include <stdlib.h>
#include <string.h>

#include "../../src/module_internal.h"
#include "test_module_fake.h"

static void describe(const void *data, size_t bytes, CUresult expected, const char *words)
{
    struct cushim_image image = {.arch = -1};
    char *exact = malloc(bytes ? bytes : 1); /* what reads past its end is seen */
    memcpy(exact, data, bytes);
    module_refused(cushim_image_describe(exact, bytes, &image), expected, "cushim_image_describe",
                   words);
    assert_int_equal(image.arch, -1);
    free(exact);
}

static struct cushim_image image_of(const void *data, size_t bytes)
{
    struct cushim_image image;
    char *exact = malloc(bytes);
    memcpy(exact, data, bytes);
    CUresult code = cushim_image_describe(exact, bytes, &image);
    if (code != CUDA_SUCCESS)
        fail_msg("%s", cushim_last_error());
    free(exact);
    return image;
}

static struct cushim_image text_image(const char *text)
{
    return image_of(text, strlen(text));
}

static void test_ptx(void **state)
{
    (void)state;
    struct cushim_image image = text_image("// a { \n/* .version 9.9 */ .version 8.4\n.target "
                                           "sm_90a, texmode_independent\n");
    assert_int_equal(image.kind, CUSHIM_IMAGE_PTX);
    assert_int_equal(image.version_major, 8);
    assert_int_equal(image.version_minor, 4);
    assert_int_equal(image.arch, 90);
    assert_int_equal(image.arch_suffix, 'a');
    image = text_image(".version 3.2 .target sm_20 .pragma \"{\"; .entry a() { // }\n }");
    assert_int_equal(image.arch, 20);
    assert_int_equal(image.arch_suffix, 0);
    assert_int_equal(image_of(".version 3.2\0\0\0", 15).kind, CUSHIM_IMAGE_PTX);

    describe("", 0, CUDA_ERROR_INVALID_VALUE, "data: empty");
    describe(".version 3.2\n.entry a()\n{\nret;", 30, CUDA_ERROR_INVALID_PTX, "line 3 opens");
    describe(".version 3.2\n/* ", 16, CUDA_ERROR_INVALID_PTX, "line 2 opens");
    describe(".version 3.2\n\"a", 15, CUDA_ERROR_INVALID_PTX, "line 2 opens");
    describe(".version 3.2\n\"", 14, CUDA_ERROR_INVALID_PTX, "line 2 opens");
    describe(".version", 8, CUDA_ERROR_INVALID_PTX, "no number follows .version");
    describe(".version 3.2\0.entry", 19, CUDA_ERROR_INVALID_PTX, "NUL at byte 12 of 19");
    describe("hello", 5, CUDA_ERROR_INVALID_IMAGE, "not PTX");
    describe("// only a comment", 17, CUDA_ERROR_INVALID_IMAGE, "not PTX");
    describe("\1\2\3", 3, CUDA_ERROR_INVALID_IMAGE, "3 bytes that begin with 01 02 03 00");
    module_refused(cushim_image_describe(NULL, 3, &image), CUDA_ERROR_INVALID_VALUE,
                   "cushim_image_describe", "data: NULL");
    module_refused(cushim_image_describe("a", 1, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_image_describe", "image: NULL");
}

static void test_names_of_ptx(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n"
        ".extern .func (.param .b32 r) helper (.param .b32 a);\n"
        ".visible .global .align 4 .b8 one[4] = {1, 2, 3, two}, three, four = one;\n"
        ".const .f32 five = 1.0; .weak .global .attribute(.managed) .align 8 .u64 six;\n"
        ".visible .func other(.param .b32 a) { .reg .b32 x; .global .u32 inner; }\n"
        ".visible .entry first(.param .u64 a)\n.maxntid 1, 2, 3\n{ ret; }\n"
        ".weak .entry _Z6secondPf() { ret; }\n";
    static const char *const kernels[] = {"first", "_Z6secondPf"};
    static const char *const globals[] = {"one", "three", "four", "five", "six"};
    struct cushim_names names[CUSHIM_NAMES_KINDS] = {{0}};
    struct cushim_ptx ptx;
    (void)state;
    cushim_ptx_read(text, sizeof text - 1, &ptx, names);
    assert_int_equal(names[0].count, COUNT(kernels));
    assert_int_equal(names[1].count, COUNT(globals));
    const char *at = names[0].text;
    for (size_t i = 0; i < COUNT(kernels); i++, at += strlen(at) + 1)
        assert_string_equal(at, kernels[i]);
    at = names[1].text;
    for (size_t i = 0; i < COUNT(globals); i++, at += strlen(at) + 1)
        assert_string_equal(at, globals[i]);
    cushim_names_release(&names[0]);
    cushim_names_release(&names[1]);
}

static void test_binaries(void **state)
{
    unsigned char bytes[208], fatbin[32] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 16};
    (void)state;
    struct cushim_image image = image_of(bytes, module_fake_elf(bytes, 2, 190, 0x6005a04, 0x41));
    assert_int_equal(image.kind, CUSHIM_IMAGE_CUBIN);
    assert_int_equal(image.arch, 90);
    assert_false(image.relocatable);
    image = image_of(bytes, module_fake_elf(bytes, 1, 190, 0x500556, 0x33));
    assert_int_equal(image.arch, 86);
    assert_true(image.relocatable);
    for (size_t cut = 4; cut < 208; cut++)
        describe(bytes, cut, CUDA_ERROR_INVALID_IMAGE, "truncated");
    image = image_of(bytes, module_fake_elf(bytes, 1, 62, 0, 0));
    assert_int_equal(image.kind, CUSHIM_IMAGE_OBJECT);
    module_fake_elf(bytes, 3, 62, 0, 0);
    describe(bytes, 208, CUDA_ERROR_INVALID_IMAGE, "shared library of the host");
    memset(bytes + 40, 0xff, 8);
    describe(bytes, 208, CUDA_ERROR_INVALID_IMAGE, "truncated");

    assert_int_equal(image_of(fatbin, 32).kind, CUSHIM_IMAGE_FATBIN);
    describe(fatbin, 31, CUDA_ERROR_INVALID_IMAGE, "fatbin that is truncated: 31 bytes, of 32");
    describe(fatbin, 4, CUDA_ERROR_INVALID_IMAGE, "fatbin that is truncated");
    assert_int_equal(text_image("!<arch>\n/ ").kind, CUSHIM_IMAGE_LIBRARY);
}

static void test_near_names(void **state)
{
    struct cushim_names names = {.complete = true};
    char text[256];
    static const char *const all[] = {"vecadd",    "saxpy", "_Z6reducePfS_i", "transpose", "Matmul",
                                      "histogram", "fill"};
    (void)state;
    cushim_names_near(&names, "a", text, sizeof text);
    assert_string_equal(text, "; there is none at all");
    for (size_t i = 0; i < COUNT(all); i++)
        cushim_names_add(&names, all[i], strlen(all[i]));
    cushim_names_near(&names, "vecAdd", text, sizeof text);
    assert_string_equal(text, "; nearest: vecadd");
    cushim_names_near(&names, "reduce", text, sizeof text);
    assert_string_equal(text, "; nearest: _Z6reducePfS_i");
    cushim_names_near(&names, "matmul", text, sizeof text);
    assert_string_equal(text, "; nearest: Matmul");
    cushim_names_near(&names, "completely_else_ww", text, sizeof text);
    assert_contains(text, "none is near; the first of 7: vecadd, saxpy");
    cushim_names_near(&names, "vecAdd", text, 8);
    assert_string_equal(text, "; neare");
    cushim_names_release(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_names_of_ptx),
        cmocka_unit_test(test_binaries),
        cmocka_unit_test(test_near_names),
    };
    return cmocka_run_group_tests_name("module_image", tests, NULL, NULL);
}

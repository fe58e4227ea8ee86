/* SPDX-License-Identifier: MIT */
/* Images recognised by their bytes. */
#include <stdlib.h>
#include <string.h>

#include "test_module_fake.h"

static void describe(const void *data, size_t bytes, CUresult expected, const char *words)
{
    struct cushim_image image = {.size = sizeof image, .arch = -1};
    char *exact = malloc(bytes ? bytes : 1); /* what reads past its end is seen */
    memcpy(exact, data, bytes);
    module_refused(cushim_image_describe(exact, bytes, &image), expected, "cushim_image_describe",
                   words);
    assert_int_equal(image.arch, -1);
    free(exact);
}

static struct cushim_image image_of(const void *data, size_t bytes)
{
    struct cushim_image image = {.size = sizeof image};
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
    image.size = 4;
    module_refused(cushim_image_describe("a", 1, &image), CUDA_ERROR_INVALID_VALUE,
                   "cushim_image_describe", "image: size: 4 ");
    image = text_image(".version 3.2 .target sm_20 .pragma \"{\"; .entry a() { // }\n }");
    assert_int_equal(image.arch, 20);
    assert_int_equal(image.arch_suffix, 0);
    assert_int_equal(image_of(".version 3.2\0\0\0", 15).kind, CUSHIM_IMAGE_PTX);
    assert_int_equal(text_image(".version 3.2 .func a() { .target sm_90").arch, 0);
    assert_int_equal(text_image(".version 3.2 .target sm_10000005 .entry a()").arch, 1000000);

    /* Text is recognised by its first 64 bytes. */
    char text[128];
    memset(text, ' ', sizeof text);
    memcpy(text, ".version 3.2 .target sm_20", 26);
    text[64] = 1;
    assert_int_equal(image_of(text, sizeof text).kind, CUSHIM_IMAGE_PTX);
    text[63] = 1;
    describe(text, sizeof text, CUDA_ERROR_INVALID_IMAGE, "");

    describe("", 0, CUDA_ERROR_INVALID_VALUE, "data has 0 bytes");
    describe(".version", 8, CUDA_ERROR_INVALID_PTX, "no number follows .version");
    describe(".version 3.2\0.entry", 19, CUDA_ERROR_INVALID_PTX, "NUL at byte 12 of 19");
    describe(".version /* 3", 13, CUDA_ERROR_INVALID_PTX, "no number follows .version");
    describe("hello", 5, CUDA_ERROR_INVALID_IMAGE, "not PTX");
    describe("// only a comment", 17, CUDA_ERROR_INVALID_IMAGE, "not PTX");
    describe("\1\2\3", 3, CUDA_ERROR_INVALID_IMAGE, "3 bytes that begin with 01 02 03 00");
    module_refused(cushim_image_describe(NULL, 3, &image), CUDA_ERROR_INVALID_VALUE,
                   "cushim_image_describe", "data is NULL");
    module_refused(cushim_image_describe("a", 1, NULL), CUDA_ERROR_INVALID_VALUE,
                   "cushim_image_describe", "image is NULL");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ptx),
        cmocka_unit_test(test_binaries),
    };
    return cmocka_run_group_tests_name("module_image", tests, NULL, NULL);
}

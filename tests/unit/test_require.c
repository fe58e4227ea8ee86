/* SPDX-License-Identifier: MIT */
/* cushim_require: what a program needs at least, and the one sentence about what is missing. */
#include <stdio.h>
#include <string.h>

#include "common.h"

static const char *const some[] = {"cuMemAlloc_v2", "cuCtxCreate_v4", "cuMemPrefetchAsync_v2",
                                   NULL};

static void test_met(void **state)
{
    static const char *const there[] = {"cuMemAlloc_v2", "cuLaunchKernel", NULL};
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    cushim_last_error_clear();
    assert_int_equal(cushim_require(cu, 0, NULL), CUSHIM_OK);
    assert_int_equal(cushim_require(cu, GOOD_VERSION, there), CUSHIM_OK);
    assert_int_equal(cushim_require(cu, 0, there), CUSHIM_OK);
    assert_string_equal(cushim_last_error(), "");
    cushim_close(cu);
}

/* 12 or 120, meant as 12000, would be met by any driver. */
static void test_no_release(void **state)
{
    static const int wrong[] = {1, 12, 112, 999, -3, -12000};
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char sentence[200];
        snprintf(sentence, sizeof sentence,
                 "release: %d is no release; it is 1000 times the major and 10 times the minor "
                 "number, 12040 for 12.4, or 0",
                 wrong[i]);
        assert_int_equal(cushim_require(cu, wrong[i], NULL), CUSHIM_ERROR_INVALID_ARGUMENT);
        assert_string_equal(cushim_last_error(), sentence);
    }
    assert_int_equal(cushim_require(cu, 1000, NULL), CUSHIM_OK);
    cushim_close(cu);
}

static void assert_lacks(const struct cushim_api *cu, int release, const char *const *symbols,
                         const char *sentence)
{
    assert_int_equal(cushim_require(cu, release, symbols), CUSHIM_ERROR_TOO_OLD);
    const char *from = strstr(cushim_last_error(), ": CUDA 12.4");
    assert_non_null(from);
    assert_string_equal(from, sentence);
    assert_contains(cushim_last_error(), cushim_path(cu));
}

static void test_missing(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_lacks(cu, GOOD_VERSION + 10, NULL, ": CUDA 12.4, but the program needs CUDA 12.5");
    assert_lacks(cu, 0, some, ": CUDA 12.4, but it lacks cuCtxCreate_v4");
    assert_lacks(cu, 13000, some,
                 ": CUDA 12.4, but the program needs CUDA 13.0, and it lacks cuCtxCreate_v4");
    assert_int_equal(cushim_status(cu), CUSHIM_OK); /* of the load */
    cushim_close(cu);
}

/* A name that cushim does not know is the program's mistake; what the driver lacks is told, too. */
static void test_misspelt(void **state)
{
    static const char *const wrong[] = {"cuMemAllocAsinc", "cuCtxCreate_v4", "cuNothing", NULL};
    const char *sentence = "this version of cushim knows no cuMemAllocAsinc, cuNothing: misspelt, "
                           "or newer than cushim";
    char text[256], both[1024];
    (void)state;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_int_equal(cushim_require(cu, 13000, wrong), CUSHIM_ERROR_INVALID_ARGUMENT);
    snprintf(both, sizeof both,
             "%s; %s: CUDA 12.4, but the program needs CUDA 13.0, and it lacks cuCtxCreate_v4",
             sentence, cushim_path(cu));
    assert_string_equal(cushim_last_error(), both);
    assert_int_equal(cushim_require(cu, 0, (const char *[]){wrong[0], wrong[2], NULL}),
                     CUSHIM_ERROR_INVALID_ARGUMENT);
    assert_string_equal(cushim_last_error(), sentence);
    assert_string_equal(cushim_reason(cu, wrong[0], NULL, text, sizeof text),
                        "cuMemAllocAsinc is not an entry that this version of cushim knows: "
                        "misspelt, or newer than cushim");
    cushim_close(cu);
}

/* More names than a sentence has room for. */
static void test_many(void **state)
{
    const char *many[200];
    (void)state;
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = "cuCtxCreate_v4";
    many[COUNT(many) - 1] = NULL;
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    assert_int_equal(cushim_require(cu, 13000, many), CUSHIM_ERROR_TOO_OLD);
    assert_contains(cushim_last_error(), "cuCtxCreate_v4, ");
    for (size_t i = 0; i < COUNT(many) - 1; i++)
        many[i] = "cuANameThatNoDriverHas";
    assert_int_equal(cushim_require(cu, 13000, many), CUSHIM_ERROR_INVALID_ARGUMENT);
    assert_contains(cushim_last_error(), "cuANameThatNoDriverHas, ");
    cushim_close(cu);
}

static void test_no_driver(void **state)
{
    (void)state;
    const struct cushim_api *cu = open_path("/nonexistent/libcuda.so.1");
    assert_int_equal(cushim_require(cu, 2000, NULL), CUSHIM_ERROR_NOT_FOUND);
    assert_string_equal(cushim_last_error(), cushim_message(cu));
    assert_int_equal(cushim_require(NULL, 2000, NULL), CUSHIM_ERROR_INVALID_ARGUMENT);
    assert_contains(cushim_last_error(), "the table is NULL");
    cushim_close(cu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_met),     cmocka_unit_test(test_no_release),
        cmocka_unit_test(test_missing), cmocka_unit_test(test_misspelt),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_no_driver),
    };
    return cmocka_run_group_tests_name("require", tests, NULL, NULL);
}

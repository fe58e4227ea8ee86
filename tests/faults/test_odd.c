/* SPDX-License-Identifier: MIT */
/* What ends oddly instead of failing: a file that becomes shorter while it is read, a file that
 * cannot be opened for an unusual reason, a sentence that two threads make at once. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "inject.h"
#include "loader/instance.h"
#include "loader/text.h"

static char odd_text[TEXT_SIZE]; /* what the last odd_open was told */

/* The status of opening a library while the `first`th call of a kind ends oddly. */
static enum cushim_status odd_open(const char *path, enum inject_kind kind, unsigned first,
                                   unsigned *calls)
{
    struct cushim_options options = defaults();
    options.path = path;
    inject_begin(kind, first, false);
    const struct cushim_api *cu = cushim_open(&options);
    *calls = inject_end();
    assert_sound(cu);
    enum cushim_status status = cushim_status(cu);
    snprintf(odd_text, sizeof odd_text, "%s", cushim_message(cu));
    cushim_close(cu);
    return status;
}

/* A good library whose program headers are at its end, so that they come with a second read. */
static const char *odd_far_headers(void)
{
    size_t size, headers;
    unsigned char *bytes = read_whole(fake_path(GOOD), &size);
    ElfW(Ehdr) header;
    memcpy(&header, bytes, sizeof header);
    headers = (size_t)header.e_phnum * header.e_phentsize;
    size_t at = (size + 7) & ~(size_t)7;
    unsigned char *moved = calloc(1, at + headers);
    assert_non_null(moved);
    memcpy(moved, bytes, size);
    memcpy(moved + at, bytes + header.e_phoff, headers);
    header.e_phoff = at;
    memcpy(moved, &header, sizeof header);
    const char *path = write_file("far_headers.so", moved, at + headers);
    free(moved);
    free(bytes);
    return path;
}

/* The file had more bytes when its size was asked for than when it was read. */
static void test_shorter(void **state)
{
    const char *path = odd_far_headers();
    unsigned calls;
    (void)state;
    assert_int_equal(odd_open(path, INJECT_END, 0, &calls), CUSHIM_OK);
    assert_int_equal(calls, 2); /* the start, and program headers far from it */
    assert_int_equal(odd_open(path, INJECT_END, 1, &calls), CUSHIM_ERROR_TRUNCATED);
    assert_contains(odd_text, "truncated: the file ends within its ELF header");
    assert_int_equal(odd_open(path, INJECT_END, 2, &calls), CUSHIM_ERROR_TRUNCATED);
    assert_contains(odd_text, "truncated while it was read");
}

static void test_not_inherited(void **state)
{
    unsigned calls;
    (void)state;
    assert_int_equal(odd_open(fake_path(GOOD), INJECT_INHERITED, 0, &calls), CUSHIM_OK);
    assert_int_equal(calls, 0);
}

/* A read may return less than was asked for, or nothing because of a signal: it goes on. */
static void test_partly(void **state)
{
    const char *path = odd_far_headers();
    struct cushim_options options = defaults();
    unsigned calls;
    (void)state;
    assert_int_equal(odd_open(path, INJECT_SIGNAL, 1, &calls), CUSHIM_OK);
    assert_int_equal(calls, 3);
    assert_int_equal(odd_open(path, INJECT_SIGNAL, 2, &calls), CUSHIM_OK);
    assert_int_equal(odd_open(path, INJECT_SHORT, 1, &calls), CUSHIM_OK);
    options.path = path;
    inject_begin(INJECT_SHORT, 1, true);
    const struct cushim_api *cu = cushim_open(&options);
    calls = inject_end();
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_true(calls > 11); /* 1024 bytes, and the program headers */
    cushim_close(cu);
}

/* Instances are listed in blocks of 30. Of one that cannot be listed nothing is left. */
static void odd_fill_list(void *unused)
{
    struct cushim_options options = defaults();
    unsigned calls, each = 0;
    (void)unused;
    options.path = fake_path(GOOD);
    for (int i = 0; i < 30; i++) {
        inject_begin(INJECT_ALLOCATE, 0, false);
        assert_non_null(cushim_open(&options));
        calls = inject_end();
        assert_true(i == 0 || calls == each); /* a place in the block that is there */
        each = calls;
    }
    inject_begin(INJECT_ALLOCATE, 0, false);
    const struct cushim_api *cu = cushim_open(&options);
    assert_non_null(cu);
    calls = inject_end();
    assert_int_equal(calls, each + 1); /* the second block */
    cushim_close(cu);                  /* its place is the first of the second block */
    for (int i = 0; i < 30; i++)
        assert_non_null(cushim_open(&options));
    cushim_last_error_clear();
    char *path = strdup(copy_file(fake_path(GOOD), "unlisted.so"));
    options.path = path;
    inject_begin(INJECT_ALLOCATE, calls, false);
    assert_null(cushim_open(&options));
    inject_end();
    assert_int_equal(inject_blocks(), 0);
    assert_string_equal(cushim_last_error(), "out of memory");
    assert_true(!dlopen(path, RTLD_NOW | RTLD_NOLOAD) || !HAVE_GLIBC); /* musl unloads nothing */
    free(path);
    assert_good_driver_loads();
}

static void test_full_list(void **state)
{
    (void)state;
    run_in_child(odd_fill_list, NULL, NULL);
}

/* The second file that is opened is the probe for descriptors, after dlopen has failed. Its own
 * error is not the library's. */
static void test_probe(void **state)
{
    const char *path = fake_path("needs_gone");
    unsigned calls;
    (void)state;
    assert_int_equal(odd_open(path, INJECT_BROKEN, 0, &calls), CUSHIM_ERROR_DEPENDENCY);
    assert_int_equal(calls, 2);
    assert_int_equal(odd_open(path, INJECT_BROKEN, 1, &calls), CUSHIM_ERROR_READ_FAILED);
    assert_int_equal(odd_open(path, INJECT_BROKEN, 2, &calls), CUSHIM_ERROR_DEPENDENCY);
    assert_contains(odd_text, "libcushim-gone.so.9");
    assert_int_equal(odd_open(path, INJECT_OPEN, 2, &calls), CUSHIM_ERROR_NO_DESCRIPTORS);
}

static void odd_load_without_memory(void *unused)
{
    (void)unused;
    cushim_last_error_clear();
    inject_begin(INJECT_ALLOCATE, 1, true);
    const struct cushim_api *cu = cushim_load(NULL);
    inject_end();
    assert_string_equal(cushim_last_error(), "out of memory");
    assert_failed(cu, CUSHIM_ERROR_OUT_OF_MEMORY);
}

/* A load always has a table, also without memory for one. */
static void test_load_without_memory(void **state)
{
    (void)state;
    run_in_child(odd_load_without_memory, NULL, NULL);
}

/* The thread that comes second frees its own sentence and returns the first one's. */
static void test_kept_once(void **state)
{
    _Atomic(char *) place = NULL;
    (void)state;
    inject_begin(INJECT_ALLOCATE, 0, false);
    char *first = cushim_text_format("a sentence of %d words", 5);
    char *second = cushim_text_format("a sentence of %d words", 5);
    assert_true(cushim_instance_keep(&place, first) == first);
    assert_true(cushim_instance_keep(&place, second) == first);
    assert_int_equal(inject_blocks(), 1);
    assert_null(cushim_instance_keep(&place, NULL)); /* no memory for it: the caller has words */
    free(first);
    assert_int_equal(inject_end(), 2);
}

/* What was said once is kept: asking again allocates nothing. */
static void test_asked_again(void **state)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    (void)state;
    const char *message = cushim_message(cu), *path = cushim_path(cu);
    inject_begin(INJECT_ALLOCATE, 0, false);
    assert_ptr_equal(cushim_message(cu), message);
    assert_ptr_equal(cushim_path(cu), path);
    assert_int_equal(inject_end(), 0);
    cushim_close(cu);
    inject_begin(INJECT_ALLOCATE, 0, false);
    cu = open_path(fake_path(GOOD));
    control->init_code = 100;
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NO_DEVICE);
    control->init_code = FAKE_SUCCESS;
    assert_true(cushim_message(cu) != message);
    cushim_close(cu);
    inject_end();
    assert_int_equal(inject_blocks(), 0);
}

/* A driver whose path the system does not tell has none in the sentence. */
static void test_no_path(void **state)
{
    struct fake_control *control = fake_control(fake_path(GOOD));
    (void)state;
    inject_begin(INJECT_DLINFO, 1, true);
    const struct cushim_api *cu = open_path(fake_path(GOOD));
    control->init_code = 100;
    assert_int_equal(cushim_status(cu), CUSHIM_OK);
    assert_null(cushim_path(cu));
    assert_int_equal(cushim_init(cu), CUSHIM_ERROR_NO_DEVICE);
    inject_end();
    control->init_code = FAKE_SUCCESS;
    assert_memory_equal(cushim_message(cu), "the CUDA driver: cuInit returned 100", 36);
    cushim_close(cu);
}

static void odd_refuse_without_memory(void *unused)
{
    struct cushim_options options = defaults();
    (void)unused;
    options.order = (enum cushim_order)77;
    inject_begin(INJECT_ALLOCATE, 1, true);
    const struct cushim_api *cu = cushim_load(&options);
    inject_end();
    assert_contains(cushim_last_error(), "order");
    assert_failed(cu, CUSHIM_ERROR_OUT_OF_MEMORY);
}

/* A caller's mistake has its words, and a table, without memory too. */
static void test_refuse_without_memory(void **state)
{
    (void)state;
    run_in_child(odd_refuse_without_memory, NULL, NULL);
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
        cmocka_unit_test(test_shorter),       cmocka_unit_test(test_partly),
        cmocka_unit_test(test_not_inherited), cmocka_unit_test(test_full_list),
        cmocka_unit_test(test_probe),         cmocka_unit_test(test_load_without_memory),
        cmocka_unit_test(test_kept_once),     cmocka_unit_test(test_asked_again),
        cmocka_unit_test(test_no_path),       cmocka_unit_test(test_refuse_without_memory),
    };
    return cmocka_run_group_tests_name("odd", tests, prepare, clean);
}

/* SPDX-License-Identifier: MIT */
/* What a failed dlopen is taken for, by the words of several C libraries. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common.h"
#include "loader/platform.h"

#define GONE "No such file or directory" /* strerror(ENOENT), in both libraries */

static const char *said; /* what dlerror returns */
static int said_errno;
static bool works; /* dlopen of the program itself */
static int held;   /* how often it is open */

void *__wrap_dlopen(const char *path, int flags);
void *__wrap_dlopen(const char *path, int flags)
{
    (void)flags;
    errno = said_errno < 0 ? errno : said_errno;
    held += !path && works;
    return !path && works ? &works : NULL;
}

int __wrap_dlclose(void *handle);
int __wrap_dlclose(void *handle)
{
    assert_ptr_equal(handle, &works);
    held--;
    return 0;
}

char *__wrap_dlerror(void);
char *__wrap_dlerror(void)
{
    return (char *)(uintptr_t)said;
}

static enum cushim_status open_words(const char *path, const char *words, char *message,
                                     size_t size)
{
    void *handle = &said;
    said = words;
    enum cushim_status status = cushim_platform_open(path, &handle, message, size);
    assert_ptr_equal(handle, &said);
    assert_int_equal(held, 0);
    return status;
}

static void test_words(void **state)
{
    char good[PATH_SIZE], words[2 * PATH_SIZE], message[PATH_SIZE + 128];
    static const struct {
        const char *path, *words; /* "@" is the path of a good library */
        enum cushim_status status;
    } rows[] = {
        {"libx.so", "libx.so: cannot open shared object file: " GONE, CUSHIM_ERROR_NOT_FOUND},
        {"libx.so", "Error loading shared library libx.so: " GONE, CUSHIM_ERROR_NOT_FOUND},
        {"libx.so", "libx.so libx.so: " GONE, CUSHIM_ERROR_NOT_FOUND},
        {"libx.so", "libx.so: cannot open shared object file", CUSHIM_ERROR_NOT_FOUND},
        {"libx.so", "libx.so: cannot open: Permission denied", CUSHIM_ERROR_OPEN_FAILED},
        {"libx.so", "my-libx.so: cannot open: " GONE, CUSHIM_ERROR_DEPENDENCY},
        {"libx.so", "a -libx.so: cannot open: " GONE, CUSHIM_ERROR_DEPENDENCY},
        {"libx.so", "libx.so.1: cannot open: " GONE, CUSHIM_ERROR_DEPENDENCY},
        {"libx.so", "liby.so: cannot open: " GONE, CUSHIM_ERROR_DEPENDENCY},
        {"libx.so", "Error loading shared library liby.so: " GONE, CUSHIM_ERROR_DEPENDENCY},
        {"libx.so", "liby.so: cannot enable executable stack: Permission denied",
         CUSHIM_ERROR_OPEN_FAILED},
        {"libx.so", "y: no", CUSHIM_ERROR_DEPENDENCY},
        {"libx.so", "/lib/liby.so: cannot open", CUSHIM_ERROR_OPEN_FAILED},
        {"libx.so", "no colon", CUSHIM_ERROR_OPEN_FAILED},
        {"libx.so", ": nothing", CUSHIM_ERROR_OPEN_FAILED},
        {"libx.so", "word : nothing", CUSHIM_ERROR_OPEN_FAILED},
        {"libx.so", "", CUSHIM_ERROR_OPEN_FAILED},
        {"libx.so", NULL, CUSHIM_ERROR_OPEN_FAILED},
        {"@", "@: undefined symbol: x", CUSHIM_ERROR_OPEN_FAILED},
        {"@", "Error relocating @: x", CUSHIM_ERROR_OPEN_FAILED},
        {"@", "liby.so: cannot open: " GONE, CUSHIM_ERROR_DEPENDENCY},
        {"@", "/lib/liby.so: cannot open", CUSHIM_ERROR_OPEN_FAILED},
        {"@", "liby.so needed by @: no", CUSHIM_ERROR_OPEN_FAILED},
    };
    (void)state;
    works = true;
    said_errno = 0;
    snprintf(good, sizeof good, "%s", fake_path(GOOD));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *at = rows[i].words ? strchr(rows[i].words, '@') : NULL;
        snprintf(words, sizeof words, "%.*s%s%s", at ? (int)(at - rows[i].words) : 1000,
                 rows[i].words ? rows[i].words : "", at ? good : "", at ? at + 1 : "");
        const enum cushim_status status =
            open_words(*rows[i].path == '@' ? good : rows[i].path, rows[i].words ? words : NULL,
                       message, sizeof message);
        if (status != rows[i].status)
            fail_msg("\"%s\" of %s is taken for %s", rows[i].words, rows[i].path,
                     cushim_status_name(status));
        assert_string_equal(message, rows[i].words ? words : "dlopen reported no reason");
    }
}

/* Every byte that a terminal could take for a command is replaced. */
static void test_printable(void **state)
{
    char words[256] = "x", message[256];
    (void)state;
    works = true;
    for (int byte = 1; byte < 256; byte++) {
        words[1] = (char)byte;
        open_words("libx.so", words, message, sizeof message);
        assert_int_equal((unsigned char)message[1], byte < ' ' || byte == 127 ? '?' : byte);
        assert_int_equal(message[0], 'x');
        assert_int_equal(message[2], '\0');
    }
}

static void test_other_reasons(void **state)
{
    char message[256], words[256];
    (void)state;
    works = true;
    snprintf(words, sizeof words, "libx.so: no: %s", strerror(ENOMEM));
    assert_int_equal(open_words("libx.so", words, message, sizeof message),
                     CUSHIM_ERROR_OUT_OF_MEMORY);
    works = false;
    assert_int_equal(open_words("libx.so", "libx.so: no", message, sizeof message),
                     CUSHIM_ERROR_NO_DLOPEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_printable),
        cmocka_unit_test(test_other_reasons),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}

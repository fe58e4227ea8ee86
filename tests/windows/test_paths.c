/* SPDX-License-Identifier: MIT */
/* Paths on Windows: in UTF-8, of any length, and to what is no driver; the words for each. */
#include "common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <windows.h>

#include "test_module_fake.h"

/* "Driver", an umlaut, "folder" and a rocket, as the file system has them and in UTF-8. */
#define NAME_WIDE                                                                                  \
    L"\x0414\x0440\x0430\x0439\x0432\x0435\x0440 \x00fc \x043f\x0430\x043f\x043a\x0430 "           \
    L"\xd83d\xde80"
#define NAME                                                                                       \
    "\xd0\x94\xd1\x80\xd0\xb0\xd0\xb9\xd0\xb2\xd0\xb5\xd1\x80 \xc3\xbc "                           \
    "\xd0\xbf\xd0\xb0\xd0\xbf\xd0\xba\xd0\xb0 \xf0\x9f\x9a\x80"

enum { WIDE = 1024, LEVELS = 8 };

/* A folder of this test, absolute; what is in it is removed by name. */
struct place {
    wchar_t wide[WIDE];
    char text[PATH_SIZE];
};

static void place_begin(struct place *place)
{
    wchar_t name[64];
    assert_in_range(GetCurrentDirectoryW(WIDE - 64, place->wide), 1, WIDE - 65);
    swprintf(name, 64, L"\\paths-%lu", (unsigned long)GetCurrentProcessId());
    wcscat(place->wide, name);
    CreateDirectoryW(place->wide, NULL);
    assert_true(WideCharToMultiByte(CP_UTF8, 0, place->wide, -1, place->text, PATH_SIZE, 0, 0));
}

static void place_enter(struct place *place, const wchar_t *wide, const char *text)
{
    wcscat(place->wide, L"\\");
    wcscat(place->wide, wide);
    strcat(place->text, "\\");
    strcat(place->text, text);
}

/* The same path as the system takes it at any length. */
static const wchar_t *place_wide(const struct place *place)
{
    static wchar_t wide[WIDE + 8];
    swprintf(wide, WIDE + 8, L"\\\\?\\%ls", place->wide);
    return wide;
}

static void place_make(const struct place *place)
{
    if (!CreateDirectoryW(place_wide(place), NULL))
        fail_msg("%s: error %lu", place->text, GetLastError());
}

static void place_write(const struct place *place, const void *bytes, size_t size)
{
    DWORD written = 0;
    HANDLE file = CreateFileW(place_wide(place), GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
    if (file == INVALID_HANDLE_VALUE)
        fail_msg("%s: error %lu", place->text, GetLastError());
    assert_true(WriteFile(file, bytes, (DWORD)size, &written, NULL) && written == size);
    CloseHandle(file);
}

/* A driver and an image in a folder, by the option, the variable and the helper. */
static void check_place(const struct place *folder)
{
    size_t size = 0;
    unsigned char *bytes = read_whole(fake_path(GOOD), &size);
    struct place driver = *folder, image = *folder;
    place_enter(&driver, L"driver.dll", "driver.dll");
    place_enter(&image, NAME_WIDE L".ptx", NAME ".ptx");
    place_write(&driver, bytes, size);
    free(bytes);

    const struct cushim_api *cu = open_path(driver.text);
    if (cushim_status(cu) != CUSHIM_OK)
        fail_msg("%s", cushim_message(cu));
    assert_sound(cu);
    assert_non_null(strstr(cushim_path(cu), NAME));
    cushim_close_unload(cu);

    assert_true(SetEnvironmentVariableW(L"CUSHIM_LIBCUDA", driver.wide));
    cu = cushim_open(NULL);
    if (cushim_status(cu) != CUSHIM_OK)
        fail_msg("%s", cushim_message(cu));
    cushim_close_unload(cu);
    assert_true(SetEnvironmentVariableW(L"CUSHIM_LIBCUDA", NULL));

    const char *ptx = module_fake_ptx("8.4", "sm_90", "f");
    CUmodule module = NULL;
    cu = module_fake_open(12040);
    assert_int_equal(cushim_module_load_file(cu, image.text, NULL, NULL, &module),
                     CUDA_ERROR_FILE_NOT_FOUND);
    assert_contains(cushim_last_error(), NAME ".ptx");
    place_write(&image, ptx, strlen(ptx));
    if (cushim_module_load_file(cu, image.text, NULL, NULL, &module) != CUDA_SUCCESS)
        fail_msg("%s", cushim_last_error());
    assert_int_equal(cushim_module_unload(cu, module), CUDA_SUCCESS);
    assert_int_equal(cushim_module_load_file(cu, folder->text, NULL, NULL, &module),
                     CUDA_ERROR_OPERATING_SYSTEM);
    assert_contains(cushim_last_error(), "not a regular file");
    cushim_close(cu);
    DeleteFileW(place_wide(&image));
    DeleteFileW(place_wide(&driver));
}

static void test_other_alphabets(void **state)
{
    struct place place;
    (void)state;
    place_begin(&place);
    struct place folder = place;
    place_enter(&folder, NAME_WIDE, NAME);
    place_make(&folder);
    check_place(&folder);
    RemoveDirectoryW(place_wide(&folder));
    RemoveDirectoryW(place_wide(&place));
}

static void test_long_path(void **state)
{
    struct place places[LEVELS + 1];
    (void)state;
    place_begin(&places[0]);
    for (int i = 0; i < LEVELS; i++) {
        places[i + 1] = places[i];
        place_enter(&places[i + 1], L"0123456789012345678901234567890123456789 " NAME_WIDE,
                    "0123456789012345678901234567890123456789 " NAME);
        place_make(&places[i + 1]);
    }
    assert_true(wcslen(places[LEVELS].wide) > 400);
    check_place(&places[LEVELS]);
    for (int i = LEVELS; i >= 0; i--)
        RemoveDirectoryW(place_wide(&places[i]));
}

/* ---- what is no driver */

static void check_bad(const char *path, enum cushim_status status, const char *words)
{
    const struct cushim_api *cu = open_path(path);
    assert_failed(cu, status);
    assert_contains(cushim_message(cu), path);
    assert_contains(cushim_message(cu), words);
    assert_null(strstr(cushim_message(cu), "libcuda"));
    assert_null(strstr(cushim_message(cu), "LD_LIBRARY_PATH"));
    assert_good_driver_loads();
    cushim_close(cu);
}

static void test_bad_files(void **state)
{
    size_t size = 0;
    (void)state;
    assert_non_null(make_folder());
    unsigned char *bytes = read_whole(fake_path(GOOD), &size);
    check_bad(in_folder("nothing.dll"), CUSHIM_ERROR_NOT_FOUND, "give the path of a");
    check_bad("nosuch.dll", CUSHIM_ERROR_NOT_FOUND, "give the path of a");
    check_bad(write_file("empty.dll", "", 0), CUSHIM_ERROR_NOT_A_LIBRARY, "give the path of a");
    check_bad(write_file("text.dll", "a text", 6), CUSHIM_ERROR_NOT_A_LIBRARY, "nvcuda.dll");
    check_bad(write_file("elf.dll", "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16),
              CUSHIM_ERROR_NOT_A_LIBRARY, "nvcuda.dll");
    bytes[0x3c] = 0xff; /* where the header is */
    check_bad(write_file("wrong.dll", bytes, size), CUSHIM_ERROR_NOT_A_LIBRARY, "nvcuda.dll");
    check_bad("kernel32.dll", CUSHIM_ERROR_NOT_CUDA, "give the path of a nvcuda.dll");
    check_bad(fake_path("needs_gone"), CUSHIM_ERROR_DEPENDENCY, "put its folder into PATH");
    check_bad("\xff.dll", CUSHIM_ERROR_NOT_FOUND, "not a path in UTF-8");
    free(bytes);
    remove_folder();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_alphabets),
        cmocka_unit_test(test_long_path),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

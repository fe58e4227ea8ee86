/* SPDX-License-Identifier: MIT */
/* Beside it, and in the current folder, is planted.c as nvcuda.dll. "search": cushim finds another
 * nvcuda.dll or none. "after": the same, where the program has loaded the planted one before.
 * "trust": the system's own way takes the planted one, or the test would show nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <cushim/cushim.h>

#define MARK "planted-was-loaded"

static bool marked(void)
{
    return GetFileAttributesA(MARK) != INVALID_FILE_ATTRIBUTES;
}

int main(int count, char **arguments)
{
    const char *mode = count > 1 ? arguments[1] : "search";
    const bool system = count > 2 && strcmp(arguments[2], "driver") == 0;
    char folder[MAX_PATH];
    GetModuleFileNameA(NULL, folder, sizeof folder);
    *strrchr(folder, '\\') = '\0';
    if (!SetCurrentDirectoryA(folder) ||
        GetFileAttributesA("nvcuda.dll") == INVALID_FILE_ATTRIBUTES)
        return puts("nvcuda.dll is not planted"), 1;
    DeleteFileA(MARK);
    _putenv("PLANTED=" MARK);
    if (strcmp(mode, "trust") == 0) {
        LoadLibraryA("nvcuda.dll");
        return marked() ? 0 : (puts("the planted library does nothing"), 1);
    }
    if (strcmp(mode, "after") == 0) {
        if (!LoadLibraryA(".\\nvcuda.dll") || !marked())
            return puts("the planted library does nothing"), 1;
        DeleteFileA(MARK);
    }
    const struct cushim_api *cu = cushim_open(NULL);
    printf("%s\n", cushim_message(cu));
    if (marked() || cushim_driver_version(cu) == 6660)
        return puts("the planted library was taken"), 1;
    if (cushim_status(cu) != (system ? CUSHIM_OK : CUSHIM_ERROR_NOT_FOUND))
        return puts("another status was to be expected"), 1;
    cushim_close(cu);
    return 0;
}

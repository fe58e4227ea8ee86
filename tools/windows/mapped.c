/* SPDX-License-Identifier: MIT */
#include "../mapped.h"

#include <fcntl.h>
#include <io.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static const char *reason(DWORD error)
{
    static char text[40];

    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:
        return "No such file or directory";
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        return "Permission denied";
    default:
        snprintf(text, sizeof text, "error %lu of the system", error);
        return text;
    }
}

static bool map(struct mapped *mapped, HANDLE file, const char **problem)
{
    LARGE_INTEGER size;
    void *data = NULL;
    bool good = GetFileSizeEx(file, &size);

    if (good && size.QuadPart > 0) {
        HANDLE object = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
        data = object ? MapViewOfFile(object, FILE_MAP_READ, 0, 0, 0) : NULL;
        good = data;
    }
    if (!good) {
        *problem = reason(GetLastError());
        return false;
    }
    *mapped = (struct mapped){data, (size_t)size.QuadPart, NULL};
    return true;
}

bool mapped_descriptor(struct mapped *mapped, int descriptor, const char **problem)
{
    bool good;

    *mapped = (struct mapped){0};
    good = map(mapped, (HANDLE)_get_osfhandle(descriptor), problem);
    _close(descriptor);
    return good;
}

bool mapped_open(struct mapped *mapped, const char *path, const char **problem)
{
    wchar_t *wide = windows_wide(path);
    HANDLE file = INVALID_HANDLE_VALUE;
    DWORD attributes = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
    bool good;

    *mapped = (struct mapped){0};
    if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY)) {
        *problem = "a folder, not a file";
        free(wide);
        return false;
    }
    if (wide)
        file = CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL,
                           OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        *problem = wide ? reason(GetLastError()) : reason(ERROR_INVALID_NAME);
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    good = map(mapped, file, problem);
    CloseHandle(file);
    return good;
}

void mapped_close(struct mapped *mapped)
{
    if (mapped->data)
        UnmapViewOfFile(mapped->data);
    *mapped = (struct mapped){0};
}

void mapped_passed(const void *data, size_t size)
{
    (void)data, (void)size; /* the system drops pages that it needs */
}

int mapped_temporary(const char **problem)
{
    wchar_t folder[MAX_PATH + 1], path[MAX_PATH + 1];
    int descriptor = -1;

    if (GetTempPathW(MAX_PATH, folder) > 0 && GetTempFileNameW(folder, L"cus", 0, path) != 0)
        descriptor = _wopen(path, _O_RDWR | _O_BINARY | _O_TEMPORARY | _O_NOINHERIT);
    if (descriptor < 0)
        *problem = "too large for the memory, and no temporary file can be made; TMP may name a "
                   "folder";
    return descriptor;
}

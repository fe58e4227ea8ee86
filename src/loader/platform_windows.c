/* SPDX-License-Identifier: MIT */
#include "loader/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define PATH_SIZE 4096

const struct cushim_candidate cushim_platform_candidates[] = {
    {"nvcuda.dll", CUSHIM_SOURCE_PROCESS},
    {"nvcuda.dll", CUSHIM_SOURCE_SYSTEM},
    {NULL, CUSHIM_SOURCE_LIST},
};
const struct cushim_candidate cushim_platform_compat = {NULL, CUSHIM_SOURCE_COMPAT};

const char *cushim_platform_env(const char *name)
{
    return getenv(name);
}

bool cushim_platform_search_is_unsafe(const char *name, char *path, size_t size)
{
    (void)name;
    (void)path;
    (void)size;
    return false; /* the system checks what it maps */
}

/* Paths are UTF-8 here, as in all of cushim. */
static bool platform_widen(const char *path, wchar_t wide[PATH_SIZE])
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, PATH_SIZE) > 0;
}

static enum cushim_status platform_classify(DWORD error)
{
    switch (error) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
        return CUSHIM_ERROR_NOT_FOUND;
    case ERROR_MOD_NOT_FOUND:
        return CUSHIM_ERROR_DEPENDENCY;
    case ERROR_ACCESS_DENIED:
        return CUSHIM_ERROR_UNREADABLE;
    case ERROR_BAD_EXE_FORMAT:
        return CUSHIM_ERROR_NOT_A_LIBRARY;
    case ERROR_TOO_MANY_OPEN_FILES:
        return CUSHIM_ERROR_NO_DESCRIPTORS;
    default:
        return CUSHIM_ERROR_OPEN_FAILED;
    }
}

/* The system's words for an error, without the end of line that they have. */
static void platform_explain(DWORD error, char *message, size_t size)
{
    char words[512] = "";
    FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, error, 0,
                   words, sizeof words, NULL);
    words[strcspn(words, "\r\n")] = '\0';
    snprintf(message, size, "%s%sWindows error %lu", words, *words ? " " : "", error);
}

/* The path of a file in System32. */
static bool platform_system_path(const wchar_t *name, wchar_t full[PATH_SIZE])
{
    UINT length = GetSystemDirectoryW(full, MAX_PATH);
    if (!length || length >= MAX_PATH || wcslen(name) + length + 2 > PATH_SIZE)
        return false;
    wcscat(full, L"\\");
    wcscat(full, name);
    return true;
}

static bool platform_is_there(const char *path, const wchar_t *wide)
{
    wchar_t full[PATH_SIZE];
    if (!strpbrk(path, "/\\"))
        return platform_system_path(wide, full) &&
               GetFileAttributesW(full) != INVALID_FILE_ATTRIBUTES;
    return GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES;
}

/* A bare name comes from System32 alone, also one that is loaded already. */
static HMODULE platform_load(const struct cushim_candidate *candidate, const wchar_t *wide)
{
    wchar_t full[PATH_SIZE];
    HMODULE found = NULL;
    if (candidate->source == CUSHIM_SOURCE_PROCESS) {
        if (platform_system_path(wide, full))
            GetModuleHandleExW(0, full, &found);
        return found;
    }
    if (!strpbrk(candidate->path, "/\\"))
        return LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
    /* A path may bring its own neighbours; for that the system wants a full one. */
    DWORD length = GetFullPathNameW(wide, PATH_SIZE, full, NULL);
    return length && length < PATH_SIZE ? LoadLibraryExW(full, NULL, LOAD_WITH_ALTERED_SEARCH_PATH)
                                        : NULL;
}

enum cushim_status cushim_platform_open(const struct cushim_candidate *candidate, void **handle,
                                        char *message, size_t size)
{
    wchar_t wide[PATH_SIZE];
    if (!platform_widen(candidate->path, wide)) {
        snprintf(message, size, "not a path in UTF-8 of less than %d characters", PATH_SIZE);
        return CUSHIM_ERROR_NOT_FOUND;
    }
    HMODULE found = platform_load(candidate, wide);
    if (found) {
        *handle = (void *)found;
        return CUSHIM_OK;
    }
    DWORD error = GetLastError();
    if (candidate->source == CUSHIM_SOURCE_PROCESS) {
        snprintf(message, size, "not loaded in this process");
        return CUSHIM_ERROR_NOT_FOUND;
    }
    platform_explain(error, message, size);
    /* The same error is for the library itself and for one that it needs. */
    return error == ERROR_MOD_NOT_FOUND && !platform_is_there(candidate->path, wide)
               ? CUSHIM_ERROR_NOT_FOUND
               : platform_classify(error);
}

void cushim_platform_close(void *handle)
{
    FreeLibrary((HMODULE)handle);
}

void *cushim_platform_symbol(void *handle, const char *symbol)
{
    FARPROC found = GetProcAddress((HMODULE)handle, symbol);
    void *address;
    memcpy(&address, &found, sizeof address);
    return address;
}

bool cushim_platform_exports(void *handle, void **addresses)
{
    (void)handle;
    (void)addresses;
    return false; /* GetProcAddress is fast */
}

void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base)
{
    (void)handle;
    HMODULE module;
    wchar_t wide[PATH_SIZE];
    if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            (const char *)symbol, &module))
        return;
    *base = (const void *)module;
    DWORD length = GetModuleFileNameW(module, wide, PATH_SIZE);
    if (!length || length >= PATH_SIZE ||
        !WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)size, NULL, NULL))
        *path = '\0';
}

char *cushim_platform_real_path(const char *path)
{
    (void)path;
    return NULL; /* the system reports paths without links */
}

bool cushim_platform_is_code(const void *address)
{
    MEMORY_BASIC_INFORMATION region;
    const DWORD code =
        PAGE_EXECUTE | PAGE_EXECUTE_READ | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
    return VirtualQuery(address, &region, sizeof region) && region.State == MEM_COMMIT &&
           region.Protect & code;
}

/* There is no fork. */
void cushim_platform_mark(struct cushim_mark *mark)
{
    (void)mark;
}

bool cushim_platform_is_child(struct cushim_mark *mark)
{
    (void)mark;
    return false;
}

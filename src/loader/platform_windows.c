/* SPDX-License-Identifier: MIT */
#include "loader/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#define PATH_SIZE CUSHIM_WIDE_PATH_SIZE

const struct cushim_candidate cushim_platform_candidates[] = {
    {"nvcuda.dll", CUSHIM_SOURCE_SYSTEM},
    {NULL, CUSHIM_SOURCE_LIST},
};
_Static_assert(sizeof cushim_platform_candidates / sizeof *cushim_platform_candidates <
                   CUSHIM_MAX_ATTEMPTS,
               "all attempts are recorded");
const struct cushim_candidate cushim_platform_compat = {NULL, CUSHIM_SOURCE_COMPAT};

/* ---- text: UTF-8 here, as in all of cushim */

static bool platform_widen(const char *text, wchar_t wide[PATH_SIZE])
{
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, PATH_SIZE) > 0;
}

static bool platform_narrow(const wchar_t *wide, char *text, size_t size)
{
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, (int)size, NULL, NULL) > 0;
}

/* The C library's own copy has lost the characters that are not of the system's code page. */
const char *cushim_platform_env(const char *name)
{
    static _Thread_local char value[PATH_SIZE];
    wchar_t wide_name[PATH_SIZE], wide[PATH_SIZE] = L"";
    SetLastError(ERROR_SUCCESS);
    if (!platform_widen(name, wide_name) ||
        GetEnvironmentVariableW(wide_name, wide, PATH_SIZE) == 0)
        return GetLastError() == ERROR_SUCCESS ? "" : NULL;
    /* One that is too long for a path is for the caller to refuse. */
    return platform_narrow(wide, value, sizeof value) ? value : getenv(name);
}

/* Absolute; and beyond 260 characters with the prefix that the system wants then. */
bool cushim_platform_wide_path(const char *path, wchar_t wide[PATH_SIZE])
{
    wchar_t given[PATH_SIZE], full[PATH_SIZE];
    if (!platform_widen(path, given))
        return false;
    DWORD length = GetFullPathNameW(given, PATH_SIZE, full, NULL);
    if (!length || length + wcslen(L"\\\\?\\UNC") >= PATH_SIZE)
        return false;
    bool network = wcsncmp(full, L"\\\\", 2) == 0, local = network && wcschr(L"?.", full[2]);
    const wchar_t *prefix = length < MAX_PATH || local ? L"" : network ? L"\\\\?\\UNC" : L"\\\\?\\";
    wcscpy(wide, prefix);
    wcscat(wide, *prefix && network ? full + 1 : full);
    return true;
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
    wchar_t wide[256] = L"";
    char words[768] = "";
    FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, error, 0, wide,
                   sizeof wide / sizeof *wide, NULL);
    wide[wcscspn(wide, L"\r\n")] = L'\0';
    if (!platform_narrow(wide, words, sizeof words))
        *words = '\0';
    snprintf(message, size, "%s%sWindows error %lu", words, *words ? " " : "", error);
}

/* A bare name is one in System32, in the search and in the caller's own path. */
static bool platform_is_bare(const char *path)
{
    return !strpbrk(path, "/\\:");
}

static bool platform_full_path(const char *path, wchar_t full[PATH_SIZE])
{
    wchar_t name[PATH_SIZE];
    if (!platform_is_bare(path))
        return cushim_platform_wide_path(path, full);
    UINT length = GetSystemDirectoryW(full, MAX_PATH);
    if (!length || length >= MAX_PATH || !platform_widen(path, name) ||
        wcslen(name) + length + 2 > PATH_SIZE)
        return false;
    wcscat(full, L"\\");
    wcscat(full, name);
    return true;
}

/* Always by the whole path: by its name the system would take one that is loaded already, from
 * wherever that was. What a library in System32 needs comes from there too; what another one needs
 * may be its neighbour. */
static HMODULE platform_load(const char *path, const wchar_t *full)
{
    return LoadLibraryExW(full, NULL,
                          platform_is_bare(path) ? LOAD_LIBRARY_SEARCH_SYSTEM32
                                                 : LOAD_WITH_ALTERED_SEARCH_PATH);
}

enum cushim_status cushim_platform_open(const char *path, void **handle, char *message, size_t size)
{
    wchar_t full[PATH_SIZE];
    if (!platform_full_path(path, full)) {
        snprintf(message, size, "not a path in UTF-8 of less than %d characters", PATH_SIZE);
        return CUSHIM_ERROR_NOT_FOUND;
    }
    HMODULE found = platform_load(path, full);
    if (found) {
        *handle = (void *)found;
        return CUSHIM_OK;
    }
    DWORD error = GetLastError();
    platform_explain(error, message, size);
    /* The same error is for the library itself and for one that it needs. */
    return error == ERROR_MOD_NOT_FOUND && GetFileAttributesW(full) == INVALID_FILE_ATTRIBUTES
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

const void *cushim_platform_object(const void *address)
{
    HMODULE module = NULL;
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                           GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                       (const char *)address, &module);
    return (const void *)module;
}

bool cushim_platform_has(void *handle, const void *address)
{
    return cushim_platform_object(address) == handle;
}

void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base)
{
    const void *module = handle ? handle : cushim_platform_object(symbol);
    wchar_t wide[PATH_SIZE];
    if (!module)
        return;
    *base = module;
    DWORD length = GetModuleFileNameW((HMODULE)(uintptr_t)module, wide, PATH_SIZE);
    if (!length || length >= PATH_SIZE || !platform_narrow(wide, path, size))
        *path = '\0';
}

long cushim_platform_process(void)
{
    return 1; /* there is no fork */
}

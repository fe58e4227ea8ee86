/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "entries.h"
#include "platform.h"

const struct cushim_candidate cushim_platform_candidates[] = {
    {"nvcuda.dll", CUSHIM_SOURCE_PROCESS},
    {"nvcuda.dll", CUSHIM_SOURCE_SYSTEM},
    {NULL, CUSHIM_SOURCE_LIST},
};
const struct cushim_candidate cushim_platform_compat = {NULL, CUSHIM_SOURCE_COMPAT};
const int cushim_platform_id = CUSHIM_WINDOWS_ONLY;

const char *cushim_platform_env_path(void)
{
    return getenv("CUSHIM_LIBCUDA");
}

static enum cushim_status classify(DWORD error)
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
    default:
        return CUSHIM_ERROR_OPEN_FAILED;
    }
}

enum cushim_status cushim_platform_open(const struct cushim_candidate *candidate, void **handle,
                                        char *message, size_t size)
{
    HMODULE found = NULL;
    if (candidate->source == CUSHIM_SOURCE_PROCESS) {
        GetModuleHandleExA(0, candidate->path, &found);
    } else {
        /* A bare name comes from System32 only; a path may bring its own neighbours. */
        DWORD where = strpbrk(candidate->path, "/\\") ? LOAD_WITH_ALTERED_SEARCH_PATH
                                                      : LOAD_LIBRARY_SEARCH_SYSTEM32;
        found = LoadLibraryExA(candidate->path, NULL, where);
    }
    if (found) {
        *handle = (void *)found;
        return CUSHIM_OK;
    }
    DWORD error = GetLastError();
    if (candidate->source == CUSHIM_SOURCE_PROCESS) {
        snprintf(message, size, "not loaded in this process");
        return CUSHIM_ERROR_NOT_FOUND;
    }
    snprintf(message, size, "Windows error %lu", error);
    if (error == ERROR_MOD_NOT_FOUND &&
        GetFileAttributesA(candidate->path) == INVALID_FILE_ATTRIBUTES)
        return CUSHIM_ERROR_NOT_FOUND;
    return classify(error);
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

void cushim_platform_describe(void *handle, void *symbol, char *path, size_t size,
                              const void **base)
{
    (void)handle;
    HMODULE module;
    if (GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                               GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                           (const char *)symbol, &module)) {
        *base = (const void *)module;
        GetModuleFileNameA(module, path, (DWORD)size);
    }
}

long cushim_platform_process_id(void)
{
    return (long)GetCurrentProcessId();
}

void cushim_platform_pause(void)
{
    Sleep(0);
}

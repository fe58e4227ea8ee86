/* SPDX-License-Identifier: MIT */
#include "posix.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "posix/dlfcn.h"

/* The time limit of a test is that of the test runner here. */
unsigned alarm(unsigned seconds)
{
    (void)seconds;
    return 0;
}

int setenv(const char *name, const char *value, int overwrite)
{
    (void)overwrite;
    return _putenv_s(name, value);
}

int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}

void *dlopen(const char *path, int flags)
{
    HMODULE module = NULL;
    if (flags & RTLD_NOLOAD)
        GetModuleHandleExA(0, path, &module);
    else
        module = LoadLibraryA(path);
    return (void *)module;
}

void *dlsym(void *handle, const char *symbol)
{
    FARPROC found = GetProcAddress(handle ? (HMODULE)handle : GetModuleHandleA(NULL), symbol);
    void *address;
    memcpy(&address, &found, sizeof address);
    return address;
}

int dlclose(void *handle)
{
    return FreeLibrary((HMODULE)handle) ? 0 : -1;
}

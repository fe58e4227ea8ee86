/* SPDX-License-Identifier: MIT */
/* Calls back into the program while the system's loader is busy with this library. */
#include <dlfcn.h>
#include <string.h>

__attribute__((constructor)) static void construct(void)
{
    void (*hook)(void);
    void *found = dlsym(RTLD_DEFAULT, "fake_constructor_hook");
    memcpy(&hook, &found, sizeof hook);
    if (hook)
        hook();
}

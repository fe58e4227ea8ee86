/* SPDX-License-Identifier: MIT */
/* Threads of the driver's own, on Windows: as in thread.c. */
#include <windows.h>

#include "ptx/ptx.h"

void ptx_thread_stay_in(const void *address)
{
    (void)address; /* there is one library */
}

static void stay_loaded(void)
{
    HMODULE self;
    GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                       (const char *)(uintptr_t)stay_loaded, &self);
}

bool ptx_thread_start(pthread_t *id, size_t stack, void *(*run)(void *), void *user)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_attr_t attributes;
    (void)pthread_once(&once, stay_loaded);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    if (stack)
        pthread_attr_setstacksize(&attributes, stack);
    int rc = pthread_create(id, &attributes, run, user);
    pthread_attr_destroy(&attributes);
    return rc == 0;
}

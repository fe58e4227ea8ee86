/* SPDX-License-Identifier: MIT */
/* Threads of the driver's own, of the queue and of launches alike. */
#include <dlfcn.h>
#include <signal.h>

#include "ptx/ptx.h"

static const void *in_library; /* an address in the one that goes last; NULL: this code's */

void ptx_thread_stay_in(const void *address)
{
    in_library = address;
}

/* From the first thread on, the library that holds this code is never unloaded: a thread may run in
 * it until the process ends, be it only on its way out. */
static void stay_loaded(void)
{
    const void *address = in_library ? in_library : (const void *)(uintptr_t)stay_loaded;
    Dl_info self;
    if (dladdr(address, &self) != 0 && self.dli_fname)
        (void)dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

bool ptx_thread_start(pthread_t *id, size_t stack, void *(*run)(void *), void *user)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_attr_t attributes;
    sigset_t all, before;
    (void)pthread_once(&once, stay_loaded);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    if (stack)
        pthread_attr_setstacksize(&attributes, stack);
    /* Signals are for the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = pthread_create(id, &attributes, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return rc == 0;
}

/* SPDX-License-Identifier: MIT */
/* Preloaded: dlerror in another language. WORDS has %s for the object and another for the rest. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *(*real)(void);

/* Not when the first error is asked for, which a dlsym would forget. */
__attribute__((constructor)) static void find_real(void)
{
    *(void **)&real = dlsym(RTLD_NEXT, "dlerror");
}

char *dlerror(void)
{
    static char text[1024];
    char *said = real();
    char *format = getenv("WORDS");
    char *colon = said ? strstr(said, ": ") : NULL;
    if (!colon || !format)
        return said;
    *colon = '\0';
    char *place = strchr(format, '%');
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - format), format, said, place + 1);
    *colon = ':';
    return text;
}

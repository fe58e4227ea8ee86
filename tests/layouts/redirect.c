/* SPDX-License-Identifier: MIT */
/* Named by LD_AUDIT or DT_AUDIT: the search for the driver finds the file LAYOUT_REDIRECT. */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned la_version(unsigned version);
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);

unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    (void)cookie;
    if (flag == LA_SER_ORIG && strcmp(name, "libcuda.so.1") == 0)
        name = getenv("LAYOUT_REDIRECT");
    return (char *)(uintptr_t)name;
}

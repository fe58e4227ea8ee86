/* SPDX-License-Identifier: MIT */
/* Forbidding and permitting memory to AddressSanitizer: see expire.c. */
#include "core/core.h"

#ifdef SIM_EXPIRES

#include <sanitizer/asan_interface.h>

/* Of the sanitizer's library; not every compiler has the header. */
size_t __sanitizer_get_allocated_size(const volatile void *block);

static bool expired; /* something is forbidden */
static void (*expire_also)(void), (*renew_also)(void);

void sim_expire_also(void (*expire)(void), void (*renew)(void))
{
    expire_also = expire;
    renew_also = renew;
}

void sim_expire(void *block)
{
    ASAN_POISON_MEMORY_REGION(block, __sanitizer_get_allocated_size(block));
}

void sim_expire_renew(const void *block)
{
    if (block)
        ASAN_UNPOISON_MEMORY_REGION(block, __sanitizer_get_allocated_size(block));
}

void sim_expire_all(void)
{
    sim_object_expire_all();
    if (expire_also)
        expire_also();
    expired = true;
}

void sim_expire_renew_all(void)
{
    if (!expired)
        return;
    sim_object_renew_all();
    if (renew_also)
        renew_also();
    expired = false;
}

#else

typedef int sim_expire_is_for_sanitizers; /* a file must have something in it */

#endif

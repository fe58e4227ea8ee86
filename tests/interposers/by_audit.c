/* SPDX-License-Identifier: MIT */
/* Stand-in, named by LD_AUDIT or by the program's DT_AUDIT: it changes what symbols are bound to.
 */
#include <link.h>

#include "quota.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned la_version(unsigned version);
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie);
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                              unsigned *flags, const char *name);

unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    (void)map, (void)namespace, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to,
                       unsigned *flags, const char *name)
{
    (void)index, (void)from, (void)to;
    if (!(*flags & LA_SYMB_DLSYM) || !quota_is_driver(name))
        return symbol->st_value;
    return (uintptr_t)quota_symbol(name, (void *)symbol->st_value);
}

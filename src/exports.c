/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dlinfo */
#endif
#include "exports.h"

#ifdef _WIN32

void cushim_exports_read(struct cushim_exports *exports, void *handle)
{
    (void)exports;
    (void)handle;
}

bool cushim_exports_find(const struct cushim_exports *exports, const char *symbol, void **address)
{
    (void)exports;
    (void)symbol;
    (void)address;
    return false;
}

#else

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

/* glibc relocates these entries in memory; other C libraries leave them as they are in the file. */
static const void *address(const struct link_map *map, ElfW(Addr) value)
{
    return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

/* The library's tables; false where they cannot be relied upon. */
static bool read_tables(struct cushim_exports *exports, void *handle)
{
    struct link_map *map = NULL;
    bool versions = false;
    memset(exports, 0, sizeof *exports);
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map)
        return false;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_GNU_HASH)
            exports->gnu_hash = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_HASH)
            exports->sysv_hash = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_SYMTAB)
            exports->symbols = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            exports->names = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_VERDEF)
            versions = true; /* one name may have several addresses */
    }
    exports->base = (uintptr_t)map->l_addr;
    if (exports->gnu_hash && (!exports->gnu_hash[0] || !exports->gnu_hash[2]))
        exports->gnu_hash = NULL;
    if (exports->sysv_hash && !exports->sysv_hash[0])
        exports->sysv_hash = NULL;
    if (!exports->symbols || !exports->names)
        exports->gnu_hash = exports->sysv_hash = NULL;
    return !versions;
}

/*
 * Some tools that share or record a GPU put a dlsym of their own before the C library's, and
 * answer for the driver's symbols with functions of theirs. That stays so.
 */
static bool dlsym_is_the_systems(void)
{
    static const char *const libraries[] = {"libc.so.6", "libdl.so.2"};
    void *(*used)(void *, const char *) = dlsym;
    void *own = NULL, *compared;
    memcpy(&compared, &used, sizeof compared);
    if (getenv("LD_AUDIT"))
        return false;
    for (unsigned i = 0; i < sizeof libraries / sizeof *libraries && !own; i++) {
        void *handle = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (!handle)
            continue;
        struct cushim_exports exports;
        read_tables(&exports, handle);
        exports.same_as_dlsym = true; /* its versions of dlsym are one function */
        if (!cushim_exports_find(&exports, "dlsym", &own))
            own = NULL;
        dlclose(handle);
    }
    return own && own == compared;
}

void cushim_exports_read(struct cushim_exports *exports, void *handle)
{
    exports->same_as_dlsym = read_tables(exports, handle) && dlsym_is_the_systems();
}

/* Index of a symbol by DT_GNU_HASH: number of buckets, first symbol, number of filter words,
 * shift; the words of the Bloom filter, the buckets, the chains. */
static size_t find_by_gnu_hash(const struct cushim_exports *exports, const char *symbol)
{
    const uint32_t *table = exports->gnu_hash;
    const unsigned bits = sizeof(ElfW(Addr)) * 8;
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(const void *)(table + 4);
    const uint32_t *buckets = (const uint32_t *)(const void *)(filter + table[2]);
    const uint32_t *chains = buckets + table[0];
    const ElfW(Sym) *symbols = exports->symbols;
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)symbol; *c; c++)
        hash = hash * 33 + *c;
    ElfW(Addr) word = filter[hash / bits % table[2]];
    ElfW(Addr) mask = (ElfW(Addr))1 << hash % bits | (ElfW(Addr))1 << (hash >> table[3]) % bits;
    uint32_t i = (word & mask) == mask ? buckets[hash % table[0]] : STN_UNDEF;
    for (; i >= table[1] && i != STN_UNDEF; i++) {
        uint32_t link = chains[i - table[1]]; /* its lowest bit ends the chain */
        if ((link | 1) == (hash | 1) && strcmp(exports->names + symbols[i].st_name, symbol) == 0)
            return i;
        if (link & 1)
            break;
    }
    return STN_UNDEF;
}

/* The same by DT_HASH: number of buckets, number of symbols, the buckets, the chains. */
static size_t find_by_sysv_hash(const struct cushim_exports *exports, const char *symbol)
{
    const uint32_t *table = exports->sysv_hash, *buckets = table + 2, *chains = buckets + table[0];
    const ElfW(Sym) *symbols = exports->symbols;
    uint32_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)symbol; *c; c++) {
        hash = (hash << 4) + *c;
        hash = (hash ^ (hash >> 28) << 4) & 0x0fffffff;
    }
    uint32_t i = buckets[hash % table[0]];
    while (i != STN_UNDEF && strcmp(exports->names + symbols[i].st_name, symbol) != 0)
        i = chains[i];
    return i;
}

bool cushim_exports_find(const struct cushim_exports *exports, const char *symbol, void **address)
{
    size_t index = STN_UNDEF;
    if (exports->gnu_hash)
        index = find_by_gnu_hash(exports, symbol);
    else if (exports->sysv_hash)
        index = find_by_sysv_hash(exports, symbol);
    else
        return false;
    const ElfW(Sym) *found = (const ElfW(Sym) *)exports->symbols + index;
    if (index == STN_UNDEF || found->st_shndx == SHN_UNDEF) {
        *address = NULL;
        return true;
    }
    /* Of the rest, only what needs no more than the load address added; not IFUNC, TLS, ABS. */
    unsigned type = found->st_info & 0xf;
    if (!exports->same_as_dlsym || found->st_shndx >= SHN_LORESERVE ||
        (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE))
        return false;
    *address = (void *)(exports->base + found->st_value);
    return true;
}

#endif

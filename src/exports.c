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

bool cushim_exports_lack(const struct cushim_exports *exports, const char *symbol)
{
    (void)exports;
    (void)symbol;
    return false;
}

#else

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

/* glibc relocates these entries in memory; other C libraries leave them as they are in the file. */
static const void *address(const struct link_map *map, ElfW(Addr) value)
{
    return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

void cushim_exports_read(struct cushim_exports *exports, void *handle)
{
    struct link_map *map = NULL;
    memset(exports, 0, sizeof *exports);
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map)
        return;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_GNU_HASH)
            exports->gnu_hash = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_HASH)
            exports->sysv_hash = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_SYMTAB)
            exports->symbols = address(map, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            exports->names = address(map, entry->d_un.d_ptr);
    }
}

/* The Bloom filter of DT_GNU_HASH: bucket count, first symbol, filter words, shift, the words. */
static bool filtered_out(const uint32_t *table, const char *symbol)
{
    uint32_t hash = 5381, words = table[2], shift = table[3];
    for (const unsigned char *c = (const unsigned char *)symbol; *c; c++)
        hash = hash * 33 + *c;
    const unsigned bits = sizeof(ElfW(Addr)) * 8;
    ElfW(Addr) word;
    memcpy(&word, (const char *)(table + 4) + (hash / bits) % words * sizeof word, sizeof word);
    ElfW(Addr) mask = (ElfW(Addr))1 << hash % bits | (ElfW(Addr))1 << (hash >> shift) % bits;
    return (word & mask) != mask;
}

/* DT_HASH: bucket count, symbol count, the buckets, the chains. */
static bool in_no_chain(const struct cushim_exports *exports, const char *symbol)
{
    const uint32_t *table = exports->sysv_hash, *buckets = table + 2, *chains = buckets + table[0];
    const ElfW(Sym) *symbols = exports->symbols;
    uint32_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)symbol; *c; c++) {
        hash = (hash << 4) + *c;
        hash = (hash ^ (hash >> 28) << 4) & 0x0fffffff;
    }
    for (uint32_t i = buckets[hash % table[0]]; i != STN_UNDEF; i = chains[i])
        if (strcmp(exports->names + symbols[i].st_name, symbol) == 0)
            return false;
    return true;
}

bool cushim_exports_lack(const struct cushim_exports *exports, const char *symbol)
{
    if (exports->gnu_hash)
        return exports->gnu_hash[2] && filtered_out(exports->gnu_hash, symbol);
    if (exports->sysv_hash && exports->sysv_hash[0] && exports->symbols && exports->names)
        return in_no_chain(exports, symbol);
    return false;
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dlinfo, dl_iterate_phdr, secure_getenv */
#endif
#include "loader/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/registry.h"

/* The lock of the system's loader orders what it writes and what is read here. ThreadSanitizer
 * does not know that lock. */
#if defined(__clang__) || defined(__GNUC__) && __GNUC__ >= 8
#define BEHIND_THE_SYSTEMS_LOCK __attribute__((no_sanitize("thread")))
#else
#define BEHIND_THE_SYSTEMS_LOCK
#endif

/* How many threads list what is loaded, and above that number their process. */
static _Atomic uint64_t elf_listing;

/*
 * dl_iterate_phdr. Its lock stays as it is at a fork, and a child would wait for a thread of its
 * parent for ever. So if one of those was here at the fork, nothing is listed in the child.
 */
static void elf_list(int (*note)(struct dl_phdr_info *, size_t, void *), void *data)
{
    const uint64_t process = (uint64_t)getpid() << 32;
    uint64_t before = atomic_load(&elf_listing), now;
    do {
        bool own = before - process < UINT32_MAX;
        if (!own && (uint32_t)before)
            return;
        now = own ? before + 1 : process + 1;
    } while (!atomic_compare_exchange_weak(&elf_listing, &before, now));
    dl_iterate_phdr(note, data);
    atomic_fetch_sub(&elf_listing, 1);
}

/* An open library's tables, as its dynamic section names them. */
struct elf_tables {
    const uint32_t *gnu_hash, *sysv_hash;
    const ElfW(Sym) * symbols;
    const char *names;
    uintptr_t base;
    /* What there can be at most, by the segments that they are in. */
    size_t hash_words, symbol_count, name_bytes;
    bool complete; /* whether dlsym finds nothing but what they have */
};

/* The segments of the loaded library that has this dynamic section. */
struct elf_segments {
    const void *dynamic;
    uintptr_t base;
    const ElfW(Phdr) * headers;
    unsigned count;
};

static int elf_note_segments(struct dl_phdr_info *object, size_t size, void *data)
{
    struct elf_segments *library = data;
    (void)size;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_DYNAMIC &&
            (uintptr_t)object->dlpi_addr + segment->p_vaddr == (uintptr_t)library->dynamic) {
            library->base = (uintptr_t)object->dlpi_addr;
            library->headers = object->dlpi_phdr;
            library->count = object->dlpi_phnum;
            return 1;
        }
    }
    return 0;
}

/* How many readable bytes follow in the same segment, from an address on. */
static size_t elf_room(const struct elf_segments *library, const void *address)
{
    for (unsigned i = 0; i < library->count; i++) {
        const ElfW(Phdr) *segment = &library->headers[i];
        uintptr_t at = (uintptr_t)address - (library->base + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_R && at < segment->p_memsz)
            return segment->p_memsz - at;
    }
    return 0;
}

/* glibc relocates these entries in memory. Other C libraries leave them as they are in the file. */
static const void *elf_address(uintptr_t base, ElfW(Addr) value)
{
    return (const void *)(value < base ? base + value : value);
}

/* Whether a library that a driver needs has nothing of the driver's: those of the system, and one
 * that drivers before 430 have beside them. dlsym looks into all others too. */
BEHIND_THE_SYSTEMS_LOCK static bool elf_is_no_driver(const char *name)
{
    static const char known[] = "libc.\0libm.\0libdl.\0libpthread.\0librt.\0libgcc_s.\0ld-\0"
                                "libnvidia-fatbinaryloader.\0";
    for (const char *start = known; *start; start += strlen(start) + 1) {
        size_t length = 0;
        while (start[length] && name[length] == start[length])
            length++;
        if (!start[length])
            return true;
    }
    return false;
}

/* Of a library whose tables do not tell what dlsym returns, none has a symbol. */
BEHIND_THE_SYSTEMS_LOCK static void elf_read_tables(struct elf_tables *tables, void *handle)
{
    struct link_map *map = NULL;
    memset(tables, 0, sizeof *tables);
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return;
    uintptr_t base = tables->base = (uintptr_t)map->l_addr;
    size_t name_bytes = 0;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_GNU_HASH)
            tables->gnu_hash = elf_address(base, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_HASH)
            tables->sysv_hash = elf_address(base, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_SYMTAB)
            tables->symbols = elf_address(base, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            tables->names = elf_address(base, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRSZ)
            name_bytes = entry->d_un.d_val;
        else if (entry->d_tag == DT_VERDEF)
            return; /* one name may have several addresses */
    }
    if (!tables->symbols || !(tables->gnu_hash || tables->sysv_hash))
        return;
    struct elf_segments library = {.dynamic = map->l_ld};
    elf_list(elf_note_segments, &library);
    size_t room = elf_room(&library, tables->names);
    tables->name_bytes = name_bytes < room ? name_bytes : room;
    if (!tables->name_bytes || tables->names[tables->name_bytes - 1]) /* none, or without an end */
        return;
    tables->symbol_count = elf_room(&library, tables->symbols) / sizeof *tables->symbols;
    tables->hash_words =
        elf_room(&library, tables->gnu_hash ? tables->gnu_hash : tables->sysv_hash) / 4;
    tables->complete = true;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if ((entry->d_tag == DT_NEEDED && (entry->d_un.d_val >= tables->name_bytes ||
                                           !elf_is_no_driver(tables->names + entry->d_un.d_val))) ||
            entry->d_tag == DT_AUXILIARY || entry->d_tag == DT_FILTER)
            tables->complete = false;
}

/* Which loaded object has the code at an address, and which one is the program. */
struct elf_owner {
    uintptr_t address;
    const void *object, *program;
};

static bool elf_has_code(const struct dl_phdr_info *object, uintptr_t address)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = (uintptr_t)object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
            address - start < segment->p_memsz)
            return true;
    }
    return false;
}

static int elf_note_owner(struct dl_phdr_info *object, size_t size, void *data)
{
    struct elf_owner *owner = data;
    (void)size;
    if (!owner->program) /* it is the first */
        owner->program = object->dlpi_phdr;
    if (elf_has_code(object, owner->address))
        owner->object = object->dlpi_phdr;
    return !!owner->object;
}

static struct elf_owner elf_find_owner(uintptr_t address)
{
    struct elf_owner owner = {.address = address};
    elf_list(elf_note_owner, &owner);
    return owner;
}

/*
 * Some tools that share or record a GPU put a dlsym of their own before the C library's, and
 * answer for the driver's symbols with functions of theirs. That stays so. The C library has dlsym
 * and dlerror in one object. In a program that is not position-independent, both addresses are the
 * program's own, and do not tell.
 */
static bool elf_dlsym_is_the_systems(void)
{
    void *(*find)(void *, const char *) = dlsym;
    char *(*explain)(void) = dlerror;
    const struct elf_owner owner = elf_find_owner((uintptr_t)find);
    return !secure_getenv("LD_AUDIT") && owner.object != owner.program &&
           owner.object == elf_find_owner((uintptr_t)explain).object;
}

/* Whether dlsym finds a symbol by adding the load address to its value. */
static bool elf_is_plain(const ElfW(Sym) * symbol)
{
    unsigned type = symbol->st_info & 0xf;
    return symbol->st_shndx < SHN_LORESERVE && symbol->st_value &&
           (type == STT_FUNC || type == STT_OBJECT || type == STT_NOTYPE);
}

/* The names are all over a table that is in no cache yet, and waiting for them is a good part of
 * the pass: fetch one that comes soon. */
static inline void elf_fetch_name(const struct elf_tables *tables, size_t symbol)
{
#ifdef __GNUC__
    const size_t ahead = 8;
    if (symbol + ahead < tables->symbol_count)
        __builtin_prefetch(tables->names + tables->symbols[symbol + ahead].st_name);
#endif
}

/* The hash is NULL if the symbol's table has none. */
static void elf_note_export(struct elf_tables *tables, size_t symbol, const uint32_t *hash,
                            void **addresses)
{
    const ElfW(Sym) *found = tables->symbols + symbol;
    unsigned visibility = found->st_other & 3;
    if (found->st_name >= tables->name_bytes || found->st_shndx == SHN_UNDEF ||
        found->st_info >> 4 == STB_LOCAL || visibility == STV_HIDDEN ||
        visibility == STV_INTERNAL) /* dlsym finds none of these */
        return;
    const char *name = tables->names + found->st_name;
    size_t index = cushim_registry_find_hashed(name, hash ? *hash : cushim_registry_hash(name));
    if (index == CUSHIM_ENTRY_COUNT)
        return;
    if (elf_is_plain(found))
        addresses[index] = (void *)(tables->base + found->st_value);
    else
        tables->complete = false;
}

/* DT_GNU_HASH: number of buckets, first symbol, number of filter words, shift; the words of the
 * filter, the buckets, and for each symbol its hash. The hash's lowest bit ends a chain instead.
 *
 * Of a table that lies, what it has up to there is taken. dlsym is not asked for more: it would
 * follow the same table, and die of it. */
static void elf_each_gnu(struct elf_tables *tables, void **addresses)
{
    const uint32_t *table = tables->gnu_hash;
    if (tables->hash_words < 4)
        return;
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(const void *)(table + 4);
    const uint32_t *buckets = (const uint32_t *)(const void *)(filter + table[2]);
    const uint32_t *hashes = buckets + table[0];
    uint64_t before = 4 + (uint64_t)table[2] * (sizeof *filter / 4) + table[0];
    if (before > tables->hash_words)
        return;
    uint64_t hashed = tables->hash_words - before, left = hashed; /* each is in one chain */
    for (uint32_t bucket = 0; bucket < table[0]; bucket++) {
        uint32_t symbol = buckets[bucket];
        if (symbol < table[1])
            continue; /* an empty one */
        do {
            if (symbol >= tables->symbol_count || symbol - table[1] >= hashed || !left--)
                return;
            elf_fetch_name(tables, symbol);
            elf_note_export(tables, symbol, &hashes[symbol - table[1]], addresses);
        } while (!(hashes[symbol++ - table[1]] & 1));
    }
}

/* DT_HASH: number of buckets, number of symbols. As above if it lies. */
static void elf_each_sysv(struct elf_tables *tables, void **addresses)
{
    size_t count = tables->hash_words < 2 ? 0 : tables->sysv_hash[1];
    count = count < tables->symbol_count ? count : tables->symbol_count;
    for (size_t symbol = 1; symbol < count; symbol++)
        elf_note_export(tables, symbol, NULL, addresses);
}

bool cushim_elf_exports(void *handle, void **addresses)
{
    struct elf_tables tables;
    if (!elf_dlsym_is_the_systems())
        return false;
    elf_read_tables(&tables, handle);
    if (tables.gnu_hash)
        elf_each_gnu(&tables, addresses);
    else
        elf_each_sysv(&tables, addresses);
    return tables.complete;
}

BEHIND_THE_SYSTEMS_LOCK void cushim_elf_describe(void *handle, char *path, size_t size,
                                                 const void **base)
{
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return;
    *base = (const void *)(uintptr_t)map->l_addr;
    size_t length = 0; /* not snprintf: ThreadSanitizer sees into it */
    for (const char *c = map->l_name; *c && length + 1 < size; c++)
        path[length++] = *c;
    path[length] = '\0';
}

bool cushim_elf_is_code(const void *address)
{
    const struct elf_owner owner = elf_find_owner((uintptr_t)address);
    return owner.object || !owner.program; /* if nothing is listed, it is not known */
}

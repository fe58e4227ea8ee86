/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dlinfo, dl_iterate_phdr, secure_getenv; pread, O_CLOEXEC under -std=c11 */
#endif
#include "loader/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loader/registry.h"

#if UINTPTR_MAX > UINT32_MAX
#define OWN_CLASS ELFCLASS64
#else
#define OWN_CLASS ELFCLASS32
#endif

/* e_machine of this process; 0: leave it to the system's loader. */
#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define OWN_MACHINE EM_PPC64
#elif defined(__i386__)
#define OWN_MACHINE EM_386
#else
#define OWN_MACHINE 0
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_DATA ELFDATA2LSB
#else
#define OWN_DATA ELFDATA2MSB
#endif

/* The lock of the system's loader orders what it writes and what is read here. ThreadSanitizer
 * does not know that lock. */
#if defined(__clang__) || defined(__GNUC__) && __GNUC__ >= 8
#define BEHIND_THE_SYSTEMS_LOCK __attribute__((no_sanitize("thread")))
#else
#define BEHIND_THE_SYSTEMS_LOCK
#endif

/* What is read of a file, and where to report. */
struct elf_file {
    int descriptor;
    uint64_t bytes;
    char *message;
    size_t size;
};

static enum cushim_status elf_refuse(const struct elf_file *file, enum cushim_status status,
                                     const char *text)
{
    snprintf(file->message, file->size, "%s", text);
    return status;
}

/* strerror is not safe in threads by the standard. */
static const char *elf_words(int error, char *buffer, size_t size)
{
#ifdef __GLIBC__
    return strerror_r(error, buffer, size);
#else
    return strerror_r(error, buffer, size) == 0 ? buffer : "unknown error";
#endif
}

static enum cushim_status elf_refuse_errno(const struct elf_file *file, int error)
{
    char words[128];
    elf_refuse(file, CUSHIM_OK, elf_words(error, words, sizeof words));
    switch (error) {
    case EMFILE:
    case ENFILE:
        return CUSHIM_ERROR_NO_DESCRIPTORS;
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
        return CUSHIM_ERROR_NOT_FOUND;
    case ENXIO: /* a socket */
        return elf_refuse(file, CUSHIM_ERROR_NOT_A_FILE, "not a regular file");
    case EACCES:
    case EPERM:
        return CUSHIM_ERROR_UNREADABLE;
    case ENOMEM:
        return CUSHIM_ERROR_OUT_OF_MEMORY;
    default:
        return CUSHIM_ERROR_READ_FAILED;
    }
}

/* Up to `bytes` bytes, fewer if the file ends; *got is how many. */
static enum cushim_status elf_read(const struct elf_file *file, void *buffer, size_t bytes,
                                   uint64_t offset, size_t *got)
{
    *got = 0;
    while (*got < bytes && offset + *got < file->bytes) {
        ssize_t count =
            pread(file->descriptor, (char *)buffer + *got, bytes - *got, (off_t)(offset + *got));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return elf_refuse_errno(file, errno);
        if (count == 0)
            break;
        *got += (size_t)count;
    }
    return CUSHIM_OK;
}

static enum cushim_status elf_check_header(const struct elf_file *file, const ElfW(Ehdr) * header)
{
    if (header->e_ident[EI_CLASS] != OWN_CLASS) {
        snprintf(file->message, file->size, "%s-bit library in a %s-bit process",
                 header->e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "64",
                 OWN_CLASS == ELFCLASS32 ? "32" : "64");
        return CUSHIM_ERROR_WRONG_CLASS;
    }
    if (header->e_ident[EI_DATA] != OWN_DATA)
        return elf_refuse(file, CUSHIM_ERROR_WRONG_MACHINE,
                          "library for a processor of the other byte order");
    if (OWN_MACHINE && header->e_machine != OWN_MACHINE) {
        snprintf(file->message, file->size,
                 "library for another processor (ELF machine %u, not %u)",
                 (unsigned)header->e_machine, (unsigned)OWN_MACHINE);
        return CUSHIM_ERROR_WRONG_MACHINE;
    }
    if (header->e_type != ET_DYN)
        return elf_refuse(file, CUSHIM_ERROR_NOT_A_LIBRARY, "ELF file, but no shared library");
    if (header->e_phentsize != sizeof(ElfW(Phdr)))
        return elf_refuse(file, CUSHIM_ERROR_NOT_A_LIBRARY, "damaged ELF header");
    return CUSHIM_OK;
}

static enum cushim_status elf_check_segments(const struct elf_file *file,
                                             const ElfW(Phdr) * segments, unsigned count)
{
    for (const ElfW(Phdr) *segment = segments; segment < segments + count; segment++) {
        bool fits = segment->p_offset <= file->bytes &&
                    segment->p_filesz <= file->bytes - segment->p_offset;
        if (segment->p_type == PT_LOAD && !fits) {
            snprintf(file->message, file->size, "truncated: %llu bytes, but a segment ends at %llu",
                     (unsigned long long)file->bytes,
                     (unsigned long long)(segment->p_offset + segment->p_filesz));
            return CUSHIM_ERROR_TRUNCATED;
        }
    }
    return CUSHIM_OK;
}

/* The header and, in nearly all libraries, the program headers come with one read. */
static enum cushim_status elf_check(const struct elf_file *file)
{
    union {
        ElfW(Ehdr) header;
        char bytes[1024];
    } start;
    ElfW(Phdr) segments[64]; /* drivers have about ten */
    size_t got;
    enum cushim_status status = elf_read(file, &start, sizeof start, 0, &got);
    if (status != CUSHIM_OK)
        return status;
    if (memcmp(&start, ELFMAG, got < SELFMAG ? got : SELFMAG) != 0)
        return elf_refuse(file, CUSHIM_ERROR_NOT_A_LIBRARY, "not an ELF file");
    if (got < sizeof start.header)
        return elf_refuse(file, CUSHIM_ERROR_TRUNCATED,
                          "truncated: the file ends within its ELF header");
    status = elf_check_header(file, &start.header);
    if (status != CUSHIM_OK)
        return status;
    unsigned count = start.header.e_phnum;
    uint64_t at = start.header.e_phoff, bytes = count * sizeof *segments;
    if (count > sizeof segments / sizeof *segments)
        return elf_refuse(file, CUSHIM_ERROR_NOT_A_LIBRARY, "damaged ELF header");
    if (at > file->bytes || bytes > file->bytes - at)
        return elf_refuse(file, CUSHIM_ERROR_TRUNCATED,
                          "truncated: the file ends within its program headers");
    if (at + bytes <= got) {
        memcpy(segments, start.bytes + at, (size_t)bytes);
    } else {
        status = elf_read(file, segments, (size_t)bytes, at, &got);
        if (status == CUSHIM_OK && got < bytes)
            status = elf_refuse(file, CUSHIM_ERROR_TRUNCATED, "truncated while it was read");
        if (status != CUSHIM_OK)
            return status;
    }
    return elf_check_segments(file, segments, count);
}

enum cushim_status cushim_elf_inspect(const char *path, char *message, size_t size)
{
    struct elf_file file = {.message = message, .size = size};
    struct stat info;
    file.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe would wait */
    if (file.descriptor < 0)
        return elf_refuse_errno(&file, errno);
    enum cushim_status status;
    if (fstat(file.descriptor, &info) != 0) {
        status = elf_refuse_errno(&file, errno);
    } else if (!S_ISREG(info.st_mode)) {
        status = elf_refuse(&file, CUSHIM_ERROR_NOT_A_FILE,
                            S_ISDIR(info.st_mode) ? "a folder, not a file" : "not a regular file");
    } else if (info.st_size == 0) {
        status = elf_refuse(&file, CUSHIM_ERROR_EMPTY_FILE, "the file is empty");
    } else {
        file.bytes = (uint64_t)info.st_size;
        status = elf_check(&file);
    }
    close(file.descriptor);
    return status;
}

/* An open library's tables, as its dynamic section names them. */
struct elf_tables {
    const uint32_t *gnu_hash, *sysv_hash;
    const ElfW(Sym) * symbols;
    const char *names;
    uintptr_t base;
    bool complete; /* whether dlsym finds nothing but what they have */
};

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

/* Returns false for a library whose tables do not tell what dlsym returns. */
BEHIND_THE_SYSTEMS_LOCK static bool elf_read_tables(struct elf_tables *tables, void *handle)
{
    struct link_map *map = NULL;
    memset(tables, 0, sizeof *tables);
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map)
        return false;
    uintptr_t base = tables->base = (uintptr_t)map->l_addr;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_GNU_HASH)
            tables->gnu_hash = elf_address(base, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_HASH)
            tables->sysv_hash = elf_address(base, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_SYMTAB)
            tables->symbols = elf_address(base, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            tables->names = elf_address(base, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_VERDEF)
            return false; /* one name may have several addresses */
    }
    if (!tables->symbols || !tables->names || !(tables->gnu_hash || tables->sysv_hash))
        return false;
    tables->complete = true;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if ((entry->d_tag == DT_NEEDED && !elf_is_no_driver(tables->names + entry->d_un.d_val)) ||
            entry->d_tag == DT_AUXILIARY || entry->d_tag == DT_FILTER)
            tables->complete = false;
    return true;
}

/* Which loaded object holds each of two addresses, and which one is the program. */
struct elf_owner {
    uintptr_t address[2];
    uintptr_t object[2];
    uintptr_t program;
};

static bool elf_holds(const struct dl_phdr_info *object, uintptr_t address, unsigned flags)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = (uintptr_t)object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (segment->p_flags & flags) == flags &&
            address - start < segment->p_memsz)
            return true;
    }
    return false;
}

static int elf_note_owner(struct dl_phdr_info *object, size_t size, void *data)
{
    struct elf_owner *owner = data;
    (void)size;
    if (!owner->program)
        owner->program = (uintptr_t)object->dlpi_phdr;
    for (int i = 0; i < 2; i++)
        if (elf_holds(object, owner->address[i], 0))
            owner->object[i] = (uintptr_t)object->dlpi_phdr;
    return owner->object[0] && owner->object[1];
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
    struct elf_owner owner = {{(uintptr_t)find, (uintptr_t)explain}, {0, 0}, 0};
    if (secure_getenv("LD_AUDIT"))
        return false;
    dl_iterate_phdr(elf_note_owner, &owner);
    return owner.object[0] && owner.object[0] == owner.object[1] &&
           owner.object[0] != owner.program;
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
static inline void elf_fetch_name(const struct elf_tables *tables, size_t symbol, size_t last)
{
#ifdef __GNUC__
    const size_t ahead = 8;
    if (symbol + ahead <= last)
        __builtin_prefetch(tables->names + tables->symbols[symbol + ahead].st_name);
#endif
}

static void elf_note_export(struct elf_tables *tables, size_t symbol, uint32_t hash,
                            void **addresses)
{
    const ElfW(Sym) *found = tables->symbols + symbol;
    unsigned visibility = found->st_other & 3;
    if (found->st_shndx == SHN_UNDEF || found->st_info >> 4 == STB_LOCAL ||
        visibility == STV_HIDDEN || visibility == STV_INTERNAL) /* dlsym finds none of these */
        return;
    size_t index = cushim_registry_find_hashed(tables->names + found->st_name, hash);
    if (index < CUSHIM_ENTRY_COUNT && elf_is_plain(found))
        addresses[index] = (void *)(tables->base + found->st_value);
    else if (index < CUSHIM_ENTRY_COUNT)
        tables->complete = false;
}

/* DT_GNU_HASH: number of buckets, first symbol, number of filter words, shift; the words of the
 * filter, the buckets, and for each symbol its hash. The hash's lowest bit ends a chain instead. */
static void elf_each_gnu(struct elf_tables *tables, void **addresses)
{
    const uint32_t *table = tables->gnu_hash;
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(const void *)(table + 4);
    const uint32_t *buckets = (const uint32_t *)(const void *)(filter + table[2]);
    const uint32_t *hashes = buckets + table[0];
    uint32_t last = 0; /* of those that begin a chain */
    for (uint32_t bucket = 0; bucket < table[0]; bucket++)
        last = buckets[bucket] > last ? buckets[bucket] : last;
    for (uint32_t bucket = 0; bucket < table[0]; bucket++) {
        uint32_t symbol = buckets[bucket];
        if (symbol < table[1])
            continue; /* an empty one */
        do {
            elf_fetch_name(tables, symbol, last);
            elf_note_export(tables, symbol, hashes[symbol - table[1]], addresses);
        } while (!(hashes[symbol++ - table[1]] & 1));
    }
}

/* DT_HASH: number of buckets, number of symbols. */
static void elf_each_sysv(struct elf_tables *tables, void **addresses)
{
    for (uint32_t symbol = 1; symbol < tables->sysv_hash[1]; symbol++) {
        const char *name = tables->names + tables->symbols[symbol].st_name;
        if (name[0] == 'c' && name[1] == 'u')
            elf_note_export(tables, symbol, cushim_registry_hash(name), addresses);
    }
}

bool cushim_elf_exports(void *handle, void **addresses)
{
    struct elf_tables tables;
    if (!elf_read_tables(&tables, handle) || !elf_dlsym_is_the_systems())
        return false;
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
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map)
        return;
    *base = (const void *)(uintptr_t)map->l_addr;
    size_t length = 0; /* not snprintf: ThreadSanitizer sees into it */
    for (const char *c = map->l_name; *c && length + 1 < size; c++)
        path[length++] = *c;
    path[length] = '\0';
}

struct elf_code {
    uintptr_t address;
    bool found;
};

static int elf_note_code(struct dl_phdr_info *object, size_t size, void *data)
{
    struct elf_code *code = data;
    (void)size;
    code->found = elf_holds(object, code->address, PF_X);
    return code->found;
}

bool cushim_elf_is_code(const void *address)
{
    struct elf_code code = {(uintptr_t)address, false};
    dl_iterate_phdr(elf_note_code, &code);
    return code.found;
}

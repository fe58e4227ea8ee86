/* SPDX-License-Identifier: MIT */
/*
 * A PE file: a DOS stub that says where the headers are, headers with a table of directories, and
 * sections. Addresses in it are relative to where it is loaded; all numbers are little-endian.
 */
#include "pe_file.h"

#include <stdint.h>
#include <string.h>

enum {
    DOS_SIZE = 64,
    COFF_SIZE = 24, /* "PE\0\0" and the file header */
    SECTION_SIZE = 40,
    IMPORT_SIZE = 20,
    DELAY_SIZE = 32,
    DIRECTORY_EXPORT = 0,
    DIRECTORY_IMPORT = 1,
    DIRECTORY_DELAY = 13,
    MOST_SECTIONS = 96,
    MOST_LIBRARIES = 4096,
    MOST_SYMBOLS = 65536,
    MOST_TABLE = 4096, /* of an object that is a table of imports */
    CODE = 0x20
};

struct pe {
    const unsigned char *data;
    size_t size;
    size_t sections; /* offset of their table */
    unsigned section_count;
    bool wide; /* PE32+ */
};

static uint32_t number(const struct pe *pe, size_t at, int bytes)
{
    uint32_t value = 0;

    if (at > pe->size || (size_t)bytes > pe->size - at)
        return 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint32_t)pe->data[at + (size_t)i] << 8 * i;
    return value;
}

/* Where a relative address lies in the file; 0 for nowhere. */
static size_t offset_of(const struct pe *pe, uint32_t address)
{
    for (unsigned i = 0; i < pe->section_count; i++) {
        size_t section = pe->sections + (size_t)i * SECTION_SIZE;
        uint32_t begin = number(pe, section + 12, 4), length = number(pe, section + 16, 4);
        if (address >= begin && address - begin < length) {
            size_t at = (size_t)number(pe, section + 20, 4) + (address - begin);
            return at < pe->size ? at : 0;
        }
    }
    return 0;
}

/* The text at a relative address; NULL where it is none that ends within the file. */
static const char *text_at(const struct pe *pe, uint32_t address)
{
    size_t at = address != 0 ? offset_of(pe, address) : 0;

    if (at == 0 || !memchr(pe->data + at, '\0', pe->size - at))
        return NULL;
    return (const char *)pe->data + at;
}

/* The names that a table of imports has, for one library. */
static void read_names(const struct pe *pe, const char *library, uint32_t table, bool delayed,
                       const struct pe_visitor *visitor)
{
    size_t at = offset_of(pe, table);
    size_t step = pe->wide ? 8 : 4;

    for (int i = 0; at != 0 && i < MOST_SYMBOLS; i++, at += step) {
        uint32_t low = number(pe, at, 4);
        uint32_t flags = pe->wide ? number(pe, at + 4, 4) : low;
        const char *name;
        if (low == 0 && flags == 0)
            break;
        if (flags & 0x80000000u) /* by number, not by name */
            continue;
        name = low < UINT32_MAX - 2 ? text_at(pe, low + 2) : NULL;
        if (name)
            visitor->imported(visitor->user, library, name, delayed);
    }
}

static void read_imports(const struct pe *pe, uint32_t address, bool delayed,
                         const struct pe_visitor *visitor)
{
    size_t at = address != 0 ? offset_of(pe, address) : 0;

    for (int i = 0; at != 0 && i < MOST_LIBRARIES; i++, at += delayed ? DELAY_SIZE : IMPORT_SIZE) {
        const char *library = text_at(pe, number(pe, at + (delayed ? 4 : 12), 4));
        uint32_t names = number(pe, at + (delayed ? 16 : 0), 4);
        if (!library)
            break;
        if (!delayed && names == 0) /* old linkers have one table for both */
            names = number(pe, at + 16, 4);
        read_names(pe, library, names, delayed, visitor);
    }
}

/* The names of what a library exports, and its own. */
static const char *read_exports(const struct pe *pe, uint32_t address,
                                const struct pe_visitor *visitor)
{
    size_t at = address != 0 ? offset_of(pe, address) : 0;
    uint32_t count = at != 0 ? number(pe, at + 24, 4) : 0;
    size_t names = count > 0 ? offset_of(pe, number(pe, at + 32, 4)) : 0;

    for (uint32_t i = 0; names != 0 && i < count && i < MOST_SYMBOLS; i++) {
        const char *name = text_at(pe, number(pe, names + (size_t)4 * i, 4));
        if (name)
            visitor->exported(visitor->user, name);
    }
    return at != 0 ? text_at(pe, number(pe, at + 12, 4)) : NULL;
}

static const char *machine_name(uint32_t machine)
{
    return machine == 0x8664   ? "x86-64"
           : machine == 0x14c  ? "x86"
           : machine == 0xaa64 ? "aarch64"
                               : "another machine";
}

static void read_sections(const struct pe *pe, const struct pe_visitor *visitor)
{
    for (unsigned i = 0; i < pe->section_count; i++) {
        size_t section = pe->sections + (size_t)i * SECTION_SIZE;
        size_t length = number(pe, section + 16, 4), at = number(pe, section + 20, 4);
        char name[9] = "";
        memcpy(name, pe->data + section, 8);
        if ((number(pe, section + 36, 4) & CODE) || at == 0 || at >= pe->size)
            continue;
        if (length > pe->size - at)
            length = pe->size - at;
        visitor->data(visitor->user, name, (const char *)pe->data + at, length);
    }
}

bool pe_file_is(const void *data, size_t size)
{
    struct pe pe = {.data = data, .size = size};
    uint32_t at;

    if (size < DOS_SIZE || memcmp(data, "MZ", 2) != 0)
        return false;
    at = number(&pe, 60, 4);
    return at < size && size - at >= 4 && memcmp(pe.data + at, "PE\0\0", 4) == 0;
}

/* What begins so has its version behind it: 0 is an import, others are objects of newer forms. */
static bool is_anonymous(const struct pe *pe)
{
    return pe->size >= 20 && number(pe, 0, 4) == 0xffff0000u;
}

static bool is_object(const struct pe *pe)
{
    uint32_t machine = number(pe, 0, 2), sections = number(pe, 2, 2), symbols = number(pe, 8, 4);
    size_t size = pe->size;

    if (is_anonymous(pe))
        return number(pe, 4, 2) != 0;
    return size >= 20 && (machine == 0x8664 || machine == 0x14c || machine == 0xaa64) &&
           number(pe, 16, 2) == 0 && 20 + (size_t)sections * SECTION_SIZE <= size &&
           symbols <= size && (sections > 0 || symbols > 0);
}

/* The tables that stand at the ends of a library's imports, by their symbols. */
static bool is_table(const struct pe *pe)
{
    static const char *const names[] = {"_IMPORT_DESCRIPTOR", "_NULL_THUNK_DATA"};

    for (size_t i = 0; pe->size <= MOST_TABLE && i < sizeof names / sizeof names[0]; i++) {
        if (memmem(pe->data, pe->size, names[i], strlen(names[i])))
            return true;
    }
    return false;
}

bool pe_file_is_object(const void *data, size_t size)
{
    struct pe pe = {.data = data, .size = size};

    return is_object(&pe) && !is_table(&pe);
}

bool pe_file_is_import(const void *data, size_t size)
{
    struct pe pe = {.data = data, .size = size};

    return (is_anonymous(&pe) && number(&pe, 4, 2) == 0) || (is_object(&pe) && is_table(&pe));
}

bool pe_file_read(const void *data, size_t size, const struct pe_visitor *visitor,
                  struct pe_facts *facts, const char **problem)
{
    struct pe pe = {.data = data, .size = size};
    size_t coff = number(&pe, 60, 4), optional = coff + COFF_SIZE;
    uint32_t optional_size = number(&pe, coff + 20, 2), kind = number(&pe, optional, 2);
    size_t directories;

    *problem = "a damaged PE file";
    *facts = (struct pe_facts){.machine = machine_name(number(&pe, coff + 4, 2))};
    if (kind != 0x10b && kind != 0x20b)
        return false;
    pe.wide = kind == 0x20b;
    pe.sections = optional + optional_size;
    pe.section_count = number(&pe, coff + 6, 2);
    if (pe.section_count > MOST_SECTIONS || pe.sections > size ||
        (size_t)pe.section_count * SECTION_SIZE > size - pe.sections)
        return false;
    directories = optional + (pe.wide ? 112 : 96);
    uint32_t count = number(&pe, directories - 4, 4);
    if (count > DIRECTORY_EXPORT && visitor->exported)
        facts->library =
            read_exports(&pe, number(&pe, directories + (size_t)8 * DIRECTORY_EXPORT, 4), visitor);
    if (count > DIRECTORY_IMPORT && visitor->imported)
        read_imports(&pe, number(&pe, directories + (size_t)8 * DIRECTORY_IMPORT, 4), false,
                     visitor);
    if (count > DIRECTORY_DELAY && visitor->imported)
        read_imports(&pe, number(&pe, directories + (size_t)8 * DIRECTORY_DELAY, 4), true, visitor);
    if (visitor->data)
        read_sections(&pe, visitor);
    return true;
}

/* SPDX-License-Identifier: MIT */
/* Files for Linux, as far as wheels have them: of 64 bits, and not stripped of their sections. */
#include "../elf_file.h"

#include <elf.h>

#include <stdint.h>
#include <string.h>

enum { PROGBITS = 1, SYMTAB = 2, STRTAB = 3, DYNAMIC = 6, DYNSYM = 11, ALLOC = 2, NEEDED = 1 };
enum { LOCAL = 0, WEAK = 2, PROTECTED = 3 };

struct symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
};

struct dynamic {
    uint64_t tag, value;
};

struct elf {
    const char *data;
    size_t size;
    Elf64_Ehdr header;
};

static const char *machine_name(int machine)
{
    return machine == 62    ? "x86-64"
           : machine == 183 ? "aarch64"
           : machine == 190 ? "CUDA"
                            : "another machine";
}

bool elf_file_is(const void *data, size_t size)
{
    return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

static bool read_section(const struct elf *elf, size_t index, Elf64_Shdr *section)
{
    if (index >= elf->header.e_shnum)
        return false;
    memcpy(section, elf->data + elf->header.e_shoff + index * sizeof *section, sizeof *section);
    return section->sh_offset <= elf->size && section->sh_size <= elf->size - section->sh_offset;
}

/* A text of a table of strings; NULL where it is none that ends within the table. */
static const char *text_at(const struct elf *elf, size_t table, uint64_t at)
{
    Elf64_Shdr section;

    if (!read_section(elf, table, &section) || section.sh_type != STRTAB || at >= section.sh_size ||
        !memchr(elf->data + section.sh_offset + at, '\0', (size_t)(section.sh_size - at)))
        return NULL;
    return elf->data + section.sh_offset + at;
}

static void read_symbols(const struct elf *elf, const Elf64_Shdr *section,
                         const struct elf_visitor *visitor)
{
    for (uint64_t at = sizeof(struct symbol); at + sizeof(struct symbol) <= section->sh_size;
         at += sizeof(struct symbol)) {
        struct symbol symbol;
        memcpy(&symbol, elf->data + section->sh_offset + at, sizeof symbol);
        int binding = symbol.info >> 4, seen = symbol.other & 3;
        const char *name = text_at(elf, section->sh_link, symbol.name);
        if (!name || *name == '\0' || binding == LOCAL)
            continue;
        if (symbol.section == 0 && visitor->undefined)
            visitor->undefined(visitor->user, name, binding == WEAK);
        else if (symbol.section != 0 && visitor->exported && (seen == 0 || seen == PROTECTED))
            visitor->exported(visitor->user, name);
    }
}

static void read_needed(const struct elf *elf, const Elf64_Shdr *section,
                        const struct elf_visitor *visitor)
{
    struct dynamic entry = {1, 0};

    for (uint64_t at = 0; entry.tag != 0 && at + sizeof entry <= section->sh_size;
         at += sizeof entry) {
        memcpy(&entry, elf->data + section->sh_offset + at, sizeof entry);
        const char *name = entry.tag == NEEDED ? text_at(elf, section->sh_link, entry.value) : NULL;
        if (name)
            visitor->needed(visitor->user, name);
    }
}

static void visit(const struct elf *elf, const Elf64_Shdr *section, uint32_t symbols,
                  const struct elf_visitor *visitor)
{
    if (section->sh_type == symbols) {
        read_symbols(elf, section, visitor);
    } else if (section->sh_type == DYNAMIC && visitor->needed) {
        read_needed(elf, section, visitor);
    } else if (section->sh_type == PROGBITS && visitor->data && (section->sh_flags & ALLOC) &&
               !(section->sh_flags & SHF_EXECINSTR)) {
        const char *name = text_at(elf, elf->header.e_shstrndx, section->sh_name);
        visitor->data(visitor->user, name ? name : "", elf->data + section->sh_offset,
                      (size_t)section->sh_size);
    }
}

bool elf_file_read(const void *data, size_t size, const struct elf_visitor *visitor,
                   struct elf_facts *facts, const char **problem)
{
    struct elf elf = {.data = data, .size = size};
    uint32_t symbols = SYMTAB;
    Elf64_Shdr section;

    *facts = (struct elf_facts){0};
    *problem = "a damaged ELF file";
    if (size < sizeof elf.header)
        return false;
    memcpy(&elf.header, data, sizeof elf.header);
    facts->machine = machine_name(elf.header.e_machine);
    if (elf.header.e_ident[EI_CLASS] != ELFCLASS64 || elf.header.e_ident[EI_DATA] != ELFDATA2LSB)
        elf.header.e_shnum = 0;
    facts->stripped = elf.header.e_shnum == 0;
    if (facts->stripped)
        return true;
    *problem = "a truncated ELF file: it ends before its section headers";
    if (elf.header.e_shentsize != sizeof section || elf.header.e_shoff > size ||
        elf.header.e_shnum > (size - elf.header.e_shoff) / sizeof section)
        return false;
    for (size_t i = 0; i < elf.header.e_shnum; i++) {
        if (read_section(&elf, i, &section) && section.sh_type == DYNSYM)
            symbols = DYNSYM; /* the other table has no more that matters */
    }
    for (size_t i = 0; i < elf.header.e_shnum; i++) {
        if (read_section(&elf, i, &section))
            visit(&elf, &section, symbols, visitor);
    }
    return true;
}

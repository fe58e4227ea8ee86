/* SPDX-License-Identifier: MIT */
#include "elf_file.h"

#include <gelf.h>
#include <libelf.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *machine_name(int machine)
{
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_386:
        return "x86";
    case EM_AARCH64:
        return "aarch64";
    case EM_ARM:
        return "arm";
    case EM_PPC64:
        return "ppc64";
    case EM_RISCV:
        return "riscv";
    case 190: /* EM_CUDA */
        return "CUDA";
    default:
        return "another machine";
    }
}

bool elf_file_is(const void *data, size_t size)
{
    return size >= SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
}

/* What is looked up later than at the start: functions that are called through the linkage table,
 * unless the file says "now", or something takes their address. */
struct binding {
    bool lazy;
    unsigned char *taken; /* a byte for each dynamic symbol */
    size_t count;
};

static void visit_symbol(const struct elf_visitor *visitor, const struct binding *binding_of,
                         const GElf_Sym *symbol, size_t index, const char *name)
{
    int binding = GELF_ST_BIND(symbol->st_info), seen = GELF_ST_VISIBILITY(symbol->st_other);

    if (!name || name[0] == '\0' || binding == STB_LOCAL)
        return;
    if (symbol->st_shndx == SHN_UNDEF) {
        bool later = binding_of->lazy && !(index < binding_of->count && binding_of->taken[index]);
        if (visitor->undefined)
            visitor->undefined(visitor->user, name,
                               binding == STB_WEAK ? ELF_WEAK
                               : later             ? ELF_AT_CALL
                                                   : ELF_AT_START);
    } else if (visitor->exported && (seen == STV_DEFAULT || seen == STV_PROTECTED)) {
        visitor->exported(visitor->user, name);
    }
}

static void read_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                         const struct elf_visitor *visitor, const struct binding *binding)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count;

    if (!data || header->sh_entsize == 0)
        return;
    count = data->d_size / header->sh_entsize;
    for (size_t i = 1; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        visit_symbol(visitor, binding, &symbol, i,
                     elf_strptr(elf, header->sh_link, symbol.st_name));
    }
}

static void read_needed(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                        const struct elf_visitor *visitor)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Dyn entry;

    if (!data || !visitor->needed)
        return;
    for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        const char *name =
            entry.d_tag == DT_NEEDED ? elf_strptr(elf, header->sh_link, entry.d_un.d_val) : NULL;
        if (name)
            visitor->needed(visitor->user, name);
    }
}

/* Of a dynamic table: whether it has a linkage table that may be filled later. */
static void note_flags(struct binding *binding, bool *now, int64_t tag, uint64_t value)
{
    if (tag == DT_JMPREL)
        binding->lazy = true;
    if (tag == DT_BIND_NOW || (tag == DT_FLAGS && value & DF_BIND_NOW) ||
        (tag == DT_FLAGS_1 && value & DF_1_NOW))
        *now = true;
}

static void mark_taken(struct binding *binding, Elf_Scn *section, unsigned slot)
{
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Rela entry;

    for (int i = 0; data && gelf_getrela(data, i, &entry); i++) {
        size_t index = GELF_R_SYM(entry.r_info);
        if (GELF_R_TYPE(entry.r_info) != slot && index < binding->count)
            binding->taken[index] = 1;
    }
}

/* The sections that tell what is looked up later. The type of a slot is known of two machines. */
static struct binding read_binding(Elf *elf, int machine)
{
    struct binding binding = {0};
    bool now = machine != EM_X86_64 && machine != EM_AARCH64;
    GElf_Shdr header;

    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        Elf_Data *data;
        GElf_Dyn entry;
        data = gelf_getshdr(s, &header) ? elf_getdata(s, NULL) : NULL;
        if (data && header.sh_type == SHT_DYNSYM && header.sh_entsize > 0)
            binding.count = data->d_size / header.sh_entsize;
        if (!data || header.sh_type != SHT_DYNAMIC)
            continue;
        for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++)
            note_flags(&binding, &now, entry.d_tag, entry.d_un.d_val);
    }
    binding.taken = binding.lazy && !now ? calloc(binding.count + 1, 1) : NULL;
    binding.lazy = binding.taken;
    for (Elf_Scn *s = NULL; binding.lazy && (s = elf_nextscn(elf, s));) {
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_RELA && header.sh_flags & SHF_ALLOC)
            mark_taken(&binding, s,
                       machine == EM_X86_64 ? R_X86_64_JUMP_SLOT : R_AARCH64_JUMP_SLOT);
    }
    return binding;
}

/* Constants, initialised data; no code, no tables of the linker, no debug information. */
static void read_data(Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                      const struct elf_visitor *visitor)
{
    const char *name;
    size_t names;
    Elf_Data *data;

    if (!visitor->data || header->sh_type != SHT_PROGBITS || !(header->sh_flags & SHF_ALLOC) ||
        (header->sh_flags & SHF_EXECINSTR))
        return;
    name = elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, header->sh_name) : NULL;
    data = elf_rawdata(section, NULL);
    if (data && data->d_buf)
        visitor->data(visitor->user, name ? name : "", data->d_buf, data->d_size);
}

/* Whether a file has a table of dynamic symbols: then the other one has no more that matters. */
static bool read_sections(Elf *elf, const struct elf_visitor *visitor,
                          const struct binding *binding, bool *any)
{
    bool linked = false;
    GElf_Shdr header;

    *any = false;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_DYNSYM)
            linked = true;
    }
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        if (!gelf_getshdr(s, &header))
            continue;
        *any = true;
        if (header.sh_type == (linked ? SHT_DYNSYM : SHT_SYMTAB))
            read_symbols(elf, s, &header, visitor, binding);
        else if (header.sh_type == SHT_DYNAMIC)
            read_needed(elf, s, &header, visitor);
        else
            read_data(elf, s, &header, visitor);
    }
    return *any;
}

/* Where an address of the program lies in the file; NULL where `length` bytes are not in it. */
static const char *at_address(Elf *elf, const char *file, size_t size, uint64_t address,
                              uint64_t length)
{
    size_t count = 0;

    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(elf, (int)i, &part) || part.p_type != PT_LOAD || address < part.p_vaddr ||
            address - part.p_vaddr >= part.p_filesz)
            continue;
        uint64_t inside = address - part.p_vaddr;
        if (length > part.p_filesz - inside || part.p_offset > size ||
            inside > size - part.p_offset || length > size - part.p_offset - inside)
            return NULL;
        return file + part.p_offset + inside;
    }
    return NULL;
}

/* The dynamic symbols of a file without section headers. Only for this machine's own class and
 * byte order; the linker puts the strings behind the symbols, which gives their number. */
static void read_segments(Elf *elf, const char *file, size_t size,
                          const struct elf_visitor *visitor, struct binding *binding)
{
    uint64_t symbols = 0, strings = 0, strings_size = 0, dynamic = 0, dynamic_size = 0;
    size_t count = 0;
    bool now = false;

    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(elf, (int)i, &part))
            break;
        if (part.p_type == PT_DYNAMIC) {
            dynamic = part.p_vaddr;
            dynamic_size = part.p_filesz;
        } else if (part.p_type == PT_LOAD && !(part.p_flags & PF_X) && visitor->data &&
                   part.p_offset < size && part.p_filesz <= size - part.p_offset) {
            visitor->data(visitor->user, "", file + part.p_offset, (size_t)part.p_filesz);
        }
    }
    const char *table = at_address(elf, file, size, dynamic, dynamic_size);
    for (uint64_t at = 0; table && dynamic_size - at >= sizeof(Elf64_Dyn) && at <= dynamic_size;
         at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, table + at, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        note_flags(binding, &now, entry.d_tag, entry.d_un.d_val);
        if (entry.d_tag == DT_SYMTAB)
            symbols = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRTAB)
            strings = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_STRSZ)
            strings_size = entry.d_un.d_val;
    }
    binding->lazy = binding->lazy && !now;
    if (symbols == 0 || strings <= symbols)
        return;
    const char *rows = at_address(elf, file, size, symbols, strings - symbols);
    const char *names = at_address(elf, file, size, strings, strings_size);
    for (uint64_t at = sizeof(Elf64_Sym);
         rows && names && at + sizeof(Elf64_Sym) <= strings - symbols; at += sizeof(Elf64_Sym)) {
        GElf_Sym symbol; /* the same as Elf64_Sym */
        memcpy(&symbol, rows + at, sizeof symbol);
        if (symbol.st_name < strings_size &&
            memchr(names + symbol.st_name, '\0', (size_t)(strings_size - symbol.st_name)))
            visit_symbol(visitor, binding, &symbol, 0, names + symbol.st_name);
    }
}

bool elf_file_read(const void *data, size_t size, const struct elf_visitor *visitor,
                   struct elf_facts *facts, const char **problem)
{
    struct binding binding;
    GElf_Ehdr header;
    bool any;
    Elf *elf;

    *facts = (struct elf_facts){0};
    *problem = "a damaged ELF file";
    elf_version(EV_CURRENT);
    /* The library takes a file that may be written, and does not write. */
    elf = elf_memory((char *)(uintptr_t)data, size);
    if (!elf)
        return false;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
        elf_end(elf);
        return false;
    }
    facts->machine = machine_name(header.e_machine);
    facts->object = header.e_type == ET_REL;
    if (header.e_shnum > 0 && (header.e_shoff > size || header.e_shoff == 0)) {
        *problem = "a truncated ELF file: it ends before its section headers";
        elf_end(elf);
        return false;
    }
    binding = read_binding(elf, header.e_machine);
    if (!read_sections(elf, visitor, &binding, &any)) {
        facts->stripped = true;
        if (gelf_getclass(elf) == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB)
            read_segments(elf, data, size, visitor, &binding);
    }
    facts->lazy = binding.lazy;
    free(binding.taken);
    elf_end(elf);
    return true;
}

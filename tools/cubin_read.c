/* SPDX-License-Identifier: MIT */
#include "cubin_read.h"

#include <elf.h>
#include <string.h>

enum { MACHINE = 190, EI_SYSTEM = 7, RELOCATABLE = 1, PROGRAM_HEADER = 56 };

/* The two layouts of e_flags. */
enum { OLD_SYSTEM = 51, NEW_SYSTEM = 65, OLD_ABI = 7 };

/* A section that compilers write from CUDA 12.8 on, and from 13.0 on with this attribute. */
enum { COMPAT = 0x70000086, COMPAT_ARCHITECTURE = 9 };

static bool is_table(uint64_t offset, size_t count, size_t each, size_t size)
{
    return offset >= sizeof(Elf64_Ehdr) && offset <= size && (size - offset) / each >= count;
}

size_t cubin_size(const char *data, size_t size)
{
    Elf64_Ehdr elf;
    Elf64_Shdr first;
    size_t end, other;

    if (size < sizeof elf || memcmp(data, ELFMAG, SELFMAG) != 0)
        return 0;
    memcpy(&elf, data, sizeof elf);
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf.e_ident[EI_VERSION] != EV_CURRENT || elf.e_machine != MACHINE ||
        elf.e_ident[EI_SYSTEM] !=
            (elf.e_ident[EI_ABIVERSION] <= OLD_ABI ? OLD_SYSTEM : NEW_SYSTEM) ||
        (elf.e_type != RELOCATABLE && elf.e_type != ET_EXEC) || elf.e_ehsize != sizeof elf ||
        elf.e_shentsize != sizeof first || elf.e_shnum == 0 || elf.e_shstrndx >= elf.e_shnum ||
        !is_table(elf.e_shoff, elf.e_shnum, sizeof first, size) || cubin_architecture(data) < 10)
        return 0;
    memcpy(&first, data + elf.e_shoff, sizeof first);
    if (first.sh_type != 0 || first.sh_offset != 0)
        return 0;
    end = (size_t)elf.e_shoff + elf.e_shnum * sizeof first;
    if (elf.e_phnum == 0)
        return end;
    if (elf.e_phentsize != PROGRAM_HEADER ||
        !is_table(elf.e_phoff, elf.e_phnum, PROGRAM_HEADER, size))
        return 0;
    other = (size_t)elf.e_phoff + (size_t)elf.e_phnum * PROGRAM_HEADER;
    return other > end ? other : end;
}

int cubin_architecture(const char *cubin)
{
    Elf64_Ehdr elf;

    memcpy(&elf, cubin, sizeof elf);
    return (int)(elf.e_flags >> (elf.e_ident[EI_ABIVERSION] <= OLD_ABI ? 0 : 8) & 0xff);
}

/* ---- sections */

/* How many sections there are; 0 where their headers are not all there. */
static size_t count_sections(const char *cubin, size_t size)
{
    Elf64_Ehdr elf;

    memcpy(&elf, cubin, sizeof elf);
    return elf.e_shentsize == sizeof(Elf64_Shdr) &&
                   is_table(elf.e_shoff, elf.e_shnum, sizeof(Elf64_Shdr), size)
               ? elf.e_shnum
               : 0;
}

static Elf64_Shdr section_at(const char *cubin, size_t index)
{
    Elf64_Ehdr elf;
    Elf64_Shdr section;

    memcpy(&elf, cubin, sizeof elf);
    memcpy(&section, cubin + elf.e_shoff + index * sizeof section, sizeof section);
    return section;
}

static bool is_code(const Elf64_Shdr *section)
{
    return section->sh_flags & SHF_EXECINSTR && section->sh_size > 0;
}

static bool is_within(const Elf64_Shdr *section, size_t size)
{
    return section->sh_offset <= size && section->sh_size <= size - section->sh_offset;
}

static bool is_empty(const char *cubin, size_t size)
{
    size_t count = count_sections(cubin, size);

    for (size_t i = 0; i < count; i++) {
        Elf64_Shdr section = section_at(cubin, i);
        if (is_code(&section))
            return false;
    }
    return count > 0;
}

/* Each attribute has a byte for its form, one for its kind, and two bytes: its value, or the size
 * of the value behind them. */
static bool is_for_one(const char *cubin, size_t size)
{
    size_t count = count_sections(cubin, size);

    for (size_t i = 0; i < count; i++) {
        Elf64_Shdr section = section_at(cubin, i);
        if (section.sh_type != COMPAT || !is_within(&section, size))
            continue;
        const unsigned char *at = (const unsigned char *)cubin + section.sh_offset;
        const unsigned char *end = at + section.sh_size;
        while (end - at >= 4) {
            size_t more = at[0] == 4 ? (size_t)(at[2] | at[3] << 8) : 0;
            if (at[0] == 2 && at[1] == COMPAT_ARCHITECTURE)
                return at[2] == 1;
            if (more > (size_t)(end - at) - 4)
                break;
            at += 4 + more;
        }
    }
    return false;
}

/* The names are in their own order for each architecture. No more of them is read than a cubin can
 * have, of any that share their bytes. */
uint64_t cubin_kernels(const char *cubin, size_t size)
{
    Elf64_Ehdr elf;
    size_t count = count_sections(cubin, size), left = 4 * size;
    uint64_t sum = 0;

    memcpy(&elf, cubin, sizeof elf);
    if (elf.e_shstrndx >= count)
        return 1;
    Elf64_Shdr names = section_at(cubin, elf.e_shstrndx);
    for (size_t i = 0; i < count && is_within(&names, size); i++) {
        Elf64_Shdr section = section_at(cubin, i);
        const char *name = cubin + names.sh_offset;
        uint64_t hash = UINT64_C(14695981039346656037);
        for (size_t k = section.sh_name;
             is_code(&section) && k < names.sh_size && name[k] != '\0' && left > 0; k++, left--)
            hash = (hash ^ (unsigned char)name[k]) * UINT64_C(1099511628211);
        sum += is_code(&section) ? hash : 0;
    }
    return sum | 1;
}

/* ---- the toolkit */

/* The release in the note that compilers from CUDA 13.0 on write; 0 if it is not there. The note:
 * three numbers, of which the third is its kind, "NVIDIA Corp", and eight bytes. */
static int read_note(const char *head, size_t size)
{
    static const char begin[] = "\x0c\0\0\0\x08\0\0\0\xe8\x03\0\0NVIDIA Corp";
    const char *note = memmem(head, size, begin, sizeof begin);
    uint32_t number;

    if (!note || (size_t)(head + size - note) < sizeof begin + 4 + sizeof number)
        return 0;
    memcpy(&number, note + sizeof begin + 4, sizeof number); /* 130 is 13.0 */
    return number < 1000 ? (int)(number / 10 * 1000 + number % 10 * 10) : 0;
}

/* Version 7 of a cubin's ABI has the release of the toolkit in e_version; version 8 came with CUDA
 * 12.8 for compute capability 10.0 and later, and with 13.0 for all. */
bool cubin_tell(const char *head, size_t size, struct fatbin_code *code)
{
    Elf64_Ehdr elf;
    int noted;

    if (size < sizeof elf || memcmp(head, ELFMAG, SELFMAG) != 0)
        return true;
    memcpy(&elf, head, sizeof elf);
    code->empty = is_empty(head, size);
    if (elf.e_ident[EI_ABIVERSION] <= OLD_ABI) {
        if (elf.e_version >= 20 && elf.e_version < 130)
            code->toolkit = (int)(elf.e_version / 10 * 1000 + elf.e_version % 10 * 10);
        if (elf.e_flags & 0x800)
            code->variant = 'a';
        return true;
    }
    /* The flag is by compilers of 12.8 and 12.9. */
    if (elf.e_flags & 8 || is_for_one(head, size))
        code->variant = 'a';
    noted = read_note(head, size);
    code->toolkit = noted > 0 ? noted : code->architecture < 100 ? 13000 : 12080;
    return noted > 0;
}

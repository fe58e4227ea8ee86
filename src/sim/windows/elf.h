/* SPDX-License-Identifier: MIT */
/* What the simulated driver uses of <elf.h>: the format of its images, on every system. */
#ifndef CUSHIM_SIM_WINDOWS_ELF_H
#define CUSHIM_SIM_WINDOWS_ELF_H

#include <stdint.h>

#define ELFMAG "\177ELF"
enum { SELFMAG = 4, EI_CLASS = 4, EI_DATA, EI_VERSION, EI_ABIVERSION = 8, EI_PAD, EI_NIDENT = 16 };
enum { ELFCLASS64 = 2, ELFDATA2LSB = 1, EV_CURRENT = 1, ET_EXEC = 2, SHF_EXECINSTR = 4 };

typedef struct {
    unsigned char e_ident[EI_NIDENT];
    uint16_t e_type, e_machine;
    uint32_t e_version;
    uint64_t e_entry, e_phoff, e_shoff;
    uint32_t e_flags;
    uint16_t e_ehsize, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx;
} Elf64_Ehdr;

typedef struct {
    uint32_t sh_name, sh_type;
    uint64_t sh_flags, sh_addr, sh_offset, sh_size;
    uint32_t sh_link, sh_info;
    uint64_t sh_addralign, sh_entsize;
} Elf64_Shdr;

#endif

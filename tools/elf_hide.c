/* SPDX-License-Identifier: MIT */
#include "elf_hide.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void hide(char *file, const char *symbol)
{
    const ElfW(Ehdr) *header = (const void *)file;
    const ElfW(Shdr) *sections = (const void *)(file + header->e_shoff);

    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        ElfW(Sym) *symbols = (void *)(file + sections[i].sh_offset);
        const char *names = file + sections[sections[i].sh_link].sh_offset;
        for (size_t j = 0; j < sections[i].sh_size / sizeof *symbols; j++)
            if (strcmp(names + symbols[j].st_name, symbol) == 0) {
                symbols[j].st_shndx = SHN_UNDEF;
                symbols[j].st_value = 0;
                symbols[j].st_size = 0;
            }
    }
}

bool elf_hide_symbol(const char *path, const char *symbol)
{
    struct stat info;
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *map = MAP_FAILED;

    if (file >= 0 && fstat(file, &info) == 0)
        map = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0)
        close(file);
    if (map == MAP_FAILED)
        return false;
    /* The file is this project's own library, just copied: its tables are as the linker made
     * them. */
    hide(map, symbol);
    return munmap(map, (size_t)info.st_size) == 0;
}

/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TOOLS_ELF_HIDE_H
#define CUSHIM_TOOLS_ELF_HIDE_H

#include <stdbool.h>

/* Make a shared library export a symbol no longer: its entry in the dynamic symbol table becomes an
 * undefined one, which the system's loader passes over. True also where there was none. */
bool elf_hide_symbol(const char *path, const char *symbol);

#endif

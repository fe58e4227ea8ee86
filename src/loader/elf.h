/* SPDX-License-Identifier: MIT */
/* Looks at the export table of an open library, and at what is loaded. */
#ifndef CUSHIM_LOADER_ELF_H
#define CUSHIM_LOADER_ELF_H

#include <stdbool.h>
#include <stddef.h>

#include <cushim/cushim.h>

/*
 * Find every entry of the registry in the export table of a library from dlopen, in one pass: a
 * dlsym for each costs several times as much, and 200 to 500 ns if it fails.
 *
 * @param addresses  CUSHIM_ENTRY_COUNT elements, all NULL; what dlsym would return is written for
 *                   each entry that the library's own table tells
 * @return whether dlsym would find no more than that. It may, in another library that this one
 *         needs, and alone finds symbols of unusual kinds.
 */
bool cushim_elf_exports(void *handle, void **addresses);

/* Path and load address of a library from dlopen. The program itself has no path. */
void cushim_elf_describe(void *handle, char *path, size_t size, const void **base);

/* Whether an address is in code of a loaded library or of the program. */
bool cushim_elf_is_code(const void *address);

#endif

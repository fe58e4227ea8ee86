/* SPDX-License-Identifier: MIT */
/* Looks at a library's file: at a path before the system's loader maps it, else after it failed. */
#ifndef CUSHIM_LOADER_ELF_FILE_H
#define CUSHIM_LOADER_ELF_FILE_H

#include <stddef.h>

#include <cushim/cushim.h>

/*
 * Whether a file can be a shared library of this process: exists, is readable, is ELF of this
 * class and machine, is as long as its segments demand, and has each of them at a place of its own.
 * The system's loader dies of a truncated one (SIGBUS).
 *
 * @return CUSHIM_OK, or a status with a message of what is wrong
 */
enum cushim_status cushim_elf_file_inspect(const char *path, char *message, size_t size);

/* The same, and whether the file can be mapped as the system's loader does it. */
enum cushim_status cushim_elf_file_map(const char *path, char *message, size_t size);

/* The C library's words for an error number. */
const char *cushim_elf_file_words(int error, char *buffer, size_t size);

#endif

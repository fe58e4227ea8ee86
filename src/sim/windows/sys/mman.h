/* SPDX-License-Identifier: MIT */
/* What the simulated driver uses of <sys/mman.h>, on Windows. */
#ifndef CUSHIM_SIM_WINDOWS_MMAN_H
#define CUSHIM_SIM_WINDOWS_MMAN_H

#include <stddef.h>

enum { PROT_NONE = 0, PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_PRIVATE = 2, MAP_ANONYMOUS = 32, MAP_NORESERVE = 0 };
#define MAP_FAILED ((void *)-1)

/* Private memory alone; a mapping ends as a whole. */
void *mmap(void *address, size_t size, int rights, int flags, int file, long long offset);
int munmap(void *address, size_t size);
/* Fails where the range is not mapped; says nothing of single pages. */
int mincore(void *address, size_t size, unsigned char *pages);

#endif

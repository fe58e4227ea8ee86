/* SPDX-License-Identifier: MIT */
/* What is shared about memory; internal to the library. */
#ifndef CUSHIM_HELPERS_MEMORY_H
#define CUSHIM_HELPERS_MEMORY_H

#include <cushim/memory.h>

/* Refuse an address of 0, and bytes that pass the end of all addresses. 0 bytes are fine. */
CUresult cushim_memory_check(const char *helper, const char *argument, uintptr_t address,
                             size_t bytes);

#endif

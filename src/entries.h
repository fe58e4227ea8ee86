/* SPDX-License-Identifier: MIT */
/* The registry's entries as constant data; entries.c is generated. */
#ifndef CUSHIM_SRC_ENTRIES_H
#define CUSHIM_SRC_ENTRIES_H

#include <stdint.h>

#include <cushim/cushim.h>

#define CUSHIM_NO_TWIN UINT16_MAX

enum cushim_platform { CUSHIM_ANYWHERE, CUSHIM_LINUX_ONLY, CUSHIM_WINDOWS_ONLY };

/* Offsets instead of pointers: nothing to relocate when the program starts. */
struct cushim_entry_data {
    uint32_t symbol, name, header; /* in cushim_strings */
    uint16_t since;
    uint16_t twin; /* index of the per-thread form of a legacy entry */
    uint8_t stream, platform;
    uint8_t several; /* whether its name has several ABIs */
};

extern const char cushim_strings[];
extern const struct cushim_entry_data cushim_entries[CUSHIM_ENTRY_COUNT];
extern const uint16_t cushim_entries_by_symbol[CUSHIM_ENTRY_COUNT];

static inline const char *cushim_entry_symbol(size_t index)
{
    return cushim_strings + cushim_entries[index].symbol;
}

/* Index of an entry by its exported name, or by NAME_v1; CUSHIM_ENTRY_COUNT if there is none. */
size_t cushim_find_entry(const char *symbol);

#endif

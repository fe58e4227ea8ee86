/* SPDX-License-Identifier: MIT */
/* The table as an array of slots. */
#ifndef CUSHIM_LOADER_TABLE_H
#define CUSHIM_LOADER_TABLE_H

#include <stddef.h>
#include <string.h>

#include <cushim/cushim.h>

#define CUSHIM_FIRST_SLOT (sizeof(size_t) + sizeof(struct cushim_instance *))
#define CUSHIM_SLOT_OFFSET(index) (CUSHIM_FIRST_SLOT + (index) * sizeof(void (*)(void)))

/* Index of the entry of a member. */
#define CUSHIM_INDEX(member)                                                                       \
    ((offsetof(struct cushim_api, member) - CUSHIM_FIRST_SLOT) / sizeof(void (*)(void)))

_Static_assert(sizeof(struct cushim_api) == CUSHIM_SLOT_OFFSET(CUSHIM_ENTRY_COUNT),
               "after its first two members, the table is pointers without a gap");

/* Of any table that begins with a size and a pointer. */
static inline void *cushim_table_slot(const void *table, size_t index)
{
    void *address;
    memcpy(&address, (const char *)table + CUSHIM_SLOT_OFFSET(index), sizeof address);
    return address;
}

static inline void cushim_table_set(void *table, size_t index, const void *address)
{
    memcpy((char *)table + CUSHIM_SLOT_OFFSET(index), &address, sizeof address);
}

#endif

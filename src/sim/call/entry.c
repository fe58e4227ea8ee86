/* SPDX-License-Identifier: MIT */
#include "call/call.h"

static void *(*exported)(size_t entry); /* of a library that stands before this code; or NULL */

void sim_entry_export(void *(*address)(size_t entry))
{
    exported = address;
}

void *sim_entry_address(const struct sim_entry *entry)
{
    return exported ? exported((size_t)(entry - sim_entries)) : entry->function;
}

/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "entries.h"

static size_t search_symbols(const char *symbol)
{
    size_t low = 0, high = CUSHIM_ENTRY_COUNT;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(symbol, cushim_entry_symbol(cushim_entries_by_symbol[middle]));
        if (order == 0)
            return cushim_entries_by_symbol[middle];
        if (order > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return CUSHIM_ENTRY_COUNT;
}

size_t cushim_find_entry(const char *symbol)
{
    size_t index = search_symbols(symbol), length = strlen(symbol);
    char first[128];
    if (index < CUSHIM_ENTRY_COUNT || length < 3 || length >= sizeof first ||
        strcmp(symbol + length - 3, "_v1") != 0)
        return index;
    memcpy(first, symbol, length - 3);
    first[length - 3] = '\0';
    index = search_symbols(first);
    return index < CUSHIM_ENTRY_COUNT && cushim_entries[index].several ? index : CUSHIM_ENTRY_COUNT;
}

size_t cushim_entry_count(void)
{
    return CUSHIM_ENTRY_COUNT;
}

int cushim_registry_version(void)
{
    return CUSHIM_REGISTRY_VERSION;
}

bool cushim_entry_at(size_t index, struct cushim_entry *entry)
{
    if (index >= CUSHIM_ENTRY_COUNT)
        return false;
    const struct cushim_entry_data *data = &cushim_entries[index];
    entry->symbol = cushim_strings + data->symbol;
    entry->name = cushim_strings + data->name;
    entry->header = cushim_strings + data->header;
    entry->since = data->since;
    entry->stream = (enum cushim_stream)data->stream;
    return true;
}

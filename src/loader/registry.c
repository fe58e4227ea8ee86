/* SPDX-License-Identifier: MIT */
#include "loader/registry.h"

#include <string.h>

#ifdef _WIN32
#define REGISTRY_ELSEWHERE CUSHIM_ENTRY_LINUX
#else
#define REGISTRY_ELSEWHERE CUSHIM_ENTRY_WINDOWS
#endif

static char *registry_unpack(size_t index, char buffer[CUSHIM_SYMBOL_SIZE])
{
    memcpy(buffer, "cu", 2);
    return cushim_unpack(cushim_entry_names + cushim_entries[index].name, cushim_entry_words,
                         cushim_entry_word_offsets, buffer + 2);
}

bool cushim_registry_is_name(size_t index, const char *name)
{
    char own[CUSHIM_SYMBOL_SIZE];
    return strcmp(cushim_registry_name(index, own), name) == 0;
}

static size_t registry_find_exact(const char *symbol)
{
    size_t low = 0, high = CUSHIM_ENTRY_COUNT;
    while (low < high) {
        char own[CUSHIM_SYMBOL_SIZE];
        size_t middle = (low + high) / 2, index = cushim_entry_order[middle];
        int way = strcmp(symbol, cushim_registry_symbol(index, own));
        if (way == 0)
            return index;
        if (way < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return CUSHIM_ENTRY_COUNT;
}

size_t cushim_registry_find(const char *symbol)
{
    size_t index = registry_find_exact(symbol);
    const char *end = strstr(symbol, "_v1");
    char first[CUSHIM_SYMBOL_SIZE] = "";
    if (index < CUSHIM_ENTRY_COUNT || !end || end[3] || (size_t)(end - symbol) >= sizeof first)
        return index;
    memcpy(first, symbol, (size_t)(end - symbol));
    index = registry_find_exact(first);
    bool several = index < CUSHIM_ENTRY_COUNT && cushim_entries[index].flags & CUSHIM_ENTRY_SEVERAL;
    return several ? index : CUSHIM_ENTRY_COUNT;
}

const char *cushim_registry_name(size_t index, char name[CUSHIM_SYMBOL_SIZE])
{
    registry_unpack(index, name);
    return name;
}

const char *cushim_registry_symbol(size_t index, char symbol[CUSHIM_SYMBOL_SIZE])
{
    char *end = registry_unpack(index, symbol);
    memcpy(end, cushim_entry_suffixes[cushim_entries[index].suffix], sizeof *cushim_entry_suffixes);
    return symbol;
}

bool cushim_registry_has_twin(size_t index)
{
    return cushim_entries[index].flags & CUSHIM_ENTRY_TWIN;
}

size_t cushim_registry_twin(size_t index)
{
    char symbol[CUSHIM_SYMBOL_SIZE + sizeof "_ptsz"];
    char *end = symbol + strlen(cushim_registry_symbol(index, symbol));
    strcpy(end, "_ptsz");
    size_t twin = cushim_registry_find(symbol);
    strcpy(end, "_ptds");
    return twin < CUSHIM_ENTRY_COUNT ? twin : cushim_registry_find(symbol);
}

int cushim_registry_since(size_t index)
{
    return cushim_entry_releases[cushim_entries[index].release];
}

enum cushim_stream cushim_registry_stream(size_t index)
{
    unsigned flags = cushim_entries[index].flags;
    return flags & CUSHIM_ENTRY_PTSZ   ? CUSHIM_STREAM_PTSZ
           : flags & CUSHIM_ENTRY_PTDS ? CUSHIM_STREAM_PTDS
                                       : CUSHIM_STREAM_LEGACY;
}

bool cushim_registry_is_elsewhere(size_t index)
{
    return cushim_entries[index].flags & REGISTRY_ELSEWHERE;
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
    if (index >= CUSHIM_ENTRY_COUNT || !entry)
        return false;
    char text[CUSHIM_SYMBOL_SIZE];
    strcpy(entry->symbol, cushim_registry_symbol(index, text));
    strcpy(entry->name, cushim_registry_name(index, text));
    entry->header = cushim_entry_headers[cushim_entries[index].header];
    entry->since = cushim_registry_since(index);
    entry->stream = cushim_registry_stream(index);
    return true;
}

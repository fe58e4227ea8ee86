/* SPDX-License-Identifier: MIT */
#include "nvml/entries.h"

#include <string.h>

#include "loader/unpack.h"

const char *cushim_nvml_entry_symbol(size_t index, char symbol[CUSHIM_NVML_SYMBOL_SIZE])
{
    const struct cushim_nvml_entry_data *entry = &cushim_nvml_entries[index];
    char name[CUSHIM_NVML_SYMBOL_SIZE + CUSHIM_WORD_MOST] = "nvml";
    cushim_unpack(cushim_nvml_entry_names + entry->name, cushim_nvml_entry_words,
                  cushim_nvml_entry_word_offsets, name + strlen("nvml"));
    strcpy(symbol, name);
    return strcat(symbol, cushim_nvml_entry_suffixes[entry->suffix]);
}

int cushim_nvml_entry_since(size_t index)
{
    unsigned release = cushim_nvml_entries[index].release;
    return release ? cushim_nvml_entry_releases[release] : 0; /* in their order */
}

static const struct cushim_error_data *nvml_entries_find_error(nvmlReturn_t result)
{
    for (size_t i = 0; i < cushim_nvml_error_count; i++)
        if (cushim_nvml_errors[i].code == (int)result)
            return &cushim_nvml_errors[i];
    return NULL;
}

const char *cushim_nvml_error_name(nvmlReturn_t result)
{
    const struct cushim_error_data *error = nvml_entries_find_error(result);
    return error ? cushim_nvml_error_strings + error->name : NULL;
}

const char *cushim_nvml_error_string(nvmlReturn_t result)
{
    const struct cushim_error_data *error = nvml_entries_find_error(result);
    return error ? cushim_nvml_error_strings + error->text : "an error code that is not known";
}

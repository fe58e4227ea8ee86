/* SPDX-License-Identifier: MIT */
#include "nvml/nvml_rule.h"

#include "call/call.h"
#include "nvml/entries.h"

#define MISSING "missing:"

static const size_t entry_count = CUSHIM_NVML_ENTRY_COUNT;

static const char *symbol_of(size_t entry, char text[SIM_RULE_SYMBOL])
{
    return cushim_nvml_entry_symbol(entry, text);
}

static size_t name_length_of(size_t entry)
{
    char text[CUSHIM_NVML_SYMBOL_SIZE];
    return strlen(cushim_nvml_entry_symbol(entry, text)) -
           strlen(cushim_nvml_entry_suffixes[cushim_nvml_entries[entry].suffix]);
}

const struct sim_rule_family sim_nvml_rule_family = {
    .count = &entry_count,
    .symbol = symbol_of,
    .name_length = name_length_of,
    .errors = cushim_nvml_errors,
    .error_count = &cushim_nvml_error_count,
    .error_strings = cushim_nvml_error_strings,
    .error_prefix = "NVML_ERROR_",
    .all = "nvml*",
    .names = "names of NVML's entries are those of nvml.h",
};

bool sim_nvml_rule_is(const char *text)
{
    if (strncmp(text, MISSING, strlen(MISSING)) == 0)
        text += strlen(MISSING);
    return strncmp(text, "nvml", strlen("nvml")) == 0;
}

bool sim_nvml_rule_check(const char *text, char *error, size_t size)
{
    struct rule rule;
    return sim_rule_parse(&sim_nvml_rule_family, text, &rule, error, size);
}

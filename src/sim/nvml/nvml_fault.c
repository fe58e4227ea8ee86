/* SPDX-License-Identifier: MIT */
#include "nvml/nvml.h"

#include <stdlib.h>
#include <string.h>

#include "call/call.h"
#include "nvml/entries.h"
#include "nvml/nvml_rule.h"

#define MOST 64

static struct rule rules[MOST];
static size_t count;
static uint64_t calls;

/* device-lost, whose code is one of CUDA's. */
static const size_t none = 0;
static const struct sim_rule_family of_both = {
    .count = &none,
    .errors = cushim_errors,
    .error_count = &cushim_error_count,
    .error_strings = cushim_error_strings,
    .error_prefix = "CUDA_ERROR_",
    .all = "",
};

void sim_nvml_fault_read(const char *text)
{
    char *copy = text ? strdup(text) : NULL, *rest = NULL, error[8];
    for (char *rule = copy ? strtok_r(copy, ";", &rest) : NULL; rule && count < MOST;
         rule = strtok_r(NULL, ";", &rest)) {
        const struct sim_rule_family *family =
            sim_nvml_rule_is(rule) ? &sim_nvml_rule_family : &of_both;
        if (sim_rule_parse(family, rule, &rules[count], error, sizeof error))
            count++;
    }
    free(copy);
}

static bool names(const struct rule *rule, unsigned entry)
{
    char symbol[CUSHIM_NVML_SYMBOL_SIZE];
    size_t suffix = strlen(cushim_nvml_entry_suffixes[cushim_nvml_entries[entry].suffix]);
    cushim_nvml_entry_symbol(entry, symbol);
    return strcmp(rule->name, sim_nvml_rule_family.all) == 0 ||
           sim_rule_names(rule, symbol, strlen(symbol) - suffix);
}

static bool hits(struct rule *rule, unsigned entry, int device)
{
    if (rule->kind != RULE_CALL || !names(rule, entry) ||
        (rule->device >= 0 && rule->device != device))
        return false;
    return sim_rule_count(rule);
}

nvmlReturn_t sim_nvml_fault(unsigned entry, int device, nvmlReturn_t *after, unsigned *milliseconds)
{
    nvmlReturn_t result = NVML_SUCCESS;
    calls++;
    for (size_t i = 0; i < count; i++) { /* all of them: each counts its calls */
        struct rule *rule = &rules[i];
        if (rule->kind == RULE_LOST) {
            if (calls >= rule->call && rule->device == device && result == NVML_SUCCESS)
                result = NVML_ERROR_GPU_IS_LOST;
            continue;
        }
        if (!hits(rule, entry, device))
            continue;
        *milliseconds += rule->slow;
        if (rule->after)
            *after = (nvmlReturn_t)rule->error;
        else if (result == NVML_SUCCESS)
            result = (nvmlReturn_t)rule->error;
    }
    return result;
}

bool sim_nvml_fault_lacks(unsigned entry, int cuda)
{
    if (cushim_nvml_entry_since(entry) > cuda)
        return true;
    for (size_t i = 0; i < count; i++)
        if (rules[i].kind == RULE_MISSING) {
            char symbol[CUSHIM_NVML_SYMBOL_SIZE];
            if (strcmp(rules[i].name, cushim_nvml_entry_symbol(entry, symbol)) == 0)
                return true;
        }
    return false;
}

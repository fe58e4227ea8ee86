/* SPDX-License-Identifier: MIT */
#include "nvml/stubs.h"

#include <stdatomic.h>
#include <stdio.h>

#undef CUSHIM_STUBS_COUNT
#define CUSHIM_STUBS_COUNT CUSHIM_NVML_ENTRY_COUNT
#include "loader/last_error.h"
#include "loader/stub_family.h"
#include "loader/table.h"

/* A process has one NVML, so these are of every stub that is called. */
static _Atomic(const char *) nvml_stubs_why, nvml_stubs_path;

void cushim_nvml_stubs_explain(const char *why, const char *path)
{
    atomic_store(&nvml_stubs_why, why);
    atomic_store(&nvml_stubs_path, path);
}

static void nvml_stubs_write_without(char *text, size_t size, unsigned index)
{
    char symbol[CUSHIM_NVML_SYMBOL_SIZE];
    const char *why = atomic_load(&nvml_stubs_why);
    snprintf(text, size, "%s is not available: there is no NVML%s%s%s",
             cushim_nvml_entry_symbol(index, symbol), why ? " (" : "", why ? why : "",
             why ? ")" : "");
}

static void nvml_stubs_write_lacking(char *text, size_t size, unsigned index)
{
    char symbol[CUSHIM_NVML_SYMBOL_SIZE];
    const char *path = atomic_load(&nvml_stubs_path);
    int since = cushim_nvml_entry_releases[cushim_nvml_entries[index].release];
    snprintf(text, size,
             "%s is not available: %s does not export it; it is in nvml.h of CUDA %d.%d and later",
             cushim_nvml_entry_symbol(index, symbol), path ? path : "the driver's NVML",
             CUSHIM_RELEASE(since));
}

int cushim_stubs_nvml_without(unsigned index)
{
    cushim_last_error_note_for(nvml_stubs_write_without, index);
    return NVML_ERROR_LIBRARY_NOT_FOUND;
}

int cushim_stubs_nvml_lacking(unsigned index)
{
    cushim_last_error_note_for(nvml_stubs_write_lacking, index);
    return NVML_ERROR_FUNCTION_NOT_FOUND;
}

FAMILY(nvml_without)
FAMILY(nvml_lacking)

static size_t nvml_stubs_error_string(void)
{
    return (offsetof(struct cushim_nvml, nvmlErrorString) - CUSHIM_FIRST_SLOT) / sizeof(void *);
}

void cushim_nvml_stubs_set(struct cushim_nvml *table, size_t index, bool without)
{
    cushim_table_set(table, index,
                     index == nvml_stubs_error_string()
                         ? stubs_address((stubs_fn *)cushim_nvml_error_string)
                     : without ? STUB(nvml_without, index)
                               : STUB(nvml_lacking, index));
}

bool cushim_nvml_stubs_is_stub(const struct cushim_nvml *table, size_t index)
{
    const void *held = cushim_table_slot(table, index);
    return !held || held == STUB(nvml_without, index) || held == STUB(nvml_lacking, index) ||
           held == stubs_address((stubs_fn *)cushim_nvml_error_string);
}

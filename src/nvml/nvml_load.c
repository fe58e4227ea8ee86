/* SPDX-License-Identifier: MIT */
/*
 * Loads NVML for the process. As in loader/open.c, no lock is held while foreign code runs: each
 * thread builds a table that nobody else sees, and the first to finish publishes it.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "loader/last_error.h"
#include "loader/table.h"
#include "loader/text.h"
#include "nvml/find.h"
#include "nvml/stubs.h"

_Static_assert(sizeof(struct cushim_nvml) == CUSHIM_SLOT_OFFSET(CUSHIM_NVML_ENTRY_COUNT),
               "after its first two members, the table is pointers without a gap");

struct cushim_nvml_library {
    enum cushim_status status;
    struct cushim_dylib library; /* open if the status is CUSHIM_OK */
    char *message;
    struct cushim_nvml *table;
};

static _Atomic(const struct cushim_nvml *) nvml_load_published;

/* An entry that the header knows and this library does not. In the calling conventions of 64 bits
 * the caller removes the arguments, so a function may ignore them. */
static nvmlReturn_t nvml_load_unknown_entry(void)
{
    cushim_last_error_set("the library cushim is older than the header, and does not know the "
                          "entry that was called");
    return NVML_ERROR_FUNCTION_NOT_FOUND;
}

static void nvml_load_fill(struct cushim_nvml *table, const struct cushim_nvml_library *library,
                           size_t table_size)
{
    table->size = table_size;
    table->library = library;
    for (size_t i = 0; i < CUSHIM_NVML_ENTRY_COUNT; i++) {
        char symbol[CUSHIM_NVML_SYMBOL_SIZE];
        bool without = library->status != CUSHIM_OK;
        void *found =
            without ? NULL
                    : cushim_dylib_symbol(&library->library, cushim_nvml_entry_symbol(i, symbol));
        if (found)
            cushim_table_set(table, i, found);
        else
            cushim_nvml_stubs_set(table, i, without);
    }
    nvmlReturn_t (*unknown)(void) = nvml_load_unknown_entry;
    for (size_t at = sizeof *table; at + sizeof unknown <= table_size; at += sizeof unknown)
        memcpy((char *)table + at, &unknown, sizeof unknown);
}

/* A table for a header of that size; NULL for want of memory. */
static const struct cushim_nvml *nvml_load_create(const char *path, size_t table_size)
{
    struct cushim_nvml_library *made = calloc(1, sizeof *made);
    size_t size = table_size > sizeof *made->table ? table_size : sizeof *made->table;
    if (made && (made->table = calloc(1, size))) {
        made->status = cushim_nvml_find(path, &made->library, &made->message);
        nvml_load_fill(made->table, made, size);
        return made->table;
    }
    free(made);
    return NULL;
}

static void nvml_load_destroy(const struct cushim_nvml *table)
{
    struct cushim_nvml_library *library = (struct cushim_nvml_library *)(uintptr_t)table->library;
    cushim_dylib_close(&library->library, true);
    free(library->message);
    free(library->table);
    free(library);
}

/* A load that failed as the one before did: the same table goes on, and a daemon that tries every
 * second does not grow. */
static bool nvml_load_failed_again(const struct cushim_nvml_library *before,
                                   const struct cushim_nvml_library *now)
{
    return now->status == before->status && now->message && before->message &&
           strcmp(now->message, before->message) == 0;
}

/* Stands in if there is no memory for a real one, or the options are wrong: a caller's mistake
 * concerns nobody else. Each of the reasons has a table. Whoever comes here writes the same. */
static const struct cushim_nvml *nvml_load_stand_in(const char *wrong)
{
    static struct cushim_nvml tables[3];
    static struct cushim_nvml_library libraries[3];
    static char messages[3][128];
    static _Atomic(const char *) reasons[3];
    static _Atomic bool filled[3];
    const char *reason = wrong ? wrong : "out of memory";
    size_t i = 0;
    for (const char *other = NULL;
         !atomic_compare_exchange_strong(&reasons[i], &other, reason) && other != reason;
         other = NULL)
        i++;
    if (!atomic_load(&filled[i])) {
        libraries[i].status = wrong ? CUSHIM_ERROR_INVALID_ARGUMENT : CUSHIM_ERROR_OUT_OF_MEMORY;
        if (wrong)
            snprintf(messages[i], sizeof messages[i],
                     "the options of cushim_nvml_load were refused: %s", wrong);
        libraries[i].message = wrong ? messages[i] : NULL;
        nvml_load_fill(&tables[i], &libraries[i], sizeof *tables);
        atomic_store(&filled[i], true);
    }
    return &tables[i];
}

/* What is wrong with the caller's options, or NULL. */
static const char *nvml_load_read_options(const struct cushim_nvml_options *given,
                                          struct cushim_nvml_options *options)
{
    memset(options, 0, sizeof *options);
    return given ? cushim_text_read_sized(given, CUSHIM_LEAST(cushim_nvml_options, reserved),
                                          options, sizeof *options)
                 : NULL;
}

const struct cushim_nvml *cushim_nvml_connect_(const struct cushim_nvml_options *given,
                                               size_t table_size)
{
    const struct cushim_nvml *before =
        atomic_load_explicit(&nvml_load_published, memory_order_acquire);
    bool serves = before && before->size >= table_size;
    if (serves && (!given || before->library->status == CUSHIM_OK))
        return before;
    struct cushim_nvml_options options;
    const char *wrong = nvml_load_read_options(given, &options);
    if (wrong)
        cushim_last_error_set("options: %s", wrong);
    if (serves && (wrong || !options.retry))
        return before;
    if (wrong)
        return nvml_load_stand_in(wrong);
    const struct cushim_nvml *table = nvml_load_create(options.path, table_size);
    if (!table)
        return before ? before : nvml_load_stand_in(NULL);
    if (serves && nvml_load_failed_again(before->library, table->library)) {
        nvml_load_destroy(table);
        return before;
    }
    if (!atomic_compare_exchange_strong(&nvml_load_published, &before, table)) {
        nvml_load_destroy(table);
        return before;
    }
    const struct cushim_nvml_library *library = table->library;
    cushim_nvml_stubs_explain(library->status == CUSHIM_OK ? NULL : library->message,
                              library->library.path);
    if (library->status != CUSHIM_OK)
        cushim_last_error_set("%s", cushim_nvml_message(table));
    return table;
}

enum cushim_status cushim_nvml_status(const struct cushim_nvml *nvml)
{
    return nvml ? nvml->library->status : CUSHIM_ERROR_INVALID_ARGUMENT;
}

const char *cushim_nvml_message(const struct cushim_nvml *nvml)
{
    return nvml && nvml->library->message ? nvml->library->message : "out of memory";
}

bool cushim_nvml_has_(const struct cushim_nvml *nvml, size_t offset)
{
    size_t index = (offset - CUSHIM_FIRST_SLOT) / sizeof(void *);
    return nvml && offset >= CUSHIM_FIRST_SLOT && index < CUSHIM_NVML_ENTRY_COUNT &&
           !cushim_nvml_stubs_is_stub(nvml, index);
}

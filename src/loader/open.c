/* SPDX-License-Identifier: MIT */
/*
 * Opens drivers. This is the only file that creates instances and publishes one.
 *
 * No lock is held while a driver loads: constructors, callbacks and the system's loader run
 * within a load, and may load again. Each thread builds an instance that nobody else sees. The
 * first to finish publishes it; the others close theirs and take that one.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "loader/fault_rule.h"
#include "loader/instance.h"
#include "loader/last_error.h"
#include "loader/stubs.h"
#include "loader/table.h"

static _Atomic(struct cushim_instance *) open_process_wide;

/* The instances that cushim_close may close. Blocks are never freed, so nobody has to wait. */
struct open_block {
    _Atomic(struct cushim_instance *) open[30];
    _Atomic(struct open_block *) next;
};
static struct open_block open_instances;

static void open_fill(struct cushim_instance *instance, bool per_thread)
{
    cushim_resolve(&instance->resolution, &instance->found.lookup, per_thread);
    instance->resolution.table.instance = instance;
    instance->uses_twins =
        per_thread && !(instance->resolution.remarks & CUSHIM_REMARK_NO_PER_THREAD_STREAM);
}

CUSHIM_COLD static void open_fill_failed(struct cushim_instance *instance,
                                         enum cushim_status status)
{
    instance->found.status = status;
    open_fill(instance, false);
}

CUSHIM_COLD static struct cushim_instance *open_create_failed(enum cushim_status status,
                                                              const char *message)
{
    struct cushim_instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        return NULL;
    open_fill_failed(instance, status);
    instance->found.message = cushim_text_copy(message);
    return instance;
}

CUSHIM_COLD static struct cushim_instance *open_create(const struct cushim_options *options)
{
    struct cushim_instance *instance = calloc(1, sizeof *instance);
    if (!instance)
        return NULL;
    cushim_find(&instance->found, options);
    open_fill(instance, options->per_thread_default_stream);
    if (instance->found.status != CUSHIM_OK)
        cushim_last_error_set("%s", cushim_instance_load_message(instance));
    if (options->log)
        cushim_find_log(options,
                        instance->found.status != CUSHIM_OK || instance->resolution.remarks
                            ? CUSHIM_LOG_WARNING
                            : CUSHIM_LOG_INFO,
                        cushim_instance_load_message(instance));
    return instance;
}

CUSHIM_COLD static void open_destroy(struct cushim_instance *instance, bool unload)
{
    cushim_find_close(&instance->found, unload);
    free(atomic_load(&instance->message));
    for (size_t i = 0; i < sizeof instance->init_messages / sizeof *instance->init_messages; i++)
        free(atomic_load(&instance->init_messages[i]));
    free(atomic_load(&instance->primary));
    free(instance);
}

/* The caller's options as this library knows them; returns what contradicts itself, or NULL. */
CUSHIM_COLD static const char *open_read_options(const struct cushim_options *given,
                                                 struct cushim_options *options)
{
    memset(options, 0, sizeof *options);
    if (!given)
        return NULL;
    const char *wrong = cushim_text_read_sized(given, CUSHIM_LEAST(cushim_options, reserved),
                                               options, sizeof *options);
    if (wrong)
        return wrong;
    if (options->path && options->resolver)
        return "path and resolver are both given";
    if ((unsigned)options->order > CUSHIM_ORDER_SYMBOLS)
        return "order has an unknown value";
    if (options->reserved)
        return "reserved is not 0";
    return NULL;
}

/* Stands in if there is no memory for a real one. Whoever comes here writes the same into it. */
static struct cushim_instance *open_without_memory(void)
{
    static struct cushim_instance fallback;
    static _Atomic bool filled;
    cushim_last_error_set("out of memory");
    if (!atomic_load(&filled)) {
        open_fill_failed(&fallback, CUSHIM_ERROR_OUT_OF_MEMORY);
        atomic_store(&filled, true);
    }
    return &fallback;
}

/* The first instance takes the place of `before`, and lives until the process ends. */
CUSHIM_COLD static struct cushim_instance *open_publish(_Atomic(struct cushim_instance *) *place,
                                                        struct cushim_instance *before,
                                                        struct cushim_instance *instance)
{
    if (!instance)
        return open_without_memory();
    if (atomic_compare_exchange_strong(place, &before, instance))
        return instance;
    open_destroy(instance, true);
    return before;
}

/* A caller's mistake concerns nobody else: nothing is published. Each has a table of its own. */
CUSHIM_COLD static const struct cushim_api *open_refuse(const char *wrong)
{
    static _Atomic(struct cushim_instance *) refused[5]; /* open_read_options knows so many */
    struct cushim_instance *instance = NULL;
    static const char words[] = "the options of cushim_load were refused: %s";
    cushim_last_error_set(words, wrong);
    const char *message = cushim_last_error();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        instance = open_publish(&refused[i], NULL,
                                open_create_failed(CUSHIM_ERROR_INVALID_ARGUMENT, message));
        if (strcmp(cushim_instance_load_message(instance), message) == 0)
            break;
    }
    cushim_last_error_set(words, wrong); /* not that memory ran out on the way */
    return &instance->resolution.table;
}

/* A load that failed as the one before did: the same table goes on, and a daemon that tries every
 * second does not grow. */
CUSHIM_COLD static bool open_failed_again(const struct cushim_instance *before,
                                          const struct cushim_instance *now)
{
    return before && now && now->found.status == before->found.status && now->found.message &&
           before->found.message && strcmp(now->found.message, before->found.message) == 0;
}

CUSHIM_COLD static const struct cushim_api *open_shared(const struct cushim_options *given)
{
    struct cushim_options options;
    struct cushim_instance *before = atomic_load_explicit(&open_process_wide, memory_order_acquire);
    if (before && (!given || before->found.status == CUSHIM_OK))
        return &before->resolution.table;
    const char *contradiction = open_read_options(given, &options);
    if (before && (contradiction || !options.retry))
        return &before->resolution.table;
    if (contradiction)
        return open_refuse(contradiction);
    struct cushim_instance *instance = open_create(&options);
    if (open_failed_again(before, instance)) {
        open_destroy(instance, true);
        return &before->resolution.table;
    }
    if (!instance)
        return &open_without_memory()->resolution.table;
    instance = open_publish(&open_process_wide, before, instance);
    atomic_store(&cushim_last_error_version, instance->found.lookup.version);
    atomic_store(&cushim_last_error_cause, instance->found.message);
    cushim_stubs_tell(instance->found.library.handle);
    return &instance->resolution.table;
}

/* Returns false for want of memory. */
CUSHIM_COLD static bool open_list(struct cushim_instance *instance)
{
    for (struct open_block *block = &open_instances;;) {
        for (size_t i = 0; i < sizeof block->open / sizeof *block->open; i++) {
            struct cushim_instance *none = NULL;
            if (atomic_compare_exchange_strong(&block->open[i], &none, instance))
                return true;
        }
        struct open_block *next = atomic_load(&block->next);
        if (!next) {
            struct open_block *made = calloc(1, sizeof *made);
            if (!made)
                return false;
            if (atomic_compare_exchange_strong(&block->next, &next, made))
                next = made;
            else
                free(made);
        }
        block = next;
    }
}

CUSHIM_COLD static const struct cushim_api *open_independent(const struct cushim_options *given)
{
    struct cushim_options options;
    const char *contradiction = open_read_options(given, &options);
    if (contradiction) {
        cushim_last_error_set("options: %s", contradiction);
        return NULL;
    }
    struct cushim_instance *instance = open_create(&options);
    if (instance && !open_list(instance)) {
        open_destroy(instance, true);
        instance = NULL;
    }
    if (!instance) {
        cushim_last_error_set("out of memory");
        return NULL;
    }
    atomic_fetch_add(&cushim_last_error_others, 1);
    cushim_stubs_tell(instance->found.library.handle);
    return &instance->resolution.table;
}

/* Take an instance out of the list; NULL if it is not in it. Compares addresses alone, because
 * what a second close is given exists no longer. */
static struct cushim_instance *open_take(const struct cushim_api *cu)
{
    for (struct open_block *block = &open_instances; block; block = atomic_load(&block->next))
        for (size_t i = 0; i < sizeof block->open / sizeof *block->open; i++) {
            struct cushim_instance *instance = atomic_load(&block->open[i]);
            if (instance && &instance->resolution.table == cu &&
                atomic_compare_exchange_strong(&block->open[i], &instance, NULL))
                return instance;
        }
    return NULL;
}

CUSHIM_COLD static void open_close(const struct cushim_api *cu, bool unload)
{
    struct cushim_instance *shared = atomic_load(&open_process_wide);
    if (!cu || (shared && cu == &shared->resolution.table))
        return;
    struct cushim_instance *instance = open_take(cu);
    if (!instance) {
        cushim_last_error_set("cushim_close: not a table that cushim_open returned, or closed "
                              "already");
        return;
    }
    if (unload) {
        atomic_store(&cushim_stubs_told, NULL);
        atomic_store(&cushim_fault_rule_ask, NULL);
    }
    if (unload && shared)
        cushim_stubs_tell(shared->found.library.handle);
    open_destroy(instance, unload);
    atomic_fetch_sub(&cushim_last_error_others, 1);
}

void cushim_close(const struct cushim_api *cu)
{
    open_close(cu, false);
}

void cushim_close_unload(const struct cushim_api *cu)
{
    open_close(cu, true);
}

/* Entries that this library does not know have no type here. In the calling conventions of 64
 * bits the caller removes the arguments, so a function may ignore them. */
static CUresult CUDAAPI open_unknown_entry(void)
{
    cushim_last_error_set("the library cushim is older than the header, and does not know the "
                          "entry that was called");
    return CUDA_ERROR_NOT_INITIALIZED;
}

#define OPEN_WIDE_MAX 16 /* times the table of this library */

/* A table of stubs for a header that knows more entries than this library. */
CUSHIM_COLD static struct cushim_api *open_make_wide(const struct cushim_instance *instance,
                                                     size_t table_size)
{
    /* No release has so many entries: the size is wrong. */
    bool absurd = table_size / OPEN_WIDE_MAX > sizeof(struct cushim_api);
    struct cushim_api *table = absurd ? NULL : calloc(1, table_size);
    if (!table)
        return NULL;
    CUresult(CUDAAPI * unknown)(void) = open_unknown_entry;
    for (size_t at = sizeof *table; at + sizeof unknown <= table_size; at += sizeof unknown)
        memcpy((char *)table + at, &unknown, sizeof unknown);
    *table = instance->resolution.table;
    table->size = table_size;
    return table;
}

/* It is never freed, because nobody knows who still has it; a program has one such header. */
CUSHIM_COLD static const struct cushim_api *open_mismatched(size_t table_size)
{
    static const char message[] =
        "the library cushim is older than the header that this program was built with; build "
        "against the headers of the library that is used, or install its newer release";
    static _Atomic(struct cushim_instance *) mismatched;
    static _Atomic(struct cushim_api *) wide;
    struct cushim_instance *instance =
        open_publish(&mismatched, NULL, open_create_failed(CUSHIM_ERROR_HEADER_MISMATCH, message));
    cushim_last_error_set("%s", message);
    struct cushim_api *table = atomic_load(&wide);
    if (table && table->size == table_size)
        return table;
    table = open_make_wide(instance, table_size);
    if (table)
        atomic_store(&wide, table);
    return table;
}

CUSHIM_COLD const struct cushim_api *cushim_connect_(const struct cushim_options *options,
                                                     size_t table_size, bool independent)
{
    if (table_size > sizeof(struct cushim_api)) {
        const struct cushim_api *table = open_mismatched(table_size);
        return independent ? NULL : table;
    }
    return independent ? open_independent(options) : open_shared(options);
}

/* In parentheses, because of the header's macros of these names. */
const struct cushim_api *(cushim_load)(const struct cushim_options *options)
{
    return open_shared(options);
}

const struct cushim_api *(cushim_open)(const struct cushim_options *options)
{
    return open_independent(options);
}

const char *cushim_version(void)
{
    return CUSHIM_VERSION;
}

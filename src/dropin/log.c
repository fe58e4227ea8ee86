/* SPDX-License-Identifier: MIT */
/*
 * Reports on standard error, if the environment has CUSHIM_LOG. 1: how the load ended, each
 * unavailable entry that is called, once, and why cuInit fails. 2: also what the search tried.
 *
 * A call that succeeds costs nothing more than without: only slots of unavailable entries and of
 * cuInit differ from the table's.
 */
#include "dropin.h"

#include <stdio.h>
#include <stdlib.h>

#include "loader/platform.h"
#include "loader/registry.h"
#include "loader/table.h"

#ifdef _WIN32 /* there, another thread's line may come before the load's */
#define flockfile(file) ((void)0)
#define funlockfile(file) ((void)0)
#endif

struct log_state {
    struct cushim_api table;
    atomic_bool init_reported, called[CUSHIM_ENTRY_COUNT];
};
static _Atomic(struct log_state *) log_active;

static int log_level(void)
{
    const char *value = cushim_platform_env("CUSHIM_LOG");
    if (!value || !*value || *value == '0')
        return 0;
    return *value >= '2' && *value <= '9' ? 2 : 1;
}

/* In one call, so that lines of several threads stay apart. */
static void log_line(const char *line)
{
    fprintf(stderr, "cushim: %s\n", line);
}

static void log_load(const struct cushim_api *table)
{
    struct cushim_attempt attempt = {.size = sizeof attempt};
    for (size_t i = 0; log_level() > 1 && cushim_attempt_at(table, i, &attempt); i++)
        fprintf(stderr, "cushim: tried %s: %s\n", attempt.path,
                attempt.status == CUSHIM_OK ? "in use" : attempt.message);
    log_line(cushim_message(table));
}

/* Why the driver's cuInit failed. What a load found was reported before. */
static CUresult CUDAAPI log_init(unsigned int flags)
{
    const struct cushim_api *table = cushim_load(NULL);
    struct log_state *state = atomic_load(&log_active);
    CUresult result = table->cuInit(flags);
    if (result == CUDA_SUCCESS || flags || cushim_status(table) != CUSHIM_OK ||
        atomic_exchange(&state->init_reported, true))
        return result;
    if (cushim_init(table) != CUSHIM_OK)
        log_line(cushim_message(table));
    return result;
}

/* Whether a call of the entry fails for want of a function of the driver. Three entries answer all
 * the same, and of cuInit the load's sentence has said it. */
static bool log_is_missing(const struct cushim_api *table, size_t index)
{
    return index != CUSHIM_INDEX(cuInit) && index != CUSHIM_INDEX(cuDriverGetVersion) &&
           index != CUSHIM_INDEX(cuGetErrorName) && index != CUSHIM_INDEX(cuGetErrorString) &&
           cushim_slot_at(table, index).state != CUSHIM_STATE_AVAILABLE;
}

const struct cushim_api *cushim_dropin_log_start(const struct cushim_api *table)
{
    struct log_state *first = atomic_load(&log_active);
    if (first)
        return &first->table;
    struct log_state *made = log_level() ? calloc(1, sizeof *made) : NULL;
    if (!made)
        return NULL;
    made->table = *table;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        if (log_is_missing(table, i))
            cushim_table_set(&made->table, i, cushim_table_slot(&cushim_dropin_first, i));
    made->table.cuInit = log_init;
    flockfile(stderr); /* what other threads report of their calls comes after it */
    bool mine = atomic_compare_exchange_strong(&log_active, &first, made);
    if (mine)
        log_load(table);
    funlockfile(stderr);
    if (mine)
        return &made->table;
    free(made);
    return &first->table;
}

void cushim_dropin_log_call(const struct cushim_api *table, unsigned index)
{
    struct log_state *state = atomic_load(&log_active);
    char symbol[CUSHIM_SYMBOL_SIZE], line[1024];
    if (log_is_missing(table, index) && !atomic_exchange(&state->called[index], true))
        log_line(
            cushim_reason(table, cushim_registry_symbol(index, symbol), NULL, line, sizeof line));
}

/* SPDX-License-Identifier: MIT */
#include "loader/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader/last_error.h"
#include "loader/registry.h"
#include "loader/stubs.h"
#include "loader/table.h"

CUSHIM_COLD const char *cushim_instance_keep(_Atomic(char *) *place, char *text)
{
    char *kept = NULL;
    if (!text || atomic_compare_exchange_strong(place, &kept, text))
        return text;
    free(text);
    return kept;
}

CUSHIM_COLD static char *instance_describe(const struct cushim_instance *instance)
{
    char newer[96] = "";
    const struct cushim_resolution *resolution = &instance->resolution;
    const char *path = cushim_path(&resolution->table);
    size_t available = 0;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        available += resolution->via[i] != CUSHIM_VIA_NONE;
    if (resolution->remarks & CUSHIM_REMARK_NEWER_THAN_REGISTRY)
        snprintf(newer, sizeof newer, "; newer than CUDA %d.%d, the newest this build knows",
                 CUSHIM_RELEASE(CUSHIM_REGISTRY_VERSION));
    return cushim_text_format("%s: CUDA %d.%d, %zu of %d entries%s%s%s",
                              path                               ? path
                              : instance->found.library.resolver ? "the caller's resolver"
                                                                 : "a driver of unknown path",
                              CUSHIM_RELEASE(instance->found.lookup.version), available,
                              CUSHIM_ENTRY_COUNT, newer,
                              resolution->remarks & CUSHIM_REMARK_INTERPOSED
                                  ? "; another library answers for some of them"
                                  : "",
                              resolution->remarks & CUSHIM_REMARK_NO_PER_THREAD_STREAM
                                  ? "; it lacks per-thread default streams: used the legacy one"
                                  : "");
}

CUSHIM_COLD const char *cushim_instance_load_message(struct cushim_instance *instance)
{
    const char *message = instance->found.message;
    if (!message)
        message = atomic_load(&instance->message);
    if (!message && instance->found.status == CUSHIM_OK)
        message = cushim_instance_keep(&instance->message, instance_describe(instance));
    return message ? message : cushim_status_name(instance->found.status);
}

/* What there is for a table that is NULL: refused with words, like every NULL. */
static struct cushim_instance *instance_of(const struct cushim_api *cu, const char *function)
{
    if (cu)
        return cu->instance;
    cushim_last_error_set("%s: the table is NULL", function);
    return NULL;
}

enum cushim_status cushim_status(const struct cushim_api *cu)
{
    const struct cushim_instance *instance = instance_of(cu, __func__);
    return instance ? instance->found.status : CUSHIM_ERROR_INVALID_ARGUMENT;
}

const char *cushim_message(const struct cushim_api *cu)
{
    struct cushim_instance *instance = instance_of(cu, __func__);
    if (!instance)
        return cushim_last_error();
    int init = atomic_load(&instance->init_status);
    const char *message =
        init ? atomic_load(&instance->init_messages[init - CUSHIM_ERROR_NO_DEVICE]) : NULL;
    return message ? message : cushim_instance_load_message(instance);
}

unsigned cushim_remarks(const struct cushim_api *cu)
{
    const struct cushim_instance *instance = instance_of(cu, __func__);
    return instance ? instance->resolution.remarks : 0;
}

bool cushim_attempt_at(const struct cushim_api *cu, size_t index, struct cushim_attempt *attempt)
{
    const struct cushim_instance *instance = instance_of(cu, __func__);
    if (!instance || index >= instance->found.attempt_count)
        return false;
    if (!attempt || attempt->size < CUSHIM_LEAST(cushim_attempt, status)) {
        cushim_last_error_set("%s: %s", __func__,
                              attempt
                                  ? "attempt: size is not set; set it to sizeof of the structure"
                                  : "attempt is NULL; pass the address of a variable");
        return false;
    }
    cushim_text_write_sized(attempt, &instance->found.attempts[index], sizeof *attempt);
    return true;
}

const char *cushim_path(const struct cushim_api *cu)
{
    const struct cushim_instance *instance = instance_of(cu, __func__);
    return instance && instance->found.status == CUSHIM_OK ? instance->found.library.path : NULL;
}

const void *cushim_base(const struct cushim_api *cu)
{
    const struct cushim_instance *instance = instance_of(cu, __func__);
    return instance ? instance->found.library.base : NULL;
}

int cushim_driver_version(const struct cushim_api *cu)
{
    const struct cushim_instance *instance = instance_of(cu, __func__);
    return instance ? instance->found.lookup.version : 0;
}

struct cushim_slot cushim_slot_at(const struct cushim_api *cu, size_t index)
{
    struct cushim_slot slot = {CUSHIM_STATE_UNKNOWN, CUSHIM_VIA_NONE, NULL};
    const struct cushim_instance *instance = instance_of(cu, __func__);
    if (!instance || index >= CUSHIM_ENTRY_COUNT)
        return slot;
    void *held = cushim_table_slot(cu, index);
    if (cushim_stubs_is_stub(held, index)) {
        slot.state = cushim_stubs_missing(instance->found.lookup.version, index);
        return slot;
    }
    slot.state = CUSHIM_STATE_AVAILABLE;
    slot.via = held == cushim_table_slot(&instance->resolution.table, index)
                   ? (enum cushim_via)instance->resolution.via[index]
                   : CUSHIM_VIA_CALLER;
    slot.address = held;
    return slot;
}

bool cushim_has(const struct cushim_api *cu, const char *symbol)
{
    size_t index = symbol ? cushim_registry_find(symbol) : CUSHIM_ENTRY_COUNT;
    if (!symbol)
        cushim_last_error_set("cushim_has: the symbol is NULL");
    return cushim_slot_at(cu, index).state == CUSHIM_STATE_AVAILABLE;
}

bool cushim_has_member_(const struct cushim_api *cu, size_t offset)
{
    return cushim_slot_at(cu, (offset - CUSHIM_FIRST_SLOT) / sizeof(void *)).state ==
           CUSHIM_STATE_AVAILABLE;
}

const char *cushim_reason(const struct cushim_api *cu, const char *symbol, enum cushim_state *state,
                          char *text, size_t size)
{
    const char *name = symbol ? symbol : "NULL";
    size_t index = cushim_registry_find(name);
    enum cushim_state found = cushim_slot_at(cu, index).state;
    if (state)
        *state = found;
    if (text && size && !cu) {
        const char *error = cushim_last_error();
        size_t length = strlen(error);
        length = length < size ? length : size - 1;
        memcpy(text, error, length); /* not snprintf: gcc warns that it may cut off */
        text[length] = '\0';
    } else if (text && size)
        cushim_last_error_describe(text, size, name, found, cushim_driver_version(cu));
    return text;
}

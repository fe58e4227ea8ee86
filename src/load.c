/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"
#include "lock.h"
#include "unavailable.h"

static _Atomic(struct cushim_instance *) process_wide;
static struct cushim_lock lock;
static struct cushim_instance *open_instances; /* behind the lock */

/* Stands in where there is no memory for a real one. */
static struct cushim_instance fallback = {
    .status = CUSHIM_ERROR_OUT_OF_MEMORY,
    .permanent = true,
};

/* The caller's options as this library knows them; NULL where they contradict themselves. */
static const char *read_options(const struct cushim_options *given, struct cushim_options *options)
{
    memset(options, 0, sizeof *options);
    if (!given)
        return NULL;
    if (given->size < offsetof(struct cushim_options, path) + sizeof given->path)
        return "options: size is not that of struct cushim_options";
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
    if (options->path && options->resolver)
        return "options: path and resolver are both given";
    if ((unsigned)options->order > CUSHIM_ORDER_DLSYM_ONLY)
        return "options: order has an unknown value";
    return NULL;
}

static void note_success(struct cushim_instance *cu, const struct cushim_options *options)
{
    char text[4608], remark[160] = "";
    size_t available = 0;
    for (size_t i = 0; i < CUSHIM_ENTRY_COUNT; i++)
        available += cu->state[i] == CUSHIM_STATE_AVAILABLE;
    if (cu->remarks & CUSHIM_REMARK_NEWER_THAN_REGISTRY)
        snprintf(remark, sizeof remark, "; newer than CUDA %d.%d, the newest this build knows",
                 CUSHIM_REGISTRY_VERSION / 1000, CUSHIM_REGISTRY_VERSION % 1000 / 10);
    snprintf(text, sizeof text, "%s: CUDA %d.%d, %zu of %d entries%s%s%s",
             cu->path ? cu->path : "the caller's resolver", cu->driver_version / 1000,
             cu->driver_version % 1000 / 10, available, CUSHIM_ENTRY_COUNT, remark,
             cu->remarks & CUSHIM_REMARK_PROC_FAILED
                 ? "; its cuGetProcAddress denies or contradicts what it exports: used the symbols"
                 : "",
             cu->remarks & CUSHIM_REMARK_NO_PER_THREAD_STREAM
                 ? "; it lacks per-thread default streams: used the legacy one"
                 : "");
    cu->message = malloc(strlen(text) + 1);
    if (cu->message)
        memcpy(cu->message, text, strlen(text) + 1);
    cushim_log(options, cu->remarks ? CUSHIM_LOG_WARNING : CUSHIM_LOG_INFO, "%s", text);
}

/* A complete instance that nobody else sees yet; NULL for want of memory. */
static struct cushim_instance *create(const struct cushim_options *given)
{
    struct cushim_options options;
    const char *contradiction = read_options(given, &options);
    struct cushim_instance *cu = calloc(1, sizeof *cu);
    if (!cu) {
        cushim_set_last_error("out of memory");
        return NULL;
    }
    cu->own = cushim_no_driver_api;
    if (contradiction) {
        cu->status = CUSHIM_ERROR_INVALID_ARGUMENT;
        cu->message = malloc(strlen(contradiction) + 1);
        if (cu->message)
            memcpy(cu->message, contradiction, strlen(contradiction) + 1);
    } else {
        cushim_locate(cu, &options);
    }
    cu->own.instance = cu;
    if (cu->status == CUSHIM_OK) {
        cushim_resolve(cu, &options);
        note_success(cu, &options);
    } else {
        cushim_log(&options, CUSHIM_LOG_WARNING, "%s", cushim_message(&cu->own));
        cushim_set_last_error("%s", cushim_message(&cu->own));
    }
    return cu;
}

_Atomic(cushim_close_hook *) cushim_on_close;

static void destroy(struct cushim_instance *cu)
{
    cushim_close_hook *hook = atomic_load_explicit(&cushim_on_close, memory_order_acquire);
    if (hook)
        hook(&cu->own);
    for (size_t i = 0; i < cu->attempt_count; i++) {
        free((char *)(uintptr_t)cu->attempts[i].path);
        free((char *)(uintptr_t)cu->attempts[i].message);
    }
    free(cu->message);
    free(cu->path);
    free(cu);
}

static void add(struct cushim_instance *cu)
{
    cu->next = open_instances;
    open_instances = cu;
}

/* The functions behind the macros, for callers without this header's macros. */
const struct cushim_api *(cushim_open)(const struct cushim_options *options)
{
    return cushim_open_sized(options, sizeof(struct cushim_api));
}

const struct cushim_api *(cushim_load)(const struct cushim_options *options)
{
    return cushim_load_sized(options, sizeof(struct cushim_api));
}

const struct cushim_api *cushim_open_sized(const struct cushim_options *options, size_t table_size)
{
    if (table_size > sizeof(struct cushim_api)) {
        cushim_mismatched(table_size);
        return NULL;
    }
    struct cushim_instance *cu = create(options);
    if (cu && cu->status == CUSHIM_ERROR_INVALID_ARGUMENT) {
        destroy(cu);
        return NULL;
    }
    if (!cu)
        return NULL;
    cushim_lock_take(&lock);
    add(cu);
    cushim_lock_release(&lock);
    return &cu->own;
}

static struct cushim_instance *load(const struct cushim_options *options)
{
    struct cushim_instance *cu = atomic_load_explicit(&process_wide, memory_order_acquire);
    if (cu)
        return cu;
    cushim_lock_take(&lock);
    cu = atomic_load_explicit(&process_wide, memory_order_relaxed);
    if (!cu) {
        cu = create(options);
        if (cu) {
            add(cu);
            atomic_store_explicit(&process_wide, cu, memory_order_release);
        } else {
            fallback.own = cushim_no_driver_api;
            fallback.own.instance = &fallback;
        }
    }
    cushim_lock_release(&lock);
    return cu ? cu : &fallback;
}

const struct cushim_api *cushim_load_sized(const struct cushim_options *options, size_t table_size)
{
    if (table_size > sizeof(struct cushim_api))
        return cushim_mismatched(table_size);
    return &load(options)->own;
}

/* Whether the instance is one that cushim_close may free; unlinks it. */
static bool take(struct cushim_instance *cu)
{
    if (cu->permanent || cu == atomic_load_explicit(&process_wide, memory_order_acquire))
        return false;
    cushim_lock_take(&lock);
    for (struct cushim_instance **link = &open_instances; *link; link = &(*link)->next)
        if (*link == cu) {
            *link = cu->next;
            break;
        }
    cushim_lock_release(&lock);
    return true;
}

void cushim_close(const struct cushim_api *cu)
{
    if (cu && take(cu->instance))
        destroy(cu->instance);
}

void cushim_close_unload(const struct cushim_api *cu)
{
    if (!cu || !take(cu->instance))
        return;
    if (cu->instance->handle)
        cushim_platform_close(cu->instance->handle);
    destroy(cu->instance);
}

bool cushim_agreed(size_t index, enum cushim_state state, int *version, char *message, size_t size)
{
    const struct cushim_instance *found = NULL;
    bool agreed = true;
    cushim_lock_take(&lock);
    for (const struct cushim_instance *cu = open_instances; cu; cu = cu->next) {
        if (cushim_slot_at(&cu->own, index).state != state)
            continue;
        if (found && found->driver_version != cu->driver_version)
            agreed = false;
        found = cu;
    }
    if (found && agreed) {
        *version = found->driver_version;
        snprintf(message, size, "%s", cushim_message(&found->own));
    }
    cushim_lock_release(&lock);
    return found && agreed;
}

enum cushim_status cushim_status(const struct cushim_api *cu)
{
    return cu->instance->status;
}

const char *cushim_message(const struct cushim_api *cu)
{
    return cu->instance->message ? cu->instance->message : cushim_status_name(cu->instance->status);
}

unsigned cushim_remarks(const struct cushim_api *cu)
{
    return cu->instance->remarks;
}

const struct cushim_attempt *cushim_attempts(const struct cushim_api *cu, size_t *count)
{
    *count = cu->instance->attempt_count;
    return cu->instance->attempts;
}

const char *cushim_path(const struct cushim_api *cu)
{
    return cu->instance->path;
}

const void *cushim_base(const struct cushim_api *cu)
{
    return cu->instance->base;
}

int cushim_driver_version(const struct cushim_api *cu)
{
    return cu->instance->driver_version;
}

/* SPDX-License-Identifier: MIT */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instance.h"
#include "lock.h"
#include "unavailable.h"

static _Atomic(struct cushim *) process_wide;
static struct cushim_lock lock;
static struct cushim *open_instances; /* behind the lock */

/* Stands in where there is no memory for a real one. */
static struct cushim fallback = {
    .table = &cushim_no_driver_api,
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

static void note_success(struct cushim *cu, const struct cushim_options *options)
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
static struct cushim *create(const struct cushim_options *given)
{
    struct cushim_options options;
    const char *contradiction = read_options(given, &options);
    struct cushim *cu = calloc(1, sizeof *cu);
    if (!cu) {
        cushim_set_last_error("out of memory");
        return NULL;
    }
    cu->table = &cushim_no_driver_api;
    if (contradiction) {
        cu->status = CUSHIM_ERROR_INVALID_ARGUMENT;
        cu->message = malloc(strlen(contradiction) + 1);
        if (cu->message)
            memcpy(cu->message, contradiction, strlen(contradiction) + 1);
    } else {
        cushim_locate(cu, &options);
    }
    if (cu->status == CUSHIM_OK) {
        cushim_resolve(cu, &options);
        cu->table = &cu->own;
        note_success(cu, &options);
    } else {
        cushim_log(&options, CUSHIM_LOG_WARNING, "%s", cushim_message(cu));
        cushim_set_last_error("%s", cushim_message(cu));
    }
    return cu;
}

_Atomic(cushim_close_hook *) cushim_on_close;

static void destroy(struct cushim *cu)
{
    cushim_close_hook *hook = atomic_load_explicit(&cushim_on_close, memory_order_acquire);
    if (hook)
        hook(cu);
    for (size_t i = 0; i < cu->attempt_count; i++) {
        free((char *)(uintptr_t)cu->attempts[i].path);
        free((char *)(uintptr_t)cu->attempts[i].message);
    }
    free(cu->message);
    free(cu->path);
    free(cu);
}

static void add(struct cushim *cu)
{
    cu->next = open_instances;
    open_instances = cu;
}

/* The functions behind the macros, for callers without this header's macros. */
struct cushim *(cushim_open)(const struct cushim_options *options)
{
    return cushim_open_sized(options, sizeof(struct cushim_api));
}

const struct cushim_api *(cushim_load)(const struct cushim_options *options)
{
    return cushim_load_sized(options, sizeof(struct cushim_api));
}

struct cushim *(cushim_get)(void)
{
    return cushim_get_sized(sizeof(struct cushim_api));
}

struct cushim *cushim_open_sized(const struct cushim_options *options, size_t table_size)
{
    if (table_size > sizeof(struct cushim_api)) {
        cushim_set_last_error("%s", cushim_message(cushim_mismatched(table_size)));
        return NULL;
    }
    struct cushim *cu = create(options);
    if (cu && cu->status == CUSHIM_ERROR_INVALID_ARGUMENT) {
        destroy(cu);
        return NULL;
    }
    if (cu) {
        cushim_lock_take(&lock);
        add(cu);
        cushim_lock_release(&lock);
    }
    return cu;
}

static struct cushim *load(const struct cushim_options *options)
{
    struct cushim *cu = atomic_load_explicit(&process_wide, memory_order_acquire);
    if (cu)
        return cu;
    cushim_lock_take(&lock);
    cu = atomic_load_explicit(&process_wide, memory_order_relaxed);
    if (!cu) {
        cu = create(options);
        if (cu) {
            add(cu);
            atomic_store_explicit(&process_wide, cu, memory_order_release);
        }
    }
    cushim_lock_release(&lock);
    return cu ? cu : &fallback;
}

const struct cushim_api *cushim_load_sized(const struct cushim_options *options, size_t table_size)
{
    if (table_size > sizeof(struct cushim_api))
        return cushim_mismatched(table_size)->table;
    return load(options)->table;
}

struct cushim *cushim_get_sized(size_t table_size)
{
    if (table_size > sizeof(struct cushim_api))
        return cushim_mismatched(table_size);
    return load(NULL);
}

/* Whether the instance is one that cushim_close may free; unlinks it. */
static bool take(struct cushim *cu)
{
    if (!cu || cu->permanent || cu == atomic_load_explicit(&process_wide, memory_order_acquire))
        return false;
    cushim_lock_take(&lock);
    for (struct cushim **link = &open_instances; *link; link = &(*link)->next)
        if (*link == cu) {
            *link = cu->next;
            break;
        }
    cushim_lock_release(&lock);
    return true;
}

void cushim_close(struct cushim *cu)
{
    if (take(cu))
        destroy(cu);
}

void cushim_close_unload(struct cushim *cu)
{
    if (!take(cu))
        return;
    if (cu->handle)
        cushim_platform_close(cu->handle);
    destroy(cu);
}

bool cushim_agreed(size_t index, enum cushim_state state, int *version, char *message, size_t size)
{
    const struct cushim *found = NULL;
    bool agreed = true;
    cushim_lock_take(&lock);
    for (const struct cushim *cu = open_instances; cu; cu = cu->next) {
        if (cushim_slot_at(cu, index).state != state)
            continue;
        if (found && found->driver_version != cu->driver_version)
            agreed = false;
        found = cu;
    }
    if (found && agreed) {
        *version = found->driver_version;
        snprintf(message, size, "%s", cushim_message(found));
    }
    cushim_lock_release(&lock);
    return found && agreed;
}

const struct cushim_api *cushim_table(const struct cushim *cu)
{
    return cu->table;
}

enum cushim_status cushim_status(const struct cushim *cu)
{
    return cu->status;
}

const char *cushim_message(const struct cushim *cu)
{
    return cu->message ? cu->message : cushim_status_name(cu->status);
}

unsigned cushim_remarks(const struct cushim *cu)
{
    return cu->remarks;
}

const struct cushim_attempt *cushim_attempts(const struct cushim *cu, size_t *count)
{
    *count = cu->attempt_count;
    return cu->attempts;
}

const char *cushim_path(const struct cushim *cu)
{
    return cu->path;
}

const void *cushim_base(const struct cushim *cu)
{
    return cu->base;
}

int cushim_driver_version(const struct cushim *cu)
{
    return cu->driver_version;
}

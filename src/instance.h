/* SPDX-License-Identifier: MIT */
/* One open driver; internal to the library. */
#ifndef CUSHIM_SRC_INSTANCE_H
#define CUSHIM_SRC_INSTANCE_H

#include <stdatomic.h>
#include <stdint.h>

#include "entries.h"
#include "exports.h"
#include "platform.h"

#define CUSHIM_MAX_ATTEMPTS 16

struct cushim_instance {
    struct cushim_api own;
    uint8_t state[CUSHIM_ENTRY_COUNT], via[CUSHIM_ENTRY_COUNT];
    enum cushim_status status;
    unsigned remarks;
    enum cushim_order order;
    int driver_version; /* 0: no driver */
    char *message;
    char *path;
    const void *base;
    struct cushim_attempt attempts[CUSHIM_MAX_ATTEMPTS];
    size_t attempt_count;
    void *handle; /* of the library; NULL without one */
    struct cushim_exports exports;
    cushim_resolver_fn *resolver;
    void *user;
    bool init_called;
    CUresult init_result;
    bool permanent;               /* never to be freed */
    struct cushim_instance *next; /* of the open instances */
};

/* locate.c: open the first driver that will do; fills all but the table. */
void cushim_locate(struct cushim_instance *cu, const struct cushim_options *options);

/* resolve.c: fill the table of an instance that has a driver. */
void cushim_resolve(struct cushim_instance *cu, const struct cushim_options *options);

/* resolve.c: the driver's exported symbol, or NULL. */
void *cushim_symbol(const struct cushim_instance *cu, const char *symbol);

/* resolve.c: the driver's cuGetProcAddress, whichever form it has; NULL where it has none. */
void *cushim_ask(const struct cushim_instance *cu, const char *name, int version, bool per_thread);

/* load.c: version of the driver, and message, that all open instances agree on whose slot for an
 * entry has this state; false where they do not. Copies up to `size` bytes of the message. */
bool cushim_agreed(size_t index, enum cushim_state state, int *version, char *message, size_t size);

/* handshake.c: the table for callers whose header has a larger table than this library. */
const struct cushim_api *cushim_mismatched(size_t table_size);

/* load.c: called for an instance that closes; a helper that keeps records of instances sets it when
 * it makes its first, so that a program without that helper does not carry it. */
typedef void cushim_close_hook(const struct cushim_api *cu);
extern _Atomic(cushim_close_hook *) cushim_on_close;

/* init.c: whether a parent of this process called cuInit through cushim. */
bool cushim_is_forked(void);

/* report.c */
void cushim_log(const struct cushim_options *options, enum cushim_log_level level,
                const char *format, ...) CUSHIM_PRINTF(3, 4);
void cushim_set_last_error(const char *format, ...) CUSHIM_PRINTF(1, 2);
/* Whether the last thing noted on this thread is a call of this entry, which is unavailable. */
bool cushim_was_unavailable(const char *symbol);
/* What to do about a status; empty where there is nothing to say. */
const char *cushim_advice(enum cushim_status status);
/* A sentence about an entry's state; version 0: not known. */
void cushim_describe_state(char *text, size_t size, const char *symbol, int since,
                           enum cushim_state state, int driver_version);

#endif

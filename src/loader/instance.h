/* SPDX-License-Identifier: MIT */
/* One open driver, or the reason why there is none. The caller knows it by its table, or by a copy
 * of it in which some slots are the caller's own. */
#ifndef CUSHIM_LOADER_INSTANCE_H
#define CUSHIM_LOADER_INSTANCE_H

#include <stdatomic.h>

#include "loader/find.h"
#include "loader/resolve.h"

/* Of functions that run once or rarely: small rather than fast. */
#if defined(__GNUC__)
#define CUSHIM_COLD __attribute__((cold))
#else
#define CUSHIM_COLD
#endif

/* Complete and immutable once others see it, but for the atomic members. */
struct cushim_instance {
    struct cushim_resolution resolution; /* the table comes first */
    struct cushim_find found;
    bool uses_twins;           /* plain slots hold their per-thread twins */
    _Atomic(char *) message;   /* made when somebody asks for it */
    _Atomic int init_status;   /* of the last cuInit */
    _Atomic int init_inside;   /* threads in cuInit, */
    _Atomic long init_process; /* and of which process */
    _Atomic(char *) init_messages[CUSHIM_ERROR_FORKED - CUSHIM_ERROR_NO_DEVICE + 1];
    _Atomic(void *) primary; /* records of the helpers, one block from malloc */
};

/* Store a sentence from malloc if there is none yet; returns the one that is stored. */
const char *cushim_instance_keep(_Atomic(char *) *place, char *text);

/* The same as cushim_message, whatever cuInit returned since. */
const char *cushim_instance_load_message(struct cushim_instance *instance);

#endif

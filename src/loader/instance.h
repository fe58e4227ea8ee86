/* SPDX-License-Identifier: MIT */
/* One open driver, or the reason why there is none. The caller knows it by its table. */
#ifndef CUSHIM_LOADER_INSTANCE_H
#define CUSHIM_LOADER_INSTANCE_H

#include <limits.h>
#include <stdatomic.h>

#include "loader/find.h"
#include "loader/resolve.h"

#define CUSHIM_INIT_NOT_CALLED INT_MIN

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
    enum cushim_order order;
    _Atomic int init_result;               /* of the first cuInit */
    _Atomic(char *) message, init_message; /* sentences, each made when somebody asks for it */
    _Atomic(char *) real_path;
    _Atomic(void *) primary; /* records of the helpers, one block from malloc */
};

/* Store a sentence from malloc if there is none yet; returns the one that is stored. */
const char *cushim_instance_keep(_Atomic(char *) *place, char *text);

/* The same as cushim_message, whatever cuInit returned since. */
const char *cushim_instance_load_message(struct cushim_instance *instance);

#endif

/* SPDX-License-Identifier: MIT */
/* The drop-in: a table behind functions of the driver's own names; dropin.c is generated. */
#ifndef CUSHIM_SRC_DROPIN_H
#define CUSHIM_SRC_DROPIN_H

#include <stdatomic.h>

#include <cushim/cushim.h>

/* The table in use: at first one whose slots load. */
extern _Atomic(const struct cushim_api *) cushim_dropin_table;

#define CUSHIM_DROPIN_TABLE atomic_load_explicit(&cushim_dropin_table, memory_order_acquire)

/* Load once, for all threads; afterwards every call goes straight to the driver. */
const struct cushim_api *cushim_dropin_load(void);

#endif

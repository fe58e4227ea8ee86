/* SPDX-License-Identifier: MIT */
/* Live objects, counted as a user thinks of them. */
#ifndef CUSHIM_SIM_LIVE_H
#define CUSHIM_SIM_LIVE_H

#include <stdio.h>

#include "sim.h"

/* Objects of the kind that the program made and must destroy: not those that come and go with
 * others (functions with modules, the streams that every context has). */
size_t sim_live(enum sim_kind kind);
/* Kinds and numbers, one line each after `prefix`, memory included; the number of lines. */
unsigned sim_live_print(FILE *file, const char *prefix);

#endif

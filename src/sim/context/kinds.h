/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CONTEXT_KINDS_H
#define CUSHIM_SIM_CONTEXT_KINDS_H

#include "core/object.h"

struct sim_context;

const char *sim_kinds_name(enum sim_kind kind);
void sim_kinds_end(struct sim_context *context); /* all that the context owns */

#endif

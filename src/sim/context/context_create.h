/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CONTEXT_CONTEXT_CREATE_H
#define CUSHIM_SIM_CONTEXT_CONTEXT_CREATE_H

#include <stdbool.h>

bool sim_context_create_flags_valid(unsigned flags);

#endif

/* SPDX-License-Identifier: MIT */
#include "core/core.h"

#include "sim.h"

int sim_version_built = SIM_NEWEST;

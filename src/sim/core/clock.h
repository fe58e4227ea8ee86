/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CORE_CLOCK_H
#define CUSHIM_SIM_CORE_CLOCK_H

#include <stdint.h>

uint64_t sim_clock_ns(void); /* CLOCK_MONOTONIC */

#endif

/* SPDX-License-Identifier: MIT */
/* Fault rules for NVML's entries: those of `cushim sim --fault` whose name is one of NVML's, and
 * device-lost. */
#ifndef CUSHIM_SIM_NVML_NVML_FAULT_H
#define CUSHIM_SIM_NVML_NVML_FAULT_H

#include <stdbool.h>

#include "nvml_sim.h"

void sim_nvml_fault_read(const char *rules); /* NULL: none */
/* What the rules answer in place of a call about a device, -1 for none of them; and what they have
 * it return after it happened, and how long it waits before. */
nvmlReturn_t sim_nvml_fault(unsigned entry, int device, nvmlReturn_t *after,
                            unsigned *milliseconds);
/* Whether a release lacks the entry, or a rule says so. */
bool sim_nvml_fault_lacks(unsigned entry, int cuda);

#endif

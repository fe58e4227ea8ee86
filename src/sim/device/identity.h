/* SPDX-License-Identifier: MIT */
/* What is fixed of a device by its number and the settings: the same in every process, and for the
 * simulated NVML. */
#ifndef CUSHIM_SIM_DEVICE_IDENTITY_H
#define CUSHIM_SIM_DEVICE_IDENTITY_H

#include <stddef.h>

#include "sim.h"

#define SIM_UUID_TEXT 41 /* "GPU-", 36 characters, NUL */

CUuuid sim_identity_uuid(int physical);
void sim_identity_uuid_text(int physical, char text[SIM_UUID_TEXT]);
int sim_identity_bus(int physical); /* number of its PCI bus */
size_t sim_identity_memory(void);   /* bytes of each device, by the settings */

#endif

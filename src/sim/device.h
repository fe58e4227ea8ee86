/* SPDX-License-Identifier: MIT */
/* What the files about devices share. */
#ifndef CUSHIM_SIM_DEVICE_H
#define CUSHIM_SIM_DEVICE_H

#include "sim.h"

#define SIM_UUID_TEXT 41 /* "GPU-", 36 characters, NUL */

CUuuid sim_device_uuid(int physical);
void sim_device_uuid_text(int physical, char text[SIM_UUID_TEXT]);
int sim_device_bus(const struct sim_device *device); /* number of its PCI bus */

#endif

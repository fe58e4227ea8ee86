/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_DEVICE_DEVICE_NAME_H
#define CUSHIM_SIM_DEVICE_DEVICE_NAME_H

#include "device/device.h"

int sim_device_name_bus(const struct sim_device *device); /* number of its PCI bus */

#endif

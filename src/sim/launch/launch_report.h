/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_LAUNCH_LAUNCH_REPORT_H
#define CUSHIM_SIM_LAUNCH_LAUNCH_REPORT_H

#include "sim.h"

struct ptx_fault;
struct sim_device;

/* Tell the user of a kernel's fault (launch_report.c). */
void sim_launch_report(const struct sim_device *device, const struct ptx_fault *fault,
                       CUresult code);

#endif

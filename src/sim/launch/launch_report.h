/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_LAUNCH_LAUNCH_REPORT_H
#define CUSHIM_SIM_LAUNCH_LAUNCH_REPORT_H

#include "sim.h"

struct ptx_fault;
struct sim_device;

/* Tell the user of a kernel's fault (launch_report.c). */
void sim_launch_report(const struct sim_device *device, const struct ptx_fault *fault,
                       CUresult code);
/* What a check of kernels found; and how often one did. */
void sim_launch_report_note(const struct sim_device *device, const char *sentence);
unsigned long long sim_launch_report_count(void);

#endif

/* SPDX-License-Identifier: MIT */
/* The drop-in for NVML: functions of its own names; nvml_dropin.c is generated. */
#ifndef CUSHIM_NVML_DROPIN_H
#define CUSHIM_NVML_DROPIN_H

#include <cushim/nvml.h>

/* The table, loaded by the first call. After it a call costs one read more. */
static inline const struct cushim_nvml *cushim_nvml_dropin_table(void)
{
    return cushim_nvml_load(NULL);
}

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_CORE_VERSION_H
#define CUSHIM_SIM_CORE_VERSION_H

/* The CUDA version whose symbols are exported: SIM_NEWEST, unless a library that stands before this
 * code says another. */
extern int sim_version_built;

#endif

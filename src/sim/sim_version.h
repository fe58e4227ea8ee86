/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_VERSION_H
#define CUSHIM_SIM_VERSION_H

extern const int sim_built_version; /* the CUDA version whose symbols this library exports */

#endif

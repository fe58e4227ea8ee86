/* SPDX-License-Identifier: MIT */
/* What every file has to do with: the types of CUDA, and every entry's behaviour. README.md says
 * how a call comes to one. */
#ifndef CUSHIM_SIM_SIM_H
#define CUSHIM_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cushim/cuda.h>
#include <cushim/cudaEGL.h>
#include <cushim/cudaGL.h>
#include <cushim/cudaProfiler.h>
#include <cushim/cudaVDPAU.h>

#include "sim_behaviours.h" /* generated: CUresult sim_<symbol>(...) of every entry */

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_TEXTURE_SURF_H
#define CUSHIM_SIM_PTX_TEXTURE_SURF_H

#include "ptx/ops/ops.h"

ops_family surf_select;

#endif

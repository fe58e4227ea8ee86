/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_LOWER_LAYOUT_H
#define CUSHIM_SIM_PTX_LOWER_LAYOUT_H

#include <stdbool.h>

struct lower;

bool layout_function(struct lower *lower);

#endif

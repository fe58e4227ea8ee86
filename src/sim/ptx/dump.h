/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_DUMP_H
#define CUSHIM_SIM_PTX_DUMP_H

#include "ir.h"

void ir_dump(const struct ir_module *module, struct ptx_text *text);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef TESTS_SIM_PTX_DUMP_H
#define TESTS_SIM_PTX_DUMP_H

#include "ptx/ptx.h"
#include "ptx/read/ir.h"

void dump_module(const struct ir_module *module, struct ptx_text *text);

#endif

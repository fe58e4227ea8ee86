/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_DUMP_H
#define CUSHIM_SIM_PTX_READ_DUMP_H

struct ir_module;
struct ptx_text;

void dump_module(const struct ir_module *module, struct ptx_text *text);

#endif

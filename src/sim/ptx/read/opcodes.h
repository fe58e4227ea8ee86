/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_READ_OPCODES_H
#define CUSHIM_SIM_PTX_READ_OPCODES_H

#include "ptx/read/ir.h"

unsigned opcodes_type_size(enum ir_type type);    /* bytes; predicates 1 */
unsigned opcodes_rank(enum ir_geometry geometry); /* dimensions of a tensor; 0: of none */
extern const char *const opcodes_text[];          /* "add" */

#endif

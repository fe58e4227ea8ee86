/* SPDX-License-Identifier: MIT */
/* Steps that move values between registers and shapes of registers. */
#ifndef CUSHIM_SIM_PTX_OPS_MOVE_H
#define CUSHIM_SIM_PTX_OPS_MOVE_H

#include "ptx/ops/exec.h"

ptx_run move_copy128, move_copy32, move_copy64, move_low32, move_low64, move_mask16, move_mask8,
    move_nothing, move_pack, move_predicate_copy, move_predicate_not, move_predicate_set,
    move_sign16, move_sign16_64, move_sign64, move_sign8, move_sign8_16, move_sign8_64, move_unpack,
    move_zero128, move_zero64;

#endif

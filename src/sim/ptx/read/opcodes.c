/* SPDX-License-Identifier: MIT */
#include "ptx/read/ir.h"

const char *const opcodes_text[] = {
#define IR_OP(name, text) text,
#include "ptx/read/opcodes.def"
#undef IR_OP
};

unsigned opcodes_type_size(enum ir_type type)
{
    switch (type) {
    case IR_NONE:
        return 0;
    case IR_B8:
    case IR_U8:
    case IR_S8:
    case IR_E2M1X2:
    case IR_U4:
    case IR_S4:
    case IR_U2:
    case IR_S2:
    case IR_E4M3:
    case IR_E5M2:
    case IR_B1:
    case IR_PRED:
        return 1;
    case IR_B16:
    case IR_U16:
    case IR_S16:
    case IR_F16:
    case IR_BF16:
    case IR_E4M3X2:
    case IR_E5M2X2:
    case IR_E2M3X2:
    case IR_E3M2X2:
        return 2;
    case IR_B32:
    case IR_U32:
    case IR_S32:
    case IR_F16X2:
    case IR_BF16X2:
    case IR_TF32:
    case IR_F32:
    case IR_U16X2:
    case IR_S16X2:
        return 4;
    case IR_B64:
    case IR_U64:
    case IR_S64:
    case IR_F64:
    case IR_F32X2:
    case IR_TEXREF:
    case IR_SAMPLERREF:
    case IR_SURFREF:
        return 8;
    case IR_B128:
        return 16;
    }
    return 0;
}

unsigned opcodes_rank(enum ir_geometry geometry)
{
    switch (geometry) {
    case IR_1D:
        return 1;
    case IR_2D:
        return 2;
    case IR_3D:
        return 3;
    case IR_4D:
        return 4;
    case IR_5D:
        return 5;
    default:
        return 0;
    }
}

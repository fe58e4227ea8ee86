/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "ptx/read/ir.h"
#include "ptx/read/read.h"

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

static const struct ptx_builtin builtins[] = {
    {"vprintf", BUILTIN_PRINTF, 2, 1, false},
    {"__assertfail", BUILTIN_ASSERTFAIL, 5, 0, false},
    {"malloc", BUILTIN_MALLOC, 1, 1, true},
    {"free", BUILTIN_FREE, 1, 0, true},
    {"__cuda_syscall_aligned_malloc", BUILTIN_ALIGNED_MALLOC, 2, 1, true},
    {"cudaGraphSetConditional", BUILTIN_SET_CONDITIONAL, 2, 0, false},
};

const struct ptx_builtin *opcodes_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
    return NULL;
}

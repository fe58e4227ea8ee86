/* SPDX-License-Identifier: MIT */

#include "ptx/read/read.h"

const char *const opcodes_text[] = {
#define IR_OP(name, text) text,
#include "ptx/read/opcodes.def"
};

const struct opcodes_type opcodes_types[IR_TYPE_COUNT] = {
#define IR_TYPE(name, word, bits, kind, is_signed) {word, bits, CLASS_##kind, is_signed},
#include "ptx/read/opcodes_types.def"
};

unsigned opcodes_rank(enum ir_geometry geometry)
{
    return geometry <= IR_5D ? geometry : 0; /* IR_1D is 1 */
}

static const struct ptx_builtin builtins[] = {
#define IR_BUILTIN(kind, name, arguments, returns, heap, run)                                      \
    {name, BUILTIN_##kind, arguments, returns, heap},
#include "ptx/read/builtins.def"
};

const struct ptx_builtin *opcodes_builtin(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
    return NULL;
}

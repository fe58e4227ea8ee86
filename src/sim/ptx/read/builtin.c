/* SPDX-License-Identifier: MIT */
#include "ptx/read/read.h"

#include <string.h>

static const struct ptx_builtin builtins[] = {
    {"vprintf", BUILTIN_PRINTF, 2, 1, false},
    {"__assertfail", BUILTIN_ASSERTFAIL, 5, 0, false},
    {"malloc", BUILTIN_MALLOC, 1, 1, true},
    {"free", BUILTIN_FREE, 1, 0, true},
    {"__cuda_syscall_aligned_malloc", BUILTIN_ALIGNED_MALLOC, 2, 1, true},
    {"cudaGraphSetConditional", BUILTIN_SET_CONDITIONAL, 2, 0, false},
};

const struct ptx_builtin *builtin_find(const char *name)
{
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++)
        if (strcmp(builtins[i].name, name) == 0)
            return &builtins[i];
    return NULL;
}

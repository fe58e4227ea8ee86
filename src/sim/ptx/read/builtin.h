/* SPDX-License-Identifier: MIT */
/* Functions that every device has: PTX declares and calls them, and nobody defines them. */
#ifndef CUSHIM_SIM_PTX_READ_BUILTIN_H
#define CUSHIM_SIM_PTX_READ_BUILTIN_H

#include <stdbool.h>
#include <stdint.h>

enum builtin_kind {
    BUILTIN_PRINTF,
    BUILTIN_ASSERTFAIL,
    BUILTIN_MALLOC,
    BUILTIN_FREE,
    BUILTIN_ALIGNED_MALLOC,
    BUILTIN_SET_CONDITIONAL
};
struct ptx_builtin {
    const char *name;
    enum builtin_kind kind;
    uint32_t arguments, returns;
    bool heap; /* it needs the context's heap */
};
const struct ptx_builtin *builtin_find(const char *name); /* NULL: there is none */

#endif

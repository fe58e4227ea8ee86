/* SPDX-License-Identifier: MIT */
/* Functions that every device has: PTX declares and calls them, and nobody defines them. */
#ifndef CUSHIM_SIM_BUILTIN_H
#define CUSHIM_SIM_BUILTIN_H

#include "exec.h"

struct ptx_builtin {
    const char *name;
    ptx_run *run; /* of a step whose `extra` is the call's struct call_site */
    uint32_t arguments, returns;
    bool heap; /* it needs the context's heap */
};
const struct ptx_builtin *builtin_find(const char *name); /* NULL: there is none */

#endif

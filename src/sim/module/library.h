/* SPDX-License-Identifier: MIT */
/* Libraries: a module in every context that uses it, made when it does. */
#ifndef CUSHIM_SIM_MODULE_LIBRARY_H
#define CUSHIM_SIM_MODULE_LIBRARY_H

#include "core/object.h"
#include "sim.h"

struct ptx_function_info;
struct ptx_module;
struct sim_context;
struct sim_function;
struct sim_kernel;

struct sim_library {
    struct sim_object object;
    CUresult status;             /* of its code: told when it is used */
    struct ptx_module *ptx;      /* NULL: status says why */
    struct sim_kernel **kernels; /* of each of its functions, made when asked for */
};
struct sim_kernel {
    struct sim_object object;
    struct sim_library *library;
    size_t index;
};

/* The function of a CUkernel in a context; NULL: no kernel, or *result is the module's error. */
struct sim_function *sim_library_function(struct sim_context *context, const void *handle,
                                          CUresult *result);

#endif

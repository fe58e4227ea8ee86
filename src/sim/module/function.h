/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MODULE_FUNCTION_H
#define CUSHIM_SIM_MODULE_FUNCTION_H

#include "sim.h"

struct ptx_function_info;
struct ptx_module;
struct sim_context;
struct sim_device;
struct sim_function;

CUresult sim_function_parameter(const struct ptx_function_info *info, size_t index, size_t *offset,
                                size_t *size);
const struct ptx_function_info *sim_function_info(const struct sim_function *function);
/* The function that a handle means in a context: its own, or that of a kernel (CUkernel). NULL:
 * neither; *result says why. */
struct sim_function *sim_function_of(struct sim_context *context, const void *handle,
                                     CUresult *result);
/* Attributes that can be read of any function; `function` may lack what was set (NULL). */
CUresult sim_function_attribute(const struct ptx_module *ptx, size_t index,
                                const struct sim_function *function,
                                const struct sim_device *device, CUfunction_attribute attribute,
                                int *value);
CUresult sim_function_set(struct sim_function *function, CUfunction_attribute attribute, int value);

#endif

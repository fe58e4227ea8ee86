/* SPDX-License-Identifier: MIT */
/* What the files about modules, libraries, functions and launches share. */
#ifndef CUSHIM_SIM_MODULE_H
#define CUSHIM_SIM_MODULE_H

#include "jit.h"
#include "ptx/ptx.h"
#include "sim.h"

/* Newest PTX version of the simulated CUDA version: 804 for 12.4. */
unsigned sim_ptx_version(void);
/* A whole file, NUL-terminated, to be freed: FILE_NOT_FOUND where it cannot be read. */
CUresult sim_file_read(const char *path, char **data, size_t *size);

/* Compile what `data` holds; *ptx is the caller's reference. */
CUresult sim_module_compile(const struct sim_context *context, const void *data, size_t size,
                            struct sim_jit *jit, struct ptx_module **ptx);
CUresult sim_module_make(struct sim_context *context, struct ptx_module *ptx,
                         struct sim_module **module);
void sim_module_destroy(struct sim_module *module);
void sim_links_clear(const struct sim_context *context);
/* The handle of a function of the module; made on first use. NULL: no memory. */
struct sim_function *sim_module_function(struct sim_module *module, size_t index);
/* Index of a visible entry by name, or the number of functions. */
size_t sim_ptx_entry(const struct ptx_module *ptx, const char *name);
/* Whether the engine lacks what the kernel needs, which is then reported. */
bool sim_kernel_lacks(const struct sim_device *device, const struct ptx_module *ptx, size_t index);
size_t sim_ptx_entries(const struct ptx_module *ptx); /* how many visible ones */
/* Index of a variable that cuModuleGetGlobal finds, or the number of variables. */
size_t sim_ptx_variable(const struct ptx_module *ptx, const char *name,
                        enum ptx_variable_kind kind);

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

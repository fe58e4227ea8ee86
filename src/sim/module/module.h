/* SPDX-License-Identifier: MIT */
/* What the files about modules, libraries, functions and launches share. */
#ifndef CUSHIM_SIM_MODULE_MODULE_H
#define CUSHIM_SIM_MODULE_MODULE_H

#include "core/object.h"
#include "ptx/ptx.h"
#include "sim.h"

struct ptx_image;
struct ptx_module;
struct sim_allocation;
struct sim_context;
struct sim_device;
struct sim_function;
struct sim_jit;
struct sim_library;
struct sim_reference;

struct sim_module {
    struct sim_object object;
    struct ptx_module *ptx;
    struct ptx_image *image;
    struct sim_allocation **variables; /* of each of the module's; NULL for references */
    struct sim_reference **references; /* the others: textures and surfaces */
    struct sim_function **functions;   /* handles, made when asked for */
    struct sim_library *library;       /* that it was made for; NULL: loaded by itself */
};
struct sim_function {
    struct sim_object object;
    struct sim_module *module;
    size_t index;       /* in the PTX module */
    int dynamic_shared; /* attributes that can be set: bytes */
    int carveout;       /* per cent, -1: the default */
    int cluster[3], non_portable_cluster, cluster_policy;
    CUfunc_cache cache;
    struct { /* of cuFuncSetBlockShape, cuParamSet* and cuLaunch */
        unsigned block[3], shared, size;
        char *params;
    } old;
};

/* A whole file, NUL-terminated, to be freed: FILE_NOT_FOUND where it cannot be read. */
CUresult sim_module_read_file(const char *path, char **data, size_t *size);

/* Compile what `data` holds; *ptx is the caller's reference. */
CUresult sim_module_compile(const struct sim_context *context, const void *data, size_t size,
                            struct sim_jit *jit, struct ptx_module **ptx);
/* Index of a visible entry by name, or the number of functions. */
size_t sim_module_entry(const struct ptx_module *ptx, const char *name);
/* Whether the engine lacks what the kernel needs, which is then reported. */
bool sim_module_lacks(const struct sim_device *device, const struct ptx_module *ptx, size_t index);
size_t sim_module_entries(const struct ptx_module *ptx); /* how many visible ones */
/* Index of a variable that cuModuleGetGlobal finds, or the number of variables. */
size_t sim_module_variable(const struct ptx_module *ptx, const char *name,
                           enum ptx_variable_kind kind);

#endif

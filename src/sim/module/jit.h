/* SPDX-License-Identifier: MIT */
/* JIT options: read from the caller's arrays, and the outputs written back there. */
#ifndef CUSHIM_SIM_MODULE_JIT_H
#define CUSHIM_SIM_MODULE_JIT_H

#include "ptx/ptx.h"
#include "sim.h"

struct ptx_module;
struct sim_context;
struct sim_device;

struct sim_jit {
    unsigned count;
    const CUjit_option *options;
    void **values;
    uint64_t start_ns;
    struct ptx_text errors, info;
    size_t reported; /* how much of the errors */
    struct sim_log {
        char *buffer;
        size_t size;
    } error_log, info_log;  /* the caller's */
    unsigned max_registers; /* 0: not given */
    unsigned target;        /* compute capability asked for, 0: the context's */
    bool verbose;
};

/* The arrays stay the caller's until the last sim_jit_write. */
CUresult sim_jit_begin(struct sim_jit *jit, unsigned count, const CUjit_option *options,
                       void **values);
void sim_jit_write(struct sim_jit *jit); /* logs, their sizes and the wall time, as they are now */
/* Report why an image (its name: "module") was refused, where the program has no log for that: the
 * first line that was not reported yet. */
void sim_jit_refused(struct sim_jit *jit, const struct sim_device *device, const char *image,
                     CUresult result);
void sim_jit_free(struct sim_jit *jit);
/* Whether the device is the target that was asked for. */
CUresult sim_jit_check_target(struct sim_jit *jit, unsigned architecture);
/* What a verbose log says of each kernel. */
void sim_jit_describe(struct sim_jit *jit, const struct ptx_module *module, unsigned architecture);
/* Compile sources for the context's device; CUDA_ERROR_INVALID_PTX and its like on failure. */
CUresult sim_jit_compile(struct sim_jit *jit, const struct sim_context *context,
                         const struct ptx_source *sources, size_t count,
                         struct ptx_module **module);

#endif

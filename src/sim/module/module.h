/* SPDX-License-Identifier: MIT */
/* From an image to functions that can be launched. */
#ifndef CUSHIM_SIM_MODULE_MODULE_H
#define CUSHIM_SIM_MODULE_MODULE_H

#include "texture/texture.h"

struct sim_jit;

/* --- module.c --- What the files about modules, libraries, functions and launches share. */
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

/* --- fatbin.c --- */
bool sim_fatbin_is(const void *data, size_t size);
/* The PTX text that fits the device best, unpacked; to be freed. */
CUresult sim_fatbin_read(const void *data, size_t size, unsigned architecture, char **text,
                         size_t *length, struct ptx_text *errors);

/* --- function.c --- */
CUresult sim_function_parameter(const struct ptx_function_info *info, size_t index, size_t *offset,
                                size_t *size);
const struct ptx_function_info *sim_function_info(const struct sim_function *function);
int sim_function_max_threads(const struct ptx_function_info *info, const struct sim_device *device);
/* Dynamic shared memory that it may have; NULL: without asking for more. */
int sim_function_max_dynamic(const struct ptx_function_info *info,
                             const struct sim_function *function, const struct sim_device *device);
/* The function that a handle means in a context: its own, or that of a kernel (CUkernel). */
CUresult sim_function_of(struct sim_context *context, const void *handle,
                         struct sim_function **function);
/* That of a handle which is CUfunction only. */
CUresult sim_function_own(CUfunction handle, struct sim_function **function);
/* Attributes that can be read of any function; `function` may lack what was set (NULL). */
CUresult sim_function_attribute(const struct ptx_module *ptx, size_t index,
                                const struct sim_function *function,
                                const struct sim_device *device, CUfunction_attribute attribute,
                                int *value);
CUresult sim_function_set(struct sim_function *function, CUfunction_attribute attribute, int value);

/* --- image.c --- What a module can be loaded from: PTX text, a fatbin with PTX in it, or what this
 * driver's own linker made. */
struct sim_image {
    struct ptx_source *sources; /* they belong together: to be linked */
    size_t count;
    unsigned max_registers; /* that the linker was told; 0: none */
    char **owned;           /* texts that were unpacked; the others lie in the caller's image */
};

#define SIM_HOW_TO_GET_PTX                                                                         \
    "compile for a virtual architecture: nvcc -gencode arch=compute_75,code=compute_75, nvrtc "    \
    "--gpu-architecture=compute_75\n"

/* Find the PTX in `data`. `size` is SIZE_MAX where only the image itself says where it ends.
 * CUDA_ERROR_NO_BINARY_FOR_GPU: machine code only, or PTX for other devices only;
 * CUDA_ERROR_INVALID_IMAGE: none of the formats, or truncated. `errors` grows by the reason. */
CUresult sim_image_read(const void *data, size_t size, unsigned architecture,
                        struct sim_image *image, struct ptx_text *errors);
bool sim_image_is_binary(const void *data, size_t size); /* fatbin or ELF */
/* A whole file, NUL-terminated, to be freed: FILE_NOT_FOUND where it cannot be read. */
CUresult sim_image_read_file(const char *path, char **data, size_t *size);
void sim_image_free(struct sim_image *image);
/* The same image, with texts and inputs' names of its own. */
CUresult sim_image_append(struct sim_image *image, const struct sim_image *more);

/* Whether `data` holds the output of the linker, to the last byte. */
bool sim_image_same(const void *data, size_t size, const void *output);

/* The linker's output: an ELF file of the CUDA machine whose only content is the PTX of the inputs.
 * The block is the caller's, to be freed; NULL: no memory. */
void *sim_image_write(const struct sim_image *image, unsigned architecture, size_t *size);
/* Archives of host objects with device code, which the linker takes as libraries.
 */
/* The PTX of all fatbins in an archive, as far as the device can take it; machine code is passed
 * over, so that what only it defines stays missing. For NVIDIA's libcudadevrt, which has no PTX for
 * most devices, a text of this driver's own stands.
 * CUDA_ERROR_UNKNOWN: no archive; CUDA_ERROR_INVALID_IMAGE: no device code in it. */
CUresult sim_image_archive_read(const void *data, size_t size, unsigned architecture,
                                struct sim_image *image, struct ptx_text *errors);

/* --- jit.c --- JIT options: read from the caller's arrays, and the outputs written back there. */
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

/* The arrays stay the caller's until the last sim_jit_tell. */
CUresult sim_jit_begin(struct sim_jit *jit, unsigned count, const CUjit_option *options,
                       void **values);
/* Write the logs, their sizes and the wall time, as they are now. Report why an image (its name:
 * "module") was refused, where the program has no log for that: the first line that was not
 * reported yet. */
void sim_jit_tell(struct sim_jit *jit, const struct sim_device *device, const char *image,
                  CUresult result);
void sim_jit_free(struct sim_jit *jit);
/* Whether the device is the target that was asked for. */
CUresult sim_jit_check_target(struct sim_jit *jit, unsigned architecture);
/* What a verbose log says of each kernel. */
void sim_jit_describe(struct sim_jit *jit, const struct ptx_module *module, unsigned architecture);
CUresult sim_jit_code(enum ptx_status status); /* of inputs that were good, each by itself */
/* Compile sources for the context's device; CUDA_ERROR_INVALID_PTX and its like on failure. */
struct ptx_options sim_jit_options(const struct sim_jit *jit, const struct sim_device *device);
CUresult sim_jit_compile(struct sim_jit *jit, const struct sim_context *context,
                         const struct ptx_source *sources, size_t count,
                         struct ptx_module **module);

/* --- library.c --- Libraries: a module in every context that uses it, made when it does. */
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

/* The function of a CUkernel in a context. The code of no kernel, or of its module. */
CUresult sim_library_function(struct sim_context *context, const void *handle,
                              struct sim_function **function);

/* --- link.c --- */
void sim_link_end(struct sim_object *object);
/* The module compiled for a linked image, as long as its link lives; NULL: there is none. The
 * caller's reference. */
struct ptx_module *sim_link_module(const void *image, size_t size, unsigned architecture,
                                   unsigned max_registers);

/* --- place.c --- */
/* Newest PTX version of the simulated CUDA version: 804 for 12.4. */
unsigned sim_place_ptx_version(void);
CUresult sim_place_make(struct sim_context *context, struct ptx_module *ptx,
                        struct sim_module **module);
void sim_place_end(struct sim_object *object); /* a module */
/* The handle of a function of the module; made on first use. NULL: no memory. */
struct sim_function *sim_place_function(struct sim_module *module, size_t index);

#endif

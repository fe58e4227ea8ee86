/* SPDX-License-Identifier: MIT */
/* What a module can be loaded from: PTX text, a fatbin with PTX in it, or what this driver's own
 * linker made. */
#ifndef CUSHIM_SIM_MODULE_IMAGE_H
#define CUSHIM_SIM_MODULE_IMAGE_H

#include "sim.h"

struct ptx_source;
struct ptx_text;

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
void sim_image_free(struct sim_image *image);
/* The same image, with texts and inputs' names of its own. */
CUresult sim_image_append(struct sim_image *image, const struct sim_image *more);

/* Whether `data` holds the output of the linker, to the last byte. */
bool sim_image_same(const void *data, size_t size, const void *output);

/* The linker's output: an ELF file of the CUDA machine whose only content is the PTX of the inputs.
 * The block is the caller's, to be freed; NULL: no memory. */
void *sim_image_write(const struct sim_image *image, unsigned architecture, size_t *size);

#endif

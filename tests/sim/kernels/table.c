/* SPDX-License-Identifier: MIT */
/* kernels.def as a table. */
#include <string.h>

#include "harness.h"

#define KIND_PLAIN .kind = PLAIN
#define KIND_COOPERATIVE .kind = COOPERATIVE
#define KIND_PRINT .kind = PRINT
#define KIND_TEXTURES .kind = TEXTURES
#define KIND_SURFACES .kind = SURFACES
#define KIND_FAIL(result) .kind = FAIL, .code = CUDA_ERROR_##result
#define COMPARE_EXACT NULL
#define COMPARE_approx_f32 approx_f32
#define COMPARE_approx_f64 approx_f64
#define COMPARE_approx_half approx_half
#define COMPARE_approx_brain approx_brain
#define COMPARE_texture_linear texture_linear
#define DIM CUSHIM_DIM

#define KERNEL(name_, from_, arch_, n_, grid_, block_, shared_, sections_, fill_, kind_, compare_) \
    {.name = #name_,                                                                               \
     .n = n_,                                                                                      \
     .grid = grid_,                                                                                \
     .block = block_,                                                                              \
     .shared = shared_,                                                                            \
     .sections = sections_,                                                                        \
     .fill = FILL_##fill_,                                                                         \
     .bounds = COMPARE_##compare_,                                                                 \
     KIND_##kind_},

static const struct kernel kernels[] = {
#include "kernels.def"
};

const struct kernel *find_kernel(const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

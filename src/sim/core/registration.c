/* SPDX-License-Identifier: MIT */
#include "core/core.h"

#include <stdlib.h>

CUresult sim_registration_make(enum sim_registered what, sim_any_function *function, void *data,
                               int device, void **handle)
{
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_registration *made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    made->what = what;
    made->function = function;
    made->data = data;
    made->device = device;
    sim_object_add(&made->object, SIM_REGISTRATION, NULL);
    if (handle)
        *handle = made;
    return CUDA_SUCCESS;
}

CUresult sim_registration_end(enum sim_registered what, int device, const void *handle)
{
    struct sim_registration *found = sim_object(SIM_REGISTRATION, handle);
    if (!found || found->what != what || found->device != device)
        return CUDA_ERROR_INVALID_VALUE;
    sim_object_remove(&found->object);
    free(found);
    return CUDA_SUCCESS;
}

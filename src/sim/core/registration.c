/* SPDX-License-Identifier: MIT */
#include "core/core.h"

CUresult sim_registration_make(enum sim_registered what, sim_any_function *function, void *data,
                               int device, void **handle)
{
    SIM_REFUSE(!function);
    SIM_NEW(struct sim_registration, made);
    made->what = what;
    made->function = function;
    made->data = data;
    made->device = device;
    sim_object_add(&made->object, SIM_REGISTRATION, NULL);
    SIM_PUT(handle, made);
    return CUDA_SUCCESS;
}

CUresult sim_registration_end(enum sim_registered what, int device, const void *handle)
{
    struct sim_registration *found = sim_object(SIM_REGISTRATION, handle);
    SIM_REFUSE(!found || found->what != what || found->device != device);
    sim_object_remove(&found->object);
    free(found);
    return CUDA_SUCCESS;
}

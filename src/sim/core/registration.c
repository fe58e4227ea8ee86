/* SPDX-License-Identifier: MIT */
#include "core/core.h"

#include <stdlib.h>

struct sim_registration *sim_registration_make(enum sim_registered what, sim_any_function *function,
                                               void *data)
{
    struct sim_registration *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->what = what;
    made->function = function;
    made->data = data;
    sim_object_add(&made->object, SIM_REGISTRATION, NULL);
    return made;
}

struct sim_registration *sim_registration(enum sim_registered what, const void *handle)
{
    struct sim_registration *found = sim_object(SIM_REGISTRATION, handle);
    return found && found->what == what ? found : NULL;
}

void sim_registration_end(struct sim_registration *registration)
{
    sim_object_remove(&registration->object);
    free(registration);
}

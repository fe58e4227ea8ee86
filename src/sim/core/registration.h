/* SPDX-License-Identifier: MIT */
/* Functions that a program registers, to be called when something happens. */
#ifndef CUSHIM_SIM_CORE_REGISTRATION_H
#define CUSHIM_SIM_CORE_REGISTRATION_H

#include "core/object.h"

enum sim_registered {
    SIM_REGISTERED_LOG,
    SIM_REGISTERED_NOTIFICATION,
    SIM_REGISTERED_DUMP_START,
    SIM_REGISTERED_DUMP_COMPLETE,
};
typedef void sim_any_function(void);
struct sim_registration {
    struct sim_object object;
    enum sim_registered what;
    sim_any_function *function; /* of a type that `what` tells */
    void *data;
    int device; /* of a notification */
};

struct sim_registration *sim_registration_make(enum sim_registered what, sim_any_function *function,
                                               void *data); /* NULL: no memory */
struct sim_registration *sim_registration(enum sim_registered what,
                                          const void *handle); /* or NULL */
void sim_registration_end(struct sim_registration *registration);

#endif

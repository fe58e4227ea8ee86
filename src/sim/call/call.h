/* SPDX-License-Identifier: MIT */
/* One call: what surrounds its behaviour. */
#ifndef CUSHIM_SIM_CALL_CALL_H
#define CUSHIM_SIM_CALL_CALL_H

#include "sim.h"

struct sim_entry;

struct sim_call {
    const struct sim_entry *entry;
    const void *const *arguments; /* address of each argument */
    uint64_t number;              /* of this call in the process, from 1 */
    uint64_t start_ns;
    CUresult result;
    CUresult forced;        /* a fault's code that replaces the result at the end; 0: none */
    struct sim_call *outer; /* a call made inside another, by a callback */
};
/* False: call->result is the answer (not initialised, an injected fault, ...). Takes the lock. */
bool sim_call_begin(struct sim_call *call, size_t entry, const void *const *arguments);
CUresult sim_call_end(struct sim_call *call); /* gives the lock up */
uint64_t sim_call_count(size_t entry);
void sim_call_forget(void); /* all counts begin at 0 */

#endif

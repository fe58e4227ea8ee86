/* SPDX-License-Identifier: MIT */
/* The driver's log of refused calls: the newest messages, and who is told of them. */
#ifndef CUSHIM_SIM_CALL_JOURNAL_H
#define CUSHIM_SIM_CALL_JOURNAL_H

#include <stdbool.h>

#include "call/call.h"

struct sim_journal_note { /* a message for those who listen */
    char text[160];
};
/* Keep a message of the call, if it was refused. True: somebody is to be told. */
bool sim_journal_keep(const struct sim_call *call, struct sim_journal_note *note);
/* Tell them, in the order in which they registered. Without the driver's lock. */
void sim_journal_tell(struct sim_journal_note *note);

#endif

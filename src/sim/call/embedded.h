/* SPDX-License-Identifier: MIT */
/* The simulated driver inside of a program, without a library file. */
#ifndef CUSHIM_SIM_CALL_EMBEDDED_H
#define CUSHIM_SIM_CALL_EMBEDDED_H

/* A resolver for cushim_options: the exported function, where the simulated version has it. */
void *cushim_sim_symbol(void *user, const char *symbol);

#endif

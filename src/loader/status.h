/* SPDX-License-Identifier: MIT */
/* What to do about each way in which a load can end. */
#ifndef CUSHIM_LOADER_STATUS_H
#define CUSHIM_LOADER_STATUS_H

#include <cushim/cushim.h>

/* Begins with "; " and follows a cause; empty if there is nothing to do. */
const char *cushim_status_advice(enum cushim_status status);

/* The same for a file that the program names, or the user in a variable: there was no search. */
const char *cushim_status_advice_exact(enum cushim_status status, bool variable);

#endif

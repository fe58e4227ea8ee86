/* SPDX-License-Identifier: MIT */
/* What to do about each way in which a load can end. */
#ifndef CUSHIM_LOADER_STATUS_H
#define CUSHIM_LOADER_STATUS_H

#include <cushim/cushim.h>

/* Begins with "; " and follows a cause; empty if there is nothing to do. */
const char *cushim_status_advice(enum cushim_status status);

#endif

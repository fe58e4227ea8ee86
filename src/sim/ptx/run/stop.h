/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_RUN_STOP_H
#define CUSHIM_SIM_PTX_RUN_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* The number of a launch that begins, above those of all before. */
uint64_t stop_number(void);
/* Does a request for it hold now? */
bool stop_due(uint64_t number);

#endif

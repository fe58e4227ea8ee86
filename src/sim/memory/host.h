/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_MEMORY_HOST_H
#define CUSHIM_SIM_MEMORY_HOST_H

#include <stdbool.h>
#include <stddef.h>

bool sim_host_is_mapped(const void *start, size_t size); /* whether all its pages are there */

#endif

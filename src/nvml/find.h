/* SPDX-License-Identifier: MIT */
/* Finds and opens the driver's NVML. */
#ifndef CUSHIM_NVML_FIND_H
#define CUSHIM_NVML_FIND_H

#include "loader/dylib.h"

/*
 * Open the first library that will do.
 *
 * @param path     this one and no other; NULL: what the environment names, or the search
 * @param library  written if the result is CUSHIM_OK
 * @param message  a sentence, from malloc: the path, or the cause; NULL for want of memory
 */
enum cushim_status cushim_nvml_find(const char *path, struct cushim_dylib *library, char **message);

#endif

/* SPDX-License-Identifier: MIT */
/* Device attributes, ordered by number; attribute_names.c is generated. */
#ifndef CUSHIM_HELPERS_ATTRIBUTE_NAMES_H
#define CUSHIM_HELPERS_ATTRIBUTE_NAMES_H

#include <cushim/device.h>

extern const struct cushim_attribute cushim_attributes[];
extern const size_t cushim_attributes_count;

#endif

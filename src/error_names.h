/* SPDX-License-Identifier: MIT */
/* Names and meanings of the driver's error codes, from the registry; error_names.c is generated. */
#ifndef CUSHIM_SRC_ERROR_NAMES_H
#define CUSHIM_SRC_ERROR_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct cushim_error_data {
    uint16_t code;
    uint16_t name, text; /* offsets in cushim_error_strings */
};

extern const char cushim_error_strings[];
extern const struct cushim_error_data cushim_errors[]; /* ordered by code */
extern const size_t cushim_error_count;

#endif

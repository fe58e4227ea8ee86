/* SPDX-License-Identifier: MIT */
/* Names and meanings of the driver's error codes; error_names.c is generated. */
#ifndef CUSHIM_SRC_ERROR_NAMES_H
#define CUSHIM_SRC_ERROR_NAMES_H

#include <stddef.h>

struct cushim_error_data {
    int code;
    const char *name, *text;
};

extern const struct cushim_error_data cushim_errors[]; /* ordered by code */
extern const size_t cushim_error_count;

#endif

/* SPDX-License-Identifier: MIT */
/* Names and meanings of the driver's error codes, and the two entries that return them. */
#ifndef CUSHIM_LOADER_ERROR_NAME_H
#define CUSHIM_LOADER_ERROR_NAME_H

#include <cushim/cushim.h>

/* What the slots of these two entries hold if no driver serves them. */
CUresult CUDAAPI cushim_error_name_entry(CUresult error, const char **pStr);
CUresult CUDAAPI cushim_error_name_string_entry(CUresult error, const char **pStr);

#endif

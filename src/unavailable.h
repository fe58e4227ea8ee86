/* SPDX-License-Identifier: MIT */
/* What a slot does that the driver does not fill; unavailable.c is generated. */
#ifndef CUSHIM_SRC_UNAVAILABLE_H
#define CUSHIM_SRC_UNAVAILABLE_H

#include <cushim/cushim.h>

/* A whole table for each reason. */
extern const struct cushim_api cushim_no_driver_api;
extern const struct cushim_api cushim_newer_api;
extern const struct cushim_api cushim_absent_api;

/* Record which entry was called and why it is missing; return what the call returns. */
CUresult cushim_unavailable_no_driver(unsigned index);
CUresult cushim_unavailable_newer(unsigned index);
CUresult cushim_unavailable_absent(unsigned index);

/* The entries that answer without a driver, or that an old one lacks. */
CUresult CUDAAPI cushim_no_driver_cuInit(unsigned int Flags);
CUresult CUDAAPI cushim_no_driver_cuDriverGetVersion(int *driverVersion);
CUresult CUDAAPI cushim_always_cuGetErrorName(CUresult error, const char **pStr);
CUresult CUDAAPI cushim_always_cuGetErrorString(CUresult error, const char **pStr);

#endif

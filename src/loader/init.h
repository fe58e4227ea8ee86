/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_LOADER_INIT_H
#define CUSHIM_LOADER_INIT_H

#include <stdbool.h>

#include <cushim/cushim.h>

/* Whether a parent of this process called cuInit with success, and this process has not. */
bool cushim_init_is_forked(void);

/* As cushim_init, as the driver's code: what cuInit returned, CUDA_ERROR_NO_DEVICE without a
 * driver, CUDA_ERROR_NOT_INITIALIZED in a forked child. */
CUresult cushim_init_code(const struct cushim_api *cu);

#endif

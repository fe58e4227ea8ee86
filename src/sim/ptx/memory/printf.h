/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_SIM_PTX_MEMORY_PRINTF_H
#define CUSHIM_SIM_PTX_MEMORY_PRINTF_H

#include "ptx/ops/exec.h"

/* The built-in functions vprintf and __assertfail. */
ptx_run printf_run, printf_assertfail;

#endif

/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TESTS_BENCH_LOAD_NV_H
#define CUSHIM_TESTS_BENCH_LOAD_NV_H

#include "clock.h"

KEEP int load_nv(const char *path); /* whether it succeeded */

#endif
